//! Makes the words and lines of a page from the places of its glyphs.
//!
//! Glyphs are read in the order in which the page shows them. A gap along the line is a space, and a step across the
//! line is a line break.

use hayro_font::kurbo::{Point, Vec2};

/// Minimum gap that is a space, in em. Fonts have spaces of 0.25 to 0.33 em, and tightly set lines shrink them to a
/// third. Of the words of `pdftotext`, 99.4 % were found with 0.17, 99.5 % with 0.12 and 99.8 % with 0.10 in 580
/// files of Debian.
const SPACE_EMS: f64 = 0.1;

/// Minimum step across the line that is a new line, in em. Superscripts rise by up to 0.45 em.
const LINE_EMS: f64 = 0.5;

/// Minimum step back that is a space, in em, because columns of a table may be shown from right to left. An accent
/// steps back by less, the width of a letter.
const BACK_EMS: f64 = 1.2;

/// Place of a glyph on its page.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlyphPlace {
    /// Origin of the glyph.
    pub(super) at: Point,
    /// Step from the origin to the end of the glyph.
    pub(super) advance: Vec2,
    /// Size of the font.
    pub(super) em: f64,
}

impl GlyphPlace {
    fn end(self) -> Point {
        self.at + self.advance
    }

    /// Returns the direction of the line, if the glyph has a width.
    fn direction(self) -> Option<Vec2> {
        let length = self.advance.hypot();
        (length > 0.0).then(|| self.advance / length)
    }

    /// Reports whether the middles of two glyphs lie over one another, like a letter and its accent.
    fn lies_over(self, other: Self) -> bool {
        let along = self.direction().or(other.direction()).unwrap_or(Vec2::new(1.0, 0.0));
        let between = self.at.midpoint(self.end()) - other.at.midpoint(other.end());
        let widest = self.advance.hypot().max(other.advance.hypot());
        between.dot(along).abs() < widest / 2.0 && between.cross(along).abs() < self.em.max(other.em)
    }
}

/// Text of a page while glyphs are added to it.
#[derive(Debug)]
pub(super) struct PageText {
    text: String,
    last: Option<GlyphPlace>,
    /// Maximum size of the text, in bytes.
    limit: u64,
    is_full: bool,
}

impl PageText {
    /// Makes an empty text that can grow to `limit` bytes.
    pub(super) fn new(limit: u64) -> Self {
        Self { text: String::new(), last: None, limit, is_full: false }
    }

    /// Reports whether characters were left out because of the limit.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Adds a glyph. `characters` is empty if the characters of the glyph are unknown.
    pub(super) fn show(&mut self, place: GlyphPlace, characters: &str) {
        if (self.text.len() + characters.len()) as u64 >= self.limit {
            self.is_full = true;
            return;
        }
        if let Some(last) = self.last.replace(place) {
            if self.accent(last, place, characters) {
                return;
            }
            match gap(last, place) {
                Gap::None => {}
                Gap::Space => self.end_word(' '),
                Gap::Line => self.end_word('\n'),
            }
        }
        for character in characters.chars() {
            if character.is_whitespace() {
                self.end_word(' ');
            } else if !character.is_control() {
                self.text.push(character);
            }
        }
    }

    /// Joins a letter and an accent that is shown as a separate glyph over or under the letter, in either order.
    fn accent(&mut self, last: GlyphPlace, place: GlyphPlace, characters: &str) -> bool {
        let mut shown = characters.chars();
        let (Some(character), None) = (shown.next(), shown.next()) else { return false };
        let Some(before) = self.text.chars().next_back() else { return false };
        let (letter, mark) = match (combining(before), combining(character)) {
            (Some(mark), None) => (character, mark),
            (None, Some(mark)) => (before, mark),
            _ => return false,
        };
        if !letter.is_alphabetic() || !last.lies_over(place) {
            return false;
        }
        self.text.pop();
        // TeX puts accents on letters without a dot, but there are no composed characters for such letters.
        self.text.push(match letter {
            'ı' => 'i',
            'ȷ' => 'j',
            other => other,
        });
        self.text.push(mark);
        true
    }

    /// Adds a space or a line break, unless the text ends with one.
    fn end_word(&mut self, end: char) {
        if end == '\n' && self.text.ends_with(' ') {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(end);
        }
    }
}

/// Returns the combining character for an accent that has a width of its own.
fn combining(accent: char) -> Option<char> {
    Some(match accent {
        '`' | 'ˋ' => '\u{300}',
        '´' | 'ˊ' => '\u{301}',
        'ˆ' => '\u{302}',
        '˜' => '\u{303}',
        '¯' | 'ˉ' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        _ => return None,
    })
}

/// Text that a gap between two glyphs stands for.
#[derive(Debug, PartialEq, Eq)]
enum Gap {
    None,
    Space,
    Line,
}

fn gap(last: GlyphPlace, next: GlyphPlace) -> Gap {
    let along = next.direction().or(last.direction()).unwrap_or(Vec2::new(1.0, 0.0));
    let step = next.at - last.end();
    let (ahead, aside) = (step.dot(along), step.cross(along).abs());
    let em = last.em.max(next.em);
    if aside > LINE_EMS * em || ahead < -3.0 * BACK_EMS * em {
        Gap::Line
    } else if ahead > SPACE_EMS * last.em.min(next.em) || ahead < -BACK_EMS * em {
        Gap::Space
    } else {
        Gap::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a glyph that is half an em wide.
    fn glyph(x: f64, y: f64) -> GlyphPlace {
        GlyphPlace { at: Point::new(x, y), advance: Vec2::new(5.0, 0.0), em: 10.0 }
    }

    fn shown(glyphs: &[(f64, f64, &str)]) -> String {
        let mut page = PageText::new(1000);
        for (x, y, characters) in glyphs {
            page.show(glyph(*x, *y), characters);
        }
        page.finish()
    }

    #[test]
    fn gaps_are_spaces_and_steps_aside_are_lines() {
        assert_eq!(shown(&[(0.0, 0.0, "a"), (5.0, 0.0, "b"), (10.9, 0.0, "c")]), "abc");
        assert_eq!(shown(&[(0.0, 0.0, "a"), (7.0, 0.0, "b")]), "a b");
        assert_eq!(shown(&[(0.0, 0.0, "a"), (5.0, 4.5, "2"), (10.0, 0.0, "b")]), "a2b");
        assert_eq!(shown(&[(0.0, 0.0, "a"), (0.0, -12.0, "b")]), "a\nb");
        assert_eq!(shown(&[(50.0, 0.0, "a"), (35.0, 0.0, "b"), (-9.0, 0.0, "c")]), "a b\nc");
        assert_eq!(shown(&[(0.0, 0.0, " "), (5.0, 0.0, "a"), (10.0, 0.0, " "), (20.0, 0.0, "b")]), "a b");
    }

    #[test]
    fn lines_run_in_any_direction() {
        let mut page = PageText::new(1000);
        for (y, characters) in [(0.0, "a"), (5.0, "b"), (13.0, "c")] {
            page.show(
                GlyphPlace { at: Point::new(3.0, y), advance: Vec2::new(0.0, 5.0), em: 10.0 },
                characters,
            );
        }
        assert_eq!(page.finish(), "ab c");
    }

    #[test]
    fn accents_join_the_letter_they_lie_over() {
        assert_eq!(shown(&[(0.0, 0.0, "¨"), (0.5, 0.0, "a"), (5.5, 0.0, "b")]), "a\u{308}b");
        assert_eq!(shown(&[(0.0, 0.0, "c"), (0.5, 0.0, "¸"), (5.0, 0.0, "a")]), "c\u{327}a");
        assert_eq!(shown(&[(0.0, 0.0, "ˆ"), (0.5, 0.0, "ı")]), "i\u{302}");
        assert_eq!(shown(&[(0.0, 0.0, "´"), (5.0, 0.0, "a")]), "´a");
        assert_eq!(shown(&[(0.0, 0.0, "´"), (0.0, 0.0, "7")]), "´7");
    }

    #[test]
    fn a_text_ends_at_its_limit() {
        let mut page = PageText::new(4);
        for x in 0..9 {
            page.show(glyph(5.0 * f64::from(x), 0.0), "a");
        }
        assert!(page.is_full());
        assert_eq!(page.finish(), "aaa");
    }
}
