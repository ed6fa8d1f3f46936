//! Tests of long texts, which are not loaded. A long text must be the same whole and piece by piece.

use minwise_corpus::{
    Corpus, Document, DocumentText, Encoding, Error, LongText, ReadOptions, RejectReason, Scratch,
    TableCompression,
};

use crate::support::{Folder, Record, assert_read_again, gzip, places, scan};

/// Size of a text that is certainly long, in bytes.
const LONG: usize = 9 << 20;

fn long(seed: &str) -> String {
    let sentence = format!("{seed} naïve \"quoted\" 中文\t😀 and so on.\n");
    sentence.repeat(LONG / sentence.len() + 1)
}

fn line(id: &str, text: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "lang": "en", "text": text }))
}

fn options(text_fields: &[&str]) -> ReadOptions {
    let text_fields = text_fields.iter().map(|field| field.parse().unwrap()).collect();
    ReadOptions::default().text_fields(text_fields)
}

/// Returns the long texts, each joined from its pieces, by the ids of their documents.
fn unloaded(corpus: &Corpus) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut add = |Document { id, text, .. }: Document<'_, DocumentText<'_>>| {
        if let DocumentText::Long(text) = text {
            found.push((id.unwrap().into_owned(), pieces(&text)));
        }
    };
    let mut places = vec![];
    for chunk in corpus.chunks(1 << 20) {
        corpus
            .scan_long(&chunk, &mut Scratch::new(), &mut |place, document| {
                if let Ok(document) = document {
                    places.push(place);
                    add(document);
                }
            })
            .unwrap();
    }
    let scanned = std::mem::take(&mut found);
    let mut add = |Document { id, text, .. }: Document<'_, DocumentText<'_>>| {
        if let DocumentText::Long(text) = text {
            found.push((id.unwrap().into_owned(), pieces(&text)));
        }
    };
    for place in places {
        add(corpus.read_long(&place, &mut Scratch::new()).unwrap());
    }
    assert!(scanned == found, "what is read again is what was scanned");
    found
}

fn pieces(text: &LongText) -> String {
    let (mut whole, mut most) = (String::new(), 0);
    text.for_each::<Error>(&mut |piece| {
        whole.push_str(piece);
        most = most.max(piece.len());
        Ok(())
    })
    .unwrap();
    assert!(most <= 1 << 20, "a piece of {most} bytes");
    assert_eq!(text.characters(), whole.chars().count() as u64);
    whole
}

#[test]
fn long_lines_are_read_piece_by_piece() {
    let folder = Folder::new();
    let texts = [("a", "short".to_owned()), ("b", long("b")), ("c", long("c")), ("d", "end".to_owned())];
    let lines: String = texts.iter().map(|(id, text)| line(id, text)).collect();
    folder.write("in.jsonl", lines.trim_end());
    folder.write("in.jsonl.gz", gzip(lines.as_bytes()));
    for file in ["in.jsonl", "in.jsonl.gz"] {
        let corpus = folder.open(&[file]).unwrap();
        let records = scan(&corpus, 1 << 20);
        let found: Vec<(&str, &str)> =
            records.iter().map(|record| (record.maybe_id().unwrap(), record.text())).collect();
        assert!(found == texts.each_ref().map(|(id, text)| (*id, &**text)));
        assert_eq!(records.iter().map(|record| record.line).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_read_again(&corpus, &records);
        let long = unloaded(&corpus);
        assert!(long.iter().map(|(id, text)| (&**id, text)).eq([("b", &texts[1].1), ("c", &texts[2].1)]));
        let out = format!("{file}.out");
        folder.copy(&corpus, &places(&records), &out, TableCompression::default());
        assert!(folder.text(&out).trim_end() == lines.trim_end());
    }
}

#[test]
fn fields_of_a_long_line_are_joined() {
    let folder = Folder::new();
    let (title, body) = (long("title"), long("body"));
    let text = [
        serde_json::json!({ "title": "t", "body": body, "id": "short and long" }),
        serde_json::json!({ "body": body, "title": title, "id": "both", "note": long("note") }),
        serde_json::json!({ "body": "b", "other": body, "id": "neither" }),
        serde_json::json!({ "body": body, "title": null, "id": "one" }),
    ];
    folder.write("in.jsonl", text.map(|line| format!("{line}\n")).concat());
    let corpus = folder.open_with(&["in.jsonl"], &options(&["title", "body"])).unwrap();
    let records = scan(&corpus, 1 << 20);
    let found: Vec<&str> = records.iter().map(Record::text).collect();
    let expected = [format!("t\n{body}"), format!("{title}\n{body}"), "\nb".to_owned(), format!("\n{body}")];
    assert!(found == expected);
    let ids: Vec<String> = unloaded(&corpus).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["short and long", "both", "one"]);
}

/// If a line has another long string that is needed, here its id, the line is loaded and read like any other.
#[test]
fn a_long_id_is_an_id() {
    let folder = Folder::new();
    let id = long("id");
    folder.write("in.jsonl", line(&id, "text"));
    let corpus = folder.open(&["in.jsonl"]).unwrap();
    let records = scan(&corpus, 1 << 20);
    assert!(records[0].maybe_id() == Some(&id) && records[0].text() == "text");
    assert_read_again(&corpus, &records);
    assert!(unloaded(&corpus).is_empty());
}

/// A line is also loaded if a long string lies within a wanted value.
#[test]
fn wanted_values_beside_a_long_text_are_whole() {
    let folder = Folder::new();
    let (text, html) = (long("text"), "<p>".repeat(1 << 20));
    let line = serde_json::json!({ "id": "a", "text": text, "source": { "html": html } });
    let rejected = serde_json::json!({ "id": html, "text": 1, "note": text });
    folder.write("in.jsonl", format!("{line}\n{rejected}\n"));
    let value_fields = vec!["source".parse().unwrap()];
    let corpus = folder.open_with(&["in.jsonl"], &ReadOptions::default().value_fields(value_fields)).unwrap();
    let mut found = vec![];
    for chunk in corpus.chunks(1 << 20) {
        corpus
            .scan(&chunk, &mut Scratch::new(), &mut |_, document| {
                found.push(match document {
                    Ok(document) => document.values[0].as_deref().map(str::to_owned),
                    Err(reject) => reject.id,
                });
            })
            .unwrap();
    }
    assert!(found == [Some(format!("{{\"html\":\"{html}\"}}")), Some(html)]);
}

#[test]
fn faults_of_long_lines_are_rejected() {
    let folder = Folder::new();
    let text = long("x");
    let sound = line("a", &text);
    let repaired = sound.replacen("naïve", "na\\ud800ve", 1);
    let lines: [(&str, Vec<u8>); 8] = [
        ("ok", sound.clone().into()),
        ("ok", repaired.into()),
        ("invalid_json", sound.replacen("}\n", "} x\n", 1).into()),
        ("invalid_json", sound.replacen("naïve", "na\\xve", 1).into()),
        ("missing_field", sound.replacen("\"text\"", "\"body\"", 1).into()),
        ("duplicate_field", sound.replacen("\"lang\"", "\"text\"", 1).into()),
        ("wrong_type", sound.replacen("\"a\"", "[]", 1).into()),
        ("invalid_utf8", [sound.trim_end().as_bytes(), b"\xff\n"].concat()),
    ];
    folder.write("in.jsonl", lines.each_ref().map(|(_, line)| line.as_slice()).concat());
    let corpus = folder.open(&["in.jsonl"]).unwrap();
    // The larger chunk loads all lines, because they end in the chunk in which they begin. The records must be the
    // same.
    let loaded = scan(&corpus, 1 << 30);
    let records = scan(&corpus, 1 << 20);
    assert_eq!(records.iter().map(Record::code).collect::<Vec<_>>(), lines.each_ref().map(|(code, _)| *code));
    assert!(loaded == records);
    assert!(records[1].text().contains("na\u{fffd}ve"));
    let reason = &records[2].reject().reason;
    assert!(
        matches!(reason, RejectReason::InvalidJson { column, .. } if *column == sound.len() as u64 + 1),
        "{reason}"
    );
}

#[test]
fn long_texts_are_read_piece_by_piece() {
    let folder = Folder::new();
    let text = long("file");
    folder.write("texts/plain.txt", &text);
    folder.write("texts/marked.txt", format!("\u{feff}{text}"));
    folder.write("texts/short.txt", "short");
    folder.write("texts/wide.txt", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    folder.write("texts/packed.txt.gz", gzip(text.as_bytes()));
    folder.write("texts/page.html", format!("<p>{text}"));
    let corpus = folder.open(&["texts"]).unwrap();
    let records = scan(&corpus, 1 << 20);
    assert_read_again(&corpus, &records);
    let long = unloaded(&corpus);
    let names: Vec<&str> = long.iter().map(|(id, _)| &**id).collect();
    assert_eq!(names, ["marked.txt", "plain.txt"]);
    assert!(long.iter().all(|(_, found)| *found == text));

    // A file that is not UTF-8 is loaded.
    folder.write("latin1/a.txt", b"na\xefve ".repeat(LONG / 6 + 1));
    let options = |encoding| ReadOptions::default().encoding(encoding);
    let latin1 = folder.open_with(&["latin1"], &options(Encoding::Latin1)).unwrap();
    assert!(unloaded(&latin1).is_empty());
    assert!(scan(&latin1, 1 << 20)[0].text().starts_with("naïve naïve"));
    let utf8 = folder.open_with(&["latin1"], &options(Encoding::Utf8)).unwrap();
    assert_eq!(scan(&utf8, 1 << 20)[0].reject().reason, RejectReason::InvalidUtf8 { at: 2 });
}

/// If a text has become shorter between the scan and the reading, the result is an error and not another text.
#[test]
fn a_long_text_that_changes_is_an_error() {
    let folder = Folder::new();
    folder.write("in.jsonl", line("a", &long("a")));
    let corpus = folder.open(&["in.jsonl"]).unwrap();
    let place = scan(&corpus, 1 << 20)[0].place;
    let mut scratch = Scratch::new();
    let read = corpus.read_long(&place, &mut scratch).unwrap();
    folder.write("in.jsonl", "{}\n");
    let DocumentText::Long(text) = read.text else { panic!("it is long") };
    assert!(text.whole().unwrap_err().to_string().contains("changed"));
}
