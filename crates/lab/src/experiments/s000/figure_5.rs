//! Figure 5: what it costs to sketch a document.
//!
//! A time depends on the machine and on what else it does, so the verdict is made of counts: the source's Algorithm 1 is
//! run with a counter, and what it computes has to be what the library computes.

use anyhow::Result;
use minwise::sketch::Method;
use minwise::sketch::sectional::{Policy, Sectional};
use serde::Deserialize;

use super::sectional;
use crate::check::{Check, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::best_seconds;
use crate::measure::{ShinglePair, sketch};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    shingles: usize,
    repeats: u32,
    sections: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    percent_for_two_sections: Printed,
}

/// What Algorithm 1 does to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct DocumentWork {
    /// Hash values that are computed.
    hashes: u64,
    /// Hash values that are compared with the least one so far.
    comparisons: u64,
    /// Positions whose sections are computed.
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
        ],
    );
    let mut works = vec![];
    let (mut other_sketches, mut doubled) = (0, 0);
    let mut seconds_of_minhash = None;
    for &s in &settings.sections {
        let (work, counted) = algorithm_1(&whole, s, settings.registers, context.seed())?;
        let library = Sectional::new(settings.registers, s, Policy::First, context.seed())?;
        let row = sketch(&library, &whole);
        other_sketches += usize::from(!library.pairs(&row).eq(counted));
        let (of_half, _) = algorithm_1(&half, s, settings.registers, context.seed())?;
        doubled += usize::from(work.total() == 2 * of_half.total());

        let sketcher = sectional(s, settings.registers)?.build(context.seed())?;
        let seconds = best_seconds(settings.repeats, || sketch(&*sketcher, &whole));
        let time = seconds / *seconds_of_minhash.get_or_insert(seconds);
        works.push(work);
        let says = match s {
            1 => Some(1.0),
            2 => Some(1.0 + published.percent_for_two_sections.value / 100.0),
            _ => None,
        };
        table.push(vec![
            s.into(),
            work.hashes.into(),
            work.comparisons.into(),
            work.sections.into(),
            over(work, works[0]).into(),
            says.into(),
            time.into(),
        ]);
    }
    let sectioned = &works[1..];
    let growth = over(works[1], works[0]) - 1.0;
    Ok(ExperimentFindings::default().table(table).checks([
        Check::exact(
            "sketches of the library that are not those of the counted algorithm",
            &other_sketches,
            &0,
        ),
        Check::shape(
            "MinHash costs least",
            works[0].total(),
            format!("less than {}", works[1].total()),
            sectioned.iter().all(|work| works[0].total() < work.total()),
        ),
        Check::shape(
            "two sections cost little more",
            format!("{} % more work", significant(100.0 * growth)),
            format!("no more than {} %", published.percent_for_two_sections),
            100.0 * growth <= published.percent_for_two_sections.value,
        ),
        Check::stated(
            "the cost grows with the sections",
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

/// How much more work it is than another.
fn over(work: DocumentWork, other: DocumentWork) -> f64 {
    work.total() as f64 / other.total() as f64
}

/// The pairs of minimum and section that the source's Algorithm 1 computes, and what it does for them. One section is
/// plain `MinHash`, which finds none.
///
/// The hash values of a shingle are the registers of a document that has no other.
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
