//! Tests with small crates in memory. Each names a module in another way.

use std::path::Path;

use super::rules;
use super::source::Tree;

/// Returns the violations in a crate of these files. If the files do not include the root, it declares the rooms `a`,
/// `b` and `c`.
fn wrong_with(files: &[(&str, &str)]) -> Vec<String> {
    rules::check(&tree(files), Some(&["a", "b", "c"]))
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let root = ("lib.rs", "mod a; mod b; mod c;");
    // The reader searches `a.rs` before `a/mod.rs`, so a given file `a.rs` replaces the empty `a/mod.rs`.
    let empty = [("a/mod.rs", ""), ("b/mod.rs", ""), ("c/mod.rs", ""), root];
    Tree::read(Path::new("lib.rs"), &|file| {
        let text = files.iter().chain(&empty).find(|(name, _)| Path::new(name) == file);
        Ok(text.map(|(_, text)| (*text).to_owned()))
    })
    .unwrap()
}

/// Returns the paths of the modules to which a path in a module leads.
fn reached(tree: &Tree, from: &str, path: &str) -> Vec<String> {
    let path_of = |module: usize| tree.modules[module].path.join("::");
    let from = (0..tree.modules.len()).find(|&module| path_of(module) == from).unwrap();
    let segments: Vec<_> = path.split("::").map(str::to_owned).collect();
    tree.resolve(from, &segments).into_iter().filter(|&to| to != from).map(path_of).collect()
}

/// Returns the names that the former check found, which did not parse files: the words after `crate::`, line by line.
fn names_by_text(source: &str) -> Vec<String> {
    source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn this_repository_is_in_order() {
    super::check().unwrap();
}

#[test]
fn a_room_may_use_those_before_it() {
    assert_eq!(
        wrong_with(&[("c.rs", "use crate::a::X; use crate::{a, b::{Y, z}}; fn f() { super::a::g() }")]),
        [""; 0]
    );
}

#[test]
fn each_use_of_a_later_room_is_named_with_its_line() {
    assert_eq!(
        wrong_with(&[("a.rs", "use crate::b::X;\n\nuse crate::c;\n")]),
        [
            "a.rs:1: `crate::b::X` is in `b`, which comes after `a` in xtask/src/layers/order.rs",
            "a.rs:3: `crate::c` is in `c`, which comes after `a` in xtask/src/layers/order.rs",
        ]
    );
}

#[test]
fn grouped_imports_are_seen_where_a_search_for_text_sees_none() {
    let source = "use crate::{\n    a::X,\n    c::{d, e::Y},\n};\n";
    assert_eq!(names_by_text(source), [""]);
    assert_eq!(
        wrong_with(&[("b.rs", source)]),
        [
            "b.rs:3: `crate::c::d` is in `c`, which comes after `b` in xtask/src/layers/order.rs",
            "b.rs:3: `crate::c::e::Y` is in `c`, which comes after `b` in xtask/src/layers/order.rs",
        ]
    );
}

#[test]
fn paths_relative_to_the_module_are_seen() {
    let files = [("b/mod.rs", "mod deep; use self::deep::X;"), ("b/deep.rs", "use super::super::c::Y;")];
    let wrong = wrong_with(&files);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("b/deep.rs:1: `super::super::c::Y` is in `c`"), "{wrong:?}");
}

#[test]
fn names_of_the_root_belong_to_the_module_that_defines_them() {
    let root = "mod a; mod b; mod c; pub use a::Low; pub use {b::Middle as Between, c::{High, inner::Deep}};";
    let tree = tree(&[("lib.rs", root), ("c.rs", "pub mod inner { pub struct Deep; }\npub struct High;")]);
    assert_eq!(reached(&tree, "b", "crate::Low"), ["a"]);
    assert_eq!(reached(&tree, "c", "crate::Between"), ["b"]);
    assert_eq!(reached(&tree, "a", "crate::High::new"), ["c"]);
    assert_eq!(reached(&tree, "a", "super::Deep"), ["c", "c::inner"]);
    let wrong = wrong_with(&[("lib.rs", root), ("b.rs", "use crate::{High, Low};")]);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("b.rs:1: `crate::High` is in `c`"), "{wrong:?}");
}

#[test]
fn re_exports_lead_through_the_room_that_makes_them() {
    let tree = tree(&[("b.rs", "pub use crate::a::X;"), ("a.rs", "pub struct X;")]);
    assert_eq!(reached(&tree, "c", "crate::b::X"), ["a", "b"]);
}

#[test]
fn names_in_scope_are_followed() {
    let tree =
        tree(&[("a.rs", "use crate::b; use crate::c as other; use std::io;"), ("b.rs", "pub mod inner {}")]);
    assert_eq!(reached(&tree, "a", "b::inner::X"), ["b", "b::inner"]);
    assert_eq!(reached(&tree, "a", "other::X"), ["c"]);
    assert_eq!(reached(&tree, "a", "io::Result"), [""; 0]);
    assert_eq!(reached(&tree, "a", "minwise::text::X"), [""; 0]);
}

#[test]
fn names_of_a_glob_are_followed() {
    let tree = tree(&[
        ("b/mod.rs", "mod left; mod right; use right::X;"),
        ("b/left.rs", "use super::*;"),
        ("b/right.rs", ""),
    ]);
    assert_eq!(reached(&tree, "b::left", "X"), ["b::right"]);
    assert_eq!(reached(&tree, "b::left", "Y"), [""; 0]);
}

#[test]
fn a_module_and_a_function_may_share_a_name() {
    let root = "mod a; mod b; mod c; pub use a::b;";
    let tree = tree(&[("lib.rs", root), ("a.rs", "pub fn b() {}"), ("b.rs", "pub struct X;")]);
    assert_eq!(reached(&tree, "c", "crate::b::X"), ["b"]);
    assert_eq!(reached(&tree, "c", "crate::b"), ["a", "b"]);
}

#[test]
fn a_module_may_have_a_file_for_each_condition() {
    let files = [
        (
            "b/mod.rs",
            "#[cfg_attr(unix, path = \"here.rs\")]\n#[cfg_attr(not(unix), path = \"there.rs\")]\nmod deep;",
        ),
        ("b/here.rs", "use crate::c::X;"),
        ("b/there.rs", "\nuse crate::c::Y;"),
    ];
    let wrong = wrong_with(&files);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(wrong[0].starts_with("b/here.rs:1: `crate::c::X`"), "{wrong:?}");
    assert!(wrong[1].starts_with("b/there.rs:2: `crate::c::Y`"), "{wrong:?}");
}

#[test]
fn imports_of_themselves_end() {
    let root = "mod a; mod b; mod c; pub use a::*; pub use c::*; use outer::outer;";
    let tree = tree(&[("lib.rs", root), ("a.rs", "pub use crate::*;"), ("c.rs", "pub struct X;")]);
    assert_eq!(reached(&tree, "b", "crate::X"), ["c"]);
    assert_eq!(reached(&tree, "b", "crate::outer::Y"), [""; 0]);
    // No module defines `Nowhere`, so it counts as a name of the root.
    assert_eq!(reached(&tree, "b", "crate::Nowhere"), [""]);
}

#[test]
fn paths_in_code_and_in_macros_are_seen() {
    for source in [
        "fn f() { crate::c::g(); }",
        "fn f() -> Option<crate::c::X> { None }",
        "impl crate::c::X for Y {}",
        "fn f() { println!(\"{}\", crate::c::g()); }",
        "macro_rules! m { () => { $crate::c::g() } }",
        "macro_rules! m { () => { use crate::{a::X, c::{Y}}; } }",
        "#[arg(value_parser = crate::c::g)] struct X;",
        "fn f() { use crate::c::X; }",
        "pub use crate::c::X;",
    ] {
        let wrong = wrong_with(&[("a.rs", source)]);
        assert_eq!(wrong.len(), 1, "{source}: {wrong:?}");
        assert!(wrong[0].starts_with("a.rs:1: "), "{source}: {wrong:?}");
        assert!(wrong[0].contains("is in `c`"), "{source}: {wrong:?}");
    }
}

#[test]
fn comments_strings_tests_and_visibility_do_not_count() {
    for source in [
        "/// [`X`](crate::c::X)\n// crate::c\n/* crate::c::g() */ fn f() {}",
        "const X: &str = \"use crate::c::X;\"; const Y: &str = r#\"crate::c\"#;",
        "#[cfg(test)]\nmod tests { use crate::c::X; }",
        "#[cfg(test)]\nmod tests;",
        "#[cfg(all(test, unix))] use crate::c::X;",
        "impl X { #[cfg(test)] fn f() { crate::c::g() } }",
        "pub(in crate::c) struct X;",
        "use c::X; use ::c::Y;",
        "fn f(x: u8) { m!(x: ::c::X); }",
    ] {
        assert_eq!(wrong_with(&[("a.rs", source)]), [""; 0], "{source}");
    }
}

#[test]
fn code_that_other_builds_have_counts() {
    for source in ["#[cfg(not(test))] use crate::c::X;", "#[cfg(any(test, unix))] use crate::c::X;"] {
        assert_eq!(wrong_with(&[("a.rs", source)]).len(), 1, "{source}");
    }
}

#[test]
fn rooms_do_not_use_what_the_root_defines() {
    let root = "mod a; mod b; mod c; struct Exit;";
    assert_eq!(
        wrong_with(&[("lib.rs", root), ("b.rs", "use crate::Exit;")]),
        ["b.rs:1: `crate::Exit` is defined in lib.rs, which uses every module; move it to a module"]
    );
}

#[test]
fn the_order_lists_the_modules_that_there_are() {
    assert_eq!(
        wrong_with(&[("lib.rs", "mod a; mod b; mod d;"), ("d/mod.rs", "")]),
        [
            "d/mod.rs: `d` has no place in the order of its crate; add it to xtask/src/layers/order.rs after the modules it uses",
            "xtask/src/layers/order.rs: lists `c`, but lib.rs does not declare it",
        ]
    );
}

#[test]
fn siblings_that_use_each_other_are_found() {
    let files = [
        ("b/mod.rs", "mod one; mod two; mod three; mod four; pub use two::Two;"),
        ("b/one.rs", "use super::Two;"),
        ("b/two.rs", "\nuse super::three::deep::X;"),
        ("b/three/mod.rs", "pub mod deep;"),
        ("b/three/deep.rs", "fn f() { crate::b::one::g() }"),
        ("b/four.rs", "use super::one::g;"),
    ];
    assert_eq!(
        wrong_with(&files),
        ["b/mod.rs: `one`, `three`, `two` use each other; move what they share to a module of its own:\
          \n    b/one.rs:1: `super::Two` is in `two`\
          \n    b/three/deep.rs:1: `crate::b::one::g` is in `one`\
          \n    b/two.rs:2: `super::three::deep::X` is in `three`"]
    );
}

#[test]
fn without_an_order_the_rooms_are_siblings() {
    let there = ("a.rs", "use crate::c::X;");
    assert_eq!(rules::check(&tree(&[there]), None), [""; 0]);
    assert_eq!(
        rules::check(&tree(&[there, ("c.rs", "use crate::a::Y;")]), None),
        ["lib.rs: `a`, `c` use each other; move what they share to a module of its own:\
          \n    a.rs:1: `crate::c::X` is in `c`\
          \n    c.rs:1: `crate::a::Y` is in `a`"]
    );
}

#[test]
fn a_module_and_its_children_may_use_each_other() {
    let files = [
        ("b/mod.rs", "mod one; mod two; struct Shared; use one::X; use two::Y;"),
        ("b/one.rs", "use super::Shared;"),
        ("b/two.rs", "use super::{one::X, Shared};"),
    ];
    assert_eq!(wrong_with(&files), [""; 0]);
}
