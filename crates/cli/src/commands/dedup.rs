//! `minwise dedup`: a corpus without its near-duplicates.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use minwise_corpus::{
    CompleteOutput, Corpus, InputFormat, Layout, Output, OutputFolder, Overwrite, ReadOptions,
    TableCompression, refuse_annotation, refuse_overlap, refuse_same_names, refuse_shared, refuse_unlike,
};
use minwise_engine::dedup::{Decisions, dedup};
use minwise_engine::output::{
    Part, Target, write_annotated, write_files, write_kept_as_decided, write_records,
};
use minwise_engine::report::{Extras, MeasuredRecall, Report, Summary, ThisRun};
use minwise_engine::work::{self, Claim, Manifest};
use minwise_engine::{Reading, Settings, Stage, read};

use super::{open_against, overwrite, rejects, weigh};
use crate::Exit;
use crate::args::DedupArgs;
use crate::printer::{Failure, Printer};
use crate::progress::Progress;
use crate::settings::{self, Problems};
use crate::shell;

pub fn run(args: &DedupArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    // Dropped after all that may lie in it.
    let mut made_for_run = None;
    let mut problems = Problems::default();
    let mut options = settings::read_options(&args.inputs, &mut problems);
    let cluster = problems.parse("--cluster", &args.cluster);
    let max_cluster = settings::max_cluster(args.max_cluster.as_deref(), &mut problems);
    let audit = settings::audit(&args.audit, &mut problems);
    let compression: TableCompression = problems.parse("--compression", &args.compression);
    let mut settings = settings::run(&args.sketch, &args.run, &args.keep, cluster, problems)?;
    settings.max_cluster = max_cluster;
    settings.audit = audit;
    options.value_fields = settings::value_fields(&settings.keep)?;

    let progress = Progress::new(printer);
    if let Some(folder) = args.work.folder.as_deref().map(Path::new) {
        work::refuse(folder, args.work.resume)?;
        made_for_run = Some(NewFolder::create(folder)?);
        // Whoever gave the run a folder has room for it there.
        options.spool_dir.get_or_insert_with(|| folder.to_owned());
    }
    settings.temporary.clone_from(&options.spool_dir);
    let corpus = open_against(&args.against, &args.inputs.inputs, &options, &progress)?;
    let claim = args.work.folder.as_ref().map(|folder| Claim::new(Path::new(folder))).transpose()?;
    // Everything that could be refused is refused before the work begins.
    let mut targets = Targets::open(args, &corpus, compression, resumed_overwrite(args)?)?;
    let weights = &args.sketch.weights;
    settings.weighing =
        weigh(weights, &mut settings.spec, Some(&corpus), &options, settings.threads, &progress)?;

    if let Some(claim) = claim {
        let options = known_again(&settings, &options, &corpus);
        let manifest = Manifest::new(options, &corpus, settings.threads, &progress)?;
        settings.work = Some(Arc::new(claim.begin(&manifest)?));
    }
    if let Some(folder) = made_for_run {
        folder.keep();
    }

    let reading = read(&corpus, &settings.reading(), &progress)?;
    let early = targets.written_early();
    let decisions = decide(&corpus, &reading, &settings, &progress, early, compression)?;
    progress.turn_to(Stage::Write.name());
    let summary = Summary::new(&corpus, &reading, &decisions, &settings);
    let written = targets.write(&corpus, &reading, &decisions, &settings, &summary, &progress)?;
    let complete = written.complete()?;
    if let Some(work) = &settings.work {
        work.note_outputs(&named_outputs(args))?;
    }
    complete.put_in_place()?;
    let work = settings.work.take();
    if let Some(work) = work.as_ref().filter(|_| args.work.keep_work) {
        work.forget_outputs()?;
    }

    progress.clear();
    printer.summary(&summary, started.elapsed());
    let hint = match &args.report {
        Some(folder) => format!("all of them are in `{}`", Path::new(folder).join("rejects.jsonl").display()),
        None => "`--report DIR` lists all of them in `DIR/rejects.jsonl`".to_owned(),
    };
    let exit = rejects(&reading, &corpus, &hint, printer);
    if let Some(work) = work.filter(|_| !args.work.keep_work) {
        // Temporary files that lie there are closed first: some systems keep a folder with open files.
        drop((reading, decisions, settings, corpus));
        work.remove()?;
    }
    Ok(exit)
}

/// The outputs in the order of their options, by names that are the same wherever the command is given.
fn named_outputs(args: &DedupArgs) -> Vec<String> {
    let name = |output: &Option<String>| match output.as_deref() {
        None => String::new(),
        Some("-") => "-".to_owned(),
        Some(output) => absolute(Path::new(output)).to_string_lossy().into_owned(),
    };
    [&args.output, &args.removed, &args.report].map(name).into()
}

/// A path from the root, its folder resolved if it is there.
fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent().map(fs_err::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Outputs that exist are refused, unless the run that is taken up again was putting them in place when it ended.
fn resumed_overwrite(args: &DedupArgs) -> Result<Overwrite, Failure> {
    let finishing = match &args.work.folder {
        Some(folder) if args.work.resume => work::was_finishing(Path::new(folder), &named_outputs(args))?,
        _ => false,
    };
    Ok(overwrite(args.force || finishing))
}

/// The options by which a run is known again: all that change what it finds out.
fn known_again(settings: &Settings, options: &ReadOptions, corpus: &Corpus) -> Vec<(String, String)> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let fields: Vec<String> = options.text_fields.iter().map(ToString::to_string).collect();
    // What is asked for decides the format of references, which may be another one than that of the inputs.
    let reference_format = match options.format {
        _ if corpus.references() == 0 => None,
        InputFormat::Auto => Some("auto".to_owned()),
        InputFormat::Only(format) => Some(format.name().to_owned()),
    };
    [
        ("spec", settings.spec.to_string()),
        ("--measure", settings.measure.to_string()),
        ("--threshold", settings.threshold.to_string()),
        ("--order", or_none(settings.order.map(|order| order.to_string()))),
        ("--candidates", settings.search.to_string()),
        ("--bands", settings.banding.bands().to_string()),
        ("--rows", settings.banding.rows().to_string()),
        ("--bits", or_none(settings.bits.map(|bits| bits.to_string()))),
        ("--filter-error", or_none(settings.filter.map(|error| error.to_string()))),
        ("--keep", settings.keep.to_string()),
        ("--cluster", settings.cluster.to_string()),
        ("--max-cluster", or_none(settings.max_cluster.map(|most| most.to_string()))),
        ("--against", corpus.references().to_string()),
        ("--text-field", fields.join(",")),
        ("--id-field", options.id_field.to_string()),
        ("--encoding", options.encoding.to_string()),
        ("format", corpus.format().name().to_owned()),
        ("--input-format", or_none(reference_format)),
        ("--max-record", options.max_record_bytes.to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Decides, and meanwhile writes the kept records to `early` as far as they are known.
fn decide(
    corpus: &Corpus,
    reading: &Reading,
    settings: &Settings,
    progress: &Progress,
    early: Option<Target<'_>>,
    compression: TableCompression,
) -> Result<Decisions, Failure> {
    let Some(target) = early else { return Ok(dedup(corpus, reading, settings, progress, |_| {})?) };
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let writer = scope.spawn(move || {
            // What cannot be written need not be decided.
            write_kept_as_decided(corpus, reading, told, target, compression, progress)
                .inspect_err(|_| progress.give_up())
        });
        // A writer that has failed no longer listens.
        let decisions = dedup(corpus, reading, settings, progress, move |decided| drop(tell.send(decided)));
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (decisions, written) {
            // The run was stopped because of the writer, so the writer's reason is the reason.
            (Err(stopped), Err(error)) if stopped.is_cancelled() => Err(error.into()),
            (decisions, written) => {
                let decisions = decisions?;
                written?;
                Ok(decisions)
            }
        }
    })
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
struct Targets {
    annotate: bool,
    compression: TableCompression,
    /// Whether the kept records were written while the run went on.
    early: bool,
    kept: Option<Place>,
    removed: Option<Place>,
    report: Option<(Report, NewFolder)>,
}

impl Targets {
    fn open(
        args: &DedupArgs,
        corpus: &Corpus,
        compression: TableCompression,
        overwrite: Overwrite,
    ) -> Result<Self, Failure> {
        compression.check(corpus.format())?;
        if args.annotate {
            refuse_annotation(corpus)?;
        }
        if args.annotate && corpus.layout() == Layout::Texts {
            return Err(Failure::Error {
                message:
                    "`--annotate` adds a member or column to records, but the input is a folder of texts"
                        .to_owned(),
                hint: Some(
                    "`--report DIR` writes the clusters of any input to `DIR/clusters.jsonl`".to_owned(),
                ),
            });
        }
        let outputs =
            if args.dry_run { [None, None] } else { [args.output.as_deref(), args.removed.as_deref()] };
        refuse_same(&outputs, args.report.as_deref())?;
        let [kept, removed] = outputs.map(|output| -> Result<_, Failure> {
            let Some(output) = output else { return Ok(None) };
            Place::open(output, corpus, args.work.folder.as_deref(), overwrite).map(Some)
        });
        let report = match &args.report {
            None => None,
            Some(folder) => {
                let folder = Path::new(folder);
                for file in Report::FILES {
                    refuse_overlap(corpus, &folder.join(file))?;
                }
                let new = NewFolder::create(folder)?;
                Some((Report::create(folder, overwrite)?, new))
            }
        };
        Ok(Self {
            annotate: args.annotate,
            compression,
            early: false,
            kept: kept?,
            removed: removed?,
            report,
        })
    }

    /// The output that can be written while decisions are still falling.
    fn written_early(&mut self) -> Option<Target<'_>> {
        let target = self.kept.as_mut().filter(|_| !self.annotate)?.records()?;
        self.early = true;
        Some(target)
    }

    fn write(
        self,
        corpus: &Corpus,
        reading: &Reading,
        decisions: &Decisions,
        settings: &Settings,
        summary: &Summary,
        progress: &Progress,
    ) -> Result<Written, Failure> {
        let mut finished = vec![];
        for (place, part) in [(self.kept, Part::Kept), (self.removed, Part::Removed)] {
            let Some(mut place) = place else { continue };
            if let Place::Files(out) = &place {
                write_files(corpus, reading, decisions, part, out, progress)?;
            }
            match place.records() {
                Some(_) if part == Part::Kept && self.early => {}
                Some(target) if self.annotate => {
                    write_annotated(corpus, reading, decisions, target, self.compression, progress)?;
                }
                Some(target) => {
                    write_records(corpus, reading, decisions, part, target, self.compression, progress)?;
                }
                None => {}
            }
            finished.push(place);
        }
        let mut report = self.report;
        if let Some((report, _)) = &mut report {
            let this_run = ThisRun { command: shell::command(), stages: progress.times() };
            // Without pairs there is nothing to measure by.
            let audit = decisions.audit.filter(|audit| audit.pairs > 0);
            let measured_recall =
                audit.map(|audit| MeasuredRecall { value: audit.recall, low: audit.low, high: audit.high });
            let extras = Extras { measured_recall, this_run: Some(this_run) };
            report.write(corpus, reading, decisions, settings, summary, &extras, progress)?;
        }
        Ok(Written { outputs: finished, report })
    }
}

/// Outputs that are written, if not yet to the disk.
struct Written {
    outputs: Vec<Place>,
    report: Option<(Report, NewFolder)>,
}

impl Written {
    /// Brings all of them to the disk, so that one that cannot be written is known before any is in place.
    fn complete(self) -> Result<Complete, Failure> {
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
struct Complete {
    files: Vec<CompleteOutput>,
    folders: Vec<OutputFolder>,
    report: Option<NewFolder>,
}

impl Complete {
    fn put_in_place(self) -> Result<(), Failure> {
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

impl Place {
    fn open(
        output: &str,
        corpus: &Corpus,
        work: Option<&str>,
        overwrite: Overwrite,
    ) -> Result<Self, Failure> {
        if output == "-" {
            return match corpus.layout() {
                Layout::Records => {
                    refuse_unlike(corpus)?;
                    Ok(Self::One(Box::new(Output::stdout())))
                }
                Layout::Texts => Err(Failure::Error {
                    message: "a folder of texts cannot be written to standard output".to_owned(),
                    hint: Some("`--output DIR` names a folder for the kept files".to_owned()),
                }),
            };
        }
        let path = Path::new(output);
        refuse_overlap(corpus, path)?;
        if corpus.layout() == Layout::Texts {
            refuse_needed(path, work)?;
            return Ok(Self::Files(OutputFolder::create(path, overwrite)?));
        }
        // A folder is one that is there, or one whose name says so: a bare name is that of a file.
        if output.ends_with(std::path::is_separator) || path.is_dir() {
            refuse_same_names(corpus)?;
            refuse_needed(path, work)?;
            return Ok(Self::Each(OutputFolder::create(path, overwrite)?));
        }
        refuse_unlike(corpus)?;
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

/// An output folder is replaced as a whole, so that nothing may lie in it that is needed until the end or after it. What is
/// read and what else is written is looked after elsewhere.
fn refuse_needed(folder: &Path, work: Option<&str>) -> Result<(), Failure> {
    let Ok(resolved) = fs_err::canonicalize(folder) else { return Ok(()) };
    let holds = |path: &str| fs_err::canonicalize(path).is_ok_and(|path| path.starts_with(&resolved));
    let needed = if holds(".") {
        "the current folder"
    } else if work.is_some_and(holds) {
        "the folder of the run (`--work`)"
    } else {
        return Ok(());
    };
    Err(Failure::Error {
        message: format!(
            "the output folder `{}` is replaced as a whole, and {needed} lies there",
            folder.display()
        ),
        hint: Some("name another folder, which may be new".to_owned()),
    })
}

/// Two outputs under one name would overwrite one another.
fn refuse_same(outputs: &[Option<&str>; 2], report: Option<&str>) -> Result<(), Failure> {
    if let [Some(kept), Some(removed)] = outputs
        && kept == removed
    {
        return Err(Failure::Error {
            message: format!("`--output` and `--removed` are both `{kept}`"),
            hint: Some("give them different names".to_owned()),
        });
    }
    let named = ["--output", "--removed"].into_iter().zip(outputs);
    let mut paths: Vec<(&str, PathBuf)> = named
        .filter_map(|(option, output)| Some((option, PathBuf::from((*output)?))))
        .filter(|(_, path)| path != Path::new("-"))
        .collect();
    if let Some(folder) = report {
        paths.extend(Report::FILES.map(|file| ("--report", Path::new(folder).join(file))));
    }
    let paths: Vec<(&str, &Path)> = paths.iter().map(|(option, path)| (*option, path.as_path())).collect();
    Ok(refuse_shared(&paths)?)
}

/// Folders that were made for this run and go with it, if nothing was put into them; the innermost first.
struct NewFolder(Vec<PathBuf>);

impl NewFolder {
    fn create(path: &Path) -> Result<Self, Failure> {
        let missing =
            path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let missing = missing.map(Path::to_owned).collect();
        fs_err::create_dir_all(path)?;
        Ok(Self(missing))
    }

    fn keep(mut self) {
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
