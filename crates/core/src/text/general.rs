//! NFKC and case folding of any sequence of characters, as Unicode defines them.
//!
//! - **Idea.** Characters are decomposed, and marks are sorted by their combining class. Characters that compose with
//!   the starter before them are composed, and each resulting character is folded. `normalize` calls this code only for
//!   sequences that it cannot copy.
//! - **Cost.** Three binary searches per character, among at most 256 entries each, and one per attempted composition,
//!   among all compositions.
//! - **Differs.** Hangul syllables are not decomposed, because they would be composed again.
//! - **Checked.** `unicode_tables` compares the result with ICU for every character, every composition, and random
//!   sequences of characters that change.

use super::mappings::{CLASSES, COMPOSED, DECOMPOSITIONS, FOLDINGS, PAIRS};

/// Appends the NFKC form of a sequence, with case folded.
pub(super) fn push_nfkc_casefold(sequence: &str, out: &mut String) {
    let mut composer = Composer { starter: None, marks: Vec::new(), out };
    for c in sequence.chars() {
        match DECOMPOSITIONS.text(c) {
            Some(text) => text.chars().for_each(|c| composer.push(c, combining_class(c))),
            None => composer.push(c, combining_class(c)),
        }
    }
    composer.end_starter();
}

/// Appends a character with case folded.
#[inline]
pub(super) fn push_casefold(c: char, out: &mut String) {
    match FOLDINGS.text(c) {
        Some(text) => out.push_str(text),
        None => out.push(c),
    }
}

/// Returns the canonical combining class of a character, which is 0 for starters.
#[inline]
fn combining_class(c: char) -> u8 {
    CLASSES.number(c).unwrap_or(0)
}

/// Composes decomposed characters.
struct Composer<'o> {
    /// Last starter, with which the following characters may compose.
    starter: Option<char>,
    /// Marks after the starter, each with its class, in text order.
    marks: Vec<(u8, char)>,
    out: &'o mut String,
}

impl Composer<'_> {
    fn push(&mut self, c: char, class: u8) {
        if class != 0 {
            self.marks.push((class, c));
            return;
        }
        self.compose_marks();
        // A mark between two starters that does not compose keeps the starters from composing.
        if self.marks.is_empty()
            && let Some(composed) = self.starter.and_then(|starter| composed(starter, c))
        {
            self.starter = Some(composed);
            return;
        }
        self.end_starter();
        self.starter = Some(c);
    }

    /// Sorts the marks by class, and composes marks with the starter where possible.
    fn compose_marks(&mut self) {
        // The sort is stable, because marks of the same class must keep their order.
        self.marks.sort_by_key(|&(class, _)| class);
        let Some(mut starter) = self.starter else { return };
        let mut left_class = 0;
        self.marks.retain(|&(class, mark)| {
            // A mark is blocked by an earlier mark of its own class that did not compose.
            let composed = composed(starter, mark).filter(|_| left_class < class);
            match composed {
                Some(composed) => starter = composed,
                None => left_class = class,
            }
            composed.is_none()
        });
        self.starter = Some(starter);
    }

    /// Writes the starter and its marks, and removes them from the composer.
    fn end_starter(&mut self) {
        self.compose_marks();
        let marks = self.marks.drain(..).map(|(_, mark)| mark);
        for c in self.starter.take().into_iter().chain(marks) {
            push_casefold(c, self.out);
        }
    }
}

/// The Hangul syllables and the letters of which they are composed, numbered as in The Unicode Standard (section 3.12).
mod hangul {
    pub(super) const SYLLABLES: u32 = 0xac00;
    pub(super) const LEADS: u32 = 0x1100;
    pub(super) const VOWELS: u32 = 0x1161;
    pub(super) const TAILS: u32 = 0x11a7;
    pub(super) const LEAD_COUNT: u32 = 19;
    pub(super) const VOWEL_COUNT: u32 = 21;
    /// Number of tails, including the one that stands for no tail.
    pub(super) const TAIL_COUNT: u32 = 28;
}

/// Returns the character to which two characters compose; `None` if they do not compose.
#[inline]
fn composed(first: char, second: char) -> Option<char> {
    composed_hangul(first as u32, second as u32).or_else(|| {
        let pair = u64::from(first) << 32 | u64::from(second);
        COMPOSED.get(PAIRS.binary_search(&pair).ok()?).copied()
    })
}

#[inline]
fn composed_hangul(first: u32, second: u32) -> Option<char> {
    use hangul::{LEAD_COUNT, LEADS, SYLLABLES, TAIL_COUNT, TAILS, VOWEL_COUNT, VOWELS};
    let lead = first.wrapping_sub(LEADS);
    let vowel = second.wrapping_sub(VOWELS);
    if lead < LEAD_COUNT && vowel < VOWEL_COUNT {
        return char::from_u32(SYLLABLES + (lead * VOWEL_COUNT + vowel) * TAIL_COUNT);
    }
    let syllable = first.wrapping_sub(SYLLABLES);
    let tail = second.wrapping_sub(TAILS);
    let is_open = syllable < LEAD_COUNT * VOWEL_COUNT * TAIL_COUNT && syllable.is_multiple_of(TAIL_COUNT);
    if is_open && (1..TAIL_COUNT).contains(&tail) {
        return char::from_u32(first + tail);
    }
    None
}
