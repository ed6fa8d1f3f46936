//! By what a run is known again when it is resumed: everything that changes what it finds out.

use minwise_corpus::{Corpus, InputFormat, ReadOptions};

use crate::settings::Plan;

/// The settings of a run by their names.
///
/// Plan and options are taken apart field by field, so that a new field does not compile until somebody has decided
/// whether it belongs here.
pub(super) fn known_again(plan: &Plan, corpus: &Corpus) -> Vec<(String, String)> {
    let Plan {
        spec,
        // The spec has the fingerprints of its tables.
        weighing: _,
        measure,
        threshold,
        order,
        search,
        banding,
        bits,
        filter,
        keep,
        cluster,
        max_cluster,
        // The audit is made anew, and none of these changes a decision.
        audit: _,
        threads: _,
        max_rejects: _,
        temporary: _,
        memory: _,
        work: _,
    } = plan;
    let ReadOptions {
        text_fields,
        id_field,
        // They follow from the keeper policy.
        value_fields: _,
        encoding,
        format,
        max_record_bytes,
        spool_dir: _,
    } = corpus.options();
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let fields: Vec<String> = text_fields.iter().map(ToString::to_string).collect();
    // What is asked for decides the format of references, which may be another one than that of the inputs.
    let reference_format = match format {
        _ if corpus.references() == 0 => None,
        InputFormat::Auto => Some("auto".to_owned()),
        InputFormat::Only(format) => Some(format.name().to_owned()),
    };
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
        ("keep", keep.to_string()),
        ("cluster", cluster.to_string()),
        ("max-cluster", or_none(max_cluster.map(|most| most.to_string()))),
        ("against", corpus.references().to_string()),
        ("text-field", fields.join(",")),
        ("id-field", id_field.to_string()),
        ("encoding", encoding.to_string()),
        ("format", corpus.format().name().to_owned()),
        ("input-format", or_none(reference_format)),
        ("max-record", max_record_bytes.to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
