//! Tests of ids that several documents share, and of ids that equal the places of other documents. The work must stay
//! linear.

use std::path::PathBuf;
use std::sync::Mutex;

use minwise_corpus::{Corpus, InMemory, Input, ReadOptions, Unobserved};
use minwise_engine::stages::read;
use minwise_engine::{Dedup, MemoryLimit, Observer, Warning};
use tempfile::TempDir;

use crate::support::settings;

/// Writes files of documents whose ids `id` computes from the folder, the file number and the document number. An empty
/// id is left out.
fn corpus(files: usize, documents: usize, id: impl Fn(&str, usize, usize) -> String) -> (TempDir, Corpus) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_string_lossy().into_owned();
    let names: Vec<String> = (0..files).map(|file| format!("{root}/{file}.jsonl")).collect();
    for (file, name) in names.iter().enumerate() {
        let line = |document| match &*id(&root, file, document) {
            "" => "{\"text\":\"some words\"}\n".to_owned(),
            id => format!("{{\"id\":{id:?},\"text\":\"some words\"}}\n"),
        };
        fs_err::write(name, (0..documents).map(line).collect::<String>()).unwrap();
    }
    let inputs: Vec<Input> = names.into_iter().map(|name| PathBuf::from(name).into()).collect();
    let corpus = Corpus::open(&inputs, &ReadOptions::default(), &Unobserved).unwrap();
    (folder, corpus)
}

/// Observer that keeps the warning about repeated ids.
#[derive(Default)]
struct Listener(Mutex<Option<(u64, [String; 2])>>);

impl Observer for Listener {
    fn warn(&self, warning: &Warning) {
        if let Warning::RepeatedIds { documents, places, .. } = warning {
            *self.0.lock().unwrap() = Some((*documents, places.clone()));
        }
    }
}

/// Returns the number of documents that share their id, and the places of an example. The results must be the same in
/// memory and on disk.
fn repeated(corpus: &Corpus) -> (u64, [String; 2]) {
    let settings = settings("words:1", 0.8, 4, 4);
    let [in_memory, on_disk] = [settings.memory, Some(MemoryLimit::with_room(1 << 20))].map(|memory| {
        let listener = Listener::default();
        let settings = settings.clone().memory(memory);
        read(corpus, &settings.plan().unwrap().reading(), &listener).unwrap();
        listener.0.into_inner().unwrap().unwrap()
    });
    assert_eq!(in_memory, on_disk);
    in_memory
}

#[test]
fn one_id_of_all_documents() {
    let documents = 60_000;
    let (folder, corpus) = corpus(1, documents, |_, _, _| "the same id".to_owned());
    let name = format!("{}/0.jsonl", folder.path().display());
    assert_eq!(repeated(&corpus), (documents as u64, [1, 2].map(|line| format!("{name}:{line}"))));
}

/// The first document has no id, so its place names it. The second document has this place as its id, which therefore
/// counts as repeated, so its own place names it, and so on. A search from each document would take minutes.
#[test]
fn a_chain_of_places() {
    let documents = 60_000;
    for upwards in [true, false] {
        let (folder, corpus) = corpus(1, documents, |root, _, document| {
            let (is_last, next) =
                if upwards { (document == 0, document) } else { (document + 1 == documents, document + 2) };
            if is_last { String::new() } else { format!("{root}/0.jsonl:{next}") }
        });
        let name = format!("{}/0.jsonl", folder.path().display());
        let example = if upwards { [2, 1] } else { [documents - 1, documents] };
        let places = example.map(|line| format!("{name}:{line}"));
        assert_eq!(repeated(&corpus), (documents as u64 - 1, places));
    }
}

/// Each of many files has two documents. The first has no id, and the second has as its id the place of the first
/// document in the next file.
#[test]
fn places_in_many_files() {
    let files = 3000;
    let (folder, corpus) = corpus(files, 2, |root, file, document| match document {
        0 => String::new(),
        _ => format!("{root}/{}.jsonl:1", (file + 1) % files),
    });
    let root = folder.path().display();
    let places = [format!("{root}/0.jsonl:2"), format!("{root}/1.jsonl:1")];
    assert_eq!(repeated(&corpus), (files as u64, places));
}

/// Documents in memory have no lines that could name them. Of the documents with one id, the first in keeper order
/// keeps the id, and the others get numbers. A number that would repeat an existing id is skipped.
#[test]
fn ids_in_memory_are_numbered_in_keeper_order() {
    let rows = [("x", "one"), ("x", "one two three"), ("y", "four"), ("x", "one two"), ("x#2", "five")];
    let named = |keep: &str| -> Vec<String> {
        let memory = InMemory::documents(rows).named("data");
        let listener = Listener::default();
        let result = Dedup::new().input(memory).keep(keep).run_observed(&listener).unwrap();
        assert!(listener.0.lock().unwrap().is_none(), "numbers need no warning");
        (0..rows.len()).map(|index| result.id(index).unwrap().unwrap().into_owned()).collect()
    };
    assert_eq!(named("first"), ["x", "x#3", "y", "x#4", "x#2"]);
    assert_eq!(named("last"), ["x#4", "x#3", "y", "x", "x#2"]);
    assert_eq!(named("longest"), ["x#4", "x", "y", "x#3", "x#2"]);
}

/// A file that stands for data in memory is named by the given name, and its ids are numbered as in memory.
#[test]
fn a_named_file_is_as_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    fs_err::write(&path, "{\"id\":\"x\",\"text\":\"a\"}\n{\"id\":\"x\",\"text\":\"b\"}\n{\"text\":\"c\"}\n")
        .unwrap();
    let input = Input::NamedFile { path, name: "data".to_owned() };
    let listener = Listener::default();
    let result = Dedup::new().input(input).run_observed(&listener).unwrap();
    assert!(listener.0.lock().unwrap().is_none());
    let ids = [0, 1, 2].map(|index| result.id(index).unwrap().unwrap().into_owned());
    assert_eq!(ids, ["x", "x#2", "data:3"]);
}
