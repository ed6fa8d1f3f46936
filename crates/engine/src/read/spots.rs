//! Estimates the number of records before any record is read, by counting line ends in spots that are spread over all
//! files.
//!
//! A corpus of many files may have short records in some files and long ones in others, so the first file tells little
//! about the others. Spots at equal distances in the sequence of all bytes cover every large file.

use minwise_corpus::{Corpus, Format};

/// Number of spots.
const SPOTS: u64 = 64;
/// Number of bytes per spot. All spots together take a few milliseconds.
const SPOT_BYTES: u64 = 64 << 10;

/// Returns the approximate number of lines of a corpus. Returns `None` if a source is not JSONL or a spot cannot be
/// read: the lines of other formats are no records, and a later stage reports what cannot be read.
pub(super) fn lines(corpus: &Corpus) -> Option<usize> {
    if corpus.sources().iter().any(|source| source.format() != Format::JSONL) {
        return None;
    }
    let mut sources = (0..).zip(corpus.sources());
    let (mut number, mut source) = sources.next()?;
    let (mut begin, mut lines, mut seen) = (0, 0, 0);
    let mut block = vec![];
    for spot in 0..SPOTS {
        let at = (u128::from(corpus.size_bytes()) * u128::from(spot) / u128::from(SPOTS)) as u64;
        while at >= begin + source.size_bytes() {
            begin += source.size_bytes();
            (number, source) = sources.next()?;
        }
        let bytes = SPOT_BYTES.min(source.size_bytes() - (at - begin));
        block.resize(bytes as usize, 0);
        corpus.read_span(number, at - begin, &mut block).ok()?;
        lines += block.split(|&byte| byte == b'\n').count() as u64 - 1;
        seen += bytes;
    }
    Some((lines as f64 / seen as f64 * corpus.size_bytes() as f64) as usize)
}

#[cfg(test)]
mod tests {
    use minwise::Unobserved;
    use minwise_corpus::ReadOptions;

    use super::*;

    fn estimate(files: &[(&str, String)]) -> Option<usize> {
        let folder = tempfile::tempdir().unwrap();
        let write = |(name, content): &(&str, String)| {
            let path = folder.path().join(name);
            fs_err::write(&path, content).unwrap();
            path.into()
        };
        let inputs: Vec<_> = files.iter().map(write).collect();
        lines(&Corpus::open(&inputs, &ReadOptions::default(), &Unobserved).unwrap())
    }

    #[test]
    fn files_with_long_and_with_short_records_are_weighed_by_their_bytes() {
        let records =
            |records: usize, text: usize| format!("{{\"text\":\"{:text$}\"}}\n", "").repeat(records);
        let long = ("a.jsonl", records(300, 20_000));
        let short = ("b.jsonl", records(300_000, 9));
        let found = estimate(&[long.clone(), short.clone()]).unwrap() as f64;
        assert!((found / 300_300.0 - 1.0).abs() < 0.1, "{found}");
        // Files that are smaller than a spot are counted too.
        let small: Vec<(String, String)> = (0..200).map(|i| (format!("{i}.jsonl"), records(50, 9))).collect();
        let small: Vec<(&str, String)> = small.iter().map(|(name, text)| (&**name, text.clone())).collect();
        let found = estimate(&small).unwrap() as f64;
        assert!((found / 10_000.0 - 1.0).abs() < 0.1, "{found}");
    }

    #[test]
    fn other_formats_are_not_estimated() {
        assert_eq!(estimate(&[("a.csv", "text\na\n".to_owned())]), None);
        assert_eq!(estimate(&[("a.jsonl", String::new())]), None);
    }
}
