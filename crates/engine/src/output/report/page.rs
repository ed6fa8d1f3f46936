//! Builds `index.html`, the page of a run for people.
//!
//! The page is one file that opens without a network and loads nothing: no script, no font, no picture. All content of
//! documents is escaped. Should an escape ever be missing, the content security policy forbids everything except the
//! page's own style. The page shows samples and stays below a megabyte. Building it takes one pass over the places of
//! documents, and reads a few hundred records again, whatever the size of the corpus.
//!
//! Unlike the other files of a report, the page has a part that differs from run to run: the command as it was typed
//! and the time of each stage. Only this page has that part, because programs compare the other files byte by byte. The
//! part stands between two HTML comments ([`THIS_RUN`]), and is absent if the caller gives no [`ThisRun`]. All other
//! bytes of the page are the same on every run.

use std::time::Duration;

use super::charts::{SimilarityCounts, histogram, s_curve};
use super::html::{
    self, TableColumn, bytes, counted, escape, grouped, lower_bound, probability, subject, table,
};
use super::sources::{Fate, SourceCounts};
use super::strange::Strange;
use super::{ByKeeper, Extras, Report, Summary, ThisRun, clusters, pairs};
use crate::audit::Audit;
use crate::error::Error;
use crate::output::Findings;
use crate::settings::{Search, list};

const STYLE: &str = include_str!("page.css");
/// HTML comments before and after the part that differs from run to run.
pub const THIS_RUN: [&str; 2] = ["<!-- of this run -->", "<!-- of every run -->"];

/// Returns the page as HTML.
pub(super) fn page(run: &Findings<'_>, by_keeper: &ByKeeper<'_>, extras: &Extras) -> Result<String, Error> {
    let (sources, strange) = survey(run)?;
    let counted =
        if extras.annotates { "What was read and marked" } else { "What was read, kept and removed" };
    let mut sections = vec![
        ("counts", counted, counts(run, extras) + &sources.table(extras.fates())),
        ("similarities", "Similarities and recall", charts(run, extras)),
        ("clusters", "The largest clusters", clusters::section(run, by_keeper, extras.fates())?),
        ("pairs", "Pairs near the threshold", pairs::section(run, &by_keeper.removed, extras.fates())?),
        ("strange", "Documents worth a look", strange.section(run)?),
        ("settings", "Settings", settings(run.summary)),
    ];
    if let Some(this_run) = &extras.this_run {
        let [begin, end] = THIS_RUN;
        sections.push(("this-run", "This run", format!("{begin}\n{}{end}\n", times(this_run))));
    }
    let mut contents = String::new();
    let mut body = String::new();
    for (id, title, content) in &sections {
        contents += &format!("<li><a href=\"#{id}\">{title}</a></li>\n");
        body += &format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{content}</section>\n"
        );
    }
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Minwise report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{}</h1>\n<nav aria-label=\"Parts of this page\"><ul>\n{contents}</ul></nav></header>\n\
         <main>\n{body}</main>\n</body>\n</html>\n",
        headline(run.summary, extras)
    ))
}

fn headline(summary: &Summary, extras: &Extras) -> String {
    let [_, removed] = extras.fates();
    format!(
        "{} read, {} {removed} as near-duplicates",
        counted(summary.read, if summary.rejected == 0 { "document" } else { "record" }),
        grouped(summary.removed)
    )
}

/// Counts the documents of the inputs by source and fate, and collects unusual documents, in one pass.
fn survey<'a>(run: &Findings<'a>) -> Result<(SourceCounts<'a>, Strange), Error> {
    let mut sources = SourceCounts::default();
    let mut strange = Strange::new();
    let mut removed = run.decisions.removed.iter().map(|removed| removed.document).peekable();
    let documents = &run.reading.documents;
    for (document, place) in (0..).zip(documents.places()).skip(run.reading.references as usize) {
        let place = place?;
        if documents.is_skipped(document) {
            continue;
        }
        let is_removed = removed.next_if_eq(&document).is_some();
        sources.add(run.corpus, place.source, if is_removed { Fate::Removed } else { Fate::Kept });
        if documents.has_text(document) {
            strange.see(document, place.len, documents.has_shingles(document));
        }
    }
    run.reading.rejected.for_each(|rejected| {
        if rejected.source >= run.corpus.references() {
            sources.add(run.corpus, rejected.source, Fate::Rejected);
        }
        Ok(())
    })?;
    Ok((sources, strange))
}

/// Returns the notes on skipped files and records.
fn skipped(summary: &Summary) -> impl Iterator<Item = String> {
    let files = match summary.skipped_files {
        0 => None,
        1 => Some("1 file was skipped, because it is not a document.".to_owned()),
        files => Some(format!("{} files were skipped, because they are not documents.", grouped(files))),
    };
    let records = match summary.skipped_records {
        0 => None,
        1 => Some("1 record without text was not compared, and is kept.".to_owned()),
        records => {
            Some(format!("{} records without text were not compared, and are kept.", grouped(records)))
        }
    };
    files.into_iter().chain(records)
}

/// Returns the expected recall, its lower bound and the measured recall, as far as they are known.
fn recalls(summary: &Summary, extras: &Extras) -> impl Iterator<Item = (&'static str, String)> {
    let expected = summary.expected_recall;
    let low = summary.expected_recall_low.filter(|&low| expected.is_some_and(|expected| low < expected));
    let all = [
        ("expected recall", expected.map(probability)),
        ("recall is at least", low.map(lower_bound)),
        ("measured recall", extras.measured_recall.map(|measured| probability(measured.value))),
    ];
    all.into_iter().filter_map(|(name, recall)| Some((name, recall?)))
}

/// Returns the note on an audit that was not made, was too small, or found missed duplicates.
fn audit_note(audit: &Audit) -> Option<String> {
    if audit.documents < audit.kept.min(1) {
        return Some(
            "The recall was not measured, because that would take more than 5 % of the run time. If the setting <code>audit</code> is a number, the recall is always measured."
                .to_owned(),
        );
    }
    if audit.says_little() && !audit.is_of_all() {
        return Some(format!(
            "A sample of {} is too small to measure the recall well; the setting <code>audit</code> sets the size of the sample.",
            counted(audit.documents, "document"),
        ));
    }
    (audit.missed > 0).then(|| {
        format!(
            "The audit found {} that {} another kept document.",
            counted(audit.missed, "kept document"),
            if audit.missed == 1 { "repeats" } else { "repeat" },
        )
    })
}

/// Returns the main counts of the run, followed by notes that explain them.
fn counts(run: &Findings<'_>, extras: &Extras) -> String {
    let Summary { read, kept, removed, rejected, clusters, .. } = *run.summary;
    let mut out = String::from("<dl class=\"counts\">\n");
    let [stays, goes] = extras.fates();
    let mut numbers = vec![
        ("read", grouped(read)),
        (stays, grouped(kept)),
        (goes, grouped(removed)),
        ("rejected", grouped(rejected)),
        ("clusters", grouped(clusters)),
    ];
    numbers.extend(recalls(run.summary, extras));
    if removed > 0 {
        numbers.push(("precision", probability(1.0)));
    }
    for (name, number) in numbers {
        out += &format!("<div><dt>{name}</dt><dd>{number}</dd></div>\n");
    }
    out += "</dl>\n";
    let summary = run.summary;
    let mut notes = vec![];
    match summary.removed_equal {
        0 => {}
        equal => notes.push(format!(
            "{} of the {goes} documents {} equal to the kept document after normalisation.",
            grouped(equal),
            if equal == 1 { "is" } else { "are" },
        )),
    }
    notes.extend(skipped(summary));
    if summary.reference > 0 {
        notes.push(format!(
            "The inputs were also compared with {} of the references; references are never removed or written.",
            counted(summary.reference, "document"),
        ));
    }
    notes.extend(summary.audit.as_ref().and_then(audit_note));
    if summary.spared > 0 {
        notes.push(format!(
            "{} not {goes}, because the cluster has more documents than <code>max-cluster</code> allows (<a href=\"large-clusters.jsonl\">large-clusters.jsonl</a> has {}).",
            subject(summary.spared, "near-duplicate", ["was", "were"]),
            counted(summary.large_clusters, "such cluster"),
        ));
    }
    if summary.reordered + summary.reordered_estimated > 0 {
        notes.push(format!(
            "{} similar, but in another order, and {} not count as near-duplicates (<a href=\"reordered.tsv\">reordered.tsv</a>).",
            subject(summary.reordered + summary.reordered_estimated, "pair", ["is", "are"]),
            if summary.reordered + summary.reordered_estimated == 1 { "does" } else { "do" },
        ));
    }
    for (number, one, several) in [
        (
            summary.without_shingles,
            "has no words, so only a document with the same text is its duplicate",
            "have no words, so only documents with the same text are their duplicates",
        ),
        (
            summary.repaired,
            "had lone surrogates (halves of characters), which were replaced",
            "had lone surrogates (halves of characters), which were replaced",
        ),
        (
            summary.repeated_ids,
            "shares its id with another document, and is named by file and line",
            "share their ids with other documents, and are named by file and line",
        ),
    ] {
        if number > 0 {
            notes.push(format!("{}.", subject(number, "document", [one, several])));
        }
    }
    if notes.is_empty() { out } else { out + &format!("<p>{}</p>\n", notes.join(" ")) }
}

fn charts(run: &Findings<'_>, extras: &Extras) -> String {
    let (summary, plan) = (run.summary, run.plan);
    let similarities = SimilarityCounts::new(run.decisions.removed.iter().map(|removed| removed.similarity));
    let precision = match plan.cluster {
        minwise::cluster::Clustering::Star => {
            "Every near-duplicate was compared exactly with its kept document, so the precision is 100 %."
        }
        _ => {
            "Every pair that joins documents into a cluster was compared exactly, so the precision is 100 %. In components, a \
             document may be similar to another member than the kept document, so similarities can be below the threshold."
        }
    };
    let found = match plan.search {
        Search::Banding => format!(
            "The curve shows the probability that a pair shares at least one of {} of {}, depending on its similarity",
            counted(summary.bands as u64, "band"),
            counted(summary.rows as u64, "row")
        ),
        Search::SortMerge | Search::SortMergeSketch | Search::All => {
            format!("Candidates were found by {}, which misses no pair by chance", escape(&summary.search))
        }
    };
    let measured = extras
        .measured_recall
        .map_or(String::new(), |measured| format!(" The point is the measured recall, {measured}."));
    let expected = summary.expected_recall.map_or(String::new(), |recall| {
        format!(" The dotted line is the expected recall of this run, {}.", probability(recall))
    });
    format!(
        "<div class=\"figures\">\n<figure>\n{}<figcaption>The similarities of {} to their kept documents.{}{precision}</figcaption></figure>\n\
         <figure>\n{}<figcaption>{found}.{expected}{measured}</figcaption>\
         </figure>\n</div>\n",
        histogram(&similarities, plan.threshold),
        counted(similarities.below_one(), "near-duplicate"),
        match similarities.ones {
            0 => " ".to_owned(),
            ones => format!(
                " {} with similarity 1 {} not drawn. ",
                counted(ones, "further near-duplicate"),
                if ones == 1 { "is" } else { "are" }
            ),
        },
        s_curve(&plan.curve(), plan.threshold, summary.expected_recall, extras.measured_recall.as_ref()),
    )
}

fn settings(summary: &Summary) -> String {
    let mut rows = vec![
        ("spec", summary.spec.clone()),
        ("fingerprint", summary.fingerprint.clone()),
        ("measure", summary.measure.clone()),
        ("threshold", summary.threshold.to_string()),
        ("candidates", summary.search.clone()),
        ("bands and rows", format!("{} of {}", summary.bands, summary.rows)),
        ("keep", summary.keep.clone()),
        ("cluster", summary.cluster.clone()),
    ];
    let optional = [
        ("order", summary.order.map(|order| order.to_string())),
        ("bits", summary.bits.clone()),
        ("filter error", summary.filter_error.map(|error| error.to_string())),
        ("looks", summary.looks.as_deref().map(list)),
        ("error per look", summary.error_per_look.map(|error| error.to_string())),
        ("max cluster", summary.max_cluster.map(|most| most.to_string())),
    ];
    rows.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let read =
        if summary.reference + summary.reference_rejected == 0 { "input" } else { "input and references" };
    rows.push((read, format!("{}, decompressed", bytes(summary.bytes))));
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(name, value)| vec![name.to_owned(), html::text(&value)]).collect();
    let files: Vec<String> = Report::FILES
        .iter()
        .filter(|file| **file != Report::PAGE)
        .map(|file| format!("<a href=\"{file}\">{file}</a>"))
        .collect();
    format!(
        "{}<p>The same input with the same settings gives the same result. This page shows samples; the files beside it have \
         everything: {}.</p>\n",
        table(
            "All settings that change the result",
            &[TableColumn::Words("setting"), TableColumn::Words("value")],
            &rows
        ),
        files.join(", ")
    )
}

fn times(this_run: &ThisRun) -> String {
    let total: Duration = this_run.stages.iter().map(|(_, elapsed)| *elapsed).sum();
    let share = |elapsed: Duration| 100.0 * elapsed.as_secs_f64() / total.as_secs_f64().max(1e-9);
    let seconds = |elapsed: Duration| format!("{:.2}", elapsed.as_secs_f64());
    let stages = this_run
        .stages
        .iter()
        .map(|(name, elapsed)| vec![escape(name), seconds(*elapsed), format!("{:.0} %", share(*elapsed))]);
    let rows: Vec<Vec<String>> =
        stages.chain([vec!["total".to_owned(), seconds(total), "100 %".to_owned()]]).collect();
    let columns =
        [TableColumn::Words("stage"), TableColumn::Numbers("seconds"), TableColumn::Numbers("share")];
    format!(
        "<p>The command:</p>\n<pre><code>{}</code></pre>\n{}",
        html::text(&this_run.command),
        table("Time by stage, until this page was written", &columns, &rows)
    )
}
