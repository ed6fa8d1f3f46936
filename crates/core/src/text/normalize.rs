//! NFKC and case folding, with a fast path that copies long stretches of unaffected text.
//!
//! - **Idea.** Most characters are their own normal form and do not affect their neighbours. Stretches of such
//!   characters are copied whole. ASCII letters become lower case while they are copied, which vectorises. Only
//!   characters that change are handled one by one, and only sequences that may combine go through the general
//!   algorithm.
//! - **Cost.** ASCII text takes as long as a copy. Other scripts take one table look-up per character.
//! - **Checked.** Property tests compare the result with the general algorithm over the whole text, and over every code
//!   point alone.

use super::Folding;
use super::class::{CharClass, FormClass, decode};
use super::general::{push_casefold, push_nfkc_casefold};
use super::origin::Track;

/// Appends `source` to `out` in the given form.
pub(super) fn form_into<T: Track>(form: Folding, source: &str, out: &mut String, track: &mut T) {
    match form {
        Folding::None => {
            track.mark(out.len(), 0);
            out.push_str(source);
        }
        Folding::Casefold => casefold_into(source, out, track),
        Folding::NfkcCasefold => nfkc_casefold_into(source, out, track),
    }
}

fn casefold_into<T: Track>(source: &str, out: &mut String, track: &mut T) {
    let bytes = source.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let ascii_end = skip_ascii(bytes, at);
        track.mark(out.len(), at);
        push_lowered(&source[at..ascii_end], out);
        at = ascii_end;
        if let Some(c) = source[at..].chars().next() {
            let end = at + c.len_utf8();
            track.mark(out.len(), at);
            push_casefold(c, out);
            at = end;
        }
    }
}

fn nfkc_casefold_into<T: Track>(source: &str, out: &mut String, track: &mut T) {
    if source.is_ascii() {
        track.mark(out.len(), 0);
        push_lowered(source, out);
        return;
    }
    let bytes = source.as_bytes();
    // `copied..at` is a stretch of inert characters that has not been copied yet.
    let mut copied = 0;
    let mut at = 0;
    track.mark(out.len(), 0);
    loop {
        at = skip_inert(bytes, at);
        let Some(c) = source[at..].chars().next() else { break };
        let end = at + c.len_utf8();
        match CharClass::of(c).form() {
            FormClass::Inert => at = end,
            FormClass::Mapped if !combining_at(source, end) => {
                push_lowered(&source[copied..at], out);
                track.mark(out.len(), at);
                push_mapped(c, &source[at..end], out);
                track.mark(out.len(), end);
                (copied, at) = (end, end);
            }
            FormClass::Mapped | FormClass::Combining => {
                // A combining character joins only the character directly before it. All earlier characters are inert,
                // or a character that does not combine follows them.
                let start = match CharClass::of(c).form() {
                    FormClass::Combining => previous_char(source, copied, at),
                    _ => at,
                };
                let mut end = end;
                while combining_at(source, end) {
                    end += source[end..].chars().next().map_or(0, char::len_utf8);
                }
                push_lowered(&source[copied..start], out);
                track.mark(out.len(), start);
                push_nfkc_casefold(&source[start..end], out);
                track.mark(out.len(), end);
                (copied, at) = (end, end);
            }
        }
    }
    push_lowered(&source[copied..], out);
}

/// Returns the position of the first character at or after `at` that is neither ASCII nor known to be inert, or the
/// end.
#[inline]
fn skip_inert(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = skip_ascii(bytes, at);
        while let Some(&next) = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>) {
            if next[0].is_ascii() {
                break;
            }
            let (code, len) = decode(next);
            if !CharClass::of_code(code).is_inert() {
                return at;
            }
            at += len as usize;
        }
        // The caller handles the last three bytes, because it decodes whole characters.
        if bytes.len() - at < 4 || !bytes[at].is_ascii() {
            return at;
        }
    }
}

/// Returns the position of the first byte at or after `at` that is not ASCII, or the end.
#[inline]
fn skip_ascii(bytes: &[u8], mut at: usize) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let high = u64::from_le_bytes(*word) & HIGH;
        if high != 0 {
            return at + high.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(u8::is_ascii) {
        at += 1;
    }
    at
}

#[inline]
fn push_lowered(stretch: &str, out: &mut String) {
    let begin = out.len();
    out.push_str(stretch);
    out[begin..].make_ascii_lowercase();
}

#[inline]
fn combining_at(source: &str, at: usize) -> bool {
    match source.as_bytes().get(at) {
        None => false,
        Some(byte) if byte.is_ascii() => false,
        Some(_) => {
            source[at..].chars().next().is_some_and(|c| CharClass::of(c).form() == FormClass::Combining)
        }
    }
}

/// Returns the start of the character before `at`, or `at` if this character would begin before `floor`.
fn previous_char(source: &str, floor: usize, at: usize) -> usize {
    source[floor..at].chars().next_back().map_or(at, |c| at - c.len_utf8())
}

/// Appends the normalised form of a character that changes by itself. The arms have the common characters of real
/// texts: capitals with accents, Greek, Cyrillic, full-width punctuation. All other characters go through the general
/// algorithm.
#[inline]
fn push_mapped(c: char, alone: &str, out: &mut String) {
    let code = c as u32;
    let simple = match code {
        0xa0 | 0x3000 | 0x2002..=0x200a | 0x202f => 0x20,
        0xc0..=0xd6 | 0xd8..=0xde | 0x391..=0x3a1 | 0x3a3..=0x3ab | 0x410..=0x42f => code + 32,
        0x3c2 => 0x3c3,
        0x400..=0x40f => code + 80,
        0xff01..=0xff5e => u32::from(((code - 0xfee0) as u8).to_ascii_lowercase()),
        0x2026 => return out.push_str("..."),
        _ => return push_nfkc_casefold(alone, out),
    };
    if let Some(c) = char::from_u32(simple) {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::super::origin::Untracked;
    use super::*;
    use proptest::prelude::*;

    fn fast(source: &str) -> String {
        let mut out = String::new();
        nfkc_casefold_into(source, &mut out, &mut Untracked);
        out
    }

    fn general(source: &str) -> String {
        let mut out = String::new();
        push_nfkc_casefold(source, &mut out);
        out
    }

    #[test]
    fn every_code_point_alone_and_between_others() {
        for c in ('\0'..=char::MAX).filter(|c| !('\u{e000}'..='\u{f8ff}').contains(c)) {
            // The code points from U+32001 to U+DFFFF are unassigned, or ideographs that do not change.
            if (c as u32) > 0x3_2000 && (c as u32) < 0xe_0000 {
                continue;
            }
            for source in [format!("{c}"), format!("E{c}"), format!("{c}\u{301}"), format!("É{c}\u{323}x{c}")]
            {
                assert_eq!(fast(&source), general(&source), "U+{:04X} in {source:?}", c as u32);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_what_the_general_algorithm_gives(source in any::<String>()) {
            prop_assert_eq!(fast(&source), general(&source));
        }

        #[test]
        fn texts_full_of_marks_too(source in "[aEéÉ\u{301}\u{323}\u{327}ſﬁΣς가\u{1100}\u{1161}\u{11a8}ｶﾞが\u{3099}，Ａ\u{a0}क\u{93c}\u{0958}\u{c6c}Ж中]{0,24}") {
            prop_assert_eq!(fast(&source), general(&source));
        }

        #[test]
        fn casefolding_alone_too(source in any::<String>()) {
            let mut out = String::new();
            casefold_into(&source, &mut out, &mut Untracked);
            let mut folded = String::new();
            source.chars().for_each(|c| push_casefold(c, &mut folded));
            prop_assert_eq!(out, folded);
        }
    }

    #[test]
    fn folding_is_full_and_free_of_context() {
        assert_eq!(fast("Straße ΣΊΣΥΦΟΣ ﬃ Ǆ İ"), "strasse σίσυφοσ ffi dž i\u{307}");
    }
}
