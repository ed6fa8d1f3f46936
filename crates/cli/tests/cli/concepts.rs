//! Tests the commands on the pages of `docs/concepts`, and those of the guide to the lab.

use std::path::Path;

use crate::support::{Desk, prose};

/// Returns the commands that a page shows in its `console` blocks, each with the lines that follow it. Commands of other
/// programs are left out.
fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = vec![];
    for block in page.split("```console\n").skip(1) {
        let mut is_ours = false;
        for line in block.lines().take_while(|line| *line != "```") {
            if let Some(typed) = line.strip_prefix("$ ") {
                let command = typed.strip_prefix("minwise ");
                is_ours = command.is_some();
                commands.extend(command.map(|command| (command, vec![])));
            } else if is_ours {
                commands.last_mut().unwrap().1.push(line);
            }
        }
    }
    commands
}

/// The pages show exactly the lines that the command prints. `…` marks lines that the page leaves out. Commands in `sh`
/// blocks are shown without output, and succeed.
#[test]
fn the_pages_show_what_is_printed() {
    let desk = Desk::with("examples/articles.jsonl", include_bytes!("../../../../examples/articles.jsonl"));
    desk.write("answers/whole.txt", prose(1, 60));
    desk.write("answers/part.txt", prose(1, 40));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/concepts");
    let (mut shown, mut without_output) = (0, 0);
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = fs_err::read_to_string(&path).unwrap();
        if page.contains("```sh\n") {
            for command in crate::serve::commands(&page) {
                let run = desk.run(&command).exit(0);
                assert!(!run.out.is_empty(), "{}: {run}", path.display());
                without_output += 1;
            }
        }
        for (command, lines) in commands(&page) {
            let run = desk.run(command).exit(0);
            let mut printed = run.text().lines();
            let mut may_skip = false;
            for line in lines {
                if line == "…" {
                    may_skip = true;
                    continue;
                }
                let found =
                    if may_skip { printed.any(|other| other == line) } else { printed.next() == Some(line) };
                assert!(found, "{}: `{line}` is not where it is shown in\n{run}", path.display());
                may_skip = false;
                shown += 1;
            }
        }
    }
    assert!(shown > 30 && without_output == 1, "{shown} {without_output}");
}

/// Two commands of the guide to the lab read the posts of source 004. Only times may differ from the guide.
#[test]
#[ignore = "needs `../shared/data`"]
fn the_guide_to_the_lab_shows_what_is_printed() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/newsgroup-copies.tar.zst");
    let desk = Desk::new();
    let archive = zstd::Decoder::new(fs_err::File::open(shared).unwrap()).unwrap();
    tar::Archive::new(archive).unpack(desk.root()).unwrap();
    let page = include_str!("../../../../docs/guides/lab.md");
    let commands = commands(page);
    assert_eq!(commands.len(), 2);
    for (command, lines) in commands {
        let run = desk.run(command);
        assert!(matches!(run.code, Some(0 | 2)), "posts that are not UTF-8 may be rejected: {run}");
        let of_columns = |line: &str| -> Vec<String> {
            let columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
            // The last two columns of the table are times.
            columns.take(7).map(str::to_owned).collect()
        };
        let mut printed: Vec<_> = run.text().lines().map(of_columns).collect();
        printed.extend(run.err.lines().map(of_columns));
        let mut place = 0;
        for line in lines.into_iter().filter(|line| *line != "…") {
            let found = printed[place..].iter().position(|columns| *columns == of_columns(line));
            let found = found.unwrap_or_else(|| panic!("`{line}` is not where it is shown in\n{run}"));
            place += found + 1;
        }
    }
}
