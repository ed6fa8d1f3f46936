//! Tests that committed files are of the code as it is: the newest record and the plots of the concepts.

use std::path::{Path, PathBuf};

use minwise_lab::catalogue;
use minwise_lab::record;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn newest_record() -> PathBuf {
    let entries = fs_err::read_dir(root().join("lab/record")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).max().unwrap()
}

/// Records are made by hand, because a full run takes half an hour, so a definition could be newer than its record.
#[test]
fn the_newest_record_has_the_texts_and_settings_of_the_definitions() {
    let folder = newest_record();
    let records = record::read_all(&folder).unwrap();
    let all = catalogue::all().unwrap();
    let names = |names: Vec<&str>| names.join("\n");
    assert_eq!(
        names(records.iter().map(|record| record.name.as_str()).collect()),
        names(all.iter().map(|experiment| experiment.name).collect())
    );
    for (record, experiment) in records.iter().zip(&all) {
        let definition = &experiment.definition;
        let name = experiment.name;
        assert_eq!(record.about, definition.about.trim(), "{name}");
        assert_eq!(record.settings, serde_json::to_value(definition.settings(false)).unwrap(), "{name}");
        assert!(record.is_expected && !record.quick && record.skipped.is_none(), "{name}");
    }
    let index = fs_err::read_to_string(folder.join("README.md")).unwrap();
    assert!(index.contains(", a release build, "), "the times of a record are those of a release build");
}

/// `cargo x docs --check` compares these plots with the code.
#[test]
fn plots_of_the_concepts_explain_their_bars() {
    let folder = root().join("docs/concepts/plots");
    let mut with_bars = 0;
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let svg = fs_err::read_to_string(&path).unwrap();
        if svg.contains("<path class=\"mark s") {
            let notes: String = svg.lines().filter(|line| line.contains("class=\"note\"")).collect();
            assert!(notes.to_lowercase().contains("bars"), "{}", path.display());
            with_bars += 1;
        }
    }
    assert!(with_bars > 5, "{with_bars}");
}
