//! Tests against an oracle: a few hundred documents, all compared with each other by an independent implementation.
//!
//! The oracle follows the definitions. Shingles are strings, and sets are ordered sets of them. A component is found by
//! walking from neighbour to neighbour, and a star by the words of its definition. The runs use so many bands that a
//! pair at the threshold is missed with probability 10⁻⁹, so both must agree on everything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use minwise::cluster::Clustering;
use minwise::keep::KeepPolicy;
use minwise_engine::Removed;

use crate::support::{Documents, Random, listed, settings};

/// Results of brute force on a corpus.
pub struct Oracle {
    sets: Vec<BTreeSet<u32>>,
    /// The texts with normalised white space, by which documents without shingles are compared.
    blanks: Vec<String>,
    lengths: Vec<usize>,
    /// The tokens of each document, in order.
    in_order: Vec<Vec<String>>,
}

impl Oracle {
    pub fn new(texts: &[String], size: usize) -> Self {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut number = |shingle: String| {
            let next = numbers.len() as u32;
            *numbers.entry(shingle).or_insert(next)
        };
        let sets =
            texts.iter().map(|text| shingles(text, size).into_iter().map(&mut number).collect()).collect();
        let blanks = texts.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let lengths = texts.iter().map(|text| text.chars().count()).collect();
        let in_order = texts.iter().map(|text| tokens(text)).collect();
        Self { sets, blanks, lengths, in_order }
    }

    pub fn jaccard(&self, a: usize, b: usize) -> f64 {
        let (left, right) = (&self.sets[a], &self.sets[b]);
        if left.is_empty() || right.is_empty() {
            let equal = left.is_empty() && right.is_empty() && self.blanks[a] == self.blanks[b];
            return if equal { 1.0 } else { 0.0 };
        }
        let shared = left.intersection(right).count();
        shared as f64 / (left.len() + right.len() - shared) as f64
    }

    /// Reports whether two documents have the same shingles in the same order, or no shingles and the same text.
    pub fn are_equal(&self, a: usize, b: usize) -> bool {
        self.in_order[a] == self.in_order[b] && (!self.sets[a].is_empty() || self.blanks[a] == self.blanks[b])
    }

    /// Returns the pairs whose containment, the shared part of the smaller document, reaches the threshold.
    pub fn contained(&self, threshold: f64) -> Vec<(u32, u32, f64)> {
        let mut pairs = vec![];
        for a in 0..self.sets.len() {
            for b in a + 1..self.sets.len() {
                let (left, right) = (&self.sets[a], &self.sets[b]);
                let share = if left.is_empty() || right.is_empty() {
                    self.jaccard(a, b)
                } else {
                    left.intersection(right).count() as f64 / left.len().min(right.len()) as f64
                };
                if share >= threshold {
                    pairs.push((a as u32, b as u32, share));
                }
            }
        }
        pairs
    }

    pub fn pairs(&self, threshold: f64) -> Vec<(u32, u32, f64)> {
        let mut pairs = vec![];
        for a in 0..self.sets.len() {
            for b in a + 1..self.sets.len() {
                let similarity = self.jaccard(a, b);
                if similarity >= threshold {
                    pairs.push((a as u32, b as u32, similarity));
                }
            }
        }
        pairs
    }

    /// Returns the documents in keeper order, for policies that use only the text.
    pub fn order(&self, keep: &KeepPolicy) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sets.len()).collect();
        match &*keep.to_string() {
            "first" => {}
            "last" => order.reverse(),
            "longest" => order.sort_by_key(|&document| usize::MAX - self.lengths[document]),
            "shortest" => order.sort_by_key(|&document| self.lengths[document]),
            other => panic!("`{other}` looks at fields"),
        }
        order
    }

    /// Decides by stars: considers documents in keeper order, and removes a document if a kept one reaches the
    /// threshold. The most similar kept document becomes its keeper.
    pub fn star(&self, threshold: f64, order: &[usize]) -> Vec<Removed> {
        let mut kept: Vec<usize> = vec![];
        let mut removed = vec![];
        for &document in order {
            let mut best: Option<(usize, f64)> = None;
            for &keeper in &kept {
                let similarity = self.jaccard(document, keeper);
                if similarity >= threshold && best.is_none_or(|(_, before)| similarity > before) {
                    best = Some((keeper, similarity));
                }
            }
            match best {
                Some((of, similarity)) => {
                    removed.push(Removed::new(document as u32, of as u32, similarity));
                }
                None => kept.push(document),
            }
        }
        removed.sort_by_key(|removed| removed.document);
        removed
    }

    pub fn components(&self, threshold: f64, order: &[usize]) -> Vec<Removed> {
        let mut neighbours = vec![vec![]; self.sets.len()];
        for (a, b, _) in self.pairs(threshold) {
            neighbours[a as usize].push(b as usize);
            neighbours[b as usize].push(a as usize);
        }
        let mut seen = vec![false; self.sets.len()];
        let mut removed = vec![];
        for &keeper in order {
            if seen[keeper] {
                continue;
            }
            seen[keeper] = true;
            let mut queue = VecDeque::from([keeper]);
            while let Some(document) = queue.pop_front() {
                for &next in &neighbours[document] {
                    if !seen[next] {
                        seen[next] = true;
                        let similarity = self.jaccard(next, keeper);
                        removed.push(Removed::new(next as u32, keeper as u32, similarity));
                        queue.push_back(next);
                    }
                }
            }
        }
        removed.sort_by_key(|removed| removed.document);
        removed
    }

    pub fn decide(&self, threshold: f64, keep: &KeepPolicy, cluster: Clustering) -> Vec<Removed> {
        self.decide_in(threshold, &self.order(keep), cluster)
    }

    /// Decides about the documents in the given order.
    pub fn decide_in(&self, threshold: f64, order: &[usize], cluster: Clustering) -> Vec<Removed> {
        match cluster {
            Clustering::Star => self.star(threshold, order),
            Clustering::Components => self.components(threshold, order),
            other => panic!("the oracle does not know {other}"),
        }
    }
}

/// Splits a text into tokens. A character of Chinese or kana is a token by itself; other letters and digits form runs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = vec![];
    let mut run = String::new();
    for character in text.to_lowercase().chars() {
        let alone =
            matches!(character, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}');
        if !alone && character.is_alphanumeric() {
            run.push(character);
            continue;
        }
        if !run.is_empty() {
            tokens.push(std::mem::take(&mut run));
        }
        if alone {
            tokens.push(character.to_string());
        }
    }
    if !run.is_empty() {
        tokens.push(run);
    }
    tokens
}

fn shingles(text: &str, size: usize) -> BTreeSet<String> {
    let tokens = tokens(text);
    match tokens.len() {
        0 => BTreeSet::new(),
        few if few < size => BTreeSet::from([tokens.join(" ")]),
        _ => tokens.windows(size).map(|window| window.join(" ")).collect(),
    }
}

/// Makes families of many similarities in several scripts, and documents that belong to no family.
pub fn corpus(seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let latin: Vec<String> =
        (0..400).map(|i| format!("{}{}", ["ba", "co", "du", "fe"][i % 4], i / 4)).collect();
    let chinese: Vec<String> =
        (0..300).map(|i| char::from_u32(0x4e00 + i * 7).unwrap().to_string()).collect();
    let kana: Vec<String> = (0x3042..0x3090).map(|code| char::from_u32(code).unwrap().to_string()).collect();
    let mut texts = vec![];
    for family in 0..60 {
        let (words, between) = match family % 6 {
            4 => (&chinese, ""),
            5 => (&kana, ""),
            _ => (&latin, " "),
        };
        let length = 30 + random.below(90);
        let base: Vec<&str> = (0..length).map(|_| random.pick(words).as_str()).collect();
        texts.push(base.join(between));
        for member in 0..8 {
            let mut words_of_it = base.clone();
            for _ in 0..random.below(1 + length / 4) * usize::from(member > 1) {
                let at = random.below(words_of_it.len());
                match random.below(3) {
                    0 => words_of_it[at] = random.pick(words).as_str(),
                    1 => words_of_it.insert(at, random.pick(words).as_str()),
                    _ => drop(words_of_it.remove(at)),
                }
            }
            let mut text = words_of_it.join(between);
            match member {
                // This member has equal shingles but another length.
                0 => text = format!("  {}!!", text.to_uppercase()),
                // This member has nearly the same shingles in another order.
                5 => words_of_it.rotate_left(length / 2),
                6 => words_of_it.extend_from_slice(&base),
                7 => words_of_it.truncate(length / 2),
                _ => {}
            }
            if member > 4 {
                text = words_of_it.join(between);
            }
            texts.push(text);
        }
    }
    for _ in 0..8 {
        for text in ["", "  ", "...", "!?", "…!", "ba1", "Ba1.", "ba1 co1", "ba1 co1 du1", "du1 co1 ba1"] {
            texts.push(text.to_owned());
        }
    }
    // The texts are shuffled, so that keepers and families can lie anywhere.
    for at in (1..texts.len()).rev() {
        texts.swap(at, random.below(at + 1));
    }
    texts
}

const THRESHOLD: f64 = 0.5;

#[test]
fn every_pair_is_found_with_its_exact_similarity() {
    let texts = corpus(1);
    let oracle = Oracle::new(&texts, 3);
    let expected = oracle.pairs(THRESHOLD);
    let spread =
        (0..10).filter(|&tenth| expected.iter().any(|pair| (pair.2 * 20.0) as u32 == 10 + tenth)).count();
    assert!(texts.len() >= 600 && expected.len() > 1000 && spread == 10, "{} {spread}", expected.len());

    let settings = settings("words:3", THRESHOLD, 160, 3);
    let found = Documents::new(&texts).pairs(&settings);
    let listed: Vec<(u32, u32, f64)> =
        listed(&found).iter().map(|pair| (pair.first, pair.second, pair.similarity)).collect();
    assert_eq!(listed, expected);
    assert!(found.verification.expected_recall.value() > 0.999_999);
}

#[test]
fn every_decision_is_the_one_of_the_definition() {
    for seed in [2, 3] {
        let texts = corpus(seed);
        let oracle = Oracle::new(&texts, 3);
        let documents = Documents::new(&texts);
        for threshold in [0.5, 0.8] {
            for keep in
                ["first", "last", "longest", "shortest"].map(|keep| keep.parse::<KeepPolicy>().unwrap())
            {
                for cluster in [Clustering::Star, Clustering::Components] {
                    let mut settings = settings("words:3", threshold, 160, 3);
                    (settings.keep, settings.cluster) = (Some(keep.clone()), cluster);
                    let decisions = documents.dedup(&settings);
                    let expected = oracle.decide(threshold, &keep, cluster);
                    assert!(expected.len() > 150, "{}", expected.len());
                    assert_eq!(decisions.removed, expected, "{cluster} {keep} at {threshold}, seed {seed}");
                    let keepers: BTreeSet<u32> = expected.iter().map(|removed| removed.of).collect();
                    assert_eq!(decisions.clusters, keepers.len() as u64);
                }
            }
        }
    }
}

/// Promise 1: every removed document has a kept document whose exact similarity reaches the threshold, whatever the
/// recall.
#[test]
fn what_is_removed_is_near_what_is_kept_even_with_a_poor_banding() {
    let texts = corpus(4);
    let oracle = Oracle::new(&texts, 3);
    let documents = Documents::new(&texts);
    for (bands, rows) in [(1, 1), (2, 4), (5, 8)] {
        let decisions = documents.dedup(&settings("words:3", 0.6, bands, rows));
        assert!(decisions.removed.len() > 60);
        for removed in &decisions.removed {
            let goes = |document| decisions.removed.iter().any(|other| other.document == document);
            assert!(!goes(removed.of), "{removed:?}");
            assert_eq!(removed.similarity, oracle.jaccard(removed.document as usize, removed.of as usize));
            assert!(removed.similarity >= 0.6);
        }
    }
}
