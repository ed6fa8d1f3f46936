//! Tests of decisions that are passed on during the run, so that writing can begin before the run ends.

use std::collections::BTreeSet;
use std::sync::Mutex;

use minwise::keep::{KeepPolicy, Ranking};
use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::Decided;
use minwise_engine::stages::{dedup, read};
use minwise_engine::{Error, ErrorKind, Observer, Stage, Unobserved, Warning};

use crate::oracle::corpus;
use crate::support::{Documents, settings};

#[test]
fn every_decision_is_told_once_and_in_time() {
    told_once_and_in_time(&KeepPolicy::default());
}

/// Unless the policy keeps the first document, the keeper of equal documents may come late in the input.
#[test]
fn every_decision_is_told_once_and_in_time_whatever_is_kept() {
    told_once_and_in_time(&Ranking::Longest.into());
    told_once_and_in_time(&Ranking::Shortest.into());
}

fn told_once_and_in_time(keep: &KeepPolicy) {
    let texts = corpus(5);
    let documents = Documents::new(&texts);
    {
        for threads in [1, 3] {
            let mut settings = settings("words:3", 0.6, 40, 3);
            (settings.keep, settings.threads) = (Some(keep.clone()), Some(threads));
            let reading = documents.read(&settings);
            let mut told: Vec<Decided> = vec![];
            let decisions =
                dedup(&documents.corpus, &reading, &settings.plan().unwrap(), &Unobserved, |decided| {
                    told.push(decided);
                })
                .unwrap();

            let all: Vec<u32> = told.iter().flat_map(|decided| decided.removed.iter().copied()).collect();
            let expected: BTreeSet<u32> = decisions.removed.iter().map(|removed| removed.document).collect();
            assert_eq!(all.len(), expected.len(), "none is told twice");
            assert_eq!(all.into_iter().collect::<BTreeSet<u32>>(), expected);
            assert!(told.is_sorted_by_key(|decided| decided.before));
            assert_eq!(told.last().unwrap().before as usize, texts.len());
            // Once all documents before a number are decided, none of them may be removed later.
            let mut before = 0;
            for decided in &told {
                assert!(decided.removed.iter().all(|&document| document >= before));
                before = decided.before;
            }
        }
    }
}

/// Observer that cancels when a given stage begins, and records the stages.
struct Stopper {
    at: Stage,
    begun: Mutex<Vec<Stage>>,
}

impl Observer for Stopper {
    fn begin(&self, stage: Stage, _total: u64) {
        self.begun.lock().unwrap().push(stage);
    }

    fn cancelled(&self) -> bool {
        self.begun.lock().unwrap().contains(&self.at)
    }
}

#[test]
fn a_run_can_be_stopped_at_every_stage() {
    let documents = Documents::new(corpus(6));
    let settings = settings("words:3", 0.6, 40, 3);
    for at in [Stage::Read, Stage::Candidates, Stage::Verify] {
        let stopper = Stopper { at, begun: Mutex::default() };
        let result =
            read(&documents.corpus, &settings.plan().unwrap().reading(), &stopper).and_then(|reading| {
                dedup(&documents.corpus, &reading, &settings.plan().unwrap(), &stopper, |_| {}).map(drop)
            });
        assert!(result.unwrap_err().is_cancelled(), "{at:?}");
        assert_eq!(stopper.begun.lock().unwrap().last(), Some(&at));
    }
}

/// A neighbourhood may be the whole corpus, so a run must check for cancellation inside of it.
#[test]
fn a_run_can_be_stopped_inside_a_neighbourhood() {
    struct Late(Mutex<u32>);
    impl Observer for Late {
        fn cancelled(&self) -> bool {
            let mut asked = self.0.lock().unwrap();
            *asked += 1;
            *asked > 40
        }
    }
    let settings = settings("words:2", 0.5, 16, 1);
    let documents = Documents::new((0..2000).map(|i| format!("one two three four five six x{i}")));
    let reading = documents.read(&settings);
    let error =
        dedup(&documents.corpus, &reading, &settings.plan().unwrap(), &Late(Mutex::default()), |_| {})
            .unwrap_err();
    assert!(error.is_cancelled());
}

/// Observer that collects warnings.
#[derive(Default)]
struct Listener(Mutex<Vec<Warning>>);

impl Observer for Listener {
    fn warn(&self, warning: &Warning) {
        self.0.lock().unwrap().push(warning.clone());
    }
}

#[test]
fn warnings_reach_the_observer_and_too_many_rejects_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    fs_err::write(&path, "{\"id\":1,\"text\":\"a\\ud800\"}\n{\"id\":1,\"text\":\"b\"}\n{}\n{}\n").unwrap();
    let corpus = Corpus::open(&[path.into()], &ReadOptions::default(), &Unobserved).unwrap();
    let mut settings = settings("words:3", 0.6, 4, 3);
    let listener = Listener::default();
    let reading = read(&corpus, &settings.plan().unwrap().reading(), &listener).unwrap();
    assert_eq!((reading.documents.len(), reading.rejected.len(), reading.repaired), (2, 2, 1));
    let warnings = listener.0.into_inner().unwrap();
    assert!(matches!(&warnings[0], Warning::RepeatedIds { documents: 2, example, .. } if example == "1"));
    assert_eq!(warnings[1], Warning::Repaired { documents: 1 });

    settings.max_rejects = Some(1);
    let error: Error = read(&corpus, &settings.plan().unwrap().reading(), &Unobserved).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooManyRejects { allowed: 1, last } if last.contains(":4:")),
        "{error}"
    );
}
