"""Checks that other readers open the files that `minwise dedup` converts, and find the same values.

    python tests/formats/check.py path/to/minwise [--rounds N] [--seed N]

Each round makes random records with nested values, converts them by the command from JSONL to Parquet to Arrow and back, and
reads every file with pyarrow, polars and DuckDB. A failure prints its seed.
"""

import argparse
import csv
import datetime
import decimal
import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

LETTERS = "abcdefgh äöü漢字🙂\"\\,;\t\n'{}[]\u2028"


class Maker:
    """Makes random types and values of these types."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def kind(self, depth):
        kinds = ["bool", "int", "large", "float", "mixed", "string", "null"]
        if depth > 0:
            kinds += ["list", "object"] * 2
        kind = self.random.choice(kinds)
        if kind == "list":
            return ("list", self.kind(depth - 1))
        if kind == "object":
            return ("object", [(f"m{n}", self.kind(depth - 1)) for n in range(self.random.randint(1, 3))])
        return (kind, None)

    def text(self):
        return "".join(self.random.choice(LETTERS) for _ in range(self.random.randint(0, 12)))

    def value(self, kind):
        name, inside = kind
        if name == "null" or self.random.random() < 0.15:
            return None
        match name:
            case "bool":
                return self.random.random() < 0.5
            case "int":
                return self.random.randint(-(2**63), 2**63 - 1)
            case "large":
                return self.random.randint(0, 2**64 - 1)
            case "float":
                return self.random.uniform(-1e9, 1e9)
            case "mixed":
                return self.random.choice([self.random.randint(-(2**53), 2**53), self.random.random()])
            case "string":
                return self.text()
            case "list":
                return [self.value(inside) for _ in range(self.random.randint(0, 3))]
            case "object":
                members = {member: self.value(kind) for member, kind in inside}
                # A null member may be left out, because a missing member is null in a column.
                return {member: value for member, value in members.items() if value is not None or self.random.random() < 0.5}
        raise AssertionError(name)


def complete(value, kind):
    """Returns the value as a column stores it, with all members."""
    name, inside = kind
    if value is None:
        return None
    if name == "list":
        return [complete(item, inside) for item in value]
    if name == "object":
        return {member: complete(value.get(member), kind) for member, kind in inside}
    return value


class Desk:
    """Runs the command in a folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, Path(folder)

    def convert(self, source, target, *options):
        command = [self.binary, "dedup", source, "--output", target, "--force", "--quiet", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")

    def refuse(self, source, target, words, *options):
        command = [self.binary, "dedup", source, "--output", target, "--force", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        same(done.returncode, 2, f"the exit code of {' '.join(command)}")
        if words not in done.stderr:
            raise AssertionError(f"`{words}` is not in what {' '.join(command)} said:\n{done.stderr}")
        if (self.folder / target).exists():
            raise AssertionError(f"{target} was written")

    def lines(self, name):
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").split("\n") if line]

    def parquet(self, name):
        return pyarrow.parquet.read_table(self.folder / name)

    def arrow(self, name):
        with pyarrow.ipc.open_file(self.folder / name) as file:
            return file.read_all()


def same(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}:\n  found    {found!r}\n  expected {expected!r}")


def known_members(rows, kinds):
    """Returns the kinds without the members that no record has, because such members become no column."""

    def shown(kind, values):
        name, inside = kind
        values = [value for value in values if value is not None]
        if name == "list":
            return ("list", shown(inside, [item for value in values for item in value]))
        if name == "object":
            members = []
            for member, kind in inside:
                there = [value[member] for value in values if member in value]
                if there:
                    members.append((member, shown(kind, there)))
            return ("object", members)
        return kind

    return [(field, shown(kind, [row[field] for row in rows if field in row])) for field, kind in kinds if any(field in row for row in rows)]


def has_empty_object(kind):
    name, inside = kind
    if name == "list":
        return has_empty_object(inside)
    return name == "object" and (not inside or any(has_empty_object(member) for _, member in inside))


def round_trip(desk, seed):
    """Converts JSONL to Parquet to Arrow to JSONL."""
    maker = Maker(seed)
    kinds = [(f"f{n}", maker.kind(3)) for n in range(maker.random.randint(1, 5))]
    rows = []
    for number in range(maker.random.randint(1, 40)):
        row = {"id": f"r{number}", "text": f"record {number} of round {seed} says {maker.random.random()}"}
        row.update({field: maker.value(kind) for field, kind in kinds if maker.random.random() < 0.9})
        rows.append(row)
    kinds = known_members(rows, kinds)
    if any(has_empty_object(kind) for _, kind in kinds):
        return
    source = "".join(json.dumps(row, ensure_ascii=maker.random.random() < 0.5) + "\n" for row in rows)
    (desk.folder / "a.jsonl").write_text(source, encoding="utf-8")
    expected = [
        {"id": row["id"], "text": row["text"], **{field: complete(row.get(field), kind) for field, kind in kinds}} for row in rows
    ]
    desk.convert("a.jsonl", "a.parquet")
    same(ordered(desk.parquet("a.parquet").to_pylist()), ordered(expected), "Parquet of JSONL")
    desk.convert("a.parquet", "b.arrow")
    same(ordered(desk.arrow("b.arrow").to_pylist()), ordered(expected), "Arrow of Parquet")
    desk.convert("b.arrow", "c.jsonl.zst")
    desk.convert("c.jsonl.zst", "d.jsonl")
    same(ordered(desk.lines("d.jsonl")), ordered(expected), "JSONL of Arrow")
    desk.convert("a.jsonl", "e.arrow")
    desk.convert("e.arrow", "f.parquet")
    same(ordered(desk.parquet("f.parquet").to_pylist()), ordered(expected), "Parquet of Arrow")
    desk.convert("f.parquet", "g.jsonl")
    same(ordered(desk.lines("g.jsonl")), ordered(expected), "JSONL of Parquet")
    for name in ["a.parquet", "f.parquet"]:
        found = polars.read_parquet(desk.folder / name)
        same(found["text"].to_list(), [row["text"] for row in rows], f"polars on {name}")
        count = duckdb.sql(f"select count(*), count(distinct text) from read_parquet('{desk.folder / name}')").fetchall()[0]
        same(count, (len(rows), len(rows)), f"DuckDB on {name}")
    found = polars.read_ipc(desk.folder / "b.arrow")
    same(found["text"].to_list(), [row["text"] for row in rows], "polars on Arrow")


def ordered(rows):
    """Sorts the members of rows by name, because members occur in another order than in the kinds."""
    if isinstance(rows, dict):
        return {name: ordered(rows[name]) for name in sorted(rows)}
    if isinstance(rows, list):
        return [ordered(row) for row in rows]
    # 1 and 1.0 are the same number, as in JSON. `True` is not a number, although it is one in Python.
    return ("number", float(rows)) if isinstance(rows, (int, float)) and not isinstance(rows, bool) and abs(rows) <= 2**53 else rows


def types(desk):
    """Converts every type that pyarrow writes and JSON can represent."""
    (desk.folder / "empty.jsonl").write_text("")
    moment = datetime.datetime(2024, 5, 6, 1, 2, 3, 456000)
    table = pyarrow.table(
        {
            "id": pyarrow.array([1, 2, 3], pyarrow.int16()),
            "text": pyarrow.array(["one text here", "another one there", "and the third"], pyarrow.large_string()),
            "word": pyarrow.array(["x", None, "x"]).dictionary_encode(),
            "date": pyarrow.array([datetime.date(2024, 5, 6), None, datetime.date(1969, 12, 31)]),
            "time": pyarrow.array([moment, None, moment], pyarrow.timestamp("ms")),
            "zoned": pyarrow.array([moment, None, moment], pyarrow.timestamp("us", "Europe/Berlin")),
            "price": pyarrow.array([decimal.Decimal("1.50"), None, decimal.Decimal("-0.05")], pyarrow.decimal128(9, 2)),
            "small": pyarrow.array([0.5, None, 0.1], pyarrow.float32()),
            "pair": pyarrow.array([[1, 2], None, [3, None]], pyarrow.list_(pyarrow.int32(), 2)),
            "map": pyarrow.array([[("k", 1)], None, []], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
            "unsigned": pyarrow.array([2**64 - 1, None, 0], pyarrow.uint64()),
            "nothing": pyarrow.nulls(3),
        }
    )
    pyarrow.parquet.write_table(table, desk.folder / "types.parquet", row_group_size=2)
    desk.convert("types.parquet", "types.jsonl")
    same(
        desk.lines("types.jsonl")[0],
        {
            "id": 1,
            "text": "one text here",
            "word": "x",
            "date": "2024-05-06",
            "time": "2024-05-06T01:02:03.456",
            "zoned": "2024-05-06T01:02:03.456000Z",
            "price": 1.5,
            "small": 0.5,
            "pair": [1, 2],
            "map": {"k": 1},
            "unsigned": 2**64 - 1,
            "nothing": None,
        },
        "JSONL of types",
    )
    same([row["pair"] for row in desk.lines("types.jsonl")], [[1, 2], None, [3, None]], "pairs")
    same('"price":-0.05' in (desk.folder / "types.jsonl").read_text(), True, "decimals keep their digits")
    desk.convert("types.parquet", "types.arrow")
    same(desk.arrow("types.arrow").to_pylist(), desk.parquet("types.parquet").to_pylist(), "Arrow of types")
    desk.convert("types.arrow", "again.parquet")
    same(desk.parquet("again.parquet").to_pylist(), desk.parquet("types.parquet").to_pylist(), "Parquet of types")
    same(desk.parquet("again.parquet").schema.field("zoned").type, pyarrow.timestamp("us", "Europe/Berlin"), "the zone")
    with pyarrow.OSFile(str(desk.folder / "stream.arrows"), "wb") as out, pyarrow.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    desk.convert("stream.arrows", "stream.jsonl")
    same(desk.lines("stream.jsonl"), desk.lines("types.jsonl"), "JSONL of a stream")
    desk.refuse("types.parquet", "types.csv", "which cannot be written as CSV")
    plain = table.drop_columns(["pair", "map"])
    pyarrow.parquet.write_table(plain, desk.folder / "plain.parquet")
    desk.convert("plain.parquet", "plain.csv")
    rows = list(csv.DictReader(io.StringIO((desk.folder / "plain.csv").read_text())))
    same((rows[0]["price"], rows[1]["word"], rows[2]["date"]), ("1.50", "", "1969-12-31"), "CSV of types")
    union = pyarrow.UnionArray.from_sparse(pyarrow.array([0, 1], pyarrow.int8()), [pyarrow.array([1, 2]), pyarrow.array(["a", "b"])])
    table = pyarrow.table({"text": ["a text", "another one"], "u": union})
    with pyarrow.OSFile(str(desk.folder / "union.arrow"), "wb") as out, pyarrow.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    desk.refuse("union.arrow", "union.parquet", "cannot be written as Parquet")
    polars.DataFrame({"text": ["from polars"], "tags": [["a", "b"]]}).write_parquet(desk.folder / "polars.parquet")
    (desk.folder / "tags.jsonl").write_text('{"text": "from a line", "tags": ["c"]}\n')
    desk.convert("polars.parquet", "tags.parquet", "tags.jsonl")
    same(desk.parquet("tags.parquet")["tags"].to_pylist(), [["a", "b"], ["c"]], "lists of polars and of JSONL")
    desk.convert("empty.jsonl", "empty.parquet")
    same(duckdb.sql(f"select count(*) from read_parquet('{desk.folder / 'empty.parquet'}')").fetchall(), [(0,)], "an empty file")
    bytes_ = pyarrow.table({"text": ["a"], "image": pyarrow.array([{"bytes": b"\xff"}])})
    pyarrow.parquet.write_table(bytes_, desk.folder / "bytes.parquet")
    desk.refuse("bytes.parquet", "bytes.jsonl", "the column `image.bytes` of `bytes.parquet` holds byte strings, which cannot be written as JSONL")


def delimited(desk):
    """Converts CSV and TSV in both directions."""
    rows = [["id", "text", "note"], ["1", 'a "quoted"\ntext, long', " spaces "], ["2", "漢字 and more", ""], ["3", "tab\there", "x"]]
    with open(desk.folder / "a.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    expected = [dict(zip(rows[0], row)) for row in rows[1:]]
    desk.convert("a.csv", "csv.jsonl")
    same(desk.lines("csv.jsonl"), expected, "JSONL of CSV")
    desk.convert("a.csv", "csv.parquet")
    same(desk.parquet("csv.parquet").to_pylist(), expected, "Parquet of CSV")
    desk.convert("csv.parquet", "again.tsv.gz")
    desk.convert("again.tsv.gz", "again.csv")
    with open(desk.folder / "again.csv", newline="") as file:
        same(list(csv.reader(file)), rows, "CSV of TSV")
    found = polars.read_csv(desk.folder / "again.csv", infer_schema=False)
    same(found["text"].to_list(), [row[1] for row in rows[1:]], "polars on CSV")
    found = duckdb.sql(f"select text from read_csv('{desk.folder / 'again.csv'}', all_varchar=true, header=true)").fetchall()
    same([text for text, in found], [row[1] for row in rows[1:]], "DuckDB on CSV")
    (desk.folder / "mixed.jsonl").write_text('{"id": "9", "text": "a line of its own", "tag": 1.50}')
    desk.convert("mixed.jsonl", "all.parquet", "a.csv")
    same(
        desk.parquet("all.parquet").to_pylist()[:2],
        [{"id": "9", "text": "a line of its own", "tag": 1.5, "note": None}, {**expected[0], "tag": None}],
        "Parquet of JSONL and CSV",
    )
    desk.convert("mixed.jsonl", "all.jsonl", "a.csv", "csv.parquet")
    same((desk.folder / "all.jsonl").read_text().split("\n")[0], '{"id": "9", "text": "a line of its own", "tag": 1.50}', "a line stays")
    desk.refuse("mixed.jsonl", "out", "the inputs have several formats", "a.csv")
    found = duckdb.sql(f"select count(*) from read_json('{desk.folder / 'all.jsonl'}')").fetchall()[0]
    same(found, (4,), "DuckDB on JSONL")


def pages(desk):
    """Removes rows at the begin, in the middle and at the end of pages of several writers, and reads the copies with all readers."""
    maker = random.Random(7)
    words = ["".join(maker.choice("abcdefghijklmnopqrstuvwxyzäß漢") for _ in range(maker.randint(2, 9))) for _ in range(4000)]
    rows = 1500
    removed = {10, 11, 12, 499, 500, 777, 998, 999, *range(1000, 1200), 1499}
    texts = [" ".join(maker.choices(words, k=60)) for _ in range(rows)]
    texts = [texts[5] if row in removed else None if row % 50 == 49 and row not in removed else text for row, text in enumerate(texts)]
    notes = [words[row % 7] * 40 for row in range(rows)]
    table = pyarrow.table({"id": list(range(rows)), "text": texts, "note": notes, "tags": [[texts[row], notes[row]] for row in range(rows)]})
    kept = [row for row in range(rows) if row not in removed]
    expected = table.take(kept).to_pylist()

    def arrow(**options):
        options = {"row_group_size": 700, "data_page_size": 8000, "write_batch_size": 16, **options}
        return lambda path: pyarrow.parquet.write_table(table, path, **options)

    def duck(options):
        query = f"select * from read_parquet('{desk.folder / 'source.parquet'}')"
        return lambda path: duckdb.sql(f"copy ({query}) to '{path}' (format parquet, {options})")

    pyarrow.parquet.write_table(table, desk.folder / "source.parquet")
    writers = {
        f"pyarrow {options}": arrow(**options)
        for options in [
            {"compression": "none", "write_page_checksum": True, "use_dictionary": False},
            {"compression": "snappy", "write_page_checksum": True, "dictionary_pagesize_limit": 20_000},
            {"compression": "zstd", "data_page_version": "2.0", "write_page_index": True, "dictionary_pagesize_limit": 20_000},
            {"compression": "gzip", "data_page_version": "2.0", "write_page_checksum": True, "use_dictionary": False},
            {"compression": "lz4", "use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
            {"compression": "zstd", "use_dictionary": False, "column_encoding": {"text": "DELTA_LENGTH_BYTE_ARRAY"}, "write_page_checksum": True},
        ]
    }
    writers["polars"] = lambda path: polars.from_arrow(table).write_parquet(path, row_group_size=700, data_page_size=8000)
    writers["DuckDB"] = duck("row_group_size 700")
    writers["DuckDB, second version"] = duck("row_group_size 700, parquet_version v2, compression zstd")
    for writer, write in writers.items():
        write(desk.folder / "pages.parquet")
        desk.convert("pages.parquet", "kept.parquet")
        path = desk.folder / "kept.parquet"
        found = pyarrow.parquet.read_table(path, page_checksum_verification=True)
        same(found.to_pylist(), expected, f"pyarrow on {writer}")
        same(found.schema, desk.parquet("pages.parquet").schema, f"the schema of {writer}")
        same(polars.read_parquet(path).to_dicts(), expected, f"polars on {writer}")
        names = list(expected[0])
        found = duckdb.sql(f"select * from read_parquet('{path}') order by id").fetchall()
        same([dict(zip(names, row)) for row in found], expected, f"DuckDB on {writer}")
        # Readers that skip pages and row groups by statistics and indexes find the same rows.
        for row in [0, 5, 13, 501, 776, 997, 1200, 1498]:
            text = texts[row]
            found = pyarrow.parquet.read_table(path, filters=[("id", "==", row)]).to_pylist()
            same([other["text"] for other in found], [text], f"pyarrow on row {row} of {writer}")
            found = pyarrow.parquet.read_table(path, filters=[("text", "==", text)]).to_pylist()
            same([other["id"] for other in found], [row], f"pyarrow on a text of {writer}")
            found = polars.scan_parquet(path).filter(polars.col("text") == text).collect()
            same(found["id"].to_list(), [row], f"polars on a text of {writer}")
            found = duckdb.execute(f"select id from read_parquet('{path}') where text = ?", [text]).fetchall()
            same(found, [(row,)], f"DuckDB on a text of {writer}")
        nulls = sum(texts[row] is None for row in kept)
        found = duckdb.sql(f"select count(*) from read_parquet('{path}') where text is null").fetchall()
        same(found, [(nulls,)], f"nulls of {writer}")
        same(polars.scan_parquet(path).select(polars.col("text").null_count()).collect().item(), nulls, f"nulls of {writer}")
        bounds = duckdb.sql(f"select min(text), max(text) from read_parquet('{path}')").fetchall()
        known = [texts[row] for row in kept if texts[row] is not None]
        same(bounds, [(min(known), max(known))], f"the smallest and the largest text of {writer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(str(Path(options.binary).resolve()), folder)
        checks = [(name.__name__, lambda name=name: name(desk)) for name in [types, delimited, pages]]
        seeds = range(options.seed, options.seed + options.rounds)
        checks += [(f"round {seed}", lambda seed=seed: round_trip(desk, seed)) for seed in seeds]
        for name, check in checks:
            try:
                check()
                passed += 1
            except AssertionError as error:
                failed += 1
                print(f"{name} failed: {error}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
