//! Removes near-duplicates from a file, and writes the kept records, the removed records and a report.
//!
//! Records are copied unchanged. JSONL, CSV, Parquet, Arrow IPC, WARC and folders of documents are read the same way,
//! compressed or not.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use minwise_engine::Dedup;

const RECORDS: &str = r#"{"key": "a", "date": "2024-03-01", "body": "The mill pond froze over in the first week of the year."}
{"key": "b", "date": "2025-01-20", "body": "The mill pond froze over, in the first week of the year!"}
{"key": "c", "date": "2025-02-11", "body": "Swans came back to the river when the ice had melted."}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let [input, kept, removed] =
        ["in.jsonl", "kept.jsonl", "removed.jsonl"].map(|name| folder.path().join(name));
    fs_err::write(&input, RECORDS)?;

    let result = Dedup::new()
        .file(&input)
        .text_field("body")
        .id_field("key")
        // The record with the latest date is kept from each cluster.
        .keep("newest:date")
        .write_kept(&kept)
        .write_removed(&removed)
        .report(folder.path().join("report"))
        .run()?;

    let summary = result.summary();
    println!(
        "{} read, {} kept, {} removed, {} rejected",
        summary.read, summary.kept, summary.removed, summary.rejected
    );
    for duplicate in result.removed() {
        let (id, keeper) = (result.id(duplicate.index)?, result.id(duplicate.duplicate_of)?);
        println!("{} repeats {}", id.unwrap_or_default(), keeper.unwrap_or_default());
    }
    let lines: Vec<&str> = RECORDS.lines().collect();
    assert_eq!(fs_err::read_to_string(&kept)?.lines().collect::<Vec<_>>(), lines[1..]);
    assert_eq!(fs_err::read_to_string(&removed)?.lines().collect::<Vec<_>>(), lines[..1]);
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Box<dyn Error>> {
    main()
}
