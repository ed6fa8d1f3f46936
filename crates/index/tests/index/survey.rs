//! Tests of surveys, of single documents, and of the codes and faults of errors.

use std::collections::BTreeSet;

use minwise_index::{ErrorKind, Fault, Unobserved};

use crate::support::{create, document, text};

#[test]
fn a_survey_counts_days_and_draws_documents_by_lot() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let documents: Vec<_> = (0..200).map(|at| document(&format!("d{at}"), &text(at, 10))).collect();
    index.add(&documents[..150], 86_400 * 3 + 5, 1).unwrap();
    index.add(&documents[150..], 86_400 * 4, 1).unwrap();
    let survey = index.survey(50, 1, &Unobserved).unwrap();
    assert_eq!(survey.added.into_iter().collect::<Vec<_>>(), [(3, 150), (4, 50)]);
    let drawn: BTreeSet<&String> = survey.drawn.iter().collect();
    assert_eq!(drawn.len(), 50);
    assert_eq!(index.survey(50, 1, &Unobserved).unwrap().drawn, survey.drawn);
    assert_ne!(index.survey(50, 2, &Unobserved).unwrap().drawn, survey.drawn);
    assert_eq!(index.survey(500, 1, &Unobserved).unwrap().drawn, index.ids().unwrap());
    assert_eq!(index.survey(0, 1, &Unobserved).unwrap().drawn.len(), 0);
    // Each document is drawn with probability 1/4: over 400 seeds, its number of draws is binomial, with a
    // standard deviation of 8.7.
    let draws = (0..400)
        .filter(|&seed| index.survey(50, seed, &Unobserved).unwrap().drawn.contains(&"d7".to_owned()));
    let draws = draws.count() as f64;
    assert!((draws - 100.0).abs() < 5.0 * (400.0_f64 * 0.25 * 0.75).sqrt(), "{draws}");
}

#[test]
fn a_document_is_there_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    index.add(&[document("a", "a")], 0, 1).unwrap();
    assert_eq!((index.has("a").unwrap(), index.has("b").unwrap()), (true, false));
    index.remove(&["a"]).unwrap();
    assert!(!index.has("a").unwrap());
}

#[test]
fn errors_have_names_and_somebody_who_can_do_something() {
    let path = std::path::PathBuf::from("x");
    for (kind, code, fault) in [
        (ErrorKind::NoSuchDocument { id: "a".to_owned() }, "no_such_document", Fault::Missing),
        (ErrorKind::DiskFull { path: path.clone() }, "disk_full", Fault::Room),
        (ErrorKind::Stopped { path: path.clone() }, "stopped", Fault::Room),
        (ErrorKind::Damaged { path, what: "all".to_owned() }, "damaged", Fault::Index),
        (ErrorKind::Interrupted, "cancelled", Fault::Busy),
    ] {
        assert_eq!((kind.code(), kind.fault()), (code, fault));
    }
}
