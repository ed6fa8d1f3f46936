//! Orders that `cargo x lint` checks. Edit them here.

/// Crate in the folder `crates`.
pub struct Crate {
    pub name: &'static str,
    /// Packages of this repository that the crate may use.
    pub uses: &'static [&'static str],
    /// All top-level modules of the crate. Each module uses only modules before it.
    pub rooms: &'static [&'static str],
}

pub const CRATES: [Crate; 8] = [
    Crate { name: "core", uses: &[], rooms: CORE },
    Crate { name: "corpus", uses: &["minwise"], rooms: CORPUS },
    Crate { name: "engine", uses: &["minwise", "minwise-corpus"], rooms: ENGINE },
    Crate { name: "index", uses: &["minwise"], rooms: INDEX },
    Crate { name: "lab", uses: &["minwise", "minwise-corpus", "minwise-engine"], rooms: LAB },
    Crate { name: "server", uses: &["minwise", "minwise-corpus", "minwise-index"], rooms: SERVER },
    Crate {
        name: "cli",
        uses: &["minwise", "minwise-corpus", "minwise-engine", "minwise-index", "minwise-server"],
        rooms: CLI,
    },
    Crate {
        name: "python",
        uses: &["minwise", "minwise-corpus", "minwise-engine", "minwise-index", "minwise-python"],
        rooms: PYTHON,
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
    // Rules for reading records, and the results.
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
    // All sources of a run together.
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
    // The files on disk, and the form of each row.
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
    "enlarge",
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

const SERVER: &[&str] = &[
    "setters", "error", "problem", // Limits of requests and of the server.
    "shutdown", "auth", "limits", "metrics", "outgoing", // The archive and work on it.
    "wire", "files", "archive", "lanes", "jobs", "month", "overview", "upkeep", // Requests.
    "state", "uploads", "routes", "app", "listen",
];

const CLI: &[&str] = &[
    "exit",
    "allocator",
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
    "figure",
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
    // The module as Python sees it.
    "_minwise",
];
