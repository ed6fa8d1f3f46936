//! Finds the elements of lists.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::cells::Level;

/// Returns the range of elements of each list of an array, and the array of all elements; `None` if the array holds
/// no lists. `nulls` are the nulls of the lists and of the structs around them. They are needed because a null list
/// may still have elements.
pub(super) fn elements(array: &dyn Array, nulls: Option<&NullBuffer>) -> Option<(Level, ArrayRef)> {
    let (lists, elements): (Vec<Range<usize>>, &ArrayRef) = match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list_opt::<i32>()?;
            (between(lists.value_offsets()), lists.values())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list_opt::<i64>()?;
            (between(lists.value_offsets()), lists.values())
        }
        DataType::ListView(_) => {
            let lists = array.as_list_view_opt::<i32>()?;
            (from(lists.value_offsets(), lists.value_sizes()), lists.values())
        }
        DataType::LargeListView(_) => {
            let lists = array.as_list_view_opt::<i64>()?;
            (from(lists.value_offsets(), lists.value_sizes()), lists.values())
        }
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list_opt()?;
            let size = usize::try_from(lists.value_length()).ok()?;
            ((0..lists.len()).map(|row| row * size..(row + 1) * size).collect(), lists.values())
        }
        _ => return None,
    };
    let is_there = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
    let level = lists.into_iter().enumerate().map(|(row, list)| is_there(row).then_some(list));
    Some((level.collect(), Arc::clone(elements)))
}

/// Converts an offset. The library has checked that offsets lie among the elements.
fn place(offset: impl TryInto<usize>) -> usize {
    offset.try_into().unwrap_or(0)
}

/// Returns the ranges of adjacent lists, each of which ends where the next begins.
fn between<O: TryInto<usize> + Copy>(offsets: &[O]) -> Vec<Range<usize>> {
    offsets.iter().zip(offsets.iter().skip(1)).map(|(start, end)| place(*start)..place(*end)).collect()
}

/// Returns the ranges of lists that may lie anywhere among the elements.
fn from<O: TryInto<usize> + Copy>(offsets: &[O], sizes: &[O]) -> Vec<Range<usize>> {
    offsets.iter().zip(sizes).map(|(&start, &size)| place(start)..place(start) + place(size)).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::OffsetSizeTrait;
    use arrow_array::builder::{
        FixedSizeListBuilder, GenericListBuilder, GenericListViewBuilder, StringBuilder,
    };

    use super::*;

    fn generic<O: OffsetSizeTrait>() -> ArrayRef {
        let mut lists = GenericListBuilder::<O, _>::new(StringBuilder::new());
        lists.append_value([Some("a"), None]);
        lists.append_null();
        lists.append_value([Some("b"), Some("c")]);
        Arc::new(lists.finish())
    }

    fn views<O: OffsetSizeTrait>() -> ArrayRef {
        let mut lists = GenericListViewBuilder::<O, _>::new(StringBuilder::new());
        lists.append_value([Some("a"), None]);
        lists.append_null();
        lists.append_value([Some("b"), Some("c")]);
        Arc::new(lists.finish())
    }

    #[test]
    fn every_form_of_a_list_has_its_elements() {
        let mut fixed = FixedSizeListBuilder::new(StringBuilder::new(), 2);
        for (texts, is_valid) in
            [([Some("a"), None], true), ([None, None], false), ([Some("b"), Some("c")], true)]
        {
            for text in texts {
                fixed.values().append_option(text);
            }
            fixed.append(is_valid);
        }
        let fixed: ArrayRef = Arc::new(fixed.finish());
        for array in [generic::<i32>(), generic::<i64>(), views::<i32>(), views::<i64>(), fixed] {
            let (level, elements) = elements(&*array, array.nulls()).unwrap();
            let texts = elements.as_string::<i32>();
            let found: Vec<Option<Vec<Option<&str>>>> = level
                .into_iter()
                .map(|list| Some(list?.map(|at| texts.is_valid(at).then(|| texts.value(at))).collect()))
                .collect();
            let expected = [Some(vec![Some("a"), None]), None, Some(vec![Some("b"), Some("c")])];
            assert_eq!(found, expected, "{}", array.data_type());
        }
        assert!(elements(&StringBuilder::new().finish(), None).is_none());
    }
}
