//! Comparison of two sketches, look by look.

use std::ops::Range;

use super::Filter;
use crate::estimate::minhash::matches;

/// Result of the filter for a pair that is verified unless it is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an answer of two parts, which tests construct")]
pub struct Screening {
    /// Whether the pair is below the threshold, up to the error of the filter.
    pub rejected: bool,
    /// Number of registers that were compared.
    pub compared: usize,
}

/// Decision of the filter about a pair that is not verified.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a pair is rejected or it is not")]
pub enum FilterDecision {
    /// The pair does not reach the threshold.
    Reject {
        /// Number of registers that were compared.
        compared: usize,
    },
    /// The pair reaches the threshold.
    Accept {
        /// Number of registers that were compared.
        compared: usize,
        /// Agreeing registers as a share of the compared ones. If fewer than all registers were compared, the share is
        /// too high on average (E-51). For an unbiased estimate, compare the remaining registers too.
        share: f64,
    },
}

impl Filter {
    /// Compares two sketches until a look rejects the pair or all looks have passed it.
    ///
    /// # Panics
    /// Panics if the sketches do not have K registers.
    #[must_use]
    pub fn screen(&self, a: &[u32], b: &[u32]) -> Screening {
        self.check_rows(a, b);
        self.screen_by(|range| matches(&a[range.clone()], &b[range]))
    }

    /// Screens as [`screen`](Self::screen) does, for registers that are stored in any form. `count` returns the number
    /// of registers that agree in a range. The ranges are consecutive and begin at 0.
    #[inline]
    pub fn screen_by(&self, mut count: impl FnMut(Range<usize>) -> usize) -> Screening {
        let (mut compared, mut agreed) = (0, 0);
        for look in &self.looks {
            let Some(lower) = look.lower else { continue };
            agreed += count(compared..look.registers);
            compared = look.registers;
            if agreed <= lower {
                return Screening { rejected: true, compared };
            }
        }
        Screening { rejected: false, compared }
    }

    /// Compares two sketches until the decision is certain enough, as Yuan 2019, Algorithm 2, does. A look may decide;
    /// otherwise the pair is similar if at least ⌈T·K⌉ of all K registers match. A comparison also ends if the
    /// remaining registers cannot change the decision.
    ///
    /// Do not use this method for pairs that can be verified: as with any estimate, half of the pairs exactly at the
    /// threshold are lost.
    ///
    /// # Panics
    /// Panics if the sketches do not have K registers.
    #[must_use]
    pub fn decide(&self, a: &[u32], b: &[u32]) -> FilterDecision {
        self.check_rows(a, b);
        self.decide_by(|range| matches(&a[range.clone()], &b[range]))
    }

    /// Decides as [`decide`](Self::decide) does, for registers that are stored in any form. `count` returns the number
    /// of registers that agree in a range. The ranges are consecutive and begin at 0.
    pub fn decide_by(&self, mut count: impl FnMut(Range<usize>) -> usize) -> FilterDecision {
        let (mut compared, mut agreed) = (0, 0);
        let accept =
            |compared, agreed| FilterDecision::Accept { compared, share: agreed as f64 / compared as f64 };
        for look in self.looks.iter().filter(|look| look.registers < self.registers) {
            agreed += count(compared..look.registers);
            compared = look.registers;
            let rest = self.registers - compared;
            if look.lower.is_some_and(|lower| agreed <= lower) || agreed + rest < self.needed {
                return FilterDecision::Reject { compared };
            }
            if look.upper.is_some_and(|upper| agreed >= upper) || agreed >= self.needed {
                return accept(compared, agreed);
            }
        }
        agreed += count(compared..self.registers);
        if agreed >= self.needed {
            accept(self.registers, agreed)
        } else {
            FilterDecision::Reject { compared: self.registers }
        }
    }

    fn check_rows(&self, a: &[u32], b: &[u32]) {
        assert!(a.len() == self.registers && b.len() == self.registers, "sketches of the filter's registers");
    }
}
