//! Tokens: the words of scripts written with spaces, the characters of scripts written without.
//!
//! A token is one character whose script is Han, Hiragana, Katakana, Thai, Lao, Khmer or Myanmar, or a maximal run of
//! other characters that are Alphabetic, Mark, Number or `_`. No dictionary is needed, and `don't` and `3.14` are two
//! tokens each.
//!
//! The kernel marks the ASCII word characters of 64 bytes at a time as bits, other characters are looked up and their
//! bits added, and then a token begins and ends where neighbouring bits differ.

use super::class::{CharClass, TokenClass, decode};
use crate::kernel::{BLOCK, ByteMasks};

/// Calls `emit(start, end)` for every token of the padded text, in order.
///
/// `masks` describes `padded` block by block, and the text is followed by at least one zero.
#[inline(always)]
pub(crate) fn for_each(padded: &[u8], masks: &[ByteMasks], mut emit: impl FnMut(usize, usize)) {
    // Where the run that is open began.
    let mut start = 0;
    // Whether the byte before this block belongs to a run; what a character at the end of the block before it says
    // of the bytes that lie in this one.
    let mut before = 0;
    let mut spill = Spill { bytes: 0, run: 0 };
    for (block, masks) in masks.iter().enumerate() {
        let base = block * BLOCK;
        let (run, mut alone) =
            if masks.high == 0 { (masks.word, 0) } else { look_closer(padded, base, masks, &mut spill) };
        let shifted = run << 1 | before;
        let mut begins = SetBits(run & !shifted);
        let mut ends = SetBits(shifted & !run);
        if before == 0 {
            start = base + begins.next();
        }
        before = run >> 63;
        while ends.0 != 0 {
            let end = base + ends.next();
            while alone != 0 && base + (alone.trailing_zeros() as usize) < end {
                emit_alone(padded, base, &mut alone, &mut emit);
            }
            emit(start, end);
            start = base + begins.next();
        }
        while alone != 0 {
            emit_alone(padded, base, &mut alone, &mut emit);
        }
    }
}

/// The positions of the bits that are set, lowest first.
struct SetBits(u64);

impl SetBits {
    /// The next position; a meaningless one when there is none.
    #[inline(always)]
    fn next(&mut self) -> usize {
        let next = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        next
    }
}

/// Emits the first of the characters that stand alone.
#[inline(always)]
fn emit_alone(padded: &[u8], base: usize, alone: &mut u64, emit: &mut impl FnMut(usize, usize)) {
    let at = base + alone.trailing_zeros() as usize;
    *alone &= *alone - 1;
    // All scripts whose characters stand alone lie beyond the two-byte characters.
    emit(at, at + if padded[at] >= 0xf0 { 4 } else { 3 });
}

/// The part of a character that lies in the block after the one it begins in.
struct Spill {
    bytes: u32,
    run: u64,
}

/// Bits for a block that has non-ASCII bytes: those of runs, and the first bytes of characters that stand alone.
#[inline(never)]
fn look_closer(padded: &[u8], base: usize, masks: &ByteMasks, spill: &mut Spill) -> (u64, u64) {
    let mut run = masks.word | spill.run;
    let mut alone = 0;
    let mut high = masks.high & (u64::MAX << spill.bytes);
    *spill = Spill { bytes: 0, run: 0 };
    while high != 0 {
        let bit = high.trailing_zeros();
        // The padding is longer than any character, so there are always four bytes to look at.
        let at = base + bit as usize;
        let (code, len) = decode([padded[at], padded[at + 1], padded[at + 2], padded[at + 3]]);
        let bits = (1u64 << len) - 1;
        high &= !(bits << bit);
        let end = bit + len;
        let over = end.saturating_sub(BLOCK as u32);
        if over > 0 {
            spill.bytes = over;
        }
        match CharClass::of_code(code).token() {
            TokenClass::Separator => {}
            TokenClass::Run => {
                run |= bits << bit;
                spill.run = (1 << over) - 1;
            }
            TokenClass::Alone => alone |= 1 << bit,
        }
    }
    (run, alone)
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
        let mut masks = vec![];
        kernel.classify(text.padded(), &mut masks);
        let mut tokens = vec![];
        for_each(text.padded(), &masks, |start, end| tokens.push(source[start..end].to_owned()));
        tokens
    }

    /// The rule, character by character.
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
    }
}
