//! Sort-merge: documents that share shingles, counted pair by pair.
//!
//! - **Paper.** Broder, Glassman, Manasse and Zweig, *Syntactic clustering of the web*, 1997, as summarised by
//!   [Yuan 2019](crate#sources), §3.
//!   The bounds on what may be left out: Chaudhuri, Ganti and Kaushik, *A primitive operator for similarity
//!   joins in data cleaning*, 2006, and Xiao, Wang, Lin and Yu, *Efficient similarity joins for near duplicate
//!   detection*, 2008.
//! - **Idea.** Pairs ⟨shingle, document⟩, sorted by shingle, bring the documents of each shingle together.
//!   Every two of them are a triplet ⟨document, document, 1⟩. Sorted and summed, the triplets are the sizes
//!   of all overlaps, without a comparison of two documents.
//! - **Symbols.** T → the threshold; |x| → the mass of a document: the number of its shingles, or the sum of
//!   their weights as whole numbers of some unit, so that sums do not depend on their order. Of a pair, x is
//!   the smaller document and y the larger one.
//! - **Formula.** A pair is a candidate if its count plus the mass left out reaches n(x, y): T/(1+T)·(|x| +
//!   |y|) for the Jaccard similarity, T·|x| for containment, more than m for registers. All documents have
//!   their shingles in one order, and each leaves out the last ones: less than 2T/(1+T)·|x| as the smaller
//!   document and less than T·|y| as the larger one; for containment T·|x| and nothing; for registers m.
//! - **Why.** For a given x, n(x, y) is least if y is as small as x, and for a given y, if x is as small as
//!   T·|y|: these are the two bounds. So each document left out less than the pair must share, and the pair
//!   has a shingle that both kept. Shared shingles before both cuts were counted. The other shared shingles
//!   lie behind the earlier cut, so their mass is at most what the document with that cut left out.
//! - **Cost.** Σ x(s)·y(s) pairs over the shingles s that x(s) documents keep as the smaller one and y(s) as
//!   the larger one.
//! - **Error.** none over shingles: every pair at or above the threshold is a candidate. Over registers, that
//!   of the filter.
//! - **Differs.** Yuan 2019, §3, prints the triplet with three documents (E-55). A shingle of 10⁵ documents
//!   makes 5·10⁹ pairs, so frequent shingles must be left out, and the work loses their counts. Here the mass
//!   left out is added, so no pair is lost. The order is by document frequency. Shingles of few documents are
//!   never left out, because they make few pairs, and every counted shingle rules out candidates.
//! - **Vectors.** a worked example, by another program.
//!
//! - **Use when** every pair is wanted and most shingles are rare; for containment, which bands do not see.
//! - **Do not** use it where large families share nearly everything: all pairs of a family are counted, shingle by shingle.

use std::cmp::{Ordering, Reverse};

/// Products with the threshold are taken with this margin, which exceeds all rounding, including that of
/// weights to whole numbers. Because of it a few pairs just below the threshold are candidates too.
const ROOM: f64 = 1e-6;

/// Shingles of at most this many documents are never left out.
const RARE: u32 = 64;

/// The condition for a candidate pair.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum CandidateRule {
    /// The Jaccard similarity may reach this threshold.
    Jaccard(f64),
    /// The share of the smaller document that the larger one contains may reach this threshold.
    Containment(f64),
    /// The documents share more than this mass, whatever their sizes.
    MoreThan(u64),
}

impl CandidateRule {
    /// Returns the most mass that a document may leave out: of pairs in which it is the smaller document, and of the
    /// others.
    fn allowances(self, whole: u64) -> [u64; 2] {
        // The largest whole number below the share. Rounding may lower it, and then the document leaves out
        // less than it could.
        let below = |share: f64| ((share * whole as f64 * (1.0 - ROOM)).ceil() as u64).saturating_sub(1);
        match self {
            Self::Jaccard(threshold) => [below(2.0 * threshold / (1.0 + threshold)), below(threshold)],
            // A large document may contain all of a small one in any small part of itself, so it leaves out
            // nothing.
            Self::Containment(threshold) => [below(threshold), 0],
            Self::MoreThan(mass) => [mass; 2],
        }
    }

    /// Reports whether a pair of documents of these masses, x ≤ y, can be a candidate.
    fn sizes_allow(self, x: u64, y: u64) -> bool {
        match self {
            Self::Jaccard(threshold) => x as f64 * (1.0 + ROOM) >= threshold * y as f64,
            Self::Containment(_) | Self::MoreThan(_) => true,
        }
    }

    /// Reports whether this shared mass is enough. The margin makes sure that rounding refuses no pair that the exact
    /// similarity accepts.
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

/// The place of a shingle in the order that all documents share: behind the shingles of fewer documents.
///
/// Shingles of equal rank are left out together or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u64);

impl Rank {
    /// The last rank that no document leaves out.
    const RARE: Self = Self((RARE as u64) << 32 | u32::MAX as u64);
    /// The greatest rank. No shingle comes after it.
    const LAST: Self = Self(u64::MAX);

    /// Creates the rank of a shingle that `frequency` documents have.
    #[must_use]
    pub fn new(shingle: u64, frequency: usize) -> Self {
        // Equally frequent shingles may come in any order that is the same for all documents.
        Self(u64::try_from(frequency).unwrap_or(u64::MAX).min(u64::from(u32::MAX)) << 32 | shingle >> 32)
    }

    /// Returns the rank that [`to_bits`](Self::to_bits) wrote as this number.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the rank as a number; numbers have the order of ranks.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Reports whether a document may leave out a shingle of this rank.
    #[must_use]
    pub fn is_frequent(self) -> bool {
        self > Self::RARE
    }
}

/// The shingles that a document leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    /// The last rank that the document keeps.
    last: Rank,
    /// The mass of the shingles behind that rank.
    dropped: u64,
}

impl Cut {
    const NOTHING: Self = Self { last: Rank::LAST, dropped: 0 };

    /// Returns the cut that leaves out at most `allowance` of shingles sorted by falling rank.
    fn within(allowance: u64, falling: &[(Rank, u64)]) -> Self {
        let mut cut = Self::NOTHING;
        for same in falling.chunk_by(|a, b| a.0 == b.0) {
            let dropped = cut.dropped + same.iter().map(|shingle| shingle.1).sum::<u64>();
            if dropped > allowance {
                return Self { last: same[0].0, ..cut };
            }
            cut.dropped = dropped;
        }
        Self { last: Rank::RARE, ..cut }
    }
}

/// The cut of a document as the smaller one of a pair, and as the larger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairCuts([Cut; 2]);

/// The mass of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Mass {
    /// The mass of all its shingles.
    whole: u64,
    /// The mass of its frequent shingles.
    frequent: u64,
}

/// The first pass over shingles, which counts the mass of each document.
#[derive(Debug, Clone)]
pub struct Census {
    rule: CandidateRule,
    masses: Vec<Mass>,
}

/// The second pass over shingles, which lists the pairs of documents that share one.
#[derive(Debug, Clone)]
pub struct Join {
    rule: CandidateRule,
    masses: Vec<Mass>,
    cuts: Vec<PairCuts>,
}

impl Census {
    /// Creates a census without shingles, for documents numbered from 0.
    #[must_use]
    pub fn new(rule: CandidateRule, documents: usize) -> Self {
        Self { rule, masses: vec![Mass::default(); documents] }
    }

    /// Adds a shingle: all documents that have it, each once, with its weight in them.
    pub fn add(&mut self, rank: Rank, having: impl Iterator<Item = (u32, u64)>) {
        for (document, mass) in having {
            let masses = &mut self.masses[document as usize];
            masses.whole += mass;
            if rank.is_frequent() {
                masses.frequent += mass;
            }
        }
    }

    /// Ends the census. A document that can leave out all its frequent shingles does so. A
    /// [crowded](Join::is_crowded) document leaves out none until it is [cut](Join::cut).
    #[must_use]
    pub fn join(self) -> Join {
        let Self { rule, masses } = self;
        let cuts = |mass: &Mass| {
            PairCuts(rule.allowances(mass.whole).map(|allowance| match mass.frequent {
                frequent if frequent <= allowance => Cut { last: Rank::RARE, dropped: frequent },
                _ => Cut::NOTHING,
            }))
        };
        Join { rule, cuts: masses.iter().map(cuts).collect(), masses }
    }
}

impl Join {
    /// Reports whether a document can leave out some of its frequent shingles but not all of them.
    #[must_use]
    pub fn is_crowded(&self, document: u32) -> bool {
        let mass = &self.masses[document as usize];
        let some = |allowance: u64| 0 < allowance && allowance < mass.frequent;
        self.rule.allowances(mass.whole).into_iter().any(some)
    }

    /// Returns the cuts of a document, given all its frequent shingles with their weights.
    pub fn cuts(&self, document: u32, frequent: &mut [(Rank, u64)]) -> PairCuts {
        frequent.sort_unstable_by_key(|shingle| Reverse(shingle.0));
        let allowances = self.rule.allowances(self.masses[document as usize].whole);
        PairCuts(allowances.map(|allowance| Cut::within(allowance, frequent)))
    }

    /// Sets the cuts of a document.
    pub fn cut(&mut self, document: u32, cuts: PairCuts) {
        self.cuts[document as usize] = cuts;
    }

    /// Lists the pairs of a shingle, given all documents that have it. Calls `each` with every two documents
    /// that keep the shingle, the smaller one first, and the mass that they share in it.
    pub fn pairs(&self, rank: Rank, having: &mut [(u32, u64)], each: impl FnMut(u32, u32, u64)) {
        having.sort_unstable_by_key(|&(document, _)| self.size(document));
        if !rank.is_frequent() {
            return self.meet(having, having, each);
        }
        let keeping = |role: usize| -> Vec<(u32, u64)> {
            let keeps = |document: u32| self.cuts[document as usize].0[role].last >= rank;
            having.iter().copied().filter(|&(document, _)| keeps(document)).collect()
        };
        self.meet(&keeping(0), &keeping(1), each);
    }

    /// Lists the pairs of a smaller and a larger document, both lists by rising size.
    fn meet(&self, smaller: &[(u32, u64)], larger: &[(u32, u64)], mut each: impl FnMut(u32, u32, u64)) {
        let whole = |document: u32| self.masses[document as usize].whole;
        let mut from = 0;
        for &(x, mass_x) in smaller {
            from += larger[from..].iter().take_while(|&&(y, _)| self.size(y) <= self.size(x)).count();
            let allowed = |&&(y, _): &&(u32, u64)| self.rule.sizes_allow(whole(x), whole(y));
            for &(y, mass_y) in larger[from..].iter().take_while(allowed) {
                each(x, y, mass_x.min(mass_y));
            }
        }
    }

    /// Returns the size of a document, by which one of two is the smaller one. Ties go by number.
    fn size(&self, document: u32) -> (u64, u32) {
        (self.masses[document as usize].whole, document)
    }

    /// Reports whether a listed pair, x being the smaller document, is a candidate, given the sum of its shared masses.
    #[must_use]
    pub fn is_candidate(&self, x: u32, y: u32, shared: u64) -> bool {
        let [whole, other] = [x, y].map(|document| self.masses[document as usize].whole);
        let [smaller, larger] = [self.cuts[x as usize].0[0], self.cuts[y as usize].0[1]];
        let dropped = match smaller.last.cmp(&larger.last) {
            Ordering::Less => smaller.dropped,
            Ordering::Equal => smaller.dropped.min(larger.dropped),
            Ordering::Greater => larger.dropped,
        };
        self.rule.is_enough((shared + dropped).min(whole), whole, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A document: its shingles with their weights.
    type ShingleWeights = BTreeMap<u64, u64>;

    fn plain(shingles: impl IntoIterator<Item = u64>) -> ShingleWeights {
        shingles.into_iter().map(|shingle| (shingle, 1)).collect()
    }

    /// The result of a join.
    struct Joined {
        /// Candidates and their counts.
        candidates: BTreeMap<(u32, u32), u64>,
        /// The number of listed pairs, repeats included.
        told: u64,
    }

    fn join(documents: &[ShingleWeights], rule: CandidateRule) -> Joined {
        let mut having: BTreeMap<u64, Vec<(u32, u64)>> = BTreeMap::new();
        for (number, shingles) in (0..).zip(documents) {
            for (&shingle, &mass) in shingles {
                having.entry(fmix64(shingle)).or_default().push((number, mass));
            }
        }
        let mut census = Census::new(rule, documents.len());
        for (&shingle, run) in &having {
            census.add(Rank::new(shingle, run.len()), run.iter().copied());
        }
        let mut join = census.join();
        for (number, shingles) in (0..).zip(documents) {
            if !join.is_crowded(number) {
                continue;
            }
            let ranked = shingles
                .iter()
                .map(|(&shingle, &mass)| (Rank::new(fmix64(shingle), having[&fmix64(shingle)].len()), mass));
            let mut frequent: Vec<_> = ranked.filter(|shingle| shingle.0.is_frequent()).collect();
            let cuts = join.cuts(number, &mut frequent);
            join.cut(number, cuts);
        }
        let mut joined = Joined { candidates: BTreeMap::new(), told: 0 };
        for (&shingle, run) in &mut having {
            join.pairs(Rank::new(shingle, run.len()), run, |x, y, shared| {
                joined.told += 1;
                *joined.candidates.entry((x, y)).or_insert(0) += shared;
            });
        }
        joined.candidates.retain(|&(x, y), shared| join.is_candidate(x, y, *shared));
        joined
    }

    /// A worked example.
    #[test]
    fn documented_triplets() {
        let sets = [&[1, 2][..], &[2, 3], &[1, 2, 3], &[4]].map(|set| plain(set.iter().copied()));
        let all = join(&sets, CandidateRule::MoreThan(0)).candidates;
        assert_eq!(all, BTreeMap::from([((0, 1), 1), ((0, 2), 2), ((1, 2), 2)]));
        let half = join(&sets, CandidateRule::Jaccard(0.5)).candidates;
        assert_eq!(half.into_keys().collect::<Vec<_>>(), [(0, 2), (1, 2)]);
    }

    fn whole(document: &ShingleWeights) -> u64 {
        document.values().sum()
    }

    fn shared(a: &ShingleWeights, b: &ShingleWeights) -> u64 {
        a.iter().filter_map(|(shingle, mass)| Some(*mass.min(b.get(shingle)?))).sum()
    }

    /// Reports whether two documents, of which the first is not larger, match.
    fn matches(rule: CandidateRule, a: &ShingleWeights, b: &ShingleWeights) -> bool {
        let both = shared(a, b);
        match rule {
            CandidateRule::Jaccard(threshold) => {
                both as f64 / (whole(a) + whole(b) - both) as f64 >= threshold
            }
            CandidateRule::Containment(threshold) => both as f64 / whole(a) as f64 >= threshold,
            CandidateRule::MoreThan(mass) => both > mass,
        }
    }

    /// Documents with rare and frequent shingles: the lower a number, the more documents have it. With families that share
    /// some part of their first document, and weights up to `heaviest`.
    fn documents(heaviest: u64) -> impl Strategy<Value = Vec<ShingleWeights>> {
        let shingle = (0u64..60, 0u64..1000).prop_map(|(low, high)| if high < 700 { low } else { high });
        let document = prop::collection::btree_map(shingle, 1..=heaviest, 1..40);
        let family = (0usize..80, 0usize..40, 0u64..12);
        (prop::collection::vec(document, 1..100), family).prop_map(|(mut documents, family)| {
            let (members, shared, own) = family;
            for member in 0..members as u64 {
                let template = documents[0].iter().take(shared).map(|(&shingle, &mass)| (shingle, mass));
                let own = (0..=(own + member) % 12).map(|i| (5000 + 100 * member + i, 1));
                documents.push(template.chain(own).collect());
            }
            documents
        })
    }

    fn rule() -> impl Strategy<Value = CandidateRule> {
        let threshold = 0.05..=1.0f64;
        prop_oneof![
            threshold.clone().prop_map(CandidateRule::Jaccard),
            threshold.prop_map(CandidateRule::Containment),
            (0u64..30).prop_map(CandidateRule::MoreThan),
        ]
    }

    fn loses_nothing(documents: &[ShingleWeights], rule: CandidateRule) -> Result<(), TestCaseError> {
        let candidates = join(documents, rule).candidates;
        for (x, a) in (0..).zip(documents) {
            for (y, b) in (0..).zip(documents) {
                if (whole(a), x) < (whole(b), y) && matches(rule, a, b) {
                    prop_assert!(candidates.contains_key(&(x, y)), "{rule:?} {x} {a:?} {y} {b:?}");
                }
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn no_pair_at_the_threshold_is_lost(documents in documents(1), rule in rule()) {
            loses_nothing(&documents, rule)?;
        }

        #[test]
        fn no_weighted_pair_at_the_threshold_is_lost(documents in documents(9), rule in rule()) {
            loses_nothing(&documents, rule)?;
        }
    }

    /// Documents that share the first `template` shingles and have `own(document)` of their own.
    fn forms(template: u64, own: impl Fn(u64) -> u64) -> Vec<ShingleWeights> {
        (0..500).map(|d| plain((0..template).chain((0..own(d)).map(|i| 1000 + 100 * d + i)))).collect()
    }

    #[test]
    fn frequent_shingles_make_few_pairs() {
        let documents = forms(20, |_| 30);
        assert_eq!(join(&documents, CandidateRule::Jaccard(0.8)).told, 0);
        // At a threshold that the template reaches by itself, documents must keep it.
        assert_eq!(join(&documents, CandidateRule::Jaccard(0.25)).candidates.len(), 500 * 499 / 2);
    }

    /// A template below the threshold is left out as far as documents need other shared shingles too.
    #[test]
    fn a_template_just_below_the_threshold_makes_no_pairs() {
        // 0.87 of a document, and a Jaccard similarity of 87/113 = 0.77.
        let joined = join(&forms(87, |_| 13), CandidateRule::Jaccard(0.8));
        assert_eq!(joined.told, 0);
        // With documents of many sizes, some must keep a few shingles of the template.
        let documents = forms(87, |d| 13 + d % 20);
        let joined = join(&documents, CandidateRule::Jaccard(0.8));
        assert!(joined.told < 87 * 500 * 499 / 2 / 10, "{}", joined.told);
        // With one more shingle all pairs are near-duplicates, and no bound may refuse them.
        assert_eq!(join(&forms(89, |_| 11), CandidateRule::Jaccard(0.8)).candidates.len(), 500 * 499 / 2);
    }

    #[test]
    fn weights_are_shared_as_far_as_both_have_them() {
        let unit = |weight: f64| (weight * 1e9) as u64;
        let documents = [BTreeMap::from([(1, unit(2.0)), (2, unit(0.5))]), BTreeMap::from([(1, unit(1.0))])];
        // 1 shared of 2.5.
        assert_eq!(join(&documents, CandidateRule::Jaccard(0.5)).told, 0, "the sizes do not allow it");
        let found = join(&documents, CandidateRule::Jaccard(0.4)).candidates;
        assert_eq!(found, BTreeMap::from([((1, 0), unit(1.0))]));
    }
}
