//! Compares the stated recall of a check with its measured recall, on a thousand planted documents and
//! passages.

use minwise::hash::SplitMix64;
use minwise::shingle::Shingles;
use minwise::verify::{Overlap, ShingleSet};
use minwise_index::{CheckOptions, Index, IndexSettings, Query};

use crate::support::document;

const PLANTED: usize = 1000;

/// Returns `count` words that no other text has.
fn words(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{name}x{at}")).collect()
}

/// Creates an archive of documents of 120 words with these bands and rows.
fn archive(folder: &std::path::Path, bands: usize, rows: usize) -> Index {
    let settings = IndexSettings::default().bands(bands).rows(rows);
    let index = Index::create(folder.join(format!("{bands}x{rows}")), &settings).unwrap();
    let documents: Vec<_> = (0..PLANTED)
        .map(|number| document(&number.to_string(), &words(&format!("d{number}"), 120).join(" ")))
        .collect();
    index.add(&documents, 0, 2).unwrap();
    index
}

fn set(index: &Index, text: &str) -> ShingleSet {
    let mut shingles = Shingles::new();
    index.settings().spec.shingler().shingle_into(text, &mut shingles);
    shingles.hashes().iter().copied().collect()
}

/// The measured recall of documents at or above the threshold is at least the stated recall. The measured
/// recall can be higher, because documents that share a fingerprint are found, too. Few bands make the
/// difference clear.
#[test]
fn a_thousand_planted_documents_are_found_as_often_as_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = SplitMix64::new(5);
    for (bands, rows) in [(42, 3), (10, 4), (4, 5)] {
        let index = archive(folder.path(), bands, rows);
        let options = CheckOptions::default().containment(1.0).passage(Some(usize::MAX)).top(5);
        let (mut there, mut found, mut least) = (0, 0, 0.0);
        for number in 0..PLANTED {
            let words = words(&format!("d{number}"), 120);
            let mut copy = words.clone();
            // Six or seven changed words leave at least two thirds of the shingles, and no 25 unchanged
            // tokens in a row.
            let begin = (random.next_u64() % 8) as usize;
            for at in (begin + 6..copy.len()).step_by(17) {
                copy[at] = format!("changed{number}x{at}");
            }
            let copy = copy.join(" ");
            let similarity = Overlap::of(&set(&index, &words.join(" ")), &set(&index, &copy)).jaccard();
            if similarity < options.threshold {
                continue;
            }
            there += 1;
            least += index.settings().probability(similarity).unwrap();
            let answer = index.check(&Query::new(&copy), &options).unwrap();
            found += usize::from(answer.matches.iter().any(|found| found.id == number.to_string()));
        }
        assert!(there > 300, "{there} documents reach the threshold");
        let share = |count: f64| count / there as f64;
        let said = index.settings().probability(options.threshold).unwrap();
        // The measured share of 98 in 100 archives is within this distance of the stated share.
        let spread = 2.06 * (said * (1.0 - said) / there as f64).sqrt();
        let found = share(found as f64);
        assert!(found >= said - spread, "{bands} × {rows}: {found} found, {said} or more said");
        assert!(found >= share(least) - spread, "{bands} × {rows}: {found} found, {} by bands", share(least));
    }
}

/// A passage of `passage` tokens is always found, however small its share of both documents is.
#[test]
fn a_thousand_planted_passages_are_found_always() {
    let folder = tempfile::tempdir().unwrap();
    let index = archive(folder.path(), 42, 3);
    let options = CheckOptions::default().threshold(1.0).containment(1.0).top(5);
    let mut random = SplitMix64::new(6);
    for number in 0..PLANTED {
        let source = words(&format!("d{number}"), 120);
        let from = (random.next_u64() % 96) as usize;
        let mut query = words(&format!("q{number}"), 200);
        let at = (random.next_u64() % 200) as usize;
        let passage = index.settings().passage;
        query.splice(at..at, source[from..from + passage].iter().cloned());
        let answer = index.check(&Query::new(&query.join(" ")), &options).unwrap();
        let found = answer.matches.iter().any(|found| found.id == number.to_string());
        assert!(found, "tokens {from} and on of document {number}");
    }
}
