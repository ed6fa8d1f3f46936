//! Serialised values are read back, invalid ones are refused, and the forms stay the same.

use minwise::candidate::Banding;
use minwise::cluster::{Edge, Standing};
use minwise::estimate::Estimate;
use minwise::filter::{ErrorBudget, Filter, default_looks};
use minwise::sketch::Method;
use minwise::{Lsh, Sketch, Spec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};

const SPEC: &str = "nfkc+casefold / words:1 / minhash:8 / seed:1";

fn spec() -> Spec {
    SPEC.parse().expect("a spec")
}

/// Returns the serialised form of a value. The value is also read back, from JSON and from a form without field names.
#[track_caller]
fn form<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> Value {
    let form = to_value(value).expect("a value that can be serialised");
    assert_eq!(from_value::<T>(form.clone()).expect("a value that can be serialised"), *value);
    let bytes = postcard::to_stdvec(value).expect("a value that can be serialised");
    assert_eq!(postcard::from_bytes::<T>(&bytes).expect("a value that can be serialised"), *value);
    form
}

#[test]
fn settings_have_their_text_forms() {
    assert_eq!(form(&spec()), SPEC);
    assert_eq!(form(&"b-bit:2/minhash:64".parse::<Method>().unwrap()), "b-bit:2/minhash:64");
    let filter = Filter::new(0.8, 64, &default_looks(64), ErrorBudget::Exact(1e-6)).unwrap();
    assert_eq!(form(&filter), filter.to_string());
    assert!(from_value::<Spec>(json!("none / words:0 / minhash:8 / seed:1")).is_err());
}

#[test]
fn results_have_the_names_of_their_fields() {
    let estimate = json!({"value": 0.5, "standard_error": 0.25, "interval": [0.0, 1.0]});
    let read: Estimate = from_value(estimate.clone()).unwrap();
    assert_eq!((read.value, read.standard_error, read.interval), (0.5, 0.25, (0.0, 1.0)));
    assert_eq!(form(&read), estimate);
    assert_eq!(form(&Banding::new(4, 2, 8).unwrap()), json!({"bands": 4, "rows": 2}));
    assert!(from_value::<Banding>(json!({"bands": 0, "rows": 2})).is_err());
    assert_eq!(form(&Edge { a: 1, b: 2, similarity: 0.5 }), json!({"a": 1, "b": 2, "similarity": 0.5}));
    assert_eq!(
        form(&Standing::Duplicate { of: 3, similarity: 1.0 }),
        json!({"Duplicate": {"of": 3, "similarity": 1.0}})
    );
}

#[test]
fn a_sketch_is_read_back_or_refused_by_name() {
    let sketch = Sketch::of(spec(), "a b c").unwrap();
    let form = form(&sketch);
    let versions = json!({"form": 1, "spec_version": 1, "unicode": "17.0"});
    assert_eq!(
        form,
        json!({"versions": versions, "spec": SPEC, "has_shingles": true, "words": sketch.words()})
    );
    for (path, value, part) in [
        ("/versions/form", json!(2), "expected 1 as the version of the form, found 2"),
        ("/versions/spec_version", json!(9), "expected 1 as the version of specs, found 9"),
        ("/versions/unicode", json!("16.0"), "expected Unicode `17.0`, found Unicode `16.0`"),
        ("/words", json!([1, 2]), "expected 8 words"),
        ("/has_shingles", json!(false), "empty words"),
    ] {
        let mut changed = form.clone();
        *changed.pointer_mut(path).unwrap() = value;
        let message = from_value::<Sketch>(changed).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn an_index_is_read_back_as_it_answers() {
    for keeps in [false, true] {
        let builder = Lsh::builder(spec()).threshold(0.3).bands(4, 2);
        let mut lsh = if keeps { builder.keep_shingles() } else { builder }.build().unwrap();
        let texts = ["a b c d", "a b c e", "x y z", "", "a b f g"];
        lsh.insert_many((0..).zip(texts), 2).unwrap();
        lsh.remove(&2);
        let form = to_value(&lsh).unwrap();
        assert_eq!(form["keys"], json!([0, 1, 3, 4]));
        assert_eq!(form["shingles"].is_null(), !keeps);
        let bytes = postcard::to_stdvec(&lsh).unwrap();
        for read in [from_value::<Lsh<i32>>(form.clone()).unwrap(), postcard::from_bytes(&bytes).unwrap()] {
            assert!(read.iter().eq(lsh.iter()));
            assert_eq!(
                (read.spec(), read.banding(), read.threshold()),
                (lsh.spec(), lsh.banding(), lsh.threshold())
            );
            for text in texts {
                let keys = |lsh: &Lsh<i32>| -> Vec<(i32, f64)> {
                    lsh.query(text).unwrap().iter().map(|one| (*one.key, one.similarity())).collect()
                };
                assert_eq!(keys(&read), keys(&lsh));
            }
            assert_eq!(to_value(&read).unwrap(), form);
        }
        for (path, value, part) in [
            (
                "/versions/form",
                json!(2),
                "these bytes are not a stored index: expected 1 as the version of the form",
            ),
            ("/keys", json!([0, 1, 3, 3]), "keys are unique"),
            ("/keys", json!([0, 1, 3]), "3 rows and sets"),
            ("/words", json!([1, 2, 3]), "a multiple of 8"),
            ("/threshold", json!(2.0), "the threshold"),
            ("/banding/bands", json!(5), "5 bands of 2 rows need 10 registers"),
        ] {
            let mut changed = form.clone();
            *changed.pointer_mut(path).unwrap() = value;
            let message = from_value::<Lsh<i32>>(changed).unwrap_err().to_string();
            assert!(message.contains(part), "{path}: {message}");
        }
    }
}
