//! Ranks of documents by the keeper policy.

use std::borrow::Cow;

use minwise::keep::{KeepPolicy, Ranking, RankingInput};
use minwise::{Observer, Warning};
use minwise_corpus::{Corpus, DocumentText, MaybeLong, Scratch};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::read::documents::Documents;

/// Ranker of documents. A document takes 8 or 16 bytes per ranking of the policy, except that rankings by input order
/// take none.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Ranks {
    /// Documents that could not be ranked, per ranking.
    unranked: Vec<Unranked>,
}

/// Documents that come last in a ranking because they have no usable value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Unranked {
    documents: u64,
    /// Number of documents that lack the field.
    without_field: u64,
    /// The first document without a usable value, and its value if it has the field.
    example: Option<(u32, Option<String>)>,
}

/// Number of documents that come last in a ranking because they have no usable value, for a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnrankedCount {
    /// The ranking, in its text form.
    pub keep: String,
    /// Number of documents without the field, or with a value that cannot be read.
    pub documents: u64,
}

impl Ranks {
    pub(crate) fn new(keep: &KeepPolicy) -> Self {
        Self { unranked: vec![Unranked::default(); keep.rankings().len()] }
    }

    /// Ranks a document, and appends its ranks to `out`. `number` is the number of the document.
    pub(crate) fn add(
        &mut self,
        keep: &KeepPolicy,
        number: u32,
        document: &MaybeLong<'_>,
        out: &mut Vec<u64>,
    ) {
        // Characters are counted only for policies that use lengths, because counting takes a pass over the text.
        let characters = match &document.text {
            DocumentText::Whole(text) if keep.needs_lengths() => text.chars().count() as u64,
            DocumentText::Whole(_) => 0,
            DocumentText::Long(long) => long.characters(),
        };
        let mut values = document.values.iter();
        for (ranking, unranked) in keep.rankings().iter().zip(&mut self.unranked) {
            // Documents of references have no values, because references come first whatever their fields hold.
            let asked = ranking.field().and_then(|_| values.next());
            let value = asked.and_then(Option::as_deref);
            let rank = ranking.rank(RankingInput { characters, value });
            if rank.is_none() && asked.is_some() {
                unranked.documents += 1;
                unranked.without_field += u64::from(value.is_none());
                unranked.example.get_or_insert_with(|| (number, value.map(str::to_owned)));
            }
            let rank = rank.unwrap_or([u64::MAX; 2]);
            out.extend_from_slice(&rank[..ranking.words()]);
        }
    }

    /// Ranks a document without text after all other documents.
    pub(crate) fn add_last(keep: &KeepPolicy, out: &mut Vec<u64>) {
        out.resize(out.len() + keep.words(), u64::MAX);
    }

    /// Adds the counts of a part of the documents. `before` documents precede that part.
    pub(crate) fn append(&mut self, part: &mut Self, before: u32) {
        for (sum, part) in self.unranked.iter_mut().zip(&mut part.unranked) {
            sum.documents += part.documents;
            sum.without_field += part.without_field;
            if sum.example.is_none() {
                sum.example = part.example.take().map(|(document, value)| (before + document, value));
            }
        }
    }

    /// Returns, for each ranking that could not rank all documents, the number of documents without a rank.
    pub(crate) fn unranked(&self, keep: &KeepPolicy) -> Vec<UnrankedCount> {
        let counts = keep.rankings().iter().zip(&self.unranked);
        counts
            .filter(|(_, unranked)| unranked.documents > 0)
            .map(|(ranking, unranked)| UnrankedCount {
                keep: ranking.to_string(),
                documents: unranked.documents,
            })
            .collect()
    }

    /// Warns of documents that could not be ranked. Refuses a field that no document has, because its name must be
    /// misspelled.
    pub(crate) fn check(
        &self,
        keep: &KeepPolicy,
        documents: &Documents,
        references: u32,
        corpus: &Corpus,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        for (ranking, unranked) in keep.rankings().iter().zip(&self.unranked) {
            let (Some(field), Some((example, value))) = (ranking.field(), &unranked.example) else {
                continue;
            };
            let without_text = documents.nulls(references) + documents.skipped(references);
            let asked = documents.len() as u64 - u64::from(references) - without_text;
            if unranked.without_field == asked {
                let fields = corpus.field_names(&documents.place(*example)?, &mut Scratch::new())?;
                return Err(ErrorKind::NoSuchField { field: field.to_owned(), fields }.into());
            }
            observer.warn(&Warning::Unranked {
                ranking: ranking.to_string(),
                documents: unranked.documents,
                place: documents.place_name(*example, corpus)?.into_owned(),
                reason: reason(ranking, field, value.as_deref()),
            });
        }
        Ok(())
    }
}

/// Number of characters of a value that are shown.
const SHOWN: usize = 40;

/// Returns the reason why a document could not be ranked.
fn reason(ranking: &Ranking, field: &str, value: Option<&str>) -> String {
    match (value, ranking.wants()) {
        (None, _) => format!("has no field `{field}`"),
        (Some(""), _) | (_, None) => format!("has nothing in `{field}`"),
        (Some(value), Some(wanted)) => {
            let shown: Cow<'_, str> = match value.char_indices().nth(SHOWN) {
                Some((end, _)) => format!("{}…", &value[..end]).into(),
                None => value.into(),
            };
            format!("has `{shown}` in `{field}`, which is not {wanted}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::order::KeeperOrder;

    fn ranks(keep: &KeepPolicy, values: &[Option<&str>]) -> (Ranks, Vec<u64>) {
        let (mut ranks, mut words) = (Ranks::new(keep), vec![]);
        for (number, value) in (0..).zip(values) {
            let values = keep.fields().map(|_| value.map(Cow::Borrowed)).collect();
            let mut document = MaybeLong::new(DocumentText::Whole(Cow::Borrowed("text")));
            document.values = values;
            ranks.add(keep, number, &document, &mut words);
        }
        (ranks, words)
    }

    fn order(keep: &KeepPolicy, references: u32, words: &[u64], documents: u32) -> Vec<u32> {
        let order = KeeperOrder::of_ranks(words, keep, references, documents);
        (0..documents).map(|place| order.document(place)).collect()
    }

    #[test]
    fn rankings_are_asked_in_order_and_input_order_decides_what_they_leave() {
        let values = [Some("2"), None, Some("10"), Some("2"), Some("many"), Some("2.0")];
        for (keep, expected) in [
            ("first", [0, 1, 2, 3, 4, 5]),
            ("min:n", [0, 3, 5, 2, 1, 4]),
            ("min:n;last", [5, 3, 0, 2, 4, 1]),
            ("longest;max:n", [2, 0, 3, 5, 1, 4]),
            ("priority:n=2,many;max:n", [0, 3, 4, 2, 5, 1]),
            ("last", [5, 4, 3, 2, 1, 0]),
        ] {
            let keep: KeepPolicy = keep.parse().unwrap();
            assert_eq!(order(&keep, 0, &ranks(&keep, &values).1, 6), expected, "{keep}");
        }
    }

    #[test]
    fn what_could_not_be_ranked_is_counted_with_the_first_of_it() {
        let keep: KeepPolicy = "max:n".parse().unwrap();
        let (mut all, mut words) = ranks(&keep, &[Some("1"), Some("2")]);
        let (mut more, more_words) = ranks(&keep, &[Some("3"), Some("many"), None]);
        all.append(&mut more, 2);
        words.extend(more_words);
        assert_eq!(order(&keep, 0, &words, 5), [2, 1, 0, 3, 4]);
        assert_eq!(order(&keep, 2, &words, 5), [0, 1, 2, 3, 4]);
        assert_eq!(all.unranked(&keep), [UnrankedCount { keep: "max:n".into(), documents: 2 }]);
        assert_eq!(all.unranked[0].example, Some((3, Some("many".into()))));
        assert_eq!(all.unranked[0].without_field, 1);
    }
}
