//! Stores a sketch, reads it back, and merges it with the sketch of a later part.
//!
//! `cargo run --package minwise --example store_a_sketch`

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use minwise::{Error, Sketch, Spec};

fn main() -> Result<(), Error> {
    let spec: Spec = "nfkc+casefold / words:3 / minhash:128 / seed:1".parse()?;
    let morning = Sketch::of(spec, "Rain in the north, sun in the south, and wind along the coast.")?;

    // The bytes contain the spec, a version and a checksum.
    let bytes = morning.to_bytes();
    println!("{} bytes", bytes.len());
    let mut day = Sketch::from_bytes(&bytes)?;

    day.merge(&Sketch::of(spec, "In the evening, fog in the valleys and clear skies along the coast.")?)?;
    println!("{} distinct shingles in the morning, {} in the whole day", morning.count()?, day.count()?);
    println!("similarity {}", day.estimate(&morning)?);

    // Changed bytes are refused. The error contains what was expected and what was found.
    let mut damaged = bytes;
    damaged[100] ^= 1;
    if let Err(error) = Sketch::from_bytes(&damaged) {
        println!("{error}");
    }
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Error> {
    main()
}
