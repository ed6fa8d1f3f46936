//! How much memory a run may take, and what for.

use std::fmt;
use std::ops::Range;

use minwise::{Error, ErrorKind};

const MIB: u64 = 1 << 20;

/// What the program itself needs, whatever the corpus, and each of its threads.
const PROGRAM_BYTES: u64 = 48 * MIB;
const THREAD_BYTES: u64 = 40 * MIB;
/// The least that can be asked for.
const LEAST_BYTES: u64 = 128 * MIB;
/// What is remembered of every document until the end, though it lies on disk: its place in keeper order, the one that
/// stands for it, its neighbourhood and what became of it.
pub(crate) const DOCUMENT_BYTES: u64 = 32;
/// Where the memory of the machine cannot be found out.
const UNKNOWN_BYTES: u64 = 4096 * MIB;

/// The most memory that a run is to take. It never changes what comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    bytes: u64,
    /// What is taken to be left for what grows with the corpus, instead of counting it.
    room: Option<u64>,
}

impl MemoryLimit {
    /// At most this many bytes, at least 128 MiB.
    ///
    /// # Errors
    /// Fails with [`minwise::ErrorKind::OutOfRange`] if `bytes` is less than 128 MiB.
    pub fn new(bytes: u64) -> Result<Self, Error> {
        if bytes < LEAST_BYTES {
            let expected = format!("at least {}", Self { bytes: LEAST_BYTES, room: None });
            let given = Self { bytes, room: None }.to_string();
            return Err(ErrorKind::OutOfRange { setting: "the memory of a run", given, expected }.into());
        }
        Ok(Self { bytes, room: None })
    }

    /// Half of what this process may have: of the machine's memory, or of the limit of its control group.
    #[must_use]
    pub fn half_of_machine() -> Self {
        let limits = [machine_bytes(), control_group_bytes()];
        let all = limits.into_iter().flatten().min().unwrap_or(2 * UNKNOWN_BYTES);
        Self { bytes: (all / 2).max(LEAST_BYTES), room: None }
    }

    /// So little that small corpora go to disk too, whatever the program itself takes: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_room(room: u64) -> Self {
        Self { room: Some(room), ..Self::half_of_machine() }
    }

    /// How many bytes that is.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// The most threads that a run can have in it, and at least one.
    #[must_use]
    pub fn most_threads(self) -> usize {
        // The inverse of `least`, with room for some documents.
        let left = (self.bytes / 9 * 8).saturating_sub(PROGRAM_BYTES + MIB);
        (left / THREAD_BYTES).max(1) as usize
    }

    /// What is left for what grows with the corpus.
    pub(crate) fn room(self, threads: usize, documents: usize) -> WorkingMemory {
        let taken = PROGRAM_BYTES + threads as u64 * THREAD_BYTES + documents as u64 * DOCUMENT_BYTES;
        let left = self.bytes.saturating_sub(taken).max(self.bytes / 8);
        WorkingMemory { bytes: self.room.unwrap_or(left) }
    }

    /// What is left while documents are brought together, when threads hold no shingle sets and have given back what they read.
    pub(crate) fn gathering_room(self, documents: usize) -> WorkingMemory {
        self.room(1, documents)
    }

    /// The most threads, of those that were asked for, that have memory beside so many documents; one in any case.
    pub(crate) fn fitting_threads(self, asked: usize, documents: usize, rank_words: usize) -> usize {
        let fits = |&threads: &usize| Self::least(threads, documents, rank_words).bytes <= self.bytes;
        (1..=asked).rev().find(fits).unwrap_or(1)
    }

    /// The least memory that a run over this many documents can do with, if each has a rank of this many words.
    pub(crate) fn least(threads: usize, documents: usize, rank_words: usize) -> Self {
        let bytes: u64 = Self::parts(threads, documents, rank_words).iter().map(|part| part.bytes).sum();
        Self { bytes: bytes + bytes / 8, room: None }.rounded_up()
    }

    /// What [`least`](Self::least) adds up: the memory of the program, of its threads and of the documents.
    pub(crate) fn parts(threads: usize, documents: usize, rank_words: usize) -> [Self; 3] {
        // While documents are put in order there are their ranks, their places, and room to sort them, and nothing else yet.
        let document_bytes = DOCUMENT_BYTES.max(10 + 8 * rank_words as u64);
        [PROGRAM_BYTES, threads as u64 * THREAD_BYTES, documents as u64 * document_bytes]
            .map(|bytes| Self { bytes, room: None })
    }

    /// A whole number of MiB.
    pub(crate) fn rounded_up(self) -> Self {
        Self { bytes: self.bytes.next_multiple_of(MIB), ..self }
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::half_of_machine()
    }
}

/// In the largest unit that is exact.
impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let exact = |&(_, bits): &(&str, u32)| self.bytes >> bits > 0 && self.bytes.trailing_zeros() >= bits;
        match units.into_iter().find(exact) {
            Some((name, bits)) => write!(f, "{}{name}", self.bytes >> bits),
            None => write!(f, "{}B", self.bytes),
        }
    }
}

/// Memory for what grows with the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkingMemory {
    bytes: u64,
}

impl WorkingMemory {
    /// None.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { bytes: 0 }
    }

    /// For documents while they are read, beside those of [`waiting`](Self::waiting). What is found out about all of them
    /// afterwards needs as much again.
    pub(crate) fn reading(self) -> u64 {
        self.bytes / 2 - self.waiting()
    }

    /// For documents that one thread has read before another thread is done with earlier ones.
    pub(crate) fn waiting(self) -> u64 {
        self.bytes / 8
    }

    /// For documents before they are put away together.
    pub(crate) fn segment(self) -> u64 {
        self.bytes / 8
    }

    /// For what lies on disk if it is more.
    pub(crate) fn held(self) -> u64 {
        self.bytes / 8
    }

    /// How many entries of so many bytes that is.
    pub(crate) fn entries(self, bytes: usize) -> usize {
        usize::try_from(self.held() / bytes as u64).unwrap_or(usize::MAX)
    }

    /// Returns the bytes of an output that threads keep in memory before they are written.
    pub(crate) fn writing(self) -> u64 {
        self.bytes / 8
    }

    /// For a batch of neighbourhoods that are worked on together.
    pub(crate) fn batch(self) -> u64 {
        self.bytes / 4
    }

    /// For documents that are held whole, where nothing else is.
    pub(crate) fn loaded(self) -> u64 {
        self.bytes / 2
    }

    /// Parts of the range of mixed keys, so that what takes `bytes` in all fits if it is taken part by part.
    pub(crate) fn parts(self, bytes: u64) -> Parts {
        let parts = bytes.div_ceil((self.bytes / 3).max(1)).next_power_of_two();
        Parts { bits: parts.trailing_zeros() }
    }

    /// How many times `bytes` fit into what [`parts`](Self::parts) has for one part.
    pub(crate) fn fitting(self, bytes: u64) -> usize {
        usize::try_from(self.bytes / 3 / bytes.max(1)).unwrap_or(usize::MAX)
    }
}

/// A cut of all mixed keys into ranges by their first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    bits: u32,
}

impl Parts {
    pub(crate) fn len(self) -> usize {
        1 << self.bits
    }

    pub(crate) fn all(self) -> Range<u64> {
        0..self.len() as u64
    }

    /// Whether a key belongs to a part. Parts are in the order of their keys.
    pub(crate) fn has(self, part: u64, key: u64) -> bool {
        key.checked_shr(u64::BITS - self.bits).unwrap_or(0) == part
    }
}

#[cfg(target_os = "linux")]
fn machine_bytes() -> Option<u64> {
    let about = fs_err::read_to_string("/proc/meminfo").ok()?;
    let kib = about.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(kib.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// The least limit of the control groups this process is in, of either version.
#[cfg(target_os = "linux")]
fn control_group_bytes() -> Option<u64> {
    let groups = fs_err::read_to_string("/proc/self/cgroup").unwrap_or_default();
    least_limit(&groups, std::path::Path::new("/sys/fs/cgroup"))
}

/// The least limit of some groups, as a process is told of them, that are mounted here.
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
        // A limit on an outer group holds for the inner ones; in a container the outer ones are not to be seen.
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
        // In a container the path is that of the host, and the own group is what is mounted.
        write("memory.max", "1000\n");
        assert_eq!(limit("0::/docker/0123\n"), Some(1000));
        // The first version has a tree for each resource.
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
            assert_eq!(MemoryLimit::new(bytes).unwrap().to_string(), shown);
        }
        let error = MemoryLimit::new(1 << 20).unwrap_err().to_string();
        assert!(error.contains("1MiB") && error.contains("at least 128MiB"), "{error}");
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
            assert_eq!(parts.all().filter(|&part| parts.has(part, key)).count(), 1);
        }
        for key in (0..64).map(|i| i << 58) {
            let part = parts.all().find(|&part| parts.has(part, key)).unwrap();
            assert!(part >= before);
            before = part;
        }
        assert!(room.parts(1).has(0, u64::MAX));
    }
}
