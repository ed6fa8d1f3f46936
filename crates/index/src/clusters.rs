//! Clusters of near-duplicates in an index.
//!
//! Documents that share a band key are candidates, as in a check, and are compared exactly. A shelf is the
//! group of documents with one band key, and a neighbourhood is a connected component of shelves. Every
//! member of a cluster is similar to its keeper, which is the document of the cluster that was added first.

use std::collections::HashMap;
use std::sync::Arc;

use minwise::cluster::{Forest, Judge, Neighbourhood, Verdict, star};
use minwise::verify::{Overlap, ShingleSet};
use minwise::{Observer, Stage};

use crate::error::{Error, Result};
use crate::index::Index;
use crate::postings::{PREFIXES, PostingRow};
use crate::progress::{Reached, go_on};
use crate::record::{DocumentRow, Entry};
use crate::sets::SetReader;
use crate::store::{KeyspaceName, View};

/// Maximum number of kept documents per shelf with which a document is compared.
const FULL: usize = 256;
/// Size in bytes above which the cache of shingle sets of a neighbourhood is emptied.
const CACHE_BYTES: usize = 64 << 20;

/// Clusters of an index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Clusters {
    /// Minimum Jaccard similarity of a document to the keeper of its cluster.
    pub threshold: f64,
    /// The clusters, largest first.
    pub clusters: Vec<Cluster>,
    /// Number of clusters beyond the `top` largest, which `clusters` does not contain.
    pub further: usize,
    /// Number of documents in all clusters.
    pub documents: u64,
    /// Probability of finding a document whose similarity is exactly the threshold, unless a shelf has more
    /// than 256 kept documents.
    pub recall_at_threshold: f64,
    /// Number of kept documents that follow the first 256 kept documents of a shelf. Later documents of a
    /// shelf are compared only with its first 256 kept documents.
    pub left_out: u64,
}

/// A keeper and the documents that are similar to it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cluster {
    /// The keeper, which is the document that was added first.
    pub keeper: Entry,
    /// The members besides the keeper, most similar first.
    pub members: Vec<ClusterMember>,
}

/// A document of a cluster.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClusterMember {
    /// The document.
    pub entry: Entry,
    /// The exact Jaccard similarity to the keeper.
    pub similarity: f64,
}

/// The number of a keeper, and the numbers of the other members with their similarities to the keeper.
type Star = (u32, Vec<(u32, f64)>);

/// The clusters of one neighbourhood.
struct Stars {
    stars: Vec<Star>,
    /// Number of kept documents that follow the first [`FULL`] kept documents of a shelf.
    left_out: u64,
}

/// Groups of documents that share a band key. `members` has the document numbers, one group after the other,
/// and `ends` the end of each group in `members`.
#[derive(Debug, Default)]
struct BandGroups {
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl BandGroups {
    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.members[begin..end])
    }
}

impl Index {
    /// Finds the clusters in which every member has at least the similarity `threshold` to its keeper, and
    /// returns the `top` largest clusters.
    ///
    /// # Errors
    /// - Fails with [`ErrorKind::Setting`](crate::ErrorKind::Setting) unless `threshold` is above 0 and at
    ///   most 1.
    /// - Fails with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) if the observer cancels.
    /// - Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the operating system reports an error.
    /// - Fails with [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if stored data are damaged.
    pub fn clusters(&self, threshold: f64, top: usize, observer: &dyn Observer) -> Result<Clusters> {
        minwise::candidate::tune::check_threshold(threshold)?;
        let view = self.store.view();
        let groups = self.groups(&view, observer)?;
        let mut numbers: Vec<u32> = groups.members.clone();
        numbers.sort_unstable();
        numbers.dedup();
        let place = |number: u32| numbers.partition_point(|&other| other < number) as u32;
        let mut forest = Forest::new(numbers.len());
        for group in groups.iter() {
            go_on(observer)?;
            for pair in group.windows(2) {
                forest.join(place(pair[0]), place(pair[1]));
            }
        }
        // `neighbourhoods` maps the first document of each neighbourhood to the groups of this neighbourhood.
        let mut neighbourhoods: HashMap<u32, Vec<&[u32]>> = HashMap::new();
        for group in groups.iter() {
            neighbourhoods.entry(forest.first(place(group[0]))).or_default().push(group);
        }
        let mut neighbourhoods: Vec<(u32, Vec<&[u32]>)> = neighbourhoods.into_iter().collect();
        neighbourhoods.sort_unstable_by_key(|neighbourhood| neighbourhood.0);

        let mut clusters: Vec<Star> = vec![];
        let mut left_out = 0;
        let total = numbers.len() as u64;
        let mut progress =
            ClusterProgress { progress: Reached::begin(observer, Stage::Clusters, total), before: 0 };
        for (_, shelves) in &neighbourhoods {
            let found = self.stars(&view, shelves, threshold, &mut progress)?;
            clusters.extend(found.stars);
            left_out += found.left_out;
        }
        progress.progress.reach(total);
        clusters.sort_by_key(|(keeper, members)| (std::cmp::Reverse(members.len()), *keeper));
        let documents = clusters.iter().map(|(_, members)| members.len() as u64 + 1).sum();
        let further = clusters.len().saturating_sub(top);
        clusters.truncate(top);
        let clusters = clusters
            .into_iter()
            .map(|(keeper, mut members)| {
                members.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                Ok(Cluster {
                    keeper: self.entry_of(&view, keeper)?,
                    members: members
                        .into_iter()
                        .map(|(number, similarity)| {
                            go_on(observer)?;
                            Ok(ClusterMember { entry: self.entry_of(&view, number)?, similarity })
                        })
                        .collect::<Result<_>>()?,
                })
            })
            .collect::<Result<_>>()?;
        let recall_at_threshold = self.settings().probability(threshold)?;
        Ok(Clusters { threshold, clusters, further, documents, recall_at_threshold, left_out })
    }

    fn entry_of(&self, view: &View<'_>, number: u32) -> Result<Entry> {
        self.entry(&self.record_of(view, number)?)
    }

    fn record_of(&self, view: &View<'_>, number: u32) -> Result<DocumentRow> {
        let missing = || self.damaged(format!("document number {number} has no record"));
        self.record(view, number)?.ok_or_else(missing)
    }

    /// Returns the groups of documents that share a band key.
    fn groups(&self, view: &View<'_>, observer: &dyn Observer) -> Result<BandGroups> {
        let live = self.live()?;
        let mut groups = BandGroups::default();
        let mut postings: Vec<(u32, u32)> = vec![];
        for prefix in 0..PREFIXES as u16 {
            if prefix % 256 == 0 {
                go_on(observer)?;
            }
            postings.clear();
            view.each(KeyspaceName::Bands, &prefix.to_be_bytes(), |_, payload| {
                let row = PostingRow::decode(payload)
                    .ok_or_else(|| self.damaged("a row of `bands` cannot be read"))?;
                let there = row.iter().filter(|(_, posting)| live.has(posting.document));
                postings.extend(there.map(|(rest, posting)| (rest, posting.document)));
                Ok(true)
            })?;
            postings.sort_unstable();
            postings.dedup();
            for group in postings.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
                groups.members.extend(group.iter().map(|(_, document)| document));
                groups.ends.push(groups.members.len());
            }
        }
        Ok(groups)
    }

    /// Finds the clusters of one neighbourhood. `shelves` are the groups of the neighbourhood.
    fn stars(
        &self,
        view: &View<'_>,
        shelves: &[&[u32]],
        threshold: f64,
        progress: &mut ClusterProgress<'_>,
    ) -> Result<Stars> {
        progress.at(0)?;
        let mut numbers: Vec<u32> = shelves.concat();
        numbers.sort_unstable();
        numbers.dedup();
        let local: Vec<Vec<u32>> = shelves
            .iter()
            .map(|shelf| {
                progress.progress.go_on()?;
                let place = |number: &u32| numbers.partition_point(|other| other < number) as u32;
                Ok(shelf.iter().map(place).collect())
            })
            .collect::<Result<_>>()?;
        let neighbourhood = Neighbourhood::new(numbers.len(), local.iter().map(Vec::as_slice));
        let visits: Vec<u32> = (0..numbers.len() as u32).collect();
        let mut judge = Exact {
            index: self,
            view,
            reader: SetReader::new(self, view),
            numbers: &numbers,
            threshold,
            progress: &*progress,
            sets: HashMap::new(),
            bytes: 0,
        };
        let verdicts = star(&neighbourhood, &visits, FULL, &mut judge, |_| {})?;
        let mut stars: HashMap<u32, Vec<(u32, f64)>> = HashMap::new();
        for (at, verdict) in verdicts.iter().enumerate() {
            if let Verdict::Duplicate { of, similarity } = verdict {
                stars.entry(numbers[*of as usize]).or_default().push((numbers[at], *similarity));
            }
        }
        progress.before += numbers.len() as u64;
        Ok(Stars { stars: stars.into_iter().collect(), left_out: left_out(&local, &verdicts) })
    }
}

/// Counts the kept documents that come after the first [`FULL`] kept documents of a shelf.
fn left_out(shelves: &[Vec<u32>], verdicts: &[Verdict]) -> u64 {
    let mut left_out = vec![false; verdicts.len()];
    for shelf in shelves.iter().filter(|shelf| shelf.len() > FULL) {
        let kept = shelf.iter().filter(|&&document| verdicts[document as usize] == Verdict::Kept);
        for &document in kept.skip(FULL) {
            left_out[document as usize] = true;
        }
    }
    left_out.into_iter().filter(|&left_out| left_out).count() as u64
}

/// Progress over all neighbourhoods, counted in documents.
struct ClusterProgress<'a> {
    progress: Reached<'a>,
    /// Number of documents of earlier neighbourhoods.
    before: u64,
}

impl ClusterProgress<'_> {
    /// Reports progress up to `document` of the current neighbourhood, and fails if the observer cancels.
    fn at(&self, document: u32) -> Result<()> {
        self.progress.reach(self.before + u64::from(document));
        self.progress.go_on()
    }
}

/// Shingle set of a document and, for a document without shingles, the equality key of its text.
type Comparable = (ShingleSet, Option<u128>);

/// Judge that compares the shingle sets of documents exactly.
struct Exact<'a> {
    index: &'a Index,
    view: &'a View<'a>,
    reader: SetReader<'a, 'a>,
    numbers: &'a [u32],
    threshold: f64,
    progress: &'a ClusterProgress<'a>,
    sets: HashMap<u32, Arc<Comparable>>,
    bytes: usize,
}

impl Exact<'_> {
    fn set(&mut self, document: u32) -> Result<Arc<Comparable>> {
        if let Some(set) = self.sets.get(&document) {
            return Ok(Arc::clone(set));
        }
        let number = self.numbers[document as usize];
        let record = self.index.record_of(self.view, number)?;
        let set = Arc::new((self.reader.read(number, &record)?.clone(), record.wordless));
        if self.bytes > CACHE_BYTES {
            self.sets.clear();
            self.bytes = 0;
        }
        self.bytes += set.0.size_bytes();
        self.sets.insert(document, Arc::clone(&set));
        Ok(set)
    }
}

impl Judge for Exact<'_> {
    type Error = Error;

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>> {
        self.progress.at(a)?;
        let (a, b) = (self.set(a)?, self.set(b)?);
        if a.1.is_some() || b.1.is_some() {
            return Ok((a.1 == b.1).then_some(1.0));
        }
        Ok(Overlap::at_least(&a.0, &b.0, self.threshold).map(|overlap| overlap.jaccard()))
    }

    fn partners(&mut self, _document: u32, out: &mut Vec<u32>) -> Result<()> {
        out.clear();
        Ok(())
    }

    fn shelves(&mut self, _document: u32, out: &mut Vec<u32>) -> Result<()> {
        out.clear();
        Ok(())
    }
}
