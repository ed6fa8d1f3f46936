//! Builds a spec from the parts that people set.

use minwise::shingle::{Repeats, Shingling};
use minwise::sketch::Method;
use minwise::text::Normalization;
use minwise::weight::{MostDocuments, Weighting};
use minwise::{Error as CoreError, ErrorKind as CoreErrorKind, Sentence, Spec, WeightSpec};

use crate::error::SettingProblem;
use crate::setters::setters;

/// Default number of registers of a sketch.
const REGISTERS: usize = 128;

/// Options from which a spec is built.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SpecOptions {
    /// The normalisation of text. Default: `nfkc+casefold`.
    pub normalization: Normalization,
    /// The shingling of text. Default: `words:5`.
    pub shingling: Shingling,
    /// The sketch: a name such as `minhash`, or a full text form such as `super-minhash:256`. Default: `minhash`;
    /// `dart` with weights.
    pub sketch: Option<String>,
    /// Number of registers, from 1 to 65,536, if `sketch` is only a name. Default: 128.
    pub registers: Option<usize>,
    /// The seed of the hash functions. Default: 1.
    pub seed: Option<u64>,
    /// The weighting of shingles. Default: `none`.
    pub weighting: Weighting,
    /// The largest document frequency of a shingle, as a number or a share of all documents. Shingles in more documents
    /// are ignored. Default: no shingle is ignored.
    pub most_documents: Option<MostDocuments>,
}

setters!(SpecOptions {
    /// The normalisation of text. Default: `nfkc+casefold`.
    normalization: Normalization,
    /// The shingling of text. Default: `words:5`.
    shingling: Shingling,
    /// The weighting of shingles. Default: `none`.
    weighting: Weighting,
    ;
    /// The sketch: a name such as `minhash`, or a full text form such as `super-minhash:256`. Default: `minhash`;
    /// `dart` with weights.
    sketch: Option<String>,
    /// Number of registers, from 1 to 65,536, if `sketch` is only a name. Default: 128.
    registers: Option<usize>,
    /// The seed of the hash functions. Default: 1.
    seed: Option<u64>,
    /// The largest document frequency of a shingle, as a number or a share of all documents. Shingles in more documents
    /// are ignored. Default: no shingle is ignored.
    most_documents: Option<MostDocuments>,
});

impl SpecOptions {
    /// Builds the spec. If the parts do not form a valid spec, adds the problems to `problems`, and returns a spec with
    /// defaults for the invalid parts.
    pub fn spec(&self, problems: &mut Vec<SettingProblem>) -> Spec {
        let Self { normalization, shingling, seed, weighting, most_documents, .. } = *self;
        let weights = WeightSpec::new(weighting).with_most_documents(most_documents);
        let spec = |method| {
            Spec::default()
                .with_normalization(normalization)
                .with_shingling(shingling)
                .with_method(method)
                .with_seed(seed.unwrap_or(1))
                .with_weights(weights)
        };
        match self.method(problems) {
            Ok(method) => {
                check_spec(&spec(method), problems);
                spec(method)
            }
            Err(problem) => {
                problems.push(problem);
                let weighted = || format!("dart:{REGISTERS}").parse().unwrap_or_default();
                spec(if weighting == Weighting::None { Method::default() } else { weighted() })
            }
        }
    }

    /// Returns the requested sketch. Its registers are those of its text form, or of `registers` if `sketch` is only a
    /// name.
    fn method(&self, problems: &mut Vec<SettingProblem>) -> Result<Method, SettingProblem> {
        let default = if self.weighting == Weighting::None { "minhash" } else { "dart" };
        let name = self.sketch.as_deref().unwrap_or(default);
        if name.contains([':', '/']) {
            if let Some(registers) = self.registers {
                let reason =
                    Sentence::new().setting_to("sketch", name.to_owned()).text(" says how many there are");
                problems.push(SettingProblem::new("registers", registers, reason));
            }
            return name.parse().map_err(|error| SettingProblem::of("sketch", name, &error));
        }
        let registers = self.registers.unwrap_or(REGISTERS);
        // The text form is parsed, because the parser checks the number of registers.
        let plain: Result<Method, CoreError> = Method::minhash(registers).to_string().parse();
        plain.map_err(|error| SettingProblem::of("registers", registers, &error))?;
        format!("{name}:{registers}").parse().map_err(|error: CoreError| match error.kind() {
            // The error shows the name that the user typed, without the registers that were added to it.
            CoreErrorKind::Parse { what, expected, .. } => {
                let error = CoreError::parse(what, name, expected.clone());
                SettingProblem::of("sketch", name, &error)
            }
            _ => SettingProblem::of("sketch", name, &error),
        })
    }
}

/// Refuses a spec whose parts contradict each other.
pub(crate) fn check_spec(spec: &Spec, problems: &mut Vec<SettingProblem>) {
    let method = spec.method;
    // The text form is parsed, because the parser checks the sizes.
    if let Err(error) = method.to_string().parse::<Method>() {
        problems.push(SettingProblem::of("registers", method.registers(), &error));
        return;
    }
    let weighted = spec.weights.weighting != Weighting::None;
    if weighted != matches!(method, Method::Weighted(_)) {
        let problem = if weighted {
            SettingProblem::new("sketch", method, format!("`{method}` is not for weighted shingles"))
                .hint("`dart`, `icws` and `cws` are")
        } else {
            SettingProblem::new("sketch", method, format!("`{method}` is for weighted shingles"))
                .hint(Sentence::new().setting("weight").text(" says how they are weighed"))
        };
        problems.push(problem);
    }
    if weighted && spec.shingling.repeats() == Repeats::Bag {
        problems.push(
            SettingProblem::new("weight", spec.weights.weighting, "weights count repeats themselves")
                .hint(Sentence::from("leave `,bag` away from ").setting("shingle")),
        );
    }
}
