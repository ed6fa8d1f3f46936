//! Tests experiments: verdicts, exit codes, records and the page.

use std::fmt::Write as _;

use minwise_lab::check::CheckKind;
use minwise_lab::record::{self, ExperimentRecord};

use crate::support::{Desk, Run};

/// Returns the first word of each line that is not indented.
fn names(run: &Run) -> Vec<String> {
    let lines = run.lines().into_iter().filter(|line| !line.starts_with(' '));
    lines.map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
}

/// Returns one line per check: its subject, whether it holds, the statement, and the erratum of a failed check.
/// Results of the clock are left out, because they depend on the machine.
fn answers(records: &[ExperimentRecord]) -> String {
    let mut out = String::new();
    for record in records {
        let _ = writeln!(out, "{}", record.name);
        for check in &record.checks {
            let holds = match (check.kind, check.holds) {
                (CheckKind::Clock, _) => "-",
                (_, true) => "holds",
                (_, false) => "fails",
            };
            let erratum = match (check.kind, check.holds, &check.erratum) {
                (CheckKind::Clock, ..) | (_, true, _) | (.., None) => String::new(),
                (.., Some(erratum)) => format!(" [{erratum}]"),
            };
            let kind = format!("{:?}", check.kind);
            let _ = writeln!(out, "  {kind:9}  {holds:5}  {}{erratum}", check.claim);
        }
    }
    out
}

#[test]
fn quick_runs_of_all_experiments_end_as_expected() {
    // The figure is a worked example, so its numbers are in a table.
    const WITHOUT_CHART: [&str; 1] = ["000/figure-1"];
    let desk = Desk::new();
    let listed = names(&desk.run("list").exit(0));
    let quick = desk.run("run --quick --output out").exit(0);
    assert_eq!(names(&quick), listed[1..], "the first line of the list names its columns");
    assert!(!quick.text().contains("not expected"), "{quick}");
    assert!(quick.err.contains("other engines are not run"), "{quick}");
    let skipped: Vec<&str> = quick.lines().into_iter().filter(|line| line.contains("skipped: ")).collect();
    assert!(!skipped.is_empty() && skipped.iter().all(|line| line.contains("--data")), "{quick}");

    let records = record::read_all(&desk.path("out")).unwrap();
    // A check that is removed, or whose result changes, changes no verdict if another check of its kind fails.
    insta::assert_snapshot!("checks_of_a_quick_run", answers(&records));

    for (record, experiment) in records.iter().zip(minwise_lab::catalogue::all().unwrap()) {
        assert_eq!(record.name, experiment.name);
        let figures = experiment.definition.shows.iter().filter(|what| what.starts_with("figure ")).count();
        let is_drawn = record.pictures.len() >= figures || record.skipped.is_some();
        assert_eq!(is_drawn, !WITHOUT_CHART.contains(&experiment.name), "{}", experiment.name);
    }

    desk.run("report out").exit(0);
    let page = desk.text("out/index.html");
    let index = desk.text("out/README.md");
    for name in names(&quick) {
        assert!(page.contains(&format!("<section id=\"{name}\">")), "{name}");
        assert!(index.contains(&format!("[{name}]({name}/README.md)")), "{name}");
        assert!(desk.path(&format!("out/{name}/result.json")).exists(), "{name}");
    }
    // Every chart with error bars must explain them in its note.
    for name in desk.names().iter().filter(|name| desk.path(name).extension().is_some_and(|end| end == "svg"))
    {
        let svg = desk.text(name);
        let has_bars = svg.contains("<path class=\"mark s");
        let explains = svg.lines().any(|line| line.contains("class=\"note\"") && line.contains("Bars: "));
        assert!(explains || !has_bars, "{name} has bars and no note that says what they are");
    }
    // The page opens without a network, so every address is inside the page.
    for start in ["src=\"", "href=\"", "url("] {
        for part in page.split(start).skip(1) {
            assert!(part.starts_with("data:image/svg+xml,") || part.starts_with('#'), "{}", &part[..40]);
        }
    }
    assert!(!page.contains("<script") && !page.contains("@import") && !page.contains("<link"));
}

#[test]
fn every_run_gives_the_same_files_whatever_the_threads() {
    /// Experiments whose definitions state that they measure times.
    const TIMED: [&str; 5] =
        ["000/figure-5/", "001/figure-3/", "001/figure-4/", "003/figure-10/", "004/table-2/"];
    let desk = Desk::new();
    for threads in [1, 3] {
        desk.run(&format!("run --quick --threads {threads} --output by-{threads}")).exit(0);
    }
    let of = |folder: &str| {
        let all = desk.names().into_iter().filter(|name| desk.path(name).is_file());
        let here = all.filter_map(|name| name.strip_prefix(folder).map(str::to_owned));
        // The index is left out, because some of its verdicts depend on times.
        let untimed =
            here.filter(|name| name != "README.md" && !TIMED.iter().any(|timed| name.starts_with(timed)));
        untimed.map(|name| (desk.bytes(&format!("{folder}{name}")), name)).collect::<Vec<_>>()
    };
    let (one, three) = (of("by-1/"), of("by-3/"));
    assert!(one.len() > 100, "{}", one.len());
    assert_eq!(one.len(), three.len());
    for ((one, name), (three, other)) in one.iter().zip(&three) {
        assert_eq!(name, other);
        assert!(one == three, "{name}");
    }
}

#[test]
fn pictures_are_png_on_request() {
    let desk = Desk::new();
    let run = desk.run("run 002/figure-4 --png --output out --quiet");
    if run.code == Some(2) {
        // On a machine without fonts, text would be lost, so nothing is written.
        assert!(run.err.contains("no font was found") && !desk.path("out").exists(), "{run}");
    } else {
        run.exit(0);
        assert!(desk.bytes("out/002/figure-4/ratio.png").starts_with(b"\x89PNG\r\n\x1a\n"));
        assert!(desk.path("out/002/figure-4/ratio.svg").exists());
    }
    // `--png` needs `--output`.
    desk.run("run 002/figure-4 --png").exit(2);
}

#[test]
fn a_python_that_cannot_be_started_is_told() {
    insta::assert_snapshot!(Desk::new().run("run ours/dedup --quick --peers no-such-python").err.lines().next().unwrap_or_default(), @"minwise-lab: ours/dedup: `no-such-python` could not be started: No such file or directory (os error 2)");
}

/// The results of other engines are reported beside ours. Neither these results nor failures of the engines change a
/// verdict.
#[cfg(unix)]
#[test]
fn other_engines_are_run_where_they_are_installed() {
    use std::os::unix::fs::PermissionsExt as _;

    let desk = Desk::new();
    // The fake "Python" has two engines: one reports a wrong pair, the other fails.
    desk.write(
        "engines/bin/python",
        "#!/bin/sh\ncase \"$3\" in\nversions) echo rensa 9.9; echo gaoya 0.1;;\nrensa) echo 0 7;;\n*) echo broken >&2; exit 3;;\nesac\n",
    );
    fs_err::set_permissions(desk.path("engines/bin/python"), std::fs::Permissions::from_mode(0o755)).unwrap();
    // The command is that of the guide, with fewer trials.
    let shown = crate::usage::shown();
    let (command, _) = shown.iter().find(|(command, _)| command.contains("--peers")).unwrap();
    let run = desk.run(&format!("{command} --quick")).exit(0);
    assert!(run.text().starts_with("ours/dedup                reproduced\n"), "{run}");
    assert!(run.err.contains("ours/dedup: datasketch is not installed\n"), "{run}");
    assert!(run.err.contains("gaoya fails on made up at a threshold of 0.5: "), "{run}");
    let found = desk.text("out/ours/dedup/peers.csv");
    assert!(found.contains("\nmade up,words:3,5.00000000e-1,64,2,rensa 9.9,1,0,0\n"), "{found}");
    assert!(!found.contains("gaoya"), "{found}");
}

#[test]
fn an_unexpected_verdict_is_exit_code_1_and_says_why() {
    let desk = Desk::new();
    // The data are two equal posts. No hash function estimates them wrongly, so no error falls with the registers.
    for name in ["a", "b"] {
        desk.write(&format!("data/newsgroup-copies/space/{name}"), "the same few words in both");
    }
    let run = desk.run("run 004/table-1 --data data").exit(1);
    assert!(run.text().contains("004/table-1               deviates (not expected)\n    "), "{run}");
    assert!(run.err.contains("1 with a verdict that was not expected"), "{run}");
}

#[test]
fn a_failed_experiment_does_not_stop_the_others_and_is_exit_code_2() {
    let desk = Desk::new();
    // A file is in the place of the folder, so reading it fails.
    desk.write("data/newsgroup-copies/space", "");
    let run = desk.run("run 004/table-1 004/table-2 002/figure-4 --quick --data data --output out").exit(2);
    assert_eq!(names(&run), ["002/figure-4", "004/table-1", "004/table-2"], "{run}");
    assert!(
        run.text()
            .starts_with("002/figure-4              corrected (E-23)\n004/table-1               failed: "),
        "{run}"
    );
    assert!(
        run.err.starts_with("minwise-lab: 004/table-1: ")
            && run.err.contains("1 experiment run, 0 skipped, 2 failed, 0 with"),
        "{run}"
    );
    let index = desk.text("out/README.md");
    assert!(
        index.contains("| [004/table-1](004/table-1/README.md) |") && index.contains("| failed: "),
        "{index}"
    );
    desk.run("report out").exit(0);
}

#[test]
fn the_index_counts_the_verdicts() {
    let desk = Desk::new();
    desk.run(
        "run 000/table-3 003/figure-8 001/figure-5 002/figure-4 003/figure-5 --quick --output out --quiet",
    )
    .exit(0);
    let index = desk.text("out/README.md");
    for row in [
        "| reproduced | 1 | 0 |",
        "| shape reproduced on other data | 0 | 0 |",
        "| corrected | 2 | 0 |",
        "| not reproduced | 1 | 0 |",
        "| not reproducible | 1 | 0 |",
        "| deviates | 0 | 0 |",
    ] {
        assert!(index.contains(row), "{row} is not in\n{index}");
    }
}

#[test]
fn tables_and_pictures_of_one_experiment() {
    let desk = Desk::new();
    desk.run("run 002/figure-4 --output out --quiet").exit(0);
    // The second run replaces the record of the first.
    desk.run("run 002/figure-4 --output out --quiet").exit(0);
    desk.run("run 003/section-6-5 --output out --quiet").exit(0);
    let index = desk.text("out/README.md");
    assert!(index.contains("2 experiments run, 0 skipped") && index.contains("[002/figure-4]"), "{index}");
    insta::assert_snapshot!(desk.names().join("\n"), @"
    out
    out/002
    out/002/figure-4
    out/002/figure-4/README.md
    out/002/figure-4/ratio.svg
    out/002/figure-4/ratios.csv
    out/002/figure-4/result.json
    out/003
    out/003/section-6-5
    out/003/section-6-5/README.md
    out/003/section-6-5/result.json
    out/README.md
    ");
    let csv = desk.text("out/002/figure-4/ratios.csv");
    assert!(csv.contains("\n9.00000000e-1,5.00000000e-1,1.79005525e0,"), "{csv}");
    assert!(desk.text("out/002/figure-4/README.md").contains("**corrected (E-23)**"));
}

#[test]
fn mistakes_are_told() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run("run 002/figure-9"), @"
    exit 2
    --- stderr
    minwise-lab: there is no experiment `002/figure-9`

    hint: `minwise-lab list` lists them
    ");
    insta::assert_snapshot!(desk.run("run 002 --data nowhere"), @"
    exit 2
    --- stderr
    minwise-lab: there is no folder `nowhere`

    hint: docs/guides/lab.md says which data experiments look for
    ");
    desk.write("empty/note", "");
    insta::assert_snapshot!(desk.run("report empty"), @"
    exit 2
    --- stderr
    minwise-lab: there are no results in `empty`

    hint: `minwise-lab run --output DIR` writes them
    ");
    desk.write("mine/002/figure-4/letter.txt", "dear friend");
    insta::assert_snapshot!(desk.run("run 002/figure-4 --output mine"), @"
    exit 2
    --- stderr
    minwise-lab: `mine/002/figure-4` is there and is no record
    ");
    desk.write("odd/002/figure-4/result.json", "{}");
    desk.run("report odd").exit(2);
    assert_eq!(desk.text("mine/002/figure-4/letter.txt"), "dear friend");
}
