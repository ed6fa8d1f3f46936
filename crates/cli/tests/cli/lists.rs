//! Tests texts in lists: `--text-field messages[].content`.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::support::{Desk, prose, records, with_word};

/// Returns conversations with their ids. `b` is nearly equal to `a`; `e` has the text of `a` in one message; `f` has
/// the text of `d`.
fn chats() -> Vec<(&'static str, Vec<String>)> {
    let [question, answer] = [prose(1, 40), prose(2, 80)];
    vec![
        ("a", vec![question.clone(), answer.clone()]),
        ("b", vec![question.clone(), with_word(&answer, 40, "changed")]),
        ("c", vec![question.clone(), prose(3, 80)]),
        ("d", vec!["天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。".repeat(3)]),
        ("e", vec![format!("{question}\n\n{answer}")]),
        ("f", vec!["天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。".repeat(3), String::new()]),
        ("g", vec![]),
    ]
}

fn chat_lines() -> String {
    let line = |(id, texts): &(&str, Vec<String>)| {
        let messages: Vec<Value> =
            texts.iter().map(|text| json!({ "role": "user", "content": text, "n": [1] })).collect();
        format!("{}\n", json!({ "id": id, "messages": messages, "day": ["2024-01-01"] }))
    };
    chats().iter().map(line).collect()
}

fn chat_rows() -> Vec<u8> {
    let schema =
        "message m { required binary id (UTF8); optional group messages (LIST) { repeated group list {
        optional group element { optional binary content (UTF8); } } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(vec![], schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let ids: Vec<ByteArray> = chats().iter().map(|(id, _)| ByteArray::from(*id)).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
    column.close().unwrap();
    let (mut texts, mut definitions, mut repetitions) = (vec![], vec![], vec![]);
    for (_, messages) in chats() {
        if messages.is_empty() {
            definitions.push(1);
            repetitions.push(0);
        }
        for (number, message) in messages.iter().enumerate() {
            texts.push(ByteArray::from(&**message));
            definitions.push(4);
            repetitions.push(i16::from(number > 0));
        }
    }
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&texts, Some(&definitions), Some(&repetitions)).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn conversations_without_their_duplicates() {
    let desk = Desk::with("in.jsonl", chat_lines());
    desk.write("in.parquet", chat_rows());
    // Texts in a plain field have the same duplicates as equal texts in lists.
    let joined: Vec<(&str, String)> =
        chats().into_iter().map(|(id, texts)| (id, texts.join("\n\n"))).collect();
    let joined: Vec<(&str, &str)> = joined.iter().map(|(id, text)| (*id, text.as_str())).collect();
    desk.write("plain.jsonl", records(&joined));
    desk.run("dedup plain.jsonl -o kept.jsonl --report plain -q").exit(0);
    assert_eq!(desk.ids("kept.jsonl"), ["a", "c", "d", "g"]);

    let run = desk.run("dedup in.jsonl -o out.jsonl --text-field messages[].content --report report").exit(0);
    assert!(run.err.contains("1 without words"), "{run}");
    let lines: Vec<String> = chat_lines().lines().map(ToOwned::to_owned).collect();
    let expected: Vec<&str> = [0, 2, 3, 6].map(|line| &*lines[line]).into();
    assert_eq!(desk.text("out.jsonl").lines().collect::<Vec<_>>(), expected);
    assert_eq!(desk.text("report/pairs.tsv"), desk.text("plain/pairs.tsv"));

    desk.run("dedup in.parquet -o out.parquet --text-field messages[].content --report table -q").exit(0);
    assert_eq!(desk.text("table/pairs.tsv"), desk.text("plain/pairs.tsv"));
    let run = desk.run("pairs out.parquet --text-field messages[].content --threshold 0.8").exit(0);
    assert_eq!(run.text(), "", "{run}");
}

#[test]
fn a_path_that_misses_a_list_is_answered_with_one_that_does_not() {
    let desk = Desk::with("in.jsonl", chat_lines());
    let run = desk.run("dedup in.jsonl -o out.jsonl --text-field messages.content").exit(2);
    assert!(run.err.contains("none of the first 7 records has the field `messages.content`"), "{run}");
    assert!(
        run.err.contains("`day[]`, `id`, `messages[].content`, `messages[].n[]`, `messages[].role`"),
        "{run}"
    );
    let run = desk.run("dedup in.jsonl -o out.jsonl --text-field messages").exit(2);
    let reason = "in.jsonl:1: the field `messages` holds a list; paths to its texts: `messages[].content`, `messages[].role`";
    assert!(run.err.contains(reason), "{run}");
    // An empty list does not show the members of its elements.
    let with_messages = chat_lines().lines().take(6).collect::<Vec<_>>().join("\n");
    desk.write("in.jsonl", with_messages);
    let run = desk.run("dedup in.jsonl -o out.jsonl --text-field messages[].contents").exit(2);
    assert!(run.err.contains("none of the first 6 records has the field `messages[].contents`"), "{run}");
    assert_eq!(desk.names(), ["in.jsonl"]);

    desk.write("in.parquet", chat_rows());
    let run = desk.run("dedup in.parquet -o out.parquet").exit(2);
    assert!(run.err.contains("its columns are `id` and `messages[].content`"), "{run}");
    desk.write("in.csv", "id,text\n1,one\n");
    let run = desk.run("dedup in.csv -o out.csv --text-field text[]").exit(2);
    assert!(run.err.contains("`text[]` leads into a list, and `in.csv` has no lists"), "{run}");
    assert!(run.err.contains("its columns are `id` and `text`"), "{run}");
}

#[test]
fn ids_and_values_are_in_no_list() {
    let desk = Desk::with("in.jsonl", chat_lines());
    let one = "`day[]` is not the path of one value: expected a path without `[]`, which leads into a list";
    for options in ["--id-field day[]", "--keep newest:day[]"] {
        let run = desk.run(&format!("dedup in.jsonl -o out.jsonl {options}")).exit(2);
        assert!(run.err.contains(one), "{run}");
        assert!(run.err.contains(options.split_once(' ').unwrap().0), "{run}");
    }
    desk.run("index create archive -q").exit(0);
    let run = desk.run("index add archive in.jsonl --meta-fields day[]").exit(2);
    assert!(run.err.contains(&format!("`--meta-fields`: {one}")), "{run}");
}

#[test]
fn an_archive_takes_texts_of_lists() {
    let desk = Desk::with("in.jsonl", chat_lines());
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in.jsonl --text-field messages[].content -q").exit(0);
    assert_eq!(desk.run("index show archive a").exit(0).text().trim_end(), chats()[0].1.join("\n\n"));
    desk.write("new.jsonl", chat_lines().lines().nth(1).unwrap().replace("\"b\"", "\"new\""));
    let run =
        desk.run("check --index archive new.jsonl --text-field messages[].content --format jsonl").exit(1);
    assert!(run.text().contains("\"id\":\"b\""), "{run}");
}
