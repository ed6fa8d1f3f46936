//! Sketches: the shingle set of a document in a few hundred bytes, from which similarity can be estimated.
//!
//! A sketch is a row of registers. All rows of a corpus lie in one flat [`Sketches`] matrix. Therefore a new document
//! needs no allocation of its own, and a row is a plain slice.
//!
//! | sketch | registers agree with probability | use when |
//! |---|---|---|
//! | [`minhash`] | J | always, unless memory or speed matters more |
//! | [`family`] | J | results with a hash family of the [sources](crate#sources) should be repeated |
//! | [`min_max`] | J | documents have few shingles |
//! | [`one_permutation`] | J (densified) | documents are long and hashing takes most of the time |
//! | [`super_minhash`], [`fast_similarity`] | J | documents are short and the variance matters |
//! | [`bottom_k`] | – | sets should be merged and counted; it cannot be banded |
//! | [`b_bit`], [`bit_hash`] | 2⁻ᵇ + (1 − 2⁻ᵇ)J | millions of sketches are kept and compared, not banded |
//! | [`fractional_bit`] | see the module | a storage budget lies between whole bits, or only similarities near 1 matter |
//! | [`connected_bit`], [`odd`] | see the modules | comparisons should be few and wide, and only similarities near 1 matter |
//! | [`sectional`] | qJ | order matters: a text and a reordered text should differ |
//! | [`dart`], [`icws`], [`cws`], [`zero_bit`] | Jw; at least Jw | shingles have weights: see [`weighted`] |
//!
//! [`Method::all`] lists the sketches of sets, and [`WeightedMethod::all`] lists the sketches of weighted sets. The
//! tests of this crate go through both lists.

pub mod b_bit;
mod bias;
pub mod bit_hash;
mod bits;
pub mod bottom_k;
pub mod connected_bit;
pub mod cws;
pub mod dart;
pub mod family;
pub mod fast_similarity;
pub mod fractional_bit;
pub mod icws;
mod method;
pub mod min_max;
pub mod minhash;
pub mod odd;
pub mod one_permutation;
mod packing;
mod sealed;
pub mod sectional;
mod smallest;
pub mod super_minhash;
pub mod weighted;
mod weighted_sketcher;
pub mod zero_bit;

#[cfg(test)]
pub(crate) mod trials;

use std::collections::HashSet;
use std::fmt;

use crate::error::Error;
use crate::estimate::Estimate;

pub use bits::{BitRows, Bits};
pub use method::{Base, Method, Mixture, RegisterSource};
pub use minhash::MinHash;
pub use packing::{DifferenceBound, HeadShape, ValueLayout};
pub use weighted::WeightedMethod;
pub use weighted_sketcher::WeightedSketcher;

/// The number that determines the value of an estimate; the value rises with the number. A comparison of many pairs
/// needs to count only this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
#[cfg_attr(feature = "exhaustive", expect(clippy::exhaustive_enums, reason = "tests list all of them"))]
pub enum Statistic {
    /// The number of words of the two rows that agree.
    EqualWords,
    /// The number of bits of the two rows that agree. Bits after the last one are 0 in every row.
    EqualBits,
    /// A quantity other than equal words or equal bits.
    Other,
}

/// Makes sketches of one kind and compares them. A sketch is a row of 32-bit words.
///
/// The trait is sealed, because bands, filters and estimates rely on properties that are tested for each
/// sketch of this crate. Another crate can use a sketcher, but not write one:
///
/// ```compile_fail
/// #[derive(Debug)]
/// struct Mine;
///
/// impl minwise::sketch::Sketcher for Mine {
///     fn words(&self) -> usize { 1 }
///     fn sketch_into(&self, _: &[u64], out: &mut [u32]) { out.fill(0) }
///     fn estimate(&self, _: &[u32], _: &[u32]) -> minwise::estimate::Estimate { unimplemented!() }
/// }
/// ```
pub trait Sketcher: sealed::Sealed + fmt::Debug + Send + Sync {
    /// Returns the number of words of one sketch.
    fn words(&self) -> usize;

    /// Writes the sketch of a document's shingles, which are given in document order with repeats. If there are no
    /// shingles, every word is [`EMPTY`](minhash::EMPTY).
    ///
    /// # Panics
    /// Panics if `out` does not have [`words`](Self::words) elements.
    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]);

    /// Estimates the similarity of two documents that both have shingles.
    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate;

    /// Writes the sketch of the union of two documents, computed from their two sketches. If sketches of this kind
    /// cannot be merged, it returns `false` and leaves `out` unchanged.
    ///
    /// # Panics
    /// Panics if sketches can be merged and one of the three slices does not have [`words`](Self::words)
    /// elements.
    #[must_use]
    fn merge_into(&self, _a: &[u32], _b: &[u32], _out: &mut [u32]) -> bool {
        false
    }

    /// Returns the number that determines the value of the estimate.
    fn statistic(&self) -> Statistic {
        Statistic::Other
    }

    /// Returns conditions that a pair must meet for its estimate to reach the threshold. Sketches of one bit per value
    /// have no conditions. In a comparison of many pairs, only pairs that meet all conditions need an estimate.
    fn bounds(&self, _threshold: f64) -> Vec<DifferenceBound> {
        vec![]
    }

    /// Returns the exact value that the sketch estimates, computed from the shingles. The value is the Jaccard
    /// similarity, unless the sketch also depends on the order or the number of shingles.
    fn exact(&self, a: &[u64], b: &[u64]) -> f64 {
        let set = |shingles: &[u64]| shingles.iter().copied().collect::<HashSet<u64>>();
        let (a, b) = (set(a), set(b));
        let shared = a.intersection(&b).count();
        let all = a.len() + b.len() - shared;
        if all == 0 { 1.0 } else { shared as f64 / all as f64 }
    }
}

/// A sketcher whose words are registers: each register of two documents agrees with probability J. Registers can be
/// banded, and bit sketches can keep bits of them. The trait is sealed, as [`Sketcher`] is.
pub trait Registers: Sketcher {}

/// Returns the bits of register i with value z, from which bit sketches take some: fmix32(z ⊕ fmix32(i ⊕ 0x9e3779b9)).
/// The value is mixed with the register's number, so that registers that hold copies of one value give different bits.
#[must_use]
pub fn register_bits(register: usize, value: u32) -> u32 {
    crate::hash::fmix32(value ^ register_salt(register))
}

/// Returns the part of [`register_bits`] that depends only on the number of the register.
fn register_salt(register: usize) -> u32 {
    crate::hash::fmix32(register as u32 ^ 0x9e37_79b9)
}

/// Merges two sketches whose words are minima over the shingles, and returns `true`.
fn merge_minima(a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
    assert!(a.len() == out.len() && b.len() == out.len(), "sketches of one spec have equally many words");
    for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a.min(b);
    }
    true
}

/// The sketches of many documents, as one flat matrix with one row per document.
///
/// ```
/// use minwise::sketch::Sketches;
///
/// let mut sketches = Sketches::from_vec(2, vec![1, 2, 3, 4])?;
/// sketches.push().copy_from_slice(&[5, 6]);
/// assert_eq!(sketches.rows().collect::<Vec<_>>(), [&[1, 2][..], &[3, 4], &[5, 6]]);
/// assert_eq!(sketches.into_vec(), [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), minwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketches {
    registers: usize,
    values: Vec<u32>,
}

impl Sketches {
    /// Makes a matrix without rows, whose rows will have `registers` registers each.
    ///
    /// # Panics
    /// Panics if `registers` is 0.
    #[must_use]
    pub fn new(registers: usize) -> Self {
        assert!(registers > 0, "a sketch has at least one register");
        Self { registers, values: vec![] }
    }

    /// Makes a matrix of the rows in `values`, which lie one after the other with `registers` values each. The vector
    /// is moved, not copied.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `registers` is 0 or `values` ends within a
    /// row.
    pub fn from_vec(registers: usize, values: Vec<u32>) -> Result<Self, Error> {
        if registers == 0 {
            return Err(Error::out_of_range("the number of registers", registers, "at least 1"));
        }
        if !values.len().is_multiple_of(registers) {
            let expected = format!("a multiple of {registers}, the length of a row");
            return Err(Error::out_of_range("the number of values of all rows", values.len(), &expected));
        }
        Ok(Self { registers, values })
    }

    /// Returns all values, row after row, without copying them.
    #[must_use]
    pub fn into_vec(self) -> Vec<u32> {
        self.values
    }

    /// Returns the number of registers per row.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len() / self.registers
    }

    /// Reports whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns all values, row after row.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.values
    }

    /// Returns all values, row after row, for writing. Threads can fill disjoint rows of
    /// [`chunks_mut`](slice::chunks_mut) at the same time.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u32] {
        &mut self.values
    }

    /// Returns the rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> + DoubleEndedIterator + Clone {
        self.values.chunks_exact(self.registers)
    }

    /// Sets the number of rows to `rows`: appends rows of empty registers, or removes the last rows.
    pub fn resize(&mut self, rows: usize) {
        self.values.resize(rows * self.registers, minhash::EMPTY);
    }

    /// Removes all rows but keeps their memory for reuse.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// Returns the row with this number.
    ///
    /// # Panics
    /// Panics if `row` is not less than the number of rows.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> &[u32] {
        &self.values[row * self.registers..][..self.registers]
    }

    /// Appends a row of empty registers and returns the row, to be filled.
    #[inline]
    pub fn push(&mut self) -> &mut [u32] {
        let begin = self.values.len();
        self.values.resize(begin + self.registers, minhash::EMPTY);
        &mut self.values[begin..]
    }

    /// Appends all rows of `other`, and leaves `other` empty.
    ///
    /// # Panics
    /// Panics if the rows of `other` have another length.
    pub fn append(&mut self, other: &mut Self) {
        assert_eq!(self.registers, other.registers, "rows of one length");
        // An empty matrix takes the memory of `other`, which copies nothing. If its own memory is larger, it keeps that
        // memory, because the caller reserved it for the rows that follow.
        if self.values.is_empty() && self.values.capacity() <= other.values.capacity() {
            std::mem::swap(&mut self.values, &mut other.values);
        } else {
            self.values.append(&mut other.values);
        }
    }

    /// Returns the number of rows that fit into the reserved memory.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.values.capacity() / self.registers
    }

    /// Touches the memory that is reserved for the next `rows` rows, with `threads` threads.
    ///
    /// The system provides a page when it is first touched, which takes longer than copying a page. If one thread
    /// appends all rows, it would do all of this work.
    #[doc(hidden)]
    pub fn touch(&mut self, rows: usize, threads: usize) {
        /// Number of values per page.
        const PAGE: usize = 4096 / size_of::<u32>();
        let spare = self.values.spare_capacity_mut();
        let end = rows.saturating_mul(self.registers).min(spare.len());
        let part = end.div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for part in spare[..end].chunks_mut(part) {
                scope.spawn(move || {
                    for page in part.chunks_mut(PAGE) {
                        page[0].write(0);
                    }
                });
            }
        });
    }

    /// Reserves memory for `rows` more rows. If the memory is not available, it does nothing.
    pub fn reserve(&mut self, rows: usize) {
        // A failed reservation is no error, because the matrix still grows when rows are appended.
        let _ = self.values.try_reserve(rows.saturating_mul(self.registers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_memory_is_used_as_any_other() {
        let mut sketches = Sketches::new(3);
        sketches.touch(10, 2);
        sketches.push().fill(7);
        sketches.reserve(100_000);
        let (capacity, before) = (sketches.capacity(), sketches.as_slice().as_ptr());
        assert!(capacity >= 100_001);
        for (rows, threads) in [(0, 1), (1, 3), (50_000, 2), (usize::MAX, 5)] {
            sketches.touch(rows, threads);
        }
        assert_eq!((sketches.len(), sketches.capacity()), (1, capacity));
        sketches.resize(100_001);
        assert_eq!((sketches.row(0), sketches.row(100_000)), (&[7; 3][..], &[minhash::EMPTY; 3][..]));
        assert_eq!(sketches.as_slice().as_ptr(), before, "nothing was moved");
    }

    #[test]
    fn rows_of_a_matrix() {
        let mut sketches = Sketches::new(3);
        sketches.push().copy_from_slice(&[1, 2, 3]);
        let mut more = Sketches::new(3);
        more.push()[0] = 9;
        sketches.append(&mut more);
        assert_eq!(sketches.len(), 2);
        assert_eq!(sketches.row(0), [1, 2, 3]);
        assert_eq!(sketches.row(1), [9, u32::MAX, u32::MAX]);
        assert!(more.is_empty());
        assert_eq!(sketches.rows().map(<[u32]>::len).collect::<Vec<_>>(), [3, 3]);
        sketches.as_mut_slice()[3..].copy_from_slice(&[4, 5, 6]);
        assert_eq!(sketches.rows().next_back(), Some(&[4, 5, 6][..]));
        sketches.resize(3);
        assert_eq!(sketches.clone().into_vec(), [1, 2, 3, 4, 5, 6, u32::MAX, u32::MAX, u32::MAX]);
        sketches.resize(1);
        assert_eq!(sketches.as_slice(), [1, 2, 3]);
    }

    #[test]
    fn room_that_was_made_is_used() {
        let mut part = Sketches::new(2);
        part.push().copy_from_slice(&[1, 2]);
        let (mut small, mut roomy) = (Sketches::new(2), Sketches::new(2));
        roomy.reserve(1000);
        let [at_part, at_roomy] = [&part, &roomy].map(|matrix| matrix.values.as_ptr());
        small.append(&mut part);
        assert_eq!((small.values.as_ptr(), small.as_slice()), (at_part, &[1, 2][..]));
        roomy.append(&mut small);
        assert_eq!((roomy.values.as_ptr(), roomy.as_slice()), (at_roomy, &[1, 2][..]));
        assert!(small.is_empty() && part.is_empty());
    }

    #[test]
    fn a_vector_is_a_matrix_if_its_rows_are_whole() {
        let values = vec![1, 2, 3, 4, 5, 6];
        let at = values.as_ptr();
        let sketches = Sketches::from_vec(3, values).unwrap();
        assert_eq!((sketches.len(), sketches.row(1)), (2, &[4, 5, 6][..]));
        let values = sketches.into_vec();
        assert_eq!(values.as_ptr(), at, "neither way copies");
        let message = Sketches::from_vec(4, values).unwrap_err().to_string();
        assert_eq!(
            message,
            "the number of values of all rows cannot be 6: it must be a multiple of 4, the length of a row"
        );
        assert!(Sketches::from_vec(0, vec![]).is_err());
        assert!(Sketches::from_vec(7, vec![]).unwrap().is_empty());
    }
}
