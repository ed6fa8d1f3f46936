//! Tests the promises of README.md for archives, by their numbers.
//!
//! Three promises are tested elsewhere. Promise 1, that a match has its exact similarity, is tested in
//! `archive::a_check_finds_what_pairs_finds`. Promise 6, about memory, is tested in the benchmark `archive` of
//! `minwise-index`. Promise 7, that acknowledged changes stay and damage is reported, is tested in `crash` and
//! `fixtures` of `minwise-index`.

use serde_json::Value;

use crate::documents::docx;
use crate::support::{Desk, Run, prose, record, with_word};

/// Returns the answers of a check, one per document.
fn answers(run: &Run) -> Vec<Value> {
    run.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the ids of the matches of an answer.
fn matched(answer: &Value) -> Vec<&str> {
    answer["matches"].as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect()
}

fn made(desk: &Desk, input: &str) {
    desk.run("index create archive -q").exit(0);
    desk.run(&format!("index add archive {input} -q")).exit(0);
}

#[test]
fn promise_2_a_check_says_what_it_may_have_missed() {
    let desk = Desk::with("in.jsonl", record("a", &prose(1, 90)));
    made(&desk, "in.jsonl");
    let run = desk.run("check in.jsonl --index archive --threshold 0.4 --format jsonl").exit(1);
    assert_eq!(
        run.summary("guarantee"),
        "A document of similarity 0.4 is found with a probability of at least 93.78 %, and a document that shares a \
         passage of 25 words or more is found, unless more than 1,000 documents are candidates."
    );
    // The expected value is the probability of sharing a band, with 42 bands of 3 rows.
    let expected = 1.0 - (1.0 - 0.4_f64.powi(3)).powi(42);
    let told = answers(&run)[0]["recall_at_threshold"].as_f64().unwrap();
    assert!((told - expected).abs() < 1e-12, "{told} {expected}");
    assert_eq!(answers(&run)[0]["not_compared"], 0);
    desk.run("check in.jsonl --index archive --threshold 0.4 --report page.html -q").exit(1);
    assert!(desk.text("page.html").contains("a probability of at least 93.78 %"));
}

#[test]
fn promise_3_the_order_of_adding_and_the_threads_do_not_change_an_answer() {
    let records: Vec<String> = (0..40u64)
        .map(|n| {
            record(
                &format!("d{n:02}"),
                &with_word(&prose(n / 4, 90), (n % 4 * 17) as usize, &format!("w{n}")),
            )
        })
        .collect();
    let answer = |lines: Vec<String>, halves: bool, threads: usize| {
        let desk = Desk::with("all.jsonl", records.concat());
        let cut = if halves { lines.len() / 2 } else { lines.len() };
        desk.write("a.jsonl", lines[..cut].concat());
        desk.write("b.jsonl", lines[cut..].concat());
        made(&desk, "a.jsonl");
        if halves {
            desk.run(&format!("index add archive b.jsonl -q --threads {threads}")).exit(0);
        }
        desk.run("check all.jsonl --index archive --format jsonl -q").exit(1).text().to_owned()
    };
    let expected = answer(records.clone(), false, 1);
    assert_eq!(answer(records.clone(), true, 3), expected);
    assert_eq!(answer(records.iter().rev().cloned().collect(), true, 2), expected);
}

#[test]
fn promise_4_ids_of_the_user_come_through() {
    let id = "Antrag 2019/7: <Müller> 申请";
    let desk = Desk::with("in.jsonl", record(id, &prose(1, 90)));
    made(&desk, "in.jsonl");
    desk.write("new.jsonl", record("mine", &prose(1, 90)));
    let run = desk.run("check new.jsonl --index archive --format jsonl -q").exit(1);
    assert_eq!(answers(&run)[0]["query"]["id"], "mine");
    assert_eq!(matched(&answers(&run)[0]), [id]);
    assert_eq!(desk.run_with(&["index", "remove", "archive", id, "-q"], b"").code, Some(0));
    desk.run("check new.jsonl --index archive -q").exit(0);
}

#[test]
fn promise_5_a_text_that_is_kept_is_the_text_that_came() {
    let text = format!("  {}\r\n\u{feff}\tＦＵＬＬ\u{0301} e\u{0301} 申请 ", prose(1, 90));
    let desk = Desk::with("in.jsonl", record("a", &text));
    made(&desk, "in.jsonl");
    let shown = desk.run("index show archive a").exit(0);
    assert_eq!(shown.text().strip_suffix('\n').unwrap_or(shown.text()), text);
}

#[test]
fn promise_8_short_and_empty_documents_match_only_what_they_equal() {
    let short =
        [("empty", ""), ("blank", " \n "), ("comma", ","), ("two", "two words"), ("other", "other words")];
    let lines: String = short.iter().map(|(id, text)| record(id, text)).collect();
    let desk = Desk::with("in.jsonl", &lines);
    made(&desk, "in.jsonl");
    let run = desk.run("check in.jsonl --index archive --format jsonl -q").exit(1);
    let found: Vec<Value> = answers(&run);
    let found: Vec<Vec<&str>> = found.iter().map(matched).collect();
    // White space is folded, so a blank document equals an empty one.
    assert_eq!(
        found,
        [vec!["blank", "empty"], vec!["blank", "empty"], vec!["comma"], vec!["two"], vec!["other"]]
    );
}

#[test]
fn promise_9_any_script_works_without_being_asked_for() {
    let written = |words: [&str; 4]| (0..60).map(|n| words[n * n % 7 % 4]).collect::<String>();
    let scripts = [
        ("Chinese", written(["研究", "基金", "的申请", "必须检查"])),
        ("Japanese", written(["研究は", "申請を", "検査する", "ことです"])),
        ("Thai", written(["การ", "วิจัย", "ต้อง", "ตรวจสอบ"])),
        ("Arabic", written(["البحث ", "العلمي ", "يجب ", "فحصه "])),
    ];
    let desk = Desk::new();
    for (name, text) in &scripts {
        desk.write(&format!("in/{name}.txt"), text);
    }
    made(&desk, "in");
    for (name, text) in &scripts {
        let with_more = format!("{} {text}", prose(9, 20));
        let run = desk
            .run_with(&["check", "-", "--index", "archive", "--format", "jsonl", "-q"], with_more.as_bytes());
        assert_eq!(matched(&answers(&run.exit(1))[0]), [format!("{name}.txt")]);
    }
}

#[test]
fn promise_10_a_file_that_cannot_be_read_does_not_stop_the_others() {
    let desk = Desk::new();
    desk.write("in/good.docx", docx(&prose(1, 90)));
    desk.write("in/bad.docx", &docx(&prose(2, 90))[..300]);
    desk.write("in/more.txt", prose(3, 90));
    desk.run("index create archive -q").exit(0);
    let run = desk.run("index add archive in").exit(2);
    assert!(run.err.contains("bad.docx"), "{run}");
    let listed = desk.run("index list archive").exit(0);
    let ids: Vec<&str> = listed.lines().iter().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(ids, ["good.docx", "more.txt"]);
}
