//! Runs the parts of a command. Every part runs, with a heading and a time, and a table at the end has the results.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Part of `cargo x test` or `cargo x lint`.
pub struct Part<'a> {
    /// Name in the plan, the heading and the table.
    name: &'static str,
    /// Work of the part, in one line of the plan.
    does: String,
    run: Box<dyn FnOnce() -> Result<PartOutcome> + 'a>,
}

impl<'a> Part<'a> {
    /// Returns a part that runs tests and reports their counts.
    pub fn new(
        name: &'static str,
        does: impl Into<String>,
        run: impl FnOnce() -> Result<PartOutcome> + 'a,
    ) -> Self {
        Self { name, does: does.into(), run: Box::new(run) }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a part that counts as one test.
    pub fn task(name: &'static str, does: impl Into<String>, run: impl FnOnce() -> Result<()> + 'a) -> Self {
        Self::new(name, does, || {
            run()?;
            Ok(PartOutcome::Ran(RunnerReport::of_one()))
        })
    }
}

/// Outcome of a part that ended without an error.
pub enum PartOutcome {
    Ran(RunnerReport),
    /// Reason why nothing was run.
    Skipped(String),
}

/// Report of a runner of tests.
#[derive(Debug, Default, PartialEq)]
pub struct RunnerReport {
    pub counts: TestCounts,
    /// Lines with which the runner ended.
    pub closing: Vec<String>,
    /// Whether the runner's exit code was not 0.
    pub is_failed: bool,
}

impl RunnerReport {
    /// Returns the report of a part that is one test, which passed.
    pub fn of_one() -> Self {
        Self { counts: TestCounts { passed: 1, ..TestCounts::default() }, ..Self::default() }
    }
}

/// Numbers of tests.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct TestCounts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl TestCounts {
    fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::default(), |sum, next| Self {
            passed: sum.passed + next.passed,
            failed: sum.failed + next.failed,
            skipped: sum.skipped + next.skipped,
        })
    }
}

/// Part that has ended, as shown in the table.
struct EndedPart {
    name: &'static str,
    outcome: &'static str,
    time: Duration,
    counts: TestCounts,
    lines: Vec<String>,
}

impl EndedPart {
    fn new(name: &'static str, time: Duration, outcome: Result<PartOutcome>) -> Self {
        let (outcome, mut counts, lines) = match outcome {
            Ok(PartOutcome::Ran(RunnerReport { counts, closing, is_failed })) => {
                (if is_failed { "failed" } else { "passed" }, counts, closing)
            }
            Ok(PartOutcome::Skipped(why)) => ("skipped", TestCounts::default(), vec![why]),
            Err(error) => {
                let error = format!("{error:#}");
                ("failed", TestCounts::default(), error.lines().map(str::to_owned).collect())
            }
        };
        // If a part failed or was skipped before its tests were counted, it counts as one test.
        match outcome {
            "failed" => counts.failed = counts.failed.max(1),
            "skipped" => counts.skipped = counts.skipped.max(1),
            _ => {}
        }
        Self { name, outcome, time, counts, lines }
    }
}

/// Prints the plan, runs every part even if an earlier part failed, and prints the table. Returns whether no part
/// failed.
pub fn run(command: &str, parts: Vec<Part>, notes: &[String]) -> bool {
    let number = parts.len();
    println!("{command}: {number} part{}", if number == 1 { "" } else { "s" });
    let width = parts.iter().map(|part| part.name.len()).max().unwrap_or(0);
    for (at, part) in parts.iter().enumerate() {
        println!("{:>3}. {:width$}  {}", at + 1, part.name, part.does);
    }
    for note in notes {
        println!("{note}");
    }
    let begun = Instant::now();
    let mut ended = vec![];
    for (at, part) in parts.into_iter().enumerate() {
        println!("\n=== {} of {number}: {} ===", at + 1, part.name);
        let begun = Instant::now();
        let outcome = (part.run)();
        match &outcome {
            Ok(PartOutcome::Ran(_)) => {}
            Ok(PartOutcome::Skipped(why)) => println!("{why}"),
            Err(error) => println!("{error:#}"),
        }
        let part = EndedPart::new(part.name, begun.elapsed(), outcome);
        println!("--- {}: {} in {}", part.name, part.outcome, duration(part.time));
        ended.push(part);
    }
    println!("\n=== {command}: {} in all ===", duration(begun.elapsed()));
    print!("{}", table(&ended));
    for note in notes {
        println!("{note}");
    }
    println!("{}", closing_line(&ended));
    ended.iter().all(|part| part.outcome != "failed")
}

fn table(ended: &[EndedPart]) -> String {
    let width = ended.iter().map(|part| part.name.len()).max().unwrap_or(0).max("part".len());
    let mut out =
        format!("{:width$}  outcome  {:>12}  passed  failed  skipped\n", "part", "time", width = width);
    for EndedPart { name, outcome, time, counts, lines } in ended {
        let TestCounts { passed, failed, skipped } = counts;
        let time = duration(*time);
        out += &format!("{name:width$}  {outcome:7}  {time:>12}  {passed:>6}  {failed:>6}  {skipped:>7}\n");
        for line in lines {
            out += &format!("    {line}\n");
        }
    }
    out
}

/// Returns the last line, from which other programs read the numbers of tests.
fn closing_line(ended: &[EndedPart]) -> String {
    let TestCounts { passed, failed, skipped } = TestCounts::sum(ended.iter().map(|part| part.counts));
    format!("{passed} passed, {failed} failed, {skipped} skipped")
}

/// A time as the table shows it.
pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {:2} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anyhow::bail;

    use super::*;

    fn report(passed: u64, failed: u64, skipped: u64) -> RunnerReport {
        RunnerReport {
            counts: TestCounts { passed, failed, skipped },
            closing: vec![],
            is_failed: failed > 0,
        }
    }

    #[test]
    fn a_part_that_fails_does_not_hide_the_others() {
        let ran = RefCell::new(vec![]);
        let part = |name: &'static str, outcome: fn() -> Result<PartOutcome>| {
            let ran = &ran;
            Part::new(name, "", move || {
                ran.borrow_mut().push(name);
                outcome()
            })
        };
        let parts = vec![
            part("cannot start", || bail!("no such program")),
            part("fails", || Ok(PartOutcome::Ran(report(1, 2, 0)))),
            part("passes", || Ok(PartOutcome::Ran(report(1, 0, 0)))),
        ];
        assert!(!run("test", parts, &[]));
        assert_eq!(*ran.borrow(), ["cannot start", "fails", "passes"]);
    }

    #[test]
    fn a_part_that_is_skipped_is_no_failure_and_is_counted() {
        assert!(run(
            "test",
            vec![Part::new("pages", "", || Ok(PartOutcome::Skipped("no Node".into())))],
            &[]
        ));
        let skipped =
            EndedPart::new("pages", Duration::ZERO, Ok(PartOutcome::Skipped("it needs `node`".to_owned())));
        assert_eq!(closing_line(&[skipped]), "0 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn the_table_has_a_line_per_part_and_the_lines_of_its_runner() {
        let mut of_rust = report(12, 1, 3);
        of_rust.closing = vec!["Summary [   1.2s] 13 tests run: 12 passed, 1 failed, 3 skipped".to_owned()];
        let ended = [
            EndedPart::new("Rust tests", Duration::from_millis(72_400), Ok(PartOutcome::Ran(of_rust))),
            EndedPart::new("vectors", Duration::from_millis(1500), Err(anyhow::anyhow!("`python3` failed"))),
            EndedPart::new("pages", Duration::ZERO, Ok(PartOutcome::Skipped("it needs `node`".to_owned()))),
        ];
        assert_eq!(
            table(&ended),
            "\
part        outcome          time  passed  failed  skipped
Rust tests  failed     1 min 12 s      12       1        3
    Summary [   1.2s] 13 tests run: 12 passed, 1 failed, 3 skipped
vectors     failed          1.5 s       0       1        0
    `python3` failed
pages       skipped         0.0 s       0       0        1
    it needs `node`
"
        );
        assert_eq!(closing_line(&ended), "12 passed, 2 failed, 4 skipped");
    }

    #[test]
    fn a_runner_that_fails_without_a_failed_test_counts_as_one() {
        let report = RunnerReport { is_failed: true, ..report(5, 0, 0) };
        let ended = [EndedPart::new("Rust tests", Duration::ZERO, Ok(PartOutcome::Ran(report)))];
        assert_eq!(closing_line(&ended), "5 passed, 1 failed, 0 skipped");
    }
}
