//! Extracts the text of documents.
//!
//! [`extract`] takes the bytes of one file of any kind, and returns its text, its title, its other properties, and
//! marks: the places in the text at which pages, paragraphs, slides or chapters begin. The function is pure: it reads
//! no files and no network, and keeps no state. Files may be hostile, so every format is read within
//! [`ExtractLimits`]. A file without text gives a [`Refusal`] in words.
//!
//! The kind of a file follows from its bytes, not from its name. The name decides only between kinds that are all
//! plain characters: text, a fragment of HTML, and Markdown.
//!
//! Paragraphs, headings, list items and table cells end in a line break. The place of notes depends on the format: in
//! Word they are at the end, in OpenDocument where they are called. Deleted text in tracked changes, codes of fields,
//! comments in the margin, scripts and styles are not text.
//!
//! | file | read by | marks | title |
//! |---|---|---|---|
//! | text | `plain`, as it is | | |
//! | Markdown | `markdown`, as it is, without front matter | | front matter, or the first heading |
//! | HTML | `html`, the tokens of html5ever | | `<title>` |
//! | Word (`.docx`) | `docx` | paragraphs | its properties |
//! | OpenDocument text (`.odt`) | `odt` | paragraphs | its properties |
//! | PowerPoint (`.pptx`) | `pptx` | slides | its properties |
//! | EPUB | `epub`, each chapter by `html` | chapters | its package |
//! | PDF | `pdf`, on a thread of its own | pages | its properties |
//!
//! HTML needs the feature `html`, Word, OpenDocument and PowerPoint need `office`, EPUB needs both, and PDF needs
//! `pdf`. A kind whose feature is missing is recognised all the same, and its refusal names the feature.

#[cfg(feature = "office")]
mod archive;
#[cfg(feature = "office")]
mod docx;
#[cfg(all(feature = "html", feature = "office"))]
mod epub;
#[cfg(feature = "html")]
mod html;
mod limits;
mod markdown;
mod mistaken;
#[cfg(feature = "office")]
mod odt;
#[cfg(feature = "office")]
mod package;
mod pdf;
mod plain;
#[cfg(feature = "office")]
mod pptx;
#[cfg(feature = "office")]
mod properties;
mod recognise;
#[cfg(feature = "office")]
mod runs;
#[cfg(any(feature = "html", feature = "office", feature = "pdf"))]
mod writing;
#[cfg(feature = "office")]
mod xml;
#[cfg(feature = "office")]
mod zipped;

use std::collections::BTreeMap;
use std::fmt;

use crate::refusal::Refusal;
pub use limits::ExtractLimits;
pub(crate) use markdown::body as markdown_body;
pub use mistaken::MistakenInput;
pub(crate) use mistaken::mistaken;
#[cfg(feature = "warc")]
pub(crate) use plain::UNKNOWN;
pub(crate) use plain::{NUL_LOOK_BYTES, has_many_nuls, is_binary, unknown};
pub(crate) use recognise::{Recognised, recognise};

#[cfg(feature = "warc")]
use crate::decode::Decoded;

/// Kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML or XHTML.
    Html,
    /// Word, since 2007.
    Docx,
    /// OpenDocument text.
    Odt,
    /// PowerPoint, since 2007.
    Pptx,
    /// EPUB.
    Epub,
    /// PDF.
    Pdf,
}

impl DocumentFormat {
    /// Returns the name for programs: the usual file extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Odt => "odt",
            Self::Pptx => "pptx",
            Self::Epub => "epub",
            Self::Pdf => "pdf",
        }
    }
}

impl fmt::Display for DocumentFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Text and properties of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extracted {
    /// Kind of the document.
    pub format: DocumentFormat,
    /// Text of the document.
    pub text: String,
    /// Title, if the file states one.
    pub title: Option<String>,
    /// Other properties that the file states: `author`, `created`, `modified`, `language`, `subject`, `keywords`,
    /// `description`; in Markdown, all values of the front matter.
    pub metadata: BTreeMap<String, String>,
    /// Offsets in the text at which pages, paragraphs, slides or chapters begin, ascending. Parts without text have
    /// no mark.
    pub marks: Vec<ExtractedMark>,
    /// Whether invalid characters were replaced by U+FFFD.
    pub repaired: bool,
}

impl Extracted {
    fn new(format: DocumentFormat, text: String) -> Self {
        Self { format, text, title: None, metadata: BTreeMap::new(), marks: Vec::new(), repaired: false }
    }

    /// Returns the page, paragraph, slide or chapter that contains the byte `offset` of the text, by the last mark at
    /// or before that byte.
    pub fn place_of(&self, offset: usize) -> Option<MarkPlace> {
        let after = self.marks.partition_point(|mark| mark.offset <= offset);
        Some(self.marks.get(after.checked_sub(1)?)?.place)
    }
}

/// Properties that a file states, without its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProperties {
    /// Title, if the file states one.
    pub title: Option<String>,
    /// Other properties, as in [`Extracted::metadata`].
    pub metadata: BTreeMap<String, String>,
    /// Offsets in the text at which pages, paragraphs, slides or chapters begin, ascending.
    pub marks: Vec<ExtractedMark>,
}

/// Place in an extracted text at which a page, a paragraph, a slide or a chapter begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractedMark {
    /// Offset of the place in the text, in bytes.
    pub offset: usize,
    /// Page, paragraph, slide or chapter that begins at the offset.
    pub place: MarkPlace,
}

/// Number of the page, paragraph, slide or chapter at an [`ExtractedMark`], counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MarkPlace {
    /// A page.
    Page(u32),
    /// A paragraph. Paragraphs without text are not counted.
    Paragraph(u32),
    /// A slide.
    Slide(u32),
    /// A chapter.
    Chapter(u32),
}

impl fmt::Display for MarkPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(number) => write!(f, "page {number}"),
            Self::Paragraph(number) => write!(f, "paragraph {number}"),
            Self::Slide(number) => write!(f, "slide {number}"),
            Self::Chapter(number) => write!(f, "chapter {number}"),
        }
    }
}

/// Extracts the text of a file of any kind.
///
/// If a text does not state its encoding, a byte-order mark decides. Without a mark, the encoding is UTF-8 if the
/// bytes are valid UTF-8, else it is guessed from the bytes. `name` is used only if the bytes do not show the kind of
/// the file.
///
/// ```
/// use minwise_corpus::{ExtractLimits, extract};
///
/// let page = b"<!doctype html><title>Flowers</title><p>A rose<p>is a&nbsp;rose";
/// let found = extract(page, None, &ExtractLimits::default())?;
/// assert_eq!(found.text, "A rose\nis a\u{a0}rose\n");
/// assert_eq!(found.title.as_deref(), Some("Flowers"));
/// # Ok::<(), minwise_corpus::Refusal>(())
/// ```
///
/// # Errors
/// Fails with a [`Refusal`] if the file gives no text:
/// - [`TooLarge`](Refusal::TooLarge), [`TooDeep`](Refusal::TooDeep), [`TooManyPages`](Refusal::TooManyPages),
///   [`TooSlow`](Refusal::TooSlow): the file exceeds `limits`.
/// - [`Busy`](Refusal::Busy): too many other PDFs are being read at the same time.
/// - [`Encrypted`](Refusal::Encrypted), [`OnlyPictures`](Refusal::OnlyPictures),
///   [`UnknownLetters`](Refusal::UnknownLetters), [`Broken`](Refusal::Broken): the content of the file cannot be
///   read.
/// - [`Unsupported`](Refusal::Unsupported): files of this kind are not read.
/// - [`MissingFeature`](Refusal::MissingFeature): the program was built without this kind.
pub fn extract(bytes: &[u8], name: Option<&str>, limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    limits.check_bytes(bytes.len())?;
    extract_as(recognise(bytes, name)?, bytes, limits)
}

/// Extracts the text of a file that was already recognised and is within the limit.
pub(crate) fn extract_as(
    kind: Recognised,
    bytes: &[u8],
    limits: &ExtractLimits,
) -> Result<Extracted, Refusal> {
    match kind {
        Recognised::Text => plain::extract(bytes),
        Recognised::Markdown => markdown::extract(bytes),
        #[cfg(feature = "html")]
        Recognised::Html => html::extract(bytes, limits),
        #[cfg(not(feature = "html"))]
        Recognised::Html => Err(NO_HTML),
        Recognised::Pdf => pdf::extract(bytes, limits),
        #[cfg(feature = "office")]
        Recognised::Zip => zipped::extract(bytes, limits),
        // The parts of the archive would show its kind, but nothing can open the archive without the feature.
        #[cfg(not(feature = "office"))]
        Recognised::Zip => {
            Err(Refusal::MissingFeature { what: "an Office document or another archive", feature: "office" })
        }
    }
}

/// Refusal of HTML by a program that was built without it.
#[cfg(not(feature = "html"))]
const NO_HTML: Refusal = Refusal::MissingFeature { what: "HTML", feature: "html" };

/// Extracts the text of a page that is already decoded, because an HTTP header states its encoding.
#[cfg(all(feature = "html", feature = "warc"))]
pub(crate) fn extract_page(page: &Decoded<'_>, limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    html::extract_decoded(page, limits)
}

/// Refuses every page, because HTML is not compiled in.
#[cfg(all(not(feature = "html"), feature = "warc"))]
pub(crate) fn extract_page(_page: &Decoded<'_>, _limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    Err(NO_HTML)
}
