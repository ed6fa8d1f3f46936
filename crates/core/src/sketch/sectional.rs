//! Sectional `MinHash`: minima with the positions of their shingles.
//!
//! - **Paper.** [Hassanian-esfahani 2018](crate#sources), Algorithm 1; the tolerant form is ours.
//! - **Idea.** A document is cut into s sections by position. Documents with the same words in another order share
//!   their shingles, but not the sections of their shingles. Comparing both therefore distinguishes a reordered text
//!   from a near-duplicate.
//! - **Symbols.** k → registers; s → `sections`; σ(x) → the section of a shingle, 1 + ⌊pos·s/n⌋, stored as σ − 1; n →
//!   the number of shingles of the document, with repeats; τ → `tolerance`, in 64ths of a document.
//! - **Formula.** [`Sectional`] (post-tag) keeps (min hᵢ, σ of the shingle that attains it); a register agrees if both
//!   agree. [`PreTagged`] gives x ⊕ fmix64((σ−1)·F mod 2⁶⁴) to another sketch in place of x, where F is
//!   [`FIBONACCI_64`]. [`Tolerant`] keeps (min hᵢ, ⌊64·pos/n⌋); a register is aligned if the minima agree and the
//!   positions differ by at most τ. hᵢ are the functions of [`MinHash`]. The number kept beside a minimum is its tag. A
//!   row has k minima and then the tags, as many whole tags per word as fit, lowest bits first.
//! - **Cost.** The cost of `MinHash`, and a look-up of about 12 ns per shingle. The look-up finds the shingle of each
//!   minimum: hᵢ is a permutation, so inverting it gives the key that attained the minimum, and one pass finds the
//!   positions of those keys. A register takes ⌈log₂ s⌉ bits more than in `MinHash`, s bits more with [`Policy::Mask`],
//!   and 6 bits more in the tolerant form. `PreTagged` needs no more memory, but sorts the shingles unless its policy
//!   is `Mask`.
//! - **Error.** Let q be the share of common shingles that are in agreeing sections, and m their number. The mean of
//!   the post-tag estimate is m/|A∪B| = qJ, with variance qJ(1−qJ)/k. The mean of the pre-tag estimate is
//!   m/(|A|+|B|−m), which is at most as large (E-04). Tests below check this.
//! - **Differs.** The source calls the share of agreeing registers an unbiased estimate of J with mean J/s (E-02) and
//!   smaller variance (E-03). Both claims of the source are wrong, see [`crate::estimate::sectional`]. Registers are
//!   compared one by one (E-09). The source leaves two things open (E-12): here the first part of a pair is the hash
//!   value, and a [`Policy`] chooses the section of a shingle that occurs in several. The parts are kept separate;
//!   [`cantor::pair`](crate::hash::cantor::pair) of [`Sectional::pairs`] packs them as printed.
//! - **Vectors.** Another program computed the vectors in `estimate/sectional.rs` from the definition.
//!
//! - **Use when** order matters. Use [`Tolerant`] at verification: 10 % inserted in front moves 5 % of the shingles
//!   across the boundary of two sections, and 20 % across the boundaries of five (E-12), but it moves no shingle by
//!   half a section.
//! - **Do not** use it to estimate J. Find candidates by the minima only, because agreement of minimum and tag is
//!   rarer. Do not merge sketches of parts, because positions are relative to the whole document.
//!
//! The three forms share positions, tags and packing, and are therefore in one file. A large part of the file is tests.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::sync::Arc;

use super::minhash::{EMPTY, MinHash};
use super::{Registers, Sketcher};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::estimate::sectional::{SectionalMatches, SectionalOverlap};
use crate::hash::multiplicative::FIBONACCI_64;
use crate::hash::{SplitMix64, fmix64};
use crate::kernel::{Kernel, fold};

/// Greatest number of sections.
const MOST_SECTIONS: usize = 256;
/// Greatest number of sections with [`Policy::Mask`], which keeps one bit per section.
const MOST_MASKED: usize = 16;
/// Number of bits of a fine position.
const FINE_BITS: u32 = 6;
/// Number of fine positions in a document.
const FINE: usize = 1 << FINE_BITS;

/// The choice of a section for a shingle that occurs in several sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
#[cfg_attr(feature = "exhaustive", expect(clippy::exhaustive_enums, reason = "tests list all of them"))]
pub enum Policy {
    /// The section of the first occurrence.
    #[default]
    First,
    /// The section of the last occurrence.
    Last,
    /// All sections in which the shingle occurs, as a mask of at most 16 bits. Two masks agree if they have a section
    /// in common. This policy suits documents that repeat boilerplate.
    Mask,
}

impl Policy {
    /// Returns the tag of a shingle after one more occurrence in `section`. `tag` is the tag before.
    fn merge(self, tag: Option<u32>, section: u32) -> u32 {
        match self {
            Self::First => tag.unwrap_or(section),
            Self::Last => section,
            Self::Mask => tag.unwrap_or(0) | 1 << section,
        }
    }

    fn agree(self, a: u32, b: u32) -> bool {
        match self {
            Self::First | Self::Last => a == b,
            Self::Mask => a & b != 0,
        }
    }

    fn check(self, sections: usize) -> Result<(), Error> {
        let (most, range) = match self {
            Self::First | Self::Last => (MOST_SECTIONS, "from 1 to 256"),
            Self::Mask => (MOST_MASKED, "from 1 to 16 where all sections of a shingle are kept"),
        };
        if (1..=most).contains(&sections) {
            Ok(())
        } else {
            Err(Error::out_of_range("the number of sections", sections, range))
        }
    }
}

/// Returns the section of a position, counted from 0. The document has `positions` positions.
fn section(position: usize, positions: usize, sections: usize) -> u32 {
    (position as u64 * sections as u64 / positions as u64) as u32
}

/// Returns each distinct shingle with its tag.
fn tags_of(shingles: &[u64], sections: usize, policy: Policy) -> HashMap<u64, u32> {
    let mut tags = HashMap::new();
    for (position, &shingle) in shingles.iter().enumerate() {
        let tag = policy.merge(tags.get(&shingle).copied(), section(position, shingles.len(), sections));
        tags.insert(shingle, tag);
    }
    tags
}

fn overlap(
    a: &HashMap<u64, u32>,
    b: &HashMap<u64, u32>,
    agree: impl Fn(u32, u32) -> bool,
) -> SectionalOverlap {
    let common = || a.iter().filter_map(|(shingle, &tag)| Some((tag, *b.get(shingle)?)));
    let aligned = common().filter(|&(a, b)| agree(a, b)).count();
    SectionalOverlap { left: a.len(), right: b.len(), common: common().count(), aligned }
}

/// A `MinHash` that also finds the shingle that attained each minimum.
#[derive(Debug, Clone)]
struct Positioned {
    minhash: MinHash,
    seed: u32,
    /// Inverse of the multiplier, and offset, of each function.
    inverses: Vec<(u32, u32)>,
}

impl Positioned {
    fn new(registers: usize, seed: u64) -> Result<Self, Error> {
        let minhash = MinHash::new(registers, seed)?;
        // This draws the same numbers as `MinHash` does for this seed.
        let mut random = SplitMix64::new(seed);
        let seed = random.next_u32();
        let inverses = iter::repeat_with(|| random.next_u64())
            .map(|drawn| (inverse((drawn >> 32) as u32 | 1), drawn as u32))
            .take(registers)
            .collect();
        Ok(Self { minhash, seed, inverses })
    }

    fn with_kernel(self, kernel: Kernel) -> Self {
        Self { minhash: self.minhash.with_kernel(kernel), ..self }
    }

    fn registers(&self) -> usize {
        self.inverses.len()
    }

    /// Returns the number of words per row if a tag has `bits` bits.
    fn words(&self, bits: u32) -> usize {
        let tag_words = 32u32.checked_div(bits).map_or(0, |each| self.registers().div_ceil(each as usize));
        self.registers() + tag_words
    }

    /// Writes the minima, and then the packed tags of the shingles that attain the minima. `merge` makes a tag: it is
    /// called with each position of the shingle, in order, and with the tag so far.
    fn sketch_into(
        &self,
        shingles: &[u64],
        out: &mut [u32],
        bits: u32,
        merge: impl Fn(Option<u32>, usize) -> u32,
    ) {
        assert_eq!(out.len(), self.words(bits), "a row has room for one sketch");
        let (minima, packed) = out.split_at_mut(self.registers());
        self.minhash.sketch_into(shingles, minima);
        if shingles.is_empty() {
            packed.fill(EMPTY);
            return;
        }
        if bits == 0 {
            return;
        }
        let mut wanted = PositionTable::new(minima.len());
        let held: Vec<usize> = minima
            .iter()
            .zip(&self.inverses)
            .map(|(minimum, &(inverse, offset))| {
                wanted.insert(minimum.wrapping_sub(offset).wrapping_mul(inverse))
            })
            .collect();
        for (position, &shingle) in shingles.iter().enumerate() {
            if let Some(tag) = wanted.tag_mut(fold(shingle, self.seed)) {
                *tag = Some(merge(*tag, position));
            }
        }
        for (word, held) in packed.iter_mut().zip(held.chunks((32 / bits) as usize)) {
            *word = (0..).zip(held).fold(0, |word, (place, &at)| word | wanted.tag(at) << (place * bits));
        }
    }

    /// Returns the pairs of a row, each a minimum and its tag.
    fn pairs<'a>(&self, sketch: &'a [u32], bits: u32) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        assert_eq!(sketch.len(), self.words(bits), "a row holds one sketch");
        let (minima, packed) = sketch.split_at(self.registers());
        let each = 32u32.checked_div(bits).unwrap_or(0);
        let tags = packed
            .iter()
            .flat_map(move |word| (0..each).map(move |place| (word >> (place * bits)) & ((1 << bits) - 1)));
        // A tag of 0 bits is always 0, and takes no words.
        minima.iter().copied().zip(tags.chain(iter::repeat(0)))
    }

    /// Compares two rows register by register. `agree` decides whether two tags agree.
    fn matches(&self, a: &[u32], b: &[u32], bits: u32, agree: impl Fn(u32, u32) -> bool) -> SectionalMatches {
        assert!(a.len() == self.words(bits) && b.len() == self.words(bits), "rows of this sketch");
        let ((a_minima, a_tags), (b_minima, b_tags)) =
            (a.split_at(self.registers()), b.split_at(self.registers()));
        let each = 32u32.checked_div(bits).map_or(self.registers(), |each| each as usize);
        // A tag of 0 bits is always 0, and takes no words.
        let tags = |tags| <[u32]>::iter(tags).copied().chain((bits == 0).then_some(0));
        let mut matches = SectionalMatches::default();
        for ((a_minima, b_minima), (mut a_tag, mut b_tag)) in
            a_minima.chunks(each).zip(b_minima.chunks(each)).zip(tags(a_tags).zip(tags(b_tags)))
        {
            for (&a, &b) in a_minima.iter().zip(b_minima) {
                let mask = (1 << bits) - 1;
                matches.add((a, a_tag & mask), (b, b_tag & mask), &agree);
                (a_tag, b_tag) = (a_tag >> bits, b_tag >> bits);
            }
        }
        matches
    }
}

/// Returns the inverse of `a` mod 2³²; `a` must be odd.
const fn inverse(a: u32) -> u32 {
    // Newton's method works here: `a` is its own inverse mod 2³, and each step doubles the number of correct bits.
    let mut x = a;
    let mut step = 0;
    while step < 4 {
        x = x.wrapping_mul(2u32.wrapping_sub(a.wrapping_mul(x)));
        step += 1;
    }
    x
}

/// A hash table of the keys that attained a minimum, with their tags. It has open addressing and is at most a quarter
/// full.
struct PositionTable {
    /// Per slot: index of its entry in `entries`, plus one; 0 if the slot is free.
    slots: Vec<u32>,
    entries: Vec<(u32, Option<u32>)>,
    shift: u32,
}

impl PositionTable {
    fn new(most: usize) -> Self {
        let size = (4 * most).next_power_of_two();
        Self { slots: vec![0; size], entries: Vec::with_capacity(most), shift: 32 - size.trailing_zeros() }
    }

    /// Returns the slot of `key`, or the free slot where it belongs. The first slot is taken from the upper bits of the
    /// key, which are evenly distributed because keys are mixed.
    fn slot(&self, key: u32) -> usize {
        let mut at = (key >> self.shift) as usize;
        while self.slots[at] != 0 && self.entries[self.slots[at] as usize - 1].0 != key {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// Inserts `key` if it is new, and returns the number of its entry.
    fn insert(&mut self, key: u32) -> usize {
        let at = self.slot(key);
        if self.slots[at] == 0 {
            self.entries.push((key, None));
            self.slots[at] = self.entries.len() as u32;
        }
        self.slots[at] as usize - 1
    }

    #[inline]
    fn tag_mut(&mut self, key: u32) -> Option<&mut Option<u32>> {
        let entry = self.slots[self.slot(key)].checked_sub(1)?;
        Some(&mut self.entries[entry as usize].1)
    }

    fn tag(&self, entry: usize) -> u32 {
        // The default is never used, because every key that attained a minimum belongs to some shingle.
        self.entries[entry].1.unwrap_or_default()
    }
}

/// Sketcher of minima with the sections of the shingles that attain them (post-tag).
#[derive(Debug, Clone)]
pub struct Sectional {
    positioned: Positioned,
    sections: usize,
    policy: Policy,
    bits: u32,
}

impl Sectional {
    /// Makes a sketcher with `registers` minima, for documents in `sections` sections. One section is plain `MinHash`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536 and
    /// `sections` is from 1 to 256, or from 1 to 16 with [`Policy::Mask`].
    pub fn new(registers: usize, sections: usize, policy: Policy, seed: u64) -> Result<Self, Error> {
        policy.check(sections)?;
        let bits = match policy {
            Policy::First | Policy::Last => usize::BITS - (sections - 1).leading_zeros(),
            Policy::Mask => sections as u32,
        };
        Ok(Self { positioned: Positioned::new(registers, seed)?, sections, policy, bits })
    }

    /// Sets the kernel. All kernels give the same sketches.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { positioned: self.positioned.with_kernel(kernel), ..self }
    }

    /// Returns k, the number of registers. The first k words of a row are the minima, which can be banded.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.positioned.registers()
    }

    /// Returns the minimum of each register with its section, counted from 1. With [`Policy::Mask`] it returns a mask
    /// of sections instead, the first section in the lowest bit.
    ///
    /// # Panics
    /// Panics if `sketch` does not have [`words`](Sketcher::words) elements.
    pub fn pairs(&self, sketch: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        let first = match self.policy {
            Policy::First | Policy::Last => 1,
            Policy::Mask => 0,
        };
        self.positioned.pairs(sketch, self.bits).map(move |(minimum, tag)| (minimum, tag + first))
    }

    /// Returns the numbers of agreeing registers of two sketches, from which Ĵ, `Ĵ_S` and q̂ follow.
    ///
    /// # Panics
    /// Panics if a sketch does not have [`words`](Sketcher::words) elements.
    #[must_use]
    pub fn matches(&self, a: &[u32], b: &[u32]) -> SectionalMatches {
        match self.policy {
            Policy::First | Policy::Last => self.positioned.matches(a, b, self.bits, |a, b| a == b),
            Policy::Mask => self.positioned.matches(a, b, self.bits, |a, b| a & b != 0),
        }
    }

    /// Returns the exact counts that the sketch estimates, from the shingles of two documents.
    #[must_use]
    pub fn overlap(&self, a: &[u64], b: &[u64]) -> SectionalOverlap {
        let tags = |shingles| tags_of(shingles, self.sections, self.policy);
        overlap(&tags(a), &tags(b), |a, b| self.policy.agree(a, b))
    }
}

impl super::sealed::Sealed for Sectional {}

impl Sketcher for Sectional {
    fn exact(&self, a: &[u64], b: &[u64]) -> f64 {
        self.overlap(a, b).post_tag()
    }

    fn words(&self) -> usize {
        self.positioned.words(self.bits)
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        let (positions, sections) = (shingles.len(), self.sections);
        self.positioned.sketch_into(shingles, out, self.bits, |tag, position| {
            self.policy.merge(tag, section(position, positions, sections))
        });
    }

    /// Estimates m/|A∪B| = qJ: the share of the union that is shared and in agreeing sections.
    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        self.matches(a, b).aligned_similarity()
    }
}

/// Sketcher of minima with the fine positions of the shingles that attain them. There are no boundaries of sections
/// across which an insertion could push a shingle.
#[derive(Debug, Clone)]
pub struct Tolerant {
    positioned: Positioned,
    tolerance: u32,
}

impl Tolerant {
    /// Makes a sketcher with `registers` minima. Equal minima are aligned if the first occurrences of their shingle are
    /// at most `tolerance` 64ths of a document apart. Positions are rounded down to 64ths, so if the distance is within
    /// one 64th of the tolerance, either result is possible.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `registers` is from 1 to 65,536 and
    /// `tolerance` is at most 63.
    pub fn new(registers: usize, tolerance: u32, seed: u64) -> Result<Self, Error> {
        if tolerance as usize >= FINE {
            return Err(Error::out_of_range(
                "the tolerance in 64ths of a document",
                tolerance,
                "from 0 to 63",
            ));
        }
        Ok(Self { positioned: Positioned::new(registers, seed)?, tolerance })
    }

    /// Returns the tolerance that corresponds to `sections` sections: half a section, which is 1/(2s) of a document.
    ///
    /// # Panics
    /// Panics if `sections` is 0.
    #[must_use]
    pub const fn tolerance_of_sections(sections: u32) -> u32 {
        FINE as u32 / 2 / sections
    }

    /// Sets the kernel. All kernels give the same sketches.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { positioned: self.positioned.with_kernel(kernel), ..self }
    }

    /// Returns k, the number of registers. The first k words of a row are the minima, which can be banded.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.positioned.registers()
    }

    /// Returns the numbers of agreeing registers of two sketches, from which Ĵ, the aligned similarity and the
    /// alignment rate q̂ follow.
    ///
    /// # Panics
    /// Panics if a sketch does not have [`words`](Sketcher::words) elements.
    #[must_use]
    pub fn matches(&self, a: &[u32], b: &[u32]) -> SectionalMatches {
        self.positioned.matches(a, b, FINE_BITS, |a, b| a.abs_diff(b) <= self.tolerance)
    }

    /// Returns the exact counts that the sketch estimates, from the shingles of two documents.
    #[must_use]
    pub fn overlap(&self, a: &[u64], b: &[u64]) -> SectionalOverlap {
        let tags = |shingles| tags_of(shingles, FINE, Policy::First);
        overlap(&tags(a), &tags(b), |a, b| a.abs_diff(b) <= self.tolerance)
    }
}

impl super::sealed::Sealed for Tolerant {}

impl Sketcher for Tolerant {
    fn exact(&self, a: &[u64], b: &[u64]) -> f64 {
        self.overlap(a, b).post_tag()
    }

    fn words(&self) -> usize {
        self.positioned.words(FINE_BITS)
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        self.positioned.sketch_into(shingles, out, FINE_BITS, |tag, position| {
            tag.unwrap_or_else(|| section(position, shingles.len(), FINE))
        });
    }

    /// Estimates the aligned similarity; Ĵ and q̂ follow from [`matches`](Self::matches).
    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        self.matches(a, b).aligned_similarity()
    }
}

/// Sketcher that hashes shingles together with their sections and gives them to another sketcher (pre-tag).
#[derive(Debug, Clone)]
pub struct PreTagged {
    registers: Arc<dyn Registers>,
    sections: usize,
    policy: Policy,
}

impl PreTagged {
    /// Makes a sketcher that tags shingles with one of `sections` sections and sketches them with `registers`. With
    /// [`Policy::Mask`] a shingle counts once in every section where it occurs. One section changes nothing.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `sections` is from 1 to 256, or from 1
    /// to 16 with [`Policy::Mask`].
    pub fn new(registers: Arc<dyn Registers>, sections: usize, policy: Policy) -> Result<Self, Error> {
        policy.check(sections)?;
        Ok(Self { registers, sections, policy })
    }

    /// Replaces each shingle by a hash of the shingle and its section. Repeats of a shingle may be left out.
    ///
    /// # Panics
    /// Panics if `sections` is 0.
    pub fn tag_into(shingles: &[u64], sections: usize, policy: Policy, out: &mut Vec<u64>) {
        assert!(sections > 0, "a document has at least one section");
        out.clear();
        let tagged = |position, shingle: u64| {
            // The first section leaves the shingle unchanged. Shingles may be hashes of small ids, and the factor
            // prevents the hash of a section from being such a hash, too.
            shingle
                ^ fmix64(u64::from(section(position, shingles.len(), sections)).wrapping_mul(FIBONACCI_64))
        };
        if policy == Policy::Mask || sections == 1 {
            out.extend(shingles.iter().enumerate().map(|(position, &shingle)| tagged(position, shingle)));
            return;
        }
        let mut places: Vec<(u64, usize)> =
            shingles.iter().enumerate().map(|(position, &shingle)| (shingle, position)).collect();
        places.sort_unstable();
        for occurrences in places.chunk_by(|a, b| a.0 == b.0) {
            let chosen = match policy {
                Policy::Last => occurrences.last(),
                Policy::First | Policy::Mask => occurrences.first(),
            };
            out.extend(chosen.map(|&(shingle, position)| tagged(position, shingle)));
        }
    }

    /// Returns the exact similarity of the tagged shingles of two documents, which the sketch estimates.
    #[must_use]
    pub fn exact(&self, a: &[u64], b: &[u64]) -> f64 {
        let set = |shingles| -> HashSet<u64> {
            let mut tagged = vec![];
            Self::tag_into(shingles, self.sections, self.policy, &mut tagged);
            tagged.into_iter().collect()
        };
        let (a, b) = (set(a), set(b));
        let common = a.intersection(&b).count();
        SectionalOverlap { left: a.len(), right: b.len(), common, aligned: common }.similarity()
    }
}

impl super::sealed::Sealed for PreTagged {}

impl Sketcher for PreTagged {
    fn exact(&self, a: &[u64], b: &[u64]) -> f64 {
        Self::exact(self, a, b)
    }

    fn words(&self) -> usize {
        self.registers.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        let mut tagged = Vec::with_capacity(shingles.len());
        Self::tag_into(shingles, self.sections, self.policy, &mut tagged);
        self.registers.sketch_into(&tagged, out);
    }

    /// Estimates m/(|A|+|B|−m), the similarity of the tagged shingles.
    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        self.registers.estimate(a, b)
    }
}

impl Registers for PreTagged {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::sectional::variance;
    use proptest::prelude::*;

    fn sketch(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
        let mut out = vec![7; sketcher.words()];
        sketcher.sketch_into(shingles, &mut out);
        out
    }

    fn pre_tagged(registers: usize, sections: usize, policy: Policy, seed: u64) -> PreTagged {
        PreTagged::new(Arc::new(MinHash::new(registers, seed).unwrap()), sections, policy).unwrap()
    }

    /// Returns one shingle per number, in the order of the numbers; different numbers give different shingles.
    fn shingles(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
        numbers.into_iter().map(|number| fmix64(number + 1)).collect()
    }

    /// Returns names and shingles of five edits of a document of 1000 shingles.
    fn edits() -> [(&'static str, Vec<u64>); 5] {
        [
            ("front", shingles((5000..5100).chain(0..1000))),
            ("back", shingles((0..1000).chain(5000..5100))),
            ("middle", shingles((0..500).chain(5000..5100).chain(500..1000))),
            ("halves", shingles((500..1000).chain(0..500))),
            ("paragraphs", shingles((0..10).rev().flat_map(|part| part * 100..part * 100 + 100))),
        ]
    }

    #[test]
    fn inverses() {
        for a in [1, 3, 0x9e37_79b1, u32::MAX, 0x8000_0001] {
            assert_eq!(a.wrapping_mul(inverse(a)), 1);
        }
    }

    proptest! {
        /// Minima and sections are those of a plain loop over all functions and shingles.
        #[test]
        fn minima_and_sections_by_the_book(
            numbers in proptest::collection::vec(0u64..40, 1..120),
            sections in 1usize..17,
            seed: u64,
        ) {
            let document = shingles(numbers);
            let minhash = MinHash::new(37, seed).unwrap();
            for policy in [Policy::First, Policy::Last, Policy::Mask] {
                let sectional = Sectional::new(37, sections, policy, seed).unwrap();
                let row = sketch(&sectional, &document);
                prop_assert_eq!(&row[..37], &sketch(&minhash, &document)[..]);
                let tags = tags_of(&document, sections, policy);
                for (register, (minimum, tag)) in sectional.pairs(&row).enumerate() {
                    let attains = |shingle: u64| sketch(&minhash, &[shingle])[register];
                    let shingle = document.iter().copied().min_by_key(|&shingle| attains(shingle)).unwrap();
                    prop_assert_eq!(attains(shingle), minimum);
                    prop_assert_eq!(tags[&shingle] + u32::from(policy != Policy::Mask), tag);
                }
            }
        }

        #[test]
        fn every_kernel_gives_the_same_sketch(numbers in proptest::collection::vec(any::<u64>(), 0..60)) {
            let plain = Sectional::new(50, 5, Policy::First, 1).unwrap();
            let tolerant = Tolerant::new(50, 6, 1).unwrap();
            for kernel in Kernel::available() {
                prop_assert_eq!(sketch(&plain.clone().with_kernel(kernel), &numbers), sketch(&plain, &numbers));
                prop_assert_eq!(sketch(&tolerant.clone().with_kernel(kernel), &numbers), sketch(&tolerant, &numbers));
            }
        }

        #[test]
        fn equal_documents_agree_everywhere(numbers in proptest::collection::vec(0u64..100, 1..80), sections in 1usize..17) {
            let document = shingles(numbers);
            for policy in [Policy::First, Policy::Last, Policy::Mask] {
                let sectional = Sectional::new(40, sections, policy, 3).unwrap();
                let row = sketch(&sectional, &document);
                prop_assert_eq!(sectional.estimate(&row, &row).value, 1.0);
                let pre_tagged = pre_tagged(40, sections, policy, 3);
                let row = sketch(&pre_tagged, &document);
                prop_assert_eq!(pre_tagged.estimate(&row, &row).value, 1.0);
            }
        }
    }

    #[test]
    fn rows_compare_as_their_pairs_do() {
        let (a, b) = (shingles(0..200), shingles((150..200).chain(0..140)));
        for (sections, policy) in
            [(1, Policy::First), (5, Policy::Last), (3, Policy::Mask), (256, Policy::First)]
        {
            let sectional = Sectional::new(131, sections, policy, 4).unwrap();
            let (a, b) = (sketch(&sectional, &a), sketch(&sectional, &b));
            let counted =
                SectionalMatches::count(sectional.pairs(&a), sectional.pairs(&b), |a, b| policy.agree(a, b));
            assert_eq!(sectional.matches(&a, &b), counted);
            assert_eq!(counted.registers, 131);
        }
    }

    #[test]
    fn one_section_is_plain_minhash() {
        let document = shingles((0..300).chain(0..20));
        let plain = sketch(&MinHash::new(64, 5).unwrap(), &document);
        assert_eq!(sketch(&Sectional::new(64, 1, Policy::First, 5).unwrap(), &document), plain);
        assert_eq!(sketch(&pre_tagged(64, 1, Policy::Last, 5), &document), plain);
    }

    #[test]
    fn storage() {
        for (sections, policy, words) in [
            (1, Policy::First, 64),
            (2, Policy::First, 66),
            (5, Policy::Last, 64 + 7),
            (256, Policy::First, 64 + 16),
            (16, Policy::Mask, 64 + 32),
        ] {
            assert_eq!(Sectional::new(64, sections, policy, 1).unwrap().words(), words);
        }
        assert_eq!(Tolerant::new(64, 6, 1).unwrap().words(), 64 + 13);
    }

    #[test]
    fn empty_and_single() {
        for sketcher in [
            &Sectional::new(40, 3, Policy::First, 1).unwrap() as &dyn Sketcher,
            &Tolerant::new(40, 6, 1).unwrap(),
            &pre_tagged(40, 3, Policy::First, 1),
        ] {
            assert!(sketch(sketcher, &[]).iter().all(|&word| word == EMPTY));
        }
        let sectional = Sectional::new(40, 3, Policy::First, 1).unwrap();
        assert!(sectional.pairs(&sketch(&sectional, &[9])).all(|(_, section)| section == 1));
        // With more sections than positions, only some of the sections occur.
        let sectional = Sectional::new(40, 200, Policy::First, 1).unwrap();
        let row = sketch(&sectional, &[1, 2, 3]);
        assert!(sectional.pairs(&row).all(|(_, section)| [1, 67, 134].contains(&section)));
    }

    #[test]
    fn settings_are_checked() {
        let message = |error: Error| error.to_string();
        for wrong in [0, 257] {
            assert!(
                message(Sectional::new(8, wrong, Policy::First, 1).unwrap_err()).contains("from 1 to 256")
            );
        }
        assert!(message(Sectional::new(8, 17, Policy::Mask, 1).unwrap_err()).contains("from 1 to 16"));
        assert!(message(Sectional::new(0, 2, Policy::First, 1).unwrap_err()).contains("registers"));
        assert!(message(Tolerant::new(8, 64, 1).unwrap_err()).contains("from 0 to 63"));
        assert!(PreTagged::new(Arc::new(MinHash::new(8, 1).unwrap()), 0, Policy::First).is_err());
    }

    #[test]
    fn policies_choose_among_repeats() {
        // Shingle 0 is at both ends of one document, and only at the front of the other.
        let (both, front) = (shingles([0, 1, 2, 0]), shingles([0, 1, 2, 3]));
        for (policy, aligned) in [(Policy::First, 3), (Policy::Last, 2), (Policy::Mask, 3)] {
            let sectional = Sectional::new(8, 2, policy, 1).unwrap();
            assert_eq!(sectional.overlap(&both, &front).aligned, aligned, "{policy:?}");
        }
        let sectional = Sectional::new(64, 2, Policy::Mask, 1).unwrap();
        let row = sketch(&sectional, &both);
        assert!(sectional.pairs(&row).any(|(_, mask)| mask == 0b11));
    }

    #[test]
    fn sections_suffer_from_insertions_and_tolerance_does_not() {
        let base = shingles(0..1000);
        for (sections, displaced) in [(2, 0.05), (5, 0.2)] {
            let plain = Sectional::new(8, sections, Policy::First, 1).unwrap();
            let tolerance = Tolerant::tolerance_of_sections(sections as u32);
            let tolerant = Tolerant::new(8, tolerance, 1).unwrap();
            for (edit, changed) in edits() {
                let rate = plain.overlap(&base, &changed).alignment_rate().unwrap();
                let tolerant_rate = tolerant.overlap(&base, &changed).alignment_rate().unwrap();
                match edit {
                    "front" | "back" => assert!((1.0 - displaced - rate).abs() < 0.005, "{edit} {rate}"),
                    "middle" => assert!(rate >= 1.0 - displaced, "{rate}"),
                    "halves" => assert!(rate == 0.0 && tolerant_rate == 0.0),
                    _ => assert!((rate - if sections == 2 { 0.0 } else { 0.2 }).abs() < 0.005, "{rate}"),
                }
                if ["front", "back", "middle"].contains(&edit) {
                    assert_eq!(tolerant_rate, 1.0, "{edit}, {sections} sections");
                }
            }
        }
    }

    /// Checks that the number of agreeing registers over many seeds is binomial with the exact similarity.
    fn check_law(what: &str, exact: f64, agreeing: impl Fn(u64) -> f64) {
        const SEEDS: u64 = 2500;
        let shares: Vec<f64> = (0..SEEDS).map(|seed| agreeing(fmix64(seed + 1))).collect();
        let mean = shares.iter().sum::<f64>() / SEEDS as f64;
        let spread = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
        let expected = variance(exact, REGISTERS);
        let error = (expected / SEEDS as f64).sqrt();
        assert!((mean - exact).abs() <= 4.0 * error, "{what}: mean {mean}, {exact} expected");
        // The relative variance of a sample variance is (κ − 1)/N, where κ is the kurtosis of the binomial
        // distribution.
        let kurtosis = if expected > 0.0 {
            let p = exact;
            3.0 + (1.0 - 6.0 * p * (1.0 - p)) / (REGISTERS as f64 * p * (1.0 - p))
        } else {
            1.0
        };
        let reach = 4.0 * ((kurtosis - 1.0) / SEEDS as f64).sqrt();
        assert!(
            (spread - expected).abs() <= reach * expected,
            "{what}: variance {spread}, {expected} expected"
        );
    }

    const REGISTERS: usize = 48;

    #[test]
    fn means_and_variances_are_as_the_header_says() {
        let a = shingles((0..160).chain(0..10));
        let front = shingles((900..925).chain(0..150));
        let swapped = shingles((90..160).chain(0..90));
        for (edit, b) in [("front", front), ("swapped", swapped)] {
            for policy in [Policy::First, Policy::Last, Policy::Mask] {
                let exact = Sectional::new(1, 3, policy, 0).unwrap().overlap(&a, &b);
                check_law(&format!("post-tag {policy:?} {edit}"), exact.post_tag(), |seed| {
                    let sectional = Sectional::new(REGISTERS, 3, policy, seed).unwrap();
                    sectional.estimate(&sketch(&sectional, &a), &sketch(&sectional, &b)).value
                });
                let pre = pre_tagged(1, 3, policy, 0).exact(&a, &b);
                if policy != Policy::Mask {
                    assert!((pre - exact.pre_tag()).abs() < 1e-12);
                }
                assert!(pre <= exact.post_tag() + 1e-12);
                check_law(&format!("pre-tag {policy:?} {edit}"), pre, |seed| {
                    let tagged = pre_tagged(REGISTERS, 3, policy, seed);
                    tagged.estimate(&sketch(&tagged, &a), &sketch(&tagged, &b)).value
                });
            }
            let exact = Tolerant::new(1, 6, 0).unwrap().overlap(&a, &b);
            for aligned in [false, true] {
                let expected = if aligned { exact.post_tag() } else { exact.similarity() };
                check_law(&format!("tolerant {edit}, aligned {aligned}"), expected, |seed| {
                    let tolerant = Tolerant::new(REGISTERS, 6, seed).unwrap();
                    let matches = tolerant.matches(&sketch(&tolerant, &a), &sketch(&tolerant, &b));
                    if aligned { matches.aligned_similarity().value } else { matches.similarity().value }
                });
            }
        }
    }
}
