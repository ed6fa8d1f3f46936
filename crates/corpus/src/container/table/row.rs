//! Reads a row as a document, and stores it as bytes that can be read again.

use std::borrow::Cow;

use crate::document::Document;
use crate::field::join;
use crate::options::ReadOptions;
use crate::reject::{Reject, RejectReason};

/// Values of a row from which a document is made; `None` for null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRow<'r> {
    /// The text of each text field.
    pub(crate) texts: Vec<Option<Cow<'r, [u8]>>>,
    pub(crate) id: Option<&'r [u8]>,
    /// Size of the text of the row in bytes. If this is over the limit, texts may have been left out.
    pub(crate) text_bytes: u64,
}

/// A column of texts, one per row.
pub(crate) trait TextColumn {
    /// Returns the text of a row, counted from 0: its value, or the texts in its lists, joined; `None` for null. An
    /// element that is null adds nothing, so a list without texts gives an empty text.
    fn text(&self, row: usize) -> Option<Cow<'_, [u8]>>;

    /// Returns the size of the text of a row in bytes.
    fn text_bytes(&self, row: usize) -> u64;

    /// Reports whether rows have lists, whose texts are joined.
    fn has_lists(&self) -> bool;
}

impl<'r> TableRow<'r> {
    /// Makes the row number `row`, counted from 0, of a table with these text columns. If its text has more bytes than
    /// `limit`, texts in lists are left out, because a dictionary can make gigabytes of text out of a few bytes.
    pub(crate) fn of(texts: &'r [impl TextColumn], row: usize, id: Option<&'r [u8]>, limit: u64) -> Self {
        let text_bytes = texts.iter().map(|text| text.text_bytes(row)).sum();
        let is_long = text_bytes > limit;
        let texts = texts.iter().map(|text| if is_long && text.has_lists() { None } else { text.text(row) });
        Self { texts: texts.collect(), id, text_bytes }
    }

    /// Returns the document of the row, or the reason why the row is no document.
    pub(crate) fn document(self, options: &ReadOptions) -> Result<Document<'r>, Reject> {
        let id = self.id.filter(|id| !id.is_empty()).map(utf8).transpose().map_err(Reject::new)?;
        let reject = |reason| Reject { reason, id: id.map(str::to_owned) };
        let (bytes, limit) = (self.text_bytes, options.record_limit());
        if bytes > limit {
            return Err(reject(RejectReason::TooLarge { bytes, limit }));
        }
        let texts = self.texts.into_iter().map(|text| text.map(text_of).transpose());
        let texts: Vec<Option<Cow<'r, str>>> = texts.collect::<Result<_, _>>().map_err(reject)?;
        match join(texts.into_iter()) {
            Some(text) => {
                Ok(Document { id: id.map(Cow::Borrowed), text, repaired: false, values: vec![], about: None })
            }
            None => Err(reject(RejectReason::Null { field: options.text_names() })),
        }
    }

    /// Appends the row to `bytes`: the size of its text, then each value behind its length. A length with all bits
    /// set is a null.
    pub(crate) fn push_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.text_bytes.to_le_bytes());
        for value in self.texts.iter().map(Option::as_deref).chain([self.id]) {
            let len = value.map_or(u64::MAX, |value| value.len() as u64);
            bytes.extend_from_slice(&len.to_le_bytes());
            bytes.extend_from_slice(value.unwrap_or_default());
        }
    }

    /// Reads a row that [`push_to`](Self::push_to) wrote; `None` if the bytes are not such a row.
    pub(crate) fn from_bytes(bytes: &'r [u8], texts: usize) -> Option<Self> {
        let (text_bytes, mut bytes) = bytes.split_first_chunk::<8>()?;
        let mut next = || -> Option<Option<&'r [u8]>> {
            let (len, rest) = bytes.split_first_chunk::<8>()?;
            let len = u64::from_le_bytes(*len);
            if len == u64::MAX {
                bytes = rest;
                return Some(None);
            }
            let (value, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
            bytes = rest;
            Some(Some(value))
        };
        let texts = (0..texts).map(|_| Some(next()?.map(Cow::Borrowed))).collect::<Option<_>>()?;
        let id = next()?;
        let text_bytes = u64::from_le_bytes(*text_bytes);
        bytes.is_empty().then_some(Self { texts, id, text_bytes })
    }
}

/// Converts bytes to a text. Borrowed bytes are not copied.
fn text_of(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>, RejectReason> {
    match bytes {
        Cow::Borrowed(bytes) => utf8(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|error| RejectReason::InvalidUtf8 { at: error.utf8_error().valid_up_to() as u64 }),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, RejectReason> {
    simdutf8::compat::from_utf8(bytes)
        .map_err(|error| RejectReason::InvalidUtf8 { at: error.valid_up_to() as u64 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::field::FieldPath;

    fn row<'r>(texts: &[Option<&'r str>], id: Option<&'r str>) -> TableRow<'r> {
        let text_bytes = texts.iter().flatten().map(|text| text.len() as u64).sum();
        let texts = texts.iter().map(|text| text.map(|text| Cow::Borrowed(text.as_bytes()))).collect();
        TableRow { texts, id: id.map(str::as_bytes), text_bytes }
    }

    #[test]
    fn a_row_is_a_document_or_says_why_not() {
        let options = ReadOptions { max_record_bytes: 5, ..ReadOptions::default() };
        let document = row(&[Some("one")], Some("a")).document(&options).unwrap();
        assert_eq!((document.id.as_deref(), &*document.text), (Some("a"), "one"));
        assert!(matches!(document.text, Cow::Borrowed(_)));
        assert_eq!(row(&[Some("")], Some("")).document(&options).unwrap().id, None);
        let null = row(&[None], Some("b")).document(&options).unwrap_err();
        assert_eq!(null.to_string(), "record `b`: the field `text` holds null");
        let large = row(&[Some("much too long")], None).document(&options).unwrap_err();
        assert_eq!(large.reason, RejectReason::TooLarge { bytes: 13, limit: 5 });
        for broken in [Cow::Borrowed(&b"a\xff"[..]), Cow::Owned(b"a\xff".to_vec())] {
            let row = TableRow { texts: vec![Some(broken)], id: None, text_bytes: 2 };
            assert_eq!(row.document(&options).unwrap_err().reason, RejectReason::InvalidUtf8 { at: 1 });
        }
        let left_out = TableRow { texts: vec![None], id: None, text_bytes: 6 };
        let mut bytes = Vec::new();
        left_out.push_to(&mut bytes);
        let again = TableRow::from_bytes(&bytes, 1).unwrap().document(&options).unwrap_err();
        assert_eq!(again.reason, RejectReason::TooLarge { bytes: 6, limit: 5 });
    }

    #[test]
    fn several_texts_are_joined() {
        let options = ReadOptions { text_fields: FieldPath::list("t,b").unwrap(), ..ReadOptions::default() };
        let text =
            |texts: &[Option<&str>]| row(texts, None).document(&options).map(|found| found.text.into_owned());
        assert_eq!(text(&[Some("t"), Some("b")]).unwrap(), "t\nb");
        assert_eq!(text(&[None, Some("b")]).unwrap(), "\nb");
        assert_eq!(text(&[None, None]).unwrap_err().reason.code(), "null");
    }

    proptest! {
        #[test]
        fn written_rows_are_read_back(texts in prop::collection::vec(any::<Option<String>>(), 1..4), id in any::<Option<String>>()) {
            let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
            let row = row(&texts, id.as_deref());
            let mut bytes = Vec::new();
            row.push_to(&mut bytes);
            prop_assert_eq!(TableRow::from_bytes(&bytes, texts.len()), Some(row));
            prop_assert_eq!(TableRow::from_bytes(&bytes[1..], texts.len()), None);
        }
    }
}
