//! Keeps the first of every group of near-duplicates while documents arrive, one per line.
//!
//! `cargo run --package minwise --example stream < lines.txt > distinct.txt`

use std::error::Error;
use std::io::{self, BufRead, Write};

use minwise::{Lsh, Spec};

fn main() -> Result<(), Box<dyn Error>> {
    keep_first(io::stdin().lock(), &mut io::stdout().lock())
}

fn keep_first(input: impl BufRead, output: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let spec: Spec = "nfkc+casefold / words:3 / minhash:128 / seed:1".parse()?;
    // The index keeps shingles, so that similarities are exact: a line is dropped only if a kept line is really
    // similar.
    let mut kept = Lsh::builder(spec).threshold(0.8).keep_shingles().build()?;
    for (number, line) in (1..).zip(input.lines()) {
        let line = line?;
        if kept.query(&line)?.is_empty() {
            writeln!(output, "{line}")?;
            kept.insert(number, &line)?;
        }
    }
    Ok(())
}

#[test]
fn the_first_of_two_similar_lines_stays() -> Result<(), Box<dyn Error>> {
    let lines =
        "the library is closed on Monday\nwe serve soup and bread\nThe library is closed on Monday!\n";
    let mut output = vec![];
    keep_first(lines.as_bytes(), &mut output)?;
    assert_eq!(String::from_utf8(output)?, "the library is closed on Monday\nwe serve soup and bread\n");
    Ok(())
}
