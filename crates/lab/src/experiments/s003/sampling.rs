//! Consistent weighted sampling with one misprint of Yuan 2019, Algorithm 1, at a time (E-53), to measure its cost.

use minwise::hash::fmix64;

use crate::simulate::Random;

/// Variant of the algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// The corrected algorithm.
    Repaired,
    /// The deciding random number is drawn anew for every point, and not once per shingle.
    DecidedByPoint,
    /// All points of an interval use one random number.
    SameNumber,
    /// The point below the weight is used in place of the point above it.
    PointBelow,
}

impl Variant {
    pub const ALL: [Self; 4] = [Self::Repaired, Self::DecidedByPoint, Self::SameNumber, Self::PointBelow];

    pub fn name(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::DecidedByPoint => "decided anew for every point",
            Self::SameNumber => "one number for all points of an interval",
            Self::PointBelow => "the point below decides",
        }
    }

    /// Returns the sampled shingle and its point.
    pub fn sample(self, set: &[(u64, f64)], seed: u64) -> Option<(u64, u64)> {
        let ranked = set.iter().map(|&(x, weight)| {
            let key = fmix64(x ^ seed);
            let (below, above) = self.active(key, weight);
            let decided_by = if self == Self::DecidedByPoint { below.to_bits() } else { 0 };
            let mut random = Random::new(key, &[1, decided_by]);
            let score = -(positive(&mut random) * positive(&mut random)).ln();
            let divisor = if self == Self::PointBelow { below } else { above };
            (score / divisor, x, below.to_bits())
        });
        ranked.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, x, point)| (x, point))
    }

    /// Returns the greatest point up to a weight, and the least point above it.
    fn active(self, key: u64, weight: f64) -> (f64, f64) {
        let interval = weight.log2().ceil() as i32;
        let below = (0..)
            .find_map(|down| self.points(key, interval - down).into_iter().find(|&point| point <= weight))
            .unwrap_or(0.0);
        let above = (0..)
            .find_map(|up| self.points(key, interval + up).into_iter().rev().find(|&point| point > weight))
            .unwrap_or(f64::INFINITY);
        (below, above)
    }

    /// Returns the points from 2^(k−1) to 2^k in descending order.
    fn points(self, key: u64, interval: i32) -> Vec<f64> {
        let mut random = Random::new(key, &[0, u64::from(interval.cast_unsigned())]);
        let (mut point, least) = (2_f64.powi(interval), 2_f64.powi(interval - 1));
        let once = positive(&mut random);
        let mut points = vec![];
        loop {
            point *= if self == Self::SameNumber { once } else { positive(&mut random) };
            if point <= least {
                return points;
            }
            points.push(point);
        }
    }
}

/// Returns a number above 0 and below 1.
fn positive(random: &mut Random) -> f64 {
    random.unit() + 0.5 / (1_u64 << 53) as f64
}
