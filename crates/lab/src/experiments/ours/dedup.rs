//! Compares the results of the engine with all pairs of a corpus, computed exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use minwise::Spec;
use minwise::verify::{Overlap, ShingleSet};
use minwise_corpus::{Corpus, Encoding, Format, Input, InputFormat, ReadOptions};
use minwise_engine::stages::{dedup, pairs, read};
use minwise_engine::{Bands, Plan, RunSettings, Unobserved};
use serde::Deserialize;
use tempfile::TempDir;

use super::beside::{Case, EngineTable};
use super::oracle;
use crate::check::{Check, Deviations};
use crate::experiment::{Context, ExperimentFindings};
use crate::simulate::{Edit, Random, Vocabulary};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    families: u64,
    members: u64,
    words: usize,
    shinglings: Vec<String>,
    thresholds: Vec<f64>,
    recall: f64,
    corpora: Vec<String>,
    most_documents: usize,
    /// Shingling with which other engines are run.
    peers_shingling: String,
}

/// Result of one run, compared with the exact pairs.
struct MeasuredOutcome {
    found: usize,
    /// Number of reported pairs that are below the threshold or have a wrong similarity.
    wrong: usize,
    expected: f64,
    variance: f64,
    removed: usize,
    /// Number of removed documents that are below the threshold with their keeper, or whose keeper is removed, too.
    wrongly_removed: usize,
    /// Number of pairs of kept documents that reach the threshold.
    left: usize,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let folder = TempDir::new()?;
    let made_up = generate(&settings, context.seed(), folder.path())?;
    let mut corpora = vec![("made up".to_owned(), made_up)];
    for name in &settings.corpora {
        if let Some(path) = context.data_if_there(name) {
            let path = beginning(&path, settings.most_documents, folder.path())?;
            corpora.push((name.clone(), path.to_string_lossy().into_owned()));
        }
    }
    let mut table = Table::new(
        "found",
        "Pairs that reach the threshold, and what becomes of them",
        &[
            "corpus",
            "documents",
            "shingling",
            "threshold",
            "pairs",
            "found",
            "recall",
            "expected",
            "precision",
            "removed",
            "similar pairs kept",
        ],
    );
    let mut beside = EngineTable::new(context)?;
    let mut recalls = Deviations::default();
    let (mut wrong, mut wrongly_removed, mut below, mut runs) = (0, 0, 0, 0);
    for (name, path) in &corpora {
        // All files of a folder are read as texts. One of them may be a table of the origins of the others.
        let format =
            if Path::new(path).is_dir() { InputFormat::Only(Format::TEXT) } else { InputFormat::default() };
        let options = ReadOptions::default().encoding(Encoding::Auto).format(format);
        let corpus = Corpus::open(&[Input::from_word(path)], &options, &Unobserved)?;
        for shingling in &settings.shinglings {
            let spec: Spec = format!("nfkc+casefold / {shingling} / minhash:128 / seed:1").parse()?;
            let sets = oracle::sets(&corpus, &spec)?;
            for &threshold in &settings.thresholds {
                let exact = oracle::pairs(&sets, threshold);
                let run = plan(spec, threshold, settings.recall, context.threads())?;
                let found = compare(&corpus, &sets, &exact, &run)?;
                let wanted = exact.len() as f64;
                if *shingling == settings.peers_shingling {
                    let case = Case {
                        corpus: name,
                        shingling,
                        threshold,
                        recall: settings.recall,
                        registers: spec.method.registers(),
                        banding: run.banding(),
                        sets: &sets,
                        exact: &exact,
                    };
                    beside.add(&case, found.found + found.wrong, found.found)?;
                }
                table.push(vec![
                    name.as_str().into(),
                    sets.len().into(),
                    shingling.as_str().into(),
                    threshold.into(),
                    exact.len().into(),
                    found.found.into(),
                    (found.found as f64 / wanted).into(),
                    (found.expected / wanted).into(),
                    (1.0 - found.wrong as f64 / (found.found + found.wrong).max(1) as f64).into(),
                    found.removed.into(),
                    found.left.into(),
                ]);
                recalls.add(found.found as f64, found.expected, found.variance.sqrt());
                wrong += found.wrong;
                wrongly_removed += found.wrongly_removed;
                below += usize::from(found.expected < settings.recall * wanted);
                runs += 1;
            }
        }
    }
    Ok(beside.finish(ExperimentFindings::default().table(table)).checks([
        Check::exact(
            "reported pairs that do not reach the threshold, or have another similarity",
            &wrong,
            &0,
        ),
        Check::exact(
            "removed documents that do not reach it with the one that is kept",
            &wrongly_removed,
            &0,
        ),
        recalls.check("pairs are found with the probability of the S-curve"),
        Check::law(
            &format!("runs whose expected recall is below the wanted {}", settings.recall),
            format!("{below} of {runs}"),
            0,
            below == 0,
        ),
    ]))
}

/// If `path` is a folder, returns `path`. Otherwise copies the first `most` lines of the JSONL file to `folder`, and
/// returns the path of the copy. The limit is needed because finding all pairs exactly takes memory and time.
fn beginning(path: &Path, most: usize, folder: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return Ok(path.to_owned());
    }
    let name = path.file_name().unwrap_or_default();
    let short = folder.join(name);
    let mut file = std::io::BufWriter::new(fs_err::File::create(&short)?);
    for line in std::io::BufReader::new(fs_err::File::open(path)?).lines().take(most) {
        writeln!(file, "{}", line?)?;
    }
    file.flush()?;
    Ok(short)
}

/// Writes families of edited documents as JSONL, and returns the path of the file.
fn generate(settings: &Settings, seed: u64, folder: &Path) -> Result<String> {
    let vocabulary = Vocabulary::new(20_000);
    let path = folder.join("made-up.jsonl");
    let mut file = std::io::BufWriter::new(fs_err::File::create(&path)?);
    for family in 0..settings.families {
        let mut random = Random::new(seed, &[family]);
        let original = vocabulary.document(settings.words, &mut random);
        // The members range from copies to texts with up to 15 % changed words, so pairs lie on both sides of every
        // threshold.
        let most = random.unit() * 0.15;
        for member in 0..settings.members {
            let share = random.unit() * most;
            let edit = if member % 2 == 0 { Edit::Substitute(share) } else { Edit::Insert(share) };
            let words: Vec<String> = vocabulary
                .edit(&original, edit, &mut random)
                .iter()
                .map(|word| format!("{word:x}"))
                .collect();
            let record = serde_json::json!({ "id": format!("{family}-{member}"), "text": words.join(" ") });
            writeln!(file, "{record}")?;
        }
    }
    file.flush()?;
    Ok(path.to_string_lossy().into_owned())
}

/// Returns the plan of a run with this recall at the threshold.
fn plan(spec: Spec, threshold: f64, recall: f64, threads: usize) -> Result<Plan> {
    let (bands, threads) = (Bands::ForRecall(recall), Some(threads.max(1)));
    Ok(RunSettings::default().spec(spec).threshold(threshold).bands(bands).threads(threads).plan()?)
}

fn compare(
    corpus: &Corpus,
    sets: &[ShingleSet],
    exact: &BTreeMap<(u32, u32), f64>,
    plan: &Plan,
) -> Result<MeasuredOutcome> {
    let threshold = plan.threshold();
    let reading = read(corpus, &plan.reading(), &Unobserved)?;
    let (mut found, mut wrong) = (0, 0);
    pairs(corpus, &reading, None, plan, &Unobserved)?.for_each(&Unobserved, |pair| {
        // Documents without shingles are pairs because their texts are equal. They have no similarity of sets.
        if !sets[pair.first as usize].is_empty() {
            let is_exact = exact.get(&(pair.first, pair.second)) == Some(&pair.similarity);
            found += usize::from(is_exact);
            wrong += usize::from(!is_exact);
        }
        Ok(())
    })?;
    let curve = plan.curve();
    let (expected, variance) = expectation(exact, sets, |similarity| curve.probability(similarity));
    let decisions = dedup(corpus, &reading, plan, &Unobserved, |_| {})?;
    let removed: BTreeSet<u32> = decisions.removed.iter().map(|removed| removed.document).collect();
    let is_wrong = |document: u32, of: u32, similarity: f64| {
        let [a, b] = [document, of].map(|document| &sets[document as usize]);
        let exact = if a.is_empty() && b.is_empty() { 1.0 } else { Overlap::of(a, b).jaccard() };
        exact < threshold || exact != similarity || removed.contains(&of)
    };
    let wrongly_removed = decisions
        .removed
        .iter()
        .filter(|removed| is_wrong(removed.document, removed.of, removed.similarity))
        .count();
    let left = exact.keys().filter(|(a, b)| !removed.contains(a) && !removed.contains(b)).count();
    Ok(MeasuredOutcome { found, wrong, expected, variance, removed: removed.len(), wrongly_removed, left })
}

/// Returns the expected number of found pairs, and its variance.
///
/// Equal documents are always found. Pairs of connected documents are not independent. The variance is an upper bound:
/// all pairs of a connected family are found together or missed together.
fn expectation(
    exact: &BTreeMap<(u32, u32), f64>,
    sets: &[ShingleSet],
    probability: impl Fn(f64) -> f64,
) -> (f64, f64) {
    let mut leader: Vec<u32> = (0..sets.len() as u32).collect();
    for &(a, b) in exact.keys() {
        let (a, b) = (find(&mut leader, a), find(&mut leader, b));
        leader[a.max(b) as usize] = a.min(b);
    }
    let mut expected = 0.0;
    // If the pairs of a family are found together, their standard deviations add up.
    let mut deviations: BTreeMap<u32, f64> = BTreeMap::new();
    for (&(a, _), &similarity) in exact {
        let p = if similarity == 1.0 { 1.0 } else { probability(similarity) };
        expected += p;
        *deviations.entry(find(&mut leader, a)).or_default() += (p * (1.0 - p)).sqrt();
    }
    (expected, deviations.values().map(|deviation| deviation * deviation).sum())
}

/// Returns the leader of the connected family of a document (union-find).
fn find(leader: &mut [u32], mut document: u32) -> u32 {
    while leader[document as usize] != document {
        let next = leader[document as usize];
        leader[document as usize] = leader[next as usize];
        document = next;
    }
    document
}
