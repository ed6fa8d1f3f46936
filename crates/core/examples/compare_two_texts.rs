//! Computes how similar two texts are: estimated by a sketch of each text, and exactly.
//!
//! `cargo run --package minwise --example compare_two_texts`

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use minwise::shingle::Shingles;
use minwise::verify::{Overlap, ShingleSet};
use minwise::{Error, Sketch, Spec};

fn main() -> Result<(), Error> {
    let first = "The committee met on Tuesday and agreed to publish the report in full.";
    let second = "The committee met on Friday and agreed to publish the report in full.";

    // The spec defines what counts as a shared piece of text, which is two consecutive words here.
    let spec: Spec = "nfkc+casefold / words:2 / minhash:256 / seed:1".parse()?;

    // A sketch takes 1 KiB for a text of any length, and gives an estimate with its error.
    let estimate = Sketch::of(spec, first)?.estimate(&Sketch::of(spec, second)?)?;
    println!("estimated {estimate}, between {:.2} and {:.2}", estimate.interval.0, estimate.interval.1);

    // The shingle sets give the exact value.
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
