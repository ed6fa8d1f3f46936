//! Tests of an index whose process is killed at any moment, or whose files are damaged.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fs_err as fs;
use minwise::hash::SplitMix64;
use minwise_index::{Index, IndexSettings, NewDocument, Unobserved};

use crate::support::{document, text};

/// Number of times that the process is killed, unless `MINWISE_KILLS` sets another number. 200 kills take
/// minutes.
const KILLS: u64 = 25;
/// Environment variable with the first step of the process to be killed, and the folder of its index.
const CHILD: &str = "MINWISE_INDEX_TEST_CHILD";

/// Returns the ids that a step removes and the documents that it adds, or `None` if the step is a compaction.
fn step(number: u64) -> Option<(Vec<String>, Vec<NewDocument>)> {
    let mut random = SplitMix64::new(number);
    if random.next_u64().is_multiple_of(12) {
        return None;
    }
    let mut id = || format!("d{}", random.next_u64() % 60);
    let removed = if number.is_multiple_of(3) { vec![id()] } else { vec![] };
    let added = (0..number % 9).map(|at| document(&id(), &text(number * 100 + at, 60))).collect();
    Some((removed, added))
}

fn take(index: &Index, number: u64) {
    let Some((removed, added)) = step(number) else {
        index.compact(&Unobserved).unwrap();
        return;
    };
    for id in removed {
        if index.get(&id).unwrap().is_some() {
            index.remove(&[&id]).unwrap();
        }
    }
    index.add(&added, number, 1).unwrap();
}

/// Creates a temporary folder in memory, or on disk if there is no `/dev/shm`. Data that a killed process has
/// written stay in memory as they would on a disk, and hundreds of kills do not wait for a disk.
pub fn folder_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn follow(model: &mut BTreeMap<String, String>, number: u64) -> BTreeMap<String, String> {
    let (removed, added) = step(number).unwrap_or_default();
    // A step has two changes: the first removes documents, and the second adds documents.
    model.retain(|id, _| !removed.contains(id));
    let between = model.clone();
    model.extend(added.into_iter().map(|document| (document.id, document.text)));
    between
}

fn contents(index: &Index) -> BTreeMap<String, String> {
    let ids = index.ids().unwrap();
    ids.into_iter().map(|id| (id.clone(), index.get(&id).unwrap().unwrap().text.unwrap())).collect()
}

/// Runs the process that `every_acknowledged_document_survives` kills.
#[expect(clippy::print_stderr, reason = "the test reads how far the process came")]
fn child(what: &str) {
    let (first, folder) = what.split_once(' ').unwrap();
    let index = Index::open(Path::new(folder)).unwrap();
    for number in first.parse::<u64>().unwrap().. {
        take(&index, number);
        eprintln!("done {number}");
    }
}

// Promise 7 of README.md: an archive never loses a document that it has reported as added.
#[test]
fn every_acknowledged_document_survives() {
    if let Ok(what) = std::env::var(CHILD) {
        return child(&what);
    }
    let folder = folder_in_memory();
    let path = folder.path().join("index");
    drop(Index::create(&path, &IndexSettings::default()).unwrap());
    let mut random = SplitMix64::new(7);
    let (mut model, mut next) = (BTreeMap::new(), 0u64);
    let mut in_flight = 0;
    let kills = std::env::var("MINWISE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    for kill in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::every_acknowledged_document_survives", "--exact", "--nocapture"])
            .env(CHILD, format!("{next} {}", path.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut acknowledged =
            lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("done ")?.parse::<u64>().ok());
        // The process finishes some steps and is killed within the next step.
        let steps = random.next_u64() % 4;
        let mut done: Vec<u64> = acknowledged.by_ref().take(steps as usize).collect();
        std::thread::sleep(Duration::from_micros(random.next_u64() % 12_000));
        child.kill().unwrap();
        child.wait().unwrap();
        done.extend(acknowledged);
        for number in &done {
            assert_eq!(*number, next);
            follow(&mut model, next);
            next += 1;
        }
        let index = Index::open(&path).unwrap();
        let found = contents(&index);
        if found != model {
            // The step that was not acknowledged may be in the index, either whole or up to its first change.
            in_flight += 1;
            let before = model.clone();
            let between = follow(&mut model, next);
            assert!(
                found == model || found == between,
                "after kill {kill}, with {} of {} documents",
                found.len(),
                before.len()
            );
            next += u64::from(found == model);
            model = found;
        }
        let checked = index.check_integrity(&Unobserved).unwrap();
        assert_eq!(checked.findings, [], "after kill {kill}");
        // Without a compaction, every opening would read all changes since the beginning again.
        if kill % 10 == 9 {
            index.compact(&Unobserved).unwrap();
        }
    }
    assert!(next > kills / 2, "{next} steps");
    // A single kill may miss the moment between a change and its acknowledgement, but 200 kills do not.
    assert!(in_flight > 0 || kills < 200, "no kill came while something was written");
}

/// Number of documents per change that is large enough to load its rows.
const LARGE: u64 = 5000;
/// Number of large changes after which a new index is made, because each kill checks all documents.
const LARGE_CHANGES: u64 = 3;

fn large_change(number: u64) -> Vec<NewDocument> {
    let document = |at| document(&format!("{number}-{at}"), &text(number * LARGE + at, 7));
    (0..LARGE).map(document).collect()
}

/// Runs the process that `a_large_change_is_complete_or_absent` kills.
#[expect(clippy::print_stderr, reason = "the test reads how far the process came")]
fn large_child(what: &str) {
    let (first, folder) = what.split_once(' ').unwrap();
    let index = Index::open(Path::new(folder)).unwrap();
    for number in first.parse::<u64>().unwrap().. {
        let documents = large_change(number);
        eprintln!("begins");
        index.add(&documents, number, 2).unwrap();
        eprintln!("done");
    }
}

// Large changes write most of their rows to files before the batch that assigns the numbers of their documents.
#[test]
fn a_large_change_is_complete_or_absent() {
    if let Ok(what) = std::env::var(CHILD) {
        return large_child(&what);
    }
    let folder = folder_in_memory();
    let kills = std::env::var("MINWISE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let mut random = SplitMix64::new(8);
    let (mut path, mut changes) = (folder.path().join("0"), LARGE_CHANGES);
    for kill in 0..kills {
        if changes >= LARGE_CHANGES {
            changes = 0;
            path = folder.path().join(kill.to_string());
            drop(Index::create(&path, &IndexSettings::default()).unwrap());
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::a_large_change_is_complete_or_absent", "--exact", "--nocapture"])
            .env(CHILD, format!("{changes} {}", path.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        // The process is killed within its first or second change.
        let mut done = 0;
        let begun = 1 + random.next_u64() % 2;
        for _ in 0..begun {
            done += lines.by_ref().take_while(|line| line != "begins").filter(|line| line == "done").count();
        }
        std::thread::sleep(Duration::from_micros(random.next_u64() % 250_000));
        child.kill().unwrap();
        child.wait().unwrap();
        changes += (done + lines.filter(|line| line == "done").count()) as u64;
        let index = Index::open(&path).unwrap();
        let ids = index.ids().unwrap();
        // The change that was not acknowledged may be in the index.
        changes += u64::from(ids.len() as u64 > changes * LARGE);
        let all =
            (0..changes).flat_map(|number| large_change(number).into_iter().map(|document| document.id));
        assert!(ids.into_iter().eq(all), "after kill {kill}");
        assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, [], "after kill {kill}");
    }
}

pub fn files(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// Opens and checks a damaged index, and returns the first error or finding.
fn told(path: &Path) -> Option<String> {
    let index = match Index::open(path) {
        Ok(index) => index,
        Err(error) => return Some(error.to_string()),
    };
    match index.check_integrity(&Unobserved) {
        Ok(checked) => checked.findings.first().map(|finding| finding.what.clone()),
        Err(error) => Some(error.to_string()),
    }
}

// Promise 7 of README.md: damage is detected and reported, and never read as data.
#[test]
fn flipped_bits_are_told() {
    let folder = folder_in_memory();
    let path = folder.path().join("index");
    let index = Index::create(&path, &IndexSettings::default()).unwrap();
    let documents: Vec<NewDocument> = (0..200).map(|n| document(&format!("d{n}"), &text(n, 120))).collect();
    index.add(&documents[..150], 0, 2).unwrap();
    index.compact(&Unobserved).unwrap();
    index.add(&documents[150..], 0, 2).unwrap();
    let truth = contents(&index);
    drop(index);
    let mut all = vec![];
    files(&path, &mut all);
    all.retain(|file| file.metadata().unwrap().len() > 0 && !file.ends_with("lock"));
    all.sort();
    let mut random = SplitMix64::new(3);
    let copy = folder.path().join("copy");
    let mut flipped = 0;
    for file in &all {
        for _ in 0..6 {
            let mut bytes = fs::read(file).unwrap();
            let bit = random.next_u64() as usize % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            copy_folder(&path, &copy);
            let damaged = copy.join(file.strip_prefix(&path).unwrap());
            fs::write(&damaged, bytes).unwrap();
            let outcome = std::panic::catch_unwind(|| told(&copy));
            assert!(outcome.is_ok(), "bit {bit} of `{}` made it panic", file.display());
            // A flipped bit may stay unseen if nothing reads it, but then all documents must be unchanged.
            match outcome {
                Ok(Some(_)) | Err(_) => flipped += 1,
                Ok(None) => assert_eq!(
                    contents(&Index::open(&copy).unwrap()),
                    truth,
                    "bit {bit} of {}",
                    file.display()
                ),
            }
        }
    }
    assert!(flipped > all.len(), "{flipped} of {} were told", 6 * all.len());
}

pub fn copy_folder(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn changes_that_are_lost_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("index"), folder.path().join("copy"));
    let index = Index::create(&path, &IndexSettings::default()).unwrap();
    index.add(&[document("a", &text(1, 50))], 0, 1).unwrap();
    drop(index);
    copy_folder(&path.join("store"), &copy);
    let index = Index::open(&path).unwrap();
    index.add(&[document("b", &text(2, 50))], 0, 1).unwrap();
    drop(index);
    copy_folder(&copy, &path.join("store"));
    let error = Index::open(&path).unwrap_err().to_string();
    assert!(
        error.contains("change 2 was acknowledged, but the newest change that is stored is 1"),
        "{error}"
    );
}

#[test]
fn what_is_damaged_is_taken_out_by_a_repair_and_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let index = Index::create(&path, &IndexSettings::default()).unwrap();
    let documents: Vec<NewDocument> = (0..50).map(|n| document(&format!("d{n}"), &text(n, 80))).collect();
    index.add(&documents, 0, 2).unwrap();
    drop(index);
    assert_eq!(Index::repair(&path, &Unobserved).unwrap().findings, []);
    let index = Index::open(&path).unwrap();
    index.damage_for_tests("d7");
    let found = index.check_integrity(&Unobserved).unwrap().findings;
    assert!(found.iter().any(|finding| finding.id.as_deref() == Some("d7")), "{found:?}");
    assert!(index.get("d7").is_err());
    drop(index);
    let repaired = Index::repair(&path, &Unobserved).unwrap();
    assert_eq!((repaired.findings, repaired.taken_out), (found, 1));
    let index = Index::open(&path).unwrap();
    assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
    assert_eq!(index.statistics().unwrap().documents, 49);
    assert!(index.get("d7").unwrap().is_none());
    assert_eq!(index.frequencies().unwrap().documents(), 49);
    index.add(&documents[7..8], 0, 1).unwrap();
    assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, []);
}
