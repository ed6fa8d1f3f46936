//! Tests which inputs an archive accepts, skips or refuses.

use crate::archive::archive;
use crate::support::{Desk, prose};

/// An archive is most often stored beside the documents.
#[test]
fn an_archive_inside_the_folder_that_is_read_is_skipped() {
    let desk = Desk::with("letters/a.txt", prose(1, 60));
    desk.write("letters/b.txt", prose(2, 60));
    desk.run("index create letters/archive -q").exit(0);
    for added in ["2 added, 0 replaced, 0 unchanged", "0 added, 0 replaced, 2 unchanged"] {
        let run = desk.run("index add letters/archive letters --verbose").exit(0);
        assert!(run.err.contains(added), "{run}");
        assert!(
            run.err.contains("1 file was skipped\n    letters/archive: it is an archive of Minwise"),
            "{run}"
        );
    }
    let listed = desk.run("index list letters/archive").exit(0);
    assert_eq!(listed.lines().len(), 2, "{listed}");
    let run = desk.run("dedup letters -o clean/ -q").exit(0);
    assert_eq!(run.err, "");
    assert!(!desk.names().iter().any(|name| name.starts_with("clean/archive")), "{:?}", desk.names());
    for input in ["letters/archive", "letters/archive/*"] {
        let run = desk.run(&format!("index add letters/archive {input}")).exit(2);
        assert!(run.err.contains("letters/archive"), "{run}");
    }
}

/// If every document was rejected, a guarantee would be misread as a statement about the rejected documents.
#[test]
fn a_check_of_nothing_guarantees_nothing() {
    let desk = archive();
    desk.write("latin.txt", b"caf\xe9 au lait");
    let run = desk.run("check latin.txt --index archive").exit(2);
    assert!(!run.err.contains("guarantee"), "{run}");
    assert!(
        run.err.contains("`--encoding auto` or `--encoding latin-1` reads texts that are not UTF-8"),
        "{run}"
    );
    let run = desk.run("index add archive latin.txt").exit(2);
    assert!(
        run.err.contains("`--encoding auto` or `--encoding latin-1` reads texts that are not UTF-8"),
        "{run}"
    );
    desk.run("index add archive latin.txt --encoding latin-1 -q").exit(0);
    let run = desk.run("check latin.txt --index archive --threshold 50").exit(2);
    assert!(run.err.contains("hint: `--threshold 0.5` is 50 %"), "{run}");
}
