//! From inputs to a corpus.

use minwise::Observer;

use super::Corpus;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Layout;
use crate::input::{self, Resolved};
use crate::options::ReadOptions;

impl Corpus {
    /// Resolves the inputs in order: `-` for standard input, a file, a folder, or a pattern.
    ///
    /// The observer is told of bytes that are decompressed to a temporary file, and can cancel.
    pub fn open(inputs: &[String], options: &ReadOptions, observer: &dyn Observer) -> Result<Self> {
        Self::open_against(&[], inputs, options, observer)
    }

    /// The same with references: documents that inputs are compared with, and that are never written. They may be of
    /// another format. Their sources come first, and a file that is both is refused.
    pub fn open_against(
        references: &[String],
        inputs: &[String],
        options: &ReadOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let resolved = input::resolve(references, inputs, options, observer)?;
        let Resolved { sources, container, file_ids, walked, same_id } = resolved;
        if let (Layout::Texts, Some(field)) = (container.format().layout(), options.value_fields.first()) {
            return Err(Error::new(ErrorKind::NoFields { field: field.to_string() }));
        }
        Ok(Self { sources, container, file_ids, walked, same_id })
    }
}
