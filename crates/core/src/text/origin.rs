//! The origin of each byte of a normalised text.
//!
//! Evidence is shown in the original document, so offsets in the normalised text must be mapped back to it. Each stage
//! of normalisation records a mark wherever its input and its output stop advancing together. Sketching needs no
//! origins, so for sketching the marks are compiled away.

use std::ops::Range;

/// Receives marks while a text is written from another text.
pub(super) trait Track {
    /// Records that bytes from `normal` on in the new text come from the bytes from `source` on in the old text. If
    /// `normal` is passed twice, the text between the two values of `source` was left out.
    fn mark(&mut self, normal: usize, source: usize);

    /// Runs one stage of normalisation. Its marks lead back to the result of the previous stage.
    fn stage(&mut self, run: impl FnOnce(&mut Self));
}

/// A [`Track`] that ignores all marks.
pub(super) struct Untracked;

impl Track for Untracked {
    #[inline(always)]
    fn mark(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    fn stage(&mut self, run: impl FnOnce(&mut Self)) {
        run(self);
    }
}

/// Maps ranges of a normalised text back to the text from which it was made.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// Marks of all finished stages combined, by offset in the normalised text.
    finished: Vec<StepChange>,
    /// Marks of the current stage.
    running: Vec<StepChange>,
    told: Option<StepChange>,
    stages: usize,
}

/// A place at which the two texts stop advancing together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StepChange {
    normal: usize,
    /// Offset in the source text at which the text before this place ends.
    before: usize,
    /// Offset in the source text at which the text after this place begins. If source text was left out at this place,
    /// `source` is greater than `before`.
    source: usize,
}

/// Returns the offset in the source text from which the byte at `normal` came. The offset advances together with
/// `normal` from the mark before, but not beyond the next mark.
fn begin(marks: &[StepChange], normal: usize) -> usize {
    let next = marks.partition_point(|mark| mark.normal <= normal);
    let Some(mark) = next.checked_sub(1).and_then(|at| marks.get(at)) else { return normal };
    let reached = mark.source + (normal - mark.normal);
    marks.get(next).map_or(reached, |following| reached.min(following.before))
}

/// Returns the offset in the source text at which the byte directly before `normal` ends.
fn end(marks: &[StepChange], normal: usize) -> usize {
    let next = marks.partition_point(|mark| mark.normal < normal);
    match marks.get(next) {
        Some(mark) if mark.normal == normal => mark.before,
        _ => begin(marks, normal),
    }
}

impl Origins {
    /// Returns the part of `source` from which the bytes `range` of its normalised text came, on character boundaries.
    #[must_use]
    pub fn source_range(&self, source: &str, range: Range<usize>) -> Range<usize> {
        let start = source.floor_char_boundary(begin(&self.finished, range.start));
        let end = source.ceil_char_boundary(end(&self.finished, range.end));
        start..end.max(start)
    }
}

impl Track for Origins {
    fn mark(&mut self, normal: usize, source: usize) {
        let before = self.told.filter(|told| told.normal == normal).map_or(source, |told| told.before);
        let mark = StepChange { normal, before, source };
        self.told = Some(mark);
        match self.running.last_mut() {
            Some(last) if last.normal == normal => last.source = source,
            Some(last) if before == source && source.wrapping_sub(last.source) == normal - last.normal => {}
            _ => self.running.push(mark),
        }
    }

    fn stage(&mut self, run: impl FnOnce(&mut Self)) {
        self.told = None;
        run(self);
        let running = std::mem::take(&mut self.running);
        self.finished = if self.stages == 0 {
            running
        } else {
            // The combined marks are at the places where at least one of the two stages has a mark.
            let bends = self.finished.iter().filter_map(|mark| {
                let at = running.partition_point(|later| later.source <= mark.normal);
                let later = running.get(at.checked_sub(1)?)?;
                let bend = later.normal + (mark.normal - later.source);
                running.get(at).is_none_or(|next| bend <= next.normal).then_some(bend)
            });
            let mut places: Vec<usize> = running.iter().map(|mark| mark.normal).chain(bends).collect();
            places.sort_unstable();
            places.dedup();
            let joined = places.into_iter().map(|normal| StepChange {
                normal,
                before: end(&self.finished, end(&running, normal)),
                source: begin(&self.finished, begin(&running, normal)),
            });
            joined.collect()
        };
        self.stages += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NormalizedText, Normalizer};

    /// Returns each word of the normalised text with its source text.
    fn origins(how: &str, source: &str) -> Vec<(String, String)> {
        let mut text = NormalizedText::new();
        let origins = Normalizer::new(how.parse().unwrap()).normalize_tracked_into(source, &mut text);
        let normal = text.as_str();
        let mut words = vec![];
        let mut at = 0;
        for word in normal.split(' ') {
            let range = origins.source_range(source, at..at + word.len());
            words.push((word.to_owned(), source[range].to_owned()));
            at += word.len() + 1;
        }
        words
    }

    #[track_caller]
    fn check(how: &str, source: &str, expected: &[(&str, &str)]) {
        let expected: Vec<(String, String)> =
            expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(origins(how, source), expected);
    }

    #[test]
    fn ascii_runs_in_step() {
        check("nfkc+casefold", "One TWO three", &[("one", "One"), ("two", "TWO"), ("three", "three")]);
    }

    #[test]
    fn folded_space_leads_back() {
        check("none", "  one \n\t two  three ", &[("one", "one"), ("two", "two"), ("three", "three")]);
    }

    #[test]
    fn rewritten_characters_lead_back() {
        check(
            "nfkc+casefold",
            "eﬃcient Ｗｉｄｅ STRASSE Straße cafe\u{301} end",
            &[
                ("efficient", "eﬃcient"),
                ("wide", "Ｗｉｄｅ"),
                ("strasse", "STRASSE"),
                ("strasse", "Straße"),
                ("café", "cafe\u{301}"),
                ("end", "end"),
            ],
        );
    }

    #[test]
    fn all_stages_together() {
        check(
            "nfkc+casefold+strip-markup",
            "<p>One &amp; T<b>W</b>O</p>\n<p>Ｔｈｒｅｅ caf&eacute;<i> end</i>",
            &[
                ("one", "One"),
                ("&", "&amp;"),
                ("two", "T<b>W</b>O"),
                ("three", "Ｔｈｒｅｅ"),
                ("café", "caf&eacute;"),
                ("end", "end"),
            ],
        );
    }
}
