//! The serialised form of an index, with the feature `serde`.
//!
//! The form contains the settings, and the keys, rows and shingles in the order of insertion. Band tables are rebuilt
//! when an index is read, so the form does not depend on removals, hashes or tables.

use std::hash::Hash;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::index::Lsh;
use crate::candidate::Banding;
use crate::error::Error;
use crate::serde_form::Versions;
use crate::sketch::Sketches;
use crate::spec::Spec;
use crate::verify::ShingleSet;

/// Version of the form.
const FORM: u32 = 1;
/// Subject of error messages.
const WHAT: &str = "a stored index";

#[derive(Serialize, Deserialize)]
#[serde(rename = "Lsh")]
struct StoredLsh<'a, K> {
    versions: Versions<'a>,
    spec: Spec,
    threshold: f64,
    banding: Banding,
    keys: Vec<K>,
    /// Words of all rows, one row after the other.
    words: Vec<u32>,
    /// Distinct shingles of each document in ascending order, if the index keeps shingles.
    shingles: Option<Vec<Vec<u64>>>,
}

impl<K: Serialize> Serialize for Lsh<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shingles = self.sets.as_ref().map(|sets| {
            let live = self.keys.iter().zip(sets).filter(|(key, _)| key.is_some());
            live.map(|(_, set)| set.as_slice().to_vec()).collect()
        });
        let stored = StoredLsh {
            versions: Versions::of(FORM),
            spec: self.spec,
            threshold: self.threshold,
            banding: self.banding,
            keys: self.keys().collect::<Vec<&K>>(),
            words: self.iter().flat_map(|(_, row)| row).copied().collect(),
            shingles,
        };
        stored.serialize(serializer)
    }
}

impl<'de, K: Eq + Hash + Deserialize<'de>> Deserialize<'de> for Lsh<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredLsh::deserialize(deserializer)?;
        read(stored).map_err(D::Error::custom)
    }
}

fn read<K: Eq + Hash>(stored: StoredLsh<'_, K>) -> Result<Lsh<K>, Error> {
    stored.versions.check(WHAT, FORM)?;
    let (bands, rows) = (stored.banding.bands(), stored.banding.rows());
    let builder = Lsh::builder(stored.spec).threshold(stored.threshold).bands(bands, rows);
    let builder = if stored.shingles.is_some() { builder.keep_shingles() } else { builder };
    let mut lsh = builder.build()?;
    let sketches = Sketches::from_vec(lsh.sketches.registers(), stored.words)?;
    let documents = stored.keys.len();
    let sets = stored.shingles.as_ref().map_or(documents, Vec::len);
    if sketches.len() != documents || sets != documents {
        let found = format!("{} rows and {sets} sets of shingles", sketches.len());
        return Err(Error::decode(WHAT, format!("{documents} rows and sets, one per key"), found));
    }
    lsh.push_keys(stored.keys)?;
    lsh.sketches = sketches;
    // Sets are sorted again, because queries rely on their order, and a file may contain shingles in any order.
    lsh.sets = stored
        .shingles
        .map(|sets| sets.into_iter().map(|shingles| shingles.into_iter().collect::<ShingleSet>()).collect());
    lsh.link_rows(0, 1);
    Ok(lsh)
}
