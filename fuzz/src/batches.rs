//! Fuzz target for record batches in memory, which are built from any bytes.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int64Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, LargeStringArray, PrimitiveArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use arrow_buffer::ArrowNativeType;
use minwise_corpus::arrow_schema::{Field, Fields};
use minwise_corpus::{Corpus, FieldPath, InMemory, ReadOptions, RejectReason, Scratch, Unobserved};

/// Checks that a table in memory is refused, or returns the texts and nulls from which it was built.
pub fn batches(bytes: &[u8]) {
    let mut recipe = Recipe(bytes);
    let (kind, nested) = (recipe.next(), recipe.next() % 2 == 1);
    let (mut tables, mut expected) = (vec![], vec![]);
    for _ in 0..=recipe.next() % 3 {
        let texts = recipe.texts();
        // A batch may be a slice of a larger batch, because programs pass such batches, too.
        let start = usize::from(recipe.next()) % (texts.len() + 1);
        let len = usize::from(recipe.next()) % (texts.len() - start + 1);
        // If arrow refuses to build a column, for example a dictionary with keys out of range, no program can pass
        // it.
        let Some((column, texts)) = recipe.column(kind, texts) else { return };
        let Some((batch, ids)) = recipe.batch(column, nested) else { return };
        tables.push(batch.slice(start, len));
        expected.extend(ids.into_iter().zip(texts).skip(start).take(len));
    }
    let Some(schema) = tables.first().map(RecordBatch::schema) else { return };
    let text_fields = FieldPath::list(if nested { "meta.text" } else { "text" }).expect("a field");
    let options = ReadOptions::default().text_fields(text_fields);
    let memory = InMemory::batches(schema, tables);
    let corpus = Corpus::open(&[memory.into()], &options, &Unobserved).expect("all of it is a table");
    let (mut found, mut places) = (vec![], vec![]);
    for chunk in corpus.chunks(64) {
        let scanned = corpus.scan(&chunk, &mut Scratch::new(), &mut |place, document| match document {
            Ok(document) => {
                places.push(place);
                found.push((document.id.map(Cow::into_owned), Some(document.text.into_owned())));
            }
            Err(reject) => {
                assert!(matches!(reject.reason, RejectReason::Null { .. }), "{reject}");
                found.push((reject.id, None));
            }
        });
        scanned.expect("memory can be read");
    }
    assert_eq!(found, expected);
    for (place, (id, text)) in places.iter().zip(found.iter().filter(|(_, text)| text.is_some())) {
        let mut scratch = Scratch::new();
        let again = corpus.read(place, &mut scratch).expect("it was there");
        assert_eq!((again.id.as_deref(), Some(&*again.text)), (id.as_deref(), text.as_deref()));
    }
    corpus.content_hash(0, &mut |_| true).expect("memory can be read");
}

/// Bytes from which a table is built. Behind their end, every byte is 0.
struct Recipe<'b>(&'b [u8]);

impl Recipe<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn text(&mut self) -> Option<String> {
        // Texts have up to 30 bytes, so that texts stored in the view itself (up to 12 bytes) and longer texts are
        // both likely.
        let len = usize::from(self.next() % 32).checked_sub(1)?;
        let (text, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn texts(&mut self) -> Vec<Option<String>> {
        (0..self.next() % 16).map(|_| self.text()).collect()
    }

    /// Makes a column of a type, and returns it with its texts.
    fn column(&mut self, kind: u8, texts: Vec<Option<String>>) -> Option<(ArrayRef, Vec<Option<String>>)> {
        let plain = || texts.iter().map(Option::as_deref);
        let column: ArrayRef = match kind % 6 {
            0 => Arc::new(plain().collect::<StringArray>()),
            1 => Arc::new(plain().collect::<LargeStringArray>()),
            2 => Arc::new(plain().collect::<StringViewArray>()),
            3 => return self.dictionary::<Int8Type>(Arc::new(plain().collect::<StringArray>()), &texts),
            4 => {
                return self.dictionary::<UInt16Type>(Arc::new(plain().collect::<StringViewArray>()), &texts);
            }
            _ => {
                return self.dictionary::<Int64Type>(Arc::new(plain().collect::<LargeStringArray>()), &texts);
            }
        };
        Some((column, texts))
    }

    /// Makes a dictionary with as many rows as values. Values may be null or unused, and keys may be null or out of
    /// range.
    fn dictionary<K: ArrowDictionaryKeyType>(
        &mut self,
        values: ArrayRef,
        texts: &[Option<String>],
    ) -> Option<(ArrayRef, Vec<Option<String>>)> {
        // Most keys are in range, because arrow refuses a dictionary with a key out of range.
        let bound = texts.len() as u8 + 2;
        let keys: Vec<Option<usize>> =
            texts.iter().map(|_| usize::from(self.next() % bound).checked_sub(1)).collect();
        let native: PrimitiveArray<K> = keys.iter().map(|key| key.and_then(K::Native::from_usize)).collect();
        let column = DictionaryArray::try_new(native, values).ok()?;
        let texts = keys.iter().map(|key| texts.get((*key)?)?.clone()).collect();
        Some((Arc::new(column), texts))
    }

    /// Makes a batch and its ids. The texts are a column, or the member of a struct without nulls.
    fn batch(&mut self, texts: ArrayRef, nested: bool) -> Option<(RecordBatch, Vec<Option<String>>)> {
        let ids: Vec<Option<u8>> = (0..texts.len()).map(|_| self.next().checked_sub(1)).collect();
        let column: Int64Array = ids.iter().map(|id| id.map(i64::from)).collect();
        let id = Arc::new(column) as ArrayRef;
        let field = Field::new("text", texts.data_type().clone(), true);
        let (name, column) = if nested {
            let column = StructArray::try_new(Fields::from(vec![field]), vec![texts], None).ok()?;
            ("meta", Arc::new(column) as ArrayRef)
        } else {
            ("text", texts)
        };
        let batch =
            RecordBatch::try_from_iter_with_nullable([("id", id, true), (name, column, true)]).ok()?;
        Some((batch, ids.iter().map(|id| id.map(|id| id.to_string())).collect()))
    }
}

/// Returns recipes for tables of every type, with nulls.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let rest = b"\x02\x04\x04one\x00\x01\x10\xe6\x96\x87\xe6\x9c\xac and more\x00\x04\x01\x02\x00\x03\x02\x03two\x00\x00\x02";
    (0..12).map(|kind| [&[kind % 6, kind / 6], &rest[..]].concat()).collect()
}
