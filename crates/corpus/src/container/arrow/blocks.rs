//! Finds the messages of a file or stream.

use std::sync::{Arc, Mutex};

use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};

use super::dictionaries::Dictionaries;
use super::{ArrowFile, ArrowLayout, BatchBlock};
use crate::container::table::{Foreign, OpenTable, Piece, WantedColumns, guarded, wanted};
use crate::error::Result;
use crate::options::ReadOptions;
use crate::source::SourceReader;

const MAGIC: &[u8] = b"ARROW1";
/// Length of the trailer of a file: the length of the footer, then the magic number.
const TRAILER_BYTES: u64 = 10;
/// Marker before the length of a message. Only very old streams lack this marker.
const CONTINUATION: [u8; 4] = [0xff; 4];

impl ArrowFile {
    /// Finds the messages and the columns of a file or stream.
    pub(super) fn open(reader: &SourceReader, options: &ReadOptions) -> Result<OpenTable<Self>> {
        let mut head = [0; MAGIC.len()];
        let is_file = reader.size_bytes() >= head.len() as u64 && {
            reader.read_exact_at(0, &mut head)?;
            head == MAGIC
        };
        let walk = if is_file { from_footer(reader)? } else { from_stream(reader)? };
        let WantedColumns { columns, ways } = wanted(reader.name(), &walk.schema, options)?;

        let pieces = walk
            .batches
            .iter()
            .map(|batch| Piece { first_row: batch.first_row, size_bytes: batch.block.bodyLength() as u64 });
        let pieces = pieces.collect();
        let rows = walk.rows;
        let BlockWalk { schema, shape, dictionaries, batches, remarks, .. } = walk;
        let form = Self {
            schema: Arc::new(schema),
            shape,
            dictionaries,
            batches,
            remarks,
            columns,
            ways,
            decoder: Mutex::default(),
        };
        Ok(OpenTable { pieces, rows, form })
    }
}

/// The messages that were found so far in a file or stream.
struct BlockWalk {
    schema: Schema,
    shape: ArrowLayout,
    dictionaries: Dictionaries,
    batches: Vec<BatchBlock>,
    rows: u64,
    remarks: Vec<(String, String)>,
}

impl BlockWalk {
    fn new(schema: Schema, shape: ArrowLayout) -> Self {
        let (dictionaries, batches, remarks) = (Dictionaries::new(&schema), vec![], vec![]);
        Self { schema, shape, dictionaries, batches, rows: 0, remarks }
    }

    fn add(&mut self, message: &Message<'_>, block: Block) -> Result<(), ArrowError> {
        match message.header_type() {
            MessageHeader::DictionaryBatch => {
                let batch = message.header_as_dictionary_batch();
                let batch = batch.ok_or_else(|| wrong("the message says nothing of its dictionary"))?;
                let added = self.dictionaries.add(block, batch.id(), batch.isDelta());
                added.ok_or_else(|| wrong("it extends a dictionary that is not there"))?;
            }
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch();
                let batch = batch.ok_or_else(|| wrong("the message says nothing of its rows"))?;
                let rows = u64::try_from(batch.length()).map_err(|_| wrong("it has fewer than no rows"))?;
                if rows > 0 {
                    self.batches.push(BatchBlock {
                        block,
                        first_row: self.rows,
                        rows,
                        dictionaries: self.dictionaries.blocks.len(),
                        compression: batch.compression().map(|compression| compression.codec()),
                    });
                }
                self.rows += rows;
            }
            other => return Err(wrong(&format!("a message of an unknown kind, {other:?}"))),
        }
        Ok(())
    }
}

fn wrong(message: &str) -> ArrowError {
    ArrowError::IpcError(message.to_owned())
}

/// Finds the messages of a file by its footer.
fn from_footer(reader: &SourceReader) -> Result<BlockWalk> {
    let at_footer = |error: Foreign| error.at(reader.name(), "its footer");
    let size = reader.size_bytes();
    let mut trailer = [0; TRAILER_BYTES as usize];
    let start = size.checked_sub(TRAILER_BYTES).ok_or_else(|| reader.bad("its footer", "it is cut short"))?;
    reader.read_exact_at(start, &mut trailer)?;
    let len = guarded(|| read_footer_length(trailer)).map_err(at_footer)?;
    let start = start.checked_sub(len as u64);
    let start = start.ok_or_else(|| reader.bad("its footer", "it is longer than the file"))?;
    let mut bytes = vec![0; len];
    reader.read_exact_at(start, &mut bytes)?;

    let (mut walk, dictionaries, batches) = guarded(|| {
        let footer = root_as_footer(&bytes).map_err(|error| wrong(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| wrong("it has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(wrong("it was written with the other order of bytes"));
        }
        let mut walk = BlockWalk::new(fb_to_schema(schema), ArrowLayout::File);
        for remark in footer.custom_metadata().into_iter().flatten() {
            if let (Some(key), Some(value)) = (remark.key(), remark.value()) {
                walk.remarks.push((key.to_owned(), value.to_owned()));
            }
        }
        let blocks = |blocks: Option<_>| -> Vec<Block> { blocks.into_iter().flatten().copied().collect() };
        Ok((
            walk,
            blocks(footer.dictionaries().map(|blocks| blocks.iter().collect::<Vec<_>>())),
            blocks(footer.recordBatches().map(|blocks| blocks.iter().collect::<Vec<_>>())),
        ))
    })
    .map_err(at_footer)?;

    // Dictionaries come first, because each batch of a file may use all dictionaries of the file.
    for (number, block) in dictionaries.into_iter().chain(batches).enumerate() {
        let place = || format!("message {number}");
        let metadata = u64::try_from(block.metaDataLength()).ok();
        let offset = u64::try_from(block.offset()).ok();
        let body = u64::try_from(block.bodyLength()).ok();
        let (Some(offset), Some(metadata), Some(body)) = (offset, metadata, body) else {
            return Err(reader.bad(place(), "its place makes no sense"));
        };
        let end = offset.checked_add(metadata).and_then(|end| end.checked_add(body));
        if end.is_none_or(|end| end > size) {
            return Err(reader.bad(place(), "it lies past the end of the file"));
        }
        let mut bytes = vec![0; metadata as usize];
        reader.read_exact_at(offset, &mut bytes)?;
        guarded(|| walk.add(&message(&bytes)?, block)).map_err(|error| error.at(reader.name(), place()))?;
    }
    let all = walk.dictionaries.blocks.len();
    for batch in &mut walk.batches {
        batch.dictionaries = all;
    }
    Ok(walk)
}

/// Parses a message, which follows its marker and length.
pub(super) fn message(bytes: &[u8]) -> Result<Message<'_>, ArrowError> {
    let skipped = if bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
    let bytes = bytes.get(skipped..).ok_or_else(|| wrong("it is cut short"))?;
    root_as_message(bytes).map_err(|error| wrong(&error.to_string()))
}

/// Finds the messages of a stream by walking over it.
fn from_stream(reader: &SourceReader) -> Result<BlockWalk> {
    let mut walk: Option<BlockWalk> = None;
    let (mut offset, mut number) = (0, 0);
    while let Some((prefix, metadata)) = message_len(reader, offset, number)? {
        let place = || format!("message {number}, at byte {offset}");
        let cut_short = || reader.bad(place(), "it is cut short");
        let body_start = offset + prefix + metadata;
        if body_start > reader.size_bytes() {
            return Err(cut_short());
        }
        let mut bytes = vec![0; (prefix + metadata) as usize];
        reader.read_exact_at(offset, &mut bytes)?;
        let at_place = |error: Foreign| error.at(reader.name(), place());
        let end = guarded(|| {
            let message = message(&bytes)?;
            let body = u64::try_from(message.bodyLength()).map_err(|_| wrong("its length makes no sense"))?;
            let end = body_start.checked_add(body).ok_or_else(|| wrong("its length makes no sense"))?;
            match &mut walk {
                Some(walk) if end <= reader.size_bytes() => {
                    let metadata = i32::try_from(prefix + metadata).map_err(|_| wrong("it is too long"))?;
                    walk.add(&message, Block::new(offset.cast_signed(), metadata, body.cast_signed()))?;
                }
                Some(_) => {}
                None => {
                    let schema = message.header_as_schema();
                    let schema = schema.ok_or_else(|| wrong("a stream begins with a schema"))?;
                    if !schema.endianness().equals_to_target_endianness() {
                        return Err(wrong("it was written with the other order of bytes"));
                    }
                    walk = Some(BlockWalk::new(fb_to_schema(schema), ArrowLayout::Stream));
                }
            }
            Ok(end)
        })
        .map_err(at_place)?;
        if end > reader.size_bytes() {
            return Err(cut_short());
        }
        (offset, number) = (end, number + 1);
    }
    walk.ok_or_else(|| reader.bad("its beginning", "there is no schema"))
}

/// Returns the size of the marker and length before a message, and the length of the message; `None` at the end of
/// the stream.
fn message_len(reader: &SourceReader, offset: u64, number: usize) -> Result<Option<(u64, u64)>> {
    let left = reader.size_bytes() - offset;
    if left == 0 {
        return Ok(None);
    }
    let mut prefix = [0; 8];
    let there = left.min(prefix.len() as u64) as usize;
    let (begun, _) = prefix.split_at_mut(there);
    reader.read_exact_at(offset, begun)?;
    let [a, b, c, d, e, f, g, h] = prefix;
    let (skipped, len) =
        if prefix.starts_with(&CONTINUATION) { (8, [e, f, g, h]) } else { (4, [a, b, c, d]) };
    if there < skipped {
        return Err(reader.bad(format!("message {number}, at byte {offset}"), "it is cut short"));
    }
    match u64::try_from(i32::from_le_bytes(len)) {
        Ok(0) => Ok(None),
        Ok(len) => Ok(Some((skipped as u64, len))),
        Err(_) => Err(reader.bad(format!("message {number}, at byte {offset}"), "its length makes no sense")),
    }
}
