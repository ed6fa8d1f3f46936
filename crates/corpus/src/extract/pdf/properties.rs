//! Reads the title, author and dates that a PDF states.

use std::collections::BTreeMap;

use hayro_syntax::Pdf;
use hayro_syntax::object::{DateTime, Dict, String as PdfString};

use super::strings;

/// Reads the title and the metadata of a PDF.
pub(super) fn read(pdf: &Pdf) -> (Option<String>, BTreeMap<String, String>) {
    let stated = pdf.metadata();
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let language = catalog.and_then(|catalog| catalog.get::<PdfString<'_>>(b"Lang"));
    let fields = [
        ("author", stated.author.as_deref().and_then(text)),
        ("subject", stated.subject.as_deref().and_then(text)),
        ("keywords", stated.keywords.as_deref().and_then(text)),
        ("created", stated.creation_date.map(date)),
        ("modified", stated.modification_date.map(date)),
        ("language", language.and_then(|language| text(language.as_bytes()))),
    ];
    let metadata = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    (stated.title.as_deref().and_then(text), metadata)
}

fn text(bytes: &[u8]) -> Option<String> {
    let value = strings::decode(bytes);
    Some(value.trim_matches(['\0', ' ']).to_owned()).filter(|value| !value.is_empty())
}

/// Writes a date as `2024-05-01T12:00:00+02:00`.
fn date(date: DateTime) -> String {
    let DateTime { year, month, day, hour, minute, second, utc_offset_hour, utc_offset_minute } = date;
    let zone = match (utc_offset_hour, utc_offset_minute) {
        (0, 0) => "Z".to_owned(),
        (hours, minutes) => format!("{hours:+03}:{minutes:02}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_everywhere_else() {
        let noon = DateTime {
            year: 2024,
            month: 5,
            day: 1,
            hour: 12,
            minute: 0,
            second: 0,
            utc_offset_hour: 2,
            utc_offset_minute: 0,
        };
        assert_eq!(date(noon), "2024-05-01T12:00:00+02:00");
        assert_eq!(date(DateTime { utc_offset_hour: 0, ..noon }), "2024-05-01T12:00:00Z");
        let west = DateTime { utc_offset_hour: -9, utc_offset_minute: 30, ..noon };
        assert_eq!(date(west), "2024-05-01T12:00:00-09:30");
    }
}
