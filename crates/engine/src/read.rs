//! The first stage: every document read, shingled and sketched, and little of it remembered.

use std::sync::Arc;

use minwise::Spec;
use minwise::keep::Keep;
use minwise::shingle::{Shingler, Shingles, Shingling, Unit};
use minwise::sketch::{Sketcher, Sketches};
use minwise_corpus::{Corpus, Document, Layout, Place, Reject, Scratch};

use crate::error::{Error, ErrorKind};
use crate::observe::{Observer, Stage, Warning};
use crate::parallel;
use crate::settings::ReadSettings;
use crate::table::{Documents, New};

/// Bytes that one thread reads at a time: enough that handing out work costs nothing, few enough that all threads
/// finish together.
const CHUNK_BYTES: u64 = 2 << 20;

/// A record that was not taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The number of its source.
    pub source: u32,
    /// Its line, from 1; 1 for a whole file.
    pub line: u64,
    /// Its id, where it could be read.
    pub id: Option<String>,
    /// A stable name for the reason.
    pub code: String,
    /// The reason in words.
    pub message: String,
}

/// What the first stage found.
#[derive(Debug)]
pub struct Reading {
    /// The documents.
    pub documents: Documents,
    /// The records that were not taken in.
    pub rejected: Vec<Rejected>,
    /// Documents in which lone surrogates were replaced.
    pub repaired: u64,
    pub(crate) sketches: Sketches,
    /// Documents with equal keys have equal shingles, or no shingles and equal texts.
    pub(crate) equality_keys: Vec<u128>,
}

/// Reads and sketches a corpus.
pub fn read(corpus: &Corpus, settings: &ReadSettings, observer: &dyn Observer) -> Result<Reading, Error> {
    let chunks = corpus.chunks(CHUNK_BYTES);
    observer.begin(Stage::Read, corpus.size_bytes());

    let sketcher = settings.spec.sketcher()?;
    let mut reading = Reading::new(sketcher.words());
    // Lines are numbered within a source; chunks come in the order of sources and lines.
    let mut lines = (0, 0);
    let prepare = || Worker::new(settings, sketcher.clone());
    let work = |worker: &mut Worker, chunk: usize| -> Result<_, Error> {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let chunk = &chunks[chunk];
        let part = worker.read(corpus, chunk)?;
        observer.advance(chunk.size_bytes());
        Ok((chunk, part))
    };
    parallel::in_order(chunks.len(), settings.threads, prepare, work, |(chunk, (mut part, scanned))| {
        if chunk.source() != lines.0 {
            lines = (chunk.source(), 0);
        }
        if reading.documents.is_empty() && chunk.size_bytes() >= CHUNK_BYTES / 2 {
            // Growing step by step would copy everything several times and need twice the memory while it does. Memory
            // that is reserved and never used costs nothing; where there is a limit on it, growing must do.
            let share = corpus.size_bytes() as f64 / chunk.size_bytes() as f64;
            reading.reserve((part.documents.len() as f64 * share * 1.1) as usize);
        }
        reading.append(&mut part, lines.1)?;
        lines.1 += scanned;
        reading.check_rejects(corpus, settings.max_rejects)
    })?;

    if let Some(pair) = reading.documents.find_repeated_ids(corpus) {
        let documents = &reading.documents;
        observer.warn(&Warning::RepeatedIds {
            documents: documents.repeated_ids(),
            example: documents.raw_id(pair[0]).to_owned(),
            places: pair.map(|document| documents.place_name(document, corpus).into_owned()),
        });
    }
    if reading.repaired > 0 {
        observer.warn(&Warning::Repaired { documents: reading.repaired });
    }
    Ok(reading)
}

impl Reading {
    fn new(words: usize) -> Self {
        Self {
            documents: Documents::default(),
            rejected: vec![],
            repaired: 0,
            sketches: Sketches::new(words),
            equality_keys: vec![],
        }
    }

    fn reserve(&mut self, documents: usize) {
        self.documents.reserve(documents);
        self.sketches.reserve(documents);
        let _ = self.equality_keys.try_reserve(documents);
    }

    fn append(&mut self, part: &mut Self, first_line: u64) -> Result<(), Error> {
        self.documents.append(&mut part.documents, first_line);
        for rejected in &mut part.rejected {
            rejected.line += first_line;
        }
        self.rejected.append(&mut part.rejected);
        self.repaired += part.repaired;
        self.sketches.append(&mut part.sketches);
        self.equality_keys.append(&mut part.equality_keys);
        // The last number is left free to mean "none".
        if self.documents.len() >= u32::MAX as usize {
            Err(ErrorKind::TooManyDocuments.into())
        } else {
            Ok(())
        }
    }

    fn check_rejects(&self, corpus: &Corpus, allowed: Option<u64>) -> Result<(), Error> {
        let Some(allowed) = allowed else { return Ok(()) };
        // The one that is too many, whatever else the same chunk held, so that the message is always the same.
        let Some(last) = self.rejected.get(usize::try_from(allowed).unwrap_or(usize::MAX)) else {
            return Ok(());
        };
        Err(ErrorKind::TooManyRejects { allowed, last: last.describe(corpus) }.into())
    }
}

impl Rejected {
    /// Where it stands and why it was rejected, in one line.
    #[must_use]
    pub fn describe(&self, corpus: &Corpus) -> String {
        let source = corpus.sources().get(self.source as usize).map_or("?", |source| source.name());
        let source = minwise_corpus::escape_control(source);
        match corpus.layout() {
            Layout::Jsonl => format!("{source}:{}: {}", self.line, self.message),
            Layout::Texts => format!("{source}: {}", self.message),
        }
    }
}

/// One thread's room to work in.
struct Worker {
    spec: Spec,
    keep: Keep,
    shingler: Shingler,
    sketcher: Arc<dyn Sketcher>,
    shingles: Shingles,
    scratch: Scratch,
    /// Documents of the chunk before, as a guess at those of the next.
    before: usize,
}

impl Worker {
    fn new(settings: &ReadSettings, sketcher: Arc<dyn Sketcher>) -> Self {
        Self {
            spec: settings.spec,
            keep: settings.keep,
            shingler: settings.spec.shingler(),
            sketcher,
            shingles: Shingles::new(),
            scratch: Scratch::new(),
            before: 0,
        }
    }

    /// Reads one chunk; gives how many lines it has too.
    fn read(&mut self, corpus: &Corpus, chunk: &minwise_corpus::Chunk) -> Result<(Reading, u64), Error> {
        let mut part = Reading::new(self.sketcher.words());
        part.reserve(self.before + self.before / 8);
        let Self { spec, keep, shingler, sketcher, shingles, scratch, .. } = self;
        let lines = corpus.scan(chunk, scratch, &mut |place, document| match document {
            Ok(document) => {
                shingler.shingle_into(&document.text, shingles);
                if shingler.refuses(shingles) {
                    part.reject_short(&place, &document, shingles.units(), &spec.shingling);
                } else {
                    part.add(place, &document, shingles, &**sketcher, *keep);
                }
            }
            Err(reject) => part.reject(&place, reject),
        })?;
        self.before = part.documents.len();
        Ok((part, lines.0))
    }
}

impl Reading {
    fn add(
        &mut self,
        place: Place,
        document: &Document<'_>,
        shingles: &Shingles,
        sketcher: &dyn Sketcher,
        keep: Keep,
    ) {
        let hashes = shingles.hashes();
        self.documents.add(&New {
            place,
            id: document.id.as_deref(),
            // Counting costs a pass over the text, and only a policy that looks at lengths needs it.
            characters: if keep.needs_lengths() { document.text.chars().count() as u64 } else { 0 },
            has_shingles: !hashes.is_empty(),
        });
        self.equality_keys.push(shingles.equality_key());
        sketcher.sketch_into(hashes, self.sketches.push());
        self.repaired += u64::from(document.repaired);
    }

    fn reject(&mut self, place: &Place, reject: Reject) {
        self.rejected.push(Rejected {
            source: place.source,
            line: place.line + 1,
            code: reject.reason.code().to_owned(),
            message: reject.reason.to_string(),
            id: reject.id,
        });
    }

    fn reject_short(&mut self, place: &Place, document: &Document<'_>, units: usize, shingling: &Shingling) {
        let unit = match shingling.unit() {
            Unit::Words => "tokens",
            Unit::Chars => "characters",
            Unit::Terms => "terms",
        };
        self.rejected.push(Rejected {
            source: place.source,
            line: place.line + 1,
            id: document.id.as_deref().map(str::to_owned),
            code: "too_short".to_owned(),
            message: format!("the text has {units} {unit}, and a shingle needs {}", shingling.size()),
        });
    }
}
