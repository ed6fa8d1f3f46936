//! The sketches of the documents of a crowd, side by side, so that many can be screened at once.

use std::ops::Range;

use minwise::Observer;
use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::Heads;
use minwise::verify::parity::{self, Bound};

use crate::candidate::head::HeadRule;
use crate::candidate::screen::Screen;
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::rows::Rows;

/// Documents that one thread scans for together.
const TOGETHER: usize = 16;
/// Heads that go by together and stay in the cache, in bytes.
const STRETCH_BYTES: usize = 32 << 10;

/// The heads of documents, and what they are compared by.
pub(super) struct Crowd<'a> {
    screen: &'a Screen,
    rows: &'a Rows,
    rule: HeadRule,
    heads: Heads,
    /// The number of each document in its neighbourhood, ascending.
    numbers: Vec<u32>,
    /// The parity bits of each document, if the crowd is dense.
    parities: Parities,
    /// Room for the words of a row.
    words: Vec<u32>,
}

/// The parity bits of documents, one behind the other.
#[derive(Debug, Default)]
struct Parities {
    /// The size of each set; `None` if nothing is known of it.
    sizes: Vec<Option<u32>>,
    words: Vec<u32>,
}

impl Parities {
    fn of(&self, place: usize) -> Option<(usize, &[u32])> {
        let size = (*self.sizes.get(place)?)?;
        Some((size as usize, &self.words[place * parity::WORDS..][..parity::WORDS]))
    }
}

impl<'a> Crowd<'a> {
    /// No documents yet; nothing if sketches cannot tell anything of them.
    pub(super) fn new(screen: &'a Screen, rows: &'a Rows) -> Option<Self> {
        let rule = screen.crowd_rule()?;
        Some(Self {
            screen,
            rows,
            rule,
            heads: rule.heads(),
            numbers: vec![],
            parities: Parities::default(),
            words: vec![],
        })
    }

    /// How many documents there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds a document, given its row.
    pub(super) fn put(&mut self, number: u32, row: &[u32]) {
        self.numbers.push(number);
        self.words.clear();
        self.screen.extend_compared(self.rows.compared(row), &mut self.words);
        self.rule.push(&self.words, &mut self.heads);
    }

    /// The first document whose parity bits were not added, if there is one.
    pub(super) fn next_parity(&self) -> Option<u32> {
        self.numbers.get(self.parities.sizes.len()).copied()
    }

    /// Adds the size and the parity bits of the set of the [next document](Self::next_parity), as far as they are known.
    pub(super) fn put_parity(&mut self, known: Option<(u32, &[u32])>) {
        let (size, words) =
            known.map_or((None, &[0; parity::WORDS][..]), |(size, words)| (Some(size), words));
        self.parities.sizes.push(size);
        self.parities.words.extend_from_slice(words);
    }

    /// Values of a head.
    pub(super) fn compared(&self) -> usize {
        self.rule.compared()
    }

    /// For each of the documents of `probes`, the documents of which it is open whether both reach the threshold, ascending:
    /// by their heads, and by their parity bits as far as they are known.
    pub(super) fn scan(
        &self,
        probes: &Crowd<'_>,
        threshold: f64,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Scanned, Error> {
        let stretch = (STRETCH_BYTES / (self.heads.words() * size_of::<u64>())).max(64);
        let work = |(): &mut (), task: usize| -> Result<Scanned, Error> {
            if observer.cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let probed: Range<usize> = task * TOGETHER..((task + 1) * TOGETHER).min(probes.len());
            let mut scans: Vec<Scan<'_>> =
                probed.clone().map(|place| Scan::new(self, probes, place, threshold)).collect();
            for begin in (0..self.len()).step_by(stretch) {
                let range = begin..(begin + stretch).min(self.len());
                for scan in &mut scans {
                    scan.take(range.clone());
                }
            }
            let mut all = Scanned::default();
            for scan in scans {
                all.left_by_heads += scan.left_by_heads;
                all.open.push(scan.open.into_iter().map(|place| self.numbers[place as usize]).collect());
            }
            Ok(all)
        };
        let mut all = Scanned::default();
        parallel::in_order(
            probes.len().div_ceil(TOGETHER),
            threads,
            || (),
            work,
            |mut some| {
                all.open.append(&mut some.open);
                all.left_by_heads += some.left_by_heads;
                Ok(())
            },
        )?;
        Ok(all)
    }
}

/// The pairs that a scan leaves open.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The documents, for each that scanned.
    pub(super) open: Vec<Vec<u32>>,
    /// Pairs that were left open before parity bits were asked.
    pub(super) left_by_heads: u64,
}

/// One document that scans a crowd.
struct Scan<'a> {
    crowd: &'a Crowd<'a>,
    probes: &'a Crowd<'a>,
    place: usize,
    kernel: Kernel,
    /// Its parity bits, and what they say.
    parity: Option<(&'a [u32], Bound)>,
    open: Vec<u32>,
    left_by_heads: u64,
    /// Bits in which the arrays of those that the heads leave open differ from its own.
    different: Vec<u32>,
}

impl<'a> Scan<'a> {
    fn new(crowd: &'a Crowd<'a>, probes: &'a Crowd<'a>, place: usize, threshold: f64) -> Self {
        let parity = probes.parities.of(place).map(|(size, words)| (words, Bound::new(size, threshold)));
        Self {
            crowd,
            probes,
            place,
            kernel: Kernel::detect(),
            parity,
            open: vec![],
            left_by_heads: 0,
            different: vec![],
        }
    }

    /// Goes through some places of the crowd.
    fn take(&mut self, range: Range<usize>) {
        let (crowd, begin) = (self.crowd, self.open.len());
        crowd.rule.screen(&self.probes.heads, self.place, &crowd.heads, range, self.kernel, &mut self.open);
        self.left_by_heads += (self.open.len() - begin) as u64;
        let Some((words, bound)) = &mut self.parity else { return };
        let Parities { sizes, words: all } = &crowd.parities;
        self.different.clear();
        self.kernel.different_bits_at(words, all, &self.open[begin..], &mut self.different);
        let mut left = begin;
        for (at, &different) in (begin..).zip(&self.different) {
            let place = self.open[at];
            let is_open =
                sizes[place as usize].is_none_or(|size| bound.leaves_open(size as usize, different as usize));
            self.open[left] = place;
            left += usize::from(is_open);
        }
        self.open.truncate(left);
    }
}
