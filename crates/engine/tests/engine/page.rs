//! Tests of the report page: its content, its size, and that documents cannot inject markup.

use std::time::Duration;

use minwise::cluster::Clustering;
use minwise_corpus::{Overwrite, ReadOptions};
use minwise_engine::output::Findings;
use minwise_engine::report::{Extras, MeasuredRecall, Report, Summary, THIS_RUN, ThisRun};
use minwise_engine::{RunSettings, Unobserved};
use serde_json::json;

use crate::support::{Documents, settings};

/// Returns the page of a run over these documents.
fn page(documents: &Documents, settings: &RunSettings, extras: &Extras) -> String {
    let folder = tempfile::tempdir().unwrap();
    let plan = settings.plan().unwrap();
    let reading = documents.read_by(&plan);
    let decisions = documents.dedup_by(&plan);
    let corpus = &documents.corpus;
    let summary = Summary::new(corpus, &reading, &decisions, &plan);
    let mut report = Report::create(folder.path(), Overwrite::Refuse).unwrap();
    let findings = Findings::new(corpus, &reading, &decisions, &plan, &summary);
    report.write(&findings, extras, &Unobserved).unwrap();
    report.finish().unwrap();
    let page = fs_err::read_to_string(folder.path().join(Report::PAGE)).unwrap();
    assert_is_safe(&page);
    page
}

/// Asserts that the page has only known tags, that tags are balanced, and that no attribute can run code.
fn assert_is_safe(page: &str) {
    const TAGS: [&str; 46] = [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "nav",
        "ul",
        "li",
        "a",
        "main",
        "section",
        "h2",
        "dl",
        "div",
        "dt",
        "dd",
        "p",
        "table",
        "caption",
        "thead",
        "tr",
        "th",
        "tbody",
        "td",
        "bdi",
        "figure",
        "svg",
        "desc",
        "path",
        "text",
        "rect",
        "circle",
        "figcaption",
        "mark",
        "article",
        "h3",
        "h4",
        "span",
        "pre",
        "code",
        "!doctype",
        "!--",
        "b",
    ];
    const WITHOUT_END: [&str; 6] = ["meta", "path", "rect", "circle", "!doctype", "!--"];
    let mut open = vec![];
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag ends");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).expect("a tag has a name");
        assert!(TAGS.contains(&name), "<{tag}>");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
        } else if !WITHOUT_END.contains(&name) {
            open.push(name);
        }
        // An attribute is a name before `=` outside of quotation marks.
        for attribute in tag.split('"').step_by(2).filter_map(|outside| outside.trim().strip_suffix('=')) {
            let attribute = attribute.trim_start_matches(name).trim();
            assert!(!attribute.starts_with("on") && attribute != "style" && attribute != "src", "<{tag}>");
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let control = page.chars().find(|character| character.is_control() && !"\n\t".contains(*character));
    assert_eq!(control, None);
    assert!(!page.contains(['\u{202e}', '\u{2066}', '\u{2028}']));
    assert!(page.contains(
        "content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\""
    ));
}

/// Makes a text of words that depend on the seed; the word at `other` is replaced.
fn text(seed: usize, words: usize, other: Option<usize>) -> String {
    let word = |at| if other == Some(at) { "other".to_owned() } else { format!("w{seed}x{at}") };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

/// Makes families of two documents, one larger family, and documents that the page lists as unusual.
fn families() -> Documents {
    let mut texts: Vec<String> = vec![];
    for seed in 0..30 {
        texts.extend([text(seed, 60, None), text(seed, 60, Some(30))]);
    }
    texts.extend([0, 20, 40].map(|at| text(7, 60, Some(at))));
    texts.extend(["...".to_owned(), "one".to_owned(), "la ".repeat(50)]);
    Documents::new(texts)
}

#[test]
fn samples_of_everything_are_shown() {
    let page = page(&families(), &settings("words:3", 0.8, 16, 6), &Extras::default());
    assert!(page.contains("<h1>66 documents read, 33 removed as near-duplicates</h1>"), "{page}");
    let count = |part: &str| page.matches(part).count();
    assert_eq!(count("<article>"), 20, "pairs");
    assert_eq!((count("<svg "), count("<title>"), count("<desc>")), (2, 3, 2));
    // A changed word in the middle is in three of 58 shingles, so the similarity is 55/61. A word near the beginning is
    // in fewer shingles.
    assert_eq!(count("<h3>Similarity 0.9016</h3>"), 20);
    assert!(page.contains("<mark>w0x0 w0x1"), "{page}");
    assert!(page.contains("w7x0 w7x1 w7x2"), "the largest cluster begins so");
    let order: Vec<usize> = ["counts", "similarities", "clusters", "pairs", "strange", "settings"]
        .map(|id| page.find(&format!("<section id=\"{id}\"")).unwrap())
        .into();
    assert!(order.is_sorted());
    for part in [
        "<bdi>d63</bdi></th><td data-name=\"why\">has no words</td>",
        "<bdi>d64</bdi></th><td data-name=\"why\">among the shortest</td>",
        "<bdi>d65</bdi></th><td data-name=\"why\">97.91 % of its 48 shingles are repeats</td>",
        "nfkc+casefold / words:3 / minhash:96 / seed:1",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("measured recall") && !page.contains("<circle"), "nothing was measured");
    assert!(!page.contains(THIS_RUN[0]));
}

#[test]
fn what_the_caller_knows_is_shown_too() {
    let stages = vec![("read", Duration::from_millis(1500)), ("verify", Duration::from_millis(500))];
    let extras = Extras::default()
        .measured_recall(MeasuredRecall::new(0.9876, 0.95, 0.999))
        .this_run(ThisRun::new("minwise dedup '<in>.jsonl'", stages));
    let (documents, settings) = (families(), settings("words:3", 0.8, 16, 6));
    let with = page(&documents, &settings, &extras);
    for part in [
        "<dt>measured recall</dt><dd>98.76 %</dd>",
        "The point is the measured recall, 98.76 % (95.00 % to 99.90 % with 95 % confidence).",
        "<circle class=\"measured\"",
        "minwise dedup &#39;&lt;in&gt;.jsonl&#39;",
        "<th scope=\"row\">read</th><td class=\"number\" data-name=\"seconds\">1.50</td>",
        "75 %",
    ] {
        assert!(with.contains(part), "{part} is not in {with}");
    }
    // The interval of a complete audit is a single value, so it is not printed.
    let exact =
        page(&documents, &settings, &Extras::default().measured_recall(MeasuredRecall::new(1.0, 1.0, 1.0)));
    assert!(
        exact.contains("The point is the measured recall, 100 %.") && !exact.contains("95 % confidence"),
        "{exact}"
    );
    let (before, rest) = with.split_once(THIS_RUN[0]).unwrap();
    let (this_run, after) = rest.split_once(THIS_RUN[1]).unwrap();
    assert!(this_run.contains("1.50") && !before.contains("1.50") && !after.contains("1.50"));
}

#[test]
fn it_says_why_precision_is_one() {
    let documents = families();
    for (cluster, why) in [
        (Clustering::Star, "Every near-duplicate was compared exactly with its kept document"),
        (Clustering::Components, "Every pair that joins documents into a cluster was compared exactly"),
    ] {
        let settings = settings("words:3", 0.8, 16, 6).cluster(cluster);
        let page = page(&documents, &settings, &Extras::default());
        assert!(page.contains("<dt>precision</dt><dd>100 %</dd>"), "{page}");
        assert!(page.contains(&format!("{why}, so the precision is 100 %.")), "{page}");
    }
}

#[test]
fn nothing_removed_is_a_page_too() {
    for texts in [vec![], vec!["a text on its own that is long enough"]] {
        let page = page(&Documents::new(texts), &settings("words:3", 0.8, 16, 6), &Extras::default());
        assert!(
            page.contains(
                "There is no pair of a kept document and a near-duplicate with a similarity below 1."
            ),
            "{page}"
        );
        assert!(page.contains("No document is a near-duplicate of another."), "{page}");
        assert!(!page.contains("NaN"), "{page}");
    }
}

/// Hostile content for texts and ids.
const HOSTILE: [&str; 8] = [
    "<script>document.title = 'taken'</script>",
    "\" onmouseover=\"alert(1)\" x='",
    "</mark></div></section></main><style>body { display: none }</style>",
    "<!-- <![CDATA[ ]]> --!> <img src=x onerror=alert(1)>",
    "&lt;b&gt; &amp;amp; &#x3c;script&#x3e;",
    "\u{1b}[31m \u{0} \u{7f} \u{9b} \r \u{85} \u{2028}",
    "\u{202e}gnorw morf thgir\u{202c} \u{2066}שלום עולם\u{2069} مرحبا",
    "<svg onload=alert(1)><a href=javascript:alert(1)>x</a>",
];

#[test]
fn documents_cannot_break_out() {
    let mut records = vec![];
    for (family, hostile) in HOSTILE.into_iter().enumerate() {
        for copy in 0..3 {
            let long = "ab".repeat(5000);
            let text = format!("{hostile} {} {hostile} {long}", text(family, 60, Some(20 * copy)));
            records.push(json!({ "id": format!("{hostile}{copy}"), "text": text }));
        }
    }
    let documents = Documents::of_records(records.into_iter(), &ReadOptions::default());
    let page = page(&documents, &settings("words:3", 0.6, 32, 3), &Extras::default());
    assert!(page.contains("&lt;script&gt;document.title = &#39;taken&#39;&lt;/script&gt;"));
    assert!(page.contains("\\u{202e}gnorw") && page.contains("שלום עולם") && page.contains("\\u{1b}[31m"));
    assert!(page.matches("<article>").count() > 10);
}

/// The page stays small even if documents and ids are very long and every character must be escaped.
#[test]
fn the_page_stays_small() {
    let mut records = vec![];
    for family in 0..25 {
        for copy in 0..3 {
            let words = text(family, 2000, Some(700 * copy)).replace(' ', " &\u{202e}\"<'> ");
            let id = format!("{family} {copy} {}", "&".repeat(100_000));
            records.push(json!({ "id": id, "text": words }));
        }
    }
    let documents = Documents::of_records(records.into_iter(), &ReadOptions::default());
    for shingling in ["words:3", "chars:4"] {
        let page = page(&documents, &settings(shingling, 0.5, 32, 3), &Extras::default());
        assert_eq!(page.matches("<article>").count(), 20);
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
    }
}
