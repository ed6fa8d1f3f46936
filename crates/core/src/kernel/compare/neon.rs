//! Comparisons with vectors of 128 bits, for 64-bit ARM.

use std::arch::aarch64::{
    uint8x16_t, uint32x4_t, uint64x2_t, vaddlvq_u8, vaddq_u8, vaddq_u64, vceqq_u8, vceqq_u16, vceqq_u32,
    vcleq_u64, vcntq_u8, vdupq_n_u8, vdupq_n_u32, vdupq_n_u64, veorq_u32, veorq_u64, vgetq_lane_u64,
    vld1q_u32, vld1q_u64, vorrq_u32, vorrq_u64, vpaddlq_u8, vpaddlq_u16, vpaddlq_u32, vreinterpretq_u8_u16,
    vreinterpretq_u8_u32, vreinterpretq_u8_u64, vreinterpretq_u16_u32, vsubq_u8,
};

use super::heads::{Lanes, with_shape};
use super::{UNROLLED, portable, row_by_row};

const LANES: usize = 4;

/// Number of vectors whose equal bytes a byte counter can count without overflow.
const COUNTED_IN_BYTES: usize = 255;

#[target_feature(enable = "neon")]
pub(super) fn equal_words(a: &[u32], b: &[u32]) -> usize {
    equal(a, b, |x, y| vreinterpretq_u8_u32(vceqq_u32(x, y)), 4, portable::equal_words)
}

#[target_feature(enable = "neon")]
pub(super) fn equal_half_words(a: &[u32], b: &[u32]) -> usize {
    let compare = |x, y| vreinterpretq_u8_u16(vceqq_u16(vreinterpretq_u16_u32(x), vreinterpretq_u16_u32(y)));
    equal(a, b, compare, 2, portable::equal_half_words)
}

#[target_feature(enable = "neon")]
pub(super) fn equal_bytes(a: &[u32], b: &[u32]) -> usize {
    let compare = |x, y| vceqq_u8(vreinterpretq_u8_u32(x), vreinterpretq_u8_u32(y));
    equal(a, b, compare, 1, portable::equal_bytes)
}

/// Counts the bytes that `compare` sets in whole vectors, divides the count by the `bytes` per value, and adds the
/// result of `rest` for the remaining words.
#[inline]
#[target_feature(enable = "neon")]
fn equal(
    a: &[u32],
    b: &[u32],
    compare: impl Fn(uint32x4_t, uint32x4_t) -> uint8x16_t,
    bytes: usize,
    rest: impl Fn(&[u32], &[u32]) -> usize,
) -> usize {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut total = 0;
    for (a, b) in a.chunks(COUNTED_IN_BYTES).zip(b.chunks(COUNTED_IN_BYTES)) {
        let mut counts = vdupq_n_u8(0);
        for (a, b) in a.iter().zip(b) {
            // `compare` sets a byte to −1, so subtracting adds 1.
            counts = vsubq_u8(counts, compare(load(a), load(b)));
        }
        total += usize::from(vaddlvq_u8(counts));
    }
    total / bytes + rest(a_rest, b_rest)
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn different_in_planes(a: &[u32], b: &[u32], planes: usize) -> usize {
    let words = a.len() / planes;
    let mut count = 0;
    for begin in (0..words).step_by(LANES) {
        let lanes = LANES.min(words - begin);
        let mut seen = vdupq_n_u32(0);
        for plane in 0..planes {
            let part = plane * words + begin..plane * words + begin + lanes;
            seen = vorrq_u32(seen, veorq_u32(load_part(&a[part.clone()]), load_part(&b[part])));
        }
        count += usize::from(vaddlvq_u8(vcntq_u8(vreinterpretq_u8_u32(seen))));
    }
    count
}

#[target_feature(enable = "neon")]
pub(super) fn different_bits_at(row: &[u32], rows: &[u32], places: &[u32], counts: &mut Vec<u32>) {
    for &place in places {
        let other = &rows[place as usize * row.len()..][..row.len()];
        counts.push(different_in_planes(row, other, 1) as u32);
    }
}

#[target_feature(enable = "neon")]
pub(super) fn different_bits_of_rows(row: &[u32], rows: &[u32], counts: &mut [u32]) {
    let Ok(row) = <&[u32; UNROLLED]>::try_from(row) else {
        row_by_row(row, rows, counts, |a, b| different_in_planes(a, b, 1));
        return;
    };
    let row = eighths(row);
    for (count, other) in counts.iter_mut().zip(rows.as_chunks::<UNROLLED>().0) {
        let other = eighths(other);
        let mut ones = vdupq_n_u8(0);
        for i in 0..UNROLLED / LANES {
            // The sum of eight bytes with up to 8 ones each does not overflow.
            ones = vaddq_u8(ones, vcntq_u8(vreinterpretq_u8_u32(veorq_u32(row[i], other[i]))));
        }
        *count = u32::from(vaddlvq_u8(ones));
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn eighths(row: &[u32; UNROLLED]) -> [uint32x4_t; UNROLLED / LANES] {
    let (eighths, _) = row.as_chunks::<LANES>();
    std::array::from_fn(|i| load(&eighths[i]))
}

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u32; LANES]) -> uint32x4_t {
    // SAFETY: the array holds exactly the 16 bytes that are loaded.
    unsafe { vld1q_u32(words.as_ptr()) }
}

/// Loads up to 4 words, and zeros after them.
#[inline]
#[target_feature(enable = "neon")]
fn load_part(words: &[u32]) -> uint32x4_t {
    if let Ok(whole) = words.try_into() {
        return load(whole);
    }
    let mut part = [0; LANES];
    part[..words.len()].copy_from_slice(words);
    load(&part)
}

#[target_feature(enable = "neon")]
pub(super) fn near(
    probe: &[u64],
    lanes: &[Lanes],
    allowances: &[Lanes],
    planes: usize,
    most: u64,
    out: &mut [u8],
) {
    with_shape!(planes, probe.len() / planes, near_of(probe, lanes, allowances, most, out));
}

/// Computes [`near`] for constant numbers of planes and groups. If `GROUPS` is 0, the number of groups is not constant.
#[target_feature(enable = "neon")]
fn near_of<const PLANES: usize, const GROUPS: usize>(
    probe: &[u64],
    lanes: &[Lanes],
    allowances: &[Lanes],
    most: u64,
    out: &mut [u8],
) {
    let (probe, _) = probe.as_chunks::<PLANES>();
    let (lanes, _) = lanes.as_chunks::<PLANES>();
    let groups = if GROUPS == 0 { probe.len() } else { GROUPS };
    let probe = &probe[..groups];
    let most = vdupq_n_u64(most);
    for (at, (out, block)) in out.iter_mut().zip(lanes.chunks_exact(groups)).enumerate() {
        let mut counts = [vdupq_n_u64(0); 4];
        for (probe, lanes) in probe.iter().zip(block) {
            let mut differ = [vdupq_n_u64(0); 4];
            for plane in 0..PLANES {
                let word = vdupq_n_u64(probe[plane]);
                let parts = load_lanes(&lanes[plane]);
                for part in 0..4 {
                    differ[part] = vorrq_u64(differ[part], veorq_u64(word, parts[part]));
                }
            }
            for part in 0..4 {
                let ones = vcntq_u8(vreinterpretq_u8_u64(differ[part]));
                counts[part] = vaddq_u64(counts[part], vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(ones))));
            }
        }
        let allowed = match allowances.get(at) {
            Some(lanes) => load_lanes(lanes).map(|lanes| vaddq_u64(most, lanes)),
            None => [most; 4],
        };
        *out = 0;
        for part in 0..4 {
            let near = vcleq_u64(counts[part], allowed[part]);
            let bits = vgetq_lane_u64::<0>(near) & 1 | vgetq_lane_u64::<1>(near) & 2;
            *out |= (bits << (2 * part)) as u8;
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_lanes(lanes: &Lanes) -> [uint64x2_t; 4] {
    let (parts, _) = lanes.0.as_chunks::<2>();
    // SAFETY: each array holds exactly the 16 bytes that are loaded.
    std::array::from_fn(|part| unsafe { vld1q_u64(parts[part].as_ptr()) })
}
