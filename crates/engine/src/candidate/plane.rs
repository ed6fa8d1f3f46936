//! Planes: screen one sketch against many.
//!
//! A search of all pairs rejects nearly every pair by its first values. A [`Plane`] keeps the *head* of each sketch: up
//! to four bits of each of its first values, in the layout of [`heads`](minwise::kernel::compare::heads). A head takes
//! 8 to 32 bytes, and one core screens several 10⁹ pairs of heads per second. Two heads never differ in more values
//! than their sketches do, so [`Screen::rejects`] also rejects a pair whose heads differ too much. The few remaining
//! pairs are screened by their whole rows, so the result is exactly that of [`Screen::rejects`].
//!
use std::ops::Range;

use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::Heads;
use minwise::sketch::BitRows;

use crate::candidate::head::HeadRule;
use crate::candidate::screen::{Screen, Screened};
use crate::rows::RowLayout;

/// Sketches in a layout by which one sketch can be screened against many.
#[derive(Debug)]
pub(crate) struct Plane {
    screen: Screen,
    rule: HeadRule,
    heads: Heads,
    /// Compared words of all rows, row after row, in the order of comparison.
    compared: Vec<u32>,
    words: usize,
    /// Number of words of a row before the compared words.
    skipped: usize,
}

impl Plane {
    /// Creates an empty plane, or returns `None` if the screen rejects no pair.
    pub(crate) fn new(screen: &Screen, rows: &RowLayout) -> Option<Self> {
        let rule = screen.rule()?;
        let words = rows.bit_rows().map_or(rows.words(), BitRows::words);
        let skipped = rows.words() - words;
        Some(Self { screen: screen.clone(), rule, heads: rule.heads(), compared: vec![], words, skipped })
    }

    /// Creates an empty plane of the same form.
    pub(crate) fn empty(&self) -> Self {
        Self { screen: self.screen.clone(), heads: self.rule.heads(), compared: vec![], ..*self }
    }

    /// Adds a row that [`RowLayout::store`] wrote.
    pub(crate) fn push(&mut self, row: &[u32]) {
        let begin = self.compared.len();
        self.screen.extend_compared(&row[self.skipped..], &mut self.compared);
        self.rule.push(&self.compared[begin..], &mut self.heads);
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Removes all rows, but keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.compared.clear();
    }

    /// Returns the number of bytes per row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.head_bytes() + self.words * size_of::<u32>()
    }

    /// Returns the number of bytes per head. Most pairs are compared by their heads alone.
    pub(crate) fn head_bytes(&self) -> usize {
        self.heads.words() * size_of::<u64>()
    }

    /// Appends to `open`, in ascending order, the numbers of the rows in `range` that the screen does not reject
    /// against row `of` of `probes`. `probes` is this plane or another plane of the same form.
    pub(crate) fn screen(
        &self,
        range: Range<usize>,
        probes: &Self,
        of: usize,
        kernel: Kernel,
        open: &mut Vec<u32>,
        screened: &mut Screened,
    ) {
        let (begin, seen) = (open.len(), range.len());
        self.rule.screen(&probes.heads, of, &self.heads, range, kernel, open);
        let rejected = (seen - (open.len() - begin)) as u64;
        screened.merge(&Screened {
            pairs: rejected,
            compared: rejected * self.rule.compared() as u64,
            registers: rejected * self.screen.registers(),
        });
        let row = probes.row(of);
        let mut left = begin;
        for at in begin..open.len() {
            if !self.screen.rejects_compared(row, self.row(open[at] as usize), screened) {
                open[left] = open[at];
                left += 1;
            }
        }
        open.truncate(left);
    }

    /// Returns the compared words of a row.
    fn row(&self, row: usize) -> &[u32] {
        &self.compared[row * self.words..][..self.words]
    }
}

#[cfg(test)]
mod tests {
    use minwise::Spec;
    use minwise::candidate::Banding;
    use minwise::filter::ErrorBudget;
    use minwise::hash::SplitMix64;
    use minwise::sketch::Bits;
    use proptest::prelude::*;

    use super::*;

    /// Returns the registers of documents in three families. A document agrees with the first document of its family in
    /// some registers. The share of these registers differs between documents.
    fn registers(count: usize, registers: usize, seed: u64) -> Vec<Vec<u32>> {
        let mut random = SplitMix64::new(seed);
        let first: Vec<Vec<u32>> =
            (0..3).map(|_| (0..registers).map(|_| random.next_u32() >> 8).collect()).collect();
        let mut document = |number: usize| -> Vec<u32> {
            let share = (number * 37 % 101) as u32;
            let change = |&register: &u32| {
                let changed = random.next_u32();
                // Some registers differ only in one of the lower 16 bits.
                match changed % 100 < share {
                    false => register,
                    true if (changed >> 8).is_multiple_of(4) => register ^ 1 << (changed >> 16 & 15),
                    true => changed,
                }
            };
            first[number % 3].iter().map(change).collect()
        };
        (0..count).map(&mut document).collect()
    }

    fn check(method: &str, bits: Option<&str>, threshold: f64, looks: Option<&[usize]>, seed: u64) {
        let spec = Spec::default().with_method(method.parse().unwrap());
        let registers_of = spec.method.registers();
        let banding = Banding::new(2, 2, registers_of).unwrap();
        let bits: Option<Bits> = bits.map(|bits| bits.parse().unwrap());
        let rows = RowLayout::new(&spec, banding, bits).unwrap();
        let budget = ErrorBudget::Exact(1e-6);
        let screen = Screen::of(spec.method, threshold, budget, looks, &rows).unwrap();
        let Some(mut plane) = Plane::new(&screen, &rows) else {
            assert!(threshold < 0.8, "{method} {bits:?} at {threshold} has a filter");
            return;
        };
        let mut probes = plane.empty();
        let stored: Vec<Vec<u32>> = registers(61, registers_of, seed)
            .iter()
            .map(|registers| {
                let mut row = vec![0; rows.words()];
                rows.store(registers, &mut row);
                row
            })
            .collect();
        for row in &stored {
            plane.push(row);
        }
        stored[..5].iter().for_each(|row| probes.push(row));
        assert_eq!(plane.len(), stored.len());
        let mut both = [false; 2];
        for kernel in Kernel::available() {
            for (of, row) in stored.iter().enumerate() {
                let range = of % 7..stored.len() - of % 5;
                let expected: Vec<u32> = range
                    .clone()
                    .filter(|&other| {
                        let rejected = screen.rejects(&rows, row, &stored[other], &mut Screened::default());
                        both[usize::from(rejected)] = true;
                        !rejected
                    })
                    .map(|other| other as u32)
                    .collect();
                let mut screened = Screened::default();
                let mut open = vec![7];
                plane.screen(range.clone(), &plane, of, kernel, &mut open, &mut screened);
                assert_eq!(
                    (open[0], &open[1..]),
                    (7, &expected[..]),
                    "{method} {bits:?} {threshold} {kernel}"
                );
                assert_eq!(screened.pairs as usize, range.len() - expected.len());
                assert_eq!(screened.registers, range.len() as u64 * screen.registers());
                if of < probes.len() {
                    let mut again = vec![];
                    plane.screen(range, &probes, of, kernel, &mut again, &mut screened);
                    assert_eq!(again, expected);
                }
            }
        }
        // A quarter of a bit per register is too little for 256 registers to reject anything at a low threshold.
        let rejects = both[1] || threshold < 0.8;
        assert!(
            both[0] && rejects,
            "{method} {bits:?} {threshold}: some pairs are rejected, and some are not"
        );
        plane.clear();
        assert_eq!(plane.len(), 0);
        plane.push(&stored[3]);
        let mut open = vec![];
        plane.screen(0..1, &probes, 3, Kernel::detect(), &mut open, &mut Screened::default());
        assert_eq!(open, [0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn exactly_the_pairs_that_are_not_rejected_are_left_open(
            seed in any::<u64>(),
            threshold in prop::sample::select(vec![0.5, 0.7, 0.8, 0.95]),
        ) {
            for method in ["minhash:64", "minhash:100", "minhash:128", "super-minhash:256", "one-permutation:128", "one-permutation,rotation:128"] {
                check(method, None, threshold, None, seed);
            }
            for bits in ["1", "2", "3", "4", "7", "8", "9", "12", "16", "1.5", "2.25", "8.5", "0.5", "0.25"] {
                check("minhash:256", Some(bits), threshold, None, seed);
            }
        }

        #[test]
        fn looks_need_not_fill_words(
            seed in any::<u64>(),
            looks in prop::collection::btree_set(1..=200_usize, 1..6),
        ) {
            let looks: Vec<usize> = looks.into_iter().chain([200]).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            check("minhash:200", None, 0.8, Some(&looks), seed);
            for bits in ["1", "3", "8", "16", "1.5", "0.5"] {
                check("minhash:200", Some(bits), 0.8, Some(&looks), seed);
            }
        }
    }

    #[test]
    fn most_pairs_of_unlike_documents_end_with_their_heads() {
        for (bits, most_words, registers_of) in [(None, 4, 128), (Some("1"), 2, 1024), (Some("8"), 4, 128)] {
            let spec = Spec::default().with_method(format!("minhash:{registers_of}").parse().unwrap());
            let banding = Banding::new(2, 2, registers_of).unwrap();
            let rows = RowLayout::new(&spec, banding, bits.map(|bits| bits.parse().unwrap())).unwrap();
            let screen = Screen::of(spec.method, 0.8, ErrorBudget::Exact(1e-6), None, &rows).unwrap();
            let mut plane = Plane::new(&screen, &rows).unwrap();
            assert!(plane.heads.words() <= most_words, "{bits:?}: {:?}", plane.rule);
            let mut random = SplitMix64::new(5);
            let (mut row, count) = (vec![0; rows.words()], 2000);
            for _ in 0..count {
                let registers: Vec<u32> = (0..registers_of).map(|_| random.next_u32()).collect();
                rows.store(&registers, &mut row);
                plane.push(&row);
            }
            let mut open = vec![];
            for of in 0..50 {
                plane.rule.screen(&plane.heads, of, &plane.heads, 50..count, Kernel::detect(), &mut open);
            }
            assert!(open.len() < 50 * count / 100, "{bits:?}: {} pairs are left", open.len());
        }
    }

    #[test]
    fn a_screen_without_filter_has_no_plane() {
        let spec = Spec::default();
        let rows = RowLayout::new(&spec, Banding::new(2, 2, 128).unwrap(), None).unwrap();
        assert!(Plane::new(&Screen::none(), &rows).is_none());
    }
}
