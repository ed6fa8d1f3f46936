//! Tests of uploaded files: harmless files of people, and malicious files.

use std::io::Write;

use minwise_index::IndexSettings;
use serde_json::json;
use zip::write::SimpleFileOptions;

use crate::support::{Archive, text, wait, wide};

/// Returns a Word file with these paragraphs.
fn docx(title: &str, paragraphs: &[&str]) -> Vec<u8> {
    let body = paragraphs.join("</w:t></w:r></w:p><w:p><w:r><w:t>");
    let body = format!("<w:p><w:r><w:t>{body}</w:t></w:r></w:p>");
    package(&[
        (
            "[Content_Types].xml",
            r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#,
        ),
        (
            "_rels/.rels",
            r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>"#,
        ),
        (
            "docProps/core.xml",
            &format!(
                r#"<?xml version="1.0"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:creator>M. Lindqvist</dc:creator></cp:coreProperties>"#
            ),
        ),
        (
            "word/document.xml",
            &format!(
                r#"<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
            ),
        ),
    ])
}

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_word_file_and_a_web_page_are_added_checked_and_replaced() {
    wait(async {
        let archive = Archive::new();
        let (first, second) = (text(1, 60), text(2, 60));
        let page =
            format!("<!doctype html><title>Of marshes</title><p>{second}</p><script>alert(1)</script>");
        let files =
            [("grant é.docx", docx("Marshes", &[&first, &second])), ("page.html", page.clone().into_bytes())];
        let answer = archive.post_files("POST", "/api/v1/documents", &files, None).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        assert_eq!(answer.json()["added"], json!(["grant é.docx", "page.html"]));
        let stored = archive.get("/api/v1/documents/grant%20%C3%A9.docx").await.json();
        assert_eq!(
            (&stored["title"], &stored["metadata"]["author"]),
            (&json!("Marshes"), &json!("M. Lindqvist"))
        );
        assert_eq!(stored["text"], format!("{first}\n{second}\n"));
        assert_eq!(stored["marks"][1], json!({"offset": first.len() + 1, "place": {"paragraph": 2}}));
        assert_eq!(archive.get("/api/v1/documents/page.html").await.json()["title"], "Of marshes");

        let options = json!({"threshold": 0.9, "containment": 0.3});
        let checked = archive
            .post_files("POST", "/api/v1/check", &[("mine.html", page.clone().into_bytes())], Some(&options))
            .await
            .json();
        assert_eq!(
            (&checked["query"]["title"], &checked["matches"][0]["id"]),
            (&json!("Of marshes"), &json!("page.html"))
        );
        assert_eq!(checked["matches"][1]["id"], "grant é.docx");
        let plain = archive
            .post_files("POST", "/api/v1/check", &[("mine.txt", first.clone().into_bytes())], None)
            .await
            .json();
        assert_eq!(
            (&plain["query"]["title"], &plain["matches"][0]["id"]),
            (&json!("mine.txt"), &json!("grant é.docx"))
        );

        let replaced = archive
            .post_files(
                "PUT",
                "/api/v1/documents/page.html",
                &[("other.docx", docx("New", &["Short."]))],
                None,
            )
            .await;
        assert_eq!((replaced.status.as_u16(), &replaced.json()["text"]), (200, &json!("Short.\n")));
        let path = "/api/v1/documents/page.html";
        assert_eq!(
            archive.post_files("PUT", path, &files, None).await.problem(),
            (400, "bad_body".to_owned())
        );
        assert_eq!(
            archive.post_files("POST", "/api/v1/check", &[], None).await.problem(),
            (400, "bad_body".to_owned())
        );
    });
}

/// Returns a Word file that decompresses to 300 MiB of spaces.
fn bomb() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    zip.start_file("[Content_Types].xml", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"<Types/>").unwrap();
    zip.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..300 {
        zip.write_all(&zeros).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn files_that_mean_harm_are_rejected_by_name_and_the_others_added() {
    wait(async {
        let archive = Archive::new();
        let nested =
            format!("<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b \"{}\">]><a>&b;</a>", "x".repeat(1000));
        let files = [
            ("bomb.docx", bomb()),
            ("broken.docx", b"PK\x03\x04 and nothing more".to_vec()),
            ("picture.txt", b"\x89PNG\r\n\x1a\n".to_vec()),
            ("../../../etc/passwd", b"a path is a name and nothing else".to_vec()),
        ];
        let told = archive.post_files("POST", "/api/v1/documents", &files, None).await.json();
        assert_eq!(told["added"], json!(["../../../etc/passwd"]));
        let rejected: Vec<[&str; 2]> = told["rejected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| ["file", "reason"].map(|field| one[field].as_str().unwrap()))
            .collect();
        assert_eq!(
            rejected,
            [["bomb.docx", "damaged"], ["broken.docx", "damaged"], ["picture.txt", "only_pictures"]]
        );
        assert_eq!((&told["rejected"][0]["line"], &told["rejected"][0]["id"]), (&json!(1), &json!(null)));
        let nested = package(&[("word/document.xml", &nested), ("[Content_Types].xml", "<Types/>")]);
        for (name, bytes) in [("bomb.docx", bomb()), ("entities.docx", nested), ("..", b"a".to_vec())] {
            let answer = archive.post_files("POST", "/api/v1/check", &[(name, bytes)], None).await;
            let expected = if name == ".." { 200 } else { 422 };
            assert_eq!(answer.status.as_u16(), expected, "{name}: {}", answer.text());
        }
        let told =
            archive.post_files("POST", "/api/v1/documents", &[("..", b"a".to_vec())], None).await.json();
        let rejected = &told["rejected"][0];
        assert_eq!((&rejected["file"], &rejected["id"]), (&json!(".."), &json!("..")));
        assert_eq!((&rejected["line"], &rejected["reason"]), (&json!(1), &json!("bad_id")));
        let counts = archive.get("/metrics").await.text().to_owned();
        assert!(counts.contains(r#"minwise_files_refused_total{reason="only_pictures"} 1"#), "{counts}");
    });
}

#[test]
fn small_files_with_long_texts_are_not_unfolded_all_at_once() {
    wait(async {
        let archive = Archive::new();
        let long = docx("Long", &["word ".repeat(9 << 18).as_str()]);
        assert!(long.len() < 100_000, "they are small as they come");
        let files = [("a.docx", long.clone()), ("b.docx", long)];
        let told = archive.post_files("POST", "/api/v1/documents", &files, None).await.json();
        assert_eq!(told["counts"], json!({"added": 2, "replaced": 0, "rejected": 0}));
        assert_eq!(archive.get("/api/v1/stats").await.json()["sequence"], 2, "each is added by itself");
    });
}

#[test]
fn a_file_unfolds_to_no_more_than_a_body() {
    wait(async {
        let limits = wide().body_bytes(100_000);
        let archive = Archive::with(limits, None, &IndexSettings::default());
        let file = docx("Long", &["word ".repeat(30_000).as_str()]);
        let answer = archive.post_files("PUT", "/api/v1/documents/a", &[("a.docx", file)], None).await;
        assert_eq!(answer.problem(), (422, "rejected_document".to_owned()));
        assert!(answer.text().contains("over the limit of 100,000"), "{}", answer.text());
    });
}

#[test]
fn what_is_said_of_files_is_kept_with_them() {
    wait(async {
        let archive = Archive::new();
        let files = [("a.docx", docx("Marshes", &["One."])), ("b.txt", b"Two.".to_vec())];
        let about = json!({"a.docx": {"id": "2024-7", "title": "Mine", "metadata": {"year": 2024, "author": "A. Wu"}}});
        let told = archive.post_files("POST", "/api/v1/documents", &files, Some(&about)).await.json();
        assert_eq!(told["added"], json!(["2024-7", "b.txt"]));
        let document = archive.get("/api/v1/documents/2024-7").await.json();
        assert_eq!((&document["title"], &document["text"]), (&json!("Mine"), &json!("One.\n")));
        assert_eq!(document["metadata"], json!({"year": 2024, "author": "A. Wu"}));

        let path = "/api/v1/documents/c";
        let about = json!({"metadata": {"year": 2025}});
        let put = archive.post_files("PUT", path, &files[..1], Some(&about)).await.json();
        assert_eq!(put["title"], "Marshes");
        assert_eq!(put["metadata"], json!({"year": 2025, "author": "M. Lindqvist"}));

        for (method, path, wrong) in [
            ("POST", "/api/v1/documents", json!({"c.docx": {"title": "No such file"}})),
            ("POST", "/api/v1/documents", json!({"a.docx": {"titel": "typo"}})),
            ("PUT", path, json!({"id": "it is in the address"})),
        ] {
            let answer = archive.post_files(method, path, &files[..1], Some(&wrong)).await;
            assert_eq!(answer.problem(), (400, "bad_body".to_owned()), "{wrong}");
        }
    });
}

#[test]
fn forms_that_are_none_are_told_so() {
    wait(async {
        let archive = Archive::new();
        // A form without a file is an error, and not an empty list of files.
        for (method, path) in
            [("POST", "/api/v1/documents"), ("PUT", "/api/v1/documents/a"), ("POST", "/api/v1/check")]
        {
            for options in [None, Some(&json!({}))] {
                let answer = archive.post_files(method, path, &[], options).await;
                assert_eq!(answer.problem(), (400, "bad_body".to_owned()), "{method} {path}");
            }
        }
        for (kind, body) in [
            ("multipart/form-data", "a"),
            ("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"file\""),
            (
                "multipart/form-data; boundary=x",
                "--x\r\nContent-Disposition: form-data; name=\"else\"\r\n\r\na\r\n--x--\r\n",
            ),
        ] {
            let request = crate::support::request("POST", "/api/v1/check").header("content-type", kind);
            let answer = archive.send(request.body(body.into()).unwrap()).await;
            assert_eq!(answer.problem(), (400, "bad_body".to_owned()), "{kind} {body}");
        }
    });
}

#[test]
fn many_files_become_a_job() {
    wait(async {
        let archive = Archive::new();
        let names: Vec<String> = (0..12).map(|at| format!("{at}.docx")).collect();
        let mut files: Vec<(&str, Vec<u8>)> =
            names.iter().map(|name| (name.as_str(), docx(name, &[&text(1, 30)]))).collect();
        files[3].1 = b"PK\x03\x04".to_vec();
        let answer = archive.post_files("POST", "/api/v1/documents", &files, None).await;
        assert_eq!(answer.status, 202);
        let job = archive.ended(&answer.json()["job"]).await;
        assert_eq!(job["result"]["added"].as_array().unwrap().len(), 11);
        assert_eq!(job["result"]["rejected"][0]["file"], "3.docx");
        assert_eq!(
            (&job["stage"], &job["unit"], &job["total"]),
            (&json!("add"), &json!("steps"), &json!(12))
        );
    });
}
