//! Runs test runners. Their output is copied immediately, and their closing lines are parsed.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow};

use crate::part::{RunnerReport, TestCounts};
use crate::run::shown;

/// Program whose closing lines are parsed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TestRunner {
    Nextest,
    /// The runner of `cargo test`, including doc tests.
    Libtest,
    /// `node --test` with `--test-reporter=spec`.
    Node,
    /// A script of this repository, whose last line is like `12 passed, 0 failed`.
    Script,
}

impl TestRunner {
    /// Runs a command of this runner. A failing test is part of the report; an error means that no test ran.
    pub fn run(self, command: &mut Command) -> Result<RunnerReport> {
        let shown = shown(command);
        println!("$ {shown}");
        if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
            // Colours are requested, because the programs write into a pipe and would omit colours.
            command.env("CARGO_TERM_COLOR", "always").env("FORCE_COLOR", "1");
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{shown}` could not be started"))?;
        let lines = Mutex::new(vec![]);
        let keep = |line: &[u8]| {
            let line = plain(&String::from_utf8_lossy(line));
            lines.lock().map_err(|_| anyhow!("a line was lost"))?.push(line);
            Ok(())
        };
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        std::thread::scope(|scope| {
            let errors = scope.spawn(|| copy(stderr, std::io::stderr(), keep));
            copy(stdout, std::io::stdout(), keep)?;
            errors.join().map_err(|_| anyhow!("the output of `{shown}` could not be read"))?
        })?;
        let is_failed = !child.wait()?.success();
        let lines = lines.into_inner().unwrap_or_default();
        let (counts, mut closing) = self.read(&lines);
        if is_failed && closing.is_empty() {
            closing.push(format!("`{shown}` failed before any test was run"));
        }
        Ok(RunnerReport { counts, closing, is_failed })
    }

    /// Parses the numbers and the closing lines in the output of a runner.
    fn read(self, lines: &[String]) -> (TestCounts, Vec<String>) {
        match self {
            Self::Nextest => nextest(lines),
            Self::Libtest => libtest(lines),
            Self::Node => node(lines),
            Self::Script => script(lines),
        }
    }
}

/// Copies the output line by line, and passes each line to `keep`.
fn copy(from: Option<impl Read>, mut to: impl Write, keep: impl Fn(&[u8]) -> Result<()>) -> Result<()> {
    let Some(from) = from else { return Ok(()) };
    let mut from = BufReader::new(from);
    let mut line = vec![];
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        keep(&line)?;
        line.clear();
    }
    Ok(())
}

/// Returns a line without colours and without surrounding white space.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out += before;
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').get(1..).unwrap_or("");
    }
    (out + rest).trim().to_owned()
}

/// Parses `12 passed` as a number and a word.
fn counted(text: &str) -> Option<(u64, &str)> {
    let (number, what) = text.trim().split_once(' ')?;
    Some((number.parse().ok()?, what.trim()))
}

/// Parses a last line such as `12 passed, 0 failed`.
fn script(lines: &[String]) -> (TestCounts, Vec<String>) {
    let mut counts = TestCounts::default();
    let Some(last) = lines.last() else { return (counts, vec![]) };
    for (number, what) in last.split(',').filter_map(counted) {
        match what {
            "passed" => counts.passed += number,
            "failed" => counts.failed += number,
            "skipped" => counts.skipped += number,
            _ => {}
        }
    }
    (counts, vec![last.clone()])
}

/// Parses the line `Summary […] 13 tests run: 12 passed (1 slow), 1 failed, 3 skipped` and the following lines, which
/// name the tests that failed. Skipped tests are not counted, because nextest counts all tests that a filter leaves out
/// as skipped.
fn nextest(lines: &[String]) -> (TestCounts, Vec<String>) {
    let Some(at) = lines.iter().rposition(|line| line.starts_with("Summary [")) else {
        return (TestCounts::default(), vec![]);
    };
    let mut counts = TestCounts::default();
    let summary = lines[at].split_once(" run: ").map_or("", |(_, counts)| counts);
    // Parentheses are removed, because they may contain commas.
    let summary: String =
        summary.split('(').map(|piece| piece.split_once(')').map_or(piece, |(_, after)| after)).collect();
    for (number, what) in summary.split(',').filter_map(counted) {
        match what {
            "passed" => counts.passed += number,
            "skipped" => {}
            // All other counts, such as `failed` and `timed out`, are of tests that did not pass.
            _ => counts.failed += number,
        }
    }
    let closing = lines[at..].iter().filter(|line| !line.is_empty() && !line.starts_with("error: "));
    (counts, closing.cloned().collect())
}

/// Parses the lines `test result: ok. 5 passed; 0 failed; 1 ignored; …`, one per crate, and the lines of tests that
/// failed.
fn libtest(lines: &[String]) -> (TestCounts, Vec<String>) {
    let mut counts = TestCounts::default();
    let mut closing = vec![];
    for line in lines {
        if line.starts_with("test ") && line.ends_with(" ... FAILED") {
            closing.push(line.clone());
        }
        let Some(result) = line.strip_prefix("test result: ") else { continue };
        let result = result.split_once(". ").map_or("", |(_, counts)| counts);
        let mut tests = 0;
        for (number, what) in result.split(';').filter_map(counted) {
            match what {
                "passed" => counts.passed += number,
                "failed" => counts.failed += number,
                "ignored" => counts.skipped += number,
                _ => continue,
            }
            tests += number;
        }
        if tests > 0 {
            closing.push(line.clone());
        }
    }
    (counts, closing)
}

/// Parses the lines `ℹ pass 12`, and the names of tests that failed.
fn node(lines: &[String]) -> (TestCounts, Vec<String>) {
    let mut counts = TestCounts::default();
    let (mut numbers, mut failed) = (vec![], vec![]);
    for line in lines {
        if let Some(name) = line.strip_prefix("✖ ").filter(|name| *name != "failing tests:") {
            // Each name is kept once, because node prints a failed test when it fails and again at the end.
            if !failed.iter().any(|line: &String| line == name) {
                failed.push(name.to_owned());
            }
        }
        let Some((what, number)) = line.strip_prefix("ℹ ").and_then(|line| line.split_once(' ')) else {
            continue;
        };
        let whole = number.parse().unwrap_or(0);
        match what {
            "pass" => counts.passed += whole,
            "fail" | "cancelled" => counts.failed += whole,
            "skipped" | "todo" => counts.skipped += whole,
            "tests" | "suites" | "duration_ms" => {}
            _ => continue,
        }
        numbers.push(format!("{what} {number}"));
    }
    let mut closing: Vec<String> = failed.into_iter().map(|name| format!("✖ {name}")).collect();
    if !numbers.is_empty() {
        closing.push(numbers.join(", "));
    }
    (counts, closing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(plain).collect()
    }

    #[test]
    fn the_summary_of_nextest_is_read() {
        let (counts, closing) = TestRunner::Nextest.read(&lines(
            "        PASS [   0.009s] (1/4) minwise a\n\
             ────────────\n     \
             Summary [ 312.114s] 1312 tests run: 1309 passed (3 slow, 1 leaky), 2 failed, 1 timed out, 4 skipped\n        \
             FAIL [   0.010s] (2/4) minwise-cli::cli errors::two\n\
             error: test run failed\n",
        ));
        assert_eq!(counts, TestCounts { passed: 1309, failed: 3, skipped: 0 });
        assert_eq!(closing.len(), 2);
        assert!(closing[0].starts_with("Summary [ 312.114s] 1312 tests run"));
        assert!(closing[1].ends_with("errors::two"));
        assert_eq!(
            TestRunner::Nextest.read(&lines("error: could not compile")),
            (TestCounts::default(), vec![])
        );
    }

    #[test]
    fn the_results_of_all_crates_are_summed() {
        let (counts, closing) = TestRunner::Libtest.read(&lines(
            "test crates/core/src/lib.rs - (line 9) ... ok\n\
             test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
             test crates/corpus/src/lib.rs - (line 3) ... FAILED\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
             test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
        ));
        assert_eq!(counts, TestCounts { passed: 6, failed: 1, skipped: 1 });
        assert_eq!(closing.len(), 3, "{closing:?}");
    }

    #[test]
    fn the_counts_of_node_are_read() {
        let (counts, closing) = TestRunner::Node.read(&lines(
            "✔ a pasted text is checked (12.3ms)\n✖ on paper there is all (1ms)\nℹ long/0: longest task 1 ms\n\
             ℹ tests 4\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 1\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 23.5\n\n\
             ✖ failing tests:\n\ntest at tests/browser/page-pair.test.mjs:1:1\n✖ on paper there is all (1ms)\n",
        ));
        assert_eq!(counts, TestCounts { passed: 1, failed: 2, skipped: 1 });
        assert_eq!(
            closing,
            [
                "✖ on paper there is all (1ms)",
                "tests 4, suites 0, pass 1, fail 1, cancelled 1, skipped 1, todo 0, duration_ms 23.5"
            ]
        );
    }

    #[test]
    fn colours_are_left_out() {
        assert_eq!(plain("\u{1b}[32;1m     Summary\u{1b}[0m [ 1s]\u{1b}[m\n"), "Summary [ 1s]");
    }

    #[cfg(unix)]
    #[test]
    fn a_runner_that_fails_is_reported_with_what_it_printed() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored'; exit 101"]);
        let report = TestRunner::Libtest.run(&mut command).unwrap();
        assert!(report.is_failed);
        assert_eq!(report.counts, TestCounts { passed: 2, failed: 1, skipped: 0 });
        let report = TestRunner::Nextest.run(Command::new("sh").args(["-c", "exit 1"])).unwrap();
        assert_eq!(report.closing, ["`sh -c 'exit 1'` failed before any test was run"]);
        assert!(TestRunner::Libtest.run(&mut Command::new("no-such-program-anywhere")).is_err());
    }
}
