//! Writes a page that shows passages side by side. The page is one file that loads nothing, so that it can be sent to a
//! committee.

use std::fmt::Write as _;
use std::ops::Range;

use minwise::figure::{counted, grouped, share, subject};
use minwise_corpus::{Quotes, escape_html, visible};
use minwise_index::{CheckOptions, IndexSettings, Match, SharedPassage, StoredDocument};

use super::show::{pieces_of_text, place_of, reasons};
use super::{CheckedDocument, excerpt};

const STYLE: &str = include_str!("page.css");
/// Number of characters before and after a passage that are shown with it.
const AROUND: usize = 160;
/// Upper bound on the characters of a passage that are shown whole. Of a longer passage, the beginning and the end are
/// shown.
const LONG: usize = 6000;

/// Page of the documents that were checked. It holds only the parts of each document that are shown.
#[derive(Debug, Default)]
pub struct CheckPage {
    lines: Vec<SummaryLine>,
    sections: String,
}

/// Line of a document in the summary.
#[derive(Debug)]
struct SummaryLine {
    name: String,
    /// Number of matches, and number of matches that are shown.
    matches: (usize, usize),
    /// Largest share of the document that is in one document of the archive.
    largest: f64,
    longest: usize,
    /// Noun for one unit of a length: word or character.
    unit: &'static str,
}

impl CheckPage {
    /// Appends a document.
    pub fn add(&mut self, one: &CheckedDocument<'_>) {
        let matches = &one.answer.matches;
        let number = self.lines.len();
        self.lines.push(SummaryLine {
            name: name(one).to_owned(),
            matches: (matches.len() + one.answer.further, matches.len()),
            largest: matches.iter().map(|found| found.containment_of_query).fold(0.0, f64::max),
            longest: matches.iter().map(|found| found.longest_passage).max().unwrap_or(0),
            unit: one.unit,
        });
        document(number, one, &mut self.sections);
    }

    /// Returns the whole page as HTML.
    pub fn finish(&self, settings: &IndexSettings, options: &CheckOptions, recall: f64) -> String {
        let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Check against the archive</title>\n",
        );
        let _ = write!(
            out,
            "<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Check against the archive</h1>\n"
        );
        self.summary(&mut out);
        out.push_str(&self.sections);
        let passage = super::passage(options, settings).map_or(String::new(), |tokens| {
            let unit = settings.spec.shingling.unit().noun();
            format!(", or both share a passage of {} or more", counted(tokens as u64, unit))
        });
        let _ = write!(
            out,
            "<footer>\n<p>A match has a similarity of at least {} %, or at least {} % of one document is in the other{passage}. Similarities and shares are exact{}. The settings of the archive are <code>{}</code>. {}</p>\n",
            as_percent(options.threshold),
            as_percent(options.containment),
            if super::leaves_out(options) { " for the text that was not left out" } else { "" },
            escaped(&settings.spec.to_string()),
            escaped(&super::guarantee(options, settings, recall)),
        );
        for sentence in not_evidence(options) {
            let _ = writeln!(out, "<p>{}</p>", escaped(&sentence));
        }
        out.push_str("</footer>\n</main>\n</body>\n</html>\n");
        out
    }

    fn summary(&self, out: &mut String) {
        let found = self.lines.iter().filter(|line| line.matches.1 > 0).count();
        let _ = writeln!(
            out,
            "<p class=\"lead\">{} checked, {} with matches.</p>",
            counted(self.lines.len() as u64, "document"),
            grouped(found as u64),
        );
        if self.lines.len() < 2 {
            return;
        }
        out.push_str("<table>\n<thead><tr><th scope=\"col\">document</th><th scope=\"col\">matches</th><th scope=\"col\">largest share in one document</th><th scope=\"col\">longest passage</th></tr></thead>\n<tbody>\n");
        for (number, SummaryLine { name, matches, largest, longest, unit }) in self.lines.iter().enumerate() {
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\"><a href=\"#d{number}\">{}</a></th><td data-name=\"matches\">{}</td><td data-name=\"largest share in one document\">{}</td><td data-name=\"longest passage\">{}</td></tr>",
                shown(name),
                grouped(matches.0 as u64),
                share(*largest),
                counted(*longest as u64, unit),
            );
        }
        out.push_str("</tbody>\n</table>\n");
    }
}

/// Returns sentences about the text that was left out, the documents that were not searched, and the weights of
/// shingles.
fn not_evidence(options: &CheckOptions) -> Vec<String> {
    let forms = options.ignore_text.len() as u64;
    let left_out = [
        (forms > 0).then(|| format!("the text of {} (`--ignore-text`)", counted(forms, "template"))),
        options.max_df.map(|most| format!("text that more documents contain than `--max-df {most}` allows")),
        options.ignore_quotations.then(|| "text in quotation marks".to_owned()),
        options.ignore_references.then(|| "lists of references".to_owned()),
    ];
    let mut passed_over: Vec<String> =
        options.exclude.iter().map(|field| format!("those with the same `{field}`")).collect();
    if options.since.is_some() || options.until.is_some() {
        let by = match &options.date_field {
            Some(field) => format!("by `{field}`"),
            None => "by the date on which they were added".to_owned(),
        };
        let end = |word: &str, date: &Option<String>| date.as_ref().map(|date| format!("{word} {date}"));
        let ends = [end("before", &options.since), end("after", &options.until)];
        let ends: Vec<String> = ends.into_iter().flatten().collect();
        passed_over.push(format!("those {}, {by}, or without a date", ends.join(" or ")));
    }
    let left_out: Vec<String> = left_out.into_iter().flatten().collect();
    let mut sentences = vec![];
    if !left_out.is_empty() {
        sentences
            .push(format!("Left out of both documents before they were compared: {}.", left_out.join("; ")));
    }
    if !passed_over.is_empty() {
        sentences.push(format!("Documents of the archive that were skipped: {}.", passed_over.join("; ")));
    }
    if let Some(weighting) = options.weight {
        sentences.push(format!("The weighted similarity is that with `--weight {weighting}`."));
    }
    sentences
}

/// Converts a share to percent without the digits of rounding errors: 0.29 gives 29, not 28.999999999999996.
fn as_percent(share: f64) -> f64 {
    (share * 1e11).round() / 1e9
}

fn name<'o>(one: &'o CheckedDocument<'_>) -> &'o str {
    one.document.title.as_deref().unwrap_or(&one.document.id)
}

fn document(number: usize, one: &CheckedDocument<'_>, out: &mut String) {
    let answer = &one.answer;
    let _ = write!(
        out,
        "<section id=\"d{number}\">\n<h2>{}</h2>\n<p class=\"facts\">{}{}</p>\n",
        shown(name(one)),
        one.document
            .title
            .as_ref()
            .map_or(String::new(), |_| format!("<code>{}</code>, ", shown(&one.document.id))),
        counted(answer.query.tokens as u64, one.unit),
    );
    if answer.matches.is_empty() {
        let place =
            if one.is_restricted { "among the documents that were compared" } else { "in the archive" };
        let _ = writeln!(out, "<p>No match was found {place}.</p>");
        left_out(one, out);
        out.push_str("</section>\n");
        return;
    }
    out.push_str("<table>\n<thead><tr><th scope=\"col\">in the archive</th><th scope=\"col\">share of this document in it</th><th scope=\"col\">share of it in this document</th><th scope=\"col\">similarity</th><th scope=\"col\">longest passage</th><th scope=\"col\" class=\"why\">why</th></tr></thead>\n<tbody>\n");
    for (at, found) in answer.matches.iter().enumerate() {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><a href=\"#d{number}m{at}\">{}</a></th><td class=\"leading\" data-name=\"share of this document in it\">{}</td><td data-name=\"share of it in this document\">{}</td><td data-name=\"similarity\">{}</td><td data-name=\"longest passage\">{}</td><td class=\"why\" data-name=\"why\">{}</td></tr>",
            shown(found.title.as_deref().unwrap_or(&found.id)),
            share(found.containment_of_query),
            share(found.containment_of_document),
            share(found.similarity),
            counted(found.longest_passage as u64, one.unit),
            reasons(found.reasons),
        );
    }
    out.push_str("</tbody>\n</table>\n");
    left_out(one, out);
    for (at, found) in answer.matches.iter().enumerate() {
        let other = one.matched.iter().find(|document| document.entry.id == found.id);
        one_match(&format!("d{number}m{at}"), one, found, other, out);
    }
    out.push_str("</section>\n");
}

/// Appends sentences about matches that are not shown and candidates that were not compared.
fn left_out(one: &CheckedDocument<'_>, out: &mut String) {
    for (count, noun, verbs) in [
        (one.answer.further, "further match", ["is not shown", "are not shown"]),
        (one.answer.not_compared, "further candidate", ["was not compared", "were not compared"]),
    ] {
        if count > 0 {
            let _ = writeln!(out, "<p class=\"facts\">{}.</p>", subject(count as u64, noun, verbs));
        }
    }
    if one.answer.passed_over > 0 {
        let (pieces, them) = pieces_of_text(one.answer.passed_over);
        let _ = writeln!(
            out,
            "<p class=\"facts\">{pieces} not looked up, because too many documents of the archive contain {them}.</p>"
        );
    }
}

fn one_match(
    anchor: &str,
    one: &CheckedDocument<'_>,
    found: &Match,
    other: Option<&StoredDocument>,
    out: &mut String,
) {
    let _ = write!(
        out,
        "<article id=\"{anchor}\">\n<h3>{}</h3>\n<p class=\"facts\">{} of this document is in it, {} of it is in this document, similarity {}",
        shown(found.title.as_deref().unwrap_or(&found.id)),
        share(found.containment_of_query),
        share(found.containment_of_document),
        share(found.similarity),
    );
    if let Some(weighted) = found.weighted {
        let _ = write!(out, ", weighted similarity {}", share(weighted));
    }
    if found.title.is_some() {
        let _ = write!(out, ", <code>{}</code>", shown(&found.id));
    }
    for (field, value) in &found.metadata {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = write!(out, ", {}: {}", shown(field), shown(&value));
    }
    out.push_str("</p>\n");
    if found.passages.is_empty() {
        out.push_str("<p>No passage can be shown.</p>\n");
    }
    for passage in &found.passages {
        out.push_str("<div class=\"passage\">\n");
        let _ = writeln!(
            out,
            "<p class=\"facts\">{}{}</p>",
            counted(passage.tokens as u64, one.unit),
            if passage.moved { ", moved" } else { "" },
        );
        side(
            "this document",
            &one.document.text,
            place_of(&one.document.marks, passage.query.start),
            &passage.query,
            out,
        );
        other_side(other, passage, out);
        out.push_str("</div>\n");
    }
    if found.further_passages > 0 {
        let further = counted(found.further_passages as u64, "further passage");
        let _ = writeln!(out, "<p class=\"facts\">{further} not shown; none is longer.</p>");
    }
    out.push_str("</article>\n");
}

fn other_side(other: Option<&StoredDocument>, passage: &SharedPassage, out: &mut String) {
    let there = other.and_then(|other| Some((other, other.text.as_deref()?, passage.document.as_ref()?)));
    match there {
        Some((other, text, range)) => {
            side("the archive", text, place_of(&other.marks, range.start), range, out);
        }
        None => {
            out.push_str("<div class=\"side\"><p class=\"facts\">The archive keeps no texts.</p></div>\n");
        }
    }
}

fn side(whose: &str, text: &str, place: Option<String>, range: &Range<usize>, out: &mut String) {
    let place = place.map_or(String::new(), |place| format!(", {place}"));
    let before = excerpt::tail(&text[..range.start], AROUND);
    let behind = excerpt::head(&text[range.end..], AROUND);
    let _ = writeln!(
        out,
        "<div class=\"side\"><p class=\"facts\">{whose}{place}</p><p class=\"text\" dir=\"auto\">{}<mark>{}</mark>{}</p></div>",
        escaped(&before),
        shortened(&text[range.clone()]),
        escaped(&behind),
    );
}

/// Returns a passage, escaped. If the passage has more than [`LONG`] characters, its middle is replaced.
fn shortened(passage: &str) -> String {
    let characters = passage.chars().count();
    if characters <= LONG {
        return escaped(passage);
    }
    let (head, foot) = (excerpt::head(passage, LONG / 2), excerpt::tail(passage, LONG / 2));
    format!(
        "{}</mark> <span class=\"facts\">[{} characters more]</span> <mark>{}",
        escaped(&head),
        grouped((characters - LONG) as u64),
        escaped(&foot),
    )
}

/// Escapes text so that it is not read as markup and does not change the reading direction. Control characters are
/// removed, because HTML does not allow them.
fn escaped(text: &str) -> String {
    let is_left_out = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let text = text.replace(is_left_out, "");
    let lines = text.split_inclusive(['\n', '\t']).map(|part| {
        let (part, end) = part.split_at(part.trim_end_matches(['\n', '\t']).len());
        format!("{}{end}", visible(part))
    });
    escape_html(&lines.collect::<String>(), Quotes::All)
}

/// Upper bound on the characters of an id, title or value that are shown.
const NAME: usize = 200;

/// Returns an id, title or value as HTML, cut to [`NAME`] characters and isolated from the reading direction of the
/// text around it.
fn shown(name: &str) -> String {
    let cut = match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    };
    format!("<bdi>{}</bdi>", escaped(&cut))
}

#[cfg(test)]
mod tests {
    use minwise::weight::{MostDocuments, Weighting};
    use minwise_index::{Answer, NewDocument};

    use super::super::show::tests::checked;
    use super::*;

    #[test]
    fn a_page_holds_what_it_shows_and_not_the_texts() {
        let mut page = CheckPage::default();
        for number in 0..9 {
            let document = NewDocument::new(format!("d{number}"), "no match ".repeat(100_000));
            page.add(&CheckedDocument {
                document: &document,
                answer: Answer::default(),
                matched: vec![],
                unit: "word",
                is_restricted: false,
            });
        }
        assert!(page.sections.len() < 9_000, "{}", page.sections.len());
        let shown = page.finish(&IndexSettings::default(), &CheckOptions::default(), 1.0);
        assert!(shown.contains("9 documents checked, 0 with matches") && shown.contains("id=\"d8\""));
    }

    #[test]
    fn a_share_that_is_not_all_is_not_rounded_to_all() {
        let mut page = CheckPage::default();
        let mut near = checked(0.999_97);
        (near.answer.further, near.answer.not_compared, near.answer.passed_over) = (1, 1, 1);
        page.add(&near);
        page.add(&checked(1.0));
        let options = CheckOptions::default().containment(0.9999);
        let shown = page.finish(&IndexSettings::default(), &options, 1.0);
        for part in [
            "<td data-name=\"similarity\">above 99.9 %</td>",
            "in it\">100 %</td><td data-name=\"share of it in this document\">100 %</td><td data-name=\"similarity\">100 %</td>",
            "in this document, similarity above 99.9 %, weighted similarity above 99.9 %",
            "or at least 99.99 % of one document is in the other",
            "1 further match is not shown.",
            "1 further candidate was not compared.",
            "1 piece of text was not looked up, because too many documents of the archive contain it.",
        ] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        assert_eq!([0.3, 0.29, 0.125].map(as_percent), [30.0, 29.0, 12.5]);
    }

    #[test]
    fn a_page_says_what_was_no_evidence() {
        let shown =
            |options: &CheckOptions| CheckPage::default().finish(&IndexSettings::default(), options, 1.0);
        let all = CheckOptions::default();
        assert!(shown(&all).contains("shares are exact. The settings"));
        assert!(!shown(&all).contains("Left out") && !shown(&all).contains("were skipped"));
        let window = |since: Option<&str>, until: Option<&str>, field: Option<&str>| {
            let mut options = CheckOptions::default();
            let texts = [&mut options.since, &mut options.until, &mut options.date_field];
            for (option, text) in texts.into_iter().zip([since, until, field]) {
                *option = text.map(str::to_owned);
            }
            options
        };
        for (options, says) in [
            (all.clone().ignore_text([""]), "compared: the text of 1 template ("),
            (
                all.clone().max_df(Some(MostDocuments::Share(0.5))),
                "compared: text that more documents contain than `--max-df 0.5` allows.",
            ),
            (all.clone().ignore_quotations(true), "compared: text in quotation marks."),
            (all.clone().ignore_references(true), "compared: lists of references."),
            (all.clone().exclude(["a<b"]), "skipped: those with the same `a&lt;b`."),
            (
                window(Some("2015"), Some("2020"), Some("filed")),
                "skipped: those before 2015 or after 2020, by `filed`, or without a date.",
            ),
            (
                window(Some("2015"), None, None),
                "skipped: those before 2015, by the date on which they were added, or without a date.",
            ),
            (all.clone().weight(Some(Weighting::Count)), "`--weight count`"),
        ] {
            let page = shown(&options);
            assert!(page.contains(says), "{says}: {page}");
            assert_eq!(
                page.contains("exact for the text that was not left out"),
                super::super::leaves_out(&options)
            );
        }
        let off = shown(&all.clone().passage(CheckOptions::NO_PASSAGE));
        assert!(!off.contains("share a passage") && !off.contains("in a row"), "{off}");
    }

    #[test]
    fn nothing_can_be_taken_for_markup() {
        assert_eq!(escaped("<script>'a' & \"b\"\u{0}\n"), "&lt;script&gt;&#39;a&#39; &amp; &quot;b&quot;\n");
        assert_eq!(excerpt::tail("abc", AROUND), "abc");
        let long = format!("x{}", "中".repeat(AROUND));
        assert_eq!(excerpt::tail(&long, AROUND), format!("… {}", "中".repeat(AROUND)));
    }

    #[test]
    fn long_passages_are_shortened_in_the_middle() {
        let long = format!("{}{}", "a".repeat(LONG), "<".repeat(10));
        let shown = shortened(&long);
        assert!(shown.contains("[10 characters more]") && shown.ends_with("&lt;"));
        assert_eq!(shortened("a<b"), "a&lt;b");
    }
}
