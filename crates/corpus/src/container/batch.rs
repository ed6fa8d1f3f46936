//! Cuts records that have bytes into batches, for conversion.

use crate::document::RecordPlace;

/// Number of bytes after which a batch ends. A batch also ends after [`BATCH_ROWS`] rows.
const BATCH_BYTES: u64 = 8 << 20;
const BATCH_ROWS: usize = 8 << 10;

/// Cuts records into batches, in the order given. No batch is empty.
pub(super) fn in_batches(
    places: &mut dyn Iterator<Item = RecordPlace>,
) -> impl Iterator<Item = Vec<RecordPlace>> {
    std::iter::from_fn(move || {
        let (mut batch, mut bytes) = (vec![], 0);
        while batch.len() < BATCH_ROWS
            && bytes < BATCH_BYTES
            && let Some(place) = places.next()
        {
            bytes += u64::from(place.len);
            batch.push(place);
        }
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_ends_with_enough_rows_or_bytes() {
        let cut = |records: usize, len: u32| -> Vec<usize> {
            let mut places = (0..).map(|line| RecordPlace { source: 0, line, offset: 0, len }).take(records);
            in_batches(&mut places).map(|batch| batch.len()).collect()
        };
        assert_eq!(cut(0, 1), Vec::<usize>::new());
        assert_eq!(cut(20_000, 1), [8192, 8192, 3616]);
        assert_eq!(cut(16_384, 1), [8192, 8192]);
        assert_eq!(cut(5, 3 << 20), [3, 2]);
        assert_eq!(cut(2, u32::MAX), [1, 1]);
    }
}
