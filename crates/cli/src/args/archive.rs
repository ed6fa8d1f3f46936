//! The options of the archive: `index`, `check` and `serve`.

use std::ffi::OsString;

use clap::{Subcommand, ValueEnum};

use super::{OutputOptions, ReadingArgs, SpecArgs};

#[derive(Debug, clap::Args)]
pub struct IndexArgs {
    #[command(subcommand)]
    pub what: IndexCommand,
}

#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Make an index.
    Create(IndexCreateArgs),
    /// Add documents: Word, OpenDocument, PDF, HTML and text files, folders of them, or records of JSONL, CSV, Parquet and Arrow
    /// files. One with an id that is there already is replaced if it has changed.
    Add(IndexAddArgs),
    /// Remove documents.
    Remove(IndexRemoveArgs),
    /// List documents.
    List(IndexListArgs),
    /// Show a document: what is known of it, and its text.
    Show(IndexShowArgs),
    /// Show what an index has, takes and was made with.
    Stats(IndexStatsArgs),
    /// Look at everything in an index, and say what is damaged; exit code 1 if anything is.
    Check(IndexCheckArgs),
    /// Make an index smaller and faster after many changes; what was removed leaves the disk, but for the last 64 MB of changes.
    Compact(IndexFolderArgs),
    /// Make one index of several with the same settings; of documents with one id, that of the last stays.
    Merge(IndexMergeArgs),
    /// Write all documents as lines of JSON.
    Export(IndexExportArgs),
    /// Add the documents of an exported index, to an index or a new one.
    Import(IndexImportArgs),
}

impl IndexCommand {
    pub fn output_options(&self) -> OutputOptions {
        match self {
            Self::Create(args) => args.messages,
            Self::Add(args) => args.messages,
            Self::Remove(args) => args.messages,
            Self::List(args) => args.messages,
            Self::Show(args) => args.messages,
            Self::Stats(args) => args.messages,
            Self::Check(args) => args.messages,
            Self::Compact(args) => args.messages,
            Self::Merge(args) => args.messages,
            Self::Export(args) => args.messages,
            Self::Import(args) => args.messages,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct IndexCreateArgs {
    /// The folder of the index: not there yet, or empty.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// The similarity from which on documents are to be found; it decides on bands and rows.
    #[arg(long, value_name = "T", default_value = "0.5", allow_hyphen_values = true)]
    pub threshold: String,

    /// The share of documents at the threshold that bands are to find.
    #[arg(long, value_name = "R", default_value = "0.996", allow_hyphen_values = true)]
    pub recall: String,

    /// Tokens of a shared passage that is certain to be found, however little it is of either document.
    #[arg(long, value_name = "N", default_value = "25", allow_hyphen_values = true)]
    pub passage: String,

    /// Bits of each register that are kept, from 1 to 16, or `all`.
    #[arg(long, value_name = "BITS", default_value = "8", allow_hyphen_values = true)]
    pub bits: String,

    /// Keep no texts, but shingles in their place: matches are found and measured, passages are not shown.
    #[arg(long)]
    pub no_text: bool,

    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexAddArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Files, folders or globs.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    /// A CSV file with a column `id` (for a file: its name as it is listed) and others, which become the metadata of the documents
    /// they name; a column `title` becomes their title.
    #[arg(long, value_name = "FILE")]
    pub meta: Option<String>,

    /// Fields or columns of records that become metadata, separated by commas.
    #[arg(long, value_name = "FIELDS")]
    pub meta_fields: Option<String>,

    /// Where all rejected records are listed, one JSON object per line, as in `rejects.jsonl` of a report.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<String>,

    /// Replace a list of rejects that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Threads; as many as there are cores without it.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub threads: Option<String>,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexFolderArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexRemoveArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Their ids; all of them are removed, or none.
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexListArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Only documents with this in their id, title or a value of their metadata, in small or capital letters.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub search: String,

    /// The newest first.
    #[arg(long)]
    pub newest: bool,

    /// How many at most; all without it.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub limit: Option<String>,

    /// How documents are written: `text` (id, length, title) or `jsonl`.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ListFormat,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexShowArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// The id of the document.
    #[arg(value_name = "ID")]
    pub id: String,

    /// How it is written: `text` (its text alone) or `jsonl`.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ListFormat,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexStatsArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// How they are written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ListFormat,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexCheckArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Take out documents that are damaged, and make everything that follows from the others anew.
    #[arg(long)]
    pub repair: bool,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexMergeArgs {
    /// Folders of indexes.
    #[arg(value_name = "INDEX", required = true, num_args = 1..)]
    pub folders: Vec<String>,

    /// The folder of the new index.
    #[arg(long, short, value_name = "DIR")]
    pub output: String,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexExportArgs {
    /// The folder of the index.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Where the lines go; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexImportArgs {
    /// The folder of the index; one with the settings of the export is made if there is none.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// An exported index, `-` for standard input.
    #[arg(value_name = "FILE")]
    pub input: String,

    #[command(flatten)]
    pub messages: OutputOptions,
}

/// How lists are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people.
    Text,
    /// One object a line.
    Jsonl,
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The documents: files, folders or globs of the kinds that `index add` takes; `-` for text from standard input.
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<OsString>,

    /// The folder of the index.
    #[arg(long, value_name = "DIR")]
    pub index: String,

    #[command(flatten)]
    pub matching: MatchArgs,

    /// Where a page with the passages side by side goes: one file that opens anywhere.
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,

    /// Where all rejected records are listed, one JSON object per line, as in `rejects.jsonl` of a report.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<String>,

    /// Replace a report or a list of rejects that exists.
    #[arg(long)]
    pub force: bool,

    /// How matches are written: `text`, or `jsonl` with the fields that the API of the server has.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ListFormat,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

/// What is a match, and what is no evidence.
#[derive(Debug, clap::Args)]
pub struct MatchArgs {
    /// Minimum Jaccard similarity of a match.
    #[arg(long, value_name = "T", default_value = "0.5", allow_hyphen_values = true)]
    pub threshold: String,

    /// Minimum containment of a match: a document is a match if at least this share of either text appears in the other.
    #[arg(long, value_name = "C", default_value = "0.3", allow_hyphen_values = true)]
    pub containment: String,

    /// Minimum length of a shared passage that makes a document a match, in tokens; without it, the length that the index is
    /// certain to find, and with `off`, no passage does.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub passage: Option<String>,

    /// Maximum number of matches per document, the best.
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub top: String,

    /// Maximum number of candidates that are compared, the most promising first; the answer counts the others.
    #[arg(long, value_name = "N", default_value = "1000", allow_hyphen_values = true)]
    pub candidates: String,

    /// Leave out the text of these files, such as that of a form.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Not evidence")]
    pub ignore_text: Vec<OsString>,

    /// Leave out shingles that stand in more documents of the index than this: a share below 1, or a number.
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Not evidence")]
    pub max_df: Option<String>,

    /// Leave out what stands in quotation marks.
    #[arg(long, help_heading = "Not evidence")]
    pub ignore_quotations: bool,

    /// Leave out lists of references at the end of documents.
    #[arg(long, help_heading = "Not evidence")]
    pub ignore_references: bool,

    /// Pass over documents that have the same value in this field of their metadata as the one that is checked, which has it from
    /// its file or record, or by `--set`; for records from standard input, `--input-format` has to say what they are.
    #[arg(long, value_name = "FIELD", help_heading = "Not evidence")]
    pub exclude: Vec<String>,

    /// Metadata of the documents that are checked, as `FIELD=VALUE`.
    #[arg(long, value_name = "FIELD=VALUE", help_heading = "Not evidence")]
    pub set: Vec<String>,

    /// Pass over documents before this date, such as `2026-03-01`, `2026-03` or `2026`.
    #[arg(long, value_name = "DATE", help_heading = "Not evidence")]
    pub since: Option<String>,

    /// Pass over documents after this date. The date is inclusive: `2026-03-01` compares documents of that day, `2026` those of
    /// that year.
    #[arg(long, value_name = "DATE", help_heading = "Not evidence")]
    pub until: Option<String>,

    /// The field of the metadata that has the date; without it, when a document was added.
    #[arg(long, value_name = "FIELD", help_heading = "Not evidence")]
    pub date_field: Option<String>,

    /// Show the weighted Jaccard similarity too: `count`, `tf`, `tf-idf` or `tf-idf,smooth`, by the documents of the index.
    #[arg(long, value_name = "WEIGHTING")]
    pub weight: Option<String>,
}
