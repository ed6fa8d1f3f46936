//! What is kept of a run: a folder an experiment, with Markdown to read, CSV and JSON to compute with, SVG to look at.
//!
//! ```text
//! README.md                  the verdicts
//! 002/figure-1/README.md     one experiment, with its tables and pictures
//! 002/figure-1/result.json   the same for `minwise-lab report`
//! 002/figure-1/*.csv, *.svg  its tables and pictures
//! ```
//!
//! Nothing of it depends on the clock or on the threads, unless the experiment is one that takes times.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::check::{Check, CheckKind};
use crate::experiment::{Context, Experiment, ExperimentFindings, ExperimentOptions};
use crate::png::Renderer;
use crate::table::{Table, markdown_text};
use crate::verdict::ExperimentVerdict;

/// A picture of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Its file, beside `result.json`.
    pub file: String,
    /// What it shows.
    pub title: String,
    /// What is to be seen in it.
    pub description: String,
}

/// What came of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    /// `source/place`.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// Where it stands in its source.
    pub place: String,
    /// How far it can be repeated.
    pub class: char,
    /// What was done and how to read it.
    pub about: String,
    /// The seed.
    pub seed: u64,
    /// Whether there were fewer trials.
    pub quick: bool,
    /// What was varied and what was fixed.
    pub settings: serde_json::Value,
    /// Why it was not run, if it was not.
    pub skipped: Option<String>,
    /// Why it ended without findings, if it did.
    #[serde(default)]
    pub failed: Option<String>,
    /// The verdict, if it was run.
    pub verdict: Option<ExperimentVerdict>,
    /// Whether the verdict is the one that the definition expects.
    pub is_expected: bool,
    /// What was left out, and why.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What the verdict is made of.
    pub checks: Vec<Check>,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The pictures.
    pub pictures: Vec<Picture>,
}

/// How an experiment ended.
enum Ending {
    Found(ExperimentFindings),
    Skipped(String),
    Failed(String),
}

/// A record, and the pictures that go with it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun {
    /// The record.
    pub record: ExperimentRecord,
    /// A file's name and content, for each picture.
    pub drawings: Vec<(String, String)>,
}

impl RecordedRun {
    /// Runs an experiment, unless it needs what is not there. An error or a panic of the experiment becomes a record that says so.
    #[must_use]
    pub fn of(experiment: &Experiment, options: &ExperimentOptions) -> Self {
        let missing = experiment.missing(options.data.as_deref());
        if !missing.is_empty() {
            let missing: Vec<String> = missing.iter().map(|need| format!("`{need}`")).collect();
            let why = format!("it needs {}, with `--data`", missing.join(" and "));
            return Self::new(experiment, options, Ending::Skipped(why));
        }
        let run = || (experiment.runner)(&Context::new(&experiment.definition, options));
        let ending = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(findings)) => Ending::Found(findings),
            Ok(Err(error)) => Ending::Failed(format!("{error:#}")),
            Err(_) => Ending::Failed("it panicked, and the message is on standard error".to_owned()),
        };
        Self::new(experiment, options, ending)
    }

    fn new(experiment: &Experiment, options: &ExperimentOptions, ending: Ending) -> Self {
        let definition = &experiment.definition;
        let (findings, skipped, failed) = match ending {
            Ending::Found(findings) => (findings, None, None),
            Ending::Skipped(why) => (ExperimentFindings::default(), Some(why), None),
            Ending::Failed(why) => (ExperimentFindings::default(), None, Some(why)),
        };
        let has_run = skipped.is_none() && failed.is_none();
        let verdict = has_run.then(|| ExperimentVerdict::of(definition.class, &findings.checks));
        let is_expected =
            skipped.is_some() || (has_run && ExperimentVerdict::is_expected(&findings.checks, definition));
        let file = |name: &String| format!("{name}.svg");
        let pictures = findings.charts.iter().map(|(name, chart)| Picture {
            file: file(name),
            title: chart.title.clone(),
            description: chart.description.clone(),
        });
        let settings = definition.settings(options.quick);
        let record = ExperimentRecord {
            name: experiment.name.to_owned(),
            title: definition.title.clone(),
            place: definition.place.clone(),
            class: definition.class.letter(),
            about: definition.about.trim().to_owned(),
            seed: definition.seed,
            quick: options.quick,
            settings: serde_json::to_value(settings).unwrap_or_default(),
            skipped,
            failed,
            verdict,
            is_expected,
            notes: findings.notes,
            checks: findings.checks,
            tables: findings.tables,
            pictures: pictures.collect(),
        };
        let drawings = findings.charts.iter().map(|(name, chart)| (file(name), chart.svg())).collect();
        Self { record, drawings }
    }

    /// Writes it below a folder, with pictures as PNG too if there is a renderer; what an earlier run of the experiment left
    /// there goes.
    pub fn write(&self, folder: &Path, renderer: Option<&Renderer>) -> Result<()> {
        let folder = folder.join(&self.record.name);
        if folder.exists() {
            // Only what is ours: a folder with a result in it.
            if !folder.join(RESULT).exists() {
                bail!("`{}` is there and is no record", folder.display());
            }
            fs_err::remove_dir_all(&folder)?;
        }
        fs_err::create_dir_all(&folder)?;
        fs_err::write(folder.join(RESULT), serde_json::to_string_pretty(&self.record)? + "\n")?;
        fs_err::write(folder.join("README.md"), self.record.markdown())?;
        for table in &self.record.tables {
            fs_err::write(folder.join(format!("{}.csv", table.name)), table.csv())?;
        }
        for (file, drawing) in &self.drawings {
            fs_err::write(folder.join(file), drawing)?;
            if let Some(renderer) = renderer {
                let file = Path::new(file).with_extension("png");
                fs_err::write(folder.join(file), renderer.png(drawing)?)?;
            }
        }
        Ok(())
    }
}

const RESULT: &str = "result.json";

impl ExperimentRecord {
    /// The verdict, or why there is none.
    #[must_use]
    pub fn outcome(&self) -> String {
        match (&self.verdict, &self.skipped, &self.failed) {
            (Some(verdict), ..) => verdict.to_string(),
            (None, Some(why), _) => format!("skipped: {why}"),
            (None, None, Some(why)) => format!("failed: {why}"),
            (None, None, None) => "not run".to_owned(),
        }
    }

    /// The settings, each with its value.
    #[must_use]
    pub fn settings_text(&self) -> String {
        let mut parts = vec![format!("seed {}", self.seed)];
        if let Some(settings) = self.settings.as_object() {
            parts.extend(settings.iter().map(|(name, value)| {
                let value = value.to_string().replace(',', ", ").replace('"', "");
                format!("{} {value}", name.replace('_', " "))
            }));
        }
        if self.quick {
            parts.push("a quick run".to_owned());
        }
        parts.join("; ")
    }

    fn markdown(&self) -> String {
        let mut out = format!(
            "# {}: {}\n\n**{}**{}\n\n{}\n\n*{}*\n",
            self.name,
            markdown_text(&self.title),
            markdown_text(&self.outcome()),
            if self.is_expected { "" } else { ", which was not expected" },
            self.about.replace('<', "&lt;"),
            markdown_text(&self.settings_text()),
        );
        if let Some(verdict) = &self.verdict {
            for reason in verdict.because() {
                out += &format!("\n- {}", markdown_text(reason));
            }
            out += if verdict.because().is_empty() { "" } else { "\n" };
        }
        for note in &self.notes {
            out += &format!("\nNote: {}.\n", markdown_text(note));
        }
        for picture in &self.pictures {
            out +=
                &format!("\n![{}]({})\n", picture.description.replace(['[', ']', '\n'], " "), picture.file);
        }
        for table in &self.tables {
            out += &format!("\n## {}\n\n{}", markdown_text(&table.title), table.markdown());
        }
        if !self.checks.is_empty() {
            out += &format!("\n## What the verdict is made of\n\n{}", self.checks_table().markdown());
        }
        out
    }

    /// The checks as a table.
    #[must_use]
    pub fn checks_table(&self) -> Table {
        let mut table = Table::new(
            "checks",
            "What the verdict is made of",
            &["", "about", "statement", "found", "against", "erratum or reason"],
        );
        for check in &self.checks {
            let about = match check.kind {
                CheckKind::Theory => "theory",
                CheckKind::Shape => "shape",
                CheckKind::Published => "print",
                CheckKind::Possible => "what is possible",
                CheckKind::Clock => "clock",
                CheckKind::StandIn => "stand-in, as it was made",
            };
            table.push(vec![
                if check.holds { "holds" } else { "fails" }.into(),
                about.into(),
                check.claim.as_str().into(),
                check.found.as_str().into(),
                check.against.as_str().into(),
                check.erratum.as_deref().or(check.reason.as_deref()).unwrap_or_default().into(),
            ]);
        }
        table
    }
}

/// Writes `README.md` of a folder of records: what ran, and what came of it.
pub fn write_index(folder: &Path, records: &[ExperimentRecord]) -> Result<()> {
    let mut table = Table::new("index", "", &["experiment", "what", "class", "verdict"]);
    for record in records {
        // Links are written here, the table would escape nothing in them.
        let link = format!("[{0}]({0}/README.md)", record.name);
        let unexpected = if record.is_expected { "" } else { ", not expected" };
        table.push(vec![
            link.into(),
            record.title.as_str().into(),
            record.class.to_string().into(),
            (record.outcome() + unexpected).into(),
        ]);
    }
    let quick =
        if records.iter().any(|record| record.quick) { " A quick run, with fewer trials." } else { "" };
    let head = format!(
        "# The experiments of the sources, run again\n\n{}.{quick}\n\n{}\n",
        summary(records),
        verdicts(records).markdown()
    );
    Ok(fs_err::write(folder.join("README.md"), head + &table.markdown())?)
}

/// How many experiments of the sources have each verdict; those of our own are counted apart.
fn verdicts(records: &[ExperimentRecord]) -> Table {
    type IsIt = fn(&ExperimentVerdict) -> bool;
    let mut table = Table::new("verdicts", "", &["verdict", "experiments of the sources", "our own"]);
    let kinds: [(&str, IsIt); 6] = [
        ("reproduced", |verdict| matches!(verdict, ExperimentVerdict::Reproduced)),
        ("shape reproduced on other data", |verdict| matches!(verdict, ExperimentVerdict::ShapeReproduced)),
        ("corrected", |verdict| matches!(verdict, ExperimentVerdict::Corrected { .. })),
        ("not reproduced", |verdict| matches!(verdict, ExperimentVerdict::NotReproduced { .. })),
        ("not reproducible", |verdict| matches!(verdict, ExperimentVerdict::NotReproducible { .. })),
        ("deviates", |verdict| matches!(verdict, ExperimentVerdict::Deviates { .. })),
    ];
    for (name, is_it) in kinds {
        let count = |is_ours: bool| {
            let of = |record: &&ExperimentRecord| record.name.starts_with("ours/") == is_ours;
            records.iter().filter(of).filter(|record| record.verdict.as_ref().is_some_and(is_it)).count()
        };
        table.push(vec![name.into(), count(false).into(), count(true).into()]);
    }
    table
}

/// How many experiments ran, and how many did not come out as expected.
#[must_use]
pub fn summary(records: &[ExperimentRecord]) -> String {
    let count = |is_it: fn(&ExperimentRecord) -> bool| records.iter().filter(|record| is_it(record)).count();
    let ran = count(|record| record.verdict.is_some());
    let skipped = count(|record| record.skipped.is_some());
    let failed = count(|record| record.failed.is_some());
    let unexpected = count(|record| record.verdict.is_some() && !record.is_expected);
    let plural = if ran == 1 { "" } else { "s" };
    let failures = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    format!(
        "{ran} experiment{plural} run, {skipped} skipped{failures}, {unexpected} with a verdict that was not expected"
    )
}

/// The records below a folder, in the order of their names.
pub fn read_all(folder: &Path) -> Result<Vec<ExperimentRecord>> {
    let mut records = vec![];
    for source in folders(folder)? {
        for experiment in folders(&source)? {
            let path = experiment.join(RESULT);
            if path.exists() {
                let record: ExperimentRecord = serde_json::from_str(&fs_err::read_to_string(&path)?)
                    .with_context(|| format!("`{}` is no result of an experiment", path.display()))?;
                records.push(record);
            }
        }
    }
    records.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(records)
}

fn folders(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut folders = vec![];
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}
