//! Tests `minwise sketch` and `minwise estimate`.

use serde_json::Value;

use crate::support::{Desk, prose, record, records, with_word};

fn desk() -> Desk {
    let text = prose(1, 200);
    let near = with_word(&text, 100, "other");
    let other = prose(2, 200);
    let desk = Desk::with("in.jsonl", records(&[("a", &text), ("far", &other), ("b", &near), ("none", "!")]));
    desk.write("new.jsonl", records(&[("x", &with_word(&near, 20, "more")), ("y", &prose(3, 50))]));
    desk
}

#[test]
fn pairs_of_one_file() {
    let desk = desk();
    insta::assert_snapshot!(desk.run("sketch in.jsonl -o in.sketches"), @"
    exit 0
    --- stderr
    read        4 documents, 4.0 kB
    rejected    0 records
    wrote       4 sketches of 512 bytes each to `in.sketches`
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    stages      [time]
    ");
    insta::assert_snapshot!(desk.run("estimate in.sketches"), @"
    exit 0
    --- stdout
    a	b	0.968750	0.016218
    --- stderr
    compared    3 pairs: 1 estimate reaches 0.8
    wrote       1 pair to standard output
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    sketches    35.4 % of the data of the compared sketches was read
    ");
    let all = desk.run("estimate in.sketches --threshold 0 -q").exit(0);
    // A document without shingles is in no pair.
    assert_eq!(all.lines().len(), 3);
}

#[test]
fn pairs_of_two_files() {
    let desk = desk();
    desk.run("sketch in.jsonl -o in.sketches --registers 1024").exit(0);
    desk.run("sketch new.jsonl -o new.sketches --registers 1024").exit(0);
    let run = desk.run("estimate new.sketches in.sketches -q --format jsonl").exit(0);
    let pairs: Vec<Value> = run.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<_> = pairs.iter().map(|pair| (&pair["first"], &pair["second"])).collect();
    assert_eq!(ids, [(&Value::from("x"), &Value::from("a")), (&Value::from("x"), &Value::from("b"))]);
    for (pair, exact) in pairs.iter().zip([186.0 / 206.0, 191.0 / 201.0]) {
        let (estimate, error) =
            (pair["estimate"].as_f64().unwrap(), pair["standard_error"].as_f64().unwrap());
        assert!(error > 0.0 && (estimate - exact).abs() < 4.0 * error, "{pair}");
        let interval = pair["interval"].as_array().unwrap();
        assert!(interval[0].as_f64().unwrap() < estimate && estimate < interval[1].as_f64().unwrap());
    }
    let some = desk.run("estimate new.sketches in.sketches -q --of b --threshold 0").exit(0);
    assert_eq!(some.lines().len(), 2);
    insta::assert_snapshot!(desk.run("estimate new.sketches in.sketches --of nobody"), @"
    exit 2
    --- stderr
    error: no document has the id `nobody`

    hint: ids are those that the documents had when they were sketched
    ");
}

#[test]
fn every_sketch_can_be_kept() {
    let desk = desk();
    for (number, sketch) in [
        "b-bit:1/minhash:1024",
        "odd:1024/minhash:512",
        "bottom-k:256",
        "sectional:s=2,tolerant/minhash:128",
        "minhash,murmur3:64",
        "fractional:1x0.5+2x0.5/super-minhash:512",
    ]
    .iter()
    .enumerate()
    {
        desk.run(&format!("sketch in.jsonl -o {number}.sketches --sketch {sketch}")).exit(0);
        let run = desk.run(&format!("estimate {number}.sketches -q")).exit(0);
        assert!(run.text().starts_with("a\tb\t"), "{sketch}: {run}");
        assert_eq!(run.lines().len(), 1, "{sketch}: {run}");
    }
}

#[test]
fn the_same_bytes_whatever_the_threads() {
    let desk = desk();
    desk.run("sketch in.jsonl -o one.sketches --threads 1").exit(0);
    desk.run("sketch in.jsonl -o many.sketches --threads 5").exit(0);
    assert_eq!(desk.bytes("one.sketches"), desk.bytes("many.sketches"));
}

#[test]
fn files_that_are_no_good_are_refused_with_the_reason() {
    let desk = desk();
    desk.run("sketch in.jsonl -o in.sketches").exit(0);
    let whole = desk.bytes("in.sketches");

    insta::assert_snapshot!(desk.run("estimate in.jsonl"), @"
    exit 2
    --- stderr
    error: cannot read `in.jsonl`: it is no sketch file

    hint: `minwise sketch` makes a sketch file
    ");
    let mut newer = whole.clone();
    newer[8] = 2;
    desk.write("newer", newer);
    insta::assert_snapshot!(desk.run("estimate newer"), @"
    exit 2
    --- stderr
    error: cannot read `newer`: it has format version 2, and this program reads version 1

    hint: make it again with `minwise sketch`
    ");
    desk.write("short", &whole[..whole.len() - 7]);
    insta::assert_snapshot!(desk.run("estimate short"), @"
    exit 2
    --- stderr
    error: cannot read `short`: it ends after 2,605 bytes: it is cut short, or was never finished

    hint: make it again with `minwise sketch`
    ");
    let mut flipped = whole.clone();
    flipped[200] ^= 1;
    desk.write("flipped", flipped);
    insta::assert_snapshot!(desk.run("estimate in.sketches flipped"), @"
    exit 2
    --- stderr
    error: cannot read `flipped`: bytes 0 to 2,303, in the sections `present`, `id_ends`, `ids` and `rows`, are not what was written

    hint: make it again with `minwise sketch`
    ");
    insta::assert_snapshot!(desk.run("estimate ."), @"
    exit 2
    --- stderr
    error: cannot read `.`: it is no file that can be read in place

    hint: `minwise sketch` makes a sketch file
    ");
    insta::assert_snapshot!(desk.run("estimate nowhere"), @"
    exit 2
    --- stderr
    error: cannot open `nowhere`: No such file or directory (os error 2)
    ");
    desk.run("sketch in.jsonl -o chars.sketches --shingle chars:9").exit(0);
    insta::assert_snapshot!(desk.run("estimate in.sketches chars.sketches"), @"
    exit 2
    --- stderr
    error: cannot compare `chars.sketches`: its settings are not those of `in.sketches`: shingle is `chars:9`, not `words:5`

    hint: make both files with the same options of `minwise sketch`
    ");
}

#[test]
fn outputs_are_not_overwritten_or_compressed() {
    let desk = desk();
    desk.run("sketch in.jsonl -o in.sketches").exit(0);
    insta::assert_snapshot!(desk.run("sketch in.jsonl -o in.sketches"), @"
    exit 2
    --- stderr
    error: `in.sketches` exists already

    hint: `--force` replaces it
    ");
    insta::assert_snapshot!(desk.run("sketch in.jsonl -o in.zst"), @"
    exit 2
    --- stderr
    error: cannot write `in.zst`: a sketch file is read in place and cannot be compressed

    hint: take a name that does not end in `.gz`, `.zst`, `.bz2` or `.xz`
    ");
    insta::assert_snapshot!(desk.run("sketch in.jsonl -o -"), @"
    exit 2
    --- stderr
    error: cannot write `-`: a sketch file is read in place and cannot go to standard output

    hint: take the name of a file
    ");
    desk.run("sketch in.jsonl -o in.sketches --force").exit(0);
    desk.run("sketch in.jsonl -o in.jsonl --force").exit(2);
}

#[test]
fn an_empty_corpus_and_wrong_options() {
    let desk = Desk::with("in.jsonl", "");
    desk.run("sketch in.jsonl -o in.sketches").exit(0);
    assert_eq!(desk.run("estimate in.sketches -q").exit(0).text(), "");
    insta::assert_snapshot!(desk.run("estimate in.sketches --threshold 2 --threads 0"), @"
    exit 2
    --- stderr
    error: `--threshold`: an estimate cannot be 2: it must be from 0 to 1
    error: `--threads`: it must be at least 1
    ");
}

/// In a one-permutation sketch with rotation, an empty register copies the next register that is not empty. Comparing
/// the registers in another order loses no pair.
#[test]
fn registers_of_one_permutation_are_compared_look_by_look() {
    let texts =
        (0..40).map(|i| record(&format!("d{i}"), &format!("{} {}", prose(i / 4, 60), prose(i + 100, 6))));
    let desk = Desk::with("in.jsonl", texts.collect::<String>());
    desk.run("sketch in.jsonl -o in.sketches --sketch one-permutation,rotation").exit(0);
    let all = desk.run("estimate in.sketches -q --filter-error off --threshold 0.5").exit(0);
    let looks = desk.run("estimate in.sketches -q --threshold 0.5").exit(0);
    assert!(all.lines().len() > 20, "{all}");
    assert_eq!(looks.text(), all.text());
}

/// Pairs are screened by the first registers of their sketches before they are estimated, for every kind of sketch.
#[test]
fn no_pair_is_lost_before_it_is_estimated() {
    let texts = (0..60).map(|i| {
        let text = if i == 30 {
            String::new()
        } else {
            format!("{} {}", prose(i / 6, 60), prose(i + 100, 5 * (i % 6) as usize))
        };
        record(&format!("d{i}"), &text)
    });
    let desk = Desk::with("in.jsonl", texts.collect::<String>());
    for sketch in [
        "minhash:128",
        "minhash:1024",
        "b-bit:1/minhash:1024",
        "b-bit:2/minhash:128",
        "b-bit:3/minhash:100",
        "b-bit:8/minhash:128",
        "b-bit:12/minhash:256",
        "b-bit:16/minhash:128",
        "fractional:1x0.5+2x0.5/minhash:128",
        "fractional:8x0.1+1x0.9/minhash:512",
        "fractional:1x0.2+3x0.5+7x0.3/minhash:256",
        "connected:4x1/minhash:512",
        "connected:2x2/minhash:256",
        "xor:1/minhash:256",
        "bottom-k:64",
    ] {
        desk.run(&format!("sketch in.jsonl -o in.sketches --force -q --sketch {sketch}")).exit(0);
        let all = desk.run("estimate in.sketches -q --threshold 0").exit(0);
        assert_eq!(all.lines().len(), 59 * 58 / 2, "{sketch}");
        let value = |line: &str| line.split('\t').nth(2).unwrap().parse::<f64>().unwrap();
        for threshold in [0.1003, 0.3003, 0.5003, 0.8003, 0.9503] {
            let expected: Vec<String> =
                all.lines().iter().filter(|line| value(line) >= threshold).map(ToString::to_string).collect();
            for filter in ["", "--filter-error off", "--looks 20,64,100"] {
                let run = desk.run(&format!("estimate in.sketches -q --threshold {threshold} {filter}"));
                if filter.contains("looks") && sketch == "bottom-k:64" {
                    continue;
                }
                let found: Vec<String> = run.exit(0).lines().iter().map(ToString::to_string).collect();
                assert_eq!(found, expected, "{sketch} at {threshold} {filter}");
            }
        }
    }
}

#[test]
fn looks_of_an_estimate() {
    let desk = Desk::with(
        "in.jsonl",
        records(&[("a", "one two three four five six"), ("b", "one two three four five")]),
    );
    desk.run("sketch in.jsonl -o in.sketches").exit(0);
    insta::assert_snapshot!(desk.run("estimate in.sketches --threshold 0.9 --looks 16,64 --error-per-look 1e-5"), @"
    exit 0
    --- stderr
    compared    1 pair: 0 estimates reach 0.9
    wrote       0 pairs to standard output
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    sketches    1.6 % of the data of the compared sketches was read
    filter      all looks of the filter together wrongly rule out at most 2e-5 of the pairs at the threshold
    ");
    insta::assert_snapshot!(desk.run("estimate in.sketches --looks 16,200"), @"
    exit 2
    --- stderr
    error: `--looks`: a look cannot be at 200 registers: a sketch has 128

    hint: sketches with `--registers 200` have as many
    ");
    insta::assert_snapshot!(desk.run("estimate in.sketches --looks 16,8 --error-per-look 2"), @"
    exit 2
    --- stderr
    error: `--looks`: 8 follows 16: each look must be at more registers than the one before it
    error: `--error-per-look`: the share cannot be 2: it must be from 1e-200 to 0.5

    hint: `--looks 16,32,64,128` looks four times
    ");
    let run = desk.run("estimate in.sketches --looks 16 --filter-error off").exit(2);
    assert!(run.err.contains("`--looks`: there is no filter that could look"), "{run}");
    insta::assert_snapshot!(desk.run("estimate in.sketches --filter-error 1e-3 --error-per-look 1e-3"), @"
    exit 2
    --- stderr
    error: the argument '--filter-error <E>' cannot be used with '--error-per-look <E>'

    Usage: minwise estimate --filter-error <E> <FILE> [FILE2]

    hint: `--help` lists all options
    ");
}
