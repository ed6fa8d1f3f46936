//! From text to shingles: the stage that decides the speed of a whole run.
//!
//! - **Measured.** `normalise`: the default normal form alone, as for word shingles. `shingle`: the normal form, then
//!   tokens, their hashes and the rolled windows of five tokens, which is all work on a document before it is sketched.
//!   `chars`: the work of `shingle` for shingles of nine characters, for which white space is also folded.
//! - **Input.** 256 KiB of a made-up language per script, as 64 documents of 4 KiB. Words of one to ten letters are
//!   drawn by Zipf's law from 4000 words, with a capital at the start of a clause and punctuation after every twelfth
//!   word. The Chinese text has no spaces, and a full-width comma or stop after every twelfth character. The mixed text
//!   changes script from clause to clause. Bytes are those of the input in UTF-8.
//! - **Not shown.** Reading and decoding of files; texts that often need the general algorithm of normalisation
//!   (decomposed accents, Hangul letters, compatibility forms); and memory that is not in the cache. The words of real
//!   texts have more different lengths, and fewer of their letters have an accent.

#![allow(missing_docs, reason = "criterion makes a public function without documentation")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use minwise::hash::SplitMix64;
use minwise::shingle::{Shingler, Shingles};
use minwise::text::{Normalization, NormalizedText, Normalizer};

const DOCUMENTS: usize = 64;
const DOCUMENT_BYTES: usize = 4096;

/// A script: its letters, and its separators between words and between clauses.
struct Script {
    letters: Vec<char>,
    longest: u32,
    between: &'static str,
    stops: [&'static str; 2],
}

fn scripts() -> [(&'static str, Vec<Script>); 5] {
    let spaced = |letters: &str| Script {
        letters: letters.chars().collect(),
        longest: 10,
        between: " ",
        stops: [", ", ". "],
    };
    let english = || spaced("eeeettaaooiinnsshhrrddlluucmfwygpbvk");
    let accented = || spaced("eeaaiioonnrrttssllccuuéèêàâçôûïüöäßñãłøåž");
    let cyrillic = || spaced("ооооееееааииннттссррввллккммддппууяяыьгзбчйхжшюцщэфё");
    let chinese = || Script {
        letters: (0x4e00..0x6000).filter_map(char::from_u32).collect(),
        longest: 1,
        between: "",
        stops: ["，", "。"],
    };
    [
        ("english", vec![english()]),
        ("accented", vec![accented()]),
        ("cyrillic", vec![cyrillic()]),
        ("chinese", vec![chinese()]),
        ("mixed", vec![english(), accented(), cyrillic(), chinese()]),
    ]
}

impl Script {
    fn words(&self, random: &mut SplitMix64) -> Vec<String> {
        let letter = |random: &mut SplitMix64| self.letters[random.next_u64() as usize % self.letters.len()];
        (0..4000)
            .map(|_| {
                let len = 1 + random.next_u32() % self.longest;
                (0..len).map(|_| letter(random)).collect()
            })
            .collect()
    }
}

/// Returns a rank below 4000 by Zipf's law. The logarithm of the rank is evenly distributed.
fn rank(random: &mut SplitMix64) -> usize {
    let even = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    4000f64.powf(even) as usize - 1
}

fn documents(scripts: &[Script]) -> Vec<String> {
    let mut random = SplitMix64::new(1);
    let vocabularies: Vec<Vec<String>> = scripts.iter().map(|script| script.words(&mut random)).collect();
    let mut documents = vec![];
    for _ in 0..DOCUMENTS {
        let mut text = String::new();
        for clause in 0.. {
            let at = clause % scripts.len();
            for word in 0..12 {
                let drawn = &vocabularies[at][rank(&mut random)];
                if word == 0 {
                    text.extend(drawn.chars().next().into_iter().flat_map(char::to_uppercase));
                    text.extend(drawn.chars().skip(1));
                } else {
                    text += drawn;
                }
                text += match word {
                    11 => scripts[at].stops[clause % 2],
                    _ => scripts[at].between,
                };
            }
            if text.len() >= DOCUMENT_BYTES {
                break;
            }
        }
        documents.push(text);
    }
    documents
}

fn text(criterion: &mut Criterion) {
    for (name, scripts) in scripts() {
        let documents = documents(&scripts);
        let bytes: usize = documents.iter().map(String::len).sum();

        let mut group = criterion.benchmark_group("text");
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::new("normalise", name), |bench| {
            let normalizer = Normalizer::for_tokens(Normalization::default());
            let mut text = NormalizedText::new();
            bench.iter(|| {
                for document in &documents {
                    normalizer.normalize_into(black_box(document), &mut text);
                    black_box(text.as_str());
                }
            });
        });
        for (what, shingling) in [("shingle", "words:5"), ("chars", "chars:9")] {
            group.bench_function(BenchmarkId::new(what, name), |bench| {
                let shingling = shingling.parse().expect("a text form of shinglings");
                let shingler = Shingler::new(Normalization::default(), shingling);
                let mut shingles = Shingles::new();
                bench.iter(|| {
                    for document in &documents {
                        shingler.shingle_into(black_box(document), &mut shingles);
                        black_box(shingles.hashes());
                    }
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, text);
criterion_main!(benches);
