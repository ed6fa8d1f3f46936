//! Formats the summary of a run for people: common figures first, then technical figures under "Details".

use std::fmt::{self, Write as _};
use std::time::Duration;

use minwise::candidate::Curve;
use minwise::figure::{counted, grouped, interval, lower_bound, percent, probability};
use minwise_engine::audit::Audit;

/// Width of the column of names, in characters.
const NAMES: usize = 12;

/// Lines of a summary, each with its name.
#[derive(Debug, Default)]
pub struct SummaryLines {
    lines: Vec<(&'static str, String)>,
    details: Vec<(&'static str, String)>,
}

impl SummaryLines {
    /// Appends a line.
    pub fn line(&mut self, name: &'static str, text: impl Into<String>) {
        self.lines.push((name, text.into()));
    }

    /// Appends a line, if there is a text.
    pub fn optional(&mut self, name: &'static str, text: Option<String>) {
        self.lines.extend(text.map(|text| (name, text)));
    }

    /// Appends a technical figure to the details.
    pub fn detail(&mut self, name: &'static str, text: impl Into<String>) {
        self.details.push((name, text.into()));
    }

    /// Appends the durations of the stages to the details.
    pub fn stages(&mut self, stages: &[(&'static str, Duration)]) {
        let seconds = |(name, elapsed): &(&str, Duration)| format!("{name} {}", duration(*elapsed));
        let all: Vec<String> = stages.iter().map(seconds).collect();
        if !all.is_empty() {
            self.detail("stages", all.join(", "));
        }
    }
}

impl fmt::Display for SummaryLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        let mut before = "";
        for (name, text) in &self.lines {
            // A further line of the same name continues the line before, so the name is not repeated.
            let shown = if *name == before { "" } else { name };
            let _ = writeln!(out, "{shown:NAMES$}{text}");
            before = name;
        }
        if !self.details.is_empty() {
            let _ = writeln!(out, "\nDetails");
        }
        for (name, text) in &self.details {
            let _ = writeln!(out, "{name:NAMES$}{text}");
        }
        f.write_str(out.trim_end())
    }
}

/// Counts of candidate pairs by their outcome.
#[derive(Debug, Clone, Copy)]
pub struct ComparedPairs<'a> {
    pub candidates: u64,
    /// Number of pairs that were ruled out by their sketches.
    pub filtered: u64,
    /// Number of pairs that were compared exactly.
    pub compared: u64,
    /// Number of compared pairs that reach the threshold.
    pub verified: u64,
    /// Number of pairs that the exact comparison found reordered; `reordered_estimated` counts pairs found reordered by
    /// sketches.
    pub reordered: u64,
    pub reordered_estimated: u64,
    pub threshold: f64,
    pub measure: &'a str,
    pub order: Option<f64>,
}

impl fmt::Display for ComparedPairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", counted(self.candidates, "candidate pair"))?;
        if self.candidates == 0 {
            return Ok(());
        }
        let mut parts = vec![];
        match self.filtered {
            0 => {}
            1 => parts.push("1 ruled out by its sketches".to_owned()),
            pairs => parts.push(format!("{} ruled out by their sketches", grouped(pairs))),
        }
        if self.reordered_estimated > 0 {
            parts.push(format!("{} reordered, by their sketches", grouped(self.reordered_estimated)));
        }
        parts.push(format!("{} compared exactly", grouped(self.compared)));
        if self.order.is_some() {
            parts.push(format!("{} reordered", grouped(self.reordered)));
        }
        let by = if self.measure == "jaccard" { String::new() } else { format!(" by {}", self.measure) };
        let reach = if self.verified == 1 { "reaches" } else { "reach" };
        parts.push(format!("{} {reach} {}{by}", grouped(self.verified), self.threshold));
        write!(f, ": {}", parts.join(", "))
    }
}

/// Returns the line about the recall of a run: the expected recall, and the recall that an audit measured.
pub fn recall(
    expected: Option<f64>,
    low: Option<f64>,
    at_threshold: Option<(f64, f64)>,
    audit: Option<&Audit>,
) -> String {
    let expected = match (expected, low, at_threshold) {
        (Some(recall), Some(low), _) if low < recall => {
            format!("{} expected, at least {}", probability(recall), lower_bound(low))
        }
        (Some(recall), ..) => format!("{} expected", probability(recall)),
        (None, _, Some((threshold, found))) => match audit {
            Some(audit) if audit.is_complete() && !audit.is_known() => return confirmed(audit.documents),
            // The audit can only raise the probability, so that of the run is a lower bound.
            Some(audit) if audit.is_of_all() && !audit.is_known() => {
                return format!(
                    "no near-duplicate was found; an audit of all {} found none either; a pair of similarity {threshold} is found with a probability of at least {}",
                    counted(audit.documents, "document"),
                    lower_bound(found)
                );
            }
            _ => format!(
                "unknown, because no pair was found; a pair of similarity {threshold} is found with a probability of {}",
                probability(found)
            ),
        },
        (None, ..) => "unknown, because nothing was compared".to_owned(),
    };
    audit.map_or_else(|| expected.clone(), |audit| format!("{expected}; {}", measured(audit)))
}

/// Returns the threshold and the probability of finding a pair at the threshold, unless no documents were read.
pub fn at_threshold(read: u64, threshold: f64, curve: &Curve) -> Option<(f64, f64)> {
    (read > 0).then(|| (threshold, curve.probability(threshold)))
}

/// Returns the line about recall if no pair was found although all documents were compared with one another.
fn confirmed(documents: u64) -> String {
    match documents {
        0 => "nothing to measure, because no document has a text".to_owned(),
        1 => "nothing to measure, because there is only one document".to_owned(),
        2 => "nothing to measure: the two documents were compared, and are not near-duplicates".to_owned(),
        _ => format!(
            "nothing to measure: all {} were compared with one another, and none has a near-duplicate",
            counted(documents, "document")
        ),
    }
}

/// Returns the line about the recall that an audit measured.
fn measured(audit: &Audit) -> String {
    let Audit { kept, documents, missed, recall, low, high, .. } = *audit;
    if documents < kept.min(1) {
        return "not measured, because it would take more than 5 % of the run time (`--audit N` measures it)"
            .to_owned();
    }
    let more = if audit.says_little() && documents < kept { " (`--audit N` compares more)" } else { "" };
    let of = if documents == kept {
        format!("the {}", counted(kept, "kept document"))
    } else {
        format!("a sample of {} of {}", grouped(documents), counted(kept, "kept document"))
    };
    // A search of a sample, or a search by bands, does not find all duplicates, so the verb is weaker.
    let (one, several) = if audit.is_complete() {
        ("repeats", "repeat")
    } else {
        ("was found to repeat", "were found to repeat")
    };
    let repeat = match missed {
        _ if kept == 0 => "no kept document has a text".to_owned(),
        0 if kept == 1 => "the only kept document is not a missed duplicate".to_owned(),
        _ if kept == 1 => "the only kept document repeats another one".to_owned(),
        0 => format!("none of {of} {one} another one"),
        1 => format!("1 of {of} {one} another one"),
        missed => format!("{} of {of} {several} another one", grouped(missed)),
    };
    if !audit.is_known() {
        return format!("not measured, because none was removed and {repeat}{more}");
    }
    let share = probability(recall);
    let ends = interval(low, high).map_or(String::new(), |ends| format!(" ({ends})"));
    format!("{share} measured{ends}: {repeat}{more}")
}

/// Returns the number of documents that are kept, removed or marked, with their share of all documents that were read.
pub fn documents_of(documents: u64, read: u64) -> String {
    let share = if read == 0 { String::new() } else { format!(" ({})", percent(documents, read)) };
    format!("{}{share}", counted(documents, "document"))
}

/// Returns the upper bound on the error of the whole filter, if the error was given per look.
pub fn total_error(error: f64) -> String {
    format!(
        "all looks of the filter together wrongly rule out at most {error:e} of the pairs at the threshold"
    )
}

/// Returns the share of the registers of candidate pairs that the filter compared.
pub fn filter_share(compared: u64, registers: u64) -> Option<String> {
    (registers > 0).then(|| {
        format!(
            "the filter compared {} of the registers of the candidate pairs",
            percent(compared, registers)
        )
    })
}

/// Returns the search by which candidates were found, in words.
pub fn found_by(search: &str, bands: usize, rows: usize) -> String {
    match search {
        "banding" => format!("{} of {}", counted(bands as u64, "band"), counted(rows as u64, "row")),
        "all" => "all pairs are candidates".to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the number of records that were read. If no record was rejected, they are called documents.
pub fn records(read: u64, rejected: u64) -> String {
    counted(read, if rejected == 0 { "document" } else { "record" })
}

/// Returns the end of a sentence with the number of documents whose text is null, or an empty text if it is 0.
pub fn with_nulls(nulls: u64) -> String {
    if nulls == 0 { String::new() } else { format!("; {} with a null text", grouped(nulls)) }
}

/// Returns the numbers of skipped files and records, or `None` if both are 0. Unless the files are listed anyway, the
/// text names the option that lists them.
pub fn skipped(files: u64, records: u64, are_listed: bool) -> Option<String> {
    let option = |them: &str| if are_listed { String::new() } else { format!(" (`--verbose` lists {them})") };
    let files = match files {
        0 => None,
        1 => Some(format!("1 file that is not a document{}", option("it"))),
        _ => Some(format!("{} files that are not documents{}", grouped(files), option("them"))),
    };
    let records = match records {
        0 => None,
        _ => Some(format!("{} without text", counted(records, "record"))),
    };
    let parts: Vec<String> = [files, records].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns a duration in seconds, or in milliseconds if it is below 10 ms.
fn duration(elapsed: Duration) -> String {
    let milliseconds = 1e3 * elapsed.as_secs_f64();
    match milliseconds {
        10.0.. => format!("{:.2} s", milliseconds / 1e3),
        0.1.. => format!("{milliseconds:.1} ms"),
        _ => "below 0.1 ms".to_owned(),
    }
}

/// Returns the duration and the speed of a run. If `documents` or `bytes` is 0, its rate is left out.
pub fn time(elapsed: Duration, documents: u64, bytes: u64) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let mut out = duration(elapsed);
    let mut rates = vec![];
    if documents > 0 {
        rates.push(format!("{} documents/s", grouped((documents as f64 / seconds) as u64)));
    }
    if bytes > 0 {
        rates.push(format!("{:.1} MB/s", bytes as f64 / 1e6 / seconds));
    }
    if !rates.is_empty() {
        let _ = write!(out, " ({})", rates.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_that_says_little_says_how_it_says_more() {
        let said = |counts, shares| measured(&audited(counts, shares));
        let by = "with 95 % confidence): none of a sample of 9 of 1,200 kept documents was found to repeat another one";
        let more = " (`--audit N` compares more)";
        assert_eq!(
            said([1200, 9, 2, 0], [1.0, 0.34, 1.0]),
            format!("100 % measured (at least 34.00 % {by}{more}")
        );
        assert_eq!(said([1200, 9, 2, 0], [1.0, 0.91, 1.0]), format!("100 % measured (at least 91.00 % {by}"));
        assert_eq!(
            said([1200, 1200, 98, 2], [0.98, 0.97, 0.981]),
            "98.00 % measured (97.00 % to 98.10 % with 95 % confidence): 2 of the 1,200 kept documents were found to repeat another one"
        );
        // An interval that consists of one value is not printed.
        assert_eq!(
            said([1200, 1200, 98, 0], [1.0; 3]),
            "100 % measured: none of the 1,200 kept documents repeats another one"
        );
        let too_long = said([1200, 0, 5, 0], [1.0, 0.0, 1.0]);
        assert!(too_long.starts_with("not measured, because it would take more than 5 %"), "{too_long}");
        let unlike =
            "none was removed and none of a sample of 9 of 12 kept documents was found to repeat another one";
        assert_eq!(said([12, 9, 0, 0], [1.0, 0.0, 1.0]), format!("not measured, because {unlike}{more}"));
        // All documents were compared with all others.
        assert_eq!(
            said([9, 9, 0, 0], [1.0; 3]),
            "not measured, because none was removed and none of the 9 kept documents repeats another one"
        );
        assert_eq!(said([0, 0, 3, 0], [1.0; 3]), "100 % measured: no kept document has a text");
        assert_eq!(
            said([1, 1, 3, 0], [1.0; 3]),
            "100 % measured: the only kept document is not a missed duplicate"
        );
        assert_eq!(
            said([9, 9, 1, 1], [0.5; 3]),
            "50.00 % measured: 1 of the 9 kept documents repeats another one"
        );
    }

    fn audited([kept, documents, removed, missed]: [u64; 4], [recall, low, high]: [f64; 3]) -> Audit {
        let mut audit = Audit::default();
        (audit.kept, audit.documents, audit.removed, audit.missed) = (kept, documents, removed, missed);
        (audit.recall, audit.low, audit.high) = (recall, low, high);
        audit
    }

    #[test]
    fn a_recall_that_is_not_known_is_not_stated() {
        assert_eq!(recall(Some(0.9999), Some(0.98), None, None), "99.99 % expected, at least 98.00 %");
        assert_eq!(recall(Some(1.0), Some(1.0), None, None), "100 % expected");
        assert_eq!(
            recall(Some(0.999_999), Some(0.999_96), None, None),
            "above 99.99 % expected, at least 99.99 %"
        );
        let at = Some((0.8, 0.9923));
        let unknown = "unknown, because no pair was found; a pair of similarity 0.8 is found with a probability of 99.23 %";
        assert_eq!(recall(None, None, at, None), unknown);
        assert_eq!(recall(None, None, None, None), "unknown, because nothing was compared");
        let sampled = audited([12, 9, 0, 0], [1.0, 0.0, 1.0]);
        // Clean corpora are common. All documents were looked up, but by bands, so the interval is not one value.
        let all = audited([60_000, 60_000, 0, 0], [1.0, 0.0, 1.0]);
        assert_eq!(
            recall(None, None, at, Some(&all)),
            "no near-duplicate was found; an audit of all 60,000 documents found none either; a pair of similarity 0.8 is found with a probability of at least 99.23 %"
        );
        assert!(recall(None, None, at, Some(&sampled)).starts_with(&format!("{unknown}; not measured, ")));
        for (documents, says) in [
            (0, "nothing to measure, because no document has a text"),
            (1, "nothing to measure, because there is only one document"),
            (2, "nothing to measure: the two documents were compared, and are not near-duplicates"),
            (
                9,
                "nothing to measure: all 9 documents were compared with one another, and none has a near-duplicate",
            ),
        ] {
            assert_eq!(recall(None, None, at, Some(&audited([documents, documents, 0, 0], [1.0; 3]))), says);
        }
    }

    #[test]
    fn every_candidate_pair_is_accounted_for() {
        let pairs = ComparedPairs {
            candidates: 1400,
            filtered: 100,
            compared: 1300,
            verified: 1200,
            reordered: 0,
            reordered_estimated: 0,
            threshold: 0.8,
            measure: "jaccard",
            order: None,
        };
        assert_eq!(
            pairs.to_string(),
            "1,400 candidate pairs: 100 ruled out by their sketches, 1,300 compared exactly, 1,200 reach 0.8"
        );
        let one = ComparedPairs {
            candidates: 2,
            filtered: 1,
            compared: 1,
            verified: 1,
            measure: "containment",
            ..pairs
        };
        assert_eq!(
            one.to_string(),
            "2 candidate pairs: 1 ruled out by its sketches, 1 compared exactly, 1 reaches 0.8 by containment"
        );
        let none = ComparedPairs { candidates: 0, ..pairs };
        assert_eq!(none.to_string(), "0 candidate pairs");
    }

    #[test]
    fn rejected_records_are_not_called_documents() {
        assert_eq!((records(50, 0), records(50, 2)), ("50 documents".to_owned(), "50 records".to_owned()));
    }

    #[test]
    fn what_was_skipped_is_counted() {
        assert_eq!(skipped(0, 0, false), None);
        assert_eq!(skipped(1, 0, false).unwrap(), "1 file that is not a document (`--verbose` lists it)");
        assert_eq!(skipped(1, 0, true).unwrap(), "1 file that is not a document");
        assert_eq!(
            skipped(1200, 2, false).unwrap(),
            "1,200 files that are not documents (`--verbose` lists them), 2 records without text"
        );
    }
}
