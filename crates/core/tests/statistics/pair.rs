//! Two documents for which every estimated quantity is known from their construction.

use minwise::hash::SplitMix64;

/// The overlap of the shingles of two documents.
#[derive(Debug, Clone, Copy)]
pub struct Overlap {
    /// |A∪B|, the number of shingles of both documents together.
    pub union: usize,
    /// |A∩B|, the number of shared shingles.
    pub shared: usize,
}

impl Overlap {
    /// Makes an overlap of `union` shingles with this similarity. Each document has half of the shingles that are not
    /// shared.
    pub fn new(union: usize, similarity: f64) -> Self {
        let shared = (union as f64 * similarity).round() as usize;
        assert!((union - shared).is_multiple_of(2), "both documents have equally many shingles");
        Self { union, shared }
    }

    /// Returns J, the Jaccard similarity.
    pub fn similarity(self) -> f64 {
        self.shared as f64 / self.union as f64
    }

    /// Returns the number of shared shingles that move from the front to the back; as many move from the back to the
    /// front.
    fn moved(self) -> usize {
        self.shared / 4
    }

    /// Returns the number of shared shingles that stay at the same places.
    fn aligned(self) -> usize {
        self.shared - 2 * self.moved()
    }

    /// Returns qJ, the number of aligned shingles divided by the size of the union.
    pub fn aligned_similarity(self) -> f64 {
        self.aligned() as f64 / self.union as f64
    }

    /// Returns the number of aligned shingles divided by the number of all pairs of a shingle and a place (E-04).
    pub fn tagged_similarity(self) -> f64 {
        self.aligned() as f64 / (self.union + self.shared - self.aligned()) as f64
    }

    /// Returns the two documents. About half of the shared shingles keep their places. The other shared shingles move
    /// from one end of the document to the other end, so that they change their half and move by more than a quarter of
    /// the document:
    ///
    /// ```text
    /// A   moved 1   kept 1   A's own   kept 2   moved 2
    /// B   moved 2   kept 1   B's own   kept 2   moved 1
    /// ```
    pub fn documents(self, seed: u64) -> (Vec<u64>, Vec<u64>) {
        let mut random = SplitMix64::new(seed);
        let mut draw = |count: usize| (0..count).map(|_| random.next_u64()).collect::<Vec<u64>>();
        let kept = self.aligned();
        let (moved_1, moved_2) = (draw(self.moved()), draw(self.moved()));
        let (kept_1, kept_2) = (draw(kept.div_ceil(2)), draw(kept / 2));
        let own = (self.union - self.shared) / 2;
        let (own_a, own_b) = (draw(own), draw(own));
        (
            [&moved_1[..], &kept_1, &own_a, &kept_2, &moved_2].concat(),
            [&moved_2[..], &kept_1, &own_b, &kept_2, &moved_1].concat(),
        )
    }
}
