//! Writes rows with their annotations in one more column.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use ::parquet::column::writer::get_typed_column_writer_mut;
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use ::parquet::errors::Result as ParquetResult;
use ::parquet::file::metadata::KeyValue;
use ::parquet::schema::types::{Type, TypePtr};
use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::Schema;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::copy::{CopyRoom, copy_groups, file, model, writing};
use super::target::TableFile;
use super::transfer::BATCH_ROWS;
use super::write::properties;
use crate::annotation::{Annotation, MEMBER};
use crate::container::table::{annotation_field, selections};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::output::{Output, TableCompression};
use crate::sources::Sources;

/// Metadata key under which writers based on Arrow keep the Arrow schema. Readers refuse a file if this schema and
/// the columns differ.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// Writes the rows with their annotations as one Parquet file, with the schema and settings of the first source that
/// has rows.
pub(super) fn annotate(
    sources: &Sources,
    numbers: Range<u32>,
    annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let first = model(sources, numbers)?;
    let about = first.metadata.file_metadata();
    let key_values = about.key_value_metadata().map(|values| values.iter().filter_map(with_field).collect());
    let properties = properties(&first.metadata, key_values, compression);
    let schema = with_column(about.schema_descr().root_schema()).map_err(writing)?;
    let room = CopyRoom::of(out, compression);
    let mut target = TableFile::new(out, schema, properties).map_err(writing)?;
    let part_of = |source, row| file(sources, source).map_or(0, |file| file.group_of(row));
    copy_groups(sources, selections(annotated, part_of), &mut target, room, |selection, target| {
        write_annotations(&selection.with, target).map_err(writing)
    })?;
    target.finish().map_err(writing)
}

/// Adds a column for annotations behind the other columns of a schema.
fn with_column(root: &Type) -> ParquetResult<TypePtr> {
    let text = |name, repetition| {
        Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(repetition)
            .with_converted_type(ConvertedType::UTF8)
            .with_logical_type(Some(LogicalType::String))
            .build()
    };
    let similarity = Type::primitive_type_builder("similarity", Physical::DOUBLE)
        .with_repetition(Repetition::OPTIONAL)
        .build()?;
    let members =
        [text("cluster", Repetition::REQUIRED)?, text("duplicate_of", Repetition::OPTIONAL)?, similarity];
    let annotation = Type::group_type_builder(MEMBER)
        .with_repetition(Repetition::REQUIRED)
        .with_fields(members.map(Arc::new).to_vec())
        .build()?;
    let mut fields = root.get_fields().to_vec();
    fields.push(Arc::new(annotation));
    Ok(Arc::new(Type::group_type_builder(root.name()).with_fields(fields).build()?))
}

/// Adapts a value of the metadata to the new file. The Arrow schema gets one more column, and is left out if it
/// cannot be read.
fn with_field(value: &KeyValue) -> Option<KeyValue> {
    if value.key != ARROW_SCHEMA {
        return Some(value.clone());
    }
    let bytes = STANDARD.decode(value.value.as_ref()?).ok()?;
    let schema = try_schema_from_ipc_buffer(&bytes).ok()?;
    let mut fields = schema.fields().to_vec();
    fields.push(Arc::new(annotation_field()));
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let message = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
        &schema,
        &mut DictionaryTracker::new(true),
        &IpcWriteOptions::default(),
    );
    let mut bytes = vec![0xff; 4];
    bytes.extend_from_slice(&(message.ipc_message.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&message.ipc_message);
    Some(KeyValue::new(ARROW_SCHEMA.to_owned(), STANDARD.encode(bytes)))
}

fn write_annotations(annotations: &[Annotation<'_>], target: &mut TableFile<'_>) -> ParquetResult<()> {
    let id = |annotation: &Annotation<'_>| ByteArray::from(&*annotation.cluster);
    write_column::<ByteArrayType>(target, annotations, Repetition::REQUIRED, |annotation| {
        Some(id(annotation))
    })?;
    write_column::<ByteArrayType>(target, annotations, Repetition::OPTIONAL, |annotation| {
        annotation.similarity.map(|_| id(annotation))
    })?;
    write_column::<DoubleType>(target, annotations, Repetition::OPTIONAL, |annotation| annotation.similarity)
}

/// Writes a column with one value per annotation. Annotations are written in batches, because their values are
/// copied.
fn write_column<T: DataType>(
    target: &mut TableFile<'_>,
    annotations: &[Annotation<'_>],
    repetition: Repetition,
    value: impl Fn(&Annotation<'_>) -> Option<T::T>,
) -> ParquetResult<()> {
    target.write_column(|column| {
        for some in annotations.chunks(BATCH_ROWS) {
            let (mut values, mut there) = (Vec::new(), Vec::new());
            for value in some.iter().map(&value) {
                there.push(i16::from(value.is_some()));
                values.extend(value);
            }
            let there = (repetition == Repetition::OPTIONAL).then_some(there.as_slice());
            get_typed_column_writer_mut::<T>(column).write_batch(&values, there, None)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field};

    use super::*;

    /// Encodes a schema in the form that the metadata keeps.
    fn encoded(fields: Vec<Field>) -> KeyValue {
        let schema = Schema::new(fields);
        let message = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            &schema,
            &mut DictionaryTracker::new(true),
            &IpcWriteOptions::default(),
        );
        let len = (message.ipc_message.len() as u32).to_le_bytes();
        let bytes = [&[0xff; 4][..], &len, &message.ipc_message].concat();
        KeyValue::new(ARROW_SCHEMA.to_owned(), STANDARD.encode(bytes))
    }

    #[test]
    fn the_arrow_schema_gets_the_column_too() {
        let text = Field::new("text", DataType::LargeUtf8, true);
        let before = encoded(vec![text.clone()]);
        assert_eq!(with_field(&before), Some(encoded(vec![text, annotation_field()])));
        let other = KeyValue::new("who".to_owned(), "me".to_owned());
        assert_eq!(with_field(&other), Some(other.clone()));
        let broken = KeyValue::new(ARROW_SCHEMA.to_owned(), "!".to_owned());
        assert_eq!(with_field(&broken), None, "a schema that would not fit is worse than none");
    }
}
