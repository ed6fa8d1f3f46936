//! Compares the words that are extracted from the PDFs of a folder with the words that `pdftotext` (of Poppler)
//! extracts.
//!
//! Words are runs of letters and digits after NFKC and case folding, counted with their repetitions. Words that are
//! divided at the end of a line are joined. `cargo x bench pdf FOLDER` runs the benchmark. It fails if fewer than 99.5 %
//! of the words of `pdftotext` are found, if a file with words is refused, or if there are no words to find.

#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use minwise::text::{Folding, Normalization, NormalizedText, Normalizer};
use minwise_corpus::{ExtractLimits, extract};

/// Number of files with the lowest shares that are listed.
const LISTED: usize = 10;
/// Minimum share of the words of `pdftotext` that `extract` must find, too. It is below 1, because Poppler and
/// `extract` differ in characters that a font does not name.
const LEAST_FOUND: f64 = 0.995;

fn main() -> ExitCode {
    // `cargo bench` adds the argument `--bench`, which is no folder.
    let folders: Vec<PathBuf> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).map(PathBuf::from).collect();
    let [folder] = folders.as_slice() else {
        eprintln!("name the folder of the PDFs");
        return ExitCode::FAILURE;
    };
    let mut files = vec![];
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let path = entry.expect("the folder can be listed").into_path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf")) {
            files.push(path);
        }
    }
    let mut totals = Totals::default();
    for file in &files {
        totals.add(file);
    }
    let failures = totals.failures();
    totals.print();
    for failure in &failures {
        eprintln!("failed: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Totals {
    files: usize,
    bytes: u64,
    /// Numbers of words: of `pdftotext`, of `extract`, and of both.
    words: [u64; 3],
    /// Per file in which `pdftotext` finds words: the share of these words that `extract` finds, too.
    shares: Vec<(f64, u64, String)>,
    refused: BTreeMap<&'static str, usize>,
    /// Files that were refused although `pdftotext` finds words in them.
    with_words: Vec<String>,
    times: [Duration; 2],
}

impl Totals {
    fn add(&mut self, file: &Path) {
        let bytes = fs_err::read(file).expect("a file can be read");
        let begun = Instant::now();
        let ours = extract(&bytes, None, &ExtractLimits::default());
        self.times[0] += begun.elapsed();
        let begun = Instant::now();
        let printed = Command::new("pdftotext").args(["-q", "-enc", "UTF-8"]).arg(file).arg("-").output();
        self.times[1] += begun.elapsed();
        let printed = printed.expect("`pdftotext`, of the package poppler-utils, is there");
        let theirs = words(&joined(&String::from_utf8_lossy(&printed.stdout)));
        let count: u64 = theirs.values().sum();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut found = HashMap::new();
        match ours {
            Ok(extracted) => found = words(&extracted.text),
            Err(refusal) => {
                *self.refused.entry(refusal.code()).or_default() += 1;
                if count > 0 {
                    self.with_words.push(format!("{name}: {count} words, {refusal}"));
                }
            }
        }
        let both: u64 =
            theirs.iter().map(|(word, count)| found.get(word).map_or(0, |found| *count.min(found))).sum();
        self.files += 1;
        self.bytes += bytes.len() as u64;
        for (total, more) in self.words.iter_mut().zip([count, found.values().sum(), both]) {
            *total += more;
        }
        if count > 0 {
            self.shares.push((both as f64 / count as f64, count, name));
        }
    }

    /// Returns the targets that were missed, as sentences.
    fn failures(&self) -> Vec<String> {
        let [theirs, _, both] = self.words;
        let mut failures = vec![];
        if theirs == 0 {
            failures.push("pdftotext finds no words in the folder, so nothing was compared".to_owned());
        } else if (both as f64) < LEAST_FOUND * theirs as f64 {
            failures.push(format!("{both} of {theirs} words are fewer than {} %", 100.0 * LEAST_FOUND));
        }
        if !self.with_words.is_empty() {
            failures
                .push(format!("{} refused although pdftotext finds words in them", self.with_words.len()));
        }
        failures
    }

    fn print(mut self) {
        let [theirs, ours, both] = self.words;
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        self.shares.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.2.cmp(&other.2)));
        let mean = self.shares.iter().map(|(share, ..)| share).sum::<f64>() / self.shares.len().max(1) as f64;
        println!("{} files, {:.1} MB, {theirs} words by pdftotext", self.files, self.bytes as f64 / 1e6);
        println!(
            "found: {:.2} % of these words; {:.2} % per file on average",
            percent(both, theirs),
            100.0 * mean
        );
        println!("words that pdftotext does not have: {:.2} % of ours", percent(ours - both, ours));
        let [ours, theirs] = self.times.map(|time| time.as_secs_f64());
        println!("seconds: {ours:.1}; pdftotext with its start: {theirs:.1}");
        println!("refused: {:?}", self.refused);
        println!("refused though pdftotext finds words: {}", self.with_words.len());
        for line in &self.with_words {
            println!("  {line}");
        }
        println!("lowest shares:");
        for (share, words, name) in self.shares.iter().take(LISTED) {
            println!("  {:.1} % of {words} words: {name}", 100.0 * share);
        }
    }
}

fn words(text: &str) -> HashMap<String, u64> {
    let mut normalized = NormalizedText::new();
    Normalizer::new(Normalization::new(Folding::NfkcCasefold)).normalize_into(text, &mut normalized);
    let mut words = HashMap::new();
    for word in normalized.as_str().split(|character: char| !character.is_alphanumeric()) {
        if !word.is_empty() {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    words
}

/// Joins words that are divided at the ends of lines, because `extract` joins such words of a PDF, too.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next_is_small =
            lines.peek().is_some_and(|next| next.trim_start().starts_with(char::is_lowercase));
        let line = line.trim_end();
        match line.strip_suffix(['-', '\u{2010}', '\u{ad}']) {
            Some(part) if next_is_small && part.ends_with(char::is_lowercase) => {
                out.push_str(part);
                if let Some(next) = lines.next() {
                    out.push_str(next.trim_start());
                    out.push('\n');
                }
            }
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}
