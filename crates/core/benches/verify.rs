//! Verification: the exact comparison that decides about every candidate.
//!
//! - **Measured.** `build`: a document's shingles sorted into a set. `at_least`: the exact Jaccard similarity of two
//!   sets against the threshold 0.8, for pairs that reach it, for pairs whose comparison stops early, and for pairs
//!   that differ too much in length. `of`: the count without a threshold.
//! - **Input.** Shingles are random 64-bit numbers, like those of the shingler. Documents have 200, 2000 and 20 000
//!   shingles. `at_least` has 64 pairs, so that the branch predictor cannot learn one pair by heart; elements are the
//!   shingles of both sets.
//! - **Not shown.** Making the shingles, which is done again for every document that is verified, and costs more; sets
//!   that are not in the cache; documents with many repeats.

#![allow(missing_docs, reason = "criterion makes a public function without documentation")]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use minwise::hash::SplitMix64;
use minwise::verify::{Overlap, ShingleSet};

const THRESHOLD: f64 = 0.8;
const PAIRS: usize = 64;

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

/// Returns two sets. The first has about `size` shingles. The second is `longer` times as large, and contains the share
/// `shared` of the first.
fn pair(size: usize, shared: f64, longer: f64, seed: u64) -> (ShingleSet, ShingleSet) {
    let a = random(size, seed);
    let shared = (size as f64 * shared) as usize;
    let own = (size as f64 * longer) as usize - shared;
    let b = a[..shared].iter().copied().chain(random(own, !seed)).collect();
    (a.into_iter().collect(), b)
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("verify/build");
    for size in [200, 2000, 20_000] {
        let documents: Vec<Vec<u64>> = (0..PAIRS as u64).map(|seed| random(size, seed)).collect();
        let mut next = documents.iter().cycle();
        let mut work = (vec![], vec![]);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |bench| {
            bench.iter_batched(
                || next.next().expect("a cycle has no end"),
                |shingles| ShingleSet::build(black_box(shingles), &mut work),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn overlap(criterion: &mut Criterion) {
    // Each kind has a name, the share of the first set that is in the second, and the relative length of the second.
    let kinds = [("reaches", 0.95, 1.0), ("gives up", 0.5, 1.0), ("too long", 1.0, 1.5)];
    for size in [200, 2000, 20_000] {
        let mut group = criterion.benchmark_group(format!("verify/{size} shingles"));
        for (kind, shared, longer) in kinds {
            let pairs: Vec<_> = (0..PAIRS as u64).map(|seed| pair(size, shared, longer, seed)).collect();
            let elements: usize = pairs.iter().map(|(a, b)| a.len() + b.len()).sum();
            group.throughput(Throughput::Elements(elements as u64));
            group.bench_function(BenchmarkId::new("at_least", kind), |bench| {
                bench.iter(|| {
                    pairs
                        .iter()
                        .filter(|(a, b)| Overlap::at_least(a, black_box(b), THRESHOLD).is_some())
                        .count()
                });
            });
            group.bench_function(BenchmarkId::new("of", kind), |bench| {
                bench.iter(|| pairs.iter().map(|(a, b)| Overlap::of(a, black_box(b)).shared).sum::<usize>());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, build, overlap);
criterion_main!(benches);
