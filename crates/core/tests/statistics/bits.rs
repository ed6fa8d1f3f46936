//! Bits of registers that are not independent. `Method::all` has bits of `MinHash` registers only.
//!
//! Two registers agree together more or less often than independent registers do, by the covariance c of their
//! agreements. By accident their bits agree independently, because every register mixes its number in, even if two
//! registers hold copies of one value. The covariance of the agreements of bits is therefore (1−2⁻ᵇ)²·c. R̂ has the
//! variance of independent bits, plus the amount by which the registers' variance exceeds J(1−J)/k. For `SuperMinHash`
//! the variance is (1−J)(αJ + 1/(2ᵇ−1))/m (docs/sources/sketches.md#superminhash). The excess matters if there are few
//! shingles and many registers.

use minwise::estimate::b_bit::{self, Chance};
use minwise::estimate::minhash;
use minwise::hash::SplitMix64;
use minwise::sketch::b_bit::BBit;
use minwise::sketch::{Base, Method, RegisterSource, Sketcher};

use crate::measure::{Findings, Measured, Moments, is_long};
use crate::model::claimed_variance;
use crate::pair::Overlap;

const REGISTERS: usize = 64;

fn measure(base: Base, bits: u32, overlap: Overlap, trials: usize, number: u64) -> Vec<Measured> {
    let (source, chance) = (RegisterSource { base, registers: REGISTERS }, Chance::sparse(bits));
    let mut random = SplitMix64::new(number);
    let (a, b) = overlap.documents(random.next_u64());
    let values: Vec<f64> = (0..trials)
        .map(|_| {
            let sketcher = BBit::new(source.build(random.next_u64()).unwrap(), bits).unwrap();
            let [row_a, row_b] = [&a, &b].map(|document| {
                let mut row = vec![0; sketcher.words()];
                sketcher.sketch_into(document, &mut row);
                row
            });
            chance.similarity(sketcher.matches(&row_a, &row_b) as f64 / REGISTERS as f64)
        })
        .collect();

    let similarity = overlap.similarity();
    let of_registers = claimed_variance(Method::Registers(source), overlap);
    let variance = b_bit::variance(similarity, REGISTERS, chance) + of_registers
        - minhash::variance(similarity, REGISTERS);
    let found = Moments::of_sample(&values);
    let law = Moments::shaped_like(&found, similarity, variance);
    let what = format!("b-bit:{bits}/{source}, u = {}, J = {similarity}", overlap.union);
    vec![
        Measured::new(format!("{what}: mean"), found.mean, law.mean, law.error_of_mean(trials)),
        Measured::new(
            format!("{what}: variance"),
            found.variance,
            law.variance,
            law.error_of_variance(trials),
        ),
    ]
}

#[test]
fn of_registers_that_depend_on_one_another() {
    let mut findings = Findings::default();
    let mut point = 100 << 32;
    let trials = if is_long() { 20_000 } else { 2000 };
    for base in [
        Base::MinMax,
        Base::OnePermutation,
        Base::OnePermutationRotation,
        Base::SuperMinHash,
        Base::FastSimilarity,
    ] {
        for bits in [1, 4] {
            for similarity in [0.5, 0.8] {
                point += 1;
                let overlap = Overlap::new(40, similarity);
                let measure = |trials, number| measure(base, bits, overlap, trials, number);
                findings.confirm(trials, point, measure);
            }
        }
    }
    findings.conclude();
}
