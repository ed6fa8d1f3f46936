//! The cost of every sketch, and of the kernels that compare sketches, as two Markdown tables.
//!
//! - **Measured.** For each sketch of `Method::all`, with 128 registers or stored bits, and for bit sketches also with
//!   1024: the time per shingle in documents of 50, 500 and 5000 shingles, and `estimate` on two rows, with its
//!   interval. For each kernel of this machine: the plain counts, and a pair in a batch of rows of 1024 bits, whose
//!   rows fit the first-level cache, the second-level cache, or neither.
//! - **Input.** 16 documents of random shingles, so that the branch predictor does not learn them. The compared
//!   documents share half of the shingles of both. Rows are in the first-level cache.
//! - **Not shown.** Making the shingles (see the benchmark `text`); two threads at once; rows that come from memory one
//!   at a time.
//!
//! Each figure is the least of many rounds of a millisecond, because some short rounds run undisturbed even on a busy
//! machine. Only ratios of figures hold on other machines.

#![allow(clippy::print_stdout, reason = "the tables are its output")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use minwise::hash::SplitMix64;
use minwise::kernel::Kernel;
use minwise::sketch::{Method, Sketcher};

const ROUNDS: usize = 20;
const ROUND: Duration = Duration::from_millis(1);
/// Number of documents of each length.
const DOCUMENTS: usize = 16;
/// Number of words of a row of 1024 bits.
const WORDS: usize = 32;

fn main() {
    sketches();
    println!();
    kernels();
}

fn sketches() {
    println!("| sketch | bytes | ns a shingle of 50 | of 500 | of 5000 | ns a comparison |");
    println!("|---|---|---|---|---|---|");
    let bits = Method::all(1024).into_iter().filter(|&method| keeps_bits(method));
    for method in Method::all(128).into_iter().chain(bits) {
        let sketcher = method.build(1).expect("every method of the list can be made");
        let [short, middle, long] = [50, 500, 5000].map(|shingles| shingle(&*sketcher, shingles));
        let comparison = comparison(&*sketcher);
        println!(
            "| `{method}` | {} | {short:.1} | {middle:.1} | {long:.1} | {comparison:.1} |",
            method.size_bytes()
        );
    }
}

fn keeps_bits(method: Method) -> bool {
    match method {
        Method::BBit(..)
        | Method::BitHash(..)
        | Method::Fractional(..)
        | Method::Xor(..)
        | Method::ThreeQuarter(..)
        | Method::Connected(..)
        | Method::Odd(..) => true,
        Method::Registers(..)
        | Method::RawOnePermutation(..)
        | Method::BottomK(..)
        | Method::Sectional { .. }
        | Method::Tolerant { .. }
        | Method::PreTagged { .. }
        | Method::Weighted(_) => false,
    }
}

fn shingle(sketcher: &dyn Sketcher, shingles: usize) -> f64 {
    let mut random = SplitMix64::new(shingles as u64);
    let documents: Vec<Vec<u64>> =
        (0..DOCUMENTS).map(|_| (0..shingles).map(|_| random.next_u64()).collect()).collect();
    let mut row = vec![0; sketcher.words()];
    nanoseconds(DOCUMENTS * shingles, || {
        for document in &documents {
            sketcher.sketch_into(black_box(document), &mut row);
            black_box(&row);
        }
    })
}

fn comparison(sketcher: &dyn Sketcher) -> f64 {
    let mut random = SplitMix64::new(1);
    let common: Vec<u64> = (0..200).map(|_| random.next_u64()).collect();
    let rows: Vec<Vec<u32>> = (0..DOCUMENTS)
        .map(|_| {
            let mut document = common.clone();
            document.extend((0..100).map(|_| random.next_u64()));
            let mut row = vec![0; sketcher.words()];
            sketcher.sketch_into(&document, &mut row);
            row
        })
        .collect();
    nanoseconds(DOCUMENTS * DOCUMENTS, || {
        for a in &rows {
            for b in &rows {
                black_box(sketcher.estimate(black_box(a), b));
            }
        }
    })
}

fn kernels() {
    println!(
        "| kernel | ns for 128 words | 128 half words | 128 bytes | 1024 bits | ns a pair of 1024 bits in a batch of 256 | of 4096 | of 131072 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut random = SplitMix64::new(1);
    let matrix: Vec<u32> = (0..131_072 * WORDS).map(|_| random.next_u32()).collect();
    for kernel in Kernel::available() {
        let pair = |words: usize, count: fn(Kernel, &[u32], &[u32]) -> usize| {
            let (rows, _) = matrix.split_at(DOCUMENTS * words);
            nanoseconds(DOCUMENTS * DOCUMENTS, || {
                for a in rows.chunks_exact(words) {
                    for b in rows.chunks_exact(words) {
                        black_box(count(kernel, black_box(a), b));
                    }
                }
            })
        };
        let plain = [
            pair(128, Kernel::equal_words),
            pair(64, Kernel::equal_half_words),
            pair(32, Kernel::equal_bytes),
            pair(32, Kernel::different_bits),
        ];
        let batches = [256, 4096, 131_072].map(|rows| {
            let mut counts = vec![0; rows];
            nanoseconds(4 * rows, || {
                for row in matrix.chunks_exact(WORDS).take(4) {
                    kernel.different_bits_of_rows(black_box(row), &matrix[..rows * WORDS], &mut counts);
                    black_box(&counts);
                }
            })
        });
        let figures: Vec<String> =
            plain.iter().chain(&batches).map(|figure| format!("{figure:.2}")).collect();
        println!("| `{kernel}` | {} |", figures.join(" | "));
    }
}

/// Returns the time per unit of work in nanoseconds, if `work` does `units` units.
fn nanoseconds(units: usize, mut work: impl FnMut()) -> f64 {
    let round = |_| {
        let started = Instant::now();
        let mut times = 0;
        while times == 0 || started.elapsed() < ROUND {
            work();
            times += 1;
        }
        started.elapsed().as_secs_f64() * 1e9 / (times * units) as f64
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
