//! Counts the rows of a page by its repetition levels. A value with the level 0 begins a row.

use ::parquet::basic::Encoding;
use ::parquet::errors::{ParquetError, Result};

/// Rows of a page, counted by its repetition levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageLevels {
    /// Number of rows that begin in the page.
    pub(super) rows: u64,
    /// Whether the page begins within a row.
    pub(super) is_continued: bool,
}

/// Counts the rows that begin in a data page of the first version. The repetition levels are the first bytes of the
/// page.
pub(super) fn begun(page: &[u8], encoding: Encoding, values: u32, max_level: i16) -> Result<PageLevels> {
    if encoding != Encoding::RLE {
        return Err(ParquetError::NYI(format!("repetition levels with the encoding {encoding}")));
    }
    let levels = page.split_first_chunk::<4>().and_then(|(len, rest)| {
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        rest.get(..len)
    });
    let bits = i16::BITS - max_level.leading_zeros();
    levels
        .and_then(|levels| count(levels, bits, u64::from(values)))
        .ok_or_else(|| ParquetError::EOF("its repetition levels are cut short".to_owned()))
}

/// Counts the zeros among levels that are stored in runs. A run is one repeated value, or values packed in `bits`
/// bits each.
fn count(mut bytes: &[u8], bits: u32, values: u64) -> Option<PageLevels> {
    let mut begun = PageLevels { rows: 0, is_continued: false };
    let mut counted = 0;
    while counted < values {
        let header = varint(&mut bytes)?;
        let run = Some(header >> 1).filter(|run| *run > 0)?;
        let is_first = counted == 0;
        if header & 1 == 0 {
            let run = run.min(values - counted);
            let (level, rest) = bytes.split_at_checked(bits.div_ceil(8) as usize)?;
            bytes = rest;
            let begins = level.iter().all(|byte| *byte == 0);
            begun.rows += if begins { run } else { 0 };
            begun.is_continued |= is_first && !begins;
            counted += run;
            continue;
        }
        // The file may leave out the bytes behind the last value of a group of eight, so fewer bytes may be stored.
        let stored = usize::try_from(run.checked_mul(bits.into())?).ok()?.min(bytes.len());
        let (packed, rest) = bytes.split_at(stored);
        bytes = rest;
        let run = run.checked_mul(8)?.min(values - counted);
        for number in 0..run {
            let begins = is_zero(packed, number * u64::from(bits), bits)?;
            begun.rows += u64::from(begins);
            begun.is_continued |= is_first && number == 0 && !begins;
        }
        counted += run;
    }
    Some(begun)
}

/// Reports whether `bits` bits are all 0; `None` if the bytes end before.
fn is_zero(packed: &[u8], from: u64, bits: u32) -> Option<bool> {
    let mut zero = true;
    for bit in from..from + u64::from(bits) {
        zero &= packed.get((bit / 8) as usize)? >> (bit % 8) & 1 == 0;
    }
    Some(zero)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(rows: u64, is_continued: bool) -> PageLevels {
        PageLevels { rows, is_continued }
    }

    #[test]
    fn runs_and_packed_levels_are_counted() {
        // The levels are six times 0, then 0, 1, 1, 0, 1, 0, 0, 0 packed, then three times 1.
        let levels = [6 << 1, 0, 1 << 1 | 1, 0b0001_0110, 3 << 1, 1];
        assert_eq!(count(&levels, 1, 17), Some(begun(11, false)));
        assert_eq!(count(&levels, 1, 7), Some(begun(7, false)));
        assert_eq!(count(&levels[2..], 1, 4), Some(begun(2, false)));
        assert_eq!(count(&levels[4..], 1, 3), Some(begun(0, true)));
        // The levels are 2, 0, 1, 0 in two bits each, and the rest of their group is cut off.
        assert_eq!(count(&[1 << 1 | 1, 0b0001_0010], 2, 4), Some(begun(2, true)));
    }

    #[test]
    fn levels_that_are_cut_short_are_not_counted() {
        for (levels, values) in
            [(&[][..], 1), (&[6 << 1], 1), (&[2, 0], 2), (&[0, 0], 1), (&[3], 1), (&[1, 0], 9)]
        {
            assert_eq!(count(levels, 1, values), None, "{levels:?}");
        }
        assert_eq!(count(&[0xff; 9], 1, 9), None);
        let error = super::begun(&[9, 0, 0, 0, 2, 0], Encoding::RLE, 1, 1).unwrap_err();
        assert!(error.to_string().contains("its repetition levels are cut short"), "{error}");
    }
}
