//! Winnowing: chooses a few shingles of a document, so that every long shared run contains a chosen one.
//!
//! - **Paper.** Schleimer, Wilkerson and Aiken, *Winnowing: local algorithms for document fingerprinting*, SIGMOD 2003;
//!   robust winnowing, section 4.
//! - **Idea.** Of every w consecutive shingles (a window), the shingle with the least hash is chosen. A shingle that is
//!   the least of several windows is chosen once. A run that two documents share has the same windows in both
//!   documents, so the same shingles of the run are chosen in both.
//! - **Symbols.** k → the size of a shingle, t → `passage` (the guarantee), w → t − k + 1 shingles.
//! - **Cost.** O(n) for n shingles; if their hashes are random, a share of 2 / (w + 1) of the shingles is chosen.
//! - **Error.** None: at least one common shingle is chosen in every shared run of at least `passage` units. A document
//!   with fewer shingles than a window is treated as one window.
//! - **Differs.** The paper hashes text. In this crate shingles are hashes already, so they are compared directly.
//! - **Vectors.** The golden values are our own.

use crate::error::Error;
use crate::shingle::Shingling;

/// A shingle that winnowing chose, with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that indexes store and make again")]
pub struct Fingerprint {
    /// The shingle.
    pub shingle: u64,
    /// Position of the shingle: the index of its first unit.
    pub at: u32,
}

/// Rule that chooses the fingerprints of a document, for one length of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Winnow {
    window: usize,
}

impl Winnow {
    /// Creates a rule whose fingerprints hit every shared run of `passage` units.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `passage` is less than the number of units
    /// of a shingle.
    pub fn new(shingling: Shingling, passage: usize) -> Result<Self, Error> {
        match passage.checked_sub(shingling.size()) {
            Some(more) => Ok(Self { window: more + 1 }),
            None => Err(Error::out_of_range(
                "the length of a passage",
                passage,
                &format!("at least the {} units of a shingle", shingling.size()),
            )),
        }
    }

    /// Returns the number of shingles per window.
    #[must_use]
    pub fn window(&self) -> usize {
        self.window
    }

    /// Replaces the content of `out` by the fingerprints of a document, given its shingles in order.
    ///
    /// If several shingles of a window are equally small, and one of these shingles was chosen for the window before,
    /// that shingle stays chosen. Otherwise the last of these shingles is chosen. A text that repeats itself therefore
    /// has one fingerprint per window length and not one per shingle.
    pub fn choose_into(&self, shingles: &[u64], out: &mut Vec<Fingerprint>) {
        out.clear();
        let mut chosen: Option<usize> = None;
        let windows = shingles.len().saturating_sub(self.window) + usize::from(!shingles.is_empty());
        for start in 0..windows {
            let end = (start + self.window).min(shingles.len());
            let next = match chosen {
                // The last choice is still in the window, so only the one new shingle can be smaller.
                Some(at) if at >= start => {
                    if shingles[end - 1] < shingles[at] {
                        end - 1
                    } else {
                        at
                    }
                }
                _ => last_least(&shingles[start..end]) + start,
            };
            if chosen != Some(next) {
                chosen = Some(next);
                out.push(Fingerprint { shingle: shingles[next], at: next as u32 });
            }
        }
    }
}

/// Returns the index of the smallest value; of equal values, the index of the last.
fn last_least(window: &[u64]) -> usize {
    let mut least = 0;
    for (at, shingle) in window.iter().enumerate() {
        if *shingle <= window[least] {
            least = at;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn choose(window: usize, shingles: &[u64]) -> Vec<Fingerprint> {
        let mut out = vec![];
        Winnow { window }.choose_into(shingles, &mut out);
        out
    }

    #[test]
    fn the_example_of_the_paper() {
        // Figure 2: hashes of the 5-grams of "adorunrunrunadorunrun", windows of 4.
        let hashes = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98];
        let chosen: Vec<(u64, u32)> = choose(4, &hashes).iter().map(|f| (f.shingle, f.at)).collect();
        assert_eq!(chosen, [(17, 3), (17, 6), (8, 8), (39, 11), (17, 15)]);
    }

    #[test]
    fn a_passage_is_no_shorter_than_a_shingle() {
        let shingling = Shingling::default();
        assert_eq!(Winnow::new(shingling, 25).unwrap().window(), 21);
        assert_eq!(Winnow::new(shingling, 5).unwrap().window(), 1);
        let error = Winnow::new(shingling, 4).unwrap_err().to_string();
        assert!(error.contains("at least the 5 units of a shingle"), "{error}");
    }

    #[test]
    fn short_documents_are_one_window() {
        assert!(choose(4, &[]).is_empty());
        assert_eq!(choose(4, &[7]), [Fingerprint { shingle: 7, at: 0 }]);
        assert_eq!(choose(4, &[7, 3, 9]), [Fingerprint { shingle: 3, at: 1 }]);
    }

    #[test]
    fn what_repeats_itself_is_chosen_once_a_window() {
        let chosen: Vec<u32> = choose(5, &[9; 20]).iter().map(|f| f.at).collect();
        assert_eq!(chosen, [4, 9, 14, 19]);
    }

    #[test]
    fn two_in_w_plus_one_are_chosen() {
        let shingles: Vec<u64> = (0..400_000).map(fmix64).collect();
        for window in [1, 5, 21, 100] {
            let share = choose(window, &shingles).len() as f64 / shingles.len() as f64;
            let expected = 2.0 / (window as f64 + 1.0);
            // Two neighbouring choices are at most `window` apart, so the number of choices among n shingles deviates
            // by less than √(n·window).
            let error = (window as f64 / shingles.len() as f64).sqrt();
            assert!((share - expected).abs() <= 4.0 * error * expected, "{window}: {share}");
        }
    }

    proptest! {
        #[test]
        fn every_window_has_a_fingerprint_and_it_is_its_least(
            shingles in proptest::collection::vec(0u64..20, 0..80),
            window in 1usize..9,
        ) {
            let chosen = choose(window, &shingles);
            prop_assert!(chosen.is_sorted_by(|a, b| a.at < b.at));
            for window in shingles.windows(window).zip(0u32..).map(|(window, start)| (start, window)) {
                let (start, shingles) = window;
                let inside = start..start + shingles.len() as u32;
                let least = shingles.iter().min().unwrap();
                prop_assert!(chosen.iter().any(|f| inside.contains(&f.at) && f.shingle == *least));
            }
        }

        #[test]
        fn a_shared_run_has_a_common_fingerprint(
            left in proptest::collection::vec(0u64..50, 0..40),
            run in proptest::collection::vec(0u64..50, 1..40),
            right in proptest::collection::vec(0u64..50, 0..40),
            window in 1usize..12,
        ) {
            let run: Vec<u64> = run.into_iter().map(fmix64).collect();
            let around = |side: &[u64], salt: u64| side.iter().map(|&x| fmix64(x + salt)).collect::<Vec<_>>();
            let a = [around(&left, 1000), run.clone(), around(&right, 2000)].concat();
            let b = [around(&right, 3000), run.clone(), around(&left, 4000)].concat();
            let of = |shingles: &[u64]| choose(window, shingles).iter().map(|f| f.shingle).collect::<HashSet<_>>();
            prop_assert!(run.len() < window || !of(&a).is_disjoint(&of(&b)));
        }
    }
}
