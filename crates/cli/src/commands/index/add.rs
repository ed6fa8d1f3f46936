//! `minwise index add` adds documents to an archive.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use minwise::figure::{counted, grouped, size};
use minwise_corpus::{Corpus, FieldPath, SameId, Scratch, visible};
use minwise_engine::{Observer, Stage, parallel};
use minwise_index::{Added, DocumentBatch, NewDocument, Statistics};

use crate::Exit;
use crate::args::IndexAddArgs;
use crate::commands::documents::{self, CHUNK_BYTES, RejectList, RejectedDocument, TextFieldSearch};
use crate::printer::{CommandError, CommandWarning, Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::summary::{self, SummaryLines};

/// Maximum number of bytes of texts whose documents are prepared before an earlier chunk.
const AHEAD_BYTES: u64 = 64 << 20;
/// Maximum number of ids to show that the sheet has and the inputs lack.
const SHOWN: usize = 5;

/// Chunk that is ready to be written.
struct Ready {
    batch: DocumentBatch,
    /// Documents without an id. Each has its position in the batch, its source, its line, and its metadata without the
    /// text.
    nameless: Vec<(usize, u32, u64, NewDocument)>,
    rejects: Vec<RejectedDocument>,
    nulls: u64,
    skipped: u64,
    null_error: Option<RejectedDocument>,
    lines: u64,
    source: u32,
    bytes: u64,
}

pub fn run(args: &IndexAddArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let mut options = settings::reading(&args.reading, &mut problems);
    let fields = args.meta_fields.as_deref().unwrap_or_default();
    options.value_fields = settings::fields("--meta-fields", fields, &mut problems);
    let threads = settings::threads(&args.threads, &mut problems);
    options.threads = threads;
    let permitted = settings::max_rejects(args.max_rejects.as_deref(), &mut problems);
    problems.finish()?;

    let sheet = args.meta.as_deref().map(documents::sheet).transpose()?.unwrap_or_default();
    let index = super::open(&args.folder)?;
    let list = documents::list_of_rejects(args.rejects.as_deref(), args.force)?;
    let progress = ProgressPrinter::new(printer);
    refuse_itself(args)?;
    let corpus = crate::commands::open(&settings::words(&args.inputs), &options, &progress)?;
    same_ids(&corpus)?;
    let added = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let chunks = corpus.chunks(CHUNK_BYTES);
    progress.begin(Stage::Read, corpus.size_bytes());

    let named = AtomicU64::new(0);
    let metadata_search = MetadataSearch::new(&options.value_fields);
    let mut text_field = TextFieldSearch::default();
    let (mut rejects, mut read) = (RejectList::default(), 0);
    let mut lines = documents::LineCounter::default();
    let (mut batch, mut nulls, mut skipped) = (DocumentBatch::default(), 0, 0);
    let prepare = |scratch: &mut Scratch, number: usize| -> Result<Ready, Failure> {
        let mut read = documents::read(&corpus, &chunks[number], &options.value_fields, scratch)?;
        metadata_search.note(&read.documents);
        let nameless = annotated(&mut read, &sheet, &named);
        let source = chunks[number].source();
        let bytes = read.documents.iter().map(|(.., document)| document.text.len() as u64).sum();
        let documents: Vec<_> = read.documents.into_iter().map(|(.., document)| document).collect();
        let batch = index.prepare(&documents, added, 1)?;
        let documents::ChunkDocuments { rejects, nulls, skipped, null_error, lines, .. } = read;
        Ok(Ready { batch, nameless, rejects, nulls, skipped, null_error, lines, source, bytes })
    };
    let mut total = Added::default();
    thread::scope(|scope| -> Result<(), Failure> {
        // A batch is handed over when the batch before it is committed, so that at most two batches are in memory.
        let (hand_over, full_batches) = sync_channel::<DocumentBatch>(0);
        // Commits take a thread of their own, because the threads that prepare documents would wait for them.
        let (index, total) = (&index, &mut total);
        // `minwise-lab sixteen` measures the time of the thread with this name.
        let committer = thread::Builder::new().name("commit".to_owned()).spawn_scoped(scope, move || {
            full_batches.into_iter().try_for_each(|batch| -> Result<(), Failure> {
                *total += index.commit(batch, threads)?;
                Ok(())
            })
        })?;
        let receive = |mut ready: Ready| -> Result<(), Failure> {
            if progress.cancelled() {
                return Err(Failure::Interrupted);
            }
            let before = lines.before(ready.source, ready.lines);
            let hint = "`--null keep` skips such records, and `--null reject` rejects them";
            documents::refuse_null(&corpus, before, ready.null_error.as_ref(), hint)?;
            let has_others = ready.nulls + ready.skipped + ready.batch.len() as u64 > 0;
            text_field.note(has_others, &ready.rejects, &corpus)?;
            nulls += ready.nulls;
            skipped += ready.skipped;
            ready.name_documents(&corpus, before, &sheet, &named);
            read += ready.batch.len() as u64;
            batch.append(ready.batch);
            if batch.is_full() {
                hand_over_batch(&hand_over, std::mem::take(&mut batch), threads)?;
            }
            rejects.extend(ready.rejects, &corpus, before);
            progress.advance(ready.bytes);
            Ok(())
        };
        let ended = parallel::in_order_within(
            AHEAD_BYTES,
            |ready: &Ready| ready.bytes,
            chunks.len(),
            threads,
            Scratch::new,
            prepare,
            receive,
        );
        drop(hand_over);
        committer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        ended
    })?;
    text_field.finish(&corpus)?;
    total += index.commit(batch, threads)?;
    progress.clear();

    let counts = AddCounts {
        read,
        total,
        rejected: rejects.count(),
        nulls,
        skipped_files: corpus.skipped().len() as u64,
        skipped_records: skipped,
    };
    counts.print(args, &index.statistics()?, started.elapsed(), printer);
    printer.skipped(corpus.skipped());
    metadata_search.warn(read, printer);
    if named.into_inner() < sheet.len() as u64 {
        unnamed(&index, &sheet, printer)?;
    }
    let are_permitted = rejects.finish((&corpus, read), list, permitted, printer, fate_of_rejects(read))?;
    Ok(if are_permitted { Exit::Done } else { Exit::Error })
}

impl Ready {
    /// Gives each document without an id the id `FILE:LINE` and the metadata that the sheet has for it. `before` lines of
    /// the source come before the chunk.
    fn name_documents(&mut self, corpus: &Corpus, before: u64, sheet: &documents::Sheet, named: &AtomicU64) {
        for (at, source, line, mut document) in std::mem::take(&mut self.nameless) {
            let name = corpus.sources()[source as usize].id();
            document.id = format!("{name}:{}", before + line + 1);
            named.fetch_add(u64::from(documents::annotate(&mut document, sheet)), Ordering::Relaxed);
            self.batch.describe(at, &document);
        }
    }
}

/// Gives the documents of a chunk the metadata of the sheet, and counts in `named` the documents that the sheet has.
/// Returns the documents without an id, as [`Ready::nameless`] has them.
fn annotated(
    read: &mut documents::ChunkDocuments,
    sheet: &documents::Sheet,
    named: &AtomicU64,
) -> Vec<(usize, u32, u64, NewDocument)> {
    let mut nameless = vec![];
    for (at, (source, line, document)) in read.documents.iter_mut().enumerate() {
        named.fetch_add(u64::from(documents::annotate(document, sheet)), Ordering::Relaxed);
        if document.id.is_empty() {
            let mut known = NewDocument::default().metadata(document.metadata.clone());
            known.title.clone_from(&document.title);
            nameless.push((at, *source, *line, known));
        }
    }
    nameless
}

/// Counts of the summary.
struct AddCounts {
    read: u64,
    total: Added,
    rejected: u64,
    nulls: u64,
    skipped_files: u64,
    skipped_records: u64,
}

impl AddCounts {
    /// Prints the summary, and its event in the log.
    fn print(&self, args: &IndexAddArgs, statistics: &Statistics, elapsed: Duration, printer: &Printer) {
        let Self { read, total, rejected, nulls, skipped_files, skipped_records } = *self;
        printer.event(&serde_json::json!({
            "event": "summary", "read": read, "new": total.new, "replaced": total.replaced,
            "unchanged": total.unchanged, "rejected": rejected, "nulls": nulls,
            "skipped_files": skipped_files, "skipped_records": skipped_records,
            "documents": statistics.documents, "elapsed_ms": elapsed.as_millis() as u64,
        }));
        let mut lines = SummaryLines::default();
        lines.line("read", format!("{}{}", counted(read, "document"), summary::with_nulls(nulls)));
        lines.line("documents", described(total));
        lines.line("rejected", counted(rejected, "record"));
        let skipped = summary::skipped(skipped_files, skipped_records, args.messages.verbose);
        lines.optional("skipped", skipped);
        lines.line("archive", archive_line(statistics, &args.folder));
        lines.line("time", summary::time(elapsed, read, 0));
        printer.note(&lines.to_string());
    }
}

/// Formats the numbers of added documents.
fn described(total: Added) -> String {
    let Added { new, replaced, unchanged, .. } = total;
    format!("{} added, {} replaced, {} unchanged", grouped(new), grouped(replaced), grouped(unchanged))
}

/// Formats the size of the archive.
fn archive_line(statistics: &Statistics, folder: &str) -> String {
    let documents = counted(statistics.documents, "document");
    let [text, disk] = [statistics.text_bytes, statistics.disk_bytes].map(size);
    format!("{documents}, {text} of text, {disk} on disk in `{}`", visible(folder))
}

/// Refuses the folder of the archive as an input.
fn refuse_itself(args: &IndexAddArgs) -> Result<(), Failure> {
    let Ok(archive) = fs_err::canonicalize(&args.folder) else { return Ok(()) };
    for input in &args.inputs {
        if fs_err::canonicalize(input).is_ok_and(|input| input == archive) {
            let shown = visible(&input.to_string_lossy()).into_owned();
            let message = format!("`{shown}` is the archive itself, and has no documents to add");
            return Err(
                CommandError::Archive.with(message, Some("name the files or folders of the documents"))
            );
        }
    }
    Ok(())
}

/// Refuses inputs in which two files of different folders have the same relative path. Longer ids would distinguish
/// these files, but then all other files would get longer ids, too, and would not match their ids in the archive.
fn same_ids(corpus: &Corpus) -> Result<(), Failure> {
    let Some(SameId { id, names: [first, second], .. }) = corpus.same_id() else { return Ok(()) };
    let [first, second, id] = [first, second, id].map(|name| visible(name));
    let message = format!("`{first}` and `{second}` would both be the document `{id}`");
    Err(CommandError::SameIds.with(message, Some("add the folder that holds both: ids are paths within it")))
}

/// Hands a full batch to the committer. With one thread, returns when the batch is committed.
fn hand_over_batch(
    committer: &SyncSender<DocumentBatch>,
    batch: DocumentBatch,
    threads: usize,
) -> Result<(), Failure> {
    // After an error, the committer takes no more batches, and its error ends the run.
    committer.send(batch).map_err(|_| Failure::Interrupted)?;
    if threads == 1 {
        // The committer takes an empty batch when the full one is committed, so one thread works at a time.
        committer.send(DocumentBatch::default()).map_err(|_| Failure::Interrupted)?;
    }
    Ok(())
}

/// Returns what the list of rejects states of one rejected record, and of several.
fn fate_of_rejects(read: u64) -> [&'static str; 2] {
    match read {
        0 => ["the rejected record is not in the archive", "the rejected records are not in the archive"],
        _ => [
            "the rejected record is not in the archive; all other documents are",
            "the rejected records are not in the archive; all other documents are",
        ],
    }
}

/// Search for fields of `--meta-fields` that no record has.
struct MetadataSearch {
    fields: Vec<(String, AtomicBool)>,
}

impl MetadataSearch {
    fn new(fields: &[FieldPath]) -> Self {
        Self { fields: fields.iter().map(|field| (field.to_string(), AtomicBool::new(false))).collect() }
    }

    /// Notes the fields of documents. Several threads call this at the same time.
    fn note(&self, documents: &[(u32, u64, NewDocument)]) {
        for (name, is_found) in &self.fields {
            if documents.iter().any(|(.., document)| document.metadata.contains_key(name)) {
                is_found.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Warns of each field that no noted document has. If nothing was read, the fields are not to blame.
    fn warn(&self, read: u64, printer: &Printer) {
        if read == 0 {
            return;
        }
        for (name, _) in self.fields.iter().filter(|(_, is_found)| !is_found.load(Ordering::Relaxed)) {
            let message = format!("`--meta-fields`: no record has the field `{}`", visible(name));
            printer.warning(CommandWarning::UnusedMetadata.code(), &message);
        }
    }
}

/// Warns of ids in the sheet that no document of the archive has.
fn unnamed(index: &minwise_index::Index, sheet: &documents::Sheet, printer: &Printer) -> Result<(), Failure> {
    let mut missing = vec![];
    for id in sheet.keys() {
        if !index.has(id)? {
            missing.push(format!("`{}`", visible(id)));
        }
    }
    if !missing.is_empty() {
        let shown = missing.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        let count = counted(missing.len() as u64, "id");
        let message = format!("`--meta` has {count} that no document has: {shown}");
        printer.warning(CommandWarning::UnusedMetadata.code(), &message);
    }
    Ok(())
}
