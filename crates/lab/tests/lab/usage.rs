//! Tests help, logs, and interrupted runs.

use crate::support::Desk;

#[test]
fn help_lists_what_can_be_done() {
    insta::assert_snapshot!(Desk::new().run("--help"), @"
    exit 0
    --- stdout
    Runs the experiments of the sources again, with the published numbers beside ours

    Usage: minwise-lab <COMMAND>

    Commands:
      list        List the experiments: one line for each figure or table, with its class and the time
                  it takes on two cores
      run         Run experiments. The exit code is 1 if an experiment has a verdict that its definition
                  does not expect, and 2 if an experiment fails; the others still run
      corpus      Make a corpus of any size whose near-duplicates are known: JSON lines of made-up words
      enlarge     Make a corpus many times as large as a real corpus, with the same share of duplicates:
                  each copy of the corpus spells its words with other letters
      sixteen     Measure `minwise` with all cores of this machine, and print a table. The exit code is
                  1 if the machine has at least sixteen cores and a target is missed; fewer cores have
                  no targets
      comparison  Compare all sketches at equal bytes and at equal time on real documents, and write a
                  page with pictures
      report      Write `index.html` into a folder that `run --output` wrote: one page that opens
                  without other files
      help        Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version
    ");
}

/// Returns the commands that the guide shows for this program, each with the lines that follow it.
pub fn shown() -> Vec<(&'static str, Vec<&'static str>)> {
    let page = include_str!("../../../../docs/guides/lab.md");
    let blocks = page.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut commands: Vec<(&str, Vec<&str>)> = vec![];
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, vec![])),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => panic!("`{line}` follows no command"),
        }
    }
    commands.retain_mut(|(command, _)| match command.strip_prefix("minwise-lab ") {
        Some(arguments) => {
            *command = arguments;
            true
        }
        None => false,
    });
    commands
}

/// The guide shows what its commands print. `…` marks lines that the guide leaves out. The command with `--peers` is run
/// in `experiments`, with engines that are no programs of others.
#[test]
fn the_guide_shows_what_is_printed() {
    let desk = Desk::new();
    let commands = shown();
    let (with_peers, commands): (Vec<_>, Vec<_>) =
        commands.into_iter().partition(|(command, _)| command.contains("--peers"));
    assert_eq!((with_peers.len(), commands.len()), (1, 3));
    for (command, lines) in commands {
        let run = desk.run(command).exit(0);
        let mut printed = run.lines().into_iter();
        let mut may_skip = false;
        for line in lines {
            let found = match line {
                "…" => {
                    may_skip = true;
                    continue;
                }
                _ if may_skip => printed.any(|other| other == line),
                _ => printed.next() == Some(line),
            };
            assert!(found, "`{line}` is not where it is shown in\n{run}");
            may_skip = false;
        }
    }
}

#[test]
fn mistakes_in_the_arguments_are_exit_code_2() {
    let desk = Desk::new();
    for arguments in ["", "corpus", "run --no-such-option", "report", "dedup"] {
        desk.run(arguments).exit(2);
    }
    let run = desk.run("run --threads 0").exit(2);
    assert_eq!(run.err, "minwise-lab: `--threads`: it must be at least 1\n");
}

#[test]
fn the_log_is_json_on_request() {
    let desk = Desk::new();
    let run = desk.run("run 002/figure-4 --log json").exit(0);
    assert_eq!(run.err, "{\"event\":\"experiment\",\"name\":\"002/figure-4\"}\n");
    assert_eq!(desk.run("run 002/figure-4 --log json --quiet").exit(0).err, "");
    let run = desk.run("run 9 --log json").exit(2);
    assert_eq!(
        run.err,
        "{\"event\":\"error\",\"hints\":[\"`minwise-lab list` lists them\"],\"messages\":[\"there is no experiment `9`\"]}\n"
    );
}

/// A reader that closes the pipe after the first lines causes no error.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};

    use crate::support::LAB;

    let mut child = Command::new(LAB)
        .args(["corpus", "-o", "-", "--documents", "50000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// Ctrl-C ends a long run immediately, with the conventional exit code of shells.
#[cfg(unix)]
#[test]
fn an_interrupt_is_exit_code_130() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use crate::support::LAB;

    let mut child = Command::new(LAB)
        .args(["corpus", "-o", "-", "--documents", "100000000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The handler is set before the first line is printed.
    let (mut reader, mut line) = (BufReader::new(child.stdout.take().unwrap()), String::new());
    reader.read_line(&mut line).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
