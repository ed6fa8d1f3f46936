//! Tests the commands on the pages of `docs/concepts`.

use std::path::Path;

use crate::support::Desk;

/// Returns the commands that a page shows, each with the lines that follow it.
fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = vec![];
    for block in page.split("```console\n").skip(1) {
        for line in block.lines().take_while(|line| *line != "```") {
            match line.strip_prefix("$ minwise ") {
                Some(command) => commands.push((command, vec![])),
                None => commands.last_mut().unwrap().1.push(line),
            }
        }
    }
    commands
}

/// The pages show exactly the lines that the command prints. `…` marks lines that the page leaves out.
#[test]
fn the_pages_show_what_is_printed() {
    let desk = Desk::with("examples/articles.jsonl", include_bytes!("../../../../examples/articles.jsonl"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/concepts");
    let mut shown = 0;
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = fs_err::read_to_string(&path).unwrap();
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
    assert!(shown > 30, "{shown}");
}
