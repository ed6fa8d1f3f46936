//! The corpus: every source, read by position.

mod chunk;
mod hash;
mod open;
mod read;
mod scan;

pub use self::chunk::Chunk;
pub use self::hash::ContentHash;
use crate::container::Container;
use crate::format::{Format, Layout};
use crate::input::{FileIds, SameId, Walked};
use crate::options::ReadOptions;
use crate::source::Source;
use crate::sources::Sources;

/// Documents that can be read by position, any number of times, from any thread.
#[derive(Debug)]
pub struct Corpus {
    pub(crate) sources: Sources,
    /// That of the inputs.
    pub(crate) container: &'static dyn Container,
    pub(crate) file_ids: FileIds,
    pub(crate) walked: Vec<Walked>,
    same_id: Option<SameId>,
}

impl Corpus {
    /// How the corpus was opened.
    pub fn options(&self) -> &ReadOptions {
        &self.sources.shared().options
    }

    /// The sources, in the order in which their documents count.
    pub fn sources(&self) -> &[Source] {
        self.sources.all()
    }

    /// How many of the first sources are references.
    pub fn references(&self) -> u32 {
        self.sources.references()
    }

    /// The sources that are not references.
    pub fn inputs(&self) -> &[Source] {
        self.sources.inputs()
    }

    /// Two texts that would have had one id, if there are such. All ids are longer then than their paths in the folders that
    /// were given.
    pub fn same_id(&self) -> Option<&SameId> {
        self.same_id.as_ref()
    }

    /// What all inputs are made of.
    pub fn format(&self) -> Format {
        self.container.format()
    }

    /// Whether each record or each source of the inputs is a document.
    pub fn layout(&self) -> Layout {
        self.format().layout()
    }

    /// The bytes of all sources together.
    pub fn size_bytes(&self) -> u64 {
        self.sources().iter().map(Source::size_bytes).sum()
    }
}
