//! Laws that every sketch obeys, tested for all sketches of `Method::all`. A law that holds for all documents is tested
//! with random documents, and a law that holds for some documents is tested with chosen ones.
//!
//! Tests of means, variances and intervals are in `tests/statistics`.

#![allow(clippy::unwrap_used, reason = "a test whose sketch cannot be made has failed")]

use std::collections::BTreeSet;
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

use minwise::hash::fmix64;
use minwise::kernel::Kernel;
use minwise::sketch::b_bit::BBit;
use minwise::sketch::bit_hash::BitHash;
use minwise::sketch::connected_bit::ConnectedBit;
use minwise::sketch::fractional_bit::{ThreeQuarterBit, XorBit};
use minwise::sketch::min_max::MinMax;
use minwise::sketch::odd::Odd;
use minwise::sketch::sectional::{Policy, PreTagged, Sectional, Tolerant};
use minwise::sketch::{
    Base, Method, MinHash, RegisterSource, Registers, Sketcher, Statistic, minhash::EMPTY,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// Number of registers or stored bits: a multiple of 4, as `Method::all` requires.
const SIZE: usize = 96;

fn shingles(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().map(fmix64).collect()
}

fn sketch(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
    let mut row = vec![7; sketcher.words()];
    sketcher.sketch_into(shingles, &mut row);
    row
}

fn for_each(mut check: impl FnMut(Method, &dyn Sketcher)) {
    for method in Method::all(SIZE) {
        check(method, &*method.build(1).expect("every method of the list can be made"));
    }
}

/// The laws that a method obeys.
#[expect(clippy::struct_excessive_bools, reason = "each law is obeyed or not, whatever the others are")]
struct Claims {
    /// Whether the sketch depends on the sections in which shingles occur.
    is_positional: bool,
    /// Whether the sketch also depends on places within a section.
    is_fine: bool,
    /// Which occurrence of a repeated shingle counts; `None` if every occurrence counts.
    counts: Option<Policy>,
    /// Whether sketches merge, because their words are minima, or least values, over all shingles.
    is_mergeable: bool,
    /// Whether whole registers are compared, so that unrelated documents do not agree.
    is_whole: bool,
    /// Whether the estimate depends on a single number.
    has_statistic: bool,
}

/// Returns the claims of a method. A new method does not compile until its claims are added here.
fn claims(method: Method) -> Claims {
    let bits = Claims {
        is_positional: false,
        is_fine: false,
        counts: Some(Policy::First),
        is_mergeable: false,
        is_whole: false,
        has_statistic: false,
    };
    match method {
        Method::Registers(RegisterSource { base, .. }) => {
            let is_mergeable = match base {
                Base::MinHash
                | Base::FamilyMinHash(_)
                | Base::MinMax
                | Base::SuperMinHash
                | Base::FastSimilarity => true,
                Base::OnePermutation | Base::OnePermutationRotation => false,
            };
            Claims { is_mergeable, is_whole: true, has_statistic: true, ..bits }
        }
        Method::RawOnePermutation(_) | Method::BottomK(_) => {
            Claims { is_mergeable: true, is_whole: true, ..bits }
        }
        Method::BBit(width, _) => Claims { has_statistic: width == 1, ..bits },
        Method::BitHash(_) | Method::Xor(..) | Method::ThreeQuarter(..) => {
            Claims { has_statistic: true, ..bits }
        }
        Method::Fractional(..) | Method::Connected(..) | Method::Odd(..) => bits,
        Method::Sectional { policy, .. } => {
            let counts = match policy {
                Policy::First | Policy::Last => Some(policy),
                Policy::Mask => None,
            };
            Claims { is_positional: true, counts, is_whole: true, ..bits }
        }
        Method::Tolerant { .. } => Claims { is_positional: true, is_fine: true, is_whole: true, ..bits },
        Method::PreTagged { .. } => Claims { is_positional: true, is_whole: true, ..bits },
        Method::Weighted(_) => Claims { counts: None, is_whole: true, has_statistic: true, ..bits },
    }
}

/// Documents of up to 119 shingles out of 60, so that shingles of long documents are repeated.
fn document(least: usize) -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec((0..60_u64).prop_map(fmix64), least..120)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        // There is no `main.rs` beside this file, so by default proptest would search for one up to the root of the
        // file system.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn neither_order_nor_repeats_matter_unless_positions_do(document in document(1)) {
        let set: Vec<u64> = document.iter().copied().collect::<BTreeSet<u64>>().into_iter().collect();
        for_each(|method, sketcher| {
            if !claims(method).is_positional {
                assert_eq!(sketch(sketcher, &document), sketch(sketcher, &set), "{method}");
            }
        });
    }

    #[test]
    fn equal_documents_agree_everywhere(document in document(1)) {
        for_each(|method, sketcher| {
            let row = sketch(sketcher, &document);
            let estimate = sketcher.estimate(&row, &row);
            assert_eq!((estimate.value, estimate.interval.1), (1.0, 1.0), "{method}");
            assert_eq!(sketcher.exact(&document, &document), 1.0, "{method}");
        });
    }

    #[test]
    fn estimates_are_symmetric_and_inside_their_intervals(a in document(1), b in document(1)) {
        for_each(|method, sketcher| {
            let (row_a, row_b) = (sketch(sketcher, &a), sketch(sketcher, &b));
            let estimate = sketcher.estimate(&row_a, &row_b);
            assert_eq!(estimate, sketcher.estimate(&row_b, &row_a), "{method}");
            let (low, high) = estimate.interval;
            assert!(0.0 <= low && low <= estimate.value && estimate.value <= high && high <= 1.0, "{method}: {estimate:?}");
            // A standard error is at most √(½·1²) = 1/√2, its value if half of the estimates are clamped to the truth
            // and the others differ from the truth by 1.
            assert!((0.0..=FRAC_1_SQRT_2).contains(&estimate.standard_error), "{method}: {estimate:?}");
            assert_eq!(sketcher.exact(&a, &b), sketcher.exact(&b, &a), "{method}");
        });
    }

    /// The sketches of two parts, which may be empty, merge to the sketch of the whole. If a sketch does not merge, the
    /// output is unchanged.
    #[test]
    fn sketches_of_parts_merge_where_that_is_claimed(a in document(0), b in document(0)) {
        let whole = [&a[..], &b].concat();
        for_each(|method, sketcher| {
            let mut merged = vec![7; sketcher.words()];
            let is_merged = sketcher.merge_into(&sketch(sketcher, &a), &sketch(sketcher, &b), &mut merged);
            assert_eq!(is_merged, claims(method).is_mergeable, "{method}");
            let expected = if is_merged { sketch(sketcher, &whole) } else { vec![7; sketcher.words()] };
            assert_eq!(merged, expected, "{method}");
        });
    }

    #[test]
    fn every_kernel_gives_the_same_words(document in document(0)) {
        let mut seen = 0;
        for_each(|method, sketcher| {
            let expected = sketch(sketcher, &document);
            for kernel in Kernel::available() {
                if let Some(other) = on_kernel(method, kernel) {
                    assert_eq!(sketch(&*other, &document), expected, "{method} by {kernel}");
                    seen += 1;
                }
            }
        });
        assert!(seen > 30, "{seen}");
    }

    /// If an occurrence of a shingle does not count, replacing it by another shingle does not change the sketch, unless
    /// the occurrence of the other shingle counts there.
    #[test]
    fn policies_choose_among_repeats(document in document(2), at: prop::sample::Index, other: prop::sample::Index) {
        let at = at.index(document.len());
        let replaced = |by: u64| {
            let mut changed = document.clone();
            changed[at] = by;
            changed
        };
        let (before, behind) = (&document[..at], &document[at + 1..]);
        for_each(|method, sketcher| {
            let counting = match claims(method).counts {
                Some(Policy::First) => before,
                Some(Policy::Last) => behind,
                Some(Policy::Mask) | None => return,
            };
            if counting.contains(&document[at]) {
                let by = counting[other.index(counting.len())];
                assert_eq!(sketch(sketcher, &replaced(by)), sketch(sketcher, &document), "{method}");
            }
        });
    }
}

/// Returns a method on a kernel, with seed 1; `None` if the method cannot be set to a kernel. Mixtures are not tested,
/// because they cannot be built from their parts here, and they pack their bits as `BBit` does.
fn on_kernel(method: Method, kernel: Kernel) -> Option<Arc<dyn Sketcher>> {
    let registers = |source: RegisterSource| -> Option<Arc<dyn Registers>> {
        (source.base == Base::MinHash)
            .then(|| Arc::new(MinHash::new(source.registers, 1).unwrap().with_kernel(kernel)) as _)
    };
    Some(match method {
        Method::Registers(RegisterSource { base: Base::MinMax, registers }) => {
            Arc::new(MinMax::new(registers, 1).unwrap().with_kernel(kernel))
        }
        Method::Registers(source) => registers(source)?,
        Method::BBit(bits, source) => Arc::new(BBit::new(registers(source)?, bits).unwrap()),
        Method::BitHash(source) => Arc::new(BitHash::new(registers(source)?).unwrap()),
        Method::Xor(halvings, source) => Arc::new(XorBit::new(registers(source)?, halvings).unwrap()),
        Method::ThreeQuarter(form, source) => {
            Arc::new(ThreeQuarterBit::new(registers(source)?, form).unwrap())
        }
        Method::Connected(connected, bits, source) => {
            Arc::new(ConnectedBit::new(registers(source)?, bits, connected).unwrap())
        }
        Method::Odd(bits, source) => Arc::new(Odd::new(registers(source)?, bits).unwrap()),
        Method::Sectional { sections, policy, registers } => {
            Arc::new(Sectional::new(registers, sections, policy, 1).unwrap().with_kernel(kernel))
        }
        Method::Tolerant { sections, registers } => {
            let tolerance = Tolerant::tolerance_of_sections(sections as u32);
            Arc::new(Tolerant::new(registers, tolerance, 1).unwrap().with_kernel(kernel))
        }
        Method::PreTagged { sections, source } => {
            Arc::new(PreTagged::new(registers(source)?, sections, Policy::First).unwrap())
        }
        Method::Fractional(..) | Method::RawOnePermutation(_) | Method::BottomK(_) | Method::Weighted(_) => {
            return None;
        }
    })
}

#[test]
fn no_shingles_give_empty_words() {
    for_each(|method, sketcher| {
        assert!(sketch(sketcher, &[]).iter().all(|&word| word == EMPTY), "{method}");
        assert_eq!(sketcher.exact(&[], &[]), 1.0, "{method}");
    });
}

#[test]
fn one_shingle_is_a_document() {
    for_each(|method, sketcher| {
        for shingle in [0, 1, u64::MAX] {
            let row = sketch(sketcher, &[shingle]);
            assert!(row.iter().any(|&word| word != EMPTY), "{method}");
            assert_eq!(sketcher.estimate(&row, &row).value, 1.0, "{method}");
        }
    });
}

/// Only positional sketches depend on the order of shingles, and only if a shingle moves to another section.
#[test]
fn positional_sketches_see_the_order_of_halves_and_not_within_them() {
    let document = shingles(0..200);
    let mut swapped = document.clone();
    swapped.rotate_left(100);
    let mut within = document.clone();
    within[..100].reverse();
    within[100..].reverse();
    for_each(|method, sketcher| {
        let row = sketch(sketcher, &document);
        let Claims { is_positional, is_fine, .. } = claims(method);
        assert_eq!(row == sketch(sketcher, &swapped), !is_positional, "{method}");
        assert_eq!(sketcher.exact(&document, &swapped) == 0.0, is_positional, "{method}");
        // Sketches with fine positions also notice a change of order inside a half.
        assert_eq!(row == sketch(sketcher, &within), !is_fine, "{method}");
    });
}

/// A shingle of both halves is aligned with a shingle of either half if masks are used. With the other policies it is
/// aligned only with a shingle of the half that the policy chooses.
#[test]
fn masks_hold_all_sections_of_a_shingle() {
    let both = shingles([0, 1, 2, 0]);
    let (front, back) = (shingles([0, 1, 2, 3]), shingles([3, 1, 2, 0]));
    for (policy, [at_front, at_back]) in
        [(Policy::First, [3.0, 2.0]), (Policy::Last, [2.0, 3.0]), (Policy::Mask, [3.0, 3.0])]
    {
        let sketcher = Method::Sectional { sections: 2, policy, registers: SIZE }.build(1).unwrap();
        assert_eq!(sketcher.exact(&both, &front), at_front / 4.0, "{policy:?}");
        assert_eq!(sketcher.exact(&both, &back), at_back / 4.0, "{policy:?}");
    }
}

#[test]
fn seeds_give_other_sketches_of_the_same_size() {
    let document = shingles(0..200);
    for method in Method::all(SIZE) {
        let [one, two] = [1, 2].map(|seed| method.build(seed).unwrap());
        assert_eq!(one.words(), two.words(), "{method}");
        assert_eq!(method.size_bytes(), 4 * one.words(), "{method}");
        assert_ne!(sketch(&*one, &document), sketch(&*two, &document), "{method}");
    }
}

/// Whole registers of unrelated documents differ. `tests/statistics` measures how often bits and registers agree by
/// accident.
#[test]
fn unrelated_documents_have_no_register_in_common() {
    for_each(|method, sketcher| {
        for (a, b) in [(0..1, 1..2), (0..1, 1000..1300), (0..300, 1000..1300)] {
            let (a, b) = (shingles(a), shingles(b));
            assert_eq!(sketcher.exact(&a, &b), 0.0, "{method}");
            if claims(method).is_whole {
                let estimate = sketcher.estimate(&sketch(sketcher, &a), &sketch(sketcher, &b));
                assert_eq!((estimate.value, estimate.interval.0), (0.0, 0.0), "{method}");
            }
        }
    });
}

#[test]
fn text_forms_say_everything() {
    let document = shingles(0..50);
    for size in [16, SIZE, 1024] {
        for method in Method::all(size) {
            let again: Method = method.to_string().parse().unwrap();
            assert_eq!(again, method);
            let [one, two] = [method, again].map(|method| method.build(3).unwrap());
            assert_eq!(sketch(&*one, &document), sketch(&*two, &document), "{method}");
        }
    }
}

/// If one number decides, pairs of rows with the same number have the same estimate, and the estimate rises with the
/// number.
#[test]
fn estimates_depend_on_the_statistic_that_is_named() {
    for_each(|method, sketcher| {
        assert_eq!(sketcher.statistic() != Statistic::Other, claims(method).has_statistic, "{method}");
        let (a, b) = (sketch(sketcher, &shingles(0..300)), sketch(sketcher, &shingles(100..400)));
        let zeros = vec![0u32; sketcher.words()];
        let changed = |count: usize| match sketcher.statistic() {
            Statistic::EqualWords => (0..zeros.len()).map(|i| u32::from(i < count)).collect(),
            Statistic::EqualBits => {
                let mut row = zeros.clone();
                for bit in 0..count {
                    row[bit / 32] |= 1 << (bit % 32);
                }
                row
            }
            Statistic::Other => zeros.clone(),
        };
        let different = match sketcher.statistic() {
            Statistic::EqualWords => a.iter().zip(&b).filter(|(a, b)| a != b).count(),
            Statistic::EqualBits => a.iter().zip(&b).map(|(a, b)| (a ^ b).count_ones() as usize).sum(),
            Statistic::Other => return,
        };
        let value = |a: &[u32], b: &[u32]| sketcher.estimate(a, b).value;
        assert_eq!(value(&a, &b), value(&zeros, &changed(different)), "{method}");
        let values: Vec<f64> =
            (0..40).map(|count| sketcher.estimate(&zeros, &changed(count)).value).collect();
        assert!(values.is_sorted_by(|a, b| a >= b), "{method}: {values:?}");
    });
}
