//! Sort-merge: documents that share shingles, counted pair by pair.
//!
//! Paper      Broder, Glassman, Manasse and Zweig, *Syntactic clustering of the web*, 1997, as the fourth source tells it
//!            (digest 06, 2).
//! Idea       ⟨shingle, document⟩, sorted by shingle, brings the documents of each shingle together; every two of them are a
//!            ⟨document, document, 1⟩; sorted and summed, these are the sizes of all overlaps, without comparing two
//!            documents.
//! Symbols    T → the threshold; |x| → the mass of a document: its shingles, or their weights as whole numbers of some unit, so
//!            that sums do not depend on their order.
//! Formula    A pair of which x is the smaller one is a candidate if count + dropped(x) ≥ T/(1+T)·(|x| + |y|) for the
//!            Jaccard similarity, ≥ T·|x| for containment, > `m_lower` for registers. dropped(x) < T·|x|, or ≤ `m_lower`.
//! Cost       Σ kept(s)·d(s) pairs over the shingles s, where d(s) documents have s and kept(s) of them keep it.
//! Error      none over shingles: every pair at or above the threshold is a candidate. Over registers, that of the filter.
//! Differs    The triplet is printed with three documents (E-55). A shingle of 10⁵ documents gives 5·10⁹ pairs, so frequent
//!            ones must be left out, and the source loses what they would have counted. Here each document leaves out its most
//!            frequent shingles only as far as they cannot reach the threshold by themselves, and what it left out is added
//!            to every count: nothing is lost.
//! Vectors    digest 06, 2.
//!
//! Use when   every pair is wanted and most shingles are rare; for containment, which bands do not see.
//! Do not     use it where large families share nearly everything: all pairs of a family are counted, shingle by shingle.

/// Products with the threshold are taken with this much room, which is more than rounding can come to, that of weights
/// to whole numbers included. It lets a few pairs just below the threshold be candidates too.
const ROOM: f64 = 1e-6;

/// Document frequencies above which shingles may be left out, level by level; at the last level none is.
const CAPS: [u32; 8] = [64, 256, 1024, 4096, 16_384, 65_536, 1 << 20, u32::MAX];

/// When two documents are a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Their Jaccard similarity may reach the threshold.
    Jaccard(f64),
    /// The share of the smaller one that the larger one has may reach the threshold.
    Containment(f64),
    /// They share more than this mass, whatever they have.
    MoreThan(u64),
}

/// A document while shingles are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Mass {
    /// Of all its shingles.
    whole: u64,
    /// Of those in more documents than each cap.
    above: [u64; CAPS.len()],
}

/// Counts first how frequent the shingles of each document are, then who shares them.
#[derive(Debug, Clone)]
pub struct Census {
    rule: Rule,
    masses: Vec<Mass>,
}

/// Knows what each document leaves out.
#[derive(Debug, Clone)]
pub struct Join {
    rule: Rule,
    wholes: Vec<u64>,
    /// The level of each document: it keeps the shingles up to that cap.
    levels: Vec<u8>,
    dropped: Vec<u64>,
}

impl Rule {
    /// Whether a document may leave out so much of its mass: what it shares with another must be more than that.
    fn may_drop(self, dropped: u64, whole: u64) -> bool {
        match self {
            // Rounding may take a little off the product, and then less is left out than could be.
            Self::Jaccard(threshold) | Self::Containment(threshold) => {
                (dropped as f64) < threshold * whole as f64 * (1.0 - ROOM)
            }
            Self::MoreThan(mass) => dropped <= mass,
        }
    }

    /// Whether documents of these masses, x ≤ y, can be a candidate at all.
    fn sizes_allow(self, x: u64, y: u64) -> bool {
        match self {
            Self::Jaccard(threshold) => x as f64 * (1.0 + ROOM) >= threshold * y as f64,
            Self::Containment(_) | Self::MoreThan(_) => true,
        }
    }

    /// Whether so much shared mass is enough. Rounding never says no where the exact similarity would say yes.
    fn is_enough(self, shared: u64, x: u64, y: u64) -> bool {
        let shared_at_least = |needed: f64| shared as f64 >= needed * (1.0 - ROOM);
        match self {
            Self::Jaccard(threshold) => {
                shared_at_least(threshold / (1.0 + threshold) * (x as f64 + y as f64))
            }
            Self::Containment(threshold) => shared_at_least(threshold * x as f64),
            Self::MoreThan(mass) => shared > mass,
        }
    }
}

impl Census {
    /// Nothing counted yet, for documents numbered from 0.
    #[must_use]
    pub fn new(rule: Rule, documents: usize) -> Self {
        Self { rule, masses: vec![Mass::default(); documents] }
    }

    /// One shingle: all documents that have it, each once, and what it weighs in them.
    pub fn add(&mut self, having: impl ExactSizeIterator<Item = (u32, u64)>) {
        let frequency = having.len();
        let above = CAPS.iter().take_while(|&&cap| frequency > cap as usize).count();
        for (document, mass) in having {
            let masses = &mut self.masses[document as usize];
            masses.whole += mass;
            for level in &mut masses.above[..above] {
                *level += mass;
            }
        }
    }

    /// Takes in what another one counted, of other shingles of the same documents.
    pub fn merge(&mut self, other: &Self) {
        for (mass, other) in self.masses.iter_mut().zip(&other.masses) {
            mass.whole += other.whole;
            for (level, other) in mass.above.iter_mut().zip(other.above) {
                *level += other;
            }
        }
    }

    /// Decides what each document leaves out, once all shingles are counted.
    #[must_use]
    pub fn decide(self) -> Join {
        let Self { rule, masses } = self;
        let level = |mass: &Mass| {
            let first = mass.above.iter().position(|&dropped| rule.may_drop(dropped, mass.whole));
            // Nothing is above the last cap.
            first.unwrap_or(CAPS.len() - 1)
        };
        Join {
            rule,
            levels: masses.iter().map(|mass| level(mass) as u8).collect(),
            dropped: masses.iter().map(|mass| mass.above[level(mass)]).collect(),
            wholes: masses.iter().map(|mass| mass.whole).collect(),
        }
    }
}

impl Join {
    /// One shingle again: tells `each` of every two documents that may owe a match to it, the smaller one first, and of the
    /// mass that they share in it. Returns how many there were.
    pub fn pairs(&self, having: &[(u32, u64)], mut each: impl FnMut(u32, u32, u64)) -> u64 {
        let frequency = having.len();
        let level = CAPS.iter().take_while(|&&cap| frequency > cap as usize).count() as u8;
        let mut count = 0;
        for &(x, mass_x) in having.iter().filter(|(x, _)| self.levels[*x as usize] >= level) {
            let whole = self.wholes[x as usize];
            for &(y, mass_y) in having {
                let other = self.wholes[y as usize];
                if (whole, x) < (other, y) && self.rule.sizes_allow(whole, other) {
                    each(x, y, mass_x.min(mass_y));
                    count += 1;
                }
            }
        }
        count
    }

    /// Whether a pair that was told of, x being the smaller one, is a candidate, given the sum of what it shares.
    #[must_use]
    pub fn is_candidate(&self, x: u32, y: u32, shared: u64) -> bool {
        let [whole, other] = [x, y].map(|document| self.wholes[document as usize]);
        // What was left out may all be shared, but no more than either of them has.
        let most = (shared + self.dropped[x as usize]).min(whole).min(other);
        self.rule.is_enough(most, whole, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    type Documents = Vec<BTreeSet<u64>>;

    /// Candidates and their counts.
    fn candidates(documents: &[BTreeSet<u64>], rule: Rule) -> BTreeMap<(u32, u32), u64> {
        let mut having: BTreeMap<u64, Vec<(u32, u64)>> = BTreeMap::new();
        for (number, shingles) in (0..).zip(documents) {
            for &shingle in shingles {
                having.entry(shingle).or_default().push((number, 1));
            }
        }
        let mut census = Census::new(rule, documents.len());
        for run in having.values() {
            census.add(run.iter().copied());
        }
        let join = census.decide();
        let mut counts = BTreeMap::new();
        for run in having.values() {
            join.pairs(run, |x, y, shared| *counts.entry((x, y)).or_insert(0) += shared);
        }
        counts.retain(|&(x, y), shared| join.is_candidate(x, y, *shared));
        counts
    }

    /// The vector of digest 06, 2.
    #[test]
    fn the_digest_triplets() {
        let sets: Documents =
            [&[1, 2][..], &[2, 3], &[1, 2, 3], &[4]].map(|set| set.iter().copied().collect()).to_vec();
        let all = candidates(&sets, Rule::MoreThan(0));
        assert_eq!(all, BTreeMap::from([((0, 1), 1), ((0, 2), 2), ((1, 2), 2)]));
        let half = candidates(&sets, Rule::Jaccard(0.5));
        assert_eq!(half.into_keys().collect::<Vec<_>>(), [(0, 2), (1, 2)]);
    }

    fn shared(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> usize {
        a.intersection(b).count()
    }

    fn jaccard(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
        shared(a, b) as f64 / (a.len() + b.len() - shared(a, b)) as f64
    }

    /// Documents with rare and frequent shingles: the lower a number, the more documents have it.
    fn documents() -> impl Strategy<Value = Documents> {
        let shingle = (0u64..60, 0u64..1000).prop_map(|(low, high)| if high < 700 { low } else { high });
        let document = prop::collection::btree_set(shingle, 1..40);
        (prop::collection::vec(document, 1..120), 0usize..80).prop_map(|(mut documents, repeated)| {
            // Families beyond the first cap.
            for copy in 0..repeated {
                let mut near = documents[0].clone();
                near.insert(5000 + copy as u64);
                documents.push(near);
            }
            documents
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn no_pair_at_the_threshold_is_lost(documents in documents(), threshold in 0.05..=1.0f64) {
            let by_jaccard = candidates(&documents, Rule::Jaccard(threshold));
            let by_containment = candidates(&documents, Rule::Containment(threshold));
            for (x, a) in (0..).zip(&documents) {
                for (y, b) in (0..).zip(&documents) {
                    if (a.len(), x) >= (b.len(), y) {
                        continue;
                    }
                    if jaccard(a, b) >= threshold {
                        prop_assert!(by_jaccard.contains_key(&(x, y)), "{a:?} {b:?}");
                    }
                    if shared(a, b) as f64 / a.len() as f64 >= threshold {
                        prop_assert!(by_containment.contains_key(&(x, y)), "{a:?} {b:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn frequent_shingles_make_few_pairs() {
        // 500 documents share 20 shingles and have 30 of their own.
        let documents: Documents =
            (0..500u64).map(|d| (0..20).chain((0..30).map(|i| 1000 + 100 * d + i)).collect()).collect();
        let mut census = Census::new(Rule::Jaccard(0.8), 500);
        let everyone: Vec<(u32, u64)> = (0..500).map(|d| (d, 1)).collect();
        for _ in 0..20 {
            census.add(everyone.iter().copied());
        }
        for d in 0..500 {
            for _ in 0..30 {
                census.add([(d, 1)].into_iter());
            }
        }
        let join = census.decide();
        assert_eq!(join.pairs(&everyone, |_, _, _| panic!("nobody keeps it")), 0);
        assert!(candidates(&documents, Rule::Jaccard(0.8)).is_empty());
        // At a threshold that the shared part reaches by itself it must be kept.
        assert_eq!(candidates(&documents, Rule::Jaccard(0.25)).len(), 500 * 499 / 2);
    }

    #[test]
    fn weights_are_shared_as_far_as_both_have_them() {
        let unit = |weight: f64| (weight * 1e9) as u64;
        let mut census = Census::new(Rule::Jaccard(0.5), 2);
        census.add([(0, unit(2.0)), (1, unit(1.0))].into_iter());
        census.add([(0, unit(0.5))].into_iter());
        let join = census.decide();
        let mut seen = vec![];
        join.pairs(&[(0, unit(2.0)), (1, unit(1.0))], |x, y, shared| seen.push((x, y, shared)));
        // 1 shared of 2.5: not enough.
        assert_eq!(seen, []);
        let mut census = Census::new(Rule::Jaccard(0.4), 2);
        census.add([(0, unit(2.0)), (1, unit(1.0))].into_iter());
        census.add([(0, unit(0.5))].into_iter());
        let join = census.decide();
        join.pairs(&[(0, unit(2.0)), (1, unit(1.0))], |x, y, shared| seen.push((x, y, shared)));
        assert_eq!(seen, [(1, 0, unit(1.0))]);
        assert!(join.is_candidate(1, 0, unit(1.0)));
    }
}
