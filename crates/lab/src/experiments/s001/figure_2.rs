//! Figure 2: similarities of shuffled texts against the length of shingles.
//!
//! The report says that blanks can be treated in several ways, but not how it treats them, so both ways are computed.
//! Its statements hold if blanks are left out.

use anyhow::Result;
use minwise::verify::Overlap;
use serde::Deserialize;

use super::{sets, shuffles};
use crate::check::{Check, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, noted, through};
use crate::plot::{Axis, Point};
use crate::table::{Cell, Table};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    documents: u64,
    sizes: Vec<usize>,
    sets: u64,
}

/// Length of shingles at which the report has all pairs below [`BELOW`].
const LENGTH: usize = 9;
const BELOW: f64 = 0.1;
/// Length of shingles above which most similarities of the report are 0.
const MOSTLY_ZERO: usize = 12;
/// Similarities below this value are 0.00 to two digits.
const ZERO: f64 = 0.005;
/// Share of sets of shuffles for which a statement must hold to be typical. The report's statement is about one set of
/// shuffles.
const TYPICAL: f64 = 0.95;

/// Treatment of the blanks between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blanks {
    LeftOut,
    Kept,
}

impl Blanks {
    const ALL: [Self; 2] = [Self::LeftOut, Self::Kept];

    fn name(self) -> &'static str {
        match self {
            Self::LeftOut => "blanks left out",
            Self::Kept => "blanks kept",
        }
    }

    /// Returns shuffles of the text, with the blanks kept or removed.
    fn documents(self, documents: u64, seed: u64) -> Vec<String> {
        let documents = shuffles(documents, seed);
        match self {
            Self::LeftOut => documents.iter().map(|document| document.replace(' ', "")).collect(),
            Self::Kept => documents,
        }
    }
}

/// Similarities of all pairs at one length of shingles.
struct Row {
    size: usize,
    least: f64,
    mean: f64,
    most: f64,
    /// Share of pairs whose similarity is 0.00 to two digits.
    zero: f64,
    /// Share of pairs that have no shingle in common.
    apart: f64,
}

impl Row {
    fn of(documents: &[String], size: usize) -> Result<Self> {
        let similarities = similarities(documents, size)?;
        let share = |is: &dyn Fn(f64) -> bool| {
            similarities.iter().filter(|&&similarity| is(similarity)).count() as f64
                / similarities.len() as f64
        };
        Ok(Self {
            size,
            least: similarities.iter().copied().fold(f64::INFINITY, f64::min),
            mean: similarities.iter().sum::<f64>() / similarities.len() as f64,
            most: similarities.iter().copied().fold(0.0, f64::max),
            zero: share(&|similarity| similarity < ZERO),
            apart: share(&|similarity| similarity == 0.0),
        })
    }
}

/// Results for the report's statements, with one treatment of blanks.
struct Sentences {
    falls: bool,
    /// Greatest similarity of a pair at [`LENGTH`].
    most: f64,
    /// Number of sets of shuffles whose pairs are all below [`BELOW`] at [`LENGTH`].
    sets_below: usize,
    /// Number of sets of shuffles of which most pairs are at 0.00 at each length above [`MOSTLY_ZERO`].
    sets_zero: usize,
    /// Three counts of lengths above [`MOSTLY_ZERO`]: all these lengths, the lengths at which most similarities are
    /// 0.00, and the lengths at which most similarities are exactly 0.
    lengths: [usize; 3],
}

impl Sentences {
    fn of(context: &Context<'_>, settings: &Settings, blanks: Blanks, rows: &[Row]) -> Result<Self> {
        let numbers: Vec<u64> = (1..=settings.sets).collect();
        let found = context.map(&numbers, |&set| -> Result<[bool; 2]> {
            let documents = blanks.documents(settings.documents, context.seed() + set);
            let is_below = Row::of(&documents, LENGTH)?.most < BELOW;
            let mut is_zero = true;
            for &size in settings.sizes.iter().filter(|&&size| size > MOSTLY_ZERO) {
                is_zero &= Row::of(&documents, size)?.zero > 0.5;
            }
            Ok([is_below, is_zero])
        });
        let found = found.into_iter().collect::<Result<Vec<_>>>()?;
        let sets = |at: usize| found.iter().filter(|found| found[at]).count();
        let long =
            |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| row.size > MOSTLY_ZERO && is(row)).count();
        Ok(Self {
            falls: rows.windows(2).all(|pair| pair[0].mean > pair[1].mean),
            most: rows.iter().find(|row| row.size == LENGTH).map_or(f64::NAN, |row| row.most),
            sets_below: sets(0),
            sets_zero: sets(1),
            lengths: [long(&|_| true), long(&|row| row.zero > 0.5), long(&|row| row.apart > 0.5)],
        })
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let mut findings = ExperimentFindings::default();
    let (mut all, mut series) = (vec![], vec![]);
    for (blanks, name) in Blanks::ALL.into_iter().zip(["left-out", "kept"]) {
        let documents = blanks.documents(settings.documents, context.seed());
        let rows =
            settings.sizes.iter().map(|&size| Row::of(&documents, size)).collect::<Result<Vec<Row>>>()?;
        all.push(Sentences::of(context, &settings, blanks, &rows)?);
        let mark = |row: &Row| Point { x: row.size as f64, y: row.mean, error: Some((row.least, row.most)) };
        series.push(through(blanks.name(), rows.iter().map(mark).collect()));
        findings = findings.table(table(name, blanks, &rows));
    }
    let picture = chart(
        "Shuffles of one text",
        "The similarity falls from 0.7 or more at two characters to nearly 0 at twelve; it is lower if blanks are left out.",
        Axis::linear("characters of a shingle"),
        Axis::linear("mean similarity of 190 pairs").between(0.0, 1.0),
        series,
    );
    let note = "Bars: from the least to the greatest similarity of a pair.";
    let mut readings = Table::new(
        "readings",
        "The sentences, by the treatment of blanks",
        &["sentence", "found", Blanks::LeftOut.name(), Blanks::Kept.name()],
    );
    let mut reading = |sentence: &str, found: &str, of: &dyn Fn(&Sentences) -> Cell| {
        readings.push(vec![sentence.into(), found.into(), of(&all[0]), of(&all[1])]);
    };
    let sets = settings.sets;
    reading("the mean falls with the length", "", &|of| if of.falls { "yes" } else { "no" }.into());
    reading("at 9 characters, all are below 0.1", "the greatest similarity", &|of| of.most.into());
    reading("", "sets of shuffles of which it holds", &|of| format!("{} of {sets}", of.sets_below).into());
    let of_lengths = |of: &Sentences, at: usize| format!("{} of {}", of.lengths[at], of.lengths[0]).into();
    reading("above 12, they are mostly 0", "lengths at which most are 0.00", &|of| of_lengths(of, 1));
    reading("", "sets of shuffles of which it holds", &|of| format!("{} of {sets}", of.sets_zero).into());
    reading("", "lengths at which most pairs share nothing", &|of| of_lengths(of, 2));

    let found = &all[0];
    let [long, zero, apart] = found.lengths;
    Ok(findings.table(readings).chart("similarities", noted(picture, note)).checks([
        Check::shape("the mean falls with the length", found.falls, true, found.falls),
        Check::shape(
            &format!("the greatest similarity of a pair at {LENGTH} characters"),
            significant(found.most),
            format!("below {BELOW}"),
            found.most < BELOW,
        ),
        Check::shape(
            &format!("sets of shuffles whose pairs are all below {BELOW} at {LENGTH} characters"),
            format!("{} of {sets}", found.sets_below),
            format!("{TYPICAL} of them at least"),
            found.sets_below as f64 >= TYPICAL * sets as f64,
        ),
        Check::shape(
            &format!("lengths above {MOSTLY_ZERO} at which most pairs have a similarity of 0.00"),
            format!("{zero} of {long}"),
            "all",
            zero == long,
        ),
        Check::shape(
            &format!("sets of shuffles of which most pairs are at 0.00 at each length above {MOSTLY_ZERO}"),
            format!("{} of {sets}", found.sets_zero),
            format!("{TYPICAL} of them at least"),
            found.sets_zero as f64 >= TYPICAL * sets as f64,
        ),
        Check::shape(
            &format!("lengths above {MOSTLY_ZERO} at which most pairs have a similarity of exactly 0"),
            format!("{apart} of {long}"),
            "all",
            apart == long,
        )
        .because("every shuffle has the word `reprehenderit` of 13 letters, so no pair is at 0 at 13"),
    ]))
}

fn table(name: &str, blanks: Blanks, rows: &[Row]) -> Table {
    let mut table = Table::new(
        name,
        &format!("Similarities of all pairs, {}", blanks.name()),
        &[
            "characters",
            "least",
            "mean",
            "greatest",
            "share of pairs at 0.00",
            "share with nothing in common",
        ],
    );
    for row in rows {
        table.push(vec![
            row.size.into(),
            row.least.into(),
            row.mean.into(),
            row.most.into(),
            row.zero.into(),
            row.apart.into(),
        ]);
    }
    table
}

/// Returns the exact similarities of all pairs.
fn similarities(documents: &[String], size: usize) -> Result<Vec<f64>> {
    let sets = sets(documents, size)?;
    let pairs = (0..sets.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    Ok(pairs.map(|(a, b)| Overlap::of(&sets[a], &sets[b]).jaccard()).collect())
}
