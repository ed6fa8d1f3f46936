//! Refuses PDFs whose streams decompress to more than the limit.
//!
//! The parser decompresses some streams while it loads a file, whole and without a limit, so their bytes are counted
//! before the parser gets the file. The data behind each `stream` is decompressed here by every filter that the
//! parser knows and that could have written the data. The dictionaries in the file are not trusted, with one
//! exception: a stream that clearly states that it is a picture is not counted, because nothing ever decompresses it.
//! Some filters are unknown before the file is loaded, because the file is encrypted or its dictionary names the
//! filters elsewhere. The bytes behind these filters are counted after loading.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};

use hayro_syntax::object::{Name, Object, Stream};
use hayro_syntax::{Filter, Pdf};

use super::super::{ExtractLimits, Refusal};
use super::worker::Deadline;

/// Number of bytes before `stream` that are searched for the dictionary of the stream.
const DICTIONARY_BYTES: usize = 4096;

/// Maximum number of filters of one stream that are undone, one after another.
const STAGES: usize = 3;

/// Refuses a file whose streams together decompress to more than the limit.
pub(super) fn check(bytes: &[u8], limits: &ExtractLimits, deadline: &Deadline) -> Result<(), Refusal> {
    let mut left = limits.unfolded_bytes;
    for at in memchr::memmem::find_iter(bytes, b"stream") {
        deadline.check()?;
        let (before, after) = bytes.split_at(at);
        let Some(data) = data_of(after).filter(|_| !before.ends_with(b"end")) else { continue };
        let dictionary = dictionary(before);
        if is_picture(dictionary) {
            continue;
        }
        let unfolded = unfolded_bytes(data, dictionary, left);
        left = left.checked_sub(unfolded).ok_or_else(|| limits.unfolds_too_far())?;
    }
    Ok(())
}

/// Refuses a loaded file whose streams decompress to more than the limit. Streams with a single Flate filter or none
/// were counted before loading, unless the file is encrypted.
pub(super) fn check_loaded(pdf: &Pdf, limits: &ExtractLimits, deadline: &Deadline) -> Result<(), Refusal> {
    let bytes: &[u8] = pdf.data().as_ref();
    let is_encrypted = memchr::memmem::find(bytes, b"/Encrypt").is_some();
    let mut left = limits.unfolded_bytes;
    for object in pdf.objects() {
        deadline.check()?;
        let Object::Stream(stream) = object else { continue };
        let filters = stream.filters();
        let is_flate = matches!(filters.as_slice(), [] | [Filter::FlateDecode]);
        if is_drawn(&stream) || is_flate && !is_encrypted {
            continue;
        }
        let unfolded = filtered_bytes(&stream.raw_data(), &filters, left).ok_or_else(|| {
            Refusal::broken("a stream in it has more filters one after another than a writer would use")
        })?;
        left = left.checked_sub(unfolded).ok_or_else(|| limits.unfolds_too_far())?;
    }
    Ok(())
}

/// Reports whether a stream is a picture. Nothing in this crate decodes pictures.
fn is_drawn(stream: &Stream<'_>) -> bool {
    stream.dict().get::<Name<'_>>(b"Subtype").as_deref().is_some_and(|kind| kind == b"Image")
}

/// Counts the bytes to which a stream decompresses through its filters, over all stages together, up to a little more
/// than `limit`. `None` if there are more filters than [`STAGES`], or if a filter follows LZW, because LZW is counted
/// and not decompressed.
fn filtered_bytes(data: &[u8], filters: &[Filter], limit: u64) -> Option<u64> {
    let Some((filter, rest)) = filters.split_first() else { return Some(0) };
    if filters.len() > STAGES {
        return None;
    }
    let unfolded = match filter {
        Filter::LzwDecode => {
            let bytes = lzw_bytes(data, 1).max(lzw_bytes(data, 0));
            return rest.is_empty().then_some(bytes);
        }
        Filter::Ascii85Decode => ascii85(data, limit),
        Filter::RunLengthDecode => run_length(data, limit),
        Filter::FlateDecode => {
            let mut unfolded = vec![];
            // An error is ignored, because the bytes before it are decompressed and count all the same.
            let _ = flate(data).take(limit.saturating_add(1)).read_to_end(&mut unfolded);
            unfolded
        }
        // The result needs no limit, because it is half as long as the data.
        Filter::AsciiHexDecode => ascii_hex(data),
        Filter::Crypt => data.to_vec(),
        // Pictures count no bytes, because nothing here decodes them.
        Filter::CcittFaxDecode | Filter::Jbig2Decode | Filter::DctDecode | Filter::JpxDecode => {
            return Some(0);
        }
    };
    let bytes = unfolded.len() as u64;
    if bytes > limit {
        return Some(bytes);
    }
    Some(bytes.saturating_add(filtered_bytes(&unfolded, rest, limit - bytes)?))
}

/// Decodes run lengths, up to one run more than `limit`.
fn run_length(data: &[u8], limit: u64) -> Vec<u8> {
    let mut out = vec![];
    let mut rest = data;
    while let Some((&length, behind)) = rest.split_first() {
        match (length, behind.first()) {
            (..=127, _) => {
                let (run, behind) = behind.split_at((usize::from(length) + 1).min(behind.len()));
                out.extend_from_slice(run);
                rest = behind;
            }
            (129.., Some(byte)) => {
                out.extend(std::iter::repeat_n(*byte, 257 - usize::from(length)));
                rest = behind.get(1..).unwrap_or_default();
            }
            _ => break,
        }
        if out.len() as u64 > limit {
            break;
        }
    }
    out
}

/// Decodes pairs of hexadecimal digits.
fn ascii_hex(data: &[u8]) -> Vec<u8> {
    let digits =
        data.iter().take_while(|byte| **byte != b'>').filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u8> = digits.map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

/// Returns the data behind the keyword `stream` and its line end.
fn data_of(keyword: &[u8]) -> Option<&[u8]> {
    let rest = keyword.strip_prefix(b"stream")?;
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    Some(rest.strip_prefix(b"\n").unwrap_or(rest))
}

/// Returns the bytes between the last `obj` and the stream, which hold the dictionary of the stream.
fn dictionary(before: &[u8]) -> &[u8] {
    let (_, near) = before.split_at(before.len().saturating_sub(DICTIONARY_BYTES));
    near.split_at(memchr::memmem::rfind(near, b"obj").unwrap_or(0)).1
}

fn holds(dictionary: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(dictionary, word).is_some()
}

/// Reports whether a stream is clearly a picture. A dictionary with a `#` is not trusted, because `#` can escape
/// letters of names.
fn is_picture(dictionary: &[u8]) -> bool {
    holds(dictionary, b"/Image")
        && ![&b"ObjStm"[..], b"XRef", b"#"].iter().any(|other| holds(dictionary, other))
}

/// Counts the bytes to which a stream can decompress at most, over all stages together, up to a little more than
/// `limit`.
fn unfolded_bytes(data: &[u8], dictionary: &[u8], limit: u64) -> u64 {
    let may_be_lzw = holds(dictionary, b"LZW") || holds(dictionary, b"#");
    let plain = ascii85(data, limit);
    [data, plain.as_slice()]
        .into_iter()
        .map(|data| {
            let lzw = if may_be_lzw { lzw_bytes(data, 1).max(lzw_bytes(data, 0)) } else { 0 };
            lzw.max(inflated_bytes(data, limit, STAGES))
        })
        .fold(plain.len() as u64, u64::max)
}

/// Counts the bytes that Flate gives, and decompresses them again as long as the result could be Flate, too.
fn inflated_bytes(data: &[u8], limit: u64, stages: usize) -> u64 {
    let unfolded = count(flate(data), limit);
    let mut head = [0; 2];
    if unfolded > limit || flate(data).read_exact(&mut head).is_err() || !is_zlib(head) {
        return unfolded;
    }
    let Some(stages) = stages.checked_sub(1) else { return limit.saturating_add(1) };
    let mut inner = Vec::new();
    // An error is ignored, because the bytes before it were counted.
    let _ = flate(data).take(unfolded).read_to_end(&mut inner);
    unfolded.saturating_add(inflated_bytes(&inner, limit - unfolded, stages))
}

/// Reports whether a zlib stream may begin with these bytes. The low four bits of the first byte must be 8, the
/// method Deflate, and both bytes as one number must be a multiple of 31.
fn is_zlib(head: [u8; 2]) -> bool {
    head.first().is_some_and(|method| method & 15 == 8) && u16::from_be_bytes(head).is_multiple_of(31)
}

/// Returns the decoder that the parser would use: zlib or, if zlib gives nothing, Deflate behind the header.
fn flate(data: &[u8]) -> Box<dyn Read + '_> {
    if count(ZlibDecoder::new(data), 1) > 0 {
        return Box::new(ZlibDecoder::new(data));
    }
    match data.split_first_chunk::<2>() {
        Some((_, behind)) => Box::new(DeflateDecoder::new(behind)),
        // Data of fewer than two bytes is not even a header.
        None => Box::new(std::io::empty()),
    }
}

/// Counts the bytes that can be read, up to one more than `limit`.
fn count(reader: impl Read, limit: u64) -> u64 {
    let mut reader = reader.take(limit.saturating_add(1));
    let mut block = vec![0; 16 << 10];
    let mut total = 0;
    while let Ok(bytes @ 1..) = reader.read(&mut block) {
        total += bytes as u64;
    }
    total
}

/// Counts the bytes that LZW gives. The table holds the length of each string instead of the string, so nothing has
/// to be written.
///
/// `early` is the number of codes by which the width of a code grows earlier than it must: 1, or 0 if the stream
/// states so.
fn lzw_bytes(data: &[u8], early: usize) -> u64 {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut lengths: Vec<u64> = vec![1; END + 1];
    let (mut last, mut total): (Option<u64>, u64) = (None, 0);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in data {
        (bits, held) = ((bits << 8 | u32::from(*byte)) & 0xff_ffff, held + 8);
        let width = match lengths.len() + early {
            ..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
        if held < width {
            continue;
        }
        held -= width;
        let code = (bits >> held) as usize & ((1 << width) - 1);
        match code {
            CLEAR => {
                lengths.truncate(END + 1);
                last = None;
                continue;
            }
            END => break,
            _ => {}
        }
        let next = last.map(|last| last + 1);
        let Some(length) = lengths.get(code).copied().or(next.filter(|_| code == lengths.len())) else {
            break;
        };
        lengths.extend(next.filter(|_| lengths.len() < 4096));
        total += length;
        last = Some(length);
    }
    total
}

/// Decodes ASCII85. The output exceeds `limit` by at most one group of 4 bytes. Decoding ends at the first byte that is
/// not ASCII85.
fn ascii85(data: &[u8], limit: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut group, mut digits) = (0_u32, 0);
    for byte in data.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        match byte {
            b'z' if digits == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                digits += 1;
                if digits == 5 {
                    out.extend(group.to_be_bytes());
                    (group, digits) = (0, 0);
                }
            }
            _ => break,
        }
        if out.len() as u64 > limit {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, ZlibEncoder};

    use super::*;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn ascii85_of(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for group in bytes.chunks(4) {
            let mut padded = [0; 4];
            padded[..group.len()].copy_from_slice(group);
            let number = u32::from_be_bytes(padded);
            out.extend((0..5).rev().map(|place| (number / 85_u32.pow(place) % 85) as u8 + b'!'));
        }
        [&out[..], b"~>"].concat()
    }

    fn file(dictionary: &str, stream: &[u8]) -> Vec<u8> {
        [b"1 0 obj <<", dictionary.as_bytes(), b">> stream\r\n", stream, b"\nendstream endobj"].concat()
    }

    fn refused(dictionary: &str, stream: &[u8]) -> bool {
        let limits = ExtractLimits { unfolded_bytes: 10_000, ..ExtractLimits::default() };
        check(&file(dictionary, stream), &limits, &Deadline::after(Duration::MAX)).is_err()
    }

    #[test]
    fn streams_are_counted_through_their_filters() {
        let (small, large) = (zlib(&[0; 9_000]), zlib(&vec![0; 20_000]));
        assert!(!refused("/Filter/FlateDecode", &small));
        assert!(refused("/Filter/FlateDecode", &large));
        assert!(refused("/Filter[/FlateDecode/FlateDecode]", &zlib(&large)));
        assert!(refused("/Filter[/ASCII85Decode/FlateDecode]", &ascii85_of(&large)));
        assert!(!refused("/Filter[/ASCII85Decode/FlateDecode]", &ascii85_of(&small)));
        let mut raw = DeflateEncoder::new(b"xx".to_vec(), Compression::best());
        raw.write_all(&vec![0; 20_000]).unwrap();
        assert!(refused("/Filter/FlateDecode", &raw.finish().unwrap()));
    }

    #[test]
    fn a_stage_between_counts_though_the_last_is_small() {
        let between = [zlib(b"small"), vec![0; 20_000]].concat();
        assert!(refused("/Filter[/FlateDecode/FlateDecode]", &zlib(&between)));
    }

    #[test]
    fn only_what_plainly_is_a_picture_is_passed_over() {
        let large = zlib(&vec![0; 20_000]);
        assert!(!refused("/Subtype/Image /Filter/FlateDecode", &large));
        assert!(refused("/Subtype/Image /Type/ObjStm", &large));
        assert!(refused("/Subtype/Image /Type/Obj#53tm", &large));
    }

    #[test]
    fn stages_of_a_loaded_file_are_counted_one_by_one() {
        let (small, large) = (zlib(&[0; 9_000]), zlib(&vec![0; 20_000]));
        let bytes = |data: &[u8], filters: &[Filter]| filtered_bytes(data, filters, 30_000);
        let runs = |data: &[u8]| data.iter().flat_map(|byte| [0, *byte]).collect::<Vec<u8>>();
        let hex =
            |data: &[u8]| data.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat() + ">";
        assert_eq!(bytes(&large, &[Filter::FlateDecode]), Some(20_000));
        let stages = [Filter::RunLengthDecode, Filter::FlateDecode];
        assert_eq!(bytes(&runs(&small), &stages), Some(9_000 + small.len() as u64));
        let stages = [Filter::AsciiHexDecode, Filter::RunLengthDecode, Filter::FlateDecode];
        let expected = 20_000 + (2 * large.len() + large.len()) as u64;
        assert_eq!(bytes(hex(&runs(&large)).as_bytes(), &stages), Some(expected));
        assert_eq!(bytes(&[0x81, b'a', 0x81, b'b', 128, 7], &[Filter::RunLengthDecode]), Some(256));
        assert!(bytes(&[0x81, 0].repeat(1_000), &[Filter::RunLengthDecode]) > Some(30_000));
        assert_eq!(bytes(&large, &[Filter::Crypt; 4]), None);
        assert_eq!(bytes(&large, &[Filter::LzwDecode, Filter::FlateDecode]), None);
        assert_eq!(bytes(&lzw_run(200), &[Filter::LzwDecode]), Some(lzw_bytes(&lzw_run(200), 1)));
    }

    /// Makes codes of a growing run: each code is the code that is just being defined. No other codes decompress to
    /// more bytes.
    fn lzw_run(codes: u32) -> Vec<u8> {
        let (mut bits, mut out) = (String::new(), Vec::new());
        for number in 0..codes {
            let (code, entries) = if number == 0 { (0, 258) } else { (257 + number, 257 + number) };
            let width = match entries + 1 {
                ..512 => 9,
                512..1024 => 10,
                1024..2048 => 11,
                _ => 12,
            };
            bits += &format!("{code:0width$b}");
        }
        while bits.len() % 8 != 0 {
            bits.push('0');
        }
        for byte in bits.as_bytes().chunks(8) {
            out.push(u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap());
        }
        out
    }

    #[test]
    fn lzw_is_counted_by_its_codes() {
        let run = lzw_run(200);
        // These codes decompress to 1 + 2 + … + 200 bytes, and padding may add some bytes.
        assert!((20_100..=20_400).contains(&lzw_bytes(&run, 1)), "{}", lzw_bytes(&run, 1));
        assert!(refused("/Filter/LZWDecode", &run));
        assert!(!refused("/Filter/FlateDecode", &run));
        assert!(lzw_bytes(&lzw_run(1000), 1) >= 500_500);
    }
}
