//! The judge of a neighbourhood answers whether two documents are similar. It compares their sketches and, if the
//! sketches do not reject the pair, their shingle sets. A crowd is 64 documents or more on one shelf, whose sketches
//! are scanned together.

use minwise::Observer;
use minwise::candidate::FullShelves;
use minwise::cluster::Judge;
use minwise::verify::Measure;
use minwise::weight::Weighting;

use crate::candidate::neighbourhood::{Meeting, NeighbourhoodRef};
use crate::candidate::screen::{OrderScreen, Screen, Screened};
use crate::error::{Error, ErrorKind};
use crate::read::documents::{Documents, RowChoice, RowReader};
use crate::rows::RowLayout;
use crate::settings::Plan;
use crate::verify::crowd::Crowd;
use crate::verify::loader::{Loader, Room};
use crate::verify::sets::{Budget, Sets};
use crate::verify::sum::{Judged, Reordered};

/// Minimum number of candidates of one document for which comparing parity bits first saves time.
const MANY: u64 = 64;
/// Number of pairs that threads compare together. This number is enough work for all threads. The similarities of these
/// pairs and of one more document take at most 6 MB.
const TOGETHER: usize = 1 << 18;

/// Data that the judges of all neighbourhoods share.
pub(super) struct Bench<'a> {
    rows: RowLayout,
    screen: Screen,
    order: Option<OrderScreen>,
    plan: &'a Plan,
    observer: &'a dyn Observer,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        documents: &Documents,
        plan: &'a Plan,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let rows = plan.rows()?;
        let has_places = documents.shape().placed_words.is_some();
        Ok(Self {
            screen: Screen::new(plan, &rows)?,
            order: if has_places { OrderScreen::new(plan)? } else { None },
            rows,
            plan,
            observer,
        })
    }

    /// Returns the layout of the rows of sketches.
    pub(super) fn rows(&self) -> &RowLayout {
        &self.rows
    }
}

/// Buffers of one thread for judging, which are reused for every neighbourhood.
pub(super) struct Seat<'a> {
    room: Room,
    rows: RowReader<'a>,
    placed_rows: RowReader<'a>,
}

impl<'a> Seat<'a> {
    pub(super) fn new(documents: &'a Documents) -> Self {
        Self {
            room: Room::default(),
            rows: RowReader::new(documents, RowChoice::Sketch),
            placed_rows: RowReader::new(documents, RowChoice::Placed),
        }
    }

    /// Loads the rows of documents that will be compared next into the cache.
    pub(super) fn warm(&self, documents: impl Iterator<Item = u32>) {
        self.rows.warm(documents);
    }
}

/// Judge that compares the documents of one neighbourhood.
pub(crate) struct ExactJudge<'a, 'r> {
    neighbourhood: NeighbourhoodRef<'a>,
    bench: &'a Bench<'a>,
    sets: Sets<'a>,
    rows: &'a mut RowReader<'r>,
    placed_rows: &'a mut RowReader<'r>,
    /// Documents that a scan compares with new documents.
    crowd: Option<Crowd<'a>>,
    /// Documents of the last scan, if the crowd is dense.
    block: Option<Crowd<'a>>,
    /// Whether the crowd is dense: most documents that scan it have many candidates left.
    is_dense: bool,
    /// Share of pairs that the heads of sketches did not reject when the crowd became dense.
    share_open: f64,
    /// Number of threads that scan and compare.
    threads: usize,
    /// Whether pairs can be compared together: so far, the sets of such pairs have fitted into memory.
    fits: bool,
    judged: Judged,
}

impl<'a, 'r> ExactJudge<'a, 'r> {
    pub(super) fn new(
        neighbourhood: NeighbourhoodRef<'a>,
        bench: &'a Bench<'a>,
        loader: &'a Loader<'a>,
        seat: &'a mut Seat<'r>,
        budget: Budget,
    ) -> Self {
        let Seat { room, rows, placed_rows } = seat;
        let sets = Sets::new(loader, neighbourhood.documents, room, budget);
        Self {
            neighbourhood,
            bench,
            sets,
            rows,
            placed_rows,
            crowd: None,
            block: None,
            is_dense: false,
            share_open: 0.0,
            threads: budget.threads,
            fits: true,
            judged: Judged::default(),
        }
    }

    /// Returns the exact similarity, even if it is below the threshold.
    pub(crate) fn exact(&mut self, a: u32, b: u32) -> Result<f64, Error> {
        self.sets.measure(a, b, self.bench.plan.measure)
    }

    /// Frees the shingle sets. The caller must not compare more documents.
    pub(crate) fn give_back(&mut self) {
        self.sets.give_back();
    }

    /// Returns the counts of this judge.
    pub(super) fn finish(self) -> Judged {
        self.judged
    }

    /// Returns an error if the observer has cancelled the run. The judge checks this itself, because a neighbourhood
    /// can be large and nobody should have to wait for its end.
    fn check_cancelled(&self) -> Result<(), Error> {
        if self.bench.observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }

    /// Reports whether scans can include more documents. The limit is the size of a shelf, so that a scan takes no
    /// longer than a full shelf. The heads of a full crowd take 8 MB.
    fn has_room(&self) -> bool {
        self.crowd.as_ref().is_some_and(|crowd| crowd.len() < self.bench.plan.shelf)
    }

    /// Reports whether parity bits bound the measure. They bound only the Jaccard similarity without weights.
    fn has_parity(&self) -> bool {
        let plan = self.bench.plan;
        plan.measure == Measure::Jaccard && plan.spec.weights.weighting == Weighting::None
    }

    /// Reports whether the sketches show that a pair is reordered.
    fn is_misaligned(&mut self, a: u32, b: u32) -> Result<bool, Error> {
        let bench = self.bench;
        let Some(order) = &bench.order else { return Ok(false) };
        let (row_a, row_b) = self.placed_rows.pair(a, b)?;
        let Some(misaligned) = order.rejects(row_a, row_b) else { return Ok(false) };
        let Some(similarity) = misaligned.similar else {
            self.judged.screened.pairs += 1;
            return Ok(true);
        };
        self.judged.reordered_estimated += 1;
        self.judged.list(Reordered {
            first: a.min(b),
            second: a.max(b),
            similarity: similarity.value,
            similarity_error: similarity.standard_error,
            alignment: misaligned.alignment.value,
            alignment_error: misaligned.alignment.standard_error,
        });
        Ok(true)
    }
}

impl Judge for ExactJudge<'_, '_> {
    type Error = Error;

    fn screen(&mut self, document: u32, others: &[u32], open: &mut Vec<u32>) -> Result<(), Error> {
        self.judged.candidates += others.len() as u64;
        let Bench { screen, rows, .. } = self.bench;
        if !screen.asks() {
            open.extend_from_slice(others);
            return Ok(());
        }
        let first = self.neighbourhood.documents[document as usize];
        for some in others.chunks(1024) {
            self.check_cancelled()?;
            for &other in some {
                let (a, b) = self.rows.pair(first, self.neighbourhood.documents[other as usize])?;
                if !screen.rejects(rows, a, b, &mut self.judged.screened) {
                    open.push(other);
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, document: u32) -> Result<bool, Error> {
        if self.crowd.is_none() {
            self.crowd = Crowd::new(&self.bench.screen, &self.bench.rows);
        }
        if !self.has_room() {
            return Ok(false);
        }
        let Some(crowd) = &mut self.crowd else { return Ok(false) };
        crowd.put(document, self.rows.row(self.neighbourhood.documents[document as usize])?);
        Ok(true)
    }

    fn scan(&mut self, documents: &[u32], open: &mut Vec<Vec<u32>>) -> Result<(), Error> {
        let Bench { screen, rows, plan, observer, .. } = self.bench;
        let (Some(mut crowd), Some(mut probes)) = (self.crowd.take(), Crowd::new(screen, rows)) else {
            unreachable!("a judge that scans has a crowd")
        };
        for &document in documents {
            probes.put(document, self.rows.row(self.neighbourhood.documents[document as usize])?);
        }
        if self.is_dense {
            if crowd.width() == 0 {
                self.sets.reduce(documents)?;
                crowd.set_width(self.sets.parity_words(documents)?);
            }
            probes.set_width(crowd.width());
            for crowd in [&mut crowd, &mut probes] {
                while let Some(document) = crowd.next_parity() {
                    if observer.cancelled() {
                        return Err(ErrorKind::Cancelled.into());
                    }
                    // A document of the crowd was in the last block, unless the crowd was not dense at that time.
                    let known = self.block.as_ref().and_then(|block| block.parity_of(document));
                    crowd.put_parity(|out| match known {
                        Some((size, words)) => {
                            out.copy_from_slice(words);
                            Ok(Some(size as u32))
                        }
                        None => self.sets.parity_into(document, out),
                    })?;
                }
            }
            crowd.choose_fold(&mut probes, plan.threshold, self.share_open);
        }
        let scanned = crowd.scan(&probes, plan.threshold, self.threads, *observer)?;
        let seen = (documents.len() * crowd.len()) as u64;
        let left: u64 = scanned.open.iter().map(|others| others.len() as u64).sum();
        self.judged.candidates += seen - left;
        let rejected = seen - left;
        let by_whole = (scanned.left_by_heads - left) * crowd.width() as u64;
        self.judged.screened.merge(&Screened {
            pairs: rejected,
            compared: scanned.compared + by_whole,
            registers: rejected * screen.registers(),
        });
        // Parity bits require that every document is read once, which saves time only if most documents have many
        // candidates left.
        let many = documents.len() as u64 * MANY;
        if !self.is_dense && self.has_parity() && scanned.left_by_heads >= many {
            self.is_dense = true;
            self.share_open = scanned.left_by_heads as f64 / seen as f64;
        }
        self.crowd = Some(crowd);
        self.block = Some(probes).filter(|probes| probes.width() > 0);
        *open = scanned.open;
        for (&document, others) in documents.iter().zip(open) {
            let before = std::mem::take(others);
            self.screen(document, &before, others)?;
        }
        Ok(())
    }

    fn bound(&mut self, document: u32, open: &mut Vec<u32>) -> Result<(), Error> {
        if open.is_empty() || !self.has_parity() {
            return Ok(());
        }
        let threshold = self.bench.plan.threshold;
        // A scan has already compared the parity bits of a document with the crowd, so only documents of its own block
        // remain. If the crowd is full, later documents are missing in both.
        let block = self.block.as_ref().filter(|_| self.has_room());
        let bounded = block.and_then(|block| block.bound(document, open, threshold));
        // Pairs that are rejected by parity bits count as compared, because the bits of both sets decided about them
        // and no filter may have seen these pairs.
        self.judged.compared += match bounded {
            Some(bounded) => bounded,
            None if open.len() as u64 >= MANY => self.sets.bound(document, open, threshold)?,
            None => 0,
        };
        Ok(())
    }

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Error> {
        if self.judged.compared.is_multiple_of(64) {
            self.check_cancelled()?;
        }
        let [first, second] = [a, b].map(|number| self.neighbourhood.documents[number as usize]);
        if self.is_misaligned(first, second)? {
            return Ok(None);
        }
        self.judged.compared += 1;
        let plan = self.bench.plan;
        let similarity = self.sets.at_least(a, b, plan.measure, plan.threshold)?;
        let (Some(similarity), Some(order)) = (similarity, plan.order) else { return Ok(similarity) };
        let alignment = self.sets.alignment_share(a, b)?;
        if alignment >= order {
            return Ok(Some(similarity));
        }
        self.judged.reordered += 1;
        self.judged.list(Reordered {
            first: first.min(second),
            second: first.max(second),
            similarity,
            similarity_error: 0.0,
            alignment,
            alignment_error: 0.0,
        });
        Ok(None)
    }

    fn together(&self) -> usize {
        // Comparing one document at a time keeps the order in which reordered pairs are listed.
        let in_order = self.bench.order.is_some() || self.bench.plan.order.is_some();
        if self.threads > 1 && self.fits && !in_order { TOGETHER } else { 0 }
    }

    fn similarities(
        &mut self,
        documents: &[u32],
        others: &[Vec<u32>],
        similar: &mut [Vec<(u32, f64)>],
    ) -> Result<(), Error> {
        let plan = self.bench.plan;
        let pairs: u64 = others.iter().map(|others| others.len() as u64).sum();
        if self.together() > 0 && pairs >= MANY {
            self.check_cancelled()?;
            let (measure, threshold) = (plan.measure, plan.threshold);
            if self.sets.at_least_many(documents, others, (measure, threshold), similar)? {
                self.judged.compared += pairs;
                return Ok(());
            }
            self.fits = false;
        }
        for ((&document, others), similar) in documents.iter().zip(others).zip(similar) {
            for &other in others {
                similar.extend(self.similarity(document, other)?.map(|similarity| (other, similarity)));
            }
        }
        Ok(())
    }

    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        match self.neighbourhood.meeting {
            Meeting::Pairs(pairs) => pairs.partners(document, out),
            Meeting::Shelves(_) | Meeting::Large(_) => unreachable!("asked in a neighbourhood of pairs only"),
        }
    }

    fn shelves(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        match self.neighbourhood.meeting {
            Meeting::Large(shelves) => shelves.of(document, out),
            Meeting::Shelves(_) | Meeting::Pairs(_) => unreachable!("asked in a large neighbourhood only"),
        }
    }

    fn note_full(&mut self, full: FullShelves) {
        self.judged.full_shelves.merge(full);
    }
}
