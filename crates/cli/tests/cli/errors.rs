//! Tests error messages: the place, the reason and a hint about what to do.

use crate::support::{Desk, gzip, prose, record, records, zstd};

fn desk() -> Desk {
    Desk::with("in.jsonl", record("a", &prose(1, 9)))
}

/// Runs the first command of the README on the example that comes with the sources.
#[test]
fn the_example_runs_as_the_readme_says() {
    let desk = Desk::new();
    let articles = include_bytes!("../../../../examples/articles.jsonl");
    desk.write("articles.jsonl", articles);
    let run = desk.run("dedup articles.jsonl -o kept.jsonl --removed removed.jsonl");
    insta::assert_snapshot!(run, @"
    exit 0
    --- stderr
    read        48 documents, 48.4 kB; 4 without words
    kept        30 documents (62.5 %)
    removed     18 documents (37.5 %) in 14 clusters; 6 of them equal after normalisation
    rejected    0 records
    compared    14 candidate pairs: 1 ruled out by its sketches, 13 compared exactly, 12 reach 0.8
    recall      99.99 % expected; 100 % measured: none of the 30 kept documents repeats another one
    wrote       30 kept documents to `kept.jsonl`
                18 removed documents to `removed.jsonl`
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    settings    keep first, cluster star
    candidates  16 bands of 6 rows
    sketches    the filter compared 99.1 % of the registers of the candidate pairs
    stages      [time]
    ");
    let lines = |name: &str| desk.text(name).lines().count();
    assert_eq!((lines("kept.jsonl"), lines("removed.jsonl")), (30, 18));
}

/// The README shows the lines that the command prints, except times and lines that are cut off.
#[test]
fn the_readme_shows_what_is_printed() {
    let readme = include_str!("../../../../README.md");
    let desk = Desk::with("examples/articles.jsonl", include_bytes!("../../../../examples/articles.jsonl"));
    let mut printed = String::new();
    let mut commands = 0;
    for line in readme.lines().filter_map(|line| line.trim().strip_prefix("cargo run --release -- ")) {
        let run = desk.run(line).exit(0);
        printed += &format!("{}{}", run.err, run.text());
        commands += 1;
    }
    printed += &desk.text("report/pairs.tsv");
    assert_eq!(commands, 1);
    let blocks: Vec<&str> = readme.split("```").skip(1).step_by(2).collect();
    // The first block is the drawing of the data flow.
    let shown = blocks.iter().skip(1).filter(|block| block.starts_with("text\n"));
    let shown = shown.flat_map(|block| block.lines().skip(1));
    let mut lines = 0;
    for line in shown.filter(|line| {
        !line.is_empty() && !["time", "stages"].iter().any(|name| line.starts_with(name)) && *line != "…"
    }) {
        let line = line.trim_end_matches(" …");
        assert!(printed.contains(line), "`{line}` is not in\n{printed}");
        lines += 1;
    }
    assert!(lines > 10, "{lines}");
}

#[test]
fn every_wrong_option_is_reported_at_once() {
    let run = desk().run(
        "dedup in.jsonl -o out.jsonl --encoding utf-7 --max-record 5apples --text-field a..b --id-field . \
         --input-format xml --threshold 1.5 --shingle word:5 --normalize lower --whitespace tabs --short drop \
         --registers many --seed first --keep best --cluster big --threads none --max-rejects some",
    );
    insta::assert_snapshot!(run, @"
    exit 2
    --- stderr
    error: `--text-field`: `a..b` is not a field: expected names separated by single dots, such as `text` or `meta.id`
    error: `--id-field`: `.` is not a field: expected names separated by single dots, such as `text` or `meta.id`
    error: `--encoding`: `utf-7` is not an encoding: expected `utf-8`, `latin-1` or `auto`
    error: `--max-record`: `5apples` is not a size such as `64MiB`
    error: `--input-format`: `xml` is not an input format: expected `auto`, `jsonl`, `csv`, `tsv`, `parquet`, `arrow`, `warc`, `document` or `text`
    error: `--cluster`: `big` is not a clustering: expected `star` or `components`
    error: `--threshold`: the threshold cannot be 1.5: it must be above 0 and at most 1
    error: `--shingle`: `word:5` is not a shingling: expected `words:N`, `chars:N` or `terms`, such as `words:5` or `words:5,bag`
    error: `--normalize`: `lower` is not a normalisation: expected `nfkc+casefold`, `casefold` or `none`
    error: `--whitespace`: `tabs` is not a way to treat white space: expected `fold`, `keep` or `remove`
    error: `--short`: `drop` is not a rule for short documents: expected `one` or `reject`
    error: `--registers`: `many` is not a whole number
    error: `--seed`: `first` is not a whole number
    error: `--keep`: `best` is not a keeper policy: expected `first`, `last`, `longest`, `shortest`, `newest:FIELD`, `oldest:FIELD`, `max:FIELD`, `min:FIELD` or `priority:FIELD=A,B,C`
    error: `--threads`: `none` is not a whole number
    error: `--max-rejects`: `some` is not a whole number

    hint: `auto` guesses the encoding of each file; `iconv -f NAME -t utf-8 FILE > NEW` converts a file, and `iconv -l` lists the names
    ");
}

#[test]
fn numbers_out_of_range() {
    let run = desk().run(
        "dedup in.jsonl -o out.jsonl --max-record 5GiB --threshold nan --shingle chars:1025 --registers 65537 --threads 0",
    );
    insta::assert_snapshot!(run, @"
    exit 2
    --- stderr
    error: `--max-record`: it must be at least 1 byte and less than 4 GiB
    error: `--threshold`: the threshold cannot be NaN: it must be above 0 and at most 1
    error: `--shingle`: the size of a shingle cannot be 1,025: it must be from 1 to 256
    error: `--registers`: the number of registers cannot be 65,537: it must be from 1 to 65,536
    error: `--threads`: it must be at least 1
    ");
}

/// The range of `--recall` does not depend on other options, so its error is reported with the others.
#[test]
fn a_wrong_recall_is_reported_beside_other_wrong_options() {
    let run = desk().run("dedup in.jsonl -o out.jsonl --threshold 2 --recall 2").exit(2);
    assert!(run.err.contains("`--threshold`") && run.err.contains("`--recall`"), "{run}");
}

#[test]
fn wrong_options_are_reported_in_flag_order() {
    let run = desk().run("dedup in.jsonl -o out.jsonl --registers 65537 --seed first").exit(2);
    let at = |option: &str| run.err.find(option).unwrap_or_else(|| panic!("{option} in {run}"));
    assert!(at("`--registers`") < at("`--seed`"), "{run}");
}

#[test]
fn bands_and_rows_that_do_not_fit() {
    insta::assert_snapshot!(desk().run("dedup in.jsonl -o out.jsonl --bands 20 --rows 7"), @"
    exit 2
    --- stderr
    error: `--bands`: 20 bands of 7 rows need 140 registers, but a sketch has 128

    hint: `--registers 140` would be enough
    ");
}

/// The product of bands and rows may exceed 64 bits.
#[test]
fn bands_and_rows_of_any_size_do_not_fit() {
    let run = desk().run("dedup in.jsonl -o out.jsonl --bands 18446744073709551615 --rows 2").exit(2);
    assert!(run.err.contains("bands of 2 rows need 36,893,488,147,419,103,230 registers"), "{run}");
}

#[test]
fn a_recall_that_cannot_be_reached() {
    insta::assert_snapshot!(desk().run("dedup in.jsonl -o out.jsonl --threshold 0.03 --registers 100"), @"
    exit 2
    --- stderr
    error: `--recall`: no banding of 100 registers finds a pair at similarity 0.03 with probability 0.99: the best is 0.9524

    hint: `--registers 152` would be enough; so would `--recall 0.952`
    ");
}

/// The hint names a recall that can be reached: if 0.9986 is the highest, it is rounded down and not up to 0.999.
#[test]
fn the_recall_that_is_proposed_can_be_reached() {
    for options in ["--threshold 0.05 --recall 0.9999", "--threshold 0.02", "--threshold 0.01 --recall 0.9"] {
        let run = desk().run(&format!("plan {options}")).exit(2);
        let hint = run.err.split_once("so would `").unwrap().1.split_once('`').unwrap().0.to_owned();
        let threshold = options.split(" --recall").next().unwrap();
        desk().run(&format!("plan {threshold} {hint}")).exit(0);
    }
}

#[test]
fn options_that_exclude_one_another() {
    let desk = desk();
    insta::assert_snapshot!(desk.run("dedup in.jsonl"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --output <OUT>

    Usage: minwise dedup --output <OUT> <INPUT>...

    hint: `--output FILE` names the file to write, `--output -` is standard output, and `--dry-run` writes nothing
    hint: `--help` lists all options
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o a.jsonl --removed b.jsonl --annotate"), @"
    exit 2
    --- stderr
    error: the argument '--removed <OUT>' cannot be used with '--annotate'

    Usage: minwise dedup --output <OUT> --removed <OUT> <INPUT>...

    hint: `--help` lists all options
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o a.jsonl --bands 4"), @"
    exit 2
    --- stderr
    error: `--bands`: it needs `--rows` beside it
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o a.jsonl --bands 4 --rows 4 --recall 0.9"), @"
    exit 2
    --- stderr
    error: the argument '--bands <B>' cannot be used with '--recall <P>'

    Usage: minwise dedup --output <OUT> --bands <B> --rows <R> <INPUT>...

    hint: `--help` lists all options
    ");
    insta::assert_snapshot!(desk.run("plan --rows 4 --recall 0.9"), @"
    exit 2
    --- stderr
    error: the argument '--rows <R>' cannot be used with '--recall <P>'

    Usage: minwise plan --rows <R>

    hint: `--help` lists all options
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o a.jsonl --bands 4 --rows 4"), @"
    exit 0
    --- stderr
    read        1 document, 65 B
    kept        1 document (100 %)
    removed     0 documents (0 %)
    rejected    0 records
    compared    0 candidate pairs
    recall      nothing to measure, because there is only one document
    wrote       1 kept document to `a.jsonl`
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    settings    keep first, cluster star
    candidates  4 bands of 4 rows
    stages      [time]
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --format xml"), @"
    exit 2
    --- stderr
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: tsv, jsonl]

    hint: `--help` lists all options
    ");
}

#[test]
fn inputs_that_are_not_there() {
    let desk = desk();
    fs_err::create_dir_all(desk.path("empty/er")).unwrap();
    insta::assert_snapshot!(desk.run("dedup missing.jsonl -o out.jsonl"), @"
    exit 2
    --- stderr
    error: no such file or folder: `missing.jsonl`

    hint: check the spelling; a relative path starts at the current folder
    ");
    insta::assert_snapshot!(desk.run("dedup no*.jsonl -o out.jsonl"), @"
    exit 2
    --- stderr
    error: no file matches the pattern `no*.jsonl`

    hint: check the spelling, and quote the pattern: `'no*.jsonl'`; `**` reaches into folders
    ");
    insta::assert_snapshot!(desk.run("dedup in[.jsonl -o out.jsonl"), @"
    exit 2
    --- stderr
    error: `in[.jsonl` is not a pattern: the `[` is not closed by a `]`

    hint: `*` stands for any name, `**` for any folders, `[ab]` for a or b
    ");
    insta::assert_snapshot!(desk.run("dedup empty -o out.jsonl"), @"
    exit 2
    --- stderr
    error: there are no files in the folder `empty`

    hint: folders are searched in full, hidden files included
    ");
    assert_eq!(desk.names(), ["empty", "empty/er", "in.jsonl"]);
}

#[cfg(unix)]
#[test]
#[ignore = "needs permissions that bind the user"]
fn an_input_that_may_not_be_read() {
    use crate::support::MINWISE;
    use std::os::unix::fs::PermissionsExt;
    let desk = desk();
    fs_err::set_permissions(desk.path("in.jsonl"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = if fs_err::read(desk.path("in.jsonl")).is_ok() {
        // The tests run as root, who may read every file unless these capabilities are dropped.
        let mut command = std::process::Command::new("setpriv");
        command.args(["--bounding-set", "-all", "--inh-caps", "-all", MINWISE]);
        command
    } else {
        std::process::Command::new(MINWISE)
    };
    let arguments = ["dedup", "in.jsonl", "-o", "out.jsonl"];
    let output = command.current_dir(desk.root()).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said, "error: cannot open `in.jsonl`: Permission denied (os error 13)\n");
}

/// The message names the path once, followed by the reason of the operating system.
#[cfg(unix)]
#[test]
fn what_the_operating_system_says_is_said_once() {
    let run = desk().run("dedup in.jsonl/x -o out.jsonl").exit(2);
    assert_eq!(run.err, "error: cannot open `in.jsonl/x`: Not a directory (os error 20)\n");
}

#[test]
fn a_folder_of_two_kinds() {
    let desk = Desk::with("data/a.jsonl", record("a", "a"));
    desk.write("data/readme.txt", "text");
    insta::assert_snapshot!(desk.run("dedup data -o out"), @"
    exit 2
    --- stderr
    error: the inputs are of two kinds: `data/a.jsonl` is JSONL and `data/readme.txt` is a document

    hint: give a pattern that matches one kind, or say what they are with `--input-format`
    ");
}

/// Covers every reason why a line is not a document.
#[test]
fn lines_that_are_not_documents() {
    let desk = Desk::new();
    let lines: [&[u8]; 10] = [
        b"{\"id\":\"cut\",\"text\":\"one",
        b"{\"id\":\"more\",\"text\":\"one\"} two",
        b"[\"a\", \"list\"]",
        b"{\"id\":\"none\",\"body\":\"one\"}",
        b"{\"id\":\"null\",\"text\":null}",
        b"{\"id\":[1],\"text\":\"one\"}",
        b"{\"id\":\"twice\",\"text\":\"one\",\"text\":\"two\"}",
        b"{\"id\":\"bytes\",\"text\":\"\xff\"}",
        b"\"a string\"",
        b"{\"id\":\"good\",\"text\":\"one\"}",
    ];
    desk.write("in.jsonl", lines.join(&b'\n'));
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.jsonl --report report -q --null reject"), @"
    exit 2
    --- stderr
    error: 9 records were rejected
        in.jsonl:1: not JSON: EOF while parsing a string at column 23
        in.jsonl:2: not JSON: trailing characters at column 28
        in.jsonl:3: not a JSON object
        in.jsonl:4: there is no field `text`
        in.jsonl:5: the field `text` holds null
        and 4 more

    hint: all of them are in `report/rejects.jsonl`
    ");
    insta::assert_snapshot!(desk.text("report/rejects.jsonl"), @r#"
    {"file":"in.jsonl","line":1,"id":null,"reason":"invalid_json","message":"not JSON: EOF while parsing a string at column 23"}
    {"file":"in.jsonl","line":2,"id":null,"reason":"invalid_json","message":"not JSON: trailing characters at column 28"}
    {"file":"in.jsonl","line":3,"id":null,"reason":"not_an_object","message":"not a JSON object"}
    {"file":"in.jsonl","line":4,"id":"none","reason":"missing_field","message":"there is no field `text`"}
    {"file":"in.jsonl","line":5,"id":"null","reason":"null","message":"the field `text` holds null"}
    {"file":"in.jsonl","line":6,"id":null,"reason":"wrong_type","message":"the field `id` holds a list"}
    {"file":"in.jsonl","line":7,"id":"twice","reason":"duplicate_field","message":"the field `text` is there twice"}
    {"file":"in.jsonl","line":8,"id":null,"reason":"invalid_utf8","message":"not UTF-8: byte 22 is invalid"}
    {"file":"in.jsonl","line":9,"id":null,"reason":"not_an_object","message":"not a JSON object"}
    "#);
    assert_eq!(desk.ids("out.jsonl"), ["good"]);
}

#[test]
fn too_many_rejects() {
    let desk = Desk::with("in.jsonl", "bad\n".repeat(3));
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.jsonl --max-rejects 1"), @"
    exit 2
    --- stderr
    error: more than 1 record was rejected; the last one: in.jsonl:2: not JSON: expected value at column 1

    hint: `--dry-run` with `--report DIR` lists every rejected record in `DIR/rejects.jsonl`
    ");
}

/// A compressed file that is cut short is an error, and is not read as a shorter file.
#[test]
fn compressed_files_that_are_cut_short() {
    let documents: Vec<String> = (0..200).map(|i| record(&format!("d{i}"), &prose(i, 30))).collect();
    let documents = documents.concat();
    let (gz, zst) = (gzip(documents.as_bytes()), zstd(documents.as_bytes()));
    let desk = Desk::with("cut.jsonl.gz", &gz[..gz.len() - 9]);
    desk.write("cut.jsonl.zst", &zst[..zst.len() / 2]);
    for name in ["cut.jsonl.gz", "cut.jsonl.zst"] {
        let run = desk.run(&format!("dedup {name} -o out.jsonl")).exit(2);
        assert!(run.err.starts_with(&format!("error: `{name}` is damaged: its ")), "{run}");
        assert!(run.err.contains("hint: the file may have been cut short"), "{run}");
    }
    let mut flipped = gz.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    desk.write("flipped.jsonl.gz", flipped);
    let run = desk.run("dedup flipped.jsonl.gz -o out.jsonl").exit(2);
    assert!(run.err.contains("`flipped.jsonl.gz` is damaged"), "{run}");
    assert_eq!(desk.names(), ["cut.jsonl.gz", "cut.jsonl.zst", "flipped.jsonl.gz"]);
}

/// A damaged text among sound ones is one rejected record.
#[test]
fn a_damaged_text_is_rejected_by_itself() {
    let desk = Desk::with("letters/a.txt", prose(1, 9));
    let whole = gzip(prose(2, 400).as_bytes());
    desk.write("letters/b.gz", &whole[..whole.len() - 9]);
    let run = desk.run("dedup letters -o kept --report report").exit(2);
    assert!(run.err.contains("    letters/b.gz: damaged after "), "{run}");
    assert_eq!(desk.text("report/rejects.jsonl").matches("\"reason\":\"damaged\"").count(), 1);
    assert!(desk.path("kept/a.txt").exists());
}

#[test]
fn many_rejects_are_shown_in_part() {
    let desk = Desk::with("in.jsonl", records(&[("a", "a")]) + &"bad\n".repeat(1203));
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.jsonl -q"), @"
    exit 2
    --- stderr
    error: 1,203 records were rejected
        in.jsonl:2: not JSON: expected value at column 1
        in.jsonl:3: not JSON: expected value at column 1
        in.jsonl:4: not JSON: expected value at column 1
        in.jsonl:5: not JSON: expected value at column 1
        in.jsonl:6: not JSON: expected value at column 1
        and 1,198 more

    hint: `--report DIR` lists all of them in `DIR/rejects.jsonl`
    ");
}

#[test]
fn a_temporary_folder_that_is_not_there() {
    let desk = Desk::with("in.jsonl.gz", gzip(record("a", "a").as_bytes()));
    let run = desk.run("dedup in.jsonl.gz -o out.jsonl --temp-dir nowhere").exit(2);
    assert!(run.err.starts_with("error: cannot make a temporary file in `nowhere`: "), "{run}");
    fs_err::create_dir_all(desk.path("here")).unwrap();
    desk.run("dedup in.jsonl.gz -o out.jsonl --temp-dir here").exit(0);
    assert_eq!(fs_err::read_dir(desk.path("here")).unwrap().count(), 0);
}

/// JSON that spans several lines is the most common mistake with JSONL.
#[test]
fn json_that_is_not_jsonl_is_told_so() {
    let desk = Desk::with("in.json", "[\n  {\n    \"text\": \"a\"\n  }\n]\n");
    let run = desk.run("dedup in.json -o out.jsonl -q").exit(2);
    assert!(run.err.contains("hint: JSONL has one object per line: `jq -c '.[]' FILE` makes it"), "{run}");
}

/// A negative number is reported as out of range and not as an unknown option, in any notation.
#[test]
fn negative_numbers_are_out_of_range() {
    let desk = Desk::with("in.jsonl", "");
    insta::assert_snapshot!(
        desk.run("pairs in.jsonl --threshold -1e-6 --order -.5 --recall -1 --filter-error -1e-3 --threads -1"),
        @"
    exit 2
    --- stderr
    error: `--threshold`: the threshold cannot be -0.000001: it must be above 0 and at most 1
    error: `--order`: a share cannot be -0.5: it must be above 0 and at most 1
    error: `--recall`: the recall cannot be -1: it must be above 0 and below 1
    error: `--filter-error`: the share cannot be -0.001: it must be from 1e-200 to 0.5, or `off`
    error: `--threads`: `-1` is too small: it must be at least 1
    "
    );
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --bands -1 --rows -2 --registers -8 --bits -1"), @"
    exit 2
    --- stderr
    error: `--registers`: `-8` is too small: it must be at least 1
    error: `--bands`: `-1` is too small: it must be at least 1
    error: `--rows`: `-2` is too small: it must be at least 1
    error: `--bits`: `-1` is not a number of bits: expected 0.125, 0.25, 0.5, or a number from 1 to 16 with at most three decimals
    ");
}

#[test]
fn looks_that_cannot_be_are_refused() {
    let desk = Desk::with("in.jsonl", "");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --looks 16;32"), @"
    exit 2
    --- stderr
    error: `--looks`: `16;32` is not a list of whole numbers

    hint: write numbers of registers with commas, such as `--looks 16,32,64,128`
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --looks 32,32 --error-per-look 0.7"), @"
    exit 2
    --- stderr
    error: `--looks`: 32 follows 32: each look must be at more registers than the one before it
    error: `--error-per-look`: the share cannot be 0.7: it must be from 1e-200 to 0.5

    hint: `--looks 16,32,64,128` looks four times
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --looks 64,256"), @"
    exit 2
    --- stderr
    error: `--looks`: a look cannot be at 256 registers: a sketch has 128

    hint: sketches with `--registers 256` have as many
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --looks 64 --filter-error off"), @"
    exit 2
    --- stderr
    error: `--looks`: there is no filter that could look

    hint: leave out `--filter-error off`
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --looks 64 --candidates sort-merge"), @"
    exit 2
    --- stderr
    error: `--looks`: `--candidates sort-merge` counts what is shared, and looks at no register

    hint: `--candidates all` and `banding` compare look by look
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --error-per-look 1e-6 --filter-error 1e-6"), @"
    exit 2
    --- stderr
    error: the argument '--error-per-look <E>' cannot be used with '--filter-error <E>'

    Usage: minwise pairs --error-per-look <E> <INPUT>...

    hint: `--help` lists all options
    ");
}
