//! The settings that must be unchanged when a run is resumed: everything that changes a decision.

use minwise_corpus::{Corpus, Format, InputFormat};

use crate::settings::{Plan, list};

/// Returns the names and values of the settings that change a decision.
///
/// The plan is destructured field by field. A new field therefore does not compile until somebody has decided whether
/// it belongs in the list.
pub(super) fn known_again(plan: &Plan, corpus: &Corpus) -> Vec<(String, String)> {
    let Plan {
        spec,
        // The weight tables are covered by the spec, which has their fingerprints.
        weighing: _,
        measure,
        threshold,
        order,
        search,
        banding,
        bits,
        filter,
        looks,
        error_per_look,
        shelf,
        keep,
        cluster,
        max_cluster,
        // The wanted recall is covered by the bands and rows that follow from it.
        wanted_recall: _,
        // The fields from `audit` to `work` change no decision. A resumed run repeats the audit.
        audit: _,
        audit_bands: _,
        threads: _,
        max_rejects: _,
        temporary: _,
        memory: _,
        work: _,
    } = plan;
    let options = corpus.options();
    let [text_field, id_field, encoding, delimiter, max_record, null] = options.deciding();
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    // References may have another format than the inputs. The requested format decides how references are read.
    let asked_for = if let InputFormat::Only(format) = options.format { format.name() } else { "auto" };
    let reference_format = (corpus.references() > 0).then(|| asked_for.to_owned());
    [
        ("spec", spec.to_string()),
        ("measure", measure.to_string()),
        ("threshold", threshold.to_string()),
        ("order", or_none(order.map(|order| order.to_string()))),
        ("candidates", search.to_string()),
        ("bands", banding.bands().to_string()),
        ("rows", banding.rows().to_string()),
        ("bits", or_none(bits.map(|bits| bits.to_string()))),
        ("filter-error", or_none(filter.map(|error| error.to_string()))),
        ("looks", or_none(looks.as_deref().map(list))),
        ("error-per-look", or_none(error_per_look.map(|error| error.to_string()))),
        ("shelf", shelf.to_string()),
        ("keep", keep.to_string()),
        ("cluster", cluster.to_string()),
        ("max-cluster", or_none(max_cluster.map(|most| most.to_string()))),
        ("against", corpus.references().to_string()),
        text_field,
        id_field,
        encoding,
        delimiter,
        ("format", corpus.formats().into_iter().map(Format::name).collect::<Vec<_>>().join(",")),
        ("input-format", or_none(reference_format)),
        max_record,
        null,
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[cfg(test)]
mod tests {
    use minwise::Unobserved;
    use minwise::cluster::Clustering;
    use minwise::verify::Measure;
    use minwise_corpus::{Encoding, FieldPath, ReadOptions};

    use super::*;
    use crate::settings::{Bands, RunSettings, Search};

    /// Returns the names of the settings by which two runs differ.
    fn differing(settings: &RunSettings, options: &ReadOptions) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.jsonl");
        fs_err::write(&path, "{\"text\": \"a\"}\n").unwrap();
        let known = |settings: &RunSettings, options: &ReadOptions| {
            let corpus = Corpus::open(&[path.as_path().into()], options, &Unobserved).unwrap();
            known_again(&settings.plan().unwrap(), &corpus)
        };
        let before = known(&RunSettings::default(), &ReadOptions::default());
        let after = known(settings, options);
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after);
        changed.map(|(before, _)| before.0.clone()).collect()
    }

    #[test]
    fn whatever_changes_a_decision_is_known() {
        let settings = RunSettings::default;
        let cases = [
            (RunSettings { threshold: 0.9, ..settings() }, vec!["threshold", "bands", "rows"]),
            (RunSettings { order: Some(0.5), ..settings() }, vec!["order"]),
            (
                RunSettings { measure: Measure::Containment, ..settings() },
                vec!["measure", "candidates", "bands", "rows", "keep"],
            ),
            (RunSettings { search: Some(Search::All), ..settings() }, vec!["candidates", "bands", "rows"]),
            (RunSettings { bands: Bands::Given { bands: 16, rows: 8 }, ..settings() }, vec!["rows"]),
            (RunSettings { bits: Some("1".parse().unwrap()), ..settings() }, vec!["bits"]),
            (RunSettings { filter_error: None, ..settings() }, vec!["filter-error"]),
            (RunSettings { looks: Some(vec![64, 128]), ..settings() }, vec!["looks"]),
            // `error_per_look` applies the share to each look instead of to all looks together.
            (RunSettings { error_per_look: Some(1e-6), ..settings() }, vec!["error-per-look"]),
            (RunSettings { keep: Some("longest".parse().unwrap()), ..settings() }, vec!["keep"]),
            (RunSettings { cluster: Clustering::Components, ..settings() }, vec!["cluster"]),
            (RunSettings { max_cluster: Some(9), ..settings() }, vec!["max-cluster"]),
            (
                RunSettings {
                    spec: "nfkc+casefold / words:3 / minhash:128 / seed:1".parse().unwrap(),
                    ..settings()
                },
                vec!["spec"],
            ),
            // None of these settings changes a decision.
            (RunSettings { threads: Some(1), audit: None, max_rejects: Some(3), ..settings() }, vec![]),
        ];
        for (settings, expected) in cases {
            assert_eq!(differing(&settings, &ReadOptions::default()), expected, "{settings:?}");
        }
        let options = ReadOptions::default;
        let cases = [
            (options().text_fields(vec![FieldPath::field("body")]), "text-field"),
            (options().id_field(FieldPath::field("key")), "id-field"),
            (options().encoding(Encoding::Auto), "encoding"),
            (options().max_record_bytes(99), "max-record"),
        ];
        for (options, expected) in cases {
            assert_eq!(differing(&RunSettings::default(), &options), [expected]);
        }
    }
}
