//! Dates between which documents are looked at.

use minwise::keep::date_word;
use serde_json::Value;

use crate::record::Entry;

/// A window of time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DateWindow {
    /// The field of the metadata that has the date; without it, when the document was added.
    pub field: Option<String>,
    /// The first moment, as a date.
    pub since: Option<String>,
    /// The first moment behind it, as a date.
    pub until: Option<String>,
}

impl DateWindow {
    /// Whether both ends are dates; the first that is not.
    #[must_use]
    pub fn wrong(&self) -> Option<&str> {
        [&self.since, &self.until]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .find(|date| date_word(date).is_none())
    }

    /// Whether a document is in it; one without a date is not.
    pub(crate) fn holds(&self, entry: &Entry) -> bool {
        let date = match &self.field {
            None => date_word(&entry.added.to_string()),
            Some(field) => match entry.metadata.get(field) {
                Some(Value::String(text)) => date_word(text),
                Some(Value::Number(number)) => date_word(&number.to_string()),
                _ => None,
            },
        };
        let end = |end: &Option<String>| end.as_deref().and_then(date_word);
        date.is_some_and(|date| {
            end(&self.since).is_none_or(|since| since <= date)
                && end(&self.until).is_none_or(|until| date < until)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(date: &Value) -> Entry {
        let Value::Object(metadata) = json!({ "filed": date }) else { unreachable!("it is an object") };
        let id = "a".to_owned();
        Entry {
            id,
            title: None,
            metadata,
            added: 1_700_000_000,
            bytes: 0,
            characters: 0,
            units: 0,
            shingles: 0,
        }
    }

    fn window(field: Option<&str>, since: &str, until: &str) -> DateWindow {
        let date = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        DateWindow { field: field.map(str::to_owned), since: date(since), until: date(until) }
    }

    #[test]
    fn a_window_holds_its_beginning_and_not_its_end() {
        let filed = entry(&json!("2020-05-01"));
        for (since, until, holds) in [
            ("2020-05-01", "", true),
            ("2020-05-02", "", false),
            ("", "2020-05-01", false),
            ("2019", "2021", true),
            ("", "", true),
        ] {
            assert_eq!(window(Some("filed"), since, until).holds(&filed), holds, "{since} to {until}");
        }
        assert!(!window(Some("filed"), "", "").holds(&entry(&json!(null))));
        assert!(window(None, "2023-11-01", "2023-12-01").holds(&filed));
        assert_eq!(window(None, "2023-11-01", "soon").wrong(), Some("soon"));
    }
}
