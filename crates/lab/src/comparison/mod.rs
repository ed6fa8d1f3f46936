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
/// Similarity from which a pair counts as similar.
pub(crate) const SIMILAR: f64 = 0.5;

/// Options that set the amount of measurements.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonOptions {
    /// Number of seeds per sketch.
    pub seeds: u64,
    /// Upper bound on the pairs per tenth of similarity.
    pub pairs: usize,
    /// Number of threads.
    pub threads: usize,
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
    /// Nanoseconds per shingle to make a sketch, with the fastest seed.
    pub nanoseconds: f64,
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
pub fn files(data: &Path, options: ComparisonOptions) -> Result<Vec<File>> {
    let corpora = corpus::read_all(data, options.pairs)?;
    let mut tasks = vec![];
    for corpus in 0..corpora.len() {
        for size in SIZES {
            tasks.extend(contenders(size).into_iter().map(|contender| (corpus, size, contender)));
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
    let mut least = f64::INFINITY;
    for seed in 0..seeds {
        let sketcher = (contender.make)(seed)?;
        let begin = ThreadTime::now();
        let sketches: Vec<Vec<u32>> =
            corpus.documents.iter().map(|document| sketcher.sketch(document)).collect();
        least = least.min(begin.elapsed().as_secs_f64());
        let squares: Vec<(f64, f64)> = corpus
            .pairs
            .iter()
            .map(|pair| {
                let estimate = sketcher.estimate(&sketches[pair.a], &sketches[pair.b]);
                (pair.similarity, (estimate - pair.similarity).powi(2))
            })
            .collect();
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
        nanoseconds: 1e9 * least / shingles as f64,
    })
}

#[cfg(test)]
mod tests {
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
        files(folder.path(), ComparisonOptions { seeds: 2, pairs: 3, threads: 2 }).unwrap()
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
        for contender in contenders(1024) {
            let cell = first_cell(&contender);
            // Two tables of errors, the overview, the times of its group, and the abilities have a row of it.
            let rows = page.lines().filter(|line| line.starts_with(&cell)).count();
            assert_eq!(rows, 5, "{}", contender.name);
        }
        let csv = named(&files, "comparison/errors.csv");
        let rows: usize = SIZES.iter().map(|&size| contenders(size).len()).sum();
        assert_eq!(csv.lines().count(), 1 + 3 * rows);
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
