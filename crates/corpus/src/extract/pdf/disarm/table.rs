//! Tables of characters: which codes of a font stand for what.

/// Characters that the ranges of one table may name together; codes have two bytes, rarely more.
const MOST_CHARACTERS: u64 = 1 << 17;

/// Whether a stream is a table whose ranges name more characters than fonts have.
///
/// Each of them would become an entry in memory. Ranges are written as two codes and what the first stands for; a string
/// or a comment among them, which nobody writes there, could hide others.
pub(super) fn is_overlong(content: &[u8]) -> bool {
    memchr::memmem::find_iter(content, b"beginbfrange").any(|at| {
        let (_, section) = content.split_at(at);
        let end = memchr::memmem::find(section, b"endbfrange").unwrap_or(section.len());
        let (section, _) = section.split_at(end);
        section.iter().any(|byte| matches!(byte, b'(' | b'%')) || characters(section) > MOST_CHARACTERS
    })
}

/// How many characters the ranges of a section name.
fn characters(section: &[u8]) -> u64 {
    let mut codes: Vec<u64> = Vec::new();
    let (mut total, mut rest) = (0_u64, section);
    // What comes third in each range is a code, or a list of them.
    while let Some((&opening, inside)) = rest.split_first() {
        let (closing, is_code) = match opening {
            b'<' => (b'>', true),
            b'[' => (b']', false),
            _ => {
                rest = inside;
                continue;
            }
        };
        // What is never closed goes on to the end of the section.
        let (inside, behind) = inside.split_at(memchr::memchr(closing, inside).unwrap_or(inside.len()));
        codes.push(if is_code { code(inside) } else { 0 });
        rest = behind.strip_prefix(&[closing]).unwrap_or(behind);
        if let [first, last, _] = *codes {
            total = total.saturating_add(last.saturating_sub(first).saturating_add(1));
            codes.clear();
        }
    }
    total
}

fn code(digits: &[u8]) -> u64 {
    let digits = digits.iter().filter_map(|digit| char::from(*digit).to_digit(16));
    digits.fold(0, |code, digit| code.wrapping_mul(16).wrapping_add(u64::from(digit)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_added_up() {
        let table = b"2 beginbfrange\n<0000> <00ff> <0041>\n<01 00><0101>[<0061> <0062>] endbfrange <0> <ffffffff> <0>";
        assert_eq!(characters(&table[..table.len() - 20]), 258);
        assert!(!is_overlong(table));
        assert!(!is_overlong(b"beginbfrange <0000> <ffff> <0000> endbfrange"));
        assert!(is_overlong(b"beginbfrange <00000000> <ffffffff> <0000> endbfrange"));
        assert!(is_overlong(b"beginbfrange <00> % <\n (\xff\xff\xff\xff) <0000> endbfrange"));
        assert!(!is_overlong(b"BT (text) Tj ET"));
    }
}
