//! Heads: the beginnings of many sketches, laid out so that one head is compared with eight at a time.
//!
//! A *head* has the first n values of a sketch, with one to four bits per value. The values form g = ⌈n/64⌉ groups of
//! 64, and each group has one word of 64 bits (*plane*) per bit of a value: word `group·planes + plane` of a head holds
//! one bit of each value of the group. Eight heads are a block. Word w of all heads of a block is stored together, so a
//! vector of 512 bits compares one word of eight heads, and no sum runs across the lanes of a vector.
//!
//! ```text
//! block 0:  word 0 of heads 0…7 │ word 1 of heads 0…7 │ …      block 1:  word 0 of heads 8…15 │ …
//! ```
//!
//! Two equal values have equal bits, so two heads never differ in more values than their sketches do. Therefore a pair
//! of sketches is safely rejected if its heads differ in too many values.
//!
//! A head may have an *allowance*: it is near if it differs in at most as many values as the sum of the caller's number
//! and the allowance. Larger sets may differ in more shingles, so the allowed number depends on both sets.
//!
//! Nanoseconds per pair, measured on one core by the benchmark `heads` of this crate:
//!
//! | values | bits of each | `avx512-popcount` | `avx2` |
//! |---|---|---|---|
//! | 64 | 1, 2, 4 | 0.08, 0.12, 0.20 | 0.24, 0.28, 0.40 |
//! | 128 | 1, 2 | 0.13, 0.21 | 0.39, 0.50 |
//! | 256 | 1, 2 | 0.34, 0.55 | 0.88, 1.13 |

use std::ops::Range;

/// Number of values per group: one bit of each fills a word.
pub const GROUP: usize = 64;
/// Maximum number of planes of a head.
pub const MOST_PLANES: usize = 4;
/// Number of heads per block.
pub(super) const LANES: usize = 8;

/// One word of each head of a block. The alignment keeps a vector of 64 bytes within one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [u64; LANES]);

/// Heads of many sketches.
#[derive(Debug, Clone)]
pub struct Heads {
    planes: usize,
    /// Number of words per head.
    words: usize,
    len: usize,
    lanes: Vec<Lanes>,
    /// Allowances of each block; empty if heads have none.
    allowances: Vec<Lanes>,
}

/// The largest allowance: a head with this allowance is always near. Sums with an allowance stay below 2⁶³, because
/// comparisons are signed.
pub const ALL: u64 = 1 << 61;

impl Heads {
    /// Creates an empty list of heads with `groups` groups of 64 values and `planes` planes.
    ///
    /// # Panics
    /// Panics if `groups` is 0, or if `planes` is not from 1 to [`MOST_PLANES`].
    #[must_use]
    pub fn new(groups: usize, planes: usize) -> Self {
        assert!(
            groups > 0 && (1..=MOST_PLANES).contains(&planes),
            "a head has values, and some bits of each"
        );
        Self { planes, words: groups * planes, len: 0, lanes: vec![], allowances: vec![] }
    }

    /// Returns the number of heads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Reports whether there are no heads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of words per head.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Removes all heads, but does not free their memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.lanes.clear();
        self.allowances.clear();
    }

    /// Adds a head without an allowance.
    ///
    /// # Panics
    /// Panics if `head` does not have [`words`](Self::words) words, or if earlier heads have allowances.
    pub fn push(&mut self, head: &[u64]) {
        assert!(self.allowances.is_empty(), "all heads have an allowance, or none has");
        self.push_words(head);
    }

    /// Adds a head that may differ in `allowance` more values. With [`ALL`] the head is always near.
    ///
    /// # Panics
    /// Panics if `head` does not have [`words`](Self::words) words, or if earlier heads have no allowances.
    pub fn push_allowing(&mut self, head: &[u64], allowance: u64) {
        assert!(
            self.allowances.len() == self.len.div_ceil(LANES),
            "all heads have an allowance, or none has"
        );
        let lane = self.len % LANES;
        if lane == 0 {
            self.allowances.push(Lanes([0; LANES]));
        }
        if let Some(block) = self.allowances.last_mut() {
            block.0[lane] = allowance.min(ALL);
        }
        self.push_words(head);
    }

    fn push_words(&mut self, head: &[u64]) {
        assert_eq!(head.len(), self.words, "as many words as a head has");
        let lane = self.len % LANES;
        if lane == 0 {
            self.lanes.resize(self.lanes.len() + self.words, Lanes([0; LANES]));
        }
        let block = self.lanes.len() - self.words;
        for (lanes, &word) in self.lanes[block..].iter_mut().zip(head) {
            lanes.0[lane] = word;
        }
        self.len += 1;
    }

    /// Returns the number of bits per value in a head.
    pub(super) fn planes(&self) -> usize {
        self.planes
    }

    /// Returns the words of a range of blocks, block after block.
    pub(super) fn blocks(&self, blocks: Range<usize>) -> &[Lanes] {
        &self.lanes[blocks.start * self.words..blocks.end * self.words]
    }

    /// Returns the allowances of a range of blocks, one element per block; empty if heads have none.
    pub(super) fn allowances(&self, blocks: Range<usize>) -> &[Lanes] {
        if self.allowances.is_empty() { &[] } else { &self.allowances[blocks] }
    }

    /// Returns the words of a head.
    pub(super) fn head(&self, head: usize) -> impl Iterator<Item = u64> {
        assert!(head < self.len, "a head that is there");
        let block = &self.lanes[head / LANES * self.words..][..self.words];
        block.iter().map(move |lanes| lanes.0[head % LANES])
    }
}

/// Calls a form with the numbers of planes and groups as constants for the compiler. The constant 0 stands for any
/// number of groups.
macro_rules! with_shape {
    ($planes:expr, $groups:expr, $call:ident($($argument:expr),*)) => {
        match ($planes, $groups) {
            (1, 1) => $call::<1, 1>($($argument),*),
            (1, 2) => $call::<1, 2>($($argument),*),
            (1, 4) => $call::<1, 4>($($argument),*),
            (1, _) => $call::<1, 0>($($argument),*),
            (2, 1) => $call::<2, 1>($($argument),*),
            (2, 2) => $call::<2, 2>($($argument),*),
            (2, _) => $call::<2, 0>($($argument),*),
            (3, 1) => $call::<3, 1>($($argument),*),
            (3, _) => $call::<3, 0>($($argument),*),
            (4, 1) => $call::<4, 1>($($argument),*),
            _ => $call::<4, 0>($($argument),*),
        }
    };
}
pub(super) use with_shape;
