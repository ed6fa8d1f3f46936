//! Describes the filter of a plan: at which looks it rejects pairs, and how many registers it compares.

use minwise::figure::subject;
use minwise::filter::{Filter, Look, Use};
use serde_json::{Value, json};

use super::{First, table};

/// Filter for one threshold, with the error that was given for it.
pub(super) struct FilterPlan {
    pub(super) filter: Filter,
    pub(super) threshold: f64,
    pub(super) error: f64,
}

/// Outcome of the filter for pairs of one similarity.
struct PairFates {
    similarity: f64,
    /// Probability that a look rejects a pair.
    rejected: f64,
    /// Mean number of registers compared per pair if looks only reject pairs, as in a run.
    compared: f64,
    /// Mean number of registers compared per pair if looks also accept pairs.
    compared_deciding: f64,
}

impl FilterPlan {
    /// Returns the outcome at each tenth of the similarity and at the threshold.
    fn pairs(&self) -> Vec<PairFates> {
        let mut similarities: Vec<f64> = (1..=10).map(|tenths| f64::from(tenths) / 10.0).collect();
        similarities.push(self.threshold);
        similarities.sort_by(f64::total_cmp);
        similarities.dedup();
        similarities
            .into_iter()
            .map(|similarity| {
                // Two registers of `minhash` agree with a probability equal to the similarity, so the similarity is
                // passed unchanged.
                let screened = self.filter.outcome(similarity, Use::Screen);
                PairFates {
                    similarity,
                    rejected: screened.rejected,
                    compared: screened.comparisons,
                    compared_deciding: self.filter.expected_comparisons(similarity, Use::Decide),
                }
            })
            .collect()
    }

    /// Returns the actual error at the threshold. It is usually smaller than the permitted error, because thresholds of
    /// looks are whole numbers.
    fn made_error(&self) -> f64 {
        self.filter.outcome(self.threshold, Use::Screen).rejected
    }

    pub(super) fn json(&self) -> Value {
        let looks: Vec<Value> = self
            .filter
            .looks()
            .iter()
            .map(|look| {
                json!({
                    "registers": look.registers,
                    "m_lower": look.lower,
                    "m_upper": look.upper,
                    "rejection_rate": look.rejection_rate(),
                    "acceptance_rate": look.acceptance_rate(),
                })
            })
            .collect();
        let pairs: Vec<Value> = self
            .pairs()
            .into_iter()
            .map(|PairFates { similarity, rejected, compared, compared_deciding }| {
                json!({
                    "similarity": similarity,
                    "rejected": rejected,
                    "registers_compared": compared,
                    "registers_compared_deciding": compared_deciding,
                })
            })
            .collect();
        json!({
            "error": self.error,
            "error_at_threshold": self.made_error(),
            "error_per_look": self.filter.error_per_look(),
            "looks": looks,
            "pairs": pairs,
        })
    }

    pub(super) fn text(&self) -> String {
        let Self { filter, threshold, error } = self;
        let mut out = format!(
            "\nfilter: wrongly rules out at most {error:e} of the pairs at similarity {threshold}\n\n"
        );
        if filter.looks().is_empty() {
            let registers = subject(filter.registers() as u64, "register", ["is", "are"]);
            return out + &format!("{registers} too few for a filter: no pair is ruled out\n");
        }
        out += &format!(
            "all looks together wrongly rule out {:.2e} of these pairs, and no look more than {:.2e}\n\
             a look rejects (rules out) a pair if at most `m_lower` of the registers agree; it could accept a pair if at least `m_upper` agree\n\
             `rejected` and `accepted` are shares of pairs whose similarities are spread evenly from 0 to 1\n\n",
            self.made_error(),
            filter.error_per_look(),
        );
        let matches = |matches: Option<usize>| matches.map_or("-".to_owned(), |matches| matches.to_string());
        let look_row = |look: &Look| {
            [
                look.registers.to_string(),
                matches(look.lower),
                matches(look.upper),
                format!("{:.4}", look.rejection_rate()),
                format!("{:.4}", look.acceptance_rate()),
            ]
        };
        let looks = filter.looks().iter().map(look_row).collect();
        out += &table(First::Numbers, ["registers", "m_lower", "m_upper", "rejected", "accepted"], looks);
        out += "\nregisters compared per pair on average: `only rejected` if looks only reject pairs (as in `dedup` and `pairs`), `also accepted` if they also accept pairs\n\n";
        let pair_row = |PairFates { similarity, rejected, compared, compared_deciding }| {
            [
                similarity.to_string(),
                format!("{rejected:.6}"),
                format!("{compared:.1}"),
                format!("{compared_deciding:.1}"),
            ]
        };
        let pairs = self.pairs().into_iter().map(pair_row).collect();
        out + &table(First::Numbers, ["similarity", "rejected", "only rejected", "also accepted"], pairs)
    }
}
