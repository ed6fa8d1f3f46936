//! The outputs of a run: opened before the work begins, written while decisions are made, and put in place together.

use std::path::{Path, PathBuf};

use minwise::{Observer, Sentence, escape_control};
use minwise_corpus::{
    CompleteOutput, Corpus, Format, Layout, Output, OutputFolder, Overwrite, TableCompression,
    refuse_annotation, refuse_overlap, refuse_same_names, refuse_shared, refuse_shared_members,
    refuse_unlike,
};

use super::Destination;
use crate::error::{Error, ErrorKind, Problem};
use crate::output::report::{Extras, Report};
use crate::output::{Findings, Part, Target, write_annotated, write_files, write_records};

/// What a run writes besides its outcome. By default it writes nothing.
#[derive(Debug, Clone, Default)]
pub struct Outputs {
    /// Where the kept documents go.
    pub kept: Option<Destination>,
    /// Where the removed documents go.
    pub removed: Option<Destination>,
    /// Whether every document is kept and gets, as its member or column `minwise`, the cluster it belongs to.
    pub annotate: bool,
    /// How tables are compressed inside.
    pub compression: TableCompression,
    /// The folder of the report.
    pub report: Option<PathBuf>,
    /// Whether outputs that exist are replaced.
    pub overwrite: bool,
}

impl Outputs {
    pub(super) fn check(&self, problems: &mut Vec<Problem>) {
        if let (true, Some(removed)) = (self.annotate, &self.removed) {
            let reason = Sentence::from("nothing is removed with ").setting("annotate");
            problems.push(Problem::new("removed", removed, reason));
        }
    }

    /// The outputs in the order of their settings, by names that are the same wherever the run is started.
    pub(super) fn names(&self) -> Vec<String> {
        let path = |path: &Path| absolute(path).to_string_lossy().into_owned();
        let name = |output: &Option<Destination>| match output {
            None => String::new(),
            Some(Destination::Stdout) => "-".to_owned(),
            Some(Destination::Path(output)) => path(output),
        };
        vec![name(&self.kept), name(&self.removed), self.report.as_deref().map_or_else(String::new, path)]
    }
}

/// A path from the root, its folder resolved if it is there.
fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent().map(fs_err::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Where documents of one kind go.
enum Place {
    /// Records to one file.
    One(Box<Output>),
    /// Records to one file for each input.
    Each(OutputFolder),
    /// Texts to files of their own.
    Files(OutputFolder),
}

/// All outputs of a run, open under temporary names, which go when the run does not come to its end.
pub(super) struct Targets {
    annotate: bool,
    compression: TableCompression,
    /// Whether the kept records were written while the run went on.
    early: bool,
    kept: Option<Place>,
    removed: Option<Place>,
    report: Option<(Report, NewFolder)>,
}

impl Targets {
    /// Opens everything, and refuses what cannot be written, before the work begins.
    pub(super) fn open(
        outputs: &Outputs,
        corpus: &Corpus,
        work: Option<&Path>,
        overwrite: Overwrite,
    ) -> Result<Self, Error> {
        outputs.compression.check(corpus.output_format())?;
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
        let open = |output: &Option<Destination>| {
            output.as_ref().map(|output| Place::open(output, corpus, work, overwrite)).transpose()
        };
        let (kept, removed) = (open(&outputs.kept), open(&outputs.removed));
        let report = match &outputs.report {
            None => None,
            Some(folder) => {
                for file in Report::FILES {
                    refuse_overlap(corpus, &folder.join(file))?;
                }
                let new = NewFolder::create(folder)?;
                Some((Report::create(folder, overwrite)?, new))
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

    pub(super) fn compression(&self) -> TableCompression {
        self.compression
    }

    /// The output that can be written while decisions are still being made.
    pub(super) fn written_early(&mut self) -> Option<Target<'_>> {
        let target = self.kept.as_mut().filter(|_| !self.annotate)?.records()?;
        self.early = true;
        Some(target)
    }

    /// Writes what was not written early.
    pub(super) fn write(
        self,
        findings: &Findings<'_>,
        extras: impl FnOnce() -> Extras,
        observer: &dyn Observer,
    ) -> Result<Written, Error> {
        let mut finished = vec![];
        for (place, part) in [(self.kept, Part::Kept), (self.removed, Part::Removed)] {
            let Some(mut place) = place else { continue };
            if let Place::Files(out) = &place {
                write_files(findings, part, out, observer)?;
            }
            match place.records() {
                Some(_) if part == Part::Kept && self.early => {}
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
            report.write(findings, &extras(), observer)?;
        }
        Ok(Written { outputs: finished, report })
    }
}

/// Outputs that are written, if not yet to the disk.
pub(super) struct Written {
    outputs: Vec<Place>,
    report: Option<(Report, NewFolder)>,
}

impl Written {
    /// Brings all of them to the disk, so that one that cannot be written is known before any is in place.
    pub(super) fn complete(self) -> Result<Complete, Error> {
        let mut complete = Complete { files: vec![], folders: vec![], report: None };
        for place in self.outputs {
            match place {
                Place::One(out) => complete.files.push(out.complete()?),
                Place::Each(out) | Place::Files(out) => complete.folders.push(out),
            }
        }
        if let Some((report, new)) = self.report {
            complete.files.extend(report.complete()?);
            complete.report = Some(new);
        }
        Ok(complete)
    }
}

/// Outputs that are on the disk and need nothing but their names.
pub(super) struct Complete {
    files: Vec<CompleteOutput>,
    folders: Vec<OutputFolder>,
    report: Option<NewFolder>,
}

impl Complete {
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

/// Refuses a name that says something else than what would be written.
fn refuse_name(path: &Path, corpus: &Corpus) -> Result<(), Error> {
    let name = path.to_string_lossy();
    let shown = escape_control(&name);
    let (format, named) = (corpus.output_format(), Format::of_name(&name));
    if corpus.layout() == Layout::Texts {
        if path.extension().is_none() {
            return Ok(());
        }
        let mut hint = Sentence::from(format!("a folder has a name that ends in a slash: `{shown}/`"));
        if let Some(named) = named.filter(|named| named.layout() == Layout::Records) {
            hint = hint
                .text("; ")
                .setting_to("input-format", named.name())
                .text(format!(" reads the inputs as {named}"));
        }
        let message = format!(
            "each input is one document, so that the output is a folder, and `{shown}` has the name of a file"
        );
        return Err(refused(message.into(), hint));
    }
    if let Some(named) = named.filter(|named| *named != format) {
        let message = format!("`{shown}` has the name of a file of {named}, and the inputs are {format}");
        let hint = format!("records are copied and not converted: name the output like a file of {format}");
        return Err(refused(message.into(), hint));
    }
    let is_compressed = path.extension().is_some_and(|end| COMPRESSIONS.iter().any(|known| end == *known));
    if is_compressed && (format == Format::PARQUET || format == Format::ARROW) {
        let message =
            format!("`{shown}` has the name of a compressed file, and {format} is compressed inside");
        let hint = Sentence::from("leave the ending out, and choose with ").setting("compression");
        return Err(refused(message.into(), hint));
    }
    Ok(())
}

/// Endings of names of compressed files.
const COMPRESSIONS: [&str; 4] = ["gz", "zst", "bz2", "xz"];

impl Place {
    fn open(
        output: &Destination,
        corpus: &Corpus,
        work: Option<&Path>,
        overwrite: Overwrite,
    ) -> Result<Self, Error> {
        let path = match output {
            Destination::Path(path) => path,
            Destination::Stdout => {
                return match corpus.layout() {
                    Layout::Records => {
                        refuse_unlike(corpus)?;
                        Ok(Self::One(Box::new(Output::stdout())))
                    }
                    Layout::Texts => Err(refused(
                        "a folder of texts cannot be written to standard output".into(),
                        Sentence::new()
                            .setting_to("output", "DIR")
                            .text(" names a folder for the kept files"),
                    )),
                };
            }
        };
        refuse_overlap(corpus, path)?;
        let is_folder = path.to_string_lossy().ends_with(std::path::is_separator) || path.is_dir();
        if !is_folder {
            refuse_name(path, corpus)?;
        }
        if corpus.layout() == Layout::Texts {
            refuse_needed(path, work)?;
            return Ok(Self::Files(OutputFolder::create(path, overwrite)?));
        }
        // A folder is one that is there, or one whose name says so: a bare name is that of a file.
        if is_folder {
            refuse_same_names(corpus)?;
            refuse_shared_members(corpus, None)?;
            refuse_needed(path, work)?;
            return Ok(Self::Each(OutputFolder::create(path, overwrite)?));
        }
        refuse_unlike(corpus)?;
        refuse_shared_members(corpus, Some(path))?;
        Ok(Self::One(Box::new(Output::create(path, overwrite)?)))
    }

    /// Where records are written; `None` for texts.
    fn records(&mut self) -> Option<Target<'_>> {
        match self {
            Self::One(out) => Some(Target::One(out)),
            Self::Each(folder) => Some(Target::Each(folder)),
            Self::Files(_) => None,
        }
    }
}

fn refused(message: Sentence, hint: impl Into<Sentence>) -> Error {
    ErrorKind::Output { message, hint: Some(hint.into()) }.into()
}

/// An output folder is replaced as a whole, so that nothing may lie in it that is needed until the end or after it. Other
/// checks look after what is read and what else is written.
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

/// Two outputs under one name would overwrite one another.
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

/// Folders that were made for this run and go with it, if nothing was put into them; the innermost first.
pub(super) struct NewFolder(Vec<PathBuf>);

impl NewFolder {
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
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
            // A folder that is not empty stays; there is nothing to be done about one that cannot be removed.
            let _ = fs_err::remove_dir(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So that a run which is taken up again in another folder knows its outputs, and no others.
    #[test]
    fn outputs_have_one_name_wherever_the_command_is_given() {
        let here = fs_err::canonicalize(".").unwrap();
        assert_eq!(absolute(Path::new("out")), here.join("out"));
        assert_eq!(absolute(&here.join("src/../out")), here.join("out"));
        assert_eq!(absolute(Path::new("not-there/out")), here.join("not-there/out"));
    }
}
