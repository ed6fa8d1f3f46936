//! Stores decisions in the work folder of a run, batch by batch.
//!
//! The file of a batch has three sections. `removed` and `spared` have entries of document u32, kept document u32 and
//! similarity f64, in the order in which decisions were made. `reordered` has all reordered pairs that were found so
//! far. The header has the sums over all batches so far. Sums that are not whole numbers are stored as bits, so that a
//! resumed run adds up exactly the same numbers.

use minwise::candidate::FullShelves;
use serde::{Deserialize, Serialize};

use crate::candidate::screen::Screened;
use crate::decide::Removed;
use crate::error::Error;
use crate::settings::Plan;
use crate::storage::store::StoredFile;
use crate::storage::work::{self, WorkFile, WorkFolder};
use crate::verify::{Reordered, Verification, Verified};

const REMOVED: &str = "removed";
const SPARED: &str = "spared";
const REORDERED: &str = "reordered";

/// Results of all batches that an earlier process has decided.
pub(crate) struct Resumed {
    pub batches: usize,
    pub removed: Vec<Removed>,
    pub spared: Vec<Removed>,
    pub verified: Verified,
}

#[derive(Debug, Serialize, Deserialize)]
struct CheckpointHeader {
    /// Number of the first undecided neighbourhood.
    next: usize,
    candidates: u64,
    screened: [u64; 3],
    compared: u64,
    verified: u64,
    reordered: u64,
    reordered_estimated: u64,
    recall: Vec<u64>,
    full_shelves: [u64; 2],
}

/// Writes the decisions of a batch.
pub(crate) fn write(
    work: &WorkFolder,
    batch: usize,
    verified: &Verified,
    removed: &[Removed],
    spared: &[Removed],
) -> Result<(), Error> {
    let mut writer = work.create(WorkFile::Batch(batch))?;
    for (section, list) in [(REMOVED, removed), (SPARED, spared)] {
        writer.begin(section)?;
        for &Removed { document, of, similarity } in list {
            writer.write(&words([document, of], [similarity]))?;
        }
    }
    let sum = &verified.sum;
    writer.begin(REORDERED)?;
    for pair in &sum.reordered_pairs {
        let measures = [pair.similarity, pair.similarity_error, pair.alignment, pair.alignment_error];
        writer.write(&words([pair.first, pair.second], measures))?;
    }
    writer.finish(&CheckpointHeader {
        next: verified.next,
        candidates: sum.candidates,
        screened: [sum.screened.pairs, sum.screened.compared, sum.screened.registers],
        compared: sum.compared,
        verified: sum.verified,
        reordered: sum.reordered,
        reordered_estimated: sum.reordered_estimated,
        recall: sum.expected_recall.sums().into_iter().map(f64::to_bits).collect(),
        full_shelves: [sum.full_shelves.shelves, sum.full_shelves.left_out],
    })
}

/// Reads the decisions of an earlier process, if there are any.
pub(crate) fn resume(
    work: &WorkFolder,
    plan: &Plan,
    neighbourhoods: usize,
    documents: usize,
) -> Result<Option<Resumed>, Error> {
    let (mut removed, mut spared) = (vec![], vec![]);
    let mut last: Option<(CheckpointHeader, StoredFile)> = None;
    let mut batches = 0;
    while work.has(WorkFile::Batch(batches)) {
        let file = work.open_piece(WorkFile::Batch(batches))?;
        for (section, list) in [(REMOVED, &mut removed), (SPARED, &mut spared)] {
            for ([document, of], [similarity]) in entries(&file, section)? {
                if [document, of].iter().any(|&document| document as usize >= documents) {
                    return Err(file.wrong("it names documents that are not there".to_owned()));
                }
                list.push(Removed { document, of, similarity });
            }
        }
        last = Some((work::about(&file)?, file));
        batches += 1;
    }
    let Some((about, file)) = last else { return Ok(None) };
    if about.next > neighbourhoods {
        return Err(file.wrong("it is done with neighbourhoods that are not there".to_owned()));
    }
    let reordered = entries(&file, REORDERED)?;
    let reordered = reordered.into_iter().map(
        |([first, second], [similarity, similarity_error, alignment, alignment_error])| Reordered {
            first,
            second,
            similarity,
            similarity_error,
            alignment,
            alignment_error,
        },
    );
    let [pairs, compared, registers] = about.screened;
    let mut sum = Verification::new(plan);
    sum.candidates = about.candidates;
    sum.screened = Screened { pairs, compared, registers };
    sum.compared = about.compared;
    sum.verified = about.verified;
    sum.reordered = about.reordered;
    sum.reordered_estimated = about.reordered_estimated;
    sum.reordered_pairs = reordered.collect();
    let [shelves, left_out] = about.full_shelves;
    sum.full_shelves = FullShelves::new(shelves, left_out);
    let recall: Vec<f64> = about.recall.into_iter().map(f64::from_bits).collect();
    if !sum.expected_recall.set_sums(&recall) {
        return Err(file.wrong("its sums are those of other bands".to_owned()));
    }
    Ok(Some(Resumed { batches, removed, spared, verified: Verified { next: about.next, sum } }))
}

fn words<const M: usize>(documents: [u32; 2], measures: [f64; M]) -> Vec<u8> {
    let documents = documents.into_iter().flat_map(u32::to_le_bytes);
    documents.chain(measures.into_iter().flat_map(f64::to_le_bytes)).collect()
}

/// Two documents with some measures of their pair.
type MeasuredPair<const M: usize> = ([u32; 2], [f64; M]);

fn entries<const M: usize>(file: &StoredFile, section: &str) -> Result<Vec<MeasuredPair<M>>, Error> {
    let bytes = file.section(section)?;
    let entries = bytes.chunks_exact(8 + 8 * M);
    if !entries.remainder().is_empty() {
        return Err(file.wrong(format!("its section `{section}` has another length")));
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    let read = |entry: &[u8]| {
        let documents = [0, 4].map(|at| number(&entry[at..at + 4]) as u32);
        let mut measures = [0.0; M];
        for (measure, bytes) in measures.iter_mut().zip(entry[8..].chunks_exact(8)) {
            *measure = f64::from_bits(number(bytes));
        }
        (documents, measures)
    };
    Ok(entries.map(read).collect())
}
