//! Runs every target on damaged seeds, so that a panic of a decoder is found without a fuzzer.

use minwise::hash::SplitMix64;
use minwise_fuzz as fuzz;

/// Returns a seed in which some bytes are flipped, set, removed, inserted or repeated.
fn damaged(seed: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.next_u64() % 4 {
        let at = (random.next_u64() % (bytes.len() as u64 + 1)) as usize;
        let until = (at + 1 + (random.next_u64() % 9) as usize).min(bytes.len());
        match random.next_u64() % 6 {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (random.next_u64() % 8)),
            1 => bytes[at.min(until)..until].fill(if random.next_u64().is_multiple_of(2) { 0 } else { 0xff }),
            2 => drop(bytes.drain(at.min(until)..until)),
            3 => bytes.insert(at, (random.next_u64() % 256) as u8),
            4 => bytes.extend_from_within(at.min(until)..until),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

fn smoke(target: &str, run: impl Fn(&[u8]), tries: u64) {
    let seeds = fuzz::seeds(target);
    for seed in &seeds {
        run(seed);
    }
    let mut random = SplitMix64::new(7);
    for number in 0..tries {
        run(&damaged(&seeds[(number % seeds.len() as u64) as usize], &mut random));
    }
}

#[test]
fn spec() {
    smoke("spec", fuzz::spec, 20_000);
}

#[test]
fn keep() {
    smoke("keep", fuzz::keep, 20_000);
}

#[test]
fn fields() {
    smoke("fields", fuzz::fields, 20_000);
}

#[test]
fn jsonl() {
    smoke("jsonl", fuzz::jsonl, 1000);
}

#[test]
fn delimited() {
    smoke("delimited", fuzz::delimited, 2000);
}

#[test]
fn arrow() {
    smoke("arrow", fuzz::arrow, 2000);
}

#[test]
fn batches() {
    smoke("batches", fuzz::batches, 20_000);
}

#[test]
fn parquet() {
    smoke("parquet", fuzz::parquet, 2000);
}

#[test]
fn warc() {
    smoke("warc", fuzz::warc, 4000);
}

#[test]
fn http() {
    smoke("http", fuzz::http, 20_000);
}

#[test]
fn index_rows() {
    smoke("index_rows", fuzz::index_rows, 100_000);
}

#[test]
fn index_export() {
    smoke("index_export", fuzz::index_export, 500);
}

#[test]
fn extract() {
    smoke("extract", fuzz::extract, 4000);
}

#[test]
fn sketch_file() {
    smoke("sketch_file", fuzz::sketch_file, 1000);
}

#[test]
fn frequency_table() {
    smoke("frequency_table", fuzz::frequency_table, 1000);
}

#[test]
fn run_folder() {
    smoke("run_folder", fuzz::run_folder, 1000);
}
