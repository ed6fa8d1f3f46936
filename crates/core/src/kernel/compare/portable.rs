//! The comparisons in plain code, which runs on every machine and is the definition.

use bytemuck::cast_slice;

use super::heads::Lanes;
use super::row_by_row;

pub(super) fn equal_words(a: &[u32], b: &[u32]) -> usize {
    equal(a, b)
}

pub(super) fn equal_half_words(a: &[u32], b: &[u32]) -> usize {
    equal::<u16>(cast_slice(a), cast_slice(b))
}

pub(super) fn equal_bytes(a: &[u32], b: &[u32]) -> usize {
    equal::<u8>(cast_slice(a), cast_slice(b))
}

/// Counts equal parts of words. Their order in memory differs between machines, but the count does not depend on it.
fn equal<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}

pub(super) fn different_in_planes(a: &[u32], b: &[u32], planes: usize) -> usize {
    let words = a.len() / planes;
    let different = |word| (0..planes).fold(0, |seen, plane| seen | at(a, b, plane * words + word));
    (0..words).map(|word| different(word).count_ones() as usize).sum()
}

fn at(a: &[u32], b: &[u32], word: usize) -> u32 {
    a[word] ^ b[word]
}

pub(super) fn different_bits_at(row: &[u32], rows: &[u32], places: &[u32], counts: &mut Vec<u32>) {
    for &place in places {
        let other = &rows[place as usize * row.len()..][..row.len()];
        counts.push(different_in_planes(row, other, 1) as u32);
    }
}

pub(super) fn different_bits_of_rows(row: &[u32], rows: &[u32], counts: &mut [u32]) {
    row_by_row(row, rows, counts, |a, b| different_in_planes(a, b, 1));
}

pub(super) fn near(
    probe: &[u64],
    lanes: &[Lanes],
    allowances: &[Lanes],
    planes: usize,
    most: u64,
    out: &mut [u8],
) {
    for (at, (out, block)) in out.iter_mut().zip(lanes.chunks_exact(probe.len())).enumerate() {
        let allowed = allowances.get(at).map_or([most; 8], |lanes| lanes.0.map(|lane| most + lane));
        let mut counts = [0; 8];
        for (probe, block) in probe.chunks_exact(planes).zip(block.chunks_exact(planes)) {
            for (lane, count) in counts.iter_mut().enumerate() {
                let differ =
                    probe.iter().zip(block).fold(0, |seen, (word, lanes)| seen | (word ^ lanes.0[lane]));
                *count += u64::from(differ.count_ones());
            }
        }
        let near = counts.iter().zip(&allowed).map(|(count, allowed)| u8::from(count <= allowed));
        *out = near.enumerate().fold(0, |bits, (lane, near)| bits | near << lane);
    }
}
