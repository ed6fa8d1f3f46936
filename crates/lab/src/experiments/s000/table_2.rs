//! Table 2: the data set of the source, and its stand-in.

use anyhow::Result;
use minwise::verify::{Overlap, ShingleSet};
use serde::Deserialize;

use super::goldset::{GROUPS, GoldSet};
use crate::check::{Check, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, line, points};
use crate::plot::Axis;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    words: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    size: String,
    groups: Printed,
    documents: Printed,
    documents_of_the_text: Printed,
    pairs: Printed,
    words: Printed,
    thresholds: Vec<f64>,
    recall: Vec<Printed>,
}

/// Permitted difference between the share of pairs that reach a threshold in the generated stand-in and the share that
/// the source prints. The fit leaves this residual, rounded to hundredths.
const FIT: f64 = 0.03;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let Settings { words } = context.settings()?;
    let gold_set = GoldSet { words };
    let published: Published = context.published()?;
    let numbers: Vec<usize> = (0..GROUPS.len()).collect();
    let groups = context.map(&numbers, |&number| group(&gold_set, number, context.seed()));
    let lengths: Vec<f64> = groups.iter().flat_map(|group| &group.lengths).copied().collect();
    let similarities: Vec<f64> = groups.iter().flat_map(|group| &group.similarities).copied().collect();
    let share = |of: &[f64], threshold: f64| {
        of.iter().filter(|&&similarity| similarity >= threshold).count() as f64 / of.len() as f64
    };
    // The first document of each group stands for the group.
    let first: Vec<&ShingleSet> = groups.iter().map(|group| &group.first).collect();
    let apart: Vec<f64> = (0..first.len())
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .map(|(a, b)| Overlap::of(first[a], first[b]).jaccard())
        .collect();

    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let greatest_apart = apart.iter().copied().fold(0.0, f64::max);
    let table = described(&published, &lengths, similarities.len(), greatest_apart);
    let mut shares = Table::new(
        "similarities",
        "Share of near-duplicate pairs that reach a threshold",
        &["threshold", "recall of the source's MinHash", "pairs of the stand-in, exactly"],
    );
    let mut checks = vec![
        Check::exact("documents", &lengths.len().to_string(), &published.documents.to_string()),
        Check::exact("near-duplicate groups", &GROUPS.len().to_string(), &published.groups.to_string()),
        Check::exact("near-duplicate pairs", &similarities.len().to_string(), &published.pairs.to_string()),
        Check::stand_in(
            "words per document of the stand-in, on average",
            significant(mean),
            format!("{} ± 0.5", gold_set.words),
            (mean - gold_set.words as f64).abs() <= 0.5,
        ),
        Check::stated(
            "documents, as the text has them",
            &published.documents_of_the_text,
            &published.documents,
            published.documents_of_the_text.value == published.documents.value,
        )
        .erratum("E-14"),
    ];
    for (&threshold, recall) in published.thresholds.iter().zip(&published.recall) {
        let found = share(&similarities, threshold);
        shares.push(vec![threshold.into(), (recall.value / 100.0).into(), found.into()]);
        checks.push(Check::stand_in(
            &format!("share of the stand-in's pairs at {threshold} or above"),
            significant(found),
            format!("{} ± {FIT}", significant(recall.value / 100.0)),
            (found - recall.value / 100.0).abs() <= FIT,
        ));
    }
    let at = |step: u32| f64::from(step) / 50.0;
    let curve = (0..=50).map(|step| (at(step), share(&similarities, at(step)))).collect();
    let printed: Vec<(f64, f64)> = published
        .thresholds
        .iter()
        .copied()
        .zip(published.recall.iter().map(|value| value.value / 100.0))
        .collect();
    let picture = chart(
        "Similarities of near-duplicate pairs",
        "The share of pairs of the stand-in falls with the threshold and passes near the printed recall of MinHash.",
        Axis::linear("threshold").between(0.0, 1.0),
        Axis::linear("share of pairs that reach it").between(0.0, 1.0),
        vec![line("the stand-in, exactly", curve), points("recall of the source's MinHash", &printed)],
    );
    Ok(ExperimentFindings::default().table(table).table(shares).chart("similarities", picture).checks(checks))
}

/// Returns the source's description of its documents, beside the values of the stand-in.
fn described(published: &Published, lengths: &[f64], pairs: usize, apart: f64) -> Table {
    let (documents, words) = (lengths.len(), lengths.iter().sum::<f64>());
    let least = lengths.iter().copied().fold(f64::INFINITY, f64::min);
    let most = lengths.iter().copied().fold(0.0, f64::max);
    let mut table = Table::new(
        "data",
        "GoldSet as the source describes it, and what stands in for it",
        &["", "the source says", "here"],
    );
    let text = |value: &Printed| value.to_string();
    let rows: [[String; 3]; 10] = [
        [
            "documents".into(),
            format!("{} (its text: {})", published.documents, published.documents_of_the_text),
            documents.to_string(),
        ],
        ["size".into(), published.size.clone(), format!("{words} words; no markup")],
        ["near-duplicate groups".into(), text(&published.groups), GROUPS.len().to_string()],
        ["near-duplicate pairs".into(), text(&published.pairs), pairs.to_string()],
        [
            "words per document, on average".into(),
            text(&published.words),
            significant(words / documents as f64),
        ],
        [
            "words per document".into(),
            "not said".into(),
            format!("from {least} to {most}, evenly by story; documents of a story have one length"),
        ],
        [
            "language".into(),
            "English news".into(),
            "made-up words, as frequent as those of a language".into(),
        ],
        [
            "how copies differ".into(),
            "not said".into(),
            "a share of the words is replaced, from none to 0.6".into(),
        ],
        ["shingles".into(), "k = 3, the unit is not said".into(), "three words".into()],
        [
            "similarity of documents of different groups".into(),
            "not said".into(),
            format!("{} at most, of the first of each group", significant(apart)),
        ],
    ];
    for row in rows {
        table.push(row.map(Into::into).to_vec());
    }
    table
}

/// Lengths and similarities of a group.
struct Group {
    lengths: Vec<f64>,
    similarities: Vec<f64>,
    first: ShingleSet,
}

fn group(gold_set: &GoldSet, number: usize, seed: u64) -> Group {
    let lengths = gold_set.texts(number, seed).iter().map(|text| text.len() as f64).collect();
    let sets: Vec<ShingleSet> =
        gold_set.group(number, seed).into_iter().map(|shingles| shingles.into_iter().collect()).collect();
    let similarities = (0..sets.len())
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .map(|(a, b)| Overlap::of(&sets[a], &sets[b]).jaccard())
        .collect();
    Group { lengths, similarities, first: sets.into_iter().next().unwrap_or_default() }
}
