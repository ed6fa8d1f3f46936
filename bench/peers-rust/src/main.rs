//! Measures `minwise::Lsh` and gaoya's `MinHashIndex` in one run on one corpus.
//!
//! Both indexes get the same words of the same texts, in 21 bands of 6 rows with the same threshold. gaoya gets its
//! fastest container of ids, and in bulk also the capacity that it needs. Times are CPU times of the whole process,
//! with all threads. The indexes alternate, and the least time of all turns counts. The run fails if `Lsh` is less than
//! twice as fast for single texts or less than eight times as fast in bulk, or if it finds fewer pairs than gaoya by
//! more than chance.

use std::collections::HashSet;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, SmallVecContainer};
use gaoya::text::whitespace_split;
use minwise::hash::SplitMix64;
use minwise::sketch::Sketches;
use minwise::{Lsh, Sketch, Spec};
use rayon::prelude::*;

const DOCUMENTS: usize = 100_000;
const QUERIES: usize = 10_000;
const WORDS: usize = 200;
const BANDS: usize = 21;
const ROWS: usize = 6;
/// Number of registers of our sketches. gaoya has 126 registers, because 21 bands of 6 rows need no more.
const REGISTERS: usize = 128;
const THRESHOLD: f64 = 0.7;
/// Least exact similarity of the pairs that must be found.
const SIMILAR: f64 = 0.8;
const THREADS: usize = 2;
const TURNS: usize = 5;

type Peer = MinHashIndex<u32, u32, SmallVecContainer<u32, 4>>;

fn spec() -> Spec {
    let form = format!("none / words:1 / minhash:{REGISTERS} / seed:1");
    form.parse().expect("a spec")
}

/// Texts of 200 words. Every third text, and every query, is a copy of an earlier text with up to 32 words replaced.
struct Corpus {
    texts: Vec<String>,
    queries: Vec<String>,
    /// Queries that are similar to the document from which they were made, each with this document.
    pairs: Vec<(usize, u32)>,
}

impl Corpus {
    fn new() -> Self {
        let mut random = SplitMix64::new(20_261_117);
        let mut below = move |bound: usize| (random.next_u64() % bound as u64) as usize;
        let mut texts: Vec<Vec<u32>> = Vec::with_capacity(DOCUMENTS);
        let edited = |source: &[u32], below: &mut dyn FnMut(usize) -> usize| {
            let mut words = source.to_vec();
            for _ in 0..below(33) {
                let at = below(WORDS);
                words[at] = below(60_000) as u32;
            }
            words
        };
        for number in 0..DOCUMENTS {
            let words = if number % 3 == 2 {
                let source = below(number);
                edited(&texts[source], &mut below)
            } else {
                (0..WORDS).map(|_| below(60_000) as u32).collect()
            };
            texts.push(words);
        }
        let mut queries = vec![];
        let mut pairs = vec![];
        for number in 0..QUERIES {
            let source = below(DOCUMENTS);
            let words = edited(&texts[source], &mut below);
            let [a, b] = [&words, &texts[source]].map(|words| words.iter().collect::<HashSet<_>>());
            let shared = a.intersection(&b).count() as f64;
            if shared / (a.len() as f64 + b.len() as f64 - shared) >= SIMILAR {
                pairs.push((number, source as u32));
            }
            queries.push(words);
        }
        let text =
            |words: Vec<u32>| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
        let all = |texts: Vec<Vec<u32>>| texts.into_iter().map(text).collect();
        Self { texts: all(texts), queries: all(queries), pairs }
    }
}

/// Least CPU time and least wall-clock time of all turns.
#[derive(Clone, Copy)]
struct Time {
    cpu: Duration,
    wall: Duration,
}

impl Time {
    const NONE: Self = Self { cpu: Duration::MAX, wall: Duration::MAX };

    /// Measures one turn. The result is returned, so that it is dropped outside the measurement.
    fn turn<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (cpu, wall) = (ProcessTime::now(), Instant::now());
        let made = black_box(work());
        self.cpu = self.cpu.min(cpu.elapsed());
        self.wall = self.wall.min(wall.elapsed());
        made
    }
}

/// Row of the table, with the times of both indexes.
struct Line {
    name: &'static str,
    count: usize,
    ours: Time,
    theirs: Time,
    /// Least ratio with which the run succeeds.
    floor: Option<f64>,
}

impl Line {
    fn new(name: &'static str, count: usize, floor: Option<f64>) -> Self {
        Self { name, count, ours: Time::NONE, theirs: Time::NONE, floor }
    }

    fn ratio(&self) -> f64 {
        self.theirs.cpu.as_secs_f64() / self.ours.cpu.as_secs_f64()
    }

    fn print(&self) {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / self.count as f64;
        println!(
            "| {} | {:.2} | {:.2} | {:.1} | {:.1} |",
            self.name,
            each(self.ours.cpu),
            each(self.theirs.cpu),
            self.ratio(),
            self.theirs.wall.as_secs_f64() / self.ours.wall.as_secs_f64(),
        );
    }
}

fn new_lsh() -> Lsh<u32> {
    Lsh::with_bands(spec(), THRESHOLD, BANDS, ROWS).expect("settings that fit")
}

fn signature(hasher: &MinHasher32<impl std::hash::BuildHasher>, text: &str) -> Vec<u32> {
    hasher.create_signature(whitespace_split(text))
}

fn main() -> ExitCode {
    rayon::ThreadPoolBuilder::new().num_threads(THREADS).build_global().expect("a pool of threads");
    let Corpus { texts, queries, pairs } = Corpus::new();
    let hasher = MinHasher32::new(BANDS * ROWS);
    let sketches: Vec<Sketch> =
        texts.iter().map(|text| Sketch::of(spec(), text).expect("a sketch")).collect();
    let query_sketches: Vec<Sketch> =
        queries.iter().map(|text| Sketch::of(spec(), text).expect("a sketch")).collect();
    let signatures: Vec<Vec<u32>> = texts.iter().map(|text| signature(&hasher, text)).collect();
    let query_signatures: Vec<Vec<u32>> = queries.iter().map(|text| signature(&hasher, text)).collect();
    let rows: Vec<u32> = sketches.iter().flat_map(|sketch| sketch.words().to_vec()).collect();

    let mut insert = Line::new("insert a text", DOCUMENTS, Some(2.0));
    let mut query = Line::new("query by a text", QUERIES, Some(2.0));
    let mut insert_sketch = Line::new("insert a sketch", DOCUMENTS, None);
    let mut query_sketch = Line::new("query by a sketch", QUERIES, None);
    let mut many = Line::new("insert many texts, two threads", DOCUMENTS, Some(8.0));
    let mut many_sketches = Line::new("insert many sketches, two threads", DOCUMENTS, None);
    let mut found = (0, 0);
    for _ in 0..TURNS {
        let lsh = insert.ours.turn(|| {
            let mut lsh = new_lsh();
            for (key, text) in (0..).zip(&texts) {
                lsh.insert(key, text).expect("a new key");
            }
            lsh
        });
        let peer = insert.theirs.turn(|| {
            let mut peer = Peer::new_index(BANDS, ROWS, THRESHOLD);
            for (key, text) in (0..).zip(&texts) {
                peer.insert(key, signature(&hasher, text));
            }
            peer
        });
        let ours = query.ours.turn(|| -> Vec<Vec<u32>> {
            let keys = |text| lsh.query(text).expect("a text").iter().map(|one| *one.key).collect();
            queries.iter().map(keys).collect()
        });
        let theirs = query.theirs.turn(|| -> Vec<Vec<u32>> {
            let keys = |text: &String| {
                let similar = peer.query_owned_return_similarity(&signature(&hasher, text));
                similar.into_iter().map(|one| one.0).collect()
            };
            queries.iter().map(keys).collect()
        });
        let count =
            |answers: &[Vec<u32>]| pairs.iter().filter(|pair| answers[pair.0].contains(&pair.1)).count();
        found = (count(&ours), count(&theirs));
        query_sketch.ours.turn(|| {
            query_sketches.iter().map(|sketch| lsh.query(sketch).expect("one spec").len()).sum::<usize>()
        });
        query_sketch.theirs.turn(|| {
            let similar = |signature: &Vec<u32>| peer.query_owned_return_similarity(signature).len();
            query_signatures.iter().map(similar).sum::<usize>()
        });
        drop((lsh, peer));
        insert_sketch.ours.turn(|| {
            let mut lsh = new_lsh();
            for (key, sketch) in (0..).zip(&sketches) {
                lsh.insert(key, sketch).expect("a new key");
            }
            lsh
        });
        let copies = signatures.clone();
        insert_sketch.theirs.turn(|| {
            let mut peer = Peer::new_index(BANDS, ROWS, THRESHOLD);
            for (key, signature) in (0..).zip(copies) {
                peer.insert(key, signature);
            }
            peer
        });
        many.ours.turn(|| {
            let mut lsh = new_lsh();
            lsh.insert_many((0..).zip(&texts), THREADS).expect("new keys");
            lsh
        });
        many.theirs.turn(|| {
            let mut peer = Peer::new_with_capacity(BANDS, ROWS, THRESHOLD, DOCUMENTS, 0.0);
            let signatures = texts.par_iter().map(|text| signature(&hasher, text)).collect();
            peer.par_bulk_insert((0..DOCUMENTS as u32).collect(), signatures);
            peer
        });
        let matrix = Sketches::from_vec(REGISTERS, rows.clone()).expect("whole rows");
        many_sketches.ours.turn(|| {
            let mut lsh = new_lsh();
            lsh.insert_sketches(0..DOCUMENTS as u32, matrix, THREADS).expect("new keys");
            lsh
        });
        let copies = signatures.clone();
        many_sketches.theirs.turn(|| {
            let mut peer = Peer::new_with_capacity(BANDS, ROWS, THRESHOLD, DOCUMENTS, 0.0);
            peer.par_bulk_insert((0..DOCUMENTS as u32).collect(), copies);
            peer
        });
    }

    let lines = [insert, query, many, insert_sketch, query_sketch, many_sketches];
    println!(
        "{DOCUMENTS} texts of {WORDS} words, {QUERIES} queries, {BANDS} bands of {ROWS} rows, kernel {}.\n",
        minwise::kernel::Kernel::detect()
    );
    println!("| | Lsh, µs of CPU | gaoya, µs of CPU | ratio, CPU | ratio, wall |\n|---|---|---|---|---|");
    lines.iter().for_each(Line::print);
    let share = |found: usize| found as f64 / pairs.len() as f64;
    let (ours, theirs) = (share(found.0), share(found.1));
    println!(
        "\nRecall of {} pairs of similarity {SIMILAR} or more: Lsh {ours:.4}, gaoya {theirs:.4}.",
        pairs.len()
    );
    // Four standard errors are allowed, because each index draws its own hash functions, so measured recalls differ by
    // chance.
    let error = ((ours * (1.0 - ours) + theirs * (1.0 - theirs)) / pairs.len() as f64).sqrt();
    let mut failed = ours < theirs - 4.0 * error;
    if failed {
        eprintln!("the recall of Lsh is lower");
    }
    for line in &lines {
        if let Some(floor) = line.floor.filter(|&floor| line.ratio() < floor) {
            eprintln!("{}: {:.2} times as fast, and {floor} is asked for", line.name, line.ratio());
            failed = true;
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
