//! Errors of the sources, each shown by the behaviour of the library. `docs/concepts/errata.md` lists all errors. Most
//! errors are tested beside the algorithm. The other errors have one test each in this file.

use std::collections::BTreeSet;

use minwise::candidate::{Banding, Curve};
use minwise::estimate::{minhash, sectional};
use minwise::hash::modular::Modular;
use minwise::hash::vector::ModularSum;
use minwise::hash::{SplitMix64, fmix64};
use minwise::sketch::sectional::{Policy, Sectional};
use minwise::sketch::{MinHash, Sketcher, register_bits};

fn shingles(range: impl IntoIterator<Item = u64>) -> Vec<u64> {
    range.into_iter().map(fmix64).collect()
}

fn sketch(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
    let mut row = vec![0; sketcher.words()];
    sketcher.sketch_into(shingles, &mut row);
    row
}

/// Hassanian-esfahani 2018, (9), lacks the exponent: 1 − (1 − J)ᵇ.
#[test]
fn e_05_a_band_has_rows() {
    let curve = Curve::from(Banding::new(20, 5, 100).unwrap());
    let without_rows = Curve::from(Banding::new(20, 1, 20).unwrap());
    assert!((curve.probability(0.5) - 0.470_051).abs() < 5e-7);
    assert!((without_rows.probability(0.5) - 0.999_999).abs() < 5e-7);
}

/// Hassanian-esfahani 2018, Table 3, prints mean squared errors of `MinHash` above 1/(4k), the maximum for an unbiased
/// estimate from k registers. The library reaches this maximum at J = ½.
#[test]
fn e_06_squared_errors_fall_with_the_registers() {
    const TRIALS: u64 = 400;
    let (a, b) = (shingles(0..150), shingles(50..200));
    for (registers, printed) in
        [(50, 3.908e-2), (100, 3.848e-2), (200, 3.888e-2), (300, 3.802e-2), (400, 3.846e-2), (500, 3.821e-2)]
    {
        let squares: Vec<f64> = (0..TRIALS)
            .map(|seed| {
                let minhash = MinHash::new(registers, seed).unwrap();
                (minhash::estimate(&sketch(&minhash, &a), &sketch(&minhash, &b)).value - 0.5).powi(2)
            })
            .collect();
        let found = squares.iter().sum::<f64>() / TRIALS as f64;
        // The variance is greatest at J = ½. The square of a normal error has a variance of twice its squared mean.
        let most = 0.25 / registers as f64;
        assert!((found - most).abs() <= 4.0 * most * (2.0 / TRIALS as f64).sqrt(), "{registers}: {found}");
        assert!(printed > 7.8 * most, "{registers}");
    }
}

/// Hassanian-esfahani 2018, Table 4, has a higher recall with sections than without. If a register agrees in its
/// section, it also agrees in its minimum. Every pair that is accepted with sections is therefore accepted without
/// them.
#[test]
fn e_07_sections_never_find_more() {
    let document = shingles(0..300);
    let mut fewer = 0;
    for seed in 0..40 {
        let edited = shingles((1000..1000 + seed * 4).chain(seed * 3..300));
        for sections in [2, 3, 5] {
            let sectional = Sectional::new(64, sections, Policy::First, seed).unwrap();
            let matches = sectional.matches(&sketch(&sectional, &document), &sketch(&sectional, &edited));
            let (with, without) = (matches.aligned_similarity().value, matches.similarity().value);
            assert!(with <= without);
            fewer += usize::from(with < without);
        }
    }
    assert!(fewer > 0, "some of these shingles changed their section");
}

/// Hassanian-esfahani 2018, (25), derives true and false positives from the sizes of two variances. Below J = s/(s+1)
/// the variance in its model is smaller. Nothing is accepted there, because the mean decides whether a pair crosses the
/// threshold.
#[test]
fn e_08_the_mean_decides_and_not_the_variance() {
    let (registers, threshold) = (500, 0.4);
    // The documents share 700 of 1300 shingles, each in the other half of the document.
    let a = shingles(0..1000);
    let b = shingles((650..1000).chain(2000..2300).chain(0..350));
    let sectional = Sectional::new(registers, 2, Policy::First, 1).unwrap();
    let matches = sectional.matches(&sketch(&sectional, &a), &sketch(&sectional, &b));
    let similarity = sectional.overlap(&a, &b).similarity();
    assert!(similarity < sectional::independent_crossing(2));
    let model = sectional::independent_mean(similarity, 2);
    assert!(sectional::variance(model, registers) < minhash::variance(similarity, registers));
    assert!(matches.similarity().interval.0 > threshold);
    assert!(matches.aligned_similarity().interval.1 < threshold);
}

/// Hassanian-esfahani 2018, (2), divides the intersection of two sketches, taken as sets, by their union.
#[test]
fn e_09_registers_as_a_set_give_another_number() {
    let (a, b) = ([1, 2, 3, 4], [1, 2, 7, 8]);
    let indexed = |row: &[u32]| row.iter().copied().enumerate().collect::<BTreeSet<_>>();
    let (set_a, set_b) = (indexed(&a), indexed(&b));
    let as_sets = set_a.intersection(&set_b).count() as f64 / set_a.union(&set_b).count() as f64;
    assert_eq!(minhash::estimate(&a, &b).value, 0.5);
    assert_eq!(as_sets, 1.0 / 3.0);
}

/// The printed error of 1/√k is twice the greatest standard error.
#[test]
fn e_13_the_error_is_half_of_what_is_printed() {
    for registers in [100, 400, 1000] {
        let greatest =
            (0..=100).map(|step| minhash::variance(f64::from(step) / 100.0, registers)).fold(0.0, f64::max);
        let printed = 1.0 / (registers as f64).sqrt();
        assert!((printed / greatest.sqrt() - 2.0).abs() < 1e-12);
    }
}

/// Hassanian-esfahani 2018 compares the shingle that attains a minimum in (1), and the minimum itself in (3). Both
/// comparisons are equivalent only if no two shingles have the same hash value. Registers of the library hold the
/// value.
#[test]
fn e_15_a_minimum_is_not_the_shingle_that_attains_it() {
    // The two shingles fold to the same key. The upper half of `other` is larger by one, and its lower half is less by
    // the multiplier of the upper half.
    let (one, other) = (5_u64 << 32 | 0x9e37_79b1, 6_u64 << 32);
    let minhash = MinHash::new(64, 3).unwrap();
    assert_ne!(one, other);
    assert_eq!(sketch(&minhash, &[one]), sketch(&minhash, &[other]));
}

/// Yuan 2012, §3, argues that the covariance of its two groups of registers vanishes for many registers. The covariance
/// is 0 for any number of registers, because the groups share no register. If the groups shared registers, the
/// covariance would not vanish.
#[test]
fn e_19_groups_must_not_share_registers() {
    let registers = 4096;
    let minhash = MinHash::new(registers, 1).unwrap();
    let (a, b) = (sketch(&minhash, &shingles(0..150)), sketch(&minhash, &shingles(50..200)));
    let agrees = |register: usize, bits: u32| {
        let differ = register_bits(register, a[register]) ^ register_bits(register, b[register]);
        differ & ((1 << bits) - 1) == 0
    };
    let share = |holds: &dyn Fn(usize) -> bool| {
        (0..registers).filter(|&register| holds(register)).count() as f64 / registers as f64
    };
    let (one, two) = (share(&|register| agrees(register, 1)), share(&|register| agrees(register, 2)));
    // Two bits of one register agree only if the first bit does.
    let same = share(&|register| agrees(register, 1) && agrees(register, 2));
    assert_eq!(same, two);
    // Bits of two registers agree as often as independent bits.
    let apart = share(&|register| agrees(register, 1) && agrees((register + 1) % registers, 2));
    let error = (one * two * (1.0 - one * two) / registers as f64).sqrt();
    assert!((apart - one * two).abs() <= 4.0 * error, "{apart}, {} expected", one * two);
    assert!(same - one * two > 4.0 * error);
}

/// Yuan 2012, (21), writes the probability that two bits agree with a separate permutation for each bit. Only bits of
/// the same register agree more often than by chance, even for equal documents.
#[test]
fn e_20_registers_of_different_functions_are_strangers() {
    let registers = 4096;
    let row = sketch(&MinHash::new(registers, 1).unwrap(), &shingles(0..200));
    let bit = |register: usize| register_bits(register, row[register]) & 1;
    let agreeing = (1..registers).filter(|&register| bit(register) == bit(register - 1)).count() as f64;
    let trials = (registers - 1) as f64;
    assert!((agreeing - trials / 2.0).abs() <= 4.0 * (trials / 4.0).sqrt(), "{agreeing} of {trials}");
}

/// Bergillos 2018, §5, defines (1/b)^(1/r) as the similarity at which half of the pairs are found. At this similarity
/// the share of found pairs is 1 − (1 − 1/b)ᵇ.
#[test]
fn e_29_the_threshold_is_not_the_half_point() {
    for (bands, rows, threshold, probability, half) in [
        (1, 5, 1.0, 1.0, 0.870_551),
        (20, 5, 0.549_280, 0.641_514, 0.508_696),
        (20, 10, 0.741_134, 0.641_514, 0.713_229),
        (100, 12, 0.681_292, 0.633_968, 0.660_607),
    ] {
        let curve = Curve::from(Banding::new(bands, rows, bands * rows).unwrap());
        let printed = (1.0 / bands as f64).powf(1.0 / rows as f64);
        assert!((printed - threshold).abs() < 5.1e-7, "{printed}");
        assert!((curve.probability(printed) - probability).abs() < 5.1e-7, "{bands} × {rows}");
        assert!((curve.half_point() - half).abs() < 5.1e-7, "{}", curve.half_point());
    }
}

/// The loop of Bergillos 2018, §5.3, processes the rows of the matrix that it fills, and its hash does not depend on
/// the function. Correctly, the loop processes the rows of the *characteristic* matrix with one function per register.
/// The corrected loop returns the minima of the sets.
#[test]
fn e_32_the_rows_are_those_of_the_characteristic_matrix() {
    let documents: [&[u64]; 4] = [&[0, 3], &[2], &[1, 3, 4], &[0, 2, 3]];
    let family = Modular::raw(6, 5, 1).unwrap();
    let mut signatures = [[u32::MAX; 6]; 4];
    for row in 0..5 {
        for (document, signature) in documents.iter().zip(&mut signatures) {
            for (function, register) in signature.iter_mut().enumerate() {
                if document.contains(&row) {
                    *register = (*register).min(family.hash(function, row) as u32);
                }
            }
        }
    }
    for (document, signature) in documents.iter().zip(signatures) {
        let mut minima = [0; 6];
        family.minima_into(document, &mut minima);
        assert_eq!(minima, signature);
    }
    // With one function for all registers, all registers would be equal to the first.
    assert!(signatures.iter().any(|signature| signature.iter().any(|register| *register != signature[0])));
}

/// Anonymous, §4, identifies a band by a number below p ≈ N, and therefore finds b unrelated documents per query. Keys
/// of 64 bits find no unrelated document.
#[test]
fn e_40_a_bucket_is_not_a_band() {
    const DOCUMENTS: usize = 2000;
    const QUERIES: usize = 20;
    let (bands, rows) = (20, 5);
    let mut random = SplitMix64::new(7);
    let rows_of_all: Vec<Vec<u32>> =
        (0..DOCUMENTS).map(|_| (0..bands * rows).map(|_| random.next_u32()).collect()).collect();
    let banding = Banding::new(bands, rows, bands * rows).unwrap();
    let (mut by_bucket, mut by_key, mut prime) = (0, 0, 0);
    for band in 0..bands {
        let bucket = ModularSum::new(rows, DOCUMENTS as u64, band as u64).unwrap();
        prime = bucket.prime();
        let place = |sketch: &[u32]| {
            let band: Vec<u64> = sketch[band * rows..][..rows].iter().map(|&row| u64::from(row)).collect();
            bucket.hash(&band)
        };
        let places: Vec<u64> = rows_of_all.iter().map(|sketch| place(sketch)).collect();
        let keys: Vec<u64> = rows_of_all.iter().map(|sketch| banding.key(band, sketch)).collect();
        for query in 0..QUERIES {
            let strangers = |all: &[u64]| all.iter().filter(|other| **other == all[query]).count() - 1;
            by_bucket += strangers(&places);
            by_key += strangers(&keys);
        }
    }
    let expected = (QUERIES * bands * (DOCUMENTS - 1)) as f64 / prime as f64;
    assert!((by_bucket as f64 - expected).abs() <= 4.0 * expected.sqrt(), "{by_bucket}, {expected} expected");
    // The expected number is b unrelated documents per query.
    assert_eq!((expected / QUERIES as f64).round(), bands as f64);
    assert_eq!(by_key, 0);
}
