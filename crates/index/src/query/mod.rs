//! Checks: finds the documents of an index that share text with a query.
//!
//! Candidates are documents that share a band key or a fingerprint with the query. Shingles that are no evidence
//! ([`evidence`]) are masked (replaced by a value that stands for no shingle) in the query and in each candidate,
//! and the remaining shingles are compared exactly.

mod answer;
mod candidates;
pub(crate) mod evidence;
#[expect(clippy::ref_option, reason = "serde hands a field over as it is")]
mod form;
mod options;
mod passages;
mod reader;
mod screen;
mod window;

use evidence::Evidence;
use minwise::candidate::Fingerprint;
use minwise::shingle::{Shingles, UnitRanges};
use minwise::verify::{Overlap, ShingleSet, WeightedOverlap};
use minwise::weight::Weigher;
use minwise::{Observer, Unobserved};
use serde_json::{Map, Value};

use crate::error::{ErrorKind, Result};
use crate::index::Index;
use crate::prepare::PreparedEntry;
use crate::progress::go_on;
use crate::record::{DocumentRow, Entry};
use crate::settings::Texts;
use crate::store::View;
pub use answer::{Answer, Match, Queried, Reasons};
pub use options::CheckOptions;
pub use passages::SharedPassage;
use reader::DocumentReader;
use window::DateWindow;

/// A text to check against an index.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Query<'q> {
    /// The text.
    pub text: &'q str,
    /// Metadata of the text, for [`CheckOptions::exclude`].
    pub metadata: Option<&'q Map<String, Value>>,
    /// Id of the text if the text is a document of the index, so that the document does not match itself.
    pub itself: Option<&'q str>,
}

impl<'q> Query<'q> {
    /// Creates a query of a text without metadata.
    #[must_use]
    pub fn new(text: &'q str) -> Self {
        Self { text, metadata: None, itself: None }
    }

    /// Sets the metadata of the text, for [`CheckOptions::exclude`].
    #[must_use]
    pub fn metadata(self, metadata: &'q Map<String, Value>) -> Self {
        Self { metadata: Some(metadata), ..self }
    }

    /// Sets the id of the text if the text is a document of the index, so that the document does not match
    /// itself.
    #[must_use]
    pub fn itself(self, id: &'q str) -> Self {
        Self { itself: Some(id), ..self }
    }
}

/// The comparison of two documents.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DocumentPair {
    /// The exact Jaccard similarity.
    pub similarity: f64,
    /// The exact share of the left document's shingles that the right document has.
    pub containment_of_left: f64,
    /// The exact share of the right document's shingles that the left document has.
    pub containment_of_right: f64,
    /// Shared passages in the order of the left document, which takes the place of the query in
    /// [`SharedPassage`]. The list is empty if a side is a document of an index that keeps no texts.
    pub passages: Vec<SharedPassage>,
}

/// One side of a pair: the left or the right document.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Side<'s> {
    /// The document of the index with this id.
    Id(&'s str),
    /// A text that need not be in the index.
    Text(&'s str),
}

struct PreparedQuery {
    /// Document number of the query, if the query is a document of the index.
    itself: Option<u32>,
    prepared: PreparedEntry,
    /// Byte ranges of the units of the query, if its text is known.
    places: Option<UnitRanges>,
    /// Masked shingles of the query, in the order of the text, or in ascending order if the text is not
    /// known.
    shingles: Vec<u64>,
    set: ShingleSet,
}

impl PreparedQuery {
    fn new(
        itself: Option<u32>,
        prepared: PreparedEntry,
        places: Option<UnitRanges>,
        shingles: Vec<u64>,
    ) -> Self {
        let set = evidence::remaining(&shingles).collect();
        Self { itself, prepared, places, shingles, set }
    }

    /// Reports whether the shingle of a fingerprint is evidence.
    fn has(&self, fingerprint: &Fingerprint) -> bool {
        match self.places {
            Some(_) => self.shingles.get(fingerprint.at as usize) == Some(&fingerprint.shingle),
            None => self.set.as_slice().binary_search(&fingerprint.shingle).is_ok(),
        }
    }
}

impl Index {
    /// Finds the documents of this index that share text with a query, with the shared passages.
    ///
    /// ```
    /// use minwise_index::{CheckOptions, Index, IndexSettings, NewDocument, Query};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("archive");
    /// let index = Index::create(&path, &IndexSettings::default())?;
    /// let text = "The reed warbler breeds in the reeds along the northern shore of the lake.";
    /// index.add_now(&[NewDocument::new("2019-17", text)])?;
    ///
    /// let answer = index.check(&Query::new(text), &CheckOptions::default().top(5))?;
    /// assert_eq!((answer.matches[0].id.as_str(), answer.matches[0].similarity), ("2019-17", 1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Options`] if an option has a value that is not allowed, with
    /// [`ErrorKind::NoTexts`] if an option needs texts that the index does not keep, and if the index cannot
    /// be read.
    pub fn check(&self, query: &Query<'_>, options: &CheckOptions) -> Result<Answer> {
        self.check_observed(query, options, &Unobserved)
    }

    /// Checks a text as [`check`](Self::check) does. The observer may cancel between two look-ups or two candidates.
    ///
    /// # Errors
    /// Fails as [`check`](Self::check) does, and with [`ErrorKind::Interrupted`] if the observer cancels.
    pub fn check_observed(
        &self,
        query: &Query<'_>,
        options: &CheckOptions,
        observer: &dyn Observer,
    ) -> Result<Answer> {
        let view = self.store.view();
        let evidence = self.evidence(options)?;
        let mut prepared = PreparedEntry::default();
        let places = self.preparation.prepare_with_places(query.text, &mut prepared);
        let shingles = evidence.of_query(query.text, prepared.shingles.hashes(), Some(&places));
        let itself = query.itself.map(|id| self.number(&view, id)).transpose()?.flatten();
        let asked = PreparedQuery::new(itself, prepared, Some(places), shingles);
        let mut answer = self.answer(&view, &asked, &evidence, query.metadata, options, observer)?;
        answer.query.characters = query.text.chars().count();
        Ok(answer)
    }

    /// Finds the documents that are similar to a document of this index. If the index keeps no texts,
    /// `resembling` compares shingle sets: similarities and containments are the same, but the answer has no
    /// passages.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchDocument`] if no document has this id, and as
    /// [`check_observed`](Self::check_observed) does.
    pub fn resembling(&self, id: &str, options: &CheckOptions, observer: &dyn Observer) -> Result<Answer> {
        let view = self.store.view();
        let (number, record) = self.known(&view, id)?;
        if let Some(text) = self.text(&view, number, &record)? {
            return self.check_observed(&Query { itself: Some(id), ..Query::new(&text) }, options, observer);
        }
        let evidence = self.evidence(options)?;
        let kept = self.in_place_of_text(&view, number, &record)?;
        let mut prepared = PreparedEntry::default();
        self.preparation.prepare_set(kept.set, record.wordless, &mut prepared);
        prepared.fingerprints = kept.fingerprints;
        let shingles = evidence.of_query("", prepared.set.as_slice(), None);
        let asked = PreparedQuery::new(Some(number), prepared, None, shingles);
        let answer = self.answer(&view, &asked, &evidence, None, options, observer)?;
        let characters = usize::try_from(record.characters).unwrap_or(usize::MAX);
        let query = Queried { tokens: record.units as usize, characters, ..answer.query };
        Ok(Answer { query, ..answer })
    }

    /// Returns the reason why the places of passages in the documents of this index are unknown, or `None` if
    /// they are known.
    #[must_use]
    pub fn no_passages(&self) -> Option<&'static str> {
        (self.settings.texts == Texts::LeftOut).then_some(
            "the archive keeps no texts, so that the places of passages in its documents are unknown",
        )
    }

    /// Returns the number and the record of a document. Fails if no document has the id.
    fn known(&self, view: &View<'_>, id: &str) -> Result<(u32, DocumentRow)> {
        let no_such = || ErrorKind::NoSuchDocument { id: id.to_owned() };
        let number = self.number(view, id)?.ok_or_else(no_such)?;
        Ok((number, self.record(view, number)?.ok_or_else(no_such)?))
    }

    /// Creates the [`Evidence`] that masks shingles by `options`. Fails if an option has a value that is not
    /// allowed or needs texts that the index does not keep.
    fn evidence(&self, options: &CheckOptions) -> Result<Evidence> {
        let problems = options.problems();
        if !problems.is_empty() {
            return Err(ErrorKind::Options(problems).into());
        }
        if self.settings.texts == Texts::LeftOut {
            let needing = [
                (options.weighting().is_some(), "weighing shingles"),
                (options.ignore_quotations, "leaving quotations out"),
                (options.ignore_references, "leaving lists of references out"),
            ];
            if let Some((_, wanted)) = needing.into_iter().find(|(asked, _)| *asked) {
                return Err(ErrorKind::NoTexts { wanted }.into());
            }
        }
        Evidence::new(self, options)
    }

    fn answer(
        &self,
        view: &View<'_>,
        asked: &PreparedQuery,
        evidence: &Evidence,
        metadata: Option<&Map<String, Value>>,
        options: &CheckOptions,
        observer: &dyn Observer,
    ) -> Result<Answer> {
        let found = candidates::find(self, view, asked, options, observer)?;
        let screen = screen::QueryScreen::new(self, options.threshold)?;
        let row = self.preparation.row(&asked.prepared);
        let mut reader = DocumentReader::new(self, view);
        let window = options.window();
        let mut answer = Answer {
            query: Queried {
                tokens: asked.prepared.shingles.units(),
                shingles: asked.set.len(),
                ..Queried::default()
            },
            matches: vec![],
            further: 0,
            compared: 0,
            not_compared: 0,
            passed_over: found.passed_over,
            recall_at_threshold: self.settings.probability(options.threshold)?,
            no_passages: self.no_passages().map(str::to_owned),
            spec: self.settings.spec.to_string(),
        };
        for (at, candidate) in found.candidates.iter().enumerate() {
            go_on(observer)?;
            if answer.compared == options.candidates {
                answer.not_compared = found.candidates.len() - at;
                break;
            }
            // Removed documents have postings until the index is compacted.
            let Some(record) = self.record(view, candidate.document)? else { continue };
            if self.is_excluded(&record, metadata, options, window.as_ref())? {
                continue;
            }
            answer.compared += 1;
            if candidate.fingerprints == 0
                && evidence.is_everything()
                && screen.rejects(view, self, asked, &row, candidate.document, &record, options)?
            {
                continue;
            }
            let found = self.compared(&mut reader, asked, evidence, candidate.document, &record, options)?;
            answer.matches.extend(found);
        }
        rank(&mut answer.matches);
        answer.further = answer.matches.len().saturating_sub(options.top);
        answer.matches.truncate(options.top);
        Ok(answer)
    }

    fn is_excluded(
        &self,
        record: &DocumentRow,
        metadata: Option<&Map<String, Value>>,
        options: &CheckOptions,
        window: Option<&DateWindow<'_>>,
    ) -> Result<bool> {
        if options.exclude.is_empty() && window.is_none() {
            return Ok(false);
        }
        let entry = self.entry(record)?;
        let same = |field: &String| {
            let ours = metadata.and_then(|metadata| metadata.get(field));
            // Values are compared as texts, because people type metadata: a value can be a number in one
            // document and a string in another.
            let form = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let theirs = entry.metadata.get(field).map(form);
            ours.is_some_and(|value| !value.is_null() && theirs == Some(form(value)))
        };
        Ok(options.exclude.iter().any(same) || window.is_some_and(|window| !window.holds(&entry)))
    }

    fn compared(
        &self,
        reader: &mut DocumentReader<'_, '_>,
        asked: &PreparedQuery,
        evidence: &Evidence,
        number: u32,
        record: &DocumentRow,
        options: &CheckOptions,
    ) -> Result<Option<Match>> {
        let other = reader.read(number, record, evidence)?;
        let overlap = Overlap::of(&asked.set, &other.set);
        let Entry { id, title, metadata, .. } = self.entry(record)?;
        let mut found = Match {
            id,
            title,
            metadata,
            reasons: Reasons::default(),
            similarity: overlap.jaccard(),
            containment_of_query: overlap.left_in_right(),
            containment_of_document: overlap.right_in_left(),
            weighted: None,
            longest_passage: 0,
            shared_tokens: 0,
            passages: vec![],
            further_passages: 0,
        };
        if asked.set.is_empty() || other.set.is_empty() {
            // Two documents without shingles have similarity 1 if their normalised texts are equal, and 0 otherwise.
            let equal = asked.prepared.wordless.is_some() && asked.prepared.wordless == record.wordless;
            let share = f64::from(u8::from(equal));
            (found.similarity, found.containment_of_query, found.containment_of_document) =
                (share, share, share);
        }
        let units = self.settings.spec.shingling.size();
        if let Some(places) = asked.places.as_ref().filter(|_| overlap.shared > 0) {
            let passages = passages::shared(&asked.shingles, places, &other, units);
            found.longest_passage = passages.iter().map(|passage| passage.tokens).max().unwrap_or(0);
            found.shared_tokens =
                passages::covered(&asked.shingles, &other, units).min(asked.prepared.shingles.units());
            found.passages = passages;
        }
        let passage = options.passage.unwrap_or(self.settings.passage).max(self.settings.passage);
        found.reasons = Reasons {
            similarity: found.similarity >= options.threshold,
            containment: found.containment_of_query.max(found.containment_of_document) >= options.containment,
            passage: found.longest_passage >= passage,
        };
        if !found.reasons.any() {
            return Ok(None);
        }
        let passages = found.passages.len();
        passages::keep_longest(&mut found.passages, options.passages);
        found.further_passages = passages - found.passages.len();
        if let Some(weigher) = evidence.weigher() {
            found.weighted = Some(weighted(weigher, &asked.shingles, other.shingles));
        }
        Ok(Some(found))
    }

    /// Compares two sides, each of which is a document of the index or a text. If the index keeps no texts,
    /// `pair` compares shingle sets.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchDocument`] if one of the ids belongs to no document, with
    /// [`ErrorKind::Io`] if the operating system reports an error, and with [`ErrorKind::Damaged`] if stored data are
    /// damaged.
    pub fn pair(&self, left: Side<'_>, right: Side<'_>) -> Result<DocumentPair> {
        self.pair_with(left, right, &CheckOptions::default())
    }

    /// Compares two documents as [`pair`](Self::pair) does, but masks the text that is no evidence by
    /// `options`. A check of the left text with the same options reports the same numbers for the right
    /// document, and the longest of these passages.
    ///
    /// ```
    /// use minwise_index::{CheckOptions, Index, IndexSettings, Side};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("archive");
    /// let index = Index::create(&path, &IndexSettings::default())?;
    /// let [left, right] = ["They wrote “the old willow by the mill pond” on it.", "The old willow by the mill pond fell."];
    /// let options = CheckOptions::default().ignore_quotations(true);
    /// assert!(index.pair(Side::Text(left), Side::Text(right))?.similarity > 0.0);
    /// assert_eq!(index.pair_with(Side::Text(left), Side::Text(right), &options)?.similarity, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails as [`check`](Self::check) does, and with [`ErrorKind::NoSuchDocument`] if a side is not in the
    /// index.
    pub fn pair_with(&self, left: Side<'_>, right: Side<'_>, options: &CheckOptions) -> Result<DocumentPair> {
        let view = self.store.view();
        let evidence = self.evidence(options)?;
        let left =
            self.side(&view, left, |text, shingles, places| evidence.of_query(text, shingles, places))?;
        let right =
            self.side(&view, right, |text, shingles, places| evidence.of_document(text, shingles, places))?;
        let overlap = Overlap::of(&left.set, &right.set);
        let without = left.set.is_empty() || right.set.is_empty();
        // Two documents without shingles have similarity 1 if their normalised texts are equal, and 0 otherwise.
        let equal = f64::from(u8::from(left.wordless.is_some() && left.wordless == right.wordless));
        let units = self.settings.spec.shingling.size();
        let passages = match (&left.places, &right.places) {
            (Some(places), Some(_)) => {
                let other = reader::Other {
                    shingles: &right.shingles,
                    places: right.places.as_ref(),
                    set: right.set,
                };
                passages::shared(&left.shingles, places, &other, units)
            }
            _ => vec![],
        };
        Ok(DocumentPair {
            similarity: if without { equal } else { overlap.jaccard() },
            containment_of_left: if without { equal } else { overlap.left_in_right() },
            containment_of_right: if without { equal } else { overlap.right_in_left() },
            passages,
        })
    }

    /// Prepares one side of a pair, and masks its shingles with `mask`.
    fn side(
        &self,
        view: &View<'_>,
        side: Side<'_>,
        mask: impl Fn(&str, &[u64], Option<&UnitRanges>) -> Vec<u64>,
    ) -> Result<PreparedSide> {
        let remaining = |shingles: &[u64]| evidence::remaining(shingles).collect::<ShingleSet>();
        let text = match side {
            Side::Text(text) => text.to_owned(),
            Side::Id(id) => {
                let (number, record) = self.known(view, id)?;
                let Some(text) = self.text(view, number, &record)? else {
                    let set = self.in_place_of_text(view, number, &record)?.set;
                    let shingles = mask("", set.as_slice(), None);
                    let set = remaining(&shingles);
                    return Ok(PreparedSide { shingles, places: None, set, wordless: record.wordless });
                };
                text
            }
        };
        let mut all = Shingles::new();
        let places = self.preparation.shingles_with_places(&text, &mut all);
        let wordless = all.hashes().is_empty().then(|| all.equality_key());
        let shingles = mask(&text, all.hashes(), Some(&places));
        let set = remaining(&shingles);
        Ok(PreparedSide { shingles, places: Some(places), set, wordless })
    }
}

/// A prepared side of a pair.
struct PreparedSide {
    /// Masked shingles of the side, in the order of the text, or in ascending order if the text is not known.
    shingles: Vec<u64>,
    places: Option<UnitRanges>,
    /// Distinct shingles of the side that are evidence.
    set: ShingleSet,
    /// Equality key of the normalised text of a document without shingles; `None` for other documents.
    wordless: Option<u128>,
}

/// Sorts matches by the highest of similarity and both containments, then by similarity, then by the longest
/// passage, each descending, and then by id.
fn rank(matches: &mut [Match]) {
    let share =
        |found: &Match| found.similarity.max(found.containment_of_query).max(found.containment_of_document);
    matches.sort_by(|a, b| {
        share(b)
            .total_cmp(&share(a))
            .then(b.similarity.total_cmp(&a.similarity))
            .then(b.longest_passage.cmp(&a.longest_passage))
            .then_with(|| a.id.cmp(&b.id))
    });
}

fn weighted(weigher: &Weigher, left: &[u64], right: &[u64]) -> f64 {
    let remaining = |shingles: &[u64]| evidence::remaining(shingles).collect::<Vec<u64>>();
    let (left, right) = (weigher.weigh(&remaining(left)), weigher.weigh(&remaining(right)));
    WeightedOverlap::of(&left, &right).jaccard()
}
