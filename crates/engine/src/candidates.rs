//! The second stage: documents that share bands, gathered into neighbourhoods.

use std::ops::Range;

use minwise::candidate::banding::for_each_group;
use minwise::candidate::sort_merge::Rule;
use minwise::cluster::Forest;
use minwise::filter::{Budget, Filter};
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise_corpus::Corpus;

use crate::equal::Equals;
use crate::error::{Error, ErrorKind};
use crate::join::{Items, Scale, Source};
use crate::observe::{Observer, Stage};
use crate::parallel;
use crate::prepare::Preparation;
use crate::read::Reading;
use crate::screen::{Screen, Screened};
use crate::settings::{Search, Settings};
use crate::tiles::Tiles;

/// Documents that share bands, directly or through others, and the shelves on which they meet.
#[derive(Debug)]
pub(crate) struct Candidates {
    hoods: Vec<Hood>,
    documents: Vec<u32>,
    shelves: Vec<Shelved>,
    members: Vec<u32>,
    /// What the filter put aside before.
    screened: Screened,
}

#[derive(Debug, Default, Clone)]
struct Hood {
    documents: Range<usize>,
    shelves: Range<usize>,
}

#[derive(Debug, Default, Clone)]
struct Shelved {
    band: u32,
    members: Range<usize>,
}

/// One neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HoodRef<'a> {
    /// Its documents, in keeper order.
    pub documents: &'a [u32],
    shelves: &'a [Shelved],
    members: &'a [u32],
}

impl<'a> HoodRef<'a> {
    /// Its shelves: the band, and the documents by their number within the neighbourhood, ascending.
    pub(crate) fn shelves(&self) -> impl Iterator<Item = (u32, &'a [u32])> + Clone {
        let members = self.members;
        self.shelves.iter().map(move |shelf| (shelf.band, &members[shelf.members.clone()]))
    }
}

impl Candidates {
    /// How many neighbourhoods there are.
    pub(crate) fn len(&self) -> usize {
        self.hoods.len()
    }

    /// One of them.
    pub(crate) fn hood(&self, number: usize) -> HoodRef<'_> {
        let Hood { documents, shelves } = self.hoods[number].clone();
        HoodRef {
            documents: &self.documents[documents],
            shelves: &self.shelves[shelves],
            members: &self.members,
        }
    }

    /// What the filter did while they were looked for.
    pub(crate) fn screened(&self) -> Screened {
        self.screened
    }

    /// Documents in all of them together.
    pub(crate) fn documents(&self) -> usize {
        self.documents.len()
    }
}

/// The documents of one band that are not alone with their key, by place in keeper order.
struct BandGroups {
    sizes: Vec<u32>,
    places: Vec<u32>,
}

/// Band keys and the places in keeper order of the documents that have them.
type Keys = Vec<(u64, u32)>;

/// Bands whose keys are in memory together: each takes 32 bytes a document while it is sorted.
const SORTED_TOGETHER: usize = 4;

/// Finds the neighbourhoods among the documents that stand for their equals.
pub(crate) fn find(
    corpus: &Corpus,
    reading: &Reading,
    equals: &Equals,
    order: &[u32],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Candidates, Error> {
    let wanted = |document: u32| equals.is_first(document) && reading.documents.has_shingles(document);
    // Places in keeper order instead of documents, so that everything that follows is in that order by itself.
    let places: Vec<u32> = (0..order.len() as u32).filter(|&place| wanted(order[place as usize])).collect();
    let taken: Vec<u32> = places.iter().map(|&place| order[place as usize]).collect();
    let mut screened = Screened::default();
    let pairs = match settings.search {
        Search::Banding => return Ok(gather(&by_bands(reading, &places, order, settings, observer)?, order)),
        Search::SortMerge => by_shingles(corpus, reading, &taken, settings, observer)?,
        Search::SortMergeSketch => by_registers(corpus, reading, &taken, settings, observer)?,
        Search::All => all(reading, &taken, settings, observer, &mut screened)?,
    };
    // A pair is a group of its own, too small ever to be split.
    let groups = BandGroups {
        sizes: vec![2; pairs.len()],
        places: pairs.iter().flat_map(|&(a, b)| [places[a as usize], places[b as usize]]).collect(),
    };
    Ok(Candidates { screened, ..gather(&[groups], order) })
}

/// The groups of documents that agree in each band.
fn by_bands(
    reading: &Reading,
    places: &[u32],
    order: &[u32],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<BandGroups>, Error> {
    let banding = settings.banding;
    let rows = settings.rows()?;
    observer.begin(Stage::Candidates, banding.bands() as u64);
    let mut bands: Vec<BandGroups> = Vec::with_capacity(banding.bands());
    let work = |(keys, scratch): &mut (Keys, Keys), band: usize| -> Result<_, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        keys.clear();
        keys.extend(
            places
                .iter()
                .map(|&place| (rows.key(band, reading.sketches.row(order[place as usize] as usize)), place)),
        );
        let mut groups = BandGroups { sizes: vec![], places: vec![] };
        for_each_group(keys, scratch, |group| {
            groups.sizes.push(group.len() as u32);
            groups.places.extend(group.iter().map(|keyed| keyed.1));
        });
        observer.advance(1);
        Ok(groups)
    };
    let threads = settings.threads.min(SORTED_TOGETHER);
    parallel::in_order(banding.bands(), threads, Default::default, work, |groups| {
        bands.push(groups);
        Ok::<(), Error>(())
    })?;
    Ok(bands)
}

/// The pairs that share enough shingles, or weight of shingles.
fn by_shingles(
    corpus: &Corpus,
    reading: &Reading,
    documents: &[u32],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<(u32, u32)>, Error> {
    observer.begin(Stage::Candidates, 0);
    let preparation = Preparation::new(&settings.spec, &settings.weighing)?;
    let scale = match settings.spec.weights.weighting {
        Weighting::None | Weighting::Count => Scale::Whole,
        Weighting::Tf | Weighting::TfIdf | Weighting::TfIdfSmooth => Scale::Fine,
    };
    let rule = match settings.measure {
        Measure::Jaccard => Rule::Jaccard(settings.threshold),
        Measure::Containment => Rule::Containment(settings.threshold),
    };
    let source = Source {
        corpus,
        reading,
        documents,
        items: Items::Shingles(&preparation, scale),
        rule,
        threads: settings.threads,
        folder: settings.temporary.as_deref(),
        observer,
    };
    source.candidates()
}

/// The pairs that share so many registers that the filter would let them pass.
fn by_registers(
    corpus: &Corpus,
    reading: &Reading,
    documents: &[u32],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<(u32, u32)>, Error> {
    observer.begin(Stage::Candidates, 0);
    let source = Source {
        corpus,
        reading,
        documents,
        items: Items::Registers,
        rule: Rule::MoreThan(registers_to_exceed(settings)?),
        threads: settings.threads,
        folder: settings.temporary.as_deref(),
        observer,
    };
    source.candidates()
}

/// The most matching registers with which a pair is put aside.
fn registers_to_exceed(settings: &Settings) -> Result<u64, Error> {
    let registers = settings.spec.method.registers();
    let Some(error) = settings.filter_error() else { return Ok(0) };
    let filter = Filter::of(settings.spec.method, settings.threshold, 1, &[registers], Budget::Exact(error))?;
    let look = filter.as_ref().and_then(|filter| filter.looks().first());
    Ok(look.and_then(|look| look.lower).unwrap_or(0) as u64)
}

/// All pairs that their sketches do not put aside; adds what was put aside to `screened`.
fn all(
    reading: &Reading,
    documents: &[u32],
    settings: &Settings,
    observer: &dyn Observer,
    screened: &mut Screened,
) -> Result<Vec<(u32, u32)>, Error> {
    observer.begin(Stage::Candidates, documents.len() as u64);
    let rows = settings.rows()?;
    let screen = Screen::of_all(settings, &rows)?;
    let tiles = Tiles::within(documents.len(), rows.words());
    let mut pairs = vec![];
    let row = |number: usize| reading.sketches.row(documents[number] as usize);
    let work = |(): &mut (), tile: usize| -> Result<_, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let (mut found, mut screened) = (vec![], Screened::default());
        tiles.for_each_stretch(tile, |a, others| {
            let passes = |b: &usize| !screen.rejects(&rows, row(a), row(*b), &mut screened);
            found.extend(others.filter(passes).map(|b| (a as u32, b as u32)));
        });
        observer.advance(tiles.rows(tile).len() as u64);
        Ok((found, screened))
    };
    parallel::in_order(
        tiles.len(),
        settings.threads,
        || (),
        work,
        |(mut found, part)| {
            pairs.append(&mut found);
            screened.merge(&part);
            Ok::<(), Error>(())
        },
    )?;
    pairs.sort_unstable();
    Ok(pairs)
}

/// The neighbourhood of a document that has none.
const NONE: u32 = u32::MAX;

/// Gathers the groups of all bands into neighbourhoods, in the order of their first documents.
fn gather(bands: &[BandGroups], order: &[u32]) -> Candidates {
    let mut forest = Forest::new(order.len());
    for band in bands {
        for_each_slice(&band.sizes, &band.places, |group| {
            for &place in &group[1..] {
                forest.join(group[0], place);
            }
        });
    }

    // A root is the first of its neighbourhood, so going through the places in order numbers neighbourhoods in order.
    let mut sizes = vec![0u32; order.len()];
    for place in 0..order.len() as u32 {
        sizes[forest.first(place) as usize] += 1;
    }
    let mut hood_of = vec![NONE; order.len()];
    let mut hoods: Vec<Hood> = vec![];
    let mut end = 0;
    for place in 0..order.len() {
        if sizes[place] > 1 {
            hood_of[place] = hoods.len() as u32;
            hoods.push(Hood { documents: end..end, shelves: 0..0 });
            end += sizes[place] as usize;
        }
    }
    drop(sizes);
    let mut documents = vec![0; end];
    let mut number = vec![0u32; order.len()];
    for place in 0..order.len() as u32 {
        let hood = hood_of[forest.first(place) as usize];
        if hood != NONE {
            let range = &mut hoods[hood as usize].documents;
            documents[range.end] = order[place as usize];
            number[place as usize] = range.len() as u32;
            range.end += 1;
        }
    }

    let mut counts = vec![(0usize, 0usize); hoods.len()];
    for band in bands {
        for_each_slice(&band.sizes, &band.places, |group| {
            let count = &mut counts[hood_of[forest.first(group[0]) as usize] as usize];
            count.0 += 1;
            count.1 += group.len();
        });
    }
    let (mut shelf, mut member) = (0, 0);
    for (hood, count) in hoods.iter_mut().zip(&mut counts) {
        hood.shelves = shelf..shelf;
        shelf += count.0;
        count.0 = member;
        member += count.1;
    }
    let mut shelves = vec![Shelved::default(); shelf];
    let mut members = vec![0; member];
    for (band, groups) in (0..).zip(bands) {
        for_each_slice(&groups.sizes, &groups.places, |group| {
            let hood = hood_of[forest.first(group[0]) as usize] as usize;
            let begin = counts[hood].0;
            counts[hood].0 += group.len();
            let slots = &mut members[begin..begin + group.len()];
            for (slot, &place) in slots.iter_mut().zip(group) {
                *slot = number[place as usize];
            }
            let range = &mut hoods[hood].shelves;
            shelves[range.end] = Shelved { band, members: begin..begin + group.len() };
            range.end += 1;
        });
    }
    Candidates { hoods, documents, shelves, members, screened: Screened::default() }
}

fn for_each_slice(sizes: &[u32], places: &[u32], mut visit: impl FnMut(&[u32])) {
    let mut begin = 0;
    for &size in sizes {
        let end = begin + size as usize;
        visit(&places[begin..end]);
        begin = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_become_neighbourhoods_in_keeper_order() {
        // Places 1, 4 and 5 hang together through two bands, 2 and 6 in one; 0, 3 and 7 are alone.
        let bands = [
            BandGroups { sizes: vec![2, 2], places: vec![4, 5, 2, 6] },
            BandGroups { sizes: vec![2], places: vec![1, 4] },
        ];
        let order = [10, 11, 12, 13, 14, 15, 16, 17];
        let candidates = gather(&bands, &order);
        let hoods: Vec<_> = (0..candidates.len())
            .map(|number| {
                let hood = candidates.hood(number);
                (
                    hood.documents.to_vec(),
                    hood.shelves().map(|(band, m)| (band, m.to_vec())).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            hoods,
            [
                (vec![11, 14, 15], vec![(0, vec![1, 2]), (1, vec![0, 1])]),
                (vec![12, 16], vec![(0, vec![0, 1])]),
            ]
        );
        assert_eq!(candidates.documents(), 5);
    }

    #[test]
    fn nobody_shares_a_band() {
        let candidates = gather(&[BandGroups { sizes: vec![], places: vec![] }], &[0, 1, 2]);
        assert_eq!((candidates.len(), candidates.documents()), (0, 0));
    }
}
