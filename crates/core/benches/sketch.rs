//! From shingles to registers: the k minima, on each kernel.
//!
//! - **Measured.** `MinHash::sketch_into` on each kernel that this machine has, for k = 64, 128 and 256. An element is
//!   a shingle, so the time per element is the time per shingle for all k registers together.
//! - **Input.** 2000 random shingles, like those of a document of 2000 words; and 40 random shingles, for which filling
//!   and storing the registers matters.
//! - **Not shown.** The cost of making the shingles (see the benchmark `text`), which is larger; kernels that this
//!   machine lacks; and the cost of wide vectors for other work on the same core, whose clock they lower.

#![allow(missing_docs, reason = "criterion makes a public function without documentation")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use minwise::hash::SplitMix64;
use minwise::kernel::Kernel;
use minwise::sketch::MinHash;

fn sketch(criterion: &mut Criterion) {
    let mut random = SplitMix64::new(1);
    let shingles: Vec<u64> = (0..2000).map(|_| random.next_u64()).collect();
    for len in [2000, 40] {
        let mut group = criterion.benchmark_group(format!("sketch/{len} shingles"));
        group.throughput(Throughput::Elements(len as u64));
        for kernel in Kernel::available() {
            for registers in [64, 128, 256] {
                let minhash =
                    MinHash::new(registers, 1).expect("a number of registers in range").with_kernel(kernel);
                let mut out = vec![0; registers];
                group.bench_function(BenchmarkId::new(kernel.name(), registers), |bench| {
                    bench.iter(|| {
                        minhash.sketch_into(black_box(&shingles[..len]), &mut out);
                        black_box(&out);
                    });
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, sketch);
criterion_main!(benches);
