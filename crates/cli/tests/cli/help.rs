//! Tests the help of the command.

#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use crate::documents::docx;
#[cfg(unix)]
use crate::newcomer::typed;
use crate::support::Desk;
#[cfg(unix)]
use crate::support::{gzip, prose};

#[test]
fn the_command() {
    insta::assert_snapshot!(Desk::new().run("--help"), @"
    exit 0
    --- stdout
    Finds near-duplicate documents, verifies them exactly, and explains what it found

    Usage: minwise [OPTIONS] <COMMAND>

    Commands:
      dedup     Write a corpus without its near-duplicates
      pairs     List the near-duplicate pairs of a corpus
      compare   Compare two documents: similarity, containment and shared passages. The exit code is 1
                if the similarity is below the threshold
      index     Keep an archive of documents: create it, add to it, maintain it
      check     Check documents against an archive and report what they share with it. The exit code is
                0 if nothing is found, 1 if something is found, and 2 if a document could not be read
      serve     Serve an archive over HTTP: an API to add and check documents, and a web page to check
                them
      plan      Choose bands and rows for a threshold and a recall
      sketch    Write the sketches of a corpus to a file, to estimate similarities later
      estimate  Estimate the similarities of sketched documents without reading them again
      accuracy  Measure how far the estimates of sketches are from the exact similarities of a corpus:
                errors, confidence intervals and times
      weights   Count in how many documents each shingle occurs, for weighted similarities
      generate  Write shell completions, manual pages and the reference of all commands
      help      Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Messages:
          --color <WHEN>  Use colour in messages and help. `auto` uses it on terminals, unless the
                          variable NO_COLOR is set [default: auto] [possible values: auto, always,
                          never]

    Examples:
      minwise dedup articles.jsonl --output cleaned.jsonl     remove near-duplicates
      minwise pairs articles.jsonl                            list near-duplicate pairs
      minwise compare first.docx second.pdf                   compare two documents
      minwise check thesis.pdf --index archive                check a document against an archive
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn dedup() {
    insta::assert_snapshot!(Desk::new().run("dedup --help"), @"
    exit 0
    --- stdout
    Write a corpus without its near-duplicates

    Usage: minwise dedup [OPTIONS] --output <OUT> <INPUT>...

    Arguments:
      <INPUT>...
              Files, folders or globs, or `-` for standard input. Minwise reads JSONL, CSV, TSV,
              Parquet, Arrow IPC and WARC, plain or compressed by gzip, zstd, bzip2 or xz, and single
              documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and PDF

    Options:
          --threshold <T>
              Two documents are near-duplicates if their exact similarity is at least T: a number up to
              1, or a percentage such as `80%`

              [default: 0.8]

      -o, --output <OUT>
              Write the kept documents to OUT: a file, a folder with one file per input (`DIR/`, or an
              existing folder), or `-` for standard output. A file whose name ends in `.gz`, `.zst`,
              `.bz2` or `.xz` is compressed. If the name belongs to another format than that of the
              inputs, records are converted: `kept.parquet` gets Parquet. If each input is one document,
              OUT is a folder

          --removed <OUT>
              Write the removed documents to OUT. OUT takes the same forms as for `--output`

          --report <DIR>
              Write a report to the folder DIR: `index.html` for people, and `summary.json`,
              `pairs.tsv`, `clusters.jsonl`, `large-clusters.jsonl`, `reordered.tsv` and `rejects.jsonl`
              for programs

          --annotate
              Write every document, and mark near-duplicates instead of removing them: a new field or
              column `minwise` names the cluster of each document

          --against <REF>...
              Also remove documents that repeat a document of REF, which is a file, a folder or a glob.
              REF may have another format than INPUT, but its text must be in a field of the same name.
              Documents of REF are never removed and never written

          --keep <POLICY>
              Choose the document that is kept of each cluster: `first` (the default; `longest` with
              `--measure containment`), `last`, `longest`, `shortest`, `newest:FIELD`, `oldest:FIELD`,
              `max:FIELD`, `min:FIELD` or `priority:FIELD=A,B,C`. If the option is given several times,
              each policy decides among the documents that the policies before it rank equally. If all
              policies rank documents equally, the first document of the inputs is kept. Documents
              without the field rank last

          --dry-run
              Write no documents. The summary is printed, and the report of `--report` is written

          --force
              Replace outputs that exist. An output folder is replaced only if all its files have names
              of files that the run would write. In a report folder, only files of a report are replaced

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Near-duplicates:
          --measure <MEASURE>
              Measure similarity in this way: `jaccard` (the shared shingles divided by all shingles of
              both documents), or `containment` (the share of the smaller document that the larger
              document contains)

              [default: jaccard]

          --order <Q>
              Also compare the order of the text. Similar documents are near-duplicates only if at least
              the share Q of their common shingles is at about the same places in both documents. Other
              similar documents count as reordered

          --cluster <CLUSTERING>
              Form clusters in this way: `star` removes documents that are similar to the kept document;
              `components` also removes documents that are connected to the kept document by a chain of
              similar pairs

              [default: star]

          --max-cluster <N>
              Remove nothing from clusters of more than N documents. The report lists these clusters in
              `large-clusters.jsonl`. For the 1,000 largest of them, it lists the passages that their
              documents share; documents over 1 MiB are left out

    Output format:
          --output-format <FORMAT>
              Write outputs in this format: `jsonl`, `csv`, `tsv`, `parquet`, `arrow` or `warc`. In an
              output folder, every file is converted. Without the option, the name of an output decides;
              standard output and names without a known extension get the format of the inputs

          --compression <CODEC>
              Compress the data inside Parquet and Arrow IPC outputs with this codec: `keep`, `none`,
              `snappy`, `gzip`, `lz4` or `zstd`. `keep` takes the codec of the input; if records are
              converted, it takes `zstd` for Parquet and `none` for Arrow IPC

              [default: keep]

    Reading:
          --text-field <FIELD>
              Read the text from this field or column. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). The texts of a list are joined by a blank line.
              Several fields are separated by commas (`title,body`), and their texts are joined by a
              line break

              [default: text]

          --id-field <FIELD>
              Read the id from this field or column. A record without an id gets `file:line`, or
              `file:row` in Parquet and Arrow IPC

              [default: id]

          --input-format <FORMAT>
              Read inputs in this format: `auto` (found by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is a document, whose text
              is extracted), or `text` (each file is a text)

              [default: auto]

          --encoding <ENCODING>
              Read text files in this encoding: `utf-8` (files that are not UTF-8 are rejected),
              `latin-1`, or `auto` (UTF-8 if the file is UTF-8, otherwise a guess by its content). Files
              of records, such as JSONL and CSV, are always read as UTF-8

              [default: utf-8]

          --delimiter <CHAR>
              Split CSV records at this character; `tab` stands for a tab. Without the option, Minwise
              tries comma, semicolon and tab in this order, and uses the first one with which the header
              has a column with the name of the text field

          --null <RULE>
              Treat a record whose text is null by this rule: `keep` keeps it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. With `keep`, `index add` skips
              such records, and `check` rejects them, because there is no text to check. A record
              without the field is always rejected

              [default: keep]

          --max-record <SIZE>
              Reject records larger than this

              [default: 1GiB]

          --strict
              Stop before anything is written if a file found in a folder or by a glob cannot be read
              (no permission, a broken link, a link loop). Without `--strict`, such a file is rejected
              and the run continues. A file that you name must always be readable

          --temp-dir <DIR>
              Put temporary files into this folder: decompressed and piped input, parts of tables,
              extracted texts, and data that does not fit into memory. Without the option, `dedup --work
              DIR` puts temporary files into DIR, and every other run puts them into the temporary
              folder of the system

          --max-rejects <N>
              Permit at most N rejected records: with up to N, the exit code is 0; with more, the run
              stops at once. Without the option, a run never stops because of rejected records, and its
              exit code is 2 if records were rejected

    Recall and candidates:
          --recall <P>
              The probability of finding a pair whose similarity is exactly the threshold. More similar
              pairs are found more often. Minwise chooses bands and rows that reach this probability

              [default: 0.99]

          --bands <B>
              Cut each sketch into B bands. Documents that share a band are candidates. Give `--rows`,
              too; both replace `--recall`

          --rows <R>
              Give each band R rows. A row is one register, that is, one of the K numbers of a sketch
              (`--registers`). Give `--bands`, too; both replace `--recall`

          --candidates <WAY>
              Find candidate pairs in this way: `banding` (pairs that share a band; the default),
              `sort-merge` (counts shared shingles and misses nothing; the default with `--measure
              containment`), `sort-merge,sketch` (counts shared registers), or `all` (all pairs are
              candidates)

          --bits <BITS>
              Save memory by keeping only this many bits of each register: a number from 1 to 16, such
              as 2 or 1.5, or one of 0.5, 0.25 and 0.125. The recall stays the same, because bands are
              made of whole registers. Without the option, all bits are kept

          --filter-error <E>
              Let the filter wrongly rule out at most the share E of the pairs whose similarity is
              exactly the threshold; `off` switches the filter off. The filter rules out candidate pairs
              by their sketches, so that fewer pairs are compared exactly. With `--order`, E also limits
              the pairs that sketches wrongly count as reordered

              [default: 1e-6]

          --looks <K,K…>
              After each of these numbers of compared registers, the filter decides whether to rule the
              pair out. Each decision is called a look: with `16,32,64,128`, a pair gets up to four
              looks. The numbers must ascend. Without the option, the filter looks every 16 registers
              (64 with `--bits`) at first, and less often later

          --error-per-look <E>
              At each look (`--looks`), let the filter wrongly rule out at most the share E of the pairs
              whose similarity is exactly the threshold. With n looks, it can wrongly rule out up to n
              times E; the summary states the total. `--filter-error` limits the total instead

          --audit <N>
              Measure the recall of decisions, that is, the share of removed documents among the
              documents that repeat a kept one, with its 95 % confidence interval: compare N of the kept
              documents with all others, and count the documents that repeat another kept document.
              `auto` compares as many documents as it can in 5 % of the run time, and at least for 0.2
              s; in a small corpus, it compares all documents. `off` or 0 measures nothing

              [default: auto]

    Text and sketches:
          --shingle <SHINGLING>
              Cut text into shingles: `words:N` (N words in a row), `chars:N` (N characters in a row) or
              `terms` (single words of three letters or more). With `,bag` at the end, as in
              `words:5,bag`, a shingle counts as often as it occurs; without `,bag`, it counts only once

              [default: words:5]

          --normalize <FORM>
              Normalise text before it is cut: `nfkc+casefold` (upper and lower case are the same, and
              so are variants of a character such as `ﬁ` and `fi`), `casefold` (upper and lower case are
              the same) or `none`

              [default: nfkc+casefold]

          --strip-markup
              Remove HTML tags, comments, scripts and styles from the text first

          --whitespace <RULE>
              Treat white space by this rule: `fold` turns each run of it into one space, `keep` keeps
              it, and `remove` removes it

              [default: fold]

          --short <RULE>
              Treat a document that is shorter than one shingle by this rule: `one` makes one shingle of
              the whole text, `reject` rejects the document

              [default: one]

          --sketch <SKETCH>
              The kind of sketch: `minhash` (the default; also `minhash,modular`,
              `minhash,multiplicative` and `minhash,murmur3`), `min-max`, `one-permutation`,
              `super-minhash` or `fast-similarity`; for weighted shingles `dart` (the default), `icws`
              or `cws`. `--registers` sets its size; `super-minhash:256` sets both. Sketches without
              bands, such as `b-bit:2/minhash:256`, work only with `sketch`, `estimate`, `compare` and
              `accuracy`. `minwise compare A B --all` lists every kind

          --registers <K>
              The number of registers per sketch [default: 128]

          --seed <N>
              The seed of the hash functions, a whole number. Sketches of different seeds cannot be
              compared

              [default: 1]

    Weights:
          --weight <WEIGHTING>
              Weigh shingles: `none` (all alike), `count` (by their number in the document), `tf` (by
              their share of the document), `tf-idf` or `tf-idf,smooth` (also by how few documents
              contain them). With weights, similarity is the weighted Jaccard similarity

              [default: none]

          --weights <FILE>
              Read document frequencies from FILE, which `minwise weights` wrote. Without the option,
              `dedup` and `pairs` first count the document frequencies in their own input if `tf-idf` or
              `--max-df` needs them. `compare` needs FILE for `tf-idf` and for `--max-df`, because two
              documents are too few to count

          --max-df <F>
              Leave out shingles that occur in more documents than this: a share such as `0.1` or `10%`,
              or a number such as `500`

          --ignore-text <FILE>...
              Ignore all shingles that occur in these files or folders, such as a form or a template

    Resources:
      -j, --threads <N>
              Use N threads. Without the option, Minwise uses one thread per core

          --memory <SIZE>
              Use at most this much memory, such as `4GiB`. Data that does not fit goes to disk. Without
              the option, the limit is half of the memory of the machine (or of the control group) on
              Linux, and 4 GiB on other systems

          --work <DIR>
              Save the progress of the run in the folder DIR, so that `--resume` can continue the run.
              The folder is removed at the end

          --resume
              Continue the run that was saved in `--work`. If no run was saved, start a new run

          --keep-work
              Do not remove the folder of `--work` at the end

    Messages:
      -q, --quiet
              Print errors and warnings only: no progress and no summary

      -v, --verbose
              List the skipped files, each with its reason. In folders and globs, Minwise skips system
              files such as `.DS_Store` and `Thumbs.db`, lock files such as `~$report.docx`, marker
              files such as `_SUCCESS`, empty documents, and binary files of unknown format

          --log <FORMAT>
              Write messages to standard error in this format

              Possible values:
              - text
              - json: One JSON object per line

              [default: text]

          --color <WHEN>
              Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR
              is set

              [default: auto]
              [possible values: auto, always, never]

    Examples:
      minwise dedup articles.jsonl --output cleaned.jsonl
      minwise dedup 'data/*.parquet' --text-field body --output cleaned/ --report report
      minwise dedup crawl.jsonl.gz --threshold 0.7 --dry-run --report report
      minwise dedup train.jsonl --against benchmark.jsonl --output clean.jsonl
      minwise dedup big.jsonl --output cleaned.jsonl --work run --resume
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn pairs() {
    insta::assert_snapshot!(Desk::new().run("pairs --help"), @"
    exit 0
    --- stdout
    List the near-duplicate pairs of a corpus

    Usage: minwise pairs [OPTIONS] <INPUT>...

    Arguments:
      <INPUT>...
              Files, folders or globs, or `-` for standard input. Minwise reads JSONL, CSV, TSV,
              Parquet, Arrow IPC and WARC, plain or compressed by gzip, zstd, bzip2 or xz, and single
              documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and PDF

    Options:
          --threshold <T>
              Two documents are near-duplicates if their exact similarity is at least T: a number up to
              1, or a percentage such as `80%`

              [default: 0.8]

      -o, --output <FILE>
              Write the pairs to FILE. Without the option, they go to standard output

          --of <ID>...
              List only the near-duplicates of the documents with these ids

          --format <FORMAT>
              Write pairs in this format, each with its exact similarity. Without the option, pairs are
              written as JSONL if the name of the output ends in `.jsonl`, and as TSV otherwise

              Possible values:
              - tsv:   The two ids and the numbers of a pair, separated by tabs
              - jsonl: One JSON object per line

          --force
              Replace an output that exists

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Near-duplicates:
          --measure <MEASURE>
              Measure similarity in this way: `jaccard` (the shared shingles divided by all shingles of
              both documents), or `containment` (the share of the smaller document that the larger
              document contains)

              [default: jaccard]

          --order <Q>
              Also compare the order of the text. Similar documents are near-duplicates only if at least
              the share Q of their common shingles is at about the same places in both documents. Other
              similar documents count as reordered

    Reading:
          --text-field <FIELD>
              Read the text from this field or column. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). The texts of a list are joined by a blank line.
              Several fields are separated by commas (`title,body`), and their texts are joined by a
              line break

              [default: text]

          --id-field <FIELD>
              Read the id from this field or column. A record without an id gets `file:line`, or
              `file:row` in Parquet and Arrow IPC

              [default: id]

          --input-format <FORMAT>
              Read inputs in this format: `auto` (found by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is a document, whose text
              is extracted), or `text` (each file is a text)

              [default: auto]

          --encoding <ENCODING>
              Read text files in this encoding: `utf-8` (files that are not UTF-8 are rejected),
              `latin-1`, or `auto` (UTF-8 if the file is UTF-8, otherwise a guess by its content). Files
              of records, such as JSONL and CSV, are always read as UTF-8

              [default: utf-8]

          --delimiter <CHAR>
              Split CSV records at this character; `tab` stands for a tab. Without the option, Minwise
              tries comma, semicolon and tab in this order, and uses the first one with which the header
              has a column with the name of the text field

          --null <RULE>
              Treat a record whose text is null by this rule: `keep` keeps it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. With `keep`, `index add` skips
              such records, and `check` rejects them, because there is no text to check. A record
              without the field is always rejected

              [default: keep]

          --max-record <SIZE>
              Reject records larger than this

              [default: 1GiB]

          --strict
              Stop before anything is written if a file found in a folder or by a glob cannot be read
              (no permission, a broken link, a link loop). Without `--strict`, such a file is rejected
              and the run continues. A file that you name must always be readable

          --temp-dir <DIR>
              Put temporary files into this folder: decompressed and piped input, parts of tables,
              extracted texts, and data that does not fit into memory. Without the option, `dedup --work
              DIR` puts temporary files into DIR, and every other run puts them into the temporary
              folder of the system

          --max-rejects <N>
              Permit at most N rejected records: with up to N, the exit code is 0; with more, the run
              stops at once. Without the option, a run never stops because of rejected records, and its
              exit code is 2 if records were rejected

    Recall and candidates:
          --candidates-only
              List the pairs that share a band, with the numbers of these bands, and compare nothing.
              Pairs that share no band are not listed, and the listed pairs may be unlike

          --recall <P>
              The probability of finding a pair whose similarity is exactly the threshold. More similar
              pairs are found more often. Minwise chooses bands and rows that reach this probability

              [default: 0.99]

          --bands <B>
              Cut each sketch into B bands. Documents that share a band are candidates. Give `--rows`,
              too; both replace `--recall`

          --rows <R>
              Give each band R rows. A row is one register, that is, one of the K numbers of a sketch
              (`--registers`). Give `--bands`, too; both replace `--recall`

          --candidates <WAY>
              Find candidate pairs in this way: `banding` (pairs that share a band; the default),
              `sort-merge` (counts shared shingles and misses nothing; the default with `--measure
              containment`), `sort-merge,sketch` (counts shared registers), or `all` (all pairs are
              candidates)

          --bits <BITS>
              Save memory by keeping only this many bits of each register: a number from 1 to 16, such
              as 2 or 1.5, or one of 0.5, 0.25 and 0.125. The recall stays the same, because bands are
              made of whole registers. Without the option, all bits are kept

          --filter-error <E>
              Let the filter wrongly rule out at most the share E of the pairs whose similarity is
              exactly the threshold; `off` switches the filter off. The filter rules out candidate pairs
              by their sketches, so that fewer pairs are compared exactly. With `--order`, E also limits
              the pairs that sketches wrongly count as reordered

              [default: 1e-6]

          --looks <K,K…>
              After each of these numbers of compared registers, the filter decides whether to rule the
              pair out. Each decision is called a look: with `16,32,64,128`, a pair gets up to four
              looks. The numbers must ascend. Without the option, the filter looks every 16 registers
              (64 with `--bits`) at first, and less often later

          --error-per-look <E>
              At each look (`--looks`), let the filter wrongly rule out at most the share E of the pairs
              whose similarity is exactly the threshold. With n looks, it can wrongly rule out up to n
              times E; the summary states the total. `--filter-error` limits the total instead

    Text and sketches:
          --shingle <SHINGLING>
              Cut text into shingles: `words:N` (N words in a row), `chars:N` (N characters in a row) or
              `terms` (single words of three letters or more). With `,bag` at the end, as in
              `words:5,bag`, a shingle counts as often as it occurs; without `,bag`, it counts only once

              [default: words:5]

          --normalize <FORM>
              Normalise text before it is cut: `nfkc+casefold` (upper and lower case are the same, and
              so are variants of a character such as `ﬁ` and `fi`), `casefold` (upper and lower case are
              the same) or `none`

              [default: nfkc+casefold]

          --strip-markup
              Remove HTML tags, comments, scripts and styles from the text first

          --whitespace <RULE>
              Treat white space by this rule: `fold` turns each run of it into one space, `keep` keeps
              it, and `remove` removes it

              [default: fold]

          --short <RULE>
              Treat a document that is shorter than one shingle by this rule: `one` makes one shingle of
              the whole text, `reject` rejects the document

              [default: one]

          --sketch <SKETCH>
              The kind of sketch: `minhash` (the default; also `minhash,modular`,
              `minhash,multiplicative` and `minhash,murmur3`), `min-max`, `one-permutation`,
              `super-minhash` or `fast-similarity`; for weighted shingles `dart` (the default), `icws`
              or `cws`. `--registers` sets its size; `super-minhash:256` sets both. Sketches without
              bands, such as `b-bit:2/minhash:256`, work only with `sketch`, `estimate`, `compare` and
              `accuracy`. `minwise compare A B --all` lists every kind

          --registers <K>
              The number of registers per sketch [default: 128]

          --seed <N>
              The seed of the hash functions, a whole number. Sketches of different seeds cannot be
              compared

              [default: 1]

    Weights:
          --weight <WEIGHTING>
              Weigh shingles: `none` (all alike), `count` (by their number in the document), `tf` (by
              their share of the document), `tf-idf` or `tf-idf,smooth` (also by how few documents
              contain them). With weights, similarity is the weighted Jaccard similarity

              [default: none]

          --weights <FILE>
              Read document frequencies from FILE, which `minwise weights` wrote. Without the option,
              `dedup` and `pairs` first count the document frequencies in their own input if `tf-idf` or
              `--max-df` needs them. `compare` needs FILE for `tf-idf` and for `--max-df`, because two
              documents are too few to count

          --max-df <F>
              Leave out shingles that occur in more documents than this: a share such as `0.1` or `10%`,
              or a number such as `500`

          --ignore-text <FILE>...
              Ignore all shingles that occur in these files or folders, such as a form or a template

    Resources:
      -j, --threads <N>
              Use N threads. Without the option, Minwise uses one thread per core

          --memory <SIZE>
              Use at most this much memory, such as `4GiB`. Data that does not fit goes to disk. Without
              the option, the limit is half of the memory of the machine (or of the control group) on
              Linux, and 4 GiB on other systems

    Messages:
      -q, --quiet
              Print errors and warnings only: no progress and no summary

      -v, --verbose
              List the skipped files, each with its reason. In folders and globs, Minwise skips system
              files such as `.DS_Store` and `Thumbs.db`, lock files such as `~$report.docx`, marker
              files such as `_SUCCESS`, empty documents, and binary files of unknown format

          --log <FORMAT>
              Write messages to standard error in this format

              Possible values:
              - text
              - json: One JSON object per line

              [default: text]

          --color <WHEN>
              Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR
              is set

              [default: auto]
              [possible values: auto, always, never]

    Examples:
      minwise pairs articles.jsonl
      minwise pairs letters/ --threshold 0.5 --output pairs.tsv
      minwise pairs articles.jsonl --of article-17 --format jsonl
      minwise pairs letters/ --threshold 0 --candidates all
      minwise pairs letters/ --candidates-only --bands 20 --rows 5
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn compare() {
    insta::assert_snapshot!(Desk::new().run("compare --help"), @"
    exit 0
    --- stdout
    Compare two documents: similarity, containment and shared passages. The exit code is 1 if the
    similarity is below the threshold

    Usage: minwise compare [OPTIONS] <A> <B>

    Arguments:
      <A>
              The first document: a file of any format that Minwise reads, or `FILE#ID` for the record
              of FILE with the id ID

      <B>
              The second document, in the same form

    Options:
          --threshold <T>
              Exit with code 1 if the similarity is below this value

              [default: 0.8]

          --measure <MEASURE>
              Compare this measure with the threshold: `jaccard`, or `containment` (the share of A that
              B contains, or the share of B that A contains, whichever is larger)

              [default: jaccard]

          --passages <N>
              Show at most N shared passages, the longest first

              [default: 10]

          --all
              Also estimate the similarity by every kind of sketch, and print each estimate beside the
              exact value. Each sketch has 1,024 registers or bits

          --format <FORMAT>
              Print the comparison in this format

              Possible values:
              - text:  For people
              - jsonl: One JSON object per line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              Read the text from this field or column. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). The texts of a list are joined by a blank line.
              Several fields are separated by commas (`title,body`), and their texts are joined by a
              line break

              [default: text]

          --id-field <FIELD>
              Read the id from this field or column. A record without an id gets `file:line`, or
              `file:row` in Parquet and Arrow IPC

              [default: id]

          --input-format <FORMAT>
              Read inputs in this format: `auto` (found by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is a document, whose text
              is extracted), or `text` (each file is a text)

              [default: auto]

          --encoding <ENCODING>
              Read text files in this encoding: `utf-8` (files that are not UTF-8 are rejected),
              `latin-1`, or `auto` (UTF-8 if the file is UTF-8, otherwise a guess by its content). Files
              of records, such as JSONL and CSV, are always read as UTF-8

              [default: utf-8]

          --delimiter <CHAR>
              Split CSV records at this character; `tab` stands for a tab. Without the option, Minwise
              tries comma, semicolon and tab in this order, and uses the first one with which the header
              has a column with the name of the text field

          --null <RULE>
              Treat a record whose text is null by this rule: `keep` keeps it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. With `keep`, `index add` skips
              such records, and `check` rejects them, because there is no text to check. A record
              without the field is always rejected

              [default: keep]

          --max-record <SIZE>
              Reject records larger than this

              [default: 1GiB]

          --strict
              Stop before anything is written if a file found in a folder or by a glob cannot be read
              (no permission, a broken link, a link loop). Without `--strict`, such a file is rejected
              and the run continues. A file that you name must always be readable

          --temp-dir <DIR>
              Put temporary files into this folder: decompressed and piped input, parts of tables,
              extracted texts, and data that does not fit into memory. Without the option, `dedup --work
              DIR` puts temporary files into DIR, and every other run puts them into the temporary
              folder of the system

    Text and sketches:
          --shingle <SHINGLING>
              Cut text into shingles: `words:N` (N words in a row), `chars:N` (N characters in a row) or
              `terms` (single words of three letters or more). With `,bag` at the end, as in
              `words:5,bag`, a shingle counts as often as it occurs; without `,bag`, it counts only once

              [default: words:5]

          --normalize <FORM>
              Normalise text before it is cut: `nfkc+casefold` (upper and lower case are the same, and
              so are variants of a character such as `ﬁ` and `fi`), `casefold` (upper and lower case are
              the same) or `none`

              [default: nfkc+casefold]

          --strip-markup
              Remove HTML tags, comments, scripts and styles from the text first

          --whitespace <RULE>
              Treat white space by this rule: `fold` turns each run of it into one space, `keep` keeps
              it, and `remove` removes it

              [default: fold]

          --short <RULE>
              Treat a document that is shorter than one shingle by this rule: `one` makes one shingle of
              the whole text, `reject` rejects the document

              [default: one]

          --sketch <SKETCH>
              The kind of sketch: `minhash` (the default; also `minhash,modular`,
              `minhash,multiplicative` and `minhash,murmur3`), `min-max`, `one-permutation`,
              `super-minhash` or `fast-similarity`; for weighted shingles `dart` (the default), `icws`
              or `cws`. `--registers` sets its size; `super-minhash:256` sets both. Sketches without
              bands, such as `b-bit:2/minhash:256`, work only with `sketch`, `estimate`, `compare` and
              `accuracy`. `minwise compare A B --all` lists every kind

          --registers <K>
              The number of registers per sketch [default: 128]

          --seed <N>
              The seed of the hash functions, a whole number. Sketches of different seeds cannot be
              compared

              [default: 1]

    Weights:
          --weight <WEIGHTING>
              Weigh shingles: `none` (all alike), `count` (by their number in the document), `tf` (by
              their share of the document), `tf-idf` or `tf-idf,smooth` (also by how few documents
              contain them). With weights, similarity is the weighted Jaccard similarity

              [default: none]

          --weights <FILE>
              Read document frequencies from FILE, which `minwise weights` wrote. Without the option,
              `dedup` and `pairs` first count the document frequencies in their own input if `tf-idf` or
              `--max-df` needs them. `compare` needs FILE for `tf-idf` and for `--max-df`, because two
              documents are too few to count

          --max-df <F>
              Leave out shingles that occur in more documents than this: a share such as `0.1` or `10%`,
              or a number such as `500`

          --ignore-text <FILE>...
              Ignore all shingles that occur in these files or folders, such as a form or a template

    Messages:
      -q, --quiet
              Print errors and warnings only: no progress and no summary

      -v, --verbose
              List the skipped files, each with its reason. In folders and globs, Minwise skips system
              files such as `.DS_Store` and `Thumbs.db`, lock files such as `~$report.docx`, marker
              files such as `_SUCCESS`, empty documents, and binary files of unknown format

          --log <FORMAT>
              Write messages to standard error in this format

              Possible values:
              - text
              - json: One JSON object per line

              [default: text]

          --color <WHEN>
              Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR
              is set

              [default: auto]
              [possible values: auto, always, never]

    Examples:
      minwise compare first.docx second.pdf
      minwise compare 'articles.jsonl#a1' 'articles.jsonl#a2'
      minwise compare first.txt second.txt --passages 3 --format jsonl
    ");
}

#[test]
fn plan() {
    insta::assert_snapshot!(Desk::new().run("plan --help"), @"
    exit 0
    --- stdout
    Choose bands and rows for a threshold and a recall

    Usage: minwise plan [OPTIONS]

    Options:
          --threshold <T>
              Two documents are near-duplicates if their similarity is at least T: a number up to 1, or
              a percentage such as `80%`

              [default: 0.8]

          --registers <K>
              The number of registers per sketch

              [default: 128]

          --details
              Also show the S-curve (for each similarity, the probability that a pair is found), the
              memory per document, and the sketches whose standard error is at most `--error`

          --error <E>
              The largest standard error that an estimate at the threshold may have. `--details` lists
              the sketches that reach this error, the smallest first

              [default: 0.02]

          --filter
              Also show the filter, which rules out candidate pairs by their sketches: after how many
              registers it can rule out a pair, and how many registers it compares on average

          --filter-error <E>
              The share of the pairs at the threshold that the filter may wrongly rule out

              [default: 1e-6]

          --format <FORMAT>
              Print the plan in this format. `json` contains everything that `--details` shows, and the
              filter if `--filter` is given

              Possible values:
              - text: For people
              - json: One JSON object

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Recall and candidates:
          --recall <P>
              The probability of finding a pair whose similarity is exactly the threshold. More similar
              pairs are found more often. Minwise chooses bands and rows that reach this probability

              [default: 0.99]

          --bands <B>
              Cut each sketch into B bands. Documents that share a band are candidates. Give `--rows`,
              too; both replace `--recall`

          --rows <R>
              Give each band R rows. A row is one register, that is, one of the K numbers of a sketch
              (`--registers`). Give `--bands`, too; both replace `--recall`

    Messages:
          --color <WHEN>
              Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR
              is set

              [default: auto]
              [possible values: auto, always, never]

    Examples:
      minwise plan --threshold 0.8 --recall 0.99
      minwise plan --threshold 0.5 --details
      minwise plan --bands 20 --rows 6 --format json
    ");
}

#[test]
fn generate() {
    insta::assert_snapshot!(Desk::new().run("generate --help"), @"
    exit 0
    --- stdout
    Write shell completions, manual pages and the reference of all commands

    Usage: minwise generate [OPTIONS] <COMMAND>

    Commands:
      all          Write completions for all shells and all manual pages to a folder: `DIR/completions`
                   and `DIR/man/man1`
      completions  Print the completions for a shell
      man          Print the manual page of the command or of a subcommand
      reference    Print the reference of all commands and options as a Markdown page
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Messages:
          --color <WHEN>  Use colour in messages and help. `auto` uses it on terminals, unless the
                          variable NO_COLOR is set [default: auto] [possible values: auto, always,
                          never]

    Examples:
      minwise generate all share
      minwise generate completions zsh
      minwise generate man dedup
    ");
}

/// The kernel depends on the processor. The test checks that the version names a kernel that exists.
#[test]
fn the_version_names_the_kernel() {
    let run = Desk::new().run("--version").exit(0);
    let kernel = run.text().split_once("kernel ").unwrap().1.split_once(',').unwrap().0.to_owned();
    assert!(["avx512-popcount", "avx512", "avx2", "neon", "portable"].contains(&&*kernel), "{kernel}");
    insta::assert_snapshot!(run.text().replace(&kernel, "[kernel]"), @"minwise 0.1.0 (kernel [kernel], spec version 1, Unicode 17.0)");
    for subcommand in ["dedup", "pairs", "compare", "plan"] {
        let run = Desk::new().run(&format!("{subcommand} --version")).exit(0);
        assert!(run.text().contains(&format!("(kernel {kernel}, ")), "{run}");
    }
}

#[test]
fn completions_are_generated_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Desk::new().run(&format!("generate completions {shell}")).exit(0);
        for word in ["minwise", "dedup", "threshold", "annotate"] {
            assert!(run.text().contains(word), "{word} for {shell}");
        }
    }
}

/// Returns the arguments of every subcommand, such as `index add`, and an empty string for the command itself.
fn subcommands() -> Vec<String> {
    let desk = Desk::new();
    let mut open = vec![String::new()];
    let mut all = vec![];
    while let Some(words) = open.pop() {
        let help = desk.run(&format!("{words} --help")).exit(0).text().to_owned();
        let list = help.split_once("Commands:\n").map_or("", |(_, rest)| rest);
        for line in list.lines().take_while(|line| line.starts_with("  ")) {
            let name = line.trim_start().split(' ').next().unwrap();
            if !line.starts_with("   ") && name != "help" {
                open.push(format!("{words} {name}").trim().to_owned());
            }
        }
        all.push(words);
    }
    all
}

#[test]
fn every_help_has_examples_and_groups() {
    let all = subcommands();
    assert!(all.len() > 25 && all.contains(&"index add".to_owned()), "{all:?}");
    for words in all {
        let help = Desk::new().run(&format!("{words} --help")).exit(0).text().to_owned();
        let examples =
            help.split_once("Examples:\n").unwrap_or_else(|| panic!("no example in `{words}`\n{help}")).1;
        assert!(examples.lines().any(|line| line.starts_with(&format!("  minwise {words}"))), "{help}");
        assert!(help.contains("--color <WHEN>"), "{help}");
    }
    let help = Desk::new().run("dedup --help").exit(0).text().to_owned();
    let (usage, help) = help.split_once("\nOptions:").unwrap();
    assert!(usage.contains("Usage: minwise dedup [OPTIONS] --output <OUT> <INPUT>..."), "{usage}");
    let place = |word: &str| help.find(word).unwrap_or_else(|| panic!("{word}"));
    // The most needed options come first.
    let order = [
        "--threshold <",
        "--output <",
        "--report <",
        "\nReading:",
        "--text-field <",
        "\nRecall and candidates:",
        "\nText and sketches:",
        "\nWeights:",
        "\nResources:",
        "-j, --threads <",
        "\nMessages:",
    ];
    for pair in order.windows(2) {
        assert!(place(pair[0]) < place(pair[1]), "{pair:?}\n{help}");
    }
}

/// Returns the examples of every help page.
#[cfg(unix)]
fn examples() -> Vec<String> {
    let mut examples = vec![];
    for words in subcommands() {
        let help = Desk::new().run(&format!("{words} --help")).exit(0).text().to_owned();
        let lines = help.split_once("Examples:\n").unwrap().1.lines();
        for line in lines.take_while(|line| !line.is_empty()) {
            // The examples of the command itself have a remark behind them.
            let command = line.trim_start().split("   ").next().unwrap();
            assert!(command.starts_with("minwise "), "{words}: {line}");
            examples.push(command.to_owned());
        }
    }
    examples.sort_unstable();
    examples.dedup();
    examples
}

/// Returns a folder with all files that the examples name.
#[cfg(unix)]
fn example_desk() -> Desk {
    let text = |seed: u64| prose(seed, 80);
    let article = |id: &str, seed: u64| {
        let fields = serde_json::json!({ "id": id, "author": "A", "year": 2024, "body": text(seed), "text": text(seed) });
        format!("{fields}\n")
    };
    let articles = article("a1", 1) + &article("a2", 1) + &article("article-17", 2);
    let desk = Desk::with("articles.jsonl", &articles);
    for name in ["train.jsonl", "benchmark.jsonl", "big.jsonl"] {
        desk.write(name, &articles);
    }
    desk.write("crawl.jsonl.gz", gzip(articles.as_bytes()));
    for (name, seed) in [("first", 1), ("second", 2)] {
        desk.write(&format!("{name}.docx"), docx(&text(seed)));
        desk.write(&format!("{name}.pdf"), pdf(&text(seed)));
        desk.write(&format!("{name}.txt"), text(seed));
        desk.write(&format!("letters/{name}.txt"), text(seed));
        desk.write(&format!("submissions/{name}.docx"), docx(&text(seed)));
    }
    for name in ["thesis.pdf", "applications/smith-2024.pdf"] {
        desk.write(name, pdf(&text(3)));
    }
    fs_err::create_dir(desk.path("data")).unwrap();
    for command in [
        "dedup articles.jsonl -o data/a.parquet -q",
        "sketch articles.jsonl -o articles.sketches -q",
        "sketch articles.jsonl -o old.sketches -q",
        "sketch articles.jsonl -o new.sketches -q",
        "weights articles.jsonl -o articles.weights -q",
        "index create archive-2024 -q",
        "index create archive-2025 -q",
        "index create archive -q",
        "index add archive applications -q",
        "index export archive -o archive.jsonl -q",
    ] {
        desk.run(command).exit(0);
    }
    desk
}

/// Returns a PDF file of one page.
#[cfg(unix)]
fn pdf(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let lines =
        words.chunks(8).map(|line| format!("({}) Tj T*", line.join(" "))).collect::<Vec<_>>().join("\n");
    let page = format!("BT /F1 12 Tf 14 TL 50 800 Td\n{lines}\nET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 850] /Contents 5 0 R \
         /Resources << /Font << /F1 4 0 R >> >> >>"
            .to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = String::new();
    for (number, object) in (1..).zip(&objects) {
        places += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let table = file.len();
    file + &format!(
        "xref\n0 6\n0000000000 65535 f \n{places}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
    )
}

/// Every example of a help page is typed into a shell, in a folder of its own. Servers would run on, so only their
/// arguments are parsed.
#[cfg(unix)]
#[test]
fn every_example_of_a_help_page_runs() {
    let examples = examples();
    assert!(examples.len() >= 50, "{examples:?}");
    let made = example_desk();
    for example in &examples {
        let desk = Desk::new();
        let copy = Command::new("cp").arg("-r").arg(made.path(".")).arg(desk.root()).status().unwrap();
        assert!(copy.success());
        // Outputs may not exist, although other examples read them.
        let makes_archive =
            ["create", "import"].iter().any(|verb| example.contains(&format!(" index {verb} ")));
        let words: Vec<&str> = example.split(' ').collect();
        let output = words.iter().position(|word| *word == "--output").map(|at| words[at + 1]);
        for output in output.into_iter().chain(makes_archive.then_some("archive")) {
            let path = desk.path(output);
            if path.is_dir() {
                fs_err::remove_dir_all(path).unwrap();
            } else if path.exists() {
                fs_err::remove_file(path).unwrap();
            }
        }
        let parsed_only = if example.starts_with("minwise serve ") { " --help" } else { "" };
        let run = typed(&desk, &format!("{example}{parsed_only}"));
        // `check` and `compare` exit with 1 if they found something, or nothing similar.
        let may_find = example.starts_with("minwise check ") || example.starts_with("minwise compare ");
        assert!(run.code == Some(0) || may_find && run.code == Some(1), "{example}\n{run}");
    }
}

#[test]
fn the_command_alone_shows_the_commonest_call() {
    let run = Desk::new().run("").exit(2);
    assert!(run.err.contains("\n    minwise dedup articles.jsonl --output cleaned.jsonl\n"), "{run}");
    assert!(run.err.lines().count() < 10 && run.out.is_empty(), "{run}");
}

#[test]
fn completions_and_manual_pages_go_to_a_folder_and_name_no_machine() {
    let desk = Desk::new();
    desk.run("generate all share").exit(0);
    let names = desk.names();
    for name in [
        "completions/minwise.bash",
        "completions/_minwise",
        "completions/minwise.fish",
        "man/man1/minwise.1",
        "man/man1/minwise-dedup.1",
        "man/man1/minwise-index-add.1",
        "man/man1/minwise-generate-completions.1",
    ] {
        assert!(names.contains(&format!("share/{name}")), "{name} in {names:?}");
    }
    let pages = names.iter().filter(|name| name.ends_with(".1"));
    assert_eq!(pages.count(), subcommands().len());
    for name in names.iter().filter(|name| desk.path(name).is_file()) {
        assert!(!desk.text(name).contains("kernel"), "{name}");
    }
    let page = desk.text("share/man/man1/minwise-index-add.1");
    assert!(
        page.contains(".TH minwise-index-add 1  \"minwise 0.1.0\"") && page.contains("Examples:"),
        "{page}"
    );
    assert_eq!(desk.run("generate man index add").exit(0).text(), page);
    // A second run replaces the files with equal ones.
    desk.run("generate all share").exit(0);
    assert_eq!((desk.names(), desk.text("share/man/man1/minwise-index-add.1")), (names, page));
}

/// Returns the lines of `--help` that name an argument or option, up to its value: `-o, --output <OUT>`.
fn named_in_help(help: &str) -> impl Iterator<Item = &str> {
    let is_name = |line: &&str| {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        (2..=6).contains(&indent) && (text.starts_with('-') || text.starts_with(['<', '[']))
    };
    let lines = help.lines().take_while(|line| *line != "Examples:").filter(is_name);
    lines.map(|line| line.trim_start().split("  ").next().unwrap_or_default())
}

#[test]
fn the_reference_has_every_command_option_default_and_example() {
    let desk = Desk::new();
    let page = desk.run("generate reference").exit(0).text().to_owned();
    assert!(!page.contains("kernel"), "the page names no machine");
    let common = page.split_once("\n## Options of every command\n").unwrap().1.split("\n## ").next().unwrap();
    for words in subcommands().iter().filter(|words| !words.is_empty()) {
        let title = format!("\n## minwise {words}\n");
        let section = page.split_once(&title).unwrap_or_else(|| panic!("no section `{words}`")).1;
        let section = section.split("\n## ").next().unwrap();
        let help = desk.run(&format!("{words} --help")).exit(0).text().to_owned();
        let mut names = 0;
        for name in named_in_help(&help) {
            let item = format!("\n- `{}`", name.replace(", ", "`, `"));
            assert!(section.contains(&item) || common.contains(&item), "`{name}` of `{words}` in\n{section}");
            names += 1;
        }
        assert!(names >= 3, "{names} in\n{help}");
        // The default of `--color` is among the options of every command and is subtracted. An empty default is not
        // printed on the page.
        let defaults = help.matches("[default: ").count() - help.matches("[default: \"\"]").count() - 1;
        let listed = section.matches("Default: `").count() + section.matches("[default: ").count();
        assert_eq!(listed, defaults, "{section}");
        for example in help.split_once("Examples:\n").unwrap().1.lines() {
            assert!(section.contains(&format!("\n{}\n", example.trim_start())), "{example} in\n{section}");
        }
    }
    let sections = page.lines().filter(|line| line.starts_with("## minwise ")).count();
    assert_eq!(sections, subcommands().len() - 1);
    // These lines cover values, and options that exclude one another.
    for line in [
        "- `--format <FORMAT>`: Print the plan in this format. `json` contains everything that `--details` shows, and the filter if `--filter` is given. Values: `text` (for people), `json` (one JSON object). Default: `text`.",
        "- `--removed <OUT>`: Write the removed documents to OUT. OUT takes the same forms as for `--output`. `--removed` cannot be given with `--annotate`.",
        "- `--color <WHEN>`: Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR is set. Values: `auto`, `always`, `never`. Default: `auto`.",
    ] {
        assert!(page.lines().any(|other| other == line), "{line} in\n{page}");
    }
}

#[test]
fn colour_is_a_choice() {
    let desk = Desk::new();
    let error = |options: &str| desk.run(&format!("dedup missing.jsonl -o x {options}")).exit(2).err;
    assert!(error("").starts_with("error: no such file"), "not a terminal");
    assert!(error("--color never").starts_with("error: no such file"));
    let colored = error("--color always");
    assert!(colored.starts_with("\u{1b}[1;31merror:\u{1b}[0m no such file"), "{colored:?}");
    assert!(colored.contains("\u{1b}[1;36mhint:\u{1b}[0m"), "{colored:?}");
    // Errors of the parser have the same style.
    let run = desk.run("dedup --treshold 3 --color always").exit(2);
    assert!(run.err.starts_with("\u{1b}[1;31merror:\u{1b}[0m unexpected argument"), "{run}");
    assert!(run.err.contains("\u{1b}[1;36mhint:\u{1b}[0m a similar argument exists: `--threshold`"), "{run}");
    let run = desk.run("dedup --treshold 3").exit(2);
    assert!(run.err.starts_with("error: ") && run.err.contains("\nhint: a similar"), "{run}");
    assert!(!run.err.contains("tip:") && !run.err.contains('\u{1b}'), "{run}");
    assert!(desk.run("dedup --help --color always").exit(0).text().contains("\u{1b}["));
    assert!(!desk.run("dedup --help").exit(0).text().contains('\u{1b}'));
    assert!(desk.run("dedup x -o y --color sometimes").exit(2).err.starts_with("error: invalid value"));
}

#[test]
fn manual_pages_are_generated() {
    let desk = Desk::new();
    let run = desk.run("generate man").exit(0);
    assert!(run.text().contains(".TH minwise 1") && run.text().contains("dedup"), "{run}");
    let run = desk.run("generate man dedup").exit(0);
    assert!(run.text().contains(".TH minwise-dedup 1") && run.text().contains("annotate"), "{run}");
    insta::assert_snapshot!(desk.run("generate man nothing"), @"
    exit 2
    --- stderr
    error: there is no subcommand `nothing`

    hint: `minwise --help` lists them
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn sketch() {
    insta::assert_snapshot!(Desk::new().run("sketch --help"), @"
    exit 0
    --- stdout
    Write the sketches of a corpus to a file, to estimate similarities later

    Usage: minwise sketch [OPTIONS] --output <FILE> <INPUT>...

    Arguments:
      <INPUT>...
              Files, folders or globs, or `-` for standard input. Minwise reads JSONL, CSV, TSV,
              Parquet, Arrow IPC and WARC, plain or compressed by gzip, zstd, bzip2 or xz, and single
              documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and PDF

    Options:
      -o, --output <FILE>
              Write the sketches to FILE

          --force
              Replace an output that exists

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              Read the text from this field or column. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). The texts of a list are joined by a blank line.
              Several fields are separated by commas (`title,body`), and their texts are joined by a
              line break

              [default: text]

          --id-field <FIELD>
              Read the id from this field or column. A record without an id gets `file:line`, or
              `file:row` in Parquet and Arrow IPC

              [default: id]

          --input-format <FORMAT>
              Read inputs in this format: `auto` (found by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is a document, whose text
              is extracted), or `text` (each file is a text)

              [default: auto]

          --encoding <ENCODING>
              Read text files in this encoding: `utf-8` (files that are not UTF-8 are rejected),
              `latin-1`, or `auto` (UTF-8 if the file is UTF-8, otherwise a guess by its content). Files
              of records, such as JSONL and CSV, are always read as UTF-8

              [default: utf-8]

          --delimiter <CHAR>
              Split CSV records at this character; `tab` stands for a tab. Without the option, Minwise
              tries comma, semicolon and tab in this order, and uses the first one with which the header
              has a column with the name of the text field

          --null <RULE>
              Treat a record whose text is null by this rule: `keep` keeps it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. With `keep`, `index add` skips
              such records, and `check` rejects them, because there is no text to check. A record
              without the field is always rejected

              [default: keep]

          --max-record <SIZE>
              Reject records larger than this

              [default: 1GiB]

          --strict
              Stop before anything is written if a file found in a folder or by a glob cannot be read
              (no permission, a broken link, a link loop). Without `--strict`, such a file is rejected
              and the run continues. A file that you name must always be readable

          --temp-dir <DIR>
              Put temporary files into this folder: decompressed and piped input, parts of tables,
              extracted texts, and data that does not fit into memory. Without the option, `dedup --work
              DIR` puts temporary files into DIR, and every other run puts them into the temporary
              folder of the system

          --max-rejects <N>
              Permit at most N rejected records: with up to N, the exit code is 0; with more, the run
              stops at once. Without the option, a run never stops because of rejected records, and its
              exit code is 2 if records were rejected

    Text and sketches:
          --shingle <SHINGLING>
              Cut text into shingles: `words:N` (N words in a row), `chars:N` (N characters in a row) or
              `terms` (single words of three letters or more). With `,bag` at the end, as in
              `words:5,bag`, a shingle counts as often as it occurs; without `,bag`, it counts only once

              [default: words:5]

          --normalize <FORM>
              Normalise text before it is cut: `nfkc+casefold` (upper and lower case are the same, and
              so are variants of a character such as `ﬁ` and `fi`), `casefold` (upper and lower case are
              the same) or `none`

              [default: nfkc+casefold]

          --strip-markup
              Remove HTML tags, comments, scripts and styles from the text first

          --whitespace <RULE>
              Treat white space by this rule: `fold` turns each run of it into one space, `keep` keeps
              it, and `remove` removes it

              [default: fold]

          --short <RULE>
              Treat a document that is shorter than one shingle by this rule: `one` makes one shingle of
              the whole text, `reject` rejects the document

              [default: one]

          --sketch <SKETCH>
              The kind of sketch: `minhash` (the default; also `minhash,modular`,
              `minhash,multiplicative` and `minhash,murmur3`), `min-max`, `one-permutation`,
              `super-minhash` or `fast-similarity`; for weighted shingles `dart` (the default), `icws`
              or `cws`. `--registers` sets its size; `super-minhash:256` sets both. Sketches without
              bands, such as `b-bit:2/minhash:256`, work only with `sketch`, `estimate`, `compare` and
              `accuracy`. `minwise compare A B --all` lists every kind

          --registers <K>
              The number of registers per sketch [default: 128]

          --seed <N>
              The seed of the hash functions, a whole number. Sketches of different seeds cannot be
              compared

              [default: 1]

    Resources:
      -j, --threads <N>
              Use N threads. Without the option, Minwise uses one thread per core

          --memory <SIZE>
              Use at most this much memory, such as `4GiB`. Data that does not fit goes to disk. Without
              the option, the limit is half of the memory of the machine (or of the control group) on
              Linux, and 4 GiB on other systems

    Messages:
      -q, --quiet
              Print errors and warnings only: no progress and no summary

      -v, --verbose
              List the skipped files, each with its reason. In folders and globs, Minwise skips system
              files such as `.DS_Store` and `Thumbs.db`, lock files such as `~$report.docx`, marker
              files such as `_SUCCESS`, empty documents, and binary files of unknown format

          --log <FORMAT>
              Write messages to standard error in this format

              Possible values:
              - text
              - json: One JSON object per line

              [default: text]

          --color <WHEN>
              Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR
              is set

              [default: auto]
              [possible values: auto, always, never]

    Examples:
      minwise sketch articles.jsonl --output articles.sketches
      minwise sketch articles.jsonl --output small.sketches --sketch b-bit:2/minhash:256
    ");
}

#[test]
fn estimate() {
    insta::assert_snapshot!(Desk::new().run("estimate --help"), @"
    exit 0
    --- stdout
    Estimate the similarities of sketched documents without reading them again

    Usage: minwise estimate [OPTIONS] <FILE> [FILE2]

    Arguments:
      <FILE>
              A file that `minwise sketch` wrote. Without FILE2, the documents of FILE are compared with
              one another

      [FILE2]
              A second file that `minwise sketch` wrote with the same options. Each document of FILE is
              compared with each document of FILE2

    Options:
          --threshold <T>
              List a pair if its estimated similarity is at least T. `0` lists all pairs

              [default: 0.8]

      -o, --output <FILE>
              Write the pairs to FILE. Without the option, they go to standard output

          --of <ID>...
              List only pairs that contain a document with one of these ids

          --format <FORMAT>
              Write pairs in this format, each with its estimate and the standard error of the estimate.
              Without the option, pairs are written as JSONL if the name of the output ends in `.jsonl`,
              and as TSV otherwise

              Possible values:
              - tsv:   The two ids and the numbers of a pair, separated by tabs
              - jsonl: One JSON object per line

          --force
              Replace an output that exists

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Filter:
          --filter-error <E>
              Let the filter wrongly rule out at most the share E of the pairs whose similarity is
              exactly the threshold; `off` switches the filter off. The filter rules a pair out as soon
              as the registers compared so far show that the pair is probably below the threshold.
              Sketches of bits, such as `b-bit:1/minhash:512`, are compared without the filter

              [default: 1e-6]

          --looks <K,K…>
              After each of these numbers of compared registers, the filter decides whether to rule the
              pair out. Each decision is called a look: with `16,32,64,128`, a pair gets up to four
              looks. The numbers must ascend. Without the option, the filter looks every 16 registers at
              first, and less often later

          --error-per-look <E>
              At each look (`--looks`), let the filter wrongly rule out at most the share E of the pairs
              whose similarity is exactly the threshold. With n looks, it can wrongly rule out up to n
              times E; the summary states the total. `--filter-error` limits the total instead

    Resources:
      -j, --threads <N>
              Use N threads. Without the option, Minwise uses one thread per core

    Messages:
      -q, --quiet
              Print errors and warnings only: no progress and no summary

          --log <FORMAT>
              Write messages to standard error in this format

              Possible values:
              - text
              - json: One JSON object per line

              [default: text]

          --color <WHEN>
              Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR
              is set

              [default: auto]
              [possible values: auto, always, never]

    Examples:
      minwise estimate articles.sketches
      minwise estimate old.sketches new.sketches --threshold 0.5 --output pairs.tsv
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn weights() {
    insta::assert_snapshot!(Desk::new().run("weights --help"), @"
    exit 0
    --- stdout
    Count in how many documents each shingle occurs, for weighted similarities

    Usage: minwise weights [OPTIONS] --output <FILE> <INPUT>...

    Arguments:
      <INPUT>...
              Files, folders or globs, or `-` for standard input. Minwise reads JSONL, CSV, TSV,
              Parquet, Arrow IPC and WARC, plain or compressed by gzip, zstd, bzip2 or xz, and single
              documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and PDF

    Options:
      -o, --output <FILE>
              Write the table of document frequencies to FILE

          --force
              Replace an output that exists

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              Read the text from this field or column. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). The texts of a list are joined by a blank line.
              Several fields are separated by commas (`title,body`), and their texts are joined by a
              line break

              [default: text]

          --id-field <FIELD>
              Read the id from this field or column. A record without an id gets `file:line`, or
              `file:row` in Parquet and Arrow IPC

              [default: id]

          --input-format <FORMAT>
              Read inputs in this format: `auto` (found by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is a document, whose text
              is extracted), or `text` (each file is a text)

              [default: auto]

          --encoding <ENCODING>
              Read text files in this encoding: `utf-8` (files that are not UTF-8 are rejected),
              `latin-1`, or `auto` (UTF-8 if the file is UTF-8, otherwise a guess by its content). Files
              of records, such as JSONL and CSV, are always read as UTF-8

              [default: utf-8]

          --delimiter <CHAR>
              Split CSV records at this character; `tab` stands for a tab. Without the option, Minwise
              tries comma, semicolon and tab in this order, and uses the first one with which the header
              has a column with the name of the text field

          --null <RULE>
              Treat a record whose text is null by this rule: `keep` keeps it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. With `keep`, `index add` skips
              such records, and `check` rejects them, because there is no text to check. A record
              without the field is always rejected

              [default: keep]

          --max-record <SIZE>
              Reject records larger than this

              [default: 1GiB]

          --strict
              Stop before anything is written if a file found in a folder or by a glob cannot be read
              (no permission, a broken link, a link loop). Without `--strict`, such a file is rejected
              and the run continues. A file that you name must always be readable

          --temp-dir <DIR>
              Put temporary files into this folder: decompressed and piped input, parts of tables,
              extracted texts, and data that does not fit into memory. Without the option, `dedup --work
              DIR` puts temporary files into DIR, and every other run puts them into the temporary
              folder of the system

    Text and sketches:
          --shingle <SHINGLING>
              Cut text into shingles: `words:N` (N words in a row), `chars:N` (N characters in a row) or
              `terms` (single words of three letters or more). With `,bag` at the end, as in
              `words:5,bag`, a shingle counts as often as it occurs; without `,bag`, it counts only once

              [default: words:5]

          --normalize <FORM>
              Normalise text before it is cut: `nfkc+casefold` (upper and lower case are the same, and
              so are variants of a character such as `ﬁ` and `fi`), `casefold` (upper and lower case are
              the same) or `none`

              [default: nfkc+casefold]

          --strip-markup
              Remove HTML tags, comments, scripts and styles from the text first

          --whitespace <RULE>
              Treat white space by this rule: `fold` turns each run of it into one space, `keep` keeps
              it, and `remove` removes it

              [default: fold]

          --short <RULE>
              Treat a document that is shorter than one shingle by this rule: `one` makes one shingle of
              the whole text, `reject` rejects the document

              [default: one]

    Resources:
      -j, --threads <N>
              Use N threads. Without the option, Minwise uses one thread per core

    Messages:
      -q, --quiet
              Print errors and warnings only: no progress and no summary

      -v, --verbose
              List the skipped files, each with its reason. In folders and globs, Minwise skips system
              files such as `.DS_Store` and `Thumbs.db`, lock files such as `~$report.docx`, marker
              files such as `_SUCCESS`, empty documents, and binary files of unknown format

          --log <FORMAT>
              Write messages to standard error in this format

              Possible values:
              - text
              - json: One JSON object per line

              [default: text]

          --color <WHEN>
              Use colour in messages and help. `auto` uses it on terminals, unless the variable NO_COLOR
              is set

              [default: auto]
              [possible values: auto, always, never]

    Examples:
      minwise weights articles.jsonl --output articles.weights
      minwise dedup articles.jsonl --output cleaned.jsonl --weight tf-idf --weights articles.weights
    ");
}
