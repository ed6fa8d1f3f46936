//! The judge of one neighbourhood: compares two documents by their sketches, and if these leave it open, by their shingle
//! sets.

use minwise::Observer;
use minwise::cluster::Judge;

use crate::candidate::neighbourhood::{Meeting, NeighbourhoodRef};
use crate::candidate::screen::{OrderScreen, Screen};
use crate::error::{Error, ErrorKind};
use crate::read::documents::{Documents, RowReader, Which};
use crate::rows::Rows;
use crate::settings::Plan;
use crate::verify::loader::{Loader, Room};
use crate::verify::sets::{Budget, Sets};
use crate::verify::sum::{Judged, Reordered};

/// What the judges of all neighbourhoods share.
pub(super) struct Bench<'a> {
    rows: Rows,
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
}

/// What one thread judges with. Its buffers serve one neighbourhood after the other.
pub(super) struct Seat<'a> {
    room: Room,
    rows: RowReader<'a>,
    placed_rows: RowReader<'a>,
}

impl<'a> Seat<'a> {
    pub(super) fn new(documents: &'a Documents) -> Self {
        Self {
            room: Room::default(),
            rows: RowReader::new(documents, Which::Sketch),
            placed_rows: RowReader::new(documents, Which::Placed),
        }
    }
}

/// Compares documents of one neighbourhood.
pub(crate) struct ExactJudge<'a, 'r> {
    neighbourhood: NeighbourhoodRef<'a>,
    bench: &'a Bench<'a>,
    sets: Sets<'a>,
    rows: &'a mut RowReader<'r>,
    placed_rows: &'a mut RowReader<'r>,
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
        Self { neighbourhood, bench, sets, rows, placed_rows, judged: Judged::default() }
    }

    /// The exact similarity, whether it reaches the threshold or not.
    pub(crate) fn exact(&mut self, a: u32, b: u32) -> Result<f64, Error> {
        self.sets.measure(a, b, self.bench.plan.measure)
    }

    /// Frees the shingle sets, if nothing more will be compared.
    pub(crate) fn give_back(&mut self) {
        self.sets.give_back();
    }

    /// What was counted.
    pub(super) fn finish(self) -> Judged {
        self.judged
    }

    /// Whether the sketches reject a pair.
    fn is_screened(&mut self, a: u32, b: u32) -> Result<bool, Error> {
        let bench = self.bench;
        if bench.screen.asks() {
            let (row_a, row_b) = self.rows.pair(a, b)?;
            if bench.screen.rejects(&bench.rows, row_a, row_b, &mut self.judged.screened) {
                return Ok(true);
            }
        }
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

    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Error> {
        // A neighbourhood can be large, and whoever asks to stop should not have to wait for its end.
        if self.judged.candidates.is_multiple_of(64) && self.bench.observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        self.judged.candidates += 1;
        let [first, second] = [a, b].map(|number| self.neighbourhood.documents[number as usize]);
        if self.is_screened(first, second)? {
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

    fn split_key(&mut self, document: u32, band: u32, split: usize) -> Result<u64, Error> {
        let row = self.rows.row(self.neighbourhood.documents[document as usize])?;
        Ok(self.bench.rows.split_key(band as usize, split, row))
    }
}
