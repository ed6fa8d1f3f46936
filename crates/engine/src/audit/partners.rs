//! The documents that are similar to those of a sample: sketches first, then the documents themselves.

use minwise::hash::fmix64;

use super::AuditedRun;
use super::sieve::{Probe, RowBlock, Sieve};
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::read::documents::{RowChoice, RowReader};
use crate::read::prepare::Preparation;
use crate::turn::LargeDocumentLock;
use crate::verify::loader::{Loader, Room, Sorting};
use crate::verify::sets::{Budget, Sets};

/// Documents whose rows are compared together.
const BLOCK: usize = 1024;
/// Documents near one of the sample that are read, at most. It takes families of more, or sketches that tell little apart.
const MOST: usize = 256;
/// Documents near one of the sample whose rows are looked at, about, and up to twice as many.
pub(super) const LOOKED_AT: u64 = 8 * MOST as u64;
/// Others of the sample that one is compared with, about, to learn how many documents are near it.
const ASKED: usize = 1000;

/// What was found out about one set of the sample.
#[derive(Debug, Default)]
pub(super) struct SamplePartners {
    /// The documents that are similar, of those that were compared exactly.
    pub similar: Vec<u32>,
    /// How many documents near this one each of those compared stands for.
    pub stand_for: f64,
}

/// Documents near one of the sample.
#[derive(Debug, Default)]
struct Near {
    /// How many there are, of those that were looked at.
    all: u64,
    /// How often the documents were halved before: one in 2ⁿ is looked at.
    halvings: u32,
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
    run: &AuditedRun<'_>,
    sieve: &Sieve,
    sets: &[u32],
    read_bytes: u64,
) -> Result<Vec<SamplePartners>, Error> {
    let near = near(run, sieve, sets)?;
    let most = most_read(run, &near, read_bytes)?;
    let plan = run.plan;
    let preparation = Preparation::of_checked(&plan.spec, &plan.weighing)?;
    let documents = &run.reading.documents;
    let memory = plan.memory.room(plan.threads, documents.len());
    let sorting = Sorting::new(memory, plan.threads, plan.temporary.as_deref());
    let turns = LargeDocumentLock::default();
    let loader = Loader { corpus: run.corpus, documents, preparation: &preparation, sorting, turns };
    let work = |room: &mut Room, item: usize| -> Result<_, Error> {
        check(run)?;
        let documents: Vec<u32> =
            std::iter::once(sets[item]).chain(near[item].some.iter().take(most).map(|near| near.1)).collect();
        // No set is needed again but the first, and what is in use is never thrown out.
        let budget = Budget { bytes: 0, threads: 1, ahead_bytes: 0, crowd_bytes: 0 };
        let mut sets = Sets::new(&loader, &documents, room, budget);
        let mut similar = vec![];
        for other in 1..documents.len() as u32 {
            let mut is_similar = sets.at_least(0, other, plan.measure, plan.threshold)?.is_some();
            if let Some(order) = plan.order.filter(|_| is_similar) {
                is_similar = sets.alignment_share(0, other)? >= order;
            }
            if is_similar {
                similar.push(documents[other as usize]);
            }
        }
        let compared = documents.len() - 1;
        let near = &near[item];
        let share = if compared == 0 { 1.0 } else { near.all as f64 / compared as f64 };
        let stand_for = share * (1u64 << near.halvings) as f64;
        Ok(SamplePartners { similar, stand_for })
    };
    // Large documents take much room to be compared, so that no more threads do so than may cut them whole at one time.
    let mut longest = vec![];
    for (&set, near) in sets.iter().zip(&near) {
        let mut bytes = documents.place(set)?.len;
        for &(_, other) in near.some.iter().take(most) {
            bytes = bytes.max(documents.place(other)?.len);
        }
        longest.push(u64::from(bytes));
    }
    let (small, large): (Vec<usize>, Vec<usize>) =
        (0..sets.len()).partition(|&item| longest[item] <= preparation.whole_bytes(1));
    let most_bytes = large.iter().map(|&item| longest[item]).max().unwrap_or(1);
    let fewer = (preparation.whole_bytes(plan.threads) / most_bytes).clamp(1, plan.threads as u64);
    let mut partners: Vec<SamplePartners> = sets.iter().map(|_| SamplePartners::default()).collect();
    for (items, threads) in [(small, plan.threads), (large, fewer as usize)] {
        let mut next = items.iter();
        let work = |room: &mut Room, at: usize| work(room, items[at]);
        parallel::in_order(items.len(), threads, Room::default, work, |found| {
            if let Some(&item) = next.next() {
                partners[item] = found;
            }
            Ok(())
        })?;
    }
    Ok(partners)
}

/// The documents whose sketches are near those of the sets.
fn near(run: &AuditedRun<'_>, sieve: &Sieve, sets: &[u32]) -> Result<Vec<Near>, Error> {
    let AuditedRun { reading, equals, plan, observer, .. } = *run;
    let documents = &reading.documents;
    let probes = probes(run, sieve, sets)?;
    let wanted = |document: u32| equals.is_first(document) && documents.has_shingles(document);
    let seed = fmix64(plan.spec.seed);
    let work = |block: &mut RowBlock, item: usize| -> Result<_, Error> {
        check(run)?;
        let begin = item * BLOCK;
        let range = begin as u32..(begin + BLOCK).min(documents.len()) as u32;
        sieve.take_in(block, |rows| documents.rows_into(range.clone(), rows))?;
        let mut found = vec![];
        for &Probed { at, ref probe, halvings } in &probes {
            let set = sets[at];
            let key = |place: usize| {
                let other = range.start + place as u32;
                let key = fmix64(seed ^ (u64::from(set) << 32 | u64::from(other)));
                let references = set < reading.references && other < reading.references;
                let is_left = key.leading_zeros() >= halvings;
                (is_left && other != set && !references && wanted(other)).then_some((key, other))
            };
            let mut near = Near::default();
            sieve.for_each_near(probe, block, key, |keyed| near.some.push(keyed));
            if !near.some.is_empty() {
                near.all = near.some.len() as u64;
                near.cut();
                found.push((at, near));
            }
        }
        observer.advance(range.len() as u64);
        Ok(found)
    };
    let mut all: Vec<Near> = sets.iter().map(|_| Near::default()).collect();
    for probed in &probes {
        all[probed.at].halvings = probed.halvings;
    }
    parallel::in_order(documents.len().div_ceil(BLOCK), plan.threads, RowBlock::default, work, |found| {
        for (at, mut near) in found {
            all[at].all += near.all;
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

/// A set of the sample, told by its place there.
struct Probed {
    at: usize,
    probe: Probe,
    halvings: u32,
}

/// Makes sets ready to be compared with all documents, and finds out by some of the others how many will be near each: where
/// those of a large family were all looked at, most of the time would go there.
fn probes(run: &AuditedRun<'_>, sieve: &Sieve, sets: &[u32]) -> Result<Vec<Probed>, Error> {
    let AuditedRun { reading, equals, looked_at, .. } = *run;
    let documents = &reading.documents;
    let mut reader = RowReader::new(documents, RowChoice::Sketch);
    let mut probes = vec![];
    for (at, &set) in sets.iter().enumerate().filter(|&(_, &set)| documents.has_shingles(set)) {
        probes.push(Probed { at, probe: sieve.probe(reader.row(set)?), halvings: 0 });
    }
    let step = probes.len().div_ceil(ASKED).max(1);
    let asked: Vec<usize> = probes.iter().step_by(step).map(|probed| probed.at).collect();
    let mut block = RowBlock::default();
    sieve.take_in(&mut block, |rows| {
        asked.iter().try_for_each(|&at| {
            rows.extend_from_slice(reader.row(sets[at])?);
            Ok(())
        })
    })?;
    let inputs = documents.len() as u64 - u64::from(reading.references);
    for probed in &mut probes {
        check(run)?;
        let mut near = vec![];
        let other = |place: usize| Some(asked[place]).filter(|&other| other != probed.at);
        sieve.for_each_near(&probed.probe, &mut block, other, |other| near.push(other));
        // One may be near by chance.
        if near.len() > 1 {
            // A set was drawn as often as it has copies, and is near only once.
            let share = near.iter().map(|&other| 1.0 / equals.copies(sets[other]) as f64).sum::<f64>();
            probed.halvings = halvings(share / asked.len() as f64, inputs, looked_at);
        }
    }
    Ok(probes)
}

/// How often documents near one are halved, if it is near this share of them, until about `looked_at` are left.
fn halvings(share: f64, documents: u64, looked_at: u64) -> u32 {
    ((share * documents as f64) as u64 / looked_at).max(1).ilog2()
}

/// How many documents near each set can be read, at least one.
fn most_read(run: &AuditedRun<'_>, near: &[Near], bytes: u64) -> Result<usize, Error> {
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

fn check(run: &AuditedRun<'_>) -> Result<(), Error> {
    if run.observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::{AuditInput, AuditTexts};
    use crate::settings::{Bands, RunSettings};

    #[test]
    fn of_large_families_some_are_looked_at() {
        // Half of 100 000 documents: one in 16 of 50 000.
        assert_eq!(halvings(0.5, 100_000, LOOKED_AT), 4);
        // Three of a thousand: one in four of 15 000.
        assert_eq!(halvings(0.003, 5_000_000, LOOKED_AT), 2);
        // Small families are looked at whole.
        assert_eq!(halvings(0.003, 1_000_000, LOOKED_AT), 0);
        assert_eq!(halvings(0.0, 1, LOOKED_AT), 0);
    }

    #[test]
    fn those_that_are_looked_at_stand_for_their_family() {
        const FAMILY: usize = 9000;
        // One word of its own each, in texts that otherwise say the same; and three that nobody else has much of.
        let words = |name: &str| (0..30).map(|at| format!("{name}{at}")).collect::<Vec<String>>().join(" ");
        let large = (0..FAMILY).map(|member| format!("{} own{member}", words("large")));
        let small = (0..3).map(|member| format!("{} own{member}", words("small")));
        let texts = AuditTexts::new(large.chain(small));
        let spec = "casefold / words:1 / minhash:64 / seed:1".parse().unwrap();
        let bands = Bands::ForRecall(0.9);
        let plan = &RunSettings { spec, bands, threads: Some(1), ..RunSettings::default() }.plan().unwrap();
        let read = AuditInput::new(&texts, plan);
        let run = read.run(plan, LOOKED_AT);
        let sieve = Sieve::new(plan).unwrap().unwrap();
        let sets = [1, 2, 3, 5, 8, FAMILY as u32];
        let near = near(&run, &sieve, &sets).unwrap();
        assert_eq!(near.iter().map(|near| near.halvings).collect::<Vec<u32>>(), [1, 1, 1, 1, 1, 0]);
        for near in &near[..5] {
            // Each is looked at with a chance of one in two: ten standard deviations are 10 %.
            let estimated = near.all << near.halvings;
            assert!((8100..9900).contains(&estimated), "{estimated}");
            assert_eq!(near.some.len(), MOST);
        }
        assert_eq!(near[5].some.len(), 2);
        let partners = find(&run, &sieve, &sets, 1 << 30).unwrap();
        assert_eq!(partners[0].similar.len(), MOST, "all of the family are similar");
        assert_eq!(partners[0].stand_for, (near[0].all << near[0].halvings) as f64 / MOST as f64);
        assert_eq!(partners[5].stand_for, 1.0);
    }
}
