//! Checks the limits that the system sets to the memory of this process.
//!
//! A limit that is too low for any run is refused at the start, because there the message can name the limit. Later
//! failures are handled by the allocator.

use crate::printer::{CommandError, Failure};

/// Smallest address space in which a run works. The allocator reserves memory in large pieces, and each thread has a
/// stack. Measured with `ulimit -v` on a release build without this check (`/proc` was hidden): `dedup` of the example
/// runs within 300 MiB, and ends with the error of the allocator at 250 MiB, with 2 and with 16 threads. Larger corpora
/// need more.
const LEAST: u64 = 512 << 20;

/// Returns an error if the system limits the memory of this process below `LEAST`.
pub fn check() -> Result<(), Failure> {
    // Systems other than Linux do not have this file, and a query of their limits needs unsafe code. They are not
    // checked.
    let limits = fs_err::read_to_string("/proc/self/limits").unwrap_or_default();
    match lowest(&limits) {
        Some((limit, option)) if limit < LEAST => {
            let message = format!(
                "the system limits the memory of this process to {} MiB, and Minwise needs {} MiB at least",
                limit >> 20,
                LEAST >> 20,
            );
            let hint = format!(
                "`ulimit -{option} unlimited` takes the limit away; `--memory` sets how much a run uses"
            );
            Err(CommandError::MemoryLimit.with(message, Some(&hint)))
        }
        _ => Ok(()),
    }
}

/// Returns the lowest limit on memory, with the option of `ulimit` that sets it.
fn lowest(limits: &str) -> Option<(u64, char)> {
    let limit = |name: &str| {
        let rest = limits.lines().find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    [("Max address space", 'v'), ("Max data size", 'd')]
        .into_iter()
        .filter_map(|(name, option)| Some((limit(name)?, option)))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_counts() {
        let limits = |data: &str, space: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max data size             {data}            unlimited            bytes     \n\
                 Max address space         {space}            unlimited            bytes     \n"
            )
        };
        assert_eq!(lowest(&limits("unlimited", "unlimited")), None);
        assert_eq!(lowest(&limits("unlimited", "314572800")), Some((314_572_800, 'v')));
        assert_eq!(lowest(&limits("1000", "314572800")), Some((1000, 'd')));
        assert_eq!(lowest(""), None);
    }
}
