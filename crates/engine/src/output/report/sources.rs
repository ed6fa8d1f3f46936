//! The page's table of records read, kept, removed and rejected, by source.
//!
//! A file of records is a source of its own in the table. Files that are one document each are counted by folder,
//! because there are fewer folders.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use minwise_corpus::{Corpus, Layout};

use super::html::{TableColumn, grouped, id, table};

/// Number of sources that are counted one by one; all later sources are counted together.
const COUNTED: usize = 1 << 16;
/// Number of sources that are shown: those with the most removed records.
const SHOWN: usize = 30;

/// Number of records per fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct FateCounts {
    kept: u64,
    removed: u64,
    rejected: u64,
}

impl FateCounts {
    fn read(&self) -> u64 {
        self.kept + self.removed + self.rejected
    }

    fn add(&mut self, other: &Self) {
        self.kept += other.kept;
        self.removed += other.removed;
        self.rejected += other.rejected;
    }

    fn cells(&self, name: String) -> Vec<String> {
        let counts = [self.read(), self.kept, self.removed, self.rejected].map(grouped);
        [name].into_iter().chain(counts).collect()
    }
}

/// Fate of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    Removed,
    Rejected,
}

/// Counts of records by source.
#[derive(Debug, Default)]
pub(super) struct SourceCounts<'a> {
    named: BTreeMap<&'a str, FateCounts>,
    others: FateCounts,
    /// The source of the last record, with counts that are not added to `named` yet. Records of one source follow each
    /// other, so a name is looked up once per source instead of once per record.
    last: Option<(u32, &'a str, FateCounts)>,
}

impl<'a> SourceCounts<'a> {
    /// Counts a record.
    pub(super) fn add(&mut self, corpus: &'a Corpus, source: u32, fate: Fate) {
        self.count(source, fate, || {
            corpus.sources().get(source as usize).map_or("?", |source| match source.layout() {
                Layout::Records => source.name(),
                Layout::Texts => source.name().rsplit_once('/').map_or(".", |(folder, _)| folder),
            })
        });
    }

    fn count(&mut self, source: u32, fate: Fate, name: impl FnOnce() -> &'a str) {
        if self.last.as_ref().is_none_or(|(last, ..)| *last != source) {
            self.flush();
        }
        let (_, _, fates) = self.last.get_or_insert_with(|| (source, name(), FateCounts::default()));
        *match fate {
            Fate::Kept => &mut fates.kept,
            Fate::Removed => &mut fates.removed,
            Fate::Rejected => &mut fates.rejected,
        } += 1;
    }

    /// Adds the counts of the last source to those of its name.
    fn flush(&mut self) {
        let Some((_, name, fates)) = self.last.take() else { return };
        let is_known = self.named.len() < COUNTED || self.named.contains_key(name);
        if is_known { self.named.entry(name).or_default() } else { &mut self.others }.add(&fates);
    }

    /// Returns the table: the sources with the most removed records, one row for all other sources, and the total.
    pub(super) fn table(mut self, [kept, removed]: [&'static str; 2]) -> String {
        self.flush();
        let Self { named, mut others, last: _ } = self;
        let mut all = others;
        let mut sources: Vec<(&str, FateCounts)> = named.into_iter().collect();
        for (_, fates) in &sources {
            all.add(fates);
        }
        sources.sort_by_key(|(_, fates)| Reverse((fates.removed, fates.read())));
        for (_, fates) in sources.iter().skip(SHOWN) {
            others.add(fates);
        }
        sources.truncate(SHOWN);
        let mut rows: Vec<Vec<String>> = sources.iter().map(|(name, fates)| fates.cells(id(name))).collect();
        if others.read() > 0 {
            rows.push(others.cells("all others".to_owned()));
        }
        if rows.is_empty() {
            return String::new();
        }
        if rows.len() > 1 {
            rows.push(all.cells("total".to_owned()));
        }
        let counts = ["read", kept, removed, "rejected"].map(TableColumn::Numbers);
        let columns: Vec<TableColumn> = [TableColumn::Words("source")].into_iter().chain(counts).collect();
        table(&format!("Records by source, most {removed} first"), &columns, &rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_is_added_up() {
        let names: Vec<String> = (0..SHOWN + 2).map(|i| format!("{i:02}")).collect();
        let mut sources = SourceCounts::default();
        for (source, name) in (0..).zip(&names) {
            sources.count(source, Fate::Kept, || name);
        }
        sources.count(31, Fate::Removed, || "31");
        sources.count(0, Fate::Rejected, || "00");
        let table = sources.table(["kept", "removed"]);
        let row = |name: &str, counts: [u64; 4]| {
            let names = ["read", "kept", "removed", "rejected"];
            let cell = |(name, count)| format!("<td class=\"number\" data-name=\"{name}\">{count}</td>");
            let cells: String = names.into_iter().zip(counts).map(cell).collect();
            assert!(
                table.contains(&format!("<th scope=\"row\">{name}</th>{cells}</tr>")),
                "{name} in {table}"
            );
        };
        row("<bdi>31</bdi>", [2, 1, 1, 0]);
        row("<bdi>00</bdi>", [2, 1, 0, 1]);
        row("all others", [2, 2, 0, 0]);
        row("total", [34, 32, 1, 1]);
        assert!(table.find("<bdi>31</bdi>") < table.find("<bdi>00</bdi>"));
    }

    #[test]
    fn one_source_is_its_own_sum() {
        let mut sources = SourceCounts::default();
        sources.count(0, Fate::Kept, || "a");
        let table = sources.table(["kept", "removed"]);
        assert!(!table.contains("total") && !table.contains("all others"), "{table}");
    }
}
