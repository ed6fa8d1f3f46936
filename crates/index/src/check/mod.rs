//! Integrity check of an index: compares all stored data with their checksums and with the documents.
//!
//! First, [`documents`] reads every document, hashes its text, and computes its shingles again. Then [`rows`]
//! reads every row, compares its checksum, and looks up its document. Postings are compared by sums: the sum
//! of the digests of all stored postings must equal the sum of the digests over all documents. Unreadable
//! data become a finding, and the check continues after them. The check keeps one bit per document in memory.

mod documents;
mod rows;

use std::collections::BTreeMap;
use std::path::Path;

use minwise::Observer;

use crate::error::Result;
use crate::folder::Folder;
use crate::index::Index;
use crate::prepare::EntryPreparation;
use crate::store::{IndexCounts, KeyspaceName, Store, View};

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// The number of the last acknowledged change is damaged, or acknowledged changes are missing.
    Acknowledged,
    /// The storage engine cannot read some rows.
    Unreadable,
    /// A row differs from what was written.
    Row,
    /// A document is damaged.
    Document,
    /// A row belongs to no document.
    Orphan,
    /// The stored postings differ from the postings of the documents.
    Postings,
    /// The table of frequencies is damaged.
    Frequencies,
    /// The counters are wrong.
    Counters,
}

/// A finding of an integrity check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The id of the document that the finding concerns, if there is one.
    pub id: Option<String>,
    /// The damage and its place, such as a record that cannot be decoded.
    pub what: String,
}

/// The result of an integrity check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IntegrityReport {
    /// Number of documents that were read.
    pub documents: u64,
    /// Number of rows that were read in all keyspaces.
    pub rows: u64,
    /// The findings, at most 100 of each kind.
    pub findings: Vec<Finding>,
    /// Number of findings per kind, including unlisted findings.
    pub counts: BTreeMap<FindingKind, u64>,
    /// Number of documents that a repair left out, because some of their data could not be read.
    pub taken_out: u64,
}

/// Maximum number of listed findings per kind.
const LISTED: u64 = 100;

impl IntegrityReport {
    /// Returns the number of findings, listed or not.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the number of findings of a kind that are not listed.
    #[must_use]
    pub fn unlisted(&self, kind: FindingKind) -> u64 {
        self.counts.get(&kind).map_or(0, |count| count.saturating_sub(LISTED))
    }

    pub(crate) fn find(&mut self, kind: FindingKind, id: Option<&str>, what: impl Into<String>) {
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        if *count <= LISTED {
            self.findings.push(Finding { kind, id: id.map(str::to_owned), what: what.into() });
        }
    }
}

impl Index {
    /// Verifies all stored data: reads every document and every row, and compares checksums, shingles and postings.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if the observer cancels, and with
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the operating system reports an error. Damage is not an
    /// error but a finding of the report.
    pub fn check_integrity(&self, observer: &dyn Observer) -> Result<IntegrityReport> {
        let mut checked = IntegrityReport::default();
        self.check_into(&mut checked, observer)?;
        Ok(checked)
    }

    /// Verifies all stored data of the index in a folder as [`check_integrity`](Self::check_integrity) does,
    /// even if the index cannot be [opened](Index::open) because acknowledged changes or counters are lost.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::NotAnIndex`](crate::ErrorKind::NotAnIndex) if the folder is not an index.
    /// - Fails with [`ErrorKind::Locked`](crate::ErrorKind::Locked) if another process has the index open.
    /// - Fails with [`ErrorKind::Version`](crate::ErrorKind::Version) if the index has another format
    ///   version.
    /// - Fails with [`ErrorKind::Unicode`](crate::ErrorKind::Unicode) if the index has another Unicode
    ///   version.
    /// - Fails with [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if the header of the index or the files
    ///   of the storage engine cannot be read.
    /// - Fails as [`check_integrity`](Self::check_integrity) does.
    pub fn examine(path: impl AsRef<Path>, observer: &dyn Observer) -> Result<IntegrityReport> {
        let (index, mut checked) = Self::open_as_it_is(path.as_ref())?;
        index.check_into(&mut checked, observer)?;
        Ok(checked)
    }

    pub(crate) fn check_into(&self, checked: &mut IntegrityReport, observer: &dyn Observer) -> Result<()> {
        // The lock blocks changes until the check ends.
        let writer = self.write();
        let view = self.store.view();
        let sums = self.check_documents(&view, &writer.state, checked, observer)?;
        self.check_rows(&view, &writer.state, &sums, checked, observer)
    }

    /// Opens an index even if its file `acknowledged` or its counters are damaged, and reports this damage as
    /// findings.
    pub(crate) fn open_as_it_is(path: &Path) -> Result<(Self, IntegrityReport)> {
        let mut checked = IntegrityReport::default();
        let (folder, settings) = Folder::open(path)?;
        let preparation = EntryPreparation::new(&settings)?;
        let store = Store::open(&folder.store(), path)?;
        let noted = folder.acknowledged();
        let view = store.view();
        let mut state = view.state().unwrap_or_else(|error| {
            checked.find(
                FindingKind::Counters,
                None,
                format!("the counters of the archive cannot be read: {}", error.what()),
            );
            // The next change must have a higher number than all acknowledged changes.
            IndexCounts { sequence: *noted.as_ref().unwrap_or(&0), ..IndexCounts::default() }
        });
        if checked.found() > 0 {
            state.next = end(&view, &state);
            // The number of counted documents is lost with the counters, so all documents are assumed to be
            // counted.
            state.counted = state.next;
        }
        drop(view);
        if checked.found() == 0 && noted.as_ref().is_ok_and(|noted| *noted <= state.sequence) {
            // An error is ignored, because the check reports the damage that caused it.
            let _ = store.discard_unassigned(&state);
        }
        match noted {
            Ok(noted) if noted > state.sequence => checked.find(
                FindingKind::Acknowledged,
                None,
                format!(
                    "change {noted} was acknowledged, but the newest change that is stored is {}: those after it are lost",
                    state.sequence
                ),
            ),
            Ok(_) => {}
            Err(error) => checked.find(
                FindingKind::Acknowledged,
                None,
                format!(
                    "the number of the last acknowledged change cannot be read, so changes after {} may be lost: {}",
                    state.sequence,
                    error.what()
                ),
            ),
        }
        Ok((Self::over(folder, settings, preparation, store, state), checked))
    }
}

/// Returns the number after the highest document number in any keyspace, or `state.next` if it is higher.
pub(crate) fn end(view: &View<'_>, state: &IndexCounts) -> u32 {
    let last = [KeyspaceName::Records, KeyspaceName::Texts, KeyspaceName::Sketches, KeyspaceName::Sets]
        .into_iter()
        .filter_map(|space| {
            let key = view.last_key(space)?;
            Some(u32::from_be_bytes(key.try_into().ok()?).saturating_add(1))
        });
    last.fold(state.next, u32::max)
}

#[cfg(feature = "testing")]
#[doc(hidden)]
impl Index {
    /// Replaces the stored text of a document, and leaves its record, sketch and postings unchanged.
    pub fn damage_for_tests(&self, id: &str) {
        let view = self.store.view();
        let mut change = self.store.change();
        if let Ok(Some(number)) = self.number(&view, id) {
            change.put(KeyspaceName::Texts, &number.to_be_bytes(), b"\x00something else".to_vec());
        }
        let _ = change.commit(&self.write().state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings;
    use crate::store::Change;
    use crate::{IndexSettings, NewDocument, Texts, Unobserved};

    fn index(path: &Path, texts: Texts) -> Index {
        let index = Index::create(path, &IndexSettings { texts, ..IndexSettings::default() }).unwrap();
        let text = |n: u32| (n..n + 30).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
        let document =
            |n: u32| NewDocument { id: format!("d{n}"), text: text(40 * n), ..NewDocument::default() };
        index.add(&(0..9).map(document).collect::<Vec<_>>(), 5, 1).unwrap();
        index.compact(&Unobserved).unwrap();
        index
    }

    type Spoil = fn(&mut Change<'_>, &mut IndexCounts);

    /// Returns the findings after `spoil` changed rows and counters of an index, and asserts that a repair corrects
    /// what the findings state.
    fn found(texts: Texts, spoil: impl Fn(&mut Change<'_>, &mut IndexCounts)) -> Vec<(FindingKind, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        let index = index(&path, texts);
        let mut change = index.store.change();
        let mut state = index.write().state;
        spoil(&mut change, &mut state);
        change.commit(&state).unwrap();
        drop(index);
        let checked = Index::examine(&path, &Unobserved).unwrap();
        // `spoil` damages only rows that can be computed again from the documents, so a repair saves all nine
        // documents.
        assert_eq!(Index::repair(&path, &Unobserved).unwrap(), checked);
        let index = Index::open(&path).unwrap();
        assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
        assert_eq!(index.statistics().unwrap().documents, 9);
        checked.findings.into_iter().map(|finding| (finding.kind, finding.what)).collect()
    }

    #[test]
    fn rows_that_belong_to_no_document_are_found() {
        for (space, key, payload, says) in [
            (KeyspaceName::State, &b"else"[..], vec![], "the row of `state` with the key `else`"),
            (
                KeyspaceName::Ids,
                b"nobody",
                77u32.to_be_bytes().to_vec(),
                "the row of `ids` with the key `nobody`",
            ),
            (
                KeyspaceName::Ids,
                b"other",
                3u32.to_be_bytes().to_vec(),
                "the row of `ids` with the key `other`",
            ),
            (KeyspaceName::Texts, &[0, 0, 1, 0], vec![0, b'a'], "the row of `texts` with the key 256"),
            (KeyspaceName::Sketches, &[0, 0, 1, 0], vec![], "the row of `sketches` with the key 256"),
            (KeyspaceName::Sketches, b"odd", vec![], "the row of `sketches` with the key 6f6464"),
            (KeyspaceName::Sets, &[0, 0, 0, 3], vec![], "the row of `sets` with the key 3"),
            (
                KeyspaceName::Frequencies,
                b"part 7",
                vec![],
                "the row of `frequencies` with the key 706172742037",
            ),
        ] {
            let found = found(Texts::Kept, |change, _| change.put(space, key, payload.clone()));
            let expected = (FindingKind::Orphan, format!("{says} belongs to no document"));
            assert!(found.contains(&expected), "{found:?}");
            assert!(found.len() == 1 || space == KeyspaceName::Frequencies, "{found:?}");
        }
        let row = postings::encode(&[(5, postings::Posting { document: 99, at: 0 })]);
        let found = found(Texts::Kept, |change, _| {
            change.put(KeyspaceName::Bands, &postings::key([0, 1], 50), row.clone());
        });
        assert_eq!(found[0].0, FindingKind::Orphan);
        assert!(found[0].1.contains("refers to a document that never existed"), "{found:?}");
    }

    #[test]
    fn counters_that_are_wrong_are_found() {
        let spoils: [(&str, Spoil); 5] = [
            ("its counter of documents is 10, but it has 9", |_, state| state.documents += 1),
            ("its counter of bytes of text is", |_, state| state.text_bytes -= 1),
            ("its counter of bytes of stored text is", |_, state| state.stored_bytes += 1),
            ("its counter of shingles is 0, but it has ", |_, state| state.shingles = 0),
            ("frequencies count 12 document numbers, but 9 were assigned", |_, state| state.counted = 12),
        ];
        for (says, spoil) in spoils {
            let found = found(Texts::Kept, spoil);
            assert!(found[0].0 == FindingKind::Counters && found[0].1.contains(says), "{found:?}");
        }
    }

    #[test]
    fn what_follows_from_documents_is_compared_with_them() {
        use FindingKind::{Document, Frequencies, Postings, Row};
        let spoils: [(FindingKind, Spoil); 5] = [
            (Document, |change, _| change.put(KeyspaceName::Sketches, &[0, 0, 0, 4], vec![1, 2, 3, 4])),
            (Document, |change, _| change.remove(KeyspaceName::Ids, b"d3")),
            (Postings, |change, _| {
                let posting = postings::Posting { document: 3, at: 0 };
                change.put(
                    KeyspaceName::Bands,
                    &postings::key([0, 1], 90),
                    postings::encode(&[(5, posting)]),
                );
            }),
            (Row, |change, _| change.put(KeyspaceName::Fingerprints, &postings::key([0, 1], 90), vec![9])),
            (Frequencies, |change, state| {
                state.counted = state.next;
                change.put(
                    KeyspaceName::Frequencies,
                    &0u32.to_be_bytes(),
                    [[0; 8].as_slice(), &[0; 4]].concat(),
                );
                (1..9u32).for_each(|part| change.remove(KeyspaceName::Frequencies, &part.to_be_bytes()));
            }),
        ];
        for texts in [Texts::Kept, Texts::LeftOut] {
            for (kind, spoil) in &spoils {
                let found = found(texts, spoil);
                assert!(found.iter().any(|found| found.0 == *kind), "{kind:?}: {found:?}");
            }
        }
    }

    #[test]
    fn findings_are_listed_by_kind_and_all_are_counted() {
        let mut checked = IntegrityReport::default();
        for n in 0..LISTED + 7 {
            checked.find(FindingKind::Row, None, n.to_string());
        }
        checked.find(FindingKind::Counters, None, "one more");
        assert_eq!((checked.found(), checked.findings.len() as u64), (LISTED + 8, LISTED + 1));
        assert_eq!((checked.unlisted(FindingKind::Row), checked.unlisted(FindingKind::Counters)), (7, 0));
    }
}
