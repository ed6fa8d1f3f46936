//! Writes a stored file, from front to back.

use std::collections::BTreeMap;
use std::path::Path;

use minwise_corpus::{Output, Overwrite};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::{ALIGNMENT, BLOCK_BYTES, FileKind, StoreFooter};
use crate::error::{Error, ErrorKind};

/// Writer of a stored file. If it is dropped before [`finish`](Self::finish), no file is left.
#[derive(Debug)]
pub(crate) struct StoreWriter {
    out: Output,
    kind: FileKind,
    /// Bytes of the body that no checksum covers yet.
    block: Vec<u8>,
    checksums: Vec<u64>,
    body_bytes: u64,
    /// The current section and the offset where it begins.
    open: Option<(&'static str, u64)>,
    header: StoreFooter,
}

impl StoreWriter {
    pub(crate) fn create(path: &Path, kind: FileKind, overwrite: Overwrite) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Err(ErrorKind::File {
                path: "-".to_owned(),
                action: "write",
                reason: format!("a {} is read in place and cannot go to standard output", kind.name),
                hint: Some("take the name of a file".into()),
            }
            .into());
        }
        if path.extension().is_some_and(|end| ["gz", "zst", "bz2", "xz"].iter().any(|name| end == *name)) {
            return Err(ErrorKind::File {
                path: path.display().to_string(),
                action: "write",
                reason: format!("a {} is read in place and cannot be compressed", kind.name),
                hint: Some("take a name that does not end in `.gz`, `.zst`, `.bz2` or `.xz`".into()),
            }
            .into());
        }
        let mut writer = Self {
            out: Output::create(path, overwrite)?,
            kind,
            block: Vec::with_capacity(BLOCK_BYTES),
            checksums: vec![],
            body_bytes: 0,
            open: None,
            header: StoreFooter { sections: BTreeMap::new(), about: serde_json::Value::Null },
        };
        writer.write(&kind.magic)?;
        writer.write(&u64::from(kind.version).to_le_bytes())?;
        Ok(writer)
    }

    /// Ends the current section, and begins a new one at the next aligned offset.
    pub(crate) fn begin(&mut self, section: &'static str) -> Result<(), Error> {
        self.close();
        let surplus = (self.body_bytes % ALIGNMENT as u64) as usize;
        if surplus > 0 {
            self.write(&[0; ALIGNMENT][surplus..])?;
        }
        self.open = Some((section, self.body_bytes));
        Ok(())
    }

    /// Appends bytes to the current section.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.body_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let taken = bytes.len().min(BLOCK_BYTES - self.block.len());
            self.block.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.block.len() == BLOCK_BYTES {
                self.end_block()?;
            }
        }
        Ok(())
    }

    /// Writes the checksums and the header, and gives the file its final name.
    pub(crate) fn finish(mut self, about: &impl Serialize) -> Result<(), Error> {
        self.close();
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let json = "strings and numbers can be written as JSON";
        self.header.about = serde_json::to_value(about).expect(json);
        let header = serde_json::to_vec(&self.header).expect(json);
        let mut end = Vec::with_capacity(8 * self.checksums.len() + header.len() + super::TRAILER_BYTES);
        end.extend(self.checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
        end.extend_from_slice(&header);
        end.extend_from_slice(&self.body_bytes.to_le_bytes());
        end.extend_from_slice(&(header.len() as u64).to_le_bytes());
        end.extend_from_slice(&xxh3_64(&end).to_le_bytes());
        end.extend_from_slice(&self.kind.magic);
        self.out.write_bytes(&end)?;
        Ok(self.out.finish()?)
    }

    /// Finishes a file whose header claims a section that was never written.
    #[cfg(test)]
    pub(super) fn finish_with_section(
        mut self,
        name: &str,
        range: std::ops::Range<u64>,
    ) -> Result<(), Error> {
        self.header.sections.insert(name.to_owned(), range);
        self.finish(&())
    }

    fn close(&mut self) {
        if let Some((name, begin)) = self.open.take() {
            self.header.sections.insert(name.to_owned(), begin..self.body_bytes);
        }
    }

    fn end_block(&mut self) -> Result<(), Error> {
        self.checksums.push(xxh3_64(&self.block));
        self.out.write_bytes(&self.block)?;
        self.block.clear();
        Ok(())
    }
}
