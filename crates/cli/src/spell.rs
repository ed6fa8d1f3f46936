//! Spells settings and actions as flags and commands.

use minwise::Sentence;

/// Returns the text of a sentence in which settings are flags and actions are commands.
pub fn spelled(sentence: &Sentence) -> String {
    sentence.as_flags("minwise")
}
