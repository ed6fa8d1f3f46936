//! What the options mean. The engine checks what they mean together; all problems are reported at once.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;

use minwise::Spec;
use minwise::candidate::{Banding, tune};
use minwise::filter::{ErrorBudget, Filter, default_looks};
use minwise::shingle::{Shingling, Short};
use minwise::sketch::Method;
use minwise::text::{Folding, Markup, Normalization, WhiteSpace};
use minwise::weight::MostDocuments;
use minwise_corpus::{FieldPath, Input, ReadOptions};
use minwise_engine::{AuditSize, Bands, Inputs, MemoryLimit, RunSettings, SpecOptions};

use crate::args::{BandArgs, InputArgs, ReadingArgs, RunArgs, SketchArgs, SpecArgs, TextArgs, WeightArgs};
use crate::printer::{Failure, FlagProblem};
use crate::spell::spelled;

/// The options of runs, in the order in which their problems are reported.
const ORDER: [&str; 40] = [
    "--text-field",
    "--id-field",
    "--encoding",
    "--delimiter",
    "--max-record",
    "--null",
    "--input-format",
    "--cluster",
    "--max-cluster",
    "--audit",
    "--output-format",
    "--compression",
    "--removed",
    "--threshold",
    "--measure",
    "--order",
    "--weight",
    "--weights",
    "--max-df",
    "--ignore-text",
    "--shingle",
    "--normalize",
    "--whitespace",
    "--short",
    "--registers",
    "--sketch",
    "--seed",
    "--candidates",
    "--bands",
    "--rows",
    "--recall",
    "--keep",
    "--bits",
    "--filter-error",
    "--looks",
    "--error-per-look",
    "--threads",
    "--max-rejects",
    "--memory",
    "--report",
];

/// Collects what is wrong, in the order of the options.
#[derive(Debug, Default)]
pub struct FlagProblems(Vec<FlagProblem>);

/// Where the option of a problem stands.
fn place(problem: &FlagProblem) -> usize {
    ORDER.iter().position(|option| *option == problem.option()).unwrap_or(ORDER.len())
}

impl FlagProblems {
    /// The value, if it can be read; otherwise the problem is noted and the default stands in, so that the options
    /// behind it are looked at too.
    pub fn parse<T: FromStr<Err: Display> + Default>(&mut self, option: &str, text: &str) -> T {
        self.parsed(option, text).unwrap_or_default()
    }

    /// Parses a value that has no default; `None` if it is wrong, which is noted.
    pub fn parsed<T: FromStr<Err: Display>>(&mut self, option: &str, text: &str) -> Option<T> {
        text.parse().map_err(|error: T::Err| self.add(format!("`{option}`: {error}"), None)).ok()
    }

    pub fn number<T: FromStr + Default>(&mut self, option: &str, text: &str, kind: &str) -> T {
        self.number_or(T::default(), option, text, kind)
    }

    /// The number, or `default` with the problem noted.
    fn number_or<T: FromStr>(&mut self, default: T, option: &str, text: &str, kind: &str) -> T {
        text.parse().unwrap_or_else(|_| {
            self.add(format!("`{option}`: `{text}` is not {kind}"), None);
            default
        })
    }

    pub fn check<T>(&mut self, option: &str, result: Result<T, minwise::Error>) -> Option<T> {
        let noted = |error: minwise::Error| {
            self.add(format!("`{option}`: {error}"), error.hint().as_ref().map(spelled));
        };
        result.map_err(noted).ok()
    }

    pub fn add(&mut self, message: String, hint: Option<String>) {
        self.0.push(FlagProblem { message, hint });
    }

    /// Takes over what the engine found wrong.
    fn take(&mut self, problems: &[minwise_engine::SettingProblem]) {
        // An option that could not be read stands at its default, of which nothing need be said.
        let noted: Vec<String> = self.0.iter().map(|problem| problem.option().to_owned()).collect();
        let new = problems.iter().map(FlagProblem::from);
        self.0.extend(new.filter(|problem| !noted.iter().any(|option| option == problem.option())));
    }

    /// Fails if anything was wrong.
    pub fn finish(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(Failure::Options(self.0)) }
    }

    /// What the engine has built, unless it or an option before it was refused. All problems are reported together.
    pub fn built<T>(mut self, built: Result<T, minwise_engine::Error>) -> Result<T, Failure> {
        match built {
            Ok(built) if self.0.is_empty() => Ok(built),
            Err(error) if error.problems().is_empty() && self.0.is_empty() => Err(error.into()),
            built => {
                if let Err(error) = built {
                    self.take(error.problems());
                }
                self.0.sort_by_key(place);
                Err(Failure::Options(self.0))
            }
        }
    }
}

const WHOLE: &str = "a whole number";
const NUMBER: &str = "a number";

/// A count that is at least 1.
pub fn count(problems: &mut FlagProblems, option: &str, text: &str) -> usize {
    let number = problems.number_or(1, option, text, WHOLE);
    if number == 0 {
        problems.add(format!("`{option}`: it must be at least 1"), None);
    }
    number.max(1)
}

/// Documents that are audited, if any are to be.
pub fn audit(text: &str, problems: &mut FlagProblems) -> Option<AuditSize> {
    match text {
        "auto" => Some(AuditSize::Affordable),
        "off" => None,
        number => match problems.number("--audit", number, "a whole number, `auto` or `off`") {
            0 => None,
            documents => Some(AuditSize::Documents(documents)),
        },
    }
}

/// The `minhash` with this many registers; the default stands in for one that is not possible.
pub fn method(registers: &str, problems: &mut FlagProblems) -> Method {
    let registers = Some(problems.number_or(128, "--registers", registers, WHOLE));
    made(&SpecOptions::default().registers(registers), problems).method
}

/// The options of a spec that concern text.
fn text_options(args: &TextArgs, problems: &mut FlagProblems) -> SpecOptions {
    let shingling: Shingling = problems.parse("--shingle", &args.shingle);
    let form: Folding = problems.parse("--normalize", &args.normalize);
    let space: WhiteSpace = problems.parse("--whitespace", &args.whitespace);
    let short: Short = problems.parse("--short", &args.short);
    let markup = if args.strip_markup { Markup::Strip } else { Markup::Keep };
    SpecOptions::default()
        .normalization(Normalization { form, markup, space })
        .shingling(shingling.with_short(short))
}

/// What is done to text; the rest of the spec is at its default.
pub fn text_spec(args: &TextArgs, problems: &mut FlagProblems) -> Spec {
    let options = text_options(args, problems);
    made(&options, problems)
}

/// A spec for sets.
pub fn spec(args: &SpecArgs, problems: &mut FlagProblems) -> Spec {
    let options = spec_options(args, problems);
    made(&options, problems)
}

/// A spec for sets, or for weighted sets if weights are asked for. The fingerprints of tables are not in it yet.
pub fn weighted_spec(args: &SpecArgs, weights: &WeightArgs, problems: &mut FlagProblems) -> Spec {
    let weighting = problems.parse("--weight", &weights.weight);
    let most_documents =
        weights.max_df.as_ref().and_then(|most| problems.check("--max-df", most.parse::<MostDocuments>()));
    let options = spec_options(args, problems).weighting(weighting).most_documents(most_documents);
    made(&options, problems)
}

fn spec_options(args: &SpecArgs, problems: &mut FlagProblems) -> SpecOptions {
    let text = text_options(&args.text, problems);
    text.registers(
        args.registers.as_ref().map(|number| problems.number_or(128, "--registers", number, WHOLE)),
    )
    .seed(problems.number_or(1, "--seed", &args.seed, WHOLE))
    .sketch(args.sketch.clone())
}

fn made(options: &SpecOptions, problems: &mut FlagProblems) -> Spec {
    let mut refused = vec![];
    let spec = options.spec(&mut refused);
    problems.take(&refused);
    spec
}

pub fn threshold(text: &str, problems: &mut FlagProblems) -> f64 {
    let threshold = problems.number_or(0.8, "--threshold", text, NUMBER);
    problems.check("--threshold", tune::check_threshold(threshold));
    threshold
}

pub fn threads(text: Option<&str>, problems: &mut FlagProblems) -> usize {
    match text {
        Some(threads) => count(problems, "--threads", threads),
        None => available_parallelism().map_or(1, usize::from),
    }
}

/// Threads, if they are given.
pub fn given_threads(text: Option<&str>, problems: &mut FlagProblems) -> Option<usize> {
    text.map(|threads| problems.number_or(1, "--threads", threads, WHOLE))
}

/// Rejected records that are put up with, if there is a limit.
pub fn max_rejects(args: &RunArgs, problems: &mut FlagProblems) -> Option<u64> {
    args.max_rejects.as_ref().map(|number| problems.number("--max-rejects", number, WHOLE))
}

/// Fields of records that have one value each, separated by commas; none for an empty list.
pub fn fields(option: &str, text: &str, problems: &mut FlagProblems) -> Vec<FieldPath> {
    if text.is_empty() {
        return vec![];
    }
    let fields = FieldPath::list(text).and_then(|fields| fields.into_iter().map(one_value).collect());
    fields.unwrap_or_else(|error| {
        problems.add(format!("`{option}`: {error}"), error.hint().as_ref().map(spelled));
        vec![]
    })
}

/// The field, if it leads to one value.
fn one_value(field: FieldPath) -> Result<FieldPath, minwise_corpus::Error> {
    field.check_one_value().map(|()| field)
}

/// The most memory that a run is to take, if it is given.
pub fn memory(args: &RunArgs, problems: &mut FlagProblems) -> Option<MemoryLimit> {
    let text = args.memory.as_ref()?;
    let Some(bytes) = size_bytes(text) else {
        problems.add(format!("`--memory`: `{text}` is not a size such as `4GiB`"), None);
        return None;
    };
    problems.check("--memory", MemoryLimit::new(bytes))
}

/// A standard error that an estimate can have.
pub fn standard_error(text: &str, problems: &mut FlagProblems) -> f64 {
    let error: f64 = problems.number_or(0.02, "--error", text, NUMBER);
    if !(error > 0.0 && error <= 0.5) {
        problems.add(
            format!("`--error`: a standard error cannot be {error}: it must be above 0 and at most 0.5"),
            None,
        );
    }
    error
}

/// How sketches are cut into bands.
pub fn bands(args: &BandArgs, problems: &mut FlagProblems) -> Bands {
    match (&args.bands, &args.rows) {
        (None, None) => {}
        (Some(bands), Some(rows)) => {
            let bands = count(problems, "--bands", bands);
            let rows = count(problems, "--rows", rows);
            return Bands::Given { bands, rows };
        }
        (Some(_), None) => problems.add("`--bands`: it needs `--rows` beside it".to_owned(), None),
        (None, Some(_)) => problems.add("`--rows`: it needs `--bands` beside it".to_owned(), None),
    }
    Bands::ForRecall(problems.number_or(minwise_engine::RECALL, "--recall", &args.recall, NUMBER))
}

/// Bands and rows of a plan, as asked for or as the recall needs them.
pub fn banding(
    args: &BandArgs,
    method: Method,
    threshold: f64,
    problems: &mut FlagProblems,
) -> Option<Banding> {
    let settings = RunSettings::default()
        .spec(Spec::default().with_method(method))
        .threshold(threshold)
        .bands(bands(args, problems));
    match settings.plan() {
        Ok(plan) => Some(plan.banding()),
        Err(error) => {
            problems.take(error.problems());
            None
        }
    }
}

/// The settings of a run, read from the options.
pub fn run(sketch: &SketchArgs, run: &RunArgs, problems: &mut FlagProblems) -> RunSettings {
    RunSettings::default()
        .threshold(problems.number_or(0.8, "--threshold", &sketch.threshold, NUMBER))
        .measure(problems.parse("--measure", &sketch.measure))
        .order(sketch.order.as_ref().map(|order| problems.number_or(1.0, "--order", order, NUMBER)))
        .spec(weighted_spec(&sketch.spec, &sketch.weights, problems))
        .search(sketch.candidates.as_ref().map(|way| problems.parse("--candidates", way)))
        .bands(bands(&sketch.bands, problems))
        .bits(sketch.bits.as_ref().and_then(|bits| problems.check("--bits", bits.parse())))
        .filter_error(filter_error(&sketch.filter_error, problems))
        .looks(sketch.looks.as_ref().map(|list| looks(list, problems)))
        .error_per_look(error_per_look(sketch.error_per_look.as_deref(), problems))
        .threads(given_threads(run.threads.as_deref(), problems))
        .max_rejects(max_rejects(run, problems))
        .memory(memory(run, problems))
}

/// The inputs that words stand for.
pub fn words(words: &[OsString]) -> Vec<Input> {
    words.iter().map(Input::from_word).collect()
}

/// The inputs of a run, read from the options.
pub fn inputs(args: &InputArgs, weights: Option<&WeightArgs>, problems: &mut FlagProblems) -> Inputs {
    Inputs::default()
        .inputs(words(&args.inputs))
        .against(vec![])
        .options(reading(&args.reading, problems))
        .weights(weights.and_then(|args| args.weights.as_ref().map(PathBuf::from)))
        .ignore_text(weights.map(|args| words(&args.ignore_text)).unwrap_or_default())
}

/// The error that the filter may make, if it is wanted.
pub fn filter_error(text: &str, problems: &mut FlagProblems) -> Option<f64> {
    let default = minwise_engine::FILTER_ERROR;
    (text != "off").then(|| problems.number_or(default, "--filter-error", text, "a number or `off`"))
}

/// The looks of the filter; what cannot be read is noted, and one look at one register stands in, which is valid.
pub fn looks(text: &str, problems: &mut FlagProblems) -> Vec<usize> {
    let looks: Result<Vec<usize>, _> = text.split(',').map(|look| look.trim().parse()).collect();
    looks.unwrap_or_else(|_| {
        let message = format!("`--looks`: `{text}` is not a list of whole numbers");
        problems.add(
            message,
            Some("write numbers of registers with commas, such as `--looks 16,32,64,128`".to_owned()),
        );
        vec![1]
    })
}

/// The error that each look of the filter may make.
pub fn error_per_look(text: Option<&str>, problems: &mut FlagProblems) -> Option<f64> {
    text.map(|text| problems.number_or(minwise_engine::FILTER_ERROR, "--error-per-look", text, NUMBER))
}

/// A filter as it would be made for this threshold and error, with that error.
pub fn planned_filter(
    error: &str,
    method: Method,
    threshold: f64,
    problems: &mut FlagProblems,
) -> Option<(Filter, f64)> {
    let error = problems.number_or(minwise_engine::FILTER_ERROR, "--filter-error", error, NUMBER);
    if !(1e-200..=0.5).contains(&error) {
        let message = format!("`--filter-error`: the share cannot be {error}: it must be from 1e-200 to 0.5");
        problems.add(message, None);
    }
    if !problems.0.is_empty() {
        return None;
    }
    let looks = default_looks(method.registers());
    // Registers of `minhash` agree with the probability of the similarity itself.
    let filter = Filter::new(threshold, method.registers(), &looks, ErrorBudget::Exact(error));
    problems.check("--filter", filter).map(|filter| (filter, error))
}

pub fn reading(args: &ReadingArgs, problems: &mut FlagProblems) -> ReadOptions {
    let mut options = ReadOptions::default();
    match FieldPath::list(&args.text_field) {
        Ok(fields) => options.text_fields = fields,
        Err(error) => problems.add(format!("`--text-field`: {error}"), None),
    }
    match args.id_field.parse().and_then(one_value) {
        Ok(field) => options.id_field = field,
        Err(error) => problems.add(format!("`--id-field`: {error}"), None),
    }
    match args.encoding.parse() {
        Ok(encoding) => options.encoding = encoding,
        Err(error) => problems.add(format!("`--encoding`: {error}"), None),
    }
    match args.delimiter.as_ref().map(|text| text.parse()).transpose() {
        Ok(delimiter) => options.delimiter = delimiter,
        Err(error) => problems.add(format!("`--delimiter`: {error}"), None),
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
    match args.null.parse() {
        Ok(nulls) => options.nulls = nulls,
        Err(error) => problems.add(format!("`--null`: {error}"), None),
    }
    match args.input_format.parse() {
        Ok(format) => options.format = format,
        Err(error) => problems.add(format!("`--input-format`: {error}"), None),
    }
    options.strict = args.strict;
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

    #[test]
    fn problems_of_the_engine_stand_among_those_of_the_command() {
        let mut problems = FlagProblems::default();
        let threshold = problems.number_or(0.8, "--threshold", "high", NUMBER);
        let settings = RunSettings::default().threshold(threshold).order(2.0).threads(0);
        problems.add("`--memory`: `much` is not a size such as `4GiB`".to_owned(), None);
        let Err(Failure::Options(all)) = problems.built(settings.plan()) else { panic!("not refused") };
        let options: Vec<&str> = all.iter().map(FlagProblem::option).collect();
        assert_eq!(options, ["--threshold", "--order", "--threads", "--memory"]);
    }

    /// One option may have several problems, and none of them is dropped.
    #[test]
    fn several_problems_of_one_option_are_all_reported() {
        let settings = RunSettings::default().keep(Some("newest:a..b;oldest:c..d".parse().unwrap()));
        let Err(Failure::Options(all)) = FlagProblems::default().built(settings.plan()) else {
            panic!("not refused")
        };
        assert_eq!(all.iter().filter(|problem| problem.option() == "--keep").count(), 2);
    }
}
