//! The inputs of a run, and the weight tables of its spec.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use minwise::shingle::Shingles;
use minwise::weight::FrequencyLookup;
use minwise::{Observer, Sentence, Spec, Stage, WeightSpec};
use minwise_corpus::{Corpus, FieldPath, Format, Input, InputFormat, ReadOptions, Scratch};

use crate::error::{Error, ErrorKind, SettingProblem};
use crate::setters::setters;
use crate::settings::{RunSettings, table_problem};
use crate::weigh::{FrequencyTable, WeightTables, count_for_a_run};

/// Inputs of a run, with the options for reading them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Inputs {
    /// The inputs, whose order determines the numbers of the documents. Default: no inputs; a run without inputs fails.
    pub inputs: Vec<Input>,
    /// The references that the inputs are compared with. References are read but never written. Default: none.
    pub against: Vec<Input>,
    /// The options for reading inputs and references. Default: [`ReadOptions::default`].
    pub options: ReadOptions,
    /// The file of a table of document frequencies. Default: the run counts its inputs if its weights need a table.
    pub weights: Option<PathBuf>,
    /// Templates: files, folders or documents in memory whose shingles are left out of every document. Default: none.
    pub ignore_text: Vec<Input>,
    /// Shingles that are left out of every document in addition to those of `ignore_text`, for example those that
    /// another run has left out. Default: none.
    pub ignore_shingles: Vec<u64>,
}

setters!(Inputs {
    /// The inputs, whose order determines the numbers of the documents. Default: no inputs; a run without inputs fails.
    inputs: Vec<Input>,
    /// The references that the inputs are compared with. References are read but never written. Default: none.
    against: Vec<Input>,
    /// The options for reading inputs and references. Default: [`ReadOptions::default`].
    options: ReadOptions,
    /// Templates: files, folders or documents in memory whose shingles are left out of every document. Default: none.
    ignore_text: Vec<Input>,
    /// Shingles that are left out of every document in addition to those of `ignore_text`, for example those that
    /// another run has left out. Default: none.
    ignore_shingles: Vec<u64>,
    ;
    /// The file of a table of document frequencies. Default: the run counts its inputs if its weights need a table.
    weights: Option<PathBuf>,
});

impl Inputs {
    /// Makes inputs that are read with the default options.
    #[must_use]
    pub fn new<I: Into<Input>>(inputs: impl IntoIterator<Item = I>) -> Self {
        Self { inputs: inputs.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Refuses weight tables in the settings, because the run loads its tables itself.
    pub(super) fn check_tables(settings: &RunSettings, problems: &mut Vec<SettingProblem>) {
        let WeightSpec { table, ignored, .. } = settings.spec.weights;
        let WeightTables { frequencies, ignored: shingles } = &settings.weighing;
        if table.is_some() || ignored.is_some() || frequencies.is_some() || !shingles.is_empty() {
            let reason = Sentence::from("a run loads its tables itself: name them by ")
                .setting("weights")
                .text(" and ")
                .setting("ignore-text");
            problems.push(SettingProblem::new("spec", settings.spec, reason));
        }
    }

    /// Adds the problems of the read options to `problems`.
    pub(super) fn check(&self, problems: &mut Vec<SettingProblem>) {
        let ReadOptions { text_fields, id_field, max_record_bytes, .. } = &self.options;
        if let Err(error) = id_field.check_one_value() {
            problems.push(SettingProblem::new("id-field", id_field, error.to_string()));
        }
        if text_fields.is_empty() {
            problems.push(SettingProblem::new("text-field", "", "it names no field"));
        }
        // The limit is 4 GiB, because the place of a record stores its length in 32 bits.
        if !(1..=u64::from(u32::MAX)).contains(max_record_bytes) {
            let reason = "it must be at least 1 byte and less than 4 GiB";
            problems.push(SettingProblem::new("max-record", max_record_bytes, reason));
        }
    }

    /// Refuses references, because only a deduplication compares its inputs with other documents.
    pub(super) fn refuse_references(&self, problems: &mut Vec<SettingProblem>) {
        if !self.against.is_empty() {
            let reason = "only a deduplication compares its inputs with other documents";
            problems.push(SettingProblem::new("against", listed(&self.against, " "), reason));
        }
    }

    /// Refuses weight tables and templates, in a run that weighs no shingles.
    pub(super) fn refuse_tables(&self, problems: &mut Vec<SettingProblem>) {
        let reason = "this run weighs no shingles and leaves none out";
        if let Some(path) = &self.weights {
            problems.push(SettingProblem::new("weights", path.display(), reason));
        }
        if !self.ignore_text.is_empty() || !self.ignore_shingles.is_empty() {
            problems.push(SettingProblem::new("ignore-text", listed(&self.ignore_text, " "), reason));
        }
    }

    /// Opens the inputs and references as one corpus. Records are read with the `value_fields`, which the keeper policy
    /// needs.
    pub(super) fn open(
        &self,
        value_fields: Vec<FieldPath>,
        spool_dir: Option<&Path>,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Corpus, Error> {
        observer.begin(Stage::Open, 0);
        let spool_dir = spool_dir.map(Path::to_owned);
        let options = self.options.clone().value_fields(value_fields).spool_dir(spool_dir).threads(threads);
        let corpus = Corpus::open_against(&self.against, &self.inputs, &options, observer)?;
        observer.end(Stage::Open);
        Ok(corpus)
    }

    /// Loads the tables that `spec` needs and writes their fingerprints into `spec`. If a frequency table is needed and
    /// none was saved, counts the corpus.
    ///
    /// # Errors
    /// Fails with:
    /// - [`ErrorKind::Settings`](crate::ErrorKind::Settings) if the table has no documents or was counted for other
    ///   shingles than those of the spec, if a table is given that the spec does not need, if the spec needs a table
    ///   and there is neither a table nor a corpus, and if a template has no shingles;
    /// - [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if a file
    ///   cannot be read;
    /// - [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
    pub fn weigh(
        &self,
        spec: &mut Spec,
        corpus: Option<&Corpus>,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<WeightTables, Error> {
        let mut weighing = WeightTables::default();
        if spec.weights.need_table() {
            let table = match (&self.weights, corpus) {
                (Some(path), _) => saved(path, spec)?,
                (None, Some(corpus)) => {
                    let folder = corpus.options().spool_dir.as_deref();
                    count_for_a_run(corpus, spec, threads, folder, observer)?
                }
                (None, None) => {
                    let hint = Sentence::new()
                        .action_on("weights", "INPUT -o FILE")
                        .text(" counts a corpus, and ")
                        .setting_to("weights", "FILE")
                        .text(" uses it");
                    let reason = "document frequencies are not known from two documents";
                    return Err(table_problem(&spec.weights, reason).hint(hint).into());
                }
            };
            spec.weights.table = Some(table.fingerprint());
            weighing.frequencies = Some(Arc::new(table));
        } else if let Some(path) = &self.weights {
            let hint =
                Sentence::new().setting_to("weight", "tf-idf").text(" and ").setting("max-df").text(" do");
            let reason = "nothing asks for document frequencies";
            return Err(SettingProblem::new("weights", path.display(), reason).hint(hint).into());
        }
        if !self.ignore_text.is_empty() || !self.ignore_shingles.is_empty() {
            let mut ignored = self.ignore_shingles.clone();
            if !self.ignore_text.is_empty() {
                let spool_dir = corpus.map_or(&self.options, Corpus::options).spool_dir.clone();
                ignored.extend(self.ignored(spec, spool_dir, observer)?);
            }
            spec.weights.ignored = Some(WeightSpec::fingerprint_of_ignored(&ignored));
            weighing.ignored = ignored.into();
        }
        Ok(weighing)
    }

    /// Returns the shingles of the templates. A template without shingles is refused, because it must be a mistake.
    fn ignored(
        &self,
        spec: &Spec,
        spool_dir: Option<PathBuf>,
        observer: &dyn Observer,
    ) -> Result<Vec<u64>, Error> {
        let options = self
            .options
            .clone()
            .format(whole_files(self.options.format))
            .value_fields(vec![])
            .spool_dir(spool_dir);
        observer.begin(Stage::Open, 0);
        let corpus = Corpus::open(&self.ignore_text, &options, observer)?;
        observer.end(Stage::Open);
        let shingler = spec.shingler();
        let (mut shingles, mut all, mut refused) = (Shingles::new(), vec![], None);
        for chunk in corpus.chunks(u64::MAX) {
            corpus.scan(&chunk, &mut Scratch::new(), &mut |place, document| match document {
                Ok(document) => {
                    shingler.shingle_into(&document.text, &mut shingles);
                    all.extend_from_slice(shingles.hashes());
                    if shingles.hashes().is_empty() {
                        let name = corpus.place_name(place.source, place.line);
                        refused = Some(format!("`{name}` has no shingles that could be left out"));
                    }
                }
                Err(reject) => {
                    let name = corpus.place_name(place.source, place.line);
                    refused = Some(format!("`{name}`: {}", reject.reason));
                }
            })?;
        }
        match refused {
            Some(reason) => {
                Err(SettingProblem::new("ignore-text", listed(&self.ignore_text, ", "), reason).into())
            }
            None => Ok(all),
        }
    }
}

/// Formats inputs as they are typed in a command.
fn listed(inputs: &[Input], separator: &str) -> String {
    inputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

/// Opens a saved table, and refuses it if it does not fit the spec.
fn saved(path: &Path, spec: &Spec) -> Result<FrequencyTable, Error> {
    let table = FrequencyTable::open(path)?;
    let refused = |reason: String| {
        SettingProblem::new("weights", path.display(), format!("`{}` {reason}", path.display()))
    };
    table.check(spec).map_err(|error| {
        let hint = Sentence::new()
            .action("weights")
            .text(" takes the same ")
            .setting("shingle")
            .text(" and ")
            .setting("normalize");
        let reason = match error.kind() {
            ErrorKind::Spec(error) => match error.kind() {
                minwise::ErrorKind::SpecMismatch { field, left, right } => {
                    format!("has other settings: {field} is `{right}` there and `{left}` here")
                }
                _ => format!("cannot be used: {error}"),
            },
            _ => format!("cannot be used: {error}"),
        };
        refused(reason).hint(hint)
    })?;
    // Weights are undefined without documents, so an empty table is refused.
    if table.documents() == 0 {
        let hint = Sentence::new().action_on("weights", "INPUT -o FILE").text(" counts a corpus");
        return Err(refused("counts no documents".to_owned()).hint(hint).into());
    }
    Ok(table)
}

/// Returns the format for inputs whose files are one document each. The kind of each file is detected from its content,
/// unless the user states that all files are plain text.
fn whole_files(format: InputFormat) -> InputFormat {
    match format {
        InputFormat::Only(Format::TEXT) => format,
        _ => InputFormat::Only(Format::DOCUMENT),
    }
}
