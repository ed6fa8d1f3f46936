//! Rules of plain words that a pattern can check. Each has few false positives; if a rule refuses a good text, reword
//! the text.

use super::passages::Kind;

/// Words without a referent, with which no sentence begins. A question may begin with one of them.
const OPENERS: [&str; 8] = ["What", "Whatever", "Whoever", "Who", "Those", "That", "Whichever", "Whose"];
/// Words after "One" and "The same" which show that these are the whole subject, and not the beginning of a longer one.
const WITHOUT_NOUN: [&str; 32] = [
    "again", "and", "applies", "are", "as", "at", "but", "by", "can", "does", "for", "from", "goes", "has",
    "have", "holds", "if", "in", "is", "may", "must", "of", "on", "that", "to", "was", "which", "who",
    "whose", "will", "with", "without",
];
/// Numbers that may begin a rate, such as "two bytes per row". `UNITS` and `NOUNS` have the words of a rate before and
/// after "per".
const NUMBERS: [&str; 18] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "sixteen",
    "once", "twice", "hundred", "thousand", "million", "half",
];
const UNITS: [&str; 43] = [
    "bit",
    "bits",
    "byte",
    "bytes",
    "KiB",
    "MiB",
    "GiB",
    "kB",
    "MB",
    "GB",
    "ns",
    "µs",
    "ms",
    "s",
    "seconds",
    "minutes",
    "row",
    "rows",
    "file",
    "files",
    "line",
    "lines",
    "word",
    "words",
    "value",
    "values",
    "number",
    "numbers",
    "register",
    "registers",
    "hash",
    "hashes",
    "permutation",
    "permutations",
    "function",
    "functions",
    "times",
    "instruction",
    "instructions",
    "pairs",
    "salt",
    "weight",
    "count",
];
const NOUNS: [&str; 46] = [
    "band",
    "bit",
    "block",
    "bucket",
    "character",
    "column",
    "comparison",
    "component",
    "core",
    "corpus",
    "day",
    "document",
    "element",
    "entry",
    "experiment",
    "file",
    "function",
    "group",
    "key",
    "line",
    "look",
    "method",
    "minute",
    "part",
    "page",
    "pair",
    "permutation",
    "posting",
    "query",
    "record",
    "register",
    "request",
    "round",
    "row",
    "run",
    "second",
    "set",
    "shelf",
    "shingle",
    "sketch",
    "text",
    "thread",
    "token",
    "value",
    "vector",
    "word",
];

/// Returns the rule that a sentence breaks, if it breaks one. `is_first` and `is_last` describe its place in its passage.
pub fn problem(sentence: &str, is_first: bool, is_last: bool, kind: Kind) -> Option<String> {
    // A message may be a part of a sentence, and may begin with data. With a capital and a full stop, it is a sentence.
    if matches!(kind, Kind::Message | Kind::Data) {
        let is_sentence = sentence.starts_with(char::is_uppercase) && sentence.ends_with('.');
        return (is_sentence && kind == Kind::Message)
            .then(|| opener(sentence, is_first))
            .flatten()
            .or_else(|| rate(sentence));
    }
    opener(sentence, is_first)
        .or_else(|| fragment(sentence, is_first, kind))
        .or_else(|| remainder(sentence, is_first))
        .or_else(|| end(sentence, is_last, kind))
        .or_else(|| rate(sentence))
}

/// Checks that a sentence begins with its subject.
fn opener(sentence: &str, is_first: bool) -> Option<String> {
    let mut words = sentence.split(' ');
    let (first, second, third) = (words.next()?, words.next().unwrap_or(""), words.next().unwrap_or(""));
    let bare = second.trim_end_matches([',', ';', ':', '.']);
    let is_question = sentence.ends_with('?');
    if OPENERS.contains(&first) && !is_question {
        return Some(format!("begin with the subject, not with `{first}`"));
    }
    if first == "One," || first == "One" && WITHOUT_NOUN.contains(&bare) && bare != "of" {
        return Some("begin with the subject, not with `One`".to_owned());
    }
    let third_bare = third.trim_end_matches([',', ';', ':', '.']);
    if first == "The" && second.starts_with("same") {
        let is_alone = second != "same" || third.is_empty() || WITHOUT_NOUN.contains(&third_bare);
        return is_alone.then(|| "begin with the subject, not with `The same`".to_owned());
    }
    if first == "It" && is_first {
        return Some("name the thing in the first sentence, not `It`".to_owned());
    }
    None
}

/// Checks that a sentence does not continue another one and has an end.
fn fragment(sentence: &str, is_first: bool, kind: Kind) -> Option<String> {
    if sentence.contains(" but for ") && !sentence.contains("but for the first time") {
        return Some("write `except`, not `but for`".to_owned());
    }
    if !is_first || kind == Kind::Comment {
        return None;
    }
    let first = sentence.split(' ').next()?;
    if ["and", "but", "or", "which", "that", "who"].contains(&first) {
        return Some(format!("a sentence stands alone, and does not begin with `{first}`"));
    }
    None
}

/// Checks that no words of an earlier version stand after a full stop: a later sentence of up to three words that begins
/// with a small letter.
fn remainder(sentence: &str, is_first: bool) -> Option<String> {
    let first = sentence.split(' ').next().unwrap_or_default();
    let is_small = first.trim_end_matches('.').chars().all(|c| c.is_ascii_lowercase());
    let is_remainder = !is_first && is_small && sentence.ends_with('.') && sentence.split(' ').count() <= 3;
    is_remainder.then(|| "these words belong to no sentence".to_owned())
}

/// Checks that the last sentence of documentation or of a description ends with a full stop. A colon may stand before a list or a formula,
/// and code may end a list item.
fn end(sentence: &str, is_last: bool, kind: Kind) -> Option<String> {
    let is_open = sentence.ends_with(|c: char| c.is_alphanumeric() || c == ',') && !sentence.ends_with("\",");
    let is_link = sentence.starts_with('[') && sentence.contains("]: ");
    let is_whole = matches!(kind, Kind::Documentation | Kind::Description);
    (is_last && is_open && !is_link && is_whole).then(|| "a sentence ends with a full stop".to_owned())
}

/// Words before an article which show that the article begins an object: "gives a document a number".
const GIVING: [&str; 8] = ["give", "gives", "gave", "giving", "make", "makes", "call", "calls"];

/// Checks that a rate has "per": finds a number or an article, a unit, "a" or "an", and a noun.
fn rate(sentence: &str) -> Option<String> {
    let words: Vec<&str> = sentence.split(' ').collect();
    for (at, article) in words.iter().enumerate() {
        if !["a", "an"].contains(article) || at == 0 {
            continue;
        }
        let noun = words.get(at + 1)?.trim_end_matches(|c: char| !c.is_alphanumeric());
        // A verb after the noun shows that the noun is the subject of a clause: "one that a document has".
        let next = words.get(at + 2).copied().unwrap_or("");
        if !NOUNS.contains(&noun)
            || ["has", "holds", "had", "of", "may", "can", "needs", "takes"].contains(&next)
        {
            continue;
        }
        let before = words[at - 1];
        let is_noun =
            UNITS.contains(&before) || NOUNS.iter().any(|noun| before.trim_end_matches('s') == *noun);
        let is_object = at >= 3 && GIVING.contains(&words[at - 3]);
        let is_article = at >= 2 && ["a", "an", "A", "An"].contains(&words[at - 2]) && !is_object;
        let is_unit = is_noun && at >= 2 && (is_article || is_number(words[at - 2]));
        let is_bare = ["once", "twice", "one", "two"].contains(&before.to_lowercase().as_str());
        if is_unit || is_bare {
            return Some(format!("write `per {noun}`, not `{article} {noun}`"));
        }
    }
    None
}

fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '~', '<', '≈']);
    word.starts_with(|c: char| c.is_ascii_digit()) || NUMBERS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documentation(sentence: &str) -> Option<String> {
        problem(sentence, true, true, Kind::Documentation)
    }

    #[test]
    fn sentences_begin_with_their_subject() {
        for sentence in [
            "What is long is not loaded.",
            "Whoever reads it waits.",
            "Those of the last day.",
            "That a band has rows is known.",
            "One that is short.",
            "One, if it is short.",
            "The same for bags.",
            "The same, sorted.",
            "It is short.",
        ] {
            assert!(documentation(sentence).is_some_and(|rule| rule.contains('`')), "{sentence}");
        }
        for sentence in [
            "What is long?",
            "One row per posting.",
            "One of the two is empty.",
            "The same text gives the same bytes.",
            "Whether a word is long.",
            "Thatched roofs stay.",
        ] {
            assert_eq!(documentation(sentence), None, "{sentence}");
        }
        // A later sentence may refer to the subject of the sentence before.
        assert_eq!(problem("It is short.", false, true, Kind::Documentation), None);
    }

    #[test]
    fn messages_that_are_sentences_begin_with_their_subject() {
        let message = |sentence| problem(sentence, true, true, Kind::Message);
        assert!(message("Those that wait hold all memory.").is_some());
        assert!(message("It has {}; the server accepts less.").is_some());
        assert_eq!(problem("It was late.", true, true, Kind::Data), None);
        for part in ["It has", "those that wait hold it.", "What is a crowd?", "{} of it.", "and so on"] {
            assert_eq!(message(part), None, "{part}");
        }
    }

    #[test]
    fn sentences_stand_alone() {
        assert!(documentation("and those of which at least this share is in the other,").is_some());
        assert!(documentation("A list of words,").is_some());
        assert!(documentation("All words but for the first.").is_some());
        assert_eq!(problem("and then the rest", true, true, Kind::Comment), None);
        assert!(problem("and then the rest", true, true, Kind::Page).is_some());
        assert!(problem("or the second", true, true, Kind::Description).is_some());
        assert_eq!(documentation("A list of words."), None);
    }

    #[test]
    fn sentences_have_an_end_and_no_remainder() {
        assert!(documentation("Fails with").is_some());
        assert_eq!(problem("Fails with", true, false, Kind::Documentation), None);
        assert_eq!(documentation("[`X`]: crate::x::X"), None);
        for whole in ["Fails with:", "Fails with `Io`", "Is it short?", "- `a`;"] {
            assert_eq!(documentation(whole), None, "{whole}");
        }
        assert!(problem("The similar documents", true, true, Kind::Description).is_some());
        assert_eq!(problem("The similar documents", true, true, Kind::Page), None);
        let later = |sentence| problem(sentence, false, true, Kind::Comment);
        assert!(later("times its size.").is_some());
        assert_eq!(later("gaoya has 126 registers."), None);
        assert_eq!(documentation("times its size."), None);
    }

    #[test]
    fn rates_have_per() {
        for sentence in [
            "A sketch takes 16 bytes a document.",
            "One bit a register is enough.",
            "Two hashes a shingle.",
            "The index has one a band.",
            "This takes 12 ns a pair, and more.",
            "The file is read once a run.",
            "A folder has a page a sketch.",
            "The sketch has one salt a register.",
        ] {
            assert!(rate(sentence).is_some_and(|rule| rule.starts_with("write `per ")), "{sentence}");
        }
        for sentence in [
            "A sketch takes 16 bytes per document.",
            "Each bit a register has is kept.",
            "Both bytes are those of a document.",
            "It reads a document and a row.",
            "It gives a document a number.",
        ] {
            assert_eq!(rate(sentence), None, "{sentence}");
        }
    }
}
