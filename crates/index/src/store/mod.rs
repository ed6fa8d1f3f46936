//! The store of an index: rows in the keyspaces of the storage engine, each with a checksum of its key and its value.
//!
//! | keyspace | key | value |
//! |---|---|---|
//! | `state` | `state` | the counters of [`IndexCounts`] |
//! | `ids` | the id of a document | its number |
//! | `records` | number | [`DocumentRow`](crate::record::DocumentRow) |
//! | `texts` | number | the text, compressed |
//! | `sketches` | number | the sketch, packed |
//! | `sets` | number | shingle set, bands and fingerprints, if the index keeps no texts |
//! | `bands`, `fingerprints` | first bits of a hash, number of the change | [`postings`](crate::postings) |
//! | `frequencies` | part | [`frequencies`](crate::frequencies) |
//!
//! Document numbers count up from 0, and the number of a removed document is not used again. Numbers in keys
//! are big-endian, so that rows are sorted by number. A change is one batch of the engine, so after a crash a
//! change is either complete or absent.
//!
//! The batch of a change with many new documents has only the ids, the postings and the counters. The other
//! rows of these documents are [loaded](Store::load) before: written to files of their own, without the journal
//! and the memtable of the engine, which take one thread most of the time of a change. Loaded rows have numbers
//! that are not assigned yet, so nothing refers to them, and a [`View`] hides them until the batch with the
//! counters is committed. If the process crashes before, [`Store::discard_unassigned`] removes these rows when
//! the index is opened.

mod seal;

use std::ops::Bound;
use std::path::{Path, PathBuf};

use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy};
use fjall::{
    CompressionType, Database, Guard, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch as WriteBatch,
    PersistMode, Readable, Snapshot, UserKey, UserValue,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
pub(crate) use seal::Damage;

/// The name of a keyspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyspaceName {
    State,
    Ids,
    Records,
    Texts,
    Sketches,
    Sets,
    Bands,
    Fingerprints,
    Frequencies,
}

impl KeyspaceName {
    pub(crate) const ALL: [Self; 9] = [
        Self::State,
        Self::Ids,
        Self::Records,
        Self::Texts,
        Self::Sketches,
        Self::Sets,
        Self::Bands,
        Self::Fingerprints,
        Self::Frequencies,
    ];

    /// The keyspaces whose keys are document numbers.
    pub(crate) const NUMBERED: [Self; 4] = [Self::Records, Self::Texts, Self::Sketches, Self::Sets];

    /// The only key of `state`.
    pub(crate) const STATE_KEY: &'static [u8] = b"state";

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Ids => "ids",
            Self::Records => "records",
            Self::Texts => "texts",
            Self::Sketches => "sketches",
            Self::Sets => "sets",
            Self::Bands => "bands",
            Self::Fingerprints => "fingerprints",
            Self::Frequencies => "frequencies",
        }
    }

    fn options(self) -> KeyspaceCreateOptions {
        let memory = match self {
            Self::Texts | Self::Sets | Self::Bands | Self::Fingerprints => 64 << 20,
            Self::State | Self::Ids | Self::Records | Self::Sketches | Self::Frequencies => 16 << 20,
        };
        let options = KeyspaceCreateOptions::default().max_memtable_size(memory);
        match self {
            // Compression is off, because hashes and compressed texts do not become smaller, and trying takes
            // time.
            Self::Texts
            | Self::Sketches
            | Self::Sets
            | Self::Bands
            | Self::Fingerprints
            | Self::Frequencies => {
                let options = options.data_block_compression_policy(CompressionPolicy::disabled());
                match self {
                    // Bloom filters are off, because these keyspaces are only read by ranges.
                    Self::Bands | Self::Fingerprints => options
                        .filter_policy(FilterPolicy::disabled())
                        .data_block_size_policy(BlockSizePolicy::all(16 << 10)),
                    _ => options,
                }
            }
            Self::State | Self::Ids | Self::Records => {
                options.data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
            }
        }
    }
}

/// The counters of an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexCounts {
    /// Number of changes so far.
    pub(crate) sequence: u64,
    /// Number of the next document.
    pub(crate) next: u32,
    /// Number of documents.
    pub(crate) documents: u64,
    /// Number of documents that were removed or replaced and still have postings.
    pub(crate) removed: u64,
    /// Size of all texts in bytes.
    pub(crate) text_bytes: u64,
    /// Size of all compressed texts in bytes.
    pub(crate) stored_bytes: u64,
    /// Number of distinct shingles per document, summed over all documents.
    pub(crate) shingles: u64,
    /// Document number below which documents are counted in the table of frequencies.
    pub(crate) counted: u32,
}

/// Size of the block cache of the storage engine in bytes.
const CACHE_BYTES: u64 = 128 << 20;

pub(crate) struct Store {
    /// The folder of the index, for error messages.
    path: PathBuf,
    /// The folder of the engine.
    folder: PathBuf,
    database: Database,
    spaces: Vec<Keyspace>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in `folder`, or creates it. Errors name the folder `index`, because people know this
    /// folder.
    pub(crate) fn open(folder: &Path, index: &Path) -> Result<Self> {
        let wrong = |error| Error::store(index, error);
        let database = Database::builder(folder).cache_size(CACHE_BYTES).open().map_err(wrong)?;
        let spaces = KeyspaceName::ALL
            .into_iter()
            .map(|space| database.keyspace(space.name(), || space.options()))
            .collect::<std::result::Result<_, _>>()
            .map_err(wrong)?;
        Ok(Self { path: index.to_owned(), folder: folder.to_owned(), database, spaces })
    }

    /// Returns the size in bytes of the journals in the folder of a store, without reserved space.
    pub(crate) fn journal_bytes(folder: &Path) -> u64 {
        let Ok(files) = fs_err::read_dir(folder) else { return 0 };
        let journals = files.flatten().filter(|file| file.path().extension().is_some_and(|end| end == "jnl"));
        journals.filter_map(|file| Some(written_bytes(&file.metadata().ok()?))).sum()
    }

    fn space(&self, space: KeyspaceName) -> &Keyspace {
        &self.spaces[space as usize]
    }

    /// Returns a snapshot of the store. Later changes do not affect the snapshot.
    pub(crate) fn view(&self) -> View<'_> {
        View { store: self, snapshot: self.database.snapshot() }
    }

    /// Begins a change.
    pub(crate) fn change(&self) -> Change<'_> {
        Change { store: self, batch: self.database.batch().durability(Some(PersistMode::SyncAll)) }
    }

    /// Writes rows to files of their own, and syncs these files to disk. The keys must be in ascending order, and
    /// must be numbers that are not assigned yet. The commit of the counters that assign the numbers makes the
    /// rows visible. Several threads may load rows of different keyspaces.
    pub(crate) fn load(&self, space: KeyspaceName, rows: impl IntoIterator<Item = SealedRow>) -> Result<()> {
        self.load_with(space, |write| rows.into_iter().try_for_each(write))
    }

    /// Writes the rows that `fill` passes on as [`load`](Self::load) does. The keyspace must be empty if its keys are
    /// not numbers.
    pub(crate) fn load_with(
        &self,
        space: KeyspaceName,
        fill: impl FnOnce(&mut dyn FnMut(SealedRow) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let failed = |error| Error::store(&self.path, error);
        let mut files = None;
        fill(&mut |row| {
            if files.is_none() {
                // The engine also writes earlier rows of the keyspace to files. Changes that were committed lazily must
                // not come to disk in part, so the journal comes first.
                self.database.persist(PersistMode::SyncAll).map_err(failed)?;
                files = Some(self.space(space).start_ingestion().map_err(failed)?);
            }
            files.as_mut().map_or(Ok(()), |files| files.write(row.key, row.value)).map_err(failed)
        })?;
        if let Some(files) = files {
            files.finish().map_err(failed)?;
        }
        Ok(())
    }

    /// Removes the rows that an unfinished change has loaded: the rows with the numbers from `state.next` on,
    /// without gaps.
    pub(crate) fn discard_unassigned(&self, state: &IndexCounts) -> Result<()> {
        let view = self.view();
        let mut change = self.change();
        for space in KeyspaceName::NUMBERED {
            let keys = (state.next..=u32::MAX).map(u32::to_be_bytes);
            for key in keys {
                let is_there = view.snapshot.contains_key(self.space(space), key);
                if !is_there.map_err(|error| Error::store(&self.path, error))? {
                    break;
                }
                change.remove(space, &key);
            }
        }
        // The change need not be on disk yet, because the next opening would remove the same rows.
        if change.len() > 0 { change.commit_lazily(state) } else { Ok(()) }
    }

    /// Returns the size in bytes of the journals, which hold the newest changes, and of all other files.
    /// Reserved space does not count, because the engine reserves 64 MiB for a new journal.
    pub(crate) fn disk_bytes(&self) -> Result<(u64, u64)> {
        let failed = |error| Error::store(&self.path, error);
        let reserved = self.database.journal_disk_space().map_err(failed)?;
        let rest = self.database.disk_space().map_err(failed)?.saturating_sub(reserved);
        Ok((Self::journal_bytes(&self.folder), rest))
    }

    /// Writes rows from memory to files, and drops overwritten rows.
    pub(crate) fn compact(&self) -> Result<()> {
        for space in &self.spaces {
            space
                .rotate_memtable_and_wait()
                .and_then(|()| space.major_compact())
                .map_err(|error| Error::store(&self.path, error))?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn written_bytes(file: &std::fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    // `st_blocks` counts units of 512 bytes on every file system.
    file.len().min(file.blocks() * 512)
}

#[cfg(not(unix))]
fn written_bytes(file: &std::fs::Metadata) -> u64 {
    file.len()
}

/// A snapshot of the store.
pub(crate) struct View<'s> {
    store: &'s Store,
    snapshot: Snapshot,
}

impl View<'_> {
    /// Returns the value of a row, or `None` if there is no row with this key.
    pub(crate) fn get(&self, space: KeyspaceName, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.snapshot.get(self.store.space(space), key);
        let value = value.map_err(|error| Error::store(&self.store.path, error))?;
        value.map(|value| self.opened(space, key, &value)).transpose()
    }

    fn opened(&self, space: KeyspaceName, key: &[u8], value: &[u8]) -> Result<Vec<u8>> {
        match seal::open(space, key, value) {
            Ok(payload) => Ok(payload.to_vec()),
            Err(Damage) => Err(Error::damaged(
                &self.store.path,
                format!("a row of `{}` does not match its checksum", space.name()),
            )),
        }
    }

    /// Calls `visit` with the rows whose keys have this prefix, in ascending order, until it returns false.
    pub(crate) fn each(
        &self,
        space: KeyspaceName,
        prefix: &[u8],
        visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<()> {
        self.rows(space, self.snapshot.prefix(self.store.space(space), prefix), visit)
    }

    /// Returns the bound at which the rows of a keyspace end. If the keys are document numbers, rows from the next
    /// free number on are excluded, because they belong to a change that is being committed.
    fn end(&self, space: KeyspaceName) -> Result<Bound<Vec<u8>>> {
        if !KeyspaceName::NUMBERED.contains(&space) {
            return Ok(Bound::Unbounded);
        }
        Ok(Bound::Excluded(self.state()?.next.to_be_bytes().to_vec()))
    }

    /// Calls `visit` with the rows after `key`, or with all rows, in ascending order, until it returns false.
    pub(crate) fn each_after(
        &self,
        space: KeyspaceName,
        key: Option<&[u8]>,
        visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let (start, end) = (key.map(<[u8]>::to_vec), self.end(space)?);
        // The engine panics if a range ends before its start.
        if matches!((&start, &end), (Some(start), Bound::Excluded(end)) if start >= end) {
            return Ok(());
        }
        let range = (start.map_or(Bound::Unbounded, Bound::Excluded), end);
        self.rows(space, self.snapshot.range(self.store.space(space), range), visit)
    }

    /// Calls `visit` with the rows before `key` in descending order, until `visit` returns false. If `key` is `None`,
    /// all rows are visited.
    pub(crate) fn each_before(
        &self,
        space: KeyspaceName,
        key: Option<&[u8]>,
        visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let end = match (key, self.end(space)?) {
            (Some(key), Bound::Excluded(end)) => Bound::Excluded(end.min(key.to_vec())),
            (Some(key), _) => Bound::Excluded(key.to_vec()),
            (None, end) => end,
        };
        let range = (Bound::<Vec<u8>>::Unbounded, end);
        self.rows(space, self.snapshot.range(self.store.space(space), range).rev(), visit)
    }

    fn rows(
        &self,
        space: KeyspaceName,
        rows: impl Iterator<Item = Guard>,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<()> {
        for row in rows {
            let (key, value) = row.into_inner().map_err(|error| Error::store(&self.store.path, error))?;
            let Ok(payload) = seal::open(space, &key, &value) else {
                return self.opened(space, &key, &value).map(drop);
            };
            if !visit(&key, payload)? {
                break;
            }
        }
        Ok(())
    }

    /// Calls `visit` with every key of a keyspace and its value, or with [`Damage`] if the value is damaged.
    /// Returns the place at which the storage engine stopped, if it could not read all rows.
    pub(crate) fn inspect(
        &self,
        space: KeyspaceName,
        mut visit: impl FnMut(&[u8], std::result::Result<&[u8], Damage>) -> Result<()>,
    ) -> Result<Option<Stopped>> {
        let mut after = None;
        for row in self.snapshot.iter(self.store.space(space)) {
            match row.into_inner() {
                Ok((key, value)) => {
                    visit(&key, seal::open(space, &key, &value))?;
                    after = Some(key);
                }
                Err(error) => {
                    let why = Error::store(&self.store.path, error).what();
                    return Ok(Some(Stopped { after: after.map(|key| key.to_vec()), why }));
                }
            }
        }
        Ok(None)
    }

    /// Returns the last key of a keyspace, if there is one and it can be read.
    pub(crate) fn last_key(&self, space: KeyspaceName) -> Option<Vec<u8>> {
        let row = self.snapshot.iter(self.store.space(space)).next_back()?;
        row.key().ok().map(|key| key.to_vec())
    }

    /// Returns the counters.
    pub(crate) fn state(&self) -> Result<IndexCounts> {
        match self.get(KeyspaceName::State, KeyspaceName::STATE_KEY)? {
            None => Ok(IndexCounts::default()),
            Some(bytes) => postcard::from_bytes(&bytes)
                .map_err(|_| Error::damaged(&self.store.path, "its counters cannot be read")),
        }
    }
}

/// The place at which the storage engine stopped reading.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// Last key that could be read; `None` if no key could be read.
    pub(crate) after: Option<Vec<u8>>,
    /// Reason why the storage engine stopped.
    pub(crate) why: String,
}

/// A row with its checksum, in the form that the storage engine takes. Threads can make rows before one thread writes
/// them.
pub(crate) struct SealedRow {
    space: KeyspaceName,
    key: UserKey,
    value: UserValue,
}

impl SealedRow {
    pub(crate) fn new(space: KeyspaceName, key: &[u8], payload: Vec<u8>) -> Self {
        Self { space, key: key.into(), value: seal::seal(space, key, payload).into() }
    }
}

/// Rows that are written together or not at all.
pub(crate) struct Change<'s> {
    store: &'s Store,
    batch: WriteBatch,
}

impl Change<'_> {
    pub(crate) fn put(&mut self, space: KeyspaceName, key: &[u8], payload: Vec<u8>) {
        self.push(SealedRow::new(space, key, payload));
    }

    pub(crate) fn push(&mut self, row: SealedRow) {
        self.batch.insert(self.store.space(row.space), row.key, row.value);
    }

    pub(crate) fn remove(&mut self, space: KeyspaceName, key: &[u8]) {
        self.batch.remove(self.store.space(space), key);
    }

    pub(crate) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Writes the change without syncing it to disk. A later commit syncs the change.
    pub(crate) fn commit_lazily(mut self, state: &IndexCounts) -> Result<()> {
        self.batch = self.batch.durability(None);
        self.commit(state)
    }

    /// Writes the change with the counters, and syncs both to disk.
    pub(crate) fn commit(mut self, state: &IndexCounts) -> Result<()> {
        let bytes = postcard::to_stdvec(state)
            .map_err(|_| Error::damaged(&self.store.path, "its counters cannot be written"))?;
        self.put(KeyspaceName::State, KeyspaceName::STATE_KEY, bytes);
        self.batch.commit().map_err(|error| Error::store(&self.store.path, error))
    }
}
