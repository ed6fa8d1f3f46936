//! The type [`Index`], and the functions that create, open and read an index.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::folder::{self, Folder};
use crate::frequencies::CommonFrequencies;
use crate::in_place::InPlaceOfText;
use crate::prepare::EntryPreparation;
use crate::record::{DocumentRow, Entry, Mark};
use crate::settings::{IndexSettings, Texts};
use crate::store::{IndexCounts, KeyspaceName, Store, View};
use crate::text;

/// An open index. Any number of threads may read an index while one thread changes it.
///
/// ```
/// use minwise_index::{CheckOptions, Index, IndexSettings, NewDocument, Query, Unobserved};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("archive");
/// let index = Index::create(&path, &IndexSettings::default())?;
/// index.add_now(&[NewDocument::new("note", "Herons nest in the old willow by the mill pond each spring.")])?;
/// drop(index);
///
/// let index = Index::open(&path)?;
/// assert!(index.has("note")?);
/// let query = Query::new("Each year herons nest in the old willow by the mill pond.");
/// let answer = index.check(&query, &CheckOptions::default())?;
/// assert_eq!(answer.matches[0].id, "note");
///
/// // The stored data are intact.
/// assert_eq!(index.check_integrity(&Unobserved)?.found(), 0);
/// index.remove(&["note"])?;
/// assert_eq!(index.statistics()?.documents, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Index {
    // Fields are dropped in this order, because the store must be closed before the lock of the folder is
    // released.
    pub(crate) store: Store,
    pub(crate) folder: Folder,
    pub(crate) settings: IndexSettings,
    pub(crate) preparation: EntryPreparation,
    pub(crate) writer: Mutex<WriteState>,
    /// Cached document frequencies, with the number of the change after which they were counted.
    pub(crate) counted: Mutex<Option<(u64, Arc<CommonFrequencies>)>>,
}

/// The state that writers share.
#[derive(Debug)]
pub(crate) struct WriteState {
    pub(crate) state: IndexCounts,
    pub(crate) pending: PendingSets,
}

/// The shingle sets of the newest documents, which the table of frequencies does not count yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingSets {
    /// Number of the first document whose set is in memory.
    pub(crate) first: u32,
    /// The sets of all documents from `first` on. Each set is sorted.
    pub(crate) sets: Vec<Vec<u64>>,
}

impl PendingSets {
    /// Creates a state without sets for an index whose next document has the number `first`.
    pub(crate) fn from(first: u32) -> Self {
        Self { first, sets: vec![] }
    }

    /// Returns the number of shingles of all sets.
    pub(crate) fn shingles(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }
}

/// An index that was not closed, because the last process that had it open crashed or was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unclosed {
    /// Description of the process: its command and the time at which it opened the index.
    pub holder: String,
    /// Number of bytes of recent changes that the next opening of the index reads again.
    pub journal_bytes: u64,
}

/// A document of an index, with its text.
// `minwise index show --format jsonl` and `GET /documents/{id}` of the server write this type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Document))]
#[non_exhaustive]
pub struct StoredDocument {
    /// The fields that a document also has in the list of documents.
    #[serde(flatten)]
    pub entry: Entry,
    /// Text of the document; null if the archive keeps no texts.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub text: Option<String>,
    /// Beginnings of the pages, slides, chapters or paragraphs of the text, in ascending order.
    pub marks: Vec<Mark>,
}

/// Selection of a page of documents to list, by default the first 100 documents.
///
/// ```
/// use minwise_index::Listing;
///
/// let listing = Listing::new().search("warbler").limit(20).newest_first(true);
/// assert_eq!((listing.limit, Listing::default().limit), (20, 100));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Listing<'l> {
    /// Text that a listed document must contain in its id, its title or a value of its metadata; case is ignored.
    /// Default: all documents are listed.
    pub search: &'l str,
    /// Place after which the page begins: [`DocumentPage::next`] of the previous page. Default: the first
    /// page is listed.
    pub after: Option<u32>,
    /// Maximum number of documents. Default: 100.
    pub limit: usize,
    /// Whether the newest document comes first instead of the oldest. Default: false.
    pub newest_first: bool,
    /// Maximum number of documents that are read for one page. With this maximum, a page can have fewer than
    /// `limit` documents, and [`DocumentPage::next`] continues the search. Default: no maximum.
    pub looks: Option<usize>,
}

impl Default for Listing<'_> {
    fn default() -> Self {
        Self { search: "", after: None, limit: 100, newest_first: false, looks: None }
    }
}

impl<'l> Listing<'l> {
    /// Creates the selection of the first 100 documents, oldest first.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the text that a listed document must contain in its id, its title or a value of its metadata; case is
    /// ignored. Default: all documents are listed.
    #[must_use]
    pub fn search(self, search: &'l str) -> Self {
        Self { search, ..self }
    }

    /// Sets the place after which the page begins: [`DocumentPage::next`] of the previous page. Default: the
    /// first page is listed.
    #[must_use]
    pub fn after(self, after: Option<u32>) -> Self {
        Self { after, ..self }
    }

    /// Sets the maximum number of documents. Default: 100.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Sets whether the newest document comes first. Default: the oldest document comes first.
    #[must_use]
    pub fn newest_first(self, newest_first: bool) -> Self {
        Self { newest_first, ..self }
    }

    /// Sets the maximum number of documents that are read for one page. Default: no limit.
    #[must_use]
    pub fn looks(self, looks: Option<usize>) -> Self {
        Self { looks, ..self }
    }
}

/// A page of the list of documents.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DocumentPage {
    /// The documents of the page.
    pub entries: Vec<Entry>,
    /// Value of [`Listing::after`] for the next page, which can be empty; `None` after the last document.
    pub next: Option<u32>,
}

/// Counts and sizes of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// Number of documents.
    pub documents: u64,
    /// Number of documents that were removed or replaced since the index was last compacted.
    pub removed: u64,
    /// Size of all texts in bytes.
    pub text_bytes: u64,
    /// Size of all texts as stored, in bytes.
    pub stored_text_bytes: u64,
    /// Number of distinct shingles per document, summed over all documents.
    pub shingles: u64,
    /// Size of the index on disk in bytes.
    pub disk_bytes: u64,
    /// Number of changes since the index was created.
    pub changes: u64,
}

impl Index {
    /// Creates an index in a folder that does not exist or is empty.
    ///
    /// ```
    /// use minwise_index::{Index, IndexSettings};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("archive");
    /// let mut settings = IndexSettings::default();
    /// settings.passage = 15;
    /// Index::create(&path, &settings)?;
    /// assert_eq!(Index::open(&path)?.settings().passage, 15);
    ///
    /// let error = Index::create(&path, &settings).unwrap_err();
    /// println!("{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - Fails as [`IndexSettings::check`] does, if no index can have the settings.
    /// - Fails with [`ErrorKind::Exists`] if the folder is not empty.
    /// - Fails with [`ErrorKind::Locked`] if another process creates an index in the folder.
    /// - Fails with [`ErrorKind::DiskFull`] if the disk is full.
    /// - Fails with [`ErrorKind::Io`] if something cannot be written for another reason.
    pub fn create(path: impl AsRef<Path>, settings: &IndexSettings) -> Result<Self> {
        Ok(Self::create_with(path, settings, |_| Ok(()))?.0)
    }

    /// Creates an index and calls `fill` to add documents. The folder becomes an index only after `fill` has
    /// returned. If `fill` fails, the files are removed.
    ///
    /// # Errors
    /// Fails as [`create`](Self::create) does, and with the error of `fill`.
    pub fn create_with<T>(
        path: impl AsRef<Path>,
        settings: &IndexSettings,
        fill: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<(Self, T)> {
        let path = path.as_ref();
        let preparation = EntryPreparation::new(settings)?;
        let folder = Folder::create(path)?;
        let made = Store::open(&folder.store(), path).and_then(|store| {
            store.change().commit(&IndexCounts::default())?;
            Ok(store)
        });
        let store = match made {
            Ok(store) => store,
            Err(error) => {
                folder.give_up();
                return Err(error);
            }
        };
        let index = Self::over(folder, *settings, preparation, store, IndexCounts::default());
        let filled = fill(&index).and_then(|filled| {
            let sequence = index.write().state.sequence;
            index.folder.seal(settings, sequence)?;
            Ok(filled)
        });
        match filled {
            Ok(filled) => Ok((index, filled)),
            Err(error) => {
                let Self { store, folder, .. } = index;
                // The store must be closed before its files are removed.
                drop(store);
                folder.give_up();
                Err(error)
            }
        }
    }

    /// Opens an index. Only one process at a time can open a folder: another process gets an error until the
    /// index is dropped.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::NotAnIndex`] if the folder is not an index.
    /// - Fails with [`ErrorKind::Locked`] if another process has the index open.
    /// - Fails with [`ErrorKind::Version`] if the index has another format version.
    /// - Fails with [`ErrorKind::Unicode`] if the index has another Unicode version.
    /// - Fails with [`ErrorKind::Damaged`] if stored data are damaged.
    /// - Fails with [`ErrorKind::Io`] if the operating system reports an error.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (folder, settings) = Folder::open(path)?;
        let preparation = EntryPreparation::new(&settings)?;
        let store = Store::open(&folder.store(), path)?;
        let state = store.view().state()?;
        let acknowledged = folder.acknowledged()?;
        if state.sequence < acknowledged {
            let what = format!(
                "change {acknowledged} was acknowledged, but the newest change that is stored is {}",
                state.sequence
            );
            return Err(Error::damaged(path, what));
        }
        store.discard_unassigned(&state)?;
        Ok(Self::over(folder, settings, preparation, store, state))
    }

    /// Returns the process that ended without closing an index, and the number of bytes that
    /// [`open`](Self::open) reads again for this reason. Returns `None` if the index was closed or another
    /// process has it open.
    ///
    /// ```
    /// use minwise_index::{Index, IndexSettings};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("archive");
    /// drop(Index::create(&path, &IndexSettings::default())?);
    /// assert_eq!(Index::unclosed(&path)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the folder is not an index or was made by another version.
    pub fn unclosed(path: impl AsRef<Path>) -> Result<Option<Unclosed>> {
        let path = path.as_ref();
        let holder = folder::unclosed(path)?;
        let journal_bytes = Store::journal_bytes(&Folder::store_of(path));
        Ok(holder.map(|holder| Unclosed { holder, journal_bytes }))
    }

    pub(crate) fn over(
        folder: Folder,
        settings: IndexSettings,
        preparation: EntryPreparation,
        store: Store,
        state: IndexCounts,
    ) -> Self {
        folder.note_open();
        let writer = Mutex::new(WriteState { state, pending: PendingSets::from(state.next) });
        Self { store, folder, settings, preparation, writer, counted: Mutex::default() }
    }

    /// Returns the settings of the index.
    #[must_use]
    pub fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    /// Returns the folder of the index.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Locks the state of the writers, after waiting until no other thread writes.
    pub(crate) fn write(&self) -> MutexGuard<'_, WriteState> {
        // A poisoned lock is accepted: a thread that panicked has left the state intact, because the state
        // only changes after a commit.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> Error {
        Error::damaged(self.path(), what)
    }

    /// Returns the number of documents, shingles and changes, and the bytes of texts and of the index on disk.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the operating system reports an error, and with [`ErrorKind::Damaged`]
    /// if stored data are damaged.
    pub fn statistics(&self) -> Result<Statistics> {
        let state = self.store.view().state()?;
        let (journal_bytes, file_bytes) = self.store.disk_bytes()?;
        Ok(Statistics {
            documents: state.documents,
            removed: state.removed,
            text_bytes: state.text_bytes,
            stored_text_bytes: state.stored_bytes,
            shingles: state.shingles,
            disk_bytes: journal_bytes + file_bytes,
            changes: state.sequence,
        })
    }

    /// Reports whether a document has this id.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the operating system reports an error, and with [`ErrorKind::Damaged`]
    /// if stored data are damaged.
    pub fn has(&self, id: &str) -> Result<bool> {
        Ok(self.number(&self.store.view(), id)?.is_some())
    }

    /// Returns the document with this id, or `None` if no document has the id.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the operating system reports an error, and with [`ErrorKind::Damaged`]
    /// if stored data are damaged.
    pub fn get(&self, id: &str) -> Result<Option<StoredDocument>> {
        let view = self.store.view();
        let Some(number) = self.number(&view, id)? else { return Ok(None) };
        let Some(record) = self.record(&view, number)? else {
            return Err(self.damaged(format!("the document `{id}` has no record")));
        };
        let text = self.text(&view, number, &record)?;
        Ok(Some(StoredDocument { entry: self.entry(&record)?, text, marks: record.marks }))
    }

    /// Lists documents page by page, in the order in which they were added or in the reverse order.
    ///
    /// ```
    /// use minwise_index::{Index, IndexSettings, Listing, NewDocument};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("archive");
    /// let index = Index::create(&path, &IndexSettings::default())?;
    /// index.add_now(&["a", "b", "c"].map(|id| NewDocument::new(id, "a text")))?;
    ///
    /// let (mut ids, mut after) = (vec![], None);
    /// loop {
    ///     let page = index.list(&Listing::new().limit(2).after(after))?;
    ///     ids.extend(page.entries.into_iter().map(|entry| entry.id));
    ///     after = page.next;
    ///     if after.is_none() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(ids, ["a", "b", "c"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the operating system reports an error, and with [`ErrorKind::Damaged`]
    /// if stored data are damaged.
    pub fn list(&self, listing: &Listing<'_>) -> Result<DocumentPage> {
        let view = self.store.view();
        let search = listing.search.to_lowercase();
        let matches = |entry: &Entry| {
            let has = |text: &str| text.to_lowercase().contains(&search);
            search.is_empty()
                || has(&entry.id)
                || entry.title.as_deref().is_some_and(has)
                || entry.metadata.values().any(|value| any_text(value, &has))
        };
        let mut page = DocumentPage { entries: vec![], next: None };
        let (mut last, mut looks) = (None, listing.looks.unwrap_or(usize::MAX));
        let mut visit = |key: &[u8], payload: &[u8]| {
            let number = self.number_of(key)?;
            let Some(left) = looks.checked_sub(1) else {
                page.next = last;
                return Ok(false);
            };
            looks = left;
            let entry = self.entry(&self.decoded(payload)?)?;
            if matches(&entry) {
                if page.entries.len() == listing.limit {
                    page.next = last;
                    return Ok(false);
                }
                page.entries.push(entry);
            }
            last = Some(number);
            Ok(true)
        };
        let after = listing.after.map(u32::to_be_bytes);
        let after = after.as_ref().map(<[u8; 4]>::as_slice);
        if listing.newest_first {
            view.each_before(KeyspaceName::Records, after, &mut visit)?;
        } else {
            view.each_after(KeyspaceName::Records, after, &mut visit)?;
        }
        Ok(page)
    }

    /// Returns the ids of all documents, in the order in which they were added.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the operating system reports an error, and with [`ErrorKind::Damaged`]
    /// if stored data are damaged.
    pub fn ids(&self) -> Result<Vec<String>> {
        let mut ids = vec![];
        self.store.view().each_after(KeyspaceName::Records, None, |_, payload| {
            ids.push(self.decoded(payload)?.id);
            Ok(true)
        })?;
        Ok(ids)
    }

    pub(crate) fn number(&self, view: &View<'_>, id: &str) -> Result<Option<u32>> {
        match view.get(KeyspaceName::Ids, id.as_bytes())? {
            None => Ok(None),
            Some(bytes) => self.number_of(&bytes).map(Some),
        }
    }

    pub(crate) fn number_of(&self, bytes: &[u8]) -> Result<u32> {
        let bytes =
            bytes.try_into().map_err(|_| self.damaged("a number of a document has not four bytes"))?;
        Ok(u32::from_be_bytes(bytes))
    }

    pub(crate) fn record(&self, view: &View<'_>, number: u32) -> Result<Option<DocumentRow>> {
        view.get(KeyspaceName::Records, &number.to_be_bytes())?.map(|bytes| self.decoded(&bytes)).transpose()
    }

    pub(crate) fn decoded(&self, payload: &[u8]) -> Result<DocumentRow> {
        DocumentRow::from_bytes(payload).ok_or_else(|| self.damaged("a record cannot be read"))
    }

    pub(crate) fn entry(&self, record: &DocumentRow) -> Result<Entry> {
        record.entry().ok_or_else(|| self.damaged(format!("the metadata of `{}` cannot be read", record.id)))
    }

    /// Returns the text of a document, or `None` if the index keeps no texts.
    pub(crate) fn text(&self, view: &View<'_>, number: u32, record: &DocumentRow) -> Result<Option<String>> {
        if self.settings.texts == Texts::LeftOut {
            return Ok(None);
        }
        let packed = view.get(KeyspaceName::Texts, &number.to_be_bytes())?;
        packed
            .and_then(|packed| text::unpack(&packed, record.bytes))
            .map(Some)
            .ok_or_else(|| self.damaged(format!("the text of `{}` cannot be read", record.id)))
    }

    /// Returns the data that are stored in place of the text of a document.
    pub(crate) fn in_place_of_text(
        &self,
        view: &View<'_>,
        number: u32,
        record: &DocumentRow,
    ) -> Result<InPlaceOfText> {
        let bytes = view.get(KeyspaceName::Sets, &number.to_be_bytes())?;
        bytes
            .and_then(|bytes| InPlaceOfText::from_bytes(&bytes))
            .ok_or_else(|| self.damaged(format!("the shingles of `{}` cannot be read", record.id)))
    }

    /// Checks that a document can have this id.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::BadId`] if the id is empty, has more than 1024 bytes, or has a control character.
    pub fn check_id(id: &str) -> Result<()> {
        let bad = |why| {
            let id = id.chars().take(80).collect();
            Err(ErrorKind::BadId { id, why }.into())
        };
        match id {
            "" => bad("it is empty"),
            _ if id.len() > 1024 => bad("it has more than 1,024 bytes"),
            _ if id.contains(char::is_control) => bad("it has a control character in it"),
            _ => Ok(()),
        }
    }
}

/// Reports whether `has` accepts a value of metadata, or a value inside of a list or an object. Numbers and
/// booleans are passed to `has` as text.
fn any_text(value: &Value, has: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => has(text),
        Value::Bool(_) | Value::Number(_) => has(&value.to_string()),
        Value::Array(values) => values.iter().any(|value| any_text(value, has)),
        Value::Object(fields) => fields.values().any(|value| any_text(value, has)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckOptions, NewDocument, Observer, Query};
    use serde_json::json;

    #[test]
    fn values_of_metadata_are_searched_and_not_their_fields() {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
        let said = json!({
            "applicant": "Ada \"the first\"\nLovelace", "year": 2024, "grade": 1.5, "open": true, "none": null,
            "tags": ["Marsh", { "river": "Danube" }],
        });
        let Value::Object(metadata) = said else { unreachable!("it is an object") };
        let document = NewDocument { id: "d".to_owned(), metadata, ..NewDocument::default() };
        index.add(&[document], 0, 1).unwrap();
        let finds =
            |search: &str| !index.list(&Listing::new().search(search).limit(9)).unwrap().entries.is_empty();
        for value in ["ada \"the", "first\"\nlove", "2024", "1.5", "true", "marsh", "DANUBE"] {
            assert!(finds(value), "{value}");
        }
        for other in ["applicant", "year", "tags", "river", "null", "\\n", "{", ":", "[\""] {
            assert!(!finds(other), "{other}");
        }
    }

    struct CancelsAtOnce;

    impl Observer for CancelsAtOnce {
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn adding_searching_and_checking_can_be_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
        let text = "the same words in each of these documents";
        let documents: Vec<NewDocument> = (0..10)
            .map(|at| NewDocument { id: format!("d{at}"), text: text.to_owned(), ..NewDocument::default() })
            .collect();
        for threads in [1, 2] {
            let stopped = index.add_observed(&documents, 0, threads, &CancelsAtOnce);
            assert!(matches!(stopped.unwrap_err().kind(), ErrorKind::Interrupted));
            assert_eq!(index.statistics().unwrap().documents, 0);
        }
        index.add(&documents, 0, 1).unwrap();
        let (mut found, mut after, mut pages) = (vec![], None, 0);
        loop {
            let listing = Listing { search: "d1", after, limit: 5, looks: Some(3), newest_first: true };
            let page = index.list(&listing).unwrap();
            pages += 1;
            found.extend(page.entries.into_iter().map(|entry| entry.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!((found, pages), (vec!["d1".to_owned()], 4));
        let stopped = index.check_observed(&Query::new(text), &CheckOptions::default(), &CancelsAtOnce);
        assert!(matches!(stopped.unwrap_err().kind(), ErrorKind::Interrupted));
    }
}
