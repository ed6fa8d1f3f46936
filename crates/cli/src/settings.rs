//! What the options mean. All that is wrong with them is said at once.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;

use minwise::candidate::{Banding, tune};
use minwise::cluster::Cluster;
use minwise::filter::{Budget, Filter, default_looks};
use minwise::keep::{Keep, Ranking};
use minwise::shingle::{Repeats, Shingling, Short};
use minwise::sketch::Method;
use minwise::text::{Form, Markup, Normalization, Space};
use minwise::verify::Measure;
use minwise::weight::{MostDocuments, Weighting};
use minwise::{ErrorKind, Spec, Weights};
use minwise_corpus::{FieldPath, ReadOptions};
use minwise_engine::{AuditSize, Memory, Search, Settings, Weighing};

use crate::args::{BandArgs, InputArgs, ReadingArgs, RunArgs, SketchArgs, SpecArgs, TextArgs, WeightArgs};
use crate::printer::Failure;

/// Collects what is wrong, in the order of the options.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

/// One thing that is wrong with the options.
#[derive(Debug)]
pub struct Problem {
    /// The option and what is wrong with it.
    pub message: String,
    /// What to try instead.
    pub hint: Option<String>,
}

impl Problems {
    /// The value, if it can be read; otherwise the problem is noted and the default stands in, so that the options
    /// behind it are looked at too.
    pub fn parse<T: FromStr<Err: Display> + Default>(&mut self, option: &str, text: &str) -> T {
        text.parse().unwrap_or_else(|error: T::Err| {
            self.add(format!("`{option}`: {error}"), None);
            T::default()
        })
    }

    pub fn number<T: FromStr + Default>(&mut self, option: &str, text: &str, kind: &str) -> T {
        text.parse().unwrap_or_else(|_| {
            self.add(format!("`{option}`: `{text}` is not {kind}"), None);
            T::default()
        })
    }

    pub fn check<T>(&mut self, option: &str, result: Result<T, minwise::Error>) -> Option<T> {
        result.map_err(|error| self.add(format!("`{option}`: {error}"), error.hint())).ok()
    }

    pub fn add(&mut self, message: String, hint: Option<String>) {
        self.0.push(Problem { message, hint });
    }

    /// Fails if anything was wrong.
    pub fn finish(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(Failure::Options(self.0)) }
    }
}

const WHOLE: &str = "a whole number";
const NUMBER: &str = "a number";

/// A count that is at least 1.
pub fn count(problems: &mut Problems, option: &str, text: &str) -> usize {
    let number: usize = problems.number(option, text, WHOLE);
    if number == 0 && text.parse::<usize>().is_ok() {
        problems.add(format!("`{option}`: it must be at least 1"), None);
    }
    number.max(1)
}

/// The most documents of a cluster of which any is removed.
pub fn max_cluster(text: Option<&str>, problems: &mut Problems) -> Option<u64> {
    text.map(|most| count(problems, "--max-cluster", most) as u64)
}

/// Documents that are audited, if any are to be.
pub fn audit(text: &str, problems: &mut Problems) -> Option<AuditSize> {
    match text {
        "auto" => Some(AuditSize::Affordable),
        "off" => None,
        number => match problems.number("--audit", number, "a whole number, `auto` or `off`") {
            0 => None,
            documents => Some(AuditSize::Documents(documents)),
        },
    }
}

/// The sketch with this many registers; the default stands in for one that is not possible.
pub fn method(registers: &str, problems: &mut Problems) -> Method {
    let before = problems.0.len();
    let registers = count(problems, "--registers", registers);
    if problems.0.len() > before {
        return Method::default();
    }
    // Parsing the text form checks the size.
    let parsed = Method::minhash(registers).to_string().parse();
    problems.check("--registers", parsed).unwrap_or_default()
}

/// The sketch that is named, with the registers that are asked for unless it says how many itself.
fn sketch(args: &SpecArgs, default: &str, problems: &mut Problems) -> Method {
    let name = args.sketch.as_deref().unwrap_or(default);
    if name.contains([':', '/']) {
        if args.registers.is_some() {
            problems.add(format!("`--registers`: `--sketch {name}` says how many there are"), None);
        }
        return problems.check("--sketch", name.parse()).unwrap_or_default();
    }
    let registers = method(args.registers.as_deref().unwrap_or("128"), problems).registers();
    let parsed = format!("{name}:{registers}").parse().map_err(|error: minwise::Error| match error.kind() {
        // What was typed, and not what was made of it.
        ErrorKind::Parse { what, expected, .. } => {
            ErrorKind::Parse { what, given: name.to_owned(), expected: expected.clone() }.into()
        }
        _ => error,
    });
    problems.check("--sketch", parsed).unwrap_or_default()
}

/// What is done to text; the rest of the spec is at its default.
pub fn text_spec(args: &TextArgs, problems: &mut Problems) -> Spec {
    let shingling: Shingling = problems.parse("--shingle", &args.shingle);
    let form: Form = problems.parse("--normalize", &args.normalize);
    let space: Space = problems.parse("--whitespace", &args.whitespace);
    let short: Short = problems.parse("--short", &args.short);
    let markup = if args.strip_markup { Markup::Strip } else { Markup::Keep };
    Spec {
        normalization: Normalization { form, markup, space },
        shingling: shingling.with_short(short),
        ..Spec::default()
    }
}

/// A spec for sets.
pub fn spec(args: &SpecArgs, problems: &mut Problems) -> Spec {
    let text = text_spec(&args.text, problems);
    let method = sketch(args, "minhash", problems);
    let seed = problems.number("--seed", &args.seed, WHOLE);
    Spec { method, seed, ..text }
}

/// A spec for sets, or for weighted sets if weights are asked for. The fingerprints of tables are not in it yet.
pub fn weighted_spec(args: &SpecArgs, weights: &WeightArgs, problems: &mut Problems) -> Spec {
    let weighting: Weighting = problems.parse("--weight", &weights.weight);
    let most_documents =
        weights.max_df.as_ref().and_then(|most| problems.check("--max-df", most.parse::<MostDocuments>()));
    let text = text_spec(&args.text, problems);
    let weighted = weighting != Weighting::None;
    let method = sketch(args, if weighted { "dart" } else { "minhash" }, problems);
    if weighted != matches!(method, Method::Weighted(_)) {
        let (message, hint) = if weighted {
            (format!("`--sketch`: `{method}` is not for weighted shingles"), "`dart`, `icws` and `cws` are")
        } else {
            (
                format!("`--sketch`: `{method}` is for weighted shingles"),
                "`--weight` says how they are weighed",
            )
        };
        problems.add(message, Some(hint.to_owned()));
    }
    if weighted && text.shingling.repeats() == Repeats::Bag {
        problems.add(
            "`--weight`: weights count repeats themselves".to_owned(),
            Some("leave `,bag` away from `--shingle`".to_owned()),
        );
    }
    let seed = problems.number("--seed", &args.seed, WHOLE);
    Spec { method, seed, weights: Weights { weighting, most_documents, ..Weights::default() }, ..text }
}

pub fn threshold(text: &str, problems: &mut Problems) -> f64 {
    let threshold = problems.number("--threshold", text, NUMBER);
    if text.parse::<f64>().is_ok() {
        problems.check("--threshold", tune::check_threshold(threshold));
    }
    threshold
}

/// An estimate from which on a pair is listed.
pub fn estimate_threshold(text: &str, problems: &mut Problems) -> f64 {
    let threshold: f64 = problems.number("--threshold", text, NUMBER);
    if text.parse::<f64>().is_ok() && !(0.0..=1.0).contains(&threshold) {
        problems
            .add(format!("`--threshold`: an estimate cannot be {threshold}: it must be from 0 to 1"), None);
    }
    threshold
}

pub fn threads(text: Option<&str>, problems: &mut Problems) -> usize {
    match text {
        Some(threads) => count(problems, "--threads", threads),
        None => available_parallelism().map_or(1, usize::from),
    }
}

/// Threads, and rejected records that are put up with.
pub fn limits(args: &RunArgs, problems: &mut Problems) -> (usize, Option<u64>) {
    let mut threads = threads(args.threads.as_deref(), problems);
    if args.threads.is_none() {
        // What is wrong with the memory is told by whoever asks for it.
        threads = threads.min(memory(args, &mut Problems::default()).most_threads());
    }
    let max_rejects = args.max_rejects.as_ref();
    (threads, max_rejects.map(|number| problems.number("--max-rejects", number, WHOLE)))
}

/// Fields of records, separated by commas; none for an empty list.
pub fn fields(option: &str, text: &str, problems: &mut Problems) -> Vec<FieldPath> {
    if text.is_empty() {
        return vec![];
    }
    FieldPath::list(text).unwrap_or_else(|error| {
        problems.add(format!("`{option}`: {error}"), error.hint());
        vec![]
    })
}

/// The most memory that a run is to take.
pub fn memory(args: &RunArgs, problems: &mut Problems) -> Memory {
    let Some(text) = &args.memory else { return Memory::default() };
    let Some(bytes) = size_bytes(text) else {
        problems.add(format!("`--memory`: `{text}` is not a size such as `4GiB`"), None);
        return Memory::default();
    };
    problems.check("--memory", Memory::new(bytes)).unwrap_or_default()
}

/// A share of shingles in the same places.
fn alignment(text: &str, problems: &mut Problems) -> f64 {
    let share: f64 = problems.number("--order", text, NUMBER);
    if text.parse::<f64>().is_ok() && !(share > 0.0 && share <= 1.0) {
        problems.add(format!("`--order`: a share cannot be {share}: it must be above 0 and at most 1"), None);
    }
    share
}

/// A standard error that an estimate can have.
pub fn standard_error(text: &str, problems: &mut Problems) -> f64 {
    let error: f64 = problems.number("--error", text, NUMBER);
    if text.parse::<f64>().is_ok() && !(error > 0.0 && error <= 0.5) {
        problems.add(
            format!("`--error`: a standard error cannot be {error}: it must be above 0 and at most 0.5"),
            None,
        );
    }
    error
}

/// Bands and rows as asked for, or as the recall needs them.
pub fn banding(args: &BandArgs, method: Method, threshold: f64, problems: &mut Problems) -> Option<Banding> {
    match (&args.bands, &args.rows) {
        (None, None) => {}
        (Some(bands), Some(rows)) => {
            let bands = count(problems, "--bands", bands);
            let rows = count(problems, "--rows", rows);
            return problems.check("--bands", Banding::new(bands, rows, method.registers()));
        }
        (Some(_), None) => problems.add("`--bands`: it needs `--rows` beside it".to_owned(), None),
        (None, Some(_)) => problems.add("`--rows`: it needs `--bands` beside it".to_owned(), None),
    }
    let recall = problems.number("--recall", &args.recall, NUMBER);
    if args.recall.parse::<f64>().is_ok() {
        problems.check("--recall", tune::check_recall(recall));
    }
    if !problems.0.is_empty() {
        return None;
    }
    // Registers that can be banded agree with the probability of the similarity itself.
    let chosen = tune::choose(threshold, recall, method.registers(), |similarity| similarity);
    problems.check("--recall", chosen)
}

/// The settings of a run. Tables that weights ask for are not made yet.
pub fn run(
    sketch: &SketchArgs,
    run: &RunArgs,
    keep: &[String],
    cluster: Cluster,
    mut problems: Problems,
) -> Result<Settings, Failure> {
    let threshold = threshold(&sketch.threshold, &mut problems);
    let measure: Measure = problems.parse("--measure", &sketch.measure);
    let order = sketch.order.as_ref().map(|order| alignment(order, &mut problems));
    let spec = weighted_spec(&sketch.spec, &sketch.weights, &mut problems);
    let search = search(sketch.candidates.as_deref(), measure, &mut problems);
    let banding = match search {
        Search::Banding if spec.method.bandable().is_none() => {
            problems.add(
                format!("`--sketch`: `{}` has no registers to be banded by", spec.method),
                Some(if matches!(spec.method, Method::Weighted(_)) {
                    "candidates are found by `dart`, `icws` or `cws`, or otherwise than by bands with `--candidates`".to_owned()
                } else {
                    "candidates are found by `minhash`, `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`".to_owned()
                }),
            );
            None
        }
        Search::Banding => banding(&sketch.bands, spec.method, threshold, &mut problems),
        // No band is looked at.
        Search::SortMerge | Search::SortMergeSketch | Search::All => {
            problems.check("--registers", Banding::new(1, 1, spec.method.registers()))
        }
    };
    let keep = match keep {
        // The longer document has all that the shorter one would keep.
        [] if measure == Measure::Containment => Ranking::Longest.into(),
        [] => Keep::default(),
        several => problems.parse("--keep", &several.join(";")),
    };
    let bits = sketch.bits.as_ref().and_then(|bits| problems.check("--bits", bits.parse()));
    if bits.is_some() && search == Search::SortMergeSketch {
        problems.add("`--bits`: `--candidates sort-merge,sketch` needs whole registers".to_owned(), None);
    }
    let filter = filter_error(&sketch.filter_error, &mut problems);
    let (threads, max_rejects) = limits(run, &mut problems);
    let memory = memory(run, &mut problems);
    problems.finish()?;
    let banding = banding.ok_or_else(|| Failure::Options(vec![]))?;
    let settings = Settings {
        spec,
        weighing: Weighing::default(),
        measure,
        threshold,
        order,
        search,
        banding,
        bits,
        filter,
        keep,
        cluster,
        max_cluster: None,
        audit: None,
        threads,
        max_rejects,
        temporary: None,
        memory,
        work: None,
    };
    let mut problems = Problems::default();
    problems.check("--bits", settings.row_bytes());
    problems.finish()?;
    Ok(settings)
}

/// The fields that a keeper policy looks at.
pub fn value_fields(keep: &Keep) -> Result<Vec<FieldPath>, Failure> {
    let mut problems = Problems::default();
    let mut fields = vec![];
    for field in keep.fields() {
        match field.parse() {
            Ok(path) => fields.push(path),
            Err(error) => problems.add(format!("`--keep`: {error}"), None),
        }
    }
    problems.finish()?;
    Ok(fields)
}

/// How candidates are found; containment has one way that bands do not offer.
fn search(text: Option<&str>, measure: Measure, problems: &mut Problems) -> Search {
    let search = match (text, measure) {
        (Some(text), _) => problems.parse("--candidates", text),
        (None, Measure::Jaccard) => Search::Banding,
        (None, Measure::Containment) => Search::SortMerge,
    };
    if measure == Measure::Containment && matches!(search, Search::Banding | Search::SortMergeSketch) {
        problems.add(
            format!("`--candidates`: `{search}` does not see containment"),
            Some("`sort-merge` finds every pair, and so does `all`".to_owned()),
        );
    }
    search
}

/// The error that the filter may make, if it is wanted.
pub fn filter_error(text: &str, problems: &mut Problems) -> Option<f64> {
    (text != "off").then(|| filter_share(text, "a number or `off`", ", or `off`", problems))
}

/// A filter as it would be made for this threshold and error, with that error.
pub fn planned_filter(
    error: &str,
    method: Method,
    threshold: f64,
    problems: &mut Problems,
) -> Option<(Filter, f64)> {
    let error = filter_share(error, NUMBER, "", problems);
    if !problems.0.is_empty() {
        return None;
    }
    let looks = default_looks(method.registers());
    // Registers of `minhash` agree with the probability of the similarity itself.
    let filter = Filter::new(threshold, method.registers(), &looks, Budget::Exact(error));
    problems.check("--filter", filter).map(|filter| (filter, error))
}

/// A share of pairs that the filter may put aside; `kind` is what it is to be, `otherwise` what else it may be.
fn filter_share(text: &str, kind: &str, otherwise: &str, problems: &mut Problems) -> f64 {
    let error: f64 = problems.number("--filter-error", text, kind);
    if text.parse::<f64>().is_ok() && !(1e-200..=0.5).contains(&error) {
        problems.add(
            format!(
                "`--filter-error`: the share cannot be {error}: it must be from 1e-200 to 0.5{otherwise}"
            ),
            None,
        );
    }
    error
}

pub fn read_options(args: &InputArgs, problems: &mut Problems) -> ReadOptions {
    reading(&args.reading, problems)
}

pub fn reading(args: &ReadingArgs, problems: &mut Problems) -> ReadOptions {
    let mut options = ReadOptions::default();
    match FieldPath::list(&args.text_field) {
        Ok(fields) => options.text_fields = fields,
        Err(error) => problems.add(format!("`--text-field`: {error}"), None),
    }
    match args.id_field.parse() {
        Ok(field) => options.id_field = field,
        Err(error) => problems.add(format!("`--id-field`: {error}"), None),
    }
    match args.encoding.parse() {
        Ok(encoding) => options.encoding = encoding,
        Err(error) => problems.add(format!("`--encoding`: {error}"), None),
    }
    match size_bytes(&args.max_record) {
        // A place in a source has 32 bits for its length.
        Some(bytes) if (1..=u64::from(u32::MAX)).contains(&bytes) => options.max_record_bytes = bytes,
        Some(_) => {
            problems.add("`--max-record`: it must be at least 1 byte and less than 4 GiB".to_owned(), None);
        }
        None => {
            problems
                .add(format!("`--max-record`: `{}` is not a size such as `64MiB`", args.max_record), None);
        }
    }
    match args.input_format.parse() {
        Ok(format) => options.format = format,
        Err(error) => problems.add(format!("`--input-format`: {error}"), None),
    }
    options.spool_dir = args.temp_dir.as_ref().map(PathBuf::from);
    options
}

/// A size in bytes: a number with an optional unit.
pub fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1000,
        "kib" => 1 << 10,
        "m" | "mb" => 1_000_000,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("0", Some(0)),
            ("17", Some(17)),
            ("64KiB", Some(65_536)),
            ("3 MB", Some(3_000_000)),
            ("1GiB", Some(1 << 30)),
            ("1.5GiB", None),
            ("GiB", None),
            ("-1", None),
            ("99999999999GiB", None),
            ("5 apples", None),
        ] {
            assert_eq!(size_bytes(text), expected, "{text}");
        }
    }
}
