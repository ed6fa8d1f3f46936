//! Minwise hashing: from text to verified near-duplicates, as pure functions.
//!
//! A [`Sketch`] estimates how similar two texts are. An [`Lsh`] finds, among many texts, those that are similar to a
//! given text:
//!
//! ```
//! use minwise::{Lsh, Sketch, Spec};
//!
//! let spec: Spec = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse()?;
//! let a = Sketch::of(spec, "The cat sat on the mat.")?;
//! let b = Sketch::of(spec, "the CAT sat on a mat!")?;
//! println!("{}", a.estimate(&b)?); // such as 0.430 ± 0.044; the exact value is 3/7
//!
//! let mut index = Lsh::new(spec, 0.8, 0.99)?; // a threshold, and the recall at it
//! index.insert("first", "the quick brown fox jumps over the lazy dog near the river bank")?;
//! index.insert("second", "an entirely different sentence about the weather of last week")?;
//! let found = index.query("The quick brown fox jumps over the lazy dog near the river bank!")?;
//! assert_eq!(*found[0].key, "first");
//! # Ok::<(), minwise::Error>(())
//! ```
//!
//! The crate `minwise-engine` does the whole job for lists of texts, files and record batches. `minwise-engine` finds
//! candidates, verifies candidates exactly, and decides which documents stay.
//!
//! # The steps one by one
//!
//! ```
//! use minwise::{Spec, estimate, shingle::Shingles, verify::{Overlap, ShingleSet}};
//!
//! let spec: Spec = "nfkc+casefold / words:2 / minhash:128 / seed:1".parse()?;
//! let (shingler, sketcher) = (spec.shingler(), spec.sketcher()?);
//!
//! let mut shingles = Shingles::new();
//! let documents = ["The cat sat on the mat.", "the CAT sat on a mat!"].map(|text| {
//!     shingler.shingle_into(text, &mut shingles);
//!     let mut sketch = vec![0; 128];
//!     sketcher.sketch_into(shingles.hashes(), &mut sketch);
//!     (sketch, shingles.hashes().iter().copied().collect::<ShingleSet>())
//! });
//!
//! let [(sketch_a, set_a), (sketch_b, set_b)] = &documents;
//! assert_eq!(Overlap::of(set_a, set_b).jaccard(), 3.0 / 7.0);
//! let estimate = estimate::minhash::estimate(sketch_a, sketch_b);
//! assert!((estimate.value - 3.0 / 7.0).abs() < 4.0 * estimate.standard_error);
//! # Ok::<(), minwise::Error>(())
//! ```
//!
//! Data flows one way, and each module uses only the modules before it:
//!
//! ```text
//! text → shingle → sketch → candidate → filter → verify → cluster
//!  └ hash, kernel    └ estimate                             └ keep, calendar
//! ```
//!
//! The crate uses no files, clocks, environment variables or global state; the crates that use it do. Only
//! [`Lsh::insert_many`] and [`Lsh::insert_sketches`] start threads. The caller sets their number.
//!
//! # Features
//!
//! | feature | for | default |
//! |---|---|---|
//! | `serde` | `Serialize` and `Deserialize` for the values in the table below | no |
//! | `exhaustive` | only the tests of this crate, whose lists of sketches must be complete. The feature may change in any version | no |
//!
//! With `serde`, every value that can be written can be read back, and the value that is read is equal to the one
//! written:
//!
//! | value | form |
//! |---|---|
//! | [`Spec`] and its parts, [`Filter`](filter::Filter), [`Clustering`](cluster::Clustering), [`Measure`](verify::Measure) | the text form, as `Display` writes it and `FromStr` reads it |
//! | [`Estimate`](estimate::Estimate), [`Overlap`](verify::Overlap), [`Banding`](candidate::Banding), [`Look`](filter::Look), [`Edge`](cluster::Edge) and other results | a structure with the names of the fields |
//! | [`Sketch`], [`Lsh`] | a structure with the versions of its form, of specs and of Unicode; another version is refused. There is no checksum, so an edited spec is accepted |
//!
//! ```
//! # #[cfg(feature = "serde")] {
//! use minwise::{Lsh, Spec};
//!
//! let mut index: Lsh<String> = Lsh::new(Spec::default(), 0.8, 0.99)?;
//! index.insert("a".to_owned(), "the quick brown fox jumps over the lazy dog")?;
//! let stored = serde_json::to_string(&index).expect("an index can be written as JSON");
//! let again: Lsh<String> = serde_json::from_str(&stored).expect("it was written by this version");
//! assert_eq!(again.query("the quick brown fox jumps over the lazy dog")?[0].key, "a");
//! # }
//! # Ok::<(), minwise::Error>(())
//! ```
//!
//! # Sources
//!
//! Modules name the papers that they implement. Five sources have short names, because many modules cite them:
//!
//! - **Hassanian-esfahani 2018**: R. Hassanian-esfahani and M.-j. Kargar, *Sectional `MinHash` for near-duplicate
//!   detection*, Expert Systems with Applications, 2018. Its Table 1 is a survey of sketches.
//! - **Bergillos 2018**: C. Bergillos, A. Rambla and A. Cabeza, *Document similarity detection using hashing*, student
//!   report, 2018.
//! - **Yuan 2012**: X. Yuan, J. Long, Z. Zhang, Y. Luo, H. Zhang and W. Gui, *f-Fractional bit minwise hashing*,
//!   Journal of Software 7(1), 2012.
//! - **Yuan 2019**: X. Yuan, S. Wang, C. Peng and C. Zhang, *Efficient near-duplicate document detection using
//!   consistent weighted sampling filter*, 2019.
//! - **Anonymous**: an undated description of software classes that implement `MinHash` and banding, without author.
//!
//! A citation gives the place with the numbering of the source: `Yuan 2012, (29)` is an equation, and `Bergillos 2018,
//! §5.1` is a section. Where a source has an error, modules implement the correct statement. Numbers such as E-11 are
//! entries of the list of [errata].

pub mod calendar;
pub mod candidate;
pub mod cluster;
pub mod errata;
mod error;
mod escape;
pub mod estimate;
pub mod figure;
pub mod filter;
pub mod hash;
pub mod keep;
pub mod kernel;
pub mod lsh;
mod observe;
mod sentence;
#[cfg(feature = "serde")]
mod serde_form;
pub mod shingle;
pub mod sketch;
mod sketch_object;
pub mod sort;
mod spec;
pub mod text;
pub mod verify;
pub mod weight;

pub use error::{Error, ErrorKind};
pub use escape::{
    Quotes, escape_control, escape_field, escape_html, shortened, shortened_id, visible, visible_json,
    visible_lines,
};
pub use lsh::Lsh;
pub use observe::{Observer, ProgressUnit, Stage, Unobserved, Warning};
pub use sentence::{Sentence, SentencePart};
pub use sketch_object::Sketch;
pub use spec::{Spec, SpecSketcher, VERSION, WeightSpec};

/// The examples of this crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
