//! The documents that are similar to those of a sample: sketches first, then the documents themselves.

use minwise::hash::fmix64;

use super::Run;
use super::sieve::{Block, Probe, Sieve};
use crate::documents::{RowReader, Which};
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
    /// How many there are.
    all: u64,
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
        let stand_for = if compared == 0 { 1.0 } else { near[item].all as f64 / compared as f64 };
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
    let mut reader = RowReader::new(documents, Which::Sketch);
    let probes: Vec<(u32, Probe)> = sets
        .iter()
        .filter(|&&set| documents.has_shingles(set))
        .map(|&set| Ok((set, sieve.probe(reader.row(set)?))))
        .collect::<Result<_, Error>>()?;
    let wanted = |document: u32| equals.is_first(document) && documents.has_shingles(document);
    let work = |block: &mut Block, item: usize| -> Result<_, Error> {
        check(run)?;
        let begin = item * BLOCK;
        let range = begin as u32..(begin + BLOCK).min(documents.len()) as u32;
        sieve.take_in(block, |rows| documents.rows_into(range.clone(), rows))?;
        let mut found = vec![];
        for (set, probe) in &probes {
            let mut near = Near::default();
            sieve.for_each_near(probe, block, |at| {
                let other = range.start + at as u32;
                let references = *set < reading.references && other < reading.references;
                if other != *set && !references && wanted(other) {
                    let pair = u64::from(*set) << 32 | u64::from(other);
                    near.all += 1;
                    near.some.push((fmix64(fmix64(settings.spec.seed) ^ pair), other));
                }
            });
            if near.all > 0 {
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
