//! Decides which records are copied with which documents.
//!
//! A crawl stores several records for one page: the request, the response, and metadata. The header
//! `WARC-Concurrent-To` links them, in either direction: in files of Wget the response names the request, in files of
//! other crawlers the request names the response. If the response is removed, its request and its metadata are
//! removed, too.
//!
//! | record | fate |
//! |---|---|
//! | document | decided by the caller |
//! | `warcinfo` | copied |
//! | `revisit` | copied and counted |
//! | `request`, `metadata`, `continuation`, unknown | fate of the documents that it is connected with; copied if there are none |
//!
//! A record that is connected with several documents is copied if at least one of them is copied. Connections may
//! lead through other records; the nearest documents decide.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::headers::Headers;
use super::record::{RecordKind, bare, id_of};

/// Whether a record is in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordFate {
    /// The record is copied.
    Copied,
    /// The record is left out.
    Removed,
}

impl RecordFate {
    /// Combines two fates: a record that is connected with records of both fates is copied.
    fn or(self, other: Option<Self>) -> Self {
        match (self, other) {
            (Self::Removed, Some(Self::Removed) | None) => Self::Removed,
            (Self::Copied, _) | (Self::Removed, Some(Self::Copied)) => Self::Copied,
        }
    }
}

/// Hash of an id, of 128 bits. Ids are not kept, because files have hundreds of thousands of ids, each of 45 bytes or
/// more.
type IdHash = u128;

fn key(id: &str) -> IdHash {
    xxh3_128(id.as_bytes())
}

/// Kind of a record, its id, and the ids that its headers name. Kind and ids decide with which documents the record is
/// copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    kind: RecordKind,
    id: Option<IdHash>,
    named: Vec<IdHash>,
}

impl Links {
    /// Returns the links of a record.
    pub(crate) fn of(kind: RecordKind, headers: &Headers) -> Self {
        // Other references do not count, because they name the record from which this record was made. A revisit, for
        // example, is kept without that record.
        let more = match kind {
            RecordKind::Metadata => Some("WARC-Refers-To"),
            RecordKind::Continuation => Some("WARC-Segment-Origin-ID"),
            RecordKind::Warcinfo
            | RecordKind::Response
            | RecordKind::Conversion
            | RecordKind::Resource
            | RecordKind::Request
            | RecordKind::Revisit
            | RecordKind::Other => None,
        };
        let more = more.into_iter().flat_map(|name| headers.all(name));
        let named = headers.all("WARC-Concurrent-To").chain(more).map(bare).map(key).collect();
        Self { kind, id: id_of(headers).map(key), named }
    }
}

/// Fates of all records of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordFates {
    /// Fate of each record, in the order of the records.
    pub(crate) fates: Vec<RecordFate>,
    /// Number of revisits, which are all copied.
    pub(crate) revisits: u64,
}

/// Decides about all records. `document` returns the fate of a document by its number. It is called only for
/// `response`, `conversion` and `resource` records.
pub(crate) fn decide(records: &[Links], document: impl Fn(usize) -> RecordFate) -> RecordFates {
    let mut walk = CompanionWalk { records, fates: vec![None; records.len()], keys: HashMap::new() };
    let mut revisits = 0;
    let mut decided = Vec::new();
    for (number, record) in records.iter().enumerate() {
        let fate = match record.kind {
            RecordKind::Response | RecordKind::Conversion | RecordKind::Resource => document(number),
            RecordKind::Revisit => {
                revisits += 1;
                RecordFate::Copied
            }
            RecordKind::Warcinfo => {
                // A `warcinfo` record describes all records, so its fate does not spread to the records that name it.
                walk.set(number, RecordFate::Copied);
                continue;
            }
            RecordKind::Request | RecordKind::Metadata | RecordKind::Continuation | RecordKind::Other => {
                walk.wait(number);
                continue;
            }
        };
        walk.set(number, fate);
        decided.push(number);
    }
    walk.spread(decided);
    let fates = walk.fates.into_iter().map(|fate| fate.unwrap_or(RecordFate::Copied)).collect();
    RecordFates { fates, revisits }
}

/// A breadth-first walk from the documents to the records that follow a document. Each record and each id is visited
/// once, so the time is proportional to the number of links.
struct CompanionWalk<'r> {
    records: &'r [Links],
    fates: Vec<Option<RecordFate>>,
    keys: HashMap<IdHash, IdState>,
}

/// State of an id during the walk.
#[derive(Default)]
struct IdState {
    /// Fate that the id passes on to the records that wait for it; `None` until the walk reaches a decided record that
    /// has or names the id.
    fate: Option<RecordFate>,
    /// Numbers of the records that have or name the id and wait for a fate.
    waiting: Vec<usize>,
}

impl CompanionWalk<'_> {
    fn set(&mut self, number: usize, fate: RecordFate) {
        if let Some(known) = self.fates.get_mut(number) {
            *known = Some(fate);
        }
    }

    fn fate(&self, number: usize) -> Option<RecordFate> {
        self.fates.get(number).copied().flatten()
    }

    /// Makes a record wait at each of its ids.
    fn wait(&mut self, number: usize) {
        let Some(record) = self.records.get(number) else { return };
        for key in record.id.iter().chain(&record.named) {
            self.keys.entry(*key).or_default().waiting.push(number);
        }
    }

    /// Spreads fates from decided records to all records that are connected with them.
    fn spread(&mut self, mut decided: Vec<usize>) {
        while !decided.is_empty() {
            // If one decided record has an id and others name it, the id takes the fate of the record that has it. The
            // request of a removed response is therefore removed, even if a kept response names the removed one.
            let own = self.mark(&decided, |record| record.id.as_slice());
            let named = self.mark(&decided, |record| &record.named);
            decided = self.reach(own.into_iter().chain(named));
        }
    }

    /// Gives the fates of records to their ids that have no fate yet, and returns these ids.
    fn mark(&mut self, decided: &[usize], ids: impl Fn(&Links) -> &[IdHash]) -> Vec<IdHash> {
        let mut marked: HashMap<IdHash, RecordFate> = HashMap::new();
        for number in decided {
            let (Some(record), Some(fate)) = (self.records.get(*number), self.fate(*number)) else {
                continue;
            };
            for key in ids(record) {
                if self.keys.get(key).is_some_and(|state| state.fate.is_none()) {
                    let known = marked.get(key).copied();
                    marked.insert(*key, fate.or(known));
                }
            }
        }
        for (key, fate) in &marked {
            if let Some(state) = self.keys.get_mut(key) {
                state.fate = Some(*fate);
            }
        }
        marked.into_keys().collect()
    }

    /// Gives the fates of ids to the records that wait at them, and returns these records.
    fn reach(&mut self, keys: impl Iterator<Item = IdHash>) -> Vec<usize> {
        let mut reached: HashMap<usize, RecordFate> = HashMap::new();
        for key in keys {
            let Some(state) = self.keys.get_mut(&key) else { continue };
            let Some(fate) = state.fate else { continue };
            for number in std::mem::take(&mut state.waiting) {
                if self.fates.get(number).is_some_and(Option::is_none) {
                    let known = reached.get(&number).copied();
                    reached.insert(number, fate.or(known));
                }
            }
        }
        for (number, fate) in &reached {
            self.set(*number, *fate);
        }
        reached.into_keys().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes the links of a record by its type, its id and its other headers.
    fn links(kind: &str, id: &str, more: &[(&str, &str)]) -> Links {
        let mut head = format!("WARC-Record-ID: <{id}>\r\n");
        for (name, value) in more {
            head.push_str(&format!("{name}: <{value}>\r\n"));
        }
        Links::of(RecordKind::of(Some(kind)), &Headers::parse(head.as_bytes()))
    }

    /// Returns the fates as letters: `+` is copied, `-` is removed. `removed` has the numbers of removed documents.
    fn fates(records: &[Links], removed: &[usize]) -> String {
        let document =
            |number: usize| if removed.contains(&number) { RecordFate::Removed } else { RecordFate::Copied };
        let letter = |fate: &RecordFate| if *fate == RecordFate::Copied { '+' } else { '-' };
        decide(records, document).fates.iter().map(letter).collect()
    }

    const WITH: &str = "WARC-Concurrent-To";

    #[test]
    fn requests_and_metadata_follow_the_response_they_name() {
        let records = [
            links("warcinfo", "w", &[]),
            links("request", "q1", &[(WITH, "r1")]),
            links("response", "r1", &[]),
            links("metadata", "m1", &[(WITH, "r1")]),
            links("request", "q2", &[("warc-concurrent-to", "r2")]),
            links("response", "r2", &[]),
            links("metadata", "m2", &[("WARC-Refers-To", "r2")]),
            links("continuation", "c2", &[("WARC-Segment-Origin-ID", "r2")]),
        ];
        assert_eq!(fates(&records, &[]), "++++++++");
        assert_eq!(fates(&records, &[2]), "+---++++");
        assert_eq!(fates(&records, &[5]), "++++----");
    }

    #[test]
    fn a_response_may_name_its_request() {
        let records = [
            links("request", "q", &[]),
            links("response", "r", &[(WITH, "q")]),
            links("metadata", "m", &[(WITH, "q")]),
        ];
        assert_eq!(fates(&records, &[1]), "---");
        assert_eq!(fates(&records, &[]), "+++");
    }

    #[test]
    fn records_that_name_nothing_are_copied_and_revisits_counted() {
        let records = [
            links("response", "r", &[]),
            links("request", "q", &[]),
            links("metadata", "m", &[(WITH, "elsewhere")]),
            links("revisit", "v", &[("WARC-Refers-To", "r")]),
            links("request", "q2", &[(WITH, "v")]),
            links("odd", "o", &[]),
        ];
        assert_eq!(fates(&records, &[0]), "-+++++");
        assert_eq!(decide(&records, |_| RecordFate::Removed).revisits, 1);
        assert_eq!(decide(&[], |_| RecordFate::Removed), RecordFates::default());
    }

    #[test]
    fn a_record_that_names_several_documents_stays_with_a_kept_one() {
        let records = [
            links("response", "r1", &[]),
            links("response", "r2", &[]),
            links("metadata", "m", &[(WITH, "r1"), (WITH, "r2")]),
        ];
        assert_eq!(fates(&records, &[0]), "-++");
        assert_eq!(fates(&records, &[0, 1]), "---");
    }

    #[test]
    fn the_nearest_documents_decide() {
        let records = [
            links("response", "r1", &[]),
            links("response", "r2", &[(WITH, "r1")]),
            links("request", "q1", &[(WITH, "r1")]),
            links("metadata", "m", &[(WITH, "q1")]),
            links("odd", "o", &[(WITH, "m")]),
        ];
        assert_eq!(fates(&records, &[0]), "-+---");
        assert_eq!(fates(&records, &[1]), "+-+++");
    }

    #[test]
    fn chains_and_repeated_ids_take_time_in_proportion_to_their_number() {
        let mut records = vec![links("response", "0", &[])];
        let chain =
            |number: usize| links("metadata", &number.to_string(), &[(WITH, &(number - 1).to_string())]);
        records.extend((1..20_000).map(chain));
        assert!(!fates(&records, &[0]).contains('+'));
        let mut same: Vec<Links> = (0..20_000).map(|_| links("response", "r", &[])).collect();
        same.extend((0..20_000).map(|_| links("request", "q", &[(WITH, "r")])));
        assert!(!fates(&same, &(0..20_000).collect::<Vec<_>>()[..1]).ends_with('-'));
    }

    proptest! {
        #[test]
        fn documents_keep_their_fates(
            records in prop::collection::vec((0..8_usize, 0..9_u8, prop::collection::vec(0..9_u8, 0..3)), 0..20),
            removed in prop::collection::vec(any::<bool>(), 20),
        ) {
            let kinds = ["warcinfo", "response", "conversion", "request", "metadata", "revisit", "continuation", "x"];
            let records: Vec<Links> = records
                .iter()
                .map(|(kind, id, named)| {
                    let named: Vec<String> = named.iter().map(ToString::to_string).collect();
                    let named: Vec<_> = named.iter().map(|id| (WITH, id.as_str())).collect();
                    links(kinds[*kind], &id.to_string(), &named)
                })
                .collect();
            let fate = |number: usize| if removed[number] { RecordFate::Removed } else { RecordFate::Copied };
            let found = decide(&records, fate);
            for (number, record) in records.iter().enumerate() {
                match record.kind {
                    kind if kind.is_document() => prop_assert_eq!(found.fates[number], fate(number)),
                    RecordKind::Warcinfo | RecordKind::Revisit => prop_assert_eq!(found.fates[number], RecordFate::Copied),
                    _ => {}
                }
            }
            let all_kept = decide(&records, |_| RecordFate::Copied);
            prop_assert!(all_kept.fates.iter().all(|fate| *fate == RecordFate::Copied));
        }
    }
}
