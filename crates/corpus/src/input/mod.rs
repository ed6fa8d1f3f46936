//! Resolves inputs to sources.
//!
//! An [`Input`] is standard input, a file, a folder, a pattern, or documents in memory. The files of folders and
//! patterns are sorted by name, so that a corpus has the same order on every machine.

mod identity;
mod pattern;
mod skip;
mod typed;
mod unpack;
mod unreadable;
mod walk;

use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub(crate) use identity::{FileId, FileIds};
pub(crate) use skip::is_system_file;
pub use skip::{SkipReason, Skipped};
pub use typed::Input;

use minwise::{Observer, Stage};

use self::identity::Admission;
use self::skip::SkippedFiles;
use self::unpack::{PackedFile, UnpackedFile, unpack};
use self::unreadable::Unreadable;
use self::walk::FoundFile;
use crate::compression::{Compression, MAGIC_BYTES};
use crate::container::{self, HEAD_BYTES, LOOK_BYTES, Opening};
use crate::error::{Error, ErrorKind, Result, SPOOL, STDIN};
use crate::extract::{NUL_LOOK_BYTES, has_many_nuls};
use crate::format::{Format, InputFormat, Layout};
use crate::members::GzipMembers;
use crate::memory::InMemory;
use crate::options::ReadOptions;
use crate::positional::read_at;
use crate::source::{Origin, Packed, Source, SourceBytes, open_file, os_error};
use crate::sources::{Content, CorpusState, Sources};
use crate::spool::{Spool, Spooled};

/// Maximum number of files of records that are kept open. Further files are opened for each read, because a process
/// may have only about a thousand open files.
const KEPT_OPEN: usize = 256;

/// Number of compressed files that are open until they are decompressed together.
const WAITING: usize = 128;

/// Size of the buffer through which compressed files are read.
const READ_BYTES: usize = 256 << 10;

/// Sources of the inputs, and all that was noted while the inputs were resolved.
pub(crate) struct Resolved {
    pub(crate) sources: Sources,
    pub(crate) file_ids: FileIds,
    pub(crate) walked: Vec<Walked>,
    pub(crate) same_id: Option<SameId>,
    pub(crate) skipped: Vec<Skipped>,
}

/// Two texts with the same path inside their folders, because of which all ids were made longer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SameId {
    /// Path of both texts inside their folders. Without the other text, the path would be the id of a text.
    pub id: String,
    /// Names of the two texts.
    pub names: [String; 2],
}

/// A folder that was walked.
#[derive(Debug)]
pub(crate) struct Walked {
    /// Name of the folder as it was given.
    pub(crate) name: String,
    /// Path of the folder, with links resolved.
    pub(crate) path: PathBuf,
}

/// Resolves the references and then the inputs, in order.
pub(crate) fn resolve(
    references: &[Input],
    inputs: &[Input],
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Resolved> {
    let mut resolver = Resolver {
        options,
        observer,
        spools: vec![],
        waiting: vec![],
        is_unpacking: false,
        sources: Vec::new(),
        file_ids: FileIds::default(),
        walked: Vec::new(),
        beside: SkippedFiles::default(),
        format: None,
        references: 0,
        names: SourceNames::default(),
    };
    resolver.inputs(references)?;
    resolver.references = resolver.sources.len();
    check_readable(&resolver.sources, options)?;
    // The format of the references is forgotten, because the inputs may have another layout.
    let reference_format = resolver.format.take();
    resolver.inputs(inputs)?;
    check_readable(resolver.sources.get(resolver.references..).unwrap_or_default(), options)?;
    let Some(format) = resolver.format else { return Err(Error::new(ErrorKind::NoInput)) };
    let Resolver { mut sources, file_ids, walked, beside, references, .. } = resolver;
    // Texts are identified by their ids. No two texts may therefore have the same id, and the texts of references
    // count, too.
    let is_text = |format: Option<Format>| format.is_some_and(|format| format.layout() == Layout::Texts);
    let same_id = match (is_text(reference_format), is_text(Some(format))) {
        (true, true) => tell_apart(&mut sources),
        (true, false) => tell_apart(sources.split_at_mut(references).0),
        (false, true) => tell_apart(sources.split_at_mut(references).1),
        (false, false) => None,
    };
    let (reference_sources, input_sources) = sources.split_at(references);
    let mut contents = Vec::with_capacity(sources.len());
    // Values are not read from references, because the values serve to choose keepers, and references are kept in any
    // case.
    let reference_options = ReadOptions { value_fields: vec![], ..options.clone() };
    open_contents(reference_sources, &reference_options, observer, &mut contents)?;
    open_contents(input_sources, options, observer, &mut contents)?;
    for (source, content) in sources.iter_mut().zip(&contents) {
        source.size_bytes = content.text_bytes().unwrap_or(source.size_bytes);
    }
    let sources = Sources::new(sources, contents, references, CorpusState::new(options.clone()));
    Ok(Resolved { sources, file_ids, walked, same_id, skipped: beside.skipped })
}

/// Opens sources, and adds their contents to `contents`.
fn open_contents(
    sources: &[Source],
    options: &ReadOptions,
    observer: &dyn Observer,
    contents: &mut Vec<Box<dyn Content>>,
) -> Result<()> {
    for source in sources {
        if observer.cancelled() {
            return Err(Error::new(ErrorKind::Cancelled));
        }
        contents.push(match source.unreadable() {
            Some(message) => Box::new(Unreadable { message: message.to_owned() }),
            None => container::of(source.format)?.open(&Opening { source, options, observer })?,
        });
    }
    Ok(())
}

/// Refuses the sources if none can be read, or if at least one cannot be read and `strict` makes this an error.
fn check_readable(sources: &[Source], options: &ReadOptions) -> Result<()> {
    let mut unread = sources.iter().filter_map(|source| Some((source.name(), source.unreadable()?)));
    let Some((name, message)) = unread.next() else { return Ok(()) };
    let others = unread.count();
    if !options.strict && others + 1 < sources.len() {
        return Ok(());
    }
    let (name, message) = (name.to_owned(), message.to_owned());
    Err(Error::new(ErrorKind::Unreadable { name, message, others, strict: options.strict }))
}

/// Adds one more folder of the path to all ids, as long as two texts have the same id. Returns the first two texts
/// with the same id.
fn tell_apart(sources: &mut [Source]) -> Option<SameId> {
    let mut first = None;
    loop {
        let Some(same) = same_id(sources) else { return first };
        first.get_or_insert(same);
        let mut longer = false;
        for source in &mut *sources {
            if let Some(folder) = source.id_start.checked_sub(1).and_then(|end| source.name.get(..end)) {
                source.id_start = folder.rfind('/').map_or(0, |slash| slash + 1);
                longer = true;
            }
        }
        if !longer {
            return first;
        }
    }
}

/// Finds two sources that have the same id.
fn same_id(sources: &[Source]) -> Option<SameId> {
    let mut seen = HashMap::new();
    sources.iter().find_map(|source| {
        let before: &Source = seen.insert(source.id(), source)?;
        let names = [before, source].map(|source| source.name().to_owned());
        Some(SameId { id: source.id().to_owned(), names })
    })
}

/// Whether a file was named itself or found in a folder or by a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Named,
    Found,
}

/// Reports whether a path may lead to a place that is not below the current folder. The id of a text is also the path
/// of its output in an output folder, so the id must not lead out of that folder.
fn leads_out(path: &Path) -> bool {
    path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
}

struct Resolver<'o> {
    options: &'o ReadOptions,
    observer: &'o dyn Observer,
    /// Temporary files, at most one per thread.
    spools: Vec<Spool>,
    /// Files that are not decompressed yet.
    waiting: Vec<PackedFile>,
    /// Whether the observer knows that inputs are decompressed.
    is_unpacking: bool,
    sources: Vec<Source>,
    file_ids: FileIds,
    walked: Vec<Walked>,
    beside: SkippedFiles,
    /// Format of the first reference or, once inputs are resolved, of the first input.
    format: Option<Format>,
    /// Number of sources that are references; 0 while references are being resolved.
    references: usize,
    names: SourceNames,
}

/// Names of sources, collected only if documents in memory need a name.
#[derive(Default)]
struct SourceNames {
    taken: HashSet<String>,
    /// Number of sources whose names are in `taken`.
    sources: usize,
}

impl SourceNames {
    /// Returns a name that no source has: the wanted name, or else the wanted name with a number.
    fn free(&mut self, wanted: &str, sources: &[Source]) -> String {
        // The name must be new, because documents without an id are named by their source.
        let new = sources.get(self.sources..).unwrap_or_default();
        self.taken.extend(new.iter().map(|source| source.name().to_owned()));
        self.sources = sources.len();
        let (mut name, mut number) = (wanted.to_owned(), sources.len() + 1);
        while self.taken.contains(&name) {
            name = format!("{wanted}-{number}");
            number += 1;
        }
        name
    }
}

impl Resolver<'_> {
    /// Adds inputs, and decompresses their files.
    fn inputs(&mut self, inputs: &[Input]) -> Result<()> {
        let added = inputs.iter().try_for_each(|input| self.input(input));
        // Files before an input that cannot be added are decompressed all the same, because the first error in the
        // order of the inputs is reported.
        self.unpack_waiting()?;
        added
    }

    fn input(&mut self, input: &Input) -> Result<()> {
        match input {
            Input::Stdin => self.stdin(),
            Input::Path(path) => self.path(path),
            Input::Pattern(pattern) => self.pattern(pattern),
            Input::Memory(memory) => self.memory(memory),
            Input::NamedFile { path, name } => self.named_file(path, name),
        }
    }

    /// Adds a file under a name other than its path.
    fn named_file(&mut self, path: &Path, name: &str) -> Result<()> {
        let (name, before) = (self.names.free(name, &self.sources), self.sources.len());
        // The source is renamed after `path` has added it, because the format follows from the name of the file.
        self.path(path)?;
        if let Some(source) = self.sources.get_mut(before) {
            (source.name, source.id_start) = (name.into(), 0);
            source.origin = Origin::NamedFile(path.into());
        }
        Ok(())
    }

    fn memory(&mut self, memory: &InMemory) -> Result<()> {
        let name = self.names.free(memory.name(), &self.sources);
        let format = container::format_of(memory);
        let source = Source {
            name: name.into(),
            id_start: 0,
            origin: Origin::Memory,
            store: SourceBytes::Memory(memory.clone()),
            // The size is unknown here; `resolve` sets it when the content is open.
            size_bytes: 0,
            compression: None,
            format,
            packed: None,
        };
        self.push(source, format)
    }

    fn path(&mut self, path: &Path) -> Result<()> {
        let input = path.to_string_lossy();
        match fs_err::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.folder(&input, path),
            Ok(metadata) => {
                // If a file is called `-`, its name is shown as `./-`, because `-` alone means standard input.
                let name = if input == STDIN { format!("./{STDIN}") } else { slashed(&input) };
                let id_start = if leads_out(path) { name.rfind('/').map_or(0, |slash| slash + 1) } else { 0 };
                self.file(name, id_start, path, Given::Named, metadata.is_file())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::new(ErrorKind::NotFound { input: input.into_owned() }))
            }
            Err(error) => Err(Error::io("open", input, os_error(error))),
        }
    }

    fn folder(&mut self, input: &str, folder: &Path) -> Result<()> {
        let found = walk::files_in(folder, None)?;
        if found.is_empty() {
            return Err(Error::new(ErrorKind::EmptyFolder { folder: input.to_owned() }));
        }
        let path =
            fs_err::canonicalize(folder).map_err(|error| Error::path("open", folder, os_error(error)))?;
        self.walked.push(Walked { name: input.to_owned(), path });
        let prefix = slashed(input);
        let prefix = format!("{}/", prefix.trim_end_matches('/'));
        let beside_records = found.iter().any(|file| Format::of_name(&file.name).is_some());
        self.found(input, (&prefix, prefix.len()), folder, found, beside_records)
    }

    fn pattern(&mut self, input: &str) -> Result<()> {
        let matches = pattern::expand(input)?;
        let id_start = if leads_out(matches.folder) { matches.prefix.len() } else { 0 };
        self.found(input, (&slashed(matches.prefix), id_start), matches.folder, matches.files, false)
    }

    /// Adds the files to which `input` leads. The name of each source is `prefix` plus the name of its file. The part
    /// of the name from byte `id_start` on is the id of the source.
    fn found(
        &mut self,
        input: &str,
        (prefix, id_start): (&str, usize),
        folder: &Path,
        files: Vec<FoundFile>,
        beside_records: bool,
    ) -> Result<()> {
        let (all, skips) = (files.len(), self.beside.skips);
        self.beside.first_of_input = None;
        let archives = skip::archives(folder, files.iter().map(|file| &*file.relative));
        if archives.iter().any(|archive| archive.as_os_str().is_empty()) {
            return Err(Error::new(ErrorKind::Archive { folder: input.to_owned() }));
        }
        for file in files {
            if self.observer.cancelled() {
                return Err(Error::new(ErrorKind::Cancelled));
            }
            let name = format!("{prefix}{}", file.name);
            let path = folder.join(file.relative);
            if let Some(archive) = archives.iter().find(|archive| path.starts_with(folder.join(archive))) {
                let name = format!("{prefix}{}", slashed(&archive.to_string_lossy()));
                self.beside.skip(
                    name.trim_end_matches('/').to_owned(),
                    &folder.join(archive),
                    SkipReason::Archive,
                );
                continue;
            }
            if let Some(reason) = skip::by_name(&file.name, beside_records) {
                self.beside.skip(name, &path, reason);
                continue;
            }
            match file.obstacle {
                Some(obstacle) => self.unreadable(name, id_start, &path, obstacle.message)?,
                None => self.file(name, id_start, &path, Given::Found, true)?,
            }
        }
        if self.beside.skips - skips == all {
            let first = self.beside.first_of_input.take().unwrap_or_default();
            return Err(Error::new(ErrorKind::OnlySkipped { input: input.to_owned(), files: all, first }));
        }
        Ok(())
    }

    /// Adds a file that was found and cannot be read.
    fn unreadable(&mut self, name: String, id_start: usize, path: &Path, message: String) -> Result<()> {
        if !self.beside.is_new(path) {
            return Ok(());
        }
        let origin = origin_of(&name, path);
        let (name, store) = (name.into(), SourceBytes::Unreadable { message });
        // The source gets the format of whole documents, because messages about such a source name no line.
        let (size_bytes, compression, format, packed) = (0, None, Format::DOCUMENT, None);
        self.add(Source { name, id_start, origin, store, size_bytes, compression, format, packed })
    }

    fn stdin(&mut self) -> Result<()> {
        if self.sources.iter().any(|source| matches!(source.origin, Origin::Stdin)) {
            return Err(Error::new(ErrorKind::RepeatedInput {
                input: STDIN.to_owned(),
                first: STDIN.to_owned(),
            }));
        }
        // The file that is connected to standard input is noted, because an output must not replace this file.
        if let Some(id) = FileId::of_stdin() {
            self.file_ids.note(id, self.sources.len());
        }
        self.stream(STDIN.to_owned(), 0, Origin::Stdin, io::stdin().lock())
    }

    fn file(
        &mut self,
        name: String,
        id_start: usize,
        path: &Path,
        given: Given,
        regular: bool,
    ) -> Result<()> {
        let file = match open_file(path, &name) {
            Ok(file) => file,
            Err(error) => {
                let cause =
                    error.io_error().and_then(io::Error::raw_os_error).map(io::Error::from_raw_os_error);
                let message = cause.filter(|_| given == Given::Found);
                let message = message.and_then(|cause| unreadable::reason(path, cause));
                return message.map_or(Err(error), |message| self.unreadable(name, id_start, path, message));
            }
        };
        let metadata = file.metadata().map_err(|error| Error::io("read", &*name, error))?;
        let id = FileId::of(path, &metadata).map_err(|error| Error::io("read", &*name, error))?;
        let sources = &self.sources;
        let first_path = |first: usize| sources.get(first).and_then(Source::path);
        match self.file_ids.admit(id.clone(), path, sources.len(), given, first_path) {
            Admission::New => {}
            Admission::Repeat { first, .. } if first < self.references => {
                let reference = self.sources.get(first).map_or("", Source::name).to_owned();
                return Err(Error::new(ErrorKind::ReferenceIsInput { reference, input: name }));
            }
            Admission::Repeat { first, given: Given::Named } if given == Given::Named => {
                let first = self.sources.get(first).map_or("", Source::name).to_owned();
                return Err(Error::new(ErrorKind::RepeatedInput { input: name, first }));
            }
            Admission::Repeat { .. } => return Ok(()),
        }
        let origin = origin_of(&name, path);
        if !regular {
            return self.stream(name, id_start, origin, file);
        }
        let number = self.sources.len();
        if let Some((name, reason)) = self.regular_file(name, id_start, origin, file, &metadata, given)? {
            self.file_ids.forget(&id, number);
            self.beside.skip(name, path, reason);
        }
        Ok(())
    }

    /// Adds a file. If the file was found in a folder or by a pattern and is no document, returns its name and the
    /// reason instead.
    fn regular_file(
        &mut self,
        name: String,
        id_start: usize,
        origin: Origin,
        file: File,
        metadata: &Metadata,
        given: Given,
    ) -> Result<Option<(String, SkipReason)>> {
        let size_bytes = metadata.len();
        let is_found = given == Given::Found;
        if is_found && size_bytes == 0 && !self.may_be_empty(&name) {
            return Ok(Some((name, SkipReason::Empty)));
        }
        if let (0, Some(compression)) = (size_bytes, Compression::of_name(&name)) {
            // Every compressed stream has a header, so an empty file is probably left from a failed download.
            let (compression, message) = (compression.name(), "the file is empty".to_owned());
            return Err(Error::new(ErrorKind::Damaged { name, compression, at: 0, message }));
        }
        let look = |bytes: usize| {
            look(&file, 0, size_bytes, bytes).map_err(|error| Error::io("read", &*name, error))
        };
        let head = look(HEAD_BYTES)?;
        let compression = Compression::of(&head);
        let format = match (self.format_by_name(&head, &name), compression) {
            (Some(format), _) => format,
            (None, Some(compression)) => {
                let head = decompressed_head(compression, &file)
                    .map_err(|error| Error::io("read", &*name, error))?;
                container::of_content(&head)
            }
            (None, None) => match container::of_head(&head) {
                Some(format) => format,
                None => container::of_content(&look(LOOK_BYTES)?),
            },
        };
        let is_guessed = self.options.format == InputFormat::Auto && compression.is_none();
        if is_found
            && is_guessed
            && !format.is_of_records()
            && skip::may_be_text(&head, &name)
            && has_many_nuls(&look(NUL_LOOK_BYTES)?)
        {
            return Ok(Some((name, SkipReason::Binary)));
        }
        let modified = metadata.modified().ok();
        let source = match compression {
            Some(compression) if !container::of(format)?.reads_compressed() => {
                self.check_format(format, &name)?;
                let notes_members =
                    compression == Compression::Gzip && container::of(format)?.notes_members();
                let packed =
                    notes_members.then(|| Packed { members: GzipMembers::default(), size_bytes, modified });
                let source = self.sources.len();
                let waiting =
                    PackedFile { source, name: name.clone(), file, compression, size_bytes, notes_members };
                self.waiting.push(waiting);
                // The place and the size are set when the file is decompressed.
                Source {
                    packed,
                    ..spooled_source(name, id_start, origin, (None, Spooled::default()), format)
                }
            }
            Some(_) | None => {
                let is_kept = format.layout() == Layout::Records && self.sources.len() < KEPT_OPEN;
                let store = SourceBytes::InPlace { modified, kept_open: is_kept.then(|| Arc::new(file)) };
                let name = name.into();
                Source { name, id_start, origin, store, size_bytes, compression, format, packed: None }
            }
        };
        self.push(source, format)?;
        if self.waiting.len() >= if self.options.threads > 1 { WAITING } else { 1 } {
            self.unpack_waiting()?;
        }
        Ok(None)
    }

    /// Decompresses the files that wait, and gives their sources the places of their bytes.
    fn unpack_waiting(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let threads = self.options.threads.max(1);
        self.begin_spools(threads.min(self.waiting.len()));
        let waiting = std::mem::take(&mut self.waiting);
        let unpacked = unpack(&waiting, &mut self.spools, threads, self.observer)?;
        for (packed, UnpackedFile { spool, spooled, members }) in waiting.iter().zip(unpacked) {
            let Some(source) = self.sources.get_mut(packed.source) else { continue };
            let file = self.spools.get(spool).and_then(Spool::opened).cloned();
            source.store = SourceBytes::Spooled { base: spooled.base, file };
            source.size_bytes = spooled.size_bytes;
            if let (Some(packed), Some(members)) = (&mut source.packed, members) {
                packed.members = members;
            }
        }
        Ok(())
    }

    /// Makes at least `count` spools, and notes that inputs are decompressed.
    fn begin_spools(&mut self, count: usize) {
        if !std::mem::replace(&mut self.is_unpacking, true) {
            self.observer.begin(Stage::Unpack, 0);
        }
        let count = count.max(self.spools.len());
        self.spools.resize_with(count, || Spool::new(self.options.spool_dir.clone()));
    }

    /// Copies a source to the spool and adds it, because the source can be read only once and only forwards.
    fn stream(&mut self, name: String, id_start: usize, origin: Origin, mut stream: impl Read) -> Result<()> {
        let mut head = Vec::new();
        let magic = stream.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head);
        magic.map_err(|error| Error::io("read", &*name, error))?;
        let compression = Compression::of(&head);
        let mut whole = head.as_slice().chain(stream);
        self.begin_spools(1);
        let Some(spool) = self.spools.first_mut() else { return Ok(()) };
        let spooled = match compression {
            Some(compression) => {
                let mut decoder =
                    open_decoder(compression, BufReader::with_capacity(READ_BYTES, whole), &name)?;
                spool.append(&name, Some(compression), &mut decoder, self.observer)?
            }
            None => spool.append(&name, None, &mut whole, self.observer)?,
        };
        let file = spool.opened().cloned();
        let look = match &file {
            Some(file) => look(file, spooled.base, spooled.size_bytes, LOOK_BYTES)
                .map_err(|error| Error::io("read", SPOOL, error))?,
            None => Vec::new(),
        };
        let format = match self.format_by_name(&look, &name) {
            Some(format) => format,
            // Empty standard input is a corpus without records, not one document without text, because a pipeline may
            // have found nothing.
            None if spooled.size_bytes == 0 && matches!(origin, Origin::Stdin) => {
                self.format.unwrap_or(Format::JSONL)
            }
            None => container::of_content(&look),
        };
        self.push(spooled_source(name, id_start, origin, (file, spooled), format), format)
    }

    /// Returns the format, if it follows from the option, the magic number or the name.
    fn format_by_name(&self, head: &[u8], name: &str) -> Option<Format> {
        match self.options.format {
            InputFormat::Only(format) => Some(format),
            InputFormat::Auto => Format::of_magic(head).or_else(|| Format::of_name(name)),
        }
    }

    /// Reports whether an empty file of this name is a file without records. Compressed files and files with a magic
    /// number are never empty, so an empty file with such a name is probably left from a failed download.
    fn may_be_empty(&self, name: &str) -> bool {
        let format = self.format_by_name(&[], name);
        Compression::of_name(name).is_none()
            && format.is_some_and(|format| {
                [Format::JSONL, Format::CSV, Format::TSV, Format::WARC].contains(&format)
            })
    }

    /// Refuses texts beside records, before time is spent on spooling them.
    fn check_format(&self, format: Format, name: &str) -> Result<()> {
        match self.format.filter(|first| first.layout() != format.layout()) {
            Some(first_format) => Err(Error::new(ErrorKind::MixedFormats {
                first: self.first_readable().map_or("", Source::name).to_owned(),
                first_format,
                second: name.to_owned(),
                second_format: format,
            })),
            None => Ok(()),
        }
    }

    /// Returns the first source that has a format, among the references or, once they are resolved, among the inputs.
    fn first_readable(&self) -> Option<&Source> {
        self.sources.iter().skip(self.references).find(|source| source.unreadable().is_none())
    }

    fn push(&mut self, source: Source, format: Format) -> Result<()> {
        self.check_format(format, &source.name)?;
        self.add(source)?;
        self.format.get_or_insert(format);
        Ok(())
    }

    fn add(&mut self, source: Source) -> Result<()> {
        if self.sources.len() >= u32::MAX as usize {
            return Err(Error::new(ErrorKind::TooManyInputs));
        }
        self.sources.push(source);
        Ok(())
    }
}

fn origin_of(name: &str, path: &Path) -> Origin {
    if Path::new(name) == path { Origin::Named } else { Origin::Path(path.into()) }
}

fn spooled_source(
    name: String,
    id_start: usize,
    origin: Origin,
    (file, spooled): (Option<Arc<File>>, Spooled),
    format: Format,
) -> Source {
    let store = SourceBytes::Spooled { base: spooled.base, file };
    let size_bytes = spooled.size_bytes;
    let (name, compression, packed) = (name.into(), None, None);
    Source { name, id_start, origin, store, size_bytes, compression, format, packed }
}

/// Reads the first `bytes` of the `size_bytes` bytes that lie at `base`, or all `size_bytes` bytes if they are fewer.
fn look(file: &File, base: u64, size_bytes: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = vec![0; bytes.min(usize::try_from(size_bytes).unwrap_or(usize::MAX))];
    let filled = read_at(file, base, &mut head)?;
    head.truncate(filled);
    Ok(head)
}

/// Decompresses the beginning of a file. Damage is ignored here, because it is reported when the whole file is read.
fn decompressed_head(compression: Compression, mut file: &File) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    if let Ok(decoder) = compression.decoder(BufReader::new(file)) {
        let _ = decoder.take(LOOK_BYTES as u64).read_to_end(&mut head);
    }
    file.rewind()?;
    Ok(head)
}

fn open_decoder<'r>(
    compression: Compression,
    reader: impl BufRead + 'r,
    name: &str,
) -> Result<Box<dyn Read + 'r>> {
    compression.check(name)?;
    compression.decoder(reader).map_err(|error| Error::io("decompress", name, error))
}

/// Returns a path with forward slashes on every system, for display.
fn slashed(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}
