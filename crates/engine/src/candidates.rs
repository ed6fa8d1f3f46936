//! The second stage: documents that may be near-duplicates, found in one of several ways.

use minwise::candidate::banding::for_each_group;
use minwise::candidate::sort_merge::Rule;
use minwise::filter::{Budget, Filter};
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise_corpus::Corpus;

use crate::equal::Equals;
use crate::error::{Error, ErrorKind};
use crate::hoods::{BandGroups, Candidates};
use crate::join::{Items, Scale, Source};
use crate::observe::{Observer, Stage};
use crate::parallel;
use crate::partners::Pairs;
use crate::prepare::Preparation;
use crate::read::Reading;
use crate::screen::{Screen, Screened};
use crate::settings::{Search, Settings};
use crate::tiles::Tiles;

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
    let look: fn(&PairSearch<'_>, &mut Pairs<'_>) -> Result<Screened, Error> = match settings.search {
        Search::Banding => {
            // Places in keeper order instead of documents, so that everything that follows is in that order by itself.
            let places: Vec<u32> =
                (0..order.len() as u32).filter(|&place| wanted(order[place as usize])).collect();
            let groups = by_bands(reading, &places, order, settings, observer)?;
            return Ok(Candidates::of_groups(&groups, order));
        }
        Search::SortMerge => |search, pairs| search.by_shingles(pairs),
        Search::SortMergeSketch => |search, pairs| search.by_registers(pairs),
        Search::All => |search, pairs| search.all(pairs),
    };
    let taken: Vec<u32> = order.iter().copied().filter(|&document| wanted(document)).collect();
    // A document with equals is looked at again, when documents after it may have been kept.
    let again = taken.iter().map(|&document| equals.copies(document) > 1).collect();
    let mut pairs = Pairs::new(again, settings.threads, settings.temporary.as_deref());
    let screened = look(&PairSearch { corpus, reading, documents: &taken, settings, observer }, &mut pairs)?;
    Candidates::of_pairs(pairs, &taken, screened)
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
        let mut groups = BandGroups::default();
        for_each_group(keys, scratch, |group| groups.push(group.iter().map(|keyed| keyed.1)));
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

/// What a search for pairs is given.
struct PairSearch<'a> {
    corpus: &'a Corpus,
    reading: &'a Reading,
    /// The documents among which pairs are looked for, by the numbers that they have in them.
    documents: &'a [u32],
    settings: &'a Settings,
    observer: &'a dyn Observer,
}

impl PairSearch<'_> {
    fn row(&self, number: u32) -> &[u32] {
        self.reading.sketches.row(self.documents[number as usize] as usize)
    }

    fn source<'s>(&'s self, items: Items<'s>, rule: Rule) -> Source<'s> {
        Source {
            corpus: self.corpus,
            reading: self.reading,
            documents: self.documents,
            items,
            rule,
            threads: self.settings.threads,
            folder: self.settings.temporary.as_deref(),
            observer: self.observer,
        }
    }

    /// The pairs that share enough shingles, or weight of shingles. No sketch is asked.
    fn by_shingles(&self, pairs: &mut Pairs<'_>) -> Result<Screened, Error> {
        let settings = self.settings;
        self.observer.begin(Stage::Candidates, 0);
        let preparation = Preparation::new(&settings.spec, &settings.weighing)?;
        let scale = match settings.spec.weights.weighting {
            Weighting::None | Weighting::Count => Scale::Whole,
            Weighting::Tf | Weighting::TfIdf | Weighting::TfIdfSmooth => Scale::Fine,
        };
        let rule = match settings.measure {
            Measure::Jaccard => Rule::Jaccard(settings.threshold),
            Measure::Containment => Rule::Containment(settings.threshold),
        };
        self.source(Items::Shingles(&preparation, scale), rule).candidates(|_, _| true, pairs)?;
        Ok(Screened::default())
    }

    /// The pairs that share so many registers that the filter lets them pass.
    fn by_registers(&self, pairs: &mut Pairs<'_>) -> Result<Screened, Error> {
        let Self { settings, .. } = self;
        self.observer.begin(Stage::Candidates, 0);
        let registers = settings.spec.method.registers();
        let filter = match settings.filter_error() {
            None => None,
            Some(error) => {
                let (method, threshold) = (settings.spec.method, settings.threshold);
                Filter::of(method, threshold, 1, &[registers], Budget::Exact(error))?
            }
        };
        let lower = filter.as_ref().and_then(|filter| filter.looks().first()?.lower);
        let source = self.source(Items::Registers, Rule::MoreThan(lower.unwrap_or(0) as u64));
        let Some(filter) = filter.filter(|_| lower.is_some()) else {
            source.candidates(|_, _| true, pairs)?;
            return Ok(Screened::default());
        };
        // Registers of many documents were not counted, and may not be shared after all.
        let counted = source.candidates(|a, b| !filter.screen(self.row(a), self.row(b)).rejected, pairs)?;
        let compared = counted.seen * registers as u64;
        Ok(Screened { pairs: counted.seen - counted.taken, compared, registers: compared })
    }

    /// All pairs that their sketches do not put aside.
    fn all(&self, pairs: &mut Pairs<'_>) -> Result<Screened, Error> {
        let Self { documents, settings, observer, .. } = self;
        observer.begin(Stage::Candidates, documents.len() as u64);
        let rows = settings.rows()?;
        let screen = Screen::of_all(settings, &rows)?;
        let tiles = Tiles::within(documents.len(), rows.words());
        let mut all = Screened::default();
        let work = |(): &mut (), tile: usize| -> Result<_, Error> {
            if observer.cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let (mut found, mut screened) = (vec![], Screened::default());
            tiles.for_each_stretch(tile, |a, others| {
                let row = self.row(a as u32);
                let passes = |b: &usize| !screen.rejects(&rows, row, self.row(*b as u32), &mut screened);
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
            |(found, screened)| {
                all.merge(&screened);
                pairs.add(&found)
            },
        )?;
        Ok(all)
    }
}
