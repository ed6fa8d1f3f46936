//! Writes one output file per input, under the same relative name.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::ops::Range;
use std::thread::{self, ScopedJoinHandle};

use super::convert::{check_conversion, convert_annotated, convert_records};
use crate::annotation::Annotation;
use crate::compression::Compression;
use crate::container;
use crate::corpus::{Corpus, annotate_records, copy_records};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::format::Format;
use crate::output::{Output, OutputFolder, OutputVerdict, TableCompression};
use crate::source::Source;

/// Maximum number of files that are written to the disk while the next file is written.
const SYNCING: usize = 4;

/// Copies records to a folder that gets one file per input. An input without records gets a file, too, but an input
/// that cannot be read gets none. The records come in the order of their sources. With a `format`, all files have
/// that format; without it, each file has the format of its input.
///
/// # Errors
/// Fails as [`copy_records`] and [`convert_records`] do, and with
/// [`ErrorKind::BadOutputName`](crate::ErrorKind::BadOutputName) if two inputs have the same name.
/// [`refuse_same_names`](crate::refuse_same_names) finds such names beforehand.
pub fn copy_each(
    corpus: &Corpus,
    places: impl Iterator<Item = RecordPlace>,
    verdict: OutputVerdict,
    format: Option<Format>,
    folder: &OutputFolder,
    compression: TableCompression,
) -> Result<()> {
    each(
        corpus,
        places,
        |place| place.source,
        format,
        folder,
        |sources, places, format, out| {
            if corpus.has_only(sources.clone(), format)? {
                return copy_records(corpus, sources, places, verdict, format, out, compression);
            }
            convert_records(corpus, sources, places, format, out, compression)
        },
    )
}

/// Copies records as [`copy_each`] does, each with its annotation.
///
/// # Errors
/// Fails as [`annotate_records`] and [`convert_annotated`] do, and with
/// [`ErrorKind::BadOutputName`](crate::ErrorKind::BadOutputName) if two inputs have the same name.
pub fn annotate_each<'a>(
    corpus: &Corpus,
    annotated: impl Iterator<Item = (RecordPlace, Annotation<'a>)>,
    format: Option<Format>,
    folder: &OutputFolder,
    compression: TableCompression,
) -> Result<()> {
    each(
        corpus,
        annotated,
        |(place, _)| place.source,
        format,
        folder,
        |sources, annotated, format, out| {
            if corpus.has_only(sources.clone(), format)? {
                return annotate_records(corpus, sources, annotated, format, out, compression);
            }
            convert_annotated(corpus, sources, annotated, format, out, compression)
        },
    )
}

/// Refuses inputs if one of them cannot be written as a separate file of a format. The caller has read all records
/// before.
///
/// # Errors
/// Fails as [`check_conversion`] does, for the first input that cannot be written.
pub fn check_each(corpus: &Corpus, format: Format, has_annotations: bool) -> Result<()> {
    corpus
        .input_numbers()
        .try_for_each(|number| check_conversion(corpus, number..number + 1, format, has_annotations))
}

/// Returns the name of the file that an input becomes in an output folder. If the format changes, the extension
/// changes, too.
pub fn converted_name(input: &str, from: Format, to: Format) -> String {
    if from == to {
        return input.to_owned();
    }
    let bare = Compression::strip(input);
    let stem = match (Format::of_name(bare), bare.rsplit_once('.')) {
        (Some(_), Some((stem, _))) => stem,
        _ => bare,
    };
    let extension = container::of(to).ok().and_then(|to| to.extensions().first().copied());
    format!("{stem}.{}", extension.unwrap_or(to.name()))
}

fn each<T, I: Iterator<Item = T>>(
    corpus: &Corpus,
    items: I,
    source_of: impl Fn(&T) -> u32,
    format: Option<Format>,
    folder: &OutputFolder,
    write: impl Fn(Range<u32>, &mut dyn Iterator<Item = T>, Format, &mut Output) -> Result<()>,
) -> Result<()> {
    let mut items: Peekable<I> = items.peekable();
    let readable = (corpus.references()..).zip(corpus.inputs());
    let readable = readable.filter(|(_, source)| source.unreadable().is_none());
    let mut write_one = |number: u32, source: &Source| {
        let format = format.unwrap_or(source.format());
        let mut out = folder.file(&converted_name(source.id(), source.format(), format))?;
        let mut of_source = std::iter::from_fn(|| items.next_if(|item| source_of(item) == number));
        write(number..number + 1, &mut of_source, format, &mut out)?;
        out.end()
    };
    thread::scope(|scope| {
        let mut syncing: VecDeque<ScopedJoinHandle<'_, Result<()>>> = VecDeque::new();
        let mut written = Ok(());
        for (number, source) in readable {
            if syncing.len() == SYNCING {
                finished(syncing.pop_front())?;
            }
            match write_one(number, source) {
                Ok(out) if folder.threads() <= 1 => out.sync()?.put_in_place()?,
                // The disk takes its time for each file, in which the next file is written.
                Ok(out) => syncing.push_back(scope.spawn(move || out.sync()?.put_in_place())),
                Err(error) => {
                    written = Err(error);
                    break;
                }
            }
        }
        // The files that are synced come before the file that failed, so their errors come first.
        while let Some(file) = syncing.pop_front() {
            finished(Some(file))?;
        }
        written
    })
}

/// Waits until a file is on the disk under its name.
fn finished(file: Option<ScopedJoinHandle<'_, Result<()>>>) -> Result<()> {
    file.map_or(Ok(()), |file| file.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_converted_file_has_another_extension() {
        for (input, name) in [
            ("x/a.jsonl.gz", "x/a.parquet"),
            ("a.csv", "a.parquet"),
            ("a", "a.parquet"),
            ("a.b", "a.b.parquet"),
        ] {
            assert_eq!(converted_name(input, Format::JSONL, Format::PARQUET), name);
        }
        assert_eq!(converted_name("a.ndjson.gz", Format::JSONL, Format::JSONL), "a.ndjson.gz");
    }
}
