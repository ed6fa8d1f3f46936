//! What a PDF says about itself.

use std::collections::BTreeMap;

use pdf_extract::{Dictionary, Document, Object, decode_text_string};

/// What the information dictionary says, and what it is called here.
const INFO: [(&[u8], &str); 6] = [
    (b"Title", "title"),
    (b"Author", "author"),
    (b"Subject", "subject"),
    (b"Keywords", "keywords"),
    (b"CreationDate", "created"),
    (b"ModDate", "modified"),
];

/// Title and metadata.
pub(super) fn read(document: &Document) -> (Option<String>, BTreeMap<String, String>) {
    let info = document.trailer.get_deref(b"Info", document).and_then(Object::as_dict).ok();
    let mut metadata = BTreeMap::new();
    for (name, key) in INFO {
        if let Some(value) = info.and_then(|info| text(info, name, document)) {
            metadata.insert(key.to_owned(), if name.ends_with(b"Date") { date(&value) } else { value });
        }
    }
    if let Some(language) = document.catalog().ok().and_then(|catalog| text(catalog, b"Lang", document)) {
        metadata.insert("language".to_owned(), language);
    }
    (metadata.remove("title"), metadata)
}

fn text(dictionary: &Dictionary, name: &[u8], document: &Document) -> Option<String> {
    let value = decode_text_string(dictionary.get_deref(name, document).ok()?).ok()?;
    Some(value.trim_matches(['\0', ' ']).to_owned()).filter(|value| !value.is_empty())
}

/// `D:20240501120000+02'00'` as `2024-05-01T12:00:00+02:00`, as far as it goes; anything else as it is.
fn date(value: &str) -> String {
    let digits = value.strip_prefix("D:").unwrap_or(value);
    let part = |from: usize, to: usize| {
        digits.get(from..to).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (Some(year), Some(month), Some(day)) = (part(0, 4), part(4, 6), part(6, 8)) else {
        return value.to_owned();
    };
    let (Some(hour), Some(minute), Some(second)) = (part(8, 10), part(10, 12), part(12, 14)) else {
        return format!("{year}-{month}-{day}");
    };
    // The digits of the seconds end here.
    let (_, zone) = digits.split_at(14);
    let zone = zone.trim_end_matches('\'').replace('\'', ":");
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}{zone}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_written_as_everywhere_else() {
        assert_eq!(date("D:20240501120000+02'00'"), "2024-05-01T12:00:00+02:00");
        assert_eq!(date("D:20240501120000Z"), "2024-05-01T12:00:00Z");
        assert_eq!(date("20240501"), "2024-05-01");
        assert_eq!(date("D:2024"), "D:2024");
        assert_eq!(date("Mai 2024, früh"), "Mai 2024, früh");
    }
}
