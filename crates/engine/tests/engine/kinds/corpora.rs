//! Kinds of corpora for which the expected recall must be right, each made from a seed.

use crate::support::Random;

/// Corpus with the settings for its runs.
pub struct Kind {
    /// Name in the printed tables.
    pub name: &'static str,
    /// Documents in input order.
    pub texts: Vec<String>,
    /// Shingling, in the text form of a spec.
    pub shingling: &'static str,
    /// Similarity threshold.
    pub threshold: f64,
    /// Bands and rows; `None` if they follow from the wanted recall.
    pub bands: Option<(usize, usize)>,
    /// Number of documents that a shelf takes; `None` for the usual number.
    pub shelf: Option<usize>,
}

impl Kind {
    fn new(name: &'static str, texts: Vec<String>) -> Self {
        Self { name, texts, shingling: "words:5", threshold: 0.8, bands: None, shelf: None }
    }

    fn shingled(self, shingling: &'static str, threshold: f64) -> Self {
        Self { shingling, threshold, ..self }
    }

    fn banded(self, bands: usize, rows: usize) -> Self {
        Self { bands: Some((bands, rows)), ..self }
    }

    fn on_shelves_of(self, shelf: usize) -> Self {
        Self { shelf: Some(shelf), ..self }
    }
}

/// Function that makes a corpus of one kind.
pub type Make = fn(&mut Random) -> Kind;

/// All kinds of corpora.
pub const ALL: [Make; 25] = [
    |random| Kind::new("families of 2", families(random, 250, 2, 120, 3)),
    |random| Kind::new("families of 5", families(random, 100, 5, 120, 3)),
    |random| Kind::new("families of 50", families(random, 10, 50, 120, 3)),
    |random| Kind::new("family of 1000", families(random, 1, 1000, 120, 3)),
    |random| Kind::new("near-copies of 30 words", families(random, 1, 1000, 30, 2)),
    |random| Kind::new("family of long documents", families(random, 1, 150, 1500, 40)),
    |random| Kind::new("form of 30 %", form(random, 30)),
    |random| Kind::new("form of 50 %", form(random, 50)),
    |random| Kind::new("form of 70 %", form(random, 70)),
    |random| Kind::new("short chains", chains(random, 60, 8)),
    |random| Kind::new("long chain", chains(random, 1, 400)),
    |random| Kind::new("short documents", short(random)).shingled("words:1", 0.6),
    |random| Kind::new("long documents", families(random, 30, 3, 3000, 90)),
    |random| Kind::new("Chinese", chinese(random)).shingled("chars:4", 0.7),
    |random| Kind::new("mixed languages", languages(random)).shingled("words:3", 0.7),
    |random| Kind::new("equal copies", equal_copies(random)),
    |random| Kind::new("head and foot", head_and_foot(random)),
    |random| Kind::new("bands of one row", form(random, 50)).shingled("words:1", 0.8).banded(6, 1),
    |random| Kind::new("bands of two rows", form(random, 70)).shingled("words:1", 0.8).banded(6, 2),
    |random| {
        Kind::new("full shelves", form(random, 50)).shingled("words:1", 0.8).banded(8, 1).on_shelves_of(100)
    },
    |random| Kind::new("at the threshold", similar(random, 72, 64)).shingled("words:1", 0.8),
    |random| Kind::new("just above", similar(random, 90, 81)).shingled("words:1", 0.8),
    |random| Kind::new("just below", similar(random, 72, 63)).shingled("words:1", 0.8),
    |random| Kind::new("halves", halves(random)).shingled("words:3", 0.45),
    |random| Kind::new("few pairs", few(random)),
];

/// Makes the corpus of a kind for a seed.
pub fn make(make: Make, seed: u64) -> Kind {
    make(&mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

fn words(random: &mut Random, count: usize) -> Vec<String> {
    (0..count).map(|_| word(random)).collect()
}

fn word(random: &mut Random) -> String {
    format!("w{}", random.below(50_000))
}

/// Replaces, removes or inserts a word, `edits` times.
fn edited(random: &mut Random, words: &[String], edits: usize) -> Vec<String> {
    let mut words = words.to_vec();
    for _ in 0..edits {
        let at = random.below(words.len());
        match random.below(4) {
            0 => words.insert(at, word(random)),
            1 if words.len() > 2 => drop(words.remove(at)),
            _ => words[at] = word(random),
        }
    }
    words
}

/// Shuffles documents.
fn shuffled(random: &mut Random, mut texts: Vec<String>) -> Vec<String> {
    for i in (1..texts.len()).rev() {
        texts.swap(i, random.below(i + 1));
    }
    texts
}

/// Makes families of one document and edited copies of it.
fn families(random: &mut Random, count: usize, size: usize, length: usize, edits: usize) -> Vec<String> {
    let mut texts = vec![];
    for _ in 0..count {
        let first = words(random, length);
        texts.push(first.join(" "));
        for _ in 1..size {
            let edits = 1 + random.below(edits);
            texts.push(edited(random, &first, edits).join(" "));
        }
    }
    shuffled(random, texts)
}

/// Makes 500 fillings of a form that is `percent` per cent of each filling. Every fourth document is an earlier filling
/// with one or two edits.
fn form(random: &mut Random, percent: usize) -> Vec<String> {
    let head = words(random, percent);
    let mut filled: Vec<Vec<String>> = vec![];
    for i in 0..500 {
        let text = if i % 4 == 3 {
            let (of, edits) = (random.below(i), 1 + random.below(2));
            edited(random, &filled[of], edits)
        } else {
            [head.clone(), words(random, 100 - percent)].concat()
        };
        filled.push(text);
    }
    filled.iter().map(|words| words.join(" ")).collect()
}

/// Makes fillings of a form that is half of each filling, so two of them have the similarity 20/60. Every tenth filling
/// has the similarity 32/48 to the one before it.
pub fn filled() -> Kind {
    let text = |i: usize| {
        let own = if i % 10 == 9 { i - 1 } else { i };
        let word = |at: usize| match at {
            0..20 => format!("form{at}"),
            20..28 if own != i => format!("d{i}n{at}"),
            _ => format!("d{own}w{at}"),
        };
        (0..40).map(word).collect::<Vec<_>>().join(" ")
    };
    Kind::new("filled", (0..600).map(text).collect()).shingled("words:1", 0.35)
}

/// Makes chains of documents, each revised from the one before it.
fn chains(random: &mut Random, count: usize, length: usize) -> Vec<String> {
    let mut texts = vec![];
    for _ in 0..count {
        let mut version = words(random, 100);
        for _ in 0..length {
            texts.push(version.join(" "));
            let edits = 1 + random.below(2);
            version = edited(random, &version, edits);
        }
    }
    texts
}

/// Makes documents of four to eight words. Every third document differs from an earlier one by one edit.
fn short(random: &mut Random) -> Vec<String> {
    let mut texts: Vec<Vec<String>> = vec![];
    for i in 0..600 {
        let text = if i % 3 == 2 {
            let of = random.below(i);
            edited(random, &texts[of], 1)
        } else {
            let length = 4 + random.below(5);
            words(random, length)
        };
        texts.push(text);
    }
    texts.iter().map(|words| words.join(" ")).collect()
}

fn sinograms(random: &mut Random, count: usize) -> Vec<char> {
    (0..count).filter_map(|_| char::from_u32(0x4e00 + random.below(3000) as u32)).collect()
}

fn chinese(random: &mut Random) -> Vec<String> {
    let mut texts = vec![];
    for _ in 0..120 {
        let first = sinograms(random, 120);
        for _ in 0..3 {
            let mut text = first.clone();
            for _ in 0..random.below(6) {
                let at = random.below(text.len());
                text[at] = sinograms(random, 1)[0];
            }
            texts.push(text.into_iter().collect());
        }
    }
    shuffled(random, texts)
}

fn languages(random: &mut Random) -> Vec<String> {
    let mut texts = vec![];
    for i in 0..150 {
        let mut first: Vec<String> = match i % 3 {
            0 => words(random, 100),
            1 => (0..100).map(|_| format!("слово{}", random.below(20_000))).collect(),
            _ => (0..40).map(|_| sinograms(random, 3).into_iter().collect()).collect(),
        };
        // The quotation is in another script than most of the text.
        let quoted = sinograms(random, 12).into_iter().collect();
        first.insert(50.min(first.len()), quoted);
        texts.push(first.join(" "));
        for _ in 0..2 {
            let edits = random.below(6);
            texts.push(edited(random, &first, edits).join(" "));
        }
    }
    shuffled(random, texts)
}

/// Makes families with many exact copies of their documents.
fn equal_copies(random: &mut Random) -> Vec<String> {
    let mut texts = families(random, 60, 3, 120, 3);
    for _ in 0..400 {
        let again = texts[random.below(180)].clone();
        texts.push(again);
    }
    shuffled(random, texts)
}

fn head_and_foot(random: &mut Random) -> Vec<String> {
    let (head, foot) = (words(random, 30), words(random, 20));
    let mut texts = vec![];
    for _ in 0..150 {
        let own = words(random, 80);
        for edits in [0, 1, 2] {
            let text = [head.clone(), edited(random, &own, edits), foot.clone()].concat();
            texts.push(text.join(" "));
        }
    }
    shuffled(random, texts)
}

/// Makes pairs of documents of `length` words that have `shared` words in common.
fn similar(random: &mut Random, length: usize, shared: usize) -> Vec<String> {
    let mut texts = vec![];
    for pair in 0..250 {
        let own = |side: &str, at: usize| format!("p{pair}{side}{at}");
        let common: Vec<String> = (0..shared).map(|at| own("both", at)).collect();
        for side in ["left", "right"] {
            let rest = (shared..length).map(|at| own(side, at));
            texts.push(common.iter().cloned().chain(rest).collect::<Vec<_>>().join(" "));
        }
    }
    shuffled(random, texts)
}

/// Makes documents and their first halves.
fn halves(random: &mut Random) -> Vec<String> {
    let mut texts = vec![];
    for _ in 0..200 {
        let whole = words(random, 100);
        let half = 48 + random.below(8);
        texts.push(whole.join(" "));
        texts.push(whole[..half].join(" "));
    }
    shuffled(random, texts)
}

/// Makes ten similar pairs among documents that resemble no other.
fn few(random: &mut Random) -> Vec<String> {
    let mut texts: Vec<String> = (0..280).map(|_| words(random, 60).join(" ")).collect();
    texts.extend(families(random, 10, 2, 120, 2));
    shuffled(random, texts)
}
