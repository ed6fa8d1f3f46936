//! Makes shingles and sketches as a run does, with weights and with the text of a form ignored.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use minwise_engine::{Measure, Preparation, Spec, WeightTables};

fn main() -> Result<(), Box<dyn Error>> {
    let spec: Spec = "nfkc+casefold / words:1 / dart:256 / seed:1 / weight:count".parse()?;
    let weighing = WeightTables::default().ignoring(&spec, ["Name, address and date of birth:"]);
    let preparation = Preparation::new(&spec, &weighing)?;
    println!("{}", preparation.spec());

    let [left, right] = ["Name, address and date of birth: tea tea biscuits", "date: tea biscuits biscuits"]
        .map(|text| preparation.document(text));
    // The weighted similarity is Σ min / Σ max of the counts: (1 + 1) / (2 + 2).
    assert_eq!(left.measure(&right, Measure::Jaccard)?, 0.5);
    if let (Some(left), Some(right)) = (left.sketch(), right.sketch()) {
        println!("estimated from {} words each: {}", preparation.words(), preparation.estimate(left, right));
    }
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Box<dyn Error>> {
    main()
}
