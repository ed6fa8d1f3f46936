//! `minwise index` and `minwise check`.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::support::{Desk, MINWISE, Run, prose, record, with_word};

/// An archive of five applications, two of them alike.
fn archive() -> Desk {
    let desk = Desk::new();
    for (name, text) in [
        ("2019-01", prose(1, 120)),
        ("2019-02", prose(2, 120)),
        ("2020-01", with_word(&prose(1, 120), 60, "elsewhere")),
        ("2020-02", prose(4, 120)),
        ("2021-01", format!("{} {}", prose(5, 80), prose(6, 40))),
    ] {
        desk.write(&format!("applications/{name}.txt"), text);
    }
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive applications -q").exit(0);
    desk
}

/// The ids and similarities of the matches of each document.
fn matches(run: &Run) -> BTreeMap<String, BTreeMap<String, f64>> {
    let line = |line: &&str| -> Value { serde_json::from_str(line).unwrap() };
    run.lines()
        .iter()
        .map(line)
        .map(|checked| {
            let found = checked["matches"].as_array().unwrap().iter();
            let found = found.map(|found| {
                (found["id"].as_str().unwrap().to_owned(), found["similarity"].as_f64().unwrap())
            });
            (checked["id"].as_str().unwrap().to_owned(), found.collect())
        })
        .collect()
}

#[test]
fn an_archive_is_made_filled_and_listed() {
    let desk = archive();
    insta::assert_snapshot!(desk.run("index list archive"), @"");
    insta::assert_snapshot!(desk.run("index list archive --search 2020 --newest --limit 1 --format jsonl").exit(0).text().replace(|c: char| c.is_ascii_digit(), "0"), @"");
    let stats: Value = serde_json::from_str(desk.run("index stats archive --format jsonl").exit(0).text()).unwrap();
    assert_eq!(stats["documents"], 5);
    assert_eq!(stats["spec"], "nfkc+casefold / words:5 / minhash:128 / seed:1");
    assert_eq!(desk.run("index show archive 2019-02.txt").exit(0).text().trim_end(), prose(2, 120));
}

#[test]
fn a_check_says_what_is_repeated_and_ends_with_1() {
    let desk = archive();
    desk.write("new.txt", format!("{} {}", prose(9, 60), prose(6, 40)));
    insta::assert_snapshot!(desk.run("check new.txt --index archive"), @"");
    desk.write("own.txt", prose(77, 100));
    insta::assert_snapshot!(desk.run("check own.txt --index archive"), @"");
    let from_stdin = desk.run_with(&["check", "-", "--index", "archive"], prose(4, 120).as_bytes()).exit(1);
    assert!(from_stdin.text().contains("similarity 1.0000 exact"), "{from_stdin}");
}

/// DESIGN: the index gives the same answer as a run does.
#[test]
fn a_check_finds_what_pairs_finds() {
    let lines: String = (0..60u64)
        .map(|n| record(&format!("d{n}"), &with_word(&prose(n / 4, 90), (n % 4 * 17) as usize, &format!("w{n}"))))
        .collect();
    let desk = Desk::with("in.jsonl", lines);
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in.jsonl -q").exit(0);
    let pairs = desk.run("pairs in.jsonl --threshold 0.5 --format jsonl -q").exit(0);
    let mut expected: BTreeMap<String, BTreeMap<String, f64>> =
        (0..60).map(|n| (format!("d{n}"), BTreeMap::from([(format!("d{n}"), 1.0)]))).collect();
    for line in pairs.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let id = |side: &str| pair[side].as_str().unwrap().to_owned();
        let similarity = pair["similarity"].as_f64().unwrap();
        for (from, to) in [("a", "b"), ("b", "a")] {
            expected.get_mut(&id(from)).unwrap().insert(id(to), similarity);
        }
    }
    let options = "--containment 1 --passage off --top 99 --format jsonl";
    let found = desk.run(&format!("check in.jsonl --index archive {options}")).exit(1);
    assert_eq!(matches(&found), expected);
    assert!(expected.values().map(BTreeMap::len).sum::<usize>() > 200);
}

#[test]
fn what_is_no_evidence_is_left_out() {
    let desk = archive();
    let form = prose(50, 80);
    desk.write("form.txt", &form);
    desk.write("more/a.txt", format!("{form} {}", prose(51, 60)));
    desk.write("meta.csv", "id,applicant,title\na.txt,Ada,A study\nnobody.txt,Bob,\n");
    insta::assert_snapshot!(desk.run("index add archive more --meta meta.csv").err.lines().last().unwrap(), @"");
    desk.write("new.txt", format!("{form} {}", prose(52, 60)));
    let check = |options: &str| desk.run(&format!("check new.txt --index archive {options}")).code;
    assert_eq!(check(""), Some(1));
    assert_eq!(check("--ignore-text form.txt"), Some(0));
    assert_eq!(check("--exclude applicant --set applicant=Ada"), Some(0));
    assert_eq!(check("--exclude applicant --set applicant=Eve"), Some(1));
    assert_eq!(check("--until 2020"), Some(0));
    let listed = desk.run("index list archive --search ada --format jsonl").exit(0);
    let listed: Value = serde_json::from_str(listed.lines()[0]).unwrap();
    assert_eq!((&listed["title"], &listed["metadata"]["applicant"]), (&"A study".into(), &"Ada".into()));
}

#[test]
fn a_report_shows_passages_side_by_side_and_escapes_everything() {
    let desk = archive();
    let evil = "<script>alert(1)</script> & 'all'";
    desk.write("in.jsonl", record(evil, &format!("{} {evil} {}", prose(30, 40), prose(31, 40))));
    desk.run("index add archive in.jsonl -q").exit(0);
    desk.write("new.html", format!("<title>{}</title><p>{} and more", "&lt;b&gt;New", prose(30, 40)));
    desk.run("check new.html --index archive --report page.html").exit(1);
    let page = desk.text("page.html");
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("&lt;b&gt;New") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(page.matches("<mark>").count(), page.matches("</mark>").count());
    assert!(page.matches("<mark>").count() >= 2);
    insta::assert_snapshot!(desk.run("check new.html --index archive --report page.html"), @"");
}

#[test]
fn documents_are_replaced_and_removed() {
    let desk = archive();
    desk.write("applications/2019-02.txt", prose(200, 50));
    insta::assert_snapshot!(desk.run("index add archive applications/2019-02.txt").summary("added"), @"");
    assert_eq!(desk.run("index list archive").lines().len(), 5);
    insta::assert_snapshot!(desk.run("index remove archive 2019-02.txt 2020-01.txt"), @"");
    insta::assert_snapshot!(desk.run("index remove archive 2019-01.txt 2020-01.txt"), @"");
    assert_eq!(desk.run("index list archive").lines().len(), 3, "all or none");
    desk.run("index compact archive -q").exit(0);
    insta::assert_snapshot!(desk.run("index check archive"), @"");
}

#[test]
fn an_archive_goes_to_lines_and_back_and_into_another() {
    let desk = archive();
    desk.run("index export archive -o all.jsonl -q").exit(0);
    desk.run("index import second all.jsonl -q").exit(0);
    assert_eq!(desk.run("index export second").text(), desk.text("all.jsonl"));
    desk.write("extra.jsonl", record("extra", &prose(300, 40)));
    desk.run("index add second extra.jsonl -q").exit(0);
    insta::assert_snapshot!(desk.run("index merge archive second -o third"), @"");
    assert_eq!(desk.run("index list third").lines().len(), 6);
    desk.run("index create other --passage 40 -q").exit(0);
    insta::assert_snapshot!(desk.run("index merge archive other -o fourth"), @"");
    assert!(!desk.path("fourth").exists());
    desk.write("wrong.jsonl", "{}\n");
    insta::assert_snapshot!(desk.run("index import archive wrong.jsonl"), @"");
}

#[test]
fn wrong_input_is_told() {
    let desk = archive();
    desk.write("new.txt", prose(1, 50));
    insta::assert_snapshot!(desk.run("index add nowhere applications"), @"");
    insta::assert_snapshot!(desk.run("index create archive"), @"");
    insta::assert_snapshot!(desk.run("index create third --passage 3 --bits 40 --threshold 2"), @"");
    insta::assert_snapshot!(desk.run("index show archive nothing"), @"");
    insta::assert_snapshot!(desk.run("check new.txt --index archive --containment 7 --since soon --set x --max-df 0"), @"");
    insta::assert_snapshot!(desk.run("check new.txt --index applications"), @"");
    desk.write("broken.docx", b"PK\x03\x04 and no more");
    insta::assert_snapshot!(desk.run("index add archive broken.docx"), @"");
    desk.write("empty.txt", "");
    desk.run("check empty.txt --index archive").exit(0);
}

#[test]
fn a_second_process_is_told_who_has_the_archive() {
    let desk = archive();
    // Standard input that does not end keeps the first one waiting with the archive open.
    let mut first = Command::new(MINWISE)
        .args(["index", "import", "archive", "-"])
        .current_dir(desk.root())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let said = (0..400).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(25));
        let run = desk.run("index stats archive");
        (run.code == Some(2)).then_some(run.err)
    });
    first.kill().unwrap();
    first.wait().unwrap();
    let said = said.expect("the archive was never held");
    assert!(said.contains("the index `archive` is in use by process"), "{said}");
    assert!(said.contains("index import"), "{said}");
    desk.run("index stats archive").exit(0);
}

#[test]
fn without_texts_matches_are_found_and_passages_are_not_shown() {
    let desk = Desk::with("in.jsonl", record("a", &prose(1, 100)));
    desk.run("index create archive --no-text -q").exit(0);
    desk.run("index add archive in.jsonl -q").exit(0);
    desk.write("new.txt", with_word(&prose(1, 100), 50, "other"));
    let found = desk.run("check new.txt --index archive").exit(1);
    assert!(found.text().contains("similarity 0.9"), "{found}");
    insta::assert_snapshot!(desk.run("index show archive a"), @"");
    assert!(!walk(&desk, "archive").iter().any(|bytes| contains(bytes, prose(1, 100).as_bytes())));
}

fn walk(desk: &Desk, folder: &str) -> Vec<Vec<u8>> {
    let files = desk.names().into_iter().filter(|name| name.starts_with(folder) && desk.path(name).is_file());
    files.map(|name| desk.bytes(&name)).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
