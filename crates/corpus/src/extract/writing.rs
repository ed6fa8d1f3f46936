//! Writes the text of a document, with its lines and marks.

use super::limits::ExtractLimits;
use super::{ExtractedMark, MarkPlace, Refusal};

/// Text of a document while it is written.
///
/// Every format writes characters, ends lines, and begins pages, paragraphs, slides or chapters. `TextWriter` ensures
/// that a line does not end twice, that a character follows each mark, and that the text stays within its limit.
pub(super) struct TextWriter<'l> {
    limits: &'l ExtractLimits,
    text: String,
    marks: Vec<ExtractedMark>,
    /// Break that no character has followed yet.
    pending: Option<PendingBreak>,
    paragraphs: u32,
    over: bool,
}

#[derive(Clone, Copy)]
enum PendingBreak {
    /// A paragraph, which gets its number with its first character.
    Paragraph,
    Place(MarkPlace),
}

impl<'l> TextWriter<'l> {
    pub(super) fn new(limits: &'l ExtractLimits) -> Self {
        Self { limits, text: String::new(), marks: Vec::new(), pending: None, paragraphs: 0, over: false }
    }

    /// Writes characters as they are.
    pub(super) fn push(&mut self, characters: &str) {
        if (self.text.len() + characters.len()) as u64 > self.limits.unfolded_bytes {
            self.over = true;
            return;
        }
        if self.pending.is_some()
            && let Some(first) = characters.find(|character: char| !character.is_whitespace())
        {
            self.mark(first);
        }
        self.text.push_str(characters);
    }

    /// Writes running text. A run of white space becomes one space, or nothing at the beginning of a line.
    pub(super) fn push_flowing(&mut self, characters: &str) {
        let is_space = |character: char| character.is_ascii_whitespace();
        if characters.starts_with(is_space) {
            self.space();
        }
        for (number, word) in characters.split(is_space).filter(|word| !word.is_empty()).enumerate() {
            if number > 0 {
                self.space();
            }
            self.push(word);
        }
        if characters.ends_with(is_space) {
            self.space();
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.push(" ");
        }
    }

    /// Ends the line, unless the line is empty.
    pub(super) fn end_line(&mut self) {
        let without_spaces = self.text.trim_end_matches([' ', '\t']).len();
        self.text.truncate(without_spaces);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    /// Ends the line, and begins the next paragraph.
    pub(super) fn begin_paragraph(&mut self) {
        self.end_line();
        if self.pending.is_none() {
            self.pending = Some(PendingBreak::Paragraph);
        }
    }

    /// Ends the line, and begins this page, slide or chapter.
    pub(super) fn begin(&mut self, place: MarkPlace) {
        self.end_line();
        self.pending = Some(PendingBreak::Place(place));
    }

    fn mark(&mut self, ahead: usize) {
        let place = match self.pending.take() {
            Some(PendingBreak::Place(place)) => place,
            Some(PendingBreak::Paragraph) => {
                self.paragraphs += 1;
                MarkPlace::Paragraph(self.paragraphs)
            }
            None => return,
        };
        self.marks.push(ExtractedMark { offset: self.text.len() + ahead, place });
    }

    /// Fails if the text was cut off because it is over the limit.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.over { Err(self.limits.unfolds_too_far()) } else { Ok(()) }
    }

    /// Returns the text and its marks.
    pub(super) fn finish(mut self) -> Result<(String, Vec<ExtractedMark>), Refusal> {
        self.end_line();
        self.check()?;
        Ok((self.text, self.marks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_once_and_marks_stand_before_characters() {
        let limits = ExtractLimits::default();
        let mut writing = TextWriter::new(&limits);
        writing.begin_paragraph();
        writing.begin_paragraph();
        writing.push("  ");
        writing.push(" one \t");
        writing.begin_paragraph();
        writing.end_line();
        writing.begin_paragraph();
        writing.push("two");
        let (text, marks) = writing.finish().unwrap();
        assert_eq!(text, "   one\ntwo\n");
        let offsets: Vec<_> = marks.iter().map(|mark| (mark.offset, mark.place)).collect();
        assert_eq!(offsets, [(3, MarkPlace::Paragraph(1)), (7, MarkPlace::Paragraph(2))]);
    }

    #[test]
    fn running_text_has_single_spaces() {
        let limits = ExtractLimits::default();
        let mut writing = TextWriter::new(&limits);
        for piece in ["\n a", "b", " c\n\n", "\t", "d", "\u{a0}e "] {
            writing.push_flowing(piece);
        }
        writing.end_line();
        writing.push_flowing(" f");
        assert_eq!(writing.finish().unwrap().0, "ab c d\u{a0}e\nf\n");
    }

    #[test]
    fn a_text_over_the_limit_is_refused() {
        let limits = ExtractLimits { unfolded_bytes: 4, ..ExtractLimits::default() };
        let mut writing = TextWriter::new(&limits);
        writing.push("four");
        assert!(writing.check().is_ok());
        writing.push("!");
        assert_eq!(writing.finish().unwrap_err(), Refusal::TooLarge { bytes: 5, limit: 4 });
    }
}
