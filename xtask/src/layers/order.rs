//! The orders that `cargo x lint` checks. Edit them here.

/// A crate in the folder `crates`.
pub struct Crate {
    pub name: &'static str,
    /// Packages of this repository that it may use.
    pub uses: &'static [&'static str],
    /// All its top-level modules; each uses only those before it.
    pub rooms: &'static [&'static str],
    /// Whether its modules are checked. False only until a crate with cycles is in order.
    pub is_checked: bool,
}

pub const CRATES: [Crate; 8] = [
    Crate { name: "core", uses: &[], rooms: CORE, is_checked: true },
    Crate { name: "corpus", uses: &["minwise"], rooms: CORPUS, is_checked: true },
    Crate { name: "engine", uses: &["minwise", "minwise-corpus"], rooms: ENGINE, is_checked: true },
    Crate { name: "index", uses: &["minwise"], rooms: INDEX, is_checked: true },
    Crate {
        name: "lab",
        uses: &["minwise", "minwise-corpus", "minwise-engine"],
        rooms: LAB,
        is_checked: true,
    },
    Crate {
        name: "server",
        uses: &["minwise", "minwise-corpus", "minwise-index"],
        rooms: &[],
        is_checked: false,
    },
    Crate {
        name: "cli",
        uses: &["minwise", "minwise-corpus", "minwise-engine", "minwise-index", "minwise-server"],
        rooms: CLI,
        is_checked: true,
    },
    Crate {
        name: "python",
        uses: &["minwise", "minwise-corpus", "minwise-engine", "minwise-index", "minwise-python"],
        rooms: PYTHON,
        is_checked: true,
    },
];

const CORE: &[&str] = &[
    // Documentation only.
    "errata",
    // Words for people.
    "figure",
    "escape",
    "sentence",
    "observe",
    "error",
    "calendar",
    "hash",
    "kernel",
    "sort",
    "text",
    "shingle",
    "weight",
    "estimate",
    "sketch",
    "candidate",
    "filter",
    "verify",
    "cluster",
    "keep",
    "spec",
    // Objects that own their spec.
    "sketch_object",
    "serde_form",
    "lsh",
];

const CORPUS: &[&str] = &[
    "setters",
    // Words for people, and names.
    "format",
    "refusal",
    "problem",
    "unconverted",
    "reject",
    "error",
    "annotation",
    "quiet",
    // Bytes.
    "positional",
    "compression",
    "members",
    "scratch",
    "temporary",
    "unfolded",
    "spool",
    "memory",
    "source",
    "output",
    // How records are to be read, and what they become.
    "field",
    "options",
    "column",
    "decode",
    "unescape",
    "extract",
    "document",
    "found",
    "shape",
    // Open sources.
    "sources",
    "container",
    // All of them together.
    "input",
    "corpus",
    "write",
    "fuzzing",
];

const ENGINE: &[&str] = &[
    "setters",
    "memory",
    "error",
    "parallel",
    "turn",
    "storage",
    "weigh",
    "rows",
    "settings",
    // The pipeline.
    "read",
    "candidate",
    "verify",
    "audit",
    "decide",
    // The stages, by the names under which they are public.
    "stages",
    "estimate",
    "accuracy",
    "output",
    "run",
    "arguments",
    "builder",
];

const INDEX: &[&str] = &[
    "setters",
    "error",
    "progress",
    "fault",
    // What lies on disk, and the form of each row.
    "settings",
    "folder",
    "store",
    "record",
    "text",
    "in_place",
    "postings",
    "frequencies",
    // The open index.
    "prepare",
    "index",
    "sets",
    "counting",
    // Changes.
    "acknowledge",
    "remove",
    "add",
    "compact",
    // Answers.
    "query",
    "clusters",
    "survey",
    // Care and transport.
    "check",
    "repair",
    "transfer",
    "fuzzing",
];

const LAB: &[&str] = &[
    // Tools.
    "data",
    "simulate",
    "corpus",
    "measure",
    "beyond",
    "plot",
    "png",
    "concepts",
    // From the claim of a source to a verdict about it.
    "definition",
    "check",
    "verdict",
    "table",
    "comparison",
    "experiment",
    "experiments",
    "catalogue",
    "record",
    "report",
];

const CLI: &[&str] = &[
    "exit",
    "args",
    "guess",
    "color",
    "interrupt",
    "shell",
    "spell",
    "printer",
    "limit",
    "summary",
    "settings",
    "progress",
    "commands",
];

const PYTHON: &[&str] = &[
    "error",
    // Data of Python.
    "column",
    "arrow",
    "texts",
    // Long work.
    "run",
    // Classes and functions.
    "shared",
    "comparison",
    "sketches",
    "spec",
    "dedup",
    "lsh",
    "index",
    "datasketch",
    "spark",
    // What Python sees of them.
    "_minwise",
];
