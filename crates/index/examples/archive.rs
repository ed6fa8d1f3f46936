//! Creates an archive, adds documents, checks a new text against them, removes a document, and opens the archive again.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use minwise_index::{CheckOptions, Index, IndexSettings, Listing, NewDocument, Query, Unobserved};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("archive");
    // Settings cannot change after an archive is created.
    let index = Index::create(&path, &IndexSettings::default())?;

    let mut grant = NewDocument::new(
        "2019-17",
        "The applicants ask for a grant to study the song of the reed warbler along the lower Danube.",
    )
    .title("Reed warblers");
    grant.metadata.insert("institute".to_owned(), "ornithology".into());
    let report =
        NewDocument::new("2020-03", "This report lists the bridges that were repaired in the last year.");
    // The documents of one call are added together or not at all, and are on disk when the call returns.
    let added = index.add_now(&[grant, report])?;
    println!("{} new, {} replaced", added.new, added.replaced);

    let submission =
        "In spring we ask for a grant to study the song of the reed warbler along the lower Danube.";
    let answer = index.check(&Query::new(submission), &CheckOptions::default().threshold(0.4))?;
    for found in &answer.matches {
        println!("{}: similarity {:.2}", found.id, found.similarity);
        println!("  {:.0} % of the submission is in it", 100.0 * found.containment_of_query);
        for passage in &found.passages {
            println!("  shared: {}", &submission[passage.query.clone()]);
        }
    }
    assert_eq!(answer.matches.len(), 1);

    index.remove(&["2020-03"])?;
    // Dropping the index releases the folder, so that another process can open it.
    drop(index);

    let index = Index::open(&path)?;
    for entry in index.list(&Listing::new().limit(10))?.entries {
        println!("{}: {} characters", entry.id, entry.characters);
    }
    let checked = index.check_integrity(&Unobserved)?;
    assert_eq!((checked.documents, checked.found()), (1, 0));
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Box<dyn Error>> {
    main()
}
