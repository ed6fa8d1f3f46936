//! Checks that a type name has one meaning in the workspace: a public type shares its name with no other type.
//!
//! A type counts as public if it is `pub` and its crate is a library. Two types break the rule if they have the same
//! name and at least one of them is public, because a reader would mistake the other type for the public one. Tests are
//! left out.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::layers::order::CRATES;
use crate::layers::source::Tree;
use crate::layers::{modules, roots};

/// Names that several types may have, with the reasons.
const EXCEPTIONS: [(&str, &str); 4] = [
    ("Error", "each crate has one error type, which callers name with the crate"),
    ("ErrorKind", "each `Error` has a kind"),
    ("Renderer", "one type per setting of the feature `png`, of which one is compiled"),
    ("Result", "each crate has an alias with its `Error`"),
];

/// Place where a type is defined, and whether the type is public.
struct Definition {
    place: String,
    is_public: bool,
}

/// All types of the workspace, by name.
#[derive(Default)]
struct Names(BTreeMap<String, Vec<Definition>>);

/// Refuses a public type that shares its name with another type.
pub fn check() -> Result<()> {
    let mut names = Names::default();
    for member in &CRATES {
        for file in roots(&Path::new("crates").join(member.name).join("src"))? {
            names.add(&modules(&file)?, file.ends_with("lib.rs"));
        }
    }
    let wrong = names.problems(&EXCEPTIONS);
    ensure!(
        wrong.is_empty(),
        "rename a type, or add its name with a reason to EXCEPTIONS in xtask/src/names.rs:\n  {}",
        wrong.join("\n  ")
    );
    println!("names: {} types, and no public one shares its name", names.0.values().flatten().count());
    Ok(())
}

impl Names {
    /// Adds the types of a crate. All of them are private unless the crate is a library.
    fn add(&mut self, tree: &Tree, is_library: bool) {
        for module in &tree.modules {
            for definition in &module.types {
                let place = format!("{}:{}", module.file.display(), definition.line);
                let is_public = is_library && definition.is_public;
                self.0.entry(definition.name.clone()).or_default().push(Definition { place, is_public });
            }
        }
    }

    /// Returns the names that break the rule, and the exceptions that no type needs.
    fn problems(&self, exceptions: &[(&str, &str)]) -> Vec<String> {
        let is_exception = |name: &str| exceptions.iter().any(|(exception, _)| *exception == name);
        let shared = self.0.iter().filter(|(_, definitions)| is_shared(definitions));
        let mut problems: Vec<String> = shared
            .clone()
            .filter(|(name, _)| !is_exception(name))
            .map(|(name, definitions)| {
                let places: Vec<_> = definitions.iter().map(Definition::shown).collect();
                format!("`{name}` is {} types: {}", definitions.len(), places.join(", "))
            })
            .collect();
        let needed: Vec<_> = shared.map(|(name, _)| name.as_str()).collect();
        for (name, _) in exceptions.iter().filter(|(name, _)| !needed.contains(name)) {
            problems.push(format!("`{name}` is an exception, but no public type shares this name"));
        }
        problems
    }
}

impl Definition {
    fn shown(&self) -> String {
        format!("{} ({})", self.place, if self.is_public { "public" } else { "private" })
    }
}

fn is_shared(definitions: &[Definition]) -> bool {
    definitions.len() > 1 && definitions.iter().any(|definition| definition.is_public)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the problems of two libraries and a command, each of one file.
    fn problems(first: &str, second: &str, command: &str, exceptions: &[(&str, &str)]) -> Vec<String> {
        let mut names = Names::default();
        for (file, text) in [("first/lib.rs", first), ("second/lib.rs", second), ("command/main.rs", command)]
        {
            let read = |_: &Path| Ok(Some(text.to_owned()));
            names.add(&Tree::read(Path::new(file), &read).unwrap(), file.ends_with("lib.rs"));
        }
        names.problems(exceptions)
    }

    #[test]
    fn this_repository_is_in_order() {
        check().unwrap();
    }

    #[test]
    fn a_public_name_is_defined_once() {
        assert_eq!(
            problems("pub struct Place;", "\npub enum Place {}", "", &[]),
            ["`Place` is 2 types: first/lib.rs:1 (public), second/lib.rs:2 (public)"]
        );
    }

    #[test]
    fn every_kind_of_type_counts_in_modules_too() {
        for other in ["struct A;", "enum A {}", "trait A {}", "type A = u8;", "union A { a: u8 }"] {
            let nested = format!("mod inner {{ pub(crate) {other} }}");
            assert_eq!(problems("pub trait A {}", &nested, "", &[]).len(), 1, "{other}");
        }
    }

    #[test]
    fn a_private_type_or_a_type_of_a_command_does_not_take_a_public_name() {
        let places = "first/lib.rs:1 (public), second/lib.rs:1 (private), command/main.rs:1 (private)";
        assert_eq!(
            problems("pub struct Place;", "struct Place;", "pub struct Place;", &[]),
            [format!("`Place` is 3 types: {places}")]
        );
    }

    #[test]
    fn private_types_re_exports_functions_and_tests_may_share_a_name() {
        let first = "struct State; pub struct Place; pub struct Keep; pub struct Run;";
        let second = "pub(crate) struct State; pub use first::Place; pub fn Keep() {}
                      #[cfg(test)] mod tests { struct Run; } impl Iterator for State { type Item = u8; }";
        assert_eq!(problems(first, second, "struct State;", &[]), [""; 0]);
    }

    #[test]
    fn exceptions_are_left_out_and_must_be_needed() {
        let reason = "each crate has one";
        assert_eq!(problems("pub struct Error;", "pub struct Error;", "", &[("Error", reason)]), [""; 0]);
        assert_eq!(
            problems("pub struct Error;", "", "", &[("Error", reason)]),
            ["`Error` is an exception, but no public type shares this name"]
        );
    }
}
