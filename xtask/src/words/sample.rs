//! Prints random sentences, so that a reader can judge whether they are plain.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::passages::{self, Kind, Language};
use super::{files, name_of};

/// Shortest sentence that is judged, in words.
const SHORTEST_WORDS: usize = 4;

/// Which sentences are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// Comments and docstrings of programs, tests apart.
    Developers,
    /// README, guides, help, the API, and strings of the command and of the page.
    Users,
}

/// Prints `count` sentences, each with its file and line. The same tree and seed print the same sentences.
pub fn print(readers: &str, count: &str, seed: &str) -> Result<()> {
    let readers = match readers {
        "comments" => Readers::Developers,
        "pages" => Readers::Users,
        other => bail!("there are no sentences named `{other}`: `comments` or `pages`"),
    };
    let count = count.parse().with_context(|| format!("`{count}` is not a number of sentences"))?;
    let seed = seed.parse().with_context(|| format!("`{seed}` is not a seed"))?;
    let mut sentences = all(readers)?;
    let total = sentences.len();
    shuffle(&mut sentences, seed);
    sentences.truncate(count);
    for (number, sentence) in (1..).zip(&sentences) {
        println!("{number}. {sentence}");
    }
    println!("\n{} of {total} sentences, seed {seed}", sentences.len());
    Ok(())
}

/// Returns all sentences for these readers, each with its file and line.
fn all(readers: Readers) -> Result<Vec<String>> {
    let mut sentences = vec![];
    for file in files()? {
        let (name, Some(language)) = (name_of(&file), Language::of(&file)) else { continue };
        let text = fs_err::read_to_string(&file)?;
        for passage in passages::of(&text, language) {
            if !is_for(readers, &name, passage.kind) {
                continue;
            }
            let long = |sentence: &&str| sentence.split_whitespace().count() >= SHORTEST_WORDS;
            let found = passages::sentences(&passage.text).into_iter().filter(long);
            sentences.extend(found.map(|sentence| format!("{name}:{}: {sentence}", passage.line)));
        }
    }
    Ok(sentences)
}

/// Returns whether the readers meet a passage of this kind in this file.
fn is_for(readers: Readers, name: &str, kind: Kind) -> bool {
    let is_program = ["crates/", "python/", "xtask/"].iter().any(|folder| name.starts_with(folder));
    match readers {
        Readers::Developers => {
            let is_code = Path::new(name).extension().is_some_and(|extension| extension != "md");
            let is_test = name.contains("/tests/") || name.contains("/test_") || name.ends_with("_test.rs");
            is_program && is_code && !is_test && matches!(kind, Kind::Documentation | Kind::Comment)
        }
        Readers::Users => match kind {
            Kind::Page | Kind::Description => {
                let is_page =
                    ["docs/guides/", "docs/reference/"].iter().any(|folder| name.starts_with(folder));
                name == "README.md" || is_page
            }
            Kind::Message => {
                ["crates/cli/src/", "crates/server/web/"].iter().any(|folder| name.starts_with(folder))
            }
            Kind::Documentation | Kind::Comment | Kind::Data => false,
        },
    }
}

/// Shuffles a list by the seed, with the generator `SplitMix64`.
fn shuffle<T>(list: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..list.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let bound = u64::try_from(last).unwrap_or(u64::MAX) + 1;
        list.swap(last, usize::try_from(mixed % bound).unwrap_or(last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_order() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..100).collect();
            shuffle(&mut list, seed);
            list
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn readers_meet_their_sentences() {
        let developers = |name, kind| is_for(Readers::Developers, name, kind);
        assert!(developers("crates/core/src/lib.rs", Kind::Comment));
        assert!(!developers("crates/core/tests/vectors.rs", Kind::Comment));
        assert!(!developers("crates/core/README.md", Kind::Comment));
        assert!(!developers("crates/core/src/lib.rs", Kind::Message));
        let users = |name, kind| is_for(Readers::Users, name, kind);
        assert!(users("docs/guides/spark.md", Kind::Page));
        assert!(users("crates/cli/src/help.rs", Kind::Message));
        assert!(users("docs/reference/openapi.json", Kind::Description));
        assert!(users("crates/server/web/check-form.js", Kind::Message));
        assert!(!users("ARCHITECTURE.md", Kind::Page));
        assert!(!users("crates/cli/src/help.rs", Kind::Documentation));
    }
}
