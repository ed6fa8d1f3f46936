//! Messages for people that name settings.
//!
//! Several interfaces use the library, and each spells a setting in its own way: `--max-rejects 5` on a command line,
//! `max_rejects=5` in Python. A message or a hint therefore contains its settings and actions as data, and the
//! interface spells them when it prints the sentence.

use std::borrow::Cow;
use std::fmt;

/// A message or hint in which settings and actions are data.
///
/// ```
/// use minwise::{SentencePart, Sentence};
///
/// let hint = Sentence::new().setting_to("memory", "2GiB").text(" would be enough");
/// assert_eq!(hint.to_string(), "`memory = 2GiB` would be enough");
///
/// let flags = hint.spelled(|part| match part {
///     SentencePart::Setting { name, value: Some(value) } => format!("`--{name} {value}`").into(),
///     part => part.to_string().into(),
/// });
/// assert_eq!(flags, "`--memory 2GiB` would be enough");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sentence {
    parts: Vec<SentencePart>,
}

/// A part of a sentence. [`Display`](fmt::Display) writes settings as builders name their methods, such as `max_rejects
/// = 5`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SentencePart {
    /// Plain text.
    Text(Cow<'static, str>),
    /// A setting by its name, such as `max-rejects`, with an optional value.
    Setting {
        /// Name of the setting, with hyphens.
        name: Cow<'static, str>,
        /// Value of the setting, or a placeholder such as `DIR`.
        value: Option<Cow<'static, str>>,
    },
    /// An action, such as `index create`, with an optional argument.
    Action {
        /// Name of the action, as words.
        name: &'static str,
        /// Argument of the action.
        argument: Option<String>,
    },
}

impl Sentence {
    /// Makes a sentence without parts. Methods such as [`text`](Self::text) append parts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends plain text.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.parts.push(SentencePart::Text(text.into()));
        self
    }

    /// Appends the name of a setting.
    #[must_use]
    pub fn setting(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.parts.push(SentencePart::Setting { name: name.into(), value: None });
        self
    }

    /// Appends a setting with a value.
    #[must_use]
    pub fn setting_to(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.parts.push(SentencePart::Setting { name: name.into(), value: Some(value.into()) });
        self
    }

    /// Appends an action.
    #[must_use]
    pub fn action(mut self, name: &'static str) -> Self {
        self.parts.push(SentencePart::Action { name, argument: None });
        self
    }

    /// Appends an action with its argument.
    #[must_use]
    pub fn action_on(mut self, name: &'static str, argument: impl Into<String>) -> Self {
        self.parts.push(SentencePart::Action { name, argument: Some(argument.into()) });
        self
    }

    /// Appends another sentence.
    #[must_use]
    pub fn followed_by(mut self, other: &Self) -> Self {
        self.parts.extend_from_slice(&other.parts);
        self
    }

    /// Returns the parts of the sentence, in order.
    #[must_use]
    pub fn parts(&self) -> &[SentencePart] {
        &self.parts
    }

    /// Formats the sentence for a command line: settings are flags, and actions are commands of `program`.
    #[must_use]
    pub fn as_flags(&self, program: &str) -> String {
        self.spelled(|part| match part {
            SentencePart::Text(text) => Cow::Borrowed(text.as_ref()),
            SentencePart::Setting { name, value: None } => format!("`--{name}`").into(),
            SentencePart::Setting { name, value: Some(value) } => format!("`--{name} {value}`").into(),
            SentencePart::Action { name, argument: None } => format!("`{program} {name}`").into(),
            SentencePart::Action { name, argument: Some(argument) } => {
                format!("`{program} {name} {argument}`").into()
            }
        })
    }

    /// Formats the sentence, with each part spelled by `spell`.
    #[must_use]
    pub fn spelled<'a>(&'a self, spell: impl Fn(&'a SentencePart) -> Cow<'a, str>) -> String {
        self.parts.iter().map(spell).collect()
    }
}

impl From<&'static str> for Sentence {
    fn from(text: &'static str) -> Self {
        Self::new().text(text)
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self::new().text(text)
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| part.fmt(f))
    }
}

impl fmt::Display for SentencePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Setting { name, value: None } => write!(f, "`{}`", method(name)),
            Self::Action { name, argument: None } => write!(f, "`{name}`"),
            Self::Setting { name, value: Some(value) } => write!(f, "`{} = {value}`", method(name)),
            Self::Action { name, argument: Some(argument) } => write!(f, "`{name} {argument}`"),
        }
    }
}

/// Returns the name of a setting in the builders and structs of the library.
fn method(setting: &str) -> String {
    match setting {
        // The command has the flag `force`, but the method is named after its effect.
        "force" => "overwrite".to_owned(),
        _ => setting.replace('-', "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_flags_and_actions_are_commands() {
        let sentence = Sentence::new().setting_to("memory", "1GiB").text(" or ").setting("resume");
        let sentence = sentence.text(", then ").action_on("index create", "archive").text(" and ");
        assert_eq!(
            sentence.action("weights").as_flags("minwise"),
            "`--memory 1GiB` or `--resume`, then `minwise index create archive` and `minwise weights`"
        );
    }

    #[test]
    fn a_sentence_is_readable_without_an_interface() {
        let sentence = Sentence::from("name the folder that ").setting("work").text(" was given, or ");
        let sentence = sentence.action_on("index create", "archive");
        assert_eq!(sentence.to_string(), "name the folder that `work` was given, or `index create archive`");
        assert_eq!(Sentence::new().action("weights").to_string(), "`weights`");
        let methods = Sentence::new().setting("force").text(" or ").setting_to("text-field", "body");
        assert_eq!(methods.to_string(), "`overwrite` or `text_field = body`");
        assert_eq!(Sentence::from("plain".to_owned()).parts(), [SentencePart::Text("plain".into())]);
    }
}
