//! Classes of characters: their role in tokens, and their treatment by normalisation.
//!
//! Roles and treatments come from a table with one byte per character. `cargo x tables` generates the table from the
//! Unicode data of ICU, and a test compares the table with this data.

use super::tables::{BLOCKS, INDEX};

/// Number of low bits of a code point that are its index in a block. A block of the table describes 2⁷ characters.
const BLOCK_BITS: u32 = 7;

/// The role of a character in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenClass {
    /// The character separates tokens.
    Separator,
    /// The character belongs to a run: Alphabetic, Mark, Number or `_`, in a script written with spaces.
    Run,
    /// The character is a token by itself: Han, Hiragana, Katakana, Thai, Lao, Khmer or Myanmar.
    Alone,
}

/// The role of a character in NFKC and case folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormClass {
    /// The character and its neighbours stay unchanged.
    Inert,
    /// The character becomes other characters, and the characters before it have no effect on the result. A
    /// [`Combining`](Self::Combining) character after it may change the result.
    Mapped,
    /// The result depends on the characters before this one.
    Combining,
}

/// Returns the code point and the length in bytes of the character at the beginning of valid UTF-8 text. The character
/// must not be ASCII.
#[inline(always)]
pub(super) fn decode(bytes: [u8; 4]) -> (u32, u32) {
    let [a, b, c, d] = bytes.map(u32::from);
    if a < 0xe0 {
        ((a & 0x1f) << 6 | b & 0x3f, 2)
    } else if a < 0xf0 {
        ((a & 0x0f) << 12 | (b & 0x3f) << 6 | c & 0x3f, 3)
    } else {
        ((a & 0x07) << 18 | (b & 0x3f) << 12 | (c & 0x3f) << 6 | d & 0x3f, 4)
    }
}

/// The class of one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharClass(pub(super) u8);

impl CharClass {
    /// Returns the class of a character from the table.
    #[inline]
    #[must_use]
    pub fn of(c: char) -> Self {
        Self::of_code(c as u32)
    }

    /// Returns the class of a code point from the table. A number that is no code point is a separator.
    #[inline(always)]
    pub(super) fn of_code(code: u32) -> Self {
        let block = INDEX.get((code >> BLOCK_BITS) as usize).copied().unwrap_or_default();
        Self(BLOCKS[block as usize][(code & ((1 << BLOCK_BITS) - 1)) as usize])
    }

    /// Reports whether normalisation leaves the character and its neighbours unchanged.
    #[inline(always)]
    pub(super) fn is_inert(self) -> bool {
        self.0 >> 2 == 0
    }

    /// Returns the role of the character in tokens.
    #[inline(always)]
    #[must_use]
    pub fn token(self) -> TokenClass {
        match self.0 & 3 {
            0 => TokenClass::Separator,
            1 => TokenClass::Run,
            _ => TokenClass::Alone,
        }
    }

    /// Returns the role of the character in NFKC and case folding.
    #[inline(always)]
    pub(super) fn form(self) -> FormClass {
        match self.0 >> 2 {
            0 => FormClass::Inert,
            1 => FormClass::Mapped,
            _ => FormClass::Combining,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_as_the_rule_says() {
        for c in "azAZ09_éßñжΩעع한गि٣²".chars() {
            assert_eq!(CharClass::of(c).token(), TokenClass::Run, "{c}");
        }
        for c in "中々あカพລខမ〇".chars() {
            assert_eq!(CharClass::of(c).token(), TokenClass::Alone, "{c}");
        }
        for c in " .,'-—、。“”()\n\u{a0}\u{3000}€😀".chars() {
            assert_eq!(CharClass::of(c).token(), TokenClass::Separator, "{c:?}");
        }
    }

    #[test]
    fn forms_as_expected() {
        assert_eq!(CharClass::of('a').form(), FormClass::Inert);
        assert_eq!(CharClass::of('é').form(), FormClass::Inert);
        assert_eq!(CharClass::of('中').form(), FormClass::Inert);
        assert_eq!(CharClass::of('한').form(), FormClass::Inert);
        assert_eq!(CharClass::of('É').form(), FormClass::Mapped);
        assert_eq!(CharClass::of('，').form(), FormClass::Mapped);
        assert_eq!(CharClass::of('\u{301}').form(), FormClass::Combining);
        assert_eq!(CharClass::of('\u{1161}').form(), FormClass::Combining);
        assert_eq!(CharClass::of('ﾞ').form(), FormClass::Combining);
    }
}
