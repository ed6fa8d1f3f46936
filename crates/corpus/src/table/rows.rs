//! The rows of a piece as documents.

use std::borrow::Cow;

use super::cells::Cells;
use crate::document::Document;
use crate::options::ReadOptions;
use crate::record::join;
use crate::reject::{Reject, RejectReason};

/// The text and the id of some rows, decoded.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(super) first_row: u64,
    /// One column for each text field.
    pub(super) texts: Vec<Cells>,
    pub(super) id: Option<Cells>,
}

impl Rows {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.texts.first().map_or(0, Cells::len)
    }

    /// The memory they take.
    pub(super) fn size_bytes(&self) -> usize {
        self.texts.iter().chain(&self.id).map(Cells::size_bytes).sum()
    }

    /// The bytes of the text of a row, counted from 0 within the piece.
    pub(super) fn text_bytes(&self, row: usize) -> u64 {
        self.texts.iter().filter_map(|text| text.get(row)).map(|text| text.len() as u64).sum()
    }

    /// A row as a document, counted from 0 within the piece.
    pub(super) fn document(&self, row: usize, options: &ReadOptions) -> Result<Document<'_>, Reject> {
        let id = self.id.as_ref().and_then(|ids| ids.get(row)).filter(|id| !id.is_empty());
        let id = id.map(utf8).transpose().map_err(Reject::new)?;
        let reject = |reason| Reject { reason, id: id.map(str::to_owned) };
        let (bytes, limit) = (self.text_bytes(row), options.record_limit());
        if bytes > limit {
            return Err(reject(RejectReason::TooLarge { bytes, limit }));
        }
        let text = match (&*self.texts, &*options.text_fields) {
            ([text], [field]) => match text.get(row) {
                Some(text) => Cow::Borrowed(utf8(text).map_err(reject)?),
                None => {
                    return Err(reject(RejectReason::WrongType { field: field.to_string(), found: "null" }));
                }
            },
            (texts, _) => {
                let texts = texts.iter().map(|text| text.get(row).map(utf8).transpose());
                let texts: Vec<Option<&str>> = texts.collect::<Result<_, _>>().map_err(reject)?;
                let joined = join(texts.into_iter().map(|text| text.map(Cow::Borrowed)));
                joined.ok_or_else(|| reject(RejectReason::MissingField { field: options.text_names() }))?
            }
        };
        Ok(Document { id: id.map(Cow::Borrowed), text, repaired: false })
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, RejectReason> {
    simdutf8::compat::from_utf8(bytes)
        .map_err(|error| RejectReason::InvalidUtf8 { at: error.valid_up_to() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FieldPath;

    fn cells(values: &[Option<&str>]) -> Cells {
        let mut cells = Cells::default();
        for value in values {
            cells.push(value.map(str::as_bytes));
        }
        cells
    }

    #[test]
    fn a_row_is_a_document_or_says_why_not() {
        let mut texts = cells(&[Some("one"), None, Some("much too long")]);
        texts.push(Some(b"\xff"));
        let id = Some(cells(&[Some("a"), Some("b"), None, Some("")]));
        let rows = Rows { first_row: 7, texts: vec![texts], id };
        let options = ReadOptions { max_record_bytes: 5, ..ReadOptions::default() };
        let document = rows.document(0, &options).unwrap();
        assert_eq!((document.id.as_deref(), &*document.text), (Some("a"), "one"));
        let null = rows.document(1, &options).unwrap_err();
        assert_eq!(
            (null.reason.to_string(), null.id.as_deref()),
            ("the field `text` holds null".into(), Some("b"))
        );
        assert_eq!(rows.document(2, &options).unwrap_err().reason.code(), "too_large");
        assert_eq!(rows.document(3, &options).unwrap_err(), Reject::new(RejectReason::InvalidUtf8 { at: 0 }));
    }

    #[test]
    fn several_texts_are_joined() {
        let texts = vec![cells(&[Some("t"), None, None]), cells(&[Some("b"), Some("b"), None])];
        let rows = Rows { first_row: 0, texts, id: None };
        let options = ReadOptions { text_fields: FieldPath::list("t,b").unwrap(), ..ReadOptions::default() };
        assert_eq!(rows.document(0, &options).unwrap().text, "t\nb");
        assert_eq!(rows.document(1, &options).unwrap().text, "\nb");
        assert_eq!(rows.document(2, &options).unwrap_err().reason.code(), "missing_field");
    }
}
