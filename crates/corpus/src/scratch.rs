//! Buffers that are used again.

/// Buffers that one thread uses again for every chunk and record it reads.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Raw bytes: the chunk, or the record.
    pub(crate) bytes: Vec<u8>,
    /// The decompressed bytes of a compressed text file.
    pub(crate) inflated: Vec<u8>,
    /// The text of a JSONL record, unescaped.
    pub(crate) decoded: Vec<u8>,
}

/// A buffer larger than this is given back before the next chunk, so that one giant record is not paid for by
/// every thread until the end of the run.
const KEPT_BYTES: usize = 4 << 20;

impl Scratch {
    /// Empty buffers, which grow with use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives buffers back that have become very large, once what was read is no longer needed.
    pub fn give_back(&mut self) {
        for buffer in [&mut self.bytes, &mut self.inflated, &mut self.decoded] {
            if buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

/// The first `len` bytes of a buffer that only ever grows, so that it is zeroed once and not for each chunk.
pub(crate) fn grown(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    // It has at least `len` bytes now.
    &mut buffer[..len]
}
