//! `cargo x <task>` runs every task of the project.

// A task runner prints to the person who called it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod all_pairs;
mod bench;
mod browser;
mod build;
mod decisions;
mod dist;
mod docs;
mod extract;
mod features;
mod headers;
mod layers;
mod names;
mod part;
mod run;
mod runner;
mod sixteen;
mod test;
mod trace;
mod words;

use std::process::ExitCode;

use anyhow::{Result, bail};

use part::Part;
use run::cargo;

const HELP: &str = "\
cargo x check              type-check everything
cargo x test               every test: Rust, documentation, vectors, formats, API, Python, Spark, pages in a browser
cargo x test WORD…         the Rust tests that have one of these words in their names
cargo x test --long        what takes too long for every change: long tests, kills, statistics, features, the oldest Rust, other targets, packages, installation, `dist`, `trace`
cargo x test --long WORD…  the long parts that have one of these words in their names, such as `kills`
cargo x test-browser       the pages in a browser only
cargo x test-api           the OpenAPI document and clients that are generated of it only
cargo x test-python        the Python package only
cargo x test-wheels        the wheels of the Python package, which `test --long` builds and tests as well
cargo x test-spark         the Spark job only
cargo x lint               formatting, clippy, documentation, features, headers, direction of the data flow, names of types, `docs --check`, words
cargo x lint words         only the sentences, the messages of new commits, and all links and references
cargo x sentences comments|pages COUNT SEED  random sentences of comments, or of help, messages and pages, for a reader to judge
cargo x docs [--check]     draw the pictures of docs/concepts, list all commands, describe the API and check what all pages point to
cargo x pictures           take the pictures of README and guides anew, in Chromium
cargo x dist               target/dist/minwise-VERSION-TARGET.tar.gz: a static binary, completions and manual pages; tried in an empty root
cargo x tables             write the Unicode table of `core` anew
cargo x trace              list the source files that one record passes through (needs valgrind)
cargo x vectors            check the golden vectors, in Rust and against the Python reference
cargo x bench              micro-benchmarks
cargo x bench sketches     every sketch, by shingle and by comparison, as tables
cargo x bench speed [DATA] the whole run on the corpora of a folder (default ../shared/data)
cargo x bench speed --against BINARY  the same in turns with another `minwise`; fails if ours is 5 % slower
cargo x bench instructions [DATA]  the same, counted in instructions
cargo x bench audit [DATA] what the audit costs and measures; fails above 5 % of the run and 0.2 s
cargo x bench crowds [--against BINARY]  corpora in which documents crowd; fails if ours takes twice the time
cargo x bench decisions --against BINARY [DATA]  documents and pairs that another `minwise` decides differently
cargo x bench memory               its memory, by document
cargo x bench recall       the expected and the measured recall beside the true ones: kinds of corpora, 100 seeds each
cargo x bench beyond [N]   N documents (default 5000000) with a gigabyte of memory, and in memory
cargo x bench build        the cold build of the command, in CPU seconds; fails above the limits
cargo x bench library      100,000 texts in memory by one call and by hand over `minwise`; fails above 1.2 times the CPU
cargo x bench sixteen [DATA]  all cores: a table of speeds, and target/sixteen.tar.gz, which prints it on a machine without Rust
cargo x bench serve        500 clients at once against the server for a minute
cargo x bench extract      how much of a known text is found again in documents made of it
cargo x bench pdf FOLDER   the words found in the PDFs of a folder beside those of `pdftotext` (of Poppler)
cargo x bench lsh          `Lsh` beside the index of gaoya: inserting, querying, recall; fails below the stated ratios
cargo x bench python [DATA]  the Python package beside datasketch, rensa, gaoya and the command; fails below the stated ratios
cargo x bench spark [N]    the Spark job on N documents (default 200000) beside Spark ML and a plain job; fails below the stated ratios
cargo x bench pairs [DATA] all pairs of 60,000 documents and of an English corpus, with the answer checked
cargo x bench pairs --floor [DATA]  the same; fails below the stated pairs per second
cargo x bench peers [DIR]  the whole run beside other engines (default ../shared, which has bench/ and data/)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match task(&args) {
        Ok(true) => ExitCode::SUCCESS,
        // The last printed lines name the part that failed.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo x: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a task. If the task has parts, returns whether all of them passed.
fn task(args: &[&str]) -> Result<bool> {
    match args {
        ["test", "--long", words @ ..] => test::long(words),
        ["test", words @ ..] => test::test(words),
        ["test-browser"] => Ok(test::browser()),
        ["test-api"] => Ok(test::of_api()),
        ["test-python"] => Ok(test::of_python()),
        ["test-wheels"] => Ok(test::of_wheels()),
        ["test-spark"] => Ok(test::of_spark()),
        ["lint"] => Ok(lint()),
        ["lint", "words"] => Ok(part::run("cargo x lint words", lint_of_words(), &[])),
        _ => other_task(args).map(|()| true),
    }
}

fn other_task(args: &[&str]) -> Result<()> {
    match args {
        ["check"] => cargo(&["check", "--workspace", "--all-targets"]),
        ["sentences", readers, count, seed] => words::print_sample(readers, count, seed),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["pictures"] => browser::BrowserTests::default().take_pictures(),
        ["dist"] => dist::run().map(drop),
        ["tables"] => run::cargo_with(
            &["test", "--workspace", "--test", "unicode_tables"],
            &[("MINWISE_WRITE_TABLES", "1")],
        ),
        ["trace"] => trace::run(),
        ["vectors"] => vectors(),
        ["bench"] => cargo(&["bench", "--workspace"]),
        ["bench", "speed", "--against", binary] => bench::speed("../shared/data", Some(binary)),
        ["bench", "speed", data @ ..] => {
            bench::speed(data.first().copied().unwrap_or("../shared/data"), None)
        }
        ["bench", "audit", data @ ..] => bench::audit(data.first().copied().unwrap_or("../shared/data")),
        ["bench", "crowds", "--against", other] => bench::crowds(Some(other)),
        ["bench", "crowds"] => bench::crowds(None),
        ["bench", "decisions", "--against", other, data @ ..] => {
            decisions::run(data.first().copied().unwrap_or("../shared/data"), other)
        }
        ["bench", "build"] => build::run(),
        ["bench", "sketches"] => bench::sketches(),
        ["bench", "memory"] => bench::memory(),
        ["bench", "recall"] => bench::recall(),
        ["bench", "beyond", documents @ ..] => bench::beyond(documents.first().copied().unwrap_or("5000000")),
        ["bench", "library"] => bench::library(),
        ["bench", "sixteen", data @ ..] => sixteen::run(data.first().copied().unwrap_or("../shared/data")),
        ["bench", "serve"] => bench::serve(),
        ["bench", "extract"] => extract::run(),
        ["bench", "pdf", folder] => bench::pdf(folder),
        ["bench", "lsh"] => bench::lsh(),
        ["bench", "spark", documents @ ..] => bench::spark(documents.first().copied().unwrap_or("200000")),
        ["bench", "python", data @ ..] => bench::python(data.first().copied().unwrap_or("../shared/data")),
        ["bench", "pairs", "--floor", data @ ..] => {
            all_pairs::run(data.first().copied().unwrap_or("../shared/data"), true)
        }
        ["bench", "pairs", data @ ..] => {
            all_pairs::run(data.first().copied().unwrap_or("../shared/data"), false)
        }
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

fn lint() -> bool {
    let parts = vec![
        Part::task("format", "cargo fmt", || cargo(&["fmt", "--all", "--check"])),
        Part::task("clippy", "warnings are errors", || {
            cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])
        }),
        Part::task("documentation", "of every crate, with warnings as errors", || {
            run::cargo_with(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "--deny warnings")])
        }),
        Part::task("features", "each brings only its own dependencies, and none is needed", features::check),
        Part::task(
            "headers",
            "headers of modules are lists, which rustdoc shows as such; setters have the words of their fields",
            headers::check,
        ),
        Part::task("layers", "data flows one way", layers::check),
        Part::task("names", "a public type shares its name with no other type", names::check),
        Part::task("docs/", "what is generated is current, and every link leads somewhere", docs::check),
    ];
    part::run("cargo x lint", parts.into_iter().chain(lint_of_words()).collect(), &[])
}

/// Returns the parts of the lint that only read texts.
fn lint_of_words() -> Vec<Part<'static>> {
    vec![
        Part::task("words", "sentences keep the rules that a pattern can check", words::check),
        Part::task("commits", "new commits have a short subject and a body", words::commits),
        Part::task("references", "every link, work, place and erratum exists", docs::check_pages),
    ]
}

fn vectors() -> Result<()> {
    cargo(&["test", "--workspace", "--test", "vectors"])?;
    test::reference()
}
