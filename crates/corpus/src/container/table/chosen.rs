//! Chooses rows of arrays.
//!
//! The kernels of `arrow-select` are not used, because that crate takes longer to compile than all other code that
//! tables in memory need. Kept rows lie in long runs, and one copy per run is fast.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::ArrowError;

/// Returns some rows of a batch. The ranges are in order and do not touch. `first_row` is the number of the first row
/// of the batch.
pub(in crate::container) fn chosen_rows(
    batch: &RecordBatch,
    first_row: u64,
    rows: &[Range<u64>],
) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<Range<usize>> =
        rows.iter().map(|rows| (rows.start - first_row) as usize..(rows.end - first_row) as usize).collect();
    let count = rows.iter().map(Range::len).sum();
    if count == batch.num_rows() {
        return Ok(batch.clone());
    }
    let columns =
        batch.columns().iter().map(|column| chosen(&**column, &rows, count)).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
}

/// Returns the elements of an array in these ranges, which contain `count` elements together.
fn chosen(array: &dyn Array, rows: &[Range<usize>], count: usize) -> Result<ArrayRef, ArrowError> {
    let data = array.to_data();
    let mut copy = MutableArrayData::new(vec![&data], false, count);
    for rows in rows {
        copy.try_extend(0, rows.start, rows.end)?;
    }
    Ok(make_array(copy.freeze()))
}

/// Returns the elements at some places of an array, in that order; a place of `None` gives a null.
pub(super) fn taken(
    array: &dyn Array,
    places: impl ExactSizeIterator<Item = Option<usize>>,
) -> Result<ArrayRef, ArrowError> {
    let data = array.to_data();
    let mut copy = MutableArrayData::new(vec![&data], true, places.len());
    for place in places {
        match place {
            Some(place) => copy.try_extend(0, place, place + 1)?,
            None => copy.try_extend_nulls(1)?,
        }
    }
    Ok(make_array(copy.freeze()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{
        FixedSizeListBuilder, Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringRunBuilder,
    };
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        BinaryArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int32Array,
        LargeStringArray, NullArray, StringArray, StringViewArray, StructArray,
    };
    use arrow_schema::{DataType, Field, Schema};
    use arrow_select::filter::filter;
    use arrow_select::take::take;

    use super::*;

    /// Makes arrays of six elements, of types that are built in different ways.
    fn arrays() -> Vec<ArrayRef> {
        let texts = [Some("a"), None, Some(""), Some("a text that no view holds inline"), None, Some("b")];
        let numbers = [Some(1), Some(2), None, None, Some(5), Some(6)];
        let mut lists = ListBuilder::new(StringBuilder::new());
        let mut fixed = FixedSizeListBuilder::new(Int32Builder::new(), 2);
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        let mut runs = StringRunBuilder::<Int32Type>::new();
        for (text, number) in texts.into_iter().zip(numbers) {
            lists.values().append_option(text);
            lists.append(number.is_some());
            fixed.values().append_option(number);
            fixed.values().append_null();
            fixed.append(text.is_some());
            maps.keys().append_value("key");
            maps.values().append_option(number);
            maps.append(text.is_some()).unwrap();
            runs.append_option(number.map(|_| "run"));
        }
        let bytes = texts.map(|text| text.map(str::as_bytes));
        let fields = vec![Field::new("a", DataType::Utf8, true), Field::new("b", DataType::Int32, true)];
        let members: Vec<ArrayRef> =
            vec![Arc::new(StringArray::from(texts.to_vec())), Arc::new(Int32Array::from(numbers.to_vec()))];
        let wide = numbers.map(|number| number.map(|_| [7_u8; 3]));
        vec![
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(LargeStringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(BinaryArray::from(bytes.to_vec())),
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(wide.into_iter(), 3).unwrap()),
            Arc::new(Int32Array::from(numbers.to_vec())),
            Arc::new(Float64Array::from(vec![1.0; 6])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true), None, None])),
            Arc::new(NullArray::new(6)),
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>()),
            Arc::new(lists.finish()),
            Arc::new(fixed.finish()),
            Arc::new(maps.finish()),
            Arc::new(runs.finish()),
            Arc::new(StructArray::new(fields.into(), members, None)),
        ]
    }

    #[test]
    fn rows_of_every_kind_of_array_are_those_of_the_kernels() {
        for array in arrays() {
            let kind = array.data_type().clone();
            // The slice is tested because its elements do not begin at the beginning of its buffers.
            for array in [Arc::clone(&array), array.slice(1, 5)] {
                let picked =
                    BooleanArray::from((0..array.len()).map(|row| row != 1 && row != 4).collect::<Vec<_>>());
                let expected = filter(&array, &picked).unwrap();
                let ends = if array.len() == 6 { vec![0..1, 2..4, 5..6] } else { vec![0..1, 2..4] };
                let found = chosen(&*array, &ends, expected.len()).unwrap();
                assert_eq!(&found, &expected, "{kind}");
                assert_eq!(found.nulls().is_some(), expected.nulls().is_some(), "{kind}");
                if matches!(kind, DataType::RunEndEncoded(..) | DataType::Null) {
                    // Arrays of runs and of nulls are left out, because `taken` never gets such arrays together with
                    // a place of `None`.
                    continue;
                }
                let places = Int32Array::from(vec![Some(3), None, Some(0), Some(3)]);
                let expected = take(&array, &places, None).unwrap();
                let found = taken(
                    &*array,
                    places
                        .iter()
                        .map(|place| place.map(|place| place as usize))
                        .collect::<Vec<_>>()
                        .into_iter(),
                );
                assert_eq!(&found.unwrap(), &expected, "{kind}");
            }
        }
    }

    #[test]
    fn rows_are_counted_from_the_first_of_their_batch() {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, true)]));
        let numbers = Arc::new(Int32Array::from_iter_values(0..6));
        let batch = RecordBatch::try_new(schema, vec![numbers]).unwrap();
        let found = chosen_rows(&batch, 10, &[10..11, 13..15]).unwrap();
        assert_eq!(found.column(0).as_ref(), &Int32Array::from(vec![0, 3, 4]) as &dyn Array);
        assert_eq!(chosen_rows(&batch, 10, &[10..12, 12..16]).unwrap(), batch);
        let none = RecordBatch::try_new_with_options(
            Arc::new(Schema::empty()),
            vec![],
            &RecordBatchOptions::new().with_row_count(Some(4)),
        );
        assert_eq!(chosen_rows(&none.unwrap(), 0, &[0..1, 2..3]).unwrap().num_rows(), 2);
    }
}
