//! Settings and actions as the command line spells them.

use std::borrow::Cow;

use minwise::{Part, Sentence};

/// A sentence with its settings as flags and its actions as commands.
pub fn spelled(sentence: &Sentence) -> String {
    sentence.spelled(|part| match part {
        Part::Setting { name, value: None } => format!("`{}`", flag(name)).into(),
        Part::Setting { name, value: Some(value) } => format!("`{} {value}`", flag(name)).into(),
        Part::Action { name, argument: None } => format!("`minwise {name}`").into(),
        Part::Action { name, argument: Some(argument) } => format!("`minwise {name} {argument}`").into(),
        Part::Text(text) => Cow::Borrowed(text.as_ref()),
        // Sentences may get parts that this version does not know.
        part => part.to_string().into(),
    })
}

/// The flag of a setting.
pub fn flag(setting: &str) -> String {
    match setting {
        // These say what a run is, and are no flags: the spec is made of several.
        "spec" | "format" | "version" => setting.to_owned(),
        _ => format!("--{setting}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_flags_and_actions_are_commands() {
        let sentence = Sentence::new().setting_to("memory", "1GiB").text(" or ").setting("resume");
        let sentence = sentence.text(", then ").action_on("index create", "archive").text(" and ");
        let sentence = sentence.action("weights").text(" for the ").setting("spec");
        assert_eq!(
            spelled(&sentence),
            "`--memory 1GiB` or `--resume`, then `minwise index create archive` and `minwise weights` for the `spec`"
        );
    }
}
