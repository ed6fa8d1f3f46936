//! Entry points for the fuzz targets, which call every decoder of rows. No bytes may make a decoder panic,
//! because rows come from a disk that may be damaged.

use minwise::candidate::Fingerprint;

use crate::frequencies::CommonFrequencies;
use crate::in_place::InPlaceOfText;
use crate::postings::{self, Posting, PostingRow};
use crate::record::{DocumentRow, Mark, MarkedPlace};
use crate::text::{TextCompressor, unpack};

/// Decodes bytes as every kind of row.
pub fn decode(bytes: &[u8]) {
    if let Some(row) = PostingRow::decode(bytes) {
        assert!(row.find(u64::MAX).count() <= row.iter().count());
    }
    if let Some(record) = DocumentRow::from_bytes(bytes) {
        assert_eq!(DocumentRow::from_bytes(&record.to_bytes()).as_ref(), Some(&record));
        drop(record.entry());
    }
    if let Some(stored) = InPlaceOfText::from_bytes(bytes) {
        assert_eq!(InPlaceOfText::from_bytes(&stored.to_bytes()), Some(stored));
    }
    drop(CommonFrequencies::from_parts([&bytes[..bytes.len().min(12)], &bytes[bytes.len().min(12)..]]));
    drop(unpack(bytes, 3 * bytes.len() as u64));
}

/// Returns valid rows of every kind, as seeds of the fuzz targets.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let posting = |document: u32| (document * 7, Posting { document, at: document * 300 });
    let record = DocumentRow {
        id: "an id".to_owned(),
        title: Some("A title".to_owned()),
        metadata: r#"{"year":2020}"#.to_owned(),
        added: 1_700_000_000,
        bytes: 4000,
        characters: 3900,
        units: 600,
        shingles: 590,
        content: [3; 8],
        wordless: Some(7),
        postings: [[1; 8], [2; 8]],
        marks: vec![Mark::new(10, MarkedPlace::Page(2))],
    };
    let stored = InPlaceOfText {
        set: (0..9).collect(),
        bands: vec![5, 6],
        fingerprints: vec![Fingerprint { shingle: 3, at: 4 }],
    };
    vec![
        postings::encode(&(0..20).map(posting).collect::<Vec<_>>()),
        record.to_bytes(),
        stored.to_bytes(),
        CommonFrequencies::default().with(3, (0..30).map(|n| n / 2).collect()).to_parts().concat(),
        TextCompressor::new().pack(&"some words, and again, ".repeat(9)),
    ]
}
