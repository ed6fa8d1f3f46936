//! Options as they are typed.

use std::sync::LazyLock;

use clap::{Parser, Subcommand, ValueEnum};
use minwise::kernel::Kernel;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (kernel {})", env!("CARGO_PKG_VERSION"), Kernel::detect()));

/// Runs the experiments of the sources again, with the published numbers beside ours.
#[derive(Debug, Parser)]
#[command(name = "minwise-lab", version = VERSION.as_str(), propagate_version = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the experiments: one line for each figure or table, with its class and the time it takes on two cores.
    ///
    /// Classes: A can be computed from theory; B can show the same shape on other data; C needs the data of the source; X
    /// cannot be repeated because the source contradicts itself.
    List,
    /// Run experiments. The exit code is 1 if an experiment has a verdict that its definition does not expect, and 2 if
    /// an experiment fails; the others still run.
    Run(RunArgs),
    /// Make a corpus of any size whose near-duplicates are known: JSON lines of made-up words.
    Corpus(CorpusArgs),
    /// Make a corpus many times as large as a real corpus, with the same share of duplicates: each copy of the corpus
    /// spells its words with other letters.
    Enlarge(EnlargeArgs),
    /// Measure `minwise` with all cores of this machine, and print a table. The exit code is 1 if the machine has at least
    /// sixteen cores and a target is missed; fewer cores have no targets.
    Sixteen(SixteenArgs),
    /// Compare all sketches at equal bytes and at equal time on real documents, and write a page with pictures.
    Comparison(ComparisonArgs),
    /// Write `index.html` into a folder that `run --output` wrote: one page that opens without other files.
    Report {
        /// The folder.
        #[arg(value_name = "DIR")]
        folder: String,
    },
}

#[derive(Debug, clap::Args)]
pub struct ComparisonArgs {
    /// The folder with `licences.jsonl`, `chinese-manuals.jsonl` and `english.jsonl`.
    #[arg(long, value_name = "DIR")]
    pub data: String,

    /// Write `comparison.md` and the folder `comparison` to this folder.
    #[arg(long, short, value_name = "DIR")]
    pub output: String,

    /// Number of seeds per sketch, at least 2.
    #[arg(long, value_name = "N", default_value = "8")]
    pub seeds: String,

    /// Maximum number of pairs per tenth of similarity.
    #[arg(long, value_name = "N", default_value = "50")]
    pub pairs: String,

    /// Text about the machine for the page. Default: processor, kernel, build and date of this run.
    #[arg(long, value_name = "TEXT")]
    pub machine: Option<String>,

    /// Number of threads. The default is one, because times are measured.
    #[arg(long, value_name = "N", default_value = "1")]
    pub threads: String,
}

#[derive(Debug, clap::Args)]
pub struct CorpusArgs {
    /// Write the documents to this file, which is compressed if its name ends in `.gz`, `.zst`, `.bz2` or `.xz`; `-`
    /// for standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: String,

    /// Write the truth to this file: for each copy its id, the id of its original, and their exact similarity by
    /// `words:5`.
    #[arg(long, value_name = "FILE")]
    pub truth: Option<String>,

    /// Number of documents.
    #[arg(long, value_name = "N", default_value = "100000")]
    pub documents: String,

    /// Average number of words per document.
    #[arg(long, value_name = "N", default_value = "160")]
    pub words: String,

    /// Share of documents that are copies of an earlier document.
    #[arg(long, value_name = "SHARE", default_value = "0.2")]
    pub copies: String,

    /// Maximum number of words that are replaced in a copy.
    #[arg(long, value_name = "N", default_value = "6")]
    pub edits: String,

    /// Make copies only of the first N documents, so that each of them has many copies.
    #[arg(long, value_name = "N")]
    pub families: Option<String>,

    /// Number of words of a form with which every document begins, besides its own words.
    #[arg(long, value_name = "N", default_value = "0")]
    pub form: String,

    /// Make chains of N revisions, and no other copies. Each revision replaces words of the revision before it.
    #[arg(long, value_name = "N", conflicts_with_all = ["copies", "families"])]
    pub revisions: Option<String>,

    /// Seed of the random numbers. Another seed gives another corpus.
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: String,

    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, clap::Args)]
pub struct EnlargeArgs {
    /// The corpus: JSON lines with the strings `id` and `text`, compressed if the name ends in `.zst`.
    #[arg(value_name = "FILE")]
    pub input: String,

    /// Write the documents to this file, which is compressed if its name ends in `.gz`, `.zst`, `.bz2` or `.xz`; `-`
    /// for standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: String,

    /// Number of copies of the corpus. The first copy has the words of the corpus.
    #[arg(long, value_name = "N", default_value = "17")]
    pub times: String,

    /// Seed of the letters of each copy.
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: String,

    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, clap::Args)]
pub struct SixteenArgs {
    /// The `minwise` command to measure.
    #[arg(long, value_name = "PATH")]
    pub minwise: String,

    /// The corpus `english.jsonl.zst`.
    #[arg(long, value_name = "FILE")]
    pub english: String,

    /// The folder for corpora and outputs: 16 GB with sixteen cores, 2 GB with fewer. The folder is deleted at the end.
    #[arg(long, value_name = "DIR", default_value = "/dev/shm/minwise-sixteen")]
    pub folder: String,
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Experiments, such as `002/figure-1`, or sources, such as `002`. Default: all experiments.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// The folder with outside data, unpacked. Without it, experiments run on generated data, except
    /// `004/table-3`, which is skipped.
    #[arg(long, value_name = "DIR")]
    pub data: Option<String>,

    /// A Python that has other engines (`pip install datasketch gaoya rensa`), which `ours/dedup` runs beside Minwise.
    #[arg(long, value_name = "PYTHON")]
    pub peers: Option<String>,

    /// Run fewer trials. Experiments without outside data then take a quarter of a minute on two cores.
    #[arg(long)]
    pub quick: bool,

    /// Write tables (CSV, Markdown) and pictures (SVG) to this folder. Earlier results of the same experiments in it
    /// are replaced.
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<String>,

    /// Also write pictures as PNG, with the fonts of this machine.
    #[arg(long, requires = "output")]
    pub png: bool,

    /// Number of threads. Default: one per core. Results do not depend on this number.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub threads: Option<String>,

    #[command(flatten)]
    pub messages: MessageArgs,
}

#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct MessageArgs {
    /// Print errors and warnings only: no progress and no summary.
    #[arg(long, short)]
    pub quiet: bool,

    /// Write messages to standard error in this format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}
