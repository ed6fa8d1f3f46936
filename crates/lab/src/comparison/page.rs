//! Writes the page: tables, Pareto fronts and two charts.

use std::collections::BTreeMap;

use crate::concepts::File;
use crate::plot::{Axis, Chart, Point, Series};
use crate::table::{Cell, Table};

use super::contender::contenders;
use super::corpus::RealCorpus;
use super::{ComparisonOptions, Measured, RootMeanSquare, SIMILAR, SIZES, UNLIKE};

/// Time budgets in nanoseconds per shingle.
const BUDGETS: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
/// Bias on unlike pairs from which the summary names a sketch.
const BIASED: f64 = 0.05;
/// Size in bytes for the table with the errors of all corpora side by side.
const OVERVIEW: usize = 256;
/// Sketches of the chart of bytes. There are only seven, because a chart has seven line styles.
const DRAWN: [&str; 7] = [
    "minhash",
    "one-permutation",
    "b-bit:1/minhash",
    "b-bit:1/one-permutation",
    "xor:2/minhash",
    "SetSketch, 8 bits",
    "HyperMinHash, 8 bits",
];
/// Sketches of the chart of time. All of them are sketches of the library, because times of its kernels do not compare
/// with times of plain code. The first five are those of [`DRAWN`], so that a kind has one style in both charts.
const DRAWN_BY_TIME: [&str; 7] =
    [DRAWN[0], DRAWN[1], DRAWN[2], DRAWN[3], DRAWN[4], "super-minhash", "bottom-k"];

/// Kind of sketch.
struct KindName {
    name: String,
    is_of_library: bool,
}

impl KindName {
    /// Returns the name as a cell, as code if it is a text form of the library.
    fn cell(&self) -> Cell {
        self.written(&self.name).into()
    }

    fn written(&self, text: &str) -> String {
        if self.is_of_library { format!("`{text}`") } else { text.to_owned() }
    }
}

/// Sketch in one size, measured on all corpora.
struct Row<'a> {
    kind: &'a KindName,
    size: usize,
    /// Measurements of this sketch, one per corpus.
    of: Vec<&'a Measured>,
}

/// Returns the nanoseconds per shingle of a row. The method cannot be passed as a function, because it is bound to one
/// lifetime.
fn nanoseconds(row: &Row<'_>) -> f64 {
    row.nanoseconds()
}

impl Row<'_> {
    /// Returns the root of the mean square error over all corpora, each with the same weight.
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

    /// Returns the text form or the parameters, as code if it is a sketch of the library.
    fn form(&self) -> String {
        self.kind.written(self.of.first().map_or("", |measured| measured.form.as_str()))
    }

    /// Returns the error on one corpus.
    fn on(&self, corpus: usize, of: fn(&Measured) -> RootMeanSquare) -> Option<RootMeanSquare> {
        self.of.iter().find(|measured| measured.corpus == corpus).map(|measured| of(measured))
    }

    /// Returns the mean nanoseconds per shingle over the corpora.
    fn nanoseconds(&self) -> f64 {
        self.mean(|measured| measured.nanoseconds)
    }

    /// Returns the mean of a value over the corpora.
    fn mean(&self, of: fn(&Measured) -> f64) -> f64 {
        self.of.iter().map(|measured| of(measured)).sum::<f64>() / self.of.len() as f64
    }
}

fn similar(measured: &Measured) -> RootMeanSquare {
    measured.similar
}

fn all(measured: &Measured) -> RootMeanSquare {
    measured.all
}

pub(super) fn files(corpora: &[RealCorpus], measured: &[Measured], options: &ComparisonOptions) -> Vec<File> {
    let mut grouped: BTreeMap<(usize, usize), Vec<&Measured>> = BTreeMap::new();
    let names: Vec<KindName> = contenders(1024)
        .into_iter()
        .map(|contender| KindName { name: contender.name, is_of_library: contender.is_of_library })
        .collect();
    for one in measured {
        let at = names.iter().position(|kind| kind.name == one.contender).unwrap_or(names.len());
        grouped.entry((at, one.size)).or_default().push(one);
    }
    let rows: Vec<Row<'_>> = grouped
        .into_iter()
        .map(|((at, size), mut of)| {
            of.sort_by_key(|measured| measured.corpus);
            Row { kind: &names[at], size, of }
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

fn page(corpora: &[RealCorpus], names: &[KindName], rows: &[Row<'_>], options: &ComparisonOptions) -> String {
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
         instructions, so that their times compare with each other but not with the library's; times of the two groups are in tables of their own.\n\n\
         Some kinds are left out. [sectional](sectional.md) sketches estimate another quantity. `bit-hash` has the bits of `b-bit:1/minhash`. The variants of a kind \
         (`one-permutation,rotation`, `one-permutation,raw`, `fractional,pooled`, `three-quarter,paper`, other hash families of `minhash`) differ little from it, and [sketches](sketches.md) has them.\n\n\
         ## In short\n\n{summary}\n\
         ## Data\n\n\
         Three corpora of real text; shingles of five words. Pairs were chosen so that all similarities occur: at most {pairs} of each tenth, none of equal documents, from documents of 50 to 2000 \
         shingles. Each sketch has {seeds} seeds. An error is the root of the mean square of estimate − exact over seeds and pairs, and over the three corpora alike.\n\n\
         Standard errors are from the scatter between seeds: they state how far the error would move with other seeds, and not with other documents. Bars of the charts are two standard errors on \
         either side, and two errors of a table count as equal if they differ by at most two standard errors of their difference. Times have neither bars nor intervals: each is the least of all seeds.\n\n\
         Documents have some hundred shingles. From 256 bytes on, sketches that draw without replacement (`one-permutation`, `super-minhash`, `fast-similarity`, `bottom-k`, HyperMinHash) are \
         better here than their formulas for long documents: they have nearly as many registers as there are shingles. In documents of many thousand shingles they lose this advantage.\n\n{data}\n\
         ## Error at equal bytes, similar pairs\n\n\
         Pairs with a similarity of {SIMILAR} or more. The least error of a column is bold, and so is every error within two standard errors of it. A dash: the kind has no sketch of that size.\n\n{by_bytes}\n\
         ![Error against bytes](comparison/bytes.svg)\n\n\
         The chart has seven kinds. Each point is an error of the table above, and its bar is two standard errors on either side.\n\n\
         ## Error at equal bytes, all pairs\n\n\
         Of all tenths of similarity, as many pairs each as there are.\n\n{all_pairs}\n\
         ## All corpora at once\n\n\
         Errors of sketches of {OVERVIEW} bytes on similar pairs, by corpus and over all three. The rank of a sketch is its place by error among all {sketches}, 1 for the least; a kind that \
         has no sketch of a size has the last rank. Ranks are means over the three corpora, at {OVERVIEW} bytes and over all sizes. The last but one column is the mean rank over all sizes with \
         errors of all pairs. The last column is the mean of estimate − exact on unlike pairs, below {UNLIKE}: an estimator that is good near 1 may take unlike documents for similar ones, and \
         [sketches](sketches.md) has the formulas of such biases. Sketches are in the order of the mean rank over all sizes.\n\n{overview}\n\
         ## Error at equal time, similar pairs\n\n\
         The least error of each kind among its sizes whose sketches take at most so many nanoseconds per shingle: time of one thread on the processor, the least of all seeds. Sizes are those of the \
         other tables and, for sketches that are fast enough, 2 to 16 KiB (4 KiB for those of the lab). This page was made on {machine}. A dash: no size is so fast.\n\nThe library's sketches:\n\n{by_time}\n\
         The plain ones of the lab:\n\n{by_time_of_lab}\n\
         ![Error against time](comparison/time.svg)\n\n\
         The chart has seven kinds of the library, each in all sizes, and no plain ones. The bar of a point is two standard errors of its error on either side.\n\n\
         ## The Pareto front\n\n\
         Sketches that no other beats: every other one has a greater error, or takes more bytes. Other kinds of the same bytes whose error is within two standard errors are \
         named beside them.\n\nSimilar pairs:\n\n{front_bytes}\nAll pairs:\n\n{front_all}\n\
         The library's sketches that no other of the library beats: every other one has a greater error on similar pairs, or takes more time.\n\n{front_time}\n\
         ## What else they can do\n\n\
         The time of a comparison is that of one estimate; for sketches of the library, with its 95 % interval.\n\n{abilities}\n\
         Some of those with one hash value (`super-minhash`, ProbMinHash, SetSketch) draw more numbers for the first shingles of a document: about m ln m in all, for m registers.\n\n\
         All values by corpus are in [errors.csv](comparison/errors.csv).\n",
        summary = summary(rows),
        machine = options.machine,
        pairs = options.pairs,
        seeds = options.seeds,
        data = data.markdown(),
        by_bytes = error_table(names, rows, similar).markdown(),
        all_pairs = error_table(names, rows, all).markdown(),
        sketches = names.len(),
        overview = overview(corpora, names, rows).markdown(),
        by_time = time_table(names, rows, true).markdown(),
        by_time_of_lab = time_table(names, rows, false).markdown(),
        front_bytes = front_of_bytes(rows, similar).markdown(),
        front_all = front_of_bytes(rows, all).markdown(),
        front_time = front_of_time(rows).markdown(),
        abilities = abilities(names, rows).markdown(),
    )
}

/// Formats the cells of a column. The least error, and every error that is not clearly above it, is bold.
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
            let text = format!("{:.4}", error.value);
            if is_apart(*error, least) { text } else { format!("**{text}**") }
        }
    };
    column.iter().map(|error| cell(error).into()).collect()
}

fn error_table(names: &[KindName], rows: &[Row<'_>], of: fn(&Measured) -> RootMeanSquare) -> Table {
    let heads: Vec<String> =
        std::iter::once("sketch".to_owned()).chain(SIZES.map(|size| format!("{size} bytes"))).collect();
    let columns: Vec<Vec<Cell>> = SIZES
        .iter()
        .map(|&size| {
            let at = |name: &KindName| rows.iter().find(|row| row.kind.name == name.name && row.size == size);
            marked(&names.iter().map(|name| at(name).map(|row| row.error(of))).collect::<Vec<_>>())
        })
        .collect();
    table_of(&heads, &names.iter().collect::<Vec<_>>(), &columns)
}

/// Returns a table of errors by corpus and over all corpora, with mean ranks, the best sketch first.
fn overview(corpora: &[RealCorpus], names: &[KindName], rows: &[Row<'_>]) -> Table {
    let mut heads = vec!["sketch"];
    heads.extend(corpora.iter().map(|corpus| corpus.name));
    heads.extend(["all three", "rank", "rank, all sizes", "rank, all sizes and pairs", "bias, unlike pairs"]);
    let mut table = Table::new("overview", "", &heads);
    let [here, similar_ranks, all_ranks] = [
        mean_ranks(corpora.len(), names, rows, &[OVERVIEW], similar),
        mean_ranks(corpora.len(), names, rows, &SIZES, similar),
        mean_ranks(corpora.len(), names, rows, &SIZES, all),
    ];
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| similar_ranks[a].total_cmp(&similar_ranks[b]));
    let errors: Vec<Vec<Option<RootMeanSquare>>> = order
        .iter()
        .map(|&at| {
            let row = row_of(names, rows, at, OVERVIEW);
            let by_corpus = (0..corpora.len()).map(|corpus| row.and_then(|row| row.on(corpus, similar)));
            by_corpus.chain([row.map(|row| row.error(similar))]).collect()
        })
        .collect();
    let columns: Vec<Vec<Cell>> = (0..=corpora.len())
        .map(|column| marked(&errors.iter().map(|errors| errors[column]).collect::<Vec<_>>()))
        .collect();
    for (place, &at) in order.iter().enumerate() {
        let cells = columns.iter().map(|column| column[place].clone());
        let ranks = [&here, &similar_ranks, &all_ranks].map(|ranks| Cell::from(format!("{:.1}", ranks[at])));
        let bias = row_of(names, rows, at, OVERVIEW).map(|row| row.mean(|measured| measured.bias));
        let bias = bias.map_or_else(|| "–".to_owned(), |bias| format!("{bias:+.3}"));
        table
            .push(std::iter::once(names[at].cell()).chain(cells).chain(ranks).chain([bias.into()]).collect());
    }
    table
}

fn row_of<'a, 'b>(names: &[KindName], rows: &'a [Row<'b>], at: usize, size: usize) -> Option<&'a Row<'b>> {
    rows.iter().find(|row| row.kind.name == names[at].name && row.size == size)
}

/// Returns the mean rank of each sketch by error, over corpora and sizes. A missing sketch has the last rank.
fn mean_ranks(
    corpora: usize,
    names: &[KindName],
    rows: &[Row<'_>],
    sizes: &[usize],
    of: fn(&Measured) -> RootMeanSquare,
) -> Vec<f64> {
    let mut sums = vec![0.0; names.len()];
    for &size in sizes {
        for corpus in 0..corpora {
            let error = |at: usize| {
                row_of(names, rows, at, size)
                    .and_then(|row| row.on(corpus, of))
                    .map_or(f64::INFINITY, |error| error.value)
            };
            let errors: Vec<f64> = (0..names.len()).map(error).collect();
            for (sum, own) in sums.iter_mut().zip(&errors) {
                // Equal errors have equal ranks. A missing sketch has all others before it.
                let before = if own.is_finite() {
                    errors.iter().filter(|error| *error < own).count()
                } else {
                    names.len() - 1
                };
                *sum += before as f64 + 1.0;
            }
        }
    }
    sums.iter().map(|sum| sum / (sizes.len() * corpora) as f64).collect()
}

/// Returns the table of least errors per time budget, for the sketches of the library or the sketches of the lab.
fn time_table(names: &[KindName], rows: &[Row<'_>], of_library: bool) -> Table {
    let names: Vec<&KindName> = names.iter().filter(|kind| kind.is_of_library == of_library).collect();
    let heads: Vec<String> =
        std::iter::once("sketch".to_owned()).chain(BUDGETS.map(|budget| format!("{budget} ns"))).collect();
    let columns: Vec<Vec<Cell>> = BUDGETS
        .iter()
        .map(|&budget| {
            let best = |kind: &&KindName| {
                let fast =
                    rows.iter().filter(|row| row.kind.name == kind.name && row.nanoseconds() <= budget);
                fast.map(|row| row.error(similar)).min_by(|a, b| a.value.total_cmp(&b.value))
            };
            marked(&names.iter().map(best).collect::<Vec<_>>())
        })
        .collect();
    table_of(&heads, &names, &columns)
}

fn table_of(heads: &[String], names: &[&KindName], columns: &[Vec<Cell>]) -> Table {
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new("errors", "", &heads);
    for (at, name) in names.iter().enumerate() {
        let cells = columns.iter().map(|column| column[at].clone());
        table.push(std::iter::once(name.cell()).chain(cells).collect());
    }
    table
}

/// Returns the Pareto front: rows that no other row beats in both error and cost, the cheapest first.
fn front<'a, 'b>(
    rows: impl Iterator<Item = &'a Row<'b>>,
    of: fn(&Measured) -> RootMeanSquare,
    cost: fn(&Row<'_>) -> f64,
) -> Vec<(&'a Row<'b>, RootMeanSquare)>
where
    'b: 'a,
{
    let mut sorted: Vec<(&Row<'_>, RootMeanSquare)> = rows.map(|row| (row, row.error(of))).collect();
    sorted.sort_by(|a, b| cost(a.0).total_cmp(&cost(b.0)).then(a.1.value.total_cmp(&b.1.value)));
    let mut least = f64::INFINITY;
    sorted.retain(|(_, error)| {
        let is_less = error.value < least;
        least = least.min(error.value);
        is_less
    });
    sorted
}

/// Returns the Pareto front of error and bytes as a table, with the other kinds of the same size whose error is not
/// clearly greater.
fn front_of_bytes(rows: &[Row<'_>], of: fn(&Measured) -> RootMeanSquare) -> Table {
    let heads = ["bytes", "sketch", "error", "standard error", "within two standard errors of it"];
    let mut table = Table::new("front", "", &heads);
    for (row, error) in front(of_sizes(rows), of, |row| row.size as f64) {
        let is_near = |other: &&Row<'_>| {
            other.size == row.size && other.kind.name != row.kind.name && !is_apart(other.error(of), error)
        };
        let near: Vec<String> =
            rows.iter().filter(is_near).map(|other| other.kind.written(&other.kind.name)).collect();
        table.push(vec![
            row.size.into(),
            row.form().into(),
            format!("{:.4}", error.value).into(),
            format!("{:.4}", error.standard_error).into(),
            if near.is_empty() { "–".into() } else { near.join(", ").into() },
        ]);
    }
    table
}

/// Returns the Pareto front of error and time as a table, for the sketches of the library.
fn front_of_time(rows: &[Row<'_>]) -> Table {
    let mut table = Table::new("front", "", &["ns per shingle", "sketch", "size", "error", "standard error"]);
    let of_library = rows.iter().filter(|row| row.kind.is_of_library);
    for (row, error) in front(of_library, similar, nanoseconds) {
        table.push(vec![
            format!("{:.1}", row.nanoseconds()).into(),
            row.form().into(),
            format!("{} bytes", row.of.first().map_or(0, |measured| measured.bytes)).into(),
            format!("{:.4}", error.value).into(),
            format!("{:.4}", error.standard_error).into(),
        ]);
    }
    table
}

/// Reports whether an error exceeds another by more than two standard errors.
fn is_apart(error: RootMeanSquare, least: RootMeanSquare) -> bool {
    error.value - least.value > 2.0 * error.standard_error.hypot(least.standard_error)
}

fn abilities(names: &[KindName], rows: &[Row<'_>]) -> Table {
    let heads = [
        "sketch",
        "bands",
        "hash values per shingle of a long document, at 256 bytes",
        "ns per comparison, at 256 bytes",
    ];
    let mut table = Table::new("abilities", "", &heads);
    for contender in contenders(OVERVIEW) {
        let at = names.iter().position(|kind| kind.name == contender.name);
        let row = at.and_then(|at| row_of(names, rows, at, OVERVIEW));
        let time = row.map(|row| row.mean(|measured| measured.per_comparison));
        table.push(vec![
            KindName { name: contender.name, is_of_library: contender.is_of_library }.cell(),
            if contender.bands { "yes" } else { "no" }.into(),
            contender.hashes.into(),
            time.map_or_else(|| "–".to_owned(), |time| format!("{time:.0}")).into(),
        ]);
    }
    table
}

/// Returns the rows of the sizes that are compared at equal bytes.
fn of_sizes<'a, 'b>(rows: &'a [Row<'b>]) -> impl Iterator<Item = &'a Row<'b>> {
    rows.iter().filter(|row| SIZES.contains(&row.size))
}

/// Returns the best kinds by bytes and by time, as sentences.
fn summary(rows: &[Row<'_>]) -> String {
    let by_bytes = |of: fn(&Measured) -> RootMeanSquare| {
        let best = |&size: &usize| {
            let row = best_of(rows.iter().filter(|row| row.size == size), of);
            row.map(|row| (row.kind.written(&row.kind.name), size as f64))
        };
        runs(&SIZES.iter().filter_map(best).collect::<Vec<_>>(), "bytes")
    };
    let at_time = |&budget: &f64| {
        let fast = rows.iter().filter(|row| row.kind.is_of_library && nanoseconds(row) <= budget);
        best_of(fast, similar).map(|row| (row.kind.written(&row.kind.name), budget))
    };
    let by_time = runs(&BUDGETS.iter().filter_map(at_time).collect::<Vec<_>>(), "ns");
    let biased: Vec<String> = rows
        .iter()
        .filter(|row| row.size == OVERVIEW)
        .map(|row| (row, row.mean(|measured| measured.bias)))
        .filter(|(_, bias)| bias.abs() >= BIASED)
        .map(|(row, bias)| format!("{} by {bias:+.2}", row.kind.written(&row.kind.name)))
        .collect();
    let biased = if biased.is_empty() {
        format!("no kind is biased by {BIASED} or more on pairs below {UNLIKE}")
    } else {
        format!("on pairs below {UNLIKE}, estimates are biased: {}", biased.join(", "))
    };
    format!(
        "- Similar pairs at equal bytes: the least error has {}.\n\
         - All pairs at equal bytes: the least error has {}.\n\
         - Similar pairs at equal time, of the library's sketches: the least error has {}.\n\
         - At {OVERVIEW} bytes, {biased}. A sketch with a large bias is good for pairs that are known to be similar, and for no others.\n\n\
         Other kinds may be within two standard errors of the least; the Pareto fronts name them.\n",
        by_bytes(similar),
        by_bytes(all),
        by_time,
    )
}

fn best_of<'a, 'b>(
    rows: impl Iterator<Item = &'a Row<'b>>,
    of: fn(&Measured) -> RootMeanSquare,
) -> Option<&'a Row<'b>>
where
    'b: 'a,
{
    rows.min_by(|a, b| a.error(of).value.total_cmp(&b.error(of).value))
}

/// Joins neighbours of equal name: `a` at 16 to 64 bytes, `b` at 128 bytes.
fn runs(best: &[(String, f64)], unit: &str) -> String {
    let parts = best.chunk_by(|a, b| a.0 == b.0).map(|run| match run {
        [(name, at)] => format!("{name} at {at} {unit}"),
        run => format!("{} at {} to {} {unit}", run[0].0, run[0].1, run[run.len() - 1].1),
    });
    parts.collect::<Vec<_>>().join(", ")
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
            "bias on unlike pairs",
            "ns per shingle",
            "ns per comparison",
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
            one.bias.into(),
            one.nanoseconds.into(),
            one.per_comparison.into(),
        ]);
    }
    table.csv()
}

fn pictures(rows: &[Row<'_>], options: &ComparisonOptions) -> [Chart; 2] {
    let series = |rows: &[&Row<'_>], drawn: [&str; 7], x: fn(&Row<'_>) -> f64| -> Vec<Series> {
        drawn
            .iter()
            .map(|name| {
                let mut points: Vec<Point> = rows
                    .iter()
                    .filter(|row| row.kind.name == *name)
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
    let chart = |title: &str, x: Axis, series: Vec<Series>, more: &str| Chart {
        title: title.to_owned(),
        description:
            "One curve per sketch; the lower, the better. The tables have all sketches and all values."
                .to_owned(),
        note: format!(
            "Errors of {} seeds on pairs of similarity {SIMILAR} or more. Bars: two standard errors on either side.{more}",
            options.seeds
        ),
        x,
        y: Axis::log("error"),
        series,
    };
    let by_bytes = series(&of_sizes(rows).collect::<Vec<_>>(), DRAWN, |row| row.size as f64);
    let by_time = series(&rows.iter().collect::<Vec<_>>(), DRAWN_BY_TIME, nanoseconds);
    [
        chart("Error against bytes", Axis::log("bytes"), by_bytes, ""),
        chart(
            "Error against time, sketches of the library",
            Axis::log("nanoseconds per shingle"),
            by_time,
            " Times are of the fastest seed and have no bars.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(corpus: usize, contender: &str, size: usize, error: f64) -> Measured {
        let error = RootMeanSquare { value: error, standard_error: 0.0 };
        Measured {
            corpus,
            contender: contender.to_owned(),
            form: contender.to_owned(),
            size,
            bytes: size,
            similar: error,
            all: error,
            bias: if contender == "a" { 0.2 } else { 0.0 },
            nanoseconds: size as f64 / 16.0,
            per_comparison: 1.0,
        }
    }

    /// Sketches are ranked per corpus and size. Equal errors share a rank, and a missing sketch is last.
    #[test]
    fn ranks_are_means_over_corpora_and_sizes() {
        let names = ["a", "b", "c"].map(|name| KindName { name: name.to_owned(), is_of_library: true });
        let all = [
            measured(0, "a", 16, 0.1),
            measured(1, "a", 16, 0.3),
            measured(0, "b", 16, 0.2),
            measured(1, "b", 16, 0.1),
            measured(0, "a", 32, 0.1),
            measured(1, "a", 32, 0.1),
            measured(0, "b", 32, 0.1),
            measured(1, "b", 32, 0.2),
            measured(0, "c", 32, 0.3),
            measured(1, "c", 32, 0.05),
        ];
        let row = |at: usize, size: usize| Row {
            kind: &names[at],
            size,
            of: all.iter().filter(|one| one.contender == names[at].name && one.size == size).collect(),
        };
        let rows = [row(0, 16), row(1, 16), row(0, 32), row(1, 32), row(2, 32)];
        assert_eq!(mean_ranks(2, &names, &rows, &[16], similar), [1.5, 1.5, 3.0]);
        assert_eq!(mean_ranks(2, &names, &rows, &[32], similar), [1.5, 2.0, 2.0]);
        assert_eq!(mean_ranks(2, &names, &rows, &[16, 32], similar), [1.5, 1.75, 2.5]);
    }

    /// The summary names the best kind per size, joins sizes of the same kind, and names biased kinds.
    #[test]
    fn the_summary_has_the_best_and_the_biased() {
        let names = ["a", "b"].map(|name| KindName { name: name.to_owned(), is_of_library: name == "a" });
        let mut all = vec![];
        for (size, a, b) in [(16, 0.2, 0.1), (32, 0.1, 0.15), (64, 0.05, 0.1), (256, 0.1, 0.05)] {
            all.extend([measured(0, "a", size, a), measured(0, "b", size, b)]);
        }
        let row = |one: &str| Row { kind: &names[usize::from(one == "b")], size: 0, of: vec![] };
        let rows: Vec<Row<'_>> =
            all.iter().map(|one| Row { size: one.size, of: vec![one], ..row(&one.contender) }).collect();
        let summary = summary(&rows);
        for part in [
            "pairs at equal bytes: the least error has b at 16 bytes, `a` at 32 to 64 bytes, b at 256 bytes.",
            "sketches: the least error has `a` at 1 to 200 ns.",
            "At 256 bytes, on pairs below 0.2, estimates are biased: `a` by +0.20.",
        ] {
            assert!(summary.contains(part), "{part}: {summary}");
        }
    }

    /// A row that is more expensive and no better is not on the front. Of rows with equal cost, only the better one is.
    #[test]
    fn a_front_has_what_nothing_else_beats() {
        let names =
            ["a", "b", "c"].map(|name| KindName { name: name.to_owned(), is_of_library: name != "c" });
        let all = [measured(0, "a", 16, 0.2), measured(0, "b", 16, 0.1), measured(0, "c", 32, 0.1)];
        let more = measured(0, "a", 64, 0.05);
        let row = |at: usize, of| Row { kind: &names[at], size: 0, of: vec![of] };
        let mut rows = [row(0, &all[0]), row(1, &all[1]), row(2, &all[2]), row(0, &more)];
        for row in &mut rows {
            row.size = row.of[0].size;
        }
        let found = front(rows.iter(), similar, |row| row.size as f64);
        let shown: Vec<(usize, f64)> = found.iter().map(|(row, error)| (row.size, error.value)).collect();
        assert_eq!(shown, [(16, 0.1), (64, 0.05)]);
        assert_eq!(names.each_ref().map(|kind| kind.written("x")), ["`x`", "`x`", "x"]);
    }
}
