//! Document frequencies: the number of documents that have each shingle.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::figure::read_share;

/// A table of document frequencies. One virtual call looks up all shingles of a document, so that the call costs
/// little.
///
/// The trait is sealed, because the weights would be wrong if a table wrote too few frequencies, or frequencies greater
/// than the number of documents. The implementations are [`DocumentFrequencies`], and the tables of the engine and of
/// the archive.
pub trait FrequencyLookup: sealed::FrequencySeal + fmt::Debug + Send + Sync {
    /// Returns D, the number of documents that were counted.
    fn documents(&self) -> u64;

    /// Clears `out`, and writes the document frequencies of `shingles` to it. `shingles` must be sorted and distinct.
    fn look_up(&self, shingles: &[u64], out: &mut Vec<u64>);
}

/// The seal of [`FrequencyLookup`]. It is public only for the other crates of this repository, and may change in any
/// version.
#[doc(hidden)]
pub mod sealed {
    pub trait FrequencySeal {}
    impl FrequencySeal for super::DocumentFrequencies {}
}

impl FrequencyLookup for DocumentFrequencies {
    fn documents(&self) -> u64 {
        self.documents
    }

    fn look_up(&self, shingles: &[u64], out: &mut Vec<u64>) {
        out.clear();
        out.extend(shingles.iter().map(|&shingle| self.of(shingle)));
    }
}

/// A table of document frequencies: D documents, and a frequency d for each shingle.
///
/// Equal documents are counted separately. A shingle that is not in the table has the frequency 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFrequencies {
    documents: u64,
    /// Shingles with their frequencies, sorted by shingle.
    entries: Vec<(u64, u64)>,
}

impl DocumentFrequencies {
    /// Makes the table of `documents` documents from pairs of a shingle and its frequency.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `documents` is 0, if a shingle is listed
    /// twice, or if a frequency is greater than `documents`.
    pub fn new(documents: u64, mut entries: Vec<(u64, u64)>) -> Result<Self, Error> {
        if documents == 0 {
            return Err(Error::out_of_range("the number of documents", documents, "at least 1"));
        }
        entries.sort_unstable();
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let twice = format_args!("{:016x}", pair[0].0).to_string();
            return Err(Error::out_of_range("a shingle of the table", twice, "listed once"));
        }
        if let Some((_, most)) = entries.iter().find(|(_, frequency)| *frequency > documents) {
            let range = format!("at most the number of documents, {documents}");
            return Err(Error::out_of_range("a document frequency", most, &range));
        }
        Ok(Self { documents, entries })
    }

    /// Counts the document frequencies of documents, each given by its shingles.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are no documents.
    pub fn count<'a>(documents: impl IntoIterator<Item = &'a [u64]>) -> Result<Self, Error> {
        let (mut number, mut all) = (0, vec![]);
        for document in documents {
            let from = all.len();
            all.extend_from_slice(document);
            all[from..].sort_unstable();
            let mut kept = from;
            for at in from..all.len() {
                if kept == from || all[kept - 1] != all[at] {
                    all[kept] = all[at];
                    kept += 1;
                }
            }
            all.truncate(kept);
            number += 1;
        }
        all.sort_unstable();
        let entries = all.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u64)).collect();
        Self::new(number, entries)
    }

    /// Returns D, the number of documents that were counted.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the shingles with their document frequencies, sorted by shingle.
    #[must_use]
    pub fn entries(&self) -> &[(u64, u64)] {
        &self.entries
    }

    /// Returns d, the document frequency of a shingle; 0 if the shingle is not in the table.
    #[must_use]
    pub fn of(&self, shingle: u64) -> u64 {
        self.entries.binary_search_by_key(&shingle, |entry| entry.0).map_or(0, |at| self.entries[at].1)
    }
}

/// Greatest number of documents that a shingle may be in; a shingle of more documents is ignored. Its text form with a
/// point, such as `0.1`, is a share of all documents. Without a point, such as `500`, it is a number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum MostDocuments {
    /// This share of all documents.
    Share(f64),
    /// This number of documents.
    Number(u64),
}

impl MostDocuments {
    /// Reports whether a shingle is kept that is in `frequency` of `documents` documents.
    #[must_use]
    pub fn allows(self, frequency: u64, documents: u64) -> bool {
        match self {
            Self::Share(share) => frequency as f64 <= share * documents as f64,
            Self::Number(most) => frequency <= most,
        }
    }
}

impl fmt::Display for MostDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // `Display` writes 1.0 without its point, and `Debug` writes 5e-5, which is not a valid text form.
            Self::Share(1.0) => f.write_str("1.0"),
            Self::Share(share) => write!(f, "{share}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

impl FromStr for MostDocuments {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let expected = "a share such as `0.1` or `10%`, or a number such as `500`, from `1`";
            Error::parse("limit on documents", text, expected)
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_share = text.ends_with('%')
            || text.split_once('.').is_some_and(|(whole, part)| digits(whole) && digits(part));
        if is_share {
            let share = read_share(text).filter(|share| *share > 0.0 && *share <= 1.0);
            return share.map(Self::Share).ok_or_else(wrong);
        }
        let number = text.parse().ok().filter(|number| digits(text) && *number > 0);
        number.map(Self::Number).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_is_by_document() {
        let table = DocumentFrequencies::count([&[5, 5, 1][..], &[1], &[], &[1, 9]]).unwrap();
        assert_eq!((table.documents(), table.entries()), (4, &[(1, 3), (5, 1), (9, 1)][..]));
        assert_eq!([1, 5, 7].map(|shingle| table.of(shingle)), [3, 1, 0]);
    }

    #[test]
    fn impossible_tables_are_refused() {
        for (documents, entries) in [(0, vec![]), (3, vec![(1, 1), (1, 2)]), (3, vec![(1, 4)])] {
            assert!(DocumentFrequencies::new(documents, entries).is_err());
        }
    }

    #[test]
    fn limits_have_text_forms() {
        for (form, limit) in [
            ("0.25", MostDocuments::Share(0.25)),
            ("1.0", MostDocuments::Share(1.0)),
            ("0.00005", MostDocuments::Share(0.00005)),
            ("1", MostDocuments::Number(1)),
            ("500", MostDocuments::Number(500)),
        ] {
            assert_eq!(form.parse::<MostDocuments>().unwrap(), limit);
            assert_eq!(limit.to_string(), form);
        }
        assert_eq!("2.5 %".parse::<MostDocuments>().unwrap(), MostDocuments::Share(0.025));
        for wrong in ["", "0", "0.0", "1.5", "-1", "nan", "1e3", "1.", ".5", "inf", "%", "0%", "150%", "1e1%"]
        {
            assert!(wrong.parse::<MostDocuments>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_is_included() {
        assert!(MostDocuments::Share(0.5).allows(2, 4) && !MostDocuments::Share(0.5).allows(3, 4));
        assert!(MostDocuments::Number(2).allows(2, 4) && !MostDocuments::Number(2).allows(3, 4));
    }
}
