//! Benchmark of the near-duplicate pairs of 100,000 short texts in memory: one call of this crate, compared with a loop
//! that a programmer would write over `minwise`.
//!
//!     cargo bench -p minwise-engine --bench library -- [TEXTS]
//!
//! The call and the loop must find exactly the same pairs. The benchmark runs the call and the loop in turn for several
//! rounds, and takes the lowest CPU time of each. The program fails if the call takes more than 1.2 times the CPU time
//! of the loop. The call and the loop have one thread each, because two threads that share a core take more CPU time
//! each, which shows nothing about the work. The time of the call with all threads is only printed. Texts have 20 to 60
//! words with a distribution like Zipf's law. Two in five are copies of an earlier text with up to four words changed.
//! The benchmark does not cover long texts, large clusters, or texts with much in common.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what is measured is printed")]

use std::process::ExitCode;
use std::time::Instant;

use minwise::candidate::banding::for_each_group;
use minwise::candidate::tune;
use minwise::hash::SplitMix64;
use minwise::shingle::Shingles;
use minwise::verify::{Overlap, ShingleSet};
use minwise::{Error, Spec};
use minwise_engine::Pairs;

/// Number of rounds; the best round of each side counts.
const ROUNDS: usize = 5;
/// Repetitions per round, because the system counts CPU time in hundredths of a second, and one repetition takes only
/// eight of them.
const TIMES: usize = 16;
/// Upper limit of the call's CPU time, as a multiple of the loop's.
const MOST: f64 = 1.2;
/// The default threshold and recall of the crate.
const THRESHOLD: f64 = 0.8;
const RECALL: f64 = 0.99;

/// Positions of two texts, and their similarity.
type Found = (usize, usize, f64);

fn word(random: &mut SplitMix64) -> String {
    // The fourth power makes small numbers common.
    let uniform = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut number = (uniform.powi(4) * 60_000.0) as u64 + 1;
    let mut word = String::new();
    while number > 0 {
        word +=
            ["ka", "to", "ri", "me", "sun", "vel", "dor", "an", "shi", "pel", "ur"][(number % 11) as usize];
        number /= 11;
    }
    word
}

fn texts(count: usize) -> Vec<String> {
    let mut random = SplitMix64::new(18);
    let below = |bound: usize, random: &mut SplitMix64| (random.next_u64() % bound as u64) as usize;
    let mut all: Vec<Vec<String>> = Vec::with_capacity(count);
    for number in 0..count {
        let mut words: Vec<String>;
        if number > 10 && below(5, &mut random) < 2 {
            words = all[below(number, &mut random)].clone();
            for _ in 0..below(5, &mut random) {
                let at = below(words.len(), &mut random);
                words[at] = word(&mut random);
            }
        } else {
            words = (0..20 + below(41, &mut random)).map(|_| word(&mut random)).collect();
        }
        all.push(words);
    }
    all.iter().map(|words| words.join(" ")).collect()
}

/// Finds pairs with `minwise` alone: shingles, sketches, band keys, candidates, exact similarities.
fn by_hand(texts: &[String]) -> Result<Vec<Found>, Error> {
    let spec = Spec::default();
    let (shingler, sketcher) = (spec.shingler(), spec.sketcher()?);
    let words = sketcher.words();
    let banding = tune::choose(THRESHOLD, RECALL, words, |similarity| similarity)?;

    let mut sketches = vec![0; texts.len() * words];
    let (mut hashes, mut ends) = (vec![], Vec::with_capacity(texts.len()));
    let mut shingles = Shingles::new();
    for (text, sketch) in texts.iter().zip(sketches.chunks_mut(words)) {
        shingler.shingle_into(text, &mut shingles);
        sketcher.sketch_into(shingles.hashes(), sketch);
        hashes.extend_from_slice(shingles.hashes());
        ends.push(hashes.len());
    }

    let mut candidates: Vec<(u32, u32)> = vec![];
    let (mut keys, mut scratch) = (vec![], vec![]);
    for band in 0..banding.bands() {
        keys.clear();
        keys.extend(
            (0..).zip(sketches.chunks(words)).map(|(text, sketch)| (banding.key(band, sketch), text)),
        );
        for_each_group(&mut keys, &mut scratch, |group| {
            for (at, &(_, second)) in group.iter().enumerate() {
                candidates.extend(group[..at].iter().map(|&(_, first)| (first, second)));
            }
        });
    }
    candidates.sort_unstable();
    candidates.dedup();

    // Sets are built only for texts that have a candidate, and only once per text.
    let mut sets: Vec<Option<ShingleSet>> = vec![None; texts.len()];
    let mut room = Default::default();
    let mut found = vec![];
    for (first, second) in candidates {
        let [first, second] = [first, second].map(|text| text as usize);
        for text in [first, second] {
            let begin = text.checked_sub(1).map_or(0, |before| ends[before]);
            sets[text].get_or_insert_with(|| ShingleSet::build(&hashes[begin..ends[text]], &mut room));
        }
        if let (Some(a), Some(b)) = (&sets[first], &sets[second])
            && let Some(overlap) = Overlap::at_least(a, b, THRESHOLD)
        {
            found.push((first, second, overlap.jaccard()));
        }
    }
    Ok(found)
}

/// Finds pairs with one call of this crate, with the given number of threads or one per core.
fn by_call(texts: &[String], threads: Option<usize>) -> Result<Vec<Found>, minwise_engine::Error> {
    let pairs = Pairs::new().texts(texts).settings(|settings| settings.threads = threads).run()?;
    Ok(pairs.iter().map(|pair| (pair.first, pair.second, pair.similarity)).collect())
}

/// Returns the CPU seconds of this process so far, including threads that have ended; `None` if there is no `/proc`.
fn cpu_seconds() -> Option<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat").ok()?;
    // The fields are counted from the last parenthesis, because the name of the program may have spaces and
    // parentheses.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Runs `work` [`TIMES`] times. Returns the CPU seconds and the seconds per repetition, and the last result.
fn timed<T>(work: impl Fn() -> T) -> (f64, f64, T) {
    let (cpu, started) = (cpu_seconds(), Instant::now());
    (1..TIMES).for_each(|_| drop(work()));
    let result = work();
    let wall = started.elapsed().as_secs_f64();
    let cpu = cpu.zip(cpu_seconds()).map_or(wall, |(before, after)| after - before);
    (cpu / TIMES as f64, wall / TIMES as f64, result)
}

fn main() -> ExitCode {
    let count = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(100_000);
    let texts = texts(count);
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{count} texts, {:.1} MB", bytes as f64 / 1e6);
    if cpu_seconds().is_none() {
        println!("there is no `/proc`: seconds of a clock count instead of CPU seconds");
    }
    // CPU seconds and seconds of the best round: loop by hand, call with one thread, call with all threads.
    let mut best = [(f64::MAX, f64::MAX); 3];
    let mut pairs = 0;
    for _ in 0..ROUNDS {
        let (hand_cpu, hand_wall, by_hand) = timed(|| by_hand(&texts));
        let (call_cpu, call_wall, with_one) = timed(|| by_call(&texts, Some(1)));
        let (all_cpu, all_wall, with_all) = timed(|| by_call(&texts, None));
        let (Ok(by_hand), Ok(with_one), Ok(with_all)) = (by_hand, with_one, with_all) else {
            eprintln!("a run failed");
            return ExitCode::FAILURE;
        };
        if by_hand != with_one || by_hand != with_all {
            eprintln!("the loop found {} pairs, the call {}, and they differ", by_hand.len(), with_one.len());
            return ExitCode::FAILURE;
        }
        pairs = by_hand.len();
        let round = [(hand_cpu, hand_wall), (call_cpu, call_wall), (all_cpu, all_wall)];
        for (best, (cpu, wall)) in best.iter_mut().zip(round) {
            *best = (best.0.min(cpu), best.1.min(wall));
        }
    }
    let ratio = best[1].0 / best[0].0;
    println!("both find the same {pairs} pairs\n");
    println!("| best of {ROUNDS} | CPU s | ratio | s |\n|---|---|---|---|");
    let names = ["loop by hand over `minwise`", "`Pairs`, one thread", "`Pairs`, all threads"];
    for (name, (cpu, wall)) in names.into_iter().zip(best) {
        println!("| {name} | {cpu:.3} | {:.2} | {wall:.3} |", cpu / best[0].0);
    }
    if ratio > MOST {
        eprintln!("the call takes more than {MOST} times the CPU time of the loop");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
