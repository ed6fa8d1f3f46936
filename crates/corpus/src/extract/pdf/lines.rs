//! Joins words that were divided at the ends of lines.

/// Joins the words of a page that were divided at the ends of lines.
///
/// A hyphen at the end of a line, between two lower-case letters, is far more often from the typesetter than from the
/// author. If the hyphen is from the author, "well-known" becomes one word instead of two. Scripts without lower case
/// are not changed.
pub(super) fn join_divided_words(page: &str) -> String {
    let mut joined = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((at, hyphen)) = rest.match_indices(['-', '\u{2010}', '\u{ad}']).next() {
        let (before, after) = rest.split_at(at);
        let (_, after) = after.split_at(hyphen.len());
        let next = after.trim_start();
        let (gap, _) = after.split_at(after.len() - next.len());
        let has_line_end = gap.contains('\n');
        joined.push_str(before);
        if has_line_end && joined.ends_with(char::is_lowercase) && next.starts_with(char::is_lowercase) {
            rest = next;
        } else {
            joined.push_str(hyphen);
            rest = after;
        }
    }
    joined.push_str(rest);
    joined
}

#[cfg(test)]
mod tests {
    use super::join_divided_words;

    #[test]
    fn words_are_joined_over_line_ends_only() {
        for (page, joined) in [
            ("an exam-\n\n ple of it", "an example of it"),
            ("exam\u{2010}\nple", "example"),
            ("naï-\nveté, dash -\nnot", "naïveté, dash -\nnot"),
            ("well-known, 3-\n4, X-\nray, x-\nRay", "well-known, 3-\n4, X-\nray, x-\nRay"),
            ("a--\nb -", "a--\nb -"),
            ("a-", "a-"),
        ] {
            assert_eq!(join_divided_words(page), joined);
        }
    }
}
