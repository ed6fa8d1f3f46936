//! Problems in the content of a file.

use std::fmt;

use minwise::{Sentence, escape_control, visible};

use crate::encoding::GuessedEncoding;

/// A problem in the content of a file of records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileProblem {
    /// The content is damaged, or is not of the format of the file.
    Content {
        /// Place in the file, such as a header, a footer, or a row group and a column.
        place: String,
        /// Fault of the file, in words.
        message: String,
    },
    /// A library cannot write the file.
    Unwritten {
        /// Place in the output, such as a row group or a record batch.
        place: String,
        /// Reason in words.
        message: String,
    },
    /// The file has no such column.
    NoColumn {
        /// Name of the column.
        column: String,
        /// Columns that the file has.
        columns: Vec<String>,
    },
    /// Two columns have the same name, and no rule decides which is meant.
    RepeatedColumn {
        /// Name that the columns share.
        column: String,
    },
    /// The bytes of a file of records are not UTF-8.
    NotUtf8 {
        /// The encoding that the file seems to have.
        encoding: Option<GuessedEncoding>,
    },
    /// The type of a column does not fit: a text column holds no texts, or an id column no ids.
    ColumnType {
        /// Name of the column.
        column: String,
        /// Type of the column, in words.
        found: String,
        /// Type that the column should have, in words.
        expected: &'static str,
        /// Columns in the lists of the column, if it holds lists.
        in_lists: Vec<String>,
    },
    /// A path leads into a list, but the file has no lists.
    NoLists {
        /// Path of the field.
        field: String,
        /// Columns that the file has; empty if records have no columns.
        columns: Vec<String>,
    },
    /// A column cannot be converted to the format of an output.
    NotConverted {
        /// Name of the column.
        column: String,
        /// Type of the column, in words.
        found: String,
        /// Format of the output.
        to: String,
    },
    /// The column that is to be added exists already.
    ColumnExists {
        /// Name of the column.
        column: String,
    },
    /// Records share a gzip member, so that no record can be copied as it is stored.
    SharedMember,
    /// The caller requested the bytes of a table row, but a row has no bytes of its own.
    NoBytes,
}

impl FileProblem {
    /// Returns a stable name, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Content { .. } => "damaged",
            Self::Unwritten { .. } => "unwritten",
            Self::NoColumn { .. } => "no_column",
            Self::RepeatedColumn { .. } => "repeated_column",
            Self::ColumnType { .. } => "column_type",
            Self::NotConverted { .. } => "not_converted",
            Self::NoLists { .. } => "no_lists",
            Self::NotUtf8 { .. } => "invalid_utf8",
            Self::ColumnExists { .. } => "column_exists",
            Self::SharedMember => "shared_member",
            Self::NoBytes => "no_bytes",
        }
    }

    /// Returns a hint that explains how to repair the problem, if there is one.
    pub(crate) fn hint(&self) -> Option<Sentence> {
        let hint: Sentence = match self {
            Self::Content { .. } => "it may be cut short, or of another format than its name says".into(),
            Self::NotUtf8 { encoding: Some(encoding) } => format!("`{}` converts it", encoding.conversion()).into(),
            Self::NotUtf8 { encoding: None } => {
                "`iconv -f ENCODING -t utf-8 FILE > NEW` converts a file from another encoding".into()
            }
            Self::RepeatedColumn { .. } => "give its columns different names".into(),
            Self::NoLists { columns, .. } if columns.is_empty() => {
                Sentence::from("leave out ").setting("text-field").text(": the text of a WARC record is its body")
            }
            Self::NoColumn { column, columns } | Self::NoLists { field: column, columns } => {
                if let Some(similar) = columns.iter().find(|other| is_similar(column, other)) {
                    let similar = enumerated(std::slice::from_ref(similar));
                    return Some(format!("did you mean {similar}? {}", listed(columns)).into());
                }
                let hint = Sentence::from(listed(columns));
                match columns.as_slice() {
                    [only] => match dividing(only, column) {
                        Some(delimiter) => {
                            hint.text("; ").setting_to("delimiter", delimiter).text(" divides it")
                        }
                        None => hint,
                    },
                    _ => hint,
                }
            }
            Self::ColumnType { in_lists, .. } if !in_lists.is_empty() => {
                format!("to read the texts of a list, write `[]` behind its name: {}", enumerated(in_lists)).into()
            }
            Self::ColumnType { .. } => Sentence::new()
                .setting("text-field")
                .text(" names the column of the texts, ")
                .setting("id-field")
                .text(" that of the ids, ")
                .setting("keep")
                .text(" others"),
            Self::NotConverted { .. } => {
                "drop the column from the input, or write the format of the input; JSONL can hold lists and objects".into()
            }
            Self::ColumnExists { .. } => Sentence::from("rename the column; ")
                .setting_to("report", "DIR")
                .text(" lists the clusters too"),
            Self::SharedMember => {
                "name an output without `.gz`, which gets the records decompressed, byte for byte".into()
            }
            Self::NoBytes | Self::Unwritten { .. } => return None,
        };
        Some(hint)
    }

    /// Writes the message about a file. The control characters of the file name are already escaped.
    pub(crate) fn describe(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content { place, message } => {
                write!(f, "`{name}` cannot be read: {}: {}", visible(place), visible(message))
            }
            Self::Unwritten { place, message } => {
                write!(f, "{name} cannot be written: {}: {}", visible(place), visible(message))
            }
            Self::NoColumn { column, .. } => {
                write!(f, "`{name}` has no column `{}`", escape_control(column))
            }
            Self::NotUtf8 { encoding: Some(encoding) } => {
                write!(f, "`{name}` is not UTF-8, but seems to be {}", encoding.name())
            }
            Self::NotUtf8 { encoding: None } => write!(f, "the header of `{name}` is not UTF-8"),
            Self::RepeatedColumn { column } => {
                write!(f, "`{name}` has two columns `{}`", escape_control(column))
            }
            Self::NoLists { field, .. } => {
                write!(f, "`{}` leads into a list, and `{name}` has no lists", escape_control(field))
            }
            Self::ColumnType { column, found, expected, .. } => {
                let (column, found) = (escape_control(column), visible(found));
                write!(f, "the column `{column}` of `{name}` holds {found}, not {expected}")
            }
            Self::NotConverted { column, found, to } => {
                let (column, found) = (escape_control(column), visible(found));
                write!(f, "the column `{column}` of `{name}` holds {found}, which cannot be written as {to}")
            }
            Self::ColumnExists { column } => {
                write!(f, "`{name}` has a column `{}` already", escape_control(column))
            }
            Self::SharedMember => write!(
                f,
                "the records of `{name}` are not gzip members of their own, so that none can be copied as it is compressed"
            ),
            Self::NoBytes => write!(f, "`{name}` is a table, whose rows have no bytes of their own"),
        }
    }
}

/// Delimiters that can divide a column, as they are typed in a shell.
const DELIMITERS: [(char, &str); 5] = [('|', "'|'"), ('\t', "tab"), (';', "';'"), (',', "','"), ('^', "'^'")];

/// Returns the delimiter that divides the only column of a file. It is the delimiter with which the file has the wanted
/// column, or else the delimiter that divides the header into names without spaces.
fn dividing(only: &str, wanted: &str) -> Option<&'static str> {
    let names = |delimiter: char| only.split(delimiter).map(|name| name.trim().trim_matches('"'));
    let has_wanted = |(delimiter, _): &&(char, &str)| {
        only.contains(*delimiter) && names(*delimiter).any(|name| name == wanted)
    };
    let has_names = |(delimiter, _): &&(char, &str)| {
        only.contains(*delimiter)
            && names(*delimiter).all(|name| !name.is_empty() && !name.contains(char::is_whitespace))
    };
    let found = DELIMITERS.iter().find(has_wanted).or_else(|| DELIMITERS.iter().find(has_names));
    found.map(|(_, typed)| *typed)
}

/// Reports whether a name differs from a wanted name only in capitals, in `_` and `-`, or in spaces around it.
fn is_similar(wanted: &str, name: &str) -> bool {
    let plain = |name: &str| name.trim().to_lowercase().replace(['_', '-', ' '], "");
    plain(wanted) == plain(name)
}

/// Maximum number of columns that a hint lists.
const LISTED: usize = 20;

/// Enumerates the columns of a file in words.
fn listed(columns: &[String]) -> String {
    match columns {
        [] => "it has no columns".to_owned(),
        [only] => format!("its only column is {}", enumerated(std::slice::from_ref(only))),
        all => format!("its columns are {}", enumerated(all)),
    }
}

/// Maximum number of characters of a name that a hint shows. If a file has no header, its first record is taken for
/// one, and a name can be a whole text.
const NAME: usize = 60;

/// Enumerates names in words, at most the first [`LISTED`].
fn enumerated(columns: &[String]) -> String {
    let name = |column: &String| {
        let (end, mark) = column.char_indices().nth(NAME).map_or((column.len(), ""), |(end, _)| (end, "…"));
        format!("`{}{mark}`", escape_control(&column[..end]))
    };
    let names: Vec<String> = columns.iter().take(LISTED).map(name).collect();
    match (names.as_slice(), columns.len().saturating_sub(LISTED)) {
        ([only], _) => only.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (all, more) => format!("{} and {more} more", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_for(column: &str, columns: &[&str]) -> String {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        let problem = FileProblem::NoColumn { column: column.to_owned(), columns };
        problem.hint().unwrap().as_flags("minwise")
    }

    #[test]
    fn another_delimiter_is_suggested_if_it_divides_the_only_column() {
        for (only, delimiter) in [
            ("id|text", "'|'"),
            ("id\ttext", "tab"),
            ("id;text", "';'"),
            ("id,text", "','"),
            ("id^text", "'^'"),
        ] {
            let hint = hint_for("text", &[only]);
            assert!(hint.ends_with(&format!("; `--delimiter {delimiter}` divides it")), "{hint}");
            assert!(hint_for("other", &[only]).ends_with(" divides it"), "{only}");
        }
        assert_eq!(
            hint_for("text", &["id,a|text"]),
            "its only column is `id,a|text`; `--delimiter '|'` divides it"
        );
        assert!(!hint_for("text", &["A text, and another one"]).contains("--delimiter"));
    }

    #[test]
    fn a_column_with_other_capitals_is_suggested() {
        assert_eq!(hint_for("TEXT", &["id", "text"]), "did you mean `text`? its columns are `id` and `text`");
        assert_eq!(
            hint_for("bodyText", &["body_text"]),
            "did you mean `body_text`? its only column is `body_text`"
        );
    }

    #[test]
    fn columns_are_listed_in_words() {
        let names = |count: usize| (0..count).map(|number| format!("c{number}")).collect::<Vec<_>>();
        assert_eq!(listed(&names(0)), "it has no columns");
        assert_eq!(listed(&names(1)), "its only column is `c0`");
        assert_eq!(listed(&names(3)), "its columns are `c0`, `c1` and `c2`");
        assert!(listed(&names(25)).ends_with("`c19` and 5 more"));
        assert_eq!(listed(&["é".repeat(70)]), format!("its only column is `{}…`", "é".repeat(60)));
    }
}
