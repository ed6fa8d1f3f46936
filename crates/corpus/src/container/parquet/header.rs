//! Reads the headers of pages.
//!
//! The library reads headers too, but gives away neither their length nor the encoding of a page that it skips. Both are
//! needed to copy a page as it is stored. A header is a structure in the compact protocol of Thrift
//! (`PageHeader` in `parquet.thrift` of the format).

use std::io::Read;

use ::parquet::basic::Encoding;
use ::parquet::errors::{ParquetError, Result};

/// Maximum depth of structures in a header. Headers of the format have a depth of 3.
const MOST_DEPTH: usize = 16;

/// Kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// Page of values, of either version.
    Data,
    Dictionary,
    /// Page of a kind that readers skip.
    Other,
}

/// Fields of a page header that a copy needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    pub(super) kind: PageKind,
    /// Length of the header itself in bytes.
    pub(super) header_bytes: u64,
    /// Length of the stored content in bytes.
    pub(super) stored_bytes: u64,
    /// Length of the decompressed content in bytes.
    pub(super) unfolded_bytes: u64,
    /// CRC-32 of the stored content.
    pub(super) checksum: Option<u32>,
    /// Number of values, including nulls.
    pub(super) values: u64,
    /// Number of rows, which only the second version of data pages states.
    pub(super) rows: Option<u64>,
    /// Encoding of the values; `None` if it is unknown.
    pub(super) encoding: Option<Encoding>,
}

impl PageHeader {
    /// Reads a header.
    pub(super) fn read(from: impl Read) -> Result<Self> {
        let mut thrift = Thrift { from, read: 0 };
        let mut numbers = [None; 5];
        let mut content = Fields::default();
        let mut last = 0;
        while let Some(field) = thrift.field(&mut last)? {
            match (field.number, field.kind) {
                (number @ 1..=4, I32) => numbers[number as usize] = Some(thrift.integer()?),
                // The dictionary, and data of the first version, have the number of values and the encoding first.
                (5 | 7, STRUCT) => content = thrift.content([1, 0, 2])?,
                (8, STRUCT) => content = thrift.content([1, 3, 4])?,
                _ => thrift.skip(field.kind, MOST_DEPTH)?,
            }
        }
        let [_, kind, unfolded, stored, checksum] = numbers;
        let size = |size: Option<i64>| size.and_then(|size| u64::try_from(size).ok());
        let (Some(kind), Some(unfolded_bytes), Some(stored_bytes)) = (kind, size(unfolded), size(stored))
        else {
            return Err(broken());
        };
        let kind = match kind {
            0 | 3 => PageKind::Data,
            2 => PageKind::Dictionary,
            _ => PageKind::Other,
        };
        let [values, rows, encoding] = content.0;
        let values = size(values).or((kind == PageKind::Other).then_some(0)).ok_or_else(broken)?;
        Ok(Self {
            kind,
            header_bytes: thrift.read,
            stored_bytes,
            unfolded_bytes,
            checksum: checksum.map(|checksum| checksum as u32),
            values,
            rows: size(rows),
            encoding: encoding.and_then(encoding_of),
        })
    }

    /// Returns the length of header and content in bytes.
    pub(super) fn page_bytes(&self) -> u64 {
        self.header_bytes + self.stored_bytes
    }
}

/// Returns the encoding that has this number in the Parquet format, or `None` if the number is unknown.
fn encoding_of(number: i64) -> Option<Encoding> {
    Some(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return None,
    })
}

fn broken() -> ParquetError {
    ParquetError::General("a page header is damaged".to_owned())
}

/// Three whole numbers of a structure, in the order in which they were asked for.
#[derive(Default)]
struct Fields([Option<i64>; 3]);

/// Field of a structure.
struct Field {
    number: i16,
    /// Type of the value.
    kind: u8,
}

// Types of values in the compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// Reader of the compact protocol.
struct Thrift<R> {
    from: R,
    /// Number of bytes read.
    read: u64,
}

impl<R: Read> Thrift<R> {
    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(broken())
    }

    /// Reads a whole number, whose sign is its lowest bit.
    fn integer(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    /// Reads the begin of a field; `None` at the end of the structure. `last` is the number of the field before.
    fn field(&mut self, last: &mut i16) -> Result<Option<Field>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let (delta, kind) = (i16::from(byte >> 4), byte & 0x0f);
        let number = if delta == 0 {
            i16::try_from(self.integer()?).map_err(|_| broken())?
        } else {
            last.checked_add(delta).ok_or_else(broken)?
        };
        *last = number;
        Ok(Some(Field { number, kind }))
    }

    /// Reads the whole numbers with these field numbers from a structure. No field has the number 0.
    fn content(&mut self, wanted: [i16; 3]) -> Result<Fields> {
        let (mut found, mut last) = (Fields::default(), 0);
        while let Some(field) = self.field(&mut last)? {
            match wanted.iter().position(|wanted| *wanted == field.number) {
                Some(at) if field.kind == I32 => found.0[at] = Some(self.integer()?),
                _ => self.skip(field.kind, MOST_DEPTH)?,
            }
        }
        Ok(found)
    }

    /// Skips a value of a field.
    fn skip(&mut self, kind: u8, depth: usize) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(broken)?;
        match kind {
            // A boolean field of a structure has no bytes: its type is its value.
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let bytes = self.varint()?;
                self.pass(bytes)
            }
            LIST | SET => {
                let head = self.byte()?;
                let items = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..items {
                    match head & 0x0f {
                        // A boolean in a list takes a byte.
                        TRUE | FALSE => self.pass(1)?,
                        kind => self.skip(kind, depth)?,
                    }
                }
                Ok(())
            }
            STRUCT => {
                let mut last = 0;
                while let Some(field) = self.field(&mut last)? {
                    self.skip(field.kind, depth)?;
                }
                Ok(())
            }
            // No header has a map.
            _ => Err(broken()),
        }
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        let passed = std::io::copy(&mut self.from.by_ref().take(bytes), &mut std::io::sink())?;
        self.read += passed;
        if passed < bytes { Err(broken()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use ::parquet::column::page::{CompressedPage, Page, PageWriter};
    use ::parquet::file::statistics::Statistics;
    use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    /// Writes a page with the library, whose content has 300 bytes and takes 1000 bytes decompressed.
    fn written(page: impl FnOnce(Bytes, Option<Statistics>) -> Page) -> Vec<u8> {
        let mut sink = TrackedWrite::new(vec![]);
        let long = ::parquet::data_type::ByteArray::from("x".repeat(5000).as_str());
        let statistics = Statistics::byte_array(Some(long.clone()), Some(long), None, Some(7), false);
        let page = CompressedPage::new(page(Bytes::from(vec![9; 300]), Some(statistics)), 1000);
        SerializedPageWriter::new(&mut sink).write_page(page).unwrap();
        sink.into_inner().unwrap()
    }

    fn first_version(buf: Bytes, statistics: Option<Statistics>) -> Page {
        Page::DataPage {
            buf,
            num_values: 77,
            encoding: Encoding::DELTA_BYTE_ARRAY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics,
        }
    }

    fn second_version(buf: Bytes, statistics: Option<Statistics>) -> Page {
        Page::DataPageV2 {
            buf,
            num_values: 77,
            encoding: Encoding::RLE_DICTIONARY,
            num_nulls: 5,
            num_rows: 70,
            def_levels_byte_len: 11,
            rep_levels_byte_len: 12,
            is_compressed: false,
            statistics,
        }
    }

    #[test]
    fn headers_of_the_library_are_read() {
        let dictionary =
            |buf, _| Page::DictionaryPage { buf, num_values: 77, encoding: Encoding::PLAIN, is_sorted: true };
        for (bytes, kind, rows, encoding) in [
            (written(first_version), PageKind::Data, None, Encoding::DELTA_BYTE_ARRAY),
            (written(second_version), PageKind::Data, Some(70), Encoding::RLE_DICTIONARY),
            (written(dictionary), PageKind::Dictionary, None, Encoding::PLAIN),
        ] {
            let header = PageHeader::read(&*bytes).unwrap();
            let expected = PageHeader {
                kind,
                header_bytes: (bytes.len() - 300) as u64,
                stored_bytes: 300,
                unfolded_bytes: 1000,
                checksum: None,
                values: 77,
                rows,
                encoding: Some(encoding),
            };
            assert_eq!(header, expected);
            assert_eq!(header.page_bytes(), bytes.len() as u64);
            for len in 0..bytes.len() - 300 {
                PageHeader::read(&bytes[..len]).unwrap_err();
            }
        }
    }

    /// Unknown fields of every type are passed over, and absolute field numbers are read.
    #[test]
    fn unknown_fields_are_passed_over() {
        let fields: &[&[u8]] = &[
            // Fields 1 to 4: an index page of 3 and 2 bytes, with the checksum -1.
            &[0x15, 2, 0x15, 6, 0x15, 4, 0x15, 1],
            // Field 20 is true, field 21 a byte, field 22 a double, and field 23 two bytes.
            &[0x01, 40, 0x13, 5, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x18, 2, 1, 1],
            // Field 24 is a list of two booleans, field 25 a set of 16 numbers, and field 26 a list of structures.
            &[0x19, 0x21, 1, 2, 0x1a, 0xf5, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x19, 0x1c, 0x12, 0x16, 0x80, 1, 0, 0],
        ];
        let bytes = fields.concat();
        let header = PageHeader::read(&*bytes).unwrap();
        assert_eq!((header.kind, header.header_bytes), (PageKind::Other, bytes.len() as u64));
        assert_eq!((header.stored_bytes, header.unfolded_bytes, header.values), (2, 3, 0));
        assert_eq!((header.checksum, header.encoding), (Some(u32::MAX), None));
    }

    #[test]
    fn damaged_headers_are_refused() {
        for bytes in [
            // The sizes are missing, negative or too long, and a map or a value without end are unknown.
            &[0x15, 0, 0][..],
            &[0x15, 0, 0x15, 1, 0x15, 0, 0],
            &[0x15, 0, 0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            &[0x1b, 0x10, 0],
            &[0x0c; 100],
            &[0x5c; 100],
            &[0x08, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            PageHeader::read(bytes).unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = PageHeader::read(&*bytes);
        }
    }
}
