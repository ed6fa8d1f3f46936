//! Measures how accurate sketches are on a user's own documents: their estimates are compared with exact similarities,
//! and the time of each is measured.
//!
//! The documents of the pairs are read once more. The shingle sets and sketches of these documents stay in memory,
//! because one document is in many pairs. Each pair is compared exactly, and then by every kind of sketch.
//!
//! All pairs of a run share the hash functions of one seed, so their errors are not independent. The mean over a
//! million pairs of a few thousand documents is less certain than the mean over a million independent pairs. Runs with
//! other seeds show how much the mean varies.

mod pairs;
mod plot;
mod sums;

use std::sync::Arc;
use std::time::{Duration, Instant};

use minwise::sketch::{Method, Sketcher};
use minwise::{Observer, Sentence, Spec, Stage};
use minwise_corpus::{Corpus, Scratch};

pub use pairs::{PairSample, UnknownPairSample};
pub use plot::plot;
pub use sums::ErrorSums;

use self::pairs::{PairList, all_pairs};
use self::sums::{RANGES, SketchSums};
use crate::error::{Error, ErrorKind, SettingProblem};
use crate::parallel;
use crate::read::Reading;
use crate::read::prepare::{DocumentSet, Preparation, Prepared};
use crate::settings::ReadPlan;
use crate::weigh::WeightTables;

/// Number of documents that a thread reads per batch.
const BATCH: usize = 64;

/// Documents and sketches that are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccuracyRequest<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) reading: &'a Reading,
    pub(crate) plan: &'a ReadPlan,
    pub(crate) methods: &'a [Method],
    pub(crate) weighing: &'a WeightTables,
    pub(crate) sample: PairSample,
    /// Allowed error: estimates with a larger error are counted.
    pub(crate) error: f64,
}

/// Errors of every kind of sketch, compared with exact similarities.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Accuracy {
    /// Number of documents that have shingles.
    pub documents: u64,
    /// Number of pairs that were compared.
    pub pairs: u64,
    /// Number of all pairs of documents that have shingles.
    pub all_pairs: u64,
    /// Allowed error: [`ErrorSums::off`] counts pairs with a larger error.
    pub error: f64,
    /// Time to cut and sort the shingles of a document. All times are medians over batches of documents or pairs,
    /// because a thread that the system suspends for a while would distort a mean. A time is `None` if nothing was
    /// timed.
    pub cutting: Option<Duration>,
    /// Time of an exact comparison.
    pub exact_comparison: Option<Duration>,
    /// Results of the sketches, in the order in which the sketches were requested.
    pub sketches: Vec<SketchAccuracy>,
}

/// Errors and costs of one kind of sketch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SketchAccuracy {
    /// Kind of the sketch.
    pub method: Method,
    /// Number of bytes per sketch.
    pub bytes: usize,
    /// Errors of all pairs.
    pub all: ErrorSums,
    /// Errors by tenths of the exact similarity, beginning with 0 to 0.1. Pairs of similarity 1 are in the last tenth.
    pub by_similarity: [ErrorSums; RANGES],
    /// Time to sketch a document whose shingles are already cut.
    pub sketching: Option<Duration>,
    /// Time to estimate a similarity.
    pub comparison: Option<Duration>,
    cells: Vec<u64>,
    reach: f64,
}

/// Documents of the pairs, as they are held in memory.
struct Loaded {
    /// Shingle sets, for exact comparisons.
    sets: Vec<DocumentSet>,
    /// Shingles in document order, for sketches that depend on positions. The list is empty if no sketch depends on
    /// positions.
    in_order: Vec<Vec<u64>>,
    /// Sketches of each kind, one document after the other.
    sketches: Vec<Vec<u32>>,
    bytes: u64,
    cutting: Times,
    sketching: Vec<Times>,
}

/// Mean time per item of each batch.
#[derive(Debug, Clone, Default)]
struct Times(Vec<Duration>);

impl Times {
    /// Adds the time of a batch of `items` items.
    fn add(&mut self, time: Duration, items: usize) {
        self.0.push(time.div_f64(items as f64));
    }

    /// Returns the median of the times per item.
    fn median(mut self) -> Option<Duration> {
        let middle = self.0.len() / 2;
        self.0.sort_unstable();
        self.0.get(middle).copied()
    }
}

/// Documents of one batch, as a thread has read them.
struct LoadedBatch {
    sets: Vec<DocumentSet>,
    in_order: Vec<Vec<u64>>,
    sketches: Vec<Vec<u32>>,
    cutting: Duration,
    sketching: Vec<Duration>,
}

/// Kind of sketch, with the code that prepares it.
struct SketchKind {
    method: Method,
    preparation: Preparation,
    /// Sketcher, if the sketch depends on the positions of shingles. The sketch then does not estimate the similarity
    /// of the sets, so its estimates are compared with [`Sketcher::exact`].
    places: Option<Arc<dyn Sketcher>>,
}

/// Reports whether the sketch depends on the positions of shingles and not only on the shingle set.
fn looks_at_places(method: Method) -> bool {
    matches!(method, Method::Sectional { .. } | Method::Tolerant { .. } | Method::PreTagged { .. })
}

impl SketchKind {
    fn new(method: Method, spec: &Spec, weighing: &WeightTables) -> Result<Self, Error> {
        let mut spec = *spec;
        spec.method = method;
        let places = looks_at_places(method).then(|| method.build(spec.seed)).transpose()?;
        Ok(Self { method, preparation: Preparation::of_checked(&spec, weighing)?, places })
    }
}

/// Compares the estimates of all sketches with the exact similarities.
///
/// # Errors
/// Fails with [`ErrorKind::Settings`] if the documents do not fit into memory, and with [`ErrorKind::Corpus`] if a
/// source cannot be read again. Fails with [`ErrorKind::Cancelled`] if the observer cancels.
pub(crate) fn measure(request: &AccuracyRequest<'_>, observer: &dyn Observer) -> Result<Accuracy, Error> {
    let AccuracyRequest { reading, plan, methods, weighing, .. } = *request;
    let spec = &plan.key.spec;
    let kinds: Vec<SketchKind> =
        methods.iter().map(|&method| SketchKind::new(method, spec, weighing)).collect::<Result<_, _>>()?;
    let documents: Vec<u32> = (0..reading.documents.len() as u32)
        .filter(|&document| reading.documents.has_shingles(document))
        .collect();
    let list = PairList::new(documents.len(), request.sample, spec.seed);
    // `places` maps each document that is in a pair to its place in memory.
    let (mut wanted, mut places) = (vec![], vec![u32::MAX; documents.len()]);
    for (number, _) in list.documents(documents.len()).iter().enumerate().filter(|(_, occurs)| **occurs) {
        places[number] = wanted.len() as u32;
        wanted.push(documents[number]);
    }
    observer.begin(Stage::Estimate, wanted.len() as u64 + list.len());
    let loaded = load(request, &kinds, &wanted, observer)?;
    let compared = compare(request, &kinds, &list, &places, &loaded, observer)?;
    observer.end(Stage::Estimate);

    let times = loaded.sketching.into_iter().zip(compared.comparing);
    let sketches =
        kinds.iter().zip(compared.sums).zip(times).map(|((kind, sums), (sketching, comparing))| {
            SketchAccuracy {
                method: kind.method,
                bytes: kind.preparation.words() * size_of::<u32>(),
                all: sums.all(),
                by_similarity: sums.ranges,
                sketching: sketching.median(),
                comparison: comparing.median(),
                reach: sums.reach,
                cells: sums.cells,
            }
        });
    Ok(Accuracy {
        documents: documents.len() as u64,
        pairs: list.len(),
        all_pairs: all_pairs(documents.len()),
        error: request.error,
        cutting: loaded.cutting.median(),
        exact_comparison: compared.exact.median(),
        sketches: sketches.collect(),
    })
}

/// Reads the documents again and makes their sets and sketches.
fn load(
    request: &AccuracyRequest<'_>,
    kinds: &[SketchKind],
    documents: &[u32],
    observer: &dyn Observer,
) -> Result<Loaded, Error> {
    let AccuracyRequest { corpus, reading, plan, sample, .. } = *request;
    let with_places = kinds.iter().any(|kind| kind.places.is_some());
    let most = plan.memory.room(plan.threads, reading.documents.len()).loaded();
    let mut all = Loaded {
        sets: Vec::with_capacity(documents.len()),
        in_order: vec![],
        sketches: vec![vec![]; kinds.len()],
        bytes: 0,
        cutting: Times::default(),
        sketching: vec![Times::default(); kinds.len()],
    };
    let work = |room: &mut (Scratch, Prepared), batch: usize| -> Result<LoadedBatch, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let here = &documents[batch * BATCH..documents.len().min((batch + 1) * BATCH)];
        let mut loaded = LoadedBatch {
            sets: Vec::with_capacity(here.len()),
            in_order: vec![],
            sketches: kinds.iter().map(|kind| vec![0; here.len() * kind.preparation.words()]).collect(),
            cutting: Duration::ZERO,
            sketching: vec![Duration::ZERO; kinds.len()],
        };
        let (scratch, prepared) = room;
        for (at, &document) in here.iter().enumerate() {
            let read = corpus.read(&reading.documents.place(document)?, scratch)?;
            let started = Instant::now();
            // The kinds differ only in their sketches, so the first kind cuts the text for all of them.
            let base = &kinds[0].preparation;
            let set = base.set(&read.text, prepared);
            loaded.cutting += started.elapsed();
            for (kind, (sketches, time)) in
                kinds.iter().zip(loaded.sketches.iter_mut().zip(&mut loaded.sketching))
            {
                let words = kind.preparation.words();
                let started = Instant::now();
                kind.preparation.write_sketch(prepared, &mut sketches[at * words..(at + 1) * words]);
                *time += started.elapsed();
            }
            if with_places {
                loaded.in_order.push(base.in_order(prepared).to_vec());
            }
            loaded.sets.push(set);
        }
        Ok(loaded)
    };
    let receive = |batch: LoadedBatch| {
        observer.advance(batch.sets.len() as u64);
        let sets: usize = batch.sets.iter().map(DocumentSet::size_bytes).sum();
        let in_order: usize = batch.in_order.iter().map(|shingles| size_of_val(&**shingles)).sum();
        let sketches: usize = batch.sketches.iter().map(|sketches| size_of_val(&**sketches)).sum();
        all.bytes += (sets + in_order + sketches) as u64;
        if all.bytes > most {
            return Err(too_much(sample, plan).into());
        }
        let items = batch.sets.len();
        all.sets.extend(batch.sets);
        all.in_order.extend(batch.in_order);
        for (sketches, more) in all.sketches.iter_mut().zip(batch.sketches) {
            sketches.extend(more);
        }
        all.cutting.add(batch.cutting, items);
        for (times, more) in all.sketching.iter_mut().zip(batch.sketching) {
            times.add(more, items);
        }
        Ok(())
    };
    let batches = documents.len().div_ceil(BATCH);
    parallel::in_order(batches, plan.threads, Default::default, work, receive)?;
    Ok(all)
}

/// Returns the problem that the documents of the pairs do not fit into memory.
fn too_much(sample: PairSample, plan: &ReadPlan) -> SettingProblem {
    let reason = format!(
        "the shingles and sketches of the documents in these pairs need more memory than the limit of {}",
        plan.memory.in_words()
    );
    let hint = Sentence::from("fewer pairs, such as ")
        .setting_to("pairs", "1000")
        .text(", have fewer documents; ")
        .setting("memory")
        .text(" raises the limit");
    SettingProblem::new("pairs", sample, reason).hint(hint)
}

/// Sums and times of all pairs.
struct ComparedPairs {
    exact: Times,
    comparing: Vec<Times>,
    sums: Vec<SketchSums>,
}

/// Sums and times of the pairs of one chunk. One thread has compared all pairs of the chunk.
struct ComparedChunk {
    pairs: usize,
    exact: Duration,
    comparing: Vec<Duration>,
    sums: Vec<SketchSums>,
}

/// Compares the pairs of the list. `places` maps each document to its place in memory.
fn compare(
    request: &AccuracyRequest<'_>,
    kinds: &[SketchKind],
    list: &PairList,
    places: &[u32],
    loaded: &Loaded,
    observer: &dyn Observer,
) -> Result<ComparedPairs, Error> {
    let sums = || kinds.iter().map(|kind| SketchSums::new(kind.method, request.error)).collect();
    let mut all = ComparedPairs {
        exact: Times::default(),
        comparing: vec![Times::default(); kinds.len()],
        sums: sums(),
    };
    let work = |room: &mut (Vec<(u32, u32)>, Vec<f64>), chunk: usize| -> Result<ComparedChunk, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let (pairs, exact) = room;
        list.chunk(chunk, pairs);
        for (first, second) in pairs.iter_mut() {
            (*first, *second) = (places[*first as usize], places[*second as usize]);
        }
        let mut part = ComparedChunk {
            pairs: pairs.len(),
            exact: Duration::ZERO,
            comparing: Vec::with_capacity(kinds.len()),
            sums: sums(),
        };
        let started = Instant::now();
        exact.clear();
        exact.extend(
            pairs.iter().map(|&(a, b)| loaded.sets[a as usize].relation(&loaded.sets[b as usize])[0]),
        );
        part.exact = started.elapsed();
        let mut estimates = Vec::with_capacity(pairs.len());
        for ((kind, sketches), sums) in kinds.iter().zip(&loaded.sketches).zip(&mut part.sums) {
            let words = kind.preparation.words();
            let row = |place: u32| &sketches[place as usize * words..(place as usize + 1) * words];
            let started = Instant::now();
            estimates.clear();
            estimates.extend(pairs.iter().map(|&(a, b)| kind.preparation.estimate(row(a), row(b))));
            part.comparing.push(started.elapsed());
            for ((&(a, b), &exact), estimate) in pairs.iter().zip(&*exact).zip(&estimates) {
                let exact = kind.places.as_ref().map_or(exact, |sketcher| {
                    sketcher.exact(&loaded.in_order[a as usize], &loaded.in_order[b as usize])
                });
                sums.add(exact, estimate);
            }
        }
        Ok(part)
    };
    let receive = |part: ComparedChunk| {
        observer.advance(part.pairs as u64);
        all.exact.add(part.exact, part.pairs);
        for (times, more) in all.comparing.iter_mut().zip(part.comparing) {
            times.add(more, part.pairs);
        }
        // Chunks arrive in order, so the sums of floating-point numbers do not depend on the number of threads.
        for (sums, more) in all.sums.iter_mut().zip(&part.sums) {
            sums.append(more);
        }
        Ok(())
    };
    parallel::in_order(list.chunks(), request.plan.threads, Default::default, work, receive)?;
    Ok(all)
}
