//! Maps from characters to texts or numbers, in the form of generated tables.

/// A map from characters to values. A page has the characters whose code points differ only in the lowest byte; this
/// byte is searched in the page.
pub(super) struct CharacterPages {
    /// Index in `bytes` at which each page begins. The last entry is the number of bytes.
    pub(super) starts: &'static [u16],
    /// Lowest bytes of the code points of the characters, page by page, in ascending order.
    pub(super) bytes: &'static [u8],
}

impl CharacterPages {
    /// Returns the index of a character among all characters of the map; `None` if it is not in the map.
    #[inline]
    fn place(&self, c: char) -> Option<usize> {
        let page = c as usize >> 8;
        let (start, end) = (usize::from(*self.starts.get(page)?), usize::from(*self.starts.get(page + 1)?));
        let at = self.bytes.get(start..end)?.binary_search(&(c as u32 as u8)).ok()?;
        Some(start + at)
    }
}

/// A map from characters to texts.
pub(super) struct TextTable {
    pub(super) pages: CharacterPages,
    /// Index in `joined` at which the text of each character begins. The last entry is the end of the last text.
    pub(super) starts: &'static [u16],
    /// Texts of all characters, one after the other.
    pub(super) joined: &'static str,
}

impl TextTable {
    /// Returns the text of a character; `None` if it is not in the map.
    #[inline]
    pub(super) fn text(&self, c: char) -> Option<&'static str> {
        let place = self.pages.place(c)?;
        let range = usize::from(*self.starts.get(place)?)..usize::from(*self.starts.get(place + 1)?);
        self.joined.get(range)
    }
}

/// A map from characters to small numbers.
pub(super) struct Numbers {
    pub(super) pages: CharacterPages,
    pub(super) numbers: &'static [u8],
}

impl Numbers {
    /// Returns the number of a character; `None` if it is not in the map.
    #[inline]
    pub(super) fn number(&self, c: char) -> Option<u8> {
        self.numbers.get(self.pages.place(c)?).copied()
    }
}
