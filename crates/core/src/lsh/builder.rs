//! The builder of an index, which checks its settings.

use std::hash::Hash;
use std::marker::PhantomData;

use super::index::Lsh;
use crate::candidate::{Banding, tune};
use crate::error::{Error, ErrorKind};
use crate::sketch::Method;
use crate::spec::Spec;

/// Default threshold, which is also the default of a run.
const THRESHOLD: f64 = 0.8;
/// Default of the wanted recall, which is also the default of a run.
const RECALL: f64 = 0.99;

/// Makes an [`Lsh`].
///
/// ```
/// use minwise::{Lsh, Spec};
///
/// let lsh: Lsh<u64> = Lsh::builder(Spec::default()).threshold(0.7).bands(20, 6).keep_shingles().build()?;
/// assert_eq!((lsh.banding().bands(), lsh.banding().rows()), (20, 6));
/// # Ok::<(), minwise::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "`build` makes the index"]
pub struct LshBuilder<K> {
    // The caller chooses the type of keys, although the builder holds no key.
    keys: PhantomData<fn() -> K>,
    spec: Spec,
    threshold: f64,
    recall: Option<f64>,
    bands: Option<(usize, usize)>,
    keeps_shingles: bool,
}

impl<K: Eq + Hash> LshBuilder<K> {
    /// Sets the similarity that a document must reach to be found: above 0 and at most 1. The default is 0.8.
    pub fn threshold(self, threshold: f64) -> Self {
        Self { threshold, ..self }
    }

    /// Sets the wanted recall, above 0 and below 1: the probability that a document exactly at the threshold is among
    /// the candidates of a query. The builder chooses bands and rows for this recall. The default is 0.99.
    pub fn recall(self, recall: f64) -> Self {
        Self { recall: Some(recall), ..self }
    }

    /// Sets the number of bands and the number of rows per band, instead of a recall. Their product must not exceed the
    /// number of registers. By default they follow from the recall.
    pub fn bands(self, bands: usize, rows: usize) -> Self {
        Self { bands: Some((bands, rows)), ..self }
    }

    /// Keeps the distinct shingles of each document, at eight bytes per shingle, so that queries give exact
    /// similarities. By default shingles are not kept, and similarities are estimates.
    pub fn keep_shingles(self) -> Self {
        Self { keeps_shingles: true, ..self }
    }

    /// Checks all settings and makes the index.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::Unsupported`] if the sketch of the spec has no registers that can be banded, such as `b-bit`, or
    ///   if shingles are to be kept for a sketch of weighted sets;
    /// - [`ErrorKind::Weighted`] if the spec has weights;
    /// - [`ErrorKind::OutOfRange`] if the threshold is not above 0 and at most 1, if the recall is not above 0 and
    ///   below 1, if both a recall and bands are set, if bands or rows are 0, or if the sketch cannot have its number
    ///   of registers;
    /// - [`ErrorKind::TooFewRegisters`] if bands and rows need more registers than the sketch has;
    /// - [`ErrorKind::Unreachable`] if no choice of bands and rows reaches the recall.
    pub fn build(self) -> Result<Lsh<K>, Error> {
        let Self { keys: PhantomData, spec, threshold, recall, bands, keeps_shingles } = self;
        let unsupported = |action, expected: &str| -> Error {
            ErrorKind::Unsupported { method: spec.method.to_string(), action, expected: expected.to_owned() }
                .into()
        };
        let registers = spec
            .method
            .bandable()
            .ok_or_else(|| unsupported("be banded", "only whole registers can, such as `minhash:128`"))?;
        tune::check_threshold(threshold)?;
        let banding = match (bands, recall) {
            (Some((bands, rows)), None) => Banding::new(bands, rows, registers)?,
            (None, recall) => tune::choose(threshold, recall.unwrap_or(RECALL), registers, |s| s)?,
            (Some((bands, rows)), Some(recall)) => {
                let expected = format!("left out if {bands} bands of {rows} rows are set");
                return Err(Error::out_of_range("the recall", recall, &expected));
            }
        };
        if keeps_shingles && matches!(spec.method, Method::Weighted(_)) {
            return Err(unsupported(
                "be verified by shingle sets",
                "it estimates another similarity; sketches of sets can, such as `minhash:128`",
            ));
        }
        Lsh::empty(spec, banding, threshold, keeps_shingles)
    }
}

impl<K: Eq + Hash> Lsh<K> {
    /// Makes an empty index whose bands and rows find a document exactly at `threshold` with probability `recall`.
    ///
    /// # Errors
    /// Fails where [`LshBuilder::build`] does.
    pub fn new(spec: Spec, threshold: f64, recall: f64) -> Result<Self, Error> {
        Self::builder(spec).threshold(threshold).recall(recall).build()
    }

    /// Makes an empty index with `bands` bands of `rows` rows.
    ///
    /// # Errors
    /// Fails where [`LshBuilder::build`] does.
    pub fn with_bands(spec: Spec, threshold: f64, bands: usize, rows: usize) -> Result<Self, Error> {
        Self::builder(spec).threshold(threshold).bands(bands, rows).build()
    }

    /// Returns a builder, which also has the settings that [`new`](Self::new) does not have.
    pub fn builder(spec: Spec) -> LshBuilder<K> {
        LshBuilder {
            keys: PhantomData,
            spec,
            threshold: THRESHOLD,
            recall: None,
            bands: None,
            keeps_shingles: false,
        }
    }
}
