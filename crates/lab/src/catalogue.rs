//! Lists all experiments.

use anyhow::{Context as _, Result};

use crate::definition::Definition;
use crate::experiment::{Experiment, Runner};
use crate::experiments::{ours, s000, s001, s002, s003, s004};

/// Lists each name with its definition and its runner.
macro_rules! catalogue {
    ($($name:literal => $runner:path,)*) => {
        [$(($name, include_str!(concat!("../definitions/", $name, ".toml")), $runner as Runner)),*]
    };
}

/// Returns all experiments, in the order of their names.
pub fn all() -> Result<Vec<Experiment>> {
    catalogue! {
        "000/figure-1" => s000::figure_1::run,
        "000/figure-4" => s000::figure_4::run,
        "000/figure-5" => s000::figure_5::run,
        "000/figures-2-3" => s000::figures_2_3::run,
        "000/table-1" => s000::table_1::run,
        "000/table-2" => s000::table_2::run,
        "000/table-3" => s000::table_3::run,
        "000/table-4" => s000::table_4::run,
        "001/figure-2" => s001::figure_2::run,
        "001/figure-3" => s001::figure_3::run,
        "001/figure-4" => s001::figure_4::run,
        "001/figure-5" => s001::figure_5::run,
        "002/figure-1" => s002::figure_1::run,
        "002/figure-2" => s002::figure_2::run,
        "002/figure-3" => s002::figure_3::run,
        "002/figure-4" => s002::figure_4::run,
        "002/figure-5" => s002::figure_5::run,
        "002/formulas-29-32" => s002::formulas_29_32::run,
        "003/algorithm-1" => s003::algorithm_1::run,
        "003/figure-10" => s003::figure_10::run,
        "003/figure-5" => s003::figure_5::run,
        "003/figure-7" => s003::figure_7::run,
        "003/figure-8" => s003::figure_8::run,
        "003/figure-9" => s003::figure_9::run,
        "003/looks" => s003::looks::run,
        "003/section-6-5" => s003::section_6_5::run,
        "003/table-1" => s003::table_1::run,
        "004/figure-3" => s004::figure_3::run,
        "004/table-1" => s004::table_1::run,
        "004/table-2" => s004::table_2::run,
        "004/table-3" => s004::table_3::run,
        "004/table-4" => s004::table_4::run,
        "ours/dedup" => ours::dedup::run,
        "ours/variance-per-byte" => ours::variance_per_byte::run,
    }
    .into_iter()
    .map(|(name, text, runner)| {
        let definition = Definition::parse(text).with_context(|| format!("the definition of {name}"))?;
        Ok(Experiment { name, definition, runner })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::definition::Expectation;

    #[test]
    fn every_definition_has_a_runner_and_names_are_in_order() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("definitions");
        let mut files = BTreeSet::new();
        for source in fs_err::read_dir(&folder).unwrap() {
            for file in fs_err::read_dir(source.unwrap().path()).unwrap() {
                let path = file.unwrap().path().with_extension("");
                files.insert(path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned());
            }
        }
        let names: Vec<String> = all().unwrap().iter().map(|experiment| experiment.name.to_owned()).collect();
        assert_eq!(names, Vec::from_iter(files));
    }

    #[test]
    fn whatever_is_wrong_has_errata_and_nothing_else_does() {
        for experiment in all().unwrap() {
            let Definition { expect, errata, about, .. } = &experiment.definition;
            match expect {
                Expectation::Corrected | Expectation::NotReproducible => {
                    assert!(!errata.is_empty(), "{}", experiment.name);
                }
                Expectation::Reproduced | Expectation::ShapeReproduced => {
                    assert!(errata.is_empty(), "{}", experiment.name);
                }
                // A statement of the source may fail for other reasons than an erratum.
                Expectation::NotReproduced => {}
            }
            assert!(errata.is_sorted(), "{}", experiment.name);
            assert!(!about.trim().is_empty(), "{}", experiment.name);
        }
    }

    /// Source, number of figures and number of tables of the five works, by their own numbering.
    const PRINTED: [(&str, u32, u32); 5] =
        [("000", 7, 4), ("001", 5, 0), ("002", 5, 0), ("003", 10, 1), ("004", 3, 4)];

    /// Figures that draw a process, without an axis or a number.
    const DRAWINGS: [(&str, &str, &str); 6] = [
        ("001", "figure 1", "how a product is cut to a hash value"),
        ("003", "figure 1", "the steps of clustering"),
        ("003", "figure 2", "the sampling process"),
        ("003", "figure 3", "a filter with R ≥ T"),
        ("003", "figure 4", "the filtering process"),
        ("003", "figure 6", "the filter as a flow chart"),
    ];

    #[test]
    fn every_figure_and_table_of_the_works_has_a_definition() {
        let all = all().unwrap();
        let mut printed = BTreeSet::new();
        for (source, figures, tables) in PRINTED {
            printed.extend((1..=figures).map(|number| (source, format!("figure {number}"))));
            printed.extend((1..=tables).map(|number| (source, format!("table {number}"))));
        }
        let shown: BTreeSet<(&str, String)> = all
            .iter()
            .flat_map(|experiment| {
                experiment.definition.shows.iter().map(|what| (experiment.source(), what.clone()))
            })
            .collect();
        let drawings: BTreeSet<(&str, String)> =
            DRAWINGS.iter().map(|&(source, what, _)| (source, what.to_owned())).collect();
        assert_eq!(shown.intersection(&drawings).next(), None, "a drawing has nothing to repeat");
        let covered: BTreeSet<(&str, String)> = shown.union(&drawings).cloned().collect();
        assert_eq!(covered, printed);
    }
}
