//! Reads documents from a file and from memory chunk by chunk, then reads one document again by its place.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use minwise_corpus::{Corpus, InMemory, Input, ReadOptions, Scratch, Unobserved};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("notes.jsonl");
    fs_err::write(
        &path,
        "{\"id\": 1, \"text\": \"a rose\"}\n{\"id\": 2}\n{\"id\": 3, \"text\": \"is a rose\"}\n",
    )?;
    let held = InMemory::documents([("x", "a lily")]).named("held");

    let corpus = Corpus::open(&[Input::from(path), held.into()], &ReadOptions::default(), &Unobserved)?;
    let (mut places, mut rejects) = (vec![], 0);
    let mut scratch = Scratch::new();
    // One thread reads a chunk at a time. Lines are counted from the first chunk of a source.
    for chunk in corpus.chunks(1 << 20) {
        corpus.scan(&chunk, &mut scratch, &mut |place, document| match document {
            Ok(document) => {
                println!("{}: {}", document.id.as_deref().unwrap_or("?"), document.text);
                places.push(place);
            }
            // A bad record is passed as a value with its reason, and the scan continues.
            Err(reject) => {
                println!("{}: {}", corpus.place_name(place.source, place.line), reject.reason);
                rejects += 1;
            }
        })?;
    }
    assert_eq!((places.len(), rejects), (3, 1));

    let again = corpus.read(&places[1], &mut scratch)?;
    assert_eq!(again.text, "is a rose");
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Box<dyn Error>> {
    main()
}
