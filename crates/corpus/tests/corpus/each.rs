//! Tests of outputs of one file per input.

use minwise_corpus::{
    Annotation, OutputFolder, OutputVerdict, Overwrite, TableCompression, annotate_each, copy_each,
    refuse_same_names,
};

use crate::support::{Folder, gzip, places, scan};

#[test]
fn names_are_those_of_the_inputs() {
    let folder = Folder::new();
    folder.write("data/a.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n");
    folder.write("data/x/b.jsonl.gz", gzip(b"{\"text\": \"c\"}"));
    folder.write("data/x/none.jsonl", "{\"text\": \"d\"}\n");
    let corpus = folder.open(&["data"]).unwrap();
    refuse_same_names(&corpus, None).unwrap();
    let kept = places(&scan(&corpus, 9));
    let out = OutputFolder::create(&folder.path("out"), Overwrite::Refuse).unwrap();
    copy_each(&corpus, kept[1..3].iter().copied(), OutputVerdict::Kept, None, &out, TableCompression::Keep)
        .unwrap();
    out.finish().unwrap();
    assert_eq!(folder.text("out/a.jsonl"), "{\"text\": \"b\"}\n");
    assert_eq!(folder.text("out/x/none.jsonl"), "");
    let packed = folder.open(&["out/x/b.jsonl.gz"]).unwrap();
    assert_eq!(scan(&packed, 9)[0].text(), "c");
    assert!(folder.bytes("out/x/b.jsonl.gz").starts_with(&[0x1f, 0x8b]), "compressed as its name says");

    let out = OutputFolder::create(&folder.path("annotated"), Overwrite::Refuse).unwrap();
    let annotated = kept.iter().map(|&place| (place, Annotation::new("k", None)));
    annotate_each(&corpus, annotated, None, &out, TableCompression::Keep).unwrap();
    out.finish().unwrap();
    assert!(
        folder.text("annotated/x/none.jsonl").starts_with("{\"text\": \"d\",\"minwise\":{\"cluster\":\"k\"")
    );
}

#[test]
fn inputs_of_one_name_are_refused() {
    let folder = Folder::new();
    folder.write("a/p.jsonl", "{\"text\": \"a\"}\n");
    folder.write("b/p.jsonl", "{\"text\": \"b\"}\n");
    let corpus = folder.open(&["a/p.jsonl", "b/p.jsonl"]).unwrap();
    let error = refuse_same_names(&corpus, None).unwrap_err();
    assert!(error.to_string().ends_with("b/p.jsonl` would both be written as `p.jsonl`"), "{error}");
    refuse_same_names(&folder.open(&["a/p.jsonl"]).unwrap(), None).unwrap();
}
