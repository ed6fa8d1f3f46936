//! The options of a check. The command and the server build the same type, and [`CheckOptions::problems`]
//! checks it for both.

use minwise::weight::{MostDocuments, Weighting};
use serde::{Deserialize, Serialize};

use super::form;
use super::window::DateWindow;
use crate::error::OptionProblem;
use crate::setters::setters;

/// Options of a check: the conditions of a match, and the text that is no evidence.
///
/// [`CheckOptions::default`] has the defaults that the fields name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Minimum Jaccard similarity of a match. Default: 0.5.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1, default = 0.5))]
    pub threshold: f64,
    /// Minimum containment of a match: a document is a match if at least this share of either text appears in the
    /// other. Default: 0.3.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1, default = 0.3))]
    pub containment: f64,
    /// Minimum length in tokens of a shared passage that makes a document a match. A value below the minimum of the
    /// archive counts as the minimum of the archive. With `off` (`CheckOptions::NO_PASSAGE` in Rust), a passage alone
    /// makes no match. Default: the minimum of the archive.
    #[serde(with = "form::passage")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<form::PassageLength>, default = json!(null)))]
    pub passage: Option<usize>,
    /// Maximum number of matches. The answer has the best matches. Default: 10.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, default = 10))]
    pub top: usize,
    /// Maximum number of candidates that are compared, the most promising first. Default: 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, default = 1000))]
    pub candidates: usize,
    /// Maximum number of passages per match. The answer has the longest passages, in the order of the checked text.
    /// Default: 50.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, default = 50))]
    pub passages: usize,
    /// Shingles in more documents than this are left out: a whole number of documents from 1, or a share of all documents
    /// above 0 and at most 1.0, written with a decimal point. Default: no limit.
    #[serde(with = "form::most_documents")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<form::MaxDf>, default = json!(null)))]
    pub max_df: Option<MostDocuments>,
    /// Texts whose shingles are left out of all comparisons, such as the text of a form. Default: none.
    pub ignore_text: Vec<String>,
    /// Whether text in quotation marks is left out of all comparisons. Default: false.
    pub ignore_quotations: bool,
    /// Whether lists of references at the end of a document are left out of all comparisons. Default: false.
    pub ignore_references: bool,
    /// Metadata fields: a document with the same value as the checked text in one of these fields is skipped.
    /// Default: none.
    pub exclude: Vec<String>,
    /// First day of the documents that are compared, inclusive, such as `2026-03-01`; or a year, a month, or a time such as
    /// `2026-03-01T12:00:00Z`. Earlier documents are skipped. Default: no limit.
    pub since: Option<String>,
    /// Last day of the documents that are compared, inclusive, such as `2026-03-31`; or a year, a month, or a time such as
    /// `2026-03-31T12:00:00Z`. Later documents are skipped. It cannot be before `since`. Default: no limit.
    pub until: Option<String>,
    /// Metadata field with the date of a document, for `since` and `until`. Default: the date on which the document was
    /// added.
    pub date_field: Option<String>,
    /// Weighting of shingles for the weighted similarity of a match. With `none`, matches have no weighted similarity. Default:
    /// `none`.
    #[serde(with = "form::weighting")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<form::WeightingName>, default = json!(null)))]
    pub weight: Option<Weighting>,
}

setters!(CheckOptions {
    /// Minimum Jaccard similarity of a match. Default: 0.5.
    threshold: f64,
    /// Minimum containment of a match: a document is a match if at least this share of either text appears in the
    /// other. Default: 0.3.
    containment: f64,
    /// Maximum number of matches. The answer has the best matches. Default: 10.
    top: usize,
    /// Maximum number of candidates that are compared, the most promising first. Default: 1000.
    candidates: usize,
    /// Maximum number of passages per match. The answer has the longest passages, in the order of the checked text.
    /// Default: 50.
    passages: usize,
    /// Whether text in quotation marks is left out of all comparisons. Default: false.
    ignore_quotations: bool,
    /// Whether lists of references at the end of a document are left out of all comparisons. Default: false.
    ignore_references: bool,
    ;
    /// Minimum length in tokens of a shared passage that makes a document a match. A value below the minimum of the
    /// archive counts as the minimum of the archive. With `off` (`CheckOptions::NO_PASSAGE` in Rust), a passage alone
    /// makes no match. Default: the minimum of the archive.
    passage: Option<usize>,
    /// Shingles in more documents than this are left out: a whole number of documents from 1, or a share of all documents
    /// above 0 and at most 1.0, written with a decimal point. Default: no limit.
    max_df: Option<MostDocuments>,
    /// Weighting of shingles for the weighted similarity of a match. With `none`, matches have no weighted similarity. Default:
    /// `none`.
    weight: Option<Weighting>,
    ;
    /// First day of the documents that are compared, inclusive, such as `2026-03-01`; or a year, a month, or a time such as
    /// `2026-03-01T12:00:00Z`. Earlier documents are skipped. Default: no limit.
    since: Option<String>,
    /// Last day of the documents that are compared, inclusive, such as `2026-03-31`; or a year, a month, or a time such as
    /// `2026-03-31T12:00:00Z`. Later documents are skipped. It cannot be before `since`. Default: no limit.
    until: Option<String>,
    /// Metadata field with the date of a document, for `since` and `until`. Default: the date on which the document was
    /// added.
    date_field: Option<String>,
    ;
    /// Texts whose shingles are left out of all comparisons, such as the text of a form. Default: none.
    ignore_text: Vec<String>,
    /// Metadata fields: a document with the same value as the checked text in one of these fields is skipped.
    /// Default: none.
    exclude: Vec<String>,
});

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            threshold: 0.5,
            containment: 0.3,
            passage: None,
            top: 10,
            candidates: 1000,
            passages: 50,
            max_df: None,
            ignore_text: vec![],
            ignore_quotations: false,
            ignore_references: false,
            exclude: vec![],
            since: None,
            until: None,
            date_field: None,
            weight: None,
        }
    }
}

impl CheckOptions {
    /// Value of [`passage`](Self::passage) with which a passage alone makes no match.
    pub const NO_PASSAGE: usize = form::NO_PASSAGE;

    /// Returns the weighting; `None` if it is not set or is [`Weighting::None`], because matches then have no weighted
    /// similarity.
    pub(crate) fn weighting(&self) -> Option<Weighting> {
        self.weight.filter(|&weighting| weighting != Weighting::None)
    }

    /// Returns the window of dates in which documents are compared, if there is one.
    pub(crate) fn window(&self) -> Option<DateWindow<'_>> {
        DateWindow::new(self.date_field.as_deref(), self.since.as_deref(), self.until.as_deref())
    }

    /// Returns every option with a value that is not allowed, in the order of the fields. A check with such
    /// options fails.
    #[must_use]
    pub fn problems(&self) -> Vec<OptionProblem> {
        let mut problems = vec![];
        for (option, share) in [("threshold", self.threshold), ("containment", self.containment)] {
            if !(0.0..=1.0).contains(&share) {
                problems.push(OptionProblem::new(option, share, "a number from 0 to 1"));
            }
        }
        for (option, count) in [("top", self.top), ("candidates", self.candidates)] {
            if count == 0 {
                problems.push(OptionProblem::new(option, count, "at least 1"));
            }
        }
        let is_wrong = |most: &MostDocuments| match *most {
            MostDocuments::Share(share) => !(share > 0.0 && share <= 1.0),
            MostDocuments::Number(number) => number == 0,
            _ => true,
        };
        if let Some(most) = self.max_df.filter(is_wrong) {
            let expected = "a share such as `0.1`, up to `1.0`, or a number such as `500`, from `1`";
            problems.push(OptionProblem::new("max_df", most, expected));
        }
        for (option, date) in [("since", &self.since), ("until", &self.until)] {
            if let Some(date) = date.as_ref().filter(|date| !DateWindow::is_date(date)) {
                problems.push(OptionProblem::new(option, date, "a date such as `2026-03-01`"));
            }
        }
        // `window` ignores a text that is no date, because the loop above has reported it.
        if let (Some(until), true) = (&self.until, self.window().is_some_and(|window| window.is_reversed())) {
            problems.push(OptionProblem::new("until", until, "a date on or after `since`"));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &str) -> CheckOptions {
        serde_json::from_str(options).unwrap()
    }

    #[test]
    fn options_that_are_absent_have_their_defaults() {
        assert_eq!(read("{}"), CheckOptions::default());
        let some = read(r#"{"top": 3, "max_df": 0.25, "weight": "tf-idf,smooth", "until": "2026-03-01"}"#);
        assert_eq!((some.top, some.max_df), (3, Some(MostDocuments::Share(0.25))));
        assert_eq!(some.weight, Some(Weighting::TfIdfSmooth));
        assert_eq!(read(&serde_json::to_string(&some).unwrap()), some);
        assert_eq!(read(r#"{"max_df": 1}"#).max_df, Some(MostDocuments::Number(1)));
        assert_eq!(read(r#"{"max_df": 1.0}"#).max_df, Some(MostDocuments::Share(1.0)));
        assert_eq!(read(r#"{"max_df": 2.0}"#).max_df, Some(MostDocuments::Number(2)));
    }

    #[test]
    fn a_passage_alone_can_be_no_match() {
        let off = read(r#"{"passage": "off"}"#);
        assert_eq!(off, CheckOptions::default().passage(CheckOptions::NO_PASSAGE));
        assert_eq!(read(&serde_json::to_string(&off).unwrap()), off);
        assert!(serde_json::to_string(&off).unwrap().contains(r#""passage":"off""#));
        assert_eq!(
            (read(r#"{"passage": 7}"#).passage, read(r#"{"passage": null}"#).passage),
            (Some(7), None)
        );
        for wrong in [r#"{"passage": "on"}"#, r#"{"passage": -1}"#, r#"{"passage": 1.5}"#] {
            let error = serde_json::from_str::<CheckOptions>(wrong).unwrap_err().to_string();
            assert!(error.contains("expected a whole number, `off` or null"), "{error}");
        }
    }

    #[test]
    fn every_wrong_option_is_named() {
        assert_eq!(CheckOptions::default().problems(), []);
        for (options, named) in [
            (r#"{"threshold": 1.5}"#, "threshold"),
            (r#"{"containment": -0.1}"#, "containment"),
            (r#"{"top": 0}"#, "top"),
            (r#"{"candidates": 0}"#, "candidates"),
            (r#"{"max_df": 0}"#, "max_df"),
            (r#"{"max_df": -3}"#, "max_df"),
            (r#"{"max_df": 1.5}"#, "max_df"),
            (r#"{"since": "yesterday"}"#, "since"),
            (r#"{"until": "2026-02-30"}"#, "until"),
            (r#"{"since": "2026-03-05", "until": "2026-03-01"}"#, "until"),
            (r#"{"since": "soon", "until": "2026-03-01"}"#, "since"),
        ] {
            let problems = read(options).problems();
            assert_eq!(problems.iter().map(|problem| problem.option).collect::<Vec<_>>(), [named]);
        }
        let all = read(r#"{"threshold": 2, "top": 0, "until": "soon"}"#).problems();
        let said: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "`threshold` cannot be `2`: it must be a number from 0 to 1",
                "`top` cannot be `0`: it must be at least 1",
                "`until` cannot be `soon`: it must be a date such as `2026-03-01`",
            ]
        );
        assert_eq!(CheckOptions { threshold: f64::NAN, ..CheckOptions::default() }.problems().len(), 1);
    }
}
