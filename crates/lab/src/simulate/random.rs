//! Random numbers from seeds, the same on every machine.

use minwise::hash::{SplitMix64, fmix64};

/// Sequence of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    /// Returns the sequence for a seed and some numbers, such as a trial and a point of a grid.
    pub fn new(seed: u64, of: &[u64]) -> Self {
        let state = of.iter().fold(fmix64(seed ^ 0x6c61_6221), |state, &part| {
            fmix64(state.rotate_left(17) ^ fmix64(part.wrapping_add(1)))
        });
        Self(SplitMix64::new(state))
    }

    /// Returns the next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a nearly uniform whole number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns `true` with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns an approximately normal number: the sum of twelve uniform numbers, less 6. This is exact enough to
    /// scatter similarities, and uses no function that two machines could round differently.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// Shuffles items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_differ_by_seed_and_by_what_they_are_for() {
        let first = |seed, of: &[u64]| Random::new(seed, of).next();
        let all = [
            first(1, &[]),
            first(2, &[]),
            first(1, &[0]),
            first(1, &[1]),
            first(1, &[0, 1]),
            first(1, &[1, 0]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one));
        }
        assert_eq!(first(1, &[3]), first(1, &[3]));
    }

    #[test]
    fn moments_of_what_is_drawn() {
        let mut random = Random::new(1, &[]);
        let n = 100_000;
        let mean = (0..n).map(|_| random.unit()).sum::<f64>() / f64::from(n);
        // The standard error of the mean of n uniform numbers is √(1/12n).
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / (12.0 * f64::from(n))).sqrt());
        let square = (0..n).map(|_| random.normal().powi(2)).sum::<f64>() / f64::from(n);
        assert!((square - 1.0).abs() < 5.0 * (2.0 / f64::from(n)).sqrt());
        assert!((0..1000).all(|_| random.below(3) < 3));
    }

    #[test]
    fn shuffles_keep_all_items() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(1, &[]).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
