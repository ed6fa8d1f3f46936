//! Tests of copies of Parquet files with long texts: pages of which all rows are kept keep their stored bytes.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type as ArrowInt64;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minwise_corpus::{
    Output, OutputVerdict, Overwrite, RecordPlace, Scratch, TableCompression, copy_records,
};
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;

use crate::parquet::{GroupWriter, column, parquet, rows, texts};
use crate::support::{Folder, assert_read_again, places, scan};

/// A table whose columns are mostly long: texts of which each is different, some of them null; notes that repeat; texts
/// in a group that may be null; and texts in lists.
const LONG: &str = "message m {
    required int64 id;
    optional binary text (UTF8);
    required binary note (UTF8);
    optional group page { optional binary html (UTF8); }
    required group tags (LIST) { repeated group list { optional binary element (UTF8); } }
}";

/// Makes a text of 150 to 400 letters.
fn long(seed: usize) -> String {
    let mut state = seed as u64 + 1;
    let letters = (0..150 + seed * 37 % 250).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 60) as u8)
    });
    format!("{seed} {}", letters.collect::<String>())
}

fn text_of(row: usize) -> Option<String> {
    (row % 7 != 3).then(|| long(row))
}

/// Writes a row group of the table, with the rows `begin..end`.
fn group(group: &mut GroupWriter<'_, '_>, begin: usize, end: usize) {
    let numbers = || begin..end;
    column::<Int64Type>(
        group,
        &numbers().map(|row| (row as u64).cast_signed()).collect::<Vec<_>>(),
        None,
        None,
    );
    let long_texts: Vec<Option<String>> = numbers().map(text_of).collect();
    texts(group, &long_texts.iter().map(Option::as_deref).collect::<Vec<_>>());
    let values: Vec<ByteArray> = numbers().map(|row| ByteArray::from(&*long(row % 5))).collect();
    column::<ByteArrayType>(group, &values, None, None);
    // Every fifth row has no page, and the next row has a page without text.
    let levels: Vec<i16> = numbers().map(|row| [0, 1, 2, 2, 2][row % 5]).collect();
    let htmls: Vec<ByteArray> =
        numbers().filter(|row| row % 5 > 1).map(|row| ByteArray::from(&*long(1000 + row))).collect();
    column::<ByteArrayType>(group, &htmls, Some(&levels), None);
    // Each row has two tags, and the second of them is null in every third row.
    let repetitions: Vec<i16> = numbers().flat_map(|_| [0, 1]).collect();
    let definitions: Vec<i16> = numbers().flat_map(|row| [2, if row % 3 == 0 { 1 } else { 2 }]).collect();
    let tags: Vec<ByteArray> = numbers()
        .flat_map(|row| (0..if row % 3 == 0 { 1 } else { 2 }).map(move |tag| 5000 + 2 * row + tag))
        .map(|seed| ByteArray::from(&*long(seed)))
        .collect();
    column::<ByteArrayType>(group, &tags, Some(&definitions), Some(&repetitions));
}

/// Rows of the row groups.
const GROUPS: [(usize, usize); 3] = [(0, 95), (95, 96), (96, 150)];
const ROWS: usize = 150;

fn table(properties: WriterPropertiesBuilder) -> Vec<u8> {
    let groups = GROUPS.map(|(begin, end)| move |to: &mut GroupWriter<'_, '_>| group(to, begin, end));
    parquet(LONG, properties, &groups.each_ref().map(|group| group as &dyn Fn(&mut GroupWriter<'_, '_>)))
}

/// Returns settings with pages of ten rows.
fn paged() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_data_page_row_count_limit(10).set_write_batch_size(10)
}

/// Settings of the writers of the inputs.
fn settings() -> Vec<(String, WriterPropertiesBuilder)> {
    let mut settings = vec![];
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let plain = paged().set_compression(compression).set_dictionary_enabled(false);
        settings.push((format!("plain, {compression:?}"), plain));
    }
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let base = || paged().set_compression(Compression::SNAPPY).set_writer_version(version);
        settings.push((format!("{version:?}, dictionaries"), base()));
        // The first pages use the dictionary, until it is too large.
        let small = base().set_dictionary_page_size_limit(4000);
        settings.push((format!("{version:?}, small dictionaries"), small));
        for encoding in [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
            let encoded = ["text", "note"].iter().fold(base(), |properties, column| {
                properties
                    .set_column_dictionary_enabled(ColumnPath::from(*column), false)
                    .set_column_encoding(ColumnPath::from(*column), encoding)
            });
            settings.push((format!("{version:?}, {encoding}"), encoded));
        }
    }
    settings
}

/// Name of a choice of rows, and whether a row is chosen.
type Choice = (&'static str, fn(usize) -> bool);

/// Choices of rows, some of which leave pages as they are.
const CHOICES: [Choice; 13] = [
    ("all", |_| true),
    ("none", |_| false),
    ("not the first", |row| row != 0),
    ("not one in a page", |row| row != 15),
    ("not the last of a page", |row| row != 19),
    ("not the last", |row| row != ROWS - 1),
    ("only the first", |row| row == 0),
    ("only one in a page", |row| row == 43),
    ("only the last", |row| row == ROWS - 1),
    ("not a page", |row| !(20..30).contains(&row)),
    ("only a page", |row| (20..30).contains(&row)),
    ("every second", |row| row % 2 == 0),
    ("only nulls", |row| row % 7 == 3),
];

fn whole_metadata(folder: &Folder, name: &str) -> ParquetMetaData {
    let bytes = bytes::Bytes::from(folder.bytes(name));
    ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Optional)
        .parse_and_finish(&bytes)
        .unwrap()
}

/// Asserts that the metadata of a file fit its pages.
fn assert_sound(folder: &Folder, name: &str) {
    let metadata = whole_metadata(folder, name);
    let reader = SerializedFileReader::new(bytes::Bytes::from(folder.bytes(name))).unwrap();
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let index = &metadata.offset_index().unwrap()[number];
        let mut end = group.file_offset().unwrap();
        for (column, chunk) in group.columns().iter().enumerate() {
            let (begin, len) = chunk.byte_range();
            assert_eq!(begin.cast_signed(), end, "columns are adjacent");
            end = (begin + len).cast_signed();
            let pages = index[column].page_locations();
            assert_eq!(pages[0].first_row_index, 0);
            assert_eq!(pages[0].offset, chunk.data_page_offset());
            let mut at = chunk.data_page_offset();
            for page in pages {
                assert_eq!(page.offset, at);
                at += i64::from(page.compressed_page_size);
            }
            assert_eq!(at, end);
            let (mut values, mut encodings) = (0, vec![]);
            for page in reader.get_row_group(number).unwrap().get_column_page_reader(column).unwrap() {
                let page = page.unwrap();
                if page.is_data_page() {
                    values += i64::from(page.num_values());
                }
                encodings.push(page.encoding());
            }
            assert_eq!(values, chunk.num_values());
            for encoding in encodings {
                assert!(chunk.encodings().any(|named| named == encoding), "{encoding} is not named");
            }
        }
    }
    let rows: i64 = metadata.row_groups().iter().map(RowGroupMetaData::num_rows).sum();
    assert_eq!(metadata.file_metadata().num_rows(), rows);
}

/// Reads single rows by the page index.
fn sought(folder: &Folder, name: &str, wanted: &[usize]) -> Vec<(i64, Option<String>)> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let file = bytes::Bytes::from(folder.bytes(name));
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap();
    let (mut selectors, mut at) = (vec![], 0);
    for row in wanted {
        selectors.extend([RowSelector::skip(row - at), RowSelector::select(1)]);
        at = row + 1;
    }
    let batches = builder.with_row_selection(RowSelection::from(selectors)).build().unwrap();
    let mut found = vec![];
    for batch in batches {
        let batch = batch.unwrap();
        let ids = batch.column(0).as_primitive::<ArrowInt64>().values().to_vec();
        let texts = batch.column(1).as_string::<i32>().iter().map(|text| text.map(str::to_owned));
        found.extend(ids.into_iter().zip(texts));
    }
    found
}

#[test]
fn a_copy_has_the_chosen_rows_however_pages_are_written() {
    for (name, properties) in settings() {
        let folder = Folder::new();
        folder.write("a.parquet", table(properties));
        let corpus = folder.open(&["a.parquet"]).unwrap();
        let all = places(&scan(&corpus, 1 << 20));
        let before = rows(&folder, "a.parquet");
        for (choice, chosen) in CHOICES {
            let out = format!("{choice}.parquet");
            let kept: Vec<RecordPlace> =
                all.iter().enumerate().filter(|(row, _)| chosen(*row)).map(|(_, place)| *place).collect();
            folder.copy(&corpus, &kept, &out, TableCompression::Keep);
            let numbers: Vec<usize> = (0..ROWS).filter(|row| chosen(*row)).collect();
            let expected: Vec<&String> = numbers.iter().map(|row| &before[*row]).collect();
            assert_eq!(rows(&folder, &out).iter().collect::<Vec<_>>(), expected, "{name}, {choice}");
            assert_sound(&folder, &out);
            let some: Vec<usize> = (0..numbers.len()).step_by(9).collect();
            if let [_, ..] = some[..] {
                let expected: Vec<(i64, Option<String>)> = some
                    .iter()
                    .map(|at| ((numbers[*at] as u64).cast_signed(), text_of(numbers[*at])))
                    .collect();
                assert_eq!(sought(&folder, &out, &some), expected, "{name}, {choice}");
            }
            // The copy is read and copied again by our own reader.
            let again = folder.open(&[&out]).unwrap();
            let records = scan(&again, 1 << 20);
            let found: Vec<Option<&str>> =
                records.iter().map(|record| (record.code() == "ok").then(|| record.text())).collect();
            let texts: Vec<Option<String>> = numbers.iter().map(|row| text_of(*row)).collect();
            assert_eq!(found, texts.iter().map(Option::as_deref).collect::<Vec<_>>(), "{name}, {choice}");
            let third: Vec<RecordPlace> = places(&records).into_iter().step_by(3).collect();
            folder.copy(&again, &third, &format!("{choice} again.parquet"), TableCompression::Keep);
            let expected: Vec<&String> = numbers.iter().step_by(3).map(|row| &before[*row]).collect();
            let found = rows(&folder, &format!("{choice} again.parquet"));
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{name}, {choice}, again");
        }
    }
}

/// Returns the bytes of each page of a column of the first row group, with the number of its first row.
fn pages_of(folder: &Folder, name: &str, column: usize) -> Vec<(i64, bytes::Bytes)> {
    let (metadata, file) = (whole_metadata(folder, name), bytes::Bytes::from(folder.bytes(name)));
    let pages = metadata.offset_index().unwrap()[0][column].page_locations();
    let bytes = |page: &parquet::file::page_index::offset_index::PageLocation| {
        file.get_bytes(page.offset as u64, page.compressed_page_size as usize).unwrap()
    };
    pages.iter().map(|page| (page.first_row_index, bytes(page))).collect()
}

#[test]
fn pages_of_which_all_rows_are_kept_keep_their_bytes() {
    const TEXT: usize = 1;
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let folder = Folder::new();
        let properties = paged()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(19).unwrap()))
            .set_column_encoding(ColumnPath::from("text"), Encoding::PLAIN)
            .set_writer_version(version)
            .set_dictionary_page_size_limit(4000);
        folder.write("a.parquet", table(properties));
        let corpus = folder.open(&["a.parquet"]).unwrap();
        let all = places(&scan(&corpus, 1 << 20));
        // The first two pages use the dictionary.
        let before = pages_of(&folder, "a.parquet", TEXT);
        assert_eq!(before.len(), 10);

        folder.copy(&corpus, &all, "all.parquet", TableCompression::Keep);
        assert_eq!(pages_of(&folder, "all.parquet", TEXT), before);
        let chunk = |name| whole_metadata(&folder, name).row_group(0).column(TEXT).clone();
        let (old, new) = (chunk("a.parquet"), chunk("all.parquet"));
        assert!(old.dictionary_page_offset().is_some() && new.dictionary_page_offset().is_some());
        assert_eq!(old.compressed_size(), new.compressed_size());
        assert_eq!(old.uncompressed_size(), new.uncompressed_size());

        // The dictionary is left out, because it has values of the rows that were removed.
        let kept = [&all[..55], &all[56..]].concat();
        folder.copy(&corpus, &kept, "some.parquet", TableCompression::Keep);
        let after = pages_of(&folder, "some.parquet", TEXT);
        assert_eq!(chunk("some.parquet").dictionary_page_offset(), None);
        let same = before.iter().filter(|page| after.iter().any(|other| other.1 == page.1));
        let plain = before[2..].iter().filter(|page| !(46..=55).contains(&page.0));
        assert_eq!(same.collect::<Vec<_>>(), plain.collect::<Vec<_>>(), "{version:?}");
        // Statistics would need all values, and those of other columns are there.
        let columns = whole_metadata(&folder, "some.parquet");
        let columns = columns.row_group(0).columns();
        assert!(columns[TEXT].statistics().is_none() && columns[TEXT].page_encoding_stats().is_none());
        let id = columns[0].statistics().unwrap();
        assert_eq!(id.min_bytes_opt(), Some(&0i64.to_le_bytes()[..]));
        assert_eq!(id.max_bytes_opt(), Some(&94i64.to_le_bytes()[..]));
    }
}

#[test]
fn another_compression_is_applied_to_all_pages() {
    let folder = Folder::new();
    folder.write("a.parquet", table(paged().set_compression(Compression::SNAPPY)));
    let corpus = folder.open(&["a.parquet"]).unwrap();
    let all = places(&scan(&corpus, 1 << 20));
    folder.copy(&corpus, &all, "b.parquet", TableCompression::Zstd);
    assert_eq!(rows(&folder, "b.parquet"), rows(&folder, "a.parquet"));
    assert_sound(&folder, "b.parquet");
    for chunk in whole_metadata(&folder, "b.parquet").row_group(0).columns() {
        assert!(matches!(chunk.compression(), Compression::ZSTD(_)), "{:?}", chunk.compression());
    }
    // Files with different compressions become one file with that of the first.
    let both = folder.open(&["a.parquet", "b.parquet"]).unwrap();
    folder.copy(&both, &places(&scan(&both, 1 << 20)), "both.parquet", TableCompression::Keep);
    let expected = [rows(&folder, "a.parquet"), rows(&folder, "a.parquet")].concat();
    assert_eq!(rows(&folder, "both.parquet"), expected);
    assert_sound(&folder, "both.parquet");
    for group in whole_metadata(&folder, "both.parquet").row_groups() {
        assert!(group.columns().iter().all(|chunk| chunk.compression() == Compression::SNAPPY));
    }
}

/// A text that was removed must not stay in the file, not even in a dictionary.
#[test]
fn removed_texts_are_not_in_the_copy() {
    for limit in [4000, 1 << 20] {
        let folder = Folder::new();
        folder.write("a.parquet", table(paged().set_dictionary_page_size_limit(limit)));
        let corpus = folder.open(&["a.parquet"]).unwrap();
        let all = places(&scan(&corpus, 1 << 20));
        let holds = |name: &str, row: usize| {
            let text = long(row);
            folder.bytes(name).windows(text.len()).any(|window| window == text.as_bytes())
        };
        let kept: Vec<RecordPlace> =
            all.iter().enumerate().filter(|(row, _)| row % 6 != 5).map(|row| *row.1).collect();
        folder.copy(&corpus, &kept, "some.parquet", TableCompression::Keep);
        for row in (0..ROWS).filter(|row| row % 7 != 3) {
            assert!(holds("a.parquet", row), "row {row}");
            assert_eq!(holds("some.parquet", row), row % 6 != 5, "row {row}, dictionaries of {limit} bytes");
        }
    }
}

/// The memory and the threads do not change the bytes, and neither does a column that does not fit into the memory.
#[test]
fn threads_and_memory_do_not_change_the_bytes() {
    let folder = Folder::new();
    folder.write("a.parquet", table(paged().set_compression(Compression::SNAPPY)));
    let corpus = folder.open(&["a.parquet"]).unwrap();
    let all = places(&scan(&corpus, 1 << 20));
    for (choice, chosen) in CHOICES {
        let copy = |threads: usize, buffer_bytes: u64| {
            let mut out = Output::create(&folder.path("copy.parquet"), Overwrite::Allow).unwrap();
            out.set_threads(threads).unwrap();
            out.set_buffer_bytes(buffer_bytes);
            let kept = all.iter().enumerate().filter(|(row, _)| chosen(*row)).map(|(_, place)| *place);
            let (verdict, format) = (OutputVerdict::Kept, crate::support::format(&corpus));
            copy_records(&corpus, 0..1, kept, verdict, format, &mut out, TableCompression::Keep).unwrap();
            out.finish().unwrap();
            folder.bytes("copy.parquet")
        };
        let expected = copy(1, 0);
        for (threads, buffer_bytes) in [(1, 1 << 20), (2, 0), (2, 3000), (3, 20_000), (9, 1 << 20)] {
            assert!(
                copy(threads, buffer_bytes) == expected,
                "{choice}, {threads} threads, {buffer_bytes} bytes"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_of_any_pages_can_be_copied(
        page_rows in 1usize..40,
        dictionary_bytes in 1usize..20_000,
        keeps in prop::collection::vec(any::<bool>(), ROWS),
        keeps_all in prop::collection::vec(any::<bool>(), ROWS / 10),
    ) {
        let folder = Folder::new();
        let properties = WriterProperties::builder()
            .set_data_page_row_count_limit(page_rows)
            .set_write_batch_size(page_rows)
            .set_dictionary_page_size_limit(dictionary_bytes)
            .set_compression(Compression::LZ4_RAW);
        folder.write("a.parquet", table(properties));
        let corpus = folder.open(&["a.parquet"]).unwrap();
        let all = places(&scan(&corpus, 1 << 20));
        // Runs of ten rows are kept more often than single rows, so that some pages are kept as a whole.
        let kept: Vec<usize> = (0..ROWS).filter(|row| keeps[*row] || keeps_all[row / 10]).collect();
        folder.copy(&corpus, &kept.iter().map(|row| all[*row]).collect::<Vec<_>>(), "b.parquet", TableCompression::Keep);
        let before = rows(&folder, "a.parquet");
        let expected: Vec<String> = kept.iter().map(|row| before[*row].clone()).collect();
        prop_assert_eq!(rows(&folder, "b.parquet"), expected);
        assert_sound(&folder, "b.parquet");
    }

    /// Damage is an error or is not noticed, but never ends the process.
    #[test]
    fn damage_ends_a_copy_at_most(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let folder = Folder::new();
        let mut bytes = table(paged().set_compression(Compression::SNAPPY));
        folder.write("a.parquet", &bytes);
        let all = places(&scan(&folder.open(&["a.parquet"]).unwrap(), 1 << 20));
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        folder.write("b.parquet", &bytes);
        if let Ok(corpus) = folder.open(&["b.parquet"]) {
            for (number, kept) in [all.clone(), all.into_iter().step_by(3).collect()].into_iter().enumerate() {
                let mut out = Output::create(&folder.path(&number.to_string()), Overwrite::Allow).unwrap();
                out.set_threads(1 + number).unwrap();
                let (verdict, format) = (OutputVerdict::Kept, crate::support::format(&corpus));
                let _ = copy_records(&corpus, 0..1, kept.into_iter(), verdict, format, &mut out, TableCompression::Keep);
            }
        }
    }
}

/// Two rows that pyarrow has written with `write_page_checksum`, in Base64: long texts, and notes that begin with
/// `note one` and `note two`.
const CHECKSUMS: &str = "\
    UEFSMRUAFdwFFZwBFdjts6EDHBUEFQAVBhUGHAAAAO4CdAIAAAAEAaAAAAB0aGUgcXVpY2sgYnJvd24gZm94IP4UAP4UAC4UADTAAAAAanVtcHMgb3Zl\
    cgWbIGxhenkgZG9nIP4YAP4YAJ4YABUAFewFFWAVvpGV8wIcFQQVABUGFQYcAAAA9gJIAgAAAAQBtAAAAG5vdGUgb25lIP4JAP4JAKoJABW4CHR3bwm4\
    /gkA/gkAlgkAFQQZPDUAGAZzY2hlbWEVBAAVDCUCGAR0ZXh0JQBMHAAAABUMJQIYBG5vdGUlAEwcAAAAFgQZHBksJgAcFQwZJQYAGRgEdGV4dBUCFgQW\
    kgYW0gEmCEkcFQAVABUCADwWwAUZBhkmAAQAAAAmABwVDBklBgAZGARub3RlFQIWBBagBhaUASbaAUkcFQAVABUCADwW0AUZBhkmAAQAAAAWsgwWBCYI\
    FuYCACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZLBwAABwAAADUAAAAUEFSMQ==";

/// The scan does not read the notes, so only the copy can find their damage.
#[test]
fn a_stored_page_is_copied_only_if_its_checksum_fits() {
    let folder = Folder::new();
    let mut bytes = STANDARD.decode(CHECKSUMS).unwrap();
    let copy = |bytes: &[u8], name: &str| {
        folder.write(name, bytes);
        let corpus = folder.open(&[name]).unwrap();
        let all = places(&scan(&corpus, 1 << 20));
        let mut out = Output::create(&folder.path("out.parquet"), Overwrite::Allow).unwrap();
        let (verdict, format) = (OutputVerdict::Kept, crate::support::format(&corpus));
        copy_records(&corpus, 0..1, all.into_iter(), verdict, format, &mut out, TableCompression::Keep)?;
        out.finish()
    };
    copy(&bytes, "a.parquet").unwrap();
    assert_eq!(rows(&folder, "out.parquet"), rows(&folder, "a.parquet"));
    let at = bytes.windows(8).position(|window| window == b"note one").unwrap();
    bytes[at] = b'N';
    let error = copy(&bytes, "b.parquet").unwrap_err().to_string();
    assert!(error.ends_with("row group 0, column `note`: a page does not fit its checksum"), "{error}");
}

/// Rows that a caller expects to read, and all other rows, are read as they were scanned.
#[test]
fn rows_that_nobody_expected_are_read_too() {
    let folder = Folder::new();
    folder.write("a.parquet", table(paged()));
    for step in [1, 10, 1000] {
        let corpus = folder.open(&["a.parquet"]).unwrap();
        let records = scan(&corpus, 1 << 20);
        corpus.expect_reads(places(&records).into_iter().skip(1).step_by(step));
        let mut scratch = Scratch::new();
        let expected = records.iter().skip(1).step_by(step).filter(|record| record.code() == "ok");
        for record in expected {
            assert_eq!(corpus.read(&record.place, &mut scratch).unwrap().text, record.text());
        }
        assert_read_again(&corpus, &records);
    }
}
