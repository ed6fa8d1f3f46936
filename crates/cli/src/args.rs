//! The options as they are typed. What they mean is in [`settings`](crate::settings).

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
#[command(name = "minwise", version = VERSION.as_str(), propagate_version = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a corpus without its near-duplicates.
    Dedup(Box<DedupArgs>),
    /// List the near-duplicate pairs of a corpus.
    Pairs(Box<PairsArgs>),
    /// Compare two documents: similarity, containment, shared passages.
    Compare(CompareArgs),
    /// Write the sketches of a corpus to a file.
    Sketch(SketchFileArgs),
    /// Count in how many documents each shingle stands, for weights.
    Weights(WeightsArgs),
    /// Estimate the similarities of sketched documents, without reading them again.
    Estimate(EstimateArgs),
    /// Keep an archive of documents: make it, add to it, look after it.
    Index(IndexArgs),
    /// Check documents against an archive: what they repeat of it, with the passages; exit code 1 if anything is found.
    Check(CheckArgs),
    /// Serve an archive: an API to add documents and check them, and a page for people.
    Serve(ServeArgs),
    /// Choose bands and rows for a threshold and a recall, and show what to expect of them.
    Plan(PlanArgs),
    /// Write shell completions or the manual page to standard output.
    Generate(GenerateArgs),
}

impl Command {
    pub fn output_options(&self) -> OutputOptions {
        match self {
            Self::Dedup(args) => args.messages,
            Self::Pairs(args) => args.messages,
            Self::Compare(args) => args.messages,
            Self::Sketch(args) => args.messages,
            Self::Weights(args) => args.messages,
            Self::Estimate(args) => args.messages,
            Self::Index(args) => args.what.output_options(),
            Self::Check(args) => args.messages,
            Self::Serve(args) => args.messages,
            Self::Plan(_) | Self::Generate(_) => OutputOptions::default(),
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct DedupArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Remove what repeats these files, folders or globs, too. They may be of another format than INPUT, have their text in the
    /// same fields, and are only read: all their documents stay, and none is written.
    #[arg(long, value_name = "REF", num_args = 1..)]
    pub against: Vec<OsString>,

    /// Where the kept documents go: one file (compressed if it ends in `.gz`, `.zst`, `.bz2` or `.xz`; `-` for standard
    /// output), or a folder with one file for each input (`DIR/`, or a folder that is there). Texts go to a folder. If the
    /// extension belongs to another format than the inputs, records are converted: JSONL to `kept.parquet` becomes Parquet.
    #[arg(long, short, value_name = "OUT", required_unless_present = "dry_run")]
    pub output: Option<String>,

    /// Where the removed documents go, in the same way.
    #[arg(long, value_name = "OUT", conflicts_with = "annotate")]
    pub removed: Option<String>,

    /// Keep every document and add to it, as its member or column `minwise`, the cluster it belongs to.
    #[arg(long)]
    pub annotate: bool,

    /// The format of the outputs: `jsonl`, `csv`, `tsv`, `parquet`, `arrow` or `warc`. It overrides the names of the outputs; in a
    /// folder, every file is converted. Without it, the extension of the name decides; if there is no known extension, and for
    /// standard output, the format is that of the inputs.
    #[arg(long, value_name = "FORMAT")]
    pub output_format: Option<String>,

    /// The codec inside Parquet and Arrow IPC: `keep`, `none`, `snappy`, `gzip`, `lz4` or `zstd`. `keep` takes the codec of the
    /// input; if records are converted, `keep` is `zstd` for Parquet and `none` for Arrow IPC.
    #[arg(long, value_name = "CODEC", default_value = "keep")]
    pub compression: String,

    /// Where `index.html`, a page for people, goes, with `summary.json`, `pairs.tsv`, `clusters.jsonl`, `large-clusters.jsonl`, `reordered.tsv` and `rejects.jsonl`.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,

    /// Decide, but write no documents.
    #[arg(long)]
    pub dry_run: bool,

    /// Replace outputs that exist. An output folder is replaced as a whole, with whatever else is in it; of a report, the files
    /// of the same names.
    #[arg(long)]
    pub force: bool,

    /// Which document of a cluster stays: `first` (the default; `longest` with `--measure containment`), `last`, `longest`,
    /// `shortest`, `newest:FIELD`, `oldest:FIELD`, `max:FIELD`, `min:FIELD` or `priority:FIELD=A,B,C`. Given several times, each
    /// decides where those before it leave a tie; what is left goes by input order. Documents without the field come last.
    #[arg(long, value_name = "POLICY")]
    pub keep: Vec<String>,

    /// What a cluster is: `star` (similar to the kept document) or `components` (connected by similar pairs).
    #[arg(long, value_name = "CLUSTERING", default_value = "star")]
    pub cluster: String,

    /// Remove nothing of clusters with more than N documents; the report lists them in `large-clusters.jsonl`, the 1000 largest
    /// with passages that they share, but for documents of more than 1 MiB.
    #[arg(long, value_name = "N")]
    pub max_cluster: Option<String>,

    /// Compare N documents, drawn by the seed, with all others without bands, and tell which share of their near-duplicates was
    /// found. `auto` takes up to a thousand, as many as a twentieth of the run's time is enough for, which is none of a great many
    /// short ones; 0 or `off` takes none.
    #[arg(long, value_name = "N", default_value = "auto", allow_hyphen_values = true)]
    pub audit: String,

    #[command(flatten)]
    pub work: WorkArgs,
    #[command(flatten)]
    pub sketch: SketchArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct WorkArgs {
    /// A folder in which the run keeps what it has found out, so that `--resume` can go on after whatever ended it; removed
    /// when the run is done.
    #[arg(long = "work", id = "work", value_name = "DIR")]
    pub folder: Option<String>,

    /// Go on with the run in `--work`, or begin one if there is none.
    #[arg(long, requires = "work")]
    pub resume: bool,

    /// Leave `--work` there when the run is done.
    #[arg(long, requires = "work")]
    pub keep_work: bool,
}

#[derive(Debug, clap::Args)]
pub struct PairsArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Where the pairs go; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Only the near-duplicates of these documents.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub of: Option<Vec<String>>,

    /// How pairs are written.
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub format: PairFormatArg,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub sketch: SketchArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// The first document: a file of any kind that is read, or `FILE#ID` for a record of a file.
    #[arg(value_name = "A")]
    pub left: String,

    /// The second document.
    #[arg(value_name = "B")]
    pub right: String,

    /// How the comparison is written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CompareFormat,

    /// Estimate by every kind of sketch, each with 1024 registers or stored bits, beside the exact value.
    #[arg(long)]
    pub all: bool,

    /// How many shared passages to show, the longest first.
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub passages: String,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub weights: WeightArgs,

    /// The measure that decides: `jaccard`, or `containment` (how much of the smaller document the larger one has).
    #[arg(long, value_name = "MEASURE", default_value = "jaccard")]
    pub measure: String,

    /// The similarity below which the exit code is 1.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct SketchFileArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Where the sketches go.
    #[arg(long, short, value_name = "FILE")]
    pub output: String,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct WeightsArgs {
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Where the table goes.
    #[arg(long, short, value_name = "FILE")]
    pub output: String,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    /// Threads to work with; all cores without it.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub threads: Option<String>,

    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct EstimateArgs {
    /// A file that `minwise sketch` made; its documents are compared with one another.
    #[arg(value_name = "FILE")]
    pub first: String,

    /// A second such file; then each document of the first is compared with each of the second.
    #[arg(value_name = "FILE2")]
    pub second: Option<String>,

    /// The estimate from which on a pair is listed; 0 lists all pairs.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// Only pairs that have one of these documents.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub of: Option<Vec<String>>,

    /// The share of pairs at the threshold that may be rejected before all their registers are compared, or `off`. Sketches of
    /// bits have no filter and lose no pair.
    #[arg(long, value_name = "E", default_value = "1e-6", allow_hyphen_values = true)]
    pub filter_error: String,

    /// The looks of the filter: numbers of registers, ascending, such as 16,32,64,128, after which a pair can be rejected.
    /// Without it, looks are at every 16 registers at first, and further apart later.
    #[arg(long, value_name = "K,K…", allow_hyphen_values = true)]
    pub looks: Option<String>,

    /// The share of pairs at the threshold that each look of the filter may reject, instead of `--filter-error` for all looks
    /// together. The total error of n looks can be n times this share; the summary states it.
    #[arg(long, value_name = "E", conflicts_with = "filter_error", allow_hyphen_values = true)]
    pub error_per_look: Option<String>,

    /// Where the pairs go; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// How pairs are written; a pair in `tsv` has its estimate and the standard error of it.
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub format: PairFormatArg,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    /// Threads to work with; all cores without it.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub threads: Option<String>,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// The similarity from which on two documents are near-duplicates.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    #[command(flatten)]
    pub bands: BandArgs,

    /// Registers of a sketch.
    #[arg(long, value_name = "K", default_value = "128", allow_hyphen_values = true)]
    pub registers: String,

    /// The standard error that an estimate at the threshold is to have; sketches are ranked by what they need for it.
    #[arg(long, value_name = "E", default_value = "0.02", allow_hyphen_values = true)]
    pub error: String,

    /// Show the filter, too: the looks at which a run puts pairs aside, and how many registers it compares until then.
    #[arg(long)]
    pub filter: bool,

    /// The share of pairs at the threshold that the filter may put aside.
    #[arg(long, value_name = "E", default_value = "1e-6", requires = "filter", allow_hyphen_values = true)]
    pub filter_error: String,

    /// How the plan is written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: PlanFormat,
}

#[derive(Debug, clap::Args)]
pub struct GenerateArgs {
    #[command(subcommand)]
    pub what: Generate,
}

#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// The manual page of the command, or of one of its subcommands.
    Man {
        /// The subcommand.
        subcommand: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct InputArgs {
    /// Files of JSONL, CSV, TSV, Parquet, Arrow IPC or WARC (plain, or compressed by gzip, zstd, bzip2 or xz), or documents: text,
    /// Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB, PDF; folders or globs of them; or `-`.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    #[command(flatten)]
    pub reading: ReadingArgs,
}

#[derive(Debug, clap::Args)]
pub struct ReadingArgs {
    /// The field or column that holds the text. A dot leads into an object (`meta.body`), `[]` into a list
    /// (`messages[].content`). Texts of a list are joined by a blank line. Several fields are given with commas (`title,body`)
    /// and joined by a line break.
    #[arg(long, value_name = "FIELD", default_value = "text", help_heading = "Reading")]
    pub text_field: String,

    /// The field or column that holds the id. Without one, the id is `file:line`, or `file:row`.
    #[arg(long, value_name = "FIELD", default_value = "id", help_heading = "Reading")]
    pub id_field: String,

    /// How text files are encoded: `utf-8` (anything else is rejected), `latin-1` or `auto`.
    #[arg(long, value_name = "ENCODING", default_value = "utf-8", help_heading = "Reading")]
    pub encoding: String,

    /// The character between the fields of CSV, or `tab`. Without it, a comma; or a semicolon or a tab, if the header has the
    /// field of the text only with that.
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    pub delimiter: Option<String>,

    /// The largest record that is read; a larger one is rejected.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", help_heading = "Reading")]
    pub max_record: String,

    /// The rule for a record whose text is null: `keep` keeps it, counts it and compares it with nothing, `reject` rejects
    /// it, and `error` ends the run. An archive leaves it out, and `check` always rejects it. A record without the field is
    /// rejected.
    #[arg(long, value_name = "RULE", default_value = "keep", help_heading = "Reading")]
    pub null: String,

    /// If a file found in a folder or by a pattern cannot be read (no permission, a broken link, a link loop), stop before
    /// anything is written. Without `--strict`, such a file is rejected and the run goes on. A file that you name must always
    /// be readable.
    #[arg(long, help_heading = "Reading")]
    pub strict: bool,

    /// Where temporary files go: input that is compressed or piped, parts of tables, texts found in documents, frequency tables,
    /// and what does not fit into memory. Without it they go to the folder of `dedup --work`, or else to the system's.
    #[arg(long, value_name = "DIR", help_heading = "Reading")]
    pub temp_dir: Option<String>,

    /// The format of the inputs: `auto` (told by content and name), `jsonl`, `csv`, `tsv`, `parquet`, `arrow`, `warc` (WARC and
    /// WET), `document` (each file is one, and its text is found), or `text` (each file is one, as it is).
    #[arg(long, value_name = "FORMAT", default_value = "auto", help_heading = "Reading")]
    pub input_format: String,
}

#[derive(Debug, clap::Args)]
pub struct TextArgs {
    /// How text is cut into shingles: `words:N`, `chars:N` or `terms`; with `,bag` behind it, repeats count.
    #[arg(long, value_name = "SHINGLING", default_value = "words:5", help_heading = "Spec")]
    pub shingle: String,

    /// How text is normalised: `nfkc+casefold`, `casefold` or `none`.
    #[arg(long, value_name = "FORM", default_value = "nfkc+casefold", help_heading = "Spec")]
    pub normalize: String,

    /// Take markup out of the text first.
    #[arg(long, help_heading = "Spec")]
    pub strip_markup: bool,

    /// What becomes of white space: `fold`, `keep` or `remove`.
    #[arg(long, value_name = "RULE", default_value = "fold", help_heading = "Spec")]
    pub whitespace: String,

    /// What becomes of a document shorter than a shingle: `one` shingle of all it has, or `reject`.
    #[arg(long, value_name = "RULE", default_value = "one", help_heading = "Spec")]
    pub short: String,
}

#[derive(Debug, clap::Args)]
pub struct SpecArgs {
    #[command(flatten)]
    pub text: TextArgs,

    /// The sketch: `minhash` (the default; also `minhash,modular`, `minhash,multiplicative` and `minhash,murmur3`), `min-max`,
    /// `one-permutation`, `super-minhash` or `fast-similarity`, with weights `dart` (the default), `icws` or `cws`, each with as
    /// many registers as `--registers` says; or a whole form such as `super-minhash:256`. Those that cannot be banded, such as
    /// `b-bit:2/minhash:256`, do for `sketch` and `compare`; `minwise compare A B --all` lists every form.
    #[arg(long, value_name = "SKETCH", help_heading = "Spec")]
    pub sketch: Option<String>,

    /// Registers of a sketch; 128 without it.
    #[arg(long, value_name = "K", help_heading = "Spec", allow_hyphen_values = true)]
    pub registers: Option<String>,

    /// The seed of the hash functions.
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Spec", allow_hyphen_values = true)]
    pub seed: String,
}

#[derive(Debug, clap::Args)]
pub struct WeightArgs {
    /// How shingles are weighed: `none`, `count`, `tf`, `tf-idf` or `tf-idf,smooth`. Similarities are weighted then.
    #[arg(long, value_name = "WEIGHTING", default_value = "none", help_heading = "Weights")]
    pub weight: String,

    /// The table of document frequencies, made by `minwise weights`; without it, the input is counted first.
    #[arg(long, value_name = "FILE", help_heading = "Weights")]
    pub weights: Option<String>,

    /// Leave out shingles that stand in more documents than this: a share such as `0.1`, or a number such as `500`.
    #[arg(long, value_name = "F", help_heading = "Weights", allow_hyphen_values = true)]
    pub max_df: Option<String>,

    /// Leave out the shingles of these texts, a form or a template: files or folders.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Weights")]
    pub ignore_text: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct BandArgs {
    /// The probability with which a pair exactly at the threshold is found; bands and rows follow from it.
    #[arg(
        long,
        value_name = "P",
        default_value = "0.99",
        help_heading = "Candidates",
        allow_hyphen_values = true
    )]
    pub recall: String,

    /// Bands, instead of those that follow from the recall; `--rows` goes with it.
    #[arg(long, value_name = "B", help_heading = "Candidates", allow_hyphen_values = true)]
    pub bands: Option<String>,

    /// Rows of a band, instead of those that follow from the recall.
    #[arg(long, value_name = "R", help_heading = "Candidates", allow_hyphen_values = true)]
    pub rows: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct SketchArgs {
    /// The exact similarity from which on two documents are near-duplicates.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// The measure that decides: `jaccard`, or `containment` (how much of the smaller document the larger one has).
    #[arg(long, value_name = "MEASURE", default_value = "jaccard")]
    pub measure: String,

    /// The share of common shingles that must stand in about the same places; similar documents with less are reordered,
    /// and no near-duplicates.
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub order: Option<String>,

    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub weights: WeightArgs,

    /// How candidates are found: `banding`; `sort-merge`, which counts shared shingles and misses nothing; `sort-merge,sketch`,
    /// which counts shared registers; or `all` pairs. With `--measure containment` it is `sort-merge`.
    #[arg(long, value_name = "WAY", help_heading = "Candidates")]
    pub candidates: Option<String>,

    #[command(flatten)]
    pub bands: BandArgs,

    /// Bits to keep of each register once the keys of its bands are known, to save memory: from 1 to 16, also 1.5 and the
    /// like, or 0.5, 0.25 or 0.125; all of them without it.
    #[arg(long, value_name = "BITS", help_heading = "Candidates", allow_hyphen_values = true)]
    pub bits: Option<String>,

    /// The share of pairs at the threshold that sketches may put aside before they are compared exactly, by the filter and by
    /// `--order`; or `off`.
    #[arg(
        long,
        value_name = "E",
        default_value = "1e-6",
        help_heading = "Candidates",
        allow_hyphen_values = true
    )]
    pub filter_error: String,

    /// The looks of the filter: numbers of registers, ascending, such as 16,32,64,128, after which a pair can be put aside.
    /// Without it, looks are at every 16 registers at first, or every 64 with `--bits`, and further apart later.
    #[arg(long, value_name = "K,K…", help_heading = "Candidates", allow_hyphen_values = true)]
    pub looks: Option<String>,

    /// The share of pairs at the threshold that each look of the filter may put aside, instead of `--filter-error` for all
    /// looks together. The total error of n looks can be n times this share; the summary states it.
    #[arg(
        long,
        value_name = "E",
        help_heading = "Candidates",
        conflicts_with = "filter_error",
        allow_hyphen_values = true
    )]
    pub error_per_look: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Threads to work with; all cores without it.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub threads: Option<String>,

    /// Allow this many rejected records: one more stops the run. Without it, any number is read past, and the exit code is 2.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_rejects: Option<String>,

    /// The most memory to take, such as `4GiB`; what does not fit goes to disk. Without it, half of the machine's (or of the
    /// control group's) on Linux, and 4 GiB elsewhere.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct OutputOptions {
    /// No progress and no summary; errors and warnings only.
    #[arg(long, short)]
    pub quiet: bool,

    /// List the skipped files, each with its reason. In folders and patterns, Minwise skips `.DS_Store`, `Thumbs.db`,
    /// `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside records, empty files other than files of records, and
    /// binary files of unknown format.
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,

    /// How messages on standard error are written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PairFormatArg {
    /// `id`, `id` and similarity, separated by tabs.
    Tsv,
    /// One JSON object a line.
    Jsonl,
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
    /// One JSON object a line.
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}
