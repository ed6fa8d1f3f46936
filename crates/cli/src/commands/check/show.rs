//! What was found, on standard output.

use std::fmt::Write as _;
use std::io::Write as _;

use minwise::figure::{counted, grouped};
use minwise::shortened;
use minwise_corpus::{visible, visible_json};
use minwise_index::{Answer, Mark, MarkedPlace, Match, Reasons, SharedPassage};

use super::{CheckedDocument, excerpt};
use crate::printer::Failure;

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
        _ => return None,
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

pub fn text(checked: &CheckedDocument) -> Result<(), Failure> {
    let answer = &checked.answer;
    let mut out = format!("{}: ", visible(&shortened(&checked.document.id)));
    match answer.matches.len() + answer.further {
        0 => out.push_str("nothing like it is in the archive\n"),
        matches => {
            let further = match answer.further {
                0 => String::new(),
                further => format!(", of which {} are not shown", grouped(further as u64)),
            };
            let _ = writeln!(out, "{}{further}", counted(matches as u64, "match"));
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

fn one_match(checked: &CheckedDocument, found: &Match, out: &mut String) {
    let title =
        found.title.as_deref().map_or(String::new(), |title| format!(" “{}”", visible(&shortened(title))));
    let _ = writeln!(out, "\n  {}{title}: {}", visible(&shortened(&found.id)), reasons(found.reasons));
    let weighted = found.weighted.map_or(String::new(), |weighted| format!(", weighted {weighted:.4}"));
    let _ = writeln!(
        out,
        "    similarity {:.4}{weighted}; {:.1} % of this document appears in it; {:.1} % of it appears in this document; longest shared passage {}",
        found.similarity,
        100.0 * found.containment_of_query,
        100.0 * found.containment_of_document,
        counted(found.longest_passage as u64, "token"),
    );
    let marks =
        checked.matched.iter().find(|document| document.entry.id == found.id).map(|document| &document.marks);
    let mut passages: Vec<&SharedPassage> = found.passages.iter().collect();
    passages.sort_by_key(|passage| std::cmp::Reverse(passage.tokens));
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
        let excerpt = excerpt::head(&whole, EXCERPT);
        let _ = writeln!(
            out,
            "    {}{places}{moved}: {}",
            counted(passage.tokens as u64, "token"),
            visible(&excerpt)
        );
    }
    let hidden = found.passages.len().saturating_sub(PASSAGES) + found.further_passages;
    if hidden > 0 {
        let _ = writeln!(out, "    {} not shown", counted(hidden as u64, "further passage"));
    }
}

/// The answer in the form that the API of the server has too.
pub fn jsonl(answer: &Answer) -> Result<(), Failure> {
    let line = serde_json::to_string(answer).map_err(std::io::Error::from)?;
    writeln!(std::io::stdout().lock(), "{}", visible_json(&line))?;
    Ok(())
}
