//! The one way to run anything: `cargo x <task>`.

// A task runner talks to the person who called it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod all_pairs;
mod bench;
mod browser;
mod docs;
mod extract;
mod layers;
mod run;

use std::process::ExitCode;

use anyhow::{Result, bail};

use run::{cargo, has_nextest, python_venv};

const HELP: &str = "\
cargo x check              type-check everything
cargo x test [FILTER]      run every test
cargo x test-browser       those of the pages in a browser only, which `test` without a filter runs too
cargo x lint               formatting, clippy, documentation, direction of the data flow, `docs --check`
cargo x docs [--check]     draw the pictures of docs/concepts, describe the API and check what all pages point to
cargo x tables             write the Unicode table of `core` anew
cargo x vectors            check the golden vectors, in Rust and against the Python reference
cargo x bench              micro-benchmarks
cargo x bench sketches     every sketch, by shingle and by comparison, as tables
cargo x bench speed [DATA] the whole run on the corpora of a folder (default ../shared/data)
cargo x bench instructions [DATA]  the same, counted in instructions
cargo x bench audit [DATA] what the audit costs, as a share of the run
cargo x bench memory               its memory, by document
cargo x bench beyond [N]   N documents (default 5000000) with a gigabyte of memory, and in memory
cargo x bench serve        500 clients at once against the server for a minute
cargo x bench extract      how much of a known text is found again in documents made of it
cargo x bench pairs        all pairs of sketches, 2e10 of them, with the answer checked
cargo x bench peers [DIR]  the whole run beside other engines (default ../shared, which has bench/ and data/)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match task(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo x: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn task(args: &[&str]) -> Result<()> {
    match args {
        ["check"] => cargo(&["check", "--workspace", "--all-targets"]),
        ["test", filter @ ..] => test(filter),
        ["test-browser"] => browser::test(),
        ["lint"] => lint(),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["tables"] => run::cargo_with(
            &["test", "--package", "minwise", "--test", "unicode_tables"],
            &[("MINWISE_WRITE_TABLES", "1")],
        ),
        ["vectors"] => vectors(),
        ["bench"] => cargo(&["bench", "--workspace"]),
        ["bench", "speed", data @ ..] => bench::speed(data.first().copied().unwrap_or("../shared/data")),
        ["bench", "audit", data @ ..] => bench::audit(data.first().copied().unwrap_or("../shared/data")),
        ["bench", "sketches"] => bench::sketches(),
        ["bench", "memory"] => bench::memory(),
        ["bench", "beyond", documents @ ..] => bench::beyond(documents.first().copied().unwrap_or("5000000")),
        ["bench", "serve"] => bench::serve(),
        ["bench", "extract"] => extract::run(),
        ["bench", "pairs"] => all_pairs::run(),
        ["bench", "instructions", data @ ..] => {
            bench::instructions(data.first().copied().unwrap_or("../shared/data"))
        }
        ["bench", "peers", shared @ ..] => bench::peers(shared.first().copied().unwrap_or("../shared")),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        _ => bail!("there is no such task\n\n{HELP}"),
    }
}

fn test(filter: &[&str]) -> Result<()> {
    if has_nextest() {
        cargo(&[&["nextest", "run", "--workspace", "--no-fail-fast"], filter].concat())?;
    } else {
        cargo(&[&["test", "--workspace", "--lib", "--bins", "--tests"], filter].concat())?;
    }
    if filter.is_empty() {
        cargo(&["test", "--workspace", "--doc"])?;
        reference()?;
        browser::test()?;
    }
    Ok(())
}

fn lint() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?;
    run::cargo_with(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "--deny warnings")])?;
    layers::check()?;
    docs::check()
}

fn vectors() -> Result<()> {
    cargo(&["test", "--package", "minwise", "--test", "vectors"])?;
    reference()
}

/// The vectors against an implementation that shares no code with ours.
fn reference() -> Result<()> {
    let python = python_venv(&["regex"])?;
    run::command(&python, &["vectors/reference.py", "--check"])
}
