//! Reasons why records cannot be written in the format of an output.

use std::fmt;

use minwise::{Sentence, escape_control as shown, visible};

use crate::format::Format;

/// Reason why records cannot be written in the format of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unconverted {
    /// Records of a format that cannot be converted to another format.
    NoConversion {
        /// Name of the file.
        name: String,
        /// Format of the records.
        from: Format,
        /// Format of the output.
        to: Format,
    },
    /// Inputs of several formats, and an output whose name states no format.
    NoOutputFormat {
        /// Path of the output; `None` for standard output.
        output: Option<String>,
        /// Name of an input.
        first: String,
        /// Format of `first`.
        first_format: Format,
        /// Name of an input of another format.
        second: String,
        /// Format of `second`.
        second_format: Format,
    },
    /// Values that cannot be held by one column of an output.
    MixedTypes {
        /// Path of the field.
        field: String,
        /// Format of the output.
        to: Format,
        /// Places of one or two values, each with the kind of the value.
        seen: Vec<(String, String)>,
    },
    /// Columns that a format cannot have.
    ColumnsRefused {
        /// Format of the output.
        to: Format,
        /// Reason in words.
        message: String,
    },
}

impl Unconverted {
    /// Returns a stable name, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoConversion { .. } => "no_conversion",
            Self::NoOutputFormat { .. } => "no_output_format",
            Self::MixedTypes { .. } => "mixed_types",
            Self::ColumnsRefused { .. } => "columns_refused",
        }
    }

    /// Returns a hint that explains how to repair the problem.
    pub(crate) fn hint(&self) -> Sentence {
        match self {
            Self::NoConversion { .. } => Sentence::from("write to a folder, such as `kept/`, and leave out ")
                .setting("output-format")
                .text(": each file then keeps its format"),
            Self::NoOutputFormat { .. } => Sentence::from(
                "name a file with the extension of a format, such as `kept.parquet`, or a folder, such as `kept/`; or set ",
            )
            .setting("output-format"),
            Self::MixedTypes { seen, .. } => {
                let hint = if seen.len() > 1 {
                    "give every record the same type in this field, or write JSONL, which allows mixed types: "
                } else {
                    "write JSONL, which can hold this value: "
                };
                Sentence::from(hint).setting_to("output", "kept.jsonl")
            }
            Self::ColumnsRefused { .. } => Sentence::from("write JSONL or Arrow IPC instead: ")
                .setting_to("output", "kept.jsonl")
                .text(" or ")
                .setting_to("output", "kept.arrow"),
        }
    }
}

impl fmt::Display for Unconverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoConversion { name, from, to } => {
                write!(f, "`{}` is {from}, and {from} cannot be converted to {to}", shown(name))
            }
            Self::NoOutputFormat { output, first, first_format, second, second_format } => {
                write!(
                    f,
                    "the inputs have several formats (`{}` is {first_format}, `{}` is {second_format}), and ",
                    shown(first),
                    shown(second)
                )?;
                match output {
                    Some(output) => write!(f, "the name of the output `{}` decides none", shown(output)),
                    None => f.write_str("standard output has no name that decides one"),
                }
            }
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
