//! Table of document frequencies that is read in place.

use std::path::Path;

use minwise::figure::counted;
use minwise::weight::FrequencyLookup;
use minwise::{ErrorKind as SettingKind, Spec};
use minwise_corpus::TemporaryFolder;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::storage::store::{FileKind, Mapped};

pub(super) const KIND: FileKind =
    FileKind { magic: *b"MINWfreq", version: 1, name: "frequency table", made_by: "weights" };

/// Description of a table in its file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FrequencyTableHeader {
    pub normalize: String,
    pub shingle: String,
    pub spec_version: u32,
    pub unicode: String,
    pub documents: u64,
    pub shingles: u64,
    pub fingerprint: String,
}

/// Table with the number of documents of a corpus that contain each shingle.
#[derive(Debug)]
pub struct FrequencyTable {
    mapped: Mapped,
    about: FrequencyTableHeader,
    fingerprint: u64,
    /// Folder of a table that was made for one run. The folder is removed with the table.
    _folder: Option<TemporaryFolder>,
}

impl minwise::weight::sealed::FrequencySeal for FrequencyTable {}

impl FrequencyLookup for FrequencyTable {
    fn documents(&self) -> u64 {
        self.about.documents
    }

    fn look_up(&self, shingles: &[u64], out: &mut Vec<u64>) {
        let (all, frequencies) = (self.shingles(), self.frequencies());
        out.clear();
        out.extend(
            shingles.iter().map(|&shingle| position(all, shingle).map_or(0, |at| u64::from(frequencies[at]))),
        );
    }
}

impl FrequencyTable {
    /// Opens a table and checks all of it.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if the file cannot be opened. Fails with
    /// [`ErrorKind::File`](crate::ErrorKind::File) if the file is no table, is damaged, or was made by another version
    /// of specs or of Unicode.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mapped = Mapped::open(path, KIND)?;
        let about = FrequencyTableHeader::deserialize(mapped.about())
            .map_err(|error| mapped.wrong(format!("its description is incomplete: {error}")))?;
        mapped.check_versions(about.spec_version, &about.unicode)?;
        for (section, each) in [("shingles", 8), ("frequencies", 4)] {
            let found = mapped.section(section)?.len();
            if Some(found as u64) != about.shingles.checked_mul(each) {
                let (found, shingles) = (counted(found as u64, "byte"), counted(about.shingles, "shingle"));
                let reason = format!("its section `{section}` has {found} for {shingles}");
                return Err(mapped.wrong(reason));
            }
        }
        let fingerprint = u64::from_str_radix(&about.fingerprint, 16)
            .map_err(|_| mapped.wrong("its fingerprint cannot be read".to_owned()))?;
        Ok(Self { mapped, about, fingerprint, _folder: None })
    }

    /// Returns the table as owner of the folder that contains it.
    pub(super) fn in_folder(self, folder: TemporaryFolder) -> Self {
        Self { _folder: Some(folder), ..self }
    }

    /// Checks that the table was counted with the shingles of a spec.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Spec`](crate::ErrorKind::Spec) and [`minwise::ErrorKind::SpecMismatch`] if the
    /// normalisation or the shingling of the spec differs from that of the table.
    pub fn check(&self, spec: &Spec) -> Result<(), Error> {
        let fields = [
            ("normalize", spec.normalization.to_string(), &self.about.normalize),
            ("shingle", spec.shingling.to_string(), &self.about.shingle),
        ];
        for (field, left, right) in fields {
            if left != *right {
                let right = right.clone();
                return Err(minwise::Error::from(SettingKind::SpecMismatch { field, left, right }).into());
            }
        }
        Ok(())
    }

    /// Returns a number that identifies the content of the table.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the shingles, in ascending order.
    #[must_use]
    pub fn shingles(&self) -> &[u64] {
        bytemuck::cast_slice(self.bytes("shingles"))
    }

    /// Returns the number of documents that contain each of the [`shingles`](Self::shingles), in the same order.
    #[must_use]
    pub fn frequencies(&self) -> &[u32] {
        bytemuck::cast_slice(self.bytes("frequencies"))
    }

    fn bytes(&self, section: &str) -> &[u8] {
        self.mapped
            .section(section)
            .unwrap_or_else(|_| unreachable!("sections were checked when the table was opened"))
    }
}

/// Returns the position of a well-mixed number in a sorted list.
///
/// The numbers are spread evenly, so the position can be interpolated. Each guess reduces the range to about its square
/// root.
fn position(sorted: &[u64], wanted: u64) -> Option<usize> {
    /// Length of a range that is searched by bisection, because the range fits into one or two cache lines.
    const FEW: usize = 16;
    let (mut begin, mut end) = (0, sorted.len());
    // All numbers before `begin` are below `low`, and all from `end` on are above `high`.
    let (mut low, mut high) = (0u64, u64::MAX);
    // The guesses are limited, because every guess could be bad if the numbers are not spread evenly.
    let mut guesses = 0;
    while end - begin > FEW {
        let middle = if guesses < 4 {
            let share = (wanted - low) as f64 / ((high - low) as f64 + 1.0);
            (begin + (share * (end - begin) as f64) as usize).min(end - 1)
        } else {
            usize::midpoint(begin, end)
        };
        guesses += 1;
        // An interpolated position is off by about the square root of the length of the range. The number is therefore
        // nearly always within `reach` of it, so two tests, one at each end, shrink the range to these positions.
        let reach = if guesses <= 4 { 2 * (end - begin).isqrt() } else { 0 };
        let (left, right) = (middle.saturating_sub(reach).max(begin), (middle + reach).min(end - 1));
        if sorted[right] < wanted {
            (begin, low) = (right + 1, sorted[right]);
        } else if sorted[left] > wanted {
            (end, high) = (left, sorted[left]);
        } else if (left, right + 1) == (begin, end) {
            break;
        } else {
            (begin, end) = (left, right + 1);
            (low, high) = (sorted[left], sorted[right]);
        }
    }
    sorted[begin..end].binary_search(&wanted).ok().map(|at| begin + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use minwise::hash::fmix64;
    use proptest::prelude::*;

    #[test]
    fn every_mixed_number_is_found() {
        for count in [0, 1, 17, 1000, 100_000] {
            let mut sorted: Vec<u64> = (0..count).map(fmix64).collect();
            sorted.sort_unstable();
            for (at, &number) in sorted.iter().enumerate() {
                assert_eq!(position(&sorted, number), Some(at));
            }
            assert!((count..count + 1000).all(|other| position(&sorted, fmix64(other)).is_none()));
        }
    }

    proptest! {
        #[test]
        fn uneven_numbers_are_found_too(mut sorted in prop::collection::vec(prop_oneof![0u64..50, any::<u64>(), (u64::MAX - 50)..], 0..200), other: u64) {
            sorted.sort_unstable();
            sorted.dedup();
            for (at, &number) in sorted.iter().enumerate() {
                prop_assert_eq!(position(&sorted, number), Some(at));
            }
            prop_assert_eq!(position(&sorted, other), sorted.binary_search(&other).ok());
        }
    }
}
