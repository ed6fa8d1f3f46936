//! Shingles by blocks, so that the shingles of a huge document are never all in memory.
//!
//! - **Idea.** The text is normalised and cut into units in blocks (`text/blocks.rs`). The last N − 1 units of a block
//!   are kept for the shingles that begin in this block and end in the next one.
//! - **Not for** bags, because a shingle of a bag depends on all shingles before it, and not for `terms`, because terms
//!   are single words.
//! - **Checked.** A property test compares the blocks with the whole document.

use std::convert::Infallible;
use std::fmt;

use xxhash_rust::xxh3::Xxh3;

use super::{
    KEY_OF_SHINGLES, KEY_OF_TEXT, Repeats, ShingleUnit, Shingler, Shingles, chars, key_bytes, words,
};
use crate::error::Error;
use crate::hash::rolling;
use crate::text::{BlockNormalizer, Markup, Normalization, NormalizedText, Normalizer};

/// The totals of a document that was cut block by block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Number of tokens or characters.
    pub units: usize,
    /// Equality key of the document, as [`Shingles::equality_key`] returns it.
    pub equality_key: u128,
}

impl Shingler {
    /// Reports whether documents can be cut block by block with these settings.
    #[must_use]
    pub fn cuts_blocks(&self) -> bool {
        self.shingling.unit != ShingleUnit::Terms && self.shingling.repeats == Repeats::Set
    }

    /// Cuts `source` into the same shingles as [`shingle_into`](Self::shingle_into), and passes them to `each` in
    /// document order. Each call passes the shingles of about `block_bytes` bytes of the source. `room` is a buffer,
    /// which contains no shingles afterwards.
    ///
    /// # Errors
    /// Fails only if `each` fails, with the first error of `each`.
    ///
    /// # Panics
    /// Panics if [`cuts_blocks`](Self::cuts_blocks) returns `false`, as for bags and `terms`.
    pub fn shingle_blocks<E>(
        &self,
        source: &str,
        block_bytes: usize,
        room: &mut Shingles,
        each: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<Tally, E> {
        if self.normalizer.normalization().markup == Markup::Strip {
            // The text is whole, so its markup is removed here at once. Removing it piece by piece would copy all
            // pieces.
            let kept = Normalization { markup: Markup::Keep, ..self.normalizer.normalization() };
            let of_kept = Self::new(kept, self.shingling).with_kernel(self.kernel);
            return of_kept.shingle_blocks(&Normalizer::without_markup(source), block_bytes, room, each);
        }
        self.shingle_pieces(|give| give(source), block_bytes, room, each)
    }

    /// Cuts a text that comes in pieces of any length, as [`shingle_blocks`](Self::shingle_blocks) cuts a whole text.
    ///
    /// `pieces` calls its argument with each piece, in order. Blocks of 1 MiB (`block_bytes`) are a good size. `room`
    /// is a buffer. A program that has its own loop over the pieces uses [`piece_shingler`](Self::piece_shingler)
    /// instead.
    ///
    /// # Errors
    /// Returns the first error of `pieces` or `each`. It has no errors of its own.
    ///
    /// # Panics
    /// Panics if [`cuts_blocks`](Self::cuts_blocks) returns `false`, as for bags and `terms`.
    pub fn shingle_pieces<E>(
        &self,
        pieces: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E>,
        block_bytes: usize,
        room: &mut Shingles,
        mut each: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<Tally, E> {
        let mut shingler = PieceShingler::new(self, block_bytes, std::mem::take(room));
        let cut = pieces(&mut |piece| shingler.add(piece, &mut each)).and_then(|()| shingler.finish(each));
        *room = shingler.room;
        cut
    }

    /// Returns a [`PieceShingler`], which cuts a text that is passed piece by piece. Blocks of 1 MiB (`block_bytes`)
    /// are a good size.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if [`cuts_blocks`](Self::cuts_blocks) returns
    /// `false`, as for bags and `terms`.
    pub fn piece_shingler(&self, block_bytes: usize) -> Result<PieceShingler, Error> {
        if !self.cuts_blocks() {
            let expected = "a set of words or characters, such as `words:5`, where a text comes in pieces";
            return Err(Error::out_of_range("the shingling", format_args!("`{}`", self.shingling), expected));
        }
        Ok(PieceShingler::new(self, block_bytes, Shingles::new()))
    }
}

/// Cuts a text that is passed piece by piece, for example from a socket or a decompressor. The shingler holds one block
/// of the text. If the spec has `strip-markup`, it holds the whole text, because a tag may be as long as the text.
///
/// ```
/// use std::convert::Infallible;
/// use minwise::shingle::Shingles;
/// use minwise::Spec;
///
/// let shingler = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse::<Spec>()?.shingler();
/// let mut cutter = shingler.piece_shingler(1 << 20)?;
/// let mut found = vec![];
/// let mut take = |shingles: &[u64]| {
///     found.extend_from_slice(shingles);
///     Ok::<(), Infallible>(())
/// };
/// for piece in ["The cat sa", "t on the m", "at."] {
///     let Ok(()) = cutter.add(piece, &mut take);
/// }
/// let Ok(tally) = cutter.finish(&mut take);
///
/// let mut whole = Shingles::new();
/// shingler.shingle_into("The cat sat on the mat.", &mut whole);
/// assert_eq!(found, whole.hashes());
/// assert_eq!((tally.units, tally.equality_key), (6, whole.equality_key()));
/// # Ok::<(), minwise::Error>(())
/// ```
#[derive(Clone)]
pub struct PieceShingler {
    shingler: Shingler,
    room: Shingles,
    blocks: BlockNormalizer,
    /// Normaliser of the whole text, used as long as no unit was found. A text without units has an equality key of all
    /// its normalised characters.
    characters: BlockNormalizer,
    key_of_characters: Xxh3,
    key: Xxh3,
    /// Number of tokens or characters found so far.
    found: usize,
}

impl PieceShingler {
    fn new(shingler: &Shingler, block_bytes: usize, mut room: Shingles) -> Self {
        assert!(shingler.cuts_blocks(), "bags and terms are cut whole");
        room.units.clear();
        let characters = Normalizer::new(shingler.normalizer.normalization());
        Self {
            shingler: shingler.clone(),
            room,
            blocks: BlockNormalizer::new(shingler.normalizer.clone(), block_bytes),
            characters: BlockNormalizer::new(characters, block_bytes),
            key_of_characters: Xxh3::with_seed(KEY_OF_TEXT),
            key: Xxh3::with_seed(KEY_OF_SHINGLES),
            found: 0,
        }
    }

    /// Adds the next piece of the text, of any length. Passes the shingles that are complete to `each`, in document
    /// order.
    ///
    /// # Errors
    /// Returns the first error of `each`. `add` has no errors of its own. After an error the text cannot be
    /// continued.
    pub fn add<E>(&mut self, piece: &str, mut each: impl FnMut(&[u64]) -> Result<(), E>) -> Result<(), E> {
        self.cut(Some(piece), &mut each)?;
        self.add_characters(Some(piece));
        Ok(())
    }

    /// Ends the text: passes the last shingles to `each`, and returns the totals of the text. Afterwards the shingler
    /// can take another text.
    ///
    /// # Errors
    /// Fails only if `each` fails, with the first error of `each`.
    pub fn finish<E>(&mut self, mut each: impl FnMut(&[u64]) -> Result<(), E>) -> Result<Tally, E> {
        self.cut(None, &mut each)?;
        self.add_characters(None);
        let Shingles { units, hashes, .. } = &mut self.room;
        let found = std::mem::take(&mut self.found);
        let (mut key, key_of_characters) = (
            std::mem::replace(&mut self.key, Xxh3::with_seed(KEY_OF_SHINGLES)),
            std::mem::replace(&mut self.key_of_characters, Xxh3::with_seed(KEY_OF_TEXT)),
        );
        if found > 0 && found < self.shingler.shingling.size {
            let whole = [rolling::whole(units)];
            key.update(&key_bytes(&whole));
            each(&whole)?;
        }
        units.clear();
        hashes.clear();
        let key = if found == 0 { key_of_characters } else { key };
        Ok(Tally { units: found, equality_key: key.digest128() })
    }

    /// Cuts a piece, or what is left at the end of the text if `piece` is `None`.
    fn cut<E>(
        &mut self,
        piece: Option<&str>,
        each: &mut impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Shingles { text, tokens, units, hashes, .. } = &mut self.room;
        let (shingling, kernel) = (self.shingler.shingling, self.shingler.kernel);
        let mut cut = |text: &NormalizedText| {
            let kept = units.len();
            if shingling.unit == ShingleUnit::Words {
                words::hash_into(kernel, text, tokens, units);
            } else {
                chars::hash_into(text, units);
            }
            self.found += units.len() - kept;
            hashes.clear();
            kernel.windows(units, shingling.size, hashes);
            units.drain(..units.len().saturating_sub(shingling.size - 1));
            self.key.update(&key_bytes(hashes));
            if hashes.is_empty() { Ok(()) } else { each(hashes) }
        };
        match piece {
            Some(piece) => self.blocks.add(piece, text, &mut cut),
            None => self.blocks.finish(text, &mut cut),
        }
    }

    /// Adds a piece to the equality key of a text without units, if no unit was found so far.
    fn add_characters(&mut self, piece: Option<&str>) {
        let mut follow = |text: &NormalizedText| {
            self.key_of_characters.update(text.as_str().as_bytes());
            Ok::<(), Infallible>(())
        };
        let text = &mut self.room.text;
        let Ok(()) = match piece {
            _ if self.found > 0 => {
                self.characters.clear();
                Ok(())
            }
            Some(piece) => self.characters.add(piece, text, &mut follow),
            None => self.characters.finish(text, &mut follow),
        };
    }
}

impl fmt::Debug for PieceShingler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PieceShingler")
            .field("shingler", &self.shingler)
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shingling;
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(shingler: &Shingler, source: &str, block_bytes: usize) {
        let (mut whole, mut room, mut given) = (Shingles::new(), Shingles::new(), vec![]);
        shingler.shingle_into(source, &mut whole);
        let Ok(tally) = shingler.shingle_blocks(source, block_bytes, &mut room, |shingles| {
            assert!(!shingles.is_empty());
            given.extend_from_slice(shingles);
            Ok::<(), Infallible>(())
        });
        assert_eq!(given, whole.hashes());
        assert_eq!(tally, Tally { units: whole.units(), equality_key: whole.equality_key() });
        assert!(room.hashes().is_empty());

        let pieces = |give: &mut dyn FnMut(&str) -> Result<(), Infallible>| {
            let mut rest = source;
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.ceil_char_boundary(block_bytes / 2 + 1));
                give(piece)?;
                rest = after;
            }
            Ok(())
        };
        given.clear();
        let Ok(of_pieces) = shingler.shingle_pieces(pieces, block_bytes, &mut room, |shingles| {
            given.extend_from_slice(shingles);
            Ok(())
        });
        assert_eq!((given.as_slice(), of_pieces), (whole.hashes(), tally));
    }

    #[test]
    fn a_book_in_blocks_is_the_book() {
        let source = "It was late; nobody came. 中文，也来了 Straße! ".repeat(3000);
        for shingling in ["words:5", "chars:9", "words:256", "chars:1"] {
            let shingler = Shingler::new(Normalization::default(), shingling.parse().unwrap());
            for block_bytes in [1, 100, 4096, 1 << 20] {
                check(&shingler, &source, block_bytes);
            }
        }
    }

    #[test]
    fn bags_and_terms_are_not_cut_piece_by_piece() {
        for shingling in ["words:5,bag", "terms:2"] {
            let shingler = Shingler::new(Normalization::default(), shingling.parse().unwrap());
            let error = shingler.piece_shingler(100).unwrap_err().to_string();
            assert!(error.contains(&format!("`{shingling}`")) && error.contains("in pieces"), "{error}");
        }
    }

    #[test]
    fn an_error_ends_it() {
        let shingler = Shingler::new(Normalization::default(), Shingling::default());
        let mut given = 0;
        let result = shingler.shingle_blocks(&"one, two. ".repeat(100), 10, &mut Shingles::new(), |_| {
            given += 1;
            Err("enough")
        });
        assert_eq!((result, given), (Err("enough"), 1));
    }

    proptest! {
        #[test]
        fn blocks_of_any_size_give_the_shingles_of_the_whole(
            source in prop_oneof![
                any::<String>(),
                "[aBé É,.\n\u{1c}\u{301}ﬁΣ가\u{1161}ｶﾞ，\u{a0}中ไ_1<p>]{0,80}",
                "([a-c]{1,3}[ ,.\n]{1,2}){0,40}",
            ],
            block_bytes in 0usize..40,
            shingling in "(words|chars):[1-7]",
            form in "(none|casefold|nfkc\\+casefold)(\\+strip-markup)?(\\+keep-space|\\+remove-space)?",
        ) {
            let shingler = Shingler::new(form.parse().unwrap(), shingling.parse().unwrap());
            check(&shingler, &source, block_bytes);
        }
    }
}
