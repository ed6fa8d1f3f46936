//! The least darts of a weighted set: for every register, the name of the dart of least rank below the weights.
//!
//! [`row`] defines where the darts are. Darts below the weights of a document whose ranks end at θ are θ·Σw on average, all
//! registers together, and k·(ln k + 1) are enough to leave no register empty more often than not. So rows are gone
//! through from the lowest that can hold a dart to the one where there are as many, and further while registers are empty.
//! What is found does not depend on where that begins and ends.
//!
//! - A row is first looked at for all shingles, without a branch: the first gap is −ln(1 − U) ≥ U, so that a shingle has a
//!   dart there only if U < w·2ᵇ, which the upper 24 bits of a linear hash nearly decide.
//! - What remains, about one candidate a dart, waits to be *thrown* together with others, so that the logarithms fill
//!   vectors. A dart below the weight is written down for its register, and the next gap of that row waits again.
//!
//! There is one code for all kernels, compiled for the instruction set of each. It has no order to keep: the least is the
//! least.

mod row;

#[cfg(test)]
mod tests;

use super::binary::{exponent, scaled};
use super::logarithm::ln;
use super::sample::Elements;
use super::{Kernel, Kind};
use row::Dart;

/// Elements that are looked at before candidates are listed.
const PORTION: usize = 64;
/// Candidates that are thrown together: enough to fill vectors.
const BATCH: usize = 64;
/// Lanes that are written out for the compiler to make vectors of.
const LANES: usize = 8;
/// Bits of the first gap that are compared: as many as a 32-bit floating point number holds.
const LOOK_BITS: u32 = 24;
/// More than the rounding of the comparison's few operations, each of which errs by 2⁻²⁴ at most.
const ROUNDING: f64 = 1.0 + 1.0 / (1 << 16) as f64;
/// No gap is shorter than 2 to this power.
const LEAST_GAP_EXPONENT: i64 = -33;
/// The place of no dart.
const NOWHERE: u64 = u64::MAX;

impl Kernel {
    /// Writes the name of each register's least dart.
    ///
    /// # Panics
    /// If keys and weights differ in length, or there are none.
    pub fn throw(self, elements: Elements<'_>, seed: u64, names: &mut [u32]) {
        assert_eq!(elements.keys.len(), elements.weights.len(), "one weight an element");
        assert!(!elements.keys.is_empty(), "darts are thrown at something");
        match self.0 {
            Kind::Portable => run(elements, seed, names),
            // SAFETY: a `Kernel` of this kind exists only where its features were detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { run_avx2(elements, seed, names) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 | Kind::Avx512Popcount => unsafe { run_avx512(elements, seed, names) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { run_neon(elements, seed, names) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(elements: Elements<'_>, seed: u64, names: &mut [u32]) {
    run(elements, seed, names);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn run_avx512(elements: Elements<'_>, seed: u64, names: &mut [u32]) {
    run(elements, seed, names);
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn run_neon(elements: Elements<'_>, seed: u64, names: &mut [u32]) {
    run(elements, seed, names);
}

/// All of it. Inlined into each kernel, so that everything is compiled for its instruction set.
#[inline(always)]
fn run(elements: Elements<'_>, seed: u64, names: &mut [u32]) {
    let Elements { keys, weights } = elements;
    let top = top_row(weights, names.len());
    // w·2ᵇ in the top row: exact, but for weights too small to matter there.
    let expected: Vec<f64> = weights.iter().map(|&weight| scaled(weight, top)).collect();
    let most = expected.iter().fold(0.0, |most, &expected| if expected > most { expected } else { most });
    let look = |expected: &f64| (expected * (f64::from(1 << LOOK_BITS) * ROUNDING)) as f32;
    let limits: Vec<f32> = expected.iter().map(look).collect();
    // Where even the greatest weight comes to less than the least gap, there are no darts.
    let lowest = top + LEAST_GAP_EXPONENT - exponent(most);
    let mut board = Board::new(names.len());
    for row in lowest.. {
        let salt = row::salt(seed, row);
        let coefficients = row::coefficients(salt);
        let scale = scaled(1.0, row - top);
        let mut flags = [0; PORTION];
        for begin in (0..keys.len()).step_by(PORTION) {
            let portion = begin..keys.len().min(begin + PORTION);
            flags.fill(0);
            for ((flag, &key), &limit) in flags.iter_mut().zip(&keys[portion.clone()]).zip(&limits[portion]) {
                let bits = row::first_gap(key, coefficients) >> (u32::BITS - LOOK_BITS);
                *flag = u8::from(bits.cast_signed() as f32 <= limit * scale as f32);
            }
            for (word, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
                let mut set = u64::from_le_bytes(*eight);
                while set != 0 {
                    let at = begin + word * 8 + (set.trailing_zeros() / 8) as usize;
                    let key = keys[at];
                    board.add(Candidate {
                        state: row::state(key, salt),
                        gap: row::first_gap(key, coefficients),
                        limit: expected[at] * scale,
                        row: (row - lowest).cast_unsigned(),
                    });
                    set &= set - 1;
                }
            }
        }
        if row >= top {
            board.finish();
            if board.is_full() {
                break;
            }
        }
    }
    for (name, place) in names.iter_mut().zip(board.least) {
        *name = place as u32;
    }
}

/// The row up to which there are k·(ln k + 1) darts on average, or up to twice as many.
fn top_row(weights: &[f64], registers: usize) -> i64 {
    // Relative to the greatest weight, so that the sum is finite. Its order is free: no result depends on this row.
    let greatest = weights.iter().fold(0.0, |most, &weight| if weight > most { weight } else { most });
    let scale = exponent(greatest);
    let total: f64 = weights.iter().map(|&weight| scaled(weight, -scale)).sum();
    let wanted = registers as f64 * (ln(registers as f64) + 1.0);
    exponent(wanted / total) - scale
}

/// A shingle in a row that may hold a dart of it.
struct Candidate {
    state: u64,
    /// The bits of the first gap.
    gap: u32,
    /// The weight times 2ᵇ.
    limit: f64,
    /// Counted from the lowest.
    row: u64,
}

/// The least darts so far, and the candidates that wait to be thrown, field by field.
struct Board {
    least: Vec<u64>,
    states: [u64; BATCH],
    gaps: [u32; BATCH],
    /// The weight of the last dart, times 2ᵇ.
    reached: [f64; BATCH],
    limits: [f64; BATCH],
    rows: [u64; BATCH],
    waiting: usize,
}

impl Board {
    fn new(registers: usize) -> Self {
        Self {
            least: vec![NOWHERE; registers],
            states: [0; BATCH],
            gaps: [0; BATCH],
            reached: [0.0; BATCH],
            limits: [0.0; BATCH],
            rows: [0; BATCH],
            waiting: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.least.iter().all(|&place| place != NOWHERE)
    }

    #[inline(always)]
    fn add(&mut self, candidate: Candidate) {
        let at = self.waiting;
        self.states[at] = candidate.state;
        self.gaps[at] = candidate.gap;
        self.reached[at] = 0.0;
        self.limits[at] = candidate.limit;
        self.rows[at] = candidate.row;
        self.waiting += 1;
        while self.waiting == BATCH {
            self.throw();
        }
    }

    /// Throws until nothing waits.
    #[inline(always)]
    fn finish(&mut self) {
        while self.waiting > 0 {
            self.throw();
        }
    }

    /// Goes one gap further with every candidate. Those that are still below their weight have a dart there, and stay.
    #[inline(always)]
    fn throw(&mut self) {
        let registers = self.least.len() as u64;
        let waiting = std::mem::take(&mut self.waiting);
        for begin in (0..waiting).step_by(LANES) {
            let lanes = begin..begin + LANES;
            let mut states: [u64; LANES] = lane(&self.states, begin);
            let (mut gaps, mut reached) = (lane(&self.gaps, begin), lane(&self.reached, begin));
            let (limits, rows) = (lane(&self.limits, begin), lane(&self.rows, begin));
            let (mut targets, mut places) = ([0; LANES], [0; LANES]);
            for i in 0..LANES {
                reached[i] += row::gap(gaps[i]);
                let dart = Dart::of(states[i]);
                states[i] = states[i].wrapping_add(row::STRIDE);
                gaps[i] = dart.next_gap();
                targets[i] = dart.register(registers);
                places[i] = dart.place(rows[i]);
            }
            for i in 0..lanes.len().min(waiting - begin) {
                // No branch: whether there is one more dart is a toss of a coin.
                let below = reached[i] < limits[i];
                let least = &mut self.least[targets[i]];
                *least = (*least).min(if below { places[i] } else { NOWHERE });
                let at = self.waiting;
                self.states[at] = states[i];
                self.gaps[at] = gaps[i];
                self.reached[at] = reached[i];
                self.limits[at] = limits[i];
                self.rows[at] = rows[i];
                self.waiting += usize::from(below);
            }
        }
    }
}

#[inline(always)]
fn lane<T: Copy>(values: &[T; BATCH], begin: usize) -> [T; LANES] {
    std::array::from_fn(|i| values[begin + i])
}
