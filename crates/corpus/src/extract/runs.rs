//! Reads runs of text in Word and PowerPoint. Office Open XML calls the characters of a run `t`, and paragraphs,
//! breaks and table cells end lines. Each format has a rule for its other elements.

use super::ExtractLimits;
use super::writing::TextWriter;
use super::xml::{Element, Enter, Visitor};

/// Rule of a format for elements that have a special meaning in it.
pub(super) type ElementRule = fn(&Element<'_>, &mut TextWriter<'_>) -> Enter;

/// Visitor that writes the text of runs.
pub(super) struct TextRuns<'l> {
    pub(super) writing: TextWriter<'l>,
    in_text: bool,
    rule: ElementRule,
}

impl<'l> TextRuns<'l> {
    pub(super) fn new(limits: &'l ExtractLimits, rule: ElementRule) -> Self {
        Self { writing: TextWriter::new(limits), in_text: false, rule }
    }
}

impl Visitor for TextRuns<'_> {
    fn open(&mut self, element: &Element<'_>) -> Enter {
        match element.name() {
            // If content is written twice, for new and for old programs, the new version is read.
            "Fallback" => return Enter::No,
            "t" => self.in_text = true,
            "br" => self.writing.end_line(),
            _ => return (self.rule)(element, &mut self.writing),
        }
        Enter::Yes
    }

    fn characters(&mut self, characters: &str) {
        if self.in_text {
            self.writing.push(characters);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "p" | "tc" => self.writing.end_line(),
            _ => {}
        }
    }
}
