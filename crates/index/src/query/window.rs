//! The window of dates in which documents are compared.

use minwise::calendar::{DAY_SECONDS, Date};
use minwise::keep::date_word;
use serde_json::Value;

use crate::record::Entry;

/// A window of time. The first and the last given date belong to it.
#[derive(Debug)]
pub(crate) struct DateWindow<'o> {
    /// Metadata field with the date of a document. Without a field, the date of addition counts.
    field: Option<&'o str>,
    /// First moment of the window, as a number that sorts by time ([`date_word`]).
    since: Option<u64>,
    until: Option<WindowEnd>,
}

#[derive(Debug, Clone, Copy)]
enum WindowEnd {
    /// First moment after the year, month or day that `until` names, as a [`date_word`]. This end is exclusive.
    Before(u64),
    /// Moment that `until` names, as a [`date_word`]. This end is inclusive.
    At(u64),
}

impl<'o> DateWindow<'o> {
    /// Returns the window between two dates, or `None` if no date is given. A text that is no date is
    /// ignored, because a check rejects it earlier.
    pub(crate) fn new(field: Option<&'o str>, since: Option<&str>, until: Option<&str>) -> Option<Self> {
        let (since, until) = (since.and_then(date_word), until.and_then(end_of));
        (since.is_some() || until.is_some()).then_some(Self { field, since, until })
    }

    /// Reports whether the window ends before it begins, so that it contains no document.
    pub(crate) fn is_reversed(&self) -> bool {
        match (self.since, self.until) {
            (Some(since), Some(WindowEnd::Before(end))) => since >= end,
            (Some(since), Some(WindowEnd::At(last))) => since > last,
            _ => false,
        }
    }

    pub(crate) fn is_date(text: &str) -> bool {
        date_word(text).is_some()
    }

    /// Reports whether a document is in the window. A document without a date is in no window.
    pub(crate) fn holds(&self, entry: &Entry) -> bool {
        let date = match self.field {
            None => date_word(&entry.added.to_string()),
            Some(field) => match entry.metadata.get(field) {
                Some(Value::String(text)) => date_word(text),
                Some(Value::Number(number)) => date_word(&number.to_string()),
                _ => None,
            },
        };
        date.is_some_and(|date| {
            self.since.is_none_or(|since| since <= date)
                && self.until.is_none_or(|until| match until {
                    WindowEnd::Before(end) => date < end,
                    WindowEnd::At(last) => date <= last,
                })
        })
    }
}

/// Returns the end of a window with this last date. If the date is a year, a month or a day, the window
/// contains all of it.
fn end_of(date: &str) -> Option<WindowEnd> {
    let last = date_word(date)?;
    let parts: Vec<i32> = date.trim().split('-').map_while(|part| part.parse().ok()).collect();
    let next = match (parts[..].as_ref(), date.trim().len()) {
        (&[year], 4) | (&[year, 12], 7) => Date::new(year + 1, 1, 1),
        (&[year, month], 7) => Date::new(year, u8::try_from(month).ok()? + 1, 1),
        (&[year, month, day], 10) => {
            let day = Date::new(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?)?;
            Some(Date::from_days(day.days() + 1))
        }
        _ => None,
    };
    let Some(next) = next else { return Some(WindowEnd::At(last)) };
    // The seconds are written with a decimal point, because `date_word` would read four digits as a year.
    let seconds = next.days() * DAY_SECONDS.cast_signed();
    date_word(&format!("{seconds}.0")).map(WindowEnd::Before)
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
            tokens: 0,
            shingles: 0,
        }
    }

    fn holds(field: Option<&str>, since: &'static str, until: &'static str, entry: &Entry) -> bool {
        let date = |text: &'static str| (!text.is_empty()).then_some(text);
        DateWindow::new(field, date(since), date(until)).is_none_or(|window| window.holds(entry))
    }

    #[test]
    fn both_ends_of_a_window_are_in_it() {
        let filed = entry(&json!("2020-05-01"));
        for (since, until, is_in) in [
            ("2020-05-01", "", true),
            ("2020-05-02", "", false),
            ("", "2020-05-01", true),
            ("", "2020-04-30", false),
            ("2020-05-01", "2020-05-01", true),
            ("", "2020", true),
            ("", "2019", false),
            ("", "2020-05", true),
            ("", "2020-04", false),
            ("2019", "2021", true),
            ("", "", true),
        ] {
            assert_eq!(holds(Some("filed"), since, until, &filed), is_in, "{since} to {until}");
        }
        let no_date = entry(&json!(null));
        assert!(!holds(Some("filed"), "2020", "", &no_date) && holds(Some("filed"), "", "", &no_date));
        assert!(holds(None, "2023-11-01", "2023-12-01", &filed));
    }

    #[test]
    fn a_window_may_not_end_before_it_begins() {
        let is_reversed =
            |since, until| DateWindow::new(None, Some(since), Some(until)).unwrap().is_reversed();
        for (since, until) in [
            ("2026-03-05", "2026-03-01"),
            ("2026-03-02", "2026-03-01"),
            ("2026-04", "2026-03"),
            ("2026", "2025"),
            ("2026-03-01T12:00", "2026-03-01T11:59"),
        ] {
            assert!(is_reversed(since, until), "{since} to {until}");
        }
        for (since, until) in [
            ("2026-03-01", "2026-03-01"),
            ("2026-03-05", "2026-03"),
            ("2026-12-31", "2026"),
            ("2026-03-01T12:00", "2026-03-01T12:00"),
            ("2026-03-01T12:00", "2026-03-01"),
        ] {
            assert!(!is_reversed(since, until), "{since} to {until}");
        }
    }

    #[test]
    fn a_day_is_in_the_window_up_to_its_last_moment() {
        let late = entry(&json!("2020-12-31T23:59:59.999999Z"));
        for until in ["2020", "2020-12", "2020-12-31", "2020-12-31T23:59:59.999999Z"] {
            assert!(holds(Some("filed"), "", until, &late), "{until}");
        }
        assert!(!holds(Some("filed"), "", "2020-12-31T23:59", &late));
        let next = entry(&json!("2021-01-01"));
        for until in ["2020", "2020-12", "2020-12-31"] {
            assert!(!holds(Some("filed"), "", until, &next), "{until}");
        }
        // The document was added at 2023-11-14T22:13:20Z, which is 1,700,000,000 s after 1970.
        let added = entry(&json!(null));
        assert!(holds(None, "2023-11-14", "2023-11-14", &added));
        assert!(holds(None, "", "1700000000", &added) && !holds(None, "", "1699999999", &added));
        // A date in the first hours of 1970 has four digits in seconds, and must not be read as a year.
        let early = entry(&json!("1970-01-01T00:30:00Z"));
        assert!(holds(Some("filed"), "", "1970-01-01", &early));
        assert!(holds(Some("filed"), "1969-12-31", "9999-12-31", &early));
        assert!(!holds(Some("filed"), "", "1969-12-31", &early));
    }
}
