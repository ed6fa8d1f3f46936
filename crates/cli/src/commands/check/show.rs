//! Prints the matches of checked documents to standard output.

use std::fmt::Write as _;

use minwise::figure::{counted, grouped, share, subject};
use minwise::shortened;
use minwise_corpus::{visible, visible_json};
use minwise_index::{Answer, Mark, MarkedPlace, Match, Reasons, SharedPassage};

use super::{CheckedDocument, excerpt};
use crate::commands::print;
use crate::printer::Failure;

/// Upper bound on the characters of a passage that are shown.
const EXCERPT: usize = 240;

/// Returns the page, slide, chapter or paragraph in which a byte of a text lies, if a mark precedes the byte.
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

/// Returns the beginning of a sentence with the number of fingerprints that were not looked up, and the pronoun for the
/// fingerprints.
pub fn pieces_of_text(fingerprints: usize) -> (String, &'static str) {
    match fingerprints {
        1 => ("1 piece of text was".to_owned(), "it"),
        _ => (format!("{} pieces of text were", grouped(fingerprints as u64)), "them"),
    }
}

/// Returns the reasons why a document is a match, in words.
pub fn reasons(reasons: Reasons) -> String {
    let all = [
        (reasons.similarity, "similarity"),
        (reasons.containment, "containment"),
        (reasons.passage, "a shared passage"),
    ];
    let words: Vec<&str> = all.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    match words.as_slice() {
        [first, second, third] => format!("a match by {first}, {second} and {third}"),
        words => format!("a match by {}", words.join(" and ")),
    }
}

/// Prints a document with its matches, each with its longest passages, at most `passages`.
pub fn text(checked: &CheckedDocument<'_>, passages: usize) -> Result<(), Failure> {
    print(lines(checked, passages).as_bytes())
}

fn lines(checked: &CheckedDocument<'_>, passages: usize) -> String {
    let answer = &checked.answer;
    let mut out = format!("{}: ", visible(&shortened(&checked.document.id)));
    match answer.matches.len() + answer.further {
        0 if checked.is_restricted => {
            out.push_str("no match among the documents of the archive that were compared\n");
        }
        0 => out.push_str("no match in the archive\n"),
        matches => {
            let further = match answer.further {
                0 => String::new(),
                1 => "; 1 of them is not shown".to_owned(),
                further => format!("; {} of them are not shown", grouped(further as u64)),
            };
            let _ = writeln!(out, "{}{further}", counted(matches as u64, "match"));
        }
    }
    if answer.not_compared > 0 {
        let _ = writeln!(
            out,
            "  {} not compared; `--candidates N` compares up to N",
            subject(answer.not_compared as u64, "further candidate", ["was", "were"]),
        );
    }
    if answer.passed_over > 0 {
        let (pieces, them) = pieces_of_text(answer.passed_over);
        let _ = writeln!(
            out,
            "  {pieces} not looked up, because more documents contain {them} than `--max-df` allows"
        );
    }
    for found in &answer.matches {
        one_match(checked, found, passages, &mut out);
    }
    out
}

fn one_match(checked: &CheckedDocument<'_>, found: &Match, most: usize, out: &mut String) {
    let title =
        found.title.as_deref().map_or(String::new(), |title| format!(" “{}”", visible(&shortened(title))));
    let _ = writeln!(out, "\n  {}{title}: {}", visible(&shortened(&found.id)), reasons(found.reasons));
    let weighted = found.weighted.map_or(String::new(), |weighted| format!(", weighted {}", share(weighted)));
    let _ = writeln!(
        out,
        "    {} of this document appears in it; {} of it appears in this document; similarity {}{weighted}; longest shared passage {}",
        share(found.containment_of_query),
        share(found.containment_of_document),
        share(found.similarity),
        counted(found.longest_passage as u64, checked.unit),
    );
    let marks =
        checked.matched.iter().find(|document| document.entry.id == found.id).map(|document| &document.marks);
    let mut passages: Vec<&SharedPassage> = found.passages.iter().collect();
    passages.sort_by_key(|passage| std::cmp::Reverse(passage.tokens));
    for passage in passages.iter().take(most) {
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
            counted(passage.tokens as u64, checked.unit),
            visible(&excerpt)
        );
    }
    let hidden = found.passages.len().saturating_sub(most) + found.further_passages;
    if hidden > 0 {
        let _ = writeln!(out, "    {} not shown", counted(hidden as u64, "further passage"));
    }
}

/// Prints an answer as one JSON line, in the form of the server's API.
pub fn jsonl(answer: &Answer) -> Result<(), Failure> {
    let line = serde_json::to_string(answer).map_err(std::io::Error::from)?;
    print(format!("{}\n", visible_json(&line)).as_bytes())
}

#[cfg(test)]
pub mod tests {
    use minwise_index::NewDocument;
    use serde_json::json;

    use super::*;

    /// Returns a checked document with one match. `share` is the similarity and the containment in both directions.
    pub fn checked(share: f64) -> CheckedDocument<'static> {
        let found = json!({
            "id": "old", "title": null, "metadata": {}, "similarity": share, "weighted": share,
            "reasons": {"similarity": true, "containment": true, "passage": false},
            "containment_of_query": share, "containment_of_document": share,
            "longest_passage": 1, "shared_tokens": 1, "passages": [], "further_passages": 0,
        });
        let mut answer = Answer::default();
        answer.matches.push(serde_json::from_value(found).unwrap());
        let document = Box::leak(Box::new(NewDocument::new("new".to_owned(), String::new())));
        CheckedDocument { document, answer, matched: vec![], unit: "word", is_restricted: false }
    }

    #[test]
    fn a_share_that_is_not_all_is_not_rounded_to_all() {
        let near = lines(&checked(0.999_97), 3);
        assert!(near.contains("above 99.9 % of this document appears in it; above 99.9 % of it"), "{near}");
        assert!(near.contains("similarity above 99.9 %, weighted above 99.9 %;"), "{near}");
        let all = lines(&checked(1.0), 3);
        assert!(
            all.contains("100 % of this document") && all.contains("similarity 100 %, weighted 100 %;"),
            "{all}"
        );
    }

    #[test]
    fn one_is_singular() {
        let mut one = checked(1.0);
        (one.answer.further, one.answer.not_compared, one.answer.passed_over) = (1, 1, 1);
        let shown = lines(&one, 3);
        for line in [
            "new: 2 matches; 1 of them is not shown\n",
            "1 further candidate was not compared; `--candidates N` compares up to N\n",
            "1 piece of text was not looked up, because more documents contain it than `--max-df` allows\n",
        ] {
            assert!(shown.contains(line), "{line} is not in {shown}");
        }
    }
}
