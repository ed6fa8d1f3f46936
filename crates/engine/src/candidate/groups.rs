//! Groups of documents that agree in a band, in memory or on disk.

use std::path::Path;

use bytemuck::cast_slice;
use minwise_corpus::Temporary;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::storage::store::{StoreWriter, StoredFile};
use crate::storage::work::{self, WorkFile, WorkFolder};

/// Number of words that are read together.
const TOGETHER: usize = 256 << 10;
/// Minimum number of words per chunk. A chunk has whole groups, and is the work of one thread at a time.
const CHUNK: u64 = 128 << 10;
const SECTION: &str = "groups";

/// Groups of documents that share a key in one band. A group is stored as its band, its size, and the places of its
/// documents in keeper order, ascending.
#[derive(Debug)]
pub(crate) struct Groups {
    words: Words,
    /// Index of the word at which each chunk ends.
    ends: ChunkEnds,
}

/// Ends of chunks of groups.
#[derive(Debug, Default)]
struct ChunkEnds {
    ends: Vec<u64>,
    words: u64,
}

impl ChunkEnds {
    /// Adds whole groups that take `words` words.
    fn add(&mut self, words: u64) {
        self.words += words;
        if self.words - self.ends.last().copied().unwrap_or(0) >= CHUNK {
            self.ends.push(self.words);
        }
    }

    /// Ends the last chunk.
    fn finish(mut self) -> Self {
        if self.words > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(self.words);
        }
        self
    }
}

#[derive(Debug)]
enum Words {
    Memory(Vec<u32>),
    Temporary { file: Temporary, words: u64 },
    Stored { file: StoredFile, begin: u64, words: u64 },
}

impl Words {
    /// Fills `out` with the words that begin at index `first`.
    fn read(&self, first: u64, out: &mut [u32]) -> Result<(), Error> {
        match self {
            Self::Memory(words) => {
                out.copy_from_slice(&words[first as usize..][..out.len()]);
                Ok(())
            }
            Self::Temporary { file, .. } => Ok(file.read_exact_at(4 * first, bytemuck::cast_slice_mut(out))?),
            Self::Stored { file, begin, .. } => {
                file.read_exact_at(begin + 4 * first, bytemuck::cast_slice_mut(out))
            }
        }
    }

    /// Returns the error that the last group is incomplete.
    fn wrong(&self) -> Error {
        let reason = "its last group has fewer documents than it says".to_owned();
        match self {
            Self::Stored { file, .. } => file.wrong(reason),
            Self::Memory(_) | Self::Temporary { .. } => Error::file("read", "a temporary file", reason),
        }
    }
}

/// Returns the groups of a list of words, each as its band and its places. Ends before an incomplete group.
pub(super) fn groups_in(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words;
    std::iter::from_fn(move || {
        let [band, size, behind @ ..] = rest else { return None };
        let (group, behind) = behind.split_at_checked(*size as usize)?;
        rest = behind;
        Some((*band, group))
    })
}

impl Groups {
    /// Returns the number of chunks, which have all groups in order.
    pub(super) fn chunks(&self) -> usize {
        self.ends.ends.len()
    }

    /// Reports whether the groups are in memory.
    pub(super) fn are_held(&self) -> bool {
        matches!(self.words, Words::Memory(_))
    }

    /// Returns the words of a chunk. `block` is a buffer for words on disk.
    pub(super) fn chunk<'w>(&'w self, chunk: usize, block: &'w mut Vec<u32>) -> Result<&'w [u32], Error> {
        let begin = chunk.checked_sub(1).map_or(0, |before| self.ends.ends[before]);
        let words = (self.ends.ends[chunk] - begin) as usize;
        if let Words::Memory(all) = &self.words {
            return Ok(&all[begin as usize..][..words]);
        }
        block.resize(words, 0);
        self.words.read(begin, block)?;
        Ok(block)
    }

    /// Visits all groups, in the order in which they were added.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u32, &[u32])) -> Result<(), Error> {
        let all = match &self.words {
            Words::Memory(words) => {
                let visited = visit_whole(words, &mut visit);
                return if visited == words.len() { Ok(()) } else { Err(self.words.wrong()) };
            }
            Words::Temporary { words, .. } | Words::Stored { words, .. } => *words,
        };
        let mut block: Vec<u32> = vec![];
        let mut next = 0;
        while next < all {
            let rest = block.len();
            // If a group is larger than a block, the block grows.
            let wanted = TOGETHER.max(rest) as u64;
            let more = wanted.min(all - next) as usize;
            block.resize(rest + more, 0);
            self.words.read(next, &mut block[rest..])?;
            next += more as u64;
            let visited = visit_whole(&block, &mut visit);
            block.drain(..visited);
        }
        if block.is_empty() { Ok(()) } else { Err(self.words.wrong()) }
    }
}

/// Visits the complete groups at the beginning of `words`. Returns the number of words that these groups take.
fn visit_whole(words: &[u32], visit: &mut impl FnMut(u32, &[u32])) -> usize {
    let mut visited = 0;
    for (band, group) in groups_in(words) {
        visit(band, group);
        visited += 2 + group.len();
    }
    visited
}

/// Description of the groups in their file.
#[derive(Debug, Serialize, Deserialize)]
struct GroupsHeader {
    words: u64,
}

/// Groups while they are being found.
pub(crate) struct NewGroups<'a> {
    held: Vec<u32>,
    /// Maximum number of words in memory. If the groups have more words, all groups go to disk.
    most: usize,
    folder: Option<&'a Path>,
    spilled: Option<(Temporary, u64)>,
    file: Option<(&'a WorkFolder, StoreWriter, u64)>,
    ends: ChunkEnds,
}

impl<'a> NewGroups<'a> {
    /// Creates an empty list. If the groups take more than `held_bytes`, they go to an unnamed file in `folder`. With
    /// `work`, all groups go to the work folder of the run.
    pub(crate) fn new(
        held_bytes: u64,
        folder: Option<&'a Path>,
        work: Option<&'a WorkFolder>,
    ) -> Result<Self, Error> {
        let file = match work {
            None => None,
            Some(work) => {
                let mut writer = work.create(WorkFile::Groups)?;
                writer.begin(SECTION)?;
                Some((work, writer, 0))
            }
        };
        let most = (held_bytes / 4) as usize;
        Ok(Self { held: vec![], most, folder, spilled: None, file, ends: ChunkEnds::default() })
    }

    /// Adds groups that [`push`] has encoded.
    pub(crate) fn add(&mut self, words: &[u32]) -> Result<(), Error> {
        self.ends.add(words.len() as u64);
        if let Some((_, writer, written)) = &mut self.file {
            *written += words.len() as u64;
            return writer.write(cast_slice(words));
        }
        self.held.extend_from_slice(words);
        if self.held.len() <= self.most {
            return Ok(());
        }
        let (file, written) = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert((Temporary::create(self.folder)?, 0)),
        };
        file.append(cast_slice(&self.held))?;
        *written += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Groups, Error> {
        let words = match (self.file, self.spilled) {
            (Some((work, writer, words)), _) => {
                writer.finish(&GroupsHeader { words })?;
                open(work.reopen(WorkFile::Groups)?)?
            }
            (None, Some((file, written))) => {
                file.append(cast_slice(&self.held))?;
                Words::Temporary { file, words: written + self.held.len() as u64 }
            }
            (None, None) => Words::Memory(self.held),
        };
        Ok(Groups { words, ends: self.ends.finish() })
    }
}

/// Opens the groups that an earlier process of the run has found, if that process found all groups.
pub(crate) fn resumed(work: &WorkFolder, documents: usize, bands: usize) -> Result<Option<Groups>, Error> {
    if !work.has(WorkFile::Groups) {
        return Ok(None);
    }
    let words = open(work.open_piece(WorkFile::Groups)?)?;
    let mut groups = Groups { words, ends: ChunkEnds::default() };
    let (mut sensible, mut ends) = (true, ChunkEnds::default());
    groups.for_each(|band, group| {
        ends.add(2 + group.len() as u64);
        sensible &= (band as usize) < bands
            && group.len() > 1
            && group.is_sorted()
            && group.iter().all(|&place| (place as usize) < documents);
    })?;
    match &groups.words {
        Words::Stored { file, words: all, .. } if !sensible || ends.words != *all => {
            Err(file.wrong("it groups documents or bands that are not there".to_owned()))
        }
        _ => {
            groups.ends = ends.finish();
            Ok(Some(groups))
        }
    }
}

fn open(file: StoredFile) -> Result<Words, Error> {
    let GroupsHeader { words } = work::about(&file)?;
    let [range] = file.ranges([SECTION])?;
    if Some(range.end - range.start) != words.checked_mul(4) {
        return Err(file.wrong(format!("its section `{SECTION}` has another length")));
    }
    Ok(Words::Stored { file, begin: range.start, words })
}

/// Encodes a group and appends it to `words`.
pub(crate) fn push(words: &mut Vec<u32>, band: usize, places: impl ExactSizeIterator<Item = u32>) {
    words.extend([band as u32, places.len() as u32]);
    words.extend(places);
}

#[cfg(test)]
mod tests {
    use minwise_corpus::{Corpus, ReadOptions};

    use super::*;
    use crate::storage::work::Manifest;
    use minwise::Unobserved;

    /// A file of a work folder can be complete, and yet belong to another run.
    #[test]
    fn groups_of_what_is_not_there_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("in.jsonl");
        fs_err::write(&file, "{\"text\":\"one\"}\n").unwrap();
        let corpus = Corpus::open(&[file.into()], &ReadOptions::default(), &Unobserved).unwrap();
        let manifest = Manifest::new(vec![], &corpus, 1, &Unobserved).unwrap();
        let work = WorkFolder::open(&folder.path().join("work"), &manifest, false).unwrap();
        let mut new = NewGroups::new(0, None, Some(&work)).unwrap();
        let mut words = vec![];
        push(&mut words, 3, [0, 1].into_iter());
        new.add(&words).unwrap();
        new.finish().unwrap();
        assert!(resumed(&work, 2, 4).unwrap().is_some());
        for (documents, bands) in [(2, 3), (1, 4)] {
            let error = resumed(&work, documents, bands).unwrap_err().to_string();
            assert!(error.ends_with("it groups documents or bands that are not there"), "{error}");
        }
    }

    #[test]
    fn a_group_that_is_cut_off_is_told() {
        for most in [0, 1000] {
            let mut new = NewGroups::new(most, None, None).unwrap();
            new.add(&[0, 2, 5, 7, 1, 3, 5, 7]).unwrap();
            let mut whole = 0;
            let error = new.finish().unwrap().for_each(|_, _| whole += 1).unwrap_err().to_string();
            assert!(error.ends_with("its last group has fewer documents than it says"), "{error}");
            assert_eq!(whole, 1);
        }
    }

    #[test]
    fn groups_come_back_wherever_they_were() {
        // One group is larger than a block that is read.
        let sizes = [2, 3, TOGETHER as u32 * 2 + 5, 2, 700];
        let group = |number: u32| (0..sizes[number as usize % 5]).map(move |place| place * 7 + number);
        for most in [0, 1000, u64::MAX / 2] {
            let mut new = NewGroups::new(most, None, None).unwrap();
            for number in 0..15 {
                let mut words = vec![];
                push(&mut words, number as usize, group(number).collect::<Vec<_>>().into_iter());
                new.add(&words).unwrap();
            }
            let groups = new.finish().unwrap();
            let mut next = 0;
            groups
                .for_each(|band, places| {
                    assert_eq!(band, next);
                    assert!(places.iter().copied().eq(group(next)));
                    next += 1;
                })
                .unwrap();
            assert_eq!(next, 15);
            let mut next = 0;
            let mut block = vec![];
            for chunk in 0..groups.chunks() {
                for (band, places) in groups_in(groups.chunk(chunk, &mut block).unwrap()) {
                    assert_eq!(band, next);
                    assert!(places.iter().copied().eq(group(next)));
                    next += 1;
                }
            }
            assert_eq!((next, groups.chunks()), (15, 4));
        }
    }
}
