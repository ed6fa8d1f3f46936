//! Finds the known texts that are similar to a new text.
//!
//! `cargo run --package minwise --example lsh_in_ten_lines`

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use minwise::{Error, Lsh, Spec};

fn main() -> Result<(), Error> {
    let spec: Spec = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse()?;
    let mut lsh = Lsh::new(spec, 0.5, 0.99)?;
    lsh.insert("notice", "The library is closed on Monday because of the holiday.")?;
    lsh.insert("menu", "Today we serve soup, bread and a salad of the season.")?;
    lsh.insert("old notice", "The library is closed on Friday because of the holiday.")?;
    for similar in lsh.query("Please note: the library is closed on Monday because of the holiday")? {
        println!("{:10} {}", similar.key, similar.estimate);
    }
    assert_eq!(lsh.query("The library is closed on Monday because of the holiday!")?.len(), 2);
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Error> {
    main()
}
