//! Checks all golden values of `vectors/`.
//!
//! Programs in other languages read the same files, so their results agree with those of this crate.
//! `vectors/reference.py`, a second implementation without shared code, makes the files. A failing test names the entry
//! and the file. Then either a result has changed, which is a breaking change, or one of the implementations is wrong.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::Arc;

use minwise::candidate::{Banding, Curve, Winnow, tune};
use minwise::estimate::minhash::variance;
use minwise::hash::{SplitMix64, fmix32, fmix64, fold_multiply, rolling, token};
use minwise::kernel::{Draw, Kernel, Linear, ln};
use minwise::shingle::{Shingler, Shingles, Shingling};
use minwise::sketch::{Method, MinHash, Sketcher, WeightedMethod};
use minwise::text::{Normalization, NormalizedText, Normalizer};
use minwise::weight::{DocumentFrequencies, Weigher, WeightedSet};
use minwise::{ErrorKind, Spec};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors");

/// Half a unit of the last of the six printed digits, with a margin for rounding.
const HALF_A_DIGIT: f64 = 0.5e-6 * (1.0 + 1e-6);

/// Files that the tests below read, `filter`, which `filter.rs` reads, and `beyond`, which the lab reads.
const FILES: [&str; 11] = [
    "beyond", "filter", "hash", "minhash", "shingle", "sketch", "spec", "text", "tune", "weighted", "winnow",
];

#[expect(clippy::disallowed_methods, reason = "a test reads its own repository")]
fn read<T: DeserializeOwned>(stem: &str) -> T {
    assert!(FILES.contains(&stem));
    let text =
        std::fs::read_to_string(format!("{FOLDER}/{stem}.toml")).expect("the vectors are in the repository");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{stem}.toml: {error}"))
}

/// Entries that differ. A test compares all entries before it fails.
#[derive(Default)]
struct Differences {
    seen: usize,
    found: Vec<String>,
}

impl Differences {
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over what they have just computed")]
    fn check<T: PartialEq + Debug>(&mut self, entry: impl FnOnce() -> String, found: T, expected: T) {
        self.seen += 1;
        if found != expected {
            self.found.push(format!("{}:\n    found    {found:?}\n    expected {expected:?}", entry()));
        }
    }

    fn check_digits(&mut self, entry: impl FnOnce() -> String, found: f64, expected: f64) {
        self.seen += 1;
        if found.is_nan() || (found - expected).abs() > HALF_A_DIGIT {
            self.found.push(format!("{}: found {found}, expected {expected}", entry()));
        }
    }

    #[track_caller]
    fn conclude(self) {
        assert!(self.seen > 0, "there are values to check");
        assert!(self.found.is_empty(), "{} of {}:\n{}", self.found.len(), self.seen, self.found.join("\n"));
    }
}

/// A number written in hexadecimal digits.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(try_from = "String")]
struct Hex(u64);

impl TryFrom<String> for Hex {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u64::from_str_radix(&text, 16).map(Self)
    }
}

impl Hex {
    fn half(self) -> u32 {
        u32::try_from(self.0).expect("a value of 32 bits")
    }
}

impl Debug for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

fn hex(values: &[u64]) -> Vec<Hex> {
    values.iter().copied().map(Hex).collect()
}

fn hex_halves(values: &[u32]) -> Vec<Hex> {
    values.iter().copied().map(u64::from).map(Hex).collect()
}

fn numbers(values: &[Hex]) -> Vec<u64> {
    values.iter().map(|value| value.0).collect()
}

fn halves(values: &[Hex]) -> Vec<u32> {
    values.iter().map(|value| value.half()).collect()
}

/// A seed written in decimal digits.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(try_from = "String")]
struct Seed(u64);

impl TryFrom<String> for Seed {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

#[test]
fn every_file_of_the_folder_is_read() {
    let mut stems: Vec<String> = std::fs::read_dir(FOLDER)
        .expect("the vectors are in the repository")
        .filter_map(|entry| {
            entry.ok()?.file_name().into_string().ok()?.strip_suffix(".toml").map(str::to_owned)
        })
        .collect();
    stems.sort();
    assert_eq!(stems, FILES);
}

#[test]
fn every_entry_says_where_it_comes_from() {
    for stem in FILES {
        for (table, entries) in read::<BTreeMap<String, Vec<toml::Table>>>(stem) {
            for (number, entry) in entries.iter().enumerate() {
                let origin = entry.get("origin").and_then(toml::Value::as_str);
                assert!(origin.is_some_and(|origin| !origin.is_empty()), "{stem}.toml, {table} {number}");
            }
        }
    }
}

#[derive(Deserialize)]
struct HashFile {
    fmix32: Vec<Mapping>,
    fmix64: Vec<Mapping>,
    splitmix64: Vec<Sequence>,
    fold_multiply: Vec<Product>,
}

#[derive(Deserialize)]
struct Mapping {
    input: Hex,
    output: Hex,
}

#[derive(Deserialize)]
struct Sequence {
    seed: Seed,
    output: Vec<Hex>,
}

#[derive(Deserialize)]
struct Product {
    a: Hex,
    b: Hex,
    output: Hex,
}

#[test]
fn hash() {
    let file: HashFile = read("hash");
    let mut differences = Differences::default();
    for Mapping { input, output } in file.fmix32 {
        differences.check(|| format!("fmix32 of {input:?}"), Hex(fmix32(input.half()).into()), output);
    }
    for Mapping { input, output } in file.fmix64 {
        differences.check(|| format!("fmix64 of {input:?}"), Hex(fmix64(input.0)), output);
    }
    for Sequence { seed, output } in file.splitmix64 {
        let mut random = SplitMix64::new(seed.0);
        let found = output.iter().map(|_| Hex(random.next_u64())).collect();
        differences.check(|| format!("splitmix64 of {seed:?}"), found, output);
    }
    for Product { a, b, output } in file.fold_multiply {
        differences.check(|| format!("fold_multiply of {a:?}, {b:?}"), Hex(fold_multiply(a.0, b.0)), output);
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct TextFile {
    text: Vec<NormalText>,
}

#[derive(Deserialize)]
struct NormalText {
    name: String,
    how: String,
    source: String,
    normal: String,
    tokens: Vec<String>,
}

/// Returns the tokens of a text that needs no normalisation, taken from the places of the units.
fn tokens(normal: &str) -> Vec<&str> {
    let unchanged: Normalization = "none+keep-space".parse().expect("a text form");
    let mut shingles = Shingles::new();
    let shingler = Shingler::new(unchanged, "words:1".parse().expect("a text form"));
    let places = shingler.shingle_with_places_into(normal, &mut shingles);
    (0..shingles.units())
        .map(|unit| &normal[places.span(unit, unit).expect("a place for every unit")])
        .collect()
}

fn token_hash(token: &str) -> u64 {
    let mut padded = token.as_bytes().to_vec();
    padded.resize(token.len() + token::PADDING, 0);
    token::hash(&padded, 0, token.len())
}

#[test]
fn text() {
    let file: TextFile = read("text");
    let mut differences = Differences::default();
    for NormalText { name, how, source, normal, tokens: expected } in &file.text {
        let normalization: Normalization = how.parse().unwrap();
        let mut text = NormalizedText::new();
        Normalizer::new(normalization).normalize_into(source, &mut text);
        differences.check(|| format!("normal form of {name:?}"), text.as_str(), normal);
        differences.check(
            || format!("tokens of {name:?}"),
            tokens(normal),
            expected.iter().map(String::as_str).collect(),
        );

        // The tokens are also hashed as parts of a document, on every kernel of this machine.
        let hashes: Vec<u64> = expected.iter().map(|token| rolling::whole(&[token_hash(token)])).collect();
        for kernel in Kernel::available() {
            let mut shingles = Shingles::new();
            let shingler = Shingler::new(normalization, "words:1".parse().unwrap()).with_kernel(kernel);
            shingler.shingle_into(source, &mut shingles);
            differences.check(
                || format!("hashed tokens of {name:?} by {kernel}"),
                shingles.hashes(),
                &hashes[..],
            );
        }
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct ShingleFile {
    token_hash: Vec<TokenHash>,
    char_hash: Vec<CharHash>,
    window_hash: Vec<Rolled>,
    text: Vec<ShingledText>,
    equality: Vec<EqualityKeys>,
}

#[derive(Deserialize)]
struct TokenHash {
    token: String,
    hash: Hex,
}

#[derive(Deserialize)]
struct CharHash {
    char: char,
    hash: Hex,
}

#[derive(Deserialize)]
struct Rolled {
    size: usize,
    units: Vec<Hex>,
    windows: Vec<Hex>,
}

#[derive(Deserialize)]
struct ShingledText {
    name: String,
    source: String,
    shingles: BTreeMap<String, Vec<Hex>>,
}

#[derive(Deserialize)]
struct EqualityKeys {
    name: String,
    source: String,
    keys: BTreeMap<String, String>,
}

#[test]
fn shingle() {
    let file: ShingleFile = read("shingle");
    let mut differences = Differences::default();
    for TokenHash { token, hash } in &file.token_hash {
        differences.check(|| format!("hash of token {token:?}"), Hex(token_hash(token)), *hash);
    }
    for CharHash { char, hash } in file.char_hash {
        differences.check(|| format!("hash of character {char:?}"), Hex(token::hash_char(char)), hash);
    }
    for Rolled { size, units, windows } in file.window_hash {
        let mut found = vec![];
        rolling::windows_into(&numbers(&units), size, &mut found);
        differences.check(|| format!("windows of {size} in {units:?}"), hex(&found), windows);
    }
    let mut out = Shingles::new();
    for ShingledText { name, source, shingles } in &file.text {
        for (how, expected) in shingles {
            for kernel in Kernel::available() {
                let shingling: Shingling = how.parse().unwrap();
                let shingler = Shingler::new(Normalization::default(), shingling).with_kernel(kernel);
                shingler.shingle_into(source, &mut out);
                differences.check(|| format!("{how} of {name:?} by {kernel}"), &hex(out.hashes()), expected);
            }
        }
    }
    for EqualityKeys { name, source, keys } in &file.equality {
        for (how, expected) in keys {
            let shingler = Shingler::new(Normalization::default(), how.parse().unwrap());
            // The first byte of the key is the most significant byte of this number.
            let bytes = |key: u128| format!("{:032x}", key.swap_bytes());
            shingler.shingle_into(source, &mut out);
            let entry = || format!("key of {name:?}, {how}");
            differences.check(entry, bytes(out.equality_key()), expected.clone());
            // The key of a huge document is computed block by block, and must be the same.
            let Ok(tally) = shingler.shingle_blocks(source, 16, &mut out, |_| Ok::<(), Infallible>(()));
            differences.check(entry, bytes(tally.equality_key), expected.clone());
        }
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct MinHashFile {
    fold: Vec<Fold>,
    coefficients: Vec<Coefficients>,
    sketch: Vec<SketchedSet>,
    band_keys: Vec<BandKeys>,
    document: Vec<Document>,
}

#[derive(Deserialize)]
struct Fold {
    shingle: Hex,
    seed: Hex,
    key: Hex,
}

#[derive(Deserialize)]
struct Coefficients {
    seed: Seed,
    fold_seed: Hex,
    multipliers: Vec<Hex>,
    offsets: Vec<Hex>,
}

#[derive(Deserialize)]
struct SketchedSet {
    name: String,
    registers: usize,
    seed: Seed,
    shingles: Vec<Hex>,
    sketch: Vec<Hex>,
}

#[derive(Deserialize)]
struct BandKeys {
    name: String,
    bands: usize,
    rows: usize,
    sketch: Vec<Hex>,
    keys: Vec<Hex>,
}

#[derive(Deserialize)]
struct Document {
    spec: String,
    source: String,
    sketch: Vec<Hex>,
    bands: usize,
    rows: usize,
    keys: Vec<Hex>,
}

/// Returns the key to which a shingle folds. The key is the register of a sketch with the single function x ↦ 1·x + 0.
fn fold(kernel: Kernel, shingle: u64, seed: u32) -> u32 {
    let mut register = [u32::MAX];
    kernel.minima(&[shingle], seed, Linear { a: &[1], b: &[0] }, &mut register);
    register[0]
}

fn sketch(minhash: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
    let mut out = vec![0; minhash.words()];
    minhash.sketch_into(shingles, &mut out);
    out
}

#[test]
fn minhash() {
    let file: MinHashFile = read("minhash");
    let mut differences = Differences::default();
    for kernel in Kernel::available() {
        for &Fold { shingle, seed, key } in &file.fold {
            let found = Hex(fold(kernel, shingle.0, seed.half()).into());
            differences.check(|| format!("{shingle:?} folded with {seed:?} by {kernel}"), found, key);
        }
        for SketchedSet { name, registers, seed, shingles, sketch: expected } in &file.sketch {
            let minhash = MinHash::new(*registers, seed.0).unwrap().with_kernel(kernel);
            let found = hex_halves(&sketch(&minhash, &numbers(shingles)));
            differences.check(
                || format!("{registers} registers of {name:?}, {seed:?}, by {kernel}"),
                &found,
                expected,
            );
        }
    }
    for Coefficients { seed, fold_seed, multipliers, offsets } in &file.coefficients {
        // The shingle that equals the seed folds to 0, so its sketch consists of the offsets. The sketch of any other
        // shingle then gives the multipliers.
        let minhash = MinHash::new(offsets.len(), seed.0).unwrap();
        let at_zero = sketch(&minhash, &[fold_seed.0]);
        differences.check(|| format!("offsets of {seed:?}"), &hex_halves(&at_zero), offsets);
        let other = !fold_seed.0;
        let key = fold(Kernel::detect(), other, fold_seed.half());
        let expected: Vec<u32> = multipliers
            .iter()
            .zip(offsets)
            .map(|(a, b)| a.half().wrapping_mul(key).wrapping_add(b.half()))
            .collect();
        differences.check(|| format!("multipliers of {seed:?}"), sketch(&minhash, &[other]), expected);
    }
    let keys = |bands, rows, sketch: &[u32]| -> Vec<Hex> {
        let banding = Banding::new(bands, rows, sketch.len()).unwrap();
        (0..bands).map(|band| Hex(banding.key(band, sketch))).collect()
    };
    for BandKeys { name, bands, rows, sketch, keys: expected } in &file.band_keys {
        let found = keys(*bands, *rows, &halves(sketch));
        differences.check(|| format!("keys of {bands} × {rows} of {name:?}"), &found, expected);
    }
    for Document { spec, source, sketch: expected, bands, rows, keys: expected_keys } in &file.document {
        let parsed: Spec = spec.parse().unwrap();
        let mut shingles = Shingles::new();
        parsed.shingler().shingle_into(source, &mut shingles);
        let found = sketch(&*parsed.sketcher().unwrap(), shingles.hashes());
        differences.check(|| format!("sketch of {source:?}, {spec}"), &hex_halves(&found), expected);
        differences.check(
            || format!("keys of {source:?}, {spec}"),
            &keys(*bands, *rows, &found),
            expected_keys,
        );
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct SketchFile {
    document: Vec<NamedDocument>,
    sketch: Vec<MethodSketches>,
}

#[derive(Deserialize)]
struct NamedDocument {
    name: String,
    shingles: Vec<Hex>,
}

#[derive(Deserialize)]
struct MethodSketches {
    method: String,
    seed: Seed,
    /// Words of the sketch of each document.
    words: BTreeMap<String, Vec<Hex>>,
    /// Estimate for the documents `many` and `overlapping`.
    estimate: f64,
}

#[test]
fn sketches_of_every_method() {
    let file: SketchFile = read("sketch");
    for method in Method::all(16) {
        let form = method.to_string();
        assert!(file.sketch.iter().any(|entry| entry.method == form), "{form} has a vector");
    }
    let documents: BTreeMap<&str, Vec<u64>> =
        file.document.iter().map(|document| (&*document.name, numbers(&document.shingles))).collect();
    let mut differences = Differences::default();
    for MethodSketches { method, seed, words, estimate } in &file.sketch {
        let sketcher = method.parse::<Method>().unwrap().build(seed.0).unwrap();
        assert!(words.keys().eq(documents.keys()), "{method}: one sketch of every document");
        for (name, expected) in words {
            let found = hex_halves(&sketch(&*sketcher, &documents[&**name]));
            differences.check(|| format!("{method} of {name:?}, {seed:?}"), &found, expected);
        }
        let [many, overlapping] = ["many", "overlapping"].map(|name| halves(&words[name]));
        let found = sketcher.estimate(&many, &overlapping).value;
        differences.check_digits(|| format!("estimate by {method}, {seed:?}"), found, *estimate);
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct SpecFile {
    spec: Vec<SpecForm>,
    refused: Vec<Refused>,
    mismatch: Vec<Mismatch>,
}

#[derive(Deserialize)]
struct SpecForm {
    given: String,
    text: String,
    fingerprint: Hex,
}

#[derive(Deserialize)]
struct Refused {
    given: String,
}

#[derive(Deserialize)]
struct Mismatch {
    left: String,
    right: String,
    field: String,
}

#[test]
fn spec() {
    let file: SpecFile = read("spec");
    let mut differences = Differences::default();
    for SpecForm { given, text, fingerprint } in &file.spec {
        match given.parse::<Spec>() {
            Ok(spec) => {
                differences.check(|| format!("text form of {given:?}"), &spec.to_string(), text);
                differences.check(
                    || format!("fingerprint of {given:?}"),
                    Hex(spec.fingerprint()),
                    *fingerprint,
                );
            }
            Err(error) => differences.found.push(format!("{given:?}: {error}")),
        }
    }
    for Refused { given } in &file.refused {
        differences.check(|| format!("{given:?} is refused"), given.parse::<Spec>().is_err(), true);
    }
    for Mismatch { left, right, field } in &file.mismatch {
        let (a, b): (Spec, Spec) = (left.parse().unwrap(), right.parse().unwrap());
        let named = match a.check(&b) {
            Ok(()) => None,
            Err(error) => match error.kind() {
                ErrorKind::SpecMismatch { field, .. } => Some(*field),
                _ => None,
            },
        };
        differences.check(|| format!("field that differs in {right:?}"), named, Some(field.as_str()));
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct TuneFile {
    points: Vec<Points>,
    curve: Vec<CurveTable>,
    choice: Vec<Choice>,
    standard_deviation: Vec<StandardDeviation>,
}

#[derive(Deserialize)]
struct Points {
    bands: usize,
    rows: usize,
    root_point: f64,
    root_probability: f64,
    half_point: f64,
    steepest_point: f64,
}

#[derive(Deserialize)]
struct CurveTable {
    bands: usize,
    rows: usize,
    similarities: Vec<f64>,
    probabilities: Vec<f64>,
}

#[derive(Deserialize)]
struct Choice {
    threshold: f64,
    recall: f64,
    registers: usize,
    bands: usize,
    rows: usize,
    false_candidates: f64,
}

#[derive(Deserialize)]
struct StandardDeviation {
    registers: usize,
    similarity: f64,
    value: f64,
}

#[test]
fn tune() {
    let file: TuneFile = read("tune");
    let mut differences = Differences::default();
    let banding = |bands, rows| Banding::new(bands, rows, bands * rows).unwrap();
    for Points { bands, rows, root_point, root_probability, half_point, steepest_point } in file.points {
        let curve = Curve::from(banding(bands, rows));
        let entry = |what: &str| format!("{what} of {bands} × {rows}");
        let root = (1.0 / bands as f64).powf(1.0 / rows as f64);
        differences.check_digits(|| entry("(1/b)^(1/r)"), root, root_point);
        differences.check_digits(
            || entry("probability at (1/b)^(1/r)"),
            curve.probability(root),
            root_probability,
        );
        differences.check_digits(|| entry("half point"), curve.half_point(), half_point);
        let steepest = curve.steepest_point().unwrap_or(f64::NAN);
        differences.check_digits(|| entry("steepest point"), steepest, steepest_point);
    }
    for CurveTable { bands, rows, similarities, probabilities } in file.curve {
        assert_eq!(similarities.len(), probabilities.len(), "{bands} × {rows}");
        for (s, expected) in similarities.into_iter().zip(probabilities) {
            let found = Curve::from(banding(bands, rows)).probability(s);
            differences.check_digits(|| format!("{bands} × {rows} at {s}"), found, expected);
        }
    }
    for Choice { threshold, recall, registers, bands, rows, false_candidates } in file.choice {
        let entry = || format!("recall {recall} at {threshold} with {registers} registers");
        let found = tune::choose(threshold, recall, registers, |s| s).ok();
        differences.check(entry, found.map(|b| (b.bands(), b.rows())), Some((bands, rows)));
        let found = tune::expected_false_candidates(banding(bands, rows), threshold, |s| s);
        differences.check_digits(|| format!("false candidates, {}", entry()), found, false_candidates);
    }
    for StandardDeviation { registers, similarity, value } in file.standard_deviation {
        let found = variance(similarity, registers).sqrt();
        differences.check_digits(
            || format!("deviation of {registers} registers at {similarity}"),
            found,
            value,
        );
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct WeightedFile {
    ln: Vec<Logarithm>,
    weights: Vec<Weighing>,
    draw: Vec<WeightedDraw>,
    sketch: Vec<WeightedSketch>,
}

#[derive(Deserialize)]
struct Logarithm {
    x: Hex,
    ln: Hex,
}

#[derive(Deserialize)]
struct Weighing {
    weighting: String,
    documents: Vec<Vec<Hex>>,
    document: usize,
    shingles: Vec<Hex>,
    weights: Vec<Hex>,
}

#[derive(Deserialize)]
struct WeightedDraw {
    key: Hex,
    salt: Hex,
    distance: Hex,
    log_score: Hex,
    shift: Hex,
}

#[derive(Deserialize)]
struct WeightedSketch {
    name: String,
    method: String,
    seed: Seed,
    shingles: Vec<Hex>,
    weights: Vec<Hex>,
    sketch: Vec<Hex>,
}

#[test]
fn weighted() {
    let file: WeightedFile = read("weighted");
    let mut differences = Differences::default();
    let bits = |number: f64| Hex(number.to_bits());
    for entry in &file.ln {
        let x = f64::from_bits(entry.x.0);
        differences.check(|| format!("ln {x}"), bits(ln(x)), entry.ln);
    }
    for entry in &file.weights {
        let documents: Vec<Vec<u64>> = entry.documents.iter().map(|document| numbers(document)).collect();
        let table = DocumentFrequencies::count(documents.iter().map(Vec::as_slice)).unwrap();
        let weigher = Weigher::with_frequencies(entry.weighting.parse().unwrap(), Arc::new(table), None);
        let set = weigher.weigh(&documents[entry.document]);
        let found: Vec<Hex> = set.weights().iter().copied().map(bits).collect();
        let name = || format!("{} of document {}", entry.weighting, entry.document);
        differences.check(
            name,
            (hex(set.shingles()), found),
            (entry.shingles.clone(), entry.weights.clone()),
        );
    }
    for entry in &file.draw {
        let draw = Draw::of(entry.key.0, entry.salt.0);
        let found = [draw.distance, draw.log_score, draw.shift].map(bits);
        let expected = [entry.distance, entry.log_score, entry.shift];
        differences.check(|| format!("draw of {:?}", entry.key), found, expected);
    }
    for entry in &file.sketch {
        let shingles = numbers(&entry.shingles);
        let weights: Vec<f64> = entry.weights.iter().map(|weight| f64::from_bits(weight.0)).collect();
        let method: WeightedMethod = entry.method.parse().unwrap();
        let mut out = vec![0; method.registers()];
        let set = WeightedSet::new(shingles.iter().copied().zip(weights.iter().copied())).unwrap();
        method.build(entry.seed.0).unwrap().sketch_into(&set, &mut out);
        let name = || format!("{} of {}, seed {}", entry.method, entry.name, entry.seed.0);
        differences.check(name, hex_halves(&out), entry.sketch.clone());
    }
    differences.conclude();
}

#[derive(Deserialize)]
struct WinnowFile {
    choose: Vec<Chosen>,
}

#[derive(Deserialize)]
struct Chosen {
    window: usize,
    shingles: Vec<Hex>,
    at: Vec<u32>,
}

#[test]
fn winnow() {
    let file: WinnowFile = read("winnow");
    let mut differences = Differences::default();
    for (number, Chosen { window, shingles, at }) in file.choose.iter().enumerate() {
        // A shingle has one unit, so the shortest passage has as many units as a window has shingles.
        let winnow = Winnow::new("words:1".parse().expect("a shingling"), *window).expect("a passage");
        let mut chosen = vec![];
        winnow.choose_into(&numbers(shingles), &mut chosen);
        let found: Vec<u32> = chosen.iter().map(|fingerprint| fingerprint.at).collect();
        differences.check(|| format!("choose {number}"), &found, at);
    }
    differences.conclude();
}
