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
    // This module has only documentation.
    "errata",
    // These modules format text for people.
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
    // These objects contain their own spec.
    "sketch_object",
    "serde_form",
    "lsh",
];

const CORPUS: &[&str] = &[
    "setters",
    // These modules hold names and text for people.
    "format",
    "refusal",
    "problem",
    "unconverted",
    "reject",
    "error",
    "annotation",
    "quiet",
    // These modules read and write bytes.
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
    // These modules hold the rules for reading records, and the results.
    "field",
    "options",
    "column",
    "decode",
    "unescape",
    "extract",
    "document",
    "found",
    "shape",
    // These modules read open sources.
    "sources",
    "container",
    // These modules handle all sources of a run together.
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
    // These modules are the pipeline.
    "read",
    "candidate",
    "verify",
    "audit",
    "decide",
    // These modules publish the stages by name.
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
    // These modules hold the files on disk, and the form of each row.
    "settings",
    "folder",
    "store",
    "record",
    "text",
    "in_place",
    "postings",
    "frequencies",
    // These modules hold the open index.
    "prepare",
    "index",
    "sets",
    "counting",
    // These modules change the index.
    "acknowledge",
    "remove",
    "add",
    "compact",
    // These modules answer queries.
    "query",
    "clusters",
    "survey",
    // These modules check, repair and transfer an index.
    "check",
    "repair",
    "transfer",
    "fuzzing",
];

const LAB: &[&str] = &[
    // These modules are tools of the experiments.
    "data",
    "simulate",
    "corpus",
    "enlarge",
    "measure",
    "beyond",
    "plot",
    "png",
    "concepts",
    // These modules lead from a statement of a source to a verdict about it.
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
    "setters", "error", "problem", // Next: limits of requests and of the server.
    "shutdown", "auth", "limits", "metrics", "outgoing", // Next: the archive and work on it.
    "wire", "files", "archive", "lanes", "jobs", "month", "overview", "upkeep", // Next: requests.
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
    // These modules convert data of Python.
    "column",
    "arrow",
    "texts",
    // This module runs long work.
    "run",
    // These modules define classes and functions.
    "shared",
    "comparison",
    "sketches",
    "spec",
    "dedup",
    "lsh",
    "index",
    "datasketch",
    "spark",
    // This module is the one that Python imports.
    "_minwise",
];
