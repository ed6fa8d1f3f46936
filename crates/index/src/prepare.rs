//! Preparation: computes the shingles, the sketch, the band keys and the fingerprints of a text, to store
//! them or to look them up.

use std::sync::Arc;

use minwise::candidate::{Banding, Fingerprint, Winnow};
use minwise::hash::fmix64;
use minwise::shingle::{Shingler, Shingles, UnitRanges};
use minwise::sketch::{BitRows, Sketcher};
use minwise::verify::ShingleSet;

use crate::error::Result;
use crate::settings::IndexSettings;

/// Shingler, sketcher, banding and winnowing that follow from the settings of an index.
#[derive(Debug, Clone)]
pub(crate) struct EntryPreparation {
    shingler: Shingler,
    sketcher: Arc<dyn Sketcher>,
    banding: Banding,
    winnow: Winnow,
    bits: Option<BitRows>,
}

/// A prepared document. The buffers of a prepared document are reused for the next document.
#[derive(Debug, Default)]
pub(crate) struct PreparedEntry {
    pub(crate) shingles: Shingles,
    pub(crate) set: ShingleSet,
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// Band keys. A document without shingles has one key, which it shares with documents of equal normalised
    /// text.
    pub(crate) bands: Vec<u64>,
    /// 128-bit equality key of the normalised text of a document without shingles; `None` for other
    /// documents.
    pub(crate) wordless: Option<u128>,
    registers: Vec<u32>,
    work: (Vec<u64>, Vec<u64>),
}

impl EntryPreparation {
    pub(crate) fn new(settings: &IndexSettings) -> Result<Self> {
        settings.check()?;
        let bits = settings.bits.map(|bits| bits.rows(settings.spec.method.registers())).transpose()?;
        Ok(Self {
            shingler: settings.spec.shingler(),
            sketcher: settings.spec.sketcher()?,
            banding: settings.banding()?,
            winnow: settings.winnow()?,
            bits,
        })
    }

    /// Prepares a text, and writes the result to `out`.
    pub(crate) fn prepare(&self, text: &str, out: &mut PreparedEntry) {
        self.shingler.shingle_into(text, &mut out.shingles);
        self.finish(out);
    }

    /// Prepares a text, writes the result to `out`, and returns the byte ranges of the units of the text.
    pub(crate) fn prepare_with_places(&self, text: &str, out: &mut PreparedEntry) -> UnitRanges {
        let places = self.shingler.shingle_with_places_into(text, &mut out.shingles);
        self.finish(out);
        places
    }

    /// Writes the shingles of a text to `out` in order, and returns the byte ranges of the units of the text.
    pub(crate) fn shingles_with_places(&self, text: &str, out: &mut Shingles) -> UnitRanges {
        self.shingler.shingle_with_places_into(text, out)
    }

    /// Writes the shingles of a text to `out` in order.
    pub(crate) fn shingles(&self, text: &str, out: &mut Shingles) {
        self.shingler.shingle_into(text, out);
    }

    fn finish(&self, out: &mut PreparedEntry) {
        let hashes = out.shingles.hashes();
        out.set = ShingleSet::build(hashes, &mut out.work);
        self.winnow.choose_into(hashes, &mut out.fingerprints);
        out.wordless = hashes.is_empty().then(|| out.shingles.equality_key());
        self.sketch(out);
    }

    /// Prepares a document from its distinct shingles, for an index without texts, and writes the result to
    /// `out`. The result has no fingerprints, because fingerprints depend on the order of shingles, which is
    /// unknown.
    pub(crate) fn prepare_set(&self, set: ShingleSet, wordless: Option<u128>, out: &mut PreparedEntry) {
        out.fingerprints.clear();
        (out.set, out.wordless) = (set, wordless);
        self.sketch(out);
    }

    fn sketch(&self, out: &mut PreparedEntry) {
        out.bands.clear();
        if let Some(key) = out.wordless {
            out.bands.push(fmix64(key as u64));
        } else {
            out.registers.resize(self.sketcher.words(), 0);
            // A sketch does not depend on the order of shingles or on their number of occurrences, so the set
            // is enough.
            self.sketcher.sketch_into(out.set.as_slice(), &mut out.registers);
            let key = |band| self.banding.key(band, &out.registers);
            out.bands.extend((0..self.banding.bands()).map(key));
        }
    }

    /// Returns the stored form of the sketch, which is empty for a document without shingles.
    pub(crate) fn row(&self, prepared: &PreparedEntry) -> Vec<u32> {
        match &self.bits {
            _ if prepared.wordless.is_some() => vec![],
            None => prepared.registers.clone(),
            Some(bits) => {
                let mut row = vec![0; bits.words()];
                bits.pack_into(&prepared.registers, &mut row);
                row
            }
        }
    }
}

/// Returns the hash under which a fingerprint is posted.
// The hash is mixed because fingerprints are minima of windows: most begin with zero bits and would fall into
// few rows.
pub(crate) fn posted(fingerprint: &Fingerprint) -> u64 {
    fmix64(fingerprint.shingle)
}
