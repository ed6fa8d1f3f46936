//! Formats and their names.

use std::fmt;

/// Format of a source.
///
/// A format is only a name. Each folder of `container` defines its formats as constants, such as `Format::JSONL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    name: &'static str,
    title: &'static str,
    layout: Layout,
    is_in_memory: bool,
}

/// Whether a source holds many documents or is one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a file is a document or has documents in it")]
pub enum Layout {
    /// Each record of a source is a document.
    Records,
    /// Each source is a document.
    Texts,
}

impl Format {
    /// Makes a format from its name on the command line, its name in a sentence, and its layout.
    pub(crate) const fn new(name: &'static str, title: &'static str, layout: Layout) -> Self {
        Self { name, title, layout, is_in_memory: false }
    }

    /// Makes a format of documents that a program holds in memory. No file has such a format.
    pub(crate) const fn in_memory(name: &'static str, title: &'static str, layout: Layout) -> Self {
        Self { name, title, layout, is_in_memory: true }
    }

    /// Reports whether sources of this format lie in the memory of the program, not in files.
    pub fn is_in_memory(self) -> bool {
        self.is_in_memory
    }

    /// Returns the name in options and messages, which `FromStr` parses.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the name in a sentence.
    pub(crate) fn title(self) -> &'static str {
        self.title
    }

    /// Returns whether a source of this format holds many documents or is one document.
    pub fn layout(self) -> Layout {
        self.layout
    }

    /// Reports whether a source of this format holds many documents.
    pub(crate) fn is_of_records(self) -> bool {
        self.layout == Layout::Records
    }
}

/// Writes the name of the format in a sentence.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title)
    }
}

/// Format of the inputs, as the caller states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputFormat {
    /// Recognises the format by the magic number, else by the name, else by the content. By content, a file is JSONL
    /// if its first line is a JSON object; any other file is a document.
    #[default]
    Auto,
    /// Reads all inputs in this format, whatever their names are.
    Only(Format),
}
