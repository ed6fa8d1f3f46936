//! Corpora on disk that are made from a seed, and runs over them.

use std::io::Write;

use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::Decisions;
use minwise_engine::stages::{dedup, pairs, read};
use minwise_engine::{Bands, Error, Plan, Reading, RunSettings, SimilarPair, SimilarPairs, Unobserved};
use tempfile::TempDir;

/// Random numbers that are the same on every machine (Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Documents in a temporary file, which is removed when the test ends.
pub struct Documents {
    _folder: TempDir,
    pub corpus: Corpus,
}

impl Documents {
    /// Writes the texts as JSONL, one by one, so that a large corpus is never in memory as a whole.
    pub fn new(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let records = texts
            .into_iter()
            .enumerate()
            .map(|(i, text)| serde_json::json!({ "id": format!("d{i}"), "text": text.as_ref() }));
        Self::of_records(records, &ReadOptions::default())
    }

    /// Writes records as JSONL, and opens the file with `options`.
    pub fn of_records(records: impl Iterator<Item = serde_json::Value>, options: &ReadOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.jsonl");
        let mut file = std::io::BufWriter::new(fs_err::File::create(&path).unwrap());
        for record in records {
            writeln!(file, "{record}").unwrap();
        }
        file.flush().unwrap();
        let corpus = Corpus::open(&[path.into()], options, &Unobserved).unwrap();
        Self { _folder: folder, corpus }
    }

    pub fn read(&self, settings: &RunSettings) -> Reading {
        self.read_by(&settings.plan().unwrap())
    }

    pub fn read_by(&self, plan: &Plan) -> Reading {
        let reading = read(&self.corpus, &plan.reading(), &Unobserved).unwrap();
        assert_eq!(reading.rejected.first(), []);
        reading
    }

    pub fn dedup(&self, settings: &RunSettings) -> Decisions {
        self.dedup_by(&settings.plan().unwrap())
    }

    pub fn dedup_by(&self, plan: &Plan) -> Decisions {
        dedup(&self.corpus, &self.read_by(plan), plan, &Unobserved, |_| {}).unwrap()
    }

    pub fn pairs(&self, settings: &RunSettings) -> SimilarPairs {
        let plan = settings.plan().unwrap();
        pairs(&self.corpus, &self.read_by(&plan), None, &plan, &Unobserved).unwrap()
    }
}

/// Returns all pairs, in the order in which they are visited.
pub fn listed(pairs: &SimilarPairs) -> Vec<SimilarPair> {
    let mut list = vec![];
    let collect = |pair| {
        list.push(pair);
        Ok::<(), Error>(())
    };
    pairs.for_each(&Unobserved, collect).unwrap();
    list
}

/// Returns settings with the given banding, and exactly the registers that it needs.
pub fn settings(shingling: &str, threshold: f64, bands: usize, rows: usize) -> RunSettings {
    with_registers(shingling, threshold, bands, rows, bands * rows)
}

/// Returns settings whose sketches have more registers than the bands use.
pub fn with_registers(
    shingling: &str,
    threshold: f64,
    bands: usize,
    rows: usize,
    registers: usize,
) -> RunSettings {
    RunSettings::default()
        .spec(format!("nfkc+casefold / {shingling} / minhash:{registers} / seed:1").parse().unwrap())
        .threshold(threshold)
        .bands(Bands::Given { bands, rows })
        .audit(None)
        .threads(2)
}

/// Returns all pairs as tuples of document numbers and similarity.
pub fn triples(pairs: &SimilarPairs) -> Vec<(u32, u32, f64)> {
    listed(pairs).iter().map(|pair| (pair.first, pair.second, pair.similarity)).collect()
}
