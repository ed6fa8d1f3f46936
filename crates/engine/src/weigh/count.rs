//! Counts document frequencies in one pass over the corpus, in bounded memory.

use std::path::Path;

use minwise::Spec;
use minwise::shingle::{Shingler, Shingles};
use minwise::sort::sort_mixed;
use minwise::text::UNICODE;
use minwise::{Observer, Stage};
use minwise_corpus::{
    Chunk, Corpus, Nulls, Overwrite, RecordPlace, Reject, RejectReason, Scratch, Temporary, TemporaryFolder,
};
use xxhash_rust::xxh3::Xxh3;

use super::table::{FrequencyTable, FrequencyTableHeader, KIND};
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::storage::runs::SortedRuns;
use crate::storage::store::StoreWriter;

/// Number of bytes of text that are counted together. A chunk is so large that most repeated shingles are summed
/// within one chunk.
const CHUNK_BYTES: u64 = 8 << 20;
/// Number of entries per thread that stay in memory.
const HELD: usize = 8 << 20;
/// Number of entries per thread that are merged together.
const TOGETHER: usize = 2 << 20;

/// Shingle with the number of documents that contain it.
type ShingleFrequency = (u64, u32);

/// Number of rejected records that are remembered.
const REMEMBERED: usize = 5;

/// Result of counting: the numbers of documents and of other records.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct CountedDocuments {
    /// Number of documents whose shingles were counted.
    pub documents: u64,
    /// Number of records whose text is null and which have no shingles.
    pub nulls: u64,
    /// Number of records that were skipped because they are no documents.
    pub skipped: u64,
    /// Number of rejected records.
    pub rejected: u64,
    /// First few rejected records, with their lines in their sources.
    pub first: Vec<(RecordPlace, Reject)>,
}

impl CountedDocuments {
    /// Adds the counts of the next chunk. The `lines` lines before the chunk are added to the line numbers of its
    /// rejected records.
    fn add(&mut self, part: Self, lines: u64) {
        self.documents += part.documents;
        self.nulls += part.nulls;
        self.skipped += part.skipped;
        self.rejected += part.rejected;
        let left = REMEMBERED - self.first.len();
        let numbered = part
            .first
            .into_iter()
            .map(|(place, reject)| (RecordPlace { line: place.line + lines, ..place }, reject));
        self.first.extend(numbered.take(left));
    }

    fn reject(&mut self, place: RecordPlace, reject: Reject) {
        self.rejected += 1;
        if self.first.len() < REMEMBERED {
            self.first.push((place, reject));
        }
    }
}

/// Table whose file was begun.
#[derive(Debug)]
pub struct NewTable(StoreWriter);

/// Creates the file of a table. If the file exists, `overwrite` decides whether it is replaced or refused.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if the file exists and `overwrite` refuses to replace it, or if the file cannot be
/// written. Fails with [`ErrorKind::File`] if its name is `-` or that of a compressed file, because tables are read in
/// place.
pub fn create(path: &Path, overwrite: Overwrite) -> Result<NewTable, Error> {
    StoreWriter::create(path, KIND, overwrite).map(NewTable)
}

/// Counts in how many documents each shingle occurs, and writes the table. Intermediate results that do not fit into
/// memory go to the folder `temporary`, or by default to the temporary folder of the system.
///
/// The result lists the first records that cannot be read. Documents that the rule for short documents refuses are not
/// counted.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if an input cannot be read or the table cannot be written, and with
/// [`ErrorKind::AllRejected`] if no record is a document. Fails with [`ErrorKind::NullText`] if a text is null and the
/// options make nulls errors, and with [`ErrorKind::Cancelled`] if the observer cancels.
pub fn count(
    corpus: &Corpus,
    spec: &Spec,
    threads: usize,
    temporary: Option<&Path>,
    table: NewTable,
    observer: &dyn Observer,
) -> Result<CountedDocuments, Error> {
    let chunks = corpus.chunks(CHUNK_BYTES);
    observer.begin(Stage::Weigh, corpus.size_bytes());
    let mut runs = SortedRuns::new(HELD * threads, temporary);
    let mut all = CountedDocuments::default();
    // Line numbers begin again in each source, so `lines` counts the lines of the current source.
    let (mut source, mut lines) = (0, 0);
    let work = |worker: &mut Worker, chunk: usize| -> Result<_, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let counted = worker.count(corpus, &chunks[chunk])?;
        observer.advance(chunks[chunk].size_bytes());
        Ok((chunk, counted))
    };
    parallel::in_order(
        chunks.len(),
        threads,
        || Worker::new(spec),
        work,
        |(chunk, (part, scanned, entries))| {
            if chunks[chunk].source() != source {
                (source, lines) = (chunks[chunk].source(), 0);
            }
            all.add(part, lines);
            lines += scanned;
            if let Some((place, reject)) = all.first.iter().find(|(_, reject)| is_error(corpus, reject)) {
                return Err(ErrorKind::NullText { record: described(corpus, place, reject) }.into());
            }
            runs.add(entries)
        },
    )?;
    if let (0, Some((place, reject))) = (all.documents + all.nulls, all.first.first()) {
        let first = described(corpus, place, reject);
        return Err(ErrorKind::AllRejected { records: all.rejected, first, hint: None }.into());
    }
    write(&runs, all.documents, spec, threads, temporary, table)?;
    Ok(all)
}

/// Reports whether a record is rejected because its text is null and the options make that an error.
fn is_error(corpus: &Corpus, reject: &Reject) -> bool {
    corpus.options().nulls == Nulls::Error && matches!(reject.reason, RejectReason::Null { .. })
}

/// Describes a rejected record and its reason.
fn described(corpus: &Corpus, place: &RecordPlace, reject: &Reject) -> String {
    format!("{}: {}", corpus.place_name(place.source, place.line), reject.reason)
}

/// Counts for one run only: the temporary file of the table is removed when the table is dropped.
///
/// # Errors
/// Fails for the same reasons as [`count`], and with [`ErrorKind::Corpus`] if a temporary folder cannot be created.
pub fn count_for_a_run(
    corpus: &Corpus,
    spec: &Spec,
    threads: usize,
    temporary: Option<&Path>,
    observer: &dyn Observer,
) -> Result<FrequencyTable, Error> {
    let folder = TemporaryFolder::create(temporary)?;
    let path = folder.path().join("frequencies");
    count(corpus, spec, threads, temporary, create(&path, Overwrite::Refuse)?, observer)?;
    FrequencyTable::open(&path).map(|table| table.in_folder(folder))
}

/// Buffers of one thread.
struct Worker {
    shingler: Shingler,
    shingles: Shingles,
    scratch: Scratch,
    distinct: Vec<u64>,
    all: Vec<u64>,
    room: Vec<u64>,
}

impl Worker {
    fn new(spec: &Spec) -> Self {
        Self {
            shingler: spec.shingler(),
            shingles: Shingles::new(),
            scratch: Scratch::new(),
            distinct: vec![],
            all: vec![],
            room: vec![],
        }
    }

    /// Returns the counts of a chunk, its number of lines, and the number of its documents that contain each shingle.
    fn count(
        &mut self,
        corpus: &Corpus,
        chunk: &Chunk,
    ) -> Result<(CountedDocuments, u64, Vec<ShingleFrequency>), Error> {
        let Self { shingler, shingles, scratch, distinct, all, room } = self;
        all.clear();
        let mut counted = CountedDocuments::default();
        let keeps_nulls = corpus.options().nulls == Nulls::Keep;
        let lines = corpus.scan(chunk, scratch, &mut |place, document| {
            let document = match document {
                Ok(document) => document,
                Err(Reject { reason: RejectReason::Null { .. }, .. }) if keeps_nulls => {
                    counted.nulls += 1;
                    return;
                }
                Err(Reject { reason: RejectReason::NotText { .. }, .. }) => {
                    counted.skipped += 1;
                    return;
                }
                Err(reject) => return counted.reject(place, reject),
            };
            shingler.shingle_into(&document.text, shingles);
            if shingler.refuses(shingles.units()) {
                return;
            }
            counted.documents += 1;
            distinct.clear();
            distinct.extend_from_slice(shingles.hashes());
            sort_mixed(distinct, room);
            distinct.dedup();
            all.extend_from_slice(distinct);
        })?;
        sort_mixed(all, room);
        Ok((counted, lines.0, all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()))
    }
}

/// Merges entries of equal shingles by adding their counts.
fn summed(entries: &[ShingleFrequency]) -> Vec<ShingleFrequency> {
    let sum = |same: &[ShingleFrequency]| same.iter().fold(0u32, |sum, entry| sum.saturating_add(entry.1));
    entries.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, sum(same))).collect()
}

/// Merges all runs into the file: first all shingles, then all frequencies.
fn write(
    runs: &SortedRuns<'_, ShingleFrequency>,
    documents: u64,
    spec: &Spec,
    threads: usize,
    temporary: Option<&Path>,
    NewTable(mut writer): NewTable,
) -> Result<(), Error> {
    let ranges = runs.ranges(TOGETHER);
    let frequencies = Temporary::create(temporary)?;
    let mut content = Xxh3::new();
    let mut shingles = 0;
    let mut bytes = vec![];
    writer.begin("shingles")?;
    let work = |(): &mut (), range: usize| runs.merged(ranges[range].clone()).map(|entries| summed(&entries));
    parallel::in_order(
        ranges.len(),
        threads,
        || (),
        work,
        |entries: Vec<ShingleFrequency>| {
            shingles += entries.len() as u64;
            bytes.clear();
            bytes.extend(entries.iter().flat_map(|entry| entry.0.to_le_bytes()));
            content.update(&bytes);
            writer.write(&bytes)?;
            bytes.clear();
            bytes.extend(entries.iter().flat_map(|entry| entry.1.to_le_bytes()));
            content.update(&bytes);
            frequencies.append(&bytes)?;
            Ok::<(), Error>(())
        },
    )?;

    writer.begin("frequencies")?;
    let mut at = 0;
    while at < frequencies.size_bytes() {
        bytes.resize((frequencies.size_bytes() - at).min(1 << 20) as usize, 0);
        frequencies.read_exact_at(at, &mut bytes)?;
        writer.write(&bytes)?;
        at += bytes.len() as u64;
    }
    writer.finish(&FrequencyTableHeader {
        normalize: spec.normalization.to_string(),
        shingle: spec.shingling.to_string(),
        spec_version: minwise::VERSION,
        unicode: UNICODE.to_owned(),
        documents,
        shingles,
        fingerprint: format!("{:016x}", content.digest() ^ documents),
    })
}
