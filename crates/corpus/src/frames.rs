//! Decompresses a Zstandard file of several frames with several threads.
//!
//! The calling thread cuts the file into tasks of whole frames, worker threads decompress the tasks, and the calling
//! thread returns their bytes in order. A frame that is damaged or too large is decompressed by the calling thread, as
//! a stream, so errors are those of a file that one thread decompresses.

use std::collections::VecDeque;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use zstd::zstd_safe::find_frame_compressed_size;

use crate::compression::Compression;

/// Minimum size in bytes of a file that several threads decompress. Starting threads for a smaller file takes longer.
pub(crate) const LEAST_FILE_BYTES: u64 = 4 << 20;
/// Number of compressed bytes at which a task ends.
const TASK_BYTES: usize = 1 << 20;
/// Maximum number of compressed bytes of a frame, because each thread holds a task.
const FRAME_BYTES: usize = 12 << 20;
/// Maximum number of decompressed bytes of a task. Together with the compressed bytes, this is less than a run counts
/// per thread.
const DECODED_BYTES: u64 = 24 << 20;
/// Number of bytes that are read at a time.
const READ_BYTES: usize = 256 << 10;

/// Calls `read` with a reader of the decompressed bytes of `file`.
pub(crate) fn with_reader<F: Read, T>(file: F, threads: usize, read: impl FnOnce(&mut dyn Read) -> T) -> T {
    let (tasks, receive) = sync_channel::<Task>(threads);
    let receive = Mutex::new(receive);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let task = receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(Task { frames, out, reply }) = task else { return };
                    // The result of `send` is ignored, because a reader that has failed no longer receives.
                    let _ = reply.send(decoded(frames, out));
                }
            });
        }
        // The reader owns the sender of tasks. When it is dropped, the workers end.
        read(&mut FrameReader {
            file: Some(file),
            pending: Pending::default(),
            tasks,
            waiting: VecDeque::new(),
            ahead: threads,
            has_begun: false,
            spare: vec![],
            current: Current::Decoded(Cursor::new(vec![])),
        })
    })
}

/// Whole frames that a worker decompresses.
struct Task {
    frames: Vec<u8>,
    /// Empty buffer for the decompressed bytes.
    out: Vec<u8>,
    reply: SyncSender<DecodedTask>,
}

/// Result of a task, with its two buffers.
struct DecodedTask {
    frames: Vec<u8>,
    out: Vec<u8>,
    /// Whether `out` has all decompressed bytes. Otherwise the frames are damaged or have too many decompressed bytes.
    is_whole: bool,
}

fn decoded(frames: Vec<u8>, mut out: Vec<u8>) -> DecodedTask {
    // Memory that is never touched costs nothing. A buffer that grows step by step would leave its smaller versions
    // behind.
    out.reserve(DECODED_BYTES as usize + 64);
    let read = Compression::Zstd
        .decoder(frames.as_slice())
        .and_then(|decoder| decoder.take(DECODED_BYTES + 1).read_to_end(&mut out));
    let is_whole = read.is_ok() && out.len() as u64 <= DECODED_BYTES;
    DecodedTask { frames, out, is_whole }
}

/// Bytes that were read from the file and are in no task yet.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    begin: usize,
    is_at_end: bool,
}

impl Pending {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.begin..]
    }

    /// Reads more bytes: as many as are pending, so that a large frame is looked at only a few times.
    fn read_more(&mut self, file: &mut impl Read) -> io::Result<()> {
        self.bytes.drain(..self.begin);
        self.begin = 0;
        let wanted = self.bytes.len().max(READ_BYTES) as u64;
        let read = file.by_ref().take(wanted).read_to_end(&mut self.bytes)?;
        self.is_at_end = (read as u64) < wanted;
        Ok(())
    }
}

/// Source of the bytes that the reader returns next.
enum Current<F: Read> {
    Decoded(Cursor<Vec<u8>>),
    /// Frames of one task, as a stream.
    Task(Box<dyn Read>),
    /// The rest of the file, as a stream.
    Rest(Rest<F>),
}

/// Decoder of the rest of a file.
type Rest<F> = zstd::stream::read::Decoder<'static, BufReader<Chain<Cursor<Vec<u8>>, F>>>;

struct FrameReader<F: Read> {
    /// The file; `None` if the rest of it is read as a stream.
    file: Option<F>,
    pending: Pending,
    tasks: SyncSender<Task>,
    /// Receivers of the results of all tasks that were not returned yet, in order.
    waiting: VecDeque<Receiver<DecodedTask>>,
    /// Maximum number of tasks that wait.
    ahead: usize,
    /// Whether the file had a task.
    has_begun: bool,
    /// Buffers that are used again, because the allocator returns freed memory only after a while: with new buffers for
    /// every task, a file of 1.8 GB took 3.2 GB on sixteen cores.
    spare: Vec<Vec<u8>>,
    current: Current<F>,
}

impl<F: Read> FrameReader<F> {
    /// Returns the next whole frames of the file, about [`TASK_BYTES`] of them; `None` if the file ends, or if the next
    /// frame is too large or damaged.
    fn next_frames(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut end = 0;
        while end < TASK_BYTES {
            match find_frame_compressed_size(&self.pending.rest()[end..]) {
                Ok(bytes) => end += bytes,
                // The frame may be incomplete, because its rest was not read yet.
                Err(_) if self.pending.is_at_end || self.pending.rest().len() - end > FRAME_BYTES => break,
                Err(_) => self.pending.read_more(file)?,
            }
        }
        if end == 0 {
            return Ok(None);
        }
        let mut frames = self.buffer();
        frames.extend_from_slice(&self.pending.rest()[..end]);
        self.pending.begin += end;
        Ok(Some(frames))
    }

    /// Returns an empty buffer.
    fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Keeps a buffer for reuse.
    fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.spare.push(buffer);
    }

    /// Begins tasks until enough of them wait.
    fn begin_tasks(&mut self) -> io::Result<()> {
        while self.waiting.len() < self.ahead {
            let Some(frames) = self.next_frames()? else { return Ok(()) };
            let (out, (reply, result)) = (self.buffer(), sync_channel(1));
            let ended = |_| io::Error::other("all threads that decompress have ended");
            self.tasks.send(Task { frames, out, reply }).map_err(ended)?;
            self.waiting.push_back(result);
            self.has_begun = true;
        }
        Ok(())
    }

    /// Makes the next bytes current. Returns false at the end of the file.
    fn advance(&mut self) -> io::Result<bool> {
        if let Current::Decoded(bytes) = &mut self.current {
            let bytes = std::mem::take(bytes.get_mut());
            self.give_back(bytes);
        }
        self.begin_tasks()?;
        if let Some(result) = self.waiting.pop_front() {
            let ended = |_| io::Error::other("a thread that decompresses has ended");
            let DecodedTask { frames, out, is_whole } = result.recv().map_err(ended)?;
            self.current = if is_whole {
                self.give_back(frames);
                Current::Decoded(Cursor::new(out))
            } else {
                self.give_back(out);
                Current::Task(Compression::Zstd.decoder(BufReader::new(Cursor::new(frames)))?)
            };
            return Ok(true);
        }
        let Some(file) = self.file.take() else { return Ok(false) };
        // A file without any frame is an error of the decoder.
        if self.has_begun && self.pending.rest().is_empty() && self.pending.is_at_end {
            return Ok(false);
        }
        let begun = Cursor::new(self.pending.rest().to_vec());
        self.pending = Pending::default();
        let mut decoder = zstd::stream::read::Decoder::with_buffer(BufReader::new(begun.chain(file)))?;
        decoder.window_log_max(crate::compression::ZSTD_WINDOW_LOG_MAX)?;
        self.current = Current::Rest(decoder);
        Ok(true)
    }
}

impl<F: Read> Read for FrameReader<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let bytes = match &mut self.current {
                Current::Decoded(bytes) => bytes.read(out)?,
                Current::Task(frames) => frames.read(out)?,
                Current::Rest(rest) => rest.read(out)?,
            };
            if bytes > 0 || out.is_empty() || !self.advance()? {
                return Ok(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that compress to about a third.
    fn text(bytes: usize, seed: u32) -> Vec<u8> {
        let word = |at: usize| (at as u32 / 4).wrapping_mul(0x9e37_79b9).wrapping_add(seed) >> 20;
        (0..bytes).map(|at| b'a' + (word(at) >> (at % 4 * 2) & 15) as u8).collect()
    }

    fn frame(bytes: &[u8]) -> Vec<u8> {
        zstd::stream::encode_all(bytes, 1).unwrap()
    }

    /// Reads all bytes until the end or an error, as the spool does.
    fn drained(reader: &mut dyn Read) -> (Vec<u8>, Option<String>) {
        let (mut all, mut block) = (vec![], vec![0; 10_000]);
        loop {
            match reader.read(&mut block) {
                Ok(0) => return (all, None),
                Ok(bytes) => all.extend_from_slice(&block[..bytes]),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn threads_read_what_one_thread_reads() {
        let large = text(40 << 20, 7);
        let small: Vec<Vec<u8>> = (0..300).map(|n| text(n * 97, n as u32)).collect();
        let middle: Vec<Vec<u8>> = (0..9).map(|n| text(3 << 20, n)).collect();
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"empty"].concat();
        let many: Vec<u8> = small.iter().flat_map(|bytes| frame(bytes)).collect();
        let frames: Vec<u8> = middle.iter().flat_map(|bytes| frame(bytes)).collect();
        let mixed = [&skippable[..], &many, &frames, &frame(&large), &skippable, &many].concat();
        let mut broken = frames.clone();
        let at = frames.len() / 2;
        broken[at..at + 50].fill(0xff);
        let cases = [
            ("empty", vec![]),
            ("one", frame(&text(100_000, 1))),
            ("large", frame(&large)),
            ("many", many.clone()),
            ("frames", frames.clone()),
            ("mixed", mixed.clone()),
            ("cut", frames[..frames.len() - 9].to_vec()),
            ("cut in a header", [&frames[..], &frames[..3]].concat()),
            ("foreign end", [&frames[..], b"and no frame"].concat()),
            ("broken", broken),
        ];
        for (name, file) in &cases {
            let mut serial = Compression::Zstd.decoder(file.as_slice()).unwrap();
            let expected = drained(&mut serial);
            for threads in [1, 2, 5] {
                let found = with_reader(file.as_slice(), threads, drained);
                assert_eq!(found.1, expected.1, "{name}, {threads} threads");
                assert!(found.0 == expected.0, "{name}, {threads} threads: {} bytes", found.0.len());
            }
        }
        assert_eq!(drained(&mut Compression::Zstd.decoder(mixed.as_slice()).unwrap()).1, None);
    }

    #[test]
    fn a_reader_may_stop_early() {
        let frames: Vec<u8> = (0..30).flat_map(|n| frame(&text(1 << 20, n))).collect();
        let first = with_reader(frames.as_slice(), 3, |reader| {
            let mut block = [0; 10];
            reader.read_exact(&mut block).unwrap();
            block
        });
        assert_eq!(first[..], text(10, 0)[..]);
    }

    #[test]
    fn an_error_of_the_disk_is_returned() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(5))
            }
        }
        let (bytes, error) = with_reader(Broken, 2, drained);
        assert_eq!((bytes.len(), error.unwrap()), (0, io::Error::from_raw_os_error(5).to_string()));
    }
}
