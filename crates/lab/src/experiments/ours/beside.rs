//! Runs other engines on the same corpora and prints their results beside ours.

use std::collections::BTreeMap;

use anyhow::Result;
use minwise::candidate::{Banding, Curve};
use minwise::verify::ShingleSet;
use tempfile::TempDir;

use super::peers::{self, Peers};
use crate::experiment::{Context, ExperimentFindings};
use crate::table::{Cell, Table};

/// Corpus with its exact pairs, and the settings of a search.
pub(super) struct Case<'a> {
    pub corpus: &'a str,
    pub shingling: &'a str,
    pub threshold: f64,
    /// Share of pairs at the threshold that should become candidates.
    pub recall: f64,
    pub registers: usize,
    /// Banding of our engine.
    pub banding: Banding,
    pub sets: &'a [ShingleSet],
    /// Pairs that reach the threshold.
    pub exact: &'a BTreeMap<(u32, u32), f64>,
}

impl Case<'_> {
    /// Returns the banding of other engines. It uses all registers, because some engines require this, and the fewest
    /// bands that reach the recall.
    fn banding_of_peers(&self) -> Result<Banding> {
        for rows in (2..=self.registers).rev().filter(|rows| self.registers.is_multiple_of(*rows)) {
            let banding = Banding::new(self.registers / rows, rows, self.registers)?;
            if Curve::from(banding).probability(self.threshold) >= self.recall {
                return Ok(banding);
            }
        }
        Ok(Banding::new(self.registers, 1, self.registers)?)
    }

    /// Returns the row of an engine that reports `reported` pairs, of which `right` are correct.
    fn row(&self, engine: String, banding: Banding, reported: usize, right: usize) -> Vec<Cell> {
        vec![
            self.corpus.into(),
            self.shingling.into(),
            self.threshold.into(),
            banding.bands().into(),
            banding.rows().into(),
            engine.into(),
            reported.into(),
            (right as f64 / self.exact.len() as f64).into(),
            (right as f64 / reported as f64).into(),
        ]
    }
}

/// Results of the other engines that are installed, as a table.
pub(super) struct EngineTable {
    peers: Option<Peers>,
    folder: TempDir,
    table: Table,
    notes: Vec<String>,
}

impl EngineTable {
    pub(super) fn new(context: &Context<'_>) -> Result<Self> {
        let peers = context.peers().map(Peers::of).transpose()?;
        let notes = match &peers {
            None => vec!["other engines are not run; `--peers` names a Python that has them".to_owned()],
            Some(peers) => peers.missing().map(|name| format!("{name} is not installed")).collect(),
        };
        let table = Table::new(
            "peers",
            "Beside other engines, with the same shingle sets and as many registers",
            &[
                "corpus",
                "shingling",
                "threshold",
                "bands",
                "rows",
                "engine",
                "reported",
                "recall",
                "precision",
            ],
        );
        Ok(Self { peers, folder: TempDir::new()?, table, notes })
    }

    /// Runs the other engines on a case. `reported` is the number of pairs that our engine reported, and `right` the
    /// number of correct ones.
    pub(super) fn add(&mut self, case: &Case<'_>, reported: usize, right: usize) -> Result<()> {
        let Some(peers) = self.peers.as_ref().filter(|peers| !peers.engines().is_empty()) else {
            return Ok(());
        };
        self.table.push(case.row("minwise".to_owned(), case.banding, reported, right));
        let sets = self.folder.path().join("sets");
        peers::write(case.sets, &sets)?;
        let banding = case.banding_of_peers()?;
        for peer in peers.engines() {
            match peers.pairs(peer, &sets, case.threshold, banding) {
                Ok(pairs) => {
                    let right = pairs.iter().filter(|pair| case.exact.contains_key(pair)).count();
                    let engine = format!("{} {}", peer.name, peer.version);
                    self.table.push(case.row(engine, banding, pairs.len(), right));
                }
                // A failure of another engine is noted and does not fail the experiment.
                Err(error) => self.notes.push(format!(
                    "{} fails on {} at a threshold of {}: {error:#}",
                    peer.name, case.corpus, case.threshold
                )),
            }
        }
        Ok(())
    }

    /// Returns the findings, with the table and its notes added.
    pub(super) fn finish(self, findings: ExperimentFindings) -> ExperimentFindings {
        let findings = if self.table.rows.is_empty() { findings } else { findings.table(self.table) };
        findings.notes(self.notes)
    }
}
