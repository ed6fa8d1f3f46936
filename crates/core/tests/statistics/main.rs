//! The statistical promises of the sketches, checked over many independent families of hash functions.
//!
//! Every test draws its inputs from fixed seeds, so a run gives the same numbers on every machine, and every bound
//! follows from the law that is tested: a mean and a variance may be four of their own standard errors away from what
//! they should be. `cargo test --test statistics -- --nocapture` prints what was measured.
//!
//! | file | what is tested |
//! |---|---|
//! | [`methods`] | every method of `Method::all`: what is measured over many seeds follows the exact law of [`model`] |
//! | [`bits`] | bits of registers that depend on one another |
//! | [`formulas`] | summed over those laws, means and variances are what the formulas of `estimate` say; intervals cover |
//! | [`minhash`] | `MinHash` on ids and texts of several kinds, its bands, and the trap that it avoids |
//!
//! **False alarms.** A right sketch is refused by a single check once in 16 000 times. [`methods`] makes 40 methods × 6
//! similarities × 3 sizes = 720 points with at most three checks each, and [`bits`] 20 with two, so that a fresh choice
//! of all seeds would give a false alarm with probability 0.13. The seeds were chosen once, and none was changed to make
//! a check pass.
//!
//! `MINWISE_LONG=1` adds every combination of set size and number of registers, and ten times as many trials.

#![allow(clippy::print_stdout, reason = "what was measured is worth seeing, whether or not it passes")]
#![allow(clippy::unwrap_used, reason = "a test whose sketch cannot be made has failed")]

mod bits;
mod formulas;
mod law;
mod measure;
mod methods;
mod minhash;
mod model;
mod pair;
