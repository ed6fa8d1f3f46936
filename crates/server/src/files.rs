//! Files that clients send: the documents in them, and the limits for reading them.

use std::time::Duration;

use axum::body::Bytes;
use minwise_corpus::{ExtractLimits, Extracted, Refusal};
use minwise_index::{Mark, NewDocument};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::limits::cores;
use crate::wire::{self, Metadata, Title};

/// A file of a form. The server never opens `name` as a path, because a client must not choose paths.
#[derive(Debug)]
pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
}

/// Title and metadata of a file, which replace the title and the metadata that the file states.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AboutFile {
    /// Title of the document, up to 64 KiB; without it, the title that the file states.
    #[schema(value_type = Option<String>)]
    pub(crate) title: Title,
    /// Metadata of the document, up to 64 KiB. A metadata field that is absent from this object has the value that the
    /// file states.
    #[schema(value_type = Object)]
    pub(crate) metadata: Metadata,
}

impl AboutFile {
    /// Sets the title and the metadata of a document to the given values. Fields of metadata that only the file states
    /// stay.
    pub(crate) fn apply_to(self, mut document: NewDocument) -> NewDocument {
        document.title = self.title.0.or(document.title);
        document.metadata.extend(self.metadata.0);
        document
    }
}

/// Id, title and metadata of one of several files. Title and metadata replace those that the file states.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AboutNamed {
    /// Id of the document; without it, the name of the file.
    id: Option<String>,
    /// Title of the document, up to 64 KiB; without it, the title that the file states.
    #[schema(value_type = Option<String>)]
    title: Title,
    /// Metadata of the document, up to 64 KiB. A metadata field that is absent from this object has the value that the
    /// file states.
    #[schema(value_type = Object)]
    metadata: Metadata,
}

impl AboutNamed {
    /// Returns the id, if the request has one.
    pub(crate) fn into_id(self) -> Option<String> {
        self.id
    }

    /// Sets the id, title and metadata of a document to the given values.
    pub(crate) fn apply_to(self, document: NewDocument) -> NewDocument {
        let id = self.id.unwrap_or_else(|| document.id.clone());
        AboutFile { title: self.title, metadata: self.metadata }.apply_to(document.id(id))
    }
}

/// Returns the limits for reading a file. A decompressed file is held in memory like a body, so it has the
/// limit of a body.
pub(crate) fn file_limits(body_bytes: usize, time: Duration) -> ExtractLimits {
    let bytes = body_bytes as u64;
    // A reader that ran out of time keeps its thread for a while, so there are twice as many threads as
    // cores.
    ExtractLimits::default().bytes(bytes).unfolded_bytes(bytes).time(time).threads(2 * cores())
}

/// Reads the document of a file, with the name of the file as id. A title over 64 KiB and metadata beyond 64
/// KiB are dropped.
pub(crate) fn document(file: &UploadedFile, limits: &ExtractLimits) -> Result<NewDocument, Refusal> {
    let Extracted { text, title, metadata, marks, .. } =
        minwise_corpus::extract(&file.bytes, Some(&file.name), limits)?;
    let marks = if marks.is_empty() { Mark::pages(&text) } else { wire::marks_of_file(&marks) };
    let title = title.filter(|title| title.len() <= wire::METADATA_BYTES);
    let mut left = wire::METADATA_BYTES;
    let fits = |(name, value): &(String, String)| {
        let fits = left.checked_sub(name.len() + value.len());
        left = fits.unwrap_or(left);
        fits.is_some()
    };
    let metadata =
        metadata.into_iter().filter(fits).map(|(name, value)| (name, Value::from(value))).collect();
    let mut document = NewDocument::new(&file.name, text).metadata(metadata).marks(marks);
    document.title = title;
    Ok(document)
}
