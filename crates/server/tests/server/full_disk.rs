//! Test of a full disk: changes are rejected with a clear problem, and reading continues.
//!
//! The disk is a file system in memory, mounted in its own namespace. Some machines do not allow this mount,
//! and `cargo x test` skips the test on them.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use axum::http::StatusCode;
use minwise_index::IndexSettings;
use serde_json::json;

use crate::support::{Archive, text, wait, wide};

/// Environment variable with the folder of the disk. The variable is set when the test runs itself again,
/// inside the namespace.
const DISK: &str = "MINWISE_TEST_DISK";

#[test]
#[ignore = "needs a mount namespace"]
fn on_a_full_disk_changes_are_refused_and_reading_goes_on() {
    if let Some(disk) = std::env::var_os(DISK) {
        return wait(fill(Path::new(&disk)));
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=24m tmpfs \"$0\" && exec \"$1\" --include-ignored --exact \
                  full_disk::on_a_full_disk_changes_are_refused_and_reading_goes_on";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(folder.path()).arg(std::env::current_exe().unwrap()).env(DISK, folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

async fn fill(disk: &Path) {
    let archive = Archive::at(disk, wide(), None, &IndexSettings::default());
    let mut acknowledged = vec![];
    let refused = loop {
        let number = acknowledged.len();
        assert!(number < 1000, "the disk is never full");
        let id = format!("d{number}");
        let documents = [json!({"id": id, "text": text(number as u64, 20_000)})];
        let answer = archive.post("/api/v1/documents", &json!({ "documents": documents })).await;
        if answer.status != StatusCode::CREATED {
            break answer;
        }
        acknowledged.push(id);
    };
    let (status, code) = refused.problem();
    assert!(status == 507 && ["disk_full", "stopped"].contains(&code.as_str()), "{}", refused.text());
    assert!(!refused.text().contains(&*disk.to_string_lossy()));
    assert!(!acknowledged.is_empty());
    let answer = archive.ask("PUT", "/api/v1/documents/new", &json!({"text": text(5000, 20_000)})).await;
    assert_eq!(answer.problem().0, 507);
    for (number, id) in acknowledged.iter().enumerate() {
        let document = archive.get(&format!("/api/v1/documents/{id}")).await;
        assert_eq!(document.json()["text"], text(number as u64, 20_000));
    }
    let checked = archive.post("/api/v1/check", &json!({"text": text(0, 300)})).await;
    assert_eq!((checked.status.as_u16(), &checked.json()["matches"][0]["id"]), (200, &json!("d0")));
    assert_eq!(archive.get("/api/v1/documents").await.status, 200);
    let counts = archive.get("/metrics").await.text().to_owned();
    assert!(!counts.contains("minwise_archive_failures_total 0"), "{counts}");
}
