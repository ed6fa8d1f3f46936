//! Tests `minwise plan`.

use minwise::filter::{ErrorBudget, Filter, Use, default_looks};
use minwise::sketch::Method;
use serde_json::{Value, json};

use crate::support::Desk;

#[test]
fn a_plan_for_people() {
    insta::assert_snapshot!(Desk::new().run("plan --threshold 0.8 --recall 0.99"), @"
    exit 0
    --- stdout
    bands       16 bands of 6 rows: 96 of 128 registers are used
    recall      a pair at similarity 0.8 is found with a probability of 99.23 %
    half point  a pair at similarity 0.59 is found with a probability of 50 %
    memory      up to 860 bytes per document, 512 of them for its sketch

    `--details` shows the S-curve and other sketches.
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
    // docs/sources/banding.md#threshold: twenty bands of five rows find 0.999644 of the pairs at 0.8.
    assert!((plan["recall_at_threshold"].as_f64().unwrap() - 0.999_644).abs() < 6e-7);
}

/// `dedup` uses the bands and rows that `plan` prints.
#[test]
fn dedup_follows_the_plan() {
    let desk = Desk::with("in.jsonl", "{\"text\":\"a\"}\n");
    for options in ["--threshold 0.5 --recall 0.9", "--threshold 0.95 --registers 200", "--bands 9 --rows 13"]
    {
        let plan = desk.run(&format!("plan {options}")).exit(0);
        let run = desk.run(&format!("dedup in.jsonl --dry-run {options}")).exit(0);
        let bands = run.summary("candidates");
        assert!(plan.text().starts_with(&format!("bands       {bands}: ")), "{bands}\n{plan}");
    }
}

/// Without `--details`, only the plan is printed. The curve and other sketches are details.
#[test]
fn details_are_shown_on_demand() {
    let desk = Desk::new();
    let short = desk.run("plan --threshold 0.8 --recall 0.99").exit(0).text().to_owned();
    assert!(short.lines().count() < 8 && !short.contains("take `"), "{short}");
    let long = desk.run("plan --threshold 0.8 --recall 0.99 --details").exit(0).text().to_owned();
    let answer = short.split_once("\n\n").unwrap().0;
    assert!(long.starts_with(answer), "{long}");
    for detail in [
        "\nDetails\nsteepest point    similarity 0.6122\n",
        "false candidates  21.9 of 100 pairs",
        "  1.0 |",
        "\n      0.80     0.992281\n",
        "\nwith this error, to find candidates, take `",
    ] {
        assert!(long.contains(detail), "{detail}\n{long}");
    }
}

#[test]
fn one_row_has_no_steepest_point() {
    let run = Desk::new().run("plan --bands 20 --rows 1 --details").exit(0);
    assert!(!run.text().contains("steepest"), "{run}");
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run("plan --threshold 1.5 --registers 70000"), @"
    exit 2
    --- stderr
    error: `--threshold`: the threshold cannot be 1.5: it must be above 0 and at most 1
    error: `--registers`: the number of registers cannot be 70,000: it must be from 1 to 65,536
    ");
    insta::assert_snapshot!(desk.run("plan --threshold 0.1 --recall 0.999 --registers 16"), @"
    exit 2
    --- stderr
    error: `--recall`: no banding of 16 registers finds a pair at similarity 0.1 with probability 0.999: the best is 0.8147

    hint: `--registers 66` would be enough; so would `--recall 0.814`
    ");
    insta::assert_snapshot!(desk.run("plan --recall 1"), @"
    exit 2
    --- stderr
    error: `--recall`: the recall cannot be 1: it must be above 0 and below 1

    hint: `--candidates sort-merge` of `dedup` and `pairs` finds every pair
    ");
    insta::assert_snapshot!(desk.run("plan --bands 20 --rows 7"), @"
    exit 2
    --- stderr
    error: `--bands`: 20 bands of 7 rows need 140 registers, but a sketch has 128

    hint: `--registers 140` would be enough
    ");
}

#[test]
fn a_wrong_option_is_reported_once() {
    let run = Desk::new().run("plan --registers none").exit(2);
    assert_eq!(run.err, "error: `--registers`: `none` is not a whole number\n");
}

fn plan(options: &str) -> Value {
    let run = Desk::new().run(&format!("plan --format json {options}")).exit(0);
    serde_json::from_str(run.text()).unwrap()
}

/// Returns a list of sketches of a plan.
fn sketches(plan: &Value, list: &str) -> Vec<Value> {
    plan[list].as_array().unwrap().clone()
}

/// Returns the sketch that an element of a list names.
fn method(sketch: &Value) -> Method {
    sketch["sketch"].as_str().unwrap().parse().unwrap()
}

/// docs/sources/bits.md#variance-times-stored-bits: at 0.8 a quarter of a bit per register needs the fewest bits, at
/// 0.5 one bit does.
#[test]
fn sketches_are_ranked_by_bytes() {
    for (options, least) in
        [("--threshold 0.8", "xor:2/minhash:2016"), ("--threshold 0.5", "b-bit:1/minhash:1884")]
    {
        let plan = plan(options);
        let sketches = sketches(&plan, "sketches");
        assert!(sketches.len() > 30);
        assert_eq!(sketches[0]["sketch"], least, "{options}");
        assert_eq!(plan["recommended"]["storage"]["sketch"], least);
        let bytes: Vec<u64> = sketches.iter().map(|sketch| sketch["bytes"].as_u64().unwrap()).collect();
        assert!(bytes.is_sorted(), "{bytes:?}");
    }
    Desk::new().run("plan --error 0").exit(2);
}

/// Every listed sketch can be parsed and made, has the error, and takes the stated bytes and hashes.
#[test]
fn sketches_are_whole_forms_of_real_size() {
    for (threshold, error) in [(0.8, 0.02), (0.5, 0.01), (0.9, 0.0015), (0.1, 0.3), (1.0, 0.1)] {
        let plan = plan(&format!("--threshold {threshold} --recall 0.5 --error {error}"));
        let (within, beyond) = (sketches(&plan, "sketches"), sketches(&plan, "out_of_reach"));
        assert_eq!(within.len() + beyond.len(), Method::kinds().len());
        for sketch in &within {
            let method = method(sketch);
            assert!(method.variance(threshold).sqrt() <= error, "{method} at {threshold}");
            assert_eq!(sketch["bytes"], method.size_bytes());
            assert_eq!(sketch["hashes_per_shingle"], method.hashes_per_shingle());
            assert_eq!(sketch["bandable"], method.bandable().is_some());
        }
        for sketch in &beyond {
            assert!(method(sketch).variance(threshold).sqrt() > error, "{sketch} at {threshold}");
        }
    }
}

#[test]
fn candidates_are_found_by_the_cheapest_that_can_be_banded() {
    let plan = plan("--error 0.05");
    let candidates = &plan["recommended"]["candidates"];
    let cost = |method: Method| (method.size_bytes(), method.hashes_per_shingle());
    let recommended = method(candidates);
    for other in sketches(&plan, "sketches").iter().map(method).filter(|other| other.bandable().is_some()) {
        assert!(cost(recommended) <= cost(other), "{recommended} {other}");
    }
    assert_eq!(
        candidates["reason"],
        "288 bytes and 1 hash per shingle: the fewest bytes of all kinds that can find candidates, and the fewest hashes for these bytes"
    );
    assert_eq!(plan["recommended"]["storage"]["reason"], "12 bytes, the fewest of all kinds");
}

/// A quarter of a bit per register takes the fewest bytes at 0.8, but is biased at low similarities. One bit per
/// register is not biased.
#[test]
fn a_recommended_sketch_that_is_biased_at_low_similarities_is_said_to_be() {
    let quarter = plan("--threshold 0.8");
    let below = quarter["recommended"]["storage"]["biased_below"].as_f64().unwrap();
    let sketch = method(&quarter["recommended"]["storage"]);
    assert!(sketch.bias(below).abs() > 0.02 && sketch.bias(below + 0.002).abs() <= 0.02, "{below}");
    assert_eq!(quarter["recommended"]["candidates"]["biased_below"], Value::Null);
    assert_eq!(plan("--threshold 0.5")["recommended"]["storage"]["biased_below"], Value::Null);
    let run = Desk::new().run("plan --threshold 0.8 --details").exit(0);
    let warning = format!(
        "warning: below similarity {below:.2}, estimates of `xor:2/minhash:2016` are off by more than 0.02 on average\n"
    );
    assert!(run.text().ends_with(&warning), "{run}");
    assert!(!Desk::new().run("plan --threshold 0.5 --details").exit(0).text().contains("warning"));
}

#[test]
fn an_error_that_no_sketch_has() {
    let plan = plan("--error 1e-9");
    assert_eq!(sketches(&plan, "sketches"), [Value::Null; 0]);
    assert_eq!(plan["recommended"], json!({"candidates": null, "storage": null}));
    let run = Desk::new().run("plan --details --error 1e-9").exit(0);
    assert!(
        run.text().contains("no kind of sketch reaches it at any size") && !run.text().contains("take `"),
        "{run}"
    );
}

/// The variances of a few kinds of sketches are unbounded near similarity 0, so a column may hold very large numbers.
#[test]
fn columns_hold_numbers_of_any_size() {
    let run = Desk::new().run("plan --details --threshold 0.02 --recall 0.5 --error 0.0006").exit(0);
    let lines: Vec<&str> = run.text().lines().collect();
    for title in ["sketch  ", "similarity  probability"] {
        let first = lines.iter().position(|line| line.starts_with(title)).unwrap();
        let table: Vec<usize> =
            lines[first..].iter().map_while(|line| (!line.is_empty()).then_some(line.len())).collect();
        assert!(table.len() > 10 && table.iter().all(|&width| width == table[0]), "{table:?}\n{run}");
    }
    assert!(lines.iter().any(|line| line.starts_with("xor:3/") && line.ends_with("above 1")), "{run}");
}

#[test]
fn the_filter_of_a_plan() {
    let run = Desk::new().run("plan --threshold 0.85 --filter --filter-error 1e-4 --registers 96").exit(0);
    let (_, filter) = run.text().split_once("filter:").unwrap();
    insta::assert_snapshot!(filter, @"
     wrongly rules out at most 1e-4 of the pairs at similarity 0.85

    all looks together wrongly rule out 8.89e-5 of these pairs, and no look more than 2.98e-5
    a look rejects (rules out) a pair if at most `m_lower` of the registers agree; it could accept a pair if at least `m_upper` agree
    `rejected` and `accepted` are shares of pairs whose similarities are spread evenly from 0 to 1

    registers  m_lower  m_upper  rejected  accepted
           16        6        -    0.4118    0.0000
           32       17        -    0.5455    0.0000
           48       28        -    0.5918    0.0000
           64       41       64    0.6462    0.0154
           80       53       79    0.6667    0.0247
           96       65       94    0.6804    0.0309

    registers compared per pair on average: `only rejected` if looks only reject pairs (as in `dedup` and `pairs`), `also accepted` if they also accept pairs

    similarity  rejected  only rejected  also accepted
           0.1  1.000000           16.0           16.0
           0.2  1.000000           16.4           16.4
           0.3  1.000000           18.8           18.8
           0.4  1.000000           24.3           24.3
           0.5  0.999875           34.6           34.6
           0.6  0.958190           55.7           55.7
           0.7  0.387380           86.4           86.4
           0.8  0.005731           95.9           95.9
          0.85  0.000089           96.0           96.0
           0.9  0.000001           96.0           95.9
             1  0.000000           96.0           64.0
    ");
}

/// Returns a number after a round trip through JSON, which may change its last digit.
fn as_read(number: f64) -> Value {
    serde_json::from_str(&json!(number).to_string()).unwrap()
}

/// The printed filter has the same looks and probabilities as the filter of the library.
#[test]
fn the_filter_for_programs() {
    let plan = plan("--filter --registers 200 --threshold 0.7");
    let filter = Filter::new(0.7, 200, &default_looks(200), ErrorBudget::Exact(1e-6)).unwrap();
    let shown = &plan["filter"];
    let looks = shown["looks"].as_array().unwrap();
    assert_eq!(looks.len(), filter.looks().len());
    for (shown, look) in looks.iter().zip(filter.looks()) {
        assert_eq!(shown["registers"], look.registers);
        assert_eq!((&shown["m_lower"], &shown["m_upper"]), (&json!(look.lower), &json!(look.upper)));
        assert_eq!(shown["rejection_rate"], as_read(look.rejection_rate()));
        assert_eq!(shown["acceptance_rate"], as_read(look.acceptance_rate()));
    }
    let pairs = shown["pairs"].as_array().unwrap();
    // The rows are the ten similarities 0.1 to 1.0. The threshold 0.7 is one of them, so no row is added for it.
    assert_eq!(pairs.len(), 10);
    for pair in pairs {
        let outcome = |purpose| filter.outcome(pair["similarity"].as_f64().unwrap(), purpose);
        assert_eq!(pair["rejected"], as_read(outcome(Use::Screen).rejected));
        assert_eq!(pair["registers_compared"], as_read(outcome(Use::Screen).comparisons));
        assert_eq!(pair["registers_compared_deciding"], as_read(outcome(Use::Decide).comparisons));
    }
    assert!(shown["error_at_threshold"].as_f64().unwrap() <= 1e-6);
    assert_eq!(shown["error_per_look"], as_read(filter.error_per_look()));
}

#[test]
fn filters_that_cannot_be_made() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run("plan --filter --filter-error 0.9 --error 0"), @"
    exit 2
    --- stderr
    error: `--error`: a standard error cannot be 0: it must be above 0 and at most 0.5
    error: `--filter-error`: the share cannot be 0.9: it must be from 1e-200 to 0.5
    ");
    insta::assert_snapshot!(desk.run("plan --filter --filter-error off"), @"
    exit 2
    --- stderr
    error: `--filter-error`: `off` is not a number
    ");
    insta::assert_snapshot!(desk.run("plan --filter --threshold 1"), @"
    exit 2
    --- stderr
    error: `--filter`: the threshold of the filter cannot be 1: it must be above 0 and below 1
    ");
    insta::assert_snapshot!(desk.run("plan --filter-error 0.1"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --filter

    Usage: minwise plan --filter --filter-error <E>

    hint: `--help` lists all options
    ");
    let run = desk.run("plan --filter --threshold 0.2 --registers 4 --bands 4 --rows 1").exit(0);
    assert!(run.text().ends_with("4 registers are too few for a filter: no pair is ruled out\n"), "{run}");
}
