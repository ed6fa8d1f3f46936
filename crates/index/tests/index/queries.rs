//! Compares the results of checks with known similarities and passages.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use minwise::Stage;
use minwise::verify::{Overlap, ShingleSet};
use minwise::{Spec, shingle::Shingles};
use minwise_index::{
    Added, CheckOptions, ErrorKind, Index, IndexSettings, Mark, MarkedPlace, NewDocument, Observer, Query,
    Side, Texts, Unobserved,
};
use proptest::prelude::*;
use serde_json::{Map, json};

use crate::support::{create, document, text};

fn set(text: &str) -> ShingleSet {
    let mut shingles = Shingles::new();
    Spec::default().shingler().shingle_into(text, &mut shingles);
    shingles.hashes().iter().copied().collect()
}

/// Returns 12 families of five documents each. The members of a family differ by some words from its first
/// document.
fn families() -> Vec<NewDocument> {
    let mut documents = vec![];
    for family in 0..12 {
        let words: Vec<String> = text(family, 300).split(' ').map(str::to_owned).collect();
        for member in 0..5usize {
            let mut words = words.clone();
            for at in (7..words.len()).step_by(90 - 15 * member).take(4 * member) {
                words[at] = format!("changed{family}x{member}x{at}");
            }
            documents.push(document(&format!("{family}-{member}"), &words.join(" ")));
        }
    }
    documents
}

#[test]
fn a_query_finds_every_similar_document_with_its_exact_similarity() {
    let folder = tempfile::tempdir().unwrap();
    for (number, texts) in [Texts::Kept, Texts::LeftOut].into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let index = Index::create(&path, &IndexSettings::default().texts(texts)).unwrap();
        let documents = families();
        index.add(&documents, 0, 2).unwrap();
        let options = CheckOptions::default().containment(1.0).passage(Some(usize::MAX)).top(100);
        for query in &documents {
            let answer = index.check(&Query::new(&query.text).itself(&query.id), &options).unwrap();
            let found: BTreeSet<(String, String)> = answer
                .matches
                .iter()
                .map(|found| (found.id.clone(), format!("{:.9}", found.similarity)))
                .collect();
            let ours = set(&query.text);
            let expected: BTreeSet<(String, String)> = documents
                .iter()
                .filter(|other| other.id != query.id)
                .map(|other| (other.id.clone(), Overlap::of(&ours, &set(&other.text)).jaccard()))
                .filter(|(_, similarity)| *similarity >= options.threshold)
                .map(|(id, similarity)| (id, format!("{similarity:.9}")))
                .collect();
            assert!(!expected.is_empty());
            assert_eq!(found, expected, "{}", query.id);
        }
    }
}

#[test]
fn matches_are_ranked_and_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add(&families(), 0, 1).unwrap();
    let query = families().swap_remove(5);
    let all = index.check(&Query::new(&query.text), &CheckOptions::default().top(100)).unwrap();
    assert_eq!((all.matches[0].id.as_str(), all.matches[0].similarity), ("1-0", 1.0));
    assert!(all.matches.is_sorted_by(|a, b| a.similarity >= b.similarity));
    let two = index.check(&Query::new(&query.text), &CheckOptions::default().top(2)).unwrap();
    assert_eq!(two.matches[..], all.matches[..2]);
    assert_eq!(two.further, all.matches.len() - 2);
}

#[test]
fn what_is_compared_is_limited_and_what_is_not_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let same = text(1, 100);
    let documents: Vec<NewDocument> =
        (0..30).map(|n| document(&format!("{n}"), &format!("{same} {n}"))).collect();
    index.add(&documents, 0, 2).unwrap();
    let answer = index.check(&Query::new(&same), &CheckOptions::default().candidates(10).top(99)).unwrap();
    assert_eq!((answer.compared, answer.not_compared, answer.matches.len()), (10, 20, 10));
}

/// Observer that counts the calls of `cancelled`, and cancels after `most` calls.
struct Asked {
    times: AtomicUsize,
    most: usize,
}

impl Asked {
    fn up_to(most: usize) -> Self {
        Self { times: AtomicUsize::new(0), most }
    }
}

impl Observer for Asked {
    fn cancelled(&self) -> bool {
        self.times.fetch_add(1, Ordering::Relaxed) >= self.most
    }
}

#[test]
fn candidates_that_are_not_compared_are_not_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let same = text(1, 100);
    let documents: Vec<NewDocument> =
        (0..30).map(|n| document(&format!("{n}"), &format!("{same} {n}"))).collect();
    index.add(&documents, 0, 2).unwrap();
    let looks = |candidates: usize| {
        let (options, asked) = (CheckOptions::default().candidates(candidates), Asked::up_to(usize::MAX));
        let answer = index.check_observed(&Query::new(&same), &options, &asked).unwrap();
        (answer.compared, answer.not_compared, asked.times.into_inner())
    };
    let (ten, twenty, all) = (looks(10), looks(20), looks(100));
    assert_eq!(((ten.0, ten.1), (twenty.0, twenty.1), (all.0, all.1)), ((10, 20), (20, 10), (30, 0)));
    assert_eq!((twenty.2 - ten.2, all.2 - twenty.2), (10, 9));
    // Candidates beyond the limit are not read, so removed documents count as candidates.
    let ids: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    index.remove(&ids.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let one = looks(1);
    assert!(one.0 == 1 && one.1 > 9, "{one:?}");
}

#[test]
fn a_check_can_be_stopped_while_documents_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let (same, of) = (text(1, 100), Map::from_iter([("of".to_owned(), json!("Ada"))]));
    let documents: Vec<NewDocument> =
        (0..30).map(|n| document(&format!("{n}"), &format!("{same} {n}")).metadata(of.clone())).collect();
    index.add(&documents, 0, 2).unwrap();
    let query = Query::new(&same).metadata(&of);
    let options = CheckOptions::default().exclude(["of"]);
    let times = Asked::up_to(usize::MAX);
    let answer = index.check_observed(&query, &options, &times).unwrap();
    assert_eq!((answer.compared, answer.not_compared), (0, 0));
    let stopped = index.check_observed(&query, &options, &Asked::up_to(times.times.into_inner() - 1));
    assert!(matches!(stopped.unwrap_err().kind(), ErrorKind::Interrupted));
    let stopped = index.check_observed(&query, &options, &Asked::up_to(0));
    assert!(matches!(stopped.unwrap_err().kind(), ErrorKind::Interrupted));
}

#[test]
fn documents_that_are_gone_take_nobody_s_place() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let same = text(1, 100);
    for time in 0..30 {
        index.add(&[document("again", &format!("{same} {time}"))], time, 1).unwrap();
    }
    let options = CheckOptions::default().candidates(3);
    let answer = index.check(&Query::new(&same), &options).unwrap();
    assert_eq!((answer.matches.len(), answer.compared, answer.not_compared), (1, 1, 0));
}

#[test]
fn a_document_that_is_there_as_it_is_is_not_replaced() {
    for texts in [Texts::Kept, Texts::LeftOut] {
        let folder = tempfile::tempdir().unwrap();
        let settings = IndexSettings::default().texts(texts);
        let index = Index::create(folder.path().join("index"), &settings).unwrap();
        let whole = document("a", &text(1, 100))
            .title("T")
            .metadata(Map::from_iter([("year".to_owned(), json!(2020))]))
            .marks(vec![Mark::new(10, MarkedPlace::Page(2))]);
        let facts = |added: Added| (added.new, added.replaced, added.unchanged);
        assert_eq!(facts(index.add(&[whole.clone(), document("b", "")], 1, 1).unwrap()), (2, 0, 0));
        let before = index.statistics().unwrap();
        assert_eq!(facts(index.add(&[document("b", ""), whole.clone()], 2, 1).unwrap()), (0, 0, 2));
        let after = index.statistics().unwrap();
        assert_eq!((after.changes, after.removed), (before.changes, 0));
        assert_eq!(index.get("a").unwrap().unwrap().entry.added, 1);
        let mut untitled = whole.clone();
        untitled.title = None;
        for changed in [
            whole.clone().text(format!("{}.", whole.text)),
            untitled,
            whole.clone().metadata(Map::new()),
            whole.clone().marks(vec![]),
        ] {
            let both = [changed.clone(), document("b", "")];
            assert_eq!(facts(index.add(&both, 3, 1).unwrap()), (0, 1, 1), "{changed:?}");
            let there = index.get("a").unwrap().unwrap();
            assert_eq!((&there.entry.title, &there.entry.metadata), (&changed.title, &changed.metadata));
            assert_eq!((there.entry.added, &there.marks), (3, &changed.marks));
            index.add(std::slice::from_ref(&whole), 4, 1).unwrap();
        }
        assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
    }
}

#[test]
fn without_texts_passages_are_certain_too() {
    let folder = tempfile::tempdir().unwrap();
    let settings = IndexSettings::default().texts(Texts::LeftOut);
    let index = Index::create(folder.path().join("index"), &settings).unwrap();
    let shared = text(1, 40);
    index.add(&[document("a", &format!("{} {shared} {}", text(2, 400), text(3, 400)))], 0, 1).unwrap();
    let asked = format!("{} {shared} {}", text(4, 300), text(5, 300));
    let answer = index.check(&Query::new(&asked), &CheckOptions::default()).unwrap();
    let found = &answer.matches[0];
    assert!(found.reasons.passage && !found.reasons.containment);
    assert!(
        (40..50).contains(&found.longest_passage) && (40..50).contains(&found.shared_tokens),
        "{found:?}"
    );
    assert!(asked[found.passages[0].query.clone()].contains(&shared) && found.passages[0].document.is_none());
    let options = CheckOptions::default().ignore_quotations(true);
    assert!(index.check(&Query::new(&asked), &options).unwrap_err().to_string().contains("needs them"));
}

#[test]
fn short_documents_share_as_many_tokens_as_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add(&[document("a", "two words")], 0, 1).unwrap();
    let answer = index.check(&Query::new("Two words!"), &CheckOptions::default().passages(0)).unwrap();
    assert_eq!((answer.matches[0].similarity, answer.matches[0].longest_passage), (1.0, 2));
    assert!(answer.matches[0].passages.is_empty());
    assert_eq!((answer.query.tokens, answer.matches[0].shared_tokens), (2, 2));
}

// A search from left to right would take the first twelve words of the run, and so miss the beginning of the
// longer run from its sixth word on.
#[test]
fn a_shared_run_that_begins_within_another_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let run: Vec<String> = (1..=30).map(|n| format!("run{n}")).collect();
    let (first, longest) = (run[..12].join(" "), run[5..].join(" "));
    let archived = format!("{} {first} {} {longest} {}", text(1, 300), text(2, 300), text(3, 300));
    index.add(&[document("it", &archived)], 0, 1).unwrap();
    let asked = format!("{} {} {}", text(4, 500), run.join(" "), text(5, 500));
    let answer = index.check(&Query::new(&asked), &CheckOptions::default()).unwrap();
    let [found] = &answer.matches[..] else { panic!("{answer:?}") };
    assert_eq!((found.longest_passage, found.reasons.passage), (25, true));
    assert!(found.passages.iter().any(|passage| {
        asked[passage.query.clone()] == longest && archived[passage.document.clone().unwrap()] == longest
    }));
}

#[test]
fn a_shared_run_is_found_however_often_its_beginning_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let run: Vec<String> = (1..=25).map(|n| format!("run{n}")).collect();
    let beginnings: Vec<String> = (0..40).map(|n| format!("{} {}", run[..5].join(" "), text(n, 9))).collect();
    let archived = format!("{} {} {}", beginnings.join(" "), run.join(" "), text(50, 300));
    index.add(&[document("it", &archived)], 0, 1).unwrap();
    let asked = format!("{} {} {}", text(51, 500), run.join(" "), text(52, 500));
    let answer = index.check(&Query::new(&asked), &CheckOptions::default()).unwrap();
    let [found] = &answer.matches[..] else { panic!("{answer:?}") };
    assert_eq!((found.longest_passage, found.reasons.passage), (25, true));
}

#[test]
fn bags_have_no_passages() {
    let folder = tempfile::tempdir().unwrap();
    let spec = "nfkc+casefold / words:5,bag / minhash:128 / seed:1".parse().unwrap();
    let error = Index::create(folder.path().join("index"), &IndexSettings::default().spec(spec)).unwrap_err();
    assert!(error.to_string().contains("without `,bag`"), "{error}");
}

#[test]
fn documents_without_words_are_found_by_their_text_alone() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add(&[document("bang", "!!!"), document("what", "???"), document("none", "")], 0, 1).unwrap();
    let found = |text: &str| {
        let answer = index.check(&Query::new(text), &CheckOptions::default()).unwrap();
        answer.matches.iter().map(|found| (found.id.clone(), found.similarity)).collect::<Vec<_>>()
    };
    assert_eq!(found(" !!!\n"), [("bang".to_owned(), 1.0)]);
    assert_eq!(found("  "), [("none".to_owned(), 1.0)]);
    assert!(found("...").is_empty());
}

#[test]
fn chinese_text_is_found_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let archived =
        "本项目拟研究多瑙河下游芦苇莺的鸣声,分析其地理差异与种群结构之间的关系,并建立长期监测数据库。";
    index.add(&[document("旧申请", archived), document("other", &text(1, 50))], 0, 1).unwrap();
    let asked = "申请人计划:研究多瑙河下游芦苇莺的鸣声,分析其地理差异与种群结构之间的关系,然后发表论文。";
    let answer = index.check(&Query::new(asked), &CheckOptions::default()).unwrap();
    let [found] = &answer.matches[..] else { panic!("{answer:?}") };
    assert_eq!(found.id, "旧申请");
    let passage = &found.passages[0];
    assert_eq!(&asked[passage.query.clone()], &archived[passage.document.clone().unwrap()]);
    assert!(asked[passage.query.clone()].starts_with("研究多瑙河下游"));
}

#[test]
fn a_pair_shows_its_passages_and_which_of_them_were_moved() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let (first, second, third) = (text(1, 80), text(2, 30), text(3, 60));
    index.add(&[document("a", &format!("{first} {second} {third}"))], 0, 1).unwrap();
    let other = format!("{second} {first} Unlike. {third}");
    let pair = index.pair(Side::Id("a"), Side::Text(&other)).unwrap();
    let lengths: Vec<(usize, bool)> =
        pair.passages.iter().map(|passage| (passage.tokens, passage.moved)).collect();
    assert_eq!(lengths, [(80, false), (30, true), (60, false)]);
    let same = index.pair(Side::Id("a"), Side::Id("a")).unwrap();
    assert_eq!((same.similarity, same.containment_of_left, same.containment_of_right), (1.0, 1.0, 1.0));
    assert!(
        index
            .pair(Side::Id("b"), Side::Id("a"))
            .unwrap_err()
            .to_string()
            .contains("no document has the id `b`")
    );
}

#[test]
fn clusters_are_stars_around_what_was_added_first() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add(&families(), 0, 2).unwrap();
    index.add(&[document("alone", &text(99, 200))], 0, 2).unwrap();
    let clusters = index.clusters(0.5, 100, &Unobserved).unwrap();
    assert_eq!(clusters.clusters.len(), 12);
    for cluster in &clusters.clusters {
        let (family, first) = cluster.keeper.id.split_once('-').unwrap();
        assert_eq!(first, "0");
        for member in &cluster.members {
            assert!(member.entry.id.starts_with(&format!("{family}-")));
            let pair = index.pair(Side::Id(&cluster.keeper.id), Side::Id(&member.entry.id)).unwrap();
            assert_eq!(pair.similarity, member.similarity);
            assert!(member.similarity >= 0.5);
        }
    }
}

/// Observer that cancels the work once `most` steps are done.
struct Until {
    most: u64,
    seen: Mutex<(u64, u64)>,
}

impl Observer for Until {
    fn begin(&self, _stage: Stage, total: u64) {
        *self.seen.lock().unwrap() = (0, total);
    }

    fn advance(&self, amount: u64) {
        self.seen.lock().unwrap().0 += amount;
    }

    fn cancelled(&self) -> bool {
        self.seen.lock().unwrap().0 >= self.most
    }
}

#[test]
fn clusters_can_be_given_up_in_the_middle_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let form = text(1, 100);
    let documents: Vec<_> = (0..100).map(|at| document(&format!("d{at}"), &form)).collect();
    index.add(&documents, 0, 2).unwrap();
    let until = |most: u64| Until { most, seen: Mutex::default() };
    let early = until(10);
    let error = index.clusters(0.5, 100, &early).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Interrupted), "{error}");
    assert_eq!(*early.seen.lock().unwrap(), (10, 100), "documents, of all that share a band");
    let late = until(u64::MAX);
    let clusters = index.clusters(0.5, 100, &late).unwrap();
    assert_eq!((clusters.clusters.len(), clusters.documents), (1, 100));
    assert_eq!(*late.seen.lock().unwrap(), (100, 100));
}

#[test]
fn clusters_say_what_they_may_have_missed() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    // The documents share a long form, so they share bands. No two documents reach the threshold, so all are
    // kept.
    let form = text(1, 400);
    let documents: Vec<_> =
        (0..300).map(|at| document(&format!("d{at}"), &format!("{form} own{at}"))).collect();
    index.add(&documents[..250], 0, 2).unwrap();
    let few = index.clusters(0.999, 100, &Unobserved).unwrap();
    assert_eq!((few.documents, few.left_out), (0, 0));
    assert_eq!(few.recall_at_threshold, index.settings().probability(0.999).unwrap());
    index.add(&documents[250..], 0, 2).unwrap();
    let many = index.clusters(0.999, 100, &Unobserved).unwrap();
    // A document is compared with 256 kept documents per shelf, and nearly all 300 documents share each band.
    assert!((1..=44).contains(&many.left_out), "{}", many.left_out);
    let low = index.clusters(0.1, 100, &Unobserved).unwrap();
    assert_eq!((low.documents, low.left_out), (300, 0), "one is kept");
    assert!(low.recall_at_threshold < 0.1, "{}", low.recall_at_threshold);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // A shared run of at least `passage` tokens is certain to be found.
    #[test]
    fn a_shared_passage_is_certain_to_be_found(
        seed in 0u64..1000, before in 0usize..400, run in 25usize..60, behind in 0usize..400, other in 0usize..400,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let index = create(folder.path());
        let shared = text(seed, run);
        let document = document("it", &format!("{} {shared} {}", text(seed + 5000, before), text(seed + 6000, behind)));
        index.add(&[document], 0, 1).unwrap();
        let asked = format!("{} {shared} {}", text(seed + 7000, other), text(seed + 8000, before));
        let answer = index.check(&Query::new(&asked), &CheckOptions::default()).unwrap();
        prop_assert_eq!(answer.matches.len(), 1);
        prop_assert!(answer.matches[0].longest_passage >= run);
    }
}

// The data in place of texts give the same similarities as texts do, but no places of passages.
#[test]
fn documents_without_texts_resemble_each_other_as_those_with_texts_do() {
    let folder = tempfile::tempdir().unwrap();
    let of = |texts: Texts| {
        let settings = IndexSettings::default().texts(texts);
        let index = Index::create(folder.path().join(format!("{texts:?}")), &settings).unwrap();
        let mut documents: Vec<_> = (0..9)
            .map(|n| document(&format!("d{n}"), &format!("{} {}", text(n / 3, 60), text(50 + n, 20))))
            .collect();
        documents.extend([document("one", "!"), document("two", "!"), document("three", "?")]);
        index.add(&documents, 0, 1).unwrap();
        index
    };
    let (kept, without) = (of(Texts::Kept), of(Texts::LeftOut));
    let options = CheckOptions::default().max_df(Some("0.9".parse().unwrap()));
    for options in [CheckOptions::default(), options] {
        for id in kept.ids().unwrap() {
            let facts = |index: &Index| {
                let answer = index.resembling(&id, &options, &Unobserved).unwrap();
                let matches = answer.matches.iter().map(|found| {
                    (
                        found.id.clone(),
                        found.similarity,
                        found.containment_of_query,
                        found.containment_of_document,
                    )
                });
                (answer.query.tokens, answer.query.shingles, answer.compared, matches.collect::<Vec<_>>())
            };
            assert_eq!(facts(&without), facts(&kept), "{id}");
            assert_eq!(
                facts(&kept).3.len(),
                if id == "three" {
                    0
                } else if id.starts_with('d') {
                    2
                } else {
                    1
                }
            );
            for other in kept.ids().unwrap() {
                let pair = |index: &Index| {
                    let pair = index.pair(Side::Id(&id), Side::Id(&other)).unwrap();
                    (pair.similarity, pair.containment_of_left, pair.containment_of_right)
                };
                assert_eq!(pair(&without), pair(&kept), "{id} and {other}");
                assert_eq!(without.pair(Side::Id(&id), Side::Id(&other)).unwrap().passages, []);
            }
        }
    }
    assert!(matches!(
        without.resembling("nobody", &CheckOptions::default(), &Unobserved).unwrap_err().kind(),
        ErrorKind::NoSuchDocument { .. }
    ));
}

/// A check rejects a wrong option by name, because the option would otherwise be ignored or find nothing.
#[test]
fn options_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add_now(&[document("a", "some words of a document")]).unwrap();
    for (options, named) in [
        (CheckOptions::default().until("soon"), "`until` cannot be `soon`"),
        (CheckOptions::default().threshold(f64::NAN), "`threshold` cannot be `NaN`"),
        (CheckOptions::default().top(0), "`top` cannot be `0`"),
    ] {
        for result in
            [index.check(&Query::new("some words"), &options), index.resembling("a", &options, &Unobserved)]
        {
            let error = result.unwrap_err();
            assert_eq!(error.code(), "bad_setting");
            assert!(error.to_string().starts_with(named), "{error}");
        }
    }
}
