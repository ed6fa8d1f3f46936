//! Options that all builders have.

/// Writes the methods that [`Dedup`](super::Dedup) and [`Pairs`](super::Pairs) share. A trait is not used, because
/// every caller would have to import the trait.
macro_rules! shared_options {
    ($builder:ident, $options:ident) => {
        /// Inputs. Every call adds an input after the existing ones.
        impl $builder {
            /// Adds a list of texts, which are copied. The texts have the ids `memory:1`, `memory:2` and so on.
            pub fn texts<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> Self {
                self.input(InMemory::texts(texts))
            }

            /// Adds a list of texts, some of which may be null. By default a null text is kept and compared with
            /// nothing; [`nulls`](Self::nulls) changes this rule.
            pub fn optional_texts<T: AsRef<str>>(self, texts: impl IntoIterator<Item = Option<T>>) -> Self {
                self.input(InMemory::records(texts.into_iter().map(|text| (None::<&str>, text))))
            }

            /// Adds a list of ids and texts, which are copied.
            pub fn documents<I: AsRef<str>, T: AsRef<str>>(
                self,
                documents: impl IntoIterator<Item = (I, T)>,
            ) -> Self {
                self.input(InMemory::documents(documents))
            }

            /// Adds a table of Arrow record batches, whose buffers are shared and not copied. [`text_field`](Self::text_field)
            /// and [`id_field`](Self::id_field) name the columns.
            pub fn batches(self, schema: SchemaRef, batches: impl IntoIterator<Item = RecordBatch>) -> Self {
                self.input(InMemory::batches(schema, batches))
            }

            /// Adds a file, or all files of a folder. The content and the name determine the format.
            pub fn file(self, path: impl AsRef<Path>) -> Self {
                self.input(path.as_ref())
            }

            /// Adds files or folders.
            pub fn files<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
                paths.into_iter().fold(self, Self::file)
            }

            /// Adds an input of any kind: a path, a pattern, standard input, or documents in memory.
            pub fn input(mut self, input: impl Into<Input>) -> Self {
                self.options.inputs.inputs.push(input.into());
                self
            }
        }

        /// Options for reading inputs.
        impl $builder {
            /// Sets the field that holds the text of a record, such as `body` or `messages[].content`. Several fields
            /// are separated by commas. Default: `text`.
            pub fn text_field(mut self, field: &str) -> Self {
                match FieldPath::list(field) {
                    Ok(fields) => self.options.inputs.options.text_fields = fields,
                    Err(error) => {
                        self.problems.push(SettingProblem::new("text-field", field, error.to_string()));
                    }
                }
                self
            }

            /// Sets the field that holds the id of a record. Default: `id`.
            pub fn id_field(mut self, field: &str) -> Self {
                match field.parse() {
                    Ok(field) => self.options.inputs.options.id_field = field,
                    Err(error) => {
                        let error: minwise_corpus::Error = error;
                        self.problems.push(SettingProblem::new("id-field", field, error.to_string()));
                    }
                }
                self
            }

            /// Sets the rule for records whose text is null. Default: null texts are kept and compared with nothing.
            pub fn nulls(mut self, nulls: Nulls) -> Self {
                self.options.inputs.options.nulls = nulls;
                self
            }

            /// Sets the maximum number of rejected records. If more records are rejected, the run stops. Default: no
            /// limit.
            pub fn max_rejects(mut self, records: u64) -> Self {
                self.options.settings.max_rejects = Some(records);
                self
            }

            /// Changes options for reading that have no method of their own. Default: [`ReadOptions::default`].
            pub fn reading(mut self, change: impl FnOnce(&mut ReadOptions)) -> Self {
                change(&mut self.options.inputs.options);
                self
            }
        }

        /// Settings of similarity.
        impl $builder {
            /// Sets the exact similarity from which on two documents are near-duplicates. The threshold must be above 0
            /// and at most 1. Default: 0.8.
            ///
            /// Documents without shingles, such as empty texts, have similarity 1 if their normalised texts are equal, and 0
            /// otherwise. An index in memory ([`Lsh`](minwise::Lsh)) never finds such documents.
            pub fn threshold(mut self, threshold: f64) -> Self {
                self.options.settings.threshold = threshold;
                self
            }

            /// Sets how texts are normalised, cut into shingles and sketched, as a [`Spec`] or its text form. Default:
            /// `nfkc+casefold / words:5 / minhash:128 / seed:1`.
            pub fn spec(mut self, spec: impl fmt::Display) -> Self {
                let form = spec.to_string();
                match form.parse::<Spec>() {
                    Ok(spec) => self.options.settings.spec = spec,
                    Err(error) => self.problems.push(SettingProblem::of("spec", form, &error)),
                }
                self
            }

            /// Sets the measure that is compared with the threshold. Default: Jaccard similarity.
            pub fn measure(mut self, measure: Measure) -> Self {
                self.options.settings.measure = measure;
                self
            }

            /// Sets the probability of finding a pair whose similarity is the threshold: a number between 0 and 1, both
            /// exclusive. The recall determines the number of bands and rows, so it cannot be combined with
            /// [`bands`](Self::bands). Default: 0.99.
            pub fn recall(mut self, recall: f64) -> Self {
                self.recall = Some(recall);
                self
            }

            /// Sets the number of bands, and the number of rows per band. Bands times rows must be at most the number
            /// of registers. The two numbers cannot be combined with [`recall`](Self::recall). Default: the numbers
            /// that follow from the recall.
            pub fn bands(mut self, bands: usize, rows: usize) -> Self {
                self.options.settings.bands = Bands::Given { bands, rows };
                self
            }

            /// Sets the search for candidates. Default: banding, or sort-merge if the measure is containment.
            pub fn candidates(mut self, search: Search) -> Self {
                self.options.settings.search = Some(search);
                self
            }

            /// Adds texts whose shingles are left out of every document, such as an empty form. The input is a file, a
            /// folder, or documents in memory. Default: no texts.
            pub fn ignore_text(mut self, input: impl Into<Input>) -> Self {
                self.options.inputs.ignore_text.push(input.into());
                self
            }

            /// Sets the file of document frequencies that weights and `max-df` need. Default: the run counts the
            /// frequencies in its inputs.
            pub fn weights(mut self, path: impl AsRef<Path>) -> Self {
                self.options.inputs.weights = Some(path.as_ref().to_owned());
                self
            }

            /// Changes settings of the run that have no method of their own. Default: [`RunSettings::default`].
            pub fn settings(mut self, change: impl FnOnce(&mut RunSettings)) -> Self {
                change(&mut self.options.settings);
                self
            }
        }

        impl $builder {
            /// Returns the options, with the problems of options that cannot be parsed or that contradict each other.
            fn parts(mut self) -> ($options, Vec<SettingProblem>) {
                match (self.recall, self.options.settings.bands) {
                    (Some(recall), Bands::Given { .. }) => {
                        self.problems.push(SettingProblem::recall_beside_bands(recall));
                    }
                    (Some(recall), Bands::ForRecall(_)) => {
                        self.options.settings.bands = Bands::ForRecall(recall);
                    }
                    (None, _) => {}
                }
                (self.options, self.problems)
            }
        }

        /// Resource limits, which change no result.
        impl $builder {
            /// Sets the number of threads. Default: one per core, or fewer if the memory limit is too small for that.
            pub fn threads(mut self, threads: usize) -> Self {
                self.options.settings.threads = Some(threads);
                self
            }

            /// Sets the memory limit in bytes, at least 128 MiB. Data that exceed the limit go to temporary files.
            /// Default: half of the machine's memory.
            pub fn memory(mut self, bytes: u64) -> Self {
                match MemoryLimit::new(bytes) {
                    Ok(memory) => self.options.settings.memory = Some(memory),
                    Err(error) => self.problems.push(SettingProblem::of("memory", bytes, &error)),
                }
                self
            }

            /// Sets the folder of temporary files. Default: the temporary folder of the system.
            pub fn temporary_folder(mut self, folder: impl AsRef<Path>) -> Self {
                self.options.settings.temporary = Some(folder.as_ref().to_owned());
                self
            }
        }
    };
}

pub(super) use shared_options;
