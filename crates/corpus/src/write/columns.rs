//! Finds the columns of an output to which records of several sources are converted.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

use crate::annotation::MEMBER;
use crate::container::table::{annotation_field, is_scalar, many_of, merged, not_json, one_of, unfolded};
use crate::container::{Container, OutputColumns};
use crate::corpus::Corpus;
use crate::error::{Error, ErrorKind, Result};
use crate::problem::FileProblem;
use crate::scratch::Scratch;
use crate::shape::{At, ObjectMembers};
use crate::sources::{Content, SourceHandle, SourcePart};
use crate::unconverted::Unconverted;

/// Number of bytes of lines that are scanned together.
const LOOK_BYTES: u64 = 4 << 20;

/// Refuses columns that an output cannot have, if they are known before records are read.
pub(super) fn check(handle: &SourceHandle<'_>, content: &dyn Content, to: &dyn Container) -> Result<()> {
    let Some(schema) = content.schema(handle)? else { return Ok(()) };
    let name = handle.source.name();
    for (number, field) in schema.fields().iter().enumerate() {
        if schema.fields().iter().take(number).any(|before| before.name() == field.name()) {
            return Err(Error::inside(name, FileProblem::RepeatedColumn { column: field.name().clone() }));
        }
        let misfit = match to.columns() {
            Some(OutputColumns::Own) => not_json(field),
            Some(OutputColumns::Texts) => Some(field.data_type())
                .filter(|kind| !is_scalar(kind))
                .map(|kind| (field.name().clone(), kind)),
            Some(OutputColumns::Typed) | None => None,
        };
        if let Some((column, found)) = misfit {
            let (found, to) = (many_of(found), to.format().to_string());
            return Err(Error::inside(name, FileProblem::NotConverted { column, found, to }));
        }
    }
    match to.refuses(&unfolded(&schema)) {
        Some(message) => {
            Err(Error::new(ErrorKind::Conversion(Unconverted::ColumnsRefused { to: to.format(), message })))
        }
        None => Ok(()),
    }
}

/// Returns the columns of an output for the records of these sources.
pub(super) fn columns(
    corpus: &Corpus,
    numbers: Range<u32>,
    to: &dyn Container,
    has_annotations: bool,
) -> Result<SchemaRef> {
    let kind = to.columns().unwrap_or(OutputColumns::Own);
    let mut known: Vec<(String, SchemaRef)> = vec![];
    let mut shape: Option<(usize, ObjectMembers)> = None;
    for number in numbers {
        let (handle, content) = corpus.sources.get(number)?;
        if handle.source.unreadable().is_some() {
            continue;
        }
        match content.schema(&handle)? {
            Some(schema) => known.push((handle.source.name().to_owned(), unfolded(&schema))),
            // Lines need no columns here, because such an output takes every line as it is.
            None if kind == OutputColumns::Own => {}
            None => {
                let members = members_of(&handle, content)?;
                match &mut shape {
                    Some((_, all)) => all.merge(members),
                    None => shape = Some((known.len(), members)),
                }
            }
        }
    }
    let schema = match kind {
        OutputColumns::Own => Schema::empty(),
        OutputColumns::Texts => texts(corpus, &known, shape.as_ref(), to)?,
        OutputColumns::Typed => typed(corpus, known, shape.as_ref(), to)?,
    };
    let schema = match kind {
        // A file without columns gets the text columns, because some readers refuse a file without columns.
        OutputColumns::Texts | OutputColumns::Typed if schema.fields().is_empty() => {
            let names = corpus.options().text_fields.iter().filter_map(|field| field.parts().first());
            Schema::new(names.map(|name| Field::new(name, DataType::Utf8, true)).collect::<Fields>())
        }
        _ => schema,
    };
    if let (true, Some(column)) = (has_annotations, schema.column_with_name(MEMBER)) {
        return Err(Error::inside(
            "the output",
            FileProblem::ColumnExists { column: column.1.name().clone() },
        ));
    }
    let mut fields = schema.fields().to_vec();
    if has_annotations {
        fields.push(Arc::new(match kind {
            OutputColumns::Texts => Field::new(MEMBER, DataType::Utf8, true),
            OutputColumns::Own | OutputColumns::Typed => annotation_field(),
        }));
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    match to.refuses(&schema) {
        Some(message) => {
            Err(Error::new(ErrorKind::Conversion(Unconverted::ColumnsRefused { to: to.format(), message })))
        }
        None => Ok(Arc::new(schema)),
    }
}

/// Returns the columns of an output of texts: the names of all columns, in the order in which they come.
fn texts(
    corpus: &Corpus,
    known: &[(String, SchemaRef)],
    shape: Option<&(usize, ObjectMembers)>,
    to: &dyn Container,
) -> Result<Schema> {
    let (mut names, mut seen): (Vec<&str>, HashSet<&str>) = Default::default();
    let mut add = |name| {
        if seen.insert(name) {
            names.push(name);
        }
    };
    for at in 0..=known.len() {
        if let Some((_, members)) = shape.filter(|(first, _)| *first == at) {
            if let Some(at) = members.too_many {
                return Err(mixed(
                    corpus,
                    "the record".to_owned(),
                    &[(at, "more than 10,000 different members")],
                    to,
                )?);
            }
            for (name, shape) in members.iter() {
                let nested = shape.list.as_ref().map(|list| (list.0, "a list"));
                let nested = nested.or(shape.object.as_ref().map(|object| (object.0, "an object")));
                if let Some(seen) = nested {
                    return Err(mixed(corpus, name.to_owned(), &[seen], to)?);
                }
                add(name);
            }
        }
        if let Some((_, schema)) = known.get(at) {
            schema.fields().iter().for_each(|field| add(field.name()));
        }
    }
    Ok(Schema::new(names.into_iter().map(|name| Field::new(name, DataType::Utf8, true)).collect::<Fields>()))
}

/// Returns all columns, each with the type that holds every value.
fn typed(
    corpus: &Corpus,
    mut known: Vec<(String, SchemaRef)>,
    shape: Option<&(usize, ObjectMembers)>,
    to: &dyn Container,
) -> Result<Schema> {
    let shaped = shape.map(|(_, members)| members);
    if let Some((at, members)) = shape {
        let fields = match members.fields() {
            Ok(fields) => fields,
            Err(conflict) => return Err(mixed(corpus, conflict.field(), &conflict.seen, to)?),
        };
        known.insert(*at, (LINES.to_owned(), Arc::new(Schema::new(fields))));
    }
    let mut known = known.into_iter();
    let Some((mut names, first)) = known.next() else { return Ok(Schema::empty()) };
    let (mut fields, metadata) = (first.fields().clone(), first.metadata().clone());
    for (name, schema) in known {
        fields = match merged(&fields, schema.fields()) {
            Ok(fields) => fields,
            Err((field, first, second)) => {
                let place = |name: &str| place_of(corpus, shaped, &field, name);
                let seen = vec![(place(&names)?, one_of(&first)), (place(&name)?, one_of(&second))];
                return Err(Error::new(ErrorKind::Conversion(Unconverted::MixedTypes {
                    field,
                    to: to.format(),
                    seen,
                })));
            }
        };
        if !names.contains(&name) {
            names = format!("{names}, {name}");
        }
    }
    Ok(Schema::new_with_metadata(fields, metadata))
}

/// Name of all JSONL inputs together, used until a line with the field is found.
const LINES: &str = "the JSONL inputs";

/// Returns the place of the inputs that have a field, for a message. For JSONL, this is the first line that has the
/// field.
fn place_of(corpus: &Corpus, shaped: Option<&ObjectMembers>, field: &str, name: &str) -> Result<String> {
    let top = field.split(['.', '[']).next().unwrap_or(field);
    let shape = shaped.and_then(|members| members.iter().find(|(name, _)| *name == top));
    let first = shape.and_then(|(_, shape)| shape.seen().first().copied());
    let Some((at, _)) = first.filter(|_| name == LINES) else { return Ok(name.to_owned()) };
    let (handle, _) = corpus.sources.get(at.source)?;
    Ok(format!("{}:{}", handle.source.name(), handle.line_at(at.offset)?))
}

/// Makes the error that values do not fit into one column, with the lines of the records that show this.
fn mixed(corpus: &Corpus, field: String, seen: &[(At, &'static str)], to: &dyn Container) -> Result<Error> {
    let mut shown = vec![];
    for &(at, kind) in seen {
        let (handle, _) = corpus.sources.get(at.source)?;
        let line = handle.line_at(at.offset)?;
        shown.push((format!("{}:{line}", handle.source.name()), kind.to_owned()));
    }
    Ok(Error::new(ErrorKind::Conversion(Unconverted::MixedTypes { field, to: to.format(), seen: shown })))
}

/// Returns the members of all records of a source of lines.
fn members_of(handle: &SourceHandle<'_>, content: &dyn Content) -> Result<ObjectMembers> {
    let (shapes, size_bytes) = (&handle.shared.shapes, handle.source.size_bytes());
    if let Some(members) = shapes.of(handle.number, size_bytes) {
        return Ok(members);
    }
    // A resumed run may not have scanned the source, so it is scanned here.
    shapes.want_from(handle.number);
    let mut start = 0;
    while start < size_bytes {
        let end = (start + LOOK_BYTES).min(size_bytes);
        let turns = handle.shared.turns();
        content.scan(&SourcePart::Bytes(start..end), handle, &turns, &mut Scratch::new(), &mut |_, _| {})?;
        start = end;
    }
    shapes.of(handle.number, size_bytes).ok_or_else(|| handle.no_such_place(size_bytes))
}
