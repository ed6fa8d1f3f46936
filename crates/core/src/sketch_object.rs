//! A sketch with its spec, which can be updated, merged, compared, counted and stored as bytes.
//!
//! The bytes of a sketch, with all numbers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `mwsketch` |
//! | 4 | 1, the version of this form |
//! | 4 | the [version of specs](crate::VERSION) |
//! | 4 | 1 if the document has shingles, else 0 |
//! | 4 + n | the [version of Unicode](crate::text::UNICODE): its length, and the text in UTF-8 |
//! | 4 + n | the spec: its length, and its text form in UTF-8 |
//! | 4 + 4·n | the words of the sketch: their number, and the words |
//! | 8 | XXH3-64 of all preceding bytes |

use std::fmt;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind};
use crate::estimate::minhash::LEAST_TO_COUNT;
use crate::estimate::{self, CountEstimate, Estimate};
use crate::figure::{counted, grouped};
use crate::shingle::{Shingler, Shingles};
use crate::sketch::bottom_k::BottomK;
use crate::sketch::minhash::EMPTY;
use crate::sketch::{Base, Method, RegisterSource, Sketcher};
use crate::spec::{Spec, VERSION};
use crate::text::UNICODE;

/// First bytes of a stored sketch.
const MAGIC: &[u8; 8] = b"mwsketch";
/// Version of the stored form.
const FORM: u32 = 1;
/// Subject of error messages about bytes.
const BYTES: &str = "a stored sketch";
/// Number of bytes of a text that are cut together if the text comes in pieces.
const BLOCK_BYTES: usize = 1 << 20;

/// The sketch of one document, with the [`Spec`] by which it was made.
///
/// ```
/// use minwise::{Sketch, Spec};
///
/// let spec: Spec = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse()?;
/// let a = Sketch::of(spec, "The cat sat on the mat.")?;
/// let mut b = Sketch::new(spec)?;
/// b.update("the CAT sat")?;
/// b.update("sat on a mat!")?;
///
/// println!("{}", a.estimate(&b)?);                    // such as 0.430 ± 0.044
/// assert!((a.estimate(&b)?.value - 3.0 / 7.0).abs() < 0.2);
/// assert!((a.count()?.value - 5.0).abs() < 2.0);      // distinct shingles
/// assert_eq!(Sketch::from_bytes(&a.to_bytes())?, a);
/// # Ok::<(), minwise::Error>(())
/// ```
///
/// # Kinds that merge and kinds that count
///
/// Sketches of some [kinds](Method) can be merged. Such a sketch can take many texts, or one text in pieces without
/// holding all of it. Sketches of some kinds can also count the distinct shingles of a document. Every kind can take
/// one whole text.
///
/// | kind | [`merge`](Self::merge) | [`count`](Self::count) |
/// |---|---|---|
/// | `minhash` | yes | yes, with at least three registers |
/// | `bottom-k` | yes | yes, if k is at least three; exact for fewer than k shingles |
/// | `minhash` with another hash family (`minhash,murmur3`), `min-max`, `super-minhash`, `fast-similarity`, `one-permutation,raw` | yes | no |
/// | all others, such as `b-bit` | no | no |
///
/// A sketch contains its hash functions and buffers, which take some kilobytes. For many sketches, use
/// [`Sketches`](crate::sketch::Sketches), which contains only their rows.
#[derive(Clone)]
pub struct Sketch {
    spec: Spec,
    shingler: Shingler,
    sketcher: Arc<dyn Sketcher>,
    words: Vec<u32>,
    has_shingles: bool,
    buffers: Buffers,
}

/// Buffers that [`update`](Sketch::update) reuses.
#[derive(Clone, Default)]
struct Buffers {
    shingles: Shingles,
    new: Vec<u32>,
    merged: Vec<u32>,
}

impl Sketch {
    /// Makes the sketch of a document without shingles.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`] if a number of the sketch is out of its range, such as 0 registers. Fails
    /// with [`ErrorKind::Weighted`] if the spec has [weights](crate::WeightSpec), because the sketch of weighed
    /// shingles needs a [`SpecSketcher`](crate::SpecSketcher).
    pub fn new(spec: Spec) -> Result<Self, Error> {
        let sketcher = spec.sketcher()?;
        let words = vec![EMPTY; sketcher.words()];
        let shingler = spec.shingler();
        Ok(Self { spec, shingler, sketcher, words, has_shingles: false, buffers: Buffers::default() })
    }

    /// Makes the sketch of a text.
    ///
    /// # Errors
    /// Fails where [`new`](Self::new) and [`update`](Self::update) do.
    pub fn of(spec: Spec, text: &str) -> Result<Self, Error> {
        let mut sketch = Self::new(spec)?;
        sketch.update(text)?;
        // Most sketches of a whole text are never updated, and the buffers take more memory than the sketch.
        sketch.buffers = Buffers::default();
        Ok(sketch)
    }

    /// Makes a sketch from words, which are the [`words`](Self::words) of another sketch or a row of
    /// [`Sketches`](crate::sketch::Sketches). If every word is [`EMPTY`], the document has no shingles.
    ///
    /// # Errors
    /// Fails where [`new`](Self::new) does. Fails with [`ErrorKind::OutOfRange`] if the number of words is not that of
    /// a sketch by the spec.
    pub fn from_words(spec: Spec, words: Vec<u32>) -> Result<Self, Error> {
        let sketch = Self::new(spec)?;
        if words.len() != sketch.words.len() {
            let expected = format!("{}, the words of `{}`", sketch.words.len(), spec.method);
            return Err(Error::out_of_range("the number of words", words.len(), &expected));
        }
        let has_shingles = words.iter().any(|&word| word != EMPTY);
        Ok(Self { words, has_shingles, ..sketch })
    }

    /// Returns the spec of the sketch.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the words of the sketch, in the form of a row of [`Sketches`](crate::sketch::Sketches).
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Reports whether the sketch is that of a document without shingles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.has_shingles
    }

    /// Adds the shingles of a text. Afterwards this is the sketch of the union of the old shingle set and the text's.
    ///
    /// Each call takes a text of its own: no shingle begins in one text and ends in the next, and a text of fewer than
    /// N tokens adds one short shingle. If a long text comes in pieces, use [`update_pieces`](Self::update_pieces).
    ///
    /// # Errors
    /// Fails with [`ErrorKind::ShortDocument`] if the spec rejects short texts and the text is short. Fails with
    /// [`ErrorKind::Unsupported`] if the sketch has shingles already and its kind [cannot be
    /// merged](Self#kinds-that-merge-and-kinds-that-count), because such a sketch takes only one text.
    pub fn update(&mut self, text: &str) -> Result<(), Error> {
        let mut shingles = std::mem::take(&mut self.buffers.shingles);
        self.shingler.shingle_into(text, &mut shingles);
        let result = if self.shingler.refuses(shingles.units()) {
            Err(ErrorKind::ShortDocument { position: None, units: shingles.units() }.into())
        } else {
            self.update_shingles(shingles.hashes())
        };
        self.buffers.shingles = shingles;
        result
    }

    /// Adds the shingles of one text that comes in pieces of any length. The result is that of [`update`](Self::update)
    /// for the whole text. A word may begin in one piece and end in the next.
    ///
    /// ```
    /// use minwise::{Sketch, Spec};
    ///
    /// let spec: Spec = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse()?;
    /// let mut sketch = Sketch::new(spec)?;
    /// sketch.update_pieces(["The cat sa", "t on the m", "at."])?;
    /// assert_eq!(sketch, Sketch::of(spec, "The cat sat on the mat.")?);
    /// # Ok::<(), minwise::Error>(())
    /// ```
    ///
    /// If the [kind merges](Self#kinds-that-merge-and-kinds-that-count), only one block of 1 MiB of the text and its
    /// shingles is in memory. If the kind does not merge, or if the spec has `strip-markup`, `terms`, bags or
    /// `short=reject`, the whole text is in memory.
    ///
    /// If your program receives pieces in its own loop, use a [`PieceShingler`](crate::shingle::PieceShingler) and pass
    /// its shingles to [`update_shingles`](Self::update_shingles).
    ///
    /// # Errors
    /// Fails where [`update`](Self::update) does.
    pub fn update_pieces<T: AsRef<str>>(&mut self, pieces: impl IntoIterator<Item = T>) -> Result<(), Error> {
        let pieces = pieces.into_iter();
        if !self.shingler.cuts_blocks() || self.shingler.refuses(0) || !self.merges() {
            // The whole text is collected, because the spec may refuse the text, or because the kind needs all shingles
            // at once.
            let mut text = String::new();
            pieces.for_each(|piece| text.push_str(piece.as_ref()));
            return self.update(&text);
        }
        let mut cutter = self.shingler.piece_shingler(BLOCK_BYTES)?;
        for piece in pieces {
            cutter.add(piece.as_ref(), |shingles| self.update_shingles(shingles))?;
        }
        cutter.finish(|shingles| self.update_shingles(shingles))?;
        Ok(())
    }

    /// Reports whether sketches of this [kind](Self#kinds-that-merge-and-kinds-that-count) can be merged.
    #[must_use]
    pub fn merges(&self) -> bool {
        let empty = vec![EMPTY; self.words.len()];
        self.sketcher.merge_into(&empty, &empty, &mut empty.clone())
    }

    /// Removes all shingles, so that the sketch is that of [`new`](Self::new). Its buffers are reused.
    pub fn clear(&mut self) {
        self.words.fill(EMPTY);
        self.has_shingles = false;
    }

    /// Adds shingles, which must be in document order with repeats.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Unsupported`] if the sketch has shingles already and its kind cannot be merged.
    pub fn update_shingles(&mut self, shingles: &[u64]) -> Result<(), Error> {
        if shingles.is_empty() {
            return Ok(());
        }
        if self.has_shingles {
            let mut new = std::mem::take(&mut self.buffers.new);
            new.resize(self.words.len(), EMPTY);
            self.sketcher.sketch_into(shingles, &mut new);
            let result = self.merge_words(&new, "take more than one text");
            self.buffers.new = new;
            result
        } else {
            self.sketcher.sketch_into(shingles, &mut self.words);
            self.has_shingles = true;
            Ok(())
        }
    }

    /// Adds the shingles of another sketch. Afterwards this is the sketch of the union of both shingle sets.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::SpecMismatch`] if the specs differ, and with [`ErrorKind::Unsupported`] if both sketches
    /// have shingles and their kind cannot be merged.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.spec.check(&other.spec)?;
        if !other.has_shingles {
            return Ok(());
        }
        if self.has_shingles {
            self.merge_words(&other.words, "be merged")
        } else {
            self.words.copy_from_slice(&other.words);
            self.has_shingles = true;
            Ok(())
        }
    }

    fn merge_words(&mut self, other: &[u32], action: &'static str) -> Result<(), Error> {
        self.buffers.merged.resize(self.words.len(), EMPTY);
        if !self.sketcher.merge_into(&self.words, other, &mut self.buffers.merged) {
            let expected = "it would need the shingles; `minhash` and `bottom-k` can".to_owned();
            let method = self.spec.method.to_string();
            return Err(ErrorKind::Unsupported { method, action, expected }.into());
        }
        std::mem::swap(&mut self.words, &mut self.buffers.merged);
        Ok(())
    }

    /// Estimates the similarity of two documents, with its standard error and interval.
    ///
    /// The similarity of two documents without shingles is 1, because their sets are equal. The similarity of a
    /// document with shingles and a document without shingles is 0. These two values are exact, with a standard error
    /// of 0.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::SpecMismatch`] if the specs differ.
    pub fn estimate(&self, other: &Self) -> Result<Estimate, Error> {
        self.spec.check(&other.spec)?;
        let exact = |value| Estimate { value, standard_error: 0.0, interval: (value, value) };
        Ok(match (self.has_shingles, other.has_shingles) {
            (true, true) => self.sketcher.estimate(&self.words, &other.words),
            (false, false) => exact(1.0),
            (true, false) | (false, true) => exact(0.0),
        })
    }

    /// Estimates the number of distinct shingles, with its standard error and interval.
    ///
    /// `minhash` with at least three registers and `bottom-k` with at least three values can count. `bottom-k` is exact
    /// if there are fewer shingles than k.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Unsupported`] if the kind cannot count, except for a document without shingles.
    pub fn count(&self) -> Result<CountEstimate, Error> {
        match self.spec.method {
            _ if !self.has_shingles => Ok(CountEstimate::exact(0)),
            Method::Registers(RegisterSource { base: Base::MinHash, registers })
                if registers >= LEAST_TO_COUNT =>
            {
                Ok(estimate::minhash::count(&self.words))
            }
            Method::BottomK(values) if values >= LEAST_TO_COUNT => {
                Ok(BottomK::new(values, self.spec.seed)?.count(&self.words))
            }
            method => {
                let expected =
                    format!("`minhash` and `bottom-k` with at least {LEAST_TO_COUNT} registers can");
                let action = "count distinct shingles";
                Err(ErrorKind::Unsupported { method: method.to_string(), action, expected }.into())
            }
        }
    }

    /// Returns the sketch and its spec as bytes, with a version and a checksum. The same sketch gives the same bytes on
    /// every machine.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let number = |bytes: &mut Vec<u8>, number: u32| bytes.extend(number.to_le_bytes());
        number(&mut bytes, FORM);
        number(&mut bytes, VERSION);
        number(&mut bytes, u32::from(self.has_shingles));
        for text in [UNICODE, &self.spec.to_string()] {
            number(&mut bytes, text.len() as u32);
            bytes.extend(text.as_bytes());
        }
        number(&mut bytes, self.words.len() as u32);
        for &word in &self.words {
            number(&mut bytes, word);
        }
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the bytes that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Decode`] if the bytes have another form, version or version of Unicode, are cut short,
    /// continue after the end, or were changed. The error contains the expected and the found value. Bytes that were
    /// forged with a correct checksum may also give [`ErrorKind::Parse`], [`ErrorKind::OutOfRange`] or
    /// [`ErrorKind::Weighted`], if their spec is not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = ByteReader { bytes, at: 0 };
        let magic = reader.take(MAGIC.len(), "the first bytes")?;
        if magic != MAGIC {
            let found = format!("`{}`", magic.escape_ascii());
            return Err(Error::decode(BYTES, format!("`{}` at the beginning", MAGIC.escape_ascii()), found));
        }
        reader.expect("the version of the form", FORM)?;
        reader.expect("the version of specs", VERSION)?;
        let flag = reader.number("the sign of shingles")?;
        let unicode = reader.text("the version of Unicode")?;
        if unicode != UNICODE {
            let found = format!("Unicode `{}`", unicode.escape_debug());
            return Err(Error::decode(BYTES, format!("Unicode `{UNICODE}`"), found));
        }
        let spec = reader.text("the spec")?;
        let count = reader.number("the number of words")? as usize;
        let words = reader.take(count.saturating_mul(4), "the words")?;
        let checked = &bytes[..reader.at];
        let checksum = reader.take(8, "the checksum")?;
        if reader.at != bytes.len() {
            let found = counted(bytes.len() as u64, "byte");
            return Err(Error::decode(BYTES, counted(reader.at as u64, "byte"), found));
        }
        let sum = xxh3_64(checked);
        if checksum != sum.to_le_bytes() {
            let found = format!("`{}`", hex(checksum));
            return Err(Error::decode(BYTES, format!("the checksum `{}`", hex(&sum.to_le_bytes())), found));
        }
        // The checksum is correct, so `to_bytes` of some version wrote these bytes, unless they are forged.
        let has_shingles = match flag {
            0 => false,
            1 => true,
            _ => return Err(Error::decode(BYTES, "0 or 1 as the sign of shingles", flag.to_string())),
        };
        let words = words.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        Self::of_stored(spec.parse()?, words, has_shingles)
    }

    /// Makes a sketch from stored parts, and fails if they contradict one another.
    pub(crate) fn of_stored(spec: Spec, words: Vec<u32>, has_shingles: bool) -> Result<Self, Error> {
        let empty = Self::new(spec)?;
        if words.len() != empty.words.len() {
            let expected = counted(empty.words.len() as u64, "word");
            let expected = format!("{expected} for `{}`", empty.spec.method);
            return Err(Error::decode(BYTES, expected, counted(words.len() as u64, "word")));
        }
        if !has_shingles && words.iter().any(|&word| word != EMPTY) {
            let expected = "empty words of a document without shingles";
            return Err(Error::decode(BYTES, expected, "others"));
        }
        Ok(Self { words, has_shingles, ..empty })
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        text += &format!("{byte:02x}");
    }
    text
}

/// Reads bytes from the first to the last.
struct ByteReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..count).ok_or_else(|| {
            let (expected, at) = (counted(count as u64, "byte"), grouped(self.at as u64));
            Error::decode(BYTES, format!("{expected} at {at} for {what}"), counted(rest.len() as u64, "byte"))
        })?;
        self.at += count;
        Ok(taken)
    }

    fn number(&mut self, what: &str) -> Result<u32, Error> {
        let bytes = self.take(4, what)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn expect(&mut self, what: &str, expected: u32) -> Result<(), Error> {
        let found = self.number(what)?;
        if found == expected {
            return Ok(());
        }
        Err(Error::decode(BYTES, format!("{expected} as {what}"), found.to_string()))
    }

    fn text(&mut self, what: &str) -> Result<&'a str, Error> {
        let length = self.number(what)? as usize;
        let bytes = self.take(length, what)?;
        std::str::from_utf8(bytes).map_err(|_| {
            Error::decode(BYTES, format!("UTF-8 as {what}"), format!("`{}`", bytes.escape_ascii()))
        })
    }
}

impl PartialEq for Sketch {
    fn eq(&self, other: &Self) -> bool {
        (&self.spec, self.has_shingles, &self.words) == (&other.spec, other.has_shingles, &other.words)
    }
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sketch")
            .field("spec", &self.spec.to_string())
            .field("has_shingles", &self.has_shingles)
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spec(method: &str) -> Spec {
        format!("nfkc+casefold / words:1 / {method} / seed:1").parse().unwrap()
    }

    fn sketch(method: &str, text: &str) -> Sketch {
        Sketch::of(spec(method), text).unwrap()
    }

    #[test]
    fn parts_make_the_whole() {
        for method in ["minhash:64", "bottom-k:8", "min-max:8"] {
            let whole = sketch(method, "a b c d e f g h i j");
            let mut parts = Sketch::new(spec(method)).unwrap();
            for part in ["a b c", "", "d e f g", "c d", "h i j"] {
                parts.update(part).unwrap();
            }
            assert_eq!(parts, whole, "{method}");
            let mut merged = sketch(method, "a b c d e");
            merged.merge(&sketch(method, "e f g h i j")).unwrap();
            assert_eq!(merged, whole, "{method}");
            let mut from_nothing = Sketch::new(spec(method)).unwrap();
            from_nothing.merge(&whole).unwrap();
            from_nothing.merge(&Sketch::new(spec(method)).unwrap()).unwrap();
            assert_eq!(from_nothing, whole, "{method}");
            let mut of_shingles = Sketch::new(spec(method)).unwrap();
            let mut shingles = Shingles::new();
            spec(method).shingler().shingle_into("a b c d e f g h i j", &mut shingles);
            of_shingles.update_shingles(shingles.hashes()).unwrap();
            assert_eq!(of_shingles, whole, "{method}");
        }
    }

    #[test]
    fn kinds_merge_and_count_as_the_table_says() {
        let (mut merging, mut counting) = (vec![], vec![]);
        for method in Method::all(48) {
            let form = method.to_string();
            let mut sketch = sketch(&form, "a b c d e f");
            if sketch.count().is_ok() {
                counting.push(form.clone());
            }
            assert_eq!(sketch.merges(), sketch.update("g h").is_ok(), "{form}");
            if sketch.merges() {
                merging.push(form);
            }
        }
        let expected = [
            "minhash:48",
            "min-max:48",
            "super-minhash:48",
            "fast-similarity:48",
            "minhash,modular:48",
            "minhash,multiplicative:48",
            "minhash,murmur3:48",
            "one-permutation,raw:48",
            "bottom-k:48",
        ];
        assert_eq!(merging, expected);
        assert_eq!(counting, ["minhash:48", "bottom-k:48"]);
    }

    #[test]
    fn pieces_are_one_text() {
        let source = "It was late; nobody came. 中文，也来了 Straße! ".repeat(40);
        for method in Method::all(48) {
            for shingling in ["words:3", "chars:4", "words:3,bag", "words:3,short=reject"] {
                let spec: Spec = format!("nfkc+casefold / {shingling} / {method} / seed:1").parse().unwrap();
                let whole = Sketch::of(spec, &source).unwrap();
                let mut of_pieces = Sketch::new(spec).unwrap();
                let pieces: Vec<String> = source.chars().map(String::from).collect();
                of_pieces.update_pieces(pieces.chunks(7).map(<[String]>::concat)).unwrap();
                assert_eq!(of_pieces, whole, "{spec}");
                of_pieces.clear();
                assert_eq!(of_pieces, Sketch::new(spec).unwrap(), "{spec}");
            }
        }
        let short: Spec = "none / words:3,short=reject / minhash:8 / seed:1".parse().unwrap();
        let mut sketch = Sketch::new(short).unwrap();
        assert_eq!(sketch.update_pieces(["one", " two"]).unwrap_err().code(), "short_document");
        assert!(sketch.is_empty());
    }

    #[test]
    fn a_kind_that_cannot_be_merged_takes_one_text() {
        let mut sketch = sketch("b-bit:2/minhash:64", "a b c");
        let before = sketch.clone();
        let error = sketch.update("d e").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a sketch of the kind `b-bit:2/minhash:64` cannot take more than one text: it would need the shingles; \
             `minhash` and `bottom-k` can"
        );
        assert_eq!(sketch.merge(&before).unwrap_err().code(), "unsupported_sketch");
        assert_eq!(sketch, before);
    }

    #[test]
    fn estimates_are_those_of_the_sketcher() {
        for method in Method::all(48) {
            let form = method.to_string();
            let (a, b) = (sketch(&form, "a b c d e f"), sketch(&form, "c d e f g h"));
            let sketcher = method.build(1).unwrap();
            assert_eq!(a.estimate(&b).unwrap(), sketcher.estimate(a.words(), b.words()), "{form}");
            let none = Sketch::new(spec(&form)).unwrap();
            assert_eq!(a.estimate(&none).unwrap().value, 0.0, "{form}");
            assert_eq!(none.estimate(&none).unwrap().interval, (1.0, 1.0), "{form}");
        }
    }

    #[test]
    fn another_spec_is_refused_by_the_name_of_its_field() {
        let mut a = sketch("minhash:64", "a b c");
        let b = sketch("minhash:32", "a b c");
        for error in [a.estimate(&b).unwrap_err(), a.merge(&b).unwrap_err()] {
            assert!(
                error
                    .to_string()
                    .contains("sketch is `minhash:64` in the first and `minhash:32` in the second"),
                "{error}"
            );
        }
    }

    #[test]
    fn short_texts_are_refused_if_the_spec_says_so() {
        let spec: Spec = "none / words:3,short=reject / minhash:8 / seed:1".parse().unwrap();
        let mut sketch = Sketch::new(spec).unwrap();
        assert_eq!(sketch.update("one two").unwrap_err().code(), "short_document");
        assert!(sketch.is_empty());
        sketch.update("one two three").unwrap();
        assert!(!sketch.is_empty());
    }

    #[test]
    fn weighted_specs_are_refused() {
        let spec: Spec = "none / words:3 / dart:8 / seed:1 / weight:tf".parse().unwrap();
        assert_eq!(Sketch::new(spec).unwrap_err().code(), "weighted_spec");
    }

    #[test]
    fn distinct_shingles_are_counted_where_the_kind_allows_it() {
        let text: Vec<String> = (0..500).map(|word| format!("w{word} w{}", word / 2)).collect();
        for method in ["minhash:256", "bottom-k:256"] {
            let count = sketch(method, &text.join(" ")).count().unwrap();
            assert!((count.value - 500.0).abs() < 4.0 * count.standard_error, "{method}: {count}");
            assert!(count.interval.0 < 500.0 && 500.0 < count.interval.1, "{method}: {count}");
        }
        assert_eq!(sketch("bottom-k:8", "a b c a").count().unwrap(), CountEstimate::exact(3));
        assert_eq!(sketch("bottom-k:8", "").count().unwrap(), CountEstimate::exact(0));
        for method in ["b-bit:1/minhash:64", "super-minhash:64", "minhash:2"] {
            let error = sketch(method, "a b").count().unwrap_err();
            assert!(error.to_string().contains("cannot count distinct shingles"), "{error}");
        }
    }

    #[test]
    fn words_are_checked() {
        let whole = sketch("minhash:8", "a b c");
        assert_eq!(Sketch::from_words(spec("minhash:8"), whole.words().to_vec()).unwrap(), whole);
        assert!(Sketch::from_words(spec("minhash:8"), vec![EMPTY; 8]).unwrap().is_empty());
        assert!(Sketch::from_words(spec("minhash:8"), vec![1; 7]).is_err());
    }

    #[test]
    fn bytes_are_frozen() {
        let bytes = sketch("minhash:2", "a").to_bytes();
        let head = "6d77736b6574636801000000010000000100000004000000";
        assert_eq!(hex(&bytes[..24]), head);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains("17.0") && text.contains("nfkc+casefold / words:1 / minhash:2 / seed:1"));
        assert_eq!(bytes.len(), 24 + 4 + 4 + 44 + 4 + 8 + 8);
    }

    #[test]
    fn wrong_bytes_are_refused_with_what_was_expected_and_found() {
        let bytes = sketch("minhash:2", "a").to_bytes();
        let refused = |bytes: &[u8]| Sketch::from_bytes(bytes).unwrap_err().to_string();
        for end in 0..bytes.len() {
            assert!(refused(&bytes[..end]).starts_with("these bytes are not a stored sketch"), "{end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Sketch::from_bytes(&changed).is_err(), "byte {at}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(refused(&longer).contains(&format!(
            "expected {} bytes, found {}",
            bytes.len(),
            longer.len()
        )));
        let mut newer = bytes.clone();
        newer[8] = 2;
        assert!(refused(&newer).contains("expected 1 as the version of the form, found 2"));
        assert!(refused(b"something").contains("expected `mwsketch` at the beginning, found `somethin`"));
        let mut changed = bytes.clone();
        let last_word = bytes.len() - 9;
        changed[last_word] ^= 1;
        assert!(refused(&changed).contains("expected the checksum"));
    }

    proptest! {
        #[test]
        fn bytes_are_read_back(text in "[a-e ]{0,40}", method in 0usize..40) {
            let methods = Method::all(16);
            let sketch = sketch(&methods[method % methods.len()].to_string(), &text);
            prop_assert_eq!(Sketch::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
        }

        /// Forged bytes with a valid checksum are read or refused, without a panic.
        #[test]
        fn forged_bytes_are_read_or_refused(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
            let mut bytes = sketch("b-bit:2/minhash:64", "a b c").to_bytes();
            bytes.truncate(bytes.len() - 8);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.extend(xxh3_64(&bytes).to_le_bytes());
            if let Ok(read) = Sketch::from_bytes(&bytes) {
                prop_assert_eq!(Sketch::from_bytes(&read.to_bytes()).unwrap(), read);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Sketch::from_bytes(&bytes).is_err());
        }
    }
}
