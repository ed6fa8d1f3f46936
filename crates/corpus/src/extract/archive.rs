//! Reads parts of a zip archive by name, within a budget.
//!
//! No file is ever written under a name from an archive, so a name that leads out of the archive does no harm.
//! Decompressed bytes are counted during decompression, over all parts together, because an archive may list one part
//! many times.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::{ExtractLimits, Refusal};

/// Maximum length of the name of a part, in bytes. `resolve` builds the name for every mention of a part, so short
/// mentions of very long names would take time and memory out of proportion.
const LONGEST_NAME: usize = 4096;

/// An open archive.
pub(super) struct OpenZip<'b, 'l> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
    limits: &'l ExtractLimits,
    /// Number of bytes that may still be decompressed.
    left: u64,
}

impl<'b, 'l> OpenZip<'b, 'l> {
    pub(super) fn open(bytes: &'b [u8], limits: &'l ExtractLimits) -> Result<Self, Refusal> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(refusal)?;
        Ok(Self { zip, limits, left: limits.unfolded_bytes })
    }

    pub(super) fn limits(&self) -> &'l ExtractLimits {
        self.limits
    }

    /// Reports whether there is a part of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Reports whether pictures are among the parts.
    pub(super) fn has_pictures(&self) -> bool {
        let is_picture = |name: &[u8]| {
            let name = name.to_ascii_lowercase();
            [&b".png"[..], b".jpg", b".jpeg", b".gif", b".tif", b".tiff", b".bmp", b".emf", b".wmf"]
                .iter()
                .any(|ending| name.ends_with(ending))
        };
        self.zip.file_names_raw().any(is_picture)
    }

    /// Decompresses a part; `None` if no part has this name.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        if name.len() > LONGEST_NAME {
            return Err(Refusal::broken("the name of a part of it is too long"));
        }
        let part = match self.zip.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(refusal(error)),
        };
        let mut bytes = Vec::new();
        // One byte more than the limit is read, to distinguish a part that ends at the limit from a longer part.
        let read = part.take(self.left.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Refusal::broken(format_args!("`{name}` in it: {error}")))?;
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| self.limits.unfolds_too_far())?;
        Ok(Some(bytes))
    }

    /// Decompresses a part that every document of this kind has.
    pub(super) fn needed(&mut self, name: &str) -> Result<Vec<u8>, Refusal> {
        self.part(name)?.ok_or_else(|| Refusal::broken(format_args!("there is no `{name}` in it")))
    }
}

fn refusal(error: ZipError) -> Refusal {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            Refusal::Encrypted
        }
        error => Refusal::broken(error),
    }
}

/// Resolves `target`, which the part `from` mentions, to the name of a part.
///
/// A path from the top begins with a slash, and `..` at the top stays at the top. A place within the part, behind
/// `#`, is ignored. If a name is too long, the result is empty and names no part.
pub(super) fn resolve(from: &str, target: &str) -> String {
    if from.len().max(target.len()) > LONGEST_NAME {
        return String::new();
    }
    let target = target.split('#').next().unwrap_or_default();
    let (folder, target) = match target.strip_prefix('/') {
        Some(target) => ("", target),
        None => (from.rsplit_once('/').map_or("", |(folder, _)| folder), target),
    };
    let mut path: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(path.pop()),
            step => path.push(step),
        }
    }
    path.join("/")
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;

    /// Makes an archive of these parts. The first part is stored uncompressed, as `mimetype` must be.
    pub(in super::super) fn archive_of(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (number, (name, content)) in parts.iter().enumerate() {
            let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            let options = if number == 0 { stored } else { SimpleFileOptions::default() };
            zip.start_file(*name, options).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn parts_are_found_by_name() {
        let (bytes, limits) = (archive_of(&[("a", "one"), ("x/b", "two")]), ExtractLimits::default());
        let mut archive = OpenZip::open(&bytes, &limits).unwrap();
        assert_eq!(archive.part("x/b").unwrap().unwrap(), b"two");
        assert_eq!(archive.part("c").unwrap(), None);
        assert!(archive.has("a") && !archive.has("b"));
        let missing = archive.needed("c").unwrap_err().to_string();
        assert_eq!(missing, "it is broken: there is no `c` in it");
    }

    #[test]
    fn decompressed_bytes_are_limited_over_all_parts() {
        let zeros = "\0".repeat(1000);
        let bytes = archive_of(&[("a", ""), ("b", &zeros)]);
        let limits = ExtractLimits { unfolded_bytes: 1999, ..ExtractLimits::default() };
        let mut archive = OpenZip::open(&bytes, &limits).unwrap();
        assert_eq!(archive.part("b").unwrap().unwrap().len(), 1000);
        assert_eq!(archive.part("b"), Err(Refusal::TooLarge { bytes: 2000, limit: 1999 }));
        let limits = ExtractLimits { unfolded_bytes: 2000, ..ExtractLimits::default() };
        let mut archive = OpenZip::open(&bytes, &limits).unwrap();
        assert!(archive.part("b").is_ok() && archive.part("b").is_ok());
    }

    #[test]
    fn an_archive_that_is_cut_short_is_broken() {
        let bytes = archive_of(&[("a", "one"), ("b", "two")]);
        for end in [4, bytes.len() / 2, bytes.len() - 1] {
            let cut = OpenZip::open(&bytes[..end], &ExtractLimits::default()).map(|_| ());
            assert!(matches!(cut, Err(Refusal::Broken { .. })), "{cut:?}");
        }
    }

    #[test]
    fn names_have_a_longest() {
        let name = "n".repeat(LONGEST_NAME + 1);
        let bytes = archive_of(&[(&name, "")]);
        let limits = ExtractLimits::default();
        let mut archive = OpenZip::open(&bytes, &limits).unwrap();
        assert_eq!(archive.part(&name), Err(Refusal::broken("the name of a part of it is too long")));
        assert_eq!(archive.part(&name[1..]), Ok(None));
    }

    #[test]
    fn names_are_resolved_and_never_lead_out() {
        assert_eq!(resolve("ppt/presentation.xml", "slides/slide1.xml"), "ppt/slides/slide1.xml");
        assert_eq!(resolve("ppt/slides/slide1.xml", "../notes/n.xml#x"), "ppt/notes/n.xml");
        assert_eq!(resolve("a/b.opf", "/c.html"), "c.html");
        assert_eq!(resolve("b.opf", "../../etc/./passwd"), "etc/passwd");
        assert_eq!(resolve("a/b.opf", &"../".repeat(LONGEST_NAME)), "");
    }
}
