//! A text normalised block by block, so that a huge one is never there twice.
//!
//! Idea       A *seam* is a place in the source where nothing is lost by looking at both sides apart: what stands after it
//!            does not combine with what stands before it, no run of white space goes across it, and no token does.
//!            Blocks end at the first seam behind their size.
//! Cost       Memory for a block. Where seams are far apart, in a run of letters as long as a book, a block is as long
//!            as that.
//! Markup     A tag may be as long as the text, so it is taken out of the whole text first, which takes a copy.
//! Checked    against the whole text, by property test here and in `shingle/blocks.rs`.

use super::class::{CharClass, FormClass, TokenClass};
use super::origin::Untracked;
use super::space::is_space;
use super::{Markup, Normalization, Normalizer, Space, Text, markup};

impl Normalizer {
    /// Gives the normalised form of `source` to `each` in blocks, of at least `block_bytes` of the source but for the last. Put
    /// together, they are what [`normalize_into`](Self::normalize_into) gives, and no token lies in two of them.
    pub(crate) fn for_each_block<E>(
        &self,
        source: &str,
        block_bytes: usize,
        text: &mut Text,
        mut each: impl FnMut(&Text) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut stripped = String::new();
        let mut rest = source;
        if self.normalization.markup == Markup::Strip {
            markup::strip_into(source, &mut stripped, &mut Untracked);
            rest = &stripped;
        }
        let normalization = Normalization { markup: Markup::Keep, ..self.normalization };
        let of_block = Self { normalization, ..self.clone() };
        while !rest.is_empty() {
            let (block, after) = rest.split_at(self.seam(rest, block_bytes));
            of_block.normalize_into(block, text);
            each(text)?;
            rest = after;
        }
        Ok(())
    }

    /// The first seam at or behind `from`, or the end.
    fn seam(&self, source: &str, from: usize) -> usize {
        let mut at = from.max(1);
        while !source.is_char_boundary(at) && at < source.len() {
            at += 1;
        }
        let Some((before, after)) = source.split_at_checked(at) else { return source.len() };
        let mut before = before.chars().next_back();
        for (offset, c) in after.char_indices() {
            if before.is_some_and(|before| self.is_seam(before, c)) {
                return at + offset;
            }
            before = Some(c);
        }
        source.len()
    }

    /// Whether there is a seam between two neighbours.
    fn is_seam(&self, before: char, after: char) -> bool {
        // Of these it is known what is at the end and at the beginning of the normalised sides: themselves, or their
        // lower case.
        let is_plain = |c: char| c.is_ascii() || CharClass::of(c).is_inert();
        let space = self.normalization.space;
        if CharClass::of(after).form() == FormClass::Combining {
            return false;
        }
        if self.fold_space {
            // White space at the ends of a block would be taken for that at the ends of the text.
            let is_word = |c: char| is_plain(c) && !is_space(c);
            space != Space::Fold || is_word(before) && is_word(after)
        } else {
            let separates = is_plain(after) && CharClass::of(after).token() != TokenClass::Run;
            // What is taken out separates nothing.
            separates && !(space == Space::Remove && is_space(after))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use proptest::prelude::*;

    fn blocks(normalizer: &Normalizer, source: &str, block_bytes: usize) -> Vec<String> {
        let mut blocks = vec![];
        let each = |text: &Text| {
            blocks.push(text.as_str().to_owned());
            Ok::<(), Infallible>(())
        };
        let Ok(()) = normalizer.for_each_block(source, block_bytes, &mut Text::new(), each);
        blocks
    }

    fn whole(normalizer: &Normalizer, source: &str) -> String {
        let mut text = Text::new();
        normalizer.normalize_into(source, &mut text);
        text.as_str().to_owned()
    }

    #[test]
    fn blocks_end_at_seams() {
        let characters = Normalizer::new(Normalization::default());
        assert_eq!(blocks(&characters, "ab  cd", 1), ["a", "b c", "d"]);
        assert_eq!(blocks(&characters, "ae\u{301}xy", 1), ["a", "éx", "y"]);
        let tokens = Normalizer::for_tokens(Normalization::default());
        assert_eq!(blocks(&tokens, "One, two中文", 2), ["one", ", two", "中", "文"]);
        assert_eq!(blocks(&tokens, "nothing", 2), ["nothing"]);
        assert!(blocks(&tokens, "", 2).is_empty());
    }

    /// A text in which anything may meet anything.
    fn any_source() -> impl Strategy<Value = String> {
        let soup = "[aBéÉ ,\n\u{1c}\u{301}\u{323}ſﬁΣ가\u{1100}\u{1161}\u{11a8}ｶﾞが\u{3099}，Ａ\u{a0}क\u{93c}中ไ<b>&amp;]{0,60}";
        prop_oneof![any::<String>(), soup.prop_map(|soup| soup)]
    }

    proptest! {
        #[test]
        fn together_they_are_the_whole(
            source in any_source(),
            block_bytes in 0usize..20,
            form in "(none|casefold|nfkc\\+casefold)(\\+strip-markup)?(\\+keep-space|\\+remove-space)?",
        ) {
            let normalization: Normalization = form.parse().unwrap();
            for normalizer in [Normalizer::new(normalization), Normalizer::for_tokens(normalization)] {
                prop_assert_eq!(blocks(&normalizer, &source, block_bytes).concat(), whole(&normalizer, &source));
            }
        }
    }
}
