//! The beginnings of many sketches, laid out so that one of them is compared with eight at a time.
//!
//! A *head* is the first n values of a sketch, of which up to four bits each are kept, in planes: with g = ⌈n/64⌉ groups
//! of 64 values, word `group·planes + plane` of a head holds one bit of each value of the group. Eight heads are a block:
//! word w of all of them lies together, so that a vector of 512 bits compares one word of eight heads, and no sum runs
//! across a vector.
//!
//! ```text
//! block 0:  word 0 of heads 0…7 │ word 1 of heads 0…7 │ …      block 1:  word 0 of heads 8…15 │ …
//! ```
//!
//! Two values that are equal have equal bits, so two heads never differ in more values than their sketches do. A pair of
//! sketches is therefore safely rejected if its heads differ in too many values.
//!
//! Measured on one core, nanoseconds per pair (`cargo bench --bench heads`):
//!
//! | values | bits of each | `avx512-popcount` | `avx2` |
//! |---|---|---|---|
//! | 64 | 1, 2, 4 | 0.08, 0.12, 0.20 | 0.24, 0.28, 0.40 |
//! | 128 | 1, 2 | 0.13, 0.21 | 0.39, 0.50 |
//! | 256 | 1, 2 | 0.34, 0.55 | 0.88, 1.13 |

use std::ops::Range;

#[cfg(target_arch = "aarch64")]
use super::neon;
use super::{Kernel, Kind, portable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// Values whose bits of one plane are a word.
pub const GROUP: usize = 64;
/// The most planes of a head.
pub const MOST_PLANES: usize = 4;
/// Heads of a block.
pub(super) const LANES: usize = 8;

/// One word of each head of a block. The alignment keeps every vector within one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [u64; LANES]);

/// The beginnings of many sketches.
#[derive(Debug, Clone)]
pub struct Heads {
    planes: usize,
    /// Words of a head.
    words: usize,
    len: usize,
    lanes: Vec<Lanes>,
}

impl Heads {
    /// No heads yet; each will have this many groups of 64 values, and this many planes.
    ///
    /// # Panics
    /// If there are no groups, or not 1 to [`MOST_PLANES`] planes.
    #[must_use]
    pub fn new(groups: usize, planes: usize) -> Self {
        assert!(
            groups > 0 && (1..=MOST_PLANES).contains(&planes),
            "a head has values, and some bits of each"
        );
        Self { planes, words: groups * planes, len: 0, lanes: vec![] }
    }

    /// How many heads there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Words of a head.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Forgets all heads and keeps the room they had.
    pub fn clear(&mut self) {
        self.len = 0;
        self.lanes.clear();
    }

    /// Adds a head.
    ///
    /// # Panics
    /// If it does not have [`words`](Self::words) words.
    pub fn push(&mut self, head: &[u64]) {
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

    /// The words of a head.
    fn head(&self, head: usize) -> impl Iterator<Item = u64> {
        assert!(head < self.len, "a head that is there");
        let block = &self.lanes[head / LANES * self.words..][..self.words];
        block.iter().map(move |lanes| lanes.0[head % LANES])
    }
}

/// Blocks that are compared before their findings are gathered.
const BLOCKS: usize = 512;
/// Words of a probe that needs no memory of its own.
const PROBE_WORDS: usize = 32;

/// Calls a form with the numbers of groups and planes known to the compiler where they are few; 0 groups are any number.
macro_rules! with_shape {
    ($planes:expr, $groups:expr, $call:ident($($argument:expr),*)) => {
        match ($planes, $groups) {
            (1, 1) => $call::<1, 1>($($argument),*),
            (1, 2) => $call::<1, 2>($($argument),*),
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

impl Kernel {
    /// Appends to `found`, in ascending order, the numbers of the heads in `range` that differ from head `of` of `probes`
    /// in at most `most` values.
    ///
    /// # Panics
    /// If `probes` and `heads` have different shapes, or a head is not there.
    pub fn near(
        self,
        probes: &Heads,
        of: usize,
        heads: &Heads,
        range: Range<usize>,
        most: usize,
        found: &mut Vec<u32>,
    ) {
        assert!(probes.words == heads.words && probes.planes == heads.planes, "heads of one shape");
        assert!(range.end <= heads.len, "heads that are there");
        let mut few = [0; PROBE_WORDS];
        let many: Vec<u64>;
        let probe: &[u64] = if let Some(few) = few.get_mut(..heads.words) {
            few.iter_mut().zip(probes.head(of)).for_each(|(out, word)| *out = word);
            few
        } else {
            many = probes.head(of).collect();
            &many
        };
        let mut near = [0; BLOCKS];
        let all = range.start / LANES..range.end.div_ceil(LANES).max(range.start / LANES);
        for first in all.clone().step_by(BLOCKS) {
            let blocks = first..(first + BLOCKS).min(all.end);
            let lanes = &heads.lanes[blocks.start * heads.words..blocks.end * heads.words];
            // Whole words of 64 bits are looked through, and the last one may have more bytes than there are blocks.
            near[blocks.len()..blocks.len().next_multiple_of(8)].fill(0);
            self.near_blocks(probe, lanes, heads.planes, most as u64, &mut near[..blocks.len()]);
            for (word, bytes) in
                near[..blocks.len().next_multiple_of(8)].as_chunks::<8>().0.iter().enumerate()
            {
                // Bit i of byte j is about head 8·j + i.
                let mut bits = u64::from_le_bytes(*bytes);
                while bits != 0 {
                    let head = (first + word * 8) * LANES + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    // The first and the last block may reach beyond the range.
                    if range.contains(&head) {
                        found.push(head as u32);
                    }
                }
            }
        }
    }

    /// For each block of heads: bit i says whether head i of the block is near.
    fn near_blocks(self, probe: &[u64], lanes: &[Lanes], planes: usize, most: u64, out: &mut [u8]) {
        match self.0 {
            Kind::Portable => portable::near(probe, lanes, planes, most, out),
            // SAFETY: a `Kernel` of this kind exists only where its features were detected, AVX2 among them.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 | Kind::Avx512 => unsafe { avx2::near(probe, lanes, planes, most, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Popcount => unsafe { avx512::near(probe, lanes, planes, most, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { neon::near(probe, lanes, planes, most, out) },
        }
    }
}
