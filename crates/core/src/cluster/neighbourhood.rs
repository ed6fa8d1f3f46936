//! Documents that may be near-duplicates of one another.

use crate::candidate::shelf::Shelves;

use super::Judge;

/// Documents that meet one another, numbered from 0 in keeper order.
///
/// Documents that share a band key stand on one shelf. The neighbourhood stores the shelves or, if they do
/// not fit into memory, the [`Judge`] does. If candidates were found pair by pair, the judge has the
/// [partners](Judge::partners) of each document.
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
    documents: usize,
    /// The number of given documents, which come first.
    given: u32,
    shelves: usize,
    lists: MeetingLists,
}

/// The place where the shelves or partners of documents are stored.
#[derive(Debug, Clone, Default)]
enum MeetingLists {
    /// Shelves of document d, ascending: `shelves[begins[d]..begins[d + 1]]`.
    Here { shelves: Vec<u32>, begins: Vec<usize> },
    /// The judge has the shelves.
    #[default]
    Elsewhere,
    /// There are no shelves, and the judge has the partners.
    Pairs,
}

impl Neighbourhood {
    /// `documents` documents. Each shelf lists the documents that stand on it, ascending.
    ///
    /// # Panics
    /// Panics if a shelf names a document that does not exist.
    #[must_use]
    pub fn new<'a>(documents: usize, shelves: impl Iterator<Item = &'a [u32]> + Clone) -> Self {
        let mut begins = vec![0; documents + 1];
        for members in shelves.clone() {
            for &document in members {
                begins[document as usize + 1] += 1;
            }
        }
        for i in 0..documents {
            begins[i + 1] += begins[i];
        }
        let mut next = begins.clone();
        let mut list = vec![0; begins[documents]];
        let mut count = 0;
        for (shelf, members) in (0u32..).zip(shelves) {
            count += 1;
            for &document in members {
                let at = &mut next[document as usize];
                list[*at] = shelf;
                *at += 1;
            }
        }
        Self { documents, given: 0, shelves: count, lists: MeetingLists::Here { shelves: list, begins } }
    }

    /// `documents` documents on `shelves` shelves; the judge has [the shelves of each](Judge::shelves).
    #[must_use]
    pub fn of_shelves(documents: usize, shelves: usize) -> Self {
        Self { documents, given: 0, shelves, lists: MeetingLists::Elsewhere }
    }

    /// `documents` documents whose candidates are pairs.
    #[must_use]
    pub fn of_pairs(documents: usize) -> Self {
        Self { documents, given: 0, shelves: 0, lists: MeetingLists::Pairs }
    }

    /// Makes the first `given` documents *given*: they are kept in any case, and [`star`](super::star) and
    /// [`components`](super::components) do not compare them with one another.
    #[must_use]
    pub fn with_given(self, given: u32) -> Self {
        Self { given, ..self }
    }

    /// Returns the number of given documents, which come first.
    #[must_use]
    pub fn given(&self) -> u32 {
        self.given
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Reports whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of shelves.
    pub(super) fn shelves(&self) -> usize {
        self.shelves
    }

    pub(super) fn is_of_pairs(&self) -> bool {
        matches!(self.lists, MeetingLists::Pairs)
    }

    /// Fills `out` with the shelves of a document, ascending.
    fn shelves_of<J: Judge>(&self, document: u32, judge: &mut J, out: &mut Vec<u32>) -> Result<(), J::Error> {
        out.clear();
        match &self.lists {
            MeetingLists::Here { shelves, begins } => {
                let document = document as usize;
                out.extend_from_slice(&shelves[begins[document]..begins[document + 1]]);
                Ok(())
            }
            MeetingLists::Elsewhere => judge.shelves(document, out),
            MeetingLists::Pairs => Ok(()),
        }
    }
}

/// The number of documents from which on a shelf is a crowd. Going through a smaller shelf is cheaper than a
/// scan.
pub(super) const CROWD: usize = 64;
/// A scan takes much less time per document than going through shelves. It pays if the longest shelf has at
/// least one document per this many scanned documents.
const SCAN_SHARE: usize = 1024;
/// The most documents of a block: enough for many threads, and for a sketch in the cache to serve many
/// comparisons.
const BLOCK: usize = 256;
/// The most pairs that a block may leave open.
const BLOCK_PAIRS: usize = 1 << 22;

/// Finds the documents that meet while documents are put on their shelves one after the other.
///
/// A document meets the documents on its shelves. In a crowd, a block of documents first [scans](Judge::scan)
/// all that were put until then, and documents that the sketches leave open are checked for a shared shelf.
/// Both ways find the same pairs; only the order of the two checks differs.
pub(super) struct Meetings<'a> {
    neighbourhood: &'a Neighbourhood,
    shelves: Shelves,
    /// For each document of a neighbourhood of pairs, whether it was put there.
    there: Vec<bool>,
    /// For each document, the last document that was compared with it, so that no pair is compared twice.
    looked: Vec<u32>,
    /// The shelves of the present document.
    pub(super) own: Vec<u32>,
    /// The shelves of another document.
    others: Vec<u32>,
    /// Documents that are to be screened.
    met: Vec<u32>,
    /// The documents that may be similar to the present one, ascending.
    pub(super) open: Vec<u32>,
    /// The documents that are similar to the present one, ascending, with their similarities.
    pub(super) similar: Vec<(u32, f64)>,
    /// For each full shelf of the present document, the share of its documents that it took.
    pub(super) shares: Vec<f64>,
    /// Whether the judge can take more documents into its scan.
    scans_more: bool,
    /// The number of documents in the scan.
    scanned: usize,
    /// The first document that is not in the scan.
    scanned_end: u32,
    block: ScanBlock,
}

/// A block: documents that scan together.
#[derive(Default)]
struct ScanBlock {
    /// The scan went through documents before this one.
    covers: u32,
    /// The documents of the block that scanned, ascending.
    documents: Vec<u32>,
    /// For each of these documents, the first document that it is to be compared with.
    from: Vec<u32>,
    /// For each of these documents, the documents that its sketch left open.
    open: Vec<Vec<u32>>,
    /// For each of these documents, the open ones that are similar to it, once they were compared.
    similar: Vec<Vec<(u32, f64)>>,
    /// For each of these documents, whether it was compared.
    compared: Vec<bool>,
}

impl<'a> Meetings<'a> {
    /// Empty shelves, each of which takes `most` documents.
    pub(super) fn new(neighbourhood: &'a Neighbourhood, most: usize) -> Self {
        Self {
            neighbourhood,
            shelves: Shelves::new(neighbourhood.shelves, most),
            there: vec![false; if neighbourhood.is_of_pairs() { neighbourhood.len() } else { 0 }],
            looked: vec![u32::MAX; neighbourhood.len()],
            own: vec![],
            others: vec![],
            met: vec![],
            open: vec![],
            similar: vec![],
            shares: vec![],
            // A small neighbourhood has no crowd.
            scans_more: neighbourhood.len() > CROWD,
            scanned: 0,
            scanned_end: 0,
            block: ScanBlock::default(),
        }
    }

    /// Returns the most documents of the next block.
    pub(super) fn block_len(&self) -> usize {
        BLOCK_PAIRS.checked_div(self.scanned).unwrap_or(BLOCK).clamp(16, BLOCK)
    }

    /// Begins a block. Its documents that stand in a crowd scan all documents put until now. `block` has each
    /// document with the first one that it is to be compared with.
    pub(super) fn begin<J: Judge>(
        &mut self,
        block: impl Iterator<Item = (u32, u32)>,
        judge: &mut J,
    ) -> Result<(), J::Error> {
        self.block.documents.clear();
        self.block.covers = self.scanned_end;
        if self.scanned < CROWD {
            return Ok(());
        }
        let mut scanning = vec![];
        for (document, from) in block.filter(|&(document, _)| document >= self.neighbourhood.given) {
            self.find_own(document, judge)?;
            let longest = self.own.iter().map(|&shelf| self.shelves.len_of(shelf)).max().unwrap_or(0);
            if longest >= CROWD && longest >= self.scanned / SCAN_SHARE {
                scanning.push((document, from));
            }
        }
        if scanning.is_empty() {
            return Ok(());
        }
        scanning.sort_unstable();
        scanning.dedup_by_key(|&mut (document, _)| document);
        let block = &mut self.block;
        (block.documents, block.from) = scanning.into_iter().unzip();
        block.similar.clear();
        block.similar.resize(block.documents.len(), vec![]);
        block.compared.clear();
        block.compared.resize(block.documents.len(), false);
        judge.scan(&block.documents, &mut block.open)
    }

    /// Compares a document of the block with those that its scan left open, and then the next documents of
    /// the block with theirs, until there are many pairs.
    ///
    /// All compared documents were put before the block, so no decision within the block changes the pairs.
    fn compare_block<J: Judge>(&mut self, first: usize, judge: &mut J) -> Result<(), J::Error> {
        let (mut places, mut documents, mut others, mut pairs) = (vec![], vec![], vec![], 0);
        for at in first..self.block.documents.len() {
            if self.block.compared[at] {
                continue;
            }
            if !places.is_empty() && pairs >= judge.together() {
                break;
            }
            let (document, from) = (self.block.documents[at], self.block.from[at]);
            self.find_own(document, judge)?;
            self.open.clear();
            self.open_of_block(at, from, |_| false, judge)?;
            pairs += self.open.len();
            places.push(at);
            documents.push(document);
            others.push(std::mem::take(&mut self.open));
        }
        let mut similar = vec![vec![]; places.len()];
        judge.similarities(&documents, &others, &mut similar)?;
        for (at, similar) in places.into_iter().zip(similar) {
            self.block.similar[at] = similar;
            self.block.compared[at] = true;
        }
        Ok(())
    }

    /// Appends to `open` the documents numbered `from` and up that a document of the block meets and that its
    /// scan left open. The own shelves of the document are known already.
    fn open_of_block<J: Judge>(
        &mut self,
        at: usize,
        from: u32,
        mut passes_over: impl FnMut(u32) -> bool,
        judge: &mut J,
    ) -> Result<(), J::Error> {
        let open = &self.block.open[at];
        let after = &open[open.partition_point(|&other| other < from)..];
        let mut open: Vec<u32> = after.iter().copied().filter(|&other| !passes_over(other)).collect();
        judge.bound(self.block.documents[at], &mut open)?;
        self.take_shared(&open, judge)
    }

    /// Looks up the shelves of a document.
    pub(super) fn find_own<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        self.neighbourhood.shelves_of(document, judge, &mut self.own)
    }

    /// Returns the first documents on a shelf, at most `out.len()`.
    pub(super) fn first_of<'o>(&self, shelf: u32, out: &'o mut [u32]) -> &'o [u32] {
        let count = self.shelves.first_of(shelf, out);
        &out[..count]
    }

    /// Finds the documents numbered `from` and up that `document` meets and that may be similar to it, each
    /// once, in ascending order, except those that `passes_over` names.
    pub(super) fn look<J: Judge>(
        &mut self,
        document: u32,
        mut from: u32,
        mut passes_over: impl FnMut(u32) -> bool,
        judge: &mut J,
    ) -> Result<(), J::Error> {
        self.open.clear();
        self.find_own(document, judge)?;
        if let Ok(at) = self.block.documents.binary_search(&document) {
            self.open_of_block(at, from, &mut passes_over, judge)?;
            from = from.max(self.block.covers);
        }
        self.look_outside(document, from, passes_over, judge)
    }

    /// Finds the documents numbered `from` and up that `document` meets and that are similar to it, each
    /// once, in ascending order, except those that `passes_over` names. Many are compared at once, so no
    /// similar pair ends the search early.
    pub(super) fn find_similar<J: Judge>(
        &mut self,
        document: u32,
        mut from: u32,
        mut passes_over: impl FnMut(u32) -> bool,
        judge: &mut J,
    ) -> Result<(), J::Error> {
        self.similar.clear();
        let place = self.block.documents.binary_search(&document).ok();
        if let Some(at) = place.filter(|_| from < self.block.covers) {
            if !self.block.compared[at] {
                self.compare_block(at, judge)?;
            }
            // A later visit of the document begins behind the block.
            let similar = std::mem::take(&mut self.block.similar[at]);
            self.similar
                .extend(similar.into_iter().filter(|&(other, _)| other >= from && !passes_over(other)));
            from = self.block.covers;
        }
        self.open.clear();
        self.find_own(document, judge)?;
        self.look_outside(document, from, passes_over, judge)?;
        self.compare_open(document, judge)
    }

    /// Finds those of `others`, which are ascending, that `document` meets and that are similar to it.
    pub(super) fn find_similar_among<J: Judge>(
        &mut self,
        document: u32,
        others: &[u32],
        judge: &mut J,
    ) -> Result<(), J::Error> {
        self.similar.clear();
        self.look_among(document, others, judge)?;
        self.compare_open(document, judge)
    }

    /// Appends to `similar` those of the documents in `open` that are similar to a document.
    fn compare_open<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        for &other in &self.open {
            self.similar.extend(judge.similarity(document, other)?.map(|similarity| (other, similarity)));
        }
        Ok(())
    }

    /// Appends to `open` the documents numbered `from` and up that `document` meets without a scan.
    fn look_outside<J: Judge>(
        &mut self,
        document: u32,
        from: u32,
        mut passes_over: impl FnMut(u32) -> bool,
        judge: &mut J,
    ) -> Result<(), J::Error> {
        self.shares.clear();
        self.met.clear();
        if self.neighbourhood.is_of_pairs() {
            judge.partners(document, &mut self.met)?;
            self.met.retain(|&other| other >= from && self.there[other as usize]);
        } else {
            self.meet(document, from);
        }
        self.met.retain(|&other| !passes_over(other));
        self.screen_met(document, judge)
    }

    /// Finds those of `others`, which are ascending, that `document` meets and that may be similar to it.
    fn look_among<J: Judge>(&mut self, document: u32, others: &[u32], judge: &mut J) -> Result<(), J::Error> {
        self.open.clear();
        self.shares.clear();
        self.met.clear();
        self.find_own(document, judge)?;
        self.take_shared(others, judge)?;
        std::mem::swap(&mut self.met, &mut self.open);
        for &shelf in &self.own {
            self.shares.extend(self.shelves.share(shelf));
        }
        self.screen_met(document, judge)
    }

    /// Appends to `open` those of the documents in `met` that sketches and bounds leave open.
    fn screen_met<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        let mut open = std::mem::take(&mut self.others);
        open.clear();
        judge.screen(document, &self.met, &mut open)?;
        judge.bound(document, &mut open)?;
        // The scan has all documents before these.
        self.open.extend_from_slice(&open);
        self.others = open;
        Ok(())
    }

    /// Takes those of `open` that stand on a shelf of the present document.
    fn take_shared<J: Judge>(&mut self, open: &[u32], judge: &mut J) -> Result<(), J::Error> {
        for &other in open {
            self.neighbourhood.shelves_of(other, judge, &mut self.others)?;
            let mut own = self.own.iter().peekable();
            let shared = self.others.iter().any(|shelf| {
                while own.next_if(|own| *own < shelf).is_some() {}
                own.peek() == Some(&shelf) && self.shelves.took(*shelf, other)
            });
            if shared {
                self.open.push(other);
            }
        }
        Ok(())
    }

    /// Fills `met` with the documents numbered `from` and up on the shelves of the present document,
    /// ascending.
    fn meet(&mut self, document: u32, from: u32) {
        let Self { shelves, looked, met, shares, .. } = self;
        for &shelf in &self.own {
            shelves.visit(shelf, |other| {
                if other < from {
                    return false;
                }
                let looked = &mut looked[other as usize];
                if *looked != document {
                    *looked = document;
                    met.push(other);
                }
                true
            });
            shares.extend(shelves.share(shelf));
        }
        for &other in met.iter() {
            looked[other as usize] = u32::MAX;
        }
        met.sort_unstable();
    }

    /// Reports to the judge how many documents full shelves left out. Shelves for which `loses` returns
    /// `false` do not count.
    pub(super) fn end<J: Judge>(self, loses: impl FnMut(u32) -> bool, judge: &mut J) {
        judge.note_full(self.shelves.full(loses));
    }

    /// Puts the present document on its shelves, where later documents meet it.
    pub(super) fn put<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        if let Some(there) = self.there.get_mut(document as usize) {
            *there = true;
            return Ok(());
        }
        for &shelf in &self.own {
            self.shelves.put(shelf, document);
        }
        if self.scans_more {
            self.scans_more = judge.put(document)?;
            if self.scans_more {
                self.scanned += 1;
                self.scanned_end = document + 1;
            }
        }
        Ok(())
    }
}
