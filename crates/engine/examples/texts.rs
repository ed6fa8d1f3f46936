//! Finds near-duplicates in a list of texts: the kept texts, the removed texts with reasons, and all pairs.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use minwise_engine::{Dedup, Error, Pairs};

fn main() -> Result<(), Error> {
    let texts = vec![
        "The heron stands in the shallow water and waits for fish.".to_owned(),
        "A kingfisher dives from a branch into the river.".to_owned(),
        "The heron stands in the shallow water, and waits for fish!".to_owned(),
        "At noon the heron stands in the shallow water and waits for fish.".to_owned(),
    ];

    // Shingles of two words suit short texts; the default is five words.
    let spec = "nfkc+casefold / words:2 / minhash:128 / seed:1";
    let result = Dedup::new().texts(&texts).spec(spec).threshold(0.7).run()?;
    for index in result.kept() {
        println!("stays: {}", texts[index]);
    }
    for removed in result.removed() {
        println!("{:.2} {} <- {}", removed.similarity, texts[removed.duplicate_of], texts[removed.index]);
        // The longest passage that both texts share, in the words of the removed text.
        if let Some(passage) =
            result.explain(removed.index)?.and_then(|found| found.passages.into_iter().next())
        {
            println!("     shared: {}", &texts[removed.index][passage.left]);
        }
    }
    assert_eq!(result.kept_mask(), [true, true, false, false]);

    // Pairs at or above the threshold include pairs of two removed texts.
    let pairs = Pairs::new().texts(&texts).spec(spec).threshold(0.7).run()?;
    for pair in &pairs {
        println!("{} and {}: {:.2}", pair.first, pair.second, pair.similarity);
    }
    assert_eq!(pairs.len(), 3);
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Error> {
    main()
}
