//! Compression of texts. Each text is compressed by itself, so that it can be read and removed without other
//! texts.

use zstd::bulk::{Compressor, Decompressor};

/// Compression level of Zstandard.
// Level 3 would make texts of 2 kB only 1 % smaller, and adding would take some 5 % longer
// (`benches/archive.rs`).
const LEVEL: i32 = 1;

pub(crate) struct TextCompressor(Option<Compressor<'static>>);

impl TextCompressor {
    pub(crate) fn new() -> Self {
        // If there is no memory for a context, texts are stored uncompressed.
        Self(Compressor::new(LEVEL).ok())
    }

    /// Compresses a text. The first byte of the result is 1 if the other bytes are compressed, and 0 if they
    /// are the text itself.
    pub(crate) fn pack(&mut self, text: &str) -> Vec<u8> {
        let packed = self.0.as_mut().and_then(|packer| packer.compress(text.as_bytes()).ok());
        let (kind, bytes) = match &packed {
            Some(packed) if packed.len() < text.len() => (1, packed.as_slice()),
            _ => (0, text.as_bytes()),
        };
        let mut out = Vec::with_capacity(1 + bytes.len());
        out.push(kind);
        out.extend_from_slice(bytes);
        out
    }
}

/// Decompresses a packed text of `bytes` bytes. Returns `None` if the text is damaged.
pub(crate) fn unpack(packed: &[u8], bytes: u64) -> Option<String> {
    let (kind, packed) = packed.split_first()?;
    let text = match kind {
        0 => packed.to_vec(),
        1 => Decompressor::new().ok()?.decompress(packed, usize::try_from(bytes).ok()?).ok()?,
        _ => return None,
    };
    String::from_utf8(text).ok().filter(|text| text.len() as u64 == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let mut packer = TextCompressor::new();
        for text in ["", "a", "中文", &"the same again, ".repeat(1000)] {
            let packed = packer.pack(text);
            assert!(packed.len() <= 1 + text.len());
            assert_eq!(unpack(&packed, text.len() as u64).as_deref(), Some(text));
            assert_eq!(unpack(&packed, text.len() as u64 + 1), None);
        }
        assert!(packer.pack(&"the same again, ".repeat(1000)).len() < 100);
        assert_eq!((unpack(&[], 0), unpack(&[7], 0), unpack(&[1, 2, 3], 9)), (None, None, None));
    }
}
