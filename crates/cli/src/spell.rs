//! Settings and actions as the command line spells them.

use minwise::Sentence;

/// A sentence with its settings as flags and its actions as commands.
pub fn spelled(sentence: &Sentence) -> String {
    sentence.as_flags("minwise")
}
