//! Shingles given out block by block, so that those of a huge document are never all there.
//!
//! - **Idea.** The text is normalised and cut into units in blocks (`text/blocks.rs`), and the last N − 1 units of a block are
//!   kept for the windows that begin in it and end in the next one.
//! - **Not for** bags, where a shingle depends on all before it, nor `terms`, which are longer words and no runs.
//! - **Checked.** against the whole document, by property test.

use xxhash_rust::xxh3::Xxh3;

use super::{
    KEY_OF_SHINGLES, KEY_OF_TEXT, Repeats, ShingleUnit, Shingler, Shingles, chars, key_bytes, words,
};
use crate::hash::rolling;
use crate::text::{Markup, Normalization, Normalizer};

/// What is known of a document once all its shingles were given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// How many tokens or characters it has.
    pub units: usize,
    /// What [`Shingles::equality_key`] is for the whole document.
    pub equality_key: u128,
}

impl Shingler {
    /// Whether documents can be cut block by block.
    #[must_use]
    pub fn cuts_blocks(&self) -> bool {
        self.shingling.unit != ShingleUnit::Terms && self.shingling.repeats == Repeats::Set
    }

    /// Cuts `source` into the shingles that [`shingle_into`](Self::shingle_into) gives, and gives them to `each` in document
    /// order, those of some `block_bytes` of the source at a time. `room` is left without shingles.
    ///
    /// # Panics
    /// If documents cannot be cut so ([`cuts_blocks`](Self::cuts_blocks)).
    pub fn shingle_blocks<E>(
        &self,
        source: &str,
        block_bytes: usize,
        room: &mut Shingles,
        each: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<Tally, E> {
        if self.normalizer.normalization().markup == Markup::Strip {
            // Here it is there as a whole already, and need not be put together first.
            let kept = Normalization { markup: Markup::Keep, ..self.normalizer.normalization() };
            let of_kept = Self::new(kept, self.shingling).with_kernel(self.kernel);
            return of_kept.shingle_blocks(&Normalizer::without_markup(source), block_bytes, room, each);
        }
        self.shingle_pieces(|give| give(source), block_bytes, room, each)
    }

    /// Cuts a text that comes in pieces of any length, as [`shingle_blocks`](Self::shingle_blocks) cuts a whole one.
    ///
    /// `pieces` calls its argument with each piece, in order. If the text has no shingles, `pieces` is called once more, because
    /// the key of such a text is made of its characters; it must then begin at the beginning again. Blocks of 1 MiB
    /// (`block_bytes`) are a good size. `room` is a buffer.
    ///
    /// # Panics
    /// If documents cannot be cut so ([`cuts_blocks`](Self::cuts_blocks)).
    pub fn shingle_pieces<E>(
        &self,
        pieces: impl Fn(&mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E>,
        block_bytes: usize,
        room: &mut Shingles,
        mut each: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<Tally, E> {
        assert!(self.cuts_blocks(), "bags and terms are cut whole");
        let Shingles { text, masks, units, hashes, .. } = room;
        let size = self.shingling.size;
        let mut key = Xxh3::with_seed(KEY_OF_SHINGLES);
        let mut all_units = 0;
        units.clear();
        self.normalizer.for_each_block(&pieces, block_bytes, text, |text| {
            let kept = units.len();
            if self.shingling.unit == ShingleUnit::Words {
                words::hash_into(self.kernel, text, masks, units);
            } else {
                chars::hash_into(text, units);
            }
            all_units += units.len() - kept;
            hashes.clear();
            rolling::windows_into(units, size, hashes);
            units.drain(..units.len().saturating_sub(size - 1));
            key.update(&key_bytes(hashes));
            if hashes.is_empty() { Ok(()) } else { each(hashes) }
        })?;
        if all_units > 0 && all_units < size {
            let whole = [rolling::whole(units)];
            key.update(&key_bytes(&whole));
            each(&whole)?;
        }
        units.clear();
        hashes.clear();
        if all_units == 0 {
            key = Xxh3::with_seed(KEY_OF_TEXT);
            Normalizer::new(self.normalizer.normalization()).for_each_block(
                &pieces,
                block_bytes,
                text,
                |text| {
                    key.update(text.as_str().as_bytes());
                    Ok(())
                },
            )?;
        }
        Ok(Tally { units: all_units, equality_key: key.digest128() })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

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
