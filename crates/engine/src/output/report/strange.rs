//! The page's table of documents that are unlike the others.
//!
//! The longest documents, the shortest ones and those without shingles are found from their places, without reading
//! texts. Repetition within a document needs the text, so it is measured in a sample. The sample is a few stretches of
//! neighbouring documents, spread evenly, because neighbours are cheap to read in every format.

use std::cmp::Reverse;

use minwise::shingle::Shingles;

use super::html::{TableColumn, bytes, counted, excerpt, grouped, id, table};
use super::least::Least;
use crate::error::Error;
use crate::output::Findings;

/// Number of documents that are shown per kind.
const SHOWN: usize = 5;
/// Number of stretches in the sample; each has `STRETCH` documents.
const STRETCHES: u64 = 16;
const STRETCH: u64 = 32;

/// Collector of unusual documents during a pass over all documents.
#[derive(Debug)]
pub(super) struct Strange {
    longest: Least<(Reverse<u32>, u32)>,
    shortest: Least<(u32, u32)>,
    without_shingles: Vec<u32>,
}

impl Strange {
    pub(super) fn new() -> Self {
        Self { longest: Least::new(SHOWN), shortest: Least::new(SHOWN), without_shingles: vec![] }
    }

    /// Offers a document whose record has this many bytes.
    pub(super) fn see(&mut self, document: u32, bytes: u32, has_shingles: bool) {
        self.longest.offer((Reverse(bytes), document));
        if has_shingles {
            self.shortest.offer((bytes, document));
        } else if self.without_shingles.len() < SHOWN {
            self.without_shingles.push(document);
        }
    }

    /// Returns the table of unusual documents.
    pub(super) fn section(self, run: &Findings<'_>) -> Result<String, Error> {
        let mut rows = vec![];
        for (_, document) in self.shortest.into_items() {
            rows.push(row(run, document, "among the shortest".to_owned())?);
        }
        for document in self.without_shingles {
            rows.push(row(run, document, "has no words".to_owned())?);
        }
        for (_, document) in self.longest.into_items() {
            rows.push(row(run, document, "among the longest".to_owned())?);
        }
        for (Reverse(share), document, shingles) in most_repeated(run)? {
            let share = f64::from(share) / 100.0;
            rows.push(row(
                run,
                document,
                format!("{share:.2} % of its {} shingles are repeats", grouped(shingles)),
            )?);
        }
        if rows.is_empty() {
            return Ok("<p>There are no documents.</p>\n".to_owned());
        }
        let columns = [
            TableColumn::Words("document"),
            TableColumn::Words("why"),
            TableColumn::Numbers("size of the record"),
            TableColumn::Words("first words"),
        ];
        let looked_at = sample(run.reading.references.into(), run.reading.documents.len() as u64).count();
        Ok(format!(
            "<p>The table has the shortest documents, documents without words, the longest documents, and the documents that repeat \
             themselves most. The last are of a sample of {}.</p>\n{}",
            counted(looked_at as u64, "document"),
            table("Documents that are unlike the others", &columns, &rows)
        ))
    }
}

fn row(run: &Findings<'_>, document: u32, why: String) -> Result<Vec<String>, Error> {
    let len = run.reading.documents.place(document)?.len;
    let begins = run.short_text(document)?.map_or("too long to be shown".to_owned(), |text| excerpt(&text));
    Ok(vec![id(&run.id(document)?), why, bytes(len.into()), begins])
}

/// Returns the documents of a sample with the largest share of repeated shingles: the share in hundredths of a percent,
/// the document, and its number of shingles.
fn most_repeated(run: &Findings<'_>) -> Result<Vec<(Reverse<u32>, u32, u64)>, Error> {
    let shingler = run.plan.spec.shingler();
    let mut shingles = Shingles::new();
    let mut most = Least::new(SHOWN);
    for document in sample(run.reading.references.into(), run.reading.documents.len() as u64) {
        if !run.reading.documents.has_text(document) {
            continue;
        }
        let Some(text) = run.short_text(document)? else { continue };
        shingler.shingle_into(&text, &mut shingles);
        let all = shingles.hashes().len() as u64;
        let mut distinct = shingles.hashes().to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let repeated = all - distinct.len() as u64;
        if let Some(share) = (repeated * 10_000).checked_div(all).filter(|share| *share > 0) {
            most.offer((Reverse(share as u32), document, all));
        }
    }
    Ok(most.into_items())
}

/// Samples the documents from `first` to `end` in evenly spread stretches; returns all documents if they are few.
fn sample(first: u64, end: u64) -> impl Iterator<Item = u32> {
    let documents = end.saturating_sub(first);
    let starts = (0..STRETCHES).map(move |at| first + documents * at / STRETCHES);
    let ends = (1..=STRETCHES).map(move |at| first + documents * at / STRETCHES);
    starts
        .zip(ends)
        .flat_map(move |(start, end)| start..end.min(start + STRETCH))
        .map(|document| document as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_few_is_all_of_them() {
        for documents in [0, 1, 15, 17, 511, 512] {
            let all: Vec<u32> = sample(3, 3 + documents).collect();
            assert_eq!(all, (3..3 + documents as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_sample_of_many_is_spread_over_them() {
        let all: Vec<u32> = sample(0, 10_000_000).collect();
        assert_eq!(all.len(), (STRETCHES * STRETCH) as usize);
        assert!(all.is_sorted_by(|a, b| a < b));
        assert_eq!((all[0], all[31], all[32]), (0, 31, 625_000));
    }

    #[test]
    fn the_longest_and_the_shortest_are_kept() {
        let mut strange = Strange::new();
        for (document, bytes) in (0..).zip([30, 10, 70, 20, 50, 60, 40, 5]) {
            strange.see(document, bytes, bytes > 5);
        }
        let documents = |items: Vec<(Reverse<u32>, u32)>| items.iter().map(|item| item.1).collect::<Vec<_>>();
        assert_eq!(documents(strange.longest.into_items()), [2, 5, 4, 6, 0]);
        let shortest: Vec<u32> = strange.shortest.into_items().iter().map(|item| item.1).collect();
        assert_eq!((shortest, strange.without_shingles), (vec![1, 3, 0, 6, 4], vec![7]));
    }
}
