//! Reads a crate: its modules, the paths that each module names, and the modules to which these paths lead.
//!
//! Files are parsed with `syn`, so comments, strings and the layout of an import make no difference. Code under
//! `#[cfg(test)]` is left out, because tests may use any module. Method calls are ignored, because `index.add()` names
//! no module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprLit, ImplItem, Item, ItemMod, ItemUse, Lit, Meta, Token, UseTree, VisRestricted,
    Visibility,
};

/// Index of the crate root in [`Tree::modules`].
pub const ROOT: usize = 0;

/// Modules of a crate; the first is the root.
pub struct Tree {
    pub modules: Vec<Module>,
}

pub struct Module {
    /// Names from the crate root down to this module; empty for the root.
    pub path: Vec<String>,
    pub file: PathBuf,
    pub parent: Option<usize>,
    pub children: BTreeMap<String, usize>,
    pub paths: Vec<NamedPath>,
    pub types: Vec<TypeDefinition>,
    items: BTreeSet<String>,
    imports: Vec<Import>,
}

/// Path in the code, as it was written.
pub struct NamedPath {
    pub segments: Vec<String>,
    pub line: usize,
}

/// Struct, enum, trait, union or type alias.
pub struct TypeDefinition {
    pub name: String,
    pub line: usize,
    /// Whether the visibility is `pub`, without a restriction such as `pub(crate)`.
    pub is_public: bool,
}

struct Import {
    /// Imported name, or `None` for a glob.
    name: Option<String>,
    segments: Vec<String>,
}

/// Imports that are being followed, by module and number. The list ends the search if two imports lead to each other.
type FollowedImports = Vec<(usize, usize)>;

impl Tree {
    /// Reads the crate whose root is `file`. `read` returns the text of a file, or `None` if there is none.
    pub fn read(file: &Path, read: &dyn Fn(&Path) -> Result<Option<String>>) -> Result<Self> {
        let mut reader = CrateReader {
            tree: Self { modules: vec![] },
            read,
            at: ROOT,
            folder: file.parent().unwrap_or(Path::new("")).to_owned(),
            problem: None,
        };
        let text = read(file)?.with_context(|| format!("there is no {}", file.display()))?;
        reader.push(vec![], file.to_owned(), None);
        reader.file(file, &text)?;
        reader.problem.map_or(Ok(reader.tree), Err)
    }

    /// Returns the modules on which a path in the module `from` depends: the modules named in the path, and the module
    /// that defines its last name. Re-exports are followed. A path into another crate resolves to no module.
    ///
    /// The root is included only if it defines the last name, because a re-export of the root is just a shorter path to
    /// another module.
    pub fn resolve(&self, from: usize, segments: &[String]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        self.start(from, segments, &mut vec![], &mut found);
        found
    }

    /// Follows a path from its first segment.
    fn start(
        &self,
        from: usize,
        segments: &[String],
        seen: &mut FollowedImports,
        found: &mut BTreeSet<usize>,
    ) {
        match segments {
            [first, rest @ ..] if first == "crate" => self.follow(ROOT, rest, seen, found),
            [first, ..] if first == "self" || first == "super" => self.follow(from, segments, seen, found),
            _ => {
                self.look_up(from, segments, seen, found);
            }
        }
    }

    /// Follows the remaining segments of a path whose beginning named the module `at`.
    fn follow(
        &self,
        at: usize,
        segments: &[String],
        seen: &mut FollowedImports,
        found: &mut BTreeSet<usize>,
    ) {
        if at != ROOT {
            found.insert(at);
        }
        match segments {
            [first, rest @ ..] if first == "self" => self.follow(at, rest, seen, found),
            [first, rest @ ..] if first == "super" => {
                self.follow(self.modules[at].parent.unwrap_or(ROOT), rest, seen, found);
            }
            [_, ..] if self.look_up(at, segments, seen, found) => {}
            // No segment is left, so the path names the module itself; or a macro defines the name, because the source
            // of the module does not.
            _ => {
                found.insert(at);
            }
        }
    }

    /// Follows a path whose first segment is a name in the scope of the module `at`. Returns `false` if there is no
    /// such name.
    fn look_up(
        &self,
        at: usize,
        segments: &[String],
        seen: &mut FollowedImports,
        found: &mut BTreeSet<usize>,
    ) -> bool {
        let [name, rest @ ..] = segments else { return false };
        let module = &self.modules[at];
        let mut known = false;
        if let Some(&child) = module.children.get(name) {
            self.follow(child, rest, seen, found);
            known = true;
            // A module and a function may have the same name. Only a module has further names inside.
            if !rest.is_empty() {
                return true;
            }
        }
        if module.items.contains(name) {
            found.insert(at);
            return true;
        }
        for (number, import) in module.imports.iter().enumerate() {
            if import.name.as_ref() == Some(name) && !seen.contains(&(at, number)) {
                seen.push((at, number));
                self.start(at, &[&import.segments, rest].concat(), seen, found);
                seen.pop();
                known = true;
            }
        }
        for (number, import) in module.imports.iter().enumerate() {
            if !known && import.name.is_none() && !seen.contains(&(at, number)) {
                seen.push((at, number));
                let mut modules = BTreeSet::new();
                self.start(at, &import.segments, seen, &mut modules);
                known = modules.into_iter().any(|module| self.look_up(module, segments, seen, found));
                seen.pop();
            }
        }
        known
    }
}

/// Reads the files of a crate and fills the tree.
struct CrateReader<'a> {
    tree: Tree,
    read: &'a dyn Fn(&Path) -> Result<Option<String>>,
    /// Module that is being read.
    at: usize,
    /// Folder with the files of the module's children.
    folder: PathBuf,
    problem: Option<anyhow::Error>,
}

impl CrateReader<'_> {
    fn push(&mut self, path: Vec<String>, file: PathBuf, parent: Option<usize>) -> usize {
        self.tree.modules.push(Module {
            path,
            file,
            parent,
            children: BTreeMap::new(),
            paths: vec![],
            types: vec![],
            items: BTreeSet::new(),
            imports: vec![],
        });
        self.tree.modules.len() - 1
    }

    fn file(&mut self, file: &Path, text: &str) -> Result<()> {
        let parsed = syn::parse_file(text).with_context(|| format!("{} is not Rust", file.display()))?;
        if !is_test(&parsed.attrs) {
            self.visit_file(&parsed);
        }
        Ok(())
    }

    /// Reads a module that the current module declares. If `path` attributes give the module several files, each file
    /// counts as the module.
    fn child(&mut self, item: &ItemMod) -> Result<()> {
        let (name, parent) = (item.ident.to_string(), self.at);
        let path = [&self.tree.modules[parent].path, std::slice::from_ref(&name)].concat();
        let (file, folder) = (self.tree.modules[parent].file.clone(), self.folder.join(&name));
        if let Some((_, items)) = &item.content {
            self.enter(path, file, folder, |reader| {
                for item in items {
                    reader.visit_item(item);
                }
                Ok(())
            })?;
            return Ok(());
        }
        let beside = file.parent().unwrap_or(Path::new(""));
        let mut candidates: Vec<_> = item
            .attrs
            .iter()
            .filter_map(named_file)
            .map(|file| (beside.join(file), beside.to_owned()))
            .collect();
        if candidates.is_empty() {
            let flat = (self.folder.join(format!("{name}.rs")), folder.clone());
            let nested = (folder.join("mod.rs"), folder);
            candidates = if (self.read)(&flat.0)?.is_some() { vec![flat] } else { vec![nested] };
        }
        for (candidate, folder) in candidates {
            let Some(text) = (self.read)(&candidate)? else {
                bail!("{} declares `{name}`, but there is no {}", file.display(), candidate.display());
            };
            self.enter(path.clone(), candidate.clone(), folder, |reader| reader.file(&candidate, &text))?;
        }
        Ok(())
    }

    /// Adds a child of the current module and reads it.
    fn enter(
        &mut self,
        path: Vec<String>,
        file: PathBuf,
        folder: PathBuf,
        read: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (parent, outer) = (self.at, std::mem::replace(&mut self.folder, folder));
        let name = path.last().cloned().unwrap_or_default();
        self.at = self.push(path, file, Some(parent));
        self.tree.modules[parent].children.insert(name, self.at);
        read(self)?;
        self.at = parent;
        self.folder = outer;
        Ok(())
    }

    fn names(&mut self, segments: Vec<String>, line: usize) {
        self.tree.modules[self.at].paths.push(NamedPath { segments, line });
    }

    /// Adds the paths of an import, group by group, and the names that it brings into scope.
    fn import(&mut self, tree: &UseTree, prefix: &[String]) {
        let with = |ident: &Ident| [prefix, &[ident.to_string()]].concat();
        let (segments, name, line) = match tree {
            UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, prefix)),
            UseTree::Name(name) if name.ident == "self" => {
                (prefix.to_vec(), prefix.last().cloned(), line_of(&name.ident))
            }
            UseTree::Name(name) => (with(&name.ident), Some(name.ident.to_string()), line_of(&name.ident)),
            UseTree::Rename(name) => (with(&name.ident), Some(name.rename.to_string()), line_of(&name.ident)),
            UseTree::Glob(glob) => (prefix.to_vec(), None, glob.star_token.span.start().line),
        };
        self.names(segments.clone(), line);
        self.tree.modules[self.at].imports.push(Import { name, segments });
    }

    /// Finds the paths in tokens that `syn` does not parse: arguments and rules of macros, and attributes. Inside a
    /// group of imports, `prefix` is the path before the group.
    fn scan(&mut self, tokens: TokenStream, prefix: &[String]) {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => self.scan(group.stream(), prefix),
                TokenTree::Ident(first) => {
                    let mut segments = [prefix, &[first.to_string()]].concat();
                    let mut group = None;
                    while let Some((next, rest)) = after_colons(&tokens) {
                        match next {
                            TokenTree::Ident(ident) => segments.push(ident.to_string()),
                            TokenTree::Group(braces) if braces.delimiter() == Delimiter::Brace => {
                                group = Some(braces);
                            }
                            _ => break,
                        }
                        tokens = rest;
                    }
                    match group {
                        Some(group) => self.scan(group.stream(), &segments),
                        None => self.names(segments, line_of(&first)),
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// Returns the token after `::` and the following tokens, or `None` if `::` does not come next.
fn after_colons(tokens: &IntoIter) -> Option<(TokenTree, IntoIter)> {
    let mut tokens = tokens.clone();
    // The first colon must touch the second. The first colon of `x: ::std::io::Result` does not.
    for spacing in [Spacing::Joint, Spacing::Alone] {
        match tokens.next()? {
            TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == spacing => {}
            _ => return None,
        }
    }
    Some((tokens.next()?, tokens))
}

impl<'ast> Visit<'ast> for CrateReader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        if is_test(attributes) {
            return;
        }
        if let Some(name) = name {
            self.tree.modules[self.at].items.insert(name.to_string());
        }
        self.tree.modules[self.at].types.extend(type_definition(item));
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if let Err(problem) = self.child(item) {
            self.problem.get_or_insert(problem);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            self.import(&item.tree, &[]);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let (None, Some(first)) = (&path.leading_colon, path.segments.first()) {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.names(segments, line_of(&first.ident));
        }
        visit::visit_path(self, path);
    }

    // Visibilities are not visited, because `pub(in crate::a)` does not use `a`. It only makes an item visible there.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.scan(tokens.clone(), &[]);
    }
}

/// Returns the attributes of an item, and its name if others can import the item. A module has no name here, because it
/// is found by its place in the tree.
fn head(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::ExternCrate(item) => (&item.attrs, None),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::ForeignMod(item) => (&item.attrs, None),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, None),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::TraitAlias(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// Returns the type that an item defines, or `None` if it defines no type.
fn type_definition(item: &Item) -> Option<TypeDefinition> {
    let (name, visibility) = match item {
        Item::Enum(item) => (&item.ident, &item.vis),
        Item::Struct(item) => (&item.ident, &item.vis),
        Item::Trait(item) => (&item.ident, &item.vis),
        Item::Type(item) => (&item.ident, &item.vis),
        Item::Union(item) => (&item.ident, &item.vis),
        _ => return None,
    };
    let is_public = matches!(visibility, Visibility::Public(_));
    Some(TypeDefinition { name: name.to_string(), line: line_of(name), is_public })
}

/// Reports whether an item is compiled for tests only: by `#[cfg(test)]`, or by `all(…)` with `test` among its
/// conditions.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => match syn::parse2::<Meta>(list.tokens.clone()) {
            Ok(Meta::Path(path)) => path.is_ident("test"),
            Ok(Meta::List(all)) if all.path.is_ident("all") => {
                all.tokens.into_iter().any(|token| matches!(token, TokenTree::Ident(name) if name == "test"))
            }
            _ => false,
        },
        _ => false,
    })
}

/// Returns the file that an attribute names: `#[path = "file.rs"]`, or such a path in `cfg_attr`.
fn named_file(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
            metas.iter().find_map(file_of)
        }
        meta => file_of(meta),
    }
}

fn file_of(meta: &Meta) -> Option<String> {
    match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(file), .. }) => Some(file.value()),
            _ => None,
        },
        _ => None,
    }
}

fn line_of(ident: &Ident) -> usize {
    ident.span().start().line
}
