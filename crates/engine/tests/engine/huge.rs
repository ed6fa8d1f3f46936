//! Tests of huge documents, which are cut block by block and compared on disk. Results must depend neither on this nor
//! on the number of threads.

use minwise::shingle::{Shingler, Shingles};
use minwise::verify::{Overlap, ShingleSet};
use minwise_engine::{MemoryLimit, RunSettings, Search};

use crate::support::{Documents, Random, settings, triples};

/// Size in bytes above which a document is huge for any number of threads. For one thread, the limit is an eighth of
/// this size with words, and a sixteenth with characters.
const HUGE_BYTES: usize = 8 << 20;

/// Makes a text of at least `bytes` bytes, of words that repeat.
fn text(seed: u64, bytes: usize) -> String {
    let mut random = Random(seed);
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        let stop = ["", "", "", ",", ".", "！"][random.below(6)];
        text.push_str(&format!("w{}{stop} ", random.below(20_000)));
    }
    text
}

fn set(settings: &RunSettings, text: &str) -> ShingleSet {
    let mut shingles = Shingles::new();
    let RunSettings { spec, .. } = settings;
    Shingler::new(spec.normalization, spec.shingling).shingle_into(text, &mut shingles);
    shingles.hashes().iter().copied().collect()
}

#[test]
fn they_are_compared_exactly() {
    let base = text(1, HUGE_BYTES + 1000);
    let near = base.replace("w77 ", "other ").replace("w7777.", "another.");
    let part = base[..base.floor_char_boundary(HUGE_BYTES - 5000)].to_owned();
    for shingling in ["words:3", "chars:9"] {
        let settings = settings(shingling, 0.5, 32, 3).memory(MemoryLimit::with_room(1 << 16));
        let texts = [&base, &near, &part];
        let sets = texts.map(|text| set(&settings, text));
        let expected: Vec<(u32, u32, f64)> = [(0, 1), (0, 2), (1, 2)]
            .map(|(a, b): (u32, u32)| (a, b, Overlap::of(&sets[a as usize], &sets[b as usize]).jaccard()))
            .to_vec();
        assert!(expected.iter().all(|pair| pair.2 < 1.0), "{expected:?}");
        assert_eq!(triples(&Documents::new(texts).pairs(&settings)), expected, "{shingling}");
    }
}

/// Some of these documents are huge for any number of threads, some only for one thread, and some never.
#[test]
fn they_are_compared_alike_however_they_are_cut() {
    let base = text(3, HUGE_BYTES / 2);
    let parts = [(0, 16), (1, 16), (0, 2), (0, 1), (8, 8)];
    let texts: Vec<String> = parts
        .map(|(from, sixteenths)| {
            let from = base.floor_char_boundary(from * 1000);
            format!("{} {from}", &base[from..base.floor_char_boundary(base.len() * sixteenths / 16)])
        })
        .into();
    let documents = Documents::new(&texts);
    for shingling in ["words:3", "chars:9"] {
        let mut settings = settings(shingling, 0.2, 64, 1);
        let sets: Vec<ShingleSet> = texts.iter().map(|text| set(&settings, text)).collect();
        let all = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
        let expected: Vec<(u32, u32, f64)> = all
            .map(|(a, b): (u32, u32)| (a, b, Overlap::of(&sets[a as usize], &sets[b as usize]).jaccard()))
            .filter(|pair| pair.2 >= settings.threshold)
            .collect();
        assert!(expected.len() >= 4, "{expected:?}");
        for (search, threads) in [(Search::All, 1), (Search::All, 9), (Search::SortMerge, 2)] {
            (settings.search, settings.threads) = (Some(search), Some(threads));
            assert_eq!(triples(&documents.pairs(&settings)), expected, "{shingling} {search} {threads}");
        }
    }
}

/// A document just below the limit equals a huge document with the same shingles.
#[test]
fn they_equal_what_has_the_same_shingles() {
    let plain = text(2, HUGE_BYTES - 100);
    let padded = plain.replace("w5 ", "W5   \n ");
    assert!(plain.len() <= HUGE_BYTES && padded.len() > HUGE_BYTES);
    for shingling in ["words:5", "chars:9"] {
        let settings = settings(shingling, 0.9, 16, 8);
        let documents = Documents::new([&plain, &padded]);
        assert_eq!(triples(&documents.pairs(&settings)), [(0, 1, 1.0)], "{shingling}");
    }
}
