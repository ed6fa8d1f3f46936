//! `minwise plan`.

use serde_json::Value;

use crate::support::Desk;

#[test]
fn a_plan_for_people() {
    insta::assert_snapshot!(Desk::new().run("plan --threshold 0.8 --recall 0.99"), @"
    exit 0
    --- stdout
    16 bands of 6 rows, 96 of 128 registers

    recall            0.9923 at similarity 0.8
    half point        0.5905, where every other pair is found
    steepest point    0.6122
    memory            up to 860 bytes a document, 512 of them its sketch
    false candidates  2.19 a document, if it has ten neighbours at similarities spread evenly from 0 to 1

    probability that a pair becomes a candidate, by similarity

      1.0 |                                              ***************
          |                                           ***  :
          |                                         **     :
          |                                       **       :
          |                                      *         :
          |                                     *          :
      0.5 |                                   **           :
          |                                  *             :
          |                                **              :
          |                              **                :
          |                            **                  :
          |                       *****                    :
      0.0 |***********************                         :
          +-------------------------------------------------------------
           0                           0.5                             1

    similarity  probability
          0.05     0.000000
          0.10     0.000016
          0.15     0.000182
          0.20     0.001024
          0.25     0.003899
          0.30     0.011600
          0.35     0.029010
          0.40     0.063561
          0.45     0.124898
          0.50     0.222735
          0.55     0.361820
          0.60     0.534420
          0.65     0.714819
          0.70     0.865022
          0.75     0.956536
          0.80     0.992281
          0.85     0.999487
          0.90     0.999995
          0.95     1.000000
          1.00     1.000000

    sketches for a standard error of 0.02 at similarity 0.8, in long documents

    sketch                                    bytes  hashes a shingle  bands
    xor:2/minhash                                63              1985     no
    xor:1/minhash                                73              1154     no
    three-quarter,paper/minhash                  88              1055     no
    three-quarter/minhash                        95              1012     no
    odd/minhash                                  96               768     no
    xor:3/minhash                               108              6906     no
    b-bit:1/minhash                             113               900     no
    bit-hash/minhash                            113               900     no
    connected:2x1/minhash                       119               950     no
    fractional:1x0.5+2x0.5/minhash              131               696     no
    fractional,pooled:1x0.5+2x0.5/minhash       131               696     no
    connected:4x1/minhash                       133              1062     no
    b-bit:2/minhash                             142               567     no
    b-bit:3/minhash                             177               472     no
    b-bit:4/minhash                             217               434     no
    b-bit:5/minhash                             261               417     no
    b-bit:6/minhash                             306               408     no
    b-bit:7/minhash                             354               404     no
    b-bit:8/minhash                             402               402     no
    b-bit:9/minhash                             452               401     no
    b-bit:10/minhash                            501               401     no
    b-bit:11/minhash                            551               401     no
    b-bit:12/minhash                            601               401     no
    b-bit:13/minhash                            651               401     no
    b-bit:14/minhash                            701               401     no
    b-bit:15/minhash                            751               401     no
    b-bit:16/minhash                            801               401     no
    fast-similarity                            1600                 1    yes
    min-max                                    1600               400    yes
    minhash                                    1600               400    yes
    minhash,modular                            1600               400    yes
    minhash,multiplicative                     1600               400    yes
    minhash,murmur3                            1600               400    yes
    one-permutation                            1600                 1    yes
    one-permutation,raw                        1600                 1     no
    one-permutation,rotation                   1600                 1    yes
    sectional:s=2,pre/minhash                  1600               400     no
    super-minhash                              1600                 1    yes
    sectional:s=2,last/minhash                 1650               400     no
    sectional:s=2/minhash                      1650               400     no
    sectional:s=2,mask/minhash                 1700               400     no
    sectional:s=2,tolerant/minhash             1921               400     no
    bottom-k                                   3200                 1     no

    to find candidates, take `minhash`, or `fast-similarity` where hashing takes the time: both can be banded
    to keep sketches for comparison only, take `xor:2/minhash`: no other needs fewer bytes at this similarity
    ");
}

#[test]
fn a_plan_for_programs() {
    let run = Desk::new().run("plan --threshold 0.5 --recall 0.9 --registers 64 --format json").exit(0);
    let plan: Value = serde_json::from_str(run.text()).unwrap();
    let number = |name: &str| plan[name].as_f64().unwrap_or_else(|| panic!("{name} in {plan}"));
    let (bands, rows) = (number("bands"), number("rows"));
    assert!(bands * rows <= 64.0);
    let probability = |s: f64| 1.0 - (1.0 - s.powf(rows)).powf(bands);
    assert!((number("recall_at_threshold") - probability(0.5)).abs() < 1e-12);
    assert!(number("recall_at_threshold") >= 0.9);
    assert!((probability(number("half_point")) - 0.5).abs() < 1e-9);
    assert_eq!(number("sketch_bytes"), 256.0);
    let curve = plan["curve"].as_array().unwrap();
    assert_eq!(curve.len(), 21);
    for point in curve {
        let [s, p] = ["similarity", "probability"].map(|name| point[name].as_f64().unwrap());
        assert!((p - probability(s)).abs() < 1e-12);
    }
}

#[test]
fn bands_and_rows_may_be_given_instead() {
    let run = Desk::new().run("plan --bands 20 --rows 5 --format json").exit(0);
    let plan: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!((&plan["bands"], &plan["rows"]), (&20.into(), &5.into()));
    // Digest 02: twenty bands of five rows find 0.999644 of the pairs at 0.8.
    assert!((plan["recall_at_threshold"].as_f64().unwrap() - 0.999_644).abs() < 6e-7);
}

/// What `plan` shows is what `dedup` uses.
#[test]
fn dedup_follows_the_plan() {
    let desk = Desk::with("in.jsonl", "{\"text\":\"a\"}\n");
    for options in ["--threshold 0.5 --recall 0.9", "--threshold 0.95 --registers 200", "--bands 9 --rows 13"]
    {
        let plan = desk.run(&format!("plan {options}")).exit(0);
        let run = desk.run(&format!("dedup in.jsonl --dry-run {options}")).exit(0);
        let from = run.summary("recall").split_once("from ").unwrap().1.to_owned();
        assert!(plan.text().starts_with(&format!("{from}, ")), "{from}\n{plan}");
    }
}

#[test]
fn one_row_has_no_steepest_point() {
    let run = Desk::new().run("plan --bands 20 --rows 1").exit(0);
    assert!(!run.text().contains("steepest"), "{run}");
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run("plan --threshold 1.5 --registers 70000"), @"
    exit 2
    --- stderr
    minwise: `--threshold`: the threshold cannot be 1.5: it must be above 0 and at most 1
    minwise: `--registers`: the number of registers cannot be 70000: it must be from 1 to 65536
    ");
    insta::assert_snapshot!(desk.run("plan --threshold 0.1 --recall 0.999 --registers 16"), @"
    exit 2
    --- stderr
    minwise: `--recall`: no banding of 16 registers finds a pair at similarity 0.1 with probability 0.999: the best is 0.8147

    hint: `--registers 66` would be enough; so would `--recall 0.814`
    ");
    insta::assert_snapshot!(desk.run("plan --recall 1"), @"
    exit 2
    --- stderr
    minwise: `--recall`: the recall cannot be 1: it must be above 0 and below 1
    ");
    insta::assert_snapshot!(desk.run("plan --bands 20 --rows 7"), @"
    exit 2
    --- stderr
    minwise: `--bands`: 20 bands of 7 rows need 140 registers, but a sketch has 128

    hint: `--registers 140` would be enough
    ");
}

#[test]
fn a_wrong_option_is_reported_once() {
    let run = Desk::new().run("plan --registers none").exit(2);
    assert_eq!(run.err, "minwise: `--registers`: `none` is not a whole number\n");
}

/// Digest 04, 9: at 0.8 a quarter of a bit a register needs the fewest bits, at 0.5 one bit does.
#[test]
fn sketches_are_ranked_by_bytes() {
    let ranked = |options: &str| -> Vec<Value> {
        let run = Desk::new().run(&format!("plan --format json {options}")).exit(0);
        let plan: Value = serde_json::from_str(run.text()).unwrap();
        plan["sketches"].as_array().unwrap().clone()
    };
    for (options, least) in [("--threshold 0.8", "xor:2/minhash"), ("--threshold 0.5", "b-bit:1/minhash")] {
        let sketches = ranked(options);
        assert!(sketches.len() > 30);
        assert_eq!(sketches[0]["sketch"], least, "{options}");
        let bytes: Vec<f64> = sketches.iter().map(|sketch| sketch["bytes"].as_f64().unwrap()).collect();
        assert!(bytes.is_sorted(), "{bytes:?}");
    }
    // 0.8 · 0.2 / 0.02² registers of 4 bytes.
    let sketches = ranked("--threshold 0.8 --error 0.02");
    let minhash = sketches.iter().find(|sketch| sketch["sketch"] == "minhash").unwrap();
    assert_eq!((minhash["bytes"].as_f64(), minhash["bandable"].as_bool()), (Some(1600.0), Some(true)));
    Desk::new().run("plan --error 0").exit(2);
}
