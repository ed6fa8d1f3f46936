//! The part of an integrity check that reads the rows of all keyspaces: their checksums, and the documents
//! that they belong to.

use minwise::Observer;
use minwise::figure::{counted, grouped};

use super::documents::Sums;
use super::{FindingKind, IntegrityReport};
use crate::error::Result;
use crate::index::Index;
use crate::postings::{self, PostingRow};
use crate::progress::go_on;
use crate::settings::Texts;
use crate::store::{IndexCounts, KeyspaceName, View};

impl Index {
    pub(super) fn check_rows(
        &self,
        view: &View<'_>,
        state: &IndexCounts,
        sums: &Sums,
        checked: &mut IntegrityReport,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut found = [0u64; 2];
        for space in KeyspaceName::ALL {
            let before = checked.found();
            let stopped = view.inspect(space, |key, payload| {
                go_on(observer)?;
                checked.rows += 1;
                let Ok(payload) = payload else {
                    let what = format!("{} does not match its checksum", named(space, key));
                    checked.find(FindingKind::Row, None, what);
                    return Ok(());
                };
                match space {
                    KeyspaceName::Bands => add_postings(space, key, payload, sums, &mut found[0], checked),
                    KeyspaceName::Fingerprints => {
                        add_postings(space, key, payload, sums, &mut found[1], checked);
                    }
                    _ if self.belongs(view, space, key, payload, sums) => {}
                    _ => {
                        let what = format!("{} belongs to no document", named(space, key));
                        checked.find(FindingKind::Orphan, None, what);
                    }
                }
                Ok(())
            })?;
            if let Some(stopped) = stopped {
                let after = stopped.after.map_or_else(
                    || "from its beginning".to_owned(),
                    |key| format!("behind the key {}", shown(space, &key)),
                );
                let what = format!("`{}` cannot be read {after}: {}", space.name(), stopped.why);
                checked.find(FindingKind::Unreadable, None, what);
            }
            let posted = match space {
                KeyspaceName::Bands => 0,
                KeyspaceName::Fingerprints => 1,
                _ => continue,
            };
            // Unreadable rows and records already have findings, and would make the sums differ.
            if before == checked.found() && sums.postings.is_some_and(|sums| sums[posted] != found[posted]) {
                let what = format!("the postings of `{}` are not those of the documents", space.name());
                checked.find(FindingKind::Postings, None, what);
            }
        }
        match self.stored_frequencies(view).map(|table| table.documents()) {
            // The table also counts removed documents until the index is compacted.
            Ok(documents) if (sums.counted..=u64::from(state.counted)).contains(&documents) => {}
            Ok(documents) => checked.find(
                FindingKind::Frequencies,
                None,
                format!(
                    "the table of frequencies counts {}, but should count {}",
                    counted(documents, "document"),
                    grouped(sums.counted)
                ),
            ),
            Err(error) => checked.find(
                FindingKind::Frequencies,
                None,
                format!("the table of frequencies cannot be read: {}", error.what()),
            ),
        }
        Ok(())
    }

    /// Reports whether a row other than a posting row belongs to an existing document or to the index as a
    /// whole.
    fn belongs(&self, view: &View<'_>, space: KeyspaceName, key: &[u8], payload: &[u8], sums: &Sums) -> bool {
        let number = || self.number_of(key).ok();
        let is_live = || number().is_some_and(|number| sums.live.has(number));
        match space {
            KeyspaceName::State => key == KeyspaceName::STATE_KEY,
            KeyspaceName::Ids => {
                match self.number_of(payload).map(|number| (number, self.record(view, number))) {
                    Ok((_, Ok(record))) => record.is_some_and(|record| record.id.as_bytes() == key),
                    // `check_documents` has already reported the unreadable record.
                    Ok((number, Err(_))) => sums.live.has(number),
                    Err(_) => false,
                }
            }
            KeyspaceName::Records | KeyspaceName::Sketches => is_live(),
            KeyspaceName::Texts => self.settings.texts == Texts::Kept && is_live(),
            KeyspaceName::Sets => self.settings.texts == Texts::LeftOut && is_live(),
            KeyspaceName::Frequencies => number().is_some(),
            KeyspaceName::Bands | KeyspaceName::Fingerprints => true,
        }
    }
}

/// Adds the digests of the postings of a row to `sum`, except for postings of removed documents.
fn add_postings(
    space: KeyspaceName,
    key: &[u8],
    payload: &[u8],
    sums: &Sums,
    sum: &mut u64,
    checked: &mut IntegrityReport,
) {
    let row = PostingRow::decode(payload).zip(key.first_chunk::<2>());
    let Some((row, prefix)) = row.filter(|_| key.len() == postings::KEY_BYTES) else {
        checked.find(FindingKind::Row, None, format!("{} cannot be read", named(space, key)));
        return;
    };
    for (rest, posting) in row.iter() {
        if posting.document >= sums.live.end() {
            let what = format!("{} refers to a document that never existed", named(space, key));
            checked.find(FindingKind::Orphan, None, what);
        } else if sums.live.has(posting.document) {
            *sum = sum.wrapping_add(postings::digest(*prefix, rest, posting));
        }
    }
}

fn named(space: KeyspaceName, key: &[u8]) -> String {
    format!("the row of `{}` with the key {}", space.name(), shown(space, key))
}

/// Formats a key as an id, a number or hexadecimal digits.
fn shown(space: KeyspaceName, key: &[u8]) -> String {
    match (space, key.try_into().map(u32::from_be_bytes), std::str::from_utf8(key)) {
        (KeyspaceName::Ids | KeyspaceName::State, _, Ok(id)) => format!("`{id}`"),
        (
            KeyspaceName::Records
            | KeyspaceName::Texts
            | KeyspaceName::Sketches
            | KeyspaceName::Sets
            | KeyspaceName::Frequencies,
            Ok(number),
            _,
        ) => number.to_string(),
        _ => key.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}")),
    }
}
