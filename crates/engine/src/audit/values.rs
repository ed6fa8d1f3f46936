//! Values of a row: whole registers, or single bits if rows have only bits.
//!
//! Two rows agree in some of their values. A band of the audit is a random set of values. The probability that two rows
//! agree in a whole band therefore follows from the number of values in which they agree. No assumption about the hash
//! functions, the documents or the sketch is needed.

use minwise::kernel::Kernel;

use crate::rows::RowLayout;

/// Number of values per row, with the code that compares values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    count: u32,
    kernel: Kernel,
}

impl Values {
    pub(super) fn new(rows: &RowLayout) -> Self {
        let count = rows.bit_rows().map_or(rows.words(), |bits| bits.words() * u32::BITS as usize);
        Self { count: count as u32, kernel: Kernel::detect() }
    }

    /// Returns the number of values per row.
    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// Returns the number of values in which two rows agree.
    #[inline]
    pub(super) fn agreeing(self, rows: &RowLayout, a: &[u32], b: &[u32]) -> u32 {
        match rows.bit_rows() {
            None => self.kernel.equal_words(a, b) as u32,
            Some(_) => self.count - self.kernel.different_bits(rows.compared(a), rows.compared(b)) as u32,
        }
    }

    /// Returns the values in which two rows agree, as one bit per value.
    pub(super) fn agreement(rows: &RowLayout, a: &[u32], b: &[u32]) -> Vec<u32> {
        if rows.bit_rows().is_some() {
            return rows.compared(a).iter().zip(rows.compared(b)).map(|(a, b)| !(a ^ b)).collect();
        }
        let words = a.chunks(u32::BITS as usize).zip(b.chunks(u32::BITS as usize));
        words
            .map(|(a, b)| {
                let agree = a.iter().zip(b).map(|(a, b)| u32::from(a == b));
                agree.enumerate().fold(0, |word, (at, agrees)| word | agrees << at)
            })
            .collect()
    }

    /// Returns a key of some values of a row. Two rows that agree in these values share the key. Two rows that differ
    /// in these values share the key with a probability of 2⁻⁶⁴.
    #[inline]
    pub(super) fn key(rows: &RowLayout, row: &[u32], values: &[u32]) -> u64 {
        let value = |&at: &u32| match rows.bit_rows() {
            None => row[at as usize],
            Some(_) => rows.compared(row)[(at / u32::BITS) as usize] >> (at % u32::BITS) & 1,
        };
        // One multiplication per value is enough. The factor is odd, so that no value is lost.
        let mixed = |key: u64, at: &u32| {
            (key ^ u64::from(value(at))).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(29)
        };
        minwise::hash::fmix64(values.iter().fold(values.len() as u64, mixed))
    }

    /// Returns the mean and the standard deviation of the number of values in which two rows agree, if the similarity
    /// of their documents is the threshold.
    pub(super) fn at_threshold(self, rows: &RowLayout, threshold: f64) -> (f64, f64) {
        let Some(bits) = rows.bit_rows() else {
            let count = f64::from(self.count);
            return (count * threshold, (count * threshold * (1.0 - threshold)).sqrt());
        };
        // Bits at the end of a row that belong to no value always agree.
        let (mut mean, mut variance) = (f64::from(self.count), 0.0);
        for ((values, probability), layout) in bits.laws(threshold).zip(bits.values()) {
            // If two values differ, each of their bits differs with a probability of slightly more than one half.
            let (values, bits) = (values as f64, layout.bits() as f64);
            let differing = (1.0 - probability) * 2f64.powf(bits - 1.0) / (2f64.powf(bits) - 1.0);
            mean -= values * bits * differing;
            variance += values * bits * bits * differing * (1.0 - differing);
        }
        (mean, variance.sqrt())
    }
}

/// Shape of the bands of an audit: the number of bands, and the number of values per band. All bands are drawn
/// independently of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BandShape {
    pub bands: u32,
    pub values: u32,
}

impl BandShape {
    /// Returns the probability that two rows agree in one band, if they agree in `agreeing` of `count` values.
    pub(super) fn in_a_band(self, agreeing: u32, count: u32) -> f64 {
        if agreeing < self.values {
            return 0.0;
        }
        (0..self.values).map(|at| f64::from(agreeing - at) / f64::from(count - at)).product()
    }

    /// Returns the probability that two rows agree in at least one band, if they agree in `agreeing` of `count` values.
    pub(super) fn in_any(self, agreeing: u32, count: u32) -> f64 {
        self.any_of(self.in_a_band(agreeing, count))
    }

    /// Returns the probability that two pairs of rows both agree in at least one band. Each pair agrees in a number of
    /// values, `agreeing`, and `both` is the number of values in which both pairs agree.
    ///
    /// All pairs are looked up in the same bands. If two pairs agree in the same values, for instance because all
    /// documents contain a form, this probability exceeds the product of the two single probabilities.
    pub(super) fn in_any_both(self, agreeing: [u32; 2], both: u32, count: u32) -> f64 {
        let [a, b] = agreeing.map(|agreeing| self.in_a_band(agreeing, count));
        self.any_of(a) + self.any_of(b) - self.any_of(a + b - self.in_a_band(both, count))
    }

    /// Returns the probability that an event happens in at least one band, if it happens in each band with the
    /// probability `in_a_band`.
    fn any_of(self, in_a_band: f64) -> f64 {
        1.0 - (1.0 - in_a_band).powi(self.bands.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use minwise::candidate::Banding;
    use minwise::hash::{SplitMix64, fmix64};

    use super::*;
    use crate::audit::draw::subset;

    fn layout(bits: Option<&str>) -> RowLayout {
        let spec = "casefold / words:1 / minhash:128 / seed:1".parse().unwrap();
        let bits = bits.map(|bits| bits.parse().unwrap());
        RowLayout::new(&spec, Banding::new(16, 6, 128).unwrap(), bits).unwrap()
    }

    /// Returns two rows that agree in 102 of 128 registers. The agreeing registers are spread over the row.
    fn two(rows: &RowLayout, seed: u64) -> [Vec<u32>; 2] {
        let registers = |side: u64| {
            let side = move |at: u64| if at * 37 % 128 < 102 { 0 } else { side };
            (0..128).map(move |at| fmix64(seed << 32 | at << 8 | side(at)) as u32)
        };
        [1, 2].map(|side| {
            let mut row = vec![0; rows.words()];
            rows.store(&registers(side).collect::<Vec<u32>>(), &mut row);
            row
        })
    }

    /// Bands agree as often as the number of agreeing values predicts, in rows of every form.
    #[test]
    fn bands_agree_as_often_as_they_should() {
        for bits in [None, Some("1"), Some("2.5"), Some("0.5")] {
            let rows = layout(bits);
            let values = Values::new(&rows);
            let [a, b] = two(&rows, 1);
            let agreeing = values.agreeing(&rows, &a, &b);
            assert!(bits.is_some() || agreeing == 102);
            let shape = BandShape { bands: 1, values: 6 };
            let probability = shape.in_a_band(agreeing, values.count());
            let mut random = SplitMix64::new(5);
            let mut agreed = 0;
            for _ in 0..20_000 {
                let band = subset(0..values.count(), 6, &mut random);
                agreed += u32::from(Values::key(&rows, &a, &band) == Values::key(&rows, &b, &band));
            }
            let deviation = (20_000.0 * probability * (1.0 - probability)).sqrt();
            let off = f64::from(agreed) - 20_000.0 * probability;
            assert!(off.abs() < 4.0 * deviation, "{agreed} of {} with {bits:?}", 20_000.0 * probability);
        }
    }

    /// Two pairs of rows are found together as often as the values in which they agree predict.
    #[test]
    fn two_pairs_are_found_together_as_often_as_they_should() {
        for bits in [None, Some("1")] {
            let rows = layout(bits);
            let values = Values::new(&rows);
            let pairs = [two(&rows, 1), two(&rows, 2)];
            let masks = pairs.each_ref().map(|[a, b]| Values::agreement(&rows, a, b));
            let agreeing = pairs.each_ref().map(|[a, b]| values.agreeing(&rows, a, b));
            assert_eq!(masks.each_ref().map(|mask| ones(mask)), agreeing);
            let both: Vec<u32> = masks[0].iter().zip(&masks[1]).map(|(a, b)| a & b).collect();
            let shape = BandShape { bands: 2, values: 6 };
            let probability = shape.in_any_both(agreeing, ones(&both), values.count());
            // The two pairs differ in the same registers. If rows have only bits, some bits of differing registers
            // agree by chance.
            let product: f64 =
                agreeing.map(|agreeing| shape.in_any(agreeing, values.count())).iter().product();
            assert!(probability > product + 0.01, "{probability} {product}");
            let mut random = SplitMix64::new(9);
            let mut found = 0;
            for _ in 0..20_000 {
                let bands = [(); 2].map(|()| subset(0..values.count(), 6, &mut random));
                let is_found = |[a, b]: &[Vec<u32>; 2]| {
                    bands.iter().any(|band| Values::key(&rows, a, band) == Values::key(&rows, b, band))
                };
                found += u32::from(pairs.iter().all(is_found));
            }
            let deviation = (20_000.0 * probability * (1.0 - probability)).sqrt();
            let off = f64::from(found) - 20_000.0 * probability;
            assert!(off.abs() < 4.0 * deviation, "{found} of {} with {bits:?}", 20_000.0 * probability);
        }
    }

    fn ones(mask: &[u32]) -> u32 {
        mask.iter().map(|word| word.count_ones()).sum()
    }

    #[test]
    fn more_bands_find_more() {
        let [one, many] = [1, 16].map(|bands| BandShape { bands, values: 4 });
        assert_eq!(one.in_any(128, 128), 1.0);
        assert_eq!(one.in_any(3, 128), 0.0);
        let q = 102.0 * 101.0 * 100.0 * 99.0 / (128.0 * 127.0 * 126.0 * 125.0);
        assert!((one.in_any(102, 128) - q).abs() < 1e-12);
        assert!((many.in_any(102, 128) - (1.0 - (1.0 - q).powi(16))).abs() < 1e-12);
    }

    /// The mean number of agreeing values is correct for rows of every form.
    #[test]
    fn agreement_at_the_threshold() {
        for bits in [None, Some("1"), Some("2.5"), Some("0.5")] {
            let rows = layout(bits);
            let values = Values::new(&rows);
            let (mean, deviation) = values.at_threshold(&rows, 102.0 / 128.0);
            let agreeing: f64 = (0..400)
                .map(|seed| {
                    let [a, b] = two(&rows, seed);
                    f64::from(values.agreeing(&rows, &a, &b))
                })
                .sum::<f64>()
                / 400.0;
            assert!(
                (agreeing - mean).abs() < deviation / 2.0,
                "{agreeing} and {mean} ± {deviation} with {bits:?}"
            );
        }
    }
}
