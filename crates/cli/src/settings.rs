//! What the options mean. All that is wrong with them is said at once.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;

use minwise::Spec;
use minwise::candidate::{Banding, tune};
use minwise::cluster::Cluster;
use minwise::keep::Keep;
use minwise::shingle::{Shingling, Short};
use minwise::sketch::Method;
use minwise::text::{Form, Markup, Normalization, Space};
use minwise_corpus::{FieldPath, ReadOptions};
use minwise_engine::Settings;

use crate::args::{BandArgs, InputArgs, ReadingArgs, RunArgs, SketchArgs, SpecArgs};
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

    fn add(&mut self, message: String, hint: Option<String>) {
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
fn count(problems: &mut Problems, option: &str, text: &str) -> usize {
    let number: usize = problems.number(option, text, WHOLE);
    if number == 0 && text.parse::<usize>().is_ok() {
        problems.add(format!("`{option}`: it must be at least 1"), None);
    }
    number.max(1)
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
fn sketch(name: &str, registers: &str, problems: &mut Problems) -> Method {
    if name.contains([':', '/']) {
        return problems.check("--sketch", name.parse()).unwrap_or_default();
    }
    let registers = method(registers, problems).registers();
    problems.check("--sketch", format!("{name}:{registers}").parse()).unwrap_or_default()
}

pub fn spec(args: &SpecArgs, problems: &mut Problems) -> Spec {
    let shingling: Shingling = problems.parse("--shingle", &args.shingle);
    let form: Form = problems.parse("--normalize", &args.normalize);
    let space: Space = problems.parse("--whitespace", &args.whitespace);
    let short: Short = problems.parse("--short", &args.short);
    let method = sketch(&args.sketch, &args.registers, problems);
    let seed = problems.number("--seed", &args.seed, WHOLE);
    let markup = if args.strip_markup { Markup::Strip } else { Markup::Keep };
    Spec {
        normalization: Normalization { form, markup, space },
        shingling: shingling.with_short(short),
        method,
        seed,
    }
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
    let threads = threads(args.threads.as_deref(), problems);
    let max_rejects = args.max_rejects.as_ref();
    (threads, max_rejects.map(|number| problems.number("--max-rejects", number, WHOLE)))
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
    let chosen = tune::choose(threshold, recall, method.registers(), |similarity| {
        method.match_probability(similarity)
    });
    problems.check("--recall", chosen)
}

/// The settings of a run.
pub fn run(
    sketch: &SketchArgs,
    run: &RunArgs,
    keep: Keep,
    cluster: Cluster,
    mut problems: Problems,
) -> Result<Settings, Failure> {
    let threshold = threshold(&sketch.threshold, &mut problems);
    let order = sketch.order.as_ref().map(|order| alignment(order, &mut problems));
    let spec = spec(&sketch.spec, &mut problems);
    if spec.method.bandable().is_none() {
        problems.add(
            format!("`--sketch`: `{}` has no registers to be banded by", spec.method),
            Some("candidates are found by `minhash`, `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`".to_owned()),
        );
    }
    let banding = banding(&sketch.bands, spec.method, threshold, &mut problems);
    let bits = sketch.bits.as_ref().and_then(|bits| problems.check("--bits", bits.parse()));
    let filter = filter_error(&sketch.filter_error, &mut problems);
    let (threads, max_rejects) = limits(run, &mut problems);
    problems.finish()?;
    let banding = banding.ok_or_else(|| Failure::Options(vec![]))?;
    let settings =
        Settings { spec, threshold, order, banding, bits, filter, keep, cluster, threads, max_rejects };
    let mut problems = Problems::default();
    problems.check("--bits", settings.row_bytes());
    problems.finish()?;
    Ok(settings)
}

/// The error that the filter may make, if it is wanted.
fn filter_error(text: &str, problems: &mut Problems) -> Option<f64> {
    if text == "off" {
        return None;
    }
    let error: f64 = problems.number("--filter-error", text, "a number or `off`");
    if text.parse::<f64>().is_ok() && !(1e-200..=0.5).contains(&error) {
        problems.add(
            format!("`--filter-error`: the share cannot be {error}: it must be from 1e-200 to 0.5, or `off`"),
            None,
        );
    }
    Some(error)
}

pub fn read_options(args: &InputArgs, problems: &mut Problems) -> ReadOptions {
    let mut options = reading(&args.reading, problems);
    match args.input_format.parse() {
        Ok(format) => options.format = format,
        Err(error) => problems.add(format!("`--input-format`: {error}"), None),
    }
    options
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
    options.spool_dir = args.temp_dir.as_ref().map(PathBuf::from);
    options
}

/// A size in bytes: a number with an optional unit.
fn size_bytes(text: &str) -> Option<u64> {
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
