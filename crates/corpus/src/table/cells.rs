//! One column of a piece.

/// The values of one column as bytes, one after the other.
#[derive(Debug, Default)]
pub(super) struct Cells {
    bytes: Vec<u8>,
    /// Where each value ends, and whether there is one.
    ends: Vec<(usize, bool)>,
}

impl Cells {
    pub(super) fn push(&mut self, value: Option<&[u8]>) {
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.ends.push((self.bytes.len(), value.is_some()));
    }

    /// The value of a row, counted from 0; `None` for null.
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        let (end, there) = *self.ends.get(row)?;
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |before| before.0);
        if there { self.bytes.get(start..end) } else { None }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_not_empty() {
        let mut cells = Cells::default();
        for value in [Some(&b"a"[..]), None, Some(b""), Some(b"bc")] {
            cells.push(value);
        }
        assert_eq!(
            [0, 1, 2, 3, 4].map(|row| cells.get(row)),
            [Some(&b"a"[..]), None, Some(b""), Some(b"bc"), None]
        );
        assert_eq!(cells.len(), 4);
    }
}
