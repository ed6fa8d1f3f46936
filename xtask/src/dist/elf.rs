//! Finds the loader that a binary needs.

use anyhow::{Context, Result, ensure};

/// Type of the segment that names the loader of a dynamic binary.
const PT_INTERP: u64 = 3;

/// Returns the loader that a 64-bit little-endian ELF binary requires, such as `/lib64/ld-linux-x86-64.so.2`. A static
/// binary has none.
pub fn interpreter(binary: &[u8]) -> Result<Option<String>> {
    ensure!(binary.starts_with(b"\x7fELF\x02\x01"), "the binary is not a 64-bit little-endian ELF file");
    let (headers, size, count) = (number(binary, 32, 8)?, number(binary, 54, 2)?, number(binary, 56, 2)?);
    for header in (0..count).map(|header| headers + header * size) {
        if number(binary, header, 4)? == PT_INTERP {
            let (at, length) = (number(binary, header + 8, 8)?, number(binary, header + 32, 8)?);
            let path = part(binary, at, length)?;
            return Ok(Some(String::from_utf8_lossy(path).trim_end_matches('\0').to_owned()));
        }
    }
    Ok(None)
}

fn part(binary: &[u8], at: u64, length: u64) -> Result<&[u8]> {
    let end = at.checked_add(length).and_then(|end| usize::try_from(end).ok());
    end.and_then(|end| binary.get(at as usize..end)).context("the binary is cut short")
}

fn number(binary: &[u8], at: u64, length: u64) -> Result<u64> {
    Ok(part(binary, at, length)?.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(
        target_os = "linux",
        target_env = "gnu",
        target_endian = "little",
        target_pointer_width = "64"
    ))]
    #[test]
    fn a_dynamic_binary_names_its_loader() {
        let mut binary = fs_err::read(std::env::current_exe().unwrap()).unwrap();
        assert!(interpreter(&binary).unwrap().unwrap().contains("ld-linux"));
        binary.truncate(100);
        assert!(interpreter(&binary).is_err());
    }

    #[test]
    fn a_binary_without_segments_is_static() {
        let mut binary = vec![0; 64];
        binary[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert_eq!(interpreter(&binary).unwrap(), None);
        assert!(interpreter(b"#!/bin/sh\n").is_err());
    }
}
