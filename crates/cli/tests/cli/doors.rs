//! Tests that the command and the API of the server use the same names and give the same answers.

use serde_json::{Map, Value, json};

use crate::serve::Serving;
use crate::support::{Desk, prose};

/// Returns a desk with an archive of applications that share a passage and were filed on three days, and a submission
/// with the same passage.
fn archive() -> Desk {
    let desk = Desk::new();
    let common = prose(1, 40);
    let lines: Vec<String> = [
        ("early", "2026-02-28T23:59:59Z", 11),
        ("on", "2026-03-01T12:00:00Z", 12),
        ("late", "2026-03-02T00:00:00Z", 13),
    ]
    .iter()
    .map(|(id, filed, seed)| {
        json!({"id": id, "text": format!("{common} {}", prose(*seed, 60)), "filed": filed}).to_string()
    })
    .collect();
    desk.write("in.jsonl", lines.join("\n"));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in.jsonl --meta-fields filed -q").exit(0);
    desk.write("new.txt", submission());
    desk
}

fn submission() -> String {
    format!("{} “{}” {}", prose(1, 40), prose(12, 30), prose(14, 60))
}

/// Converts options of the command to fields of the API: the same names, with `_` for `-`.
fn options(arguments: &str) -> Map<String, Value> {
    let mut options = Map::new();
    let mut words = arguments.split_whitespace().peekable();
    while let Some(option) = words.next() {
        let name = option.trim_start_matches('-').replace('-', "_");
        let value = match words.next_if(|word| !word.starts_with("--")) {
            None => Value::from(true),
            Some(word) if name == "exclude" => json!([word]),
            Some(word) if matches!(name.as_str(), "since" | "until" | "date_field" | "weight") => word.into(),
            Some("off") => "off".into(),
            Some(word) => serde_json::from_str(word).unwrap(),
        };
        options.insert(name, value);
    }
    options
}

/// Returns the answers of the command and of the API to a check with these arguments.
fn both(desk: &Desk, all: &[&str]) -> Vec<(Value, Value)> {
    let of_command: Vec<Value> = all
        .iter()
        .map(|arguments| {
            let run = desk.run(&format!("check new.txt --index archive --format jsonl -q {arguments}"));
            serde_json::from_str(run.text()).unwrap()
        })
        .collect();
    let serving = Serving::new(desk, "serve --index archive --listen 127.0.0.1:0 --rate off -q");
    let of_server = all.iter().map(|arguments| {
        let mut body = options(arguments);
        body.insert("text".to_owned(), submission().into());
        let (status, answer) = serving.ask("POST /api/v1/check", &Value::from(body).to_string());
        assert_eq!(status, 200, "{arguments}: {answer}");
        serde_json::from_str(&answer).unwrap()
    });
    of_command.into_iter().zip(of_server).collect()
}

fn ids(answer: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> =
        answer["matches"].as_array().unwrap().iter().map(|found| found["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// The two answers are equal, except for fields that only one side has: the command reports the name of the file, and
/// the server repeats the text and measures the time.
#[test]
fn a_check_has_one_answer_at_both_doors() {
    let desk = archive();
    let all = [
        "",
        "--threshold 0 --containment 0.1 --top 2",
        "--candidates 1",
        "--max-df 2",
        "--max-df 0.5 --ignore-quotations --ignore-references",
        "--passage 30 --weight tf-idf,smooth",
        "--passage off --containment 0.9 --weight none",
        "--passages 0",
        "--date-field filed --since 2026-03-01 --exclude filed",
    ];
    for ((command, mut server), arguments) in both(&desk, &all).into_iter().zip(all) {
        assert_eq!(command["query"]["id"], "new.txt");
        assert_eq!(server["query"]["text"], submission());
        assert!(server["elapsed_ms"].is_number());
        server.as_object_mut().unwrap().remove("elapsed_ms");
        server["query"]["text"] = Value::Null;
        server["query"]["id"] = "new.txt".into();
        assert_eq!(command, server, "{arguments}");
        if arguments.is_empty() {
            let found = &command["matches"][0];
            assert_eq!(found["reasons"], json!({"similarity": false, "containment": true, "passage": true}));
            assert!(
                found["containment_of_query"].is_number() && found["containment_of_document"].is_number()
            );
            assert_eq!((&command["compared"], &command["not_compared"]), (&json!(3), &json!(0)));
        }
    }
}

/// `compare` and `POST /pair` use the same name for each quantity, and give the same value for the same two texts.
#[test]
fn a_comparison_has_one_answer_at_both_doors() {
    let desk = archive();
    let [left, right] = [submission(), format!("{} {} {}", prose(16, 30), prose(12, 30), prose(1, 40))];
    desk.write("left.txt", &left);
    desk.write("right.txt", &right);
    let run = desk.run("compare left.txt right.txt --format jsonl --passages 1000");
    let command: Value = serde_json::from_str(run.text()).unwrap();
    let serving = Serving::new(&desk, "serve --index archive --listen 127.0.0.1:0 --rate off -q");
    let body = json!({"left": {"text": left}, "right": {"text": right}}).to_string();
    let (status, answer) = serving.ask("POST /api/v1/pair", &body);
    assert_eq!(status, 200, "{answer}");
    let server: Value = serde_json::from_str(&answer).unwrap();
    for quantity in ["similarity", "containment_of_left", "containment_of_right"] {
        assert!(server[quantity].as_f64().unwrap() > 0.1, "{quantity}: {answer}");
        assert_eq!(command[quantity], server[quantity], "{quantity}");
    }
    // The command sorts passages by length; the server sorts them by their place in the left text.
    let passages = |answer: &Value| {
        let mut passages: Vec<Value> = answer["passages"].as_array().unwrap().clone();
        passages.sort_by_key(|passage| passage["left"][0].as_u64().unwrap());
        let shared = |passage: Value| json!({"left": passage["left"], "right": passage["right"], "tokens": passage["tokens"]});
        passages.into_iter().map(shared).collect::<Vec<_>>()
    };
    assert_eq!(passages(&command), passages(&server));
    assert_eq!(passages(&server).len(), 2, "{answer}");
}

#[test]
fn both_ends_of_a_window_are_inclusive_at_both_doors() {
    let desk = archive();
    let cases: [(&str, &[&str]); 7] = [
        ("--until 2026-03-01", &["early", "on"]),
        ("--until 2026-02-28", &["early"]),
        ("--since 2026-03-01", &["late", "on"]),
        ("--since 2026-03-01 --until 2026-03-01", &["on"]),
        ("--until 2026-02", &["early"]),
        ("--until 2026", &["early", "late", "on"]),
        ("--until 2025", &[]),
    ];
    let all: Vec<String> = cases.iter().map(|(window, _)| format!("--date-field filed {window}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for ((command, server), (window, expected)) in both(&desk, &all).iter().zip(cases) {
        assert_eq!((ids(command), ids(server)), (expected.to_vec(), expected.to_vec()), "{window}");
    }
}

#[test]
fn both_doors_refuse_the_same_options() {
    let desk = archive();
    let wrong = [
        ("--threshold 1.5", "1.5", "a number from 0 to 1"),
        ("--containment -0.1", "-0.1", "a number from 0 to 1"),
        ("--until soon", "soon", "a date such as `2026-03-01`"),
        ("--since 2026-02-30", "2026-02-30", "a date such as `2026-03-01`"),
        ("--since 2026-03-05 --until 2026-03-01", "2026-03-01", "a date on or after `since`"),
    ];
    for (arguments, given, expected) in wrong {
        let run = desk.run(&format!("check new.txt --index archive {arguments}")).exit(2);
        assert!(run.err.contains(&format!("`{given}` is not {expected}")), "{run}");
    }
    let serving = Serving::new(&desk, "serve --index archive --listen 127.0.0.1:0 -q");
    for (arguments, given, expected) in wrong {
        let mut body = options(arguments);
        body.insert("text".to_owned(), submission().into());
        let (status, answer) = serving.ask("POST /api/v1/check", &Value::from(body).to_string());
        assert_eq!(status, 422, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let detail = answer["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("cannot be `{given}`: it must be {expected}")), "{detail}");
    }
}

/// `index list` and `GET /documents` write the same objects, and so do `index show` and `GET /documents/{id}`.
#[test]
fn documents_have_one_form_at_both_doors() {
    let desk = archive();
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let run = desk.run("index list archive --newest --format jsonl").exit(0);
    let listed: Vec<Value> = run.text().lines().map(read).collect();
    let shown = read(desk.run("index show archive on --format jsonl").exit(0).text());
    let serving = Serving::new(&desk, "serve --index archive --listen 127.0.0.1:0 -q");
    let (_, page) = serving.ask("GET /api/v1/documents", "");
    assert_eq!(Value::from(listed.clone()), read(&page)["documents"]);
    let (_, document) = serving.ask("GET /api/v1/documents/on", "");
    assert_eq!(shown, read(&document));
    let added = listed[0]["added"].as_str().unwrap();
    assert!(added.len() == "2026-03-01T09:30:00Z".len() && added.ends_with('Z'), "{added}");
    assert!(["bytes", "characters", "tokens", "shingles"].iter().all(|field| listed[0][field].is_number()));
}
