//! The scheme `affine32` of datasketch 2: linear hashing by our kernel, with the coefficients of datasketch.

use minwise::kernel::{Kernel, Linear};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::texts::DETACH_BYTES;

fn words(bytes: &[u8]) -> PyResult<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(PyValueError::new_err("the number of bytes is not a multiple of 4"));
    }
    Ok(words.iter().map(|word| u32::from_ne_bytes(*word)).collect())
}

/// Updates registers with hashes of 32 bits, and returns the new registers of each sketch, one sketch after the other.
/// `hashes`, `multipliers`, `offsets` and `registers` are arrays of 32-bit numbers as bytes. `ends` has, per sketch,
/// the position after its last hash. Every sketch starts from `registers`.
#[pyfunction]
pub fn affine32<'py>(
    py: Python<'py>,
    hashes: &[u8],
    multipliers: &[u8],
    offsets: &[u8],
    registers: &[u8],
    ends: Vec<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let hashes: Vec<u64> = words(hashes)?.into_iter().map(u64::from).collect();
    let (a, b, begin) = (words(multipliers)?, words(offsets)?, words(registers)?);
    if a.len() != begin.len() || b.len() != begin.len() {
        return Err(PyValueError::new_err("there must be as many multipliers and offsets as registers"));
    }
    if !ends.is_sorted() || ends.last().is_some_and(|&end| end > hashes.len()) {
        return Err(PyValueError::new_err("the ends must ascend up to the number of hashes"));
    }
    let mut out = Vec::with_capacity(ends.len() * begin.len() * 4);
    let mut work = || {
        let kernel = Kernel::detect();
        let mut start = 0;
        let mut row = begin.clone();
        for &end in &ends {
            let part = hashes.get(start..end).unwrap_or_default();
            row.copy_from_slice(&begin);
            kernel.minima(part, 0, Linear { a: &a, b: &b }, &mut row);
            out.extend(row.iter().flat_map(|word| word.to_ne_bytes()));
            start = end;
        }
    };
    if hashes.len() * size_of::<u64>() < DETACH_BYTES {
        work();
    } else {
        py.detach(work);
    }
    Ok(PyBytes::new(py, &out))
}
