//! From a text to everything that is stored of it or asked about it.

use std::sync::Arc;

use minwise::candidate::{Banding, Fingerprint, Winnow};
use minwise::hash::fmix64;
use minwise::shingle::{Shingler, Shingles, UnitRanges};
use minwise::sketch::{BitRows, Sketcher};
use minwise::verify::ShingleSet;

use crate::error::Result;
use crate::settings::IndexSettings;

/// The functions that the settings of an index describe.
#[derive(Debug, Clone)]
pub(crate) struct EntryPreparation {
    shingler: Shingler,
    sketcher: Arc<dyn Sketcher>,
    banding: Banding,
    winnow: Winnow,
    bits: Option<BitRows>,
}

/// A document as an index sees it. What it holds is used again for the next one.
#[derive(Debug, Default)]
pub(crate) struct PreparedEntry {
    pub(crate) shingles: Shingles,
    pub(crate) set: ShingleSet,
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// The keys of its bands; for a document without shingles, one that those with equal normalised text have.
    pub(crate) bands: Vec<u64>,
    /// That key, whole.
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

    /// Fills `out` with all that follows from a text.
    pub(crate) fn prepare(&self, text: &str, out: &mut PreparedEntry) {
        self.shingler.shingle_into(text, &mut out.shingles);
        self.finish(out);
    }

    /// The same, and says where units stand in the text.
    pub(crate) fn prepare_with_places(&self, text: &str, out: &mut PreparedEntry) -> UnitRanges {
        let places = self.shingler.shingle_with_places_into(text, &mut out.shingles);
        self.finish(out);
        places
    }

    /// The shingles of a text in order, and where its units stand.
    pub(crate) fn shingles_with_places(&self, text: &str, out: &mut Shingles) -> UnitRanges {
        self.shingler.shingle_with_places_into(text, out)
    }

    /// The shingles of a text in order.
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

    /// Fills `out` with what follows from the distinct shingles of a document, where its text is not kept. Fingerprints follow
    /// from their order, which is not known.
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
            // Neither the order of shingles nor how often they come matters to a sketch.
            self.sketcher.sketch_into(out.set.as_slice(), &mut out.registers);
            let key = |band| self.banding.key(band, &out.registers);
            out.bands.extend((0..self.banding.bands()).map(key));
        }
    }

    /// The row that is kept of the sketch; empty for a document without shingles.
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

/// The hash by which a fingerprint is posted. Fingerprints are the least of their windows, so most of them have the
/// same first bits; these have not.
pub(crate) fn posted(fingerprint: &Fingerprint) -> u64 {
    fmix64(fingerprint.shingle)
}
