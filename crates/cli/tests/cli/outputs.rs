//! Tests where documents are written, and which places are refused.

use crate::support::{Desk, gunzip, gzip, ids, prose, record, records, unzstd};

fn desk() -> Desk {
    Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("b", &prose(1, 9)), ("c", &prose(2, 9))]))
}

/// The file behind standard input is read again while the output is written, so it cannot be the output.
#[cfg(unix)]
#[test]
fn the_file_behind_standard_input_is_no_output() {
    let desk = Desk::with("in.jsonl", "{\"text\":\"a\"}\n{\"text\":\"a\"}\n");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(crate::support::MINWISE);
        let stdin = fs_err::File::open(desk.path("in.jsonl")).unwrap().into_parts().0;
        command.current_dir(desk.root()).args(arguments).stdin(stdin).output().unwrap()
    };
    let refused = run(&["dedup", "-", "-o", "in.jsonl", "--force"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.starts_with("error: the output `in.jsonl` would overwrite the input `-`"), "{message}");
    assert_eq!(desk.text("in.jsonl").lines().count(), 2);
    assert_eq!(run(&["dedup", "-", "-o", "out.jsonl"]).status.code(), Some(0));
    assert_eq!(desk.text("out.jsonl").lines().count(), 1);
}

/// Several threads write several blocks of gzip and several jobs of zstd. Other programs must find them in one member
/// and one frame.
#[test]
#[ignore = "needs gzip, zstd and Python"]
fn other_programs_read_compressed_outputs() {
    let lines: String = (0..30_000).map(|i| record(&i.to_string(), &prose(i, 20))).collect();
    let desk = Desk::with("in.jsonl", lines);
    desk.run("dedup in.jsonl -o out.jsonl -q --threads 2 --audit 0").exit(0);
    let plain = desk.bytes("out.jsonl");
    assert!(plain.len() > 4 << 20, "{} bytes are a single job", plain.len());
    for name in ["out.jsonl.gz", "out.jsonl.zst"] {
        desk.run(&format!("dedup in.jsonl -o {name} -q --threads 2 --audit 0")).exit(0);
    }
    let python = "import gzip, sys; sys.stdout.buffer.write(gzip.open('out.jsonl.gz').read())";
    // `zlib` stops after the first member.
    let first_member = "import sys, zlib; stream = zlib.decompressobj(31); \
                        sys.stdout.buffer.write(stream.decompress(open('out.jsonl.gz', 'rb').read())); \
                        assert stream.eof and not stream.unused_data";
    for (program, arguments) in [
        ("gzip", &["-dc", "out.jsonl.gz"][..]),
        ("zstd", &["-dc", "out.jsonl.zst"]),
        ("python3", &["-c", python]),
        ("python3", &["-c", first_member]),
    ] {
        let run = std::process::Command::new(program).current_dir(desk.root()).args(arguments).output();
        let run = run.unwrap();
        assert!(run.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
        assert!(run.stdout == plain, "{program} {arguments:?}");
    }
}

#[test]
fn an_output_is_compressed_when_its_name_says_so() {
    let desk = desk();
    let plain = desk.run("dedup in.jsonl -o -").exit(0).out;
    desk.run("dedup in.jsonl -o out.jsonl.gz --removed gone.jsonl.zst").exit(0);
    assert_eq!(gunzip(&desk.bytes("out.jsonl.gz")), plain);
    assert_eq!(ids(std::str::from_utf8(&unzstd(&desk.bytes("gone.jsonl.zst"))).unwrap()), ["b"]);
    desk.run("pairs in.jsonl -o pairs.tsv.gz").exit(0);
    assert_eq!(gunzip(&desk.bytes("pairs.tsv.gz")), b"a\tb\t1.000000\n");
    // A compressed input is written uncompressed if the name of the output has no compressed suffix.
    desk.write("again.jsonl.gz", gzip(&plain));
    desk.run("dedup again.jsonl.gz -o again.jsonl").exit(0);
    assert_eq!(desk.bytes("again.jsonl"), plain);
}

#[test]
fn an_existing_output_is_refused_before_anything_is_read() {
    let desk = desk();
    desk.write("out.jsonl", "precious");
    for arguments in [
        "dedup in.jsonl -o out.jsonl",
        "dedup in.jsonl -o new.jsonl --removed out.jsonl",
        "pairs in.jsonl -o out.jsonl",
    ] {
        let run = desk.run(arguments).exit(2);
        assert_eq!(run.err, "error: `out.jsonl` exists already\n\nhint: `--force` replaces it\n");
        assert_eq!(desk.names(), ["in.jsonl", "out.jsonl"]);
        assert_eq!(desk.text("out.jsonl"), "precious");
    }
    desk.run("dedup in.jsonl -o out.jsonl --force").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["a", "c"]);
    desk.run("pairs in.jsonl -o out.jsonl --force --format tsv").exit(0);
    assert_eq!(desk.text("out.jsonl"), "a\tb\t1.000000\n");
}

#[test]
fn an_existing_folder_of_texts_is_refused_unless_it_is_empty() {
    let desk = Desk::with("letters/a", prose(1, 9));
    fs_err::create_dir_all(desk.path("empty")).unwrap();
    desk.run("dedup letters -o empty").exit(0);
    let run = desk.run("dedup letters -o empty").exit(2);
    assert!(run.err.starts_with("error: `empty` exists already"), "{run}");
    desk.write("empty/old", "old");
    let run = desk.run("dedup letters -o empty --force").exit(2);
    assert!(run.err.contains("has a file that this run would not write: `empty/old`"), "{run}");
    fs_err::remove_file(desk.path("empty/old")).unwrap();
    desk.run("dedup letters -o empty --force").exit(0);
    assert_eq!(desk.names(), ["empty", "empty/a", "letters", "letters/a"]);
}

/// Even `--force` does not allow an input as output, because inputs are read again while the output is written.
#[test]
fn an_input_is_never_an_output() {
    let desk = desk();
    fs_err::create_dir_all(desk.path("sub")).unwrap();
    let before = desk.text("in.jsonl");
    for output in ["in.jsonl", "./in.jsonl", "sub/../in.jsonl"] {
        for rest in ["", "--force"] {
            for role in ["-o", "-o kept.jsonl --removed"] {
                let run = desk.run(&format!("dedup in.jsonl {role} {output} {rest}")).exit(2);
                assert!(run.err.contains("would overwrite the input `in.jsonl`"), "{run}");
            }
            desk.run(&format!("pairs in.jsonl -o {output} {rest}")).exit(2);
        }
    }
    assert_eq!(desk.text("in.jsonl"), before);
    assert_eq!(desk.names(), ["in.jsonl", "sub"]);
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_that_an_output_is_an_input() {
    let desk = desk();
    let before = desk.text("in.jsonl");
    std::os::unix::fs::symlink("in.jsonl", desk.path("soft.jsonl")).unwrap();
    fs_err::hard_link(desk.path("in.jsonl"), desk.path("hard.jsonl")).unwrap();
    std::os::unix::fs::symlink(".", desk.path("here")).unwrap();
    for output in ["soft.jsonl", "hard.jsonl", "here/in.jsonl"] {
        let run = desk.run(&format!("dedup in.jsonl -o {output} --force")).exit(2);
        assert!(run.err.contains("would overwrite the input"), "{run}");
    }
    let run = desk.run("dedup soft.jsonl -o in.jsonl --force").exit(2);
    assert!(run.err.contains("would overwrite the input `soft.jsonl`"), "{run}");
    assert_eq!(desk.text("in.jsonl"), before);
}

#[test]
fn an_output_inside_an_input_folder_is_refused() {
    let desk = Desk::with("data/in.jsonl", record("a", "text"));
    desk.write("letters/a.txt", "text");
    for arguments in [
        "dedup data -o data/out.jsonl",
        "dedup data -o out.jsonl --removed data/gone.jsonl",
        "pairs data -o data/pairs.tsv",
        "dedup letters -o letters/kept",
        "dedup letters -o letters --force",
    ] {
        let run = desk.run(arguments).exit(2);
        assert!(run.err.contains("lies in the input folder"), "{run}");
    }
    // Replacing the folder would delete the input in it.
    let run = desk.run("dedup letters/a.txt -o letters --force").exit(2);
    assert!(run.err.contains("would overwrite the input"), "{run}");
    assert_eq!(desk.names(), ["data", "data/in.jsonl", "letters", "letters/a.txt"]);
}

/// `--force` deleted `precious/thesis.txt`, and a hint named it as the repair.
#[test]
fn a_folder_with_other_files_is_never_replaced() {
    let desk = desk();
    desk.write("precious/thesis.txt", "years of work");
    desk.write("letters/a.txt", "text");
    for (input, name) in [
        ("in.jsonl", "a file in it, such as `precious/in.jsonl`, or a new folder"),
        ("letters", "a new folder"),
    ] {
        for force in ["", " --force", " --resume --work run --force"] {
            let run = desk.run(&format!("dedup {input} -o precious{force}")).exit(2);
            assert_eq!(
                run.err,
                format!(
                    "error: the output folder `precious` has a file that this run would not write: \
                     `precious/thesis.txt`\n\nhint: name {name}\n"
                )
            );
            assert_eq!(desk.text("precious/thesis.txt"), "years of work");
        }
    }
    // A file deep in the folder counts, too.
    desk.run("dedup in.jsonl -o kept/ -q").exit(0);
    desk.write("kept/deep/down/thesis.txt", "years of work");
    let run = desk.run("dedup in.jsonl -o kept --force").exit(2);
    assert!(run.err.contains("would not write: `kept/deep/down/thesis.txt`"), "{run}");
}

#[test]
fn a_folder_that_an_earlier_run_wrote_is_replaced() {
    let desk = desk();
    desk.write("letters/a.txt", "one two three four five six");
    desk.write("letters/sub/b.txt", "one two three four five seven");
    for (input, more) in [("in.jsonl", ""), ("letters", ""), ("in.jsonl", " --output-format csv")] {
        let run = |rest: &str| desk.run(&format!("dedup {input}{more} -o kept/ {rest}"));
        run("--threshold 1 -q").exit(0);
        // A file manager of macOS leaves such files.
        desk.write("kept/.DS_Store", "x");
        let refused = run("").exit(2);
        assert_eq!(
            refused.err,
            "error: `kept/` exists already\n\nhint: `--force` replaces the files in it\n"
        );
        run("--force --threshold 0.1 -q").exit(0);
        assert!(!desk.path("kept/.DS_Store").exists());
        fs_err::remove_dir_all(desk.path("kept")).unwrap();
    }
}

/// An output folder is replaced as a whole. A shell whose current folder it is would lose it, and a run that is stored
/// in it could not be resumed.
#[test]
fn a_folder_that_is_needed_is_not_replaced() {
    let (desk, elsewhere) = (Desk::with("mine", "mine"), desk());
    elsewhere.write("letters/a.txt", "text");
    for input in ["in.jsonl", "letters"] {
        let input = elsewhere.path(input);
        let run = desk.run(&format!("dedup {} -o ./ --force", input.display())).exit(2);
        let message = "the output folder `./` is replaced as a whole, and the current folder lies there";
        assert!(run.err.contains(message), "{run}");
        let run = desk.run(&format!("dedup {} -o new/ --work new/run", input.display())).exit(2);
        let message = "`new/` is replaced as a whole, and the folder of the run (`--work`) lies there";
        assert!(run.err.contains(message), "{run}");
        assert_eq!(desk.names(), ["mine"]);
    }
}

#[test]
fn an_output_needs_a_folder_to_lie_in() {
    let desk = desk();
    let run = desk.run("dedup in.jsonl -o no/such/out.jsonl").exit(2);
    assert_eq!(
        run.err,
        "error: cannot write `no/such/out.jsonl`: there is no folder `no/such`\n\nhint: `mkdir -p no/such`\n"
    );
    desk.write("letters/a", "text");
    desk.write("plain", "text");
    let run = desk.run("dedup letters -o plain --force").exit(2);
    assert!(run.err.contains("cannot write `plain`: it is a file"), "{run}");
}

/// Texts are written to a folder, even if its name looks like that of a file.
#[test]
fn texts_do_not_go_to_a_file() {
    let desk = desk();
    let refused = |arguments: &str| {
        let run = desk.run(arguments).exit(2);
        assert!(!desk.names().iter().any(|name| name.starts_with("out")), "{arguments}");
        run.err
    };
    desk.write("letters/a.txt", "text");
    assert_eq!(
        refused("dedup letters -o out.txt"),
        "error: each input is one document, so that the output is a folder, and `out.txt` has the name of a file\n\n\
         hint: a folder has a name that ends in a slash: `out.txt/`\n"
    );
    // If the first record of standard input is bad, the input is read as one text.
    let run = desk.run_with(&["dedup", "-", "-o", "out.jsonl"], b"bad\n{\"text\":\"a\"}\n").exit(2);
    let hint = "`out.jsonl/`; if the inputs are JSONL, say so with `--input-format jsonl`\n";
    assert!(run.err.ends_with(hint), "{run}");
    let run = refused("dedup letters -o out/ --output-format jsonl");
    assert!(run.contains("`--output-format jsonl` does not apply"), "{run}");
    // Any other name means a file in the format of the inputs.
    for name in ["new.ndjson", "new.jsonl.zst", "new", "new.txt", "new.2024"] {
        desk.run(&format!("dedup in.jsonl -o {name} -q")).exit(0);
    }
    desk.run("dedup letters -o out.d/ -q").exit(0);
}

#[test]
fn kept_and_removed_documents_need_two_names() {
    let desk = desk();
    let run = desk.run("dedup in.jsonl -o out.jsonl --removed out.jsonl").exit(2);
    assert!(run.err.contains("`--output` and `--removed` are both `out.jsonl`"), "{run}");
    assert_eq!(desk.names(), ["in.jsonl"]);
}

/// The two outputs must be different files in any notation of the path, because the second one renamed would replace
/// the first.
#[test]
fn kept_and_removed_documents_need_two_names_however_they_are_written() {
    let desk = desk();
    fs_err::create_dir_all(desk.path("sub")).unwrap();
    for removed in ["./out.jsonl", "sub/../out.jsonl"] {
        desk.run(&format!("dedup in.jsonl -o out.jsonl --removed {removed}")).exit(2);
        assert_eq!(desk.names(), ["in.jsonl", "sub"]);
    }
}

#[test]
fn an_output_is_no_file_of_the_report() {
    let desk = desk();
    fs_err::create_dir_all(desk.path("report")).unwrap();
    desk.run("dedup in.jsonl -o report/pairs.tsv --report report").exit(2);
    assert_eq!(desk.names(), ["in.jsonl", "report"]);
}

/// The folder gets its name in one step at the end, so nothing can be written into it earlier.
#[test]
fn a_report_inside_the_folder_of_kept_texts_is_refused() {
    let desk = Desk::with("letters/a", prose(1, 9));
    let run = desk.run("dedup letters -o kept --report kept/report").exit(2);
    assert!(run.err.contains("kept/report"), "{run}");
    assert_eq!(desk.names(), ["letters", "letters/a"], "nothing is half done");
}

#[test]
fn texts_cannot_go_to_standard_output_and_are_not_annotated() {
    let desk = Desk::with("letters/a", prose(1, 9));
    insta::assert_snapshot!(desk.run("dedup letters -o -"), @"
    exit 2
    --- stderr
    error: a folder of texts cannot be written to standard output

    hint: `--output DIR` names a folder for the kept files
    ");
    insta::assert_snapshot!(desk.run("dedup letters -o out --annotate"), @"
    exit 2
    --- stderr
    error: `--annotate` adds a member or column to records, but the input is a folder of texts

    hint: `--report DIR` writes the clusters of any input to `DIR/clusters.jsonl`
    ");
    assert_eq!(desk.names(), ["letters", "letters/a"]);
}

/// A run that fails leaves existing outputs unchanged and no other files beside them.
#[test]
fn a_failed_run_leaves_what_was_there() {
    let desk = desk();
    desk.write("out.jsonl", "precious");
    desk.write("bad.jsonl", "bad\n");
    desk.run(
        "dedup in.jsonl bad.jsonl -o out.jsonl --force --removed gone.jsonl --report report --max-rejects 0",
    )
    .exit(2);
    assert_eq!(desk.names(), ["bad.jsonl", "in.jsonl", "out.jsonl"]);
    assert_eq!(desk.text("out.jsonl"), "precious");
}

/// A symbolic link stays a link; the file that it points to is replaced.
#[cfg(unix)]
#[test]
fn forcing_an_output_follows_its_link() {
    let desk = desk();
    desk.write("elsewhere.jsonl", "old");
    std::os::unix::fs::symlink("elsewhere.jsonl", desk.path("out.jsonl")).unwrap();
    desk.run("dedup in.jsonl -o out.jsonl --force").exit(0);
    assert_eq!(desk.ids("elsewhere.jsonl"), ["a", "c"]);
    assert!(fs_err::symlink_metadata(desk.path("out.jsonl")).unwrap().is_symlink());
}

/// New outputs have the default permissions of new files, not the owner-only permissions of temporary files.
#[cfg(unix)]
#[test]
fn outputs_have_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let desk = desk();
    desk.write("letters/a", "text");
    desk.run("dedup in.jsonl -o out.jsonl").exit(0);
    desk.run("dedup letters -o kept").exit(0);
    let mode = |name: &str| fs_err::metadata(desk.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out.jsonl"), mode("in.jsonl"));
    assert_eq!(mode("kept"), mode("letters"));
}

#[test]
fn folders_made_for_a_report_go_when_the_run_fails() {
    let desk = desk();
    desk.write("out.jsonl", "there already");
    desk.run("dedup in.jsonl -o new.jsonl --report nx/ny --text-field missing --max-rejects 0").exit(2);
    assert_eq!(desk.names(), ["in.jsonl", "out.jsonl"]);
}

/// If the kind of an output were checked only at the end, hours of work could be lost.
#[test]
fn a_file_in_the_place_of_a_folder_is_refused_before_the_work() {
    let desk = Desk::with("letters/a.txt", prose(1, 60));
    desk.write("in.jsonl", record("a", "one two three"));
    desk.write("file", "precious");
    for command in [
        "dedup letters -o file/",
        "dedup letters -o file/ --force",
        "dedup in.jsonl -o out.jsonl --report file",
        "dedup in.jsonl -o out.jsonl --work file",
    ] {
        let run = desk.run(command).exit(2);
        assert!(
            run.err.contains("it is a file\n\nhint: name a folder that does not exist yet"),
            "{command}: {run}"
        );
        assert_eq!(desk.text("file"), "precious");
        assert!(!desk.names().contains(&"out.jsonl".to_owned()), "{command}");
    }
}
