//! Reads PDFs, if the feature `pdf` is on.

use std::sync::atomic::AtomicUsize;

use hayro_syntax::{LoadPdfError, Pdf};

use super::super::writing::TextWriter;
use super::super::{DocumentFormat, ExtractLimits, Extracted, MarkPlace, Refusal};
use super::fonts::Fonts;
use super::lines::join_divided_words;
use super::worker::{Deadline, ThreadSlot, apart};
use super::{bombs, content, properties};

/// Number of threads that are reading a PDF.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Extracts the text of a PDF.
pub(in super::super) fn extract(bytes: &[u8], limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    // The bytes are copied, because the thread may outlive this call if it takes too long.
    let (bytes, limits) = (bytes.to_vec(), limits.clone());
    let place = ThreadSlot::take(&RUNNING, limits.threads)?;
    apart(limits.time, place, move || read(bytes, &limits, &Deadline::after(limits.time)))
}

fn read(bytes: Vec<u8>, limits: &ExtractLimits, deadline: &Deadline) -> Result<Extracted, Refusal> {
    bombs::check(&bytes, limits, deadline)?;
    let pdf = match Pdf::new(bytes) {
        Ok(pdf) => pdf,
        Err(LoadPdfError::Decryption(_)) => return Err(Refusal::Encrypted),
        Err(LoadPdfError::Invalid) => {
            return Err(Refusal::broken("there is no table of its objects, or it has no pages"));
        }
    };
    let pages = pdf.pages();
    if pages.is_empty() {
        return Err(Refusal::broken("there are no pages in it"));
    }
    if pages.len() > limits.pages {
        return Err(Refusal::TooManyPages { pages: pages.len(), limit: limits.pages });
    }
    bombs::check_loaded(&pdf, limits, deadline)?;
    let mut writing = TextWriter::new(limits);
    let mut fonts = Fonts::new();
    let (mut is_blank, mut is_damaged, mut has_unknown_letters, mut has_drawings) =
        (true, false, false, false);
    for (number, page) in (1..).zip(pages.iter()) {
        let found = content::read(page, &mut fonts, limits, deadline)?;
        is_blank &= found.text.trim().is_empty();
        is_damaged |= found.is_damaged;
        has_unknown_letters |= found.has_unknown_letters;
        has_drawings |= found.has_drawings;
        writing.begin(MarkPlace::Page(number));
        writing.push(join_divided_words(&found.text).trim());
        writing.check()?;
    }
    // A file without text is accepted only if its pages are empty.
    if is_blank && is_damaged {
        return Err(Refusal::broken("its pages cannot be decoded"));
    } else if is_blank && has_unknown_letters {
        return Err(Refusal::UnknownLetters);
    } else if is_blank && has_drawings {
        return Err(Refusal::OnlyPictures);
    }
    let (text, marks) = writing.finish()?;
    let (title, metadata) = properties::read(&pdf);
    Ok(Extracted { title, metadata, marks, ..Extracted::new(DocumentFormat::Pdf, text) })
}
