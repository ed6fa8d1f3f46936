//! Compares all sketches at equal bytes and at equal time on real documents, for `docs/concepts/comparison.md`.
//!
//! Pairs of real documents are chosen so that all similarities occur. Each sketch in each size estimates their
//! similarity with hash functions of several seeds, and the exact similarity is computed. Errors are the same in every
//! run; times depend on the machine.

mod contender;
mod corpus;
mod page;

use std::convert::Infallible;
use std::path::Path;

use anyhow::Result;
use cpu_time::ThreadTime;
use minwise_engine::parallel;

use crate::concepts::File;
use contender::{Contender, contenders};
use corpus::RealCorpus;

/// Sizes that are compared, in bytes per sketch.
pub(crate) const SIZES: [usize; 7] = [16, 32, 64, 128, 256, 512, 1024];
/// Sizes that are compared at equal time only. At equal bytes they would be nearly as large as the documents.
const LARGE_SIZES: [usize; 4] = [2048, 4096, 8192, 16_384];
/// Maximum number of hash values per shingle of a sketch of [`LARGE_SIZES`]. A sketch with more takes more than the
/// longest time that is compared.
const MOST_HASHES: usize = 8192;
/// Similarity from which a pair counts as similar.
pub(crate) const SIMILAR: f64 = 0.5;
/// Similarity below which a pair counts as unlike. Biases of sketches are measured on unlike pairs.
pub(crate) const UNLIKE: f64 = 0.2;

/// Options of a comparison.
#[derive(Debug, Clone)]
pub struct ComparisonOptions {
    /// Number of seeds per sketch.
    pub seeds: u64,
    /// Upper bound on the pairs per tenth of similarity.
    pub pairs: usize,
    /// Number of threads.
    pub threads: usize,
    /// Text about the machine, the build and the date.
    pub machine: String,
}

/// Returns the sketches of a size, without those that are too slow for a size of [`LARGE_SIZES`].
fn contenders_of(size: usize) -> Vec<Contender> {
    let is_large = LARGE_SIZES.contains(&size);
    let all = contenders(size).into_iter();
    // Plain code takes some nanoseconds per hash value or register.
    let most = |one: &Contender| if one.is_of_library { MOST_HASHES } else { MOST_HASHES / 32 };
    all.filter(|one| !is_large || (one.hashes <= most(one) && (one.is_of_library || size <= 4096))).collect()
}

/// Returns all sizes in ascending order.
fn all_sizes() -> impl Iterator<Item = usize> {
    SIZES.into_iter().chain(LARGE_SIZES)
}

/// Errors of one sketch in one size on one corpus.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub corpus: usize,
    pub contender: String,
    /// Text form of a sketch of the library, or the parameters of another sketch.
    pub form: String,
    /// Size in bytes at which sketches are compared; `bytes` is the size of this sketch.
    pub size: usize,
    pub bytes: usize,
    /// Error of pairs with a similarity of [`SIMILAR`] or more; `all` is the error of all pairs.
    pub similar: RootMeanSquare,
    pub all: RootMeanSquare,
    /// Mean of estimate − exact over pairs with a similarity below [`UNLIKE`], and over seeds.
    pub bias: f64,
    /// Nanoseconds per shingle to make a sketch, with the fastest seed.
    pub nanoseconds: f64,
    /// Nanoseconds per comparison of two sketches, with the fastest seed.
    pub per_comparison: f64,
}

/// Root mean square over seeds and pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RootMeanSquare {
    pub value: f64,
    /// Standard error, from the scatter of the mean squares between seeds.
    pub standard_error: f64,
}

impl RootMeanSquare {
    /// Computes the root mean square from the mean square of each seed.
    fn of(squares: &[f64]) -> Self {
        let n = squares.len() as f64;
        let mean = squares.iter().sum::<f64>() / n;
        let spread = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let value = mean.sqrt();
        // d√x = dx/2√x gives the error of the root.
        let standard_error = if value > 0.0 { (spread / n).sqrt() / (2.0 * value) } else { 0.0 };
        Self { value, standard_error }
    }
}

/// Returns the page and its charts, computed from the corpora of a folder.
pub fn files(data: &Path, options: &ComparisonOptions) -> Result<Vec<File>> {
    let corpora = corpus::read_all(data, options.pairs)?;
    let mut tasks = vec![];
    for corpus in 0..corpora.len() {
        for size in all_sizes() {
            tasks.extend(contenders_of(size).into_iter().map(|contender| (corpus, size, contender)));
        }
    }
    // The slowest tasks come first, because a slow task at the end would leave the other threads idle.
    tasks.sort_by_key(|(_, _, contender)| std::cmp::Reverse(contender.hashes));
    let mut measured: Vec<Result<Measured>> = Vec::with_capacity(tasks.len());
    let work = |(): &mut (), at: usize| {
        let (corpus, size, contender) = &tasks[at];
        Ok::<_, Infallible>(measure(*corpus, &corpora[*corpus], *size, contender, options.seeds))
    };
    let receive = |result| {
        measured.push(result);
        Ok(())
    };
    let Ok(()) = parallel::in_order(tasks.len(), options.threads, || (), work, receive);
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(page::files(&corpora, &measured, options))
}

fn measure(
    number: usize,
    corpus: &RealCorpus,
    size: usize,
    contender: &Contender,
    seeds: u64,
) -> Result<Measured> {
    let (mut similar, mut all) = (vec![], vec![]);
    let (mut least, mut least_of_pairs) = (f64::INFINITY, f64::INFINITY);
    let mut biases = vec![];
    for seed in 0..seeds {
        let sketcher = (contender.make)(seed)?;
        let begin = ThreadTime::now();
        let sketches: Vec<Vec<u32>> =
            corpus.documents.iter().map(|document| sketcher.sketch(document)).collect();
        least = least.min(begin.elapsed().as_secs_f64());
        let begin = ThreadTime::now();
        let estimates: Vec<f64> =
            corpus.pairs.iter().map(|pair| sketcher.estimate(&sketches[pair.a], &sketches[pair.b])).collect();
        least_of_pairs = least_of_pairs.min(begin.elapsed().as_secs_f64());
        let errors: Vec<(f64, f64)> = corpus
            .pairs
            .iter()
            .zip(&estimates)
            .map(|(pair, estimate)| (pair.similarity, estimate - pair.similarity))
            .collect();
        let squares: Vec<(f64, f64)> = errors.iter().map(|(j, error)| (*j, error.powi(2))).collect();
        biases.extend(errors.iter().filter(|(j, _)| *j < UNLIKE).map(|(_, error)| *error));
        let mean = |of: &dyn Fn(f64) -> bool| {
            let chosen: Vec<f64> =
                squares.iter().filter(|(j, _)| of(*j)).map(|(_, square)| *square).collect();
            chosen.iter().sum::<f64>() / chosen.len() as f64
        };
        similar.push(mean(&|j| j >= SIMILAR));
        all.push(mean(&|_| true));
    }
    let shingles: usize = corpus.documents.iter().map(Vec::len).sum();
    Ok(Measured {
        corpus: number,
        contender: contender.name.clone(),
        form: contender.form.clone(),
        size,
        bytes: contender.bytes,
        similar: RootMeanSquare::of(&similar),
        all: RootMeanSquare::of(&all),
        bias: biases.iter().sum::<f64>() / biases.len() as f64,
        nanoseconds: 1e9 * least / shingles as f64,
        per_comparison: 1e9 * least_of_pairs / corpus.pairs.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_root_mean_square_has_the_error_of_its_square() {
        let found = RootMeanSquare::of(&[0.01, 0.03]);
        // The mean is 0.02, with a standard error of 0.01.
        assert!((found.value - 0.02_f64.sqrt()).abs() < 1e-12);
        assert!((found.standard_error - 0.01 / (2.0 * 0.02_f64.sqrt())).abs() < 1e-12);
        assert_eq!(RootMeanSquare::of(&[0.0, 0.0]), RootMeanSquare { value: 0.0, standard_error: 0.0 });
    }

    /// Returns the files of a page about generated corpora.
    fn small_files() -> Vec<File> {
        let folder = tempfile::tempdir().unwrap();
        for (number, name) in corpus::NAMES.iter().enumerate() {
            let made = crate::corpus::Made {
                documents: 60,
                words: 150,
                copies: 0.6,
                edits: 40,
                families: Some(4),
                form: 0,
                revisions: None,
                seed: number as u64,
            };
            let mut lines = vec![];
            crate::corpus::DocumentMaker::new(made)
                .write(0..made.documents, &mut lines, None::<&mut Vec<u8>>)
                .unwrap();
            fs_err::write(folder.path().join(name), lines).unwrap();
        }
        let machine = "a machine".to_owned();
        files(folder.path(), &ComparisonOptions { seeds: 2, pairs: 3, threads: 2, machine }).unwrap()
    }

    fn named<'a>(files: &'a [File], path: &str) -> &'a str {
        &files.iter().find(|file| file.path == path).unwrap().content
    }

    /// Returns the name of a sketch as the first cell of a row.
    fn first_cell(contender: &Contender) -> String {
        let name = &contender.name;
        if contender.is_of_library { format!("| `{name}` |") } else { format!("| {name} |") }
    }

    /// On generated files, the page has every sketch in every table of sketches.
    #[test]
    fn small_corpora_give_a_page() {
        let files = small_files();
        let page = named(&files, "comparison.md");
        assert!(page.contains("This page was made on a machine."));
        assert!(page.contains("\n## In short\n"));
        for contender in contenders(1024) {
            let cell = first_cell(&contender);
            // Two tables of errors, the overview, the times of its group, and the abilities have a row of it.
            let rows = page.lines().filter(|line| line.starts_with(&cell)).count();
            assert_eq!(rows, 5, "{}", contender.name);
        }
        let csv = named(&files, "comparison/errors.csv");
        let rows: usize = all_sizes().map(|size| contenders_of(size).len()).sum();
        assert_eq!(csv.lines().count(), 1 + 3 * rows);
    }

    /// Returns the parts of a page that do not depend on the corpora: headings and paragraphs, with `#` for each number,
    /// and the names of sketches.
    fn frame(page: &str) -> (Vec<String>, BTreeSet<String>) {
        let (before, rest) = page.split_once("This page was made on ").unwrap();
        let (_, after) = rest.split_once(". A dash:").unwrap();
        let page = format!("{before}{after}");
        let is_text = |line: &&str| !line.is_empty() && !line.starts_with(['|', '-']);
        let without_numbers = |line: &str| {
            let mut out = String::new();
            for part in line.split_inclusive(|c: char| !c.is_ascii_digit()) {
                let text = part.trim_start_matches(|c: char| c.is_ascii_digit());
                out += if text.len() < part.len() { "#" } else { "" };
                out += text;
            }
            out
        };
        let text = page.lines().filter(is_text).map(without_numbers).collect();
        let (_, table) = page.split_once("\n## What else they can do\n").unwrap();
        let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
        (text, rows.filter_map(|row| row.split('|').nth(1)).map(|name| name.trim().to_owned()).collect())
    }

    /// The committed page is made by hand from corpora that tests do not have, so it could be older than the code.
    #[test]
    fn the_committed_page_is_of_this_code() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts/comparison.md");
        let committed = fs_err::read_to_string(path).unwrap();
        let hint = "`minwise-lab comparison --data DIR --output docs/concepts` writes the page again";
        assert!(committed.contains("This page was made on "), "{hint}");
        assert!(committed.contains(", a release build, "), "times are those of a release build");
        let files = small_files();
        let ((text, names), (now, sketches)) = (frame(&committed), frame(named(&files, "comparison.md")));
        assert_eq!(text, now, "{hint}");
        assert_eq!((names.len(), &names), (kinds_compared(), &sketches), "{hint}");
        let csv = fs_err::read_to_string(path.replace("comparison.md", "comparison/errors.csv")).unwrap();
        assert_eq!(csv.lines().next(), named(&files, "comparison/errors.csv").lines().next(), "{hint}");
    }

    fn kinds_compared() -> usize {
        contenders(1024).len()
    }

    /// Times of plain code do not compare with times of kernels, so the chart of time has sketches of the library only.
    /// Both charts and the page explain their bars.
    #[test]
    fn charts_explain_their_bars_and_times_are_of_one_group() {
        let files = small_files();
        for path in ["comparison/bytes.svg", "comparison/time.svg"] {
            let svg = named(&files, path);
            assert!(svg.contains("Bars: two standard errors"), "{path}");
        }
        let page = named(&files, "comparison.md");
        assert_eq!(page.matches("![Error against ").count(), 2);
        assert_eq!(page.matches("bar is two standard errors").count(), 1);
        assert_eq!(page.matches("The bar of a point is two standard errors").count(), 1);
        let by_time = named(&files, "comparison/time.svg");
        for contender in contenders(1024).iter().filter(|contender| !contender.is_of_library) {
            assert!(!by_time.contains(&format!(">{}<", contender.name)), "{}", contender.name);
        }
    }
}
