//! Sketches compared with sketches: similarities estimated, without reading a document.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use minwise::estimate::Estimate;
use minwise::sketch::Sketcher;

use crate::error::{Error, ErrorKind};
use crate::observe::{Observer, Stage};
use crate::parallel;
use crate::sketch_file::{SketchFile, check_same};

/// Documents whose pairs are worked on together: their sketches stay in the nearest cache while the others go by.
const TILE: usize = 16;
/// Documents that go by together and stay in the second cache.
const STRETCH: usize = 256;

/// What is to be compared.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The first file.
    pub first: &'a SketchFile,
    /// The second; without one, the documents of the first are compared with one another.
    pub second: Option<&'a SketchFile>,
    /// Only pairs that have one of these documents.
    pub of: Option<&'a [String]>,
    /// The estimate from which on a pair is told.
    pub threshold: f64,
    /// Threads to work with.
    pub threads: usize,
}

/// A pair whose estimate reaches the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimatedPair {
    /// The document of the first file.
    pub first: usize,
    /// The document of the second file, or of the first.
    pub second: usize,
    /// What the sketches say.
    pub estimate: Estimate,
}

/// Compares all pairs and gives those at or above the threshold to `visit`, by the first document and then the second.
/// Returns how many pairs were compared. Documents without shingles are in no pair.
pub fn for_each_pair(
    request: &Request<'_>,
    observer: &dyn Observer,
    mut visit: impl FnMut(&EstimatedPair) -> Result<(), Error> + Send,
) -> Result<u64, Error> {
    let pairs = Pairs::new(request)?;
    observer.begin(Stage::Estimate, pairs.first.len() as u64);
    let mut compared = 0;
    let work = |(): &mut (), tile: usize| {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let tile = tile * TILE..((tile + 1) * TILE).min(pairs.first.len());
        let found = pairs.compare(tile.clone());
        observer.advance(tile.len() as u64);
        Ok(found)
    };
    let tiles = pairs.first.len().div_ceil(TILE);
    parallel::in_order(
        tiles,
        request.threads,
        || (),
        work,
        |(count, found)| {
            compared += count;
            found.iter().try_for_each(&mut visit)
        },
    )?;
    Ok(compared)
}

struct Pairs<'a> {
    first: &'a SketchFile,
    second: &'a SketchFile,
    within_one: bool,
    wanted: Option<[BTreeSet<usize>; 2]>,
    sketcher: Arc<dyn Sketcher>,
    threshold: f64,
}

impl<'a> Pairs<'a> {
    fn new(request: &Request<'a>) -> Result<Self, Error> {
        let first = request.first;
        let second = request.second.unwrap_or(first);
        check_same(first, second)?;
        let wanted = request.of.map(|ids| wanted(ids, first, second)).transpose()?;
        Ok(Self {
            first,
            second,
            within_one: request.second.is_none(),
            wanted,
            sketcher: first.spec().sketcher()?,
            threshold: request.threshold,
        })
    }

    /// The pairs of these documents of the first file: how many were compared, and those that reach the threshold.
    fn compare(&self, tile: Range<usize>) -> (u64, Vec<EstimatedPair>) {
        let begin = if self.within_one { tile.start + 1 } else { 0 };
        let mut compared = 0;
        let mut found = vec![];
        for stretch in (begin..self.second.len()).step_by(STRETCH) {
            for first in tile.clone().filter(|&first| self.first.has_shingles(first)) {
                let row = self.first.row(first);
                for second in stretch..(stretch + STRETCH).min(self.second.len()) {
                    if !self.is_wanted(first, second) {
                        continue;
                    }
                    compared += 1;
                    let estimate = self.sketcher.estimate(row, self.second.row(second));
                    if estimate.value >= self.threshold {
                        found.push(EstimatedPair { first, second, estimate });
                    }
                }
            }
        }
        found.sort_unstable_by_key(|pair| (pair.first, pair.second));
        (compared, found)
    }

    fn is_wanted(&self, first: usize, second: usize) -> bool {
        self.second.has_shingles(second)
            && (!self.within_one || first < second)
            && self.wanted.as_ref().is_none_or(|[a, b]| a.contains(&first) || b.contains(&second))
    }
}

/// The documents of both files that have one of the ids.
fn wanted(ids: &[String], first: &SketchFile, second: &SketchFile) -> Result<[BTreeSet<usize>; 2], Error> {
    let mut missing: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let all = missing.clone();
    let found = [first, second].map(|file| {
        let wanted = |&document: &usize| {
            let id = file.id(document);
            missing.remove(id);
            all.contains(id)
        };
        (0..file.len()).filter(wanted).collect()
    });
    match ids.iter().find(|id| missing.contains(id.as_str())) {
        Some(id) => {
            let hint = "ids are those that the documents had when they were sketched";
            Err(ErrorKind::NoSuchId { id: id.clone(), hint }.into())
        }
        None => Ok(found),
    }
}
