//! Measures an archive of the size in Yuan 2019, §6.5: how fast documents are added, how much disk space they
//! take, how long opening takes, and how long a check takes.
//!
//!     cargo bench -p minwise-index --bench archive -- [DOCUMENTS] [FOLDER] [THREADS]
//!
//! Documents have about 2 kB of words drawn by a law like Zipf's. One document in five repeats most words of
//! an earlier document. The default is 20,000 documents; the archive of the source has 1,200,000. The
//! benchmark shows neither the cost of long documents nor the cost of text from a shared form. One thread commits,
//! so its CPU time per document bounds the speed of any number of threads.

#![allow(clippy::print_stdout, reason = "what is measured is printed")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use minwise::hash::SplitMix64;
use minwise_index::{CheckOptions, DocumentBatch, Index, IndexSettings, NewDocument, Query, Unobserved};

/// Number of documents that are prepared together.
const TOGETHER: u64 = 2048;
/// Number of batches that are made before the clock starts.
const MADE: u64 = 32;
/// Number of words per document.
const WORDS: usize = 205;
/// Number of checks that are timed.
const CHECKS: u64 = 2000;

fn word(random: &mut SplitMix64, out: &mut String) {
    // Raising a uniform number to the fourth power makes small numbers common.
    let uniform = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut number = (uniform.powi(4) * 60_000.0) as u64 + 1;
    while number > 0 {
        out.push_str(
            ["ka", "to", "ri", "me", "sun", "vel", "dor", "an", "shi", "pel", "ur"][(number % 11) as usize],
        );
        number /= 11;
    }
}

/// Returns the text of a document: its own text, or, for one document in five, the text of an earlier
/// document with one word in twelve changed.
fn text(number: u64) -> String {
    let draw = SplitMix64::new(number).next_u64();
    if number % 5 == 4 { text_like(number - 1 - draw % 4, number) } else { text_like(number, number) }
}

/// Returns the text of `original` with one word in twelve changed by `number`, or unchanged if `number` is
/// `original`.
fn text_like(original: u64, number: u64) -> String {
    let (mut words, mut changes) = (SplitMix64::new(original ^ 0x5eed), SplitMix64::new(number));
    let mut text = String::new();
    for at in 0..WORDS {
        let seed = words.next_u64();
        let (change, other) = (changes.next_u64(), changes.next_u64());
        let changed = original != number && change % 12 == 0;
        word(&mut SplitMix64::new(if changed { other } else { seed }), &mut text);
        text.push_str(if at % 12 == 11 { ".\n" } else { " " });
    }
    text
}

fn document(number: u64) -> NewDocument {
    NewDocument::new(number.to_string(), text(number))
}

/// Returns the CPU time of this thread, or zero if the operating system does not report it.
fn cpu_time() -> Duration {
    let text = fs_err::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Wall-clock time and CPU time of the thread that commits.
#[derive(Default)]
struct CommitTime {
    wall: Duration,
    cpu: Duration,
}

impl CommitTime {
    fn commit(&mut self, index: &Index, batch: DocumentBatch, threads: usize) -> minwise_index::Result<()> {
        let (start, cpu) = (Instant::now(), cpu_time());
        index.commit(batch, threads)?;
        self.wall += start.elapsed();
        self.cpu += cpu_time().saturating_sub(cpu);
        Ok(())
    }
}

/// Prepares batches on all threads, and adds them in order.
fn add(
    index: &Index,
    batches: &[Vec<NewDocument>],
    threads: usize,
    time: &mut CommitTime,
) -> minwise_index::Result<()> {
    let next = AtomicUsize::new(0);
    let (send, receive) = sync_channel(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                while let Some((number, batch)) =
                    batches.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
                {
                    if send.send((number, index.prepare(batch, 0, 1))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let (mut waiting, mut number, mut together) = (BTreeMap::new(), 0, DocumentBatch::default());
        for (prepared, batch) in receive {
            waiting.insert(prepared, batch);
            while let Some(batch) = waiting.remove(&number) {
                together.append(batch?);
                if together.is_full() {
                    time.commit(index, std::mem::take(&mut together), threads)?;
                }
                number += 1;
            }
        }
        time.commit(index, together, threads)
    })
}

fn peak_bytes() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let documents: u64 = arguments.next().map_or(Ok(20_000), |number| number.parse())?;
    let temporary = tempfile::tempdir()?;
    let folder = arguments.next().map_or_else(|| temporary.path().join("archive"), PathBuf::from);
    let cores = std::thread::available_parallelism()?.get();
    let threads = arguments.next().map_or(Ok(cores), |number| number.parse())?;

    if !folder.exists() {
        fill(&folder, documents, threads)?;
    }
    ask(&folder, documents)
}

/// Creates and fills the archive.
fn fill(folder: &Path, documents: u64, threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    let index = Index::create(folder, &IndexSettings::default())?;
    let (mut adding, mut compressed, mut time) = (Duration::ZERO, 0, CommitTime::default());
    for first in (0..documents).step_by((MADE * TOGETHER) as usize) {
        // Texts are made before the clock starts, because making them takes as long as adding them.
        let batches: Vec<Vec<NewDocument>> = (first..documents.min(first + MADE * TOGETHER))
            .step_by(TOGETHER as usize)
            .map(|first| (first..documents.min(first + TOGETHER)).map(document).collect())
            .collect();
        if first == 0 {
            let all: String = batches[0].iter().map(|document| document.text.as_str()).collect();
            compressed = zstd::bulk::compress(all.as_bytes(), 3)?.len() as u64 / batches[0].len() as u64;
        }
        let start = Instant::now();
        add(&index, &batches, threads, &mut time)?;
        adding += start.elapsed();
    }
    let start = Instant::now();
    index.compact(&Unobserved)?;
    let compacting = start.elapsed();
    let statistics = index.statistics()?;
    println!(
        "{documents} documents of {} bytes, added in {:.1} s: {:.0} documents/s on {threads} threads; compacted in {:.1} s",
        statistics.text_bytes / documents,
        adding.as_secs_f64(),
        documents as f64 / adding.as_secs_f64(),
        compacting.as_secs_f64(),
    );
    let per_document = |time: Duration| time.as_secs_f64() * 1e6 / documents as f64;
    println!(
        "the committing thread took {:.1} µs per document, and {:.1} µs of CPU time",
        per_document(time.wall),
        per_document(time.cpu)
    );
    let each = statistics.disk_bytes / documents;
    let allowed = 3 * compressed / 2 + 1000;
    println!(
        "{each} bytes a document on disk; its text compressed in one stream {compressed}, by itself {}; \
         1.5 times that and 1 kB: {allowed}",
        statistics.stored_text_bytes / documents
    );
    Ok(())
}

/// Opens the archive and checks texts against it.
fn ask(folder: &Path, documents: u64) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let index = Index::open(folder)?;
    println!("open in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    let mut times = vec![];
    let mut found = 0;
    for number in 0..2 * CHECKS {
        // The text is that of an archived document with one word in twelve changed.
        let text = text_like(number * 7919 % documents / 5 * 5, documents + number);
        let start = Instant::now();
        let answer = index.check(&Query::new(&text), &CheckOptions::default())?;
        if number >= CHECKS {
            times.push(start.elapsed());
        }
        found += answer.matches.len();
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "checks, warm: median {:.2} ms, 99th percentile {:.2} ms, slowest {:.2} ms; {found} matches",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    if let Some(bytes) = peak_bytes() {
        println!("peak memory {} MiB", bytes >> 20);
    }
    Ok(())
}
