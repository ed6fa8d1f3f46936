//! Normalises a text block by block, so that a huge text and its normalised form are never in memory together.
//!
//! - **Idea.** A *seam* is a place in the source whose two sides can be normalised separately. The character after a
//!   seam does not combine with the character before the seam, and no run of white space and no token crosses a seam. A
//!   block ends at the first seam after its size.
//! - **Cost.** Memory for one block. If seams are far apart, as in a run of letters as long as a book, a block is as
//!   long as that run.
//! - **Pieces.** A text may come in pieces of any length, so that it is never in memory as a whole.
//! - **Markup.** A tag may be as long as the text. Markup is therefore removed from the whole text first, which takes a
//!   copy.
//! - **Checked.** Property tests here and in `shingle/blocks.rs` compare blocks with the whole text.

use super::class::{CharClass, FormClass, TokenClass};
use super::origin::Untracked;
use super::space::is_space;
use super::{Markup, Normalization, NormalizedText, Normalizer, WhiteSpace, markup};

impl Normalizer {
    /// Returns a text without its markup.
    pub(crate) fn without_markup(source: &str) -> String {
        let mut stripped = String::new();
        markup::strip_into(source, &mut stripped, &mut Untracked);
        stripped
    }

    /// Returns the first seam at or after `from`; `None` if there is no seam before the end.
    fn seam(&self, source: &str, from: usize) -> Option<usize> {
        let at = source.ceil_char_boundary(from.max(1));
        let (before, after) = source.split_at(at);
        let mut before = before.chars().next_back();
        for (offset, c) in after.char_indices() {
            if before.is_some_and(|before| self.is_seam(before, c)) {
                return Some(at + offset);
            }
            before = Some(c);
        }
        None
    }

    /// Reports whether there is a seam between two neighbouring characters.
    fn is_seam(&self, before: char, after: char) -> bool {
        // Plain characters have a known normalised form: they stay as they are, or become lower case.
        let is_plain = |c: char| c.is_ascii() || CharClass::of(c).is_inert();
        let space = self.normalization.space;
        if CharClass::of(after).form() == FormClass::Combining {
            return false;
        }
        if self.fold_space {
            // White space at an end of a block would be trimmed like white space at an end of the text.
            let is_word = |c: char| is_plain(c) && !is_space(c);
            space != WhiteSpace::Fold || is_word(before) && is_word(after)
        } else {
            let separates = is_plain(after) && CharClass::of(after).token() != TokenClass::Run;
            // White space that is removed does not separate tokens.
            separates && !(space == WhiteSpace::Remove && is_space(after))
        }
    }
}

/// Normalises a text that comes in pieces of any length, block by block.
///
/// Blocks have at least `block_bytes` bytes of the text, except the last block. Their concatenation is the result of
/// [`normalize_into`](Normalizer::normalize_into) for the whole text, and no token is in two blocks.
#[derive(Debug, Clone)]
pub(crate) struct BlockNormalizer {
    cuts: Normalizer,
    of_block: Normalizer,
    block_bytes: usize,
    /// Last part of the text so far, in which no block can end yet. If markup is stripped, it is the whole text.
    rest: String,
}

impl BlockNormalizer {
    pub(crate) fn new(cuts: Normalizer, block_bytes: usize) -> Self {
        let normalization = Normalization { markup: Markup::Keep, ..cuts.normalization };
        let of_block = Normalizer { normalization, ..cuts.clone() };
        Self { cuts, of_block, block_bytes, rest: String::new() }
    }

    /// Adds a piece, and passes the complete blocks to `each`. `text` is a buffer.
    pub(crate) fn add<E>(
        &mut self,
        piece: &str,
        text: &mut NormalizedText,
        each: &mut impl FnMut(&NormalizedText) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.cuts.normalization.markup == Markup::Strip {
            self.rest.push_str(piece);
            return Ok(());
        }
        self.cut(piece, text, each)
    }

    /// Passes the last block to `each`. Afterwards another text can be added.
    pub(crate) fn finish<E>(
        &mut self,
        text: &mut NormalizedText,
        each: &mut impl FnMut(&NormalizedText) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.cuts.normalization.markup == Markup::Strip {
            let stripped = Normalizer::without_markup(&std::mem::take(&mut self.rest));
            self.cut(&stripped, text, each)?;
        }
        if !self.rest.is_empty() {
            self.of_block.normalize_into(&self.rest, text);
            self.rest.clear();
            each(text)?;
        }
        Ok(())
    }

    /// Discards the text so far.
    pub(crate) fn clear(&mut self) {
        self.rest.clear();
    }

    fn cut<E>(
        &mut self,
        mut piece: &str,
        text: &mut NormalizedText,
        each: &mut impl FnMut(&NormalizedText) -> Result<(), E>,
    ) -> Result<(), E> {
        let of_block = &self.of_block;
        let mut normalized = |block: &str| {
            of_block.normalize_into(block, text);
            each(text)
        };
        while !self.rest.is_empty() && !piece.is_empty() {
            // Only the part in which the block may end is copied, so that a long piece is not in memory twice.
            let taken = piece.ceil_char_boundary(self.block_bytes.max(1));
            let before = self.rest.len();
            self.rest.push_str(&piece[..taken]);
            if let Some(end) = self.cuts.seam(&self.rest, self.block_bytes.max(before)) {
                normalized(&self.rest[..end])?;
                piece = &piece[end - before..];
                self.rest.clear();
            } else {
                piece = &piece[taken..];
            }
        }
        while let Some(end) = self.cuts.seam(piece, self.block_bytes) {
            let (block, after) = piece.split_at(end);
            normalized(block)?;
            piece = after;
        }
        self.rest.push_str(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use proptest::prelude::*;

    fn blocks(normalizer: &Normalizer, pieces: &[&str], block_bytes: usize) -> Vec<String> {
        let (mut blocks, mut text) = (vec![], NormalizedText::new());
        let mut each = |text: &NormalizedText| {
            blocks.push(text.as_str().to_owned());
            Ok::<(), Infallible>(())
        };
        let mut cutter = BlockNormalizer::new(normalizer.clone(), block_bytes);
        for piece in pieces {
            let Ok(()) = cutter.add(piece, &mut text, &mut each);
        }
        let Ok(()) = cutter.finish(&mut text, &mut each);
        blocks
    }

    fn whole(normalizer: &Normalizer, source: &str) -> String {
        let mut text = NormalizedText::new();
        normalizer.normalize_into(source, &mut text);
        text.as_str().to_owned()
    }

    #[test]
    fn blocks_end_at_seams() {
        let characters = Normalizer::new(Normalization::default());
        assert_eq!(blocks(&characters, &["ab  cd"], 1), ["a", "b c", "d"]);
        assert_eq!(blocks(&characters, &["ae\u{301}xy"], 1), ["a", "éx", "y"]);
        let tokens = Normalizer::for_tokens(Normalization::default());
        assert_eq!(blocks(&tokens, &["One, two中文"], 2), ["one", ", two", "中", "文"]);
        assert_eq!(blocks(&tokens, &["nothing"], 2), ["nothing"]);
        assert!(blocks(&tokens, &[""], 2).is_empty());
    }

    #[test]
    fn a_seam_between_pieces_is_one_too() {
        let characters = Normalizer::new(Normalization::default());
        assert_eq!(blocks(&characters, &["ab", "", "cd"], 2), ["ab", "cd"]);
        assert_eq!(blocks(&characters, &["ae", "\u{301}x", "y"], 1), ["a", "éx", "y"]);
        let tokens = Normalizer::for_tokens(Normalization::default());
        assert_eq!(blocks(&tokens, &["no", "thing", " o", "f it"], 2), ["nothing", " of", " it"]);
    }

    /// Returns a text with characters of all kinds in any order.
    fn any_source() -> impl Strategy<Value = String> {
        let soup = "[aBéÉ ,\n\u{1c}\u{301}\u{323}ſﬁΣ가\u{1100}\u{1161}\u{11a8}ｶﾞが\u{3099}，Ａ\u{a0}क\u{93c}中ไ<b>&amp;]{0,60}";
        prop_oneof![any::<String>(), soup.prop_map(|soup| soup)]
    }

    proptest! {
        #[test]
        fn together_they_are_the_whole(
            source in any_source(),
            piece_chars in 1usize..70,
            block_bytes in 0usize..20,
            form in "(none|casefold|nfkc\\+casefold)(\\+strip-markup)?(\\+keep-space|\\+remove-space)?",
        ) {
            let normalization: Normalization = form.parse().unwrap();
            let mut ends: Vec<usize> = source.char_indices().map(|(at, _)| at).step_by(piece_chars).collect();
            ends.push(source.len());
            let pieces: Vec<&str> = ends.windows(2).map(|ends| &source[ends[0]..ends[1]]).collect();
            for normalizer in [Normalizer::new(normalization), Normalizer::for_tokens(normalization)] {
                prop_assert_eq!(blocks(&normalizer, &pieces, block_bytes).concat(), whole(&normalizer, &source));
            }
        }
    }
}
