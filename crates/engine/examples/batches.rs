//! Finds near-duplicates in Arrow record batches, whose buffers are shared instead of copied.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::sync::Arc;

use minwise_engine::Dedup;
use minwise_engine::arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};

fn batch(ids: [i64; 2], bodies: [Option<&str>; 2]) -> Result<RecordBatch, Box<dyn Error>> {
    let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    let bodies: ArrayRef = Arc::new(StringArray::from(bodies.to_vec()));
    Ok(RecordBatch::try_from_iter_with_nullable([("id", ids, false), ("body", bodies, true)])?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let batches = [
        batch([7, 8], [Some("Rain fell on the hills all night long."), None])?,
        batch([9, 10], [Some("rain fell on the hills, all night long"), Some("The morning was clear.")])?,
    ];
    let schema = batches[0].schema();
    let result = Dedup::new().batches(schema, batches.clone()).text_field("body").run()?;

    // The mask covers all rows, so it is cut into the batches that came in, ready for the `filter` of Arrow.
    let mask = BooleanArray::from(result.kept_mask());
    let mut first = 0;
    for batch in &batches {
        let of_batch = mask.slice(first, batch.num_rows());
        println!("{} of {} rows stay", of_batch.true_count(), batch.num_rows());
        first += batch.num_rows();
    }
    // A null text is kept and compared with nothing.
    assert_eq!(result.kept_mask(), [true, true, false, true]);
    let removed = result.removed()[0];
    assert_eq!(result.id(removed.index)?.as_deref(), Some("9"));
    assert_eq!(result.id(removed.duplicate_of)?.as_deref(), Some("7"));
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Box<dyn Error>> {
    main()
}
