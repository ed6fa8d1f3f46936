//! From weighted sets to registers, compared with the registers of plain sets.
//!
//! - **Measured.** `Dart`, `Icws`, `Cws` and `MinHash` with k = 128, on each kernel of this machine, in one run, so
//!   that they can be compared as ratios. An element is a distinct shingle, so the time per element is the time for all
//!   k registers together.
//! - **Checked.** The sketches of all kernels are equal. `Dart` and `Icws` estimate the weighted Jaccard similarity of
//!   the set and one half of it within four standard errors.
//! - **Input.** 20 000, 2000, 200 and 40 random shingles with weights from 1 to 16. Small weights are more frequent, as
//!   for counts. Sixteen documents are used in turn, whose total weights are spread over an octave, because the number
//!   of darts depends on the total weight. `unit` has equal weights.
//! - **Not shown.** Making and counting shingles; documents in which one shingle has nearly all weight.

#![allow(missing_docs, reason = "criterion makes a public function without documentation")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use minwise::hash::SplitMix64;
use minwise::kernel::Kernel;
use minwise::sketch::cws::Cws;
use minwise::sketch::dart::Dart;
use minwise::sketch::icws::Icws;
use minwise::sketch::{MinHash, WeightedSketcher};
use minwise::verify::WeightedOverlap;
use minwise::weight::WeightedSet;

const REGISTERS: usize = 128;

fn documents(len: usize, weigh: impl Fn(u64) -> f64) -> Vec<WeightedSet> {
    let document = |number: u32| {
        let mut random = SplitMix64::new(number.into());
        let scale = 1.0 + f64::from(number) / 16.0;
        WeightedSet::new((0..len).map(|_| (random.next_u64(), scale * weigh(random.next_u64()))))
            .expect("weights are positive")
    };
    (0..16).map(document).collect()
}

/// Returns 1 for half of all numbers, 2 for a quarter, and so on up to 16.
fn count(bits: u64) -> f64 {
    f64::from(1 << bits.trailing_zeros().min(4))
}

fn row(sketcher: &dyn WeightedSketcher, set: &WeightedSet) -> Vec<u32> {
    let mut out = vec![0; sketcher.words()];
    sketcher.sketch_into(set, &mut out);
    out
}

fn icws(kernel: Kernel) -> Icws {
    Icws::new(REGISTERS, 1).expect("a number of registers in range").with_kernel(kernel)
}

fn dart(kernel: Kernel) -> Dart {
    Dart::new(REGISTERS, 1).expect("a number of registers in range").with_kernel(kernel)
}

fn check<S: WeightedSketcher>(set: &WeightedSet, make: impl Fn(Kernel) -> S) {
    let rows: Vec<Vec<u32>> = Kernel::available().map(|kernel| row(&make(kernel), set)).collect();
    assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "kernels give the same bits");
    let members = set.shingles().iter().copied().zip(set.weights().iter().copied());
    let half = WeightedSet::new(members.step_by(2)).expect("weights are positive");
    let sketcher = make(Kernel::detect());
    let estimate = sketcher.estimate(&rows[0], &row(&sketcher, &half));
    let exact = WeightedOverlap::of(set, &half).jaccard();
    assert!((estimate.value - exact).abs() <= 4.0 * estimate.standard_error, "{estimate}, not {exact}");
}

fn weighted(criterion: &mut Criterion) {
    for len in [20_000, 2000, 200, 40] {
        let (sets, units) = (documents(len, count), documents(len, |_| 1.0));
        check(&sets[0], icws);
        check(&sets[0], dart);
        let mut group = criterion.benchmark_group(format!("weighted/{len} shingles"));
        group.throughput(Throughput::Elements(len as u64));
        let mut out = vec![0; REGISTERS];
        for kernel in Kernel::available() {
            let minhash =
                MinHash::new(REGISTERS, 1).expect("a number of registers in range").with_kernel(kernel);
            group.bench_function(BenchmarkId::new("minhash", kernel), |bench| {
                let mut turn = sets.iter().cycle();
                bench.iter(|| {
                    let Some(set) = turn.next() else { return };
                    minhash.sketch_into(black_box(set.shingles()), &mut out);
                    black_box(&out);
                });
            });
            let sketchers = [&dart(kernel) as &dyn WeightedSketcher, &icws(kernel)];
            for (name, sketcher) in ["dart", "icws"].into_iter().zip(sketchers) {
                for (name, sets) in [(name.to_owned(), &sets), (format!("{name}, unit"), &units)] {
                    group.bench_function(BenchmarkId::new(name, kernel), |bench| {
                        let mut turn = sets.iter().cycle();
                        bench.iter(|| {
                            let Some(set) = turn.next() else { return };
                            sketcher.sketch_into(black_box(set), &mut out);
                            black_box(&out);
                        });
                    });
                }
            }
        }
        if len > 2000 {
            // With this many shingles, `Cws` takes a second per sketch.
            continue;
        }
        let cws = Cws::new(REGISTERS, 1).expect("a number of registers in range");
        group.bench_function("cws", |bench| {
            bench.iter(|| {
                cws.sketch_into(black_box(&sets[0]), &mut out);
                black_box(&out);
            });
        });
        group.finish();
    }
}

criterion_group!(benches, weighted);
criterion_main!(benches);
