//! What the command says about itself.

use crate::support::Desk;

#[test]
fn the_command() {
    insta::assert_snapshot!(Desk::new().run("--help"), @"
    exit 0
    --- stdout
    Finds near-duplicate documents, verifies them exactly, and explains what it found

    Usage: minwise <COMMAND>

    Commands:
      dedup     Write a corpus without its near-duplicates
      pairs     List the near-duplicate pairs of a corpus
      compare   Compare two documents: similarity, containment, shared passages
      sketch    Write the sketches of a corpus to a file
      weights   Count in how many documents each shingle stands, for weights
      estimate  Estimate the similarities of sketched documents, without reading them again
      index     Keep an archive of documents: make it, add to it, look after it
      check     Check documents against an archive: what they repeat of it, with the passages; exit code
                1 if anything is found
      serve     Serve an archive: an API to add documents and check them, and a page for people
      plan      Choose bands and rows for a threshold and a recall, and show what to expect of them
      generate  Write shell completions or the manual page to standard output
      help      Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn dedup() {
    insta::assert_snapshot!(Desk::new().run("dedup --help"), @"
    exit 0
    --- stdout
    Write a corpus without its near-duplicates

    Usage: minwise dedup [OPTIONS] <INPUT>...

    Arguments:
      <INPUT>...
              Files of JSONL, CSV, TSV, Parquet, Arrow IPC or WARC (plain, or compressed by gzip, zstd,
              bzip2 or xz), or documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB,
              PDF; folders or globs of them; or `-`

    Options:
          --against <REF>...
              Remove what repeats these files, folders or globs, too. They may be of another format than
              INPUT, have their text in the same fields, and are only read: all their documents stay,
              and none is written

      -o, --output <OUT>
              Where the kept documents go: one file (compressed if it ends in `.gz`, `.zst`, `.bz2` or
              `.xz`; `-` for standard output), or a folder with one file for each input (`DIR/`, or a
              folder that is there). Texts go to a folder. If the extension belongs to another format
              than the inputs, records are converted: JSONL to `kept.parquet` becomes Parquet

          --removed <OUT>
              Where the removed documents go, in the same way

          --annotate
              Keep every document and add to it, as its member or column `minwise`, the cluster it
              belongs to

          --output-format <FORMAT>
              The format of the outputs: `jsonl`, `csv`, `tsv`, `parquet`, `arrow` or `warc`. It
              overrides the names of the outputs; in a folder, every file is converted. Without it, the
              extension of the name decides; if there is no known extension, and for standard output,
              the format is that of the inputs

          --compression <CODEC>
              The codec inside Parquet and Arrow IPC: `keep`, `none`, `snappy`, `gzip`, `lz4` or `zstd`.
              `keep` takes the codec of the input; if records are converted, `keep` is `zstd` for
              Parquet and `none` for Arrow IPC

              [default: keep]

          --report <DIR>
              Where `index.html`, a page for people, goes, with `summary.json`, `pairs.tsv`,
              `clusters.jsonl`, `large-clusters.jsonl`, `reordered.tsv` and `rejects.jsonl`

          --dry-run
              Decide, but write no documents

          --force
              Replace outputs that exist. An output folder is replaced as a whole, with whatever else is
              in it; of a report, the files of the same names

          --keep <POLICY>
              Which document of a cluster stays: `first` (the default; `longest` with `--measure
              containment`), `last`, `longest`, `shortest`, `newest:FIELD`, `oldest:FIELD`, `max:FIELD`,
              `min:FIELD` or `priority:FIELD=A,B,C`. Given several times, each decides where those
              before it leave a tie; what is left goes by input order. Documents without the field come
              last

          --cluster <CLUSTERING>
              What a cluster is: `star` (similar to the kept document) or `components` (connected by
              similar pairs)

              [default: star]

          --max-cluster <N>
              Remove nothing of clusters with more than N documents; the report lists them in
              `large-clusters.jsonl`, the 1000 largest with passages that they share, but for documents
              of more than 1 MiB

          --audit <N>
              Compare N documents, drawn by the seed, with all others without bands, and tell which
              share of their near-duplicates was found. `auto` takes up to a thousand, as many as a
              twentieth of the run's time is enough for, which is none of a great many short ones; 0 or
              `off` takes none

              [default: auto]

          --work <DIR>
              A folder in which the run keeps what it has found out, so that `--resume` can go on after
              whatever ended it; removed when the run is done

          --resume
              Go on with the run in `--work`, or begin one if there is none

          --keep-work
              Leave `--work` there when the run is done

          --threshold <T>
              The exact similarity from which on two documents are near-duplicates

              [default: 0.8]

          --measure <MEASURE>
              The measure that decides: `jaccard`, or `containment` (how much of the smaller document
              the larger one has)

              [default: jaccard]

          --order <Q>
              The share of common shingles that must stand in about the same places; similar documents
              with less are reordered, and no near-duplicates

          --threads <N>
              Threads to work with; all cores without it

          --max-rejects <N>
              Allow this many rejected records: one more stops the run. Without it, any number is read
              past, and the exit code is 2

          --memory <SIZE>
              The most memory to take, such as `4GiB`; what does not fit goes to disk. Without it, half
              of the machine's (or of the control group's) on Linux, and 4 GiB elsewhere

      -q, --quiet
              No progress and no summary; errors and warnings only

      -v, --verbose
              List the skipped files, each with its reason. In folders and patterns, Minwise skips
              `.DS_Store`, `Thumbs.db`, `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside
              records, empty files other than files of records, and binary files of unknown format

          --log <FORMAT>
              How messages on standard error are written

              Possible values:
              - text
              - json: One JSON object a line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              The field or column that holds the text. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). Texts of a list are joined by a blank line. Several
              fields are given with commas (`title,body`) and joined by a line break

              [default: text]

          --id-field <FIELD>
              The field or column that holds the id. Without one, the id is `file:line`, or `file:row`

              [default: id]

          --encoding <ENCODING>
              How text files are encoded: `utf-8` (anything else is rejected), `latin-1` or `auto`

              [default: utf-8]

          --delimiter <CHAR>
              The character between the fields of CSV, or `tab`. Without it, a comma; or a semicolon or
              a tab, if the header has the field of the text only with that

          --max-record <SIZE>
              The largest record that is read; a larger one is rejected

              [default: 1GiB]

          --null <RULE>
              The rule for a record whose text is null: `keep` keeps it, counts it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. An archive leaves it out, and
              `check` always rejects it. A record without the field is rejected

              [default: keep]

          --strict
              If a file found in a folder or by a pattern cannot be read (no permission, a broken link,
              a link loop), stop before anything is written. Without `--strict`, such a file is rejected
              and the run goes on. A file that you name must always be readable

          --temp-dir <DIR>
              Where temporary files go: input that is compressed or piped, parts of tables, texts found
              in documents, frequency tables, and what does not fit into memory. Without it they go to
              the folder of `dedup --work`, or else to the system's

          --input-format <FORMAT>
              The format of the inputs: `auto` (told by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is one, and its text is
              found), or `text` (each file is one, as it is)

              [default: auto]

    Spec:
          --shingle <SHINGLING>
              How text is cut into shingles: `words:N`, `chars:N` or `terms`; with `,bag` behind it,
              repeats count

              [default: words:5]

          --normalize <FORM>
              How text is normalised: `nfkc+casefold`, `casefold` or `none`

              [default: nfkc+casefold]

          --strip-markup
              Take markup out of the text first

          --whitespace <RULE>
              What becomes of white space: `fold`, `keep` or `remove`

              [default: fold]

          --short <RULE>
              What becomes of a document shorter than a shingle: `one` shingle of all it has, or
              `reject`

              [default: one]

          --sketch <SKETCH>
              The sketch: `minhash` (the default; also `minhash,modular`, `minhash,multiplicative` and
              `minhash,murmur3`), `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`,
              with weights `dart` (the default), `icws` or `cws`, each with as many registers as
              `--registers` says; or a whole form such as `super-minhash:256`. Those that cannot be
              banded, such as `b-bit:2/minhash:256`, do for `sketch` and `compare`; `minwise compare A B
              --all` lists every form

          --registers <K>
              Registers of a sketch; 128 without it

          --seed <N>
              The seed of the hash functions

              [default: 1]

    Weights:
          --weight <WEIGHTING>
              How shingles are weighed: `none`, `count`, `tf`, `tf-idf` or `tf-idf,smooth`. Similarities
              are weighted then

              [default: none]

          --weights <FILE>
              The table of document frequencies, made by `minwise weights`; without it, the input is
              counted first

          --max-df <F>
              Leave out shingles that stand in more documents than this: a share such as `0.1`, or a
              number such as `500`

          --ignore-text <FILE>...
              Leave out the shingles of these texts, a form or a template: files or folders

    Candidates:
          --candidates <WAY>
              How candidates are found: `banding`; `sort-merge`, which counts shared shingles and misses
              nothing; `sort-merge,sketch`, which counts shared registers; or `all` pairs. With
              `--measure containment` it is `sort-merge`

          --recall <P>
              The probability with which a pair exactly at the threshold is found; bands and rows follow
              from it

              [default: 0.99]

          --bands <B>
              Bands, instead of those that follow from the recall; `--rows` goes with it

          --rows <R>
              Rows of a band, instead of those that follow from the recall

          --bits <BITS>
              Bits to keep of each register once the keys of its bands are known, to save memory: from 1
              to 16, also 1.5 and the like, or 0.5, 0.25 or 0.125; all of them without it

          --filter-error <E>
              The share of pairs at the threshold that sketches may put aside before they are compared
              exactly, by the filter and by `--order`; or `off`

              [default: 1e-6]

          --looks <K,K…>
              The looks of the filter: numbers of registers, ascending, such as 16,32,64,128, after
              which a pair can be put aside. Without it, looks are at every 16 registers at first, or
              every 64 with `--bits`, and further apart later

          --error-per-look <E>
              The share of pairs at the threshold that each look of the filter may put aside, instead of
              `--filter-error` for all looks together. The total error of n looks can be n times this
              share; the summary states it
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
              Files of JSONL, CSV, TSV, Parquet, Arrow IPC or WARC (plain, or compressed by gzip, zstd,
              bzip2 or xz), or documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB,
              PDF; folders or globs of them; or `-`

    Options:
      -o, --output <FILE>
              Where the pairs go; standard output without it

          --of <ID>...
              Only the near-duplicates of these documents

          --format <FORMAT>
              How pairs are written

              Possible values:
              - tsv:   `id`, `id` and similarity, separated by tabs
              - jsonl: One JSON object a line

              [default: tsv]

          --force
              Replace an output that exists

          --threshold <T>
              The exact similarity from which on two documents are near-duplicates

              [default: 0.8]

          --measure <MEASURE>
              The measure that decides: `jaccard`, or `containment` (how much of the smaller document
              the larger one has)

              [default: jaccard]

          --order <Q>
              The share of common shingles that must stand in about the same places; similar documents
              with less are reordered, and no near-duplicates

          --threads <N>
              Threads to work with; all cores without it

          --max-rejects <N>
              Allow this many rejected records: one more stops the run. Without it, any number is read
              past, and the exit code is 2

          --memory <SIZE>
              The most memory to take, such as `4GiB`; what does not fit goes to disk. Without it, half
              of the machine's (or of the control group's) on Linux, and 4 GiB elsewhere

      -q, --quiet
              No progress and no summary; errors and warnings only

      -v, --verbose
              List the skipped files, each with its reason. In folders and patterns, Minwise skips
              `.DS_Store`, `Thumbs.db`, `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside
              records, empty files other than files of records, and binary files of unknown format

          --log <FORMAT>
              How messages on standard error are written

              Possible values:
              - text
              - json: One JSON object a line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              The field or column that holds the text. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). Texts of a list are joined by a blank line. Several
              fields are given with commas (`title,body`) and joined by a line break

              [default: text]

          --id-field <FIELD>
              The field or column that holds the id. Without one, the id is `file:line`, or `file:row`

              [default: id]

          --encoding <ENCODING>
              How text files are encoded: `utf-8` (anything else is rejected), `latin-1` or `auto`

              [default: utf-8]

          --delimiter <CHAR>
              The character between the fields of CSV, or `tab`. Without it, a comma; or a semicolon or
              a tab, if the header has the field of the text only with that

          --max-record <SIZE>
              The largest record that is read; a larger one is rejected

              [default: 1GiB]

          --null <RULE>
              The rule for a record whose text is null: `keep` keeps it, counts it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. An archive leaves it out, and
              `check` always rejects it. A record without the field is rejected

              [default: keep]

          --strict
              If a file found in a folder or by a pattern cannot be read (no permission, a broken link,
              a link loop), stop before anything is written. Without `--strict`, such a file is rejected
              and the run goes on. A file that you name must always be readable

          --temp-dir <DIR>
              Where temporary files go: input that is compressed or piped, parts of tables, texts found
              in documents, frequency tables, and what does not fit into memory. Without it they go to
              the folder of `dedup --work`, or else to the system's

          --input-format <FORMAT>
              The format of the inputs: `auto` (told by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is one, and its text is
              found), or `text` (each file is one, as it is)

              [default: auto]

    Spec:
          --shingle <SHINGLING>
              How text is cut into shingles: `words:N`, `chars:N` or `terms`; with `,bag` behind it,
              repeats count

              [default: words:5]

          --normalize <FORM>
              How text is normalised: `nfkc+casefold`, `casefold` or `none`

              [default: nfkc+casefold]

          --strip-markup
              Take markup out of the text first

          --whitespace <RULE>
              What becomes of white space: `fold`, `keep` or `remove`

              [default: fold]

          --short <RULE>
              What becomes of a document shorter than a shingle: `one` shingle of all it has, or
              `reject`

              [default: one]

          --sketch <SKETCH>
              The sketch: `minhash` (the default; also `minhash,modular`, `minhash,multiplicative` and
              `minhash,murmur3`), `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`,
              with weights `dart` (the default), `icws` or `cws`, each with as many registers as
              `--registers` says; or a whole form such as `super-minhash:256`. Those that cannot be
              banded, such as `b-bit:2/minhash:256`, do for `sketch` and `compare`; `minwise compare A B
              --all` lists every form

          --registers <K>
              Registers of a sketch; 128 without it

          --seed <N>
              The seed of the hash functions

              [default: 1]

    Weights:
          --weight <WEIGHTING>
              How shingles are weighed: `none`, `count`, `tf`, `tf-idf` or `tf-idf,smooth`. Similarities
              are weighted then

              [default: none]

          --weights <FILE>
              The table of document frequencies, made by `minwise weights`; without it, the input is
              counted first

          --max-df <F>
              Leave out shingles that stand in more documents than this: a share such as `0.1`, or a
              number such as `500`

          --ignore-text <FILE>...
              Leave out the shingles of these texts, a form or a template: files or folders

    Candidates:
          --candidates <WAY>
              How candidates are found: `banding`; `sort-merge`, which counts shared shingles and misses
              nothing; `sort-merge,sketch`, which counts shared registers; or `all` pairs. With
              `--measure containment` it is `sort-merge`

          --recall <P>
              The probability with which a pair exactly at the threshold is found; bands and rows follow
              from it

              [default: 0.99]

          --bands <B>
              Bands, instead of those that follow from the recall; `--rows` goes with it

          --rows <R>
              Rows of a band, instead of those that follow from the recall

          --bits <BITS>
              Bits to keep of each register once the keys of its bands are known, to save memory: from 1
              to 16, also 1.5 and the like, or 0.5, 0.25 or 0.125; all of them without it

          --filter-error <E>
              The share of pairs at the threshold that sketches may put aside before they are compared
              exactly, by the filter and by `--order`; or `off`

              [default: 1e-6]

          --looks <K,K…>
              The looks of the filter: numbers of registers, ascending, such as 16,32,64,128, after
              which a pair can be put aside. Without it, looks are at every 16 registers at first, or
              every 64 with `--bits`, and further apart later

          --error-per-look <E>
              The share of pairs at the threshold that each look of the filter may put aside, instead of
              `--filter-error` for all looks together. The total error of n looks can be n times this
              share; the summary states it
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn compare() {
    insta::assert_snapshot!(Desk::new().run("compare --help"), @"
    exit 0
    --- stdout
    Compare two documents: similarity, containment, shared passages

    Usage: minwise compare [OPTIONS] <A> <B>

    Arguments:
      <A>
              The first document: a file of any kind that is read, or `FILE#ID` for a record of a file

      <B>
              The second document

    Options:
          --format <FORMAT>
              How the comparison is written

              Possible values:
              - text:  For people
              - jsonl: One JSON object a line

              [default: text]

          --all
              Estimate by every kind of sketch, each with 1024 registers or stored bits, beside the
              exact value

          --passages <N>
              How many shared passages to show, the longest first

              [default: 10]

          --measure <MEASURE>
              The measure that decides: `jaccard`, or `containment` (how much of the smaller document
              the larger one has)

              [default: jaccard]

          --threshold <T>
              The similarity below which the exit code is 1

              [default: 0.8]

      -q, --quiet
              No progress and no summary; errors and warnings only

      -v, --verbose
              List the skipped files, each with its reason. In folders and patterns, Minwise skips
              `.DS_Store`, `Thumbs.db`, `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside
              records, empty files other than files of records, and binary files of unknown format

          --log <FORMAT>
              How messages on standard error are written

              Possible values:
              - text
              - json: One JSON object a line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              The field or column that holds the text. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). Texts of a list are joined by a blank line. Several
              fields are given with commas (`title,body`) and joined by a line break

              [default: text]

          --id-field <FIELD>
              The field or column that holds the id. Without one, the id is `file:line`, or `file:row`

              [default: id]

          --encoding <ENCODING>
              How text files are encoded: `utf-8` (anything else is rejected), `latin-1` or `auto`

              [default: utf-8]

          --delimiter <CHAR>
              The character between the fields of CSV, or `tab`. Without it, a comma; or a semicolon or
              a tab, if the header has the field of the text only with that

          --max-record <SIZE>
              The largest record that is read; a larger one is rejected

              [default: 1GiB]

          --null <RULE>
              The rule for a record whose text is null: `keep` keeps it, counts it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. An archive leaves it out, and
              `check` always rejects it. A record without the field is rejected

              [default: keep]

          --strict
              If a file found in a folder or by a pattern cannot be read (no permission, a broken link,
              a link loop), stop before anything is written. Without `--strict`, such a file is rejected
              and the run goes on. A file that you name must always be readable

          --temp-dir <DIR>
              Where temporary files go: input that is compressed or piped, parts of tables, texts found
              in documents, frequency tables, and what does not fit into memory. Without it they go to
              the folder of `dedup --work`, or else to the system's

          --input-format <FORMAT>
              The format of the inputs: `auto` (told by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is one, and its text is
              found), or `text` (each file is one, as it is)

              [default: auto]

    Spec:
          --shingle <SHINGLING>
              How text is cut into shingles: `words:N`, `chars:N` or `terms`; with `,bag` behind it,
              repeats count

              [default: words:5]

          --normalize <FORM>
              How text is normalised: `nfkc+casefold`, `casefold` or `none`

              [default: nfkc+casefold]

          --strip-markup
              Take markup out of the text first

          --whitespace <RULE>
              What becomes of white space: `fold`, `keep` or `remove`

              [default: fold]

          --short <RULE>
              What becomes of a document shorter than a shingle: `one` shingle of all it has, or
              `reject`

              [default: one]

          --sketch <SKETCH>
              The sketch: `minhash` (the default; also `minhash,modular`, `minhash,multiplicative` and
              `minhash,murmur3`), `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`,
              with weights `dart` (the default), `icws` or `cws`, each with as many registers as
              `--registers` says; or a whole form such as `super-minhash:256`. Those that cannot be
              banded, such as `b-bit:2/minhash:256`, do for `sketch` and `compare`; `minwise compare A B
              --all` lists every form

          --registers <K>
              Registers of a sketch; 128 without it

          --seed <N>
              The seed of the hash functions

              [default: 1]

    Weights:
          --weight <WEIGHTING>
              How shingles are weighed: `none`, `count`, `tf`, `tf-idf` or `tf-idf,smooth`. Similarities
              are weighted then

              [default: none]

          --weights <FILE>
              The table of document frequencies, made by `minwise weights`; without it, the input is
              counted first

          --max-df <F>
              Leave out shingles that stand in more documents than this: a share such as `0.1`, or a
              number such as `500`

          --ignore-text <FILE>...
              Leave out the shingles of these texts, a form or a template: files or folders
    ");
}

#[test]
fn plan() {
    insta::assert_snapshot!(Desk::new().run("plan --help"), @"
    exit 0
    --- stdout
    Choose bands and rows for a threshold and a recall, and show what to expect of them

    Usage: minwise plan [OPTIONS]

    Options:
          --threshold <T>
              The similarity from which on two documents are near-duplicates

              [default: 0.8]

          --registers <K>
              Registers of a sketch

              [default: 128]

          --error <E>
              The standard error that an estimate at the threshold is to have; sketches are ranked by
              what they need for it

              [default: 0.02]

          --filter
              Show the filter, too: the looks at which a run puts pairs aside, and how many registers it
              compares until then

          --filter-error <E>
              The share of pairs at the threshold that the filter may put aside

              [default: 1e-6]

          --format <FORMAT>
              How the plan is written

              Possible values:
              - text: For people
              - json: One JSON object

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Candidates:
          --recall <P>
              The probability with which a pair exactly at the threshold is found; bands and rows follow
              from it

              [default: 0.99]

          --bands <B>
              Bands, instead of those that follow from the recall; `--rows` goes with it

          --rows <R>
              Rows of a band, instead of those that follow from the recall
    ");
}

#[test]
fn generate() {
    insta::assert_snapshot!(Desk::new().run("generate --help"), @"
    exit 0
    --- stdout
    Write shell completions or the manual page to standard output

    Usage: minwise generate <COMMAND>

    Commands:
      completions  Completions for a shell
      man          The manual page of the command, or of one of its subcommands
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version
    ");
}

/// The kernel is the processor's; that it is named, and is one of those there are, is the command's.
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
    minwise: there is no subcommand `nothing`

    hint: `minwise --help` lists them
    ");
}

#[test]
#[expect(clippy::too_many_lines, reason = "it has that many options")]
fn sketch() {
    insta::assert_snapshot!(Desk::new().run("sketch --help"), @"
    exit 0
    --- stdout
    Write the sketches of a corpus to a file

    Usage: minwise sketch [OPTIONS] --output <FILE> <INPUT>...

    Arguments:
      <INPUT>...
              Files of JSONL, CSV, TSV, Parquet, Arrow IPC or WARC (plain, or compressed by gzip, zstd,
              bzip2 or xz), or documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB,
              PDF; folders or globs of them; or `-`

    Options:
      -o, --output <FILE>
              Where the sketches go

          --force
              Replace an output that exists

          --threads <N>
              Threads to work with; all cores without it

          --max-rejects <N>
              Allow this many rejected records: one more stops the run. Without it, any number is read
              past, and the exit code is 2

          --memory <SIZE>
              The most memory to take, such as `4GiB`; what does not fit goes to disk. Without it, half
              of the machine's (or of the control group's) on Linux, and 4 GiB elsewhere

      -q, --quiet
              No progress and no summary; errors and warnings only

      -v, --verbose
              List the skipped files, each with its reason. In folders and patterns, Minwise skips
              `.DS_Store`, `Thumbs.db`, `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside
              records, empty files other than files of records, and binary files of unknown format

          --log <FORMAT>
              How messages on standard error are written

              Possible values:
              - text
              - json: One JSON object a line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              The field or column that holds the text. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). Texts of a list are joined by a blank line. Several
              fields are given with commas (`title,body`) and joined by a line break

              [default: text]

          --id-field <FIELD>
              The field or column that holds the id. Without one, the id is `file:line`, or `file:row`

              [default: id]

          --encoding <ENCODING>
              How text files are encoded: `utf-8` (anything else is rejected), `latin-1` or `auto`

              [default: utf-8]

          --delimiter <CHAR>
              The character between the fields of CSV, or `tab`. Without it, a comma; or a semicolon or
              a tab, if the header has the field of the text only with that

          --max-record <SIZE>
              The largest record that is read; a larger one is rejected

              [default: 1GiB]

          --null <RULE>
              The rule for a record whose text is null: `keep` keeps it, counts it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. An archive leaves it out, and
              `check` always rejects it. A record without the field is rejected

              [default: keep]

          --strict
              If a file found in a folder or by a pattern cannot be read (no permission, a broken link,
              a link loop), stop before anything is written. Without `--strict`, such a file is rejected
              and the run goes on. A file that you name must always be readable

          --temp-dir <DIR>
              Where temporary files go: input that is compressed or piped, parts of tables, texts found
              in documents, frequency tables, and what does not fit into memory. Without it they go to
              the folder of `dedup --work`, or else to the system's

          --input-format <FORMAT>
              The format of the inputs: `auto` (told by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is one, and its text is
              found), or `text` (each file is one, as it is)

              [default: auto]

    Spec:
          --shingle <SHINGLING>
              How text is cut into shingles: `words:N`, `chars:N` or `terms`; with `,bag` behind it,
              repeats count

              [default: words:5]

          --normalize <FORM>
              How text is normalised: `nfkc+casefold`, `casefold` or `none`

              [default: nfkc+casefold]

          --strip-markup
              Take markup out of the text first

          --whitespace <RULE>
              What becomes of white space: `fold`, `keep` or `remove`

              [default: fold]

          --short <RULE>
              What becomes of a document shorter than a shingle: `one` shingle of all it has, or
              `reject`

              [default: one]

          --sketch <SKETCH>
              The sketch: `minhash` (the default; also `minhash,modular`, `minhash,multiplicative` and
              `minhash,murmur3`), `min-max`, `one-permutation`, `super-minhash` or `fast-similarity`,
              with weights `dart` (the default), `icws` or `cws`, each with as many registers as
              `--registers` says; or a whole form such as `super-minhash:256`. Those that cannot be
              banded, such as `b-bit:2/minhash:256`, do for `sketch` and `compare`; `minwise compare A B
              --all` lists every form

          --registers <K>
              Registers of a sketch; 128 without it

          --seed <N>
              The seed of the hash functions

              [default: 1]
    ");
}

#[test]
fn estimate() {
    insta::assert_snapshot!(Desk::new().run("estimate --help"), @"
    exit 0
    --- stdout
    Estimate the similarities of sketched documents, without reading them again

    Usage: minwise estimate [OPTIONS] <FILE> [FILE2]

    Arguments:
      <FILE>
              A file that `minwise sketch` made; its documents are compared with one another

      [FILE2]
              A second such file; then each document of the first is compared with each of the second

    Options:
          --threshold <T>
              The estimate from which on a pair is listed; 0 lists all pairs

              [default: 0.8]

          --of <ID>...
              Only pairs that have one of these documents

          --filter-error <E>
              The share of pairs at the threshold that may be rejected before all their registers are
              compared, or `off`. Sketches of bits have no filter and lose no pair

              [default: 1e-6]

          --looks <K,K…>
              The looks of the filter: numbers of registers, ascending, such as 16,32,64,128, after
              which a pair can be rejected. Without it, looks are at every 16 registers at first, and
              further apart later

          --error-per-look <E>
              The share of pairs at the threshold that each look of the filter may reject, instead of
              `--filter-error` for all looks together. The total error of n looks can be n times this
              share; the summary states it

      -o, --output <FILE>
              Where the pairs go; standard output without it

          --format <FORMAT>
              How pairs are written; a pair in `tsv` has its estimate and the standard error of it

              Possible values:
              - tsv:   `id`, `id` and similarity, separated by tabs
              - jsonl: One JSON object a line

              [default: tsv]

          --force
              Replace an output that exists

          --threads <N>
              Threads to work with; all cores without it

      -q, --quiet
              No progress and no summary; errors and warnings only

      -v, --verbose
              List the skipped files, each with its reason. In folders and patterns, Minwise skips
              `.DS_Store`, `Thumbs.db`, `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside
              records, empty files other than files of records, and binary files of unknown format

          --log <FORMAT>
              How messages on standard error are written

              Possible values:
              - text
              - json: One JSON object a line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    ");
}

#[test]
fn weights() {
    insta::assert_snapshot!(Desk::new().run("weights --help"), @"
    exit 0
    --- stdout
    Count in how many documents each shingle stands, for weights

    Usage: minwise weights [OPTIONS] --output <FILE> <INPUT>...

    Arguments:
      <INPUT>...
              Files of JSONL, CSV, TSV, Parquet, Arrow IPC or WARC (plain, or compressed by gzip, zstd,
              bzip2 or xz), or documents: text, Markdown, HTML, Word, OpenDocument, PowerPoint, EPUB,
              PDF; folders or globs of them; or `-`

    Options:
      -o, --output <FILE>
              Where the table goes

          --force
              Replace an output that exists

          --threads <N>
              Threads to work with; all cores without it

      -q, --quiet
              No progress and no summary; errors and warnings only

      -v, --verbose
              List the skipped files, each with its reason. In folders and patterns, Minwise skips
              `.DS_Store`, `Thumbs.db`, `desktop.ini`, `~$*`, marker files such as `_SUCCESS` beside
              records, empty files other than files of records, and binary files of unknown format

          --log <FORMAT>
              How messages on standard error are written

              Possible values:
              - text
              - json: One JSON object a line

              [default: text]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Reading:
          --text-field <FIELD>
              The field or column that holds the text. A dot leads into an object (`meta.body`), `[]`
              into a list (`messages[].content`). Texts of a list are joined by a blank line. Several
              fields are given with commas (`title,body`) and joined by a line break

              [default: text]

          --id-field <FIELD>
              The field or column that holds the id. Without one, the id is `file:line`, or `file:row`

              [default: id]

          --encoding <ENCODING>
              How text files are encoded: `utf-8` (anything else is rejected), `latin-1` or `auto`

              [default: utf-8]

          --delimiter <CHAR>
              The character between the fields of CSV, or `tab`. Without it, a comma; or a semicolon or
              a tab, if the header has the field of the text only with that

          --max-record <SIZE>
              The largest record that is read; a larger one is rejected

              [default: 1GiB]

          --null <RULE>
              The rule for a record whose text is null: `keep` keeps it, counts it and compares it with
              nothing, `reject` rejects it, and `error` ends the run. An archive leaves it out, and
              `check` always rejects it. A record without the field is rejected

              [default: keep]

          --strict
              If a file found in a folder or by a pattern cannot be read (no permission, a broken link,
              a link loop), stop before anything is written. Without `--strict`, such a file is rejected
              and the run goes on. A file that you name must always be readable

          --temp-dir <DIR>
              Where temporary files go: input that is compressed or piped, parts of tables, texts found
              in documents, frequency tables, and what does not fit into memory. Without it they go to
              the folder of `dedup --work`, or else to the system's

          --input-format <FORMAT>
              The format of the inputs: `auto` (told by content and name), `jsonl`, `csv`, `tsv`,
              `parquet`, `arrow`, `warc` (WARC and WET), `document` (each file is one, and its text is
              found), or `text` (each file is one, as it is)

              [default: auto]

    Spec:
          --shingle <SHINGLING>
              How text is cut into shingles: `words:N`, `chars:N` or `terms`; with `,bag` behind it,
              repeats count

              [default: words:5]

          --normalize <FORM>
              How text is normalised: `nfkc+casefold`, `casefold` or `none`

              [default: nfkc+casefold]

          --strip-markup
              Take markup out of the text first

          --whitespace <RULE>
              What becomes of white space: `fold`, `keep` or `remove`

              [default: fold]

          --short <RULE>
              What becomes of a document shorter than a shingle: `one` shingle of all it has, or
              `reject`

              [default: one]
    ");
}
