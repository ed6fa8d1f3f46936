//! The walk passes every neighbourhood to the code that decides about it, and delivers the decisions in the order of
//! the neighbourhoods.
//!
//! ```text
//! batches ─→ large neighbourhoods, one by one, each with all threads ─┐
//!         └→ small ones, one thread each ─────────────────────────────┴→ Delivery, in order ─→ Receive
//! ```

use std::ops::Range;

use minwise::cluster::Neighbourhood;
use minwise::{Observer, Stage};
use minwise_corpus::Corpus;

use crate::candidate::neighbourhood::{Candidates, NeighbourhoodBatch};
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::read::Reading;
use crate::read::prepare::Preparation;
use crate::settings::Plan;
use crate::turn::LargeDocumentLock;
use crate::verify::judge::{Bench, ExactJudge, Seat};
use crate::verify::loader::{Loader, Sorting};
use crate::verify::sets::Budget;
use crate::verify::sum::{Agreement, Verification};

/// Number of bytes of memory per thread for shingle sets.
const SETS_BYTES: usize = 24 << 20;
/// Number of bytes of text above which all threads work on a neighbourhood together.
const LARGE_BYTES: u64 = 8 << 20;
/// Number of bytes of text per thread that are read ahead in a large neighbourhood.
const AHEAD_BYTES: u64 = 1 << 20;
/// Number of documents at which a task ends. A task is a list of small neighbourhoods for one thread, and also ends at
/// `TASK_BYTES` bytes of text.
///
/// Most neighbourhoods have two documents. A task for each small neighbourhood cost more than the decision: two locks
/// of a mutex and a system call. The rows of 64 sketches of 128 registers take 32 KiB, so they stay in the cache.
const TASK_DOCUMENTS: usize = 64;
const TASK_BYTES: u64 = 64 << 10;

/// Code that decides about neighbourhoods. Several threads call it at the same time.
pub(crate) trait Decide: Sync {
    /// Decision about one neighbourhood.
    type Decision: Send;

    /// Decides about one neighbourhood, given its documents in keeper order. Pairs that reach the threshold are added
    /// to `sum`; `agreement` finds their bands.
    fn decide(
        &self,
        documents: &[u32],
        neighbourhood: &Neighbourhood,
        judge: &mut ExactJudge<'_, '_>,
        agreement: &mut Agreement<'_>,
        sum: &mut Verification,
    ) -> Result<Self::Decision, Error>;
}

/// Receiver of decisions. One thread at a time calls it, in the order of the neighbourhoods, so it needs no mutex.
///
/// Receiving is separate from [`Decide`], because a decision is received while other threads are still deciding.
pub(crate) trait Receive<D>: Send {
    /// Receives the decision about one neighbourhood.
    fn receive(&mut self, number: usize, decision: D);

    /// Ends a batch, after every neighbourhood of the batch has been received.
    fn batch_done(&mut self, verified: &Verified) -> Result<(), Error>;
}

/// Receiver for decisions without content.
impl Receive<()> for () {
    fn receive(&mut self, _: usize, (): ()) {}

    fn batch_done(&mut self, _: &Verified) -> Result<(), Error> {
        Ok(())
    }
}

/// Progress of the verification.
#[derive(Debug, Clone)]
pub(crate) struct Verified {
    /// Number of the first neighbourhood that is not decided.
    pub next: usize,
    /// Sum over the decided neighbourhoods.
    pub sum: Verification,
}

impl Verified {
    /// Returns the progress before the first decision.
    pub(crate) fn nothing(candidates: &Candidates, plan: &Plan) -> Self {
        let mut sum = Verification::new(plan);
        // A search that compares all rows has already rejected pairs.
        sum.screened = candidates.screened();
        sum.candidates = sum.screened.pairs;
        Self { next: 0, sum }
    }
}

/// Walk through the neighbourhoods of a run.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub corpus: &'a Corpus,
    pub reading: &'a Reading,
    pub candidates: &'a Candidates,
    pub plan: &'a Plan,
    pub observer: &'a dyn Observer,
}

impl Walk<'_> {
    /// Decides about every neighbourhood that is not decided yet, and returns the sum over all neighbourhoods.
    pub(crate) fn run<D: Decide>(
        &self,
        mut verified: Verified,
        decide: &D,
        receive: &mut impl Receive<D::Decision>,
    ) -> Result<Verification, Error> {
        let Self { corpus, reading, candidates, plan, observer } = *self;
        observer.begin(Stage::Verify, candidates.all_documents().len() as u64);
        observer.advance((0..verified.next).map(|number| candidates.documents(number).len() as u64).sum());
        // Only documents with candidates are read again, so that tables need not store their other rows.
        let again = candidates.all_documents().iter();
        corpus.expect_reads(again.filter_map(|&document| reading.documents.place(document).ok()));
        let memory = plan.memory.room(plan.threads, reading.documents.len());
        let folder = plan.temporary.as_deref();
        let preparation = Preparation::of_checked(&plan.spec, &plan.weighing)?;
        let loader = Loader {
            corpus,
            documents: &reading.documents,
            preparation: &preparation,
            sorting: Sorting::new(memory, plan.threads, folder),
            turns: LargeDocumentLock::default(),
        };
        let bench = Bench::new(&reading.documents, plan, observer)?;
        // Crowds get an eighth of the memory for any number of threads, so that counts of comparisons do not depend on
        // the threads. A small neighbourhood needs no limit, because it has at most 8 MiB of text and its parity bits
        // take a fraction of that.
        let crowd_bytes = usize::try_from(plan.memory.bytes() / 8).unwrap_or(usize::MAX);
        let all = Budget {
            bytes: SETS_BYTES * plan.threads,
            threads: plan.threads,
            ahead_bytes: AHEAD_BYTES.min(preparation.whole_bytes(1)) * plan.threads as u64,
            crowd_bytes,
        };
        let one = Budget { bytes: SETS_BYTES, threads: 1, ahead_bytes: 0, crowd_bytes: usize::MAX };
        let documents = &reading.documents;
        let seat = || (Seat::new(documents), Agreement::new(documents, bench.rows(), plan));
        for numbers in candidates.batches(verified.next, memory, plan.work.is_some()) {
            let batch = candidates.load(numbers.clone(), memory, folder)?;
            let visit = BatchVisit { walk: *self, batch: &batch, bench: &bench, loader: &loader, decide };
            let (large, small): (Vec<usize>, Vec<usize>) = numbers
                .clone()
                .partition(|&number| plan.threads > 1 && candidates.text_bytes(number) > LARGE_BYTES);
            let mut delivery = Delivery {
                waiting: std::iter::repeat_with(|| None).take(numbers.len()).collect(),
                first: numbers.start,
                verified: &mut verified,
                receive: &mut *receive,
            };
            let mut common = seat();
            for number in large {
                delivery.put(number, visit.neighbourhood(number, &mut common, all)?);
            }
            drop(common);
            let tasks = tasks(&small, candidates);
            let work = |seat: &mut (Seat<'_>, Agreement<'_>), task: usize| {
                let numbers = &small[tasks[task].clone()];
                let documents = numbers.iter().flat_map(|&number| candidates.documents(number));
                seat.0.warm(documents.copied());
                let decide = |&number: &usize| Ok((number, visit.neighbourhood(number, seat, one)?));
                numbers.iter().map(decide).collect::<Result<Vec<_>, Error>>()
            };
            parallel::in_order(tasks.len(), plan.threads, seat, work, |decided| {
                for (number, decided) in decided {
                    delivery.put(number, decided);
                }
                Ok::<(), Error>(())
            })?;
            receive.batch_done(&verified)?;
        }
        Ok(verified.sum)
    }
}

/// Splits `small`, which has the numbers of small neighbourhoods, into one range per task.
fn tasks(small: &[usize], candidates: &Candidates) -> Vec<Range<usize>> {
    let mut tasks = vec![];
    let (mut begin, mut documents, mut text_bytes) = (0, 0, 0);
    for (at, &number) in small.iter().enumerate() {
        documents += candidates.documents(number).len();
        text_bytes += candidates.text_bytes(number);
        if documents >= TASK_DOCUMENTS || text_bytes >= TASK_BYTES || at + 1 == small.len() {
            tasks.push(begin..at + 1);
            (begin, documents, text_bytes) = (at + 1, 0, 0);
        }
    }
    tasks
}

/// Neighbourhoods of a batch, with the data that decisions need.
struct BatchVisit<'a, D> {
    walk: Walk<'a>,
    batch: &'a NeighbourhoodBatch<'a>,
    bench: &'a Bench<'a>,
    loader: &'a Loader<'a>,
    decide: &'a D,
}

impl<D: Decide> BatchVisit<'_, D> {
    /// Decides about one neighbourhood.
    fn neighbourhood(
        &self,
        number: usize,
        (seat, agreement): &mut (Seat<'_>, Agreement<'_>),
        budget: Budget,
    ) -> Result<(D::Decision, Verification), Error> {
        let Walk { reading, plan, observer, .. } = self.walk;
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let loaded = self.batch.neighbourhood(number);
        let documents = loaded.documents;
        let references = documents.partition_point(|&document| document < reading.references) as u32;
        let neighbourhood = loaded.neighbourhood(plan.shelf).with_given(references);
        let mut judge = ExactJudge::new(loaded, self.bench, self.loader, seat, budget);
        let mut sum = Verification::new(plan);
        let decision = self.decide.decide(documents, &neighbourhood, &mut judge, agreement, &mut sum)?;
        sum.take(judge.finish());
        observer.advance(documents.len() as u64);
        Ok((decision, sum))
    }
}

/// Decisions about a batch. Threads finish them in any order, but they are received in the order of the neighbourhoods,
/// so that not even the last bit of a sum depends on the threads.
struct Delivery<'a, D, R> {
    /// Decisions that wait for the decision about a neighbourhood with a lower number.
    waiting: Vec<Option<(D, Verification)>>,
    /// Number of the first neighbourhood of the batch.
    first: usize,
    verified: &'a mut Verified,
    receive: &'a mut R,
}

impl<D, R: Receive<D>> Delivery<'_, D, R> {
    fn put(&mut self, number: usize, decided: (D, Verification)) {
        self.waiting[number - self.first] = Some(decided);
        let Verified { next, sum } = self.verified;
        while let Some((decision, of_one)) = self.waiting.get_mut(*next - self.first).and_then(Option::take) {
            sum.merge(&of_one);
            self.receive.receive(*next, decision);
            *next += 1;
        }
    }
}
