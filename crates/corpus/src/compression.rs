//! Recognises and reads compressed streams.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::error::{Error, ErrorKind, Result, TRAILING};
use crate::refusal::Refusal;

/// Largest Zstandard window that is accepted, as a power of two. The limit is the largest window of the format,
/// which `zstd --long=31` uses.
#[cfg(feature = "zstd")]
pub(crate) const ZSTD_WINDOW_LOG_MAX: u32 = 31;

/// Compression of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// One or more gzip members.
    Gzip,
    /// One or more Zstandard frames.
    Zstd,
    /// One or more bzip2 streams.
    Bzip2,
    /// One or more xz streams.
    Xz,
}

/// Length of the longest magic number.
pub(crate) const MAGIC_BYTES: usize = 6;

/// Reports whether a file of this name is compressed when it is written.
pub fn has_compressed_name(name: &str) -> bool {
    Compression::of_name(name).is_some()
}

impl Compression {
    /// Recognises the compression by the first bytes, because a name can be wrong, and decoders go by the magic
    /// number.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // Parallel compressors write a skippable frame (50..5f) first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            // The bytes behind the level are checked, too, because a text may begin with `BZh9`. These bytes are the
            // beginning of the magic number of a block (π) or of the end of the stream (√π).
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    /// Recognises the compression by the file extension, for files that are to be written.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            "bz2" => Some(Self::Bzip2),
            "xz" => Some(Self::Xz),
            _ => None,
        }
    }

    /// Returns a name without the file extension of its compression.
    pub(crate) fn strip(name: &str) -> &str {
        match Self::of_name(name) {
            Some(_) => name.rsplit_once('.').map_or(name, |(stem, _)| stem),
            None => name,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// Returns the feature that this compression needs, if the program was built without the feature.
    pub(crate) fn missing_feature(self) -> Option<&'static str> {
        let is_there = match self {
            Self::Gzip => true,
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Bzip2 => cfg!(feature = "bzip2"),
            Self::Xz => cfg!(feature = "xz"),
        };
        (!is_there).then_some(self.name())
    }

    /// Refuses to read or write a file if the program was built without its compression.
    pub(crate) fn check(self, name: &str) -> Result<()> {
        let Some(feature) = self.missing_feature() else { return Ok(()) };
        Err(Error::new(ErrorKind::MissingFeature { name: Some(name.to_owned()), what: self.name(), feature }))
    }

    /// Returns the reason why a document with this compression cannot be read, if the program was built without the
    /// compression.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        let what = match self {
            Self::Gzip => "compressed by gzip",
            Self::Zstd => "compressed by Zstandard",
            Self::Bzip2 => "compressed by bzip2",
            Self::Xz => "compressed by xz",
        };
        self.missing_feature().map(|feature| Refusal::MissingFeature { what, feature })
    }

    /// Returns the decompressed stream. Adjacent members and frames are read as one stream.
    pub(crate) fn decoder<'r>(self, reader: impl BufRead + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Self::Gzip => Box::new(GzipStream(Some(GzDecoder::new(reader)))),
            #[cfg(feature = "zstd")]
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
            #[cfg(feature = "bzip2")]
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(reader)),
            #[cfg(feature = "xz")]
            Self::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(reader)),
            #[cfg(not(all(feature = "bzip2", feature = "xz", feature = "zstd")))]
            missing => {
                return Err(io::Error::new(io::ErrorKind::Unsupported, format!("{missing:?} is missing")));
            }
        })
    }
}

/// Reads a stream, decompressed if its first bytes are those of a compressed file. `name` is for messages.
///
/// ```
/// use std::io::{BufReader, Read};
///
/// let mut text = String::new();
/// minwise_corpus::decompressed(BufReader::new(&b"plain"[..]), "in.jsonl")?.read_to_string(&mut text)?;
/// assert_eq!(text, "plain");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails with [`ErrorKind::MissingFeature`] if the program was built without the compression, and with
/// [`ErrorKind::Io`] if the stream cannot be read.
pub fn decompressed<'r>(mut stream: impl BufRead + 'r, name: &str) -> Result<Box<dyn BufRead + 'r>> {
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    let failed = |error| Error::io("read", name, error);
    // A pipe may give one byte at a time.
    stream.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
    let compression = Compression::of(&head);
    let stream = io::Cursor::new(head).chain(stream);
    Ok(match compression {
        None => Box::new(stream),
        Some(compression) => {
            compression.check(name)?;
            Box::new(io::BufReader::with_capacity(1 << 20, compression.decoder(stream).map_err(failed)?))
        }
    })
}

/// Reader of the members of a gzip file, one after the other; `None` behind the last member.
struct GzipStream<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for GzipStream<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while let Some(decoder) = &mut self.0 {
            let bytes = decoder.read(out)?;
            if bytes > 0 {
                return Ok(bytes);
            }
            // The decoder stays in place until the next member is known, because the caller repeats an interrupted read.
            let has_next = has_next_member(decoder.get_mut())?;
            self.0 = self.0.take().map(GzDecoder::into_inner).filter(|_| has_next).map(GzDecoder::new);
        }
        Ok(0)
    }
}

/// Reports whether another gzip member follows. Zeros behind the last member are ignored, as `gzip` does, because tapes
/// and some programs fill files up with zeros.
pub(crate) fn has_next_member(reader: &mut impl BufRead) -> io::Result<bool> {
    let mut has_zeros = false;
    loop {
        let block = reader.fill_buf()?;
        match block {
            [] => return Ok(false),
            [0x1f] | [0x1f, 0x8b, ..] if !has_zeros => return Ok(true),
            block if block.iter().all(|byte| *byte == 0) => {
                let bytes = block.len();
                has_zeros = true;
                reader.consume(bytes);
            }
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, TRAILING)),
        }
    }
}

/// Reports whether an error of a decoder is about the data, not about the disk below.
pub(crate) fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use super::*;

    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).unwrap()
    }

    pub(crate) fn bz2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Compression::of(bytes).unwrap().decoder(bytes)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn magic_tells_and_names_do_not() {
        assert_eq!(Compression::of(&gzip(b"x")), Some(Compression::Gzip));
        assert_eq!(Compression::of(&zst(b"x")), Some(Compression::Zstd));
        assert_eq!(Compression::of(&bz2(b"x")), Some(Compression::Bzip2));
        assert_eq!(Compression::of(&bz2(b"")), Some(Compression::Bzip2));
        assert_eq!(Compression::of(&xz(b"x")), Some(Compression::Xz));
        assert_eq!(Compression::of(b"BZh9 is a text"), None);
        assert_eq!(Compression::of(b"{\"text\": 1}"), None);
        assert_eq!(Compression::of(b""), None);
        assert_eq!(Compression::of_name("a.jsonl.GZ"), Some(Compression::Gzip));
        assert_eq!(Compression::of_name("a.zst"), Some(Compression::Zstd));
        assert_eq!(Compression::of_name("a.csv.bz2"), Some(Compression::Bzip2));
        assert_eq!(Compression::of_name("a.xz"), Some(Compression::Xz));
        assert_eq!(Compression::of_name("gz"), None);
        assert_eq!(Compression::strip("a.jsonl.xz"), "a.jsonl");
        assert_eq!(Compression::strip("a.jsonl"), "a.jsonl");
    }

    #[test]
    fn members_and_frames_are_joined() {
        assert_eq!(decode(&[gzip(b"one "), gzip(b"two")].concat()).unwrap(), b"one two");
        assert_eq!(decode(&[zst(b"one "), zst(b"two")].concat()).unwrap(), b"one two");
        assert_eq!(decode(&[bz2(b"one "), bz2(b"two")].concat()).unwrap(), b"one two");
        assert_eq!(decode(&[xz(b"one "), xz(b"two")].concat()).unwrap(), b"one two");
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
        assert_eq!(decode(&[&skippable[..], &zst(b"three")].concat()).unwrap(), b"three");
    }

    #[test]
    fn zeros_behind_a_gzip_stream_are_ignored_and_other_bytes_are_named() {
        let members = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(decode(&[&members[..], &vec![0; 70_000]].concat()).unwrap(), b"one two");
        for rest in [&b"rest"[..], b"\0\0rest", b"\x1fx"] {
            let error = decode(&[&members[..], rest].concat()).unwrap_err();
            assert!(is_damage(&error) && error.to_string() == TRAILING, "{error}");
        }
    }

    #[test]
    fn a_cut_stream_is_damage() {
        for whole in [gzip(&[7; 5000]), zst(&[7; 5000]), bz2(&[7; 5000]), xz(&[7; 5000])] {
            let error = decode(&whole[..whole.len() - 3]).unwrap_err();
            assert!(is_damage(&error), "{error}");
        }
    }
}
