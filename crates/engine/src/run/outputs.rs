//! The outputs of a run: opened before the work begins, written while decisions are made, and put in place together.

use std::path::{Path, PathBuf};

use minwise::{Observer, Sentence, Stage, escape_control};
use minwise_corpus::{
    CompleteOutput, Corpus, ErrorKind as CorpusErrorKind, Format, Layout, MistakenInput, Output,
    OutputFolder, Overwrite, RunTag, Source, TableCompression, Unconverted, check_conversion, check_each,
    foreign_file, has_compressed_name, refuse_annotation, refuse_conversion, refuse_other_files,
    refuse_overlap, refuse_same_names, refuse_shared, refuse_shared_members, refuse_unlike,
};

use super::Destination;
use crate::error::{Error, ErrorKind, SettingProblem};
use crate::output::report::{Extras, Report};
use crate::output::{Findings, OutputPart, OutputTarget, write_annotated, write_files, write_records};
use crate::setters::setters;

/// Outputs that a run writes to files. By default, no output is written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Outputs {
    /// The file or folder of the kept documents. Default: they are not written.
    pub kept: Option<Destination>,
    /// The file or folder of the removed documents. Default: they are not written.
    pub removed: Option<Destination>,
    /// Whether all documents are written, each with a member or column `minwise` that names its cluster. Default:
    /// false.
    pub annotate: bool,
    /// The format of the outputs. Default: the format that the name of each output suggests, otherwise that of the
    /// inputs.
    pub format: Option<Format>,
    /// The compression inside Parquet and Arrow IPC outputs. Default: that of the inputs.
    pub compression: TableCompression,
    /// The folder of the report. Default: no report is written.
    pub report: Option<PathBuf>,
    /// Whether existing outputs are replaced. Default: false.
    pub overwrite: bool,
}

setters!(Outputs {
    /// Whether all documents are written, each with a member or column `minwise` that names its cluster. Default:
    /// false.
    annotate: bool,
    /// The compression inside Parquet and Arrow IPC outputs. Default: that of the inputs.
    compression: TableCompression,
    /// Whether existing outputs are replaced. Default: false.
    overwrite: bool,
    ;
    /// The file or folder of the kept documents. Default: they are not written.
    kept: Option<Destination>,
    /// The file or folder of the removed documents. Default: they are not written.
    removed: Option<Destination>,
    /// The format of the outputs. Default: the format that the name of each output suggests, otherwise that of the
    /// inputs.
    format: Option<Format>,
    /// The folder of the report. Default: no report is written.
    report: Option<PathBuf>,
});

impl Outputs {
    pub(super) fn check(&self, problems: &mut Vec<SettingProblem>) {
        if let (true, Some(removed)) = (self.annotate, &self.removed) {
            let reason = Sentence::from("nothing is removed with ").setting("annotate");
            problems.push(SettingProblem::new("removed", removed, reason));
        }
    }

    /// Removes the temporary files that killed processes of the run left beside the outputs. If `keep_old` is set, old
    /// output folders that were moved aside are kept.
    pub(super) fn remove_leftovers(&self, tag: RunTag, keep_old: bool) -> Result<(), Error> {
        for output in [&self.kept, &self.removed].into_iter().flatten() {
            if let Destination::Path(path) = output {
                tag.remove_leftovers(path, keep_old)?;
            }
        }
        if let Some(report) = &self.report {
            tag.remove_in(report, keep_old)?;
        }
        Ok(())
    }

    /// Returns the paths of the existing outputs, without the report.
    fn existing(&self) -> impl Iterator<Item = &Path> {
        let documents = [&self.kept, &self.removed].into_iter().flatten();
        documents.filter_map(|output| match output {
            Destination::Path(path) if path.exists() => Some(path.as_path()),
            _ => None,
        })
    }

    /// Reports whether the existing outputs may come from a run that was killed after it had removed its work folder.
    /// In that case all existing outputs are newer than the inputs.
    pub(super) fn may_be_done(&self, corpus: &Corpus) -> bool {
        let modified = |path: &Path| fs_err::metadata(path).and_then(|there| there.modified()).ok();
        let newest = corpus.sources().iter().filter_map(|source| modified(source.path()?)).max();
        self.existing().all(|output| modified(output) >= newest)
    }

    /// Returns the names of the outputs in the order of their settings. The names are absolute, so they do not depend
    /// on the current folder.
    pub(super) fn names(&self) -> Vec<String> {
        // A trailing slash is removed, because the list of outputs records separately which outputs are folders.
        let path = |path: &Path| {
            absolute(path).to_string_lossy().trim_end_matches(std::path::is_separator).to_owned()
        };
        let name = |output: &Option<Destination>| match output {
            None => String::new(),
            Some(Destination::Stdout) => "-".to_owned(),
            Some(Destination::Path(output)) => path(output),
        };
        vec![name(&self.kept), name(&self.removed), self.report.as_deref().map_or_else(String::new, path)]
    }
}

/// Returns an absolute path; its folder is resolved if it exists.
fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent().map(fs_err::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Open output for the kept or for the removed documents.
enum OutputPlace {
    /// A single file in this format, for the records of all inputs.
    One(Box<Output>, Format),
    /// A file per input, in this format. Without a format, each file has the format of its input.
    Each(OutputFolder, Option<Format>),
    /// A file per document, for inputs that are texts.
    Files(OutputFolder),
}

/// All outputs of a run, open under temporary names. The temporary files are removed if the run does not finish.
pub(super) struct Targets {
    annotate: bool,
    compression: TableCompression,
    /// Whether the kept records were written while decisions were made.
    early: bool,
    kept: Option<OutputPlace>,
    removed: Option<OutputPlace>,
    report: Option<(Report, NewFolder)>,
}

impl Targets {
    /// Opens all outputs, and refuses outputs that cannot be written. `were_folders` states which outputs were folders
    /// when a killed process put them in place.
    pub(super) fn open(
        outputs: &Outputs,
        corpus: &Corpus,
        work: Option<(&Path, RunTag)>,
        overwrite: Overwrite,
        were_folders: &[bool],
    ) -> Result<Self, Error> {
        if let Some((_, tag)) = work {
            outputs.remove_leftovers(tag, true)?;
        }
        if outputs.annotate {
            refuse_annotation(corpus)?;
        }
        if outputs.annotate && corpus.layout() == Layout::Texts {
            return Err(refused(
                Sentence::new()
                    .setting("annotate")
                    .text(" adds a member or column to records, but the input is a folder of texts"),
                Sentence::new()
                    .setting_to("report", "DIR")
                    .text(" writes the clusters of any input to `DIR/clusters.jsonl`"),
            ));
        }
        refuse_same(outputs)?;
        let open = |output: &Option<Destination>, place: usize| {
            let was_folder = were_folders.get(place) == Some(&true);
            output
                .as_ref()
                .map(|output| OutputPlace::open(output, was_folder, outputs, corpus, work, overwrite))
                .transpose()
        };
        // The second argument is the position of the output in `Outputs::names`.
        let (kept, removed) = (open(&outputs.kept, 0), open(&outputs.removed, 1));
        let report = match &outputs.report {
            None => None,
            Some(folder) => {
                for file in Report::FILES {
                    refuse_overlap(corpus, &folder.join(file))?;
                }
                let new = NewFolder::create(folder)?;
                Some((Report::create_for(folder, overwrite, work.map(|(_, tag)| tag))?, new))
            }
        };
        Ok(Self {
            annotate: outputs.annotate,
            compression: outputs.compression,
            early: false,
            kept: kept?,
            removed: removed?,
            report,
        })
    }

    /// Refuses records that do not fit the outputs. The caller checks this as soon as all records were read.
    pub(super) fn check(&self, corpus: &Corpus) -> Result<(), Error> {
        for place in [&self.kept, &self.removed].into_iter().flatten() {
            match place {
                OutputPlace::One(_, format) => {
                    check_conversion(corpus, corpus.input_numbers(), *format, self.annotate)?;
                }
                OutputPlace::Each(_, Some(format)) => check_each(corpus, *format, self.annotate)?,
                OutputPlace::Each(_, None) | OutputPlace::Files(_) => {}
            }
        }
        Ok(())
    }

    /// Sets the threads that write, and the maximum bytes of a table that they keep in memory. Neither changes the
    /// output.
    pub(super) fn set_resources(&mut self, threads: usize, buffer_bytes: u64) -> Result<(), Error> {
        for place in [&mut self.kept, &mut self.removed].into_iter().flatten() {
            match place {
                OutputPlace::One(out, _) => {
                    out.set_threads(threads)?;
                    out.set_buffer_bytes(buffer_bytes);
                }
                OutputPlace::Each(folder, _) => {
                    folder.set_threads(threads);
                    folder.set_buffer_bytes(buffer_bytes);
                }
                OutputPlace::Files(_) => {}
            }
        }
        Ok(())
    }

    /// Reports which outputs are folders that are replaced as a whole, in the order of [`Outputs::names`].
    pub(super) fn are_folders(&self) -> [bool; 3] {
        let is_folder = |place: &Option<OutputPlace>| {
            matches!(place, Some(OutputPlace::Each(..) | OutputPlace::Files(_)))
        };
        // A report is not such a folder, because its files are replaced one by one.
        [is_folder(&self.kept), is_folder(&self.removed), false]
    }

    pub(super) fn compression(&self) -> TableCompression {
        self.compression
    }

    /// Returns the output that can be written while decisions are made, and marks it as written early.
    pub(super) fn written_early(&mut self) -> Option<OutputTarget<'_>> {
        let target = self.kept.as_mut().filter(|_| !self.annotate)?.records()?;
        self.early = true;
        Some(target)
    }

    /// Writes all outputs except the one that was written early.
    pub(super) fn write(
        self,
        findings: &Findings<'_>,
        extras: impl FnOnce() -> Extras,
        observer: &dyn Observer,
    ) -> Result<WrittenOutputs, Error> {
        let mut finished = vec![];
        for (place, part) in [(self.kept, OutputPart::Kept), (self.removed, OutputPart::Removed)] {
            let Some(mut place) = place else { continue };
            if let OutputPlace::Files(out) = &place {
                write_files(findings, part, out, observer)?;
            }
            match place.records() {
                Some(_) if part == OutputPart::Kept && self.early => {}
                Some(target) if self.annotate => {
                    write_annotated(findings, target, self.compression, observer)?;
                }
                Some(target) => {
                    write_records(findings, part, target, self.compression, observer)?;
                }
                None => {}
            }
            finished.push(place);
        }
        let mut report = self.report;
        if let Some((report, _)) = &mut report {
            observer.begin(Stage::Report, 0);
            report.write(findings, &extras(), observer)?;
        }
        Ok(WrittenOutputs { outputs: finished, report })
    }
}

/// Outputs that are written, but not yet synced to disk.
pub(super) struct WrittenOutputs {
    outputs: Vec<OutputPlace>,
    report: Option<(Report, NewFolder)>,
}

impl WrittenOutputs {
    /// Completes all outputs on disk, so that a write error appears before any output is put in place.
    pub(super) fn complete(self) -> Result<Complete, Error> {
        let mut complete = Complete { files: vec![], folders: vec![], report: None };
        for place in self.outputs {
            match place {
                OutputPlace::One(out, _) => complete.files.push(out.complete()?),
                OutputPlace::Each(out, _) | OutputPlace::Files(out) => complete.folders.push(out),
            }
        }
        if let Some((report, new)) = self.report {
            complete.files.extend(report.complete()?);
            complete.report = Some(new);
        }
        Ok(complete)
    }
}

/// Outputs that are complete on disk and only need to be renamed.
pub(super) struct Complete {
    files: Vec<CompleteOutput>,
    folders: Vec<OutputFolder>,
    report: Option<NewFolder>,
}

impl Complete {
    /// Refuses outputs that exist and may not be replaced, before any output is put in place.
    pub(super) fn check(&self) -> Result<(), Error> {
        for folder in &self.folders {
            folder.check()?;
        }
        for file in &self.files {
            file.check()?;
        }
        Ok(())
    }

    pub(super) fn put_in_place(self) -> Result<(), Error> {
        for folder in self.folders {
            folder.finish()?;
        }
        for file in self.files {
            file.put_in_place()?;
        }
        if let Some(new) = self.report {
            new.keep();
        }
        Ok(())
    }
}

/// Returns the format of an output file: the requested format, otherwise the format of its name, otherwise the format
/// of the inputs.
fn format_of(path: Option<&Path>, asked: Option<Format>, corpus: &Corpus) -> Result<Format, Error> {
    let name = path.map(Path::to_string_lossy).unwrap_or_default();
    if let Some(expected) = foreign_file(&name).filter(|_| asked.is_none()) {
        let message =
            format!("`{}` has the name of {expected}, which Minwise does not write", escape_control(&name));
        let hint = Sentence::from("give it a name that ends in `.jsonl`, `.csv`, `.parquet` or `.arrow`; ")
            .setting("output-format")
            .text(" sets the format under any name");
        return Err(refused(message.into(), hint));
    }
    let Some(format) = asked.or_else(|| Format::of_name(&name)).or_else(|| corpus.output_format()) else {
        return Err(no_format(path, corpus));
    };
    if has_compressed_name(&name) && (format == Format::PARQUET || format == Format::ARROW) {
        let shown = escape_control(&name);
        let bare = name.rsplit_once('.').map_or(&*name, |(bare, _)| bare);
        let message =
            format!("{format} is compressed inside and cannot be compressed as a file, too: `{shown}`");
        let hint = Sentence::from(format!("name the output `{}`; ", escape_control(bare)))
            .setting("compression")
            .text(" chooses the codec");
        return Err(refused(message.into(), hint));
    }
    Ok(format)
}

/// Formats whose files can be mistaken for plain text.
const TEXTUAL: [Format; 3] = [Format::JSONL, Format::CSV, Format::TSV];

/// Makes the error for inputs of several formats when neither the settings nor the output's name chooses a format.
fn no_format(output: Option<&Path>, corpus: &Corpus) -> Error {
    let first = corpus.inputs().first();
    let other = corpus.inputs().iter().find(|source| Some(source.format()) != first.map(Source::format));
    let kind = match (first, other) {
        (Some(first), Some(second)) => CorpusErrorKind::Conversion(Unconverted::NoOutputFormat {
            output: output.map(|output| output.to_string_lossy().into_owned()),
            first: first.name().to_owned(),
            first_format: first.format(),
            second: second.name().to_owned(),
            second_format: second.format(),
        }),
        _ => CorpusErrorKind::NoInput,
    };
    minwise_corpus::Error::from(kind).into()
}

/// Refuses texts for an output that is not a folder, or that has a format setting.
fn refuse_texts(path: &Path, is_folder: bool, outputs: &Outputs, corpus: &Corpus) -> Result<(), Error> {
    if let Some(format) = outputs.format {
        let message = Sentence::new()
            .setting_to("output-format", format.name())
            .text(" does not apply: each input is one document and is copied as it is");
        let hint = Sentence::from("leave out ")
            .setting("output-format")
            .text(", and name a folder, such as `kept/`");
        return Err(refused(message, hint));
    }
    if is_folder || path.extension().is_none() {
        return Ok(());
    }
    refuse_mistaken(corpus)?;
    let name = path.to_string_lossy();
    let shown = escape_control(&name);
    let mut hint = Sentence::from(format!("a folder has a name that ends in a slash: `{shown}/`"));
    // The hint is only for formats of text: files of other formats have a magic number, and are not mistaken for text.
    if let Some(named) = Format::of_name(&name).filter(|named| TEXTUAL.contains(named)) {
        hint = hint
            .text(format!("; if the inputs are {named}, say so with "))
            .setting_to("input-format", named.name());
    }
    let message = format!(
        "each input is one document, so that the output is a folder, and `{shown}` has the name of a file"
    );
    Err(refused(message.into(), hint))
}

/// Refuses an only input that was taken for a document and is most likely something else. The error names the kind of
/// the input, because an error about the output would mislead.
fn refuse_mistaken(corpus: &Corpus) -> Result<(), Error> {
    let Some((source, mistaken)) = corpus.mistaken_input() else { return Ok(()) };
    let name = match source.name() {
        "-" => "standard input".to_owned(),
        name => format!("`{}`", escape_control(name)),
    };
    let (message, hint): (String, Option<Sentence>) = match mistaken {
        MistakenInput::Empty => (format!("{name} is empty"), None),
        MistakenInput::JsonList => (
            format!("{name} is a JSON list, and records are read from JSONL"),
            Some("JSONL has one object per line: `jq -c '.[]' FILE` makes it of a list".into()),
        ),
        MistakenInput::JsonObject => (
            format!("{name} is JSON over several lines, and records are read from JSONL"),
            Some("JSONL has one object per line: `jq -c . FILE` makes it of objects".into()),
        ),
        MistakenInput::Refused(refusal) => (format!("{name} cannot be read: {refusal}"), None),
        _ => return Ok(()),
    };
    Err(ErrorKind::Output { message: message.into(), hint }.into())
}

impl OutputPlace {
    fn open(
        output: &Destination,
        was_folder: bool,
        outputs: &Outputs,
        corpus: &Corpus,
        work: Option<(&Path, RunTag)>,
        overwrite: Overwrite,
    ) -> Result<Self, Error> {
        let (work, tag) = work.unzip();
        let path = match output {
            Destination::Path(path) => path,
            Destination::Stdout => {
                return match corpus.layout() {
                    Layout::Records => {
                        let format = format_of(None, outputs.format, corpus)?;
                        refuse_format(corpus, format, outputs.compression)?;
                        Ok(Self::One(Box::new(Output::stdout()), format))
                    }
                    Layout::Texts => {
                        refuse_mistaken(corpus)?;
                        Err(refused(
                            "a folder of texts cannot be written to standard output".into(),
                            Sentence::new()
                                .setting_to("output", "DIR")
                                .text(" names a folder for the kept files"),
                        ))
                    }
                };
            }
        };
        refuse_overlap(corpus, path)?;
        // A path is a folder if it ends with a separator or if a folder exists there. Any other path is a file.
        let is_folder =
            was_folder || path.to_string_lossy().ends_with(std::path::is_separator) || path.is_dir();
        if corpus.layout() == Layout::Texts {
            refuse_texts(path, is_folder, outputs, corpus)?;
            refuse_same_names(corpus, None)?;
            for format in corpus.formats() {
                outputs.compression.check(format)?;
            }
            refuse_needed(path, work)?;
            refuse_other_files(corpus, path, None)?;
            return Ok(Self::Files(OutputFolder::create_for(path, overwrite, tag)?));
        }
        if is_folder {
            match outputs.format {
                Some(format) => {
                    refuse_conversion(corpus, format)?;
                    outputs.compression.check(format)?;
                }
                None => {
                    for format in corpus.formats() {
                        outputs.compression.check(format)?;
                    }
                }
            }
            refuse_same_names(corpus, outputs.format)?;
            refuse_shared_members(corpus, None)?;
            refuse_needed(path, work)?;
            refuse_other_files(corpus, path, outputs.format)?;
            return Ok(Self::Each(OutputFolder::create_for(path, overwrite, tag)?, outputs.format));
        }
        let format = format_of(Some(path), outputs.format, corpus)?;
        refuse_format(corpus, format, outputs.compression)?;
        refuse_shared_members(corpus, Some(path))?;
        Ok(Self::One(Box::new(Output::create_for(path, overwrite, tag)?), format))
    }

    /// Returns the destination of records, or `None` for texts.
    fn records(&mut self) -> Option<OutputTarget<'_>> {
        match self {
            Self::One(out, format) => Some(OutputTarget::One(out, *format)),
            Self::Each(folder, format) => Some(OutputTarget::Each(folder, *format)),
            Self::Files(_) => None,
        }
    }
}

/// Refuses inputs that cannot be written as one file of this format.
fn refuse_format(corpus: &Corpus, format: Format, compression: TableCompression) -> Result<(), Error> {
    compression.check(format)?;
    if corpus.format() == Some(format) {
        return Ok(refuse_unlike(corpus)?);
    }
    Ok(refuse_conversion(corpus, format)?)
}

fn refused(message: Sentence, hint: impl Into<Sentence>) -> Error {
    ErrorKind::Output { message, hint: Some(hint.into()) }.into()
}

/// Refuses an output folder that holds the current folder or the work folder, because the output folder is replaced as
/// a whole. Other checks protect the inputs and the other outputs.
fn refuse_needed(folder: &Path, work: Option<&Path>) -> Result<(), Error> {
    let Ok(resolved) = fs_err::canonicalize(folder) else { return Ok(()) };
    let holds = |path: &Path| fs_err::canonicalize(path).is_ok_and(|path| path.starts_with(&resolved));
    let message = Sentence::from(format!(
        "the output folder `{}` is replaced as a whole, and ",
        escape_control(&folder.to_string_lossy())
    ));
    let message = if holds(Path::new(".")) {
        message.text("the current folder")
    } else if work.is_some_and(holds) {
        message.text("the folder of the run (").setting("work").text(")")
    } else {
        return Ok(());
    };
    Err(refused(message.text(" lies there"), "name another folder, which may be new"))
}

/// Refuses two outputs with the same name, because they would overwrite one another.
fn refuse_same(outputs: &Outputs) -> Result<(), Error> {
    if let (Some(kept), Some(removed)) = (&outputs.kept, &outputs.removed)
        && kept == removed
    {
        return Err(refused(
            Sentence::new()
                .setting("output")
                .text(" and ")
                .setting("removed")
                .text(format!(" are both `{kept}`")),
            "give them different names",
        ));
    }
    let named = [("output", &outputs.kept), ("removed", &outputs.removed)];
    let mut paths: Vec<(&'static str, PathBuf)> = named
        .into_iter()
        .filter_map(|(setting, output)| match output {
            Some(Destination::Path(path)) => Some((setting, path.clone())),
            Some(Destination::Stdout) | None => None,
        })
        .collect();
    if let Some(folder) = &outputs.report {
        paths.extend(Report::FILES.map(|file| ("report", folder.join(file))));
    }
    let paths: Vec<(&'static str, &Path)> =
        paths.iter().map(|(name, path)| (*name, path.as_path())).collect();
    Ok(refuse_shared(&paths)?)
}

/// Folders that were created for this run, innermost first. Dropping the value removes the folders that are still
/// empty.
pub(super) struct NewFolder(Vec<PathBuf>);

impl NewFolder {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        minwise_corpus::refuse_file(path)?;
        let missing =
            path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let missing = missing.map(Path::to_owned).collect();
        fs_err::create_dir_all(path).map_err(|error| Error::io("make", &path.to_string_lossy(), error))?;
        Ok(Self(missing))
    }

    pub(super) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        for path in &self.0 {
            // The error is ignored, because a folder that is not empty must stay, and `drop` cannot report other
            // errors.
            let _ = fs_err::remove_dir(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that is resumed from another current folder must recognise its own outputs, and no others.
    #[test]
    fn outputs_have_one_name_wherever_the_command_is_given() {
        let here = fs_err::canonicalize(".").unwrap();
        assert_eq!(absolute(Path::new("out")), here.join("out"));
        assert_eq!(absolute(&here.join("src/../out")), here.join("out"));
        assert_eq!(absolute(Path::new("not-there/out")), here.join("not-there/out"));
    }
}
