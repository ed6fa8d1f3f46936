//! Buffers that are used again.

/// Buffers that one thread uses again for every chunk and record it reads.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The raw bytes of a chunk or of a record.
    pub(crate) bytes: Vec<u8>,
    /// The decompressed bytes of a compressed text file.
    pub(crate) inflated: Vec<u8>,
    /// The text of a JSONL record, unescaped.
    pub(crate) decoded: Vec<u8>,
}

/// A buffer larger than this is freed before the next chunk, because otherwise every thread would keep the memory of
/// one giant record until the end of the run.
const KEPT_BYTES: usize = 4 << 20;

impl Scratch {
    /// Empty buffers, which grow with use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Frees buffers that have become very large. The caller no longer needs their contents.
    pub fn give_back(&mut self) {
        for buffer in [&mut self.bytes, &mut self.inflated, &mut self.decoded] {
            if buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

/// The first `len` bytes of a buffer that only ever grows, so that it is zeroed once and not per chunk.
pub(crate) fn grown(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    // The buffer has at least `len` bytes now, so the slice is within it.
    &mut buffer[..len]
}
