//! Groups the rows to be written, so that the rows of a group lie in one part of a file.

use std::iter::Peekable;
use std::ops::Range;

use crate::document::RecordPlace;

/// Rows of one row group or record batch of one source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection<T> {
    pub(crate) source: u32,
    /// Number of the row group or record batch.
    pub(crate) part: usize,
    /// Row numbers in the file, as ranges that are in order and do not touch.
    pub(crate) rows: Vec<Range<u64>>,
    /// The value that came with each row.
    pub(crate) with: Vec<T>,
}

/// Groups adjacent places whose rows lie in one part, in ascending order. `part_of` returns the part of a row.
pub(crate) fn selections<T>(
    places: impl Iterator<Item = (RecordPlace, T)>,
    part_of: impl Fn(u32, u64) -> usize,
) -> impl Iterator<Item = Selection<T>> {
    let mut places = places.peekable();
    std::iter::from_fn(move || next(&mut places, &part_of))
}

fn next<T>(
    places: &mut Peekable<impl Iterator<Item = (RecordPlace, T)>>,
    part_of: &impl Fn(u32, u64) -> usize,
) -> Option<Selection<T>> {
    let (place, with) = places.next()?;
    let (source, part) = (place.source, part_of(place.source, place.offset));
    let row = |place: &RecordPlace| place.offset..place.offset + 1;
    let mut selection = Selection { source, part, rows: Vec::from([row(&place)]), with: vec![with] };
    while let Some((place, with)) = places.next_if(|(next, _)| {
        // If a row lies before the previous row, a new selection begins, because a part is read forwards.
        let forwards = selection.rows.last().is_some_and(|rows| rows.end <= next.offset);
        forwards && next.source == source && part_of(source, next.offset) == part
    }) {
        match selection.rows.last_mut() {
            Some(rows) if rows.end == place.offset => rows.end += 1,
            _ => selection.rows.push(row(&place)),
        }
        selection.with.push(with);
    }
    Some(selection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_by_part() {
        let place = |source, offset| (RecordPlace { source, line: 0, offset, len: 1 }, offset);
        let places = [place(0, 1), place(0, 2), place(0, 5), place(0, 10), place(1, 10), place(1, 9)];
        let found: Vec<_> = selections(places.into_iter(), |_, row| (row / 8) as usize).collect();
        let seen: Vec<(u32, usize, Vec<u64>)> = found
            .iter()
            .map(|found| (found.source, found.part, found.rows.iter().cloned().flatten().collect()))
            .collect();
        assert_eq!(seen, [(0, 0, vec![1, 2, 5]), (0, 1, vec![10]), (1, 1, vec![10]), (1, 1, vec![9])]);
        assert_eq!(found[0].rows, [1..3, 5..6]);
        assert_eq!(found[0].with, [1, 2, 5]);
    }
}
