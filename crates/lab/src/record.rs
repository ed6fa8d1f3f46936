//! Stores the results of a run: one folder per experiment, with Markdown to read, CSV and JSON for programs, and SVG
//! charts.
//!
//! ```text
//! README.md                  the verdicts
//! 002/figure-1/README.md     one experiment, with its tables and charts
//! 002/figure-1/result.json   the same for `minwise-lab report`
//! 002/figure-1/*.csv, *.svg  its tables and charts
//! ```
//!
//! No file depends on the clock or on the threads, unless the experiment measures times.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::check::{Check, CheckKind};
use crate::experiment::{Context, Experiment, ExperimentFindings, ExperimentOptions};
use crate::machine;
use crate::png::Renderer;
use crate::table::{Table, markdown_text};
use crate::verdict::ExperimentVerdict;

/// Chart of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// File name, beside `result.json`.
    pub file: String,
    /// Subject of the chart.
    pub title: String,
    /// Description of what can be seen in the chart.
    pub description: String,
}

/// Stored result of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    /// Name in the form `source/place`.
    pub name: String,
    /// Subject of the experiment.
    pub title: String,
    /// Place in the source.
    pub place: String,
    /// Degree to which the experiment can be repeated, as the letter of its class.
    pub class: char,
    /// Text about the method, the result and its interpretation.
    pub about: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether this was a quick run, with fewer trials than the definition states.
    pub quick: bool,
    /// Parameters that were varied and parameters that were fixed.
    pub settings: serde_json::Value,
    /// Reason why the experiment was skipped, if it was.
    pub skipped: Option<String>,
    /// Reason why the experiment failed, if it did.
    #[serde(default)]
    pub failed: Option<String>,
    /// Verdict, if the experiment was run.
    pub verdict: Option<ExperimentVerdict>,
    /// Whether the verdict is the expected one of the definition.
    pub is_expected: bool,
    /// Notes about omitted parts, with the reasons.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Checks from which the verdict follows.
    pub checks: Vec<Check>,
    /// Tables of numbers.
    pub tables: Vec<Table>,
    /// Charts.
    pub pictures: Vec<Picture>,
}

/// Outcome of an attempt to run an experiment.
enum Ending {
    Found(ExperimentFindings),
    Skipped(String),
    Failed(String),
}

/// Record with its charts.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun {
    /// Record of the run.
    pub record: ExperimentRecord,
    /// File name and content of each chart.
    pub drawings: Vec<(String, String)>,
}

impl RecordedRun {
    /// Runs an experiment, unless data that it needs are missing. An error or a panic of the experiment is stored in
    /// the record.
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

    /// Writes the record into its folder below `folder`, and the charts also as PNG if there is a renderer. Files of an
    /// earlier run of the experiment are deleted.
    pub fn write(&self, folder: &Path, renderer: Option<&Renderer>) -> Result<()> {
        let folder = folder.join(&self.record.name);
        if folder.exists() {
            // A folder without a result may belong to somebody else, so it is not deleted.
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
    /// Returns the verdict, or the reason why there is none.
    #[must_use]
    pub fn outcome(&self) -> String {
        match (&self.verdict, &self.skipped, &self.failed) {
            (Some(verdict), ..) => verdict.to_string(),
            (None, Some(why), _) => format!("skipped: {why}"),
            (None, None, Some(why)) => format!("failed: {why}"),
            (None, None, None) => "not run".to_owned(),
        }
    }

    /// Returns the settings with their values, as text.
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

    /// Returns the checks as a table.
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

/// Writes `README.md` of a folder of records: the experiments with their verdicts.
pub fn write_index(folder: &Path, records: &[ExperimentRecord]) -> Result<()> {
    let mut table = Table::new("index", "", &["experiment", "what", "class", "verdict"]);
    for record in records {
        // A link has no characters that the table escapes, so the link can be written as Markdown.
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
        "# The experiments of the sources, run again\n\n{}.{quick} The last run was on {}.\n\n{}\n",
        summary(records),
        machine::described(),
        verdicts(records).markdown()
    );
    Ok(fs_err::write(folder.join("README.md"), head + &table.markdown())?)
}

/// Counts the experiments per verdict, separately for the experiments of the sources and our own experiments.
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

/// Returns a sentence with the numbers of experiments that ran and that did not have the expected verdict.
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

/// Reads the records below a folder, in the order of their names.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Definition;

    /// Without this, the panic of one experiment would end the run of all.
    #[test]
    fn a_panic_is_stored_as_a_failure() {
        let text = "title = 't'\nplace = 'p'\nclass = 'A'\nseconds = { quick = 1, full = 1 }\nseed = 1\n\
                    expect = 'reproduced'\nabout = 'a'";
        let definition = Definition::parse(text).unwrap();
        let experiment = Experiment { name: "x/y", definition, runner: |_| panic!("an experiment panics") };
        let options = ExperimentOptions { quick: true, data: None, peers: None, threads: 1 };
        let RecordedRun { record, .. } = RecordedRun::of(&experiment, &options);
        assert_eq!(record.outcome(), "failed: it panicked, and the message is on standard error");
        assert!(!record.is_expected && record.verdict.is_none());
        assert_eq!(
            summary(&[record]),
            "0 experiments run, 0 skipped, 1 failed, 0 with a verdict that was not expected"
        );
    }
}
