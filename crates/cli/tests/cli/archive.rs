//! Tests `minwise index` and `minwise check`.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::support::{Desk, MINWISE, Run, prose, record, with_word};

/// Returns a desk with an archive of five applications. Two of them are near-duplicates.
pub fn archive() -> Desk {
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

/// Returns the ids and similarities of the matches per document.
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
            (checked["query"]["id"].as_str().unwrap().to_owned(), found.collect())
        })
        .collect()
}

#[test]
fn an_archive_is_made_filled_and_listed() {
    let desk = archive();
    insta::assert_snapshot!(desk.run("index list archive"), @"
    exit 0
    --- stdout
    2019-01.txt	729
    2019-02.txt	729
    2020-01.txt	733
    2020-02.txt	729
    2021-01.txt	699
    ");
    insta::assert_snapshot!(desk.run("index list archive --search 2020 --newest --limit 1 --format jsonl").exit(0).text().replace(|c: char| c.is_ascii_digit(), "0"), @r#"{"id":"0000-00.txt","title":null,"metadata":{},"added":"0000-00-00T00:00:00Z","bytes":000,"characters":000,"tokens":000,"shingles":000}"#);
    let stats: Value =
        serde_json::from_str(desk.run("index stats archive --format jsonl").exit(0).text()).unwrap();
    assert_eq!(stats["documents"], 5);
    assert_eq!(stats["spec"], "nfkc+casefold / words:5 / minhash:128 / seed:1");
    assert_eq!(desk.run("index show archive 2019-02.txt").exit(0).text().trim_end(), prose(2, 120));
}

#[test]
fn a_check_says_what_is_repeated_and_ends_with_1() {
    let desk = archive();
    desk.write("new.txt", format!("{} {}", prose(9, 60), prose(6, 40)));
    insta::assert_snapshot!(desk.run("check new.txt --index archive"), @"
    exit 1
    --- stdout
    new.txt: 1 match

      2021-01.txt: a match by containment and a shared passage
        37.5 % of this document appears in it; 31.0 % of it appears in this document; similarity 20.5 %; longest shared passage 40 words
        40 words: w6x0 w6x1 w6x2 w6x3 w6x4 w6x5 w6x6 w6x7 w6x8 w6x9 w6x10 w6x11 w6x12 w6x13 w6x14 w6x15 w6x16 w6x17 w6x18 w6x19 w6x20 w6x21 w6x22 w6x23 w6x24 w6x25 w6x26 w6x27 w6x28 w6x29 w6x30 w6x31 w6x32 w6x33 w6x34 w6x35 w6x36 w6x37 w6x38 w6x39
    --- stderr
    checked     1 document: 1 with matches
    rejected    0 records
    guarantee   A document of similarity 0.5 is found with a probability of at least 99.63 %, and a document that shares a passage of 25 words or more is found, unless more than 1,000 documents are candidates.
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    candidates  42 bands of 3 rows and shared passages; at most 1,000 per document are compared
    ");
    desk.write("own.txt", prose(77, 100));
    insta::assert_snapshot!(desk.run("check own.txt --index archive"), @"
    exit 0
    --- stdout
    own.txt: no match in the archive
    --- stderr
    checked     1 document: 0 with matches
    rejected    0 records
    guarantee   A document of similarity 0.5 is found with a probability of at least 99.63 %, and a document that shares a passage of 25 words or more is found, unless more than 1,000 documents are candidates.
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    candidates  42 bands of 3 rows and shared passages; at most 1,000 per document are compared
    ");
    let from_stdin = desk.run_with(&["check", "-", "--index", "archive"], prose(4, 120).as_bytes()).exit(1);
    assert!(
        from_stdin.text().contains("    100 % of this document appears in it; 100 % of it appears in this document; similarity 100 %;"),
        "{from_stdin}"
    );
}

/// Documents are checked by all threads, and printed in their order; a record that cannot be read is rejected at its
/// place.
#[test]
fn threads_check_documents_in_order() {
    let desk = archive();
    for number in 0..70 {
        desk.write(&format!("new/{number:02}.txt"), format!("{} {}", prose(number, 60), prose(6, 40)));
    }
    let line = |n: u64| record(&format!("r{n}"), &format!("{} {}", prose(n % 9, 50), prose(100 + n, 20)));
    let records: String = (0..90).map(|n| if n == 41 { "no record\n".to_owned() } else { line(n) }).collect();
    desk.write("new.jsonl", records);
    for (input, code, options) in [
        ("new", 1, ""),
        ("new", 1, "--format jsonl"),
        ("new.jsonl", 2, ""),
        ("new.jsonl", 2, "--format jsonl"),
    ] {
        let check = |threads: usize| {
            let options = format!("{options} --report report.html --force -j {threads}");
            let run = desk.run(&format!("check {input} --index archive {options} -q")).exit(code);
            (run.text().to_owned(), run.err.clone(), desk.text("report.html"))
        };
        let expected = check(1);
        assert!(expected.0.lines().count() >= 70, "{}", expected.0);
        for threads in [2, 5] {
            assert!(check(threads) == expected, "{input} {options} with {threads} threads");
        }
    }
}

/// A failure while reading does not hide the results of the documents before it.
#[test]
fn documents_before_a_failure_are_checked() {
    let desk = archive();
    desk.write("a.jsonl", (0..43).map(|n| record(&format!("r{n}"), &prose(n % 9, 50))).collect::<String>());
    desk.write("b.jsonl", "{\"id\":\"x\",\"text\":null}\n");
    for threads in [1, 2, 5] {
        let options = format!("--null error --format jsonl -q -j {threads}");
        let run = desk.run(&format!("check a.jsonl b.jsonl --index archive {options}")).exit(2);
        assert_eq!(run.text().lines().count(), 43, "{threads} threads: {run}");
    }
}

/// Batches are committed in order while later documents are prepared, so the last text of an id stays.
#[test]
fn full_batches_are_added_in_order() {
    let line = |n: u64| record(&format!("d{}", n % 20_000), &format!("{} {n}", prose(n % 50, 30)));
    let desk = Desk::with("in.jsonl", (0..40_000).map(line).collect::<String>());
    for threads in [1, 3] {
        desk.run(&format!("index create a{threads} -q")).exit(0);
        let run = desk.run(&format!("index add a{threads} in.jsonl -j {threads}")).exit(0);
        assert!(run.err.contains("20,000 added, 20,000 replaced, 0 unchanged"), "{run}");
        let shown = desk.run(&format!("index show a{threads} d7")).exit(0);
        assert!(shown.text().trim_end().ends_with(" 20007"), "{shown}");
    }
}

/// `check` gives the same answer as a run of `pairs`, so its similarities are exact (promise 1 of README.md).
#[test]
fn a_check_finds_what_pairs_finds() {
    let lines: String = (0..60u64)
        .map(|n| {
            record(&format!("d{n}"), &with_word(&prose(n / 4, 90), (n % 4 * 17) as usize, &format!("w{n}")))
        })
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
        for (from, to) in [("first", "second"), ("second", "first")] {
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
    insta::assert_snapshot!(desk.run("index add archive more --meta meta.csv").err.lines().last().unwrap(), @"warning: `--meta` has 1 id that no document has: `nobody.txt`");
    desk.write("new.txt", format!("{form} {}", prose(52, 60)));
    let check = |options: &str| desk.run(&format!("check new.txt --index archive {options}")).code;
    assert_eq!(check(""), Some(1));
    assert_eq!(check("--ignore-text form.txt"), Some(0));
    assert_eq!(check("--exclude applicant --set applicant=Ada"), Some(0));
    assert_eq!(check("--exclude applicant --set applicant=Eve"), Some(1));
    assert_eq!(check("--until 2020"), Some(0));
    let line = |applicant: &str| format!("{{\"text\":\"{form} and more\",\"applicant\":\"{applicant}\"}}\n");
    for (applicant, code) in [("Ada", 0), ("Eve", 1)] {
        desk.write("new.jsonl", line(applicant));
        desk.run("check new.jsonl --index archive --exclude applicant").exit(code);
    }
    // Standard input cannot be opened twice, so its records need `--input-format`.
    let piped = |applicant: &str, options: &[&str]| {
        let command = ["check", "-", "--index", "archive", "--exclude", "applicant"];
        desk.run_with(&[&command, options].concat(), line(applicant).as_bytes())
    };
    piped("Ada", &["--input-format", "jsonl"]).exit(0);
    piped("Eve", &["--input-format", "jsonl"]).exit(1);
    piped("Eve", &["--set", "applicant=Ada"]).exit(0);
    insta::assert_snapshot!(piped("Ada", &["-q"]), @"
    exit 2
    --- stderr
    error: `--exclude` needs to know the format of standard input

    hint: name it, such as `--input-format jsonl`
    ");
    let listed = desk.run("index list archive --search ada --format jsonl").exit(0);
    let listed: Value = serde_json::from_str(listed.lines()[0]).unwrap();
    assert_eq!((&listed["title"], &listed["metadata"]["applicant"]), (&"A study".into(), &"Ada".into()));
}

/// Every option that excludes evidence or limits the search changes the matches.
#[test]
fn each_option_of_a_check_changes_what_is_found() {
    let desk = Desk::new();
    let (common, quoted, listed) = (prose(1, 40), prose(2, 40), prose(3, 40));
    let lines: Vec<String> = [
        ("c1", "2018-05-01", format!("{common} {}", prose(11, 60))),
        ("c2", "2021-05-01", format!("{common} {}", prose(12, 60))),
        ("c3", "2024-05-01", format!("{common} {}", prose(13, 60))),
        ("quoted", "2021-05-01", format!("{} “{quoted}” {}", prose(21, 60), prose(22, 60))),
        ("listed", "2021-05-01", format!("{}\\n\\nReferences\\n{listed}", prose(31, 90))),
    ]
    .iter()
    .map(|(id, filed, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\",\"filed\":\"{filed}\"}}"))
    .collect();
    desk.write("in.jsonl", lines.join("\n"));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in.jsonl --meta-fields filed -q").exit(0);
    desk.write("common.txt", format!("{common} {}", prose(14, 60)));
    desk.write("quoting.txt", format!("{} “{quoted}” {}", prose(41, 60), prose(42, 60)));
    desk.write("listing.txt", format!("{}\n\nReferences\n{listed}\n", prose(51, 90)));
    let found = |file: &str, options: &str| -> Value {
        let run = desk.run(&format!("check {file} --index archive --format jsonl -q {options}"));
        let said: Value = serde_json::from_str(run.lines()[0]).unwrap();
        assert_eq!(run.code, Some(i32::from(!said["matches"].as_array().unwrap().is_empty())), "{run}");
        said
    };
    for (file, options, ids) in [
        ("common.txt", "", &["c1", "c2", "c3"][..]),
        ("common.txt", "--max-df 2", &[]),
        ("common.txt", "--max-df 0.9", &["c1", "c2", "c3"]),
        ("common.txt", "--date-field filed --since 2020", &["c2", "c3"]),
        ("common.txt", "--date-field filed --until 2020", &["c1"]),
        ("common.txt", "--date-field filed --since 2020-01-01 --until 2022-01-01", &["c2"]),
        // `--since` and `--until` are inclusive. A year or a month as bound includes all of its days.
        ("common.txt", "--date-field filed --since 2021-05-01 --until 2021-05-01", &["c2"]),
        ("common.txt", "--date-field filed --until 2018-05-01", &["c1"]),
        ("common.txt", "--date-field filed --until 2018-04-30", &[]),
        ("common.txt", "--date-field filed --until 2021", &["c1", "c2"]),
        ("common.txt", "--date-field filed --until 2021-05", &["c1", "c2"]),
        // Without `--date-field`, the window applies to the date on which a document was added.
        ("common.txt", "--since 2020", &["c1", "c2", "c3"]),
        ("common.txt", "--until 2020", &[]),
        ("quoting.txt", "", &["quoted"]),
        ("quoting.txt", "--ignore-quotations", &[]),
        ("quoting.txt", "--ignore-references", &["quoted"]),
        ("listing.txt", "", &["listed"]),
        ("listing.txt", "--ignore-references", &[]),
        ("listing.txt", "--ignore-quotations", &["listed"]),
    ] {
        let said = found(file, options);
        let mut there: Vec<&str> =
            said["matches"].as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect();
        there.sort_unstable();
        assert_eq!(there, ids, "{file} {options}");
    }
    let two = found("common.txt", "--candidates 2");
    assert_eq!((two["matches"].as_array().unwrap().len(), &two["not_compared"]), (2, &1.into()));
    let weighted = |options: &str| found("common.txt", options)["matches"][0]["weighted"].clone();
    assert_eq!(weighted(""), Value::Null);
    let (by_count, by_rarity) = (weighted("--weight count"), weighted("--weight tf-idf"));
    assert!(by_rarity.as_f64().unwrap() < by_count.as_f64().unwrap(), "{by_rarity} and {by_count}");
}

/// A report for a committee shows every copied passage. If it leaves passages out, it states how many.
#[test]
fn a_report_shows_all_passages_unless_fewer_are_asked_for() {
    let desk = Desk::new();
    let passages: Vec<String> = (0..60).map(|n| prose(100 + n, 12)).collect();
    let between = |from: u64| {
        let words = passages.iter().zip(from..).map(|(passage, n)| format!("{passage} {}", prose(n, 3)));
        words.collect::<Vec<_>>().join(" ")
    };
    desk.write("in.jsonl", record("old", &between(300)));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in.jsonl -q").exit(0);
    desk.write("new.txt", between(600));
    let options = "--threshold 0.1 --weight count --ignore-quotations";
    let check = format!("check new.txt --index archive {options} --report page.html");
    let run = desk.run(&check).exit(1);
    assert!(run.text().contains("    57 further passages not shown"), "{run}");
    let page = desk.text("page.html");
    assert_eq!(page.matches("<mark>").count(), 2 * 60);
    assert_eq!(page.matches(">12 words</p>").count(), 60, "{page}");
    assert!(!page.contains("not shown") && !page.contains("token"), "{page}");
    assert!(page.contains(" %, weighted similarity ") && page.contains("`--weight count`"), "{page}");
    assert!(page.contains("before they were compared: text in quotation marks."), "{page}");
    let line = desk.run("check new.txt --index archive --threshold 0.1 --format jsonl -q").exit(1);
    let line: Value = serde_json::from_str(line.text()).unwrap();
    assert_eq!(line["matches"][0]["passages"].as_array().unwrap().len(), 60);
    assert_eq!(line["matches"][0]["further_passages"], 0);

    let run = desk.run(&format!("{check} --force --passages 50")).exit(1);
    assert_eq!(run.text().matches("    12 words: ").count(), 50, "{run}");
    assert!(run.text().contains("    10 further passages not shown"), "{run}");
    let page = desk.text("page.html");
    assert_eq!(page.matches("<mark>").count(), 2 * 50);
    assert!(page.contains("10 further passages not shown; none is longer."), "{page}");
    let line =
        desk.run("check new.txt --index archive --threshold 0.1 --format jsonl --passages 50 -q").exit(1);
    let line: Value = serde_json::from_str(line.text()).unwrap();
    assert_eq!(line["matches"][0]["further_passages"], 10);
}

/// Lengths are given in words; in scripts without spaces, and in archives that compare characters, they are given in
/// characters.
#[test]
fn lengths_are_words_or_characters_and_never_tokens() {
    let desk = Desk::new();
    let chinese = "渡轮每天中午从上海的码头出发，傍晚到达对岸的小镇，旅客可以在船上买到热茶和点心。船长说今年的风浪比往年大得多。";
    desk.write("in/english.txt", prose(1, 60));
    desk.write("in/chinese.txt", chinese);
    for (create, english) in [("", "60 words"), ("--shingle chars:9", "characters")] {
        let archive = if create.is_empty() { "words" } else { "chars" };
        let unit = if create.is_empty() { "words" } else { "characters" };
        let made = desk.run(&format!("index create {archive} {create}")).exit(0);
        assert!(made.err.contains(&format!("a check finds shared passages of 25 {unit} or more")), "{made}");
        desk.run(&format!("index add {archive} in -q")).exit(0);
        let run = desk.run(&format!("check in --index {archive} --report {archive}.html")).exit(1);
        let page = desk.text(&format!("{archive}.html"));
        assert!(run.text().contains(english) && page.contains(english), "{run}\n{page}");
        assert!(run.text().contains("characters: 渡轮每天"), "{run}");
        assert!(run.summary("guarantee").contains(&format!("a passage of 25 {unit} or more is found")));
        for text in [run.text(), &run.err, &page] {
            assert!(!text.contains("token"), "{text}");
        }
    }
    let run = desk.run("compare in/chinese.txt in/chinese.txt").exit(0);
    assert!(
        run.text().contains(" characters; A: line 1, column 1;") && !run.text().contains("token"),
        "{run}"
    );
}

#[test]
fn what_is_found_for_certain_depends_on_the_options() {
    let desk = archive();
    desk.write("new.txt", prose(77, 60));
    let says = |options: &str| desk.run(&format!("check new.txt --index archive {options}")).exit(0).err;
    assert!(says("").contains(
        "a passage of 25 words or more is found, unless more than 1,000 documents are candidates."
    ));
    assert!(says("--passage 100").contains("a passage of 100 words or more is found, unless"));
    assert!(!says("--passage off").contains("a passage of"));
    for option in ["--max-df 0.5", "--ignore-quotations"] {
        assert!(
            says(option).contains("For documents of which text was left out, this is not guaranteed."),
            "{option}"
        );
    }
    assert!(says("--candidates 7").contains("unless more than 7 documents are candidates."));
    assert!(
        says("--ignore-references")
            .contains("For documents of which text was left out, this is not guaranteed.")
    );
}

/// If two folders have files of the same name, only longer ids could distinguish them, and then all other ids would be
/// longer, too.
#[test]
fn files_of_two_folders_with_one_name_are_refused() {
    let desk = Desk::new();
    for (name, seed) in [("2023/a.txt", 1), ("2023/sub/x.txt", 2), ("2024/b.txt", 3)] {
        desk.write(name, prose(seed, 30));
    }
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive 2023/ 2024 -q").exit(0);
    let ids = || {
        let listed = desk.run("index list archive").exit(0);
        listed.lines().iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(), ["a.txt", "sub/x.txt", "b.txt"]);
    desk.write("2024/a.txt", prose(4, 30));
    insta::assert_snapshot!(desk.run("index add archive 2023/ 2024"), @"
    exit 2
    --- stderr
    error: `2023/a.txt` and `2024/a.txt` would both be the document `a.txt`

    hint: add the folder that holds both: ids are paths within it
    ");
    assert_eq!(ids().len(), 3);
    let outside = desk.path("").display().to_string();
    let outside = outside.trim_end_matches('/');
    desk.run(&format!("index add archive {outside}/2023/*.txt {outside}/2024/*.txt")).exit(2);
    desk.run(&format!("index add archive {outside}/2023/a.txt {outside}/2024/a.txt")).exit(2);
    // Files that are named one by one have their paths as ids, so these ids differ.
    desk.run("index add archive 2023/a.txt 2024/a.txt -q").exit(0);
    desk.run("index add archive 2023/a.txt 2023 -q").exit(0);
    assert_eq!(ids(), ["a.txt", "sub/x.txt", "b.txt", "2023/a.txt", "2024/a.txt"]);
}

/// An import that fails leaves no folder that looks like an archive.
#[test]
fn an_import_that_fails_leaves_no_archive() {
    let desk = archive();
    desk.run("index export archive -o all.jsonl -q").exit(0);
    desk.write("broken.jsonl", desk.text("all.jsonl") + "no document\n");
    desk.run("index import second broken.jsonl").exit(2);
    assert!(!desk.path("second").exists());
    desk.run("index import second all.jsonl -q").exit(0);
    assert_eq!(desk.run("index list second").lines().len(), 5);
    // If an import into an existing archive fails, the archive stays, with the documents before the bad line.
    desk.run("index import second broken.jsonl").exit(2);
    assert_eq!(desk.run("index list second").exit(0).lines().len(), 5);
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
    insta::assert_snapshot!(desk.run("check new.html --index archive --report page.html"), @"
    exit 2
    --- stderr
    error: `page.html` exists already

    hint: `--force` replaces it
    ");
}

#[test]
fn documents_are_replaced_and_removed() {
    let desk = archive();
    desk.write("again/2019-02.txt", prose(200, 50));
    insta::assert_snapshot!(desk.run("index add archive again").summary("documents"), @"0 added, 1 replaced, 0 unchanged");
    insta::assert_snapshot!(desk.run("index add archive again").summary("documents"), @"0 added, 0 replaced, 1 unchanged");
    assert_eq!(desk.run("index list archive").lines().len(), 5);
    insta::assert_snapshot!(desk.run("index remove archive 2019-02.txt 2020-01.txt"), @"
    exit 0
    --- stderr
    removed     2 documents; 3 documents left
    ");
    insta::assert_snapshot!(desk.run("index remove archive 2019-01.txt 2020-01.txt"), @"
    exit 2
    --- stderr
    error: no document has the id `2020-01.txt`

    hint: `minwise index list` lists all ids
    ");
    assert_eq!(desk.run("index list archive").lines().len(), 3, "all or none");
    desk.run("index compact archive -q").exit(0);
    insta::assert_snapshot!(desk.run("index check archive"), @"
    exit 0
    --- stderr
    checked     3 documents, 169 rows; no damage found
    ");
}

#[test]
fn an_archive_goes_to_lines_and_back_and_into_another() {
    let desk = archive();
    desk.run("index export archive -o all.jsonl -q").exit(0);
    desk.run("index import second all.jsonl -q").exit(0);
    assert_eq!(desk.run("index export second").text(), desk.text("all.jsonl"));
    desk.write("extra.jsonl", record("extra", &prose(300, 40)));
    desk.run("index add second extra.jsonl -q").exit(0);
    insta::assert_snapshot!(desk.run("index merge archive second -o third"), @"
    exit 0
    --- stderr
    merged      6 documents of 2 archives; 5 replaced one with the same id
    ");
    assert_eq!(desk.run("index list third").lines().len(), 6);
    desk.run("index create other --passage 40 -q").exit(0);
    insta::assert_snapshot!(desk.run("index merge archive other -o fourth"), @"
    exit 2
    --- stderr
    error: `archive` and `other` cannot be merged: the settings differ: passage is `25` in the first and `40` in the second
    ");
    assert!(!desk.path("fourth").exists());
    desk.write("wrong.jsonl", "{}\n");
    insta::assert_snapshot!(desk.run("index import archive wrong.jsonl"), @"
    exit 2
    --- stderr
    error: line 1 is not a document of an exported archive: it does not begin with the settings of an archive
    ");
}

#[test]
fn wrong_input_is_told() {
    let desk = archive();
    desk.write("new.txt", prose(1, 50));
    insta::assert_snapshot!(desk.run("index add nowhere applications"), @"
    exit 2
    --- stderr
    error: `nowhere` is not an archive

    hint: `minwise index create nowhere` makes one
    ");
    insta::assert_snapshot!(desk.run("index create archive"), @"
    exit 2
    --- stderr
    error: `archive` exists already and is not empty

    hint: `minwise index add archive` adds documents to an archive
    ");
    insta::assert_snapshot!(desk.run("index create third --passage 3 --bits 40 --threshold 2"), @"
    exit 2
    --- stderr
    error: `--threshold`: the threshold cannot be 2: it must be above 0 and at most 1
    error: `--bits`: `40` is not a number of bits: expected 0.125, 0.25, 0.5, or a number from 1 to 16 with at most three decimals
    error: `--passage`: the length of a passage cannot be 3: it must be at least the 5 units of a shingle
    ");
    insta::assert_snapshot!(desk.run("index show archive nothing"), @"
    exit 2
    --- stderr
    error: no document has the id `nothing`

    hint: `minwise index list` lists all ids
    ");
    insta::assert_snapshot!(desk.run("check new.txt --index archive --containment 7 --since soon --set x --max-df 0"), @"
    exit 2
    --- stderr
    error: `--max-df`: `0` is not a limit on documents: expected a share such as `0.1` or `10%`, or a number such as `500`, from `1`
    error: `--containment`: `7` is not a number from 0 to 1
    error: `--since`: `soon` is not a date such as `2026-03-01`
    error: `--set`: `x` is not of the form `FIELD=VALUE`
    ");
    insta::assert_snapshot!(desk.run("check new.txt --index applications"), @"
    exit 2
    --- stderr
    error: `applications` is not an archive

    hint: an archive is a folder that `minwise index create` made
    ");
    desk.write("broken.docx", b"PK\x03\x04 and no more");
    let rejected = desk.run("index add archive broken.docx").exit(2);
    let said =
        rejected.err.lines().skip_while(|line| !line.starts_with("error:")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(said, @"
    error: 1 record was rejected
        broken.docx: it is broken: invalid Zip archive: Could not find EOCD

    hint: the rejected record is not in the archive
    ");
    desk.write("ids.jsonl", record("bad\nid", "one") + &record("good", "two"));
    let rejected = desk.run("index add archive ids.jsonl").exit(2);
    assert!(rejected.err.contains("\n    ids.jsonl:1: "), "{rejected}");
    assert!(rejected.err.contains("it has a control character in it"), "{rejected}");
    desk.run("index show archive good").exit(0);
    desk.run("check new.txt --index archive --top 0").exit(2);
    desk.write("empty.txt", "");
    desk.run("check empty.txt --index archive").exit(0);
}

/// A check that could not read every file exits with 2 even if it found a match, unless the number of rejects is
/// permitted.
#[test]
fn a_check_that_could_not_read_every_file_says_so() {
    let desk = Desk::with("old.txt", prose(1, 90));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive old.txt -q").exit(0);
    desk.write("new/copy.txt", prose(1, 90));
    desk.write("new/other.txt", prose(2, 90));
    desk.write("new/broken.docx", b"PK\x03\x04 and no more");
    let run = desk.run("check new --index archive").exit(2);
    assert_eq!(run.summary("checked"), "2 documents: 1 with matches");
    assert_eq!(run.summary("rejected"), "1 record");
    assert!(run.err.contains("\nerror: 1 record was rejected\n    new/broken.docx: "), "{run}");
    let run = desk.run("check new --index archive --max-rejects 1").exit(1);
    assert!(run.err.contains("\nwarning: 1 record was rejected\n"), "{run}");
    desk.run("check new --index archive --max-rejects 0").exit(2);
    desk.run("check new/broken.docx new/other.txt --index archive --max-rejects 1").exit(0);
    desk.run("index add archive new --rejects rejects.jsonl").exit(2);
    let rejects = desk.text("rejects.jsonl");
    assert!(rejects.lines().count() == 1 && rejects.contains("\"file\":\"new/broken.docx\""), "{rejects}");
    desk.run("index add archive new --max-rejects 1 -q").exit(0);
    assert!(desk.run("index add archive new --max-rejects some").exit(2).err.contains("`--max-rejects`"));
    // If no document was checked, no guarantee is printed.
    let run = desk.run("check missing.docx --index archive").exit(2);
    assert!(run.err.starts_with("error: no such file"), "{run}");
}

/// Excerpts of the page and of the text begin and end at words.
#[test]
fn excerpts_end_at_words() {
    let shared = prose(1, 60);
    let desk = Desk::with("old.txt", format!("{} {shared} {}", prose(2, 60), prose(3, 60)));
    desk.write("new.txt", format!("{} {shared} {}", prose(4, 60), prose(5, 60)));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive old.txt -q").exit(0);
    let run = desk.run("check new.txt --index archive --report page.html").exit(1);
    let words: Vec<String> = (1..6).flat_map(|seed| crate::support::words(seed, 60)).collect();
    let page = desk.text("page.html");
    let sides: Vec<&str> = page.split("<p class=\"text\" dir=\"auto\">").skip(1).collect();
    assert_eq!(sides.len(), 2, "{page}");
    for side in sides {
        let side = side.split_once("</p>").unwrap().0.replace("<mark>", " ").replace("</mark>", " ");
        assert!(side.starts_with("… ") && side.ends_with(" …"), "{side}");
        for word in side.split_whitespace().filter(|word| *word != "…") {
            assert!(words.iter().any(|whole| whole == word), "`{word}` is no whole word");
        }
    }
    let excerpt = run.lines().into_iter().find(|line| line.ends_with(" …")).unwrap().to_owned();
    let last = excerpt.trim_end_matches(" …").rsplit(' ').next().unwrap();
    assert!(words.iter().any(|whole| whole == last), "{excerpt}");
}

/// Every list of rejects has lines of the same form: the report of a run, `index add`, `check`, and their logs.
#[test]
fn all_rejects_are_listed_in_one_form() {
    let desk = Desk::new();
    let lines: Vec<String> = (0..8).map(|n| format!("{{\"id\":\"n{n}\",\"txt\":\"a\"}}")).collect();
    desk.write("in.jsonl", record("good", &prose(1, 60)) + &lines.join("\n"));
    desk.run("dedup in.jsonl -o out.jsonl --report report -q").exit(2);
    let expected = desk.text("report/rejects.jsonl");
    assert_eq!(expected.lines().count(), 8);
    assert_eq!(
        expected.lines().next().unwrap(),
        r#"{"file":"in.jsonl","line":2,"id":"n0","reason":"missing_field","message":"there is no field `text`"}"#
    );
    desk.run("index create archive -q").exit(0);
    let add = desk.run("index add archive in.jsonl --log json").exit(2);
    assert!(add.err.contains("`--rejects FILE` lists all of them"), "{add}");
    desk.run("index add archive in.jsonl --rejects added.jsonl -q").exit(2);
    assert_eq!(desk.text("added.jsonl"), expected);
    desk.run("check in.jsonl --index archive --rejects checked.jsonl -q").exit(2);
    assert_eq!(desk.text("checked.jsonl"), expected);
    let first: Vec<Value> =
        expected.lines().take(5).map(|line| serde_json::from_str(line).unwrap()).collect();
    for command in
        ["index add archive in.jsonl", "check in.jsonl --index archive", "dedup in.jsonl --dry-run"]
    {
        let run = desk.run(&format!("{command} --log json"));
        let event = run.err.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let event = event.into_iter().find(|event| event["event"] == "rejects").unwrap();
        assert_eq!((&event["count"], &event["first"]), (&8.into(), &first.clone().into()), "{command}");
    }
    // An existing list is not replaced without `--force`, and the command refuses before it adds a document.
    insta::assert_snapshot!(desk.run("index add archive in.jsonl --rejects added.jsonl"), @"
    exit 2
    --- stderr
    error: `added.jsonl` exists already

    hint: `--force` replaces it
    ");
    desk.write("good.jsonl", record("more", &prose(2, 60)));
    desk.run("index add archive good.jsonl --rejects added.jsonl --force -q").exit(0);
    assert_eq!(desk.text("added.jsonl"), "");
}

#[test]
fn a_second_process_is_told_who_has_the_archive() {
    let desk = archive();
    // The standard input of the first process does not end, so the process waits with the archive open.
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
    assert!(said.contains("the archive `archive` is in use by process"), "{said}");
    let (_, holder) = said.split_once(" (`").unwrap();
    assert!(holder.starts_with("minwise index import archive -`), since 20"), "{said}");
    let since = holder.split_once("since ").unwrap().1.split_whitespace().next().unwrap();
    assert!(since.len() == 20 && since.ends_with('Z') && since.as_bytes()[10] == b'T', "{said}");
    desk.run("index stats archive").exit(0);
}

#[test]
fn without_texts_matches_are_found_and_passages_are_not_shown() {
    let desk = Desk::with("in.jsonl", record("a", &prose(1, 100)));
    desk.run("index create archive --no-text -q").exit(0);
    desk.run("index add archive in.jsonl -q").exit(0);
    desk.write("new.txt", with_word(&prose(1, 100), 50, "other"));
    let found = desk.run("check new.txt --index archive").exit(1);
    assert!(found.text().contains("similarity 9"), "{found}");
    insta::assert_snapshot!(desk.run("index show archive a"), @"
    exit 2
    --- stderr
    error: the archive was made without texts, and showing a document needs them

    hint: create the archive without `--no-text` to keep texts
    ");
    assert!(!walk(&desk, "archive").iter().any(|bytes| contains(bytes, prose(1, 100).as_bytes())));
}

fn walk(desk: &Desk, folder: &str) -> Vec<Vec<u8>> {
    let files = desk.names().into_iter().filter(|name| name.starts_with(folder) && desk.path(name).is_file());
    files.map(|name| desk.bytes(&name)).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The file is read in several chunks, and the first chunk has only rejects.
#[test]
fn records_without_ids_are_called_by_their_lines() {
    let mut lines = "no record\n".repeat(500_000);
    lines.push_str(&format!("{{\"text\":\"{}\"}}\n", prose(1, 50)));
    lines.push_str(&"\n".repeat(5_000_000));
    lines.push_str(&format!("{{\"text\":\"{}\"}}\n", prose(2, 50)));
    let desk = Desk::with("in.jsonl", lines);
    desk.write("a.jsonl", format!("{{\"text\":\"{}\"}}\n", prose(3, 50)));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive a.jsonl in.jsonl -q").exit(2);
    let listed = desk.run("index list archive").exit(0);
    let ids: Vec<&str> = listed.lines().iter().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(ids, ["a.jsonl:1", "in.jsonl:500001", "in.jsonl:5500002"]);
}

#[test]
fn a_sheet_may_name_records_by_their_lines() {
    let desk = Desk::with("in.jsonl", format!("{{\"text\":\"{}\"}}\n", prose(1, 50)).repeat(2));
    desk.write("sheet.csv", "id,title,year\nin.jsonl:2,The second,2020\nin.jsonl:9,None,2021\n");
    desk.run("index create archive -q").exit(0);
    let added = desk.run("index add archive in.jsonl --meta sheet.csv").exit(0);
    assert!(added.err.contains("`--meta` has 1 id that no document has: `in.jsonl:9`"), "{added}");
    let line = |id: &str| -> Value {
        let listed = desk.run(&format!("index list archive --search {id} --format jsonl")).exit(0);
        serde_json::from_str(listed.text()).unwrap()
    };
    let second = line("in.jsonl:2");
    assert_eq!((&second["title"], &second["metadata"]["year"]), (&"The second".into(), &"2020".into()));
    assert_eq!(line("in.jsonl:1")["title"], Value::Null);
}

#[test]
fn pages_of_plain_text_end_with_form_feeds() {
    let desk = archive();
    desk.write("new.txt", format!("{}\x0c{}\n", prose(900, 40), prose(2, 120)));
    let found = desk.run("check new.txt --index archive").exit(1);
    assert!(found.text().contains("page 2 here"), "{found}");
    desk.run("index add archive new.txt -q").exit(0);
    let shown: Value =
        serde_json::from_str(desk.run("index show archive new.txt --format jsonl").exit(0).text()).unwrap();
    assert_eq!(shown["marks"][1]["place"]["page"], 2);
}

// A pipe delivers lines in the pieces in which they were written, the first line, too.
#[test]
fn an_import_reads_a_pipe_that_is_written_slowly() {
    use std::io::Write;
    let desk = archive();
    let lines = desk.run("index export archive").exit(0).out;
    let mut import = Command::new(MINWISE)
        .args(["index", "import", "second", "-", "-q"])
        .current_dir(desk.root())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = import.stdin.take().unwrap();
    for part in lines.chunks(50).take(6) {
        pipe.write_all(part).unwrap();
        pipe.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    pipe.write_all(&lines[300..]).unwrap();
    drop(pipe);
    assert!(import.wait().unwrap().success());
    assert_eq!(desk.run("index export second").exit(0).out, lines);
}

#[test]
fn a_small_archive_is_smaller_once_it_is_compacted_and_holds_nothing_that_was_removed() {
    let desk = archive();
    let stats = || -> Value {
        let stats = desk.run("index stats archive --format jsonl").exit(0);
        serde_json::from_str(stats.text()).unwrap()
    };
    let holds = |id: &str| {
        let mut folders = vec![desk.path("archive")];
        let mut is_there = false;
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs_err::read(path).unwrap();
                    is_there |= bytes.windows(id.len()).any(|window| window == id.as_bytes());
                }
            }
        }
        is_there
    };
    let list = desk.run("index list archive --format jsonl").exit(0).out;
    desk.run("index compact archive -q").exit(0);
    assert_eq!(desk.run("index list archive --format jsonl").exit(0).out, list, "with dates and all");
    let before = stats();
    desk.run("index remove archive 2019-02.txt -q").exit(0);
    assert!(holds("2019-02.txt"));
    assert_eq!((stats()["removed"].as_u64(), stats()["documents"].as_u64()), (Some(1), Some(4)));
    let run = desk.run("index compact archive").exit(0);
    assert!(run.err.starts_with("compacted   "), "{run}");
    let after = stats();
    assert_eq!((after["removed"].as_u64(), after["documents"].as_u64()), (Some(0), Some(4)));
    let bytes = |stats: &Value| stats["disk_bytes"].as_u64().unwrap();
    assert!(bytes(&after) < bytes(&before), "{after}, {before} before");
    assert!(!holds("2019-02.txt") && holds("2019-01.txt"));
    desk.run("index check archive -q").exit(0);
    // A second compaction has nothing to do, and the archive does not grow.
    desk.run("index compact archive -q").exit(0);
    assert!(bytes(&stats()) <= bytes(&after), "{}, {after} before", stats());
}

/// Compaction made an archive of 8,000 documents a third larger: 11.4 MB before, 15.3 MB afterwards.
#[test]
fn an_archive_of_8_000_documents_is_never_larger_once_it_is_compacted() {
    let lines = |range: std::ops::Range<u64>, seed: u64| -> String {
        let line = |n| format!("{{\"id\":\"d{n}\",\"text\":\"{}\"}}\n", prose(seed + n, 60));
        range.map(line).collect::<Vec<_>>().concat()
    };
    let desk = Desk::with("in.jsonl", lines(0..8000, 0));
    desk.write("changed.jsonl", lines(0..500, 90_000));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in.jsonl -q").exit(0);
    let stats = || -> Value {
        serde_json::from_str(desk.run("index stats archive --format jsonl").exit(0).text()).unwrap()
    };
    let compacted = || {
        let before = stats()["disk_bytes"].as_u64().unwrap();
        desk.run("index compact archive").exit(0);
        let after = stats()["disk_bytes"].as_u64().unwrap();
        assert!(after <= before, "{after} bytes, {before} before");
    };
    compacted();
    compacted();
    desk.run("index add archive changed.jsonl -q").exit(0);
    desk.run("index remove archive d600 d601 -q").exit(0);
    compacted();
    compacted();
    assert_eq!((stats()["documents"].as_u64(), stats()["removed"].as_u64()), (Some(7998), Some(0)));
    desk.run("index check archive -q").exit(0);
}

#[test]
fn a_lost_note_is_a_finding_that_a_repair_mends() {
    let desk = archive();
    desk.write("archive/acknowledged", [7; 40]);
    insta::assert_snapshot!(desk.run("index stats archive"), @"
    exit 2
    --- stderr
    error: the archive `archive/acknowledged` is damaged: it does not match its checksum

    hint: `minwise index check` lists the damage, and its `--repair` saves every document that can be read; if the files cannot be opened, `minwise index import` restores an export
    ");
    let numbers = |run: Run| run.to_string().replace(|c: char| c.is_ascii_digit(), "0");
    insta::assert_snapshot!(numbers(desk.run("index check archive").exit(1)), @"
    exit 0
    --- stdout
    the number of the last acknowledged change cannot be read, so changes after 0 may be lost: it does not match its checksum
    --- stderr
    checked     0 documents, 000 rows; 0 finding; `--repair` removes damaged documents and rebuilds the rest
    ");
    insta::assert_snapshot!(numbers(desk.run("index check archive --repair").exit(1)), @"
    exit 0
    --- stdout
    the number of the last acknowledged change cannot be read, so changes after 0 may be lost: it does not match its checksum
    --- stderr
    checked     0 documents, 000 rows; 0 finding; repaired: 0 damaged documents removed, 0 left
    ");
    desk.run("index check archive -q").exit(0);
    assert_eq!(desk.run("index list archive").lines().len(), 5);
}

/// The message has the reason of the operating system, and names the path once.
#[cfg(unix)]
#[test]
fn an_archive_that_cannot_be_made_says_why() {
    let desk = Desk::with("file", "x");
    insta::assert_snapshot!(desk.run("index create file/archive"), @"
    exit 2
    --- stderr
    error: cannot make `file/archive`: Not a directory (os error 20)
    ");
}
