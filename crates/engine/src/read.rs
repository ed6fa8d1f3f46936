//! The first stage: every document read, shingled and sketched, and little of it remembered.

use minwise::Spec;
use minwise::keep::Keep;
use minwise::shingle::{Shingles, Shingling, Unit};
use minwise::sketch::Sketches;
use minwise_corpus::{Corpus, Document, Layout, Place, Reject, Scratch};

use crate::error::{Error, ErrorKind};
use crate::observe::{Observer, Stage, Warning};
use crate::parallel;
use crate::prepare::{Preparation, Prepared};
use crate::rows::Rows;
use crate::screen::Placed;
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
    /// What is kept of each sketch: [`Rows`] says what that is.
    pub(crate) sketches: Sketches,
    /// Where the shingles stand, if that matters.
    pub(crate) places: Option<Sketches>,
    /// Documents with equal keys have equal shingles, or no shingles and equal texts.
    pub(crate) equality_keys: Vec<u128>,
}

/// Reads and sketches a corpus.
pub fn read(corpus: &Corpus, settings: &ReadSettings, observer: &dyn Observer) -> Result<Reading, Error> {
    let chunks = corpus.chunks(CHUNK_BYTES);
    observer.begin(Stage::Read, corpus.size_bytes());

    let tools = Tools::new(settings)?;
    let mut reading = Reading::new(&tools);
    // Lines are numbered within a source; chunks come in the order of sources and lines.
    let mut lines = (0, 0);
    let prepare = || Worker::new(settings, &tools);
    let work = |worker: &mut Worker<'_>, chunk: usize| -> Result<_, Error> {
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
    fn new(tools: &Tools) -> Self {
        Self {
            documents: Documents::default(),
            rejected: vec![],
            repaired: 0,
            sketches: Sketches::new(tools.words()),
            places: tools.placed.as_ref().map(|placed| Sketches::new(placed.words())),
            equality_keys: vec![],
        }
    }

    fn reserve(&mut self, documents: usize) {
        self.documents.reserve(documents);
        self.sketches.reserve(documents);
        if let Some(places) = &mut self.places {
            places.reserve(documents);
        }
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
        if let (Some(places), Some(part)) = (&mut self.places, &mut part.places) {
            places.append(part);
        }
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
            Layout::Records => format!("{source}:{}: {}", self.line, self.message),
            Layout::Texts => format!("{source}: {}", self.message),
        }
    }
}

/// What all threads sketch with.
struct Tools {
    preparation: Preparation,
    /// What is kept of a sketch, unless all of it is.
    rows: Option<Rows>,
    placed: Option<Placed>,
}

impl Tools {
    fn new(settings: &ReadSettings) -> Result<Self, Error> {
        let spec = &settings.spec;
        Ok(Self {
            preparation: Preparation::new(spec, &settings.weighing)?,
            rows: settings.bits.map(|(bits, banding)| Rows::new(spec, banding, Some(bits))).transpose()?,
            placed: settings.places.then(|| Placed::new(spec.seed)).transpose()?,
        })
    }

    /// Words that are kept of a sketch.
    fn words(&self) -> usize {
        self.rows.as_ref().map_or_else(|| self.preparation.words(), Rows::words)
    }
}

/// One thread's room to work in.
struct Worker<'a> {
    spec: Spec,
    keep: Keep,
    tools: &'a Tools,
    prepared: Prepared,
    registers: Vec<u32>,
    scratch: Scratch,
    /// Documents of the chunk before, as a guess at those of the next.
    before: usize,
}

impl<'a> Worker<'a> {
    fn new(settings: &ReadSettings, tools: &'a Tools) -> Self {
        Self {
            spec: settings.spec,
            keep: settings.keep,
            tools,
            prepared: Prepared::default(),
            registers: vec![0; tools.preparation.words()],
            scratch: Scratch::new(),
            before: 0,
        }
    }

    /// Reads one chunk; gives how many lines it has too.
    fn read(&mut self, corpus: &Corpus, chunk: &minwise_corpus::Chunk) -> Result<(Reading, u64), Error> {
        let mut part = Reading::new(self.tools);
        part.reserve(self.before + self.before / 8);
        let Self { spec, keep, tools, prepared, registers, scratch, .. } = self;
        let preparation = &tools.preparation;
        let lines = corpus.scan(chunk, scratch, &mut |place, document| match document {
            Ok(document) => {
                preparation.shingle(&document.text, prepared);
                if preparation.shingler().refuses(&prepared.shingles) {
                    part.reject_short(&place, &document, prepared.shingles.units(), &spec.shingling);
                } else {
                    let has_shingles = preparation.weigh(prepared);
                    part.add(place, &document, &prepared.shingles, has_shingles, *keep);
                    part.sketch(prepared, tools, registers);
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
        has_shingles: bool,
        keep: Keep,
    ) {
        self.documents.add(&New {
            place,
            id: document.id.as_deref(),
            // Counting costs a pass over the text, and only a policy that looks at lengths needs it.
            characters: if keep.needs_lengths() { document.text.chars().count() as u64 } else { 0 },
            has_shingles,
        });
        self.equality_keys.push(shingles.equality_key());
        self.repaired += u64::from(document.repaired);
    }

    fn sketch(&mut self, prepared: &Prepared, tools: &Tools, registers: &mut [u32]) {
        let row = self.sketches.push();
        match &tools.rows {
            None => tools.preparation.sketch_into(prepared, row),
            Some(rows) => {
                tools.preparation.sketch_into(prepared, registers);
                rows.store(registers, row);
            }
        }
        if let (Some(placed), Some(places)) = (&tools.placed, &mut self.places) {
            placed.sketch_into(tools.preparation.in_order(prepared), places.push());
        }
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
