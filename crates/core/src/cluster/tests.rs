//! The three clusterings against their definitions, on random similarities.

use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::candidate::shelf::{Limits, Narrowing};

const LIMITS: Limits = Limits { most: 1000, splits: 0, registers: 2, full: usize::MAX };

/// Similarities written down in a table; counts how often it is asked.
#[derive(Debug)]
struct Table {
    size: usize,
    similarities: Vec<f64>,
    threshold: f64,
    asked: usize,
}

impl Table {
    fn exact(&self, a: u32, b: u32) -> f64 {
        self.similarities[a.min(b) as usize * self.size + a.max(b) as usize]
    }
}

impl Judge for Table {
    type Error = Infallible;

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Infallible> {
        self.asked += 1;
        Ok(Some(self.exact(a, b)).filter(|&similarity| similarity >= self.threshold))
    }

    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.extend((0..self.size as u32).filter(|&other| other != document));
        Ok(())
    }

    fn split_key(&mut self, document: u32, _: u32, _: usize) -> Result<u64, Infallible> {
        Ok(u64::from(document % 7))
    }

    fn shelves(&mut self, _: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.push(0);
        Ok(())
    }
}

/// All documents on one shelf, so that every pair is a candidate.
fn everyone(size: usize) -> Neighbourhood {
    let members: Vec<u32> = (0..size as u32).collect();
    Neighbourhood::new(size, [(0, &members[..])].into_iter())
}

/// Every pair is a candidate, found on a shelf or listed.
fn ways(size: usize) -> [Neighbourhood; 3] {
    [everyone(size), Neighbourhood::of_shelves(size, vec![0]), Neighbourhood::of_pairs(size)]
}

fn table(size: usize) -> impl Strategy<Value = Table> {
    // Few distinct values, so that ties occur.
    proptest::collection::vec(0u8..10, size * size).prop_map(move |values| Table {
        size,
        similarities: values.into_iter().map(|value| f64::from(value) / 10.0).collect(),
        threshold: 0.8,
        asked: 0,
    })
}

/// The definition of star: documents in order, each against all kept before it.
fn star_by_definition(table: &Table, visits: &[u32], given: u32) -> Vec<Verdict> {
    let mut kept: Vec<u32> = vec![];
    let mut verdicts = vec![];
    for &document in visits {
        let similarity = |other: u32| if other == document { 1.0 } else { table.exact(document, other) };
        let best = kept
            .iter()
            .filter(|&&other| document >= given || other == document)
            .map(|&other| (other, similarity(other)))
            .filter(|pair| pair.1 >= table.threshold)
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        verdicts.push(if let Some((of, similarity)) = best {
            Verdict::Duplicate { of, similarity }
        } else {
            kept.push(document);
            Verdict::Kept
        });
    }
    verdicts
}

proptest! {
    #[test]
    fn star_is_what_its_definition_says(
        mut table in table(12),
        repeats in proptest::collection::vec(0u32..12, 0..12),
        order in any::<u64>(),
        given in 0u32..5,
    ) {
        // First visits ascending, repeats of earlier ones strewn in behind them.
        let mut visits: Vec<u32> = vec![];
        let mut random = crate::hash::SplitMix64::new(order);
        for document in 0..12 {
            visits.push(document);
            visits.extend(repeats.iter().filter(|&&other| other <= document && random.next_u64().is_multiple_of(3)));
        }
        let expected = star_by_definition(&table, &visits, given);
        for neighbourhood in ways(12) {
            let verdicts = star(&neighbourhood.with_given(given), &visits, LIMITS, &mut table, |_| {}).unwrap();
            prop_assert_eq!(&verdicts, &expected);
        }
    }

    #[test]
    fn components_are_the_transitive_closure(mut table in table(14), given in 0u32..5) {
        let mut forest = Forest::new(14);
        for a in 0..14 {
            for b in a + 1..14 {
                if b >= given && table.exact(a, b) >= 0.8 {
                    forest.join(a, b);
                }
            }
        }
        let expected: Vec<u32> = (0..14).map(|document| forest.first(document)).collect();
        for neighbourhood in ways(14) {
            prop_assert_eq!(&components(&neighbourhood.with_given(given), LIMITS, &mut table, |_| {}).unwrap(), &expected);
        }
    }

    #[test]
    fn pairs_are_all_that_reach_the_threshold(mut table in table(10), wanted in proptest::collection::vec(any::<bool>(), 10)) {
        let mut expected = vec![];
        for b in 0..10u32 {
            for a in 0..b {
                if (wanted[a as usize] || wanted[b as usize]) && table.exact(a, b) >= 0.8 {
                    expected.push((a, b, table.exact(a, b)));
                }
            }
        }
        for neighbourhood in ways(10) {
            let mut found = vec![];
            let note = |pair: &Found<'_>| {
                found.push((pair.earlier, pair.document, pair.similarity));
                Ok(())
            };
            pairs(&neighbourhood, |document| wanted[document as usize], LIMITS, &mut table, note).unwrap();
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn a_pair_on_several_shelves_is_judged_once() {
    let shelves: [(u32, &[u32]); 3] = [(0, &[0, 1, 2]), (1, &[0, 1]), (2, &[1, 2])];
    let neighbourhood = Neighbourhood::new(3, shelves.into_iter());
    let mut table = Table { size: 3, similarities: vec![0.9; 9], threshold: 0.8, asked: 0 };
    let mut found = 0;
    let count = |_: &Found<'_>| {
        found += 1;
        Ok(())
    };
    pairs(&neighbourhood, |_| true, LIMITS, &mut table, count).unwrap();
    assert_eq!((table.asked, found), (3, 3));
}

#[test]
fn a_large_family_costs_one_comparison_a_document() {
    let size = 2000;
    let mut table = Table { size, similarities: vec![0.9; size * size], threshold: 0.8, asked: 0 };
    let visits: Vec<u32> = (0..size as u32).collect();
    let limits = Limits { most: 8, ..LIMITS };
    star(&everyone(size), &visits, limits, &mut table, |_| {}).unwrap();
    assert_eq!(table.asked, size - 1);
    table.asked = 0;
    components(&everyone(size), LIMITS, &mut table, |_| {}).unwrap();
    assert!(table.asked < 2 * size, "{}", table.asked);
}

#[test]
fn a_full_shelf_of_strangers_is_split_and_the_split_is_told() {
    let size = 70;
    let mut table = Table { size, similarities: vec![0.1; size * size], threshold: 0.8, asked: 0 };
    // The last one repeats a stranger with the same split key, and one with another.
    table.similarities[6 * size + 69] = 0.9;
    table.similarities[5 * size + 69] = 0.95;
    let visits: Vec<u32> = (0..size as u32).collect();
    let limits = Limits { most: 20, splits: 1, registers: 2, full: usize::MAX };
    let mut seen = vec![];
    let verdicts = star(&everyone(size), &visits, limits, &mut table, |pair| {
        seen.push((pair.earlier, pair.narrowed.to_vec()));
    })
    .unwrap();
    assert_eq!(verdicts[69], Verdict::Duplicate { of: 6, similarity: 0.9 });
    assert_eq!(seen, [(6, vec![Narrowing { registers: 2, share: 1.0 }])]);
    assert!(table.asked < 70 * 20, "{}", table.asked);
}

#[test]
fn strangers_that_cannot_be_told_apart_are_linear_work() {
    let size = 600;
    let mut table = Table { size, similarities: vec![0.7; size * size], threshold: 0.8, asked: 0 };
    let visits: Vec<u32> = (0..size as u32).collect();
    let limits = Limits { most: 8, splits: 0, registers: 2, full: 32 };
    star(&everyone(size), &visits, limits, &mut table, |_| {}).unwrap();
    assert!(table.asked <= 32 * size, "{}", table.asked);
}

#[test]
fn text_forms_round_trip() {
    for form in ["star", "components"] {
        assert_eq!(form.parse::<Cluster>().unwrap().to_string(), form);
    }
    assert!("ring".parse::<Cluster>().is_err());
}
