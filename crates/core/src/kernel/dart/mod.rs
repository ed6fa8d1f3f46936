//! The darts of a weighted set: for every register, the name of the dart of smallest rank below the weights.
//!
//! [`row`] defines where the darts are. On average, θ·Σw darts of rank at most θ lie below the weights of a document,
//! counted over all registers. After k·ln k darts, one register is still empty on average. So the first row is the one
//! up to which there are about k·ln k darts. Rows are processed from it down to the lowest row that can hold darts, and
//! then upwards from it while registers are empty. The result does not depend on the choice of the first and the last
//! row.
//!
//! - A row is first screened for all shingles, without a branch. The first gap is −ln(1 − U) ≥ U, so a shingle has a
//!   dart in the row only if U < w·2ᵇ. The upper 24 bits of a linear hash nearly decide this.
//! - About one candidate per dart remains. Each candidate takes a lane of a *board*, which is an index into the board's
//!   arrays. All lanes are computed together, so the logarithms fill vectors. If a dart lies below the weight, it is
//!   recorded for its register, and the lane continues with the next dart.
//!
//! All kernels share one code, which is compiled for the instruction set of each kernel. A minimum does not depend on
//! the order.

mod row;

#[cfg(test)]
mod tests;

use super::binary::{exponent, scaled};
use super::logarithm::ln;
use super::sample::Elements;
use super::{Kernel, Kind};
use row::RawDart;

/// Number of times that all lanes are filled with elements before candidates are listed: one bit of a word per time.
const STEPS: usize = u32::BITS as usize;
/// Maximum number of candidates that are computed together: one bit of a word per candidate.
const BATCH: usize = u64::BITS as usize;
/// Number of lanes, which the compiler turns into vectors.
const LANES: usize = 16;
/// Number of bits of the first gap that are compared: as many as the significand of a 32-bit floating-point number has.
const LOOK_BITS: u32 = 24;
/// Factor by which the comparison is widened for rounding errors. The comparison has few operations, and each operation
/// errs by at most 2⁻²⁴.
const ROUNDING: f64 = 1.0 + 1.0 / (1 << 16) as f64;
/// Lower bound of the exponent of gaps: no gap is below 2 to this power.
const LEAST_GAP_EXPONENT: i64 = -33;
/// Place of a register without a dart.
const NOWHERE: u64 = u64::MAX;

impl Kernel {
    /// Writes the name of the dart of smallest rank of each register.
    ///
    /// # Panics
    /// Panics if keys and weights differ in length, or if there are no keys.
    pub fn throw(self, elements: Elements<'_>, seed: u64, names: &mut [u32]) {
        assert_eq!(elements.keys.len(), elements.weights.len(), "one weight per element");
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

/// Does the whole computation. This function is inlined into each kernel, and so compiled for its instruction set.
#[inline(always)]
fn run(elements: Elements<'_>, seed: u64, names: &mut [u32]) {
    let Elements { keys, weights } = elements;
    let top = top_row(weights, names.len());
    // w·2ᵇ in the top row. Rounding affects only weights that are too small to matter in this row.
    let expected: Vec<f64> = weights.iter().map(|&weight| scaled(weight, top)).collect();
    let most = expected.iter().fold(0.0, |most, &expected| if expected > most { expected } else { most });
    let looks: Vec<LaneCells> = keys.chunks(LANES).zip(expected.chunks(LANES)).map(LaneCells::of).collect();
    // Below this row even the largest weight is less than the smallest gap, so there are no darts.
    let lowest = top + LEAST_GAP_EXPONENT - exponent(most);
    let mut board = Board::new(names.len());
    // Rows are processed from above, because a shingle has most darts in the highest row, and a full board takes
    // longest.
    let mut rows = (lowest..=top).rev();
    let mut next = top + 1;
    loop {
        for row in rows {
            let scale = scaled(1.0, row - top);
            let salt = row::salt(seed, row);
            let coefficients = row::coefficients(salt);
            for (portion, looked) in looks.chunks(STEPS).enumerate() {
                for (lane, mut set) in look(looked, scale as f32, coefficients).into_iter().enumerate() {
                    while set != 0 {
                        let at = (portion * STEPS + set.trailing_zeros() as usize) * LANES + lane;
                        set &= set - 1;
                        let mut candidate = DartCandidate {
                            state: row::state(keys[at], salt),
                            gap: row::first_gap(keys[at] as u32, coefficients),
                            limit: expected[at] * scale,
                            row: (row - lowest).cast_unsigned(),
                        };
                        while board.add(candidate) {
                            candidate = candidate.in_next_cell();
                        }
                    }
                }
            }
        }
        board.finish();
        if board.is_full() {
            break;
        }
        rows = (next..=next).rev();
        next += 1;
    }
    for (name, place) in names.iter_mut().zip(board.least) {
        *name = row::name(place);
    }
}

/// Data of one element per lane, for screening.
struct LaneCells {
    keys: [u32; LANES],
    /// Largest bits of the first gap that pass in the top row; negative for a lane without an element.
    limits: [f32; LANES],
}

impl LaneCells {
    #[inline(always)]
    fn of((keys, expected): (&[u64], &[f64])) -> Self {
        let mut looks = Self { keys: [0; LANES], limits: [-1.0; LANES] };
        for (i, (&key, expected)) in keys.iter().zip(expected).enumerate() {
            looks.keys[i] = key as u32;
            looks.limits[i] = (expected * (f64::from(1 << LOOK_BITS) * ROUNDING)) as f32;
        }
        looks
    }
}

/// Returns, for every lane, one bit per step. The bit is set if the element of this step may have a dart in the row.
/// The bit is set for all elements with a dart, and for hardly any other element.
#[inline(always)]
fn look(looks: &[LaneCells], scale: f32, coefficients: (u32, u32)) -> [u32; LANES] {
    let mut sets = [0; LANES];
    for looks in looks.iter().rev() {
        for ((set, &key), limit) in sets.iter_mut().zip(&looks.keys).zip(&looks.limits) {
            let bits = row::first_gap(key, coefficients) >> (u32::BITS - LOOK_BITS);
            // The bit is shifted in and not set in place, because compilers then make vectors of the lanes and not of
            // the steps.
            *set = *set << 1 | u32::from(bits.cast_signed() as f32 <= limit * scale);
        }
    }
    sets
}

/// Returns the row up to which the mean number of darts is between n and 2n, where n = k·ln k + 1.
fn top_row(weights: &[f64], registers: usize) -> i64 {
    // Weights are relative to the largest weight, so the sum is finite. The weights may be added in any order, because
    // the result does not depend on the top row.
    let greatest = weights.iter().fold(0.0, |most, &weight| if weight > most { weight } else { most });
    let scale = exponent(greatest);
    let total: f64 = weights.iter().map(|&weight| scaled(weight, -scale)).sum();
    let wanted = registers as f64 * ln(registers as f64) + 1.0;
    exponent(wanted / total) - scale
}

/// A shingle in a row that may have darts from some cell on.
#[derive(Clone, Copy)]
struct DartCandidate {
    state: u64,
    /// Bits of the gap before the first dart.
    gap: u32,
    /// Weight times 2ᵇ, counted from the beginning of the cell.
    limit: f64,
    /// Number of the row, counted from the lowest row.
    row: u64,
}

impl DartCandidate {
    #[inline(always)]
    fn in_next_cell(self) -> Self {
        let state = row::next_cell(self.state);
        Self { state, gap: row::cell_gap(state), limit: self.limit - row::CELL, row: self.row }
    }
}

/// The smallest darts so far, and the candidates that are being computed. Each candidate has one lane, an index into
/// the arrays of the fields.
struct Board {
    least: Vec<u64>,
    /// Set of the lanes in use, one bit per lane.
    taken: u64,
    states: [u64; BATCH],
    gaps: [u32; BATCH],
    /// Weight of the last dart, times 2ᵇ.
    reached: [f64; BATCH],
    limits: [f64; BATCH],
    rows: [u64; BATCH],
}

impl Board {
    fn new(registers: usize) -> Self {
        Self {
            least: vec![NOWHERE; registers],
            taken: 0,
            states: [0; BATCH],
            gaps: [0; BATCH],
            reached: [0.0; BATCH],
            limits: [0.0; BATCH],
            rows: [0; BATCH],
        }
    }

    fn is_full(&self) -> bool {
        self.least.iter().all(|&place| place != NOWHERE)
    }

    /// Adds the candidate for its first cell, and returns whether it may have darts in later cells.
    #[inline(always)]
    fn add(&mut self, candidate: DartCandidate) -> bool {
        let lane = self.taken.trailing_ones() as usize;
        self.taken |= 1 << lane;
        self.states[lane] = candidate.state;
        self.gaps[lane] = candidate.gap;
        self.reached[lane] = 0.0;
        self.limits[lane] = candidate.limit.min(row::CELL);
        self.rows[lane] = candidate.row;
        while self.taken == u64::MAX {
            self.throw();
        }
        candidate.limit > row::CELL
    }

    /// Throws until no lane is in use.
    #[inline(always)]
    fn finish(&mut self) {
        while self.taken != 0 {
            self.throw();
        }
    }

    /// Moves every candidate by one gap. If a candidate is still below its limit, it has a dart at the point that it
    /// reached, and it keeps its lane if another dart may follow. Lanes that are not in use are computed, too: the next
    /// dart of such a lane is not below its limit, so it is ignored.
    #[inline(always)]
    fn throw(&mut self) {
        let registers = self.least.len() as u64;
        for group in 0..BATCH / LANES {
            let taken = self.taken >> (group * LANES) & ((1 << LANES) - 1);
            if taken == 0 {
                continue;
            }
            let lanes = group * LANES..(group + 1) * LANES;
            // The arrays are copied, because the compiler then knows that they do not overlap.
            let mut states = copied(&self.states[lanes.clone()]);
            let mut gaps = copied(&self.gaps[lanes.clone()]);
            let mut reached = copied(&self.reached[lanes.clone()]);
            let limits = copied(&self.limits[lanes.clone()]);
            let rows = copied(&self.rows[lanes.clone()]);
            let (mut targets, mut places, mut over) = ([0; LANES], [0; LANES], [0u64; LANES]);
            for i in 0..LANES {
                let dart = RawDart::of(states[i]);
                reached[i] += row::gap(gaps[i]);
                states[i] = states[i].wrapping_add(row::STRIDE);
                gaps[i] = dart.next_gap();
                targets[i] = dart.register(registers);
                places[i] = if reached[i] < limits[i] { dart.place(rows[i]) } else { NOWHERE };
            }
            for i in 0..LANES {
                over[i] = u64::from(reached[i] + row::least_gap(gaps[i]) >= limits[i]) << i;
            }
            self.states[lanes.clone()].copy_from_slice(&states);
            self.gaps[lanes.clone()].copy_from_slice(&gaps);
            self.reached[lanes].copy_from_slice(&reached);
            let over = over.iter().fold(0, |over, bit| over | bit);
            self.taken &= !(over << (group * LANES));
            for (&target, &place) in targets.iter().zip(&places) {
                let least = &mut self.least[target];
                *least = (*least).min(place);
            }
        }
    }
}

#[inline(always)]
fn copied<T: Copy + Default>(values: &[T]) -> [T; LANES] {
    let mut copied = [T::default(); LANES];
    copied.copy_from_slice(values);
    copied
}
