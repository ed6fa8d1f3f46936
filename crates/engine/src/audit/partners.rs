//! The documents that are similar to those of a sample: sketches first, then the documents themselves.

use minwise::hash::fmix64;

use super::Run;
use super::sieve::{Block, Probe, Sieve};
use crate::documents::{Documents, RowReader, Which};
use crate::error::{Error, ErrorKind};
use crate::huge::Sorting;
use crate::parallel;
use crate::prepare::Preparation;
use crate::sets::{Budget, Loader, Room, Sets};
use crate::turn::Turns;

/// Documents whose rows are compared together.
const BLOCK: usize = 1024;
/// Documents near one of the sample that are read, at most. It takes families of more, or sketches that tell little apart.
const MOST: usize = 256;
/// Documents near one of the sample whose rows are looked at, about, and up to twice as many.
const LOOKED_AT: u64 = 8 * MOST as u64;

/// What was found out about one set of the sample.
#[derive(Debug)]
pub(super) struct Partners {
    /// The documents that are similar, of those that were compared exactly.
    pub similar: Vec<u32>,
    /// How many documents near this one each of those compared stands for.
    pub stand_for: f64,
}

/// Documents near one of the sample.
#[derive(Debug, Default)]
struct Near {
    /// How many there are, of those that were looked at: one in 2ⁿ.
    all: u64,
    one_in: u32,
    /// Some of them, each as likely as any other, by a number that says which come first.
    some: Vec<(u64, u32)>,
}

impl Near {
    /// Keeps those that come first.
    fn cut(&mut self) {
        if self.some.len() > MOST {
            self.some.select_nth_unstable(MOST);
            self.some.truncate(MOST);
        }
    }
}

/// Finds the partners of sets, each told by the document that stands for it, and reads about so many bytes for it.
pub(super) fn find(
    run: &Run<'_>,
    sieve: &Sieve,
    sets: &[u32],
    read_bytes: u64,
) -> Result<Vec<Partners>, Error> {
    let near = near(run, sieve, sets)?;
    let most = most_read(run, &near, read_bytes)?;
    let settings = run.settings;
    let preparation = Preparation::new(&settings.spec, &settings.weighing)?;
    let documents = &run.reading.documents;
    let memory = settings.memory.room(settings.threads, documents.len());
    let sorting = Sorting::new(memory, settings.threads, settings.temporary.as_deref());
    let turns = Turns::default();
    let loader = Loader { corpus: run.corpus, documents, preparation: &preparation, sorting, turns };
    let work = |room: &mut Room, item: usize| -> Result<_, Error> {
        check(run)?;
        let documents: Vec<u32> =
            std::iter::once(sets[item]).chain(near[item].some.iter().take(most).map(|near| near.1)).collect();
        // No set is needed again but the first, and what is in use is never thrown out.
        let budget = Budget { bytes: 0, threads: 1, ahead_bytes: 0 };
        let mut sets = Sets::new(&loader, &documents, room, budget);
        let mut similar = vec![];
        for other in 1..documents.len() as u32 {
            let mut is_similar = sets.at_least(0, other, settings.measure, settings.threshold)?.is_some();
            if let Some(order) = settings.order.filter(|_| is_similar) {
                is_similar = sets.alignment_share(0, other)? >= order;
            }
            if is_similar {
                similar.push(documents[other as usize]);
            }
        }
        let compared = documents.len() - 1;
        let all = near[item].all << near[item].one_in;
        let stand_for = if compared == 0 { 1.0 } else { all as f64 / compared as f64 };
        Ok(Partners { similar, stand_for })
    };
    let mut partners = Vec::with_capacity(sets.len());
    parallel::in_order(sets.len(), settings.threads, Room::default, work, |found| {
        partners.push(found);
        Ok(())
    })?;
    Ok(partners)
}

/// The documents whose sketches are near those of the sets.
fn near(run: &Run<'_>, sieve: &Sieve, sets: &[u32]) -> Result<Vec<Near>, Error> {
    let Run { reading, equals, settings, observer, .. } = *run;
    let documents = &reading.documents;
    let probes = probes(documents, sieve, sets)?;
    let wanted = |document: u32| equals.is_first(document) && documents.has_shingles(document);
    let seed = fmix64(settings.spec.seed);
    let work = |block: &mut Block, item: usize| -> Result<_, Error> {
        check(run)?;
        let begin = item * BLOCK;
        let range = begin as u32..(begin + BLOCK).min(documents.len()) as u32;
        sieve.take_in(block, |rows| documents.rows_into(range.clone(), rows))?;
        let mut found = vec![];
        for Probed { set, probe, one_in } in &probes {
            let key = |at: usize| {
                let other = range.start + at as u32;
                let key = fmix64(seed ^ (u64::from(*set) << 32 | u64::from(other)));
                let references = *set < reading.references && other < reading.references;
                let is_one = key.leading_zeros() >= *one_in;
                (is_one && other != *set && !references && wanted(other)).then_some((key, other))
            };
            let mut near = Near { one_in: *one_in, ..Near::default() };
            sieve.for_each_near(probe, block, key, |_, keyed| near.some.push(keyed));
            if !near.some.is_empty() {
                near.all = near.some.len() as u64;
                near.cut();
                found.push((*set, near));
            }
        }
        observer.advance(range.len() as u64);
        Ok(found)
    };
    let mut all: Vec<Near> = sets.iter().map(|_| Near::default()).collect();
    parallel::in_order(documents.len().div_ceil(BLOCK), settings.threads, Block::default, work, |found| {
        for (set, mut near) in found {
            let Ok(at) = sets.binary_search(&set) else { continue };
            all[at].all += near.all;
            all[at].one_in = near.one_in;
            all[at].some.append(&mut near.some);
            all[at].cut();
        }
        Ok::<(), Error>(())
    })?;
    for near in &mut all {
        near.some.sort_unstable();
    }
    Ok(all)
}

/// A set of the sample, and of how many documents near it one is looked at: 2ⁿ.
struct Probed {
    set: u32,
    probe: Probe,
    one_in: u32,
}

/// Makes sets ready to be compared with all documents.
fn probes(documents: &Documents, sieve: &Sieve, sets: &[u32]) -> Result<Vec<Probed>, Error> {
    let mut reader = RowReader::new(documents, Which::Sketch);
    let mut block = Block::default();
    let mut probes = vec![];
    sieve.take_in(&mut block, |rows| {
        for &set in sets.iter().filter(|&&set| documents.has_shingles(set)) {
            let row = reader.row(set)?;
            rows.extend_from_slice(row);
            probes.push(Probed { set, probe: sieve.probe(row), one_in: 0 });
        }
        Ok(())
    })?;
    let all = probes.len();
    for (at, probed) in probes.iter_mut().enumerate() {
        let mut near = 0;
        let another = |other: usize| (other != at).then_some(());
        sieve.for_each_near(&probed.probe, &mut block, another, |_, ()| near += 1);
        probed.one_in = one_in(near, all - 1, documents.len() as u64);
    }
    Ok(probes)
}

/// Of how many documents near one it is enough to look at one, as a power of two, if so many of others that were drawn are near
/// it: where those of a large family are compared with one another, most of the time would go there.
fn one_in(near: u64, drawn: usize, documents: u64) -> u32 {
    // One may be near by chance.
    if near < 2 {
        return 0;
    }
    let expected = documents.saturating_mul(near) / drawn as u64;
    (expected / LOOKED_AT).max(1).ilog2()
}

/// How many documents near each set can be read, at least one.
fn most_read(run: &Run<'_>, near: &[Near], bytes: u64) -> Result<usize, Error> {
    let mut by_place = [0; MOST];
    for near in near {
        for (sum, &(_, document)) in by_place.iter_mut().zip(&near.some) {
            *sum += u64::from(run.reading.documents.place(document)?.len);
        }
    }
    let mut sum = 0;
    let fits = |more: &&u64| {
        sum += **more;
        sum <= bytes
    };
    Ok(by_place.iter().take_while(fits).count().max(1))
}

fn check(run: &Run<'_>) -> Result<(), Error> {
    if run.observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use minwise_corpus::{Corpus, ReadOptions, Unwatched};

    use super::*;
    use crate::equal::Equals;
    use crate::observe::Unobserved;
    use crate::order::Order;
    use crate::read::read;
    use crate::settings::Settings;

    #[test]
    fn of_large_families_some_are_looked_at() {
        // Half of 100 000 documents: one in 16 of 50 000.
        assert_eq!(one_in(14, 28, 100_000), 4);
        // Three of a thousand: one in four of 15 000.
        assert_eq!(one_in(3, 1000, 5_000_000), 2);
        // Small families, and what may be chance, are looked at whole.
        assert_eq!(one_in(3, 1000, 1_000_000), 0);
        assert_eq!(one_in(1, 10, 1_000_000), 0);
        assert_eq!(one_in(0, 0, 1), 0);
    }

    #[test]
    fn those_that_are_looked_at_stand_for_their_family() {
        const FAMILY: usize = 9000;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("in.jsonl");
        // One word of its own each, in texts that otherwise say the same; and three that nobody else has much of.
        let words = |name: &str| (0..30).map(|at| format!("{name}{at}")).collect::<Vec<String>>().join(" ");
        let line = |text: String| format!("{{\"text\":\"{text}\"}}\n");
        let large = (0..FAMILY).map(|member| line(format!("{} own{member}", words("large"))));
        let small = (0..3).map(|member| line(format!("{} own{member}", words("small"))));
        fs_err::write(&file, large.chain(small).collect::<String>()).unwrap();
        let name = file.to_string_lossy().into_owned();
        let corpus = Corpus::open(&[name], &ReadOptions::default(), &Unwatched).unwrap();
        let spec = "casefold / words:1 / minhash:64 / seed:1".parse().unwrap();
        let settings = &Settings { threads: 1, ..Settings::new(spec, 0.8, 0.9).unwrap() };
        let reading = &read(&corpus, &settings.reading(), &Unobserved).unwrap();
        let order = &Order::new(&reading.documents, &settings.keep, 0).unwrap();
        let room = settings.memory.room(1, order.len());
        let equals = &Equals::find(&reading.documents, order, room).unwrap();
        let run = Run { corpus: &corpus, reading, equals, order, settings, observer: &Unobserved };
        let sieve = Sieve::new(settings).unwrap().unwrap();
        let sets = [1, 2, 3, 5, 8, FAMILY as u32];
        let near = near(&run, &sieve, &sets).unwrap();
        assert_eq!(near.iter().map(|near| near.one_in).collect::<Vec<u32>>(), [1, 1, 1, 1, 1, 0]);
        for near in &near[..5] {
            // Each is looked at with a chance of one in two: ten standard deviations are 10 %.
            let estimated = near.all << near.one_in;
            assert!((8100..9900).contains(&estimated), "{estimated}");
            assert_eq!(near.some.len(), MOST);
        }
        assert_eq!(near[5].some.len(), 2);
        let partners = find(&run, &sieve, &sets, 1 << 30).unwrap();
        assert_eq!(partners[0].similar.len(), MOST, "all of the family are similar");
        assert_eq!(partners[0].stand_for, (near[0].all << near[0].one_in) as f64 / MOST as f64);
        assert_eq!(partners[5].stand_for, 1.0);
    }
}
