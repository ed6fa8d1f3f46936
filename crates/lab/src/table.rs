//! Tables of results, as CSV and as Markdown.

use serde::{Deserialize, Serialize};

use crate::check::significant;

/// Cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// Count.
    Count(u64),
    /// Number. `None` and values that are not a number are written as a dash.
    Number(Option<f64>),
    /// Text.
    Text(String),
}

impl Cell {
    /// Formats the cell for people. A number has five significant digits.
    #[must_use]
    pub fn short(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.map_or_else(|| "–".to_owned(), significant),
            Self::Text(text) => text.clone(),
        }
    }

    /// Formats the cell for programs. A number has nine digits, because further digits would differ between the
    /// mathematical libraries of two machines.
    fn long(&self) -> String {
        match self {
            Self::Number(Some(number)) if *number == 0.0 => "0".to_owned(),
            Self::Number(Some(number)) => format!("{number:.8e}"),
            Self::Number(None) => String::new(),
            Self::Count(_) | Self::Text(_) => self.short(),
        }
    }

    /// Reports whether the cell is aligned right.
    #[must_use]
    pub fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(Some(number).filter(|number| number.is_finite()))
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        Self::Number(number.filter(|number| number.is_finite()))
    }
}

/// Rows under the names of their columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// File name without an extension.
    pub name: String,
    /// Subject of the table.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Returns a table without rows.
    #[must_use]
    pub fn new(name: &str, title: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { name: name.to_owned(), title: title.to_owned(), columns, rows: vec![] }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Panics if the row does not have one cell per column.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a value for each column of {}", self.name);
        self.rows.push(row);
    }

    /// Returns the table as comma-separated values (RFC 4180).
    #[must_use]
    pub fn csv(&self) -> String {
        let quoted = |text: String| {
            if text.contains(['"', ',', '\n', '\r']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text
            }
        };
        let line = |values: Vec<String>| values.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        let rows = self.rows.iter().map(|row| line(row.iter().map(Cell::long).collect()));
        line(self.columns.clone()) + &rows.collect::<String>()
    }

    /// Returns the table as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |values: Vec<String>| {
            let values: Vec<String> = values.iter().map(|value| markdown_text(value)).collect();
            format!("| {} |\n", values.join(" | "))
        };
        let sides = (0..self.columns.len()).map(|at| if self.is_number(at) { "---:" } else { "---" });
        let rule = format!("|{}|\n", sides.collect::<Vec<_>>().join("|"));
        let rows = self.rows.iter().map(|row| line(row.iter().map(Cell::short).collect()));
        line(self.columns.clone()) + &rule + &rows.collect::<String>()
    }

    /// Reports whether a column holds numbers.
    #[must_use]
    pub fn is_number(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].is_number())
    }
}

/// Escapes text for a table or a line of Markdown.
#[must_use]
pub fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' => out += "\\|",
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("t", "A table", &["what, and why", "n", "x"]);
        table.push(vec!["a|b".into(), 3_usize.into(), (1.0 / 3.0).into()]);
        table.push(vec!["say \"<b>\"".into(), 0_u64.into(), f64::NAN.into()]);
        table
    }

    #[test]
    fn values_of_csv_are_quoted_where_they_must_be() {
        assert_eq!(table().csv(), "\"what, and why\",n,x\na|b,3,3.33333333e-1\n\"say \"\"<b>\"\"\",0,\n");
    }

    #[test]
    fn markdown_is_escaped_and_numbers_stand_to_the_right() {
        assert_eq!(
            table().markdown(),
            "| what, and why | n | x |\n|---|---:|---:|\n| a\\|b | 3 | 0.33333 |\n| say \"&lt;b>\" | 0 | – |\n"
        );
    }
}
