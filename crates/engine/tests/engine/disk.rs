//! Tests that runs with too little memory, and interrupted runs that are resumed, give the results of a run in memory.

use std::path::Path;
use std::sync::Arc;

use minwise::cluster::Clustering;
use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::work::{Manifest, WorkFolder};
use minwise_engine::{ErrorKind, MemoryLimit, Plan, RunSettings, Search, Unobserved};

use crate::support::{Documents, Random, triples, with_registers};

/// Makes families of texts with a few changed words and some equal texts. Half of the families share the first half of
/// their words.
fn texts(count: usize, words: usize) -> Vec<String> {
    let mut random = Random(7);
    let mut families: Vec<Vec<String>> = vec![];
    (0..count)
        .map(|i| {
            if families.is_empty() || random.below(3) == 0 {
                let mut text: Vec<String> = (0..words).map(|_| format!("w{}", random.below(5000))).collect();
                if random.below(2) == 0 {
                    text[..words / 2].iter_mut().zip(0..).for_each(|(word, at)| *word = format!("form{at}"));
                }
                families.push(text);
            }
            let mut text = random.pick(&families).clone();
            if i % 5 > 0 {
                for _ in 0..random.below(4) {
                    let at = random.below(text.len());
                    text[at] = format!("changed{}", random.below(9));
                }
            }
            text.join(" ")
        })
        .collect()
}

/// Returns all results of a run as text.
fn said(documents: &Documents, settings: &RunSettings) -> String {
    said_by(documents, &settings.plan().unwrap())
}

fn said_by(documents: &Documents, plan: &Plan) -> String {
    let reading = documents.read_by(plan);
    let ids: Vec<_> = (0..reading.documents.len() as u32)
        .map(|document| reading.documents.id(document, &documents.corpus).unwrap().into_owned())
        .collect();
    let places: Vec<_> = reading.documents.places().map(Result::unwrap).collect();
    drop(reading);
    format!("{:?}\n{ids:?}\n{places:?}", documents.dedup_by(plan))
}

fn ways() -> Vec<RunSettings> {
    let plain = with_registers("words:3", 0.7, 12, 5, 80);
    let way = |change: &dyn Fn(&mut RunSettings)| {
        let mut settings = plain.clone();
        change(&mut settings);
        settings
    };
    vec![
        way(&|_| {}),
        way(&|s| s.keep = Some("longest".parse().unwrap())),
        way(&|s| s.cluster = Clustering::Components),
        way(&|s| (s.bits, s.keep) = (Some("1".parse().unwrap()), Some("shortest;last".parse().unwrap()))),
        way(&|s| s.order = Some(0.9)),
        way(&|s| s.search = Some(Search::SortMergeSketch)),
        way(&|s| s.search = Some(Search::All)),
    ]
}

#[test]
fn on_disk_is_as_in_memory() {
    let documents = Documents::new(texts(6000, 120));
    assert!(documents.corpus.size_bytes() > 3 << 20, "more than one chunk");
    for mut settings in ways() {
        if settings.search == Some(Search::All) {
            continue; // The small corpus of the next test covers `All`: this corpus would have 18 million pairs.
        }
        let in_memory = said(&documents, &settings);
        // With almost no memory, all columns, ranges of keys and neighbourhoods are on disk.
        for room in [20_000, 1_000_000] {
            settings.memory = Some(MemoryLimit::with_room(room));
            assert!(said(&documents, &settings) == in_memory, "{settings:?}");
        }
    }
}

#[test]
fn pairs_on_disk_are_those_in_memory() {
    let documents = Documents::new(texts(600, 40));
    for mut settings in ways() {
        let in_memory = triples(&documents.pairs(&settings));
        let said_in_memory = said(&documents, &settings);
        settings.memory = Some(MemoryLimit::with_room(500));
        assert_eq!(triples(&documents.pairs(&settings)), in_memory, "{settings:?}");
        assert!(said(&documents, &settings) == said_in_memory, "{settings:?}");
    }
}

fn manifest(documents: &Documents, option: &str) -> Manifest {
    let options = vec![("threshold".to_owned(), option.to_owned())];
    Manifest::new(options, &documents.corpus, 2, &Unobserved).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_is_taken_up_from_wherever_it_was_ended() {
    let documents = Documents::new(texts(4000, 120));
    let manifest = manifest(&documents, "0.7");
    let ways = ways().into_iter().filter(|settings| settings.search.is_none() && settings.bits.is_none());
    for mut settings in ways {
        let undisturbed = said(&documents, &settings);
        settings.memory = Some(MemoryLimit::with_room(1_000_000));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        let run = |settings: &RunSettings, resume| {
            let work = WorkFolder::open(&path, &manifest, resume).unwrap();
            said_by(&documents, &settings.plan().unwrap().in_folder(Arc::new(work)))
        };
        assert!(run(&settings, false) == undisturbed);
        let complete = names(&path);
        let has = |prefix: &str| complete.iter().filter(|name| name.starts_with(prefix)).count();
        assert!(has("segment-") >= 2 && has("batch-") >= 1 && has("manifest") == 1, "{complete:?}");
        // In the first round no file is missing, in the second round the last file, then the last two, and so on.
        for missing in 0..complete.len() - 2 {
            let pieces = complete.iter().filter(|name| *name != "lock" && *name != "manifest");
            // Files are removed in the reverse of the order in which a run writes them.
            let rank =
                |name: &&String| (!name.starts_with("segment-"), name.starts_with("batch-"), (*name).clone());
            let mut written: Vec<_> = pieces.collect();
            written.sort_by_key(rank);
            for piece in written.iter().rev().take(missing) {
                fs_err::remove_file(path.join(piece)).unwrap();
            }
            fs_err::write(path.join(".minwise-left-behind.tmp"), "half").unwrap();
            assert!(run(&settings, true) == undisturbed, "{missing} pieces were missing");
            assert_eq!(names(&path), complete);
        }
        WorkFolder::open(&path, &manifest, true).unwrap().remove().unwrap();
        assert!(!path.exists());
    }
}

/// A resumed run must use the chunk size of its folder, although its own memory limit would give another.
#[test]
fn a_run_is_taken_up_with_more_or_less_memory() {
    let documents = Documents::new(texts(6000, 120));
    let manifest = manifest(&documents, "0.7");
    let mut settings = ways().swap_remove(0);
    let undisturbed = said(&documents, &settings);
    for (first, second) in [(20_000, 1 << 40), (1 << 40, 20_000)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        let mut run = |room: u64, resume| {
            settings.memory = Some(MemoryLimit::with_room(room));
            let work = WorkFolder::open(&path, &manifest, resume).unwrap();
            said_by(&documents, &settings.plan().unwrap().in_folder(Arc::new(work)))
        };
        assert!(run(first, false) == undisturbed);
        let kept = ["lock", "manifest", "segment-000000"];
        assert!(names(&path).iter().any(|name| name == "segment-000001"), "{:?}", names(&path));
        for name in names(&path).iter().filter(|name| !kept.contains(&name.as_str())) {
            fs_err::remove_file(path.join(name)).unwrap();
        }
        assert!(run(second, true) == undisturbed, "from {first} to {second}");
    }
}

#[test]
fn a_run_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("work");
    let texts = texts(20, 40);
    let documents = Documents::new(&texts);
    let before = manifest(&documents, "0.7");
    drop(WorkFolder::open(&path, &before, false).unwrap());
    let reason = |manifest: &Manifest, resume| match WorkFolder::open(&path, manifest, resume) {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(reason(&before, false).ends_with("it is not empty"), "{}", reason(&before, false));
    assert_eq!(reason(&before, true), "nothing");
    let changed = "the run cannot be continued: ";
    assert_eq!(
        reason(&manifest(&documents, "0.8"), true),
        format!("{changed}`threshold` was `0.7` then and is `0.8` now")
    );
    // A changed input is recognised by its length, and by its hash if the length is the same.
    let name = documents.corpus.sources()[0].name().to_owned();
    let open = || {
        let input = Path::new(&name).into();
        Corpus::open(&[input], &ReadOptions::default(), &Unobserved).unwrap()
    };
    let mut bytes = fs_err::read(&name).unwrap();
    bytes[100] ^= 1;
    fs_err::write(&name, &bytes).unwrap();
    let options = vec![("threshold".to_owned(), "0.7".to_owned())];
    let now = Manifest::new(options.clone(), &open(), 1, &Unobserved).unwrap();
    assert_eq!(reason(&now, true), format!("{changed}`{name}` has as many bytes as then, but other content"));
    bytes.extend_from_slice(b"{\"text\":\"more\"}\n");
    fs_err::write(&name, &bytes).unwrap();
    let now = Manifest::new(options, &open(), 1, &Unobserved).unwrap();
    assert!(reason(&now, true).contains("bytes then and has"), "{}", reason(&now, true));
}

#[test]
fn nobody_else_works_in_the_folder_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let documents = Documents::new(["one"]);
    let manifest = manifest(&documents, "0.7");
    let path = folder.path().join("work");
    let first = WorkFolder::open(&path, &manifest, false).unwrap();
    let error = WorkFolder::open(&path, &manifest, true).unwrap_err().to_string();
    assert!(error.ends_with("another process is at work there"), "{error}");
    drop(first);
    let strange = folder.path().join("strange");
    fs_err::create_dir(&strange).unwrap();
    fs_err::write(strange.join("letter.txt"), "mine").unwrap();
    for resume in [false, true] {
        let error = WorkFolder::open(&strange, &manifest, resume).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::File { .. }), "{error}");
    }
    assert_eq!(names(&strange), ["letter.txt"]);
}

/// A damaged file in the work folder causes an error that names the file.
#[test]
fn damaged_pieces_are_told() {
    let documents = Documents::new(texts(300, 40));
    let manifest = manifest(&documents, "0.7");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("work");
    let work = WorkFolder::open(&path, &manifest, false).unwrap();
    let plan = ways().remove(0).plan().unwrap().in_folder(Arc::new(work));
    said_by(&documents, &plan);
    for piece in ["segment-000000", "groups", "batch-000000"] {
        let whole = fs_err::read(path.join(piece)).unwrap();
        let mut damaged = whole.clone();
        let middle = damaged.len() / 3;
        damaged[middle] ^= 8;
        fs_err::write(path.join(piece), damaged).unwrap();
        let error = minwise_engine::stages::read(&documents.corpus, &plan.reading(), &Unobserved)
            .and_then(|reading| {
                minwise_engine::stages::dedup(&documents.corpus, &reading, &plan, &Unobserved, |_| {})
            })
            .unwrap_err()
            .to_string();
        assert!(error.contains(piece) && error.contains("are not what was written"), "{error}");
        fs_err::write(path.join(piece), whole).unwrap();
    }
}
