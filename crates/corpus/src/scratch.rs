//! Buffers that are reused.

/// Buffers that one thread reuses for every chunk and record that it reads.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Raw bytes of a chunk or of a record.
    pub(crate) bytes: Vec<u8>,
    /// Decompressed bytes of a compressed text file.
    pub(crate) inflated: Vec<u8>,
    /// Unescaped text of a JSONL record.
    pub(crate) decoded: Vec<u8>,
}

/// Maximum capacity of a buffer that is kept for the next chunk, in bytes. If larger buffers were kept, every thread
/// would hold the memory of a very long record to the end of the run.
const KEPT_BYTES: usize = 4 << 20;

impl Scratch {
    /// Makes empty buffers, which grow with use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Frees buffers that have become very large. Their contents are lost.
    pub fn give_back(&mut self) {
        for buffer in [&mut self.bytes, &mut self.inflated, &mut self.decoded] {
            if buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

/// Returns the first `len` bytes of a buffer. The buffer never shrinks, so it is zeroed once and not once per chunk.
pub(crate) fn grown(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    // The buffer has at least `len` bytes here, so the slice lies within it.
    &mut buffer[..len]
}
