//! The cost of a pair of sketches that their heads decide, as a Markdown table.
//!
//! - **Measured.** `Kernel::near` of every kernel of this machine, for the shapes that a search of all pairs uses, in
//!   tiles of 16 probes and as many heads as the first-level cache holds. No head is near.
//! - **Input.** 60,000 random heads.
//! - **Not shown.** Making the heads, and the work for the pairs that the heads leave undecided.

#![allow(clippy::print_stdout, reason = "the table is its output")]

use std::time::Instant;

use minwise::hash::SplitMix64;
use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::Heads;

const HEADS: usize = 60_000;
const TILE: usize = 16;
const STRETCH_BYTES: usize = 32 << 10;
const TILES: usize = 20;

fn main() {
    println!("| kernel | values | bits of each | ns per pair |\n|---|---|---|---|");
    for kernel in Kernel::available() {
        for (groups, planes) in [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (1, 3), (1, 4), (4, 2)] {
            let mut random = SplitMix64::new(1);
            let mut heads = Heads::new(groups, planes);
            let mut head = vec![0; groups * planes];
            for _ in 0..HEADS {
                head.fill_with(|| random.next_u64());
                heads.push(&head);
            }
            let stretch = STRETCH_BYTES / (8 * heads.words());
            let mut found = vec![];
            let begin = Instant::now();
            for tile in 0..TILES {
                for start in (HEADS / 2..HEADS).step_by(stretch) {
                    for probe in tile * TILE..(tile + 1) * TILE {
                        kernel.near(
                            &heads,
                            probe,
                            &heads,
                            start..(start + stretch).min(HEADS),
                            2,
                            &mut found,
                        );
                    }
                }
            }
            let nanoseconds = begin.elapsed().as_secs_f64() * 1e9 / (TILES * TILE * HEADS / 2) as f64;
            assert!(found.is_empty(), "random heads differ");
            println!("| `{kernel}` | {} | {planes} | {nanoseconds:.2} |", 64 * groups);
        }
    }
}
