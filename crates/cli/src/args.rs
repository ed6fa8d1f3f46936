//! Options as they are typed. Their meaning is in [`settings`](crate::settings).

mod archive;
mod serve;

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::{Parser, Subcommand, ValueEnum};
use minwise::kernel::Kernel;

pub use archive::{
    CheckArgs, IndexAddArgs, IndexArgs, IndexCheckArgs, IndexCommand, IndexCreateArgs, IndexExportArgs,
    IndexFolderArgs, IndexImportArgs, IndexListArgs, IndexMergeArgs, IndexRemoveArgs, IndexShowArgs,
    IndexStatsArgs, ListFormat, MatchArgs,
};
pub use serve::ServeArgs;

static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} (kernel {}, spec version {}, Unicode {})",
        env!("CARGO_PKG_VERSION"),
        Kernel::detect(),
        minwise::VERSION,
        minwise::text::UNICODE,
    )
});

/// Finds near-duplicate documents, verifies them exactly, and explains what it found.
#[derive(Debug, Parser)]
#[command(
    name = "minwise",
    version = VERSION.as_str(),
    propagate_version = true,
    max_term_width = 100,
    after_help = "Examples:\n  \
        minwise dedup articles.jsonl --output cleaned.jsonl     remove near-duplicates\n  \
        minwise pairs articles.jsonl                            list near-duplicate pairs\n  \
        minwise compare first.docx second.pdf                   compare two documents\n  \
        minwise check thesis.pdf --index archive                check a document against an archive"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,

    /// Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR is set.
    // Without `display_order`, the place of a global option in the help would depend on the number of subcommands.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        help_heading = "Messages",
        display_order = 1000,
        ignore_case = true
    )]
    pub color: ColorChoice,
}

/// Setting of colour in messages and help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a corpus without its near-duplicates.
    // The usage of an error has the options that were typed, so only the usage of the help is replaced.
    #[command(
        help_template = "{before-help}{about-with-newline}\n{usage-heading} minwise dedup [OPTIONS] --output <OUT> <INPUT>...\n\n{all-args}{after-help}"
    )]
    #[command(after_help = "Examples:\n  \
        minwise dedup articles.jsonl --output cleaned.jsonl\n  \
        minwise dedup 'data/*.parquet' --text-field body --output cleaned/ --report report\n  \
        minwise dedup crawl.jsonl.gz --threshold 0.7 --dry-run --report report\n  \
        minwise dedup train.jsonl --against benchmark.jsonl --output clean.jsonl\n  \
        minwise dedup big.jsonl --output cleaned.jsonl --work run --resume")]
    Dedup(Box<DedupArgs>),
    /// List the near-duplicate pairs of a corpus.
    #[command(after_help = "Examples:\n  \
        minwise pairs articles.jsonl\n  \
        minwise pairs letters/ --threshold 0.5 --output pairs.tsv\n  \
        minwise pairs articles.jsonl --of article-17 --format jsonl\n  \
        minwise pairs letters/ --threshold 0 --candidates all\n  \
        minwise pairs letters/ --candidates-only --bands 20 --rows 5")]
    Pairs(Box<PairsArgs>),
    /// Compare two documents: similarity, containment and shared passages. The exit code is 1 if the similarity is below the
    /// threshold.
    #[command(after_help = "Examples:\n  \
        minwise compare first.docx second.pdf\n  \
        minwise compare 'articles.jsonl#a1' 'articles.jsonl#a2'\n  \
        minwise compare first.txt second.txt --passages 3 --format jsonl")]
    Compare(CompareArgs),
    /// Keep an archive of documents: create it, add to it, maintain it.
    #[command(after_help = "Examples:\n  \
        minwise index create archive\n  \
        minwise index add archive applications/\n  \
        minwise index list archive --search smith")]
    Index(IndexArgs),
    /// Check documents against an archive and report what they share with it. The exit code is 0 if nothing is found, 1 if
    /// something is found, and 2 if a document could not be read.
    #[command(after_help = "Examples:\n  \
        minwise check thesis.pdf --index archive\n  \
        minwise check submissions/ --index archive --report report.html\n  \
        minwise check thesis.pdf --index archive --ignore-quotations --ignore-references\n  \
        minwise check thesis.pdf --index archive --format jsonl")]
    Check(CheckArgs),
    /// Serve an archive over HTTP: an API to add and check documents, and a web page to check them.
    #[command(after_help = "Examples:\n  \
        minwise serve --index archive\n  \
        minwise serve --index archive --listen 0.0.0.0:8080 --tokens tokens.txt")]
    Serve(ServeArgs),
    /// Choose bands and rows for a threshold and a recall.
    #[command(after_help = "Examples:\n  \
        minwise plan --threshold 0.8 --recall 0.99\n  \
        minwise plan --threshold 0.5 --details\n  \
        minwise plan --bands 20 --rows 6 --format json")]
    Plan(PlanArgs),
    /// Write the sketches of a corpus to a file, to estimate similarities later.
    #[command(after_help = "Examples:\n  \
        minwise sketch articles.jsonl --output articles.sketches\n  \
        minwise sketch articles.jsonl --output small.sketches --sketch b-bit:2/minhash:256")]
    Sketch(SketchFileArgs),
    /// Estimate the similarities of sketched documents without reading them again.
    #[command(after_help = "Examples:\n  \
        minwise estimate articles.sketches\n  \
        minwise estimate old.sketches new.sketches --threshold 0.5 --output pairs.tsv")]
    Estimate(EstimateArgs),
    /// Measure how far the estimates of sketches are from the exact similarities of a corpus: errors, confidence intervals and
    /// times.
    #[command(after_help = "Examples:\n  \
        minwise accuracy letters/ --pairs all\n  \
        minwise accuracy articles.jsonl --sketch minhash:128 b-bit:2/minhash:256 --plot errors.svg\n  \
        minwise accuracy articles.jsonl --sketch all --error 0.02 --format json")]
    Accuracy(Box<AccuracyArgs>),
    /// Count in how many documents each shingle occurs, for weighted similarities.
    #[command(after_help = "Examples:\n  \
        minwise weights articles.jsonl --output articles.weights\n  \
        minwise dedup articles.jsonl --output cleaned.jsonl --weight tf-idf --weights articles.weights")]
    Weights(WeightsArgs),
    /// Write shell completions, manual pages and the reference of all commands.
    #[command(after_help = "Examples:\n  \
        minwise generate all share\n  \
        minwise generate completions zsh\n  \
        minwise generate man dedup")]
    Generate(GenerateArgs),
}

impl Command {
    pub fn output_options(&self) -> OutputOptions {
        match self {
            Self::Dedup(args) => args.messages,
            Self::Pairs(args) => args.messages,
            Self::Compare(args) => args.messages,
            Self::Sketch(args) => args.messages,
            Self::Accuracy(args) => args.messages,
            Self::Weights(args) => args.messages,
            Self::Estimate(args) => args.messages.into(),
            Self::Index(args) => args.what.output_options(),
            Self::Check(args) => args.messages,
            Self::Serve(args) => args.messages.into(),
            Self::Plan(_) | Self::Generate(_) => OutputOptions::default(),
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct DedupArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    #[command(flatten)]
    pub near: NearArgs,

    /// Write the kept documents to OUT: a file, a folder with one file per input (`DIR/`, or an existing folder), or `-` for
    /// standard output. A file whose name ends in `.gz`, `.zst`, `.bz2` or `.xz` is compressed. If the name belongs to another
    /// format than that of the inputs, records are converted: `kept.parquet` gets Parquet. If each input is one document, OUT
    /// is a folder.
    #[arg(long, short, value_name = "OUT", required_unless_present = "dry_run")]
    pub output: Option<String>,

    /// Write the removed documents to OUT. OUT takes the same forms as for `--output`.
    #[arg(long, value_name = "OUT", conflicts_with = "annotate")]
    pub removed: Option<String>,

    /// Write a report to the folder DIR: `index.html` for people, and `summary.json`, `pairs.tsv`, `clusters.jsonl`,
    /// `large-clusters.jsonl`, `reordered.tsv` and `rejects.jsonl` for programs.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,

    /// Write every document, and mark near-duplicates instead of removing them: a new field or column `minwise` names the
    /// cluster of each document.
    #[arg(long)]
    pub annotate: bool,

    /// Also remove documents that repeat a document of REF, which is a file, a folder or a glob. REF may have another format
    /// than INPUT, but its text must be in a field of the same name. Documents of REF are
    /// never removed and never written.
    #[arg(long, value_name = "REF", num_args = 1..)]
    pub against: Vec<OsString>,

    /// Choose the document that is kept of each cluster: `first` (the default; `longest` with `--measure containment`), `last`,
    /// `longest`, `shortest`, `newest:FIELD`, `oldest:FIELD`, `max:FIELD`, `min:FIELD` or `priority:FIELD=A,B,C`. If the option
    /// is given several times, each policy decides among the documents that the policies before it rank equally. If all policies
    /// rank documents equally, the first document of the inputs is kept. Documents without the field rank last.
    #[arg(long, value_name = "POLICY")]
    pub keep: Vec<String>,

    /// Write no documents. The summary is printed, and the report of `--report` is written.
    #[arg(long)]
    pub dry_run: bool,

    /// Replace outputs that exist. An output folder is replaced only if all its files have names of files that the run would
    /// write. In a report folder, only files of a report are replaced.
    #[arg(long)]
    pub force: bool,

    /// Form clusters in this way: `star` removes documents that are similar to the kept document; `components` also removes
    /// documents that are connected to the kept document by a chain of similar pairs.
    #[arg(long, value_name = "CLUSTERING", default_value = "star", help_heading = "Near-duplicates")]
    pub cluster: String,

    /// Remove nothing from clusters of more than N documents. The report lists these clusters in `large-clusters.jsonl`. For
    /// the 1,000 largest of them, it lists the passages that their documents share; documents over 1 MiB are left out.
    #[arg(long, value_name = "N", help_heading = "Near-duplicates")]
    pub max_cluster: Option<String>,

    /// Write outputs in this format: `jsonl`, `csv`, `tsv`, `parquet`, `arrow` or `warc`. In an output folder, every file is
    /// converted. Without the option, the name of an output decides; standard output and names without a known extension get
    /// the format of the inputs.
    #[arg(long, value_name = "FORMAT", help_heading = "Output format")]
    pub output_format: Option<String>,

    /// Compress the data inside Parquet and Arrow IPC outputs with this codec: `keep`, `none`, `snappy`, `gzip`, `lz4` or
    /// `zstd`. `keep` takes the codec of the input; if records are converted, it takes `zstd` for Parquet and `none` for Arrow
    /// IPC.
    #[arg(long, value_name = "CODEC", default_value = "keep", help_heading = "Output format")]
    pub compression: String,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub sketch: SketchArgs,

    /// Measure the recall of decisions, that is, the share of removed documents among the documents that repeat a
    /// kept one, with its 95 % confidence interval: compare N of the kept documents with all others, and count the
    /// documents that repeat another kept document. `auto` compares as many documents as it can in 5 % of the run
    /// time, and at least for 0.2 s; in a small corpus, it compares all documents. `off` or 0 measures nothing.
    #[arg(
        long,
        value_name = "N",
        default_value = "auto",
        help_heading = "Recall and candidates",
        allow_hyphen_values = true
    )]
    pub audit: String,

    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub work: WorkArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct WorkArgs {
    /// Save the progress of the run in the folder DIR, so that `--resume` can continue the run. The folder is removed at the
    /// end.
    #[arg(long = "work", id = "work", value_name = "DIR", help_heading = "Resources")]
    pub folder: Option<String>,

    /// Continue the run that was saved in `--work`. If no run was saved, start a new run.
    #[arg(long, requires = "work", help_heading = "Resources")]
    pub resume: bool,

    /// Do not remove the folder of `--work` at the end.
    #[arg(long, requires = "work", help_heading = "Resources")]
    pub keep_work: bool,
}

#[derive(Debug, clap::Args)]
pub struct PairsArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    #[command(flatten)]
    pub near: NearArgs,

    /// Write the pairs to FILE. Without the option, they go to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// List only the near-duplicates of the documents with these ids.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub of: Option<Vec<String>>,

    /// Write pairs in this format, each with its exact similarity. Without the option, pairs are written as JSONL if the name of the
    /// output ends in `.jsonl`, and as TSV otherwise.
    #[arg(long, value_name = "FORMAT", ignore_case = true)]
    pub format: Option<PairFormatArg>,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// List the pairs that share a band, with the numbers of these bands, and compare nothing. Pairs that share no band
    /// are not listed, and the listed pairs may be unlike.
    #[arg(long, help_heading = "Recall and candidates", conflicts_with_all = ["order", "filter_error", "looks", "error_per_look"])]
    pub candidates_only: bool,

    #[command(flatten)]
    pub sketch: SketchArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// The first document: a file of any format that Minwise reads, or `FILE#ID` for the record of FILE with the id ID.
    #[arg(value_name = "A")]
    pub left: String,

    /// The second document, in the same form.
    #[arg(value_name = "B")]
    pub right: String,

    /// Exit with code 1 if the similarity is below this value.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// Compare this measure with the threshold: `jaccard`, or `containment` (the share of A that B
    /// contains, or the share of B that A contains, whichever is larger).
    #[arg(long, value_name = "MEASURE", default_value = "jaccard")]
    pub measure: String,

    /// Show at most N shared passages, the longest first.
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub passages: String,

    /// Also estimate the similarity by every kind of sketch, and print each estimate beside the exact value. Each sketch has
    /// 1,024 registers or bits.
    #[arg(long)]
    pub all: bool,

    /// Print the comparison in this format.
    #[arg(long, value_name = "FORMAT", default_value = "text", ignore_case = true)]
    pub format: CompareFormat,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub weights: WeightArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct SketchFileArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Write the sketches to FILE.
    #[arg(long, short, value_name = "FILE")]
    pub output: String,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct AccuracyArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Compare these sketches, such as `minhash:128`, `super-minhash`, or `b-bit:2/minhash:256`. `all` stands for every
    /// kind. `--registers` sets the size of sketches that are named without a size [default: minhash, and dart with
    /// `--weight`].
    #[arg(long, value_name = "SKETCH", num_args = 1..)]
    pub sketch: Vec<String>,

    /// The number of registers per sketch [default: 128].
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub registers: Option<String>,

    /// Count the pairs whose estimate is off by more than E.
    #[arg(long, value_name = "E", default_value = "0.05", allow_hyphen_values = true)]
    pub error: String,

    /// Compare this many pairs of documents, drawn at random, or `all` pairs. Documents without shingles are in no pair.
    #[arg(long, value_name = "N", default_value = "100000", allow_hyphen_values = true)]
    pub pairs: String,

    /// Also print the errors of the pairs per tenth of the exact similarity (0 to 0.1, 0.1 to 0.2 and so on). The format `json`
    /// always has them.
    #[arg(long)]
    pub details: bool,

    /// Print the result in this format.
    #[arg(long, value_name = "FORMAT", default_value = "text", ignore_case = true)]
    pub format: AccuracyFormat,

    /// Also draw the errors to FILE, as an SVG picture with one panel per sketch.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<String>,

    /// Replace a picture that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub text: TextArgs,

    /// The seed of the hash functions and of the sample, a whole number.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "Text and sketches",
        allow_hyphen_values = true
    )]
    pub seed: String,

    #[command(flatten)]
    pub weights: WeightArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct WeightsArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Write the table of document frequencies to FILE.
    #[arg(long, short, value_name = "FILE")]
    pub output: String,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub threads: ThreadArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct EstimateArgs {
    /// A file that `minwise sketch` wrote. Without FILE2, the documents of FILE are compared with one another.
    #[arg(value_name = "FILE")]
    pub first: String,

    /// A second file that `minwise sketch` wrote with the same options. Each document of FILE is compared with each document of
    /// FILE2.
    #[arg(value_name = "FILE2")]
    pub second: Option<String>,

    /// List a pair if its estimated similarity is at least T. `0` lists all pairs.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// Write the pairs to FILE. Without the option, they go to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// List only pairs that contain a document with one of these ids.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub of: Option<Vec<String>>,

    /// Write pairs in this format, each with its estimate and the standard error of the estimate. Without the option, pairs are
    /// written as JSONL if the name of the output ends in `.jsonl`, and as TSV otherwise.
    #[arg(long, value_name = "FORMAT", ignore_case = true)]
    pub format: Option<PairFormatArg>,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    /// Let the filter wrongly rule out at most the share E of the pairs whose similarity is exactly the threshold; `off` switches
    /// the filter off. The filter rules a pair out as soon as the registers compared so far show that the pair is probably below
    /// the threshold. Sketches of bits, such as
    /// `b-bit:1/minhash:512`, are compared without the filter.
    #[arg(
        long,
        value_name = "E",
        default_value = "1e-6",
        help_heading = "Filter",
        allow_hyphen_values = true
    )]
    pub filter_error: String,

    /// After each of these numbers of compared registers, the filter decides whether to rule the pair out. Each decision is
    /// called a look: with `16,32,64,128`, a pair gets up to four looks. The numbers must ascend. Without the option, the filter
    /// looks every 16 registers at first, and less often later.
    #[arg(long, value_name = "K,K…", help_heading = "Filter", allow_hyphen_values = true)]
    pub looks: Option<String>,

    /// At each look (`--looks`), let the filter wrongly rule out at most the share E of the pairs whose similarity is exactly the
    /// threshold. With n looks, it can wrongly rule out up to n times E; the summary states the total. `--filter-error` limits
    /// the total instead.
    #[arg(
        long,
        value_name = "E",
        help_heading = "Filter",
        conflicts_with = "filter_error",
        allow_hyphen_values = true
    )]
    pub error_per_look: Option<String>,

    #[command(flatten)]
    pub threads: ThreadArgs,
    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// Two documents are near-duplicates if their similarity is at least T: a number up to 1, or a percentage such as `80%`.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    #[command(flatten)]
    pub bands: BandArgs,

    /// The number of registers per sketch.
    #[arg(long, value_name = "K", default_value = "128", allow_hyphen_values = true)]
    pub registers: String,

    /// Also show the S-curve (for each similarity, the probability that a pair is found), the memory per document, and the
    /// sketches whose standard error is at most `--error`.
    #[arg(long)]
    pub details: bool,

    /// The largest standard error that an estimate at the threshold may have. `--details` lists the sketches that reach
    /// this error, the smallest first.
    #[arg(long, value_name = "E", default_value = "0.02", allow_hyphen_values = true)]
    pub error: String,

    /// Also show the filter, which rules out candidate pairs by their sketches: after how many registers it can rule out a pair,
    /// and how many registers it compares on average.
    #[arg(long)]
    pub filter: bool,

    /// The share of the pairs at the threshold that the filter may wrongly rule out.
    #[arg(long, value_name = "E", default_value = "1e-6", requires = "filter", allow_hyphen_values = true)]
    pub filter_error: String,

    /// Print the plan in this format. `json` contains everything that `--details` shows, and the filter if `--filter` is given.
    #[arg(long, value_name = "FORMAT", default_value = "text", ignore_case = true)]
    pub format: PlanFormat,
}

#[derive(Debug, clap::Args)]
pub struct GenerateArgs {
    #[command(subcommand)]
    pub what: Generate,
}

#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Write completions for all shells and all manual pages to a folder: `DIR/completions` and `DIR/man/man1`.
    #[command(after_help = "Examples:\n  minwise generate all share")]
    All {
        /// The folder. If it does not exist, it is created. Files of the same names are replaced.
        #[arg(value_name = "DIR")]
        folder: String,
    },
    /// Print the completions for a shell.
    #[command(after_help = "Examples:\n  minwise generate completions zsh")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the command or of a subcommand.
    #[command(after_help = "Examples:\n  \
        minwise generate man\n  \
        minwise generate man dedup\n  \
        minwise generate man index add")]
    Man {
        /// The subcommand, such as `dedup` or `index add`.
        subcommand: Vec<String>,
    },
    /// Print the reference of all commands and options as a Markdown page.
    #[command(after_help = "Examples:\n  minwise generate reference")]
    Reference,
}

#[derive(Debug, clap::Args)]
pub struct InputArgs {
    /// Files, folders or globs, or `-` for standard input. Minwise reads JSONL, CSV, TSV, Parquet, Arrow IPC and WARC, plain or
    /// compressed by gzip, zstd, bzip2 or xz, and single documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and
    /// PDF.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct ReadingArgs {
    /// Read the text from this field or column. A dot leads into an object (`meta.body`), `[]` into a list
    /// (`messages[].content`). The texts of a list are joined by a blank line. Several fields are separated by commas
    /// (`title,body`), and their texts are joined by a line break.
    #[arg(long, value_name = "FIELD", default_value = "text", help_heading = "Reading")]
    pub text_field: String,

    /// Read the id from this field or column. A record without an id gets `file:line`, or `file:row` in Parquet and
    /// Arrow IPC.
    #[arg(long, value_name = "FIELD", default_value = "id", help_heading = "Reading")]
    pub id_field: String,

    /// Read inputs in this format: `auto` (found by content and name), `jsonl`, `csv`, `tsv`, `parquet`, `arrow`, `warc` (WARC
    /// and WET), `document` (each file is a document, whose text is extracted), or `text` (each file is a text).
    #[arg(long, value_name = "FORMAT", default_value = "auto", help_heading = "Reading")]
    pub input_format: String,

    /// Read text files in this encoding: `utf-8` (files that are not UTF-8 are rejected), `latin-1`, or `auto` (UTF-8 if the
    /// file is UTF-8, otherwise a guess by its content). Files of records, such as JSONL and CSV, are always read as UTF-8.
    #[arg(long, value_name = "ENCODING", default_value = "utf-8", help_heading = "Reading")]
    pub encoding: String,

    /// Split CSV records at this character; `tab` stands for a tab. Without the option, Minwise tries comma, semicolon
    /// and tab in this order, and uses the first one with which the header has a column with the name of the text field.
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    pub delimiter: Option<String>,

    /// Treat a record whose text is null by this rule: `keep` keeps it and compares it with nothing, `reject` rejects
    /// it, and `error` ends the run. With `keep`, `index add` skips such records, and `check` rejects them, because
    /// there is no text to check. A record without the field is always rejected.
    #[arg(long, value_name = "RULE", default_value = "keep", help_heading = "Reading")]
    pub null: String,

    /// Reject records larger than this.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", help_heading = "Reading")]
    pub max_record: String,

    /// Stop before anything is written if a file found in a folder or by a glob cannot be read (no permission, a broken link, a
    /// link loop). Without `--strict`, such a file is rejected and the run continues. A file that you name must always be
    /// readable.
    #[arg(long, help_heading = "Reading")]
    pub strict: bool,

    /// Put temporary files into this folder: decompressed and piped input, parts of tables, extracted texts, and data
    /// that does not fit into memory. Without the option, `dedup --work DIR` puts temporary files into DIR, and every
    /// other run puts them into the temporary folder of the system.
    #[arg(long, value_name = "DIR", help_heading = "Reading")]
    pub temp_dir: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct TextArgs {
    /// Cut text into shingles: `words:N` (N words in a row), `chars:N` (N characters in a row) or `terms` (single
    /// words of three letters or more). With `,bag` at the end, as in `words:5,bag`, a shingle counts as often as it
    /// occurs; without `,bag`, it counts only once.
    #[arg(long, value_name = "SHINGLING", default_value = "words:5", help_heading = "Text and sketches")]
    pub shingle: String,

    /// Normalise text before it is cut: `nfkc+casefold` (upper and lower case are the same, and so are variants of a character
    /// such as `ﬁ` and `fi`), `casefold` (upper and lower case are the same) or `none`.
    #[arg(long, value_name = "FORM", default_value = "nfkc+casefold", help_heading = "Text and sketches")]
    pub normalize: String,

    /// Remove HTML tags, comments, scripts and styles from the text first.
    #[arg(long, help_heading = "Text and sketches")]
    pub strip_markup: bool,

    /// Treat white space by this rule: `fold` turns each run of it into one space, `keep` keeps it, and `remove` removes it.
    #[arg(long, value_name = "RULE", default_value = "fold", help_heading = "Text and sketches")]
    pub whitespace: String,

    /// Treat a document that is shorter than one shingle by this rule: `one` makes one shingle of the whole text, `reject`
    /// rejects the document.
    #[arg(long, value_name = "RULE", default_value = "one", help_heading = "Text and sketches")]
    pub short: String,
}

#[derive(Debug, clap::Args)]
pub struct SpecArgs {
    #[command(flatten)]
    pub text: TextArgs,

    /// The kind of sketch: `minhash` (the default; also `minhash,modular`, `minhash,multiplicative` and `minhash,murmur3`),
    /// `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`; for weighted shingles `dart` (the default), `icws`
    /// or `cws`. `--registers` sets its size; `super-minhash:256` sets both. Sketches without bands, such as
    /// `b-bit:2/minhash:256`, work only with `sketch`, `estimate`, `compare` and `accuracy`. `minwise compare A B --all` lists every kind.
    #[arg(long, value_name = "SKETCH", help_heading = "Text and sketches")]
    pub sketch: Option<String>,

    /// The number of registers per sketch [default: 128].
    #[arg(long, value_name = "K", help_heading = "Text and sketches", allow_hyphen_values = true)]
    pub registers: Option<String>,

    /// The seed of the hash functions, a whole number. Sketches of different seeds cannot be compared.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "Text and sketches",
        allow_hyphen_values = true
    )]
    pub seed: String,
}

#[derive(Debug, clap::Args)]
pub struct WeightArgs {
    /// Weigh shingles: `none` (all alike), `count` (by their number in the document), `tf` (by their share of the document),
    /// `tf-idf` or `tf-idf,smooth` (also by how few documents contain them). With weights, similarity is the weighted Jaccard
    /// similarity.
    #[arg(long, value_name = "WEIGHTING", default_value = "none", help_heading = "Weights")]
    pub weight: String,

    /// Read document frequencies from FILE, which `minwise weights` wrote. Without the option, `dedup` and `pairs` first
    /// count the document frequencies in their own input if `tf-idf` or `--max-df` needs them. `compare` needs FILE for
    /// `tf-idf` and for `--max-df`, because two documents are too few to count.
    #[arg(long, value_name = "FILE", help_heading = "Weights")]
    pub weights: Option<String>,

    /// Leave out shingles that occur in more documents than this: a share such as `0.1` or `10%`, or a number such as `500`.
    #[arg(long, value_name = "F", help_heading = "Weights", allow_hyphen_values = true)]
    pub max_df: Option<String>,

    /// Ignore all shingles that occur in these files or folders, such as a form or a template.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Weights")]
    pub ignore_text: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct BandArgs {
    /// The probability of finding a pair whose similarity is exactly the threshold. More similar pairs are found more
    /// often. Minwise chooses bands and rows that reach this probability.
    #[arg(
        long,
        value_name = "P",
        default_value = "0.99",
        help_heading = "Recall and candidates",
        conflicts_with_all = ["bands", "rows"],
        allow_hyphen_values = true
    )]
    pub recall: String,

    /// Cut each sketch into B bands. Documents that share a band are candidates. Give `--rows`, too; both replace `--recall`.
    #[arg(long, value_name = "B", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub bands: Option<String>,

    /// Give each band R rows. A row is one register, that is, one of the K numbers of a sketch (`--registers`). Give `--bands`,
    /// too; both replace `--recall`.
    #[arg(long, value_name = "R", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub rows: Option<String>,
}

/// Options that decide whether two documents are near-duplicates.
#[derive(Debug, clap::Args)]
pub struct NearArgs {
    /// Two documents are near-duplicates if their exact similarity is at least T: a number up to 1, or a percentage such as
    /// `80%`.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// Measure similarity in this way: `jaccard` (the shared shingles divided by all shingles of both documents), or
    /// `containment` (the share of the smaller document that the larger document contains).
    #[arg(long, value_name = "MEASURE", default_value = "jaccard", help_heading = "Near-duplicates")]
    pub measure: String,

    /// Also compare the order of the text. Similar documents are near-duplicates only if at least the share Q of their
    /// common shingles is at about the same places in both documents. Other similar documents count as reordered.
    #[arg(long, value_name = "Q", help_heading = "Near-duplicates", allow_hyphen_values = true)]
    pub order: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct SketchArgs {
    #[command(flatten)]
    pub bands: BandArgs,

    /// Find candidate pairs in this way: `banding` (pairs that share a band; the default), `sort-merge` (counts shared shingles
    /// and misses nothing; the default with `--measure containment`), `sort-merge,sketch` (counts shared registers), or `all`
    /// (all pairs are candidates).
    #[arg(long, value_name = "WAY", help_heading = "Recall and candidates")]
    pub candidates: Option<String>,

    /// Save memory by keeping only this many bits of each register: a number from 1 to 16, such as 2 or 1.5, or one of 0.5,
    /// 0.25 and 0.125. The recall stays the same, because bands are made of whole registers. Without the option, all bits are
    /// kept.
    #[arg(long, value_name = "BITS", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub bits: Option<String>,

    /// Let the filter wrongly rule out at most the share E of the pairs whose similarity is exactly the threshold; `off` switches
    /// the filter off. The filter rules out candidate pairs by their sketches, so that fewer pairs are compared exactly. With `--order`, E also limits the pairs that sketches
    /// wrongly count as reordered.
    #[arg(
        long,
        value_name = "E",
        default_value = "1e-6",
        help_heading = "Recall and candidates",
        allow_hyphen_values = true
    )]
    pub filter_error: String,

    /// After each of these numbers of compared registers, the filter decides whether to rule the pair out. Each decision is
    /// called a look: with `16,32,64,128`, a pair gets up to four looks. The numbers must ascend. Without the option, the filter
    /// looks every 16 registers (64 with `--bits`) at first, and less often later.
    #[arg(long, value_name = "K,K…", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub looks: Option<String>,

    /// At each look (`--looks`), let the filter wrongly rule out at most the share E of the pairs whose similarity is exactly the
    /// threshold. With n looks, it can wrongly rule out up to n times E; the summary states the total. `--filter-error` limits
    /// the total instead.
    #[arg(
        long,
        value_name = "E",
        help_heading = "Recall and candidates",
        conflicts_with = "filter_error",
        allow_hyphen_values = true
    )]
    pub error_per_look: Option<String>,

    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub weights: WeightArgs,
}

#[derive(Debug, clap::Args)]
pub struct ThreadArgs {
    /// Use N threads. Without the option, Minwise uses one thread per core.
    #[arg(long, short = 'j', value_name = "N", help_heading = "Resources", allow_hyphen_values = true)]
    pub threads: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// Use at most this much memory, such as `4GiB`. Data that does not fit goes to disk. Without the option, the limit is half
    /// of the memory of the machine (or of the control group) on Linux, and 4 GiB on other systems.
    #[arg(long, value_name = "SIZE", help_heading = "Resources")]
    pub memory: Option<String>,

    /// Permit at most N rejected records: with up to N, the exit code is 0; with more, the run stops at once. Without
    /// the option, a run never stops because of rejected records, and its exit code is 2 if records were rejected.
    #[arg(long, value_name = "N", help_heading = "Reading", allow_hyphen_values = true)]
    pub max_rejects: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct OutputOptions {
    /// Print errors and warnings only: no progress and no summary.
    // `-qq` and `-vv` are habits from other programs, so repetitions are accepted.
    #[arg(long, short, overrides_with = "quiet", help_heading = "Messages")]
    pub quiet: bool,

    /// List the skipped files, each with its reason. In folders and globs, Minwise skips system files such as `.DS_Store` and
    /// `Thumbs.db`, lock files such as `~$report.docx`, marker files such as `_SUCCESS`, empty documents, and binary files of
    /// unknown format.
    #[arg(long, short, conflicts_with = "quiet", overrides_with = "verbose", help_heading = "Messages")]
    pub verbose: bool,

    /// Write messages to standard error in this format.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Messages",
        ignore_case = true
    )]
    pub log: LogFormat,
}

/// Output options of commands that read no files of documents. `-v` is accepted and hidden, because there are no files to list.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct QuietOptions {
    /// Print errors and warnings only: no progress and no summary.
    #[arg(long, short, overrides_with = "quiet", help_heading = "Messages")]
    quiet: bool,

    #[arg(
        long,
        short,
        conflicts_with = "quiet",
        overrides_with = "verbose",
        help_heading = "Messages",
        hide = true
    )]
    verbose: bool,

    /// Write messages to standard error in this format.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Messages",
        ignore_case = true
    )]
    log: LogFormat,
}

impl From<QuietOptions> for OutputOptions {
    fn from(options: QuietOptions) -> Self {
        let QuietOptions { quiet, verbose, log } = options;
        Self { quiet, verbose, log }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PairFormatArg {
    /// The two ids and the numbers of a pair, separated by tabs.
    Tsv,
    /// One JSON object per line.
    Jsonl,
}

impl PairFormatArg {
    /// The format that the name of an output asks for, if pairs can be written in it.
    pub fn of_name(name: &str) -> Option<Self> {
        match minwise_corpus::Format::of_name(name) {
            Some(minwise_corpus::Format::JSONL) => Some(Self::Jsonl),
            Some(minwise_corpus::Format::TSV) => Some(Self::Tsv),
            Some(_) => None,
            None if minwise_corpus::foreign_file(name).is_some() => None,
            None => Some(Self::Tsv),
        }
    }
}

impl From<PairFormatArg> for minwise_engine::PairFormat {
    fn from(format: PairFormatArg) -> Self {
        match format {
            PairFormatArg::Tsv => Self::Tsv,
            PairFormatArg::Jsonl => Self::Jsonl,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AccuracyFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}
