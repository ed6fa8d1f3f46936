//! Preparation of texts: from a text to its shingles, its weighted set and its sketch.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use minwise::Spec;
use minwise::estimate::Estimate;
use minwise::shingle::{ShingleUnit, Shingler, Shingles, Tally};
use minwise::sketch::weighted::WeightedSketcher;
use minwise::sketch::{Method, Sketcher};
use minwise::text::Markup;
use minwise::verify::{Measure, Overlap, ShingleSet, WeightedOverlap};
use minwise::weight::{Weigher, WeigherBuffers, WeightedSet, Weighting};
use minwise_corpus::DocumentText;

use crate::error::{Error, ErrorKind};
use crate::settings::{Plan, check_spec, check_tables};
use crate::weigh::WeightTables;

/// Maximum number of bytes of text that one thread may cut whole. The limits allow at most half a million shingles,
/// because shingles take many times the size of their text. A character has at least one byte, and a word at least two
/// with its separator. Cutting into blocks costs a little time, so the limits are high enough that ordinary documents
/// are cut whole.
const WHOLE_CHARS_BYTES: u64 = 512 << 10;
const WHOLE_WORDS_BYTES: u64 = 1 << 20;
/// Number of bytes of text above which a document is always cut into blocks if its spec permits blocks, for any number
/// of threads that share their memory. A text of this size is the most that a thread may hold in addition to its
/// shingles.
pub(crate) const HUGE_BYTES: u64 = 8 << 20;
/// Number of bytes per block. The shingles of a block stay in the level 2 cache.
const BLOCK_BYTES: usize = 128 << 10;

/// Shingle set of a document, as verification compares it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DocumentSet {
    /// Shingles without weights.
    Plain(ShingleSet),
    /// Shingles with their weights.
    Weighted(WeightedSet),
}

impl DocumentSet {
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Self::Plain(set) => set.size_bytes(),
            Self::Weighted(set) => set.size_bytes(),
        }
    }

    /// Visits all shingles with their weights; in a set without weights, each weight is 1.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u64, f64)) {
        match self {
            Self::Plain(set) => set.as_slice().iter().for_each(|&shingle| visit(shingle, 1.0)),
            Self::Weighted(set) => {
                let (shingles, weights) = (set.shingles(), set.weights());
                shingles.iter().zip(weights).for_each(|(&shingle, &weight)| visit(shingle, weight));
            }
        }
    }

    /// Returns the Jaccard similarity of two sets, the share of `self` that is in `other`, and the share of `other`
    /// that is in `self`.
    pub(crate) fn relation(&self, other: &Self) -> [f64; 3] {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => {
                let overlap = Overlap::of(a, b);
                [overlap.jaccard(), overlap.left_in_right(), overlap.right_in_left()]
            }
            (Self::Weighted(a), Self::Weighted(b)) => {
                let overlap = WeightedOverlap::of(a, b);
                // A share is limited to 1, because two sums of the same weights may round differently.
                let share = |total: f64| (overlap.shared / total).min(1.0);
                [overlap.jaccard(), share(a.total()), share(b.total())]
            }
            _ => unreachable!("one run has sets of one kind"),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Plain(set) => set.is_empty(),
            Self::Weighted(set) => set.is_empty(),
        }
    }

    /// Computes the exact similarity of two sets.
    ///
    /// # Panics
    /// Panics if only one of the two sets has weights.
    #[must_use]
    pub fn measure(&self, other: &Self, measure: Measure) -> f64 {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => measure.of(a, b),
            (Self::Weighted(a), Self::Weighted(b)) => measure.of_weighted(a, b),
            _ => unreachable!("one run has sets of one kind"),
        }
    }

    /// Computes the exact similarity of two sets; returns `None` if it is below the threshold.
    ///
    /// # Panics
    /// Panics if only one of the two sets has weights.
    #[must_use]
    pub fn at_least(&self, other: &Self, measure: Measure, threshold: f64) -> Option<f64> {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => measure.at_least(a, b, threshold),
            (Self::Weighted(a), Self::Weighted(b)) => measure.at_least_weighted(a, b, threshold),
            _ => unreachable!("one run has sets of one kind"),
        }
    }
}

/// Sketcher of prepared documents, with or without weights.
#[derive(Debug, Clone)]
enum SketchMaker {
    Plain(Arc<dyn Sketcher>),
    Weighted(Arc<dyn WeightedSketcher>),
}

/// Cuts, weighs and sketches texts with the same code as the runs of this crate.
///
/// A `Preparation` follows the whole spec, including weights, `max-df` and ignored texts.
/// [`Plan::preparation`](crate::Plan::preparation) returns the preparation of a run.
///
/// ```
/// use minwise_engine::{Preparation, Spec, WeightTables};
///
/// let spec: Spec = "nfkc+casefold / words:2 / minhash:64 / seed:1".parse()?;
/// // The shingles of this template are left out of every document.
/// let weighing = WeightTables::default().ignoring(&spec, ["please fill in this form"]);
/// let preparation = Preparation::new(&spec, &weighing)?;
///
/// let filled = preparation.document("Please fill in this form: roses");
/// assert_eq!(filled.shingles().len(), 1);
/// assert_eq!(preparation.sketch("form, roses"), filled.sketch().map(<[u32]>::to_vec));
/// assert_eq!(preparation.sketch("Please fill in this form"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Preparation {
    spec: Spec,
    shingler: Shingler,
    weigher: Option<Weigher>,
    maker: SketchMaker,
    /// Whether the sketches of blocks can be merged to the sketch of the document.
    merges: bool,
    /// Whether markup is removed from texts.
    strips: bool,
    /// Maximum number of bytes of text that one thread may cut whole: [`WHOLE_CHARS_BYTES`] or [`WHOLE_WORDS_BYTES`].
    whole_bytes: u64,
}

/// Buffers for preparing one document after another.
#[derive(Debug, Default)]
pub struct Prepared {
    /// The shingles in document order, including ignored ones; empty for a document that was cut block by block.
    pub(crate) shingles: Shingles,
    /// Number of units and equality key of a document that was cut block by block.
    tally: Option<Tally>,
    sketch: MergedSketch,
    remaining: Vec<u64>,
    weighted: WeightedSet,
    work: WeigherBuffers,
    sort: (Vec<u64>, Vec<u64>),
}

impl Prepared {
    /// Returns the number of units of the document.
    pub(crate) fn units(&self) -> usize {
        self.tally.map_or_else(|| self.shingles.units(), |tally| tally.units)
    }

    /// Returns the key that equal documents share.
    pub(crate) fn equality_key(&self) -> u128 {
        self.tally.map_or_else(|| self.shingles.equality_key(), |tally| tally.equality_key)
    }
}

/// Sketch that is merged from the sketches of blocks.
#[derive(Debug, Default)]
struct MergedSketch {
    words: Vec<u32>,
    of_block: Vec<u32>,
    before: Vec<u32>,
}

impl MergedSketch {
    /// Starts with the sketch of an empty text; reports whether sketches of this kind can be merged.
    fn begin(&mut self, sketcher: &dyn Sketcher) -> bool {
        for row in [&mut self.words, &mut self.of_block, &mut self.before] {
            row.resize(sketcher.words(), 0);
        }
        sketcher.sketch_into(&[], &mut self.words);
        self.add(sketcher, &[])
    }

    fn add(&mut self, sketcher: &dyn Sketcher, shingles: &[u64]) -> bool {
        sketcher.sketch_into(shingles, &mut self.of_block);
        self.before.copy_from_slice(&self.words);
        sketcher.merge_into(&self.before, &self.of_block, &mut self.words)
    }
}

/// Prepared text, with everything that a run keeps of it and compares.
#[derive(Debug, Clone)]
pub struct PreparedDocument {
    spec: Spec,
    shingles: Vec<u64>,
    set: DocumentSet,
    sketch: Option<Vec<u32>>,
    equality_key: u128,
    is_too_short: bool,
}

impl PreparedDocument {
    /// Returns the shingles in document order, without ignored ones.
    #[must_use]
    pub fn shingles(&self) -> &[u64] {
        &self.shingles
    }

    /// Returns the set on which similarity is defined.
    #[must_use]
    pub fn set(&self) -> &DocumentSet {
        &self.set
    }

    /// Returns the sketch, or `None` if the document has no shingles.
    #[must_use]
    pub fn sketch(&self) -> Option<&[u32]> {
        self.sketch.as_deref()
    }

    /// Returns the key that equal documents share. Two documents have the same key if they have the same shingles in
    /// the same order, or if neither has shingles and their normalised texts are the same.
    #[must_use]
    pub fn equality_key(&self) -> u128 {
        self.equality_key
    }

    /// Reports whether a run rejects the document, because it is shorter than a shingle and the spec has
    /// `short=reject`.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        self.is_too_short
    }

    /// Computes the exact similarity of two documents. If a document has no shingles, the similarity is 1 for equal
    /// equality keys, and 0 otherwise.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Spec`] if the documents were prepared with different specs.
    pub fn measure(&self, other: &Self, measure: Measure) -> Result<f64, Error> {
        self.spec.check(&other.spec)?;
        if self.set.is_empty() || other.set.is_empty() {
            return Ok(f64::from(u8::from(self.equality_key == other.equality_key)));
        }
        Ok(self.set.measure(&other.set, measure))
    }
}

/// Values that a run keeps of a text besides its sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SketchedText {
    /// Whether the text has shingles.
    pub has_shingles: bool,
    /// The key that equal documents share ([`PreparedDocument::equality_key`]).
    pub equality_key: u128,
    /// Whether a run rejects the text, because it is shorter than a shingle and the spec has `short=reject`.
    pub is_too_short: bool,
}

/// Methods for programs that prepare texts themselves.
impl Preparation {
    /// Makes a preparation by `spec`, with the tables that its weights need. If the spec has no fingerprints of tables
    /// yet, the preparation sets those of `weighing`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`] if parts of the spec contradict each other, if a table is missing, or if the
    /// spec has the fingerprint of another table.
    pub fn new(spec: &Spec, weighing: &WeightTables) -> Result<Self, Error> {
        let mut problems = vec![];
        let spec = weighing.fill(spec);
        check_spec(&spec, &mut problems);
        check_tables(&spec, weighing, &mut problems);
        if !problems.is_empty() {
            return Err(ErrorKind::Settings(problems).into());
        }
        Self::of_checked(&spec, weighing)
    }

    /// Returns the spec, with the fingerprints of its tables. Two sketches can be compared if [`Spec::check`] accepts
    /// their specs.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the number of 32-bit words per sketch.
    #[must_use]
    pub fn words(&self) -> usize {
        match &self.maker {
            SketchMaker::Plain(sketcher) => sketcher.words(),
            SketchMaker::Weighted(sketcher) => sketcher.words(),
        }
    }

    /// Prepares a text, and returns everything that a run would keep or compare.
    #[must_use]
    pub fn document(&self, text: &str) -> PreparedDocument {
        let mut room = Prepared::default();
        let set = self.set(text, &mut room);
        let sketch = (!set.is_empty()).then(|| {
            let mut row = vec![0; self.words()];
            self.write_sketch(&room, &mut row);
            row
        });
        PreparedDocument {
            spec: self.spec,
            shingles: self.remaining_in_order(&room).into_owned(),
            set,
            sketch,
            equality_key: room.equality_key(),
            is_too_short: self.shingler.refuses(room.units()),
        }
    }

    /// Sketches a text; returns `None` if the text has no shingles.
    #[must_use]
    pub fn sketch(&self, text: &str) -> Option<Vec<u32>> {
        let mut row = vec![0; self.words()];
        self.sketch_into(text, &mut Prepared::default(), &mut row).then_some(row)
    }

    /// Writes the sketch of a text to a row of [`words`](Self::words) words, and reports whether the text has shingles.
    /// The buffers in `room` can be used for one text after another.
    ///
    /// # Panics
    /// Panics if the text has shingles and the row does not have `words` words.
    pub fn sketch_into(&self, text: &str, room: &mut Prepared, row: &mut [u32]) -> bool {
        let has_shingles = self.prepare_whole(text, false, room);
        if has_shingles {
            self.write_sketch(room, row);
        }
        has_shingles
    }

    /// Writes the sketch of a text to a row of [`words`](Self::words) words, and returns the other values that a run
    /// keeps. If the text has no shingles, the row is not changed.
    ///
    /// # Panics
    /// Panics if the text has shingles and the row does not have `words` words.
    pub fn sketch_keyed(&self, text: &str, room: &mut Prepared, row: &mut [u32]) -> SketchedText {
        let has_shingles = self.sketch_into(text, room, row);
        SketchedText {
            has_shingles,
            equality_key: room.equality_key(),
            is_too_short: self.shingler.refuses(room.units()),
        }
    }

    /// Returns the set of a text on which similarity is defined, as a run loads it to compare two documents.
    pub fn comparable_set(&self, text: &str, room: &mut Prepared) -> DocumentSet {
        self.set_alone(text, room)
    }

    /// Estimates the similarity of two documents from their sketches.
    #[must_use]
    pub fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        match &self.maker {
            SketchMaker::Plain(sketcher) => sketcher.estimate(a, b),
            SketchMaker::Weighted(sketcher) => sketcher.estimate(a, b),
        }
    }

    /// Returns the shingles in document order without ignored shingles, for specs with and without weights.
    fn remaining_in_order<'r>(&self, room: &'r Prepared) -> Cow<'r, [u64]> {
        match (&self.weigher, &self.maker) {
            (Some(_), SketchMaker::Weighted(_)) => {
                let distinct = room.weighted.shingles();
                let hashes = room.shingles.hashes().iter();
                hashes.copied().filter(|shingle| distinct.binary_search(shingle).is_ok()).collect()
            }
            _ => Cow::Borrowed(self.in_order(room)),
        }
    }
}

impl Plan {
    /// Makes the preparation that this run sketches and compares with. The plan of a
    /// [`DedupOutcome`](crate::DedupOutcome) has the tables that the run has loaded or counted.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`] if the run of this plan has not loaded its tables.
    pub fn preparation(&self) -> Result<Preparation, Error> {
        Preparation::new(self.spec(), &self.weighing)
    }
}

impl Preparation {
    /// Makes a preparation from a spec and tables that the caller has checked.
    pub(crate) fn of_checked(spec: &Spec, weighing: &WeightTables) -> Result<Self, Error> {
        let maker = match spec.method {
            Method::Weighted(method) if spec.weights.weighting != Weighting::None => {
                SketchMaker::Weighted(method.build(spec.seed)?)
            }
            method => SketchMaker::Plain(method.build(spec.seed)?),
        };
        let merges = match &maker {
            SketchMaker::Plain(sketcher) => MergedSketch::default().begin(&**sketcher),
            SketchMaker::Weighted(_) => false,
        };
        let whole_bytes = match spec.shingling.unit() {
            ShingleUnit::Chars => WHOLE_CHARS_BYTES,
            _ => WHOLE_WORDS_BYTES,
        };
        let weigher = weighing.weigher(&spec.weights)?;
        let strips = spec.normalization.markup == Markup::Strip;
        Ok(Self { spec: *spec, shingler: spec.shingler(), weigher, maker, merges, strips, whole_bytes })
    }

    /// Returns the size in bytes of the largest text that may be cut whole if `threads` threads share their memory for
    /// it.
    pub(crate) fn whole_bytes(&self, threads: usize) -> u64 {
        (self.whole_bytes * threads as u64).clamp(self.whole_bytes, HUGE_BYTES)
    }

    /// Reports whether documents can be cut block by block. Weights make this impossible, because weighing needs all
    /// shingles at once.
    pub(crate) fn cuts_blocks(&self) -> bool {
        self.weigher.is_none() && self.shingler.cuts_blocks()
    }

    /// Reports whether the sketch of a text needs the whole text at once although the text exceeds the limit for one
    /// thread.
    pub(crate) fn is_oversized(&self, text: &DocumentText<'_>, in_order: bool) -> bool {
        let is_large = match text {
            DocumentText::Whole(text) => text.len() as u64 > self.whole_bytes,
            DocumentText::Long(_) => true,
        };
        // Markup forces a whole text, because an element may span the text from its beginning to its end.
        is_large && (self.strips || !self.sketches_blocks(in_order))
    }

    fn sketches_blocks(&self, in_order: bool) -> bool {
        !in_order && self.merges && self.cuts_blocks()
    }

    /// Passes the shingles of a huge document to `each`, block by block.
    pub(crate) fn shingle_blocks(
        &self,
        text: &DocumentText<'_>,
        room: &mut Prepared,
        each: impl FnMut(&[u64]) -> Result<(), Error>,
    ) -> Result<Tally, Error> {
        blocks(&self.shingler, text, &mut room.shingles, each)
    }

    /// Cuts and weighs a text for its sketch; reports whether any shingles are left. `in_order` states whether the
    /// caller will read the shingles in document order.
    pub(crate) fn prepare(
        &self,
        text: &DocumentText<'_>,
        in_order: bool,
        room: &mut Prepared,
    ) -> Result<bool, Error> {
        let long = match text {
            DocumentText::Whole(whole) => return Ok(self.prepare_whole(whole, in_order, room)),
            DocumentText::Long(long) => long,
        };
        if self.sketches_blocks(in_order)
            && let SketchMaker::Plain(sketcher) = &self.maker
        {
            return prepare_blocks(&**sketcher, room, |shingles, each| {
                let each = |block: &[u64]| {
                    each(block);
                    Ok::<(), Error>(())
                };
                self.shingler.shingle_pieces(|give| long.for_each(give), BLOCK_BYTES, shingles, each)
            });
        }
        self.shingle(&long.whole()?, room);
        Ok(self.weigh(room))
    }

    /// Cuts and weighs a text that is wholly in memory.
    fn prepare_whole(&self, text: &str, in_order: bool, room: &mut Prepared) -> bool {
        if text.len() as u64 > self.whole_bytes
            && self.sketches_blocks(in_order)
            && let SketchMaker::Plain(sketcher) = &self.maker
        {
            let Ok(has_shingles) = prepare_blocks(&**sketcher, room, |shingles, each| {
                self.shingler.shingle_blocks(text, BLOCK_BYTES, shingles, |block| {
                    each(block);
                    Ok::<(), Infallible>(())
                })
            });
            return has_shingles;
        }
        self.shingle(text, room);
        self.weigh(room)
    }

    pub(crate) fn shingler(&self) -> &Shingler {
        &self.shingler
    }

    /// Cuts a text into shingles.
    pub(crate) fn shingle(&self, text: &str, room: &mut Prepared) {
        room.tally = None;
        self.shingler.shingle_into(text, &mut room.shingles);
    }

    /// Weighs the shingles of the text that was cut last; reports whether any shingles are left.
    pub(crate) fn weigh(&self, room: &mut Prepared) -> bool {
        let hashes = room.shingles.hashes();
        let Some(weigher) = &self.weigher else { return !hashes.is_empty() };
        match &self.maker {
            SketchMaker::Weighted(_) => {
                weigher.weigh_into(hashes, &mut room.work, &mut room.weighted);
                !room.weighted.is_empty()
            }
            SketchMaker::Plain(_) => {
                // The remaining shingles stay in document order, because some sketches use the positions of shingles.
                let distinct = weigher.remaining(hashes, &mut room.work);
                room.remaining.clear();
                room.remaining
                    .extend(hashes.iter().filter(|shingle| distinct.binary_search(shingle).is_ok()));
                !room.remaining.is_empty()
            }
        }
    }

    /// Returns the shingles in document order: all shingles for a weighted sketch, otherwise without ignored shingles.
    pub(crate) fn in_order<'r>(&self, room: &'r Prepared) -> &'r [u64] {
        match (&self.weigher, &self.maker) {
            (Some(_), SketchMaker::Plain(_)) => &room.remaining,
            _ => room.shingles.hashes(),
        }
    }

    /// Writes the sketch of the document that was prepared last.
    pub(crate) fn write_sketch(&self, room: &Prepared, out: &mut [u32]) {
        match &self.maker {
            SketchMaker::Plain(_) if room.tally.is_some() => out.copy_from_slice(&room.sketch.words),
            SketchMaker::Plain(sketcher) => sketcher.sketch_into(self.in_order(room), out),
            SketchMaker::Weighted(sketcher) => sketcher.sketch_into(&room.weighted, out),
        }
    }

    /// Returns the set of a text for comparison. Unlike [`set`](Self::set) it may leave no shingles in `room`, which
    /// saves memory.
    pub(crate) fn set_alone(&self, text: &str, room: &mut Prepared) -> DocumentSet {
        if text.len() <= BLOCK_BYTES || !self.cuts_blocks() {
            return self.set(text, room);
        }
        let Prepared { shingles, sort, .. } = room;
        sort.0.clear();
        let Ok(_) = self.shingler.shingle_blocks(text, BLOCK_BYTES, shingles, |shingles| {
            sort.0.extend_from_slice(shingles);
            Ok::<(), Infallible>(())
        });
        DocumentSet::Plain(ShingleSet::of_gathered(sort))
    }

    /// Returns the set of shingles of a text, for a comparison. Afterwards `room` has the shingles of the text.
    pub(crate) fn set(&self, text: &str, room: &mut Prepared) -> DocumentSet {
        self.shingle(text, room);
        self.weigh(room);
        match &self.maker {
            SketchMaker::Weighted(_) => DocumentSet::Weighted(room.weighted.clone()),
            SketchMaker::Plain(_) => {
                let hashes = match &self.weigher {
                    Some(_) => &room.remaining,
                    None => room.shingles.hashes(),
                };
                DocumentSet::Plain(ShingleSet::build(hashes, &mut room.sort))
            }
        }
    }
}

/// Sketches a text block by block; reports whether the text has shingles. `cut` calls its second argument with the
/// shingles of each block.
#[cold]
fn prepare_blocks<E>(
    sketcher: &dyn Sketcher,
    room: &mut Prepared,
    cut: impl FnOnce(&mut Shingles, &mut dyn FnMut(&[u64])) -> Result<Tally, E>,
) -> Result<bool, E> {
    let Prepared { shingles, sketch, tally, .. } = room;
    sketch.begin(sketcher);
    let of_blocks = cut(shingles, &mut |shingles| {
        sketch.add(sketcher, shingles);
    })?;
    *tally = Some(of_blocks);
    Ok(of_blocks.units > 0)
}

/// Passes the shingles of a text to `each`, block by block.
fn blocks(
    shingler: &Shingler,
    text: &DocumentText<'_>,
    room: &mut Shingles,
    each: impl FnMut(&[u64]) -> Result<(), Error>,
) -> Result<Tally, Error> {
    match text {
        DocumentText::Whole(text) => shingler.shingle_blocks(text, BLOCK_BYTES, room, each),
        DocumentText::Long(long) => {
            shingler.shingle_pieces(|give| long.for_each(give), BLOCK_BYTES, room, each)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plain text is cut block by block; a text with markup must be wholly in memory.
    #[test]
    fn a_large_text_with_markup_waits_for_its_turn() {
        let large = DocumentText::Whole("word ".repeat(1 << 19).into());
        for (form, waits) in [("nfkc+casefold", false), ("nfkc+casefold+strip-markup", true)] {
            let spec = format!("{form} / words:5 / minhash:16 / seed:1").parse().unwrap();
            let preparation = Preparation::new(&spec, &WeightTables::default()).unwrap();
            assert_eq!(preparation.is_oversized(&large, false), waits, "{form}");
        }
    }
}
