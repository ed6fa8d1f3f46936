//! Section 6.5: the source states more savings than are possible.

use anyhow::Result;
use minwise::filter::Use;
use serde::Deserialize;

use super::per_look;
use crate::check::{Check, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    first_look: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    without: Printed,
    with: Printed,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let saved = 1.0 - published.with.value / published.without.value;
    let most = 1.0 - settings.first_look as f64 / settings.registers as f64;
    // Pairs with no agreement are decided fastest.
    let looks: Vec<usize> = (settings.first_look..settings.registers).step_by(settings.first_look).collect();
    let filter = per_look(0.8, settings.registers, &looks, 1e-5)?;
    let reached = 1.0 - filter.expected_comparisons(0.0, Use::Decide) / settings.registers as f64;
    Ok(ExperimentFindings::default().checks([
        Check::law(
            "saved on pairs with nothing in common",
            significant(reached),
            significant(most),
            reached == most,
        ),
        Check::possible(
            "the share of comparisons that was saved",
            significant(saved),
            format!("at most {most}"),
            saved <= most,
        )
        .erratum("E-56"),
    ]))
}
