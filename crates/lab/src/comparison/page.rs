//! The page: tables, fronts and two pictures.

use std::collections::BTreeMap;

use crate::concepts::File;
use crate::plot::{Axis, Chart, Point, Series};
use crate::table::{Cell, Table};

use super::contender::contenders;
use super::corpus::RealCorpus;
use super::{ComparisonOptions, Measured, RootMeanSquare, SIMILAR, SIZES};

/// Time budgets, in nanoseconds per shingle.
const BUDGETS: [f64; 6] = [10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0];
/// Sketches that are drawn, as many as have looks of their own.
const DRAWN: [&str; 7] = [
    "minhash",
    "one-permutation",
    "b-bit:1/minhash",
    "b-bit:1/one-permutation",
    "xor:2/minhash",
    "SetSketch",
    "HyperMinHash, 8 bits",
];

/// One sketch in one size, over all corpora.
struct Row<'a> {
    contender: &'a str,
    size: usize,
    /// By corpus.
    of: Vec<&'a Measured>,
}

/// Nanoseconds per shingle of a row, as a function of its own: a method is bound to one lifetime.
fn nanoseconds(row: &Row<'_>) -> f64 {
    row.nanoseconds()
}

impl Row<'_> {
    /// The root of the mean of the squares of all corpora, each counted alike.
    fn error(&self, of: fn(&Measured) -> RootMeanSquare) -> RootMeanSquare {
        let n = self.of.len() as f64;
        let value = (self.of.iter().map(|measured| of(measured).value.powi(2)).sum::<f64>() / n).sqrt();
        let variance: f64 = self
            .of
            .iter()
            .map(|measured| of(measured))
            .map(|rms| (rms.value * rms.standard_error / (n * value)).powi(2))
            .sum();
        RootMeanSquare { value, standard_error: variance.sqrt() }
    }

    /// Nanoseconds per shingle, on average over the corpora.
    fn nanoseconds(&self) -> f64 {
        self.of.iter().map(|measured| measured.nanoseconds).sum::<f64>() / self.of.len() as f64
    }
}

fn similar(measured: &Measured) -> RootMeanSquare {
    measured.similar
}

fn all(measured: &Measured) -> RootMeanSquare {
    measured.all
}

pub(super) fn files(corpora: &[RealCorpus], measured: &[Measured], options: ComparisonOptions) -> Vec<File> {
    let mut grouped: BTreeMap<(usize, usize), Vec<&Measured>> = BTreeMap::new();
    let names: Vec<String> = contenders(1024).into_iter().map(|contender| contender.name).collect();
    for one in measured {
        let at = names.iter().position(|name| *name == one.contender).unwrap_or(names.len());
        grouped.entry((at, one.size)).or_default().push(one);
    }
    let rows: Vec<Row<'_>> = grouped
        .into_iter()
        .map(|((at, size), mut of)| {
            of.sort_by_key(|measured| measured.corpus);
            Row { contender: &names[at], size, of }
        })
        .collect();
    let [by_bytes, by_time] = pictures(&rows, options);
    vec![
        File { path: "comparison.md".to_owned(), content: page(corpora, &names, &rows, options) },
        File { path: "comparison/errors.csv".to_owned(), content: csv(corpora, measured) },
        File { path: "comparison/bytes.svg".to_owned(), content: by_bytes.svg() },
        File { path: "comparison/time.svg".to_owned(), content: by_time.svg() },
    ]
}

fn page(corpora: &[RealCorpus], names: &[String], rows: &[Row<'_>], options: ComparisonOptions) -> String {
    let mut data =
        Table::new("data", "", &["corpus", "documents", "shingles per document", "pairs", "similar pairs"]);
    for corpus in corpora {
        let shingles: usize = corpus.documents.iter().map(Vec::len).sum();
        data.push(vec![
            format!("`{}`", corpus.name).into(),
            corpus.documents.len().into(),
            (shingles / corpus.documents.len().max(1)).into(),
            corpus.pairs.len().into(),
            corpus.pairs.iter().filter(|pair| pair.similarity >= SIMILAR).count().into(),
        ]);
    }
    format!(
        "# All sketches at equal bytes and at equal time\n\n\
         <!-- Written by `minwise-lab comparison --data DIR --output docs/concepts`. Change `crates/lab/src/comparison/page.rs` instead. -->\n\n\
         Which sketch has the least error for its bytes, and for the time that it takes? Every sketch that estimates the Jaccard similarity was made of real documents, in the largest size that \
         fits into 16 to 1024 bytes, and its estimates were compared with the exact similarity. Sketches whose names are code are the library's; `minwise plan` and [sketches](sketches.md) have \
         the formulas for them. C-MinHash, SetSketch, HyperMinHash and ProbMinHash are not part of the library. They are implemented in the lab, in plain code without kernels for vector \
         instructions, so that their times compare with each other but not with the library's.\n\n\
         [sectional](sectional.md) sketches are not here, because they estimate another quantity.\n\n\
         ## Data\n\n\
         Three corpora of real text; shingles of five words. Pairs were chosen so that all similarities occur: at most {pairs} of each tenth, none of equal documents, from documents of 50 to 2000 \
         shingles. Each sketch has {seeds} seeds. An error is the root of the mean square of estimate − exact over seeds and pairs, and over the three corpora alike.\n\n{data}\n\
         ## Error at equal bytes, similar pairs\n\n\
         Pairs with a similarity of {SIMILAR} or more. The least error of a column is bold, and so is every error within two standard errors of it. A dash: the kind has no sketch of that size.\n\n{by_bytes}\n\
         ![Error against bytes](comparison/bytes.svg)\n\n\
         ## Error at equal bytes, all pairs\n\n\
         Of all tenths of similarity, as many pairs each as there are.\n\n{all_pairs}\n\
         ## Error at equal time, similar pairs\n\n\
         The least error of each kind among its sizes of up to 1024 bytes whose sketches take at most so many nanoseconds per shingle, on one core of the machine that made this page. Times \
         depend on the machine. A dash: no size is so fast.\n\n{by_time}\n\
         ![Error against time](comparison/time.svg)\n\n\
         ## The Pareto front\n\n\
         Sketches that no other beats: every other one has a greater error on similar pairs, or takes more bytes (first table) or more time (second).\n\n{front_bytes}\n{front_time}\n\
         ## What else they can do\n\n{abilities}\n\
         All values by corpus are in [errors.csv](comparison/errors.csv).\n",
        pairs = options.pairs,
        seeds = options.seeds,
        data = data.markdown(),
        by_bytes = error_table(names, rows, similar).markdown(),
        all_pairs = error_table(names, rows, all).markdown(),
        by_time = time_table(names, rows).markdown(),
        front_bytes = front(rows, "bytes", |row| row.size as f64).markdown(),
        front_time = front(rows, "ns per shingle", nanoseconds).markdown(),
        abilities = abilities().markdown(),
    )
}

/// Cells of a column, the least and those that are not clearly above it in bold.
fn marked(column: &[Option<RootMeanSquare>]) -> Vec<Cell> {
    let least = column
        .iter()
        .flatten()
        .copied()
        .min_by(|a, b| a.value.total_cmp(&b.value))
        .unwrap_or(RootMeanSquare { value: 0.0, standard_error: 0.0 });
    let cell = |error: &Option<RootMeanSquare>| match error {
        None => "–".to_owned(),
        Some(error) => {
            let apart = 2.0 * error.standard_error.hypot(least.standard_error);
            let text = format!("{:.4}", error.value);
            if error.value - least.value <= apart { format!("**{text}**") } else { text }
        }
    };
    column.iter().map(|error| cell(error).into()).collect()
}

fn error_table(names: &[String], rows: &[Row<'_>], of: fn(&Measured) -> RootMeanSquare) -> Table {
    let heads: Vec<String> =
        std::iter::once("sketch".to_owned()).chain(SIZES.map(|size| format!("{size} bytes"))).collect();
    let columns: Vec<Vec<Cell>> = SIZES
        .iter()
        .map(|&size| {
            let at = |name: &String| rows.iter().find(|row| row.contender == name && row.size == size);
            marked(&names.iter().map(|name| at(name).map(|row| row.error(of))).collect::<Vec<_>>())
        })
        .collect();
    table_of(&heads, names, &columns)
}

fn time_table(names: &[String], rows: &[Row<'_>]) -> Table {
    let heads: Vec<String> =
        std::iter::once("sketch".to_owned()).chain(BUDGETS.map(|budget| format!("{budget} ns"))).collect();
    let columns: Vec<Vec<Cell>> = BUDGETS
        .iter()
        .map(|&budget| {
            let best = |name: &String| {
                let fast = rows.iter().filter(|row| row.contender == name && row.nanoseconds() <= budget);
                fast.map(|row| row.error(similar)).min_by(|a, b| a.value.total_cmp(&b.value))
            };
            marked(&names.iter().map(best).collect::<Vec<_>>())
        })
        .collect();
    table_of(&heads, names, &columns)
}

fn table_of(heads: &[String], names: &[String], columns: &[Vec<Cell>]) -> Table {
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new("errors", "", &heads);
    for (at, name) in names.iter().enumerate() {
        let cells = columns.iter().map(|column| column[at].clone());
        table.push(std::iter::once(Cell::from(format!("`{name}`"))).chain(cells).collect());
    }
    table
}

/// Rows that no other row beats in error and cost, the cheapest first.
fn front(rows: &[Row<'_>], head: &str, cost: fn(&Row<'_>) -> f64) -> Table {
    let mut table = Table::new("front", "", &[head, "sketch", "size", "error", "standard error"]);
    let mut sorted: Vec<(&Row<'_>, RootMeanSquare)> =
        rows.iter().map(|row| (row, row.error(similar))).collect();
    sorted.sort_by(|a, b| cost(a.0).total_cmp(&cost(b.0)).then(a.1.value.total_cmp(&b.1.value)));
    let mut least = f64::INFINITY;
    for (row, error) in sorted {
        if error.value < least {
            least = error.value;
            table.push(vec![
                ((cost(row) * 10.0).round() / 10.0).to_string().into(),
                format!("`{}`", row.of.first().map_or("", |measured| measured.form.as_str())).into(),
                format!("{} bytes", row.of.first().map_or(0, |measured| measured.bytes)).into(),
                format!("{:.4}", error.value).into(),
                format!("{:.4}", error.standard_error).into(),
            ]);
        }
    }
    table
}

fn abilities() -> Table {
    let mut table =
        Table::new("abilities", "", &["sketch", "bands", "hash values per shingle, at 256 bytes"]);
    for contender in contenders(256) {
        table.push(vec![
            format!("`{}`", contender.name).into(),
            if contender.bands { "yes" } else { "no" }.into(),
            contender.hashes.into(),
        ]);
    }
    table
}

fn csv(corpora: &[RealCorpus], measured: &[Measured]) -> String {
    let mut table = Table::new(
        "errors",
        "",
        &[
            "corpus",
            "sketch",
            "size",
            "bytes",
            "error of similar pairs",
            "standard error",
            "error of all pairs",
            "standard error ",
            "ns per shingle",
        ],
    );
    let mut sorted: Vec<&Measured> = measured.iter().collect();
    sorted.sort_by(|a, b| (a.corpus, &a.contender, a.size).cmp(&(b.corpus, &b.contender, b.size)));
    for one in sorted {
        table.push(vec![
            corpora[one.corpus].name.into(),
            one.form.as_str().into(),
            one.size.into(),
            one.bytes.into(),
            one.similar.value.into(),
            one.similar.standard_error.into(),
            one.all.value.into(),
            one.all.standard_error.into(),
            one.nanoseconds.into(),
        ]);
    }
    table.csv()
}

fn pictures(rows: &[Row<'_>], options: ComparisonOptions) -> [Chart; 2] {
    let series = |x: fn(&Row<'_>) -> f64| -> Vec<Series> {
        DRAWN
            .iter()
            .map(|name| {
                let mut points: Vec<Point> = rows
                    .iter()
                    .filter(|row| row.contender == *name)
                    .map(|row| {
                        let error = row.error(similar);
                        let reach = 2.0 * error.standard_error;
                        Point {
                            x: x(row),
                            y: error.value,
                            error: Some((error.value - reach, error.value + reach)),
                        }
                    })
                    .collect();
                points.sort_by(|a, b| a.x.total_cmp(&b.x));
                Series {
                    label: (*name).to_owned(),
                    line: points.iter().map(|p| (p.x, p.y)).collect(),
                    points,
                }
            })
            .collect()
    };
    let chart = |title: &str, x: Axis, series: Vec<Series>| Chart {
        title: title.to_owned(),
        description:
            "One curve per sketch; the lower, the better. The tables have all sketches and all values."
                .to_owned(),
        note: format!(
            "Errors of {} seeds on pairs of similarity {SIMILAR} or more. Bars: two standard errors on either side.",
            options.seeds
        ),
        x,
        y: Axis::log("error"),
        series,
    };
    [
        chart("Error against bytes", Axis::log("bytes"), series(|row| row.size as f64)),
        chart("Error against time", Axis::log("nanoseconds per shingle"), series(nanoseconds)),
    ]
}
