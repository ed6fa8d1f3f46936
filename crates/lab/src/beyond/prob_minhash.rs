//! `ProbMinHash`: sketches of weighted sets, in which members throw points at exponentially distributed distances.
//!
//! - **Paper.** Ertl, *`ProbMinHash` – A Class of Locality-Sensitive Hash Algorithms for the (Probability) Jaccard Similarity*,
//!   IEEE TKDE 2020, arXiv:1911.00675, algorithm 1 (`ProbMinHash1`).
//! - **Idea.** A member of weight w throws points on a line at rate w, each into a random register. A register keeps
//!   the member whose point came first. Once all registers have points, a member stops as soon as its next point is
//!   behind all of them.
//! - **Symbols.** m → `registers`; w(d) → the weight; `J_P` → [`ProbMinHash::similarity`].
//! - **Formula.** The points of a shingle are sums of exponential numbers over its weight; registers are drawn
//!   uniformly. Both come from the sequence of the shingle. A register keeps 32 bits of the shingle's mixed hash.
//! - **Cost.** about n + m ln m points for n members; 4m bytes.
//! - **Error.** registers are independent and agree with probability `J_P`, so the estimate is unbiased with variance
//!   `J_P`(1−`J_P`)/m. For sets, where all weights are 1, `J_P` is J.
//! - **Use when** weights are probabilities: `J_P` does not depend on their scale. For sets it is `MinHash` with another cost.

use minwise::hash::fmix64;

use super::{BeyondSketch, agreement, below, exponential, sequence};

/// Makes `ProbMinHash` sketches.
#[derive(Debug, Clone)]
pub struct ProbMinHash {
    registers: usize,
    seed: u64,
}

impl ProbMinHash {
    /// Returns a maker of sketches with this many registers.
    #[must_use]
    pub fn new(registers: usize, seed: u64) -> Self {
        Self { registers, seed }
    }

    /// Returns the sketch of a weighted set.
    #[must_use]
    pub fn sketch_weighted(&self, members: impl IntoIterator<Item = (u64, f64)>) -> Vec<u32> {
        let mut first = Firsts::new(self.registers);
        let mut registers = vec![u32::MAX; self.registers];
        for (shingle, weight) in members {
            let mut sequence = sequence(self.seed, shingle);
            let mut point = 0.0;
            loop {
                point += exponential(&mut sequence) / weight;
                if point >= first.last() {
                    break;
                }
                let register = below(&mut sequence, self.registers);
                if first.lower(register, point) {
                    registers[register] = (fmix64(shingle) >> 32) as u32;
                }
            }
        }
        registers
    }

    /// Returns the exact `J_P` of two weighted sets: the sum over common members d of `1/Σ max(w_A(x)/w_A(d),
    /// w_B(x)/w_B(d))`.
    #[must_use]
    pub fn similarity(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
        let weight = |set: &[(u64, f64)], of: u64| {
            set.iter().find(|member| member.0 == of).map_or(0.0, |member| member.1)
        };
        let mut all: Vec<u64> = a.iter().chain(b).map(|member| member.0).collect();
        all.sort_unstable();
        all.dedup();
        let of = |&d: &u64| {
            let (in_a, in_b) = (weight(a, d), weight(b, d));
            if in_a == 0.0 || in_b == 0.0 {
                return 0.0;
            }
            1.0 / all.iter().map(|&x| (weight(a, x) / in_a).max(weight(b, x) / in_b)).sum::<f64>()
        };
        all.iter().map(of).sum()
    }
}

impl BeyondSketch for ProbMinHash {
    fn bytes(&self) -> usize {
        4 * self.registers
    }

    fn sketch(&self, shingles: &[u64]) -> Vec<u32> {
        self.sketch_weighted(shingles.iter().map(|&shingle| (shingle, 1.0)))
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> f64 {
        agreement(a, b)
    }
}

/// First point of each register, in a tree of maxima. The root is the last of the first points.
struct Firsts {
    registers: usize,
    /// Tree nodes. The leaves begin at index `registers`; each other node has the greater value of its two children.
    tree: Vec<f64>,
}

impl Firsts {
    fn new(registers: usize) -> Self {
        Self { registers, tree: vec![f64::INFINITY; 2 * registers] }
    }

    fn last(&self) -> f64 {
        // With one register, the root at index 1 is also the leaf.
        self.tree[1]
    }

    /// Sets the point of a register if `point` comes before it. Returns whether it did.
    fn lower(&mut self, register: usize, point: f64) -> bool {
        let mut node = self.registers + register;
        if point >= self.tree[node] {
            return false;
        }
        self.tree[node] = point;
        while node > 1 {
            node /= 2;
            let greater = self.tree[2 * node].max(self.tree[2 * node + 1]);
            if self.tree[node] == greater {
                break;
            }
            self.tree[node] = greater;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{follows, trials};
    use super::*;
    use crate::measure::TrialStatistics;

    #[test]
    fn sets_have_the_variance_of_independent_registers() {
        for (union, common) in [(200, 160), (200, 60), (20, 10)] {
            let j = f64::from(common) / f64::from(union);
            let found = trials(|seed| ProbMinHash::new(64, seed), union as usize, common as usize, 1500);
            follows(found, 1500, j, j * (1.0 - j) / 64.0, 0.0);
        }
    }

    #[test]
    fn weighted_sets_agree_with_the_probability_jaccard_similarity() {
        let a = [(1, 1.0), (2, 2.5), (3, 0.3)];
        let b = [(1, 1.5), (2, 2.0), (4, 0.4)];
        let similarity = ProbMinHash::similarity(&a, &b);
        let estimates: Vec<f64> = (0..3000)
            .map(|seed| {
                let sketch = ProbMinHash::new(32, seed);
                let [a, b] = [a, b].map(|set| sketch.sketch_weighted(set));
                sketch.estimate(&a, &b)
            })
            .collect();
        follows(
            TrialStatistics::of(&estimates),
            3000,
            similarity,
            similarity * (1.0 - similarity) / 32.0,
            0.0,
        );
        // The scale of the weights does not matter. By hand: each of the two common members of three adds 1/(1 + 1 +
        // 1), which gives 2/3.
        let scaled = b.map(|(member, weight)| (member, 10.0 * weight));
        assert!((ProbMinHash::similarity(&a, &scaled) - similarity).abs() < 1e-12);
        let (c, d) = ([(1, 1.0), (2, 1.0)], [(1, 1.0), (2, 1.0), (3, 1.0)]);
        assert!((ProbMinHash::similarity(&c, &d) - 2.0 / 3.0).abs() < 1e-12);
    }
}
