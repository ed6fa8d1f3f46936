//! Maps from some characters to texts or numbers, in the form of generated tables.

/// A map from some characters to values. Characters with the same leading bytes are a page, in which the last
/// byte is looked up.
pub(super) struct CharacterPages {
    /// The beginning of each page among the bytes; the last entry is the number of bytes.
    pub(super) starts: &'static [u16],
    /// The last bytes of the characters, page by page, ascending.
    pub(super) bytes: &'static [u8],
}

impl CharacterPages {
    /// Returns the index of a character among all characters of the map.
    #[inline]
    fn place(&self, c: char) -> Option<usize> {
        let page = c as usize >> 8;
        let (start, end) = (usize::from(*self.starts.get(page)?), usize::from(*self.starts.get(page + 1)?));
        let at = self.bytes.get(start..end)?.binary_search(&(c as u32 as u8)).ok()?;
        Some(start + at)
    }
}

/// Characters that become texts.
pub(super) struct TextTable {
    pub(super) pages: CharacterPages,
    /// The beginning of the text of each character; the last entry is the end of all texts.
    pub(super) starts: &'static [u16],
    /// All texts, one after the other.
    pub(super) joined: &'static str,
}

impl TextTable {
    /// Returns the text of a character; `None` if it stays as it is.
    #[inline]
    pub(super) fn text(&self, c: char) -> Option<&'static str> {
        let place = self.pages.place(c)?;
        let range = usize::from(*self.starts.get(place)?)..usize::from(*self.starts.get(place + 1)?);
        self.joined.get(range)
    }
}

/// Characters that have a small number.
pub(super) struct Numbers {
    pub(super) pages: CharacterPages,
    pub(super) numbers: &'static [u8],
}

impl Numbers {
    /// Returns the number of a character.
    #[inline]
    pub(super) fn number(&self, c: char) -> Option<u8> {
        self.numbers.get(self.pages.place(c)?).copied()
    }
}
