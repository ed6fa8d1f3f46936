//! Figure 5: the cost of sketching a document.
//!
//! The source's Algorithm 1 runs with counters, and its result must equal that of the library. The times of the
//! library's sketches are reported beside the counts, as ratios within a round.

use anyhow::Result;
use minwise::sketch::Method;
use minwise::sketch::sectional::{Policy, Sectional};
use serde::Deserialize;

use super::sectional;
use crate::check::{Check, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::clock::{BARS, Median, Rounds};
use crate::experiments::{chart, noted, points};
use crate::measure::{ShinglePair, sketch};
use crate::plot::{Axis, Chart, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    shingles: usize,
    rounds: u32,
    sections: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    percent_for_two_sections: Printed,
}

/// Counts of the operations of Algorithm 1 on a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct DocumentWork {
    /// Number of hash values that are computed.
    hashes: u64,
    /// Number of hash values that are compared with the least value so far.
    comparisons: u64,
    /// Number of positions whose sections are computed.
    sections: u64,
}

impl DocumentWork {
    fn total(self) -> u64 {
        self.hashes + self.comparisons + self.sections
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let [half, whole] =
        [settings.shingles / 2, settings.shingles].map(|count| ShinglePair::of(count, count).a);
    let mut works = vec![];
    let (mut other_sketches, mut doubled) = (0, 0);
    for &s in &settings.sections {
        let (work, counted) = algorithm_1(&whole, s, settings.registers, context.seed())?;
        let library = Sectional::new(settings.registers, s, Policy::First, context.seed())?;
        let row = sketch(&library, &whole);
        other_sketches += usize::from(!library.pairs(&row).eq(counted));
        let (of_half, _) = algorithm_1(&half, s, settings.registers, context.seed())?;
        doubled += usize::from(work.total() == 2 * of_half.total());
        works.push(work);
    }
    let rounds = time(context, &settings, &whole)?;
    let times: Vec<Median> = (0..settings.sections.len()).map(|at| rounds.ratio(at, 0)).collect();

    let five = &published.percent_for_two_sections;
    let mut table = Table::new(
        "cost",
        "What a sketch costs, over MinHash",
        &[
            "s",
            "hash values",
            "comparisons",
            "sections found",
            "work",
            "the source's time",
            "time in this run",
            "from",
            "to",
        ],
    );
    for ((&s, &work), time) in settings.sections.iter().zip(&works).zip(&times) {
        let says = match s {
            1 => Some(1.0),
            2 => Some(1.0 + five.value / 100.0),
            _ => None,
        };
        table.push(vec![
            s.into(),
            work.hashes.into(),
            work.comparisons.into(),
            work.sections.into(),
            over(work, works[0]).into(),
            says.into(),
            time.value.into(),
            time.low.into(),
            time.high.into(),
        ]);
    }
    let sectioned = &works[1..];
    let growth = over(works[1], works[0]) - 1.0;
    let picture = picture(&settings, &works, &times, five.value);
    Ok(ExperimentFindings::default()
        .table(table)
        .chart("cost", picture)
        .checks(clocked(&rounds, &times, five))
        .checks([
            Check::exact(
                "sketches of the library that are not those of the counted algorithm",
                &other_sketches,
                &0,
            ),
            Check::shape(
                "MinHash costs least, by counted steps",
                works[0].total(),
                format!("less than {}", works[1].total()),
                sectioned.iter().all(|work| works[0].total() < work.total()),
            ),
            Check::shape(
                "two sections cost little more, by counted steps",
                format!("{} % more work", significant(100.0 * growth)),
                format!("no more than {five} %"),
                100.0 * growth <= five.value,
            ),
            Check::stated(
                "the cost grows with the sections, by counted steps",
                format!("{} to {}", works[1].total(), works[works.len() - 1].total()),
                "growth",
                sectioned.is_sorted_by(|fewer, more| fewer.total() < more.total()),
            )
            .erratum("E-13"),
            Check::stated(
                "the cost does not depend on the shingles, O(k)",
                format!("twice as much for twice as many, {doubled} of {} times", works.len()),
                "the same",
                doubled == 0,
            )
            .erratum("E-13"),
        ]))
}

/// Measures the time of a sketch with each number of sections.
fn time(context: &Context<'_>, settings: &Settings, document: &[u64]) -> Result<Rounds> {
    let sketchers = settings
        .sections
        .iter()
        .map(|&s| Ok(sectional(s, settings.registers)?.build(context.seed())?))
        .collect::<Result<Vec<_>>>()?;
    let ways: Vec<_> = sketchers.iter().map(|sketcher| move || sketch(&**sketcher, document)).collect();
    let ways: Vec<&dyn Fn() -> Vec<u32>> = ways.iter().map(|way| way as &dyn Fn() -> Vec<u32>).collect();
    Ok(Rounds::take(settings.rounds, &ways))
}

/// Checks the source's three statements about times with our times.
fn clocked(rounds: &Rounds, times: &[Median], five: &Printed) -> [Check; 4] {
    let (two, most) = (times[1], times.len() - 1);
    let growth = rounds.ratio(most, 1);
    let steps: Vec<Median> = (2..=most).map(|at| rounds.ratio(at, at - 1)).collect();
    let shown = steps.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    // If each further section took `step` of the time of `MinHash`, this would be the ratio of the time with the most
    // sections to the time with two.
    let step = five.value / 100.0;
    let in_line = (1.0 + step * most as f64) / (1.0 + step);
    let reason =
        "the library computes many hash values at once and finds sections one by one, however many there are";
    [
        Check::clock(
            "MinHash is the quickest",
            format!("{two} of its time with two sections"),
            "above 1 with any sections",
            times[1..].iter().all(|time| time.low > 1.0),
        ),
        Check::clock(
            &format!("two sections take about {five} % more time"),
            format!("{two} times that of MinHash"),
            format!("{} to {}", significant(1.0 + 0.5 * step), significant(1.0 + 1.5 * step)),
            two.is_within(1.0 + 0.5 * step, 1.0 + 1.5 * step),
        )
        .because(reason),
        Check::clock(
            "each section after the second takes more time",
            shown,
            "above 1 at each step",
            steps.iter().all(|step| step.low > 1.0),
        )
        .because(reason),
        Check::clock(
            "the time grows in line with the sections",
            format!("{growth} from two sections to the most"),
            format!("nearer to {in_line:.3} than to 1"),
            growth.low > f64::midpoint(1.0, in_line),
        )
        .because(reason),
    ]
}

fn picture(settings: &Settings, works: &[DocumentWork], times: &[Median], percent: f64) -> Chart {
    let at = || settings.sections.iter().map(|&s| s as f64);
    let series = vec![
        Series {
            label: "time".to_owned(),
            line: vec![],
            points: at().zip(times).map(|(s, time)| time.point(s)).collect(),
        },
        Series {
            label: "counted steps".to_owned(),
            line: at().zip(works).map(|(s, &work)| (s, over(work, works[0]))).collect(),
            points: vec![],
        },
        points("the source's time for two sections", &[(2.0, 1.0 + percent / 100.0)]),
    ];
    let picture = chart(
        "Cost of a sketch against sections, over MinHash",
        "Steps and times over those of MinHash, by the number of sections.",
        Axis::linear("sections s"),
        Axis::linear("over MinHash"),
        series,
    );
    noted(picture, BARS)
}

/// Returns the ratio of two numbers of operations.
fn over(work: DocumentWork, other: DocumentWork) -> f64 {
    work.total() as f64 / other.total() as f64
}

/// Computes the pairs of minimum and section of the source's Algorithm 1, and counts the operations. With one section,
/// the algorithm is plain `MinHash` and computes no sections.
///
/// The hash values of a shingle are the registers of a document with this shingle alone.
fn algorithm_1(
    document: &[u64],
    sections: usize,
    registers: usize,
    seed: u64,
) -> Result<(DocumentWork, Vec<(u32, u32)>)> {
    let hashes = Method::minhash(registers).build(seed)?;
    let mut least = vec![(u32::MAX, 0); registers];
    let mut work = DocumentWork::default();
    for (position, &shingle) in document.iter().enumerate() {
        let section = if sections == 1 {
            1
        } else {
            work.sections += 1;
            1 + (position * sections / document.len()) as u32
        };
        for (least, hash) in least.iter_mut().zip(sketch(&*hashes, &[shingle])) {
            work.hashes += 1;
            work.comparisons += 1;
            if hash < least.0 {
                *least = (hash, section);
            }
        }
    }
    Ok((work, least))
}
