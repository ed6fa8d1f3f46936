//! Preparation: from a text to the shingles, sketch, band keys and fingerprints that are stored or looked up.

use std::sync::Arc;

use minwise::candidate::{Banding, Fingerprint, Winnow};
use minwise::hash::fmix64;
use minwise::shingle::{Shingler, Shingles, UnitRanges};
use minwise::sketch::{BitRows, Sketcher};
use minwise::verify::ShingleSet;

use crate::error::Result;
use crate::settings::IndexSettings;

/// The functions that follow from the settings of an index.
#[derive(Debug, Clone)]
pub(crate) struct EntryPreparation {
    shingler: Shingler,
    sketcher: Arc<dyn Sketcher>,
    banding: Banding,
    winnow: Winnow,
    bits: Option<BitRows>,
}

/// A prepared document. Its buffers are used again for the next document.
#[derive(Debug, Default)]
pub(crate) struct PreparedEntry {
    pub(crate) shingles: Shingles,
    pub(crate) set: ShingleSet,
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// The band keys. A document without shingles has one key, which documents with equal normalised text share.
    pub(crate) bands: Vec<u64>,
    /// For a document without shingles, the 128-bit key of its normalised text.
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

    /// Prepares a text in `out`.
    pub(crate) fn prepare(&self, text: &str, out: &mut PreparedEntry) {
        self.shingler.shingle_into(text, &mut out.shingles);
        self.finish(out);
    }

    /// Prepares a text in `out`, and returns the byte ranges of its units.
    pub(crate) fn prepare_with_places(&self, text: &str, out: &mut PreparedEntry) -> UnitRanges {
        let places = self.shingler.shingle_with_places_into(text, &mut out.shingles);
        self.finish(out);
        places
    }

    /// Fills `out` with the shingles of a text in order, and returns the byte ranges of its units.
    pub(crate) fn shingles_with_places(&self, text: &str, out: &mut Shingles) -> UnitRanges {
        self.shingler.shingle_with_places_into(text, out)
    }

    /// Fills `out` with the shingles of a text in order.
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

    /// Prepares a document in `out` from its distinct shingles, for an index without texts. It has no fingerprints, because these depend
    /// on the order of shingles, which is not known.
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
            // A sketch does not depend on the order of shingles or on their number of occurrences, so the set is enough.
            self.sketcher.sketch_into(out.set.as_slice(), &mut out.registers);
            let key = |band| self.banding.key(band, &out.registers);
            out.bands.extend((0..self.banding.bands()).map(key));
        }
    }

    /// Returns the stored row of the sketch; empty for a document without shingles.
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
// Fingerprints are the minima of windows, so most of them begin with zero bits. Mixing spreads them over all rows.
pub(crate) fn posted(fingerprint: &Fingerprint) -> u64 {
    fmix64(fingerprint.shingle)
}
