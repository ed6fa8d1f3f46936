//! The walk passes every neighbourhood to the code that decides about it, and delivers the decisions in the order of
//! the neighbourhoods.
//!
//! ```text
//! stretches ─→ large neighbourhoods, one by one, each with all threads ─┐
//!           └→ cells of small ones, one thread each ────────────────────┴→ Delivery, in order ─→ Receive
//! ```

use std::collections::BTreeMap;

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
/// Number of documents whose rows are loaded into the processor cache together. The rows of 64 sketches of 128 registers
/// take 32 KiB.
const WARM_DOCUMENTS: usize = 64;

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
        // Only documents with candidates are read again. `expect_reads` announces their places, so that for Parquet and
        // Arrow inputs only these rows are written to the temporary file.
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
        let empty = Verification::new(plan);
        let visit = BatchVisit { walk: *self, empty: &empty, bench: &bench, loader: &loader, decide };
        let is_large = |number: usize| plan.threads > 1 && candidates.text_bytes(number) > LARGE_BYTES;
        for numbers in candidates.stretches(verified.next, plan.work.is_some()) {
            let mut delivery =
                Delivery { large: BTreeMap::new(), verified: &mut verified, receive: &mut *receive };
            let mut common = seat();
            for number in numbers.clone().filter(|&number| is_large(number)) {
                let batch = candidates.load(number..number + 1, memory.batch(), folder)?;
                delivery.large.insert(number, visit.neighbourhood(&batch, number, &mut common, all)?);
                observer.advance(candidates.documents(number).len() as u64);
            }
            drop(common);
            let loads = candidates.loads(&numbers);
            let most_bytes = memory.batch() / plan.threads as u64;
            let work = |seat: &mut (Seat<'_>, Agreement<'_>), load: usize| {
                let small: Vec<usize> = loads[load].clone().filter(|&number| !is_large(number)).collect();
                let mut decided = Vec::with_capacity(small.len());
                if small.is_empty() {
                    return Ok(decided);
                }
                let batch = candidates.load(loads[load].clone(), most_bytes, folder)?;
                let mut warm = 0;
                for (at, &number) in small.iter().enumerate() {
                    if at == warm {
                        let mut documents = 0;
                        while warm < small.len() && documents < WARM_DOCUMENTS {
                            documents += candidates.documents(small[warm]).len();
                            warm += 1;
                        }
                        let documents =
                            small[at..warm].iter().flat_map(|&number| candidates.documents(number));
                        seat.0.warm(documents.copied());
                    }
                    decided.push((number, visit.neighbourhood(&batch, number, seat, one)?));
                }
                // The observer is called once per load, because threads that call it once per small neighbourhood wait
                // for each other.
                let documents = small.iter().map(|&number| candidates.documents(number).len() as u64);
                observer.advance(documents.sum());
                Ok::<_, Error>(decided)
            };
            parallel::in_order(loads.len(), plan.threads, seat, work, |decided| {
                for (number, decided) in decided {
                    delivery.put(number, decided);
                }
                Ok(())
            })?;
            delivery.finish();
            receive.batch_done(&verified)?;
        }
        Ok(verified.sum)
    }
}

/// Data that decisions need.
struct BatchVisit<'a, D> {
    walk: Walk<'a>,
    /// Counts of no comparisons. They are cloned, because making them anew asks for the looks of the filter.
    empty: &'a Verification,
    bench: &'a Bench<'a>,
    loader: &'a Loader<'a>,
    decide: &'a D,
}

impl<D: Decide> BatchVisit<'_, D> {
    /// Decides about one neighbourhood of a batch.
    fn neighbourhood(
        &self,
        batch: &NeighbourhoodBatch<'_>,
        number: usize,
        (seat, agreement): &mut (Seat<'_>, Agreement<'_>),
        budget: Budget,
    ) -> Result<(D::Decision, Verification), Error> {
        let Walk { reading, plan, observer, .. } = self.walk;
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let loaded = batch.neighbourhood(number);
        let documents = loaded.documents;
        let references = documents.partition_point(|&document| document < reading.references) as u32;
        let neighbourhood = loaded.neighbourhood(plan.shelf).with_given(references);
        let mut judge = ExactJudge::new(loaded, self.bench, self.loader, seat, budget);
        let mut sum = self.empty.clone();
        let decision = self.decide.decide(documents, &neighbourhood, &mut judge, agreement, &mut sum)?;
        sum.take(judge.finish());
        Ok((decision, sum))
    }
}

/// Decisions about a batch. They are received in the order of the neighbourhoods, so that not even the last bit of a sum
/// depends on the threads.
struct Delivery<'a, D, R> {
    /// Decisions about large neighbourhoods, which are made before those about neighbourhoods with lower numbers.
    large: BTreeMap<usize, (D, Verification)>,
    verified: &'a mut Verified,
    receive: &'a mut R,
}

impl<D, R: Receive<D>> Delivery<'_, D, R> {
    /// Receives the decision about a small neighbourhood, after those about all small ones with lower numbers.
    fn put(&mut self, number: usize, decided: (D, Verification)) {
        while self.verified.next < number {
            self.put_large();
        }
        self.deliver(decided);
    }

    /// Receives the decisions about the large neighbourhoods after the last small one.
    fn finish(&mut self) {
        while !self.large.is_empty() {
            self.put_large();
        }
    }

    fn put_large(&mut self) {
        let decided = self.large.remove(&self.verified.next);
        self.deliver(decided.expect("every neighbourhood is decided"));
    }

    fn deliver(&mut self, (decision, of_one): (D, Verification)) {
        let Verified { next, sum } = &mut *self.verified;
        sum.merge(&of_one);
        self.receive.receive(*next, decision);
        *next += 1;
    }
}
