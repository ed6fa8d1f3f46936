//! The page's section of pairs near the threshold, side by side, by which people judge whether the threshold is right.
//!
//! Each pair is a removed document with its kept document. Only one pair per cluster is shown as long as there are
//! enough clusters, so that one large cluster does not fill the page. Text that both documents have is marked, and long
//! stretches are shown by their ends.

use std::ops::Range;

use super::html::{counted, id, similarity, text};
use super::least::Least;
use crate::decide::Removed;
use crate::error::Error;
use crate::output::Findings;
use crate::verify::compare::compare;

/// Number of pairs that are shown.
const SHOWN: usize = 20;
/// Number of pairs that are tried, because some pairs have a document that is too long to be shown.
const CHOSEN: usize = 3 * SHOWN;
/// Number of characters shown at each end of a long stretch that only one document has.
const OWN_ENDS: usize = 300;
/// Number of characters shown at each end of a long stretch that both documents have.
const SHARED_ENDS: usize = 120;
/// Approximate bytes of the page that one document may take. The 40 documents of 20 pairs are most of the page.
const SHOWN_BYTES: usize = 12 << 10;

/// Returns the section with the pairs near the threshold.
pub(super) fn section(
    run: &Findings<'_>,
    by_keeper: &[&Removed],
    fates: [&'static str; 2],
) -> Result<String, Error> {
    let chosen = nearest(by_keeper, run.plan.threshold);
    if chosen.is_empty() {
        let none =
            "<p>There is no pair of a kept document and a near-duplicate with a similarity below 1.</p>\n";
        return Ok(none.to_owned());
    }
    let mut shown = vec![];
    for pair in chosen {
        if shown.len() == SHOWN {
            break;
        }
        if let (Some(kept), Some(removed)) = (run.short_text(pair.of)?, run.short_text(pair.document)?) {
            shown.push((pair, kept, removed));
        }
    }
    shown.sort_by(|(a, ..), (b, ..)| a.similarity.total_cmp(&b.similarity).then(a.document.cmp(&b.document)));
    if shown.is_empty() {
        return Ok(
            "<p>The pairs nearest to the threshold have documents that are too long to be shown.</p>\n"
                .to_owned(),
        );
    }
    let mut out = format!(
        "<p>{} whose {} nearest to the threshold. <mark>Text that both documents have</mark> is coloured. Long \
         passages, shared or not, are shortened to their beginning and end.</p>\n",
        counted(shown.len() as u64, "pair"),
        if shown.len() == 1 { "similarity is" } else { "similarities are" },
    );
    for (pair, kept, removed) in &shown {
        out += &article(run, pair, [kept, removed], fates)?;
    }
    Ok(out)
}

/// Returns the pairs nearest to the threshold: first the nearest pair of each cluster, then the other pairs. Pairs with
/// a similarity of 1 are left out.
fn nearest(by_keeper: &[&Removed], threshold: f64) -> Vec<Removed> {
    let mut least = Least::new(CHOSEN);
    for cluster in by_keeper.chunk_by(|a, b| a.of == b.of) {
        let pairs = cluster.iter().filter(|pair| pair.similarity < 1.0);
        // The bits of non-negative floats sort as the floats do, and unlike the floats they are `Ord`.
        let keys = pairs.map(|pair| ((pair.similarity - threshold).abs().to_bits(), pair.document));
        let first = keys.clone().min();
        for key in keys {
            least.offer((Some(key) != first, key, cluster[0].of));
        }
    }
    let find = |of: u32, document: u32| {
        by_keeper.binary_search_by_key(&(of, document), |pair| (pair.of, pair.document)).ok()
    };
    let chosen = least.into_items().into_iter();
    chosen.filter_map(|(_, (_, document), of)| Some(*by_keeper[find(of, document)?])).collect()
}

fn article(
    run: &Findings<'_>,
    pair: &Removed,
    [kept, removed]: [&str; 2],
    [stays, goes]: [&str; 2],
) -> Result<String, Error> {
    let comparison = compare(kept, removed, &run.plan.spec, &run.plan.weighing)?;
    let passages = comparison.passages.iter();
    let side = |fate: &str, id: &str, document: &str, shared: Vec<Range<usize>>| {
        format!(
            "<div><h4>{fate} <b>{id}</b></h4>\n<div class=\"text\" dir=\"auto\">{}</div></div>\n",
            marked(document, merged(shared))
        )
    };
    Ok(format!(
        "<article>\n<h3>Similarity {}</h3>\n<div class=\"pair\">\n{}{}</div>\n</article>\n",
        similarity(pair.similarity, 4),
        side(
            stays,
            &id(&run.id(pair.of)?),
            kept,
            passages.clone().map(|passage| passage.left.clone()).collect()
        ),
        side(
            goes,
            &id(&run.id(pair.document)?),
            removed,
            passages.map(|passage| passage.right.clone()).collect()
        ),
    ))
}

/// Sorts ranges, and joins overlapping ranges. Passages may overlap, because neighbouring shingles do.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = vec![];
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// Returns a document as HTML with the ranges `shared` marked. The ranges must be sorted and must not overlap.
fn marked(document: &str, shared: Vec<Range<usize>>) -> String {
    let mut out = String::new();
    let mut at = 0;
    let end = document.len();
    for range in shared.into_iter().chain(std::iter::once(end..end)) {
        for (stretch, is_shared) in [(at..range.start, false), (range.clone(), true)] {
            if stretch.is_empty() {
                continue;
            }
            if out.len() > SHOWN_BYTES {
                return out + &gap(&document[stretch.start..], "more ");
            }
            let part = &document[stretch];
            out += &if is_shared {
                format!("<mark>{}</mark>", ends(part, SHARED_ENDS))
            } else {
                ends(part, OWN_ENDS)
            };
        }
        at = range.end;
    }
    out
}

/// Returns a stretch of text as HTML; a long stretch is reduced to its two ends.
fn ends(stretch: &str, most: usize) -> String {
    let head = stretch.char_indices().nth(most).map_or(stretch.len(), |(at, _)| at);
    let tail = stretch.char_indices().nth_back(most - 1).map_or(0, |(at, _)| at);
    // A stretch is cut only if at least `most` characters are left out, because the note about the gap takes space
    // itself.
    if stretch.get(head..tail).is_none_or(|left_out| left_out.chars().count() < most) {
        return text(stretch);
    }
    // The cut moves to a space only if one is near, because some scripts have no spaces between words.
    let is_near = |characters: &str| characters.chars().count() <= most / 4;
    let space = stretch[..head].rfind(char::is_whitespace).filter(|&at| is_near(&stretch[at..head]));
    let head = space.unwrap_or(head);
    let space = stretch[tail..].find(char::is_whitespace).map(|at| tail + at);
    let tail = space.filter(|&at| is_near(&stretch[tail..at])).unwrap_or(tail);
    format!("{}{}{}", text(&stretch[..head]), gap(&stretch[head..tail], ""), text(&stretch[tail..]))
}

fn gap(left_out: &str, more: &str) -> String {
    let characters = counted(left_out.chars().count() as u64, &format!("{more}character"));
    format!("<span class=\"gap\" dir=\"ltr\">… {characters} …</span>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_of_a_cluster_comes_first() {
        let removed = |document, of, similarity| Removed { document, of, similarity };
        let all = [removed(5, 0, 0.81), removed(6, 0, 0.82), removed(7, 1, 0.95), removed(8, 2, 1.0)];
        let by_keeper: Vec<&Removed> = all.iter().collect();
        let documents: Vec<u32> = nearest(&by_keeper, 0.8).iter().map(|pair| pair.document).collect();
        assert_eq!(documents, [5, 7, 6]);
        // In components, a similarity may be below the threshold.
        assert_eq!(nearest(&by_keeper, 0.96)[0].document, 7);
    }

    #[test]
    fn ranges_that_overlap_are_joined() {
        assert_eq!(merged(vec![8..9, 0..4, 2..6, 3..4]), [0..6, 8..9]);
        // Ranges that only touch stay apart, so that each passage remains visible as one.
        assert_eq!(merged(vec![0..2, 2..4]), [0..2, 2..4]);
    }

    #[test]
    fn marks_stand_around_what_is_shared() {
        assert_eq!(marked("a<b>c d", vec![1..4, 6..7]), "a<mark>&lt;b&gt;</mark>c <mark>d</mark>");
        assert_eq!(marked("abc", vec![0..2, 2..3]), "<mark>ab</mark><mark>c</mark>");
        assert_eq!(marked("abc", vec![]), "abc");
        assert_eq!(marked("", vec![]), "");
    }

    #[test]
    fn long_stretches_are_shown_by_their_ends() {
        let long = format!("{}{}{}", "ä".repeat(10), "b".repeat(1234), "ç".repeat(10));
        let shown = ends(&long, 10);
        assert_eq!(
            shown,
            format!(
                "{}<span class=\"gap\" dir=\"ltr\">… 1,234 characters …</span>{}",
                "ä".repeat(10),
                "ç".repeat(10)
            )
        );
        let words = ends(&"word ".repeat(100), 22);
        assert!(words.starts_with("word word word word<span"), "{words}");
        assert!(words.ends_with("</span> word word word word "), "{words}");
        for characters in 0..30 {
            let short = "é".repeat(characters);
            assert_eq!(ends(&short, 10), short);
        }
    }

    /// A document of very many short stretches must not fill the page, although each stretch costs a pair of tags.
    #[test]
    fn a_document_takes_a_bounded_part_of_the_page() {
        let document = "&x".repeat(100_000);
        let shared = (0..100_000).map(|at| 2 * at..2 * at + 1).collect();
        let shown = marked(&document, shared);
        assert!(shown.len() > SHOWN_BYTES && shown.len() < SHOWN_BYTES + 200, "{}", shown.len());
        assert!(shown.contains("more characters …"), "{}", &shown[SHOWN_BYTES..]);
    }
}
