//! Tests of exports, imports and merges.

use std::io::BufReader;

use fs_err as fs;
use minwise_index::{
    CheckOptions, ErrorKind, Index, IndexSettings, Listing, Mark, MarkedPlace, NewDocument, Query, Texts,
    Unobserved,
};
use serde_json::json;

use crate::support::{create, document, text};

fn some() -> Vec<NewDocument> {
    let mut documents: Vec<NewDocument> = (0..40).map(|n| document(&format!("d{n}"), &text(n, 90))).collect();
    documents[3].title = Some("A <title>".to_owned());
    documents[3].metadata.insert("year".to_owned(), json!(2020));
    documents[3].marks = vec![Mark::new(10, MarkedPlace::Page(2))];
    documents.push(document("wordless", "!?"));
    documents
}

fn exported(index: &Index) -> Vec<u8> {
    let mut out = vec![];
    index.export(&mut out, &Unobserved).unwrap();
    out
}

#[test]
fn an_exported_index_can_be_made_again() {
    for texts in [Texts::Kept, Texts::LeftOut] {
        for bits in [None, Some("2".parse().unwrap())] {
            let folder = tempfile::tempdir().unwrap();
            let settings = IndexSettings::default().texts(texts).bits(bits);
            let index = Index::create(folder.path().join("a"), &settings).unwrap();
            index.add(&some(), 77, 2).unwrap();
            let lines = exported(&index);
            let again = Index::create(folder.path().join("b"), &settings).unwrap();
            let imported = again.import(&mut BufReader::new(&lines[..]), 2, &Unobserved).unwrap();
            assert_eq!(imported.documents, 41);
            assert_eq!(exported(&again), lines);
            assert_eq!(again.check_integrity(&Unobserved).unwrap().findings, []);
            assert_eq!(again.get("d3").unwrap(), index.get("d3").unwrap());
            let query = text(7, 90);
            let ask = |index: &Index| index.check(&Query::new(&query), &CheckOptions::default()).unwrap();
            assert_eq!(ask(&again).matches, ask(&index).matches);
            assert_eq!(ask(&again).matches[0].id, "d7");
        }
    }
}

#[test]
fn lines_that_are_no_documents_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add(&some(), 0, 1).unwrap();
    let good = String::from_utf8(exported(&index)).unwrap();
    let first = good.lines().next().unwrap();
    for (lines, line) in [
        ("{}\n".to_owned(), 1),
        ("no json\n".to_owned(), 1),
        (first.replace("\"minwise_index\":1", "\"minwise_index\":9"), 1),
        (format!("{first}\n{{\"id\": 5}}\n"), 2),
        (format!("{first}\n{{\"id\": \"a\"}}\n"), 2),
        (format!("{first}\n{{\"id\": \"a\", \"text\": \"t\"}}\n{{\"id\": \"\", \"text\": \"t\"}}\n"), 3),
    ] {
        let other = tempfile::tempdir().unwrap();
        let error =
            create(other.path()).import(&mut BufReader::new(lines.as_bytes()), 1, &Unobserved).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Import { line: found, .. } if *found == line), "{error}");
    }
}

// Documents that were added at different times keep their times, but do not become separate changes.
#[test]
fn times_are_kept_and_make_no_changes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for texts in [Texts::Kept, Texts::LeftOut] {
        let of = |name: &str| {
            let settings = IndexSettings::default().texts(texts);
            Index::create(folder.path().join(format!("{name} {texts:?}")), &settings).unwrap()
        };
        let (from, imported, merged) = (of("a"), of("b"), of("c"));
        for (document, added) in some().chunks(4).zip([9, 7, 7, 8].into_iter().cycle()) {
            from.add(document, added, 1).unwrap();
        }
        let lines = exported(&from);
        imported.import(&mut BufReader::new(&lines[..]), 2, &Unobserved).unwrap();
        merged.merge(&[&from], 2, &Unobserved).unwrap();
        for index in [imported, merged] {
            assert_eq!(exported(&index), lines);
            assert_eq!(index.statistics().unwrap().changes, 1);
        }
    }
}

/// An export of version 1 as it was first written, which every later version must read.
#[test]
fn an_export_of_version_1_is_read() {
    let lines = concat!(
        r#"{"minwise_index":1,"unicode":"16.0.0","spec":"nfkc+casefold / words:5 / minhash:128 / seed:1","#,
        r#""bands":"42","rows":"3","passage":"25","bits":"8","texts":"kept"}"#,
        "\n",
        r#"{"id":"a","title":"A","metadata":{"year":2020},"added":77,"marks":[{"offset":2,"place":{"page":2}}],"#,
        r#""text":"some words of a text"}"#,
        "\n",
    );
    let first = lines.lines().next().unwrap();
    assert_eq!(Index::settings_of_export(first).unwrap(), IndexSettings::default());
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.import(&mut BufReader::new(lines.as_bytes()), 1, &Unobserved).unwrap();
    let found = index.get("a").unwrap().unwrap();
    assert_eq!((found.entry.added, found.text.as_deref()), (77, Some("some words of a text")));
    assert_eq!(found.marks, [Mark::new(2, MarkedPlace::Page(2))]);
    let later = first.replace("\"minwise_index\":1", "\"minwise_index\":2");
    let error = Index::settings_of_export(&later).unwrap_err().to_string();
    assert!(error.contains("it is an export of version 2, and this program reads up to 1"), "{error}");
}

#[test]
fn what_is_kept_in_place_of_a_text_has_to_be_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let settings = IndexSettings::default().texts(Texts::LeftOut);
    let of = |name: &str| Index::create(folder.path().join(name), &settings).unwrap();
    let index = of("a");
    index.add(&some(), 0, 1).unwrap();
    let lines = String::from_utf8(exported(&index)).unwrap();
    let other = of("b");
    let with = |field: &str, value: serde_json::Value| {
        let spoiled = lines.lines().enumerate().map(|(at, line)| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            if at == 2 {
                line["in_place_of_text"][field] = value.clone();
            }
            format!("{line}\n")
        });
        let spoiled: String = spoiled.collect();
        other.import(&mut BufReader::new(spoiled.as_bytes()), 1, &Unobserved).unwrap_err().to_string()
    };
    let of_line_2 = |field: &str| {
        let line: serde_json::Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
        line["in_place_of_text"][field].clone()
    };
    for (field, value, says) in [
        ("sketch", json!("AAAA"), "its sketch has 3 bytes, and one of this archive has 128"),
        ("sketch", of_line_2("sketch"), "its sketch is not that of its shingles"),
        ("set", json!("AAAA"), "what it has in place of a text cannot be read"),
        ("set", of_line_2("set"), "its sketch is not that of its shingles"),
        (
            "wordless",
            json!("AAAAAAAAAAAAAAAAAAAAAA=="),
            "it has to have shingles, or the key of a text without words",
        ),
    ] {
        let error = with(field, value);
        assert!(
            error.starts_with("line 3 is not a document of an exported archive") && error.contains(says),
            "{error}"
        );
    }
    assert_eq!(other.statistics().unwrap().documents, 0);
}

#[test]
fn indexes_of_the_same_settings_merge() {
    let folder = tempfile::tempdir().unwrap();
    let of =
        |name: &str, settings: &IndexSettings| Index::create(folder.path().join(name), settings).unwrap();
    let settings = IndexSettings::default();
    let (a, b, c) = (of("a", &settings), of("b", &settings), of("c", &settings));
    a.add(&some(), 1, 1).unwrap();
    b.add(&[document("d3", "quite another text, of these words"), document("new", &text(500, 50))], 2, 1)
        .unwrap();
    let merged = c.merge(&[&a, &b], 2, &Unobserved).unwrap();
    assert_eq!((merged.documents, merged.replaced), (42, 1));
    assert_eq!(c.get("d3").unwrap().unwrap().text.unwrap(), "quite another text, of these words");
    assert_eq!(c.get("d4").unwrap(), a.get("d4").unwrap());
    assert_eq!(c.check_integrity(&Unobserved).unwrap().findings, []);

    let other = of("d", &settings.passage(30));
    let error = c.merge(&[&other], 1, &Unobserved).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Mismatch { field: "passage", .. }), "{error}");
}

#[test]
fn a_list_has_pages_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add(&some(), 0, 1).unwrap();
    index.remove(&["d5"]).unwrap();
    for newest_first in [false, true] {
        let (mut ids, mut after) = (vec![], None);
        loop {
            let page = index.list(&Listing::new().after(after).limit(7).newest_first(newest_first)).unwrap();
            ids.extend(page.entries.iter().map(|entry| entry.id.clone()));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if newest_first {
            ids.reverse();
        }
        assert_eq!(ids, index.ids().unwrap());
        assert_eq!(ids.len(), 40);
    }
    let found = index.list(&Listing::new().search("TITLE").limit(9)).unwrap();
    assert_eq!(found.entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["d3"]);
    assert_eq!(index.list(&Listing::new().search("2020").limit(9)).unwrap().entries.len(), 1);
}

#[test]
fn an_index_that_could_not_be_filled_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let settings = IndexSettings::default();
    let (new, empty) = (folder.path().join("new"), folder.path().join("empty"));
    fs::create_dir(&empty).unwrap();
    for path in [&new, &empty] {
        let half = |index: &Index| -> minwise_index::Result<()> {
            index.add(&some(), 0, 1)?;
            // A process that is killed at this point leaves a folder that is no index and that the next
            // attempt can use.
            assert!(!path.join("header").exists());
            Err(ErrorKind::Interrupted.into())
        };
        let failed = Index::create_with(path, &settings, half).unwrap_err();
        assert!(matches!(failed.kind(), ErrorKind::Interrupted));
        assert_eq!(path.exists(), path == &empty);
    }
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
    let fill = |index: &Index| index.add(&some(), 0, 1);
    let (index, added) = Index::create_with(&empty, &settings, fill).unwrap();
    assert_eq!(added.new, 41);
    drop(index);
    let index = Index::open(&empty).unwrap();
    assert_eq!(index.statistics().unwrap().documents, 41);
    drop(index);
    assert_eq!(Index::examine(&empty, &Unobserved).unwrap().found(), 0);
    let never = |_: &Index| -> minwise_index::Result<()> { unreachable!("there is an index") };
    assert!(matches!(
        Index::create_with(&empty, &settings, never).unwrap_err().kind(),
        ErrorKind::Exists { .. }
    ));
}

#[test]
fn what_was_left_of_an_index_that_was_being_filled_is_cleared_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let copy = folder.path().join("copy");
    let fill = |index: &Index| -> minwise_index::Result<()> {
        index.add(&some(), 0, 1)?;
        // The copy has the files that a killed process leaves.
        fs::create_dir_all(copy.join("store")).unwrap();
        for name in ["lock", "acknowledged"] {
            fs::copy(path.join(name), copy.join(name)).unwrap();
        }
        Ok(())
    };
    drop(Index::create_with(&path, &IndexSettings::default(), fill).unwrap());
    assert!(matches!(Index::open(&copy).unwrap_err().kind(), ErrorKind::NotAnIndex { .. }));
    Index::create(&copy, &IndexSettings::default()).unwrap();
}
