//! Reading a PDF.

use std::fmt;
use std::sync::atomic::AtomicUsize;

use pdf_extract::{ConvertToFmt, Document, PlainTextOutput, output_doc_page};

use super::super::writing::TextWriter;
use super::super::{DocumentFormat, ExtractLimits, Extracted, MarkPlace, Refusal};
use super::lines::join_divided_words;
use super::worker::{Deadline, ThreadSlot, apart, guarded};
use super::{bombs, disarm, properties};

/// Threads that read one.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// The text of a PDF.
pub(in super::super) fn extract(bytes: &[u8], limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    // The thread may outlive its time, so it has to own what it reads.
    let (bytes, limits) = (bytes.to_vec(), limits.clone());
    let place = ThreadSlot::take(&RUNNING, limits.threads)?;
    apart(limits.time, place, move || read(&bytes, &limits, &Deadline::after(limits.time)))
}

fn read(bytes: &[u8], limits: &ExtractLimits, deadline: &Deadline) -> Result<Extracted, Refusal> {
    bombs::check(bytes, limits, deadline)?;
    let mut document = load(bytes)?;
    disarm::disarm(&mut document, limits)?;
    let pages = document.get_pages().len() as u32;
    if pages == 0 {
        return Err(Refusal::broken("there are no pages in it"));
    }
    let mut writing = TextWriter::new(limits);
    let (mut is_blank, mut failure) = (true, None);
    for number in 1..=pages {
        deadline.check()?;
        let text = match page(&document, number, limits, deadline) {
            Ok(text) => text,
            Err(failed) => {
                failure = Some(failed.why);
                failed.text
            }
        };
        deadline.check()?;
        is_blank &= text.trim().is_empty();
        writing.begin(MarkPlace::Page(number));
        writing.push(join_divided_words(&text).trim());
        writing.check()?;
    }
    match failure {
        Some(why) if is_blank => return Err(Refusal::Broken { why }),
        None if is_blank => return Err(Refusal::OnlyPictures),
        _ => {}
    }
    let (text, marks) = writing.finish()?;
    let (title, metadata) = properties::read(&document);
    Ok(Extracted { title, metadata, marks, ..Extracted::new(DocumentFormat::Pdf, text) })
}

/// Parses a file. What is encrypted with no password at all, against printing or copying, is for all to read.
fn load(bytes: &[u8]) -> Result<Document, Refusal> {
    let document = match Document::load_mem(bytes) {
        Ok(document) => document,
        Err(pdf_extract::Error::Decryption(_) | pdf_extract::Error::InvalidPassword) => {
            return Err(Refusal::Encrypted);
        }
        Err(error) => return Err(Refusal::broken(error)),
    };
    if document.is_encrypted() && !document.was_encrypted() { Err(Refusal::Encrypted) } else { Ok(document) }
}

/// A page that neither way could read whole.
struct Failed {
    text: String,
    why: String,
}

/// The text of a page: by `pdf-extract`, and where that fails by `lopdf`, which knows fewer fonts and puts up with more.
fn page(
    document: &Document,
    number: u32,
    limits: &ExtractLimits,
    deadline: &Deadline,
) -> Result<String, Failed> {
    let mut text = BoundedText { text: String::new(), limits, deadline };
    let careful = guarded(|| output_doc_page(document, &mut PlainTextOutput::new(&mut text), number));
    let why = match careful {
        Ok(Ok(())) => return Ok(text.text),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    match guarded(|| document.extract_text(&[number])) {
        Ok(Ok(plain)) if !plain.trim().is_empty() => Ok(plain),
        // What was found before it failed is better than nothing.
        _ => Err(Failed { text: text.text, why }),
    }
}

/// A text that does not grow beyond its limit, nor after its time.
struct BoundedText<'l> {
    text: String,
    limits: &'l ExtractLimits,
    deadline: &'l Deadline,
}

impl fmt::Write for BoundedText<'_> {
    fn write_str(&mut self, characters: &str) -> fmt::Result {
        let bytes = (self.text.len() + characters.len()) as u64;
        if bytes > self.limits.unfolded_bytes || self.deadline.check().is_err() {
            return Err(fmt::Error);
        }
        self.text.push_str(characters);
        Ok(())
    }
}

impl<'b, 'l> ConvertToFmt for &'b mut BoundedText<'l> {
    type Writer = &'b mut BoundedText<'l>;

    fn convert(self) -> Self::Writer {
        self
    }
}
