//! Tests the help of the archive commands: `index`, `check` and `serve`.

use crate::support::Desk;

#[test]
fn index() {
    insta::assert_snapshot!(Desk::new().run("index --help"), @"
    exit 0
    --- stdout
    Keep an archive of documents: create it, add to it, maintain it

    Usage: minwise index [OPTIONS] <COMMAND>

    Commands:
      create   Create an empty archive
      add      Add documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and PDF files,
               folders of them, or records of JSONL, CSV, TSV, Parquet, Arrow IPC and WARC files. A
               document whose id is in the archive already is replaced if it has changed
      remove   Remove documents from an archive
      list     List the documents of an archive: id, length in characters, and title
      show     Show the text of a document, or with `--format jsonl` everything that the archive stores
               about the document
      stats    Show the size and the settings of an archive
      check    Read everything in an archive and list the damage. The exit code is 1 if something is
               damaged
      compact  Make an archive smaller and faster after many changes, and delete removed documents from
               disk. Compaction copies the archive, so it needs as much free disk space as the archive
               takes
      merge    Merge archives with the same settings into a new archive. If several archives have a
               document with the same id, the new archive gets the document of the archive that is named
               last
      export   Write all documents of an archive as JSON lines, for a backup or another version of
               Minwise
      import   Add the documents of an exported archive to an existing archive or a new one
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Messages:
          --color <WHEN>  Use colour in messages and help. `auto` uses it on terminals, unless the
                          variable NO_COLOR is set [default: auto] [possible values: auto, always,
                          never]

    Examples:
      minwise index create archive
      minwise index add archive applications/
      minwise index list archive --search smith
    ");
}

#[test]
fn index_create() {
    insta::assert_snapshot!(Desk::new().run("index create --help"), @"
    exit 0
    --- stdout
    Create an empty archive

    Usage: minwise index create [OPTIONS] <DIR>

    Arguments:
      <DIR>
              The folder of the new archive. It must not exist or must be empty

    Options:
          --threshold <T>
              Find documents whose similarity is at least T. Minwise chooses bands and rows for this
              threshold and for `--recall`

              [default: 0.5]

          --recall <R>
              The probability of finding a document whose similarity is exactly the threshold

              [default: 0.996]

          --passage <N>
              Find shared passages of at least N words, however small their share of the documents is.
              In writing systems without spaces (such as Chinese), and with `--shingle chars:…`, N
              counts characters

              [default: 25]

          --bits <BITS>
              Keep this many bits of each register: a number from 1 to 16, such as 2 or 1.5, one of 0.5,
              0.25 and 0.125, or `all`. Fewer bits take less room on disk, but more candidates have to
              be compared

              [default: 8]

          --no-text
              Store shingles instead of texts. Matches are found and measured, but passages cannot be
              shown

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index create archive
      minwise index create archive --threshold 0.3 --passage 15
    ");
}

#[test]
fn index_add() {
    insta::assert_snapshot!(Desk::new().run("index add --help"), @"
    exit 0
    --- stdout
    Add documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB and PDF files, folders of
    them, or records of JSONL, CSV, TSV, Parquet, Arrow IPC and WARC files. A document whose id is in
    the archive already is replaced if it has changed

    Usage: minwise index add [OPTIONS] <DIR> <INPUT>...

    Arguments:
      <DIR>
              The folder of the archive

      <INPUT>...
              Files, folders or globs, or `-` for standard input

    Options:
          --meta <FILE>
              Read metadata from this CSV file, one row per document. Its column `id` has the id of the
              document, as `index list` prints it; its column `title`, if there is one, has the title;
              all other columns become metadata

          --meta-fields <FIELDS>
              Store these fields or columns of records as metadata, separated by commas

          --rejects <FILE>
              List all rejected files and records in FILE, one JSON object per line, as in
              `rejects.jsonl` of a report

          --max-rejects <N>
              Permit at most N rejected files and records: with up to N, the exit code is 0; with more,
              it is 2

          --force
              Replace the file of `--rejects` if it exists

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
      minwise index add archive applications/
      minwise index add archive articles.jsonl --meta-fields author,year
      minwise index add archive applications/ --rejects rejects.jsonl
    ");
}

#[test]
fn index_remove() {
    insta::assert_snapshot!(Desk::new().run("index remove --help"), @"
    exit 0
    --- stdout
    Remove documents from an archive

    Usage: minwise index remove [OPTIONS] <DIR> <ID>...

    Arguments:
      <DIR>
              The folder of the archive

      <ID>...
              The ids of the documents. If one of the ids does not exist, nothing is removed

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index remove archive smith-2024.pdf
    ");
}

#[test]
fn index_list() {
    insta::assert_snapshot!(Desk::new().run("index list --help"), @r#"
    exit 0
    --- stdout
    List the documents of an archive: id, length in characters, and title

    Usage: minwise index list [OPTIONS] <DIR>

    Arguments:
      <DIR>
              The folder of the archive

    Options:
          --search <TEXT>
              List only documents whose id, title or metadata contains TEXT. Upper and lower case are
              the same

              [default: ""]

          --newest
              List the newest documents first

          --limit <N>
              List at most N documents. Without the option, all are listed

          --format <FORMAT>
              Print documents as `text` (id, length, title) or `jsonl`

              Possible values:
              - text:  For people
              - jsonl: One JSON object per line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index list archive --newest --limit 20
      minwise index list archive --search smith --format jsonl
    "#);
}

#[test]
fn index_show() {
    insta::assert_snapshot!(Desk::new().run("index show --help"), @"
    exit 0
    --- stdout
    Show the text of a document, or with `--format jsonl` everything that the archive stores about the
    document

    Usage: minwise index show [OPTIONS] <DIR> <ID>

    Arguments:
      <DIR>
              The folder of the archive

      <ID>
              The id of the document

    Options:
          --format <FORMAT>
              Print `text` (the text alone) or `jsonl` (everything)

              Possible values:
              - text:  For people
              - jsonl: One JSON object per line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index show archive smith-2024.pdf
      minwise index show archive smith-2024.pdf --format jsonl
    ");
}

#[test]
fn index_stats() {
    insta::assert_snapshot!(Desk::new().run("index stats --help"), @"
    exit 0
    --- stdout
    Show the size and the settings of an archive

    Usage: minwise index stats [OPTIONS] <DIR>

    Arguments:
      <DIR>
              The folder of the archive

    Options:
          --format <FORMAT>
              Print the numbers in this format

              Possible values:
              - text:  For people
              - jsonl: One JSON object per line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index stats archive
    ");
}

#[test]
fn index_check() {
    insta::assert_snapshot!(Desk::new().run("index check --help"), @"
    exit 0
    --- stdout
    Read everything in an archive and list the damage. The exit code is 1 if something is damaged

    Usage: minwise index check [OPTIONS] <DIR>

    Arguments:
      <DIR>
              The folder of the archive

    Options:
          --repair
              Remove damaged documents, and rebuild everything that the archive computes from the other
              documents

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index check archive
      minwise index check archive --repair
    ");
}

#[test]
fn index_compact() {
    insta::assert_snapshot!(Desk::new().run("index compact --help"), @"
    exit 0
    --- stdout
    Make an archive smaller and faster after many changes, and delete removed documents from disk.
    Compaction copies the archive, so it needs as much free disk space as the archive takes

    Usage: minwise index compact [OPTIONS] <DIR>

    Arguments:
      <DIR>
              The folder of the archive

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index compact archive
    ");
}

#[test]
fn index_merge() {
    insta::assert_snapshot!(Desk::new().run("index merge --help"), @"
    exit 0
    --- stdout
    Merge archives with the same settings into a new archive. If several archives have a document with
    the same id, the new archive gets the document of the archive that is named last

    Usage: minwise index merge [OPTIONS] --output <DIR> <ARCHIVE>...

    Arguments:
      <ARCHIVE>...
              The folders of the archives to merge

    Options:
      -o, --output <DIR>
              The folder of the new archive

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index merge archive-2024 archive-2025 --output archive
    ");
}

#[test]
fn index_export() {
    insta::assert_snapshot!(Desk::new().run("index export --help"), @"
    exit 0
    --- stdout
    Write all documents of an archive as JSON lines, for a backup or another version of Minwise

    Usage: minwise index export [OPTIONS] <DIR>

    Arguments:
      <DIR>
              The folder of the archive

    Options:
      -o, --output <FILE>
              Write the lines to FILE. Without the option, they go to standard output

          --force
              Replace an output that exists

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index export archive --output archive.jsonl
    ");
}

#[test]
fn index_import() {
    insta::assert_snapshot!(Desk::new().run("index import --help"), @"
    exit 0
    --- stdout
    Add the documents of an exported archive to an existing archive or a new one

    Usage: minwise index import [OPTIONS] <DIR> <FILE>

    Arguments:
      <DIR>
              The folder of the archive. If it does not exist, an archive with the settings of the
              export is created

      <FILE>
              An exported archive, or `-` for standard input

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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
      minwise index import archive archive.jsonl
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn check() {
    insta::assert_snapshot!(Desk::new().run("check --help"), @"
    exit 0
    --- stdout
    Check documents against an archive and report what they share with it. The exit code is 0 if nothing
    is found, 1 if something is found, and 2 if a document could not be read

    Usage: minwise check [OPTIONS] --index <DIR> <FILE>...

    Arguments:
      <FILE>...
              The documents to check: files, folders or globs of the formats that `index add` reads, or
              `-` for standard input

    Options:
          --index <DIR>
              The folder of the archive

          --threshold <T>
              Report a document if its Jaccard similarity is at least T

              [default: 0.5]

          --containment <C>
              Report a document if at least the share C of either text appears in the other

              [default: 0.3]

          --passage <N>
              Report a document that shares a passage of at least N words (characters in writing systems
              without spaces, such as Chinese). Without the option, N is the `--passage` that the
              archive was created with. With `off`, a shared passage alone is no match

          --top <N>
              Show at most N matches per document, the best first

              [default: 10]

          --candidates <N>
              Compare at most N candidates per document, the most promising first. The output states how
              many candidates were not compared

              [default: 1000]

          --passages <N>
              Show the N longest shared passages per match. Without the option, the terminal shows three
              passages, and `--report` and `--format jsonl` have all passages

          --weight <WEIGHTING>
              Also show the weighted Jaccard similarity, with the document frequencies of the archive:
              `count`, `tf`, `tf-idf` or `tf-idf,smooth`

          --report <FILE>
              Write a web page with the shared passages side by side to FILE. It is one file that opens
              without a network

          --rejects <FILE>
              List all rejected files and records in FILE, one JSON object per line, as in
              `rejects.jsonl` of a report

          --max-rejects <N>
              Permit at most N rejected files and records: with up to N, the exit code is 0 or 1, as if
              all had been read; with more, it is 2

          --force
              Replace the files of `--report` and `--rejects` if they exist

          --format <FORMAT>
              Print matches as `text`, or as `jsonl` with the fields of the API of the server

              Possible values:
              - text:  For people
              - jsonl: One JSON object per line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Text and documents to leave out:
          --ignore-text <FILE>...
              Leave out the text of these files, such as a form

          --max-df <N>
              Leave out shingles that occur in more documents of the archive than this: a share such as
              `0.1` or `10%`, or a number such as `500`

          --ignore-quotations
              Leave out text in quotation marks

          --ignore-references
              Leave out lists of references at the end of documents

          --exclude <FIELD>
              Skip documents of the archive that have the same value of the metadata field FIELD as the
              checked document: `--exclude author` skips documents of the same author. The value of the
              checked document is in its file or record, or `--set author=NAME` gives it. If records
              come from standard input, `--input-format` is needed, too

          --set <FIELD=VALUE>
              Set a metadata field of the checked documents

          --since <DATE>
              Skip documents of the archive before this date, such as `2026-03-01`, `2026-03` or `2026`

          --until <DATE>
              Skip documents of the archive after this date. The date is inclusive: `2026-03-01`
              includes the documents of that day, and `2026` includes the documents of that year

          --date-field <FIELD>
              Take the date for `--since` and `--until` from this metadata field. Without the option,
              the date on which a document was added decides

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
      minwise check thesis.pdf --index archive
      minwise check submissions/ --index archive --report report.html
      minwise check thesis.pdf --index archive --ignore-quotations --ignore-references
      minwise check thesis.pdf --index archive --format jsonl
    ");
}

#[test]
fn serve() {
    insta::assert_snapshot!(Desk::new().run("serve --help"), @"
    exit 0
    --- stdout
    Serve an archive over HTTP: an API to add and check documents, and a web page to check them

    Usage: minwise serve [OPTIONS] --index <DIR>

    Options:
          --index <DIR>
              The folder of the archive

          --listen <ADDRESS>
              Listen on this address. An address that other machines can reach needs `--tokens`. With
              port 0, the server takes a free port. It prints its address to standard output

              [default: 127.0.0.1:8080]

          --tokens <FILE>
              Read tokens from this file, which only its owner may read. Each line is `read TOKEN` or
              `write TOKEN`. Without tokens, everybody on this machine may read and write

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Limits:
          --max-body <SIZE>
              Refuse requests that are larger than this

              [default: 64MiB]

          --body-memory <SIZE>
              Use at most this much memory for requests and jobs. One half is for requests and answers;
              if it is full, further requests wait. The other half is for running and waiting jobs; if
              it is full, further jobs are refused

              [default: 256MiB]

          --timeout <SECONDS>
              Spend at most this many seconds on a request

              [default: 60]

          --max-requests <N>
              Answer at most N requests at a time. Further requests are refused with status 503

              [default: 512]

          --max-connections <N>
              Accept at most N connections at a time. Further connections wait

              [default: 1024]

          --rate <N>
              Allow N requests per second from each token, or from each address if there are no tokens.
              `off` sets no limit

              [default: 100]

          --max-jobs <N>
              Accept at most N jobs that add documents, counting both running and waiting jobs. Jobs
              that find clusters are counted separately: at most two are accepted (one if N is 1)

              [default: 16]

          --grace <SECONDS>
              When the server stops, give requests and jobs this many seconds to finish

              [default: 30]

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
      minwise serve --index archive
      minwise serve --index archive --listen 0.0.0.0:8080 --tokens tokens.txt
    ");
}
