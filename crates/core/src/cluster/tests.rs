//! Tests of the three clusterings against their definitions, on random similarities.

use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// Maximum number of documents per shelf: no limit.
const MOST: usize = usize::MAX;

/// Judge that reads similarities from a table and counts its answers.
#[derive(Debug)]
struct SimilarityTable {
    size: usize,
    similarities: Vec<f64>,
    threshold: f64,
    asked: usize,
    /// Documents that a scan compares with.
    put: Vec<u32>,
    scans: usize,
}

impl SimilarityTable {
    fn new(size: usize, similarities: Vec<f64>) -> Self {
        Self { size, similarities, threshold: 0.8, asked: 0, put: vec![], scans: 0 }
    }

    fn exact(&self, a: u32, b: u32) -> f64 {
        self.similarities[a.min(b) as usize * self.size + a.max(b) as usize]
    }
}

impl Judge for SimilarityTable {
    type Error = Infallible;

    /// Sketches rule out similarities up to 0.5.
    fn screen(&mut self, document: u32, others: &[u32], open: &mut Vec<u32>) -> Result<(), Infallible> {
        open.extend(others.iter().filter(|&&other| self.exact(document, other) > 0.5));
        Ok(())
    }

    fn put(&mut self, document: u32) -> Result<bool, Infallible> {
        // The scan takes 2,500 documents at most.
        let fits = self.put.len() < 2500;
        if fits {
            self.put.push(document);
        }
        Ok(fits)
    }

    fn scan(&mut self, documents: &[u32], open: &mut Vec<Vec<u32>>) -> Result<(), Infallible> {
        self.scans += documents.len();
        let put = self.put.clone();
        open.clear();
        for &document in documents {
            let mut left = vec![];
            self.screen(document, &put, &mut left)?;
            open.push(left);
        }
        Ok(())
    }

    /// Bounds rule out similarities below 0.7.
    fn bound(&mut self, document: u32, open: &mut Vec<u32>) -> Result<(), Infallible> {
        open.retain(|&other| self.exact(document, other) >= 0.7);
        Ok(())
    }

    fn together(&self) -> usize {
        300
    }

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Infallible> {
        self.asked += 1;
        Ok(Some(self.exact(a, b)).filter(|&similarity| similarity >= self.threshold))
    }

    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.extend((0..self.size as u32).filter(|&other| other != document));
        Ok(())
    }

    fn shelves(&mut self, _: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.push(0);
        Ok(())
    }
}

/// Returns a neighbourhood with all documents on one shelf, so that every pair is a candidate.
fn everyone(size: usize) -> Neighbourhood {
    let members: Vec<u32> = (0..size as u32).collect();
    Neighbourhood::new(size, [&members[..]].into_iter())
}

/// Returns three neighbourhoods in which every pair is a candidate: with shelves here, with shelves in the judge, and
/// with listed pairs.
fn ways(size: usize) -> [Neighbourhood; 3] {
    [everyone(size), Neighbourhood::of_shelves(size, 1), Neighbourhood::of_pairs(size)]
}

fn table(size: usize) -> impl Strategy<Value = SimilarityTable> {
    // Few distinct values, so ties occur.
    proptest::collection::vec(0u8..10, size * size).prop_map(move |values| {
        SimilarityTable::new(size, values.into_iter().map(|value| f64::from(value) / 10.0).collect())
    })
}

/// Computes stars by their definition: each document in order is compared with all kept documents before it.
fn star_by_definition(table: &SimilarityTable, visits: &[u32], given: u32) -> Vec<Verdict> {
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
        // The first visits of all documents are ascending; repeated visits lie between them.
        let mut visits: Vec<u32> = vec![];
        let mut random = crate::hash::SplitMix64::new(order);
        for document in 0..12 {
            visits.push(document);
            visits.extend(repeats.iter().filter(|&&other| other <= document && random.next_u64().is_multiple_of(3)));
        }
        let expected = star_by_definition(&table, &visits, given);
        for neighbourhood in ways(12) {
            let verdicts = star(&neighbourhood.with_given(given), &visits, MOST, &mut table, |_| {}).unwrap();
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
            prop_assert_eq!(&components(&neighbourhood.with_given(given), MOST, &mut table, |_| {}).unwrap(), &expected);
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
            let note = |pair: &SimilarDocuments<'_>| {
                found.push((pair.earlier, pair.document, pair.similarity));
                Ok(())
            };
            pairs(&neighbourhood, |document| wanted[document as usize], MOST, &mut table, note).unwrap();
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn a_pair_on_several_shelves_is_judged_once() {
    let shelves: [&[u32]; 3] = [&[0, 1, 2], &[0, 1], &[1, 2]];
    let neighbourhood = Neighbourhood::new(3, shelves.into_iter());
    let mut table = SimilarityTable::new(3, vec![0.9; 9]);
    let mut found = 0;
    let count = |_: &SimilarDocuments<'_>| {
        found += 1;
        Ok(())
    };
    pairs(&neighbourhood, |_| true, MOST, &mut table, count).unwrap();
    assert_eq!((table.asked, found), (3, 3));
}

#[test]
fn a_large_family_costs_one_comparison_a_document() {
    let size = 2000;
    let mut table = SimilarityTable::new(size, vec![0.9; size * size]);
    let visits: Vec<u32> = (0..size as u32).collect();
    star(&everyone(size), &visits, MOST, &mut table, |_| {}).unwrap();
    assert_eq!(table.asked, size - 1);
    table.asked = 0;
    components(&everyone(size), MOST, &mut table, |_| {}).unwrap();
    assert_eq!((table.asked, table.scans), (size - 1, 0));
}

/// Returns documents that share shelves with many others but are mostly not similar, with shelves here and in the
/// judge.
fn crowd(size: usize) -> (Neighbourhood, Neighbourhood, SimilarityTable) {
    let mut random = crate::hash::SplitMix64::new(7);
    // A twentieth of the pairs is similar, and the sketches rule out two thirds.
    let values = (0..size * size).map(|_| match random.next_u64() % 60 {
        0..3 => 0.9,
        3..20 => 0.6,
        _ => 0.1,
    });
    let table = SimilarityTable::new(size, values.collect());
    // Each document is on two of seven shelves, or on one.
    let shelves: Vec<Vec<u32>> =
        (0..7).map(|shelf| (0..size as u32).filter(|n| n % 7 == shelf || n % 5 == shelf).collect()).collect();
    let here = Neighbourhood::new(size, shelves.iter().map(Vec::as_slice));
    (here, Neighbourhood::of_shelves(size, 7), table)
}

/// Judge with a similarity table, which also has the shelves of [`crowd`].
struct Elsewhere(SimilarityTable);

impl Judge for Elsewhere {
    type Error = Infallible;

    fn screen(&mut self, document: u32, others: &[u32], open: &mut Vec<u32>) -> Result<(), Infallible> {
        self.0.screen(document, others, open)
    }

    fn put(&mut self, document: u32) -> Result<bool, Infallible> {
        self.0.put(document)
    }

    fn scan(&mut self, documents: &[u32], open: &mut Vec<Vec<u32>>) -> Result<(), Infallible> {
        self.0.scan(documents, open)
    }

    fn bound(&mut self, document: u32, open: &mut Vec<u32>) -> Result<(), Infallible> {
        self.0.bound(document, open)
    }

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Infallible> {
        self.0.similarity(a, b)
    }

    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        self.0.partners(document, out)
    }

    fn shelves(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Infallible> {
        out.extend([document % 5, document % 7]);
        out.sort_unstable();
        out.dedup();
        Ok(())
    }
}

/// Reports whether two documents meet: a shelf has both, and the earlier one is among the first `most` documents put on
/// it.
fn meet(a: u32, b: u32, most: usize, is_put: &dyn Fn(u32) -> bool) -> bool {
    let on = |document: u32, shelf: u32| document % 5 == shelf || document % 7 == shelf;
    let (earlier, later) = (a.min(b), a.max(b));
    (0..7).any(|shelf| {
        let before = (0..earlier).filter(|&other| on(other, shelf) && is_put(other)).count();
        on(earlier, shelf) && on(later, shelf) && before < most
    })
}

#[test]
fn a_crowd_is_scanned_and_the_pairs_are_those_of_the_shelves() {
    let size = 3000;
    for most in [MOST, 300] {
        let (here, elsewhere, mut table) = crowd(size);
        let mut expected = vec![];
        for b in 0..size as u32 {
            for a in 0..b {
                if table.exact(a, b) >= 0.8 && meet(a, b, most, &|_| true) {
                    expected.push((a, b));
                }
            }
        }
        let mut found = vec![];
        pairs(
            &here,
            |_| true,
            most,
            &mut table,
            |pair| {
                found.push((pair.earlier, pair.document));
                Ok(())
            },
        )
        .unwrap();
        assert!(found == expected, "{} pairs of {}", found.len(), expected.len());
        assert!(table.scans > size / 4, "{} documents scanned", table.scans);
        let mut judge = Elsewhere(crowd(size).2);
        let mut found = vec![];
        pairs(
            &elsewhere,
            |_| true,
            most,
            &mut judge,
            |pair| {
                found.push((pair.earlier, pair.document));
                Ok(())
            },
        )
        .unwrap();
        assert!(found == expected, "{} pairs of {}", found.len(), expected.len());

        let mut forest = Forest::new(size);
        for &(a, b) in &expected {
            forest.join(a, b);
        }
        let first: Vec<u32> = (0..size as u32).map(|document| forest.first(document)).collect();
        let mut table = crowd(size).2;
        assert!(components(&here, most, &mut table, |_| {}).unwrap() == first);
    }
}

#[test]
fn a_star_in_a_crowd_is_what_its_definition_says() {
    let size = 3000;
    let (here, _, mut table) = crowd(size);
    // With so few similar pairs, most documents are kept and form a crowd.
    for (at, similarity) in table.similarities.iter_mut().enumerate() {
        if *similarity > 0.8 && at % 40 != 0 {
            *similarity = 0.75;
        }
    }
    let mut kept: Vec<bool> = vec![];
    let mut expected = vec![];
    for document in 0..size as u32 {
        let is_kept = |other: u32| kept[other as usize];
        let mut best: Option<(u32, f64)> = None;
        for other in (0..document).filter(|&other| is_kept(other)) {
            let similarity = table.exact(document, other);
            if similarity >= 0.8 && meet(document, other, 700, &is_kept) && best.is_none() {
                best = Some((other, similarity));
            }
        }
        kept.push(best.is_none());
        expected.push(best.map_or(Verdict::Kept, |(of, similarity)| Verdict::Duplicate { of, similarity }));
    }
    let visits: Vec<u32> = (0..size as u32).collect();
    let verdicts = star(&here, &visits, 700, &mut table, |_| {}).unwrap();
    assert!(verdicts == expected);
    assert!(table.scans > 0, "nothing was scanned");
}

#[test]
fn strangers_are_linear_work_once_the_shelf_is_full() {
    let size = 600;
    let mut table = SimilarityTable::new(size, vec![0.75; size * size]);
    let visits: Vec<u32> = (0..size as u32).collect();
    star(&everyone(size), &visits, 32, &mut table, |_| {}).unwrap();
    assert!(table.asked <= 32 * size, "{}", table.asked);
}

#[test]
fn a_full_shelf_is_told() {
    let size = 40;
    let mut table = SimilarityTable::new(size, vec![0.1; size * size]);
    table.similarities[6 * size + 39] = 0.9;
    let visits: Vec<u32> = (0..size as u32).collect();
    let mut seen = vec![];
    star(&everyone(size), &visits, 26, &mut table, |pair| seen.push((pair.earlier, pair.shares.to_vec())))
        .unwrap();
    assert_eq!(seen, [(6, vec![26.0 / 39.0])]);
}

#[test]
fn text_forms_round_trip() {
    for form in ["star", "components"] {
        assert_eq!(form.parse::<Clustering>().unwrap().to_string(), form);
    }
    assert!("ring".parse::<Clustering>().is_err());
}
