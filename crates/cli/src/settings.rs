//! Converts typed options to settings. The engine checks how the settings fit together; all problems are reported at
//! once.

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

/// Collects the problems of options, in the order of the options.
#[derive(Debug, Default)]
pub struct FlagProblems(Vec<FlagProblem>);

/// Returns the rank of the problem's option in the order of settings. Unknown options come last.
fn place(problem: &FlagProblem) -> usize {
    let option = problem.option();
    let is_it = |setting: &&str| option.strip_prefix("--") == Some(setting);
    SETTING_ORDER.iter().position(is_it).unwrap_or(SETTING_ORDER.len())
}

impl FlagProblems {
    /// Parses a value. If it is invalid, the problem is recorded and the default is returned, so that the following
    /// options are checked, too.
    pub fn parse<T: FromStr<Err: Display> + Default>(&mut self, option: &str, text: &str) -> T {
        self.parsed(option, text).unwrap_or_default()
    }

    /// Parses a value that has no default. If it is invalid, the problem is recorded and `None` is returned.
    pub fn parsed<T: FromStr<Err: Display>>(&mut self, option: &str, text: &str) -> Option<T> {
        text.parse().map_err(|error: T::Err| self.add(format!("`{option}`: {error}"), None)).ok()
    }

    /// Parses a number. If it is invalid, the problem is recorded and the default is returned.
    pub fn number<T: FromStr + Default>(&mut self, option: &str, text: &str, kind: &str) -> T {
        text.parse().unwrap_or_else(|_| {
            self.add(format!("`{option}`: {}", wrong_number(text, kind, 0)), None);
            T::default()
        })
    }

    /// Parses a share, as a number or in percent. If it is invalid, the problem is recorded and `default` is returned.
    pub fn share_or(&mut self, default: f64, option: &str, text: &str) -> f64 {
        read_share(text).unwrap_or_else(|| {
            self.add(format!("`{option}`: {}", wrong_number(text, NUMBER, 0)), None);
            default
        })
    }

    /// Parses a whole number. If it is invalid, the problem is recorded and `default` is returned. `least` is only
    /// named in the message; the caller checks that the number is at least `least`.
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

    /// Adds the problems of texts that the engine could not parse.
    fn note(&mut self, arguments: &Arguments) {
        self.0.extend(arguments.problems().iter().map(FlagProblem::from));
    }

    /// Adds the problems that the engine found, except problems of options that have a problem already.
    fn take(&mut self, problems: &[minwise_engine::SettingProblem]) {
        // An option that could not be parsed has its default value. A problem with this default would only confuse.
        let noted: Vec<String> = self.0.iter().map(|problem| problem.option().to_owned()).collect();
        let new = problems.iter().map(FlagProblem::from);
        self.0.extend(new.filter(|problem| !noted.iter().any(|option| option == problem.option())));
    }

    /// Returns the collected problems as an error, if there are any.
    pub fn finish(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(Failure::Options(self.0)) }
    }

    /// Returns the value that the engine built, if neither the engine nor an option before it was refused. All problems
    /// are reported together.
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

/// Parses a count and records a problem if it is 0.
pub fn count(problems: &mut FlagProblems, option: &str, text: &str) -> usize {
    let number = problems.whole_or(1, 1, option, text);
    if number == 0 {
        problems.add(format!("`{option}`: it must be at least 1"), None);
    }
    number.max(1)
}

/// Returns the method `minhash` with `registers` registers, or with 128 if the number is invalid.
pub fn method(registers: &str, problems: &mut FlagProblems) -> Method {
    let registers = Some(problems.whole_or(128, 1, "--registers", registers));
    made(&SpecOptions::default().registers(registers), problems).method
}

/// Converts options, given by name and text, to arguments of the engine.
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

/// Returns the text of a flag that is set.
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
    // The parser refuses `--recall` beside `--bands`, so with bands or rows this recall is the default and is not
    // passed on.
    let recall = (args.bands.is_none() && args.rows.is_none()).then_some(args.recall.as_str());
    [("bands", args.bands.as_deref()), ("rows", args.rows.as_deref()), ("recall", recall)]
}

/// Returns a spec with the settings of text. All other settings have their defaults.
pub fn text_spec(args: &TextArgs, problems: &mut FlagProblems) -> Spec {
    made_of(arguments(text_texts(args)), problems)
}

/// Returns a spec for sets.
pub fn spec(args: &SpecArgs, problems: &mut FlagProblems) -> Spec {
    made_of(arguments(spec_texts(args)), problems)
}

/// Returns a spec for sets, or for weighted sets if weights are asked for. The fingerprints of weight tables are added
/// later.
pub fn weighted_spec(args: &SpecArgs, weights: &WeightArgs, problems: &mut FlagProblems) -> Spec {
    made_of(arguments(weight_texts(weights).into_iter().chain(spec_texts(args))), problems)
}

/// Returns the spec for the texts of a comparison of sketches, and the sketches: the named sketches, or every kind.
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
        // A setting that is invalid for all sketches is reported once.
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
    if let Some(reason) = minwise_engine::tiny_percentage(text) {
        problems.add(format!("`--threshold`: {reason}"), None);
        return 0.8;
    }
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

/// Returns settings in which only the setting `setting` is given.
fn settings_with(setting: &str, text: Option<&str>, problems: &mut FlagProblems) -> RunSettings {
    settings_of(&mut arguments([(setting, text)]), problems)
}

/// Returns the number of threads, if it is given.
pub fn given_threads(args: &ThreadArgs, problems: &mut FlagProblems) -> Option<usize> {
    settings_with("threads", args.threads.as_deref(), problems).threads
}

/// Returns the number of rejected records that are permitted, if there is a limit.
pub fn max_rejects(text: Option<&str>, problems: &mut FlagProblems) -> Option<u64> {
    settings_with("max-rejects", text, problems).max_rejects
}

/// Parses a list of fields of records, separated by commas. Each field must have one value per record. An empty text
/// gives no field.
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

/// Returns the field if it has one value per record, and an error otherwise.
fn one_value(field: FieldPath) -> Result<FieldPath, minwise_corpus::Error> {
    field.check_one_value().map(|()| field)
}

/// Returns the memory limit of a run, if it is given.
pub fn memory(args: &RunArgs, problems: &mut FlagProblems) -> Option<MemoryLimit> {
    settings_with("memory", args.memory.as_deref(), problems).memory
}

/// Parses the standard error of an estimate. The error must be above 0 and at most 0.5.
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

/// Returns the given bands and rows, or the recall from which they follow.
pub fn bands(args: &BandArgs, problems: &mut FlagProblems) -> Bands {
    let mut arguments = arguments(band_texts(args));
    let bands = arguments.bands();
    problems.note(&arguments);
    bands
}

/// Returns the bands and rows of a plan: the given numbers, or the numbers that the recall requires.
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

/// Returns the options of a run that define near-duplicates and limit the run.
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

/// Returns the settings of a run, parsed from the options.
pub fn run(near: &NearArgs, sketch: &SketchArgs, run: &RunArgs, problems: &mut FlagProblems) -> RunSettings {
    settings_of(&mut run_arguments(near, sketch, run), problems)
}

/// Returns the settings of a run, and records the texts that cannot be parsed.
pub fn settings_of(arguments: &mut Arguments, problems: &mut FlagProblems) -> RunSettings {
    let settings = arguments.settings();
    problems.note(arguments);
    settings
}

/// Converts words of the command line to inputs.
pub fn words(words: &[OsString]) -> Vec<Input> {
    words.iter().map(Input::from_word).collect()
}

/// Returns the inputs of a run, parsed from the options.
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

/// Returns the error of the filter, if a filter is wanted.
pub fn filter_error(text: &str, problems: &mut FlagProblems) -> Option<f64> {
    settings_with("filter-error", Some(text), problems).filter_error
}

/// Parses the looks of the filter. If the list is invalid, the problem is recorded and one look at one register is
/// returned, which is valid.
pub fn looks(text: &str, problems: &mut FlagProblems) -> Vec<usize> {
    settings_with("looks", Some(text), problems).looks.unwrap_or_default()
}

/// Returns the error that each look of the filter may make.
pub fn error_per_look(text: Option<&str>, problems: &mut FlagProblems) -> Option<f64> {
    settings_with("error-per-look", text, problems).error_per_look
}

/// Returns the filter for this threshold and error, with the parsed error.
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
    // Two registers of `minhash` agree with a probability equal to the similarity, so the threshold is passed
    // unchanged.
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

    /// Several problems of one option are all reported.
    #[test]
    fn several_problems_of_one_option_are_all_reported() {
        let settings = RunSettings::default().keep(Some("newest:a..b;oldest:c..d".parse().unwrap()));
        let Err(Failure::Options(all)) = FlagProblems::default().built(settings.plan()) else {
            panic!("not refused")
        };
        assert_eq!(all.iter().filter(|problem| problem.option() == "--keep").count(), 2);
    }
}
