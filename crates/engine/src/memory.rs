//! Divides the memory that a run may use.

use std::fmt;
use std::ops::Range;

use minwise::figure::grouped;
use minwise::{Error, ErrorKind};

const MIB: u64 = 1 << 20;

/// Memory that the program needs regardless of the corpus. Each thread needs `THREAD_BYTES` more.
const PROGRAM_BYTES: u64 = 48 * MIB;
const THREAD_BYTES: u64 = 40 * MIB;
/// Smallest limit that [`MemoryLimit::new`] accepts.
const LEAST_BYTES: u64 = 128 * MIB;
/// Number of bytes per document that stay in memory until the run ends, even if documents are on disk. They hold the
/// place in keeper order, the first equal document, the neighbourhood and the decision.
pub(crate) const DOCUMENT_BYTES: u64 = 32;
/// Memory limit if the memory of the machine cannot be determined: 4 GiB.
const UNKNOWN_BYTES: u64 = 4096 * MIB;

/// Upper bound of the memory of a run. The limit never changes the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    bytes: u64,
    /// Size of the working memory for tests, which replaces the computed size.
    room: Option<u64>,
}

impl MemoryLimit {
    /// Returns a limit of `bytes` bytes.
    ///
    /// # Errors
    /// Fails with [`minwise::ErrorKind::OutOfRange`] if `bytes` is less than 128 MiB.
    pub fn new(bytes: u64) -> Result<Self, Error> {
        if bytes < LEAST_BYTES {
            let expected = format!("at least {}", Self { bytes: LEAST_BYTES, room: None }.in_words());
            let given = Self { bytes, room: None }.in_words();
            return Err(ErrorKind::OutOfRange { setting: "the memory of a run", given, expected }.into());
        }
        Ok(Self { bytes, room: None })
    }

    /// Returns half of the memory that this process may use: the machine's memory or the limit of its control group,
    /// whichever is smaller.
    #[must_use]
    pub fn half_of_machine() -> Self {
        let limits = [machine_bytes(), control_group_bytes()];
        let all = limits.into_iter().flatten().min().unwrap_or(2 * UNKNOWN_BYTES);
        // A whole number of MiB, so that messages can state the limit in the unit of all other amounts.
        Self { bytes: (all / 2 / MIB * MIB).max(LEAST_BYTES), room: None }
    }

    /// Returns a limit with `room` bytes of working memory, for tests in which small corpora must go to disk.
    #[doc(hidden)]
    #[must_use]
    pub fn with_room(room: u64) -> Self {
        Self { room: Some(room), ..Self::half_of_machine() }
    }

    /// Returns the limit in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// Returns the largest number of threads that fit into this limit, and at least 1.
    #[must_use]
    pub fn most_threads(self) -> usize {
        // The formula of `least` is inverted. The additional MiB is for some documents.
        let left = (self.bytes / 9 * 8).saturating_sub(PROGRAM_BYTES + MIB);
        (left / THREAD_BYTES).max(1) as usize
    }

    /// Returns the working memory that is left beside the program, its threads and its documents, but at least an
    /// eighth of the limit.
    pub(crate) fn room(self, threads: usize, documents: usize) -> WorkingMemory {
        let taken = PROGRAM_BYTES + threads as u64 * THREAD_BYTES + documents as u64 * DOCUMENT_BYTES;
        let left = self.bytes.saturating_sub(taken).max(self.bytes / 8);
        WorkingMemory { bytes: self.room.unwrap_or(left) }
    }

    /// Returns the working memory while candidates are gathered. Memory of one thread only is subtracted, because the
    /// threads hold no shingle sets then and have released their buffers for reading.
    pub(crate) fn gathering_room(self, documents: usize) -> WorkingMemory {
        self.room(1, documents)
    }

    /// Returns the largest number of threads, at most `asked`, that fit into this limit beside `documents` documents;
    /// at least 1.
    pub(crate) fn fitting_threads(self, asked: usize, documents: usize, rank_words: usize) -> usize {
        let fits = |&threads: &usize| Self::least(threads, documents, rank_words).bytes <= self.bytes;
        (1..=asked).rev().find(fits).unwrap_or(1)
    }

    /// Returns the smallest limit for a run with `threads` threads over `documents` documents with `rank_words` words
    /// of rank each. The limit is the sum of [`parts`](Self::parts) plus an eighth.
    pub(crate) fn least(threads: usize, documents: usize, rank_words: usize) -> Self {
        let bytes: u64 = Self::parts(threads, documents, rank_words).iter().map(|part| part.bytes).sum();
        Self { bytes: bytes + bytes / 8, room: None }.rounded_up()
    }

    /// Returns the memory of the program, of its threads and of the documents.
    pub(crate) fn parts(threads: usize, documents: usize, rank_words: usize) -> [Self; 3] {
        // While documents are sorted into keeper order, memory holds only their ranks, their places and a buffer for
        // the sort.
        let document_bytes = DOCUMENT_BYTES.max(10 + 8 * rank_words as u64);
        [PROGRAM_BYTES, threads as u64 * THREAD_BYTES, documents as u64 * document_bytes]
            .map(|bytes| Self { bytes, room: None })
    }

    /// Returns the limit in the form of messages, such as `4,096 MiB`. Messages have binary units, because people type
    /// them, and a decimal unit would be rounded to a limit that is too low.
    pub(crate) fn in_words(self) -> String {
        let (number, unit) = self.in_largest_unit();
        format!("{} {unit}", grouped(number))
    }

    /// Returns the limit in the largest unit that is exact.
    fn in_largest_unit(self) -> (u64, &'static str) {
        let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let exact = |&(_, bits): &(&str, u32)| self.bytes >> bits > 0 && self.bytes.trailing_zeros() >= bits;
        units.into_iter().find(exact).map_or((self.bytes, "B"), |(name, bits)| (self.bytes >> bits, name))
    }

    /// Rounds the limit up to a whole number of MiB.
    pub(crate) fn rounded_up(self) -> Self {
        Self { bytes: self.bytes.next_multiple_of(MIB), ..self }
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::half_of_machine()
    }
}

/// Writes the limit in the form of the option: the largest unit that is exact, without a space.
impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = self.in_largest_unit();
        write!(f, "{number}{unit}")
    }
}

/// Memory for data that grow with the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkingMemory {
    bytes: u64,
}

impl WorkingMemory {
    /// Returns an empty working memory.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { bytes: 0 }
    }

    /// Returns the number of bytes for documents while they are read. With the bytes of [`waiting`](Self::waiting),
    /// they are half of the working memory, because later data about all documents need the other half.
    pub(crate) fn reading(self) -> u64 {
        self.bytes / 2 - self.waiting()
    }

    /// Returns the number of bytes for documents that one thread has read while another thread still reads earlier
    /// documents.
    pub(crate) fn waiting(self) -> u64 {
        self.bytes / 8
    }

    /// Returns the number of bytes of documents that are collected before they are written as one segment.
    pub(crate) fn segment(self) -> u64 {
        self.bytes / 8
    }

    /// Returns the number of bytes that a list may take in memory. Longer lists go to disk.
    pub(crate) fn held(self) -> u64 {
        self.bytes / 8
    }

    /// Returns the number of entries of `bytes` bytes that fit into [`held`](Self::held).
    pub(crate) fn entries(self, bytes: usize) -> usize {
        usize::try_from(self.held() / bytes as u64).unwrap_or(usize::MAX)
    }

    /// Returns the number of bytes of an output that threads keep in memory before the bytes are written.
    pub(crate) fn writing(self) -> u64 {
        self.bytes / 8
    }

    /// Returns the number of bytes for a batch of neighbourhoods that are processed together.
    pub(crate) fn batch(self) -> u64 {
        self.bytes / 4
    }

    /// Returns the number of bytes for whole documents, if the run holds no other data that grow with the corpus.
    pub(crate) fn loaded(self) -> u64 {
        self.bytes / 2
    }

    /// Splits the range of well-mixed keys into parts, so that entries of `bytes` bytes can be processed part by part
    /// within this memory.
    pub(crate) fn parts(self, bytes: u64) -> Parts {
        let parts = bytes.div_ceil((self.bytes / 3).max(1)).next_power_of_two();
        Parts { bits: parts.trailing_zeros() }
    }

    /// Returns the number of items of `bytes` bytes that fit into the memory that [`parts`](Self::parts) plans for
    /// one part.
    pub(crate) fn fitting(self, bytes: u64) -> usize {
        usize::try_from(self.bytes / 3 / bytes.max(1)).unwrap_or(usize::MAX)
    }
}

/// Division of all well-mixed keys into ranges by their first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    bits: u32,
}

impl Parts {
    pub(crate) fn len(self) -> usize {
        1 << self.bits
    }

    /// Returns the part with this number. Parts are in ascending order of their keys.
    pub(crate) fn part(self, number: usize) -> KeyPart {
        KeyPart { bits: self.bits, number: number as u64 }
    }

    /// Returns all parts, in ascending order of their keys.
    pub(crate) fn all(self) -> impl Iterator<Item = KeyPart> {
        (0..self.len()).map(move |number| self.part(number))
    }
}

/// Part of the range of well-mixed keys: all keys with the same first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyPart {
    bits: u32,
    number: u64,
}

impl KeyPart {
    /// The whole range.
    pub(crate) const ALL: Self = Self { bits: 0, number: 0 };

    /// Returns the number of first bits that all keys of the part have in common.
    pub(crate) fn same_bits(self) -> u32 {
        self.bits
    }

    /// Reports whether a key belongs to the part.
    #[inline]
    pub(crate) fn has(self, key: u64) -> bool {
        key.checked_shr(u64::BITS - self.bits).unwrap_or(0) == self.number
    }

    /// Returns the buckets that have the keys of the part, if keys are divided into buckets by their first `bits` bits.
    /// If a bucket is larger than the part, it also has other keys.
    pub(crate) fn buckets(self, bits: u32) -> Range<u64> {
        if let Some(more) = bits.checked_sub(self.bits) {
            self.number << more..(self.number + 1) << more
        } else {
            let bucket = self.number >> (self.bits - bits);
            bucket..bucket + 1
        }
    }
}

#[cfg(target_os = "linux")]
fn machine_bytes() -> Option<u64> {
    let about = fs_err::read_to_string("/proc/meminfo").ok()?;
    let kib = about.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(kib.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Returns the lowest memory limit of the control groups (version 1 or 2) of this process.
#[cfg(target_os = "linux")]
fn control_group_bytes() -> Option<u64> {
    let groups = fs_err::read_to_string("/proc/self/cgroup").unwrap_or_default();
    least_limit(&groups, std::path::Path::new("/sys/fs/cgroup"))
}

/// Returns the lowest limit of the control groups in `groups`, which has the form of `/proc/self/cgroup`. The control
/// groups are mounted at `mounted`.
#[cfg(target_os = "linux")]
fn least_limit(groups: &str, mounted: &std::path::Path) -> Option<u64> {
    let mut files = vec![];
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(kind), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (root, name) = match kind {
            "" => (mounted.to_owned(), "memory.max"),
            kind if kind.split(',').any(|kind| kind == "memory") => {
                (mounted.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // A limit on an outer group holds for its inner groups too, so the files of all ancestors are read. In a
        // container, files of outer groups are not visible.
        let group = std::path::Path::new(group.trim_start_matches('/'));
        files.extend(group.ancestors().map(|group| root.join(group).join(name)));
    }
    files.iter().filter_map(|file| fs_err::read_to_string(file).ok()?.trim().parse().ok()).min()
}

#[cfg(not(target_os = "linux"))]
fn machine_bytes() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn control_group_bytes() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_least_limit_of_the_control_groups_holds() {
        let mounted = tempfile::tempdir().unwrap();
        let write = |file: &str, limit: &str| {
            let path = mounted.path().join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, limit).unwrap();
        };
        let limit = |groups: &str| least_limit(groups, mounted.path());
        assert_eq!(limit("0::/jobs/one\n"), None);
        write("jobs/one/memory.max", "max\n");
        assert_eq!(limit("0::/jobs/one\n"), None);
        write("jobs/memory.max", "3000\n");
        assert_eq!(limit("0::/jobs/one\n"), Some(3000));
        write("jobs/one/memory.max", "2000\n");
        assert_eq!(limit("0::/jobs/one\n"), Some(2000));
        // In a container, the path is that of the host, and the mount point is the container's own group.
        write("memory.max", "1000\n");
        assert_eq!(limit("0::/docker/0123\n"), Some(1000));
        // Version 1 of control groups has one tree per resource.
        write("memory/old/memory.limit_in_bytes", "500\n");
        assert_eq!(limit("5:cpu,memory:/old\n4:pids:/jobs\n"), Some(500));
        assert_eq!(limit("4:pids:/jobs\n"), None);
    }

    #[test]
    fn as_many_threads_as_fit() {
        for mib in [128, 160, 512, 1000, 4096, 100_000] {
            let memory = MemoryLimit::new(mib * MIB).unwrap();
            let threads = memory.most_threads();
            assert!(
                MemoryLimit::least(threads, 1000, 0).bytes <= memory.bytes,
                "{threads} threads in {mib} MiB"
            );
            assert!(
                MemoryLimit::least(threads + 1, 100_000, 0).bytes > memory.bytes,
                "{threads} threads in {mib} MiB"
            );
        }
    }

    #[test]
    fn threads_shrink_as_documents_grow() {
        let memory = MemoryLimit::new(1024 * MIB).unwrap();
        let threads = [0, 2_000_000, 8_000_000, 16_000_000, 26_000_000, 100_000_000]
            .map(|documents| memory.fitting_threads(16, documents, 0));
        assert_eq!(threads, [16, 16, 15, 9, 1, 1]);
        assert_eq!(memory.fitting_threads(2, 8_000_000, 0), 2);
    }

    #[test]
    fn amounts_are_shown_in_the_largest_unit_that_is_exact() {
        for (bytes, shown) in
            [(4 << 30, "4GiB"), (3 << 29, "1536MiB"), (800_000_000, "781250KiB"), (134_217_729, "134217729B")]
        {
            let limit = MemoryLimit::new(bytes).unwrap();
            assert_eq!(limit.to_string(), shown);
            assert_eq!(crate::size_bytes(shown), Some(bytes), "which is what the option takes");
            assert_eq!(crate::size_bytes(&limit.in_words().replace(',', "")), Some(bytes));
        }
        let error = MemoryLimit::new(1 << 20).unwrap_err().to_string();
        assert!(error.contains("1 MiB") && error.contains("at least 128 MiB"), "{error}");
        assert_eq!(MemoryLimit::new(4_500_055 * MIB).unwrap().in_words(), "4,500,055 MiB");
    }

    #[test]
    fn half_of_the_machine_is_no_more_than_it_has() {
        let half = MemoryLimit::half_of_machine().bytes();
        assert!(half >= LEAST_BYTES);
        if let Some(machine) = machine_bytes() {
            assert!(half <= (machine / 2).max(LEAST_BYTES));
        }
    }

    #[test]
    fn every_key_is_in_one_part() {
        let room = WorkingMemory { bytes: 300 };
        for (bytes, parts) in [(0, 1), (100, 1), (101, 2), (401, 8)] {
            assert_eq!(room.parts(bytes).len(), parts);
        }
        let parts = room.parts(800);
        let mut before = 0;
        for key in [0, 1 << 61, (1 << 61) - 1, u64::MAX / 3, u64::MAX] {
            assert_eq!(parts.all().filter(|part| part.has(key)).count(), 1);
        }
        for key in (0..64).map(|i| i << 58) {
            let part = parts.all().position(|part| part.has(key)).unwrap();
            assert!(part >= before);
            before = part;
        }
        assert_eq!(room.parts(1).all().collect::<Vec<_>>(), [KeyPart::ALL]);
        assert!(KeyPart::ALL.has(u64::MAX));
    }

    /// The keys of a part are in its buckets, whether buckets are smaller or larger than parts.
    #[test]
    fn the_buckets_of_a_part_have_all_its_keys() {
        let parts = Parts { bits: 3 };
        for bits in [0, 1, 3, 5] {
            for key in (0..256u64).map(|i| i << 56) {
                let bucket = key.checked_shr(u64::BITS - bits).unwrap_or(0);
                let part = parts.all().find(|part| part.has(key)).unwrap();
                assert!(part.buckets(bits).contains(&bucket));
                let others = parts.all().filter(|other| *other != part);
                let shared = others.filter(|other| other.buckets(bits).contains(&bucket)).count();
                assert_eq!(shared > 0, bits < 3, "{bits} bits, key {key:x}");
            }
        }
    }
}
