//! Decides which documents of a corpus stay.

use minwise::candidate::Followers;
use minwise::cluster::{Clustering, Neighbourhood, SimilarDocuments, Verdict, components, star};
use minwise::{Observer, Stage};
use minwise_corpus::Corpus;

use crate::audit;
use crate::candidate;
use crate::candidate::equals::Equals;
use crate::candidate::neighbourhood::Candidates;
use crate::candidate::order::KeeperOrder;
use crate::decide::checkpoint;
use crate::decide::large::spare;
use crate::decide::{Decided, Decisions, Removed, warn_of_recall};
use crate::error::Error;
use crate::read::Reading;
use crate::settings::Plan;
use crate::verify::{Agreement, Decide, ExactJudge, Receive, Verification, Verified, Walk};

/// Finds the near-duplicates of a corpus and decides which documents stay. Documents of references always stay.
///
/// `decided` is called while decisions are made, so that writing can begin before the last decision. If the run
/// succeeds, the calls have reported all documents.
///
/// # Errors
/// Fails with [`ErrorKind::ReadOtherwise`](crate::ErrorKind::ReadOtherwise) if the documents were read with another
/// plan, and with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a source cannot be read again. Fails with
/// [`ErrorKind::File`](crate::ErrorKind::File) if a file of the run cannot be read or written, and with
/// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
pub fn dedup(
    corpus: &Corpus,
    reading: &Reading,
    plan: &Plan,
    observer: &dyn Observer,
    decided: impl FnMut(Decided) + Send,
) -> Result<Decisions, Error> {
    reading.key.check(plan)?;
    observer.begin(Stage::Order, reading.documents.len() as u64);
    let order = KeeperOrder::new(&reading.documents, &plan.keep, reading.references)?;
    let room = plan.memory.gathering_room(order.len());
    observer.begin(Stage::Equal, order.len() as u64);
    let equals = Equals::find(&reading.documents, &order, plan.threads, room)?;
    let candidates = candidate::find(corpus, reading, &equals, &order, plan, observer)?;

    let verdicts = Verdicts { equals: &equals, order: &order, plan, reading };
    let (mut ledger, verified) = Ledger::open(&candidates, &verdicts, decided)?;
    let walk = Walk { corpus, reading, candidates: &candidates, plan, observer };
    let mut verification = walk.run(verified, &verdicts, &mut ledger)?;
    let Ledger { mut removed, mut spared, .. } = ledger;

    for list in [&mut removed, &mut spared] {
        list.sort_unstable_by_key(|removed| removed.document);
    }
    let is_in =
        |list: &[Removed], document: u32| list.binary_search_by_key(&document, |pair| pair.document).is_ok();
    let is_duplicate = |document: u32| is_in(&removed, document) || is_in(&spared, document);
    for group in equals.groups().filter(|group| !is_duplicate(group[0])) {
        let removed = group[1..].iter().filter(|&&document| verdicts.is_input(document)).count();
        verification.expected_recall.add_certain(removed as u64);
    }
    warn_of_recall(&verification, plan, observer);
    let audited = audit::AuditedRun::new(corpus, reading, &equals, &order, plan, observer);
    let audit = audited.audit(&removed, &spared)?;
    let equal = removed.iter().filter(|pair| equals.first(pair.document) == pair.of).count() as u64;
    let (clusters, large_clusters) = (keepers(&removed), keepers(&spared));
    Ok(Decisions { removed, spared, large_clusters, equal, clusters, verification, audit })
}

/// Code that decides which documents of a neighbourhood stay.
struct Verdicts<'a> {
    equals: &'a Equals,
    order: &'a KeeperOrder,
    plan: &'a Plan,
    reading: &'a Reading,
}

impl Verdicts<'_> {
    /// Reports whether a document belongs to the inputs and not to a reference.
    fn is_input(&self, document: u32) -> bool {
        document >= self.reading.references
    }
}

impl Decide for Verdicts<'_> {
    type Decision = Vec<Removed>;

    fn decide(
        &self,
        documents: &[u32],
        neighbourhood: &Neighbourhood,
        judge: &mut ExactJudge<'_, '_>,
        agreement: &mut Agreement<'_>,
        sum: &mut Verification,
    ) -> Result<Vec<Removed>, Error> {
        let visits = visits(documents, self.equals, self.order);
        // A found pair decides about all documents that have the shingles of the later document.
        let copies = |number: u32| self.equals.copies(documents[number as usize]);
        // A clustering cannot be stopped while it reports pairs, so the first failure is returned after its end.
        let mut failure: Result<(), Error> = Ok(());
        let mut alone = |found: &SimilarDocuments<'_>| {
            let both = [found.earlier, found.document].map(|number| documents[number as usize]);
            agreement.alone(found, both).unwrap_or_else(|error| {
                failure = Err(error);
                None
            })
        };
        if self.plan.cluster == Clustering::Star {
            let numbers: Vec<u32> = visits.iter().map(|visit| visit.number).collect();
            let mut followers = Followers::default();
            let verdicts = star(neighbourhood, &numbers, self.plan.shelf, judge, |found| {
                let pairs = copies(found.document);
                let odds = sum.add(found, alone(found), pairs);
                followers.add(found.document, found.earlier, odds, pairs);
            })?;
            failure?;
            sum.expected_recall.add_followers(&followers);
            drop(numbers);
            judge.give_back();
            Ok(removed_in(documents, &visits, verdicts, |document| self.is_input(document)))
        } else {
            let first = components(neighbourhood, self.plan.shelf, judge, |found| {
                sum.add(found, alone(found), copies(found.document));
            })?;
            failure?;
            let mut pairs = vec![];
            for visit in &visits {
                let keeper = first[visit.number as usize];
                let of = documents[keeper as usize];
                if visit.document != of && self.is_input(visit.document) {
                    let similarity = judge.exact(visit.number, keeper)?;
                    pairs.push(Removed { document: visit.document, of, similarity });
                }
            }
            Ok(pairs)
        }
    }
}

/// Decisions of a run while they are made.
struct Ledger<'a, F> {
    plan: &'a Plan,
    /// First undecided document: entry n applies after n neighbourhoods are decided.
    undecided: Vec<u32>,
    removed: Vec<Removed>,
    spared: Vec<Removed>,
    /// Decisions that are not in a checkpoint yet.
    fresh: Fresh,
    /// Number of checkpoints that were written.
    checkpoints: usize,
    /// Removed documents that were not reported yet.
    unreported: Vec<u32>,
    /// Number of decided neighbourhoods that were not reported yet.
    waiting: usize,
    decided: F,
}

/// Number of neighbourhoods whose decisions are reported together.
// A report wakes the thread that writes, which takes a system call. One report per neighbourhood took as long as the
// comparisons of short documents on sixteen threads, because one thread at a time receives decisions.
const REPORTED_TOGETHER: usize = 1024;

#[derive(Default)]
struct Fresh {
    removed: Vec<Removed>,
    spared: Vec<Removed>,
}

impl<'a, F: FnMut(Decided) + Send> Ledger<'a, F> {
    /// Begins with the decisions that need no comparison and the decisions in the checkpoints of an earlier process.
    /// Also returns the progress of that process.
    fn open(
        candidates: &Candidates,
        verdicts: &Verdicts<'a>,
        mut decided: F,
    ) -> Result<(Self, Verified), Error> {
        let Verdicts { equals, plan, reading, .. } = *verdicts;
        let documents = reading.documents.len();
        let undecided = undecided_before(candidates, verdicts, documents);
        let mut removed = removed_outside(candidates, equals, documents);
        removed.retain(|removed| verdicts.is_input(removed.document));
        let mut spared = vec![];
        spare(&mut removed, plan.max_cluster, &mut spared);
        let resumed = match plan.work.as_deref() {
            Some(work) => checkpoint::resume(work, plan, candidates.len(), documents)?,
            None => None,
        };
        let (checkpoints, verified) = match resumed {
            Some(mut before) => {
                removed.append(&mut before.removed);
                spared.append(&mut before.spared);
                (before.batches, before.verified)
            }
            None => (0, Verified::nothing(candidates, plan)),
        };
        decided(Decided { before: undecided[verified.next], removed: documents_of(&removed) });
        let fresh = Fresh::default();
        Ok((
            Self {
                plan,
                undecided,
                removed,
                spared,
                fresh,
                checkpoints,
                unreported: vec![],
                waiting: 0,
                decided,
            },
            verified,
        ))
    }
}

impl<F: FnMut(Decided)> Ledger<'_, F> {
    /// Reports the decisions about all neighbourhoods before `next` that were not reported yet.
    fn report(&mut self, next: usize) {
        self.waiting = 0;
        let removed = std::mem::take(&mut self.unreported);
        (self.decided)(Decided { before: self.undecided[next], removed });
    }
}

impl<F: FnMut(Decided) + Send> Receive<Vec<Removed>> for Ledger<'_, F> {
    fn receive(&mut self, number: usize, mut removed: Vec<Removed>) {
        // All documents of a cluster are in one neighbourhood, as `spare` requires.
        spare(&mut removed, self.plan.max_cluster, &mut self.fresh.spared);
        self.unreported.extend(removed.iter().map(|removed| removed.document));
        append(&mut self.fresh.removed, removed);
        self.waiting += 1;
        if self.waiting >= REPORTED_TOGETHER {
            self.report(number + 1);
        }
    }

    fn batch_done(&mut self, verified: &Verified) -> Result<(), Error> {
        self.report(verified.next);
        let Fresh { removed, spared } = std::mem::take(&mut self.fresh);
        if let Some(work) = self.plan.work.as_deref() {
            checkpoint::write(work, self.checkpoints, verified, &removed, &spared)?;
            self.checkpoints += 1;
        }
        append(&mut self.removed, removed);
        append(&mut self.spared, spared);
        Ok(())
    }
}

/// Returns the removed documents of a neighbourhood. The list gets its exact size at once, because one group of
/// near-duplicates may be most of the corpus.
fn removed_in(
    documents: &[u32],
    visits: &[EqualVisit],
    verdicts: Vec<Verdict>,
    is_input: impl Fn(u32) -> bool,
) -> Vec<Removed> {
    let duplicates = verdicts.iter().filter(|&&verdict| verdict != Verdict::Kept).count();
    let mut removed = Vec::with_capacity(duplicates);
    removed.extend(visits.iter().zip(verdicts).filter_map(|(visit, verdict)| match verdict {
        Verdict::Duplicate { of, similarity } if is_input(visit.document) => {
            Some(Removed { document: visit.document, of: documents[of as usize], similarity })
        }
        // A reference stays even if it is a copy of another reference.
        _ => None,
    }));
    removed
}

/// Returns the number of kept documents for which at least one other document is removed.
fn keepers(removed: &[Removed]) -> u64 {
    let mut keepers: Vec<u32> = removed.iter().map(|removed| removed.of).collect();
    keepers.sort_unstable();
    keepers.dedup();
    keepers.len() as u64
}

/// Appends decisions. If the list is empty, the new list replaces it, so that nothing is copied.
fn append(to: &mut Vec<Removed>, mut removed: Vec<Removed>) {
    if to.is_empty() { *to = removed } else { to.append(&mut removed) }
}

fn documents_of(removed: &[Removed]) -> Vec<u32> {
    removed.iter().map(|removed| removed.document).collect()
}

/// Returns a list whose entry n is the first undecided document of the inputs after n neighbourhoods are decided.
/// Documents of references count as decided.
fn undecided_before(candidates: &Candidates, verdicts: &Verdicts<'_>, documents: usize) -> Vec<u32> {
    let Verdicts { equals, order, reading, .. } = *verdicts;
    let references = reading.references;
    let mut before = vec![documents as u32; candidates.len() + 1];
    for number in (0..candidates.len()).rev() {
        if order.is_input() && references == 0 {
            before[number] = before[number + 1].min(candidates.documents(number)[0]);
            continue;
        }
        // In another order, an equal document may come earlier in the input, so all documents of a group are
        // considered.
        let here = candidates.documents(number).iter();
        let all = here.flat_map(|&document| equals.members(document).iter().copied().chain([document]));
        let first = all.filter(|&document| document >= references).min();
        before[number] = before[number + 1].min(first.unwrap_or(u32::MAX));
    }
    before
}

/// Returns the removed documents outside of all neighbourhoods: equals of documents that share no band with another
/// document.
fn removed_outside(candidates: &Candidates, equals: &Equals, documents: usize) -> Vec<Removed> {
    let mut in_neighbourhood = vec![false; documents];
    for &document in candidates.all_documents() {
        in_neighbourhood[document as usize] = true;
    }
    let outside = equals.groups().filter(|group| !in_neighbourhood[group[0] as usize]);
    outside
        .flat_map(|group| {
            group[1..].iter().map(|&document| Removed { document, of: group[0], similarity: 1.0 })
        })
        .collect()
}

/// Document, with the number in its neighbourhood of the first document that equals it.
struct EqualVisit {
    number: u32,
    document: u32,
}

/// Returns the documents of a neighbourhood with all their equals, in keeper order.
fn visits(documents: &[u32], equals: &Equals, order: &KeeperOrder) -> Vec<EqualVisit> {
    let all: u64 = documents.iter().map(|&first| equals.copies(first)).sum();
    let mut visits: Vec<EqualVisit> = Vec::with_capacity(all as usize);
    let mut sorted = true;
    for (number, &first) in (0..).zip(documents) {
        visits.push(EqualVisit { number, document: first });
        for &document in equals.members(first).iter().skip(1) {
            visits.push(EqualVisit { number, document });
            sorted = false;
        }
    }
    if !sorted {
        visits.sort_unstable_by_key(|visit| order.place(visit.document));
    }
    visits
}

#[cfg(test)]
mod tests {
    use minwise::Unobserved;
    use minwise_corpus::ReadOptions;

    use super::*;
    use crate::read::read;
    use crate::settings::{Bands, RunSettings};

    /// Returns the lines of documents. Half of each document is a form, and every tenth document repeats the document
    /// before it with a fifth of the words changed.
    fn form(count: usize) -> String {
        let line = |i: usize| {
            let own = if i % 10 == 9 { i - 1 } else { i };
            let word = |at: usize| match at {
                0..20 => format!("form{at}"),
                20..28 if own != i => format!("d{i}n{at}"),
                _ => format!("d{own}w{at}"),
            };
            let words: Vec<String> = (0..40).map(word).collect();
            format!("{{\"text\":\"{}\"}}\n", words.join(" "))
        };
        (0..count).map(line).collect()
    }

    /// Deduplicates `count` filled-in copies of a form. A shelf takes at most `shelf` documents.
    fn run(count: usize, shelf: usize, cluster: Clustering) -> Decisions {
        run_lines(&form(count), shelf, cluster, |_| {})
    }

    /// Deduplicates these records. A shelf takes at most `shelf` documents.
    fn run_lines(
        lines: &str,
        shelf: usize,
        cluster: Clustering,
        decided: impl FnMut(Decided) + Send,
    ) -> Decisions {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("in.jsonl");
        fs_err::write(&file, lines).unwrap();
        let corpus = Corpus::open(&[file.into()], &ReadOptions::default(), &Unobserved).unwrap();
        let settings = RunSettings {
            spec: "casefold / words:1 / minhash:64 / seed:1".parse().unwrap(),
            threshold: 0.6,
            bands: Bands::Given { bands: 8, rows: 1 },
            cluster,
            threads: Some(1),
            ..RunSettings::default()
        };
        let plan = Plan { shelf, ..settings.plan().unwrap() };
        let reading = read(&corpus, &plan.reading(), &Unobserved).unwrap();
        dedup(&corpus, &reading, &plan, &Unobserved, decided).unwrap()
    }

    /// Decisions are reported in groups. No later report changes a document before an earlier `before`.
    #[test]
    fn decisions_are_reported_together_and_once() {
        let word = |i: usize, at: usize| if at == 0 { format!("o{i}") } else { format!("d{}w{at}", i / 2) };
        let text = |i: usize| (0..20).map(|at| word(i, at)).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = (0..6000).map(|i| format!("{{\"text\":\"{}\"}}\n", text(i))).collect();
        let mut reports = vec![];
        let decisions = run_lines(&lines.concat(), 200, Clustering::Star, |decided| reports.push(decided));
        assert!((3..20).contains(&reports.len()), "{} reports", reports.len());
        assert!(reports.is_sorted_by_key(|report| report.before));
        assert_eq!(reports.last().unwrap().before, 6000);
        for (at, report) in reports.iter().enumerate() {
            let mut later = reports[at + 1..].iter().flat_map(|later| &later.removed);
            assert!(later.all(|&document| document >= report.before));
        }
        let mut reported: Vec<u32> = reports.into_iter().flat_map(|report| report.removed).collect();
        reported.sort_unstable();
        assert_eq!(reported, documents_of(&decisions.removed));
    }

    /// No document is compared with more documents than a shelf takes, so twice the documents need only twice the work.
    /// The expected recall includes the loss by full shelves.
    #[test]
    fn a_full_shelf_bounds_the_work_and_its_cost_is_stated() {
        for cluster in [Clustering::Star, Clustering::Components] {
            let [half, all] = [3000, 6000].map(|count| run(count, 200, cluster));
            let growth = all.verification.candidates as f64 / half.verification.candidates as f64;
            let full = all.verification.full_shelves;
            assert!(full.shelves > 0 && full.left_out > full.shelves, "{full:?}");
            assert!(growth < 2.6, "twice the documents, {growth} times the work");
            let measured = all.removed.len() as f64 / 600.0;
            let expected = all.verification.expected_recall.value();
            assert!(measured < 0.97, "{measured}: full shelves cost nothing");
            let spread = (measured * (1.0 - measured) / 600.0).sqrt();
            assert!(expected <= measured + 4.0 * spread, "{expected} expected, {measured} measured");
            assert!(expected >= measured - 0.25, "{expected} expected, {measured} measured");
        }
    }
}
