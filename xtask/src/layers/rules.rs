//! Rules for the modules of a crate: a room uses only rooms before it, and no two siblings use each other.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{NamedPath, ROOT, Tree};

/// File with the orders.
pub const ORDER: &str = "xtask/src/layers/order.rs";

/// Dependency of a module on another, and the path that shows it.
struct Dependency<'t> {
    from: usize,
    to: usize,
    path: &'t NamedPath,
}

/// Returns all violations of the rules in a crate. `rooms` is the order of its top-level modules. Without it, top-level
/// modules are checked like other siblings.
pub fn check(tree: &Tree, rooms: Option<&[&str]>) -> Vec<String> {
    let edges = edges(tree);
    let mut wrong = vec![];
    if let Some(rooms) = rooms {
        wrong = unlisted(tree, rooms);
        wrong.extend(edges.iter().filter_map(|edge| out_of_order(tree, rooms, edge)));
        // Equal messages are removed: a path into a folder depends on the room and on the folder, which gives the same
        // message twice.
        wrong.dedup();
    }
    for at in 0..tree.modules.len() {
        if at != ROOT || rooms.is_none() {
            wrong.extend(cycles(tree, at, &edges));
        }
    }
    wrong
}

/// Returns a message per top-level module that the order does not list, and per listed name without a module.
fn unlisted(tree: &Tree, rooms: &[&str]) -> Vec<String> {
    let root = &tree.modules[ROOT];
    let unknown = root.children.iter().filter(|(name, _)| !rooms.contains(&name.as_str())).map(|(name, &child)| {
        let file = tree.modules[child].file.display();
        format!("{file}: `{name}` has no place in the order of its crate; add it to {ORDER} after the modules it uses")
    });
    let missing = rooms
        .iter()
        .filter(|room| !root.children.contains_key(**room))
        .map(|room| format!("{ORDER}: lists `{room}`, but {} does not declare it", root.file.display()));
    unknown.chain(missing).collect()
}

/// Returns all dependencies between two modules, one per path that shows it.
fn edges(tree: &Tree) -> Vec<Dependency<'_>> {
    let mut edges = vec![];
    for (from, module) in tree.modules.iter().enumerate() {
        for path in &module.paths {
            let reached = tree.resolve(from, &path.segments).into_iter().filter(|&to| to != from);
            edges.extend(reached.map(|to| Dependency { from, to, path }));
        }
    }
    edges
}

fn out_of_order(tree: &Tree, rooms: &[&str], edge: &Dependency) -> Option<String> {
    // Paths that begin with an imported name are left out, because the import itself is an edge.
    if !["crate", "self", "super"].contains(&edge.path.segments[0].as_str()) {
        return None;
    }
    let from = tree.modules[edge.from].path.first()?;
    let place = place(tree, edge);
    let Some(to) = tree.modules[edge.to].path.first() else {
        let root = tree.modules[ROOT].file.display();
        return Some(format!("{place} is defined in {root}, which uses every module; move it to a module"));
    };
    let rank = |name: &String| rooms.iter().position(|room| room == name);
    (rank(to)? > rank(from)?).then(|| format!("{place} is in `{to}`, which comes after `{from}` in {ORDER}"))
}

/// Returns the cycles among the children of the module `at`. A module and its children may use each other.
fn cycles(tree: &Tree, at: usize, edges: &[Dependency]) -> Vec<String> {
    let folder = &tree.modules[at].path;
    let child_of = |module: usize| tree.modules[module].path.strip_prefix(folder.as_slice())?.first();
    // Maps each pair of children of which the first uses the second to the first path that shows it.
    let mut uses = BTreeMap::new();
    for edge in edges {
        if let (Some(from), Some(to)) = (child_of(edge.from), child_of(edge.to))
            && from != to
        {
            uses.entry((from, to)).or_insert(edge);
        }
    }
    let reached = |from| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(name) = open.pop() {
            open.extend(
                uses.keys().filter(|(user, to)| *user == name && reached.insert(*to)).map(|(_, to)| *to),
            );
        }
        reached
    };
    let reached: BTreeMap<_, _> =
        tree.modules[at].children.keys().map(|name| (name, reached(name))).collect();
    // Children of one cycle reach each other, so each of them gives the same set.
    let cycles: BTreeSet<Vec<&String>> = reached
        .iter()
        .filter(|(name, to)| to.contains(*name))
        .map(|(name, to)| to.iter().filter(|other| reached[*other].contains(name)).copied().collect())
        .collect();
    cycles
        .iter()
        .map(|members| {
            let names: Vec<_> = members.iter().map(|name| format!("`{name}`")).collect();
            let places = uses
                .iter()
                .filter(|((from, to), _)| members.contains(from) && members.contains(to))
                .map(|((_, to), edge)| format!("\n    {} is in `{to}`", place(tree, edge)));
            format!(
                "{}: {} use each other; move what they share to a module of its own:{}",
                tree.modules[at].file.display(),
                names.join(", "),
                places.collect::<String>()
            )
        })
        .collect()
}

/// Returns the line of an edge, and the path written there.
fn place(tree: &Tree, edge: &Dependency) -> String {
    let NamedPath { segments, line } = edge.path;
    format!("{}:{line}: `{}`", tree.modules[edge.from].file.display(), segments.join("::"))
}
