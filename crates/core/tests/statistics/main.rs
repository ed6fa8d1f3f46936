//! The statistical claims of the sketches, checked over many independent families of hash functions.
//!
//! Every test draws its inputs from fixed seeds, so a run gives the same numbers on every machine. Every bound follows
//! from the tested distribution: a mean or a variance may be four of its own standard errors away from the expected
//! value. `cargo test --test statistics -- --nocapture` prints the measured values.
//!
//! | file | what is tested |
//! |---|---|
//! | [`methods`] | every method of `Method::all`: measurements over many seeds follow the exact distribution of [`model`] |
//! | [`bits`] | bits of registers that depend on one another |
//! | [`formulas`] | sums over the distributions of [`model`] give the means and variances of the formulas of `estimate`; intervals cover 95 % |
//! | [`minhash`] | `MinHash` on ids and texts of several kinds, its bands, and the bias of unmixed ids that it avoids |
//!
//! **False alarms.** A single measurement of a correct sketch is more than four standard errors away with probability
//! 1/16 000. [`methods`] has 40 methods × 6 similarities × 3 sizes = 720 points with at most three measurements each,
//! and [`bits`] has 20 points with two. With a new choice of all seeds, at least one measurement would be that far away
//! with probability 0.13, and in the long mode with 0.35. The point of such a measurement is measured again with other
//! seeds and four times as many trials, and only the second result counts. A false alarm thus has probability 10⁻⁵.
//! Seeds are the numbers of the points; no seed was searched for.
//!
//! `cargo x test --long` adds every combination of set size and number of registers, and takes ten times as many trials
//! (`MINWISE_LONG=1`).

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
