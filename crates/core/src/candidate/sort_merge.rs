//! Sort-merge: documents that share shingles, counted pair by pair.
//!
//! - **Paper.** Broder, Glassman, Manasse and Zweig, *Syntactic clustering of the web*, 1997, as summarised by [Yuan
//!   2019](crate#sources), §3. Bounds of what a document may leave out: Chaudhuri, Ganti and Kaushik, *A primitive
//!   operator for similarity joins in data cleaning*, 2006, and Xiao, Wang, Lin and Yu, *Efficient similarity joins for
//!   near duplicate detection*, 2008.
//! - **Idea.** Pairs ⟨shingle, document⟩ are sorted by shingle, which brings the documents of each shingle together.
//!   Every two documents of a shingle make a triplet ⟨document, document, 1⟩. The triplets, sorted and summed, give the
//!   sizes of all overlaps without a comparison of two documents.
//! - **Symbols.** T → the threshold; |x| → the mass of a document: the number of its shingles, or the sum of their
//!   weights as whole numbers of some unit, because sums of whole numbers do not depend on their order. In a pair, x is
//!   the smaller document and y the larger document; n(x, y) is the mass that they must share.
//! - **Formula.** A pair is a candidate if its count plus the mass left out reaches n(x, y). For the Jaccard similarity
//!   n(x, y) = T/(1+T)·(|x| + |y|), and for containment T·|x|. For registers, a pair is a candidate if more than m
//!   registers agree, where m is the mass of [`CandidateRule::MoreThan`]. All documents have their shingles in one
//!   common order, and each document leaves out its last shingles. As the smaller document of a pair, x leaves out less
//!   than 2T/(1+T)·|x|; as the larger document, y leaves out less than T·|y|. For containment these bounds are T·|x|
//!   and 0; for registers both are at most m.
//! - **Why.** For a given x, n(x, y) is least if y is as small as x; for a given y, it is least if x is as small as
//!   T·|y|. These minima are the two bounds. So each document leaves out less than the pair must share, and the pair
//!   has a shingle that both documents keep. The cut of a document is the place where its left-out shingles begin.
//!   Shared shingles before the cuts of both documents are counted. The other shared shingles lie behind the earlier
//!   cut, so their mass is at most the mass that the document with this cut leaves out.
//! - **Cost.** Σ x(s)·y(s) pairs over all shingles s, where x(s) documents keep s as the smaller document and y(s)
//!   documents keep s as the larger document.
//! - **Error.** None over shingles: every pair at or above the threshold is a candidate. Over registers, sort-merge has
//!   the error of the filter.
//! - **Differs.** Yuan 2019, §3, prints the triplet with three documents (E-55). A shingle of 10⁵ documents makes 5·10⁹
//!   pairs, so frequent shingles must be left out, and Yuan 2019 loses their counts. This module adds the mass left out
//!   to the count, so no pair is lost. Shingles are ordered by document frequency. A shingle of at most 64 documents is
//!   never left out, because it makes few pairs, and every counted shingle rules out candidates.
//! - **Vectors.** Another program computed the worked example of the tests.
//!
//! - **Use when** every pair is wanted and most shingles are rare, or containment is wanted, which bands cannot find.
//! - **Do not use** if large families share nearly all shingles, because all pairs of a family are then counted once
//!   per shingle.

use std::cmp::{Ordering, Reverse};

/// Relative margin of comparisons with the threshold. It exceeds all rounding errors, including those of weights
/// rounded to whole numbers, so a few pairs just below the threshold are candidates too.
const ROOM: f64 = 1e-6;

/// Largest number of documents of a rare shingle. Rare shingles are never left out.
const RARE: u32 = 64;

/// Condition for a candidate pair.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum CandidateRule {
    /// The Jaccard similarity may reach this threshold.
    Jaccard(f64),
    /// The larger document may contain at least this share of the smaller document.
    Containment(f64),
    /// The documents may share more than this mass, whatever their sizes.
    MoreThan(u64),
}

impl CandidateRule {
    /// Returns the largest mass that a document may leave out, first for pairs in which it is the smaller document,
    /// then for pairs in which it is the larger document. `whole` is the mass of the document.
    fn allowances(self, whole: u64) -> [u64; 2] {
        // The largest whole number below `share` · `whole`. If the margin makes the number smaller, the document leaves
        // out less than it could, which loses no pair.
        let below = |share: f64| ((share * whole as f64 * (1.0 - ROOM)).ceil() as u64).saturating_sub(1);
        match self {
            Self::Jaccard(threshold) => [below(2.0 * threshold / (1.0 + threshold)), below(threshold)],
            // A large document may contain all of a small document in any small part of itself, so it leaves out
            // nothing.
            Self::Containment(threshold) => [below(threshold), 0],
            Self::MoreThan(mass) => [mass; 2],
        }
    }

    /// Reports whether a pair of documents of mass `x` and `y`, with x ≤ y, can be a candidate.
    fn sizes_allow(self, x: u64, y: u64) -> bool {
        match self {
            Self::Jaccard(threshold) => x as f64 * (1.0 + ROOM) >= threshold * y as f64,
            Self::Containment(_) | Self::MoreThan(_) => true,
        }
    }

    /// Reports whether the mass `shared` is enough for a candidate. Because of the margin, rounding refuses no pair
    /// that the exact similarity accepts.
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

/// Place of a shingle in the order that all documents share: shingles of fewer documents come first.
///
/// A document leaves out either all or none of its shingles of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u64);

impl Rank {
    /// Greatest rank of a rare shingle: no document leaves out a shingle up to this rank.
    const RARE: Self = Self((RARE as u64) << 32 | u32::MAX as u64);
    /// Greatest of all ranks. A document that keeps shingles up to this rank leaves out nothing.
    const LAST: Self = Self(u64::MAX);

    /// Creates the rank of a shingle that `frequency` documents have.
    #[must_use]
    pub fn new(shingle: u64, frequency: usize) -> Self {
        // Shingles of equal frequency may be in any order, if it is the same order for all documents.
        Self(u64::try_from(frequency).unwrap_or(u64::MAX).min(u64::from(u32::MAX)) << 32 | shingle >> 32)
    }

    /// Returns the rank whose [`to_bits`](Self::to_bits) is `bits`.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the rank as a number. Such numbers have the same order as their ranks.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Reports whether a shingle of this rank is frequent, so that a document may leave it out.
    #[must_use]
    pub fn is_frequent(self) -> bool {
        self > Self::RARE
    }
}

/// Division of a document's shingles into those that it keeps and those that it leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    /// Last rank that the document keeps.
    last: Rank,
    /// Mass of the shingles that the document leaves out because of their greater rank.
    dropped: u64,
}

impl Cut {
    const NOTHING: Self = Self { last: Rank::LAST, dropped: 0 };

    /// Returns the cut that leaves out as much mass as possible, but at most `allowance`. `falling` is sorted by
    /// descending rank.
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

/// Two cuts of a document: for pairs in which it is the smaller document, and for pairs in which it is the larger one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairCuts([Cut; 2]);

/// Mass of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Mass {
    /// Mass of all shingles.
    whole: u64,
    /// Mass of the frequent shingles.
    frequent: u64,
}

/// First pass over all shingles, which sums the mass of each document.
#[derive(Debug, Clone)]
pub struct Census {
    rule: CandidateRule,
    masses: Vec<Mass>,
}

/// Second pass over all shingles, which lists the pairs of documents that share a shingle.
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

    /// Adds a shingle. `having` lists each document that has the shingle once, with the weight of the shingle in it.
    pub fn add(&mut self, rank: Rank, having: impl Iterator<Item = (u32, u64)>) {
        for (document, mass) in having {
            let masses = &mut self.masses[document as usize];
            masses.whole += mass;
            if rank.is_frequent() {
                masses.frequent += mass;
            }
        }
    }

    /// Ends the census and returns the join. If a document may leave out all its frequent shingles, it does. A
    /// [crowded](Join::is_crowded) document leaves out nothing until [`cut`](Join::cut) sets its cuts.
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
    /// Reports whether a document may leave out some of its frequent shingles but not all of them.
    #[must_use]
    pub fn is_crowded(&self, document: u32) -> bool {
        let mass = &self.masses[document as usize];
        let some = |allowance: u64| 0 < allowance && allowance < mass.frequent;
        self.rule.allowances(mass.whole).into_iter().any(some)
    }

    /// Computes the cuts of a document from all its frequent shingles with their weights.
    pub fn cuts(&self, document: u32, frequent: &mut [(Rank, u64)]) -> PairCuts {
        frequent.sort_unstable_by_key(|shingle| Reverse(shingle.0));
        let allowances = self.rule.allowances(self.masses[document as usize].whole);
        PairCuts(allowances.map(|allowance| Cut::within(allowance, frequent)))
    }

    /// Sets the cuts of a document.
    pub fn cut(&mut self, document: u32, cuts: PairCuts) {
        self.cuts[document as usize] = cuts;
    }

    /// Lists the pairs of a shingle. `having` lists all documents that have the shingle, with its weights. `each` is
    /// called per pair of documents that keep the shingle, with the smaller document, the larger document, and the mass
    /// of the shingle that they share.
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

    /// Lists the pairs of a document of `smaller` and a document of `larger`. Both lists are sorted by ascending size.
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

    /// Returns the key by which one document of a pair is the smaller one: the mass, then the number of the document.
    fn size(&self, document: u32) -> (u64, u32) {
        (self.masses[document as usize].whole, document)
    }

    /// Reports whether a listed pair is a candidate. `x` is the smaller document, and `shared` is the sum of the masses
    /// that the pair was listed with.
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

    /// A document: its shingles and their weights.
    type ShingleWeights = BTreeMap<u64, u64>;

    fn plain(shingles: impl IntoIterator<Item = u64>) -> ShingleWeights {
        shingles.into_iter().map(|shingle| (shingle, 1)).collect()
    }

    /// The result of a join.
    struct Joined {
        /// Candidates, with the mass that they share in listed shingles.
        candidates: BTreeMap<(u32, u32), u64>,
        /// Number of listed pairs; a pair that shares several shingles counts several times.
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

    /// The worked example of the header.
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

    /// Reports whether two documents match by `rule`. `a` is not larger than `b`.
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

    /// Generates documents with rare and frequent shingles: more documents have a shingle if its number is lower. Some
    /// documents are a family, which shares a part of the first document. Weights are at most `heaviest`.
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

    /// Creates 500 documents that share the first `template` shingles; document d has `own(d)` further shingles of its
    /// own.
    fn forms(template: u64, own: impl Fn(u64) -> u64) -> Vec<ShingleWeights> {
        (0..500).map(|d| plain((0..template).chain((0..own(d)).map(|i| 1000 + 100 * d + i)))).collect()
    }

    #[test]
    fn frequent_shingles_make_few_pairs() {
        let documents = forms(20, |_| 30);
        assert_eq!(join(&documents, CandidateRule::Jaccard(0.8)).told, 0);
        // The template alone reaches this threshold, so documents must keep it.
        assert_eq!(join(&documents, CandidateRule::Jaccard(0.25)).candidates.len(), 500 * 499 / 2);
    }

    /// A template below the threshold is left out, because documents need other shared shingles too.
    #[test]
    fn a_template_just_below_the_threshold_makes_no_pairs() {
        // The template is 0.87 of each document, so two documents have a Jaccard similarity of 87/113 = 0.77.
        let joined = join(&forms(87, |_| 13), CandidateRule::Jaccard(0.8));
        assert_eq!(joined.told, 0);
        // If the documents have many sizes, some of them must keep a few shingles of the template.
        let documents = forms(87, |d| 13 + d % 20);
        let joined = join(&documents, CandidateRule::Jaccard(0.8));
        assert!(joined.told < 87 * 500 * 499 / 2 / 10, "{}", joined.told);
        // With a template of 89 shingles all pairs are near-duplicates, and no bound may refuse them.
        assert_eq!(join(&forms(89, |_| 11), CandidateRule::Jaccard(0.8)).candidates.len(), 500 * 499 / 2);
    }

    #[test]
    fn weights_are_shared_as_far_as_both_have_them() {
        let unit = |weight: f64| (weight * 1e9) as u64;
        let documents = [BTreeMap::from([(1, unit(2.0)), (2, unit(0.5))]), BTreeMap::from([(1, unit(1.0))])];
        // The documents share 1 of 2.5.
        assert_eq!(join(&documents, CandidateRule::Jaccard(0.5)).told, 0, "the sizes do not allow it");
        let found = join(&documents, CandidateRule::Jaccard(0.4)).candidates;
        assert_eq!(found, BTreeMap::from([((1, 0), unit(1.0))]));
    }
}
