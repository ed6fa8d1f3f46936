//! Sketches of the comparison, each in the largest size that fits.

use std::sync::Arc;

use anyhow::Result;
use minwise::sketch::{Method, Sketcher};

use crate::beyond::{BeyondSketch, CMinHash, HyperMinHash, ProbMinHash, SetSketch};
use crate::measure::sketch;

/// Sketch of one kind in one size.
pub(super) struct Contender {
    /// Name of the kind of sketch in the tables.
    pub name: String,
    /// Whether the sketch is one of the library, with kernels for vector instructions.
    pub is_of_library: bool,
    /// Text form of a sketch of the library, or the parameters of another sketch.
    pub form: String,
    pub bytes: usize,
    /// Number of hash values per shingle in a long document.
    pub hashes: usize,
    /// Whether documents can be banded by this sketch.
    pub bands: bool,
    pub make: Box<dyn Fn(u64) -> Result<Box<dyn BeyondSketch>> + Send + Sync>,
}

struct OfLibrary(Arc<dyn Sketcher>);

impl BeyondSketch for OfLibrary {
    fn bytes(&self) -> usize {
        4 * self.0.words()
    }

    fn sketch(&self, shingles: &[u64]) -> Vec<u32> {
        sketch(&*self.0, shingles)
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> f64 {
        self.0.estimate(a, b).value
    }
}

/// Returns every kind of sketch in the largest size that takes at most `bytes` bytes. Kinds without such a size are
/// left out.
pub(super) fn contenders(bytes: usize) -> Vec<Contender> {
    let mut all: Vec<Contender> = kinds().iter().filter_map(|kind| of_library(*kind, bytes)).collect();
    let beyond = |name: &str,
                  form: String,
                  hashes: usize,
                  bands: bool,
                  make: fn(usize, u64) -> Box<dyn BeyondSketch>| {
        Contender {
            name: name.to_owned(),
            is_of_library: false,
            form,
            bytes: make(bytes, 0).bytes(),
            hashes,
            bands,
            make: Box::new(move |seed| Ok(make(bytes, seed))),
        }
    };
    let words = bytes / 4;
    all.push(beyond("C-MinHash", format!("C-MinHash: {words} registers"), words, true, |bytes, seed| {
        Box::new(CMinHash::new(bytes / 4, seed))
    }));
    all.push(beyond("ProbMinHash", format!("ProbMinHash: {words} registers"), 1, true, |bytes, seed| {
        Box::new(ProbMinHash::new(bytes / 4, seed))
    }));
    all.push(beyond(
        "SetSketch, 6 bits",
        format!("SetSketch: {} registers of 6 bits, b = 1.3", 8 * bytes / 6),
        1,
        false,
        |bytes, seed| Box::new(SetSketch::of_6_bits(8 * bytes / 6, seed)),
    ));
    all.push(beyond(
        "SetSketch, 8 bits",
        format!("SetSketch: {bytes} registers of 8 bits, b = 1.08"),
        1,
        false,
        |bytes, seed| Box::new(SetSketch::of_8_bits(bytes, seed)),
    ));
    all.push(beyond(
        "SetSketch, 16 bits",
        format!("SetSketch: {} registers of 16 bits, b = 1.001", bytes / 2),
        1,
        false,
        |bytes, seed| Box::new(SetSketch::of_16_bits(bytes / 2, seed)),
    ));
    all.push(beyond(
        "HyperMinHash, 8 bits",
        format!("HyperMinHash: {bytes} buckets, q = 4, r = 4"),
        1,
        false,
        |bytes, seed| Box::new(HyperMinHash::new(bytes, 4, 4, seed)),
    ));
    all.push(beyond(
        "HyperMinHash, 16 bits",
        format!("HyperMinHash: {} buckets, q = 6, r = 10", bytes / 2),
        1,
        false,
        |bytes, seed| Box::new(HyperMinHash::new(bytes / 2, 6, 10, seed)),
    ));
    all
}

/// Kind of the library's sketches, as a function of its registers or stored bits. It returns `None` for a size that
/// does not exist.
type Kind = fn(usize) -> Option<Method>;

/// Returns the kinds that estimate the Jaccard similarity. Sectional sketches estimate something else, and the hash
/// families of the sources are `MinHash` with other functions.
fn kinds() -> Vec<Kind> {
    fn parsed(form: &str) -> Option<Method> {
        form.parse().ok()
    }
    vec![
        |size| parsed(&format!("minhash:{size}")),
        |size| parsed(&format!("min-max:{size}")),
        |size| parsed(&format!("one-permutation:{size}")),
        |size| parsed(&format!("super-minhash:{size}")),
        |size| parsed(&format!("fast-similarity:{size}")),
        |size| parsed(&format!("bottom-k:{size}")),
        |size| parsed(&format!("b-bit:1/minhash:{size}")),
        |size| parsed(&format!("b-bit:2/minhash:{size}")),
        |size| parsed(&format!("b-bit:4/minhash:{size}")),
        |size| parsed(&format!("b-bit:8/minhash:{size}")),
        |size| parsed(&format!("b-bit:16/minhash:{size}")),
        |size| parsed(&format!("b-bit:1/one-permutation:{size}")),
        |size| parsed(&format!("fractional:1x0.5+2x0.5/minhash:{size}")),
        |size| parsed(&format!("xor:1/minhash:{}", 2 * size)),
        |size| parsed(&format!("xor:2/minhash:{}", 4 * size)),
        |size| parsed(&format!("xor:3/minhash:{}", 8 * size)),
        |size| parsed(&format!("three-quarter/minhash:{}", 4 * size / 3)),
        |size| parsed(&format!("connected:2x1/minhash:{size}")),
        |size| parsed(&format!("connected:4x1/minhash:{size}")),
        |size| parsed(&format!("odd:{size}/minhash:{size}")),
        |size| parsed(&format!("odd:{size}/minhash:{}", 4 * size)),
    ]
}

fn of_library(kind: Kind, bytes: usize) -> Option<Contender> {
    let fits = |fours: usize| {
        kind(4 * fours).filter(|method| method.build(0).is_ok() && method.size_bytes() <= bytes)
    };
    // A binary search finds the largest size that fits: sizes are multiples of 4, a size of n takes at least n bits,
    // and larger sizes take more bytes.
    let (mut most, mut too_many) = (0, 2 * bytes + 1);
    while too_many - most > 1 {
        let middle = usize::midpoint(most, too_many);
        if fits(middle).is_some() {
            most = middle;
        } else {
            too_many = middle;
        }
    }
    let method = fits(most)?;
    let form = method.to_string();
    Some(Contender {
        name: name_of(&form),
        is_of_library: true,
        form,
        bytes: method.size_bytes(),
        hashes: method.hashes_per_shingle(),
        bands: method.bandable().is_some(),
        make: Box::new(move |seed| Ok(Box::new(OfLibrary(method.build(seed)?)))),
    })
}

/// Returns a text form without its sizes: `b-bit:1/minhash` for `b-bit:1/minhash:256`.
fn name_of(form: &str) -> String {
    let parts: Vec<&str> = form.split('/').collect();
    let plain = |part: &str| part.split(':').next().unwrap_or(part).to_owned();
    match parts[..] {
        [alone] => plain(alone),
        [odd, source] if odd.starts_with("odd:") => {
            let number =
                |part: &str| part.split(':').next_back().and_then(|n| n.parse::<usize>().ok()).unwrap_or(1);
            format!("odd, {} per bit", number(source) / number(odd))
        }
        [first, source] => format!("{first}/{}", plain(source)),
        _ => form.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::SIZES;
    use super::*;

    #[test]
    fn sketches_take_the_bytes_that_they_may() {
        for size in SIZES {
            let all = contenders(size);
            let names: BTreeSet<&str> = all.iter().map(|contender| contender.name.as_str()).collect();
            assert_eq!(names.len(), all.len(), "{names:?}");
            for contender in &all {
                assert!(contender.bytes <= size, "{} takes {} of {size}", contender.form, contender.bytes);
                // Every sketch is more than half as large as allowed.
                assert!(2 * contender.bytes > size, "{} takes {} of {size}", contender.form, contender.bytes);
                let sketcher = (contender.make)(1).unwrap();
                assert_eq!(sketcher.bytes(), contender.bytes);
            }
        }
        assert_eq!(contenders(1024).len(), kinds().len() + 7);
    }

    #[test]
    fn names_have_no_sizes() {
        for (form, name) in [
            ("minhash:128", "minhash"),
            ("b-bit:1/minhash:256", "b-bit:1/minhash"),
            ("odd:64/minhash:256", "odd, 4 per bit"),
            ("fractional:1x0.5+2x0.5/minhash:64", "fractional:1x0.5+2x0.5/minhash"),
        ] {
            assert_eq!(name_of(form), name);
        }
    }
}
