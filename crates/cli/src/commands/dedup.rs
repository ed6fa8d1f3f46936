//! `minwise dedup`: a corpus without its near-duplicates.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use minwise_corpus::{Corpus, Layout, Output, OutputFolder, Overwrite, refuse_overlap, refuse_shared};
use minwise_engine::dedup::{Decisions, dedup};
use minwise_engine::output::{Part, write_annotated, write_files, write_kept_as_decided, write_lines};
use minwise_engine::report::{Report, Summary};
use minwise_engine::{Reading, Settings, read};

use super::{open, overwrite, rejects, weigh};
use crate::Exit;
use crate::args::DedupArgs;
use crate::printer::{Failure, Printer};
use crate::progress::Progress;
use crate::settings::{self, Problems};

pub fn run(args: &DedupArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = Problems::default();
    let options = settings::read_options(&args.inputs, &mut problems);
    let cluster = problems.parse("--cluster", &args.cluster);
    let mut settings = settings::run(&args.sketch, &args.run, args.keep.as_deref(), cluster, problems)?;
    settings.temporary.clone_from(&options.spool_dir);

    let progress = Progress::new(printer);
    let corpus = open(&args.inputs.inputs, &options, &progress)?;
    // Everything that could be refused is refused before the work begins.
    let mut targets = Targets::open(args, &corpus)?;
    let weights = &args.sketch.weights;
    settings.weighing =
        weigh(weights, &mut settings.spec, Some(&corpus), &options, settings.threads, &progress)?;

    let reading = read(&corpus, &settings.reading(), &progress)?;
    let decisions = decide(&corpus, &reading, &settings, &progress, targets.written_early(args))?;
    let summary = Summary::new(&corpus, &reading, &decisions, &settings);
    targets.write(args.annotate, &corpus, &reading, &decisions, &summary, &progress)?;

    progress.clear();
    printer.summary(&summary, started.elapsed());
    let hint = match &args.report {
        Some(folder) => format!("all of them are in `{}`", Path::new(folder).join("rejects.jsonl").display()),
        None => "`--report DIR` lists all of them in `DIR/rejects.jsonl`".to_owned(),
    };
    Ok(rejects(&reading, &corpus, &hint, printer))
}

/// Decides, and meanwhile writes the kept lines to `early` as far as they are known.
fn decide(
    corpus: &Corpus,
    reading: &Reading,
    settings: &Settings,
    progress: &Progress,
    early: Option<&mut Output>,
) -> Result<Decisions, Failure> {
    let Some(out) = early else { return Ok(dedup(corpus, reading, settings, progress, |_| {})?) };
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let writer = scope.spawn(|| {
            // What cannot be written need not be decided.
            write_kept_as_decided(corpus, reading, told, out, progress).inspect_err(|_| progress.give_up())
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
enum Target {
    Lines(Box<Output>),
    Files(OutputFolder),
}

/// All outputs of a run, open under temporary names, which go when the run does not come to its end.
struct Targets {
    /// Whether the kept lines were written while the run went on.
    early: bool,
    kept: Option<Target>,
    removed: Option<Target>,
    report: Option<(Report, NewFolder)>,
}

impl Targets {
    fn open(args: &DedupArgs, corpus: &Corpus) -> Result<Self, Failure> {
        if args.annotate && corpus.layout() == Layout::Texts {
            return Err(Failure::Error {
                message: "`--annotate` adds a member to JSON records, but the input is a folder of texts"
                    .to_owned(),
                hint: Some(
                    "`--report DIR` writes the clusters of any input to `DIR/clusters.jsonl`".to_owned(),
                ),
            });
        }
        let overwrite = overwrite(args.force);
        let outputs =
            if args.dry_run { [None, None] } else { [args.output.as_deref(), args.removed.as_deref()] };
        refuse_same(&outputs, args.report.as_deref())?;
        let [kept, removed] = outputs.map(|output| -> Result<_, Failure> {
            let Some(output) = output else { return Ok(None) };
            Target::open(output, corpus, overwrite).map(Some)
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
        Ok(Self { early: false, kept: kept?, removed: removed?, report })
    }

    /// The output that can be written while decisions are still falling.
    fn written_early(&mut self, args: &DedupArgs) -> Option<&mut Output> {
        match &mut self.kept {
            Some(Target::Lines(out)) if !args.annotate => {
                self.early = true;
                Some(out)
            }
            _ => None,
        }
    }

    fn write(
        self,
        annotate: bool,
        corpus: &Corpus,
        reading: &Reading,
        decisions: &Decisions,
        summary: &Summary,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let mut finished = vec![];
        for (target, part) in [(self.kept, Part::Kept), (self.removed, Part::Removed)] {
            let Some(mut target) = target else { continue };
            match &mut target {
                Target::Lines(_) if part == Part::Kept && self.early => {}
                Target::Lines(out) if annotate => write_annotated(corpus, reading, decisions, out, progress)?,
                Target::Lines(out) => write_lines(corpus, reading, decisions, part, out, progress)?,
                Target::Files(out) => write_files(corpus, reading, decisions, part, out, progress)?,
            }
            finished.push(target);
        }
        let mut report = self.report;
        if let Some((report, _)) = &mut report {
            report.write(corpus, reading, decisions, summary)?;
        }
        // Put in place only after all of them are written, so that a full disk leaves nothing half done.
        for target in finished {
            match target {
                Target::Lines(out) => out.finish()?,
                Target::Files(out) => out.finish()?,
            }
        }
        if let Some((report, new)) = report {
            report.finish()?;
            new.keep();
        }
        Ok(())
    }
}

impl Target {
    fn open(output: &str, corpus: &Corpus, overwrite: Overwrite) -> Result<Self, Failure> {
        if output == "-" {
            return match corpus.layout() {
                Layout::Jsonl => Ok(Self::Lines(Box::new(Output::stdout()))),
                Layout::Texts => Err(Failure::Error {
                    message: "a folder of texts cannot be written to standard output".to_owned(),
                    hint: Some("`--output DIR` names a folder for the kept files".to_owned()),
                }),
            };
        }
        let path = Path::new(output);
        refuse_overlap(corpus, path)?;
        Ok(match corpus.layout() {
            Layout::Jsonl => Self::Lines(Box::new(Output::create(path, overwrite)?)),
            Layout::Texts => Self::Files(OutputFolder::create(path, overwrite)?),
        })
    }
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
