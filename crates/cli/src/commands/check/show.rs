//! What was found, on standard output.

use std::fmt::Write as _;
use std::io::Write as _;

use minwise_corpus::{visible, visible_json};
use minwise_index::{Mark, MarkedPlace, Match, Reasons, Settings, SharedPassage};
use serde_json::{Value, json};

use super::Checked;
use crate::printer::{Failure, counted, grouped};

/// Passages of a match that are shown, the longest.
const PASSAGES: usize = 3;
/// Characters of a passage that are shown.
const EXCERPT: usize = 240;

/// Where in its document a byte of a text lies.
pub fn place_of(marks: &[Mark], offset: usize) -> Option<String> {
    let after = marks.partition_point(|mark| mark.offset <= offset);
    let mark = marks.get(after.checked_sub(1)?)?;
    Some(match mark.place {
        MarkedPlace::Page(number) => format!("page {number}"),
        MarkedPlace::Paragraph(number) => format!("paragraph {number}"),
        MarkedPlace::Slide(number) => format!("slide {number}"),
        MarkedPlace::Chapter(number) => format!("chapter {number}"),
    })
}

/// Why a document is a match, in words.
pub fn reasons(reasons: Reasons) -> String {
    let all = [
        (reasons.similarity, "similar"),
        (reasons.containment, "contained"),
        (reasons.passage, "shared passage"),
    ];
    all.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

pub fn text(checked: &Checked) -> Result<(), Failure> {
    let answer = &checked.answer;
    let mut out = format!("{}: ", visible(&checked.document.id));
    match answer.matches.len() + answer.further {
        0 => out.push_str("nothing like it is in the archive\n"),
        matches => {
            let further = match answer.further {
                0 => String::new(),
                further => format!(", of which {} are not shown", grouped(further as u64)),
            };
            let _ =
                writeln!(out, "{}{further}", counted(matches as u64, "match").replace("matchs", "matches"));
        }
    }
    if answer.not_compared > 0 {
        let _ = writeln!(
            out,
            "  {} were not compared; `--candidates` sets how many are",
            counted(answer.not_compared as u64, "further candidate"),
        );
    }
    if answer.passed_over > 0 {
        let _ = writeln!(
            out,
            "  {} of more documents than `--max-df` allows were not looked for",
            counted(answer.passed_over as u64, "fingerprint"),
        );
    }
    for found in &answer.matches {
        one_match(checked, found, &mut out);
    }
    std::io::stdout().lock().write_all(out.as_bytes())?;
    Ok(())
}

fn one_match(checked: &Checked, found: &Match, out: &mut String) {
    let title = found.entry.title.as_deref().map_or(String::new(), |title| format!(" “{}”", visible(title)));
    let _ = writeln!(out, "\n  {}{title}: {}", visible(&found.entry.id), reasons(found.reasons));
    let weighted = found.weighted.map_or(String::new(), |weighted| format!(", weighted {weighted:.4}"));
    let _ = writeln!(
        out,
        "    similarity {:.4} exact{weighted}; {:.1} % of it is there, {:.1} % of that is here; longest passage {}",
        found.similarity,
        100.0 * found.query_in_document,
        100.0 * found.document_in_query,
        counted(found.longest as u64, "token"),
    );
    let marks = checked
        .matched
        .iter()
        .find(|document| document.entry.id == found.entry.id)
        .map(|document| &document.marks);
    let mut passages: Vec<&SharedPassage> = found.passages.iter().collect();
    passages.sort_by_key(|passage| std::cmp::Reverse(passage.units));
    for passage in passages.iter().take(PASSAGES) {
        let here = place_of(&checked.document.marks, passage.query.start);
        let there =
            marks.zip(passage.document.as_ref()).and_then(|(marks, range)| place_of(marks, range.start));
        let places = match (here, there) {
            (None, None) => String::new(),
            (here, there) => {
                let say = |place: Option<String>| place.unwrap_or_else(|| "somewhere".to_owned());
                format!(", {} here, {} there", say(here), say(there))
            }
        };
        let moved = if passage.moved { ", moved" } else { "" };
        let words: Vec<&str> = checked.document.text[passage.query.clone()].split_whitespace().collect();
        let whole = words.join(" ");
        let mut excerpt: String = whole.chars().take(EXCERPT).collect();
        if excerpt.len() < whole.len() {
            excerpt.push('…');
        }
        let _ = writeln!(
            out,
            "    {}{places}{moved}: {}",
            counted(passage.units as u64, "token"),
            visible(&excerpt)
        );
    }
    let hidden = found.passages.len().saturating_sub(PASSAGES) + found.further_passages;
    if hidden > 0 {
        let _ = writeln!(out, "    {} not shown", counted(hidden as u64, "further passage"));
    }
}

pub fn jsonl(checked: &Checked, settings: &Settings, recall: f64) -> Result<(), Failure> {
    let answer = &checked.answer;
    let line = json!({
        "id": checked.document.id,
        "title": checked.document.title,
        "units": answer.units,
        "shingles": answer.shingles,
        "matches": answer.matches.iter().map(match_json).collect::<Vec<_>>(),
        "further": answer.further,
        "compared": answer.compared,
        "not_compared": answer.not_compared,
        "passed_over": answer.passed_over,
        "recall_at_threshold": recall,
        "spec": settings.spec.to_string(),
    });
    writeln!(std::io::stdout().lock(), "{}", visible_json(&line.to_string()))?;
    Ok(())
}

fn match_json(found: &Match) -> Value {
    let passages: Vec<Value> = found
        .passages
        .iter()
        .map(|passage| {
            let range = |range: &std::ops::Range<usize>| json!([range.start, range.end]);
            json!({
                "query": range(&passage.query),
                "document": passage.document.as_ref().map(range),
                "tokens": passage.units,
                "moved": passage.moved,
            })
        })
        .collect();
    json!({
        "id": found.entry.id,
        "title": found.entry.title,
        "metadata": found.entry.metadata,
        "reasons": found.reasons,
        "similarity": found.similarity,
        "query_in_document": found.query_in_document,
        "document_in_query": found.document_in_query,
        "weighted": found.weighted,
        "longest_passage": found.longest,
        "shared_tokens": found.shared_units,
        "passages": passages,
        "further_passages": found.further_passages,
    })
}
