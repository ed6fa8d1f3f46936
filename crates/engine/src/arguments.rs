//! Collects options of a run by name and text, as people type them.
//!
//! The command and the Python package have the same options with the same names. Both programs pass the options to
//! [`Arguments`], so that a text has the same meaning in both, and an unreadable text is refused in the same words.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use minwise::Spec;
use minwise::figure::read_share;
use minwise::keep::KeepPolicy;
use minwise::shingle::{Shingling, Short};
use minwise::text::{Folding, Markup, Normalization, WhiteSpace};
use minwise_corpus::{Encoding, FieldPath, Format, ReadOptions, TableCompression};

use crate::error::{Error, ErrorKind, SettingProblem};
use crate::memory::MemoryLimit;
use crate::settings::{AuditSize, Bands, FILTER_ERROR, RECALL, RunSettings, SpecOptions};

/// Names of the settings of runs, in the order in which their problems are reported.
pub const SETTING_ORDER: [&str; 40] = [
    "text-field",
    "id-field",
    "encoding",
    "delimiter",
    "max-record",
    "null",
    "input-format",
    "cluster",
    "max-cluster",
    "audit",
    "output-format",
    "compression",
    "removed",
    "threshold",
    "measure",
    "order",
    "weight",
    "weights",
    "max-df",
    "ignore-text",
    "shingle",
    "normalize",
    "whitespace",
    "short",
    "registers",
    "sketch",
    "seed",
    "candidates",
    "bands",
    "rows",
    "recall",
    "keep",
    "bits",
    "filter-error",
    "looks",
    "error-per-look",
    "threads",
    "max-rejects",
    "memory",
    "report",
];

const WHOLE: &str = "a whole number";
const NUMBER: &str = "a number";

/// Options of a run, collected by name and text.
///
/// If a text cannot be read, a [`SettingProblem`] is noted and the setting keeps its default, so that all problems are
/// reported together.
///
/// ```
/// use minwise_engine::Arguments;
///
/// let mut arguments = Arguments::new();
/// assert!(arguments.set("threshold", "0.9"));
/// assert!(arguments.set("shingle", "chars:9"));
/// assert!(!arguments.set("colour", "red"));
/// let settings = arguments.settings();
/// assert_eq!(settings.threshold, 0.9);
/// assert_eq!(settings.spec.to_string(), "nfkc+casefold / chars:9 / minhash:128 / seed:1");
///
/// arguments.set("audit", "some");
/// assert_eq!(arguments.problems()[0].setting, "audit");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    read: ReadOptions,
    settings: RunSettings,
    /// Whole spec, which replaces all its parts.
    spec: Option<Spec>,
    parts: SpecOptions,
    form: Folding,
    markup: Markup,
    space: WhiteSpace,
    shingling: Shingling,
    short: Short,
    recall: Option<f64>,
    bands: Option<usize>,
    rows: Option<usize>,
    output_format: Option<Format>,
    compression: TableCompression,
    problems: Vec<SettingProblem>,
}

impl Arguments {
    /// Returns arguments in which every option has its default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option by its name with hyphens, such as `max-cluster`. Returns `false` if no option has this name.
    ///
    /// Inputs, references, outputs and weight tables cannot be set by name, because they are not text. Callers set them
    /// in [`Inputs`](crate::Inputs) and [`Outputs`](crate::Outputs).
    pub fn set(&mut self, setting: &str, text: &str) -> bool {
        self.set_reading(setting, text)
            || self.set_spec(setting, text)
            || self.set_search(setting, text)
            || self.set_decision(setting, text)
            || self.set_limit(setting, text)
    }

    /// Sets a whole spec, which replaces all its parts.
    pub fn set_whole_spec(&mut self, spec: Spec) {
        self.spec = Some(spec);
    }

    fn set_reading(&mut self, setting: &str, text: &str) -> bool {
        match setting {
            "text-field" => match FieldPath::list(text) {
                Ok(fields) => self.read.text_fields = fields,
                Err(error) => self.note("text-field", text, &error),
            },
            "id-field" => match text.parse().and_then(one_value) {
                Ok(field) => self.read.id_field = field,
                Err(error) => self.note("id-field", text, &error),
            },
            "encoding" => {
                self.read.encoding = self.of_corpus::<Encoding>("encoding", text).unwrap_or_default();
            }
            "delimiter" => self.read.delimiter = self.of_corpus("delimiter", text),
            "max-record" => self.set_max_record(text),
            "null" => self.read.nulls = self.of_corpus("null", text).unwrap_or_default(),
            "input-format" => self.read.format = self.of_corpus("input-format", text).unwrap_or_default(),
            "strict" => self.read.strict = self.flag("strict", text),
            "temp-dir" => self.read.spool_dir = Some(PathBuf::from(text)),
            _ => return false,
        }
        true
    }

    fn set_max_record(&mut self, text: &str) {
        match size_bytes(text) {
            // The place of a record has 32 bits for the length.
            Some(bytes) if (1..=u64::from(u32::MAX)).contains(&bytes) => self.read.max_record_bytes = bytes,
            Some(_) => self.note("max-record", text, "it must be at least 1 byte and less than 4 GiB"),
            None => self.note("max-record", text, wrong_size(text, "64MiB")),
        }
    }

    fn set_spec(&mut self, setting: &str, text: &str) -> bool {
        match setting {
            "shingle" => self.shingling = self.parse("shingle", text),
            "normalize" => self.form = self.parse("normalize", text),
            "whitespace" => self.space = self.parse("whitespace", text),
            "short" => self.short = self.parse("short", text),
            "strip-markup" => {
                self.markup = if self.flag("strip-markup", text) { Markup::Strip } else { Markup::Keep };
            }
            "sketch" => self.parts.sketch = Some(text.to_owned()),
            "registers" => self.parts.registers = Some(self.whole_or(128, 1, "registers", text)),
            "seed" => self.parts.seed = Some(self.whole_or(1, 0, "seed", text)),
            "weight" => self.parts.weighting = self.parse("weight", text),
            "max-df" => self.parts.most_documents = self.checked("max-df", text, text.parse()),
            _ => return false,
        }
        true
    }

    fn set_search(&mut self, setting: &str, text: &str) -> bool {
        match setting {
            "threshold" => self.settings.threshold = self.threshold(text),
            "measure" => self.settings.measure = self.parse("measure", text),
            "order" => self.settings.order = Some(self.share_or(1.0, "order", text, NUMBER)),
            "candidates" => self.settings.search = Some(self.parse("candidates", text)),
            "recall" => self.recall = Some(self.share_or(RECALL, "recall", text, NUMBER)),
            "bands" => self.bands = Some(self.count("bands", text)),
            "rows" => self.rows = Some(self.count("rows", text)),
            "bits" => self.settings.bits = self.checked("bits", text, text.parse()),
            "filter-error" => self.settings.filter_error = self.filter_error(text),
            "looks" => self.settings.looks = Some(self.looks(text)),
            "error-per-look" => {
                let error = self.share_or(FILTER_ERROR, "error-per-look", text, NUMBER);
                self.settings.error_per_look = Some(error);
            }
            _ => return false,
        }
        true
    }

    fn set_decision(&mut self, setting: &str, text: &str) -> bool {
        match setting {
            "cluster" => self.settings.cluster = self.parse("cluster", text),
            "max-cluster" => self.settings.max_cluster = Some(self.count("max-cluster", text) as u64),
            "audit" => self.settings.audit = self.audit(text),
            "keep" => self.settings.keep = Some(self.keep(text)),
            "output-format" => self.output_format = self.of_corpus("output-format", text),
            "compression" => self.compression = self.parse("compression", text),
            _ => return false,
        }
        true
    }

    fn set_limit(&mut self, setting: &str, text: &str) -> bool {
        match setting {
            "threads" => self.settings.threads = Some(self.whole_or(1, 1, "threads", text)),
            "max-rejects" => {
                self.settings.max_rejects = Some(self.whole_or(0, 0, "max-rejects", text));
            }
            "memory" => self.settings.memory = self.memory(text),
            _ => return false,
        }
        true
    }

    /// Returns the options for reading inputs.
    #[must_use]
    pub fn read_options(&self) -> ReadOptions {
        self.read.clone()
    }

    /// Returns the format of the outputs, if one was given.
    #[must_use]
    pub fn output_format(&self) -> Option<Format> {
        self.output_format
    }

    /// Returns the codec for Parquet and Arrow IPC files.
    #[must_use]
    pub fn compression(&self) -> TableCompression {
        self.compression
    }

    /// Returns the whole spec if one was given, else the spec made of its parts. Notes the problems of parts that
    /// contradict each other.
    pub fn spec(&mut self) -> Spec {
        if let Some(spec) = self.spec {
            return spec;
        }
        let normalization = Normalization::new(self.form).with_markup(self.markup).with_space(self.space);
        let parts = self.parts.clone().normalization(normalization);
        let mut refused = vec![];
        let spec = parts.shingling(self.shingling.with_short(self.short)).spec(&mut refused);
        self.problems = merged(std::mem::take(&mut self.problems), &refused);
        spec
    }

    /// Returns the bands and rows into which sketches are cut. Notes a problem if only one of `bands` and `rows` was
    /// given, or `recall` beside either.
    pub fn bands(&mut self) -> Bands {
        if let (Some(recall), true) = (self.recall, self.bands.is_some() || self.rows.is_some()) {
            self.problems.push(SettingProblem::recall_beside_bands(recall));
        }
        match (self.bands, self.rows) {
            (None, None) => {}
            (Some(bands), Some(rows)) => return Bands::Given { bands, rows },
            (Some(bands), None) => {
                let reason = minwise::Sentence::from("it needs ").setting("rows").text(" beside it");
                self.problems.push(SettingProblem::new("bands", bands, reason));
            }
            (None, Some(rows)) => {
                let reason = minwise::Sentence::from("it needs ").setting("bands").text(" beside it");
                self.problems.push(SettingProblem::new("rows", rows, reason));
            }
        }
        Bands::ForRecall(self.recall.unwrap_or(RECALL))
    }

    /// Returns the settings of a run, including the spec and the bands.
    pub fn settings(&mut self) -> RunSettings {
        let (spec, bands) = (self.spec(), self.bands());
        self.settings.clone().spec(spec).bands(bands)
    }

    /// Returns the problems, in the order in which they were noted.
    #[must_use]
    pub fn problems(&self) -> &[SettingProblem] {
        &self.problems
    }

    /// Notes a problem of an option that other code reads.
    pub fn add(&mut self, problem: SettingProblem) {
        self.problems.push(problem);
    }

    /// Returns the run in `built`, unless the run or an option was refused. All problems are reported together, in
    /// [order](SETTING_ORDER).
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`] if the options or the run have problems, and otherwise with the error in
    /// `built`.
    pub fn built<T>(self, built: Result<T, Error>) -> Result<T, Error> {
        match built {
            Ok(built) if self.problems.is_empty() => Ok(built),
            Err(error) if error.problems().is_empty() && self.problems.is_empty() => Err(error),
            built => {
                let found = built.err();
                let found = found.as_ref().map_or(&[][..], Error::problems);
                let mut all = merged(self.problems, found);
                all.sort_by_key(|problem| place(problem.setting));
                Err(ErrorKind::Settings(all).into())
            }
        }
    }

    fn note(&mut self, setting: &'static str, text: &str, reason: impl Display) {
        self.problems.push(SettingProblem::new(setting, text, reason.to_string()));
    }

    /// Parses a text. If the text cannot be read, notes the problem and returns the default of the type.
    fn parse<T: FromStr<Err: Display> + Default>(&mut self, setting: &'static str, text: &str) -> T {
        self.parsed(setting, text).unwrap_or_default()
    }

    /// Parses a text. If the text cannot be read, notes the problem and returns `None`.
    fn parsed<T: FromStr<Err: Display>>(&mut self, setting: &'static str, text: &str) -> Option<T> {
        text.parse().map_err(|error: T::Err| self.note(setting, text, error)).ok()
    }

    /// Parses a text for the corpus. If the text cannot be read, notes the problem with its hint and returns `None`.
    fn of_corpus<T: FromStr<Err = minwise_corpus::Error>>(
        &mut self,
        setting: &'static str,
        text: &str,
    ) -> Option<T> {
        let refused = |error: minwise_corpus::Error| {
            let problem = SettingProblem::new(setting, text, error.to_string());
            self.problems.push(match error.hint() {
                Some(hint) => problem.hint(hint),
                None => problem,
            });
        };
        text.parse().map_err(refused).ok()
    }

    /// Parses a policy of `keep`. If the text cannot be read, notes the problem and returns the default.
    fn keep(&mut self, text: &str) -> KeepPolicy {
        text.parse().unwrap_or_else(|error: minwise::Error| {
            let problem = SettingProblem::new("keep", text, error.to_string());
            self.problems.push(match keep_hint(text) {
                Some(hint) => problem.hint(hint),
                None => problem,
            });
            KeepPolicy::default()
        })
    }

    fn threshold(&mut self, text: &str) -> f64 {
        if let Some(reason) = tiny_percentage(text) {
            self.note("threshold", text, reason);
            return 0.8;
        }
        self.share_or(0.8, "threshold", text, NUMBER)
    }

    fn checked<T>(
        &mut self,
        setting: &'static str,
        text: &str,
        result: Result<T, minwise::Error>,
    ) -> Option<T> {
        result.map_err(|error| self.problems.push(SettingProblem::of(setting, text, &error))).ok()
    }

    /// Parses a share. If the text cannot be read, notes the problem and returns `default`.
    fn share_or(&mut self, default: f64, setting: &'static str, text: &str, kind: &str) -> f64 {
        read_share(text).unwrap_or_else(|| {
            self.note(setting, text, wrong_number(text, kind, 0));
            default
        })
    }

    /// Parses a whole number. If the text cannot be read, notes the problem and returns `default`. A number below
    /// `least` is not reported here, because later checks refuse it.
    fn whole_or<T: FromStr>(&mut self, default: T, least: u64, setting: &'static str, text: &str) -> T {
        text.parse().unwrap_or_else(|_| {
            self.note(setting, text, wrong_number(text, WHOLE, least));
            default
        })
    }

    /// Parses a count that must be at least 1.
    fn count(&mut self, setting: &'static str, text: &str) -> usize {
        let number = self.whole_or(1, 1, setting, text);
        if number == 0 {
            self.note(setting, text, "it must be at least 1");
        }
        number.max(1)
    }

    fn flag(&mut self, setting: &'static str, text: &str) -> bool {
        text.parse().unwrap_or_else(|_| {
            self.note(setting, text, format!("`{text}` is neither `true` nor `false`"));
            false
        })
    }

    fn audit(&mut self, text: &str) -> Option<AuditSize> {
        match text {
            "auto" => Some(AuditSize::Affordable),
            "off" => None,
            number => match number.parse() {
                Ok(0) => None,
                Ok(documents) => Some(AuditSize::Documents(documents)),
                Err(_) => {
                    self.note("audit", number, wrong_number(number, "a whole number, `auto` or `off`", 0));
                    None
                }
            },
        }
    }

    fn filter_error(&mut self, text: &str) -> Option<f64> {
        (text != "off").then(|| self.share_or(FILTER_ERROR, "filter-error", text, "a number or `off`"))
    }

    /// Parses the looks of the filter. If the list cannot be read, notes the problem and returns one look at one
    /// register, which is valid.
    fn looks(&mut self, text: &str) -> Vec<usize> {
        let looks: Result<Vec<usize>, _> = text.split(',').map(|look| look.trim().parse()).collect();
        looks.unwrap_or_else(|_| {
            let problem =
                SettingProblem::new("looks", text, format!("`{text}` is not a list of whole numbers"));
            let hint = minwise::Sentence::from("write numbers of registers with commas, such as ");
            self.problems.push(problem.hint(hint.setting_to("looks", "16,32,64,128")));
            vec![1]
        })
    }

    fn memory(&mut self, text: &str) -> Option<MemoryLimit> {
        let Some(bytes) = size_bytes(text) else {
            self.note("memory", text, wrong_size(text, "4GiB"));
            return None;
        };
        let limit = MemoryLimit::new(bytes);
        // A number without a unit is meant in GiB, as in other programs, if it is too small for a number of bytes.
        if limit.is_err() && (1..=1024).contains(&bytes) && text.parse() == Ok(bytes) {
            let reason = format!("`{text}` has no unit, which makes it a number of bytes");
            let hint =
                minwise::Sentence::from("with a unit, it is ").setting_to("memory", format!("{bytes}GiB"));
            self.problems.push(SettingProblem::new("memory", text, reason).hint(hint));
            return None;
        }
        self.checked("memory", text, limit)
    }
}

/// Returns a hint for a policy of `keep` that cannot be read, if it is written in the way of other lists.
fn keep_hint(text: &str) -> Option<minwise::Sentence> {
    let takes_field = ["newest", "oldest", "max", "min"];
    if let Some((name, field)) = text.split_once(['=', ' ']).filter(|_| !text.contains(':')) {
        let name = name.to_ascii_lowercase();
        return takes_field.contains(&name.as_str()).then(|| {
            minwise::Sentence::from("a colon comes before the field: ")
                .setting_to("keep", format!("{name}:{}", field.trim()))
        });
    }
    if takes_field.contains(&text) {
        let hint = minwise::Sentence::from("name the field behind a colon, such as ");
        return Some(hint.setting_to("keep", format!("{text}:date")));
    }
    if !text.contains(',') || text.contains(':') {
        return None;
    }
    let example =
        ["longest", "newest:date"].map(|policy| minwise::Sentence::new().setting_to("keep", policy));
    let [first, second] = example;
    let hint = minwise::Sentence::from("to give several policies, repeat the option: ");
    Some(hint.followed_by(&first).text(" ").followed_by(&second))
}

/// Returns the reason why a percentage is refused for a similarity, if it is above 0 and below 1 %. Such a text is
/// nearly always a share with a percent sign too many, and would compare nearly everything.
///
/// ```
/// use minwise_engine::tiny_percentage;
/// assert_eq!(tiny_percentage("0.80%").unwrap(), "`0.80%` is less than 1 %: write `80%` or `0.80`");
/// assert_eq!(tiny_percentage("80%"), None);
/// ```
#[must_use]
pub fn tiny_percentage(text: &str) -> Option<String> {
    let percent = text.strip_suffix('%')?.trim_end();
    let share: f64 = percent.parse().ok().filter(|share: &f64| *share > 0.0 && *share < 1.0)?;
    // Ten decimals hide the error of the multiplication.
    let hundredfold = format!("{:.10}", share * 100.0);
    let hundredfold = hundredfold.trim_end_matches('0').trim_end_matches('.');
    Some(format!("`{text}` is less than 1 %: write `{hundredfold}%` or `{percent}`"))
}

/// Appends the problems that a run found to the problems of unreadable texts. If a text could not be read, its setting
/// has the default, so the run's problems with that setting are left out.
fn merged(mut noted: Vec<SettingProblem>, found: &[SettingProblem]) -> Vec<SettingProblem> {
    let settings: Vec<&str> = noted.iter().map(|problem| problem.setting).collect();
    let new = found.iter().filter(|problem| !settings.contains(&problem.setting)).cloned();
    let new: Vec<SettingProblem> = new.collect();
    noted.extend(new);
    noted
}

/// Returns the position of a setting in the [order](SETTING_ORDER); unknown settings come last.
fn place(setting: &str) -> usize {
    SETTING_ORDER.iter().position(|name| *name == setting).unwrap_or(SETTING_ORDER.len())
}

/// Returns the reason why a text cannot be read as a number of a kind, such as `a whole number`, that is at least
/// `least`.
///
/// ```
/// use minwise_engine::wrong_number;
/// assert_eq!(wrong_number("many", "a whole number", 1), "`many` is not a whole number");
/// assert_eq!(wrong_number("-1", "a whole number", 1), "`-1` is too small: it must be at least 1");
/// assert_eq!(wrong_number("0,8", "a number", 0), "`0,8` is not a number; with a decimal point, it is `0.8`");
/// assert_eq!(wrong_number("-0", "a whole number", 0), "`-0` has a minus sign; write `0`");
/// assert_eq!(wrong_number("99999999999999999999", "a whole number", 0), "`99999999999999999999` is too large");
/// ```
#[must_use]
pub fn wrong_number(text: &str, kind: &str, least: u64) -> String {
    let digits = text.strip_prefix('-').unwrap_or_default();
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_natural = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if kind.starts_with(WHOLE) && is_natural {
        return format!("`{text}` is too large");
    }
    match (kind.starts_with(WHOLE) && is_whole, digits.trim_start_matches('0')) {
        (true, "") if least == 0 => format!("`{text}` has a minus sign; write `0`"),
        (true, _) => format!("`{text}` is too small: it must be at least {least}"),
        (false, _) if kind.starts_with(NUMBER) && read_share(&text.replacen(',', ".", 1)).is_some() => {
            format!("`{text}` is not {kind}; with a decimal point, it is `{}`", text.replacen(',', ".", 1))
        }
        (false, _) => format!("`{text}` is not {kind}"),
    }
}

/// Returns the field, if its path leads to one value.
fn one_value(field: FieldPath) -> Result<FieldPath, minwise_corpus::Error> {
    field.check_one_value().map(|()| field)
}

/// Returns the reason why a text cannot be read as a size.
///
/// ```
/// use minwise_engine::wrong_size;
/// assert_eq!(wrong_size("many", "4GiB"), "`many` is not a size such as `4GiB`");
/// assert_eq!(wrong_size("80%", "4GiB"), "`80%` is not a size: give bytes with a unit, such as `4GiB`, not a percentage");
/// ```
#[must_use]
pub fn wrong_size(text: &str, example: &str) -> String {
    if text.ends_with('%') {
        return format!(
            "`{text}` is not a size: give bytes with a unit, such as `{example}`, not a percentage"
        );
    }
    format!("`{text}` is not a size such as `{example}`")
}

/// Parses a size in bytes: a number with an optional unit. A number with a unit may have decimals; the size is rounded
/// down to whole bytes.
///
/// ```
/// assert_eq!(minwise_engine::size_bytes("64KiB"), Some(65_536));
/// assert_eq!(minwise_engine::size_bytes("1.5 GiB"), Some(1_610_612_736));
/// assert_eq!(minwise_engine::size_bytes("5 apples"), None);
/// ```
#[must_use]
pub fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1000,
        "kib" => 1 << 10,
        "m" | "mb" => 1_000_000,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        "t" | "tb" => 1_000_000_000_000,
        "tib" => 1 << 40,
        _ => return None,
    };
    let Some((whole, decimals)) = number.split_once('.') else {
        return number.parse::<u64>().ok()?.checked_mul(factor);
    };
    // Integers, because a floating-point number could differ by a byte from the exact size.
    let (digits, places) = (format!("{whole}{decimals}"), u32::try_from(decimals.len()).ok()?);
    let parts = digits.parse::<u128>().ok()?.checked_mul(u128::from(factor))?;
    let are_digits = !whole.is_empty() && !decimals.is_empty() && factor > 1;
    u64::try_from(parts / 10_u128.checked_pow(places)?).ok().filter(|_| are_digits)
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
            ("1.5GiB", Some(3 << 29)),
            ("0.3kB", Some(300)),
            ("0.0005 kB", Some(0)),
            ("1TB", Some(1_000_000_000_000)),
            ("2TiB", Some(2 << 40)),
            ("1.5", None),
            ("1.5.5GiB", None),
            (".5GiB", None),
            ("1.GiB", None),
            ("1,5GiB", None),
            ("80%", None),
            ("GiB", None),
            ("-1", None),
            ("99999999999GiB", None),
            ("5 apples", None),
        ] {
            assert_eq!(size_bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn problems_of_texts_and_of_the_run_are_reported_in_order() {
        let mut arguments = Arguments::new();
        for (setting, text) in
            [("memory", "much"), ("threshold", "high"), ("order", "2"), ("threads", "0"), ("bands", "4")]
        {
            assert!(arguments.set(setting, text), "{setting}");
        }
        let settings = arguments.settings();
        let error = arguments.built(settings.plan()).unwrap_err();
        let settings: Vec<&str> = error.problems().iter().map(|problem| problem.setting).collect();
        assert_eq!(settings, ["threshold", "order", "bands", "threads", "memory"]);
        assert_eq!(
            error.problems()[2].message().as_flags("minwise"),
            "`--bands`: it needs `--rows` beside it"
        );
    }

    #[test]
    fn a_recall_is_refused_beside_bands() {
        for given in [&["bands", "rows"][..], &["bands"], &["rows"]] {
            let mut arguments = Arguments::new();
            arguments.set("recall", "0.9");
            for setting in given {
                arguments.set(setting, "4");
            }
            let settings = arguments.settings();
            let error = arguments.built(settings.plan()).unwrap_err();
            let refused = error.problems().iter().find(|problem| problem.setting == "recall").unwrap();
            assert_eq!(
                refused.message().as_flags("minwise"),
                "`--recall`: it follows from `--bands` and `--rows`, so that it cannot be given beside them"
            );
        }
    }

    #[test]
    fn every_setting_that_is_text_can_be_set() {
        let no_text = ["removed", "weights", "ignore-text", "report"];
        for setting in SETTING_ORDER.iter().filter(|setting| !no_text.contains(setting)) {
            assert!(Arguments::new().set(setting, "1"), "{setting}");
        }
        assert!(!Arguments::new().set("colour", "1"));
    }

    fn problem_of(setting: &str, text: &str) -> (String, Option<String>) {
        let mut arguments = Arguments::new();
        assert!(arguments.set(setting, text), "{setting}");
        let [problem] = arguments.problems() else { panic!("{setting} {text}: {:?}", arguments.problems()) };
        let hint = problem.hint.as_ref().map(|hint| hint.as_flags("minwise"));
        (problem.message().as_flags("minwise"), hint)
    }

    #[test]
    fn mistakes_of_newcomers_get_a_reason_or_a_hint_of_their_own() {
        for (setting, text, reason) in [
            ("threshold", "0.80%", "`0.80%` is less than 1 %: write `80%` or `0.80`"),
            ("seed", "99999999999999999999", "`99999999999999999999` is too large"),
            (
                "memory",
                "80%",
                "`80%` is not a size: give bytes with a unit, such as `4GiB`, not a percentage",
            ),
        ] {
            assert_eq!(problem_of(setting, text), (format!("`--{setting}`: {reason}"), None));
        }
        for (setting, text, hint) in [
            ("memory", "4", "with a unit, it is `--memory 4GiB`"),
            (
                "keep",
                "first,longest",
                "to give several policies, repeat the option: `--keep longest` `--keep newest:date`",
            ),
            ("keep", "newest=date", "a colon comes before the field: `--keep newest:date`"),
            ("keep", "newest", "name the field behind a colon, such as `--keep newest:date`"),
            ("output-format", "json", "`--output-format jsonl` writes one JSON object per line"),
        ] {
            assert_eq!(problem_of(setting, text).1.as_deref(), Some(hint), "{setting} {text}");
        }
        let (_, hint) = problem_of("input-format", "JSON");
        assert!(hint.unwrap().starts_with("`--input-format jsonl` reads JSON with one object per line"));
        for (setting, text) in [
            ("input-format", "JSONL"),
            ("input-format", "ndjson"),
            ("input-format", "Auto"),
            ("output-format", "Parquet"),
            ("keep", "First"),
            ("keep", "Newest:date"),
            ("null", "Keep"),
            ("threshold", "1%"),
            ("threshold", "0%"),
        ] {
            let mut arguments = Arguments::new();
            assert!(arguments.set(setting, text));
            assert!(arguments.problems().is_empty(), "{setting} {text}: {:?}", arguments.problems());
        }
    }

    #[test]
    fn a_whole_spec_stands_for_its_parts() {
        let mut arguments = Arguments::new();
        let spec: Spec = "none / chars:4 / minhash:64 / seed:7".parse().unwrap();
        arguments.set_whole_spec(spec);
        assert_eq!(arguments.settings().spec, spec);
    }
}
