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
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = "Messages")]
    pub color: ColorChoice,
}

/// When messages have colour.
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
        minwise pairs articles.jsonl --of article-17 --format jsonl")]
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
    /// Serve an archive over HTTP: an API and a web page, both to add and to check documents.
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

    #[command(flatten)]
    pub near: NearArgs,

    /// Write the kept documents to OUT: a file, a folder with one file per input (`DIR/`, or an existing folder), or `-` for
    /// standard output. A file that ends in `.gz`, `.zst`, `.bz2` or `.xz` is compressed. If the extension belongs to another
    /// format than the inputs, records are converted: JSONL to `kept.parquet` becomes Parquet. Inputs that are texts need a
    /// folder.
    #[arg(long, short, value_name = "OUT", required_unless_present = "dry_run")]
    pub output: Option<String>,

    /// Write the removed documents to OUT. OUT takes the same forms as for `--output`.
    #[arg(long, value_name = "OUT", conflicts_with = "annotate")]
    pub removed: Option<String>,

    /// Write a report to the folder DIR: `index.html` for people, and `summary.json`, `pairs.tsv`, `clusters.jsonl`,
    /// `large-clusters.jsonl`, `reordered.tsv` and `rejects.jsonl` for programs.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,

    /// Write every document, and mark near-duplicates instead of removing them: the member or column `minwise` has the cluster
    /// of the document.
    #[arg(long)]
    pub annotate: bool,

    /// Also remove documents that repeat a document of REF: files, folders or globs. REF may have another format than INPUT; its
    /// text is in the same fields. Documents of REF are read only: none is removed, and none is written.
    #[arg(long, value_name = "REF", num_args = 1..)]
    pub against: Vec<OsString>,

    /// Keep this document of a cluster: `first` (the default; `longest` with `--measure containment`), `last`, `longest`,
    /// `shortest`, `newest:FIELD`, `oldest:FIELD`, `max:FIELD`, `min:FIELD` or `priority:FIELD=A,B,C`. If the option is given
    /// several times, each policy decides the ties of those before it, and input order decides the rest. Documents without the
    /// field come last.
    #[arg(long, value_name = "POLICY")]
    pub keep: Vec<String>,

    /// Decide, but write no documents. `--report` is still written.
    #[arg(long)]
    pub dry_run: bool,

    /// Replace outputs that exist. An output folder is replaced as a whole, with everything in it. In a report folder, only
    /// files of a report are replaced.
    #[arg(long)]
    pub force: bool,

    /// Form clusters in this way: `star` removes documents that are similar to the kept one, `components` removes documents
    /// that are connected with the kept one by similar pairs.
    #[arg(long, value_name = "CLUSTERING", default_value = "star", help_heading = "Near-duplicates")]
    pub cluster: String,

    /// Remove nothing from clusters of more than N documents. The report lists these clusters in `large-clusters.jsonl`, the
    /// 1,000 largest with the passages that their documents share (documents over 1 MiB excepted).
    #[arg(long, value_name = "N", help_heading = "Near-duplicates")]
    pub max_cluster: Option<String>,

    /// Write outputs in this format: `jsonl`, `csv`, `tsv`, `parquet`, `arrow` or `warc`. The option overrides the names of the
    /// outputs; in a folder, every file is converted. Without it, the extension of the output decides. If there is no known
    /// extension, and on standard output, the format is that of the inputs.
    #[arg(long, value_name = "FORMAT", help_heading = "Output format")]
    pub output_format: Option<String>,

    /// Compress the inside of Parquet and Arrow IPC outputs with this codec: `keep`, `none`, `snappy`, `gzip`, `lz4` or `zstd`.
    /// `keep` takes the codec of the input. If records are converted, `keep` is `zstd` for Parquet and `none` for Arrow IPC.
    #[arg(long, value_name = "CODEC", default_value = "keep", help_heading = "Output format")]
    pub compression: String,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub sketch: SketchArgs,

    /// Measure the recall on a sample of N documents, which are compared with all others without bands. `auto`: up to 1,000
    /// documents, within 5 % of the run time; none if documents are very many and short. `off` or 0: no sample.
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
    /// Keep the progress of the run in the folder DIR, so that `--resume` can continue it. The folder is removed at the end.
    #[arg(long = "work", id = "work", value_name = "DIR", help_heading = "Resources")]
    pub folder: Option<String>,

    /// Continue the run in `--work`. If there is none, start one.
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

    /// List only the near-duplicates of these documents.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub of: Option<Vec<String>>,

    /// Write pairs in this format. A pair has its exact similarity.
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub format: PairFormatArg,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub sketch: SketchArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// The first document: a file of any format that Minwise reads, or `FILE#ID` for a record of a file.
    #[arg(value_name = "A")]
    pub left: String,

    /// The second document.
    #[arg(value_name = "B")]
    pub right: String,

    /// Exit with code 1 if the similarity is below this value.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// Compare the threshold with this measure: `jaccard`, or `containment` (the share of the smaller document that the larger
    /// one contains).
    #[arg(long, value_name = "MEASURE", default_value = "jaccard")]
    pub measure: String,

    /// Show at most N shared passages, the longest first.
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub passages: String,

    /// Also print the estimate of every kind of sketch, each with 1,024 registers or stored bits, beside the exact value.
    #[arg(long)]
    pub all: bool,

    /// Print the comparison in this format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
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
    /// A file that `minwise sketch` wrote. Its documents are compared with one another.
    #[arg(value_name = "FILE")]
    pub first: String,

    /// A second file that `minwise sketch` wrote. Each document of the first file is compared with each of the second.
    #[arg(value_name = "FILE2")]
    pub second: Option<String>,

    /// List a pair if its estimate is at least this value; 0 lists all pairs.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// Write the pairs to FILE. Without the option, they go to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// List only pairs with one of these documents.
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub of: Option<Vec<String>>,

    /// Write pairs in this format. A pair has its estimate and the standard error of the estimate.
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub format: PairFormatArg,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    /// Allow the filter to lose this share of the pairs at the threshold, or switch the filter `off`. The filter rejects a pair
    /// before all its registers are compared. Sketches of bits have no filter and lose no pair.
    #[arg(
        long,
        value_name = "E",
        default_value = "1e-6",
        help_heading = "Filter",
        allow_hyphen_values = true
    )]
    pub filter_error: String,

    /// Reject pairs after these numbers of registers, ascending, such as 16,32,64,128. Without it, the filter looks at every 16
    /// registers at first, and less often later.
    #[arg(long, value_name = "K,K…", help_heading = "Filter", allow_hyphen_values = true)]
    pub looks: Option<String>,

    /// Allow each look of the filter to lose this share of the pairs at the threshold, instead of `--filter-error` for all looks
    /// together. With n looks, up to n times this share can be lost; the summary states the total.
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
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// The similarity from which two documents are near-duplicates.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    #[command(flatten)]
    pub bands: BandArgs,

    /// The number of registers per sketch.
    #[arg(long, value_name = "K", default_value = "128", allow_hyphen_values = true)]
    pub registers: String,

    /// Also show the S-curve, the memory per document, and which sketches reach the standard error of `--error`.
    #[arg(long)]
    pub details: bool,

    /// The standard error that an estimate at the threshold should have. `--details` ranks sketches by the bytes that they need
    /// for it.
    #[arg(long, value_name = "E", default_value = "0.02", allow_hyphen_values = true)]
    pub error: String,

    /// Also show the filter: after how many registers a run rules pairs out, and how many registers it compares until then.
    #[arg(long)]
    pub filter: bool,

    /// The share of pairs at the threshold that the filter may lose.
    #[arg(long, value_name = "E", default_value = "1e-6", requires = "filter", allow_hyphen_values = true)]
    pub filter_error: String,

    /// Print the plan in this format. `json` has all that `--details` shows, and the filter only with `--filter`.
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
    /// Write completions for all shells and all manual pages to a folder: `DIR/completions` and `DIR/man/man1`.
    #[command(after_help = "Examples:\n  minwise generate all share")]
    All {
        /// The folder. It is created if it does not exist; files of the same names are replaced.
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

    /// Read the id from this field or column. Without such a field, the id is `file:line` or `file:row`.
    #[arg(long, value_name = "FIELD", default_value = "id", help_heading = "Reading")]
    pub id_field: String,

    /// Read inputs in this format: `auto` (found by content and name), `jsonl`, `csv`, `tsv`, `parquet`, `arrow`, `warc` (WARC
    /// and WET), `document` (each file is a document, whose text is extracted), or `text` (each file is a text).
    #[arg(long, value_name = "FORMAT", default_value = "auto", help_heading = "Reading")]
    pub input_format: String,

    /// The encoding of text files: `utf-8` (other bytes are rejected), `latin-1` or `auto`.
    #[arg(long, value_name = "ENCODING", default_value = "utf-8", help_heading = "Reading")]
    pub encoding: String,

    /// Split the records of CSV at this character; `tab` stands for a tab. Without the option, Minwise tries a comma, a semicolon
    /// and a tab, and takes the first one that finds the text field in the header.
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    pub delimiter: Option<String>,

    /// Treat a record whose text is null by this rule: `keep` keeps it and compares it with nothing, `reject` rejects it, and
    /// `error` ends the run. An archive leaves such records out, and `check` always rejects them. A record without the field is
    /// always rejected.
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

    /// Put temporary files into this folder: decompressed and piped input, parts of tables, extracted texts, and data that does
    /// not fit into memory. Without it, they go to the folder of `dedup --work`, or else to the temporary folder of the system.
    #[arg(long, value_name = "DIR", help_heading = "Reading")]
    pub temp_dir: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct TextArgs {
    /// Cut text into shingles in this way: `words:N`, `chars:N` or `terms`. With `,bag` behind it, repeated shingles count.
    #[arg(long, value_name = "SHINGLING", default_value = "words:5", help_heading = "Text and sketches")]
    pub shingle: String,

    /// Normalise text in this way before it is cut: `nfkc+casefold`, `casefold` or `none`.
    #[arg(long, value_name = "FORM", default_value = "nfkc+casefold", help_heading = "Text and sketches")]
    pub normalize: String,

    /// Remove markup from the text first.
    #[arg(long, help_heading = "Text and sketches")]
    pub strip_markup: bool,

    /// Treat white space by this rule: `fold` makes one space of each run of it, `keep` keeps it, and `remove` removes it.
    #[arg(long, value_name = "RULE", default_value = "fold", help_heading = "Text and sketches")]
    pub whitespace: String,

    /// Treat a document shorter than a shingle by this rule: `one` makes one shingle of the whole text, `reject` rejects the
    /// document.
    #[arg(long, value_name = "RULE", default_value = "one", help_heading = "Text and sketches")]
    pub short: String,
}

#[derive(Debug, clap::Args)]
pub struct SpecArgs {
    #[command(flatten)]
    pub text: TextArgs,

    /// The kind of sketch: `minhash` (the default; also `minhash,modular`, `minhash,multiplicative` and `minhash,murmur3`),
    /// `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`; for weighted shingles `dart` (the default), `icws` or
    /// `cws`. `--registers` sets its size, unless the form has it: `super-minhash:256`. Sketches that cannot be banded, such as
    /// `b-bit:2/minhash:256`, work with `sketch` and `compare` only. `minwise compare A B --all` lists every kind.
    #[arg(long, value_name = "SKETCH", help_heading = "Text and sketches")]
    pub sketch: Option<String>,

    /// The number of registers per sketch [default: 128].
    #[arg(long, value_name = "K", help_heading = "Text and sketches", allow_hyphen_values = true)]
    pub registers: Option<String>,

    /// The seed of the hash functions.
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
    /// Weigh shingles in this way: `none`, `count`, `tf`, `tf-idf` or `tf-idf,smooth`. With weights, similarity is the weighted
    /// Jaccard similarity.
    #[arg(long, value_name = "WEIGHTING", default_value = "none", help_heading = "Weights")]
    pub weight: String,

    /// Read document frequencies from FILE, which `minwise weights` wrote. Without the option, `dedup` and `pairs` count their
    /// input first. `compare` needs FILE for `tf-idf` and for `--max-df`, because two documents are too few to count.
    #[arg(long, value_name = "FILE", help_heading = "Weights")]
    pub weights: Option<String>,

    /// Leave out shingles that occur in more documents than this: a share such as `0.1`, or a number such as `500`.
    #[arg(long, value_name = "F", help_heading = "Weights", allow_hyphen_values = true)]
    pub max_df: Option<String>,

    /// Leave out the shingles of these texts, such as a form or a template: files or folders.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Weights")]
    pub ignore_text: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct BandArgs {
    /// The probability with which a pair exactly at the threshold is found. Bands and rows follow from it.
    #[arg(
        long,
        value_name = "P",
        default_value = "0.99",
        help_heading = "Recall and candidates",
        conflicts_with_all = ["bands", "rows"],
        allow_hyphen_values = true
    )]
    pub recall: String,

    /// Cut sketches into B bands, instead of the number that follows from `--recall`. The option needs `--rows`.
    #[arg(long, value_name = "B", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub bands: Option<String>,

    /// Give each band R rows, which are registers, instead of the number that follows from `--recall`. The option needs
    /// `--bands`.
    #[arg(long, value_name = "R", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub rows: Option<String>,
}

/// What makes two documents near-duplicates.
#[derive(Debug, clap::Args)]
pub struct NearArgs {
    /// The exact similarity from which two documents are near-duplicates.
    #[arg(long, value_name = "T", default_value = "0.8", allow_hyphen_values = true)]
    pub threshold: String,

    /// Measure similarity in this way: `jaccard`, or `containment` (the share of the smaller document that the larger one
    /// contains).
    #[arg(long, value_name = "MEASURE", default_value = "jaccard", help_heading = "Near-duplicates")]
    pub measure: String,

    /// The share of common shingles that must be in about the same places. Similar documents below it are reordered, not
    /// near-duplicates.
    #[arg(long, value_name = "Q", help_heading = "Near-duplicates", allow_hyphen_values = true)]
    pub order: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct SketchArgs {
    #[command(flatten)]
    pub bands: BandArgs,

    /// Find candidates in this way: `banding` (the default), `sort-merge` (counts shared shingles and misses nothing; the
    /// default with `--measure containment`), `sort-merge,sketch` (counts shared registers), or `all` (compares all pairs).
    #[arg(long, value_name = "WAY", help_heading = "Recall and candidates")]
    pub candidates: Option<String>,

    /// Keep only this many bits per register after banding, to save memory: 1 to 16, fractions such as 1.5, or 0.5, 0.25 or
    /// 0.125. Without it, all bits are kept.
    #[arg(long, value_name = "BITS", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub bits: Option<String>,

    /// Allow sketches to rule out this share of the pairs at the threshold by mistake, or switch the filter `off`. It applies
    /// to the filter and to `--order`.
    #[arg(
        long,
        value_name = "E",
        default_value = "1e-6",
        help_heading = "Recall and candidates",
        allow_hyphen_values = true
    )]
    pub filter_error: String,

    /// Rule pairs out after these numbers of registers, ascending, such as 16,32,64,128. Without it, the filter looks at every 16
    /// registers at first (every 64 with `--bits`), and less often later.
    #[arg(long, value_name = "K,K…", help_heading = "Recall and candidates", allow_hyphen_values = true)]
    pub looks: Option<String>,

    /// Allow each look of the filter to lose this share of the pairs at the threshold, instead of `--filter-error` for all looks
    /// together. With n looks, up to n times this share can be lost; the summary states the total.
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

    /// Use at most this much memory, such as `4GiB`. Data that does not fit goes to disk. Without it, the limit is half of the
    /// memory of the machine or of its control group on Linux, and 4 GiB elsewhere.
    #[arg(long, value_name = "SIZE", help_heading = "Resources")]
    pub memory: Option<String>,

    /// Permit at most N rejected records: the exit code is then 0, and a run that rejects more than N stops at once. Without the
    /// option, a run continues however many records it rejects, and its exit code is 2 if it rejects any.
    #[arg(long, value_name = "N", help_heading = "Reading", allow_hyphen_values = true)]
    pub max_rejects: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct OutputOptions {
    /// Print errors and warnings only: no progress and no summary.
    #[arg(long, short, help_heading = "Messages")]
    pub quiet: bool,

    /// List the skipped files, each with its reason. In folders and globs, Minwise skips `.DS_Store`, `Thumbs.db`,
    /// `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside records, empty files other than files of records, and
    /// binary files of unknown format.
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Messages")]
    pub verbose: bool,

    /// Write messages to standard error in this format.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Messages")]
    pub log: LogFormat,
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
pub enum PlanFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}
