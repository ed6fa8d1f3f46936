//! Why records cannot be written in the format of an output.

use std::fmt;

use minwise::{Sentence, escape_control as shown, visible};

use crate::format::Format;

/// Why records cannot be written in the format of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unconverted {
    /// Records of a format that cannot be converted to another one.
    NoConversion {
        /// The file.
        name: String,
        /// Its format.
        from: Format,
        /// The format of the output.
        to: Format,
    },
    /// Inputs of several formats, and an output whose name says none.
    NoOutputFormat {
        /// An input.
        first: String,
        /// Its format.
        first_format: Format,
        /// One of another format.
        second: String,
        /// Its format.
        second_format: Format,
    },
    /// Values that no column of an output holds together.
    MixedTypes {
        /// The field.
        field: String,
        /// The format of the output.
        to: Format,
        /// The places of the values, and what each holds there; one or two.
        seen: Vec<(String, String)>,
    },
    /// Columns that a format cannot have.
    ColumnsRefused {
        /// The format of the output.
        to: Format,
        /// Why not.
        message: String,
    },
}

impl Unconverted {
    /// A stable name, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoConversion { .. } => "no_conversion",
            Self::NoOutputFormat { .. } => "no_output_format",
            Self::MixedTypes { .. } => "mixed_types",
            Self::ColumnsRefused { .. } => "columns_refused",
        }
    }

    /// What the reader of the message can do about it.
    pub(crate) fn hint(&self) -> Sentence {
        match self {
            Self::NoConversion { from, .. } => {
                format!("name the output like a file of {from}, or like a folder, with a slash at the end").into()
            }
            Self::NoOutputFormat { .. } => Sentence::from(
                "name the output like a file of one format, such as `kept.parquet`, or like a folder, such as `kept/`; ",
            )
            .setting("output-format")
            .text(" says the format of an output that has no name"),
            Self::MixedTypes { .. } => {
                "JSONL holds any mixture: name the output `kept.jsonl`, or make the values of one type".into()
            }
            Self::ColumnsRefused { .. } => "name an output of the same format as the input".into(),
        }
    }
}

impl fmt::Display for Unconverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoConversion { name, from, to } => {
                write!(f, "`{}` is {from}, and records of {from} cannot be written as {to}", shown(name))
            }
            Self::NoOutputFormat { first, first_format, second, second_format } => write!(
                f,
                "`{}` is {first_format} and `{}` is {second_format}, and the output does not say which to write",
                shown(first),
                shown(second)
            ),
            Self::MixedTypes { field, to, seen } => {
                write!(f, "`{}` is ", shown(field))?;
                if let [(first, one), (second, another)] = &seen[..] {
                    let (first, second) = (shown(first), shown(second));
                    return write!(
                        f,
                        "{one} in `{first}` and {another} in `{second}`, and a column of {to} has one type"
                    );
                }
                for (place, kind) in seen {
                    write!(f, "{kind} in `{}`, ", shown(place))?;
                }
                write!(f, "which no column of {to} holds")
            }
            Self::ColumnsRefused { to, message } => {
                write!(f, "the records cannot be written as {to}: {}", visible(message))
            }
        }
    }
}
