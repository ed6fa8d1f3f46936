//! Checks the lengths that compressed buffers state.
//!
//! Each compressed buffer begins with its decompressed length. The library allocates that many bytes before it reads
//! the buffer, and a failed allocation ends the process, so the length is checked first.

use arrow_ipc::{CompressionType, Message, RecordBatch};
use arrow_schema::ArrowError;

/// Maximum number of bytes that one byte of LZ4 decompresses to: each further byte of a length adds 255.
const LZ4_RATIO: u64 = 255;
/// Maximum number of bytes that one byte of Zstandard decompresses to: a block of 128 KiB takes at least four bytes.
const ZSTD_RATIO: u64 = 1 << 15;

/// Refuses a message if a compressed buffer cannot have the length that it states, or if there is too little memory
/// for the buffer.
pub(super) fn check(message: &Message<'_>, body: &[u8]) -> Result<(), ArrowError> {
    let Some(batch) = columns(message) else { return Ok(()) };
    let Some(compression) = batch.compression() else { return Ok(()) };
    let ratio = if compression.codec() == CompressionType::ZSTD { ZSTD_RATIO } else { LZ4_RATIO };
    for (number, buffer) in batch.buffers().into_iter().flatten().enumerate() {
        // A buffer that lies elsewhere, or has no room for a length, is left to the library, which refuses it.
        let (Ok(start), Ok(len)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
        else {
            continue;
        };
        let bytes = body.get(start..).and_then(|rest| rest.get(..len));
        let Some((prefix, packed)) = bytes.and_then(|bytes| bytes.split_first_chunk()) else { continue };
        // A negative length marks a buffer that is not compressed.
        let Ok(unpacked) = u64::try_from(i64::from_le_bytes(*prefix)) else { continue };
        let wrong = |why| {
            Err(ArrowError::IpcError(format!("its buffer {number} says to be {unpacked} bytes long, {why}")))
        };
        if unpacked > (packed.len() as u64).saturating_mul(ratio) {
            return wrong(format!("which {} compressed bytes cannot be", packed.len()));
        }
        let room =
            usize::try_from(unpacked).ok().and_then(|room| Vec::<u8>::new().try_reserve_exact(room).ok());
        if room.is_none() {
            return wrong("for which there is no memory".to_owned());
        }
    }
    Ok(())
}

/// Returns the columns of a record batch, or the column of a dictionary.
fn columns<'m>(message: &Message<'m>) -> Option<RecordBatch<'m>> {
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data())
}
