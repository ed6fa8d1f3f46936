//! From a text to what is sketched and compared.

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

/// Text that one thread may cut whole: no more than half a million shingles, whatever it says, since they take many times
/// its size. A character has one byte at least, a token one more that ends it. Blocks cost a little, so that ordinary
/// documents are cut whole.
const WHOLE_CHARS_BYTES: u64 = 512 << 10;
const WHOLE_WORDS_BYTES: u64 = 1 << 20;
/// Text that is never cut whole if there are blocks, however many threads share their memory for it. More is more than a
/// thread may have of a document besides its shingles.
pub(crate) const HUGE_BYTES: u64 = 8 << 20;
/// Bytes of a block: its shingles stay in the second cache.
const BLOCK_BYTES: usize = 128 << 10;

/// The set of a document, as verification compares it.
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

    /// Visits its shingles with their weights, which are 1 without weights.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u64, f64)) {
        match self {
            Self::Plain(set) => set.as_slice().iter().for_each(|&shingle| visit(shingle, 1.0)),
            Self::Weighted(set) => {
                let (shingles, weights) = (set.shingles(), set.weights());
                shingles.iter().zip(weights).for_each(|(&shingle, &weight)| visit(shingle, weight));
            }
        }
    }

    /// Their Jaccard similarity, and the share of each that the other has.
    pub(crate) fn relation(&self, other: &Self) -> [f64; 3] {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => {
                let overlap = Overlap::of(a, b);
                [overlap.jaccard(), overlap.left_in_right(), overlap.right_in_left()]
            }
            (Self::Weighted(a), Self::Weighted(b)) => {
                let overlap = WeightedOverlap::of(a, b);
                // Sums of the same weights may round differently.
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

    /// Their exact similarity.
    ///
    /// # Panics
    /// If one set has weights and the other one has none.
    #[must_use]
    pub fn measure(&self, other: &Self, measure: Measure) -> f64 {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => measure.of(a, b),
            (Self::Weighted(a), Self::Weighted(b)) => measure.of_weighted(a, b),
            _ => unreachable!("one run has sets of one kind"),
        }
    }

    /// Their exact similarity, unless it is below the threshold.
    ///
    /// # Panics
    /// If one set has weights and the other one has none.
    #[must_use]
    pub fn at_least(&self, other: &Self, measure: Measure, threshold: f64) -> Option<f64> {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => measure.at_least(a, b, threshold),
            (Self::Weighted(a), Self::Weighted(b)) => measure.at_least_weighted(a, b, threshold),
            _ => unreachable!("one run has sets of one kind"),
        }
    }
}

/// Makes sketches of prepared documents.
#[derive(Debug, Clone)]
enum SketchMaker {
    Plain(Arc<dyn Sketcher>),
    Weighted(Arc<dyn WeightedSketcher>),
}

/// Cuts, weighs and sketches texts as a run does: the runs of this crate go through the same code.
///
/// It honours all that a spec says, weights, `max-df` and ignored texts among it. [`Plan::preparation`](crate::Plan::preparation)
/// is that of a run.
///
/// ```
/// use minwise_engine::{Preparation, Spec, WeightTables};
///
/// let spec: Spec = "nfkc+casefold / words:2 / minhash:64 / seed:1".parse()?;
/// // The shingles of a form are left out of every document.
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
    /// Whether sketches of blocks make the sketch of the document.
    merges: bool,
    /// Whether markup is taken out of texts.
    strips: bool,
    /// Text that one thread may cut whole, in bytes.
    whole_bytes: u64,
}

/// Buffers to prepare documents in, one after the other.
#[derive(Debug, Default)]
pub struct Prepared {
    /// The shingles as they stand in the document, nothing left out; none of a document that was cut block by block.
    pub(crate) shingles: Shingles,
    /// What is known of such a document, besides its sketch.
    tally: Option<Tally>,
    sketch: MergedSketch,
    remaining: Vec<u64>,
    weighted: WeightedSet,
    work: WeigherBuffers,
    sort: (Vec<u64>, Vec<u64>),
}

impl Prepared {
    /// Units of the document.
    pub(crate) fn units(&self) -> usize {
        self.tally.map_or_else(|| self.shingles.units(), |tally| tally.units)
    }

    /// What tells equal documents.
    pub(crate) fn equality_key(&self) -> u128 {
        self.tally.map_or_else(|| self.shingles.equality_key(), |tally| tally.equality_key)
    }
}

/// A sketch that is put together block by block.
#[derive(Debug, Default)]
struct MergedSketch {
    words: Vec<u32>,
    of_block: Vec<u32>,
    before: Vec<u32>,
}

impl MergedSketch {
    /// Begins with nothing; says whether sketches of this kind can be put together.
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

/// A text, prepared: what a run keeps of it and compares.
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
    /// The shingles in document order, without those that are left out.
    #[must_use]
    pub fn shingles(&self) -> &[u64] {
        &self.shingles
    }

    /// The set on which similarity is defined.
    #[must_use]
    pub fn set(&self) -> &DocumentSet {
        &self.set
    }

    /// The sketch. A document without shingles has none.
    #[must_use]
    pub fn sketch(&self) -> Option<&[u32]> {
        self.sketch.as_deref()
    }

    /// The key that tells equal documents: two documents with the same key have the same shingles in the same order, or no
    /// shingles and the same normalised text.
    #[must_use]
    pub fn equality_key(&self) -> u128 {
        self.equality_key
    }

    /// Whether a run rejects the document, because it is shorter than a shingle and the spec says `short=reject`.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        self.is_too_short
    }

    /// The exact similarity of two documents. If one of them has no shingles, it is 1 if their equality keys are the same,
    /// else 0.
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

/// The sets and keys that a run keeps of a text besides its sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SketchedText {
    /// Whether the text has shingles.
    pub has_shingles: bool,
    /// The key that tells equal documents ([`PreparedDocument::equality_key`]).
    pub equality_key: u128,
    /// Whether a run rejects the text, because it is shorter than a shingle and the spec says `short=reject`.
    pub is_too_short: bool,
}

/// For programs that prepare texts themselves.
impl Preparation {
    /// Prepares texts as `spec` says, with the tables that its weights ask for. If the spec has no fingerprints of tables yet,
    /// it gets those of `weighing`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`] if the parts of the spec do not go together, if a table is missing, or if the spec has the
    /// fingerprint of another table.
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

    /// The spec, with the fingerprints of its tables. Two sketches can be compared if [`Spec::check`] says so.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The number of 32-bit words in a sketch.
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

    /// Sketches a text. A text without shingles has no sketch.
    #[must_use]
    pub fn sketch(&self, text: &str) -> Option<Vec<u32>> {
        let mut row = vec![0; self.words()];
        self.sketch_into(text, &mut Prepared::default(), &mut row).then_some(row)
    }

    /// Writes the sketch of a text to a row of [`words`](Self::words) words, and returns whether the text has shingles. The
    /// buffers in `room` serve one text after the other.
    ///
    /// # Panics
    /// If the row has another length.
    pub fn sketch_into(&self, text: &str, room: &mut Prepared, row: &mut [u32]) -> bool {
        let has_shingles = self.prepare_whole(text, false, room);
        if has_shingles {
            self.write_sketch(room, row);
        }
        has_shingles
    }

    /// Writes the sketch of a text to a row of [`words`](Self::words) words, and returns what a run keeps besides. Without
    /// shingles, the row stays as it is.
    ///
    /// # Panics
    /// If the row has another length.
    pub fn sketch_keyed(&self, text: &str, room: &mut Prepared, row: &mut [u32]) -> SketchedText {
        let has_shingles = self.sketch_into(text, room, row);
        SketchedText {
            has_shingles,
            equality_key: room.equality_key(),
            is_too_short: self.shingler.refuses(room.units()),
        }
    }

    /// The set of a text on which similarity is defined, as a run loads it to compare two documents.
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

    /// The shingles in document order, without those that are left out, whether there are weights or not.
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
    /// The way from a text to what this run sketches and compares. The plan of a [`DedupOutcome`](crate::DedupOutcome) has the tables
    /// that the run has loaded or counted.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`] if the plan is that of a run that has not loaded its tables.
    pub fn preparation(&self) -> Result<Preparation, Error> {
        Preparation::new(self.spec(), &self.weighing)
    }
}

impl Preparation {
    /// For a spec and tables that were checked.
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

    /// The most text that may be cut whole at one time, if so many threads have their memory for it.
    pub(crate) fn whole_bytes(&self, threads: usize) -> u64 {
        (self.whole_bytes * threads as u64).clamp(self.whole_bytes, HUGE_BYTES)
    }

    /// Whether documents can be cut block by block. Weights need all shingles at once.
    pub(crate) fn cuts_blocks(&self) -> bool {
        self.weigher.is_none() && self.shingler.cuts_blocks()
    }

    /// Whether a text is cut whole to be sketched though it has more than one thread may cut so.
    pub(crate) fn is_oversized(&self, text: &DocumentText<'_>, in_order: bool) -> bool {
        let is_large = match text {
            DocumentText::Whole(text) => text.len() as u64 > self.whole_bytes,
            DocumentText::Long(_) => true,
        };
        // Markup may go from one end of a text to the other, so that it is taken out of all of it at once.
        is_large && (self.strips || !self.sketches_blocks(in_order))
    }

    fn sketches_blocks(&self, in_order: bool) -> bool {
        !in_order && self.merges && self.cuts_blocks()
    }

    /// Gives the shingles of a huge document to `each`, block by block.
    pub(crate) fn shingle_blocks(
        &self,
        text: &DocumentText<'_>,
        room: &mut Prepared,
        each: impl FnMut(&[u64]) -> Result<(), Error>,
    ) -> Result<Tally, Error> {
        blocks(&self.shingler, text, &mut room.shingles, each)
    }

    /// Cuts and weighs a text, to be sketched; says whether any shingles are left. `in_order` is whether they will be asked
    /// for in document order.
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

    /// Cuts and weighs a text that is all in memory.
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

    /// Cuts a text.
    pub(crate) fn shingle(&self, text: &str, room: &mut Prepared) {
        room.tally = None;
        self.shingler.shingle_into(text, &mut room.shingles);
    }

    /// Weighs what was cut; says whether anything is left.
    pub(crate) fn weigh(&self, room: &mut Prepared) -> bool {
        let hashes = room.shingles.hashes();
        let Some(weigher) = &self.weigher else { return !hashes.is_empty() };
        match &self.maker {
            SketchMaker::Weighted(_) => {
                weigher.weigh_into(hashes, &mut room.work, &mut room.weighted);
                !room.weighted.is_empty()
            }
            SketchMaker::Plain(_) => {
                // What stays is still in document order, for sketches that look at places.
                let distinct = weigher.remaining(hashes, &mut room.work);
                room.remaining.clear();
                room.remaining
                    .extend(hashes.iter().filter(|shingle| distinct.binary_search(shingle).is_ok()));
                !room.remaining.is_empty()
            }
        }
    }

    /// The shingles that were not left out, in document order; all of them where there are weights.
    pub(crate) fn in_order<'r>(&self, room: &'r Prepared) -> &'r [u64] {
        match (&self.weigher, &self.maker) {
            (Some(_), SketchMaker::Plain(_)) => &room.remaining,
            _ => room.shingles.hashes(),
        }
    }

    /// Writes the sketch of what was weighed.
    pub(crate) fn write_sketch(&self, room: &Prepared, out: &mut [u32]) {
        match &self.maker {
            SketchMaker::Plain(_) if room.tally.is_some() => out.copy_from_slice(&room.sketch.words),
            SketchMaker::Plain(sketcher) => sketcher.sketch_into(self.in_order(room), out),
            SketchMaker::Weighted(sketcher) => sketcher.sketch_into(&room.weighted, out),
        }
    }

    /// The set of a text, for comparison. Unlike [`set`](Self::set) it may leave the room without shingles, which takes less
    /// of it.
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

    /// The set of a text, for comparison, and its shingles in the room.
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

/// Sketches a text block by block; returns whether it has shingles. `cut` gives the blocks to the function that it is given.
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

/// Gives the shingles of a text to `each`, block by block.
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

    /// Without it, a text is cut block by block; with it, all of it has to be there.
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
