//! Limits the number of attributes per tag that the tokeniser gets.
//!
//! The tokeniser compares every attribute of a tag with all attributes before it, so a tag with millions of
//! attributes would take hours and gigabytes. The tokeniser therefore gets only the first [`MOST_ATTRIBUTES`] of each
//! tag. The rest of the tag is skipped by the rules of the tokeniser itself, so the text is the same as with all
//! attributes.

use std::cell::Cell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TokenSink, Tokenizer};

/// Maximum number of attributes per tag that are read. In ordinary pages, the attributes that are needed come long
/// before this limit.
pub(super) const MOST_ATTRIBUTES: usize = 256;

/// A sink that notes whether it received a token.
pub(super) trait Told: TokenSink {
    /// Returns the cell that states whether the sink received a token since the cell was cleared. Tokens about errors
    /// do not count.
    fn told(&self) -> &Cell<bool>;
}

/// Kind of markup that the tokeniser is within.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    /// A comment, or other markup that is no tag.
    Other,
    /// A tag, or text in a script or a similar element that may prove to be the end tag.
    Tag(TagProgress),
}

/// Passes a page to the tokeniser, with at most `most` attributes per tag.
///
/// Only the tokeniser knows whether a `<` begins a tag, because this depends on everything before it. The tokeniser
/// therefore gets the page up to each `<`, and then the next letter, which would make the `<` a tag. If the tokeniser
/// was not within other markup and returns no token for the letter, it is within a tag.
pub(super) fn feed<S: Told>(tokenizer: &Tokenizer<S>, page: &str, most: usize) {
    let (whole, queue) = (StrTendril::from_slice(page), BufferQueue::default());
    let bytes = page.as_bytes();
    // Passes a piece of the page to the tokeniser, and returns whether the tokeniser returned a token.
    let give = |piece: StrTendril| {
        let told = tokenizer.sink.told();
        told.set(false);
        queue.push_back(piece);
        // The result is ignored, because this sink never makes the tokeniser pause, so the tokeniser reads the whole
        // piece.
        let _ = tokenizer.feed(&queue);
        told.get()
    };
    // The casts lose nothing, because a page is far below the 4 GiB that a tendril can hold. A piece begins and ends
    // at a character boundary, because an ASCII character is beside each cut.
    let piece = |from: usize, to: usize| whole.subtendril(from as u32, (to - from) as u32);
    // `from` is at most the length of the page, because it is the offset of a byte that was found, or the offset
    // behind that byte.
    let rest = |from: usize| &bytes[from..];
    let behind_next = |from: usize| memchr::memchr(b'<', rest(from)).map_or(bytes.len(), |at| from + at + 1);
    let mut at = behind_next(0);
    give(piece(0, at));
    let mut open = Open::Nothing;
    while let Some(&first) = bytes.get(at) {
        if matches!(open, Open::Nothing) && rest(at).starts_with(b"/>") {
            // `</>` is skipped here, because the tokeniser returns no token for it outside of raw text, so it would
            // look like the beginning of a tag.
            give(piece(at, at + 2));
            at += 2;
        } else if matches!(open, Open::Nothing) {
            open = Open::Other;
            let letter = at + usize::from(first == b'/');
            if bytes.get(letter).is_some_and(u8::is_ascii_alphabetic) {
                let is_text = give(piece(at, letter + 1));
                open = if is_text { Open::Nothing } else { Open::Tag(TagProgress::new()) };
                at = letter + 1;
            }
        }
        let mut end = behind_next(at);
        if let Open::Tag(tag) = &mut open
            && let Some(TagEnd::OneMore(next)) = tag.read(&bytes[at..end], most)
        {
            let is_text = give(piece(at, at + next));
            at += next;
            open = if is_text {
                Open::Nothing
            } else {
                let Some(TagEnd::End(next)) = tag.read(rest(at), usize::MAX) else { return };
                give(StrTendril::from_slice(if tag.closes_itself() { " />" } else { " >" }));
                at += next;
                end = behind_next(at);
                Open::Nothing
            };
        }
        if give(piece(at, end)) {
            open = Open::Nothing;
        }
        at = end;
    }
}

/// Progress of reading a tag.
#[derive(Clone, Copy)]
struct TagProgress {
    state: State,
    attributes: usize,
}

/// States of a tokeniser in a tag, with the names of the HTML standard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Name,
    BeforeAttribute,
    Attribute,
    AfterAttribute,
    BeforeValue,
    Quoted(u8),
    Unquoted,
    AfterQuoted,
    SelfClosing,
}

/// Reason why reading a tag stops, with the number of bytes that were read.
enum TagEnd {
    /// The tag ended.
    End(usize),
    /// The next attribute would exceed the limit.
    OneMore(usize),
}

impl TagProgress {
    /// Starts a tag whose first letter has been read.
    fn new() -> Self {
        Self { state: State::Name, attributes: 0 }
    }

    /// Reports whether a tag that has ended closes its element at once.
    fn closes_itself(&self) -> bool {
        self.state == State::SelfClosing
    }

    /// Continues in the tag, up to its end or to the attribute behind the first `most`.
    fn read(&mut self, bytes: &[u8], most: usize) -> Option<TagEnd> {
        use State::{
            AfterAttribute, AfterQuoted, Attribute, BeforeAttribute, BeforeValue, Name, Quoted, SelfClosing,
            Unquoted,
        };
        for (at, &byte) in bytes.iter().enumerate() {
            let is_space = matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ');
            self.state = match (self.state, byte) {
                (Quoted(quote), _) => {
                    if byte == quote {
                        AfterQuoted
                    } else {
                        Quoted(quote)
                    }
                }
                (_, b'>') => return Some(TagEnd::End(at + 1)),
                (BeforeValue, b'"' | b'\'') => Quoted(byte),
                (BeforeValue, _) => {
                    if is_space {
                        BeforeValue
                    } else {
                        Unquoted
                    }
                }
                (Unquoted, _) => {
                    if is_space {
                        BeforeAttribute
                    } else {
                        Unquoted
                    }
                }
                (_, b'/') => SelfClosing,
                (Attribute | AfterAttribute, b'=') => BeforeValue,
                (Attribute | AfterAttribute, _) if is_space => AfterAttribute,
                (_, _) if is_space => BeforeAttribute,
                (Name, _) => Name,
                (Attribute, _) => Attribute,
                (BeforeAttribute | AfterAttribute | AfterQuoted | SelfClosing, _) => {
                    if self.attributes == most {
                        return Some(TagEnd::OneMore(at));
                    }
                    self.attributes += 1;
                    Attribute
                }
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use html5ever::tokenizer::states::RawKind;
    use html5ever::tokenizer::{TagKind, Token, TokenSinkResult, TokenizerOpts};
    use proptest::prelude::*;

    use super::*;

    /// Sink that logs the tokens without their attributes, and counts the attributes of the tag that has most.
    #[derive(Default)]
    struct TagLog {
        told: Cell<bool>,
        written: RefCell<String>,
        attributes: Cell<usize>,
    }

    impl Told for TagLog {
        fn told(&self) -> &Cell<bool> {
            &self.told
        }
    }

    impl TokenSink for TagLog {
        type Handle = ();

        fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
            self.told.set(self.told.get() || !matches!(token, Token::ParseError(_)));
            let mut written = self.written.borrow_mut();
            match token {
                Token::CharacterTokens(characters) => *written += &characters,
                Token::NullCharacterToken => *written += "\0",
                Token::CommentToken(comment) => *written += &format!("[{comment}]"),
                Token::TagToken(tag) => {
                    *written += &format!("<{:?} {} {}>", tag.kind, tag.name, tag.self_closing);
                    self.attributes.set(self.attributes.get().max(tag.attrs.len()));
                    match &*tag.name {
                        _ if tag.kind == TagKind::EndTag => {}
                        "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
                        "style" => return TokenSinkResult::RawData(RawKind::Rawtext),
                        "title" => return TokenSinkResult::RawData(RawKind::Rcdata),
                        "plaintext" => return TokenSinkResult::Plaintext,
                        _ => {}
                    }
                }
                _ => {}
            }
            TokenSinkResult::Continue
        }
    }

    /// Reads a page by `feed` and as a whole. Returns both logs, and the largest number of attributes of a tag that
    /// `feed` passed.
    fn check(page: &str, most: usize) -> (String, String, usize) {
        let log = |give: &dyn Fn(&Tokenizer<TagLog>)| {
            let options = TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() };
            let tokenizer = Tokenizer::new(TagLog::default(), options);
            give(&tokenizer);
            tokenizer.end();
            (tokenizer.sink.written.into_inner(), tokenizer.sink.attributes.get())
        };
        let (whole, _) = log(&|tokenizer| {
            let queue = BufferQueue::default();
            queue.push_back(StrTendril::from_slice(page));
            let _ = tokenizer.feed(&queue);
        });
        let (told, attributes) = log(&|tokenizer| feed(tokenizer, page, most));
        (told, whole, attributes)
    }

    #[test]
    fn tags_end_where_they_would_with_all_their_attributes() {
        for tag in [
            "<p a b c d>",
            "<p a=1 b='>' c=\"<p>\" d = '>' e>",
            "<p/a/b/c/d/>",
            "<p a='1'b='2'c='3'd='>'>",
            "<p a=/> b c d>",
            "<p a= > b c>",
            "<p =a =b ==c d=\"'>\" <x y>",
            "<p\ta\nb\rc\x0cd/ e>",
            "</p a b c d>",
            "</><p a b c d>",
            "<script a b c/>",
            "<script a b c/ d>",
            "<p b c d e='",
        ] {
            let (told, whole, attributes) = check(&format!("one {tag}two <b>three"), 2);
            assert_eq!(told, whole, "{tag}");
            assert!(attributes <= 2, "{tag}: {attributes}");
        }
    }

    #[test]
    fn the_tokeniser_decides_where_tags_begin() {
        for page in [
            "<script>if (a <b c d e f g) 'x'</script>y",
            "<script></scr</script a b c>y",
            "<script><!--<script></script a b c></script a b c>--></script a b c>y",
            "<!-- <p a b c d --> <p a b c>y",
            "<title>a <b c d e f</title a b c>y",
            "<<p a b c>y",
            "x &am<p a b c>y &lt<p a b c>&amp",
            "<title></titl<p a b c></title a b c>y",
            "<plaintext><p a b c d>",
        ] {
            let (told, whole, attributes) = check(page, 1);
            assert_eq!(told, whole, "{page}");
            assert!(attributes <= 1, "{page}: {attributes}");
        }
    }

    /// Parts of pages that are easily misread.
    const PIECES: [&str; 40] = [
        "<",
        ">",
        "/",
        "=",
        "'",
        "\"",
        " ",
        "\r\n",
        "!",
        "?",
        "--",
        "-->",
        "<!--",
        "<p",
        "<b ",
        "</p",
        "</",
        "a",
        " b c",
        "é",
        "<script>",
        "</script",
        "</scr",
        "<script",
        "<style ",
        "</style>",
        "<title>",
        "</title ",
        "</titl",
        "</x y>",
        "<plaintext>",
        "&am",
        "&lt;",
        "&",
        "\u{feff}",
        "<!doctype",
        "<![CDATA[",
        "]]>",
        "\0",
        " d='>' e=\">\"f",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn any_page_is_read_as_if_it_were_given_whole(
            pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40), most in 0usize..4,
        ) {
            let page = pieces.concat();
            let (told, whole, attributes) = check(&page, most);
            prop_assert_eq!(told, whole, "{}", page);
            prop_assert!(attributes <= most, "{}: {}", page, attributes);
        }
    }
}
