//! Compares the decisions of two binaries: the number of documents and pairs that they decide differently.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bench::{build, build_lab, command_quietly, path, unpack, work};
use crate::run::{output, root};

/// Corpora of `minwise-lab corpus`: the name, the options, and whether they have few enough pairs to list them.
const MADE: [(&str, &[&str], bool); 7] = [
    (
        "near-copies, 2,000",
        &["--documents", "2000", "--words", "30", "--edits", "2", "--families", "1", "--copies", "0.999"],
        true,
    ),
    (
        "near-copies, 25,000",
        &["--documents", "25000", "--words", "30", "--edits", "2", "--families", "1", "--copies", "0.999"],
        false,
    ),
    (
        "form, half",
        &["--documents", "25000", "--words", "100", "--form", "100", "--edits", "2", "--copies", "0.1"],
        true,
    ),
    (
        "form, two thirds",
        &["--documents", "25000", "--words", "100", "--form", "200", "--edits", "2", "--copies", "0.1"],
        true,
    ),
    ("form, seven eighths", &["--documents", "20000", "--words", "100", "--form", "700"], false),
    ("revisions", &["--documents", "25000", "--words", "100", "--edits", "4", "--revisions", "50"], true),
    (
        "revisions, short",
        &["--documents", "25000", "--words", "30", "--edits", "2", "--revisions", "1000"],
        true,
    ),
];

/// Corpora of the shared data: JSONL files, and archives of text files (`FOLDERS`).
const FILES: [&str; 4] = ["english", "throughput", "licences", "chinese-manuals"];
const FOLDERS: [&str; 2] = ["newsgroup-copies", "plagiarised-answers"];

/// Jobs that decide about documents, with their options. `PAIRS` has the jobs that list pairs.
const DEDUP: [(&str, &[&str]); 3] =
    [("star", &[]), ("components", &["--cluster", "components"]), ("star, --bits 1", &["--bits", "1"])];
const PAIRS: [(&str, &[&str]); 2] = [("pairs", &[]), ("pairs, --bits 1", &["--bits", "1"])];

/// Runs `minwise dedup` and `minwise pairs` on the corpora with our binary and with another one, and prints the number of
/// documents and pairs that are decided differently.
pub fn run(data: &str, other: &str) -> Result<()> {
    let binaries = [build()?, PathBuf::from(other)];
    for binary in &binaries {
        println!("{}: {}", binary.display(), output(binary, &["--version"])?.trim());
    }
    let lab = build_lab()?;
    fs_err::create_dir_all(work())?;
    println!(
        "\nIn a row of pairs, the columns count pairs. A document or pair that only ours has was missed by the other.\n\n\
         | corpus | job | in both | only ours | only the other | another keeper |\n|---|---|---|---|---|---|"
    );
    for (name, options, has_pairs) in MADE {
        let corpus = path(&work().join("decisions.jsonl"));
        command_quietly(&lab, &[&["corpus", "--output", &corpus, "--force"][..], options].concat())?;
        compare(name, &corpus, has_pairs, &binaries)?;
    }
    for name in FILES {
        compare(name, &path(&unpack(data, name)?), true, &binaries)?;
    }
    for name in FOLDERS {
        compare(name, &path(&unpack_folder(data, name)?), true, &binaries)?;
    }
    Ok(())
}

/// Prints the rows of one corpus.
fn compare(name: &str, corpus: &str, has_pairs: bool, binaries: &[PathBuf; 2]) -> Result<()> {
    // The encoding is given, because some text files are not UTF-8. The format is given, because some folders also have
    // a table.
    let folder = ["--encoding", "auto", "--input-format", "text"];
    let reading = if Path::new(corpus).is_dir() { &folder[..] } else { &[] };
    for (job, options) in DEDUP {
        let decided = |binary: &PathBuf| -> Result<BTreeMap<String, String>> {
            let report = work().join("decisions.report");
            let args = ["dedup", corpus, "--dry-run", "--force", "--quiet", "--audit", "0", "--threads", "2"];
            let report_args = ["--report", &path(&report)];
            command_quietly(binary, &[&args[..], &report_args, reading, options].concat())?;
            lines(&report.join("pairs.tsv"), |fields| Some((fields.next()?.into(), fields.next()?.into())))
        };
        let [ours, others] = [decided(&binaries[0])?, decided(&binaries[1])?];
        print(name, job, &ours, &others);
    }
    for (job, options) in PAIRS.iter().filter(|_| has_pairs) {
        let listed = |binary: &PathBuf| -> Result<BTreeMap<String, String>> {
            let file = work().join("decisions.tsv");
            let args = ["pairs", corpus, "--force", "--quiet", "--threads", "2", "--output", &path(&file)];
            command_quietly(binary, &[&args[..], reading, options].concat())?;
            lines(&file, |fields| Some((format!("{}\t{}", fields.next()?, fields.next()?), String::new())))
        };
        let [ours, others] = [listed(&binaries[0])?, listed(&binaries[1])?];
        print(name, job, &ours, &others);
    }
    Ok(())
}

/// Reads a file whose fields are separated by tabs. `entry` makes a key and a value from the fields of each line.
fn lines(
    file: &Path,
    entry: impl Fn(&mut std::str::Split<'_, char>) -> Option<(String, String)>,
) -> Result<BTreeMap<String, String>> {
    let text = fs_err::read_to_string(file)?;
    let entries = text.lines().map(|line| entry(&mut line.split('\t')).context("a line has too few fields"));
    entries.collect()
}

fn print(corpus: &str, job: &str, ours: &BTreeMap<String, String>, others: &BTreeMap<String, String>) {
    let (mut both, mut another) = (0, 0);
    for (key, value) in ours {
        let Some(other) = others.get(key) else { continue };
        both += 1;
        another += usize::from(value != other);
    }
    println!("| {corpus} | {job} | {both} | {} | {} | {another} |", ours.len() - both, others.len() - both);
}

/// Returns the folder with the unpacked text files of the archive `NAME.tar.zst` in the shared data. The archive is
/// unpacked on first use.
fn unpack_folder(data: &str, name: &str) -> Result<PathBuf> {
    let folder = work().join(name);
    if !folder.exists() {
        let packed = root().join(data).join(format!("{name}.tar.zst"));
        ensure!(packed.exists(), "`{}` is not there: name the folder that has it", packed.display());
        let (archive, unpacked) = (work().join(format!("{name}.tar")), work().join(format!("{name}.part")));
        fs_err::create_dir_all(&unpacked)?;
        let mut out = fs_err::File::create(&archive)?;
        zstd::stream::copy_decode(fs_err::File::open(&packed)?, &mut out)?;
        command_quietly(
            Path::new("tar"),
            &["--extract", "--file", &path(&archive), "--directory", &path(&unpacked)],
        )?;
        fs_err::remove_file(&archive)?;
        // The folder is renamed last, so an existing folder is complete.
        fs_err::rename(&unpacked, &folder)?;
    }
    Ok(folder)
}
