//! Tokens: words in scripts written with spaces, and single characters in scripts written without spaces.
//!
//! A token is one character whose script is Han, Hiragana, Katakana, Thai, Lao, Khmer or Myanmar, or a maximal run of
//! other characters that are Alphabetic, Mark, Number or `_`. No dictionary is needed. `don't` and `3.14` are two
//! tokens each.
//!
//! For 64 bytes at a time, the kernel marks the ASCII word characters as bits. The bits of other characters are looked
//! up and added. A run begins and ends where neighbouring bits differ. A character that is a token by itself is added
//! to both lists. The kernel lists the positions of all begins and of all ends, so that the loop over tokens has no
//! branch that depends on the text. An earlier loop over the bits of each block mispredicted one branch per block.

use super::class::{CharClass, TokenClass, decode};
use crate::kernel::{BLOCK, BitPositions, ByteMasks, Kernel};

/// Buffers that are reused from text to text.
#[derive(Debug, Default, Clone)]
pub(crate) struct TokenBuffers {
    masks: Vec<ByteMasks>,
    begins: BitPositions,
    ends: BitPositions,
}

/// Consecutive tokens of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenPortion<'a> {
    /// Token that began in an earlier portion of the text and ends in this portion.
    open: Option<(usize, usize)>,
    /// Position in the text from which `begins` and `ends` are counted.
    base: usize,
    begins: &'a [u16],
    ends: &'a [u16],
}

impl<'a> TokenPortion<'a> {
    /// Returns the beginning and the end of each token, in order.
    #[inline(always)]
    pub(crate) fn spans(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        let Self { open, base, begins, ends } = self;
        let whole = begins.iter().zip(ends);
        let whole = whole.map(move |(&begin, &end)| (base + usize::from(begin), base + usize::from(end)));
        open.into_iter().chain(whole)
    }
}

/// Passes every token of the padded text to `each`, in order and in portions.
///
/// The length of the text must be a whole number of blocks, and its last four bytes must be zeros.
#[inline(always)]
pub(crate) fn for_each_portion(
    kernel: Kernel,
    padded: &[u8],
    buffers: &mut TokenBuffers,
    mut each: impl FnMut(TokenPortion<'_>),
) {
    let TokenBuffers { masks, begins, ends } = buffers;
    kernel.classify(padded, masks);
    let mut seam = BlockSeam::default();
    // Beginning of a token that no portion so far has ended.
    let mut open: Option<usize> = None;
    for (number, masks) in masks.chunks(BitPositions::MASKS).enumerate() {
        let base = number * BitPositions::MASKS * BLOCK;
        let mut edges = [[0; BitPositions::MASKS]; 2];
        for (at, masks) in masks.iter().enumerate() {
            let runs = if masks.high == 0 && seam.is_clear() {
                BlockTokens { run: masks.word, ..BlockTokens::default() }
            } else {
                look_closer(padded, base + at * BLOCK, masks, &mut seam)
            };
            [edges[0][at], edges[1][at]] = seam.edges(&runs);
        }
        kernel.positions(&edges[0][..masks.len()], begins);
        kernel.positions(&edges[1][..masks.len()], ends);
        let (begins, mut ends) = (begins.as_slice(), ends.as_slice());
        let mut ended = None;
        if let (Some(begin), Some((&end, rest))) = (open, ends.split_first()) {
            ended = Some((begin, base + usize::from(end)));
            ends = rest;
            open = None;
        }
        if let Some(&begin) = begins.get(ends.len()) {
            open = Some(base + usize::from(begin));
        }
        each(TokenPortion { open: ended, base, begins: &begins[..ends.len()], ends });
    }
}

/// The tokens of a block: a mask of the bytes of runs, and masks of the begins and ends of characters that stand alone.
#[derive(Default)]
struct BlockTokens {
    run: u64,
    alone_begins: u64,
    alone_ends: u64,
}

/// The state that a block passes to the next one.
#[derive(Default)]
struct BlockSeam {
    /// 1 if the last byte of the previous block belongs to a run, otherwise 0.
    before: u64,
    /// Number of bytes of this block that belong to the last character of the previous block.
    bytes: u32,
    /// Mask of the bytes that belong both to a run and to the last character of the previous block.
    run: u64,
    /// Mask with a bit at the end of the character that crosses the seam, if this character is a token by itself.
    alone_ends: u64,
}

impl BlockSeam {
    /// Reports whether no character crosses the seam between the blocks.
    #[inline(always)]
    fn is_clear(&self) -> bool {
        self.bytes == 0 && self.alone_ends == 0
    }

    /// Returns masks of the begins and of the ends of the tokens in a block.
    #[inline(always)]
    fn edges(&mut self, tokens: &BlockTokens) -> [u64; 2] {
        let shifted = tokens.run << 1 | self.before;
        self.before = tokens.run >> 63;
        [tokens.run & !shifted | tokens.alone_begins, shifted & !tokens.run | tokens.alone_ends]
    }
}

/// Returns the tokens of a block that has non-ASCII bytes.
#[inline(never)]
fn look_closer(padded: &[u8], base: usize, masks: &ByteMasks, seam: &mut BlockSeam) -> BlockTokens {
    let mut tokens = BlockTokens { run: masks.word | seam.run, alone_begins: 0, alone_ends: seam.alone_ends };
    let mut high = masks.high & (u64::MAX << seam.bytes);
    *seam = BlockSeam { before: seam.before, ..BlockSeam::default() };
    while high != 0 {
        let bit = high.trailing_zeros();
        // The padding is longer than any character, so four bytes can always be read.
        let at = base + bit as usize;
        let (code, len) = decode([padded[at], padded[at + 1], padded[at + 2], padded[at + 3]]);
        let bits = (1u64 << len) - 1;
        high &= !(bits << bit);
        let end = bit + len;
        let over = end.saturating_sub(BLOCK as u32);
        if over > 0 {
            seam.bytes = over;
        }
        match CharClass::of_code(code).token() {
            TokenClass::Separator => {}
            TokenClass::Run => {
                tokens.run |= bits << bit;
                seam.run = (1 << over) - 1;
            }
            TokenClass::Alone => {
                tokens.alone_begins |= 1 << bit;
                match end.checked_sub(BLOCK as u32) {
                    None => tokens.alone_ends |= 1 << end,
                    Some(over) => seam.alone_ends = 1 << over,
                }
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::super::{Normalization, NormalizedText, Normalizer};
    use super::*;
    use crate::kernel::Kernel;
    use proptest::prelude::*;

    fn tokens(source: &str, kernel: Kernel) -> Vec<String> {
        let mut text = NormalizedText::new();
        let keep: Normalization = "none+keep-space".parse().unwrap();
        Normalizer::for_tokens(keep).normalize_into(source, &mut text);
        let (mut buffers, mut tokens) = (TokenBuffers::default(), vec![]);
        for_each_portion(kernel, text.padded(), &mut buffers, |portion| {
            tokens.extend(portion.spans().map(|(begin, end)| source[begin..end].to_owned()));
        });
        tokens
    }

    /// Returns the tokens by their definition, character by character.
    fn by_the_rule(source: &str) -> Vec<String> {
        let mut tokens = vec![];
        let mut run = String::new();
        for c in source.chars() {
            match CharClass::of(c).token() {
                TokenClass::Run => run.push(c),
                other => {
                    if !run.is_empty() {
                        tokens.push(std::mem::take(&mut run));
                    }
                    if other == TokenClass::Alone {
                        tokens.push(c.to_string());
                    }
                }
            }
        }
        if !run.is_empty() {
            tokens.push(run);
        }
        tokens
    }

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        for kernel in Kernel::available() {
            assert_eq!(tokens(source, kernel), expected, "{kernel}");
        }
    }

    #[test]
    fn words_of_scripts_with_spaces() {
        check("don't pay 3.14, snake_case!", &["don", "t", "pay", "3", "14", "snake_case"]);
        check("Müller-Straße, città; Ёлка Ελλάδα", &["Müller", "Straße", "città", "Ёлка", "Ελλάδα"]);
        check("हिन्दी العربية 한국어", &["हिन्दी", "العربية", "한국어"]);
    }

    #[test]
    fn characters_of_scripts_without() {
        check("中文abc字", &["中", "文", "abc", "字"]);
        check("カタカナ。ひ", &["カ", "タ", "カ", "ナ", "ひ"]);
        check("𠮷野", &["𠮷", "野"]);
        check("ไทย", &["ไ", "ท", "ย"]);
    }

    #[test]
    fn nothing_to_find() {
        check("", &[]);
        check(" .,!?\n— 😀", &[]);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_by_the_rule(source in any::<String>()) {
            for kernel in Kernel::available() {
                prop_assert_eq!(tokens(&source, kernel), by_the_rule(&source));
            }
        }

        #[test]
        fn so_are_long_mixed_ones(source in "[ab_1 .é中あ𠮷ไ́-]{40,200}") {
            for kernel in Kernel::available() {
                prop_assert_eq!(tokens(&source, kernel), by_the_rule(&source));
            }
        }

        /// Texts of several portions, with tokens that are longer than a portion, give the tokens of the definition.
        #[test]
        fn so_are_texts_of_several_portions(
            pieces in proptest::collection::vec(("[ab .é中𠮷]{1,3}", 1usize..1500), 1..6),
        ) {
            let source: String = pieces.iter().map(|(piece, times)| piece.repeat(*times)).collect();
            for kernel in Kernel::available() {
                prop_assert_eq!(tokens(&source, kernel), by_the_rule(&source));
            }
        }
    }
}
