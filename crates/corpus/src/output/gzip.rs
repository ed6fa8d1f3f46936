//! Writes a gzip file of one member or more, and compresses it with several threads.
//!
//! A member is cut into blocks of a fixed size. Each block is compressed separately, with the 32 KiB before it as
//! dictionary, and the blocks are joined at whole bytes, as `pigz` does. The bytes therefore do not depend on the
//! number of threads, and the result is an ordinary gzip file: no reader sees where the blocks were joined. Blocks of
//! 256 KiB cost less than 0.1 % of the size; smaller blocks would spend more time on dictionaries.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

/// Compression level, which is the default of `gzip`.
const LEVEL: u32 = 6;
/// Number of bytes that are compressed at a time. Another number would change the bytes of every file.
const BLOCK_BYTES: usize = 256 << 10;
/// Maximum distance to which deflate refers back.
const DICTIONARY_BYTES: usize = 32 << 10;
/// Number of blocks per thread that are being compressed or wait to be.
const WAITING: usize = 2;
/// Header of a member: the method deflate, an unknown system, and no time and no name, because these would differ
/// from run to run.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Writer of a gzip file, member by member. Until `end_member` is called, all bytes belong to one member.
pub(super) struct GzipWriter<W: Write> {
    target: W,
    /// Whether a write has failed, so that nothing can be written behind it.
    has_failed: bool,
    position: Position,
    /// Block that is being filled.
    block: DeflateBlock,
    /// Whether the header of the current member was written, but not its end.
    is_open: bool,
    /// Number of bytes that were compressed or are being compressed.
    taken_bytes: usize,
    /// Checksum of the bytes of the current member that were written.
    crc: Crc,
    /// Blocks that are being compressed, in order.
    compressing: VecDeque<Receiver<io::Result<Compressed>>>,
    workers: Workers,
}

/// Place of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// Before the first member. A file without a member is no gzip file.
    Start,
    Member,
    BetweenMembers,
}

/// Bytes to compress, and before them the dictionary: the preceding bytes of the same member.
#[derive(Debug, Default)]
struct DeflateBlock {
    bytes: Vec<u8>,
    /// Length of the dictionary. The dictionary is the beginning of `bytes`.
    dictionary: usize,
}

impl DeflateBlock {
    fn content(&self) -> &[u8] {
        self.bytes.get(self.dictionary..).unwrap_or_default()
    }

    /// Returns an empty block whose dictionary is the end of this block.
    fn next(&self) -> Self {
        let from = self.bytes.len().saturating_sub(DICTIONARY_BYTES);
        let mut bytes = Vec::with_capacity(DICTIONARY_BYTES + BLOCK_BYTES);
        bytes.extend_from_slice(self.bytes.get(from..).unwrap_or_default());
        Self { dictionary: bytes.len(), bytes }
    }
}

/// Position of a block in its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockEnd {
    /// Other blocks may follow.
    Open,
    /// The block is the last of its member.
    Last,
}

/// A compressed block.
struct Compressed {
    bytes: Vec<u8>,
    crc: Crc,
    end: BlockEnd,
}

/// Compresses a block.
///
/// Each block has a new compressor. A compressor that was reset gave other bytes after other blocks (`zlib-rs`
/// 0.6.8), so the bytes would depend on which thread takes which block. Making a compressor costs a hundredth of the
/// time of a block.
fn compress(block: &DeflateBlock, end: BlockEnd) -> io::Result<Compressed> {
    let mut deflate = Compress::new(Compression::new(LEVEL), false);
    let content = block.content();
    if let Some(dictionary @ [_, ..]) = block.bytes.get(..block.dictionary) {
        deflate.set_dictionary(dictionary)?;
    }
    let mut crc = Crc::new();
    crc.update(content);
    let flush = match end {
        BlockEnd::Open => FlushCompress::Sync,
        BlockEnd::Last => FlushCompress::Finish,
    };
    let mut bytes = Vec::with_capacity(content.len() / 2 + 64);
    loop {
        let rest = content.get(deflate.total_in() as usize..).unwrap_or_default();
        let status = deflate.compress_vec(rest, &mut bytes, flush)?;
        // Unused capacity means that all output was written.
        let is_done = match end {
            BlockEnd::Open => deflate.total_in() == content.len() as u64 && bytes.len() < bytes.capacity(),
            BlockEnd::Last => status == Status::StreamEnd,
        };
        if is_done {
            return Ok(Compressed { bytes, crc, end });
        }
        bytes.reserve(content.len() / 8 + 64);
    }
}

/// A block to compress, and the sender of the result.
type Task = (DeflateBlock, BlockEnd, SyncSender<io::Result<Compressed>>);

type TaskQueue = (SyncSender<Task>, Arc<Mutex<Receiver<Task>>>);

/// Threads that compress blocks. The threads end when the writer is dropped.
struct Workers {
    /// Maximum number of threads. If it is 1, blocks are compressed in the thread that writes.
    most: usize,
    running: usize,
    tasks: Option<TaskQueue>,
}

impl Workers {
    /// Passes a block to a thread.
    fn take(
        &mut self,
        block: DeflateBlock,
        end: BlockEnd,
        waiting: usize,
    ) -> io::Result<Receiver<io::Result<Compressed>>> {
        let (tasks, taken) = self.tasks.get_or_insert_with(|| {
            let (send, receive) = sync_channel(WAITING * self.most);
            (send, Arc::new(Mutex::new(receive)))
        });
        // A thread is started only if all running threads are busy, because small files need fewer threads.
        if self.running < self.most && self.running <= waiting {
            let taken = Arc::clone(taken);
            thread::Builder::new().name("gzip".to_owned()).spawn(move || work(&taken))?;
            self.running += 1;
        }
        let (give, given) = sync_channel(1);
        tasks.send((block, end, give)).map_err(|_| ended())?;
        Ok(given)
    }
}

/// Compresses blocks until there are no more.
fn work(tasks: &Mutex<Receiver<Task>>) {
    loop {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((block, end, give)) = task else { return };
        // An error is ignored, because a writer that was dropped no longer waits for the result.
        let _ = give.send(compress(&block, end));
    }
}

/// Returns the error of a thread that panicked.
fn ended() -> io::Error {
    io::Error::other("a thread that compresses has ended")
}

impl<W: Write> GzipWriter<W> {
    pub(super) fn new(target: W) -> Self {
        Self {
            target,
            has_failed: false,
            position: Position::Start,
            block: DeflateBlock::default(),
            is_open: false,
            taken_bytes: 0,
            crc: Crc::new(),
            compressing: VecDeque::new(),
            workers: Workers { most: 1, running: 0, tasks: None },
        }
    }

    /// Compresses with this number of threads from now on.
    pub(super) fn set_threads(&mut self, threads: usize) {
        self.workers.most = threads;
    }

    /// Ends the current member, if it has bytes.
    pub(super) fn end_member(&mut self) -> io::Result<()> {
        self.unless_failed(Self::end)
    }

    /// Writes bytes that are already gzip members.
    pub(super) fn write_members(&mut self, members: &[u8]) -> io::Result<()> {
        self.unless_failed(|writer| {
            writer.end()?;
            writer.drain(0)?;
            if !members.is_empty() {
                writer.position = Position::BetweenMembers;
            }
            writer.target.write_all(members)
        })
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.unless_failed(|writer| {
            if writer.position == Position::Start {
                writer.position = Position::Member;
            }
            writer.end()?;
            writer.drain(0)
        })?;
        Ok(self.target)
    }

    /// Runs `act` unless an earlier write failed. After a failure, bytes are missing in the file.
    fn unless_failed<T>(&mut self, act: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        if self.has_failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        let done = act(self);
        self.has_failed = done.is_err();
        done
    }

    fn end(&mut self) -> io::Result<()> {
        if self.position == Position::Member {
            let block = std::mem::take(&mut self.block);
            self.compress(block, BlockEnd::Last)?;
            self.position = Position::BetweenMembers;
        }
        Ok(())
    }

    /// Compresses a block, in this thread or in another.
    fn compress(&mut self, block: DeflateBlock, end: BlockEnd) -> io::Result<()> {
        // A small file is compressed in this thread, because starting a thread would not pay.
        let is_small = self.taken_bytes < BLOCK_BYTES && end == BlockEnd::Last;
        self.taken_bytes = self.taken_bytes.saturating_add(block.content().len());
        if self.workers.most <= 1 || is_small {
            self.drain(0)?;
            let compressed = compress(&block, end)?;
            return self.put(&compressed);
        }
        self.drain(WAITING * self.workers.most - 1)?;
        let waiting = self.compressing.len();
        self.compressing.push_back(self.workers.take(block, end, waiting)?);
        Ok(())
    }

    /// Waits until at most `most` blocks are being compressed.
    fn drain(&mut self, most: usize) -> io::Result<()> {
        while self.compressing.len() > most
            && let Some(first) = self.compressing.pop_front()
        {
            let compressed = first.recv().map_err(|_| ended())??;
            self.put(&compressed)?;
        }
        Ok(())
    }

    /// Writes a compressed block. Before the first block of a member, writes the header, and behind the last block,
    /// the checksum.
    fn put(&mut self, compressed: &Compressed) -> io::Result<()> {
        if !self.is_open {
            self.target.write_all(&HEADER)?;
            self.is_open = true;
        }
        self.target.write_all(&compressed.bytes)?;
        self.crc.combine(&compressed.crc);
        if compressed.end == BlockEnd::Last {
            self.target.write_all(&self.crc.sum().to_le_bytes())?;
            self.target.write_all(&self.crc.amount().to_le_bytes())?;
            self.crc.reset();
            self.is_open = false;
        }
        Ok(())
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_failed(|writer| {
            writer.position = Position::Member;
            // A full block is compressed only when another byte follows, because the last block of a member is
            // compressed in another way.
            let mut room = BLOCK_BYTES.saturating_sub(writer.block.content().len());
            if room == 0 && !bytes.is_empty() {
                let next = writer.block.next();
                let block = std::mem::replace(&mut writer.block, next);
                writer.compress(block, BlockEnd::Open)?;
                room = BLOCK_BYTES;
            }
            let (taken, _) = bytes.split_at(room.min(bytes.len()));
            writer.block.bytes.extend_from_slice(taken);
            Ok(taken.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed(|writer| {
            if !writer.block.content().is_empty() {
                let next = writer.block.next();
                let block = std::mem::replace(&mut writer.block, next);
                writer.compress(block, BlockEnd::Open)?;
            }
            writer.drain(0)?;
            writer.target.flush()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::compression::tests::gzip;
    use crate::members::MemberReader;

    /// Returns the content of a file, and the lengths of the contents of its members.
    fn unpack(file: &[u8]) -> (Vec<u8>, Vec<u64>) {
        let (mut reader, mut content) = (MemberReader::new(file), vec![]);
        reader.read_to_end(&mut content).unwrap();
        let members = reader.into_members();
        let lengths = members.as_slice().iter().map(|member| member.content.end - member.content.start);
        (content, lengths.collect())
    }

    #[test]
    fn members_are_written_and_copied() {
        let mut writer = GzipWriter::new(vec![]);
        writer.write_all(b"one").unwrap();
        writer.write_all(b"two").unwrap();
        writer.end_member().unwrap();
        writer.end_member().unwrap();
        writer.write_members(&gzip(b"copied")).unwrap();
        writer.write_all(b"last").unwrap();
        writer.flush().unwrap();
        let file = writer.finish().unwrap();
        assert_eq!(unpack(&file), (b"onetwocopiedlast".to_vec(), vec![6, 6, 4]));
    }

    #[test]
    fn copied_members_are_all_there_is() {
        let mut writer = GzipWriter::new(vec![]);
        writer.write_members(&gzip(b"copied")).unwrap();
        assert_eq!(writer.finish().unwrap(), gzip(b"copied"));
    }

    #[test]
    fn an_empty_file_is_gzip() {
        let file = GzipWriter::new(vec![]).finish().unwrap();
        assert!(!file.is_empty());
        assert_eq!(unpack(&file), (vec![], vec![]));
    }

    /// Makes a text of this length that can be compressed.
    fn text(bytes: usize) -> Vec<u8> {
        let mut random = minwise::hash::SplitMix64::new(bytes as u64);
        std::iter::repeat_with(|| format!("word{} ", random.next_u64() % 5000).into_bytes())
            .flatten()
            .take(bytes)
            .collect()
    }

    fn written(pieces: &[&[u8]], threads: usize) -> Vec<u8> {
        let mut writer = GzipWriter::new(vec![]);
        writer.set_threads(threads);
        for piece in pieces {
            writer.write_all(piece).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn neither_threads_nor_pieces_change_the_bytes_of_a_member() {
        for bytes in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES, 3_000_001] {
            let text = text(bytes);
            let file = written(&[&text], 1);
            assert_eq!(unpack(&file), (text.clone(), if bytes > 0 { vec![bytes as u64] } else { vec![] }));
            let pieces: Vec<&[u8]> = text.chunks(70_001).collect();
            for threads in [1, 2, 5] {
                assert!(written(&pieces, threads) == file, "{bytes} bytes, {threads} threads");
            }
        }
    }

    #[test]
    fn blocks_cost_next_to_no_size() {
        let text = text(20 * BLOCK_BYTES);
        let mut whole = flate2::write::GzEncoder::new(vec![], Compression::new(LEVEL));
        whole.write_all(&text).unwrap();
        let (whole, blocks) = (whole.finish().unwrap().len(), written(&[&text], 2).len());
        assert!(blocks < whole + whole / 500, "{blocks} bytes in blocks, {whole} as a whole");
    }

    #[test]
    fn threads_keep_members_in_order() {
        let texts: Vec<Vec<u8>> =
            (0..300).map(|n| text(if n % 50 == 7 { BLOCK_BYTES + n } else { 13 * n + 1 })).collect();
        let files = [1, 6].map(|threads| {
            let mut writer = GzipWriter::new(vec![]);
            writer.set_threads(threads);
            for (n, text) in texts.iter().enumerate() {
                if n % 9 == 4 {
                    writer.write_members(&gzip(text)).unwrap();
                } else {
                    writer.write_all(text).unwrap();
                    writer.end_member().unwrap();
                }
            }
            writer.finish().unwrap()
        });
        assert!(files[0] == files[1]);
        let (content, lengths) = unpack(&files[1]);
        assert!(content == texts.concat());
        assert_eq!(lengths, texts.iter().map(|text| text.len() as u64).collect::<Vec<_>>());
    }

    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_stays_an_error() {
        let mut writer = GzipWriter::new(FullDisk);
        writer.set_threads(2);
        writer.write_all(&text(4 * BLOCK_BYTES)).unwrap_or(());
        assert!(writer.end_member().and_then(|()| writer.flush()).is_err());
        assert!(writer.write_members(b"more").is_err());
        assert!(writer.finish().is_err());
    }
}
