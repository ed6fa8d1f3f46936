//! The page's table of the largest clusters, both those with removed documents and those that were spared.

use std::cmp::Reverse;

use super::ByKeeper;
use super::html::{TableColumn, excerpt, grouped, id, similarity, table};
use super::least::Least;
use crate::error::Error;
use crate::output::Findings;

/// Number of clusters that are shown.
const SHOWN: usize = 20;
/// Number of members per cluster that are named.
const NAMED: usize = 3;

/// Returns the table of the largest clusters.
pub(super) fn section(
    run: &Findings<'_>,
    by_keeper: &ByKeeper<'_>,
    [_, goes]: [&'static str; 2],
) -> Result<String, Error> {
    let mut largest = Least::new(SHOWN);
    for (spared, documents) in [(true, &by_keeper.spared), (false, &by_keeper.removed)] {
        let mut first = 0;
        for cluster in documents.chunk_by(|a, b| a.of == b.of) {
            largest.offer((Reverse(cluster.len()), !spared, first));
            first += cluster.len();
        }
    }
    let mut rows = vec![];
    for (Reverse(others), removed, first) in largest.into_items() {
        let documents = if removed { &by_keeper.removed } else { &by_keeper.spared };
        let cluster = &documents[first..first + others];
        let least = cluster.iter().map(|removed| removed.similarity).fold(1.0, f64::min);
        let mut named = vec![];
        for other in cluster.iter().take(NAMED) {
            named.push(id(&run.id(other.document)?));
        }
        if others > NAMED {
            named.push(format!("and {} more", grouped((others - NAMED) as u64)));
        }
        let keeper = cluster[0].of;
        rows.push(vec![
            id(&run.id(keeper)?),
            grouped(others as u64 + 1),
            similarity(least, 4),
            named.join(", "),
            if removed { goes } else { "not touched: the cluster is larger than <code>max-cluster</code>" }
                .to_owned(),
            run.short_text(keeper)?.map_or(String::new(), |text| excerpt(&text)),
        ]);
    }
    if rows.is_empty() {
        return Ok("<p>No document is a near-duplicate of another.</p>\n".to_owned());
    }
    let columns = [
        TableColumn::Words("kept"),
        TableColumn::Numbers("documents"),
        TableColumn::Numbers("lowest similarity"),
        TableColumn::Words("near-duplicates"),
        TableColumn::Words("what was done"),
        TableColumn::Words("first words"),
    ];
    Ok(table("The largest clusters, each with its kept document", &columns, &rows))
}
