//! Documents that a program holds in memory.

use std::fmt;
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{Array, LargeStringArray, RecordBatch};
use arrow_schema::SchemaRef;

/// Default name of a source.
const NAME: &str = "memory";

/// Size of the texts at which a block is full, in bytes.
const BLOCK_BYTES: usize = 1 << 20;
/// Maximum number of texts per block, however short they are.
const BLOCK_TEXTS: usize = 1 << 16;

/// Documents that a program holds in memory, as one source of a corpus.
///
/// The documents are a list of texts, with or without ids, or a table of Arrow record batches. A scan reads texts in
/// place: nothing is decoded, copied or written to a temporary file, and a clone shares the buffers. The documents do
/// not count towards the memory limit of a run, because they belong to the caller.
///
/// ```
/// use minwise_corpus::{Corpus, InMemory, ReadOptions, Scratch, Unobserved};
///
/// let notes = InMemory::documents([("1", "a rose"), ("2", "is a rose")]).named("notes");
/// let corpus = Corpus::open(&[notes.into()], &ReadOptions::default(), &Unobserved)?;
/// let mut found = Vec::new();
/// for chunk in corpus.chunks(1 << 20) {
///     corpus.scan(&chunk, &mut Scratch::new(), &mut |_place, document| {
///         found.push(document.map(|document| document.text.into_owned()));
///     })?;
/// }
/// assert_eq!(found, [Ok("a rose".to_owned()), Ok("is a rose".to_owned())]);
/// # Ok::<(), minwise_corpus::Error>(())
/// ```
#[derive(Clone)]
pub struct InMemory {
    name: Arc<str>,
    held: HeldDocuments,
}

/// The two forms of documents in memory.
#[derive(Clone)]
pub(crate) enum HeldDocuments {
    /// A list of texts.
    Texts(Arc<[TextBlock]>),
    /// A table.
    Batches { schema: SchemaRef, batches: Arc<[RecordBatch]> },
}

/// Some texts, one after the other in one buffer.
pub(crate) struct TextBlock {
    /// Ids of the texts; `None` if no text of the block has an id.
    pub(crate) ids: Option<LargeStringArray>,
    pub(crate) texts: LargeStringArray,
}

impl InMemory {
    /// Makes a list of texts without ids. Each text gets an id of the name of the source and a number, from
    /// `memory:1` on.
    ///
    /// The texts are copied one after the other into buffers of the list.
    #[must_use]
    pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::records(texts.into_iter().map(|text| (None::<&str>, Some(text))))
    }

    /// Makes a list of ids and texts. An empty id counts as no id.
    #[must_use]
    pub fn documents<I: AsRef<str>, T: AsRef<str>>(documents: impl IntoIterator<Item = (I, T)>) -> Self {
        Self::records(documents.into_iter().map(|(id, text)| (Some(id), Some(text))))
    }

    /// Makes a list of records that may have an id, and whose text may be null.
    #[must_use]
    pub fn records<I: AsRef<str>, T: AsRef<str>>(
        records: impl IntoIterator<Item = (Option<I>, Option<T>)>,
    ) -> Self {
        let mut packer = BlockPacker::default();
        for (id, text) in records {
            packer.push(id.as_ref().map(AsRef::as_ref), text.as_ref().map(AsRef::as_ref));
        }
        Self { name: NAME.into(), held: HeldDocuments::Texts(packer.finish().into()) }
    }

    /// Makes a table of record batches of one schema. [`ReadOptions`](crate::ReadOptions) name the columns of the
    /// text and the id, as for a file. The text column is `Utf8`, `LargeUtf8`, `Utf8View`, or a dictionary of one of
    /// these types.
    ///
    /// The buffers of the batches are held and not copied. [`Corpus::open`](crate::Corpus::open) refuses batches of
    /// another schema, and schemas without the columns.
    #[must_use]
    pub fn batches(schema: SchemaRef, batches: impl IntoIterator<Item = RecordBatch>) -> Self {
        let batches = batches.into_iter().collect();
        Self { name: NAME.into(), held: HeldDocuments::Batches { schema, batches } }
    }

    /// Names the source. Messages and ids contain the name. Default: `memory`. If an earlier source of the corpus has
    /// the same name, a number is added to the name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into().into(), ..self }
    }

    /// Returns the name of the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        match &self.held {
            HeldDocuments::Texts(blocks) => blocks.iter().map(|block| block.texts.len()).sum(),
            HeldDocuments::Batches { batches, .. } => batches.iter().map(RecordBatch::num_rows).sum(),
        }
    }

    /// Reports whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the list of texts or the table of record batches.
    pub(crate) fn held(&self) -> &HeldDocuments {
        &self.held
    }
}

impl From<Vec<String>> for InMemory {
    /// Copies the texts, and frees each text after it was copied.
    fn from(texts: Vec<String>) -> Self {
        Self::texts(texts)
    }
}

impl From<Vec<Option<String>>> for InMemory {
    /// Copies the texts; `None` becomes a null.
    fn from(texts: Vec<Option<String>>) -> Self {
        Self::records(texts.into_iter().map(|text| (None::<&str>, text)))
    }
}

impl From<Vec<(String, String)>> for InMemory {
    /// Copies the pairs, each an id and a text.
    fn from(documents: Vec<(String, String)>) -> Self {
        Self::documents(documents)
    }
}

impl From<RecordBatch> for InMemory {
    fn from(batch: RecordBatch) -> Self {
        Self::batches(batch.schema(), [batch])
    }
}

/// Shows the number of texts instead of the texts, because there may be millions.
impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.held {
            HeldDocuments::Texts(_) => "texts",
            HeldDocuments::Batches { .. } => "batches",
        };
        f.debug_struct("InMemory")
            .field("name", &self.name)
            .field("kind", &kind)
            .field("len", &self.len())
            .finish()
    }
}

/// Packs texts into blocks.
#[derive(Default)]
struct BlockPacker {
    blocks: Vec<TextBlock>,
    ids: LargeStringBuilder,
    texts: LargeStringBuilder,
    /// Number of texts in the builders.
    count: usize,
    has_id: bool,
}

impl BlockPacker {
    fn push(&mut self, id: Option<&str>, text: Option<&str>) {
        self.has_id |= id.is_some();
        self.ids.append_option(id);
        self.texts.append_option(text);
        self.count += 1;
        if self.count >= BLOCK_TEXTS || self.texts.values_slice().len() >= BLOCK_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let (ids, texts) = (self.ids.finish(), self.texts.finish());
        let ids = self.has_id.then_some(ids).map(fitted);
        self.blocks.push(TextBlock { ids, texts: fitted(texts) });
        // The next block reserves memory for about as many texts at once, because Arrow copies a buffer whenever it
        // grows or shrinks.
        let expected = (self.count + self.count / 8).min(BLOCK_TEXTS);
        self.texts = LargeStringBuilder::with_capacity(expected, BLOCK_BYTES + BLOCK_BYTES / 16);
        (self.count, self.has_id) = (0, false);
    }

    fn finish(mut self) -> Vec<TextBlock> {
        if self.count > 0 {
            self.flush();
        }
        self.blocks
    }
}

/// Shrinks the buffers of an array if much of their memory is unused, because they stay for the whole run.
fn fitted(mut array: LargeStringArray) -> LargeStringArray {
    let used = array.values().len() + size_of::<i64>() * (array.len() + 1);
    if array.get_buffer_memory_size() > used + used / 4 {
        array.shrink_to_fit();
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_packed_into_blocks() {
        let blocks = |held: InMemory| match held.held {
            HeldDocuments::Texts(blocks) => blocks.iter().map(|block| block.texts.len()).collect::<Vec<_>>(),
            HeldDocuments::Batches { .. } => panic!("not texts"),
        };
        assert_eq!(blocks(InMemory::texts([""; 0])), [0; 0]);
        assert_eq!(blocks(InMemory::texts(["a", "b"])), [2]);
        assert_eq!(blocks(InMemory::texts(vec![""; BLOCK_TEXTS + 1])), [BLOCK_TEXTS, 1]);
        let long = "x".repeat(BLOCK_BYTES);
        assert_eq!(blocks(InMemory::texts([&long, "a", &long, "b"])), [1, 2, 1]);
    }

    /// The buffers of all blocks but the first are allocated for a whole block, and must be shrunk for a few texts.
    #[test]
    fn blocks_have_little_room_left_over() {
        let held = InMemory::texts((0..70_000).map(|number| format!("{number:020}")));
        let HeldDocuments::Texts(blocks) = held.held else { panic!("not texts") };
        assert_eq!(blocks.len(), 2);
        for block in &*blocks {
            let used = block.texts.values().len() + 8 * (block.texts.len() + 1);
            let taken = block.texts.get_buffer_memory_size();
            assert!(taken <= used + used / 4 + 256, "{taken} bytes for {used}");
        }
    }

    #[test]
    fn documents_are_shown_without_their_texts() {
        let shown = format!("{:?}", InMemory::from(vec!["a secret".to_owned()]).named("x"));
        assert_eq!(shown, r#"InMemory { name: "x", kind: "texts", len: 1 }"#);
    }
}
