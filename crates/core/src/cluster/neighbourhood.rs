//! Neighbourhoods: documents that may be near-duplicates of one another, and the search for the pairs among them. A
//! *shelf* has the documents with one band key. A [`Judge`] answers whether two documents are similar.

use crate::candidate::shelf::Shelves;

use super::Judge;

/// Documents that are connected by candidate pairs, numbered from 0 in keeper order.
///
/// Documents that share a band key are on one shelf. The neighbourhood stores the shelves; if they do not fit into
/// memory, the [`Judge`] stores them. If candidates were found pair by pair, the judge has the
/// [partners](Judge::partners) of each document.
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
    documents: usize,
    /// Number of given documents. They have the lowest numbers.
    given: u32,
    shelves: usize,
    lists: MeetingLists,
}

/// Storage of the shelves or partners of documents.
#[derive(Debug, Clone, Default)]
enum MeetingLists {
    /// The neighbourhood has the shelves. Shelves of document d, ascending: `shelves[begins[d]..begins[d + 1]]`.
    Here { shelves: Vec<u32>, begins: Vec<usize> },
    /// The judge has the shelves.
    #[default]
    Elsewhere,
    /// There are no shelves, and the judge has the partners.
    Pairs,
}

impl Neighbourhood {
    /// Creates a neighbourhood of `documents` documents. Each element of `shelves` lists the documents on a shelf,
    /// ascending.
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

    /// Creates a neighbourhood of `documents` documents on `shelves` shelves. [`Judge::shelves`] returns the shelves of
    /// a document.
    #[must_use]
    pub fn of_shelves(documents: usize, shelves: usize) -> Self {
        Self { documents, given: 0, shelves, lists: MeetingLists::Elsewhere }
    }

    /// Creates a neighbourhood of `documents` documents whose candidate pairs [`Judge::partners`] returns.
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

    /// Returns the number of given documents, which have the lowest numbers.
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

    pub(super) fn shelves(&self) -> usize {
        self.shelves
    }

    pub(super) fn is_of_pairs(&self) -> bool {
        matches!(self.lists, MeetingLists::Pairs)
    }

    /// Fills `out` with the shelves of `document`, in ascending order.
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

/// Smallest number of documents of a crowded shelf. Visiting the documents of a smaller shelf is cheaper than a scan.
pub(super) const CROWD: usize = 64;
/// A scan pays if the longest shelf has at least one document per `SCAN_SHARE` scanned documents, because scanning a
/// document takes much less time than visiting it on a shelf.
const SCAN_SHARE: usize = 1024;
/// Maximum number of documents per block. It gives work to many threads, and a sketch that is in the cache is compared
/// many times.
const BLOCK: usize = 256;
/// Maximum number of pairs that the scan of a block compares. The scan may reject no pair, and then all pairs are in
/// memory.
const BLOCK_PAIRS: usize = 1 << 22;

/// Search for the documents that share a shelf, while documents are put on their shelves one after the other.
///
/// A document *meets* the documents on its shelves. For crowded shelves, the documents of a block are first
/// [scanned](Judge::scan) against all documents put so far; documents that the sketches do not reject are then checked
/// for a shared shelf. With and without a scan the pairs are the same; only the order of the two checks differs.
pub(super) struct Meetings<'a> {
    neighbourhood: &'a Neighbourhood,
    shelves: Shelves,
    /// For each document, whether it was put on the shelves. Empty unless candidates are pairs.
    there: Vec<bool>,
    /// Entry d is the document whose search has added document d to `met`, so that `met` gets no document twice. After
    /// the search, the entry is `u32::MAX`.
    looked: Vec<u32>,
    /// Shelves of the current document.
    pub(super) own: Vec<u32>,
    /// Buffer for the shelves of another document, or for open documents.
    others: Vec<u32>,
    /// Documents that have to be screened.
    met: Vec<u32>,
    /// Documents that may be similar to the current document, ascending.
    pub(super) open: Vec<u32>,
    /// Documents that are similar to the current document, ascending, with their similarities.
    pub(super) similar: Vec<(u32, f64)>,
    /// For each full shelf of the current document, the share of the documents put on the shelf that the shelf took.
    pub(super) shares: Vec<f64>,
    /// Whether the judge can add more documents to its scan.
    scans_more: bool,
    /// Number of documents in the scan.
    scanned: usize,
    /// End (exclusive) of the documents in the scan.
    scanned_end: u32,
    block: ScanBlock,
}

/// A block: documents that are scanned together.
#[derive(Default)]
struct ScanBlock {
    /// End (exclusive) of the documents that the scan compared the block with.
    covers: u32,
    /// Scanned documents of the block, ascending.
    documents: Vec<u32>,
    /// For each scanned document, the first document that it has to be compared with.
    from: Vec<u32>,
    /// For each scanned document, the documents that the scan of its sketch did not reject.
    open: Vec<Vec<u32>>,
    /// For each scanned document, the documents of `open` that are similar to it; empty before they are compared.
    similar: Vec<Vec<(u32, f64)>>,
    /// For each scanned document, whether it was compared with the documents of `open`.
    compared: Vec<bool>,
}

impl<'a> Meetings<'a> {
    /// Creates empty shelves, each of which takes `most` documents.
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
            // A neighbourhood of at most `CROWD` documents needs no scan.
            scans_more: neighbourhood.len() > CROWD,
            scanned: 0,
            scanned_end: 0,
            block: ScanBlock::default(),
        }
    }

    /// Returns the maximum number of documents of the next block.
    pub(super) fn block_len(&self) -> usize {
        BLOCK_PAIRS.checked_div(self.scanned).unwrap_or(BLOCK).clamp(16, BLOCK)
    }

    /// Begins a block. Each document of `block` comes with the first document that it has to be compared with.
    /// Documents on a crowded shelf are scanned against all documents put so far.
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

    /// Compares a document of the block with the documents that its scan did not reject, and then the next documents of
    /// the block, until [`Judge::together`] pairs were collected.
    ///
    /// A document of the block is compared only with documents that were put on the shelves before the block began, so
    /// decisions within the block do not change the pairs.
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

    /// Appends to `open` the documents numbered `from` or higher that a document of the block meets and that its scan
    /// did not reject. `self.own` must contain the shelves of the document of the block.
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

    /// Fills `own` with the shelves of `document`.
    pub(super) fn find_own<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        self.neighbourhood.shelves_of(document, judge, &mut self.own)
    }

    /// Returns the first documents on a shelf, at most `out.len()`, which are written to `out`.
    pub(super) fn first_of<'o>(&self, shelf: u32, out: &'o mut [u32]) -> &'o [u32] {
        let count = self.shelves.first_of(shelf, out);
        &out[..count]
    }

    /// Fills `open` with the documents numbered `from` or higher that `document` meets and that may be similar to it,
    /// each once, in ascending order. Documents for which `passes_over` returns `true` are left out.
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

    /// Fills `similar` with the documents numbered `from` or higher that `document` meets and that are similar to it,
    /// each once, in ascending order. Documents for which `passes_over` returns `true` are left out. Because many pairs
    /// are compared at once, a similar pair does not end the search early.
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
            // The list can be moved out, because a later visit of `document` has a `from` of at least `covers`.
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

    /// Fills `similar` with the elements of `others` that `document` meets and that are similar to it. `others` is
    /// ascending.
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

    /// Appends to `similar` the documents in `open` that are similar to `document`.
    fn compare_open<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        for &other in &self.open {
            self.similar.extend(judge.similarity(document, other)?.map(|similarity| (other, similarity)));
        }
        Ok(())
    }

    /// Appends to `open` the documents numbered `from` or higher that `document` meets and that screening does not
    /// reject, without a scan.
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

    /// Fills `open` with the elements of `others` that `document` meets and that may be similar to it. `others` is
    /// ascending.
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

    /// Appends to `self.open` the documents in `met` that neither sketches nor bounds rule out.
    fn screen_met<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        let mut open = std::mem::take(&mut self.others);
        open.clear();
        judge.screen(document, &self.met, &mut open)?;
        judge.bound(document, &mut open)?;
        // All documents from the scan are earlier than these, so `open` stays ascending.
        self.open.extend_from_slice(&open);
        self.others = open;
        Ok(())
    }

    /// Appends to `self.open` the elements of `open` that are on a shelf of the current document.
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

    /// Fills `met` with the documents numbered `from` or higher that are on the shelves of `document`, ascending.
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

    /// Reports to the judge the full shelves for which `loses` returns `true`, and the documents that they left out.
    pub(super) fn end<J: Judge>(self, loses: impl FnMut(u32) -> bool, judge: &mut J) {
        judge.note_full(self.shelves.full(loses));
    }

    /// Puts the current document on its shelves, where later documents meet it.
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
