//! Large clusters have more documents than the setting `max-cluster` allows.
//!
//! A cluster of ten thousand documents is seldom one document in ten thousand copies. In most cases, the documents
//! share a form, a notice or an error page that a person should see before they are removed. The documents of a large
//! cluster are therefore *spared*, and the report lists what they have in common.

use crate::decide::Removed;

/// Moves the documents of clusters with more than `most` documents from `removed` to `spared`. One call must get all
/// documents of a cluster.
pub(crate) fn spare(removed: &mut Vec<Removed>, most: Option<u64>, spared: &mut Vec<Removed>) {
    let Some(most) = most else { return };
    removed.sort_unstable_by_key(|removed| (removed.of, removed.document));
    let mut kept_small = Vec::with_capacity(removed.len());
    for cluster in removed.chunk_by(|a, b| a.of == b.of) {
        // The keeper is part of the cluster too.
        let large = cluster.len() as u64 + 1 > most;
        if large { &mut *spared } else { &mut kept_small }.extend_from_slice(cluster);
    }
    *removed = kept_small;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_with_more_documents_are_spared_as_a_whole() {
        let removed = |document, of| Removed { document, of, similarity: 0.9 };
        let all = [removed(3, 0), removed(4, 1), removed(5, 0), removed(6, 2), removed(7, 2)];
        let split = |most: Option<u64>| {
            let (mut left, mut spared) = (all.to_vec(), vec![]);
            spare(&mut left, most, &mut spared);
            let documents = |list: &[Removed]| list.iter().map(|one| one.document).collect::<Vec<_>>();
            (documents(&left), documents(&spared))
        };
        assert_eq!(split(None), (vec![3, 4, 5, 6, 7], vec![]));
        assert_eq!(split(Some(3)), (vec![3, 5, 4, 6, 7], vec![]));
        assert_eq!(split(Some(2)), (vec![4], vec![3, 5, 6, 7]));
        assert_eq!(split(Some(1)), (vec![], vec![3, 5, 4, 6, 7]));
    }
}
