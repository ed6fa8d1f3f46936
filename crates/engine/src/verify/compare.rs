//! Compares two documents: exact similarities, the estimate of their sketches, and the passages that they share.

use std::ops::Range;

use minwise::Spec;
use minwise::estimate::Estimate;
use minwise::shingle::{Shingles, UnitRanges};
use minwise::sketch::Method;
use minwise::sketch::weighted::WeightedMethod;
use minwise::verify::passages::{Passage, shared_passages};

use crate::error::Error;
use crate::read::prepare::{DocumentSet, Preparation, Prepared};
use crate::weigh::WeightTables;

/// Comparison of two documents: exact similarities, the estimate of their sketches, and the passages that they share.
///
/// The fields have the names of `minwise compare --format jsonl` and of `POST /pair` of the server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Exact Jaccard similarity, weighted if the spec has weights. If a document has no shingles, the similarity is 1
    /// if the normalised texts are equal, else 0.
    pub similarity: f64,
    /// Exact share of the left document's shingles that the right document has.
    pub containment_of_left: f64,
    /// Exact share of the right document's shingles that the left document has.
    pub containment_of_right: f64,
    /// Estimate of the sketches, or `None` if a document has no shingles.
    pub estimate: Option<Estimate>,
    /// Passages that both documents share, longest first.
    pub passages: Vec<ComparedPassage>,
}

/// Passage that two documents share.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComparedPassage {
    /// Length of the passage in tokens, or in characters if shingles are made of characters.
    pub tokens: usize,
    /// Byte range of the passage in the left text.
    pub left: Range<usize>,
    /// Byte range of the passage in the right text.
    pub right: Range<usize>,
}

/// Estimate of one kind of sketch for two documents, with the exact value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SketchComparison {
    /// Kind of the sketch.
    pub method: Method,
    /// Estimate, or `None` if a document has no shingles.
    pub estimate: Option<Estimate>,
    /// Exact value that the sketch estimates.
    pub exact: f64,
}

/// Compares two texts by every kind of sketch that the weights of the spec allow. Each sketch has about `size`
/// registers or stored bits.
///
/// # Errors
/// Fails for the same reasons as [`Preparation::new`], and with [`ErrorKind::Spec`](crate::ErrorKind::Spec) if a sketch
/// cannot have `size` registers.
pub fn compare_all(
    left: &str,
    right: &str,
    spec: &Spec,
    weighing: &WeightTables,
    size: usize,
) -> Result<Vec<SketchComparison>, Error> {
    let preparation = Preparation::new(spec, weighing)?;
    let mut rooms = [Prepared::default(), Prepared::default()];
    let sets = [0, 1].map(|side| preparation.set([left, right][side], &mut rooms[side]));
    let [a, b] = &rooms;
    let equal = f64::from(u8::from(a.shingles.equality_key() == b.shingles.equality_key()));
    let without = |method| SketchComparison { method, estimate: None, exact: equal };
    let is_empty = sets.iter().any(DocumentSet::is_empty);
    let mut all = vec![];
    if let [DocumentSet::Weighted(a), DocumentSet::Weighted(b)] = &sets {
        let sets = [a, b];
        for weighted in WeightedMethod::all(size) {
            let (method, sketcher) = (Method::Weighted(weighted), weighted.build(spec.seed)?);
            if is_empty {
                all.push(without(method));
                continue;
            }
            let [left, right] = sets.map(|set| {
                let mut row = vec![0; sketcher.words()];
                sketcher.sketch_into(set, &mut row);
                row
            });
            let estimate = Some(sketcher.estimate(&left, &right));
            all.push(SketchComparison { method, estimate, exact: sketcher.exact(sets[0], sets[1]) });
        }
        return Ok(all);
    }
    let sets = [a, b].map(|room| preparation.in_order(room));
    for method in Method::all(size) {
        if is_empty {
            all.push(without(method));
            continue;
        }
        let sketcher = method.build(spec.seed)?;
        let [left, right] = sets.map(|shingles| {
            let mut row = vec![0; sketcher.words()];
            sketcher.sketch_into(shingles, &mut row);
            row
        });
        let estimate = Some(sketcher.estimate(&left, &right));
        all.push(SketchComparison { method, estimate, exact: sketcher.exact(sets[0], sets[1]) });
    }
    Ok(all)
}

/// Compares two texts, with the tables that the weights of the spec need.
///
/// # Errors
/// Fails for the same reasons as [`Preparation::new`].
pub fn compare(left: &str, right: &str, spec: &Spec, weighing: &WeightTables) -> Result<Comparison, Error> {
    Ok(Preparation::new(spec, weighing)?.compare(left, right))
}

impl Preparation {
    /// Compares two texts: exact similarity, the estimate of their sketches, and the passages that both share.
    #[must_use]
    pub fn compare(&self, left: &str, right: &str) -> Comparison {
        compare_prepared(left, right, self)
    }
}

fn compare_prepared(left: &str, right: &str, preparation: &Preparation) -> Comparison {
    let a = Read::new(left, preparation);
    let b = Read::new(right, preparation);
    if a.set.is_empty() || b.set.is_empty() {
        let same = f64::from(u8::from(a.equality_key == b.equality_key));
        return Comparison {
            similarity: same,
            containment_of_left: same,
            containment_of_right: same,
            estimate: None,
            passages: vec![],
        };
    }
    let [similarity, containment_of_left, containment_of_right] = a.set.relation(&b.set);
    let size = preparation.spec().shingling.size();
    let mut passages: Vec<ComparedPassage> = shared_passages(a.shingles.hashes(), b.shingles.hashes())
        .into_iter()
        .filter_map(|Passage { left, right, shingles, .. }| {
            // A document shorter than a shingle is one shingle of all its units.
            let tokens = (shingles + size - 1).min(a.shingles.units());
            Some(ComparedPassage {
                tokens,
                left: a.places.span(left, left + tokens - 1)?,
                right: b.places.span(right, right + tokens - 1)?,
            })
        })
        .collect();
    passages.sort_by_key(|passage| (usize::MAX - passage.tokens, passage.left.start));
    Comparison {
        similarity,
        containment_of_left,
        containment_of_right,
        estimate: Some(preparation.estimate(&a.sketch, &b.sketch)),
        passages,
    }
}

struct Read {
    shingles: Shingles,
    places: UnitRanges,
    set: DocumentSet,
    sketch: Vec<u32>,
    equality_key: u128,
}

impl Read {
    fn new(text: &str, preparation: &Preparation) -> Self {
        let mut room = Prepared::default();
        let set = preparation.set(text, &mut room);
        let mut sketch = vec![0; preparation.words()];
        preparation.write_sketch(&room, &mut sketch);
        let mut shingles = Shingles::new();
        let places = preparation.shingler().shingle_with_places_into(text, &mut shingles);
        Self { places, set, sketch, equality_key: shingles.equality_key(), shingles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(left: &str, right: &str) -> Comparison {
        let spec = "nfkc+casefold / words:3 / minhash:128 / seed:1".parse().unwrap();
        compare(left, right, &spec, &WeightTables::default()).unwrap()
    }

    #[test]
    fn a_moved_sentence() {
        let left = "One, TWO three four. Five six seven eight!";
        let right = "five six seven eight; one two three four";
        let result = comparison(left, right);
        assert_eq!(result.similarity, 4.0 / 8.0);
        let texts: Vec<(&str, &str)> = result
            .passages
            .iter()
            .map(|passage| (&left[passage.left.clone()], &right[passage.right.clone()]))
            .collect();
        assert_eq!(
            texts,
            [("One, TWO three four", "one two three four"), ("Five six seven eight", "five six seven eight")]
        );
        assert_eq!(result.passages[0].tokens, 4);
    }

    #[test]
    fn a_part_of_a_whole() {
        let result = comparison("a b c d e f g h", "b c d e");
        assert_eq!((result.containment_of_left, result.containment_of_right), (2.0 / 6.0, 1.0));
    }

    #[test]
    fn short_and_empty_texts() {
        let short = comparison("Two words", "two WORDS!");
        assert_eq!(short.similarity, 1.0);
        assert_eq!(short.passages, [ComparedPassage { tokens: 2, left: 0..9, right: 0..9 }]);
        assert_eq!(comparison("two words", "two words more").similarity, 0.0);
        assert_eq!(comparison("", "  ").similarity, 1.0);
        assert_eq!(comparison("!", "?").similarity, 0.0);
        assert_eq!(comparison("", "a b c").similarity, 0.0);
        assert!(comparison("", "").estimate.is_none());
    }

    #[test]
    fn every_sketch_estimates_its_own_exact_value() {
        let words: Vec<String> = (0..400).map(|i| format!("w{i}")).collect();
        let (left, right) = (words.join(" "), words[40..].join(" "));
        let spec = "nfkc+casefold / words:3 / minhash:128 / seed:1".parse().unwrap();
        let compare_all = |left: &str, right: &str, spec: &Spec| {
            compare_all(left, right, spec, &WeightTables::default(), 1024).unwrap()
        };
        let all = compare_all(&left, &right, &spec);
        assert!(all.len() > 30);
        for SketchComparison { method, estimate, exact } in all {
            let estimate = estimate.unwrap();
            let away = (estimate.value - exact).abs();
            assert!(away <= 4.5 * estimate.standard_error, "{method}: {estimate} against {exact}");
        }
        let none = compare_all("", "!", &spec);
        assert!(none.iter().all(|comparison| comparison.estimate.is_none() && comparison.exact == 0.0));

        // Weighted sets have their own kinds of sketches.
        let spec: Spec = "nfkc+casefold / words:3 / icws:128 / seed:1 / weight:count".parse().unwrap();
        let twice = compare_all(&format!("{left} {left}"), &left, &spec);
        assert_eq!(twice.len(), 4);
        for SketchComparison { method, estimate, exact } in twice {
            let estimate = estimate.unwrap();
            // Each of 398 shingles occurs twice in the left text. Two more shingles are where the copies meet.
            assert_eq!(exact, 398.0 / 798.0, "{method}");
            if method.to_string().starts_with("zero-bit") {
                assert!(estimate.value > exact, "it does not see how often shingles occur: {estimate}");
            } else {
                let away = (estimate.value - exact).abs();
                assert!(away <= 4.5 * estimate.standard_error, "{method}: {estimate} against {exact}");
            }
        }
        let none = compare_all("", "!", &spec);
        assert!(none.iter().all(|comparison| comparison.estimate.is_none() && comparison.exact == 0.0));
    }

    /// Ignored shingles are left out for every kind of sketch.
    #[test]
    fn every_sketch_leaves_out_what_is_ignored() {
        let words: Vec<String> = (0..300).map(|i| format!("w{i}")).collect();
        let form = words[..200].join(" ");
        let [left, right] = ["left", "right"].map(|own| {
            let own: Vec<String> = (0..100).map(|i| format!("{own}{i}")).collect();
            format!("{form} {} {}", words[200..].join(" "), own.join(" "))
        });
        let mut spec: Spec = "nfkc+casefold / words:1 / minhash:128 / seed:1".parse().unwrap();
        let mut shingles = Shingles::new();
        spec.shingler().shingle_into(&form, &mut shingles);
        spec.weights.ignored = Some(minwise::WeightSpec::fingerprint_of_ignored(shingles.hashes()));
        let weighing = WeightTables { ignored: shingles.hashes().into(), ..WeightTables::default() };
        let all = compare_all(&left, &right, &spec, &weighing, 1024).unwrap();
        let minhash = all.iter().find(|comparison| comparison.method.to_string() == "minhash:1024").unwrap();
        assert_eq!(minhash.exact, 1.0 / 3.0);
        let estimate = minhash.estimate.unwrap();
        assert!((estimate.value - minhash.exact).abs() <= 4.5 * estimate.standard_error, "{estimate}");
    }
}
