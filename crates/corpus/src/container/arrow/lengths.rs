//! What compressed buffers say about their lengths.
//!
//! Before each of them stands how long it was. The library takes that much memory before it looks at the buffer, and
//! memory that is not there ends the process, so that the number is looked at first.

use arrow_ipc::{CompressionType, Message, RecordBatch};
use arrow_schema::ArrowError;

/// Bytes that one byte of LZ4 can stand for at most: one more byte of a length.
const LZ4_RATIO: u64 = 255;
/// The same for Zstandard, with a block of 128 KiB for each four bytes.
const ZSTD_RATIO: u64 = 1 << 15;

/// Refuses a message with a compressed buffer that cannot be as long as it says, or that there is no memory for.
pub(super) fn check(message: &Message<'_>, body: &[u8]) -> Result<(), ArrowError> {
    let Some(batch) = columns(message) else { return Ok(()) };
    let Some(compression) = batch.compression() else { return Ok(()) };
    let ratio = if compression.codec() == CompressionType::ZSTD { ZSTD_RATIO } else { LZ4_RATIO };
    for (number, buffer) in batch.buffers().into_iter().flatten().enumerate() {
        // What lies elsewhere, or has no room for a length, is left to the library, which says so.
        let (Ok(start), Ok(len)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
        else {
            continue;
        };
        let bytes = body.get(start..).and_then(|rest| rest.get(..len));
        let Some((prefix, packed)) = bytes.and_then(|bytes| bytes.split_first_chunk()) else { continue };
        // A negative length says that it is not compressed.
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

/// The columns of a record batch, or the one of a dictionary.
fn columns<'m>(message: &Message<'m>) -> Option<RecordBatch<'m>> {
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data())
}
