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
    // `errata` has only documentation.
    "errata",
    // `figure`, `escape` and `sentence` format text for people.
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
    // A sketch object contains its own spec.
    "sketch_object",
    "serde_form",
    "lsh",
];

const CORPUS: &[&str] = &[
    "setters",
    // `format` to `annotation` hold names, errors and text for people.
    "format",
    "encoding",
    "refusal",
    "problem",
    "unconverted",
    "reject",
    "error",
    "annotation",
    "quiet",
    // `positional` to `output` read and write bytes.
    "positional",
    "compression",
    "frames",
    "members",
    "scratch",
    "temporary",
    "unfolded",
    "spool",
    "memory",
    "source",
    "output",
    // `field` to `shape` hold the rules for reading records, and the results.
    "field",
    "options",
    "column",
    "decode",
    "unescape",
    "extract",
    "document",
    "found",
    "shape",
    // `sources` and `container` read open sources.
    "sources",
    "container",
    // `input`, `corpus` and `write` handle all sources of a run together.
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
    "gather",
    "turn",
    "storage",
    "weigh",
    "rows",
    "settings",
    // `read` to `decide` are the pipeline.
    "read",
    "candidate",
    "verify",
    "audit",
    "decide",
    // `stages` re-exports the functions of the pipeline, for programs that call one stage at a time.
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
    // `settings` to `frequencies` hold the files on disk, and the form of each row.
    "settings",
    "folder",
    "store",
    "record",
    "text",
    "in_place",
    "postings",
    "frequencies",
    // `prepare` to `counting` hold the open index.
    "prepare",
    "index",
    "sets",
    "counting",
    // `acknowledge` to `compact` change the index.
    "acknowledge",
    "remove",
    "add",
    "compact",
    // `query` to `survey` answer queries.
    "query",
    "clusters",
    "survey",
    // `check` to `transfer` check an index, repair it, make it smaller, and move it to another folder.
    "check",
    "repair",
    "rewrite",
    "transfer",
    "fuzzing",
];

const LAB: &[&str] = &[
    // `data` to `concepts` are tools of the experiments.
    "data",
    "simulate",
    "corpus",
    "enlarge",
    "measure",
    "machine",
    "beyond",
    "plot",
    "png",
    "concepts",
    // `definition` to `report` lead from a statement of a source to a verdict about the statement.
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
    "setters", "error", "problem",
    // `shutdown` to `outgoing` limit requests and the server.
    "shutdown", "auth", "limits", "metrics", "outgoing",
    // `wire` to `upkeep` hold the archive and the work on it.
    "wire", "files", "archive", "lanes", "jobs", "month", "overview", "upkeep",
    // `state` to `listen` answer requests.
    "state", "uploads", "routes", "app", "listen",
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
    "allocator",
    "limit",
    "summary",
    "settings",
    "progress",
    "commands",
];

const PYTHON: &[&str] = &[
    "error",
    "figure",
    // `column`, `arrow` and `texts` convert data of Python.
    "column",
    "arrow",
    "texts",
    // `run` runs long work on a thread of its own.
    "run",
    // `shared` to `spark` define classes and functions.
    "shared",
    "comparison",
    "sketches",
    "spec",
    "dedup",
    "lsh",
    "index",
    "datasketch",
    "spark",
    // Python imports `_minwise`.
    "_minwise",
];
