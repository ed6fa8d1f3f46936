//! Routes to nested columns.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_buffer::NullBuffer;

use super::cells::Level;
use super::lists::elements;

/// Route to a column that can be named.
#[derive(Clone, Debug)]
pub(in crate::container) struct ColumnRoute {
    pub(in crate::container) root: usize,
    /// Steps from the top-level column to the column.
    pub(in crate::container) steps: Vec<Step>,
}

/// A step into a column.
#[derive(Clone, Copy, Debug)]
pub(in crate::container) enum Step {
    /// A step to a member of a struct.
    Member(usize),
    /// A step to the elements of a list.
    Each,
}

/// The array at the end of a route into a column.
pub(in crate::container) struct ColumnEnd {
    pub(in crate::container) array: ArrayRef,
    /// Nulls of the structs around the array.
    pub(in crate::container) nulls: Option<NullBuffer>,
    /// Levels of the lists on the route, the outermost first.
    pub(in crate::container) levels: Vec<Level>,
}

/// Follows a route into a column, and returns the array at its end.
pub(in crate::container) fn end_of(column: &ArrayRef, steps: &[Step]) -> Option<ColumnEnd> {
    let (mut array, mut nulls, mut levels) = (Arc::clone(column), None, vec![]);
    for step in steps {
        nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
        array = match step {
            Step::Member(member) => Arc::clone(array.as_struct_opt()?.columns().get(*member)?),
            Step::Each => {
                let (level, elements) = elements(&*array, nulls.take().as_ref())?;
                levels.push(level);
                elements
            }
        };
    }
    Some(ColumnEnd { array, nulls, levels })
}
