//! Evidence: the shingles that count in a check. Shingles that occur in too many documents, in templates, in
//! quotations or in lists of references are no evidence.
//!
//! Shingles that are no evidence are masked in both documents before the comparison, so the similarity is
//! computed from the remaining shingles. To mask a shingle is to replace its hash by a value that stands for no
//! shingle. A masked shingle keeps its position, so that no passage runs across it.

use std::ops::Range;
use std::sync::Arc;

use minwise::shingle::{Shingles, UnitRanges};
use minwise::weight::{MostDocuments, Weigher, Weighting};

use super::CheckOptions;
use crate::error::Result;
use crate::frequencies::CommonFrequencies;
use crate::index::Index;

/// Value of a masked shingle of the query. A real shingle has one of the two mask values with probability 2⁻⁶³.
const MASKED: u64 = 0;
/// Value of a masked shingle of a document of the index. The value differs from [`MASKED`], so that masked
/// shingles never agree.
const MASKED_THERE: u64 = 1;

/// Headings of lists of references. A heading is a line of its own.
const HEADINGS: [&str; 14] = [
    "references",
    "bibliography",
    "works cited",
    "literature",
    "literature cited",
    "literatur",
    "literaturverzeichnis",
    "quellen",
    "références",
    "bibliographie",
    "referencias",
    "bibliografía",
    "参考文献",
    "參考文獻",
];

/// Pairs of an opening and a closing quotation mark.
const QUOTES: [(char, char); 9] = [
    ('"', '"'),
    ('\u{201c}', '\u{201d}'),
    ('\u{201e}', '\u{201c}'),
    ('«', '»'),
    ('»', '«'),
    ('‹', '›'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
];
/// Maximum number of bytes of a quotation, so that a mark that is never closed does not mask all text after
/// it.
const LONGEST_QUOTATION: usize = 4000;

/// Masks shingles that are no evidence.
pub(crate) struct Evidence {
    frequencies: Option<(Arc<CommonFrequencies>, MostDocuments)>,
    /// Shingles of templates, sorted.
    ignored: Vec<u64>,
    quotations: bool,
    references: bool,
    weigher: Option<Weigher>,
    /// Number of units per shingle.
    size: usize,
}

impl Evidence {
    pub(crate) fn new(index: &Index, options: &CheckOptions) -> Result<Self> {
        let mut ignored = vec![];
        let mut shingles = Shingles::new();
        for text in &options.ignore_text {
            index.preparation.shingles(text, &mut shingles);
            ignored.extend_from_slice(shingles.hashes());
        }
        ignored.sort_unstable();
        ignored.dedup();
        let weighs = options.weighting().is_some_and(Weighting::needs_frequencies);
        let table = if weighs || options.max_df.is_some() { Some(index.frequencies()?) } else { None };
        let weigher = match (options.weighting(), &table) {
            (None, _) => None,
            (Some(weighting), Some(table)) if weighting.needs_frequencies() => {
                Some(Weigher::with_frequencies(weighting, Arc::<CommonFrequencies>::clone(table), None))
            }
            (Some(weighting), _) => Some(Weigher::new(weighting)?),
        };
        Ok(Self {
            frequencies: table.zip(options.max_df),
            ignored,
            quotations: options.ignore_quotations,
            references: options.ignore_references,
            weigher,
            size: index.settings.spec.shingling.size(),
        })
    }

    pub(crate) fn weigher(&self) -> Option<&Weigher> {
        self.weigher.as_ref()
    }

    /// Reports whether all shingles are evidence.
    pub(crate) fn is_everything(&self) -> bool {
        self.frequencies.is_none() && self.ignored.is_empty() && !self.quotations && !self.references
    }

    /// Returns the shingles of the query in document order. [`MASKED`] replaces every shingle that is no
    /// evidence.
    pub(crate) fn of_query(&self, text: &str, shingles: &[u64], places: Option<&UnitRanges>) -> Vec<u64> {
        self.mask(text, shingles, places, MASKED)
    }

    /// Returns the shingles of a document of the index in document order. [`MASKED_THERE`] replaces every
    /// shingle that is no evidence.
    pub(crate) fn of_document(&self, text: &str, shingles: &[u64], places: Option<&UnitRanges>) -> Vec<u64> {
        self.mask(text, shingles, places, MASKED_THERE)
    }

    fn mask(&self, text: &str, shingles: &[u64], places: Option<&UnitRanges>, gone: u64) -> Vec<u64> {
        let quoted = if self.quotations { quotations(text) } else { vec![] };
        let listed = if self.references { references(text) } else { None };
        let inside = |at: usize| {
            let Some(place) = places.and_then(|places| places.span(at, at + self.size - 1)) else {
                return false;
            };
            let holds = |span: &Range<usize>| span.start <= place.start && place.end <= span.end;
            // Quotations do not overlap, so only the last quotation that begins before the shingle can
            // contain it.
            let before = quoted.partition_point(|span| span.start <= place.start);
            quoted[..before].last().is_some_and(holds) || listed.as_ref().is_some_and(holds)
        };
        let is_gone = |at: usize, shingle: u64| {
            self.ignored.binary_search(&shingle).is_ok()
                || self
                    .frequencies
                    .as_ref()
                    .is_some_and(|(table, most)| !most.allows(table.of(shingle), table.documents()))
                || ((!quoted.is_empty() || listed.is_some()) && inside(at))
        };
        shingles
            .iter()
            .enumerate()
            .map(|(at, &shingle)| if is_gone(at, shingle) { gone } else { shingle })
            .collect()
    }
}

/// Returns the shingles that are not masked.
pub(crate) fn remaining(shingles: &[u64]) -> impl Iterator<Item = u64> + '_ {
    shingles.iter().copied().filter(|&shingle| shingle != MASKED && shingle != MASKED_THERE)
}

/// Returns the byte ranges of the quotations of a text, in order.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let is_mark = |c: char| QUOTES.iter().any(|(open, close)| *open == c || *close == c);
    let marks: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| is_mark(*c)).collect();
    // `closing` has, for each mark, the next mark that closes it. A single pass from the end fills `closing`,
    // because a search per mark would take quadratic time for a text of marks that are never closed.
    let mut closing = vec![None; marks.len()];
    let mut next = [None; QUOTES.len()];
    for (at, (_, mark)) in marks.iter().enumerate().rev() {
        for ((open, close), next) in QUOTES.iter().zip(&mut next) {
            if mark == open {
                closing[at] = *next;
            }
            if mark == close {
                *next = Some(at);
            }
        }
    }
    let mut spans = vec![];
    let mut at = 0;
    while let Some((start, open)) = marks.get(at) {
        let start = start + open.len_utf8();
        at = match closing[at] {
            Some(closed) if marks[closed].0 - start <= LONGEST_QUOTATION => {
                spans.push(start..marks[closed].0);
                closed + 1
            }
            _ => at + 1,
        };
    }
    spans
}

/// Returns the byte range of the list of references, from its heading to the end of the text; `None` if the
/// last heading is in the first half of the text.
fn references(text: &str) -> Option<Range<usize>> {
    let is_heading = |line: &str| {
        let name = line.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        HEADINGS.contains(&name.as_str())
    };
    let mut at = 0;
    let mut last = None;
    for line in text.split_inclusive('\n') {
        if is_heading(line) {
            last = Some(at);
        }
        at += line.len();
    }
    last.filter(|&start| start >= text.len() / 2).map(|start| start..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_found_and_unclosed_ones_are_not() {
        let found =
            |text: &str| quotations(text).into_iter().map(|span| text[span].to_owned()).collect::<Vec<_>>();
        assert_eq!(
            found("he said \"this and that\" and “more”, „auch so“, «oui», 「好」."),
            ["this and that", "more", "auch so", "oui", "好"]
        );
        assert!(found("no quotation, 5\" wide").is_empty());
        assert!(found(&format!("\"{}\"", "a".repeat(LONGEST_QUOTATION + 10))).is_empty());
    }

    /// Returns the quotations of a text by a separate search per opening mark.
    fn plainly(text: &str) -> Vec<Range<usize>> {
        let (mut spans, mut rest) = (vec![], 0);
        while let Some((at, open)) =
            text[rest..].char_indices().find(|(_, c)| QUOTES.iter().any(|(open, _)| open == c))
        {
            let start = rest + at + open.len_utf8();
            let close = QUOTES.iter().find(|(mark, _)| *mark == open).unwrap().1;
            rest = match text[start..].find(close).filter(|&end| end <= LONGEST_QUOTATION) {
                Some(end) => {
                    spans.push(start..start + end);
                    start + end + close.len_utf8()
                }
                None => start,
            };
        }
        spans
    }

    proptest::proptest! {
        #[test]
        fn quotations_are_those_that_are_found_mark_by_mark(text in "[\"\u{201c}\u{201d}\u{201e}«»‹›「」『』《》ab ]{0,60}") {
            proptest::prop_assert_eq!(quotations(&text), plainly(&text));
        }
    }

    // The text has 60,000 marks that are never closed and 60,000 quotations, so a quadratic search would take
    // too long.
    #[test]
    fn many_quotations_are_masked_in_the_time_of_one_pass() {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("index"), &crate::IndexSettings::default()).unwrap();
        let options = CheckOptions { ignore_quotations: true, ..CheckOptions::default() };
        let evidence = Evidence::new(&index, &options).unwrap();
        let text = "« \"one two three four five\" six seven ".repeat(60_000);
        let mut shingles = Shingles::new();
        let places = index.preparation.shingles_with_places(&text, &mut shingles);
        let left = remaining(&evidence.of_query(&text, shingles.hashes(), Some(&places))).count();
        assert_eq!(left, shingles.hashes().len() - 60_000);
    }

    #[test]
    fn references_are_the_end_of_a_text() {
        let text = format!("{}\n\n7. References\n[1] A. Nonymous\n", "Some text of the paper. ".repeat(9));
        assert!(text[references(&text).unwrap()].starts_with("7. References\n[1]"));
        assert_eq!(references("References\nare a word that stands at the beginning of this text here"), None);
        assert_eq!(references("We refer to references in the text, as in the\nreferences that follow"), None);
        assert!(references("文字文字文字文字文字文字\n参考文献\n[1] 某").is_some());
    }
}
