//! The error type of this crate.
//!
//! `Display` writes a whole sentence for a person: the action that failed, the place and the reason. The sentence
//! contains the words of the operating system, so `source` returns only the causes of that error, and a printed chain
//! repeats nothing.

use std::fmt;
use std::io;
use std::path::Path;

use minwise::figure::grouped;
use minwise::{Sentence, escape_control, visible};

use crate::format::Format;
use crate::problem::FileProblem;
use crate::reject::RejectReason;
use crate::unconverted::Unconverted;

/// Reason why documents could not be read or written.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    cause: Option<io::Error>,
}

/// Kind of an error, with the facts that a program may need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused an action.
    Io {
        /// Action that failed, as a verb: `open`, `read`, `write`.
        action: &'static str,
        /// File or folder of the action.
        name: String,
    },
    /// A path that does not exist, or a word without a wildcard that names no file.
    NotFound {
        /// Input as typed.
        input: String,
    },
    /// No input was given.
    NoInput,
    /// A pattern that is not valid.
    BadPattern {
        /// Pattern as typed.
        pattern: String,
        /// Fault in the pattern.
        message: String,
    },
    /// A pattern that matches no file.
    NoMatch {
        /// Pattern as typed.
        pattern: String,
    },
    /// A folder without any file in it.
    EmptyFolder {
        /// Folder as typed.
        folder: String,
    },
    /// The folder is an archive of Minwise, which holds no files to read.
    Archive {
        /// Folder as typed.
        folder: String,
    },
    /// A folder or a pattern that leads only to files that are no documents.
    OnlySkipped {
        /// Folder or pattern as typed.
        input: String,
        /// Number of skipped files.
        files: usize,
        /// Name of the first skipped file.
        first: String,
    },
    /// A file was found and cannot be read. This is an error if the caller set `strict`, or if no other file can be
    /// read.
    Unreadable {
        /// Name of the file.
        name: String,
        /// Reason in words.
        message: String,
        /// Number of further files that cannot be read.
        others: usize,
        /// Whether [`ReadOptions::strict`](crate::ReadOptions::strict) makes the file an error.
        strict: bool,
    },
    /// A file that was named twice.
    RepeatedInput {
        /// Name under which the file was given the second time.
        input: String,
        /// Name under which the file was given the first time.
        first: String,
    },
    /// Inputs of more than one format.
    MixedFormats {
        /// Name of an input.
        first: String,
        /// Format of `first`.
        first_format: Format,
        /// Name of an input of another format.
        second: String,
        /// Format of `second`.
        second_format: Format,
    },
    /// A file of records with invalid content.
    Inside {
        /// Name of the file.
        name: String,
        /// Problem in the file.
        problem: FileProblem,
    },
    /// Two tables that cannot be written as one.
    SchemasDiffer {
        /// Name of a file.
        first: String,
        /// Name of a file whose columns differ from the columns of `first`.
        second: String,
        /// First difference.
        difference: String,
    },
    /// Two inputs whose outputs would have the same name.
    SameOutputName {
        /// Name of an input.
        first: String,
        /// Name of the other input.
        second: String,
        /// Name in the output folder.
        output: String,
    },
    /// Standard input or documents in memory, which have no file name for their output.
    NoOutputName {
        /// Name of the source.
        name: String,
    },
    /// A compression that the format of the output does not have.
    NoSuchCompression {
        /// Name of the compression.
        compression: &'static str,
        /// Format of the output.
        format: Format,
        /// Compressions that outputs of the format can have, in words.
        hint: &'static str,
    },
    /// A format or a compression that the program was built without.
    MissingFeature {
        /// Name of the file that was to be read or written, if it is known.
        name: Option<String>,
        /// Format or compression, in words.
        what: &'static str,
        /// Feature of this crate that provides the format or the compression.
        feature: &'static str,
    },
    /// Records that cannot be written in the format of an output.
    Conversion(Unconverted),
    /// A format whose records have no room for an annotation.
    NoAnnotation {
        /// Format of the records.
        format: Format,
    },
    /// A compressed stream that is cut off or damaged.
    Damaged {
        /// Name of the file.
        name: String,
        /// Compression: `gzip`, `zstd`, `bzip2` or `xz`.
        compression: &'static str,
        /// Number of bytes that were decompressed before the damage.
        at: u64,
        /// Message of the decoder.
        message: String,
    },
    /// A file that has changed since it was opened.
    Changed {
        /// Name of the file.
        name: String,
    },
    /// A record that was read by its place and is no document.
    BadRecord {
        /// Name of the source of the record.
        name: String,
        /// Offset in the source at which the record begins.
        offset: u64,
        /// Reason why the record is no document.
        reason: RejectReason,
    },
    /// A place that lies outside the corpus.
    NoSuchPlace {
        /// Number of the requested source.
        source: u32,
        /// Offset of the requested record.
        offset: u64,
    },
    /// An offset that does not fit the bytes it points into. Offsets are counted while bytes are read, so only a bug
    /// causes this error.
    Misplaced {
        /// Name of the source from which the bytes were read.
        name: String,
        /// Offset, in bytes.
        offset: u64,
    },
    /// A value that an option does not take.
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// Value as typed.
        given: String,
        /// Values that the option takes, in words.
        expected: &'static str,
    },
    /// A file that is both a reference and an input.
    ReferenceIsInput {
        /// Name of the file as a reference.
        reference: String,
        /// Name of the file as an input.
        input: String,
    },
    /// A field was named, but the inputs are whole texts, which have no fields.
    NoFields {
        /// Path of the field.
        field: String,
    },
    /// One of several text fields that none of the first records has.
    NoTextField {
        /// Path of the field.
        field: String,
        /// Number of records that were searched.
        records: u64,
        /// Fields of the first record.
        fields: Vec<String>,
    },
    /// More inputs than can be numbered.
    TooManyInputs,
    /// The caller asked to stop.
    Cancelled,
    /// An output that exists already.
    OutputExists {
        /// Whether the path is a folder, all of whose files would be replaced.
        is_folder: bool,
        /// Path of the output.
        path: String,
    },
    /// An output folder with files that the run would not write.
    OtherFiles {
        /// Path of the folder.
        path: String,
        /// Path of one of these files.
        file: String,
        /// Path of a file in the folder that could be the output instead, if there is a single input.
        instead: Option<String>,
    },
    /// An output whose folder does not exist.
    NoParent {
        /// Path of the output.
        path: String,
        /// Folder that should hold the output.
        parent: String,
    },
    /// An output whose name is empty.
    EmptyOutputName,
    /// A folder where a file was to be written, or a file where a folder was to be written.
    WrongOutputKind {
        /// Path of the output.
        path: String,
        /// Kind of entry that `path` names or that exists there.
        found: &'static str,
    },
    /// An output that would overwrite an input.
    Overlap {
        /// Path of the output.
        output: String,
        /// Input that the output would overwrite.
        input: String,
    },
    /// Two outputs that would overwrite one another.
    SharedOutput {
        /// Settings that name the outputs.
        settings: [&'static str; 2],
        /// Paths of the outputs.
        paths: [String; 2],
    },
    /// An output that lies in a folder that is read as input.
    OutputInsideInput {
        /// Path of the output.
        output: String,
        /// Folder as typed.
        folder: String,
    },
    /// A name in an output folder that leads out of the folder, or that was already written.
    BadOutputName {
        /// Name in the output folder.
        name: String,
        /// Fault in the name.
        message: &'static str,
    },
    /// A line to be annotated that is not a JSON object.
    NotAnObject {
        /// Fault in the line.
        message: String,
    },
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

/// `Result` with this crate's [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self { kind: Box::new(kind), cause: None }
    }

    /// Makes an error about the content of a file.
    pub(crate) fn inside(name: impl Into<String>, problem: FileProblem) -> Self {
        Self::new(ErrorKind::Inside { name: name.into(), problem })
    }

    /// Makes an operating-system error about `name`.
    pub(crate) fn io(action: &'static str, name: impl Into<String>, cause: io::Error) -> Self {
        Self { kind: Box::new(ErrorKind::Io { action, name: name.into() }), cause: Some(cause) }
    }

    /// Makes an operating-system error about a path.
    pub(crate) fn path(action: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::io(action, path.to_string_lossy(), cause)
    }

    /// Returns the kind of the error, for programs.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns the stable name of the kind of error, for programs and logs.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns the error of the operating system that caused this error, if there is one.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.cause.as_ref()
    }

    /// Returns the message, in which settings are data.
    pub fn message(&self) -> Sentence {
        match &*self.kind {
            ErrorKind::SharedOutput { settings: [first, second], paths: [one, other] } => Sentence::new()
                .setting(*first)
                .text(format!(" `{}` and ", shown(one)))
                .setting(*second)
                .text(format!(" `{}` would overwrite one another", shown(other))),
            _ => self.to_string().into(),
        }
    }

    /// Returns a hint that explains how to repair the error, if there is one.
    pub fn hint(&self) -> Option<Sentence> {
        let hint: Sentence = match &*self.kind {
            ErrorKind::NotFound { input } => not_found(input),
            ErrorKind::NoInput => "give a file, a folder, a quoted pattern, or `-` for standard input".into(),
            ErrorKind::BadPattern { .. } => {
                "`*` stands for any name, `**` for any folders, `[ab]` for a or b".into()
            }
            ErrorKind::NoMatch { pattern } => format!(
                "check the spelling, and quote the pattern: `'{}'`; `**` reaches into folders",
                shown(pattern)
            )
            .into(),
            ErrorKind::EmptyFolder { .. } => "folders are searched in full, hidden files included".into(),
            ErrorKind::Archive { .. } => "name the files or folders of the documents".into(),
            ErrorKind::OnlySkipped { .. } => "to read a skipped file, name it as an input".into(),
            ErrorKind::Unreadable { strict: true, .. } => Sentence::from("without ")
                .setting("strict")
                .text(", files that cannot be read are rejected and the others are read"),
            ErrorKind::Unreadable { strict: false, .. } => {
                "check the permissions of the files and the targets of the links".into()
            }
            ErrorKind::RepeatedInput { .. } => {
                "name each file once: read twice, all its documents would be duplicates".into()
            }
            ErrorKind::MixedFormats { first_format, second_format, .. }
                if first_format.is_in_memory() || second_format.is_in_memory() =>
            {
                Sentence::from("run each kind separately; references (")
                    .setting("against")
                    .text(") may be of another kind")
            }
            ErrorKind::MixedFormats { .. } => {
                Sentence::from("give a pattern that matches one kind, or say what they are with ")
                    .setting("input-format")
            }
            ErrorKind::Inside { problem, .. } => return problem.hint(),
            ErrorKind::SchemasDiffer { .. } => {
                Sentence::new().setting_to("output", "DIR/").text(" writes one file for each input")
            }
            ErrorKind::ReferenceIsInput { .. } => Sentence::from("nothing would be left of it; without ")
                .setting("against")
                .text(", what repeats within the inputs is removed"),
            ErrorKind::NoFields { .. } => {
                "texts can be told apart by `first`, `last`, `longest` and `shortest`".into()
            }
            ErrorKind::NoTextField { fields, .. } => fields_of_first_record(fields).into(),
            ErrorKind::NoOutputName { .. } => {
                "write to one file, such as `kept.jsonl`, or to standard output, `-`".into()
            }
            ErrorKind::SameOutputName { .. } => {
                "give the folder that holds both, rename one of them, or write to one file".into()
            }
            ErrorKind::NoSuchCompression { hint, .. } => (*hint).into(),
            ErrorKind::MissingFeature { feature, .. } => format!(
                "build the program with the feature `{feature}`, which `minwise-corpus`, `minwise-engine` and `minwise-cli` have"
            )
            .into(),
            ErrorKind::Conversion(unconverted) => unconverted.hint(),
            ErrorKind::NoAnnotation { .. } => Sentence::new()
                .setting_to("report", "DIR")
                .text(" writes the clusters of any input to `DIR/clusters.jsonl`"),
            ErrorKind::Misplaced { .. } => "this is a bug of Minwise: please report it".into(),
            ErrorKind::Changed { .. } => "run again when nothing writes to it".into(),
            ErrorKind::Damaged { message, .. } if message == TRAILING => {
                "`gzip -dc FILE > NEW` writes the stream without the bytes behind it".into()
            }
            ErrorKind::Damaged { .. } => "the file may have been cut short while it was copied".into(),
            ErrorKind::OutputExists { is_folder: true, .. } => {
                Sentence::new().setting("force").text(" replaces the files in it")
            }
            ErrorKind::OtherFiles { instead: Some(instead), .. } => {
                format!("name a file in it, such as `{}`, or a new folder", shown(instead)).into()
            }
            ErrorKind::OtherFiles { .. } => "name a new folder".into(),
            ErrorKind::OutputExists { .. } => Sentence::new().setting("force").text(" replaces it"),
            ErrorKind::NoParent { parent, .. } => format!("`mkdir -p {}`", shown(parent)).into(),
            ErrorKind::Overlap { .. } | ErrorKind::OutputInsideInput { .. } => {
                "write somewhere outside the inputs".into()
            }
            ErrorKind::Io { name, .. } => return self.io_hint(name),
            ErrorKind::WrongOutputKind { found, .. } if found.starts_with("a link") => {
                "remove the link, or name another folder".into()
            }
            ErrorKind::WrongOutputKind { found: "a file", .. } => {
                "name a folder that does not exist yet, or an empty one".into()
            }
            ErrorKind::BadOption { option, given, .. } => return option_hint(option, given),
            ErrorKind::BadRecord { .. }
            | ErrorKind::WrongOutputKind { .. }
            | ErrorKind::NoSuchPlace { .. }
            | ErrorKind::TooManyInputs
            | ErrorKind::Cancelled
            | ErrorKind::EmptyOutputName
            | ErrorKind::SharedOutput { .. }
            | ErrorKind::BadOutputName { .. }
            | ErrorKind::NotAnObject { .. } => return None,
        };
        Some(hint)
    }

    fn io_hint(&self, name: &str) -> Option<Sentence> {
        match self.cause.as_ref()?.kind() {
            io::ErrorKind::StorageFull if name == SPOOL || name == TEMPORARY => {
                Some(Sentence::new().setting("temp-dir").text(" puts it on another disk"))
            }
            io::ErrorKind::StorageFull => Some("free some space, or write to another disk".into()),
            _ => None,
        }
    }

    /// Reports whether the reader of our output closed its end of the pipe, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        self.cause.as_ref().is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Reports whether the caller cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(&*self.kind, ErrorKind::Cancelled)
    }
}

/// Returns a hint for a name that is not among the encodings of `encoding`.
fn encoding_hint(given: &str) -> Sentence {
    if ["ascii", "us-ascii"].contains(&given.to_ascii_lowercase().as_str()) {
        return "ASCII is a part of `utf-8`, which is the default".into();
    }
    // WHATWG has no label for code page 932, the name that Python and Windows use for Shift_JIS.
    let known = match given.to_ascii_lowercase().as_str() {
        "cp932" => Some(encoding_rs::SHIFT_JIS),
        label => encoding_rs::Encoding::for_label(label.replace('_', "-").as_bytes())
            .or_else(|| encoding_rs::Encoding::for_label(label.as_bytes())),
    };
    match known {
        Some(latin1) if latin1 == encoding_rs::WINDOWS_1252 => {
            "`latin-1` reads Windows-1252, which has all characters of Latin-1".into()
        }
        Some(known) => {
            let name = if given.eq_ignore_ascii_case("utf-16") { "UTF-16" } else { known.name() };
            let iconv = name.to_ascii_lowercase();
            format!("`auto` guesses the encoding of each file; `iconv -f {iconv} -t utf-8 FILE > NEW` converts a file from {name}")
                .into()
        }
        None => "`auto` guesses the encoding of each file; `iconv -f NAME -t utf-8 FILE > NEW` converts a file, and `iconv -l` lists the names"
            .into(),
    }
}

/// Returns a hint that lists the fields of the first record.
fn fields_of_first_record(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| format!("`{}`", shown(field))).collect();
    match fields.as_slice() {
        [only] => format!("the only field of the first record is {only}"),
        all => format!("the fields of the first record are {}", all.join(", ")),
    }
}

impl ErrorKind {
    /// Returns a stable name, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io",
            Self::NotFound { .. } => "not_found",
            Self::NoInput => "no_input",
            Self::BadPattern { .. } => "bad_pattern",
            Self::NoMatch { .. } => "no_match",
            Self::EmptyFolder { .. } => "empty_folder",
            Self::Archive { .. } => "archive",
            Self::OnlySkipped { .. } => "only_skipped",
            Self::Unreadable { .. } => "unreadable",
            Self::RepeatedInput { .. } => "repeated_input",
            Self::MixedFormats { .. } => "mixed_formats",
            Self::Inside { problem, .. } => problem.code(),
            Self::SchemasDiffer { .. } => "schemas_differ",
            Self::SameOutputName { .. } => "same_output_name",
            Self::NoOutputName { .. } => "no_output_name",
            Self::NoSuchCompression { .. } => "no_such_compression",
            Self::MissingFeature { .. } => "missing_feature",
            Self::Conversion(unconverted) => unconverted.code(),
            Self::NoAnnotation { .. } => "no_annotation",
            Self::Damaged { .. } => "damaged",
            Self::Changed { .. } => "changed",
            Self::BadRecord { .. } => "bad_record",
            Self::NoSuchPlace { .. } => "no_such_place",
            Self::Misplaced { .. } => "misplaced",
            Self::BadOption { .. } => "bad_setting",
            Self::ReferenceIsInput { .. } => "reference_is_input",
            Self::NoFields { .. } => "no_fields",
            Self::NoTextField { .. } => "no_text_field",
            Self::TooManyInputs => "too_many_inputs",
            Self::Cancelled => "cancelled",
            Self::OutputExists { .. } => "output_exists",
            Self::OtherFiles { .. } => "other_files",
            Self::NoParent { .. } => "no_parent",
            Self::WrongOutputKind { .. } => "wrong_output_kind",
            Self::Overlap { .. } => "overlap",
            Self::SharedOutput { .. } => "shared_output",
            Self::OutputInsideInput { .. } => "output_inside_input",
            Self::EmptyOutputName | Self::BadOutputName { .. } => "bad_output_name",
            Self::NotAnObject { .. } => "not_an_object",
        }
    }
}

/// Spelling of standard input on the command line.
pub(crate) const STDIN: &str = "-";

/// Message about a gzip file that has other bytes behind its last member.
pub(crate) const TRAILING: &str = "other bytes follow the gzip stream";

/// Name, in messages, of standard output.
pub(crate) const STDOUT: &str = "standard output";

/// Name, in messages, of the file to which compressed and piped inputs are spooled.
pub(crate) const SPOOL: &str = "temporary copy of the input";

/// Name, in messages, of a file for intermediate results.
pub(crate) const TEMPORARY: &str = "temporary file";

/// Returns a hint for an input that is not there.
fn not_found(input: &str) -> Sentence {
    if input.contains("://") {
        return "only files of this machine are read: download it, or pipe it in with `-` as the input"
            .into();
    }
    // The hyphens of a copied option can be dashes, which word processors put in their place.
    if input.starts_with(['–', '—']) {
        let option = shown(input.trim_start_matches(['-', '–', '—']));
        return format!("if this is an option, it begins with two hyphens: `--{option}`").into();
    }
    if input.starts_with("~/") {
        return "a shell replaces `~` only if no quotation marks are around it".into();
    }
    "check the spelling; a relative path starts at the current folder".into()
}

/// Escapes the control characters of a name for display on a terminal.
fn shown(name: &str) -> std::borrow::Cow<'_, str> {
    escape_control(name)
}

fn no_output_name(source: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if source == STDIN {
        return f.write_str("standard input has no file name, so it cannot be written to a folder");
    }
    let source = shown(source);
    write!(f, "`{source}` is in memory and has no file name, so it cannot be written to a folder")
}

fn only_skipped(input: &str, files: usize, first: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "`{}` has no documents: ", shown(input))?;
    match files {
        1 => write!(f, "its only file, `{}`, was skipped", shown(first)),
        _ => write!(f, "all {} files were skipped, `{}` among them", grouped(files as u64), shown(first)),
    }
}

fn unreadable(name: &str, message: &str, others: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "`{}` cannot be read: {}", shown(name), visible(message))?;
    match others {
        0 => Ok(()),
        1 => f.write_str("; another file cannot be read either"),
        _ => write!(f, "; {others} other files cannot be read either"),
    }
}

fn missing(name: Option<&str>, what: &str, feature: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(name) = name {
        write!(f, "`{}`: ", shown(name))?;
    }
    write!(f, "{what} needs the feature `{feature}`, which this program was built without")
}

fn reference_is_input(reference: &str, input: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if reference == input {
        return write!(f, "`{}` is both a reference and an input", shown(input));
    }
    write!(f, "the reference `{}` and the input `{}` are the same file", shown(reference), shown(input))
}

/// Returns a hint for a value that an option does not take.
fn option_hint(option: &str, given: &str) -> Option<Sentence> {
    let is_json = given.eq_ignore_ascii_case("json");
    match option {
        "an encoding" => Some(encoding_hint(given)),
        "an output format" if is_json => Some(
            Sentence::new().setting_to("output-format", "jsonl").text(" writes one JSON object per line"),
        ),
        option if is_json && option.ends_with("format") => Some(
            Sentence::new()
                .setting_to("input-format", "jsonl")
                .text(" reads JSON with one object per line; `jq -c '.[]' FILE` makes it of a list"),
        ),
        _ => None,
    }
}

/// Describes a damaged file.
fn damaged(
    name: &str,
    compression: &impl fmt::Display,
    at: u64,
    message: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let name = shown(name);
    if message == TRAILING {
        return write!(f, "`{name}` is damaged: {TRAILING}");
    }
    let (at, message) = (grouped(at), visible(message));
    write!(f, "`{name}` is damaged: its {compression} stream breaks after {at} bytes: {message}")
}

/// Describes records that lack the field of the text.
fn no_text_field(field: &str, records: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let field = shown(field);
    if records == 1 {
        return write!(f, "the only record has no field `{field}`");
    }
    write!(f, "none of the first {} records has the field `{field}`", grouped(records))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            ErrorKind::Io { action, name } if name == STDOUT => write!(f, "cannot {action} {name}")?,
            ErrorKind::Io { action, name } => write!(f, "cannot {action} `{}`", shown(name))?,
            ErrorKind::NotFound { input } => write!(f, "no such file or folder: `{}`", shown(input))?,
            ErrorKind::NoInput => f.write_str("no input was given")?,
            ErrorKind::BadPattern { pattern, message } => {
                write!(f, "`{}` is not a pattern: {}", shown(pattern), visible(message))?;
            }
            ErrorKind::NoMatch { pattern } => write!(f, "no file matches the pattern `{}`", shown(pattern))?,
            ErrorKind::EmptyFolder { folder } => {
                write!(f, "there are no files in the folder `{}`", shown(folder))?;
            }
            ErrorKind::Archive { folder } => {
                write!(f, "`{}` is an archive of Minwise, and has no documents to read", shown(folder))?;
            }
            ErrorKind::OnlySkipped { input, files, first } => only_skipped(input, *files, first, f)?,
            ErrorKind::Unreadable { name, message, others, .. } => unreadable(name, message, *others, f)?,
            ErrorKind::RepeatedInput { input, first } if input == first => {
                write!(f, "`{}` is given twice", shown(input))?;
            }
            ErrorKind::RepeatedInput { input, first } => {
                write!(f, "`{}` and `{}` are the same file", shown(first), shown(input))?;
            }
            ErrorKind::MixedFormats { first, first_format, second, second_format } => {
                let (first, second) = (shown(first), shown(second));
                write!(
                    f,
                    "the inputs are of two kinds: `{first}` is {first_format} and `{second}` is {second_format}"
                )?;
            }
            ErrorKind::Inside { name, problem } => problem.describe(&shown(name), f)?,
            ErrorKind::SchemasDiffer { first, second, difference } => {
                let (first, second) = (shown(first), shown(second));
                write!(f, "`{first}` and `{second}` cannot become one file: {}", visible(difference))?;
            }
            ErrorKind::SameOutputName { first, second, output } => {
                let (first, second, output) = (shown(first), shown(second), shown(output));
                write!(f, "`{first}` and `{second}` would both be written as `{output}`")?;
            }
            ErrorKind::NoOutputName { name } => no_output_name(name, f)?,
            ErrorKind::MissingFeature { name, what, feature } => missing(name.as_deref(), what, feature, f)?,
            ErrorKind::Conversion(unconverted) => write!(f, "{unconverted}")?,
            ErrorKind::NoAnnotation { format } => write!(f, "{format} records have no room for annotations")?,
            ErrorKind::NoSuchCompression { compression, format, .. } => {
                write!(f, "{format} cannot be written with the compression `{compression}`")?;
            }
            ErrorKind::Damaged { name, compression, at, message } => {
                damaged(name, compression, *at, message, f)?;
            }
            ErrorKind::Changed { name } => write!(f, "`{}` changed while it was being read", shown(name))?,
            ErrorKind::BadRecord { name, offset, reason } => {
                write!(f, "the record at byte {offset} of `{}` is not a document: {reason}", shown(name))?;
            }
            ErrorKind::NoSuchPlace { source, offset } => {
                write!(f, "there is no record at byte {offset} of source {source}")?;
            }
            ErrorKind::Misplaced { name, offset } => {
                write!(f, "byte {offset} lies outside of what was read of `{}`", shown(name))?;
            }
            ErrorKind::BadOption { option, given, expected } => {
                write!(f, "`{}` is not {option}: expected {expected}", shown(given))?;
            }
            ErrorKind::ReferenceIsInput { reference, input } => reference_is_input(reference, input, f)?,
            ErrorKind::NoFields { field } => {
                write!(f, "the inputs are texts, which have no field `{}`", shown(field))?;
            }
            ErrorKind::NoTextField { field, records, .. } => no_text_field(field, *records, f)?,
            ErrorKind::TooManyInputs => f.write_str("there are more than 4,294,967,295 input files")?,
            ErrorKind::Cancelled => f.write_str("cancelled")?,
            ErrorKind::OutputExists { path, .. } => write!(f, "`{}` exists already", shown(path))?,
            ErrorKind::OtherFiles { path, file, .. } => {
                let (path, file) = (shown(path), shown(file));
                write!(f, "the output folder `{path}` has a file that this run would not write: `{file}`")?;
            }
            ErrorKind::NoParent { path, parent } => {
                write!(f, "cannot write `{}`: there is no folder `{}`", shown(path), shown(parent))?;
            }
            ErrorKind::EmptyOutputName => f.write_str("the name of an output is empty")?,
            ErrorKind::WrongOutputKind { path, found } => {
                write!(f, "cannot write `{}`: it is {found}", shown(path))?;
            }
            ErrorKind::Overlap { output, input } => {
                write!(f, "the output `{}` would overwrite the input `{}`", shown(output), shown(input))?;
            }
            ErrorKind::SharedOutput { .. } => self.message().fmt(f)?,
            ErrorKind::OutputInsideInput { output, folder } => {
                write!(f, "the output `{}` lies in the input folder `{}`", shown(output), shown(folder))?;
            }
            ErrorKind::BadOutputName { name, message } => {
                write!(f, "cannot write `{}` in the output folder: {message}", shown(name))?;
            }
            ErrorKind::NotAnObject { message } => {
                write!(f, "the line is not a JSON object: {}", visible(message))?;
            }
        }
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().and_then(std::error::Error::source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_failed_and_why() {
        let cause = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = Error::io("open", "a.jsonl", cause);
        assert_eq!(error.to_string(), "cannot open `a.jsonl`: permission denied");
        assert_eq!(error.hint(), None);
        assert!(!error.is_broken_pipe());
    }

    #[test]
    fn names_cannot_drive_the_terminal() {
        let error = Error::new(ErrorKind::NotFound { input: "\u{1b}[2Jx".into() });
        assert_eq!(error.to_string(), r"no such file or folder: `\u{1b}[2Jx`");
        assert!(error.hint().unwrap().to_string().contains("spelling"));
    }

    #[test]
    fn a_name_that_a_shell_or_a_word_processor_changed_has_its_own_hint() {
        let hint =
            |input: &str| Error::new(ErrorKind::NotFound { input: input.into() }).hint().unwrap().to_string();
        assert!(hint("—threshold").ends_with("two hyphens: `--threshold`"));
        assert!(hint("–-keep").ends_with("two hyphens: `--keep`"));
        assert!(hint("~/a.jsonl").starts_with("a shell replaces `~`"));
        assert!(hint("~a.jsonl").starts_with("check the spelling"));
    }

    #[test]
    fn a_broken_pipe_is_told_apart() {
        assert!(Error::io("write", "-", io::ErrorKind::BrokenPipe.into()).is_broken_pipe());
        assert!(Error::new(ErrorKind::Cancelled).is_cancelled());
    }

    #[test]
    fn a_full_disk_under_the_spool_has_its_own_hint() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert!(Error::io("write", SPOOL, full()).hint().unwrap().to_string().contains("`temp_dir`"));
        assert!(Error::io("write", "out.jsonl", full()).hint().unwrap().to_string().contains("space"));
    }
}
