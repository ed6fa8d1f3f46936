//! From what the user typed to sources.
//!
//! An input is `-`, a file, a folder, or a pattern, tried in that order: a file whose name contains `[` is
//! still a file. Folders and patterns are expanded in the order of their names, so that a corpus has one
//! order on every machine.

mod identity;
mod pattern;
mod sniff;
mod walk;

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};

pub(crate) use identity::{FileId, FileIds};

use self::identity::Admission;
use self::sniff::{HEAD_BYTES, LOOK_BYTES, is_jsonl, is_jsonl_name};
use self::walk::Found;
use crate::compression::Compression;
use crate::corpus::Layout;
use crate::error::{Error, ErrorKind, Result, SPOOL};
use crate::options::{InputFormat, ReadOptions};
use crate::positional::read_at;
use crate::source::{Origin, STDIN, Source, Store, open_file, os_error};
use crate::spool::{Spool, Spooled};
use crate::watch::Watch;

/// JSONL files that stay open. The others are opened for each read, since a process may have about a thousand
/// open.
const KEPT_OPEN: usize = 256;

/// The buffer through which compressed files are read.
const READ_BYTES: usize = 256 << 10;

/// What the inputs came to.
pub(crate) struct Resolved {
    pub(crate) sources: Vec<Source>,
    pub(crate) layout: Layout,
    pub(crate) spool: Option<File>,
    pub(crate) file_ids: FileIds,
    pub(crate) walked: Vec<Walked>,
}

/// A folder that was walked.
#[derive(Debug)]
pub(crate) struct Walked {
    /// As it was given.
    pub(crate) name: String,
    /// With links resolved.
    pub(crate) path: PathBuf,
}

/// Resolves the inputs in order.
pub(crate) fn resolve(inputs: &[String], options: &ReadOptions, watch: &dyn Watch) -> Result<Resolved> {
    let mut resolver = Resolver {
        options,
        watch,
        spool: Spool::new(options.spool_dir.clone()),
        sources: Vec::new(),
        file_ids: FileIds::default(),
        walked: Vec::new(),
        jsonl: None,
        text: None,
    };
    for input in inputs {
        resolver.input(input)?;
    }
    let layout = match (resolver.jsonl, resolver.text) {
        (Some(_), _) => Layout::Jsonl,
        (None, Some(_)) => Layout::Texts,
        (None, None) => return Err(Error::new(ErrorKind::NoInput)),
    };
    let Resolver { mut sources, spool, file_ids, walked, .. } = resolver;
    if layout == Layout::Texts {
        tell_apart(&mut sources);
    }
    Ok(Resolved { sources, layout, spool: spool.into_file(), file_ids, walked })
}

/// Gives texts of different folders that have one relative path longer ids, one folder at a time.
fn tell_apart(sources: &mut [Source]) {
    loop {
        let mut seen = HashSet::new();
        if sources.iter().all(|source| seen.insert(source.id())) {
            return;
        }
        let mut longer = false;
        for source in &mut *sources {
            if let Some(folder) = source.id_start.checked_sub(1).and_then(|end| source.name.get(..end)) {
                source.id_start = folder.rfind('/').map_or(0, |slash| slash + 1);
                longer = true;
            }
        }
        if !longer {
            return;
        }
    }
}

/// Whether a file was named itself or found in a folder or by a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Named,
    Found,
}

struct Resolver<'o> {
    options: &'o ReadOptions,
    watch: &'o dyn Watch,
    spool: Spool,
    sources: Vec<Source>,
    file_ids: FileIds,
    walked: Vec<Walked>,
    /// The first source of each kind.
    jsonl: Option<usize>,
    text: Option<usize>,
}

impl Resolver<'_> {
    fn input(&mut self, input: &str) -> Result<()> {
        if input == STDIN {
            return self.stdin();
        }
        let path = Path::new(input);
        match fs_err::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.folder(input, path),
            Ok(metadata) => {
                let name = slashed(input);
                // A text's id is where its file goes in an output folder, so it must not lead out of it.
                let leads_out =
                    path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
                let id_start = if leads_out { name.rfind('/').map_or(0, |slash| slash + 1) } else { 0 };
                self.file(name, id_start, path, Given::Named, metadata.is_file())
            }
            Err(_) if pattern::has_wildcard(input) => self.pattern(input),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::new(ErrorKind::NotFound { input: input.to_owned() }))
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
        self.found(&prefix, prefix.len(), folder, found)
    }

    fn pattern(&mut self, input: &str) -> Result<()> {
        let matches = pattern::expand(input)?;
        self.found(&slashed(matches.prefix), 0, matches.folder, matches.files)
    }

    fn found(&mut self, prefix: &str, id_start: usize, folder: &Path, files: Vec<Found>) -> Result<()> {
        for file in files {
            if self.watch.cancelled() {
                return Err(Error::new(ErrorKind::Cancelled));
            }
            let name = format!("{prefix}{}", file.name);
            self.file(name, id_start, &folder.join(file.relative), Given::Found, true)?;
        }
        Ok(())
    }

    fn stdin(&mut self) -> Result<()> {
        if self.sources.iter().any(|source| matches!(source.origin, Origin::Stdin)) {
            return Err(Error::new(ErrorKind::RepeatedInput {
                input: STDIN.to_owned(),
                first: STDIN.to_owned(),
            }));
        }
        self.stream(STDIN.to_owned(), Origin::Stdin, io::stdin().lock())
    }

    fn file(
        &mut self,
        name: String,
        id_start: usize,
        path: &Path,
        given: Given,
        regular: bool,
    ) -> Result<()> {
        let file = open_file(path, &name)?;
        let metadata = file.metadata().map_err(|error| Error::io("read", &*name, error))?;
        let id = FileId::of(path, &metadata).map_err(|error| Error::io("read", &*name, error))?;
        let sources = &self.sources;
        let first_path = |first: usize| sources.get(first).and_then(Source::path);
        match self.file_ids.admit(id, path, sources.len(), given, first_path) {
            Admission::New => {}
            Admission::Repeat { first, given: Given::Named } if given == Given::Named => {
                let first = self.sources.get(first).map_or("", Source::name).to_owned();
                return Err(Error::new(ErrorKind::RepeatedInput { input: name, first }));
            }
            Admission::Repeat { .. } => return Ok(()),
        }
        let origin = if Path::new(&name) == path { Origin::Named } else { Origin::Path(path.into()) };
        if regular {
            self.regular_file(name, id_start, origin, file, &metadata)
        } else {
            self.stream(name, origin, file)
        }
    }

    fn regular_file(
        &mut self,
        name: String,
        id_start: usize,
        origin: Origin,
        file: File,
        metadata: &Metadata,
    ) -> Result<()> {
        let size_bytes = metadata.len();
        let look = |bytes: usize| {
            look(&file, 0, size_bytes, bytes).map_err(|error| Error::io("read", &*name, error))
        };
        let head = look(HEAD_BYTES)?;
        let compression = Compression::of(&head);
        let layout = match (self.layout_by_name(&name), compression) {
            (Some(layout), _) => layout,
            (None, Some(compression)) => {
                let head = decompressed_head(compression, &file)
                    .map_err(|error| Error::io("read", &*name, error))?;
                layout_by_content(&head)
            }
            (None, None) if sniff::cannot_be_jsonl(&head) => Layout::Texts,
            (None, None) => layout_by_content(&look(LOOK_BYTES)?),
        };
        let modified = metadata.modified().ok();
        let source = match (layout, compression) {
            (Layout::Jsonl, Some(compression)) => {
                self.check_layout(layout, &name)?;
                let mut decoder =
                    open_decoder(compression, BufReader::with_capacity(READ_BYTES, &file), &name)?;
                let spooled = self.spool.append(&name, Some(compression), &mut decoder, self.watch)?;
                spooled_source(name, origin, spooled)
            }
            (Layout::Jsonl, None) => {
                let kept_open = (self.sources.len() < KEPT_OPEN).then_some(file);
                let store = Store::InPlace { modified, kept_open };
                Source { name: name.into(), id_start, origin, store, size_bytes, compression: None }
            }
            (Layout::Texts, _) => {
                let store = Store::InPlace { modified, kept_open: None };
                Source { name: name.into(), id_start, origin, store, size_bytes, compression }
            }
        };
        self.push(source, layout)
    }

    /// A source that can be read only once, and only forwards.
    fn stream(&mut self, name: String, origin: Origin, mut stream: impl Read) -> Result<()> {
        let mut head = Vec::new();
        let magic = stream.by_ref().take(4).read_to_end(&mut head);
        magic.map_err(|error| Error::io("read", &*name, error))?;
        let compression = Compression::of(&head);
        let mut whole = head.as_slice().chain(stream);
        let spooled = match compression {
            Some(compression) => {
                let mut decoder =
                    open_decoder(compression, BufReader::with_capacity(READ_BYTES, whole), &name)?;
                self.spool.append(&name, Some(compression), &mut decoder, self.watch)?
            }
            None => self.spool.append(&name, None, &mut whole, self.watch)?,
        };
        let layout = match self.layout_by_name(&name) {
            Some(layout) => layout,
            // A pipeline that had nothing to say is a corpus of no records, not one document of no text.
            None if spooled.size_bytes == 0 && matches!(origin, Origin::Stdin) && self.text.is_none() => {
                Layout::Jsonl
            }
            None => layout_by_content(&self.look_at_spooled(spooled)?),
        };
        self.push(spooled_source(name, origin, spooled), layout)
    }

    fn look_at_spooled(&self, spooled: Spooled) -> Result<Vec<u8>> {
        let Some(file) = self.spool.opened() else { return Ok(Vec::new()) };
        look(file, spooled.base, spooled.size_bytes, LOOK_BYTES)
            .map_err(|error| Error::io("read", SPOOL, error))
    }

    fn layout_by_name(&self, name: &str) -> Option<Layout> {
        match self.options.format {
            InputFormat::Jsonl => Some(Layout::Jsonl),
            InputFormat::Text => Some(Layout::Texts),
            InputFormat::Auto => is_jsonl_name(name).then_some(Layout::Jsonl),
        }
    }

    /// Refuses a source of the other kind, before time is spent on spooling it.
    fn check_layout(&self, layout: Layout, name: &str) -> Result<()> {
        let name_of = |index: usize| self.sources.get(index).map_or("", Source::name).to_owned();
        match (layout, self.jsonl, self.text) {
            (Layout::Jsonl, _, Some(text)) => {
                Err(Error::new(ErrorKind::MixedLayouts { jsonl: name.to_owned(), text: name_of(text) }))
            }
            (Layout::Texts, Some(jsonl), _) => {
                Err(Error::new(ErrorKind::MixedLayouts { jsonl: name_of(jsonl), text: name.to_owned() }))
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, source: Source, layout: Layout) -> Result<()> {
        self.check_layout(layout, &source.name)?;
        if self.sources.len() >= u32::MAX as usize {
            return Err(Error::new(ErrorKind::TooManyInputs));
        }
        let first = match layout {
            Layout::Jsonl => &mut self.jsonl,
            Layout::Texts => &mut self.text,
        };
        first.get_or_insert(self.sources.len());
        self.sources.push(source);
        Ok(())
    }
}

fn spooled_source(name: String, origin: Origin, spooled: Spooled) -> Source {
    let store = Store::Spooled { base: spooled.base };
    Source {
        name: name.into(),
        id_start: 0,
        origin,
        store,
        size_bytes: spooled.size_bytes,
        compression: None,
    }
}

fn layout_by_content(head: &[u8]) -> Layout {
    if is_jsonl(head) { Layout::Jsonl } else { Layout::Texts }
}

/// The first `bytes` bytes, or as many as there are, of the `size_bytes` that lie at `base`.
fn look(file: &File, base: u64, size_bytes: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = vec![0; bytes.min(usize::try_from(size_bytes).unwrap_or(usize::MAX))];
    let filled = read_at(file, base, &mut head)?;
    head.truncate(filled);
    Ok(head)
}

/// What a compressed file begins with. Damage is not reported here but when the file is read in earnest.
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
    compression.decoder(reader).map_err(|error| Error::io("decompress", name, error))
}

/// A path as it is shown: with forward slashes on every system.
fn slashed(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}
