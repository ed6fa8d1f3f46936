//! All pairs of sketches compared, with the answer checked: 2·10¹⁰ of one bit a register, and registers look by look.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::bench::{build, path, work};
use crate::run::output;

/// Pairs that are near-duplicates by construction; the others share nothing.
const PLANTED: u64 = 1000;
/// Words of a document: 56 shingles of five words, of which a changed last word leaves 55 of 57.
const WORDS: u64 = 60;

pub fn run() -> Result<()> {
    let minwise = build()?;
    fs_err::create_dir_all(work())?;
    println!(
        "{}\n\n| sketch | documents | pairs | seconds | pairs/s | words compared | found |\n|---|---|---|---|---|---|---|",
        output(&minwise, &["--version"])?.trim()
    );
    compare(&minwise, "b-bit:1/minhash:1024", 200_000)?;
    let share = compare(&minwise, "minhash:1024", 20_000)?;
    ensure!(share < 0.1, "the filter compared {share} of the registers, not a tenth");
    Ok(())
}

/// Sketches a made corpus, compares all its pairs and checks what is found; gives the share of words that were compared.
fn compare(minwise: &Path, sketch: &str, documents: u64) -> Result<f64> {
    let corpus = work().join(format!("planted-{documents}.jsonl"));
    let mut planted = BTreeSet::new();
    let mut lines = String::new();
    for document in 0..documents {
        // The last documents repeat the first, but for their last word.
        let from = documents - PLANTED;
        let original = if document >= from { document - from } else { document };
        let mut words: Vec<String> = (0..WORDS).map(|at| format!("w{original}x{at}")).collect();
        if document >= from {
            planted.insert((format!("d{original}"), format!("d{document}")));
            words.pop();
            words.push("changed".to_owned());
        }
        lines += &format!("{{\"id\": \"d{document}\", \"text\": \"{}\"}}\n", words.join(" "));
    }
    fs_err::write(&corpus, lines)?;
    let (sketches, pairs) = (work().join("planted.sketches"), work().join("planted.tsv"));
    output(
        minwise,
        &["sketch", &path(&corpus), "-o", &path(&sketches), "--sketch", sketch, "--force", "--quiet"],
    )?;
    let printed = std::process::Command::new(minwise)
        .args([
            "estimate",
            &path(&sketches),
            "-o",
            &path(&pairs),
            "--force",
            "--threshold",
            "0.8",
            "--log",
            "json",
        ])
        .args(["--threads", "2"])
        .output()?;
    let log = String::from_utf8_lossy(&printed.stderr).into_owned();
    let summary = log.lines().find(|line| line.contains("\"event\":\"summary\"")).context(log.clone())?;
    let number = |name: &str| -> Result<f64> {
        let (_, rest) =
            summary.split_once(&format!("\"{name}\":")).with_context(|| format!("no `{name}`"))?;
        Ok(rest.split([',', '}']).next().unwrap_or_default().parse()?)
    };

    let found: BTreeSet<(String, String)> = fs_err::read_to_string(&pairs)?
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t');
            Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
        })
        .collect();
    ensure!(found == planted, "{} pairs were found, {} were planted", found.len(), planted.len());
    let (compared, seconds) = (number("compared")?, number("elapsed_ms")? / 1000.0);
    ensure!(compared == (documents * (documents - 1) / 2) as f64, "every pair is compared once");
    let share = number("words_compared")? / number("words")?;
    println!(
        "| `{sketch}` | {documents} | {compared:.2e} | {seconds:.1} | {:.2e} | {:.1} % | {} of {} |",
        compared / seconds,
        100.0 * share,
        found.len(),
        planted.len()
    );
    Ok(share)
}
