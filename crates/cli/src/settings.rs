//! What the options mean. The engine checks what they mean together; all problems are reported at once.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;

use minwise::Spec;
use minwise::candidate::{Banding, tune};
use minwise::figure::read_share;
use minwise::filter::{ErrorBudget, Filter, default_looks};
use minwise::sketch::Method;
use minwise::sketch::weighted::WeightedMethod;
use minwise::weight::Weighting;
use minwise_corpus::{FieldPath, Input, ReadOptions};
use minwise_engine::{
    Arguments, Bands, Inputs, MemoryLimit, RunSettings, SETTING_ORDER, SpecOptions, wrong_number,
};

use crate::args::{
    AccuracyArgs, BandArgs, InputArgs, NearArgs, ReadingArgs, RunArgs, SketchArgs, SpecArgs, TextArgs,
    ThreadArgs, WeightArgs,
};
use crate::printer::{Failure, FlagProblem};
use crate::spell::spelled;

/// Collects what is wrong, in the order of the options.
#[derive(Debug, Default)]
pub struct FlagProblems(Vec<FlagProblem>);

/// Where the option of a problem stands.
fn place(problem: &FlagProblem) -> usize {
    let option = problem.option();
    let is_it = |setting: &&str| option.strip_prefix("--") == Some(setting);
    SETTING_ORDER.iter().position(is_it).unwrap_or(SETTING_ORDER.len())
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

    /// The number, or its default with the problem noted.
    pub fn number<T: FromStr + Default>(&mut self, option: &str, text: &str, kind: &str) -> T {
        text.parse().unwrap_or_else(|_| {
            self.add(format!("`{option}`: {}", wrong_number(text, kind, 0)), None);
            T::default()
        })
    }

    /// The share, as a number or in percent, or `default` with the problem noted.
    pub fn share_or(&mut self, default: f64, option: &str, text: &str) -> f64 {
        read_share(text).unwrap_or_else(|| {
            self.add(format!("`{option}`: {}", wrong_number(text, NUMBER, 0)), None);
            default
        })
    }

    /// The whole number, or `default` with the problem noted. A number below `least` is refused elsewhere, unless it is below 0.
    pub fn whole_or<T: FromStr>(&mut self, default: T, least: u64, option: &str, text: &str) -> T {
        text.parse().unwrap_or_else(|_| {
            self.add(format!("`{option}`: {}", wrong_number(text, WHOLE, least)), None);
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

    /// Takes over the texts that the engine could not read.
    fn note(&mut self, arguments: &Arguments) {
        self.0.extend(arguments.problems().iter().map(FlagProblem::from));
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
    let number = problems.whole_or(1, 1, option, text);
    if number == 0 {
        problems.add(format!("`{option}`: it must be at least 1"), None);
    }
    number.max(1)
}

/// The `minhash` with this many registers; the default stands in for one that is not possible.
pub fn method(registers: &str, problems: &mut FlagProblems) -> Method {
    let registers = Some(problems.whole_or(128, 1, "--registers", registers));
    made(&SpecOptions::default().registers(registers), problems).method
}

/// Options by name and text, as the engine reads them.
fn arguments<'a>(options: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Arguments {
    let mut arguments = Arguments::new();
    for (setting, text) in options {
        if let Some(text) = text {
            let is_known = arguments.set(setting, text);
            debug_assert!(is_known, "{setting}");
        }
    }
    arguments
}

/// A flag as text.
fn flag(is_set: bool) -> Option<&'static str> {
    is_set.then_some("true")
}

fn text_texts(args: &TextArgs) -> [(&str, Option<&str>); 5] {
    [
        ("shingle", Some(&args.shingle)),
        ("normalize", Some(&args.normalize)),
        ("whitespace", Some(&args.whitespace)),
        ("short", Some(&args.short)),
        ("strip-markup", flag(args.strip_markup)),
    ]
}

fn spec_texts(args: &SpecArgs) -> impl Iterator<Item = (&str, Option<&str>)> {
    text_texts(&args.text).into_iter().chain([
        ("registers", args.registers.as_deref()),
        ("seed", Some(&*args.seed)),
        ("sketch", args.sketch.as_deref()),
    ])
}

fn weight_texts(args: &WeightArgs) -> [(&str, Option<&str>); 2] {
    [("weight", Some(&args.weight)), ("max-df", args.max_df.as_deref())]
}

fn band_texts(args: &BandArgs) -> [(&str, Option<&str>); 3] {
    // The parser refuses a recall beside bands, so that the one here is the default.
    let recall = (args.bands.is_none() && args.rows.is_none()).then_some(args.recall.as_str());
    [("bands", args.bands.as_deref()), ("rows", args.rows.as_deref()), ("recall", recall)]
}

/// What is done to text; the rest of the spec is at its default.
pub fn text_spec(args: &TextArgs, problems: &mut FlagProblems) -> Spec {
    made_of(arguments(text_texts(args)), problems)
}

/// A spec for sets.
pub fn spec(args: &SpecArgs, problems: &mut FlagProblems) -> Spec {
    made_of(arguments(spec_texts(args)), problems)
}

/// A spec for sets, or for weighted sets if weights are asked for. The fingerprints of tables are not in it yet.
pub fn weighted_spec(args: &SpecArgs, weights: &WeightArgs, problems: &mut FlagProblems) -> Spec {
    made_of(arguments(weight_texts(weights).into_iter().chain(spec_texts(args))), problems)
}

/// A spec for the texts of a comparison of sketches, and the sketches: those that are named, or every kind.
pub fn sketches(args: &AccuracyArgs, problems: &mut FlagProblems) -> (Spec, Vec<Method>) {
    let spec = |sketch: Option<&str>, problems: &mut FlagProblems| {
        let own = [("registers", args.registers.as_deref()), ("seed", Some(&*args.seed)), ("sketch", sketch)];
        let texts = weight_texts(&args.weights).into_iter().chain(text_texts(&args.text)).chain(own);
        made_of(arguments(texts), problems)
    };
    let mut methods = vec![];
    let mut named: Vec<Option<&str>> = args.sketch.iter().map(|name| Some(name.as_str())).collect();
    if named.is_empty() {
        named.push(None);
    }
    for name in named {
        let mut own = FlagProblems::default();
        match name {
            Some("all") => {
                let spec = spec(None, &mut own);
                let size = spec.method.registers();
                match spec.weights.weighting {
                    Weighting::None => methods.extend(Method::all(size)),
                    _ => methods.extend(WeightedMethod::all(size).into_iter().map(Method::Weighted)),
                }
            }
            name => methods.push(spec(name, &mut own).method),
        }
        // A setting that is wrong for all sketches is reported once.
        let is_new = |problem: &FlagProblem| problems.0.iter().all(|known| known.message != problem.message);
        let new: Vec<FlagProblem> = own.0.into_iter().filter(is_new).collect();
        problems.0.extend(new);
    }
    (spec(None, &mut FlagProblems::default()), methods)
}

fn made_of(mut arguments: Arguments, problems: &mut FlagProblems) -> Spec {
    let spec = arguments.spec();
    problems.note(&arguments);
    spec
}

fn made(options: &SpecOptions, problems: &mut FlagProblems) -> Spec {
    let mut refused = vec![];
    let spec = options.spec(&mut refused);
    problems.take(&refused);
    spec
}

pub fn threshold(text: &str, problems: &mut FlagProblems) -> f64 {
    let threshold = problems.share_or(0.8, "--threshold", text);
    problems.check("--threshold", tune::check_threshold(threshold));
    threshold
}

pub fn threads(args: &ThreadArgs, problems: &mut FlagProblems) -> usize {
    match args.threads.as_deref() {
        Some(threads) => count(problems, "--threads", threads),
        None => available_parallelism().map_or(1, usize::from),
    }
}

/// Settings of which one option is given.
fn settings_with(setting: &str, text: Option<&str>, problems: &mut FlagProblems) -> RunSettings {
    settings_of(&mut arguments([(setting, text)]), problems)
}

/// Threads, if they are given.
pub fn given_threads(args: &ThreadArgs, problems: &mut FlagProblems) -> Option<usize> {
    settings_with("threads", args.threads.as_deref(), problems).threads
}

/// Rejected records that are put up with, if there is a limit.
pub fn max_rejects(text: Option<&str>, problems: &mut FlagProblems) -> Option<u64> {
    settings_with("max-rejects", text, problems).max_rejects
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
    settings_with("memory", args.memory.as_deref(), problems).memory
}

/// A standard error that an estimate can have.
pub fn standard_error(text: &str, problems: &mut FlagProblems) -> f64 {
    let error = problems.share_or(0.02, "--error", text);
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
    let mut arguments = arguments(band_texts(args));
    let bands = arguments.bands();
    problems.note(&arguments);
    bands
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

/// The options of a run that decide what is a near-duplicate, and what the run may take.
pub fn run_arguments(near: &NearArgs, sketch: &SketchArgs, run: &RunArgs) -> Arguments {
    let own = [
        ("threshold", Some(&*near.threshold)),
        ("measure", Some(&near.measure)),
        ("order", near.order.as_deref()),
        ("candidates", sketch.candidates.as_deref()),
        ("bits", sketch.bits.as_deref()),
        ("filter-error", Some(&sketch.filter_error)),
        ("looks", sketch.looks.as_deref()),
        ("error-per-look", sketch.error_per_look.as_deref()),
        ("threads", run.threads.threads.as_deref()),
        ("max-rejects", run.max_rejects.as_deref()),
        ("memory", run.memory.as_deref()),
    ];
    let spec = weight_texts(&sketch.weights).into_iter().chain(spec_texts(&sketch.spec));
    arguments(own.into_iter().chain(spec).chain(band_texts(&sketch.bands)))
}

/// The settings of a run, read from the options.
pub fn run(near: &NearArgs, sketch: &SketchArgs, run: &RunArgs, problems: &mut FlagProblems) -> RunSettings {
    settings_of(&mut run_arguments(near, sketch, run), problems)
}

/// The settings of a run, with the texts noted that cannot be read.
pub fn settings_of(arguments: &mut Arguments, problems: &mut FlagProblems) -> RunSettings {
    let settings = arguments.settings();
    problems.note(arguments);
    settings
}

/// The inputs that words stand for.
pub fn words(words: &[OsString]) -> Vec<Input> {
    words.iter().map(Input::from_word).collect()
}

/// The inputs of a run, read from the options.
pub fn inputs(
    args: &InputArgs,
    reading: &ReadingArgs,
    weights: Option<&WeightArgs>,
    problems: &mut FlagProblems,
) -> Inputs {
    Inputs::default()
        .inputs(words(&args.inputs))
        .against(vec![])
        .options(self::reading(reading, problems))
        .weights(weights.and_then(|args| args.weights.as_ref().map(PathBuf::from)))
        .ignore_text(weights.map(|args| words(&args.ignore_text)).unwrap_or_default())
}

/// The error that the filter may make, if it is wanted.
pub fn filter_error(text: &str, problems: &mut FlagProblems) -> Option<f64> {
    settings_with("filter-error", Some(text), problems).filter_error
}

/// The looks of the filter; a list that cannot be read is noted, and one look at one register stands in, which is valid.
pub fn looks(text: &str, problems: &mut FlagProblems) -> Vec<usize> {
    settings_with("looks", Some(text), problems).looks.unwrap_or_default()
}

/// The error that each look of the filter may make.
pub fn error_per_look(text: Option<&str>, problems: &mut FlagProblems) -> Option<f64> {
    settings_with("error-per-look", text, problems).error_per_look
}

/// A filter as it would be made for this threshold and error, with that error.
pub fn planned_filter(
    error: &str,
    method: Method,
    threshold: f64,
    problems: &mut FlagProblems,
) -> Option<(Filter, f64)> {
    let error = problems.share_or(minwise_engine::FILTER_ERROR, "--filter-error", error);
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
    let arguments = arguments([
        ("text-field", Some(&*args.text_field)),
        ("id-field", Some(&args.id_field)),
        ("encoding", Some(&args.encoding)),
        ("delimiter", args.delimiter.as_deref()),
        ("max-record", Some(&args.max_record)),
        ("null", Some(&args.null)),
        ("input-format", Some(&args.input_format)),
        ("strict", flag(args.strict)),
        ("temp-dir", args.temp_dir.as_deref()),
    ]);
    problems.note(&arguments);
    arguments.read_options()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_the_engine_stand_among_those_of_the_command() {
        let mut problems = FlagProblems::default();
        let threshold = problems.share_or(0.8, "--threshold", "high");
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
