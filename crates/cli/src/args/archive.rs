//! Options of the archive commands: `index`, `check` and `serve`.

use std::ffi::OsString;

use clap::{Subcommand, ValueEnum};

use super::{OutputOptions, QuietOptions, ReadingArgs, SpecArgs, ThreadArgs};

#[derive(Debug, clap::Args)]
pub struct IndexArgs {
    #[command(subcommand)]
    pub what: IndexCommand,
}

#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Create an empty archive.
    #[command(
        after_help = "Examples:\n  minwise index create archive\n  minwise index create archive --threshold 0.3 --passage 15"
    )]
    Create(IndexCreateArgs),
    /// Add documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and PDF files, folders of them, or records of
    /// JSONL, CSV, TSV, Parquet, Arrow IPC and WARC files. A document whose id is in the archive already is replaced if it has
    /// changed.
    #[command(
        after_help = "Examples:\n  minwise index add archive applications/\n  minwise index add archive articles.jsonl --meta-fields author,year\n  minwise index add archive applications/ --rejects rejects.jsonl"
    )]
    Add(IndexAddArgs),
    /// Remove documents from an archive.
    #[command(after_help = "Examples:\n  minwise index remove archive smith-2024.pdf")]
    Remove(IndexRemoveArgs),
    /// List the documents of an archive: id, length in characters, and title.
    #[command(
        after_help = "Examples:\n  minwise index list archive --newest --limit 20\n  minwise index list archive --search smith --format jsonl"
    )]
    List(IndexListArgs),
    /// Show the text of a document, or with `--format jsonl` everything that the archive stores about the document.
    #[command(
        after_help = "Examples:\n  minwise index show archive smith-2024.pdf\n  minwise index show archive smith-2024.pdf --format jsonl"
    )]
    Show(IndexShowArgs),
    /// Show the size and the settings of an archive.
    #[command(after_help = "Examples:\n  minwise index stats archive")]
    Stats(IndexStatsArgs),
    /// Read everything in an archive and list the damage. The exit code is 1 if something is damaged.
    #[command(
        after_help = "Examples:\n  minwise index check archive\n  minwise index check archive --repair"
    )]
    Check(IndexCheckArgs),
    /// Make an archive smaller and faster after many changes, and delete removed documents from disk. Compaction copies the
    /// archive, so it needs as much free disk space as the archive takes.
    #[command(after_help = "Examples:\n  minwise index compact archive")]
    Compact(IndexFolderArgs),
    /// Merge archives with the same settings into a new archive. If several archives have a document with the same id, the new
    /// archive gets the document of the archive that is named last.
    #[command(after_help = "Examples:\n  minwise index merge archive-2024 archive-2025 --output archive")]
    Merge(IndexMergeArgs),
    /// Write all documents of an archive as JSON lines, for a backup or another version of Minwise.
    #[command(after_help = "Examples:\n  minwise index export archive --output archive.jsonl")]
    Export(IndexExportArgs),
    /// Add the documents of an exported archive to an existing archive or a new one.
    #[command(after_help = "Examples:\n  minwise index import archive archive.jsonl")]
    Import(IndexImportArgs),
}

impl IndexCommand {
    pub fn output_options(&self) -> OutputOptions {
        match self {
            Self::Create(args) => args.messages.into(),
            Self::Add(args) => args.messages,
            Self::Remove(args) => args.messages.into(),
            Self::List(args) => args.messages.into(),
            Self::Show(args) => args.messages.into(),
            Self::Stats(args) => args.messages.into(),
            Self::Check(args) => args.messages.into(),
            Self::Compact(args) => args.messages.into(),
            Self::Merge(args) => args.messages.into(),
            Self::Export(args) => args.messages.into(),
            Self::Import(args) => args.messages.into(),
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct IndexCreateArgs {
    /// The folder of the new archive. It must not exist or must be empty.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Find documents whose similarity is at least T. Minwise chooses bands and rows for this threshold and for
    /// `--recall`.
    #[arg(long, value_name = "T", default_value = "0.5", allow_hyphen_values = true)]
    pub threshold: String,

    /// The probability of finding a document whose similarity is exactly the threshold.
    #[arg(long, value_name = "R", default_value = "0.996", allow_hyphen_values = true)]
    pub recall: String,

    /// Find shared passages of at least N words, however small their share of the documents is. In writing systems without
    /// spaces (such as Chinese), and with `--shingle chars:…`, N counts characters.
    #[arg(long, value_name = "N", default_value = "25", allow_hyphen_values = true)]
    pub passage: String,

    /// Keep this many bits of each register: a number from 1 to 16, such as 2 or 1.5, one of 0.5, 0.25 and 0.125, or `all`.
    /// Fewer bits take less room on disk, but more candidates have to be compared.
    #[arg(long, value_name = "BITS", default_value = "8", allow_hyphen_values = true)]
    pub bits: String,

    /// Store shingles instead of texts. Matches are found and measured, but passages cannot be shown.
    #[arg(long)]
    pub no_text: bool,

    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexAddArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Files, folders or globs, or `-` for standard input.
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    /// Read metadata from this CSV file, one row per document. Its column `id` has the id of the document, as `index list`
    /// prints it; its column `title`, if there is one, has the title; all other columns become metadata.
    #[arg(long, value_name = "FILE")]
    pub meta: Option<String>,

    /// Store these fields or columns of records as metadata, separated by commas.
    #[arg(long, value_name = "FIELDS")]
    pub meta_fields: Option<String>,

    /// List all rejected files and records in FILE, one JSON object per line, as in `rejects.jsonl` of a report.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<String>,

    /// Permit at most N rejected files and records: with up to N, the exit code is 0; with more, it is 2.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_rejects: Option<String>,

    /// Replace the file of `--rejects` if it exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub threads: ThreadArgs,

    #[command(flatten)]
    pub messages: OutputOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexFolderArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexRemoveArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// The ids of the documents. If one of the ids does not exist, nothing is removed.
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexListArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// List only documents whose id, title or metadata contains TEXT. Upper and lower case are the same.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub search: String,

    /// List the newest documents first.
    #[arg(long)]
    pub newest: bool,

    /// List at most N documents. Without the option, all are listed.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub limit: Option<String>,

    /// Print documents as `text` (id, length, title) or `jsonl`.
    #[arg(long, value_name = "FORMAT", default_value = "text", ignore_case = true)]
    pub format: ListFormat,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexShowArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// The id of the document.
    #[arg(value_name = "ID")]
    pub id: String,

    /// Print `text` (the text alone) or `jsonl` (everything).
    #[arg(long, value_name = "FORMAT", default_value = "text", ignore_case = true)]
    pub format: ListFormat,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexStatsArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Print the numbers in this format.
    #[arg(long, value_name = "FORMAT", default_value = "text", ignore_case = true)]
    pub format: ListFormat,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexCheckArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Remove damaged documents, and rebuild everything that the archive computes from the other documents.
    #[arg(long)]
    pub repair: bool,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexMergeArgs {
    /// The folders of the archives to merge.
    #[arg(value_name = "ARCHIVE", required = true, num_args = 1..)]
    pub folders: Vec<String>,

    /// The folder of the new archive.
    #[arg(long, short, value_name = "DIR")]
    pub output: String,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexExportArgs {
    /// The folder of the archive.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// Write the lines to FILE. Without the option, they go to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,

    /// Replace an output that exists.
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub messages: QuietOptions,
}

#[derive(Debug, clap::Args)]
pub struct IndexImportArgs {
    /// The folder of the archive. If it does not exist, an archive with the settings of the export is created.
    #[arg(value_name = "DIR")]
    pub folder: String,

    /// An exported archive, or `-` for standard input.
    #[arg(value_name = "FILE")]
    pub input: String,

    #[command(flatten)]
    pub messages: QuietOptions,
}

/// Format of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Jsonl,
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The documents to check: files, folders or globs of the formats that `index add` reads, or `-` for standard input.
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<OsString>,

    /// The folder of the archive.
    #[arg(long, value_name = "DIR")]
    pub index: String,

    #[command(flatten)]
    pub matching: MatchArgs,

    /// Write a web page with the shared passages side by side to FILE. It is one file that opens without a network.
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,

    /// List all rejected files and records in FILE, one JSON object per line, as in `rejects.jsonl` of a report.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<String>,

    /// Permit at most N rejected files and records: with up to N, the exit code is 0 or 1, as if all had been read; with more,
    /// it is 2.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_rejects: Option<String>,

    /// Replace the files of `--report` and `--rejects` if they exist.
    #[arg(long)]
    pub force: bool,

    /// Print matches as `text`, or as `jsonl` with the fields of the API of the server.
    #[arg(long, value_name = "FORMAT", default_value = "text", ignore_case = true)]
    pub format: ListFormat,

    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub threads: ThreadArgs,
    #[command(flatten)]
    pub messages: OutputOptions,
}

/// Options that decide which documents match, and which text is no evidence.
#[derive(Debug, clap::Args)]
pub struct MatchArgs {
    /// Report a document if its Jaccard similarity is at least T.
    #[arg(long, value_name = "T", default_value = "0.5", allow_hyphen_values = true)]
    pub threshold: String,

    /// Report a document if at least the share C of either text appears in the other.
    #[arg(long, value_name = "C", default_value = "0.3", allow_hyphen_values = true)]
    pub containment: String,

    /// Report a document that shares a passage of at least N words (characters in writing systems without spaces, such as
    /// Chinese). Without the option, N is the `--passage` that the archive was created with. With `off`, a shared passage alone is no match.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub passage: Option<String>,

    /// Show at most N matches per document, the best first.
    #[arg(long, value_name = "N", default_value = "10", allow_hyphen_values = true)]
    pub top: String,

    /// Compare at most N candidates per document, the most promising first. The output states how many candidates were
    /// not compared.
    #[arg(long, value_name = "N", default_value = "1000", allow_hyphen_values = true)]
    pub candidates: String,

    /// Show the N longest shared passages per match. Without the option, the terminal shows three passages, and
    /// `--report` and `--format jsonl` have all passages.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub passages: Option<String>,

    /// Leave out the text of these files, such as a form.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Text and documents to leave out")]
    pub ignore_text: Vec<OsString>,

    /// Leave out shingles that occur in more documents of the archive than this: a share such as `0.1` or `10%`, or a number
    /// such as `500`.
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        help_heading = "Text and documents to leave out"
    )]
    pub max_df: Option<String>,

    /// Leave out text in quotation marks.
    #[arg(long, help_heading = "Text and documents to leave out")]
    pub ignore_quotations: bool,

    /// Leave out lists of references at the end of documents.
    #[arg(long, help_heading = "Text and documents to leave out")]
    pub ignore_references: bool,

    /// Skip documents of the archive that have the same value of the metadata field FIELD as the checked document: `--exclude
    /// author` skips documents of the same author. The value of the checked document is in its file or record, or `--set
    /// author=NAME` gives it. If records come from standard input, `--input-format` is needed, too.
    #[arg(long, value_name = "FIELD", help_heading = "Text and documents to leave out")]
    pub exclude: Vec<String>,

    /// Set a metadata field of the checked documents.
    #[arg(long, value_name = "FIELD=VALUE", help_heading = "Text and documents to leave out")]
    pub set: Vec<String>,

    /// Skip documents of the archive before this date, such as `2026-03-01`, `2026-03` or `2026`.
    #[arg(long, value_name = "DATE", help_heading = "Text and documents to leave out")]
    pub since: Option<String>,

    /// Skip documents of the archive after this date. The date is inclusive: `2026-03-01` includes the documents of
    /// that day, and `2026` includes the documents of that year.
    #[arg(long, value_name = "DATE", help_heading = "Text and documents to leave out")]
    pub until: Option<String>,

    /// Take the date for `--since` and `--until` from this metadata field. Without the option, the date on which a document was
    /// added decides.
    #[arg(long, value_name = "FIELD", help_heading = "Text and documents to leave out")]
    pub date_field: Option<String>,

    /// Also show the weighted Jaccard similarity, with the document frequencies of the archive: `count`, `tf`, `tf-idf` or
    /// `tf-idf,smooth`.
    #[arg(long, value_name = "WEIGHTING")]
    pub weight: Option<String>,
}
