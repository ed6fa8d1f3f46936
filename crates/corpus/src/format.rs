//! Names of formats.

use std::fmt;

/// The format of a source.
///
/// A format is a name; each folder of `container` defines its own as a constant, such as `Format::JSONL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    name: &'static str,
    title: &'static str,
    layout: Layout,
    is_in_memory: bool,
}

/// Whether a source holds many documents or is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a file is a document or has documents in it")]
pub enum Layout {
    /// Each record of a source is a document.
    Records,
    /// Each source is a document.
    Texts,
}

impl Format {
    /// A format with its name on the command line and in a sentence.
    pub(crate) const fn new(name: &'static str, title: &'static str, layout: Layout) -> Self {
        Self { name, title, layout, is_in_memory: false }
    }

    /// A format of documents that a program holds in memory. No file is of such a format.
    pub(crate) const fn in_memory(name: &'static str, title: &'static str, layout: Layout) -> Self {
        Self { name, title, layout, is_in_memory: true }
    }

    /// Whether sources of this format lie in the memory of the program, not in files.
    pub fn is_in_memory(self) -> bool {
        self.is_in_memory
    }

    /// The name in options and messages, which `FromStr` reads.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The name in a sentence.
    pub(crate) fn title(self) -> &'static str {
        self.title
    }

    /// Whether a source of this format holds many documents or is one.
    pub fn layout(self) -> Layout {
        self.layout
    }

    /// Whether a source of this format holds many documents.
    pub(crate) fn is_of_records(self) -> bool {
        self.layout == Layout::Records
    }
}

/// The format as it is written in a sentence.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title)
    }
}

/// The format that the caller states for the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputFormat {
    /// The format follows from the magic number, else from the name, else from the content: JSONL if the first line is a JSON object, else a
    /// document.
    #[default]
    Auto,
    /// All inputs have this format, whatever their names.
    Only(Format),
}
