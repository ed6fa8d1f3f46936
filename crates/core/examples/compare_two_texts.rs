//! How similar are two texts? By a sketch of each, and exactly.
//!
//! `cargo run --package minwise --example compare_two_texts`

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use minwise::shingle::Shingles;
use minwise::verify::{Overlap, ShingleSet};
use minwise::{Error, Sketch, Spec};

fn main() -> Result<(), Error> {
    let first = "The committee met on Tuesday and agreed to publish the report in full.";
    let second = "The committee met on Friday and agreed to publish the report in full.";

    // The spec says what counts as a shared piece of text: here, two words in a row.
    let spec: Spec = "nfkc+casefold / words:2 / minhash:256 / seed:1".parse()?;

    // A sketch has 1 KiB, however long the text is, and gives an estimate with its error.
    let estimate = Sketch::of(spec, first)?.estimate(&Sketch::of(spec, second)?)?;
    println!("estimated {estimate}, between {:.2} and {:.2}", estimate.interval.0, estimate.interval.1);

    // The shingle sets themselves give the exact value.
    let shingler = spec.shingler();
    let mut shingles = Shingles::new();
    let [a, b] = [first, second].map(|text| {
        shingler.shingle_into(text, &mut shingles);
        shingles.hashes().iter().copied().collect::<ShingleSet>()
    });
    let overlap = Overlap::of(&a, &b);
    println!(
        "exactly   {:.3}: {} shared shingles of {} and {}",
        overlap.jaccard(),
        overlap.shared,
        overlap.left,
        overlap.right
    );
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Error> {
    main()
}
