//! Makes a column of annotations.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};

use crate::annotation::{Annotation, MEMBER};

/// Returns the column that annotations become, as an Arrow field.
pub(crate) fn annotation_field() -> Field {
    let members = vec![
        Field::new("cluster", DataType::Utf8, false),
        Field::new("duplicate_of", DataType::Utf8, true),
        Field::new("similarity", DataType::Float64, true),
    ];
    Field::new(MEMBER, DataType::Struct(members.into()), false)
}

/// Returns annotations as a column of the form of [`annotation_field`].
pub(crate) fn annotation_column(annotations: &[Annotation<'_>]) -> ArrayRef {
    let clusters: StringArray = annotations.iter().map(|annotation| Some(&*annotation.cluster)).collect();
    let keepers: StringArray =
        annotations.iter().map(|annotation| annotation.similarity.map(|_| &*annotation.cluster)).collect();
    let similarities: Float64Array = annotations.iter().map(|annotation| annotation.similarity).collect();
    let field = annotation_field();
    let members = match field.data_type() {
        DataType::Struct(members) => members.clone(),
        _ => Fields::empty(),
    };
    Arc::new(StructArray::new(
        members,
        vec![Arc::new(clusters), Arc::new(keepers), Arc::new(similarities)],
        None,
    ))
}
