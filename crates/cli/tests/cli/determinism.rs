//! Tests that the same input gives the same bytes, for any number of threads and any order of files on the disk.

use crate::support::{Desk, prose, record, with_word};

/// Returns enough documents for many chunks, of every kind: equal, near, in chains, short, and without shingles.
fn corpus() -> Vec<String> {
    let mut lines = vec![];
    for family in 0..40u64 {
        let base = prose(family, 120);
        for i in 0..12usize {
            let text = match i % 4 {
                0 => base.clone(),
                1 => with_word(&base, i * 3, "changed"),
                2 => (0..i).fold(base.clone(), |text, j| with_word(&text, j * 9, &format!("j{j}"))),
                _ => base.split(' ').skip(i * 2).collect::<Vec<_>>().join(" "),
            };
            lines.push(record(&format!("f{family}-{i}"), &text));
        }
    }
    for i in 0..60 {
        lines.push(record(&format!("s{i}"), ["", "!", "one", "one two"][i % 4]));
        lines.push("not json\n".to_owned());
    }
    // A record of several megabytes spans the borders of chunks.
    lines.insert(100, record("large", &prose(99, 400_000)));
    lines.insert(300, record("large again", &with_word(&prose(99, 400_000), 7, "x")));
    lines
}

/// Returns a page without the part that differs from run to run, such as the duration.
fn of_every_run(page: &str) -> String {
    let (before, this_run) = page.split_once("<!-- of this run -->").unwrap();
    let (_, after) = this_run.split_once("<!-- of every run -->").unwrap();
    format!("{before}{after}")
}

#[test]
fn threads_do_not_show() {
    let lines = corpus();
    let desk = Desk::with("in.jsonl", lines.concat());
    for options in
        ["", "--keep longest", "--cluster components", "--keep shortest --shingle chars:6 --threshold 0.6"]
    {
        let outputs = |threads: u32| {
            desk.run(&format!(
                "dedup in.jsonl -o out.jsonl.gz --removed gone.jsonl --report report --force -q --threads {threads} {options}"
            ))
            .exit(2);
            let pairs =
                desk.run(&format!("pairs in.jsonl -q --threads {threads} --shingle words:4")).exit(2).out;
            let names = [
                "out.jsonl.gz",
                "gone.jsonl",
                "report/summary.json",
                "report/pairs.tsv",
                "report/clusters.jsonl",
                "report/rejects.jsonl",
            ];
            (names.map(|name| desk.bytes(name)), pairs, of_every_run(&desk.text("report/index.html")))
        };
        let one = outputs(1);
        assert!(one.0[1].len() > 10_000 && one.1.len() > 1000, "there is something to differ");
        for threads in [2, 7] {
            assert!(one == outputs(threads), "{threads} threads with `{options}`");
        }
    }
}

/// The files are created in another order and in another folder, so the disk lists them differently.
#[test]
fn the_order_of_files_on_disk_does_not_show() {
    let lines = corpus();
    let parts: Vec<(String, String)> = lines
        .chunks(37)
        .enumerate()
        .map(|(i, part)| (format!("data/p{i:03}.jsonl"), part.concat()))
        .collect();
    let run = |parts: &mut dyn Iterator<Item = &(String, String)>| {
        let desk = Desk::new();
        for (name, content) in parts {
            desk.write(name, content);
        }
        desk.run("dedup data -o out.jsonl --report report -q").exit(2);
        (desk.bytes("out.jsonl"), desk.text("report/clusters.jsonl"), desk.text("report/rejects.jsonl"))
    };
    let forwards = run(&mut parts.iter());
    assert!(forwards == run(&mut parts.iter().rev()));
    // If all documents are in one file, the same documents are kept.
    let desk = Desk::with("in.jsonl", lines.concat());
    desk.run("dedup in.jsonl -o out.jsonl -q").exit(2);
    assert!(desk.bytes("out.jsonl") == forwards.0);
}

#[test]
fn one_run_after_another() {
    let desk = Desk::with("in.jsonl", corpus().concat());
    let out = || desk.run("dedup in.jsonl -o - -q").exit(2).out;
    assert!(out() == out());
}
