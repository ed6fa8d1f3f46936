"""Tests that the package gives the answers of the command and has its options."""

from __future__ import annotations

import filecmp
import gzip
import inspect
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import CORPORA, write_jsonl

import minwise

#: Settings of runs. Together they vary every stage of a run.
SETTINGS: list[dict[str, Any]] = [
    {},
    {"threshold": 0.5, "shingle": "chars:6", "keep": "longest"},
    {"measure": "containment", "threshold": 0.6},
    {"cluster": "components", "threshold": 0.6, "recall": 0.9, "seed": 9},
    {"weight": "tf-idf", "threshold": 0.4, "max_df": 0.9, "shingle": "words:2"},
    {"sketch": "super-minhash", "registers": 64, "bands": 16, "rows": 4, "filter_error": "off"},
    {"candidates": "sort-merge", "order": 0.5, "whitespace": "keep", "normalize": "casefold"},
    {"candidates": "all", "max_cluster": 3, "bits": 4, "looks": [64, 128], "keep": ["shortest", "last"]},
]


def flags(settings: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in settings.items():
        if name == "keep" and isinstance(value, list):
            for policy in value:
                words += ["--keep", policy]
            continue
        if isinstance(value, list):
            value = ",".join(map(str, value))
        words += [f"--{name.replace('_', '-')}", str(value)]
    return words


def decided(command: Any, path: Path, folder: Path, settings: dict[str, Any]) -> tuple[set[str], dict[str, tuple[str, float]]]:
    """Runs the command. Returns the ids that it keeps, and for each removed id the keeper and the similarity."""
    out, report = folder / "out.jsonl", folder / "report"
    command("dedup", path, "-o", out, "--report", report, "--audit", "off", "--threads", "2", *flags(settings))
    kept = {json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()}
    removed = {}
    for line in (report / "pairs.tsv").read_text(encoding="utf-8").splitlines():
        id, keeper, similarity = line.split("\t")
        if similarity.replace(".", "").replace("e-", "").isdigit():
            removed[id] = (keeper, float(similarity))
    rejects = (report / "rejects.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(kept) + len(removed) + len(rejects) == len(path.read_text().splitlines())
    return kept, removed


def ways(texts: list[str]) -> dict[str, Callable[[], Any]]:
    """Returns a function per way of passing texts with ids to `dedup`."""
    import datasets
    import duckdb
    import pandas
    import polars
    import pyarrow

    ids = [f"d{number}" for number in range(len(texts))]
    columns = {"id": ids, "text": texts}
    table = pyarrow.table(columns)
    return {
        "list": lambda: (texts, ids),
        "tuple": lambda: (tuple(texts), ids),
        "generator": lambda: ((text for text in texts), ids),
        "records": lambda: ([{"id": id, "text": text} for id, text in zip(ids, texts)], None),
        "generator of records": lambda: (({"id": id, "text": text} for id, text in zip(ids, texts)), None),
        "numpy": lambda: (numpy.array(texts, dtype=object), ids),
        "pandas": lambda: (pandas.DataFrame(columns), None),
        "pandas series": lambda: (pandas.Series(texts, dtype=object), ids),
        "polars": lambda: (polars.DataFrame(columns), None),
        "polars lazy": lambda: (polars.DataFrame(columns).lazy(), None),
        "polars series": lambda: (polars.Series(texts), ids),
        "pyarrow": lambda: (table, None),
        "pyarrow chunks": lambda: (pyarrow.concat_tables([table[:5], table[5:]]), None),
        "pyarrow views": lambda: (table.column("text").cast(pyarrow.string_view()), ids),
        "pyarrow dictionary": lambda: (table.column("text").dictionary_encode(), ids),
        "pyarrow reader": lambda: (table.to_reader(max_chunksize=7), None),
        "duckdb": lambda: (duckdb.from_arrow(table), None),
        "datasets": lambda: (datasets.Dataset.from_dict(columns), None),
    }


def check_same(result: Any, kept: set[str], removed: dict[str, tuple[str, float]], ids: list[str], label: Any) -> None:
    assert {id for id, stays in zip(ids, result.kept_mask) if stays} == kept, label
    ours = {d.id: (d.duplicate_of, d.similarity) for d in result.decisions}
    assert ours.keys() == removed.keys(), label
    for id, (keeper, similarity) in removed.items():
        assert ours[id][0] == keeper, label
        # The tolerance is needed because the report has six digits after the point.
        assert abs(ours[id][1] - similarity) < 6e-7, label


@pytest.mark.parametrize("name", CORPORA)
def test_every_way_in_gives_the_answer_of_the_command(name: str, command: Any, tmp_path: Path) -> None:
    texts: list[str] = CORPORA[name]()
    ids = [f"d{number}" for number in range(len(texts))]
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": id, "text": text} for id, text in zip(ids, texts)])
    kept, removed = decided(command, path, tmp_path, {})
    assert removed
    for way, make in ways(texts).items():
        for threads in (1, 2):
            data, beside = make()
            with minwise.dedup(data, id=beside, threads=threads, audit="off") as result:
                check_same(result, kept, removed, ids, (way, threads))


@pytest.mark.parametrize(("name", "number"), list(itertools.product(CORPORA, range(len(SETTINGS)))))
def test_every_setting_gives_the_answer_of_the_command(name: str, number: int, command: Any, tmp_path: Path) -> None:
    settings = SETTINGS[number]
    texts: list[str] = CORPORA[name]()
    ids = [f"d{number}" for number in range(len(texts))]
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": id, "text": text} for id, text in zip(ids, texts)])
    kept, removed = decided(command, path, tmp_path, settings)
    for way in ("list", "pyarrow", "records"):
        data, beside = ways(texts)[way]()
        for threads in (1, 2):
            with minwise.dedup(data, id=beside, threads=threads, audit="off", **settings) as result:
                check_same(result, kept, removed, ids, (way, threads))
    # `pairs` must give the pairs of the command, too.
    options = {k: v for k, v in settings.items() if k not in ("keep", "cluster", "max_cluster")}
    out = command("pairs", path, *flags(options)).stdout
    theirs = [line.split("\t") for line in out.splitlines()]
    ours = minwise.pairs(texts, id=ids, **options)
    assert [(pair.first, pair.second) for pair in ours] == [(first, second) for first, second, *_ in theirs]
    assert all(abs(pair.similarity - float(line[2])) < 6e-7 for pair, line in zip(ours, theirs))


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_against_gives_the_answer_of_the_command(number: int, command: Any, tmp_path: Path, texts: list[str]) -> None:
    settings = SETTINGS[number]
    ids = [f"d{number}" for number in range(len(texts))]
    rows = [{"id": id, "text": text} for id, text in zip(ids, texts)]
    path = write_jsonl(tmp_path / "in.jsonl", rows[:80])
    other = write_jsonl(tmp_path / "other.jsonl", rows[80:])
    out, report = tmp_path / "out.jsonl", tmp_path / "report"
    command("dedup", path, "-o", out, "--against", other, "--report", report, "--audit", "off", *flags(settings))
    kept = {json.loads(line)["id"] for line in out.read_text().splitlines()}
    lines = [line.split("\t") for line in (report / "pairs.tsv").read_text().splitlines()]
    removed = {id: (keeper, float(similarity)) for id, keeper, similarity in lines}
    assert any(keeper in ids[80:] for keeper, _ in removed.values())
    theirs = json.loads((report / "summary.json").read_text())
    references: dict[str, Callable[[], Any]] = {
        "file": lambda: other,
        "records": lambda: rows[80:],
        "generator": lambda: (row for row in rows[80:]),
        "pyarrow": lambda: __import__("pyarrow").Table.from_pylist(rows[80:]),
        "polars": lambda: __import__("polars").DataFrame(rows[80:]),
        "pandas": lambda: __import__("pandas").DataFrame(rows[80:]),
    }
    for name, reference in references.items():
        for threads in (1, 2):
            with minwise.dedup(rows[:80], against=reference(), threads=threads, audit="off", **settings) as result:
                check_same(result, kept, removed, ids[:80], (name, threads))
                assert without_sizes(result.summary.as_dict()) == without_sizes(theirs), name


def without_sizes(summary: dict[str, Any]) -> dict[str, Any]:
    """Returns a summary without the size of the input, which differs: texts in memory have no braces and no field
    names.
    """
    return {name: value for name, value in summary.items() if name != "bytes"}


@pytest.mark.parametrize("name", CORPORA)
def test_the_default_audit_is_that_of_the_command(name: str, command: Any, tmp_path: Path) -> None:
    """Without an argument, the audit is `auto`, as without the option. It gives the numbers of the command."""
    assert inspect.signature(minwise.dedup).parameters["audit"].default == "auto"
    texts: list[str] = CORPORA[name]()
    ids = [f"d{number}" for number in range(len(texts))]
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": id, "text": text} for id, text in zip(ids, texts)])
    report = tmp_path / "report"
    command("dedup", path, "-o", tmp_path / "out.jsonl", "--report", report)
    theirs = json.loads((report / "summary.json").read_text())
    assert theirs["audit"]["removed"] > 0 and theirs["audit"]["documents"] > 0
    forms: list[dict[str, Any]] = [{}, {"audit": "auto"}]
    for settings in forms:
        with minwise.dedup(texts, id=ids, **settings) as result:
            ours = result.summary.as_dict()
        assert ours["audit"] == theirs["audit"]
        assert without_sizes(ours) == without_sizes(theirs)


def test_real_files_with_ids_dates_and_rejects(command: Any, tmp_path: Path, root: Path) -> None:
    """The unchanged example file gives the answer of the command with a keeper policy."""
    source = root / "examples/articles.jsonl"
    out, report = tmp_path / "out.jsonl", tmp_path / "report"
    command("dedup", source, "-o", out, "--report", report, "--keep", "newest:date")
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    result = minwise.dedup(rows, text="text", keep="newest:date")
    assert result.kept == [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    summary = json.loads((report / "summary.json").read_text())
    assert without_sizes(result.summary.as_dict()) == without_sizes(summary)


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ([], {}),
        (["--annotate"], {"annotate": True}),
        (["--keep", "longest", "--threads", "1"], {"keep": "longest", "threads": 1}),
        (["--output-format", "parquet", "--compression", "lz4"], {"output_format": "parquet", "compression": "lz4"}),
        (["--shingle", "chars:5", "--threshold", "0.6"], {"shingle": "chars:5", "threshold": 0.6}),
    ],
)
def test_files_are_those_of_the_command(
    words: list[str], settings: dict[str, Any], command: Any, root: Path, tmp_path: Path
) -> None:
    source = root / "examples/articles.jsonl"
    if "--output-format" in words:
        rows = [{"id": number, "text": text} for number, text in enumerate(CORPORA["generated"]())]
        source = write_jsonl(tmp_path / "in.jsonl", rows)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
    removed = [] if "--annotate" in words else ["--removed", theirs / "removed.jsonl"]
    command("dedup", source, "-o", theirs / "out.jsonl", *removed, "--report", theirs / "report", *words)
    if removed:
        settings = {**settings, "removed": ours / "removed.jsonl"}
    summary = minwise.dedup_files(source, ours / "out.jsonl", report=ours / "report", **settings)
    assert filecmp.cmp(theirs / "out.jsonl", ours / "out.jsonl", shallow=False)
    if removed:
        assert filecmp.cmp(theirs / "removed.jsonl", ours / "removed.jsonl", shallow=False)
    for name in ("summary.json", "pairs.tsv", "clusters.jsonl", "rejects.jsonl", "reordered.tsv", "large-clusters.jsonl"):
        assert filecmp.cmp(theirs / "report" / name, ours / "report" / name, shallow=False), name
    assert summary.as_dict() == json.loads((theirs / "report/summary.json").read_text())
    with pytest.raises(minwise.InputError, match="exists") as caught:
        minwise.dedup_files(source, ours / "out.jsonl")
    assert "`force`" in str(caught.value.hint)


def test_files_with_a_folder_of_work(root: Path, tmp_path: Path) -> None:
    source = root / "examples/articles.jsonl"
    work = tmp_path / "work"
    minwise.dedup_files([source], tmp_path / "a.jsonl", work=work, keep_work=True)
    assert work.is_dir()
    minwise.dedup_files([source], tmp_path / "b.jsonl", work=work, resume=True)
    assert filecmp.cmp(tmp_path / "a.jsonl", tmp_path / "b.jsonl", shallow=False)
    assert not work.exists()
    assert minwise.dedup_files(str(source), None, dry_run=True).read > 40
    with pytest.raises(minwise.SettingError, match="`output`"):
        minwise.dedup_files(source, None)
    with pytest.raises(minwise.SettingError, match="`work`"):
        minwise.dedup_files(source, tmp_path / "c.jsonl", resume=True)


#: Options of `minwise dedup` that have another name in Python.
RENAMED = {"text-field": "text", "id-field": "id"}
#: Options of `minwise dedup` that Python does not have, with the reason.
LEFT_OUT = {
    "color": "the package prints nothing in colour",
    "quiet": "the package prints nothing unless `progress` asks for it",
    "verbose": "skipped files are in the summary",
    "log": "the package writes no log: warnings are warnings of Python, and `progress` has the stages",
    "help": "help(minwise.dedup)",
    "version": "minwise.__version__",
}
#: Options of `minwise pairs` that `minwise.pairs` does not have, with the reason.
PAIRS_LEFT_OUT = {
    "format": "the result is a sequence and an Arrow stream",
    "candidates-only": "such pairs have bands and no similarity; `Sketches.band_keys` has the keys of all bands",
}
#: Options that only `dedup_files` has, because only runs over files need them.
FILES = {
    "output",
    "removed",
    "annotate",
    "output-format",
    "compression",
    "report",
    "dry-run",
    "force",
    "work",
    "resume",
    "keep-work",
    "encoding",
    "delimiter",
    "strict",
    "input-format",
}


def test_every_option_of_the_command_is_an_argument(command: Any) -> None:
    text = command("dedup", "--help").stdout
    found = set(re.findall(r"^\s+(?:-\w, )?--([a-z][a-z-]*)", text, flags=re.MULTILINE))
    assert len(found) > 45, sorted(found)
    assert LEFT_OUT.keys() <= found and FILES <= found
    whole = inspect.signature(minwise.dedup).parameters
    files = inspect.signature(minwise.dedup_files).parameters
    for option in sorted(found - LEFT_OUT.keys()):
        name = RENAMED.get(option, option.replace("-", "_"))
        assert name in files, option
        assert (name in whole) == (option not in FILES), option
    own = {"data", "spec", "errors", "progress", "cancel"}
    for name in whole.keys() - own:
        option = {value: key for key, value in RENAMED.items()}.get(name, name.replace("_", "-"))
        assert option in found, name
    text = command("pairs", "--help").stdout
    listed = set(re.findall(r"^\s+(?:-\w, )?--([a-z][a-z-]*)", text, flags=re.MULTILINE))
    arguments = inspect.signature(minwise.pairs).parameters
    assert PAIRS_LEFT_OUT.keys() <= listed
    for option in listed - LEFT_OUT.keys() - FILES - PAIRS_LEFT_OUT.keys():
        assert RENAMED.get(option, option.replace("-", "_")) in arguments, option


def test_band_keys_give_the_candidates_of_the_command(command: Any, tmp_path: Path, corpus: list[str]) -> None:
    """`minwise pairs --candidates-only` lists the pairs of documents whose keys of a band agree, with their bands."""
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": f"d{at}", "text": text} for at, text in enumerate(corpus)])
    out = command("pairs", path, "--candidates-only", "--bands", 20, "--rows", 5, "--format", "jsonl").stdout
    listed = [json.loads(line) for line in out.splitlines()]
    sketches = minwise.Spec().sketch(corpus)
    keys, shingled = sketches.band_keys(bands=20, rows=5), numpy.flatnonzero(sketches.has_shingles)
    shared = {}
    for first, second in itertools.combinations(shingled.tolist(), 2):
        bands = (numpy.flatnonzero(keys[first] == keys[second]) + 1).tolist()
        if bands:
            shared[f"d{first}", f"d{second}"] = bands
    assert shared and {(pair["first"], pair["second"]): pair["bands"] for pair in listed} == shared
    assert len(listed) == len(shared)


def test_every_argument_reaches_the_run(texts: list[str]) -> None:
    """A wrong value of each argument raises an error that names the argument."""
    wrong: dict[str, Any] = {
        "threshold": 2.0,
        "measure": "cosine",
        "keep": "best",
        "cluster": "heap",
        "max_cluster": 0,
        "recall": 2.0,
        "candidates": "guess",
        "weight": "heavy",
        "max_df": -1.0,
        "order": 2.0,
        "null": "never",
        "audit": "some",
        "threads": 0,
        "memory": "much",
        "max_rejects": -1,
        "max_record": "much",
        "normalize": "nfd",
        "shingle": "lines:2",
        "whitespace": "eat",
        "short": "long",
        "sketch": "minhush",
        "registers": 0,
        "seed": -1,
        "bits": 99,
        "filter_error": 2.0,
        "looks": [3, 2],
        "error_per_look": 2.0,
    }
    arguments = inspect.signature(minwise.dedup).parameters
    unchecked = {"data", "text", "id", "against", "spec", "ignore_text", "weights", "temp_dir", "errors"}
    unchecked |= {"progress", "cancel", "strip_markup", "bands", "rows"}
    assert wrong.keys() | unchecked == arguments.keys()
    for name, value in wrong.items():
        with pytest.raises(minwise.SettingError, match=f"`{name}`"):
            minwise.dedup(texts, **{name: value})
    # The error names all problems, in the order of the settings.
    with pytest.raises(minwise.SettingError) as caught:
        minwise.dedup(texts, threads=0, threshold=3.0, audit="x")
    assert caught.value.settings == ("audit", "threshold", "threads")


#: Arguments of `dedup` that are options of the command, each with a value that changes the run.
EFFECTS: dict[str, Any] = {
    "threshold": 0.5,
    "measure": "containment",
    "keep": "longest",
    "cluster": "components",
    "max_cluster": 2,
    "recall": 0.9,
    "candidates": "all",
    "weight": "tf-idf",
    "max_df": 0.5,
    "order": 0.9,
    "null": "reject",
    "audit": 50,
    "max_record": "300B",
    "normalize": "none",
    "shingle": "chars:7",
    "strip_markup": True,
    "whitespace": "keep",
    "short": "reject",
    "sketch": "super-minhash",
    "registers": 64,
    "seed": 7,
    "bits": 4,
    "filter_error": "off",
    "looks": [32, 128],
    "error_per_look": 1e-4,
}


def effects_corpus() -> list[str | None]:
    source = CORPORA["generated"]()
    return [*source, None, "short", "<p>some markup</p> in a text of words that repeat", "w" * 400, "A  b\nC d  E f g"]


@pytest.mark.parametrize("name", EFFECTS)
def test_each_option_reaches_the_run(name: str, command: Any, tmp_path: Path) -> None:
    """With the argument, summary and decisions equal those of the command with the option.

    Without the argument, the summary or the decisions differ.
    """
    texts = effects_corpus()
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    settings: dict[str, Any] = {name: EFFECTS[name]}
    if name != "audit":
        settings["audit"] = "off"
    words = [word for word in flags(settings) if word != "True"]
    command("dedup", path, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "report", "--threads", "1", *words)
    theirs = json.loads((tmp_path / "report/summary.json").read_text())
    given = minwise.dedup(texts, id=[row["id"] for row in rows], **settings)
    assert without_sizes(given.summary.as_dict()) == without_sizes(theirs)
    lines = [line.split("\t")[:2] for line in (tmp_path / "report/pairs.tsv").read_text().splitlines()]
    assert [[d.id, d.duplicate_of] for d in given.decisions] == lines
    default = minwise.dedup(texts, id=[row["id"] for row in rows], audit="off")
    assert (given.summary, list(given.decisions)) != (default.summary, list(default.decisions))


def test_options_without_a_trace_in_the_result_reach_the_run(command: Any, tmp_path: Path, texts: list[str]) -> None:
    # `bands` and `rows` are passed together, because each needs the other.
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": text} for text in texts])
    command("dedup", path, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "report", "--bands", "8", "--rows", "4")
    summary = minwise.dedup(texts, bands=8, rows=4).summary
    assert (summary.bands, summary.rows) == (8, 4)
    assert without_sizes(summary.as_dict()) == without_sizes(json.loads((tmp_path / "report/summary.json").read_text()))
    # The command writes the table of weights that `dedup` reads.
    command("weights", path, "-o", tmp_path / "weights")
    table = minwise.dedup(texts[:50], weight="tf-idf", weights=tmp_path / "weights").summary.spec
    assert table != minwise.dedup(texts[:50], weight="tf-idf").summary.spec
    assert table == minwise.dedup(texts, weight="tf-idf", weights=str(tmp_path / "weights")).summary.spec
    with pytest.raises(minwise.RejectedRecords):
        minwise.dedup([{"text": "a"}, {"body": "b"}], text="text", max_rejects=0)
    with pytest.raises(minwise.SettingError, match="memory"):
        minwise.dedup(texts, memory="1MiB")
    with pytest.raises(minwise.InputError, match="nowhere"):
        minwise.dedup(iter(texts), temp_dir=tmp_path / "nowhere")
    # Every argument of `dedup` must be in one of the tests.
    elsewhere = {"data", "text", "id", "against", "ignore_text", "spec", "threads", "errors", "progress", "cancel"}
    here = {"bands", "rows", "weights", "max_rejects", "memory", "temp_dir"}
    assert EFFECTS.keys() | here | elsewhere == inspect.signature(minwise.dedup).parameters.keys()


def test_arguments_of_one_name_are_the_same_everywhere() -> None:
    """An argument has the same default in all functions.

    Each function lists its arguments, for help and for editors.
    """
    one, others = inspect.signature(minwise.dedup).parameters, (minwise.pairs, minwise.dedup_files)
    # The types of these arguments differ: they are paths for files, and objects for data in memory.
    differ = {"id", "against", "ignore_text"}
    for function in others:
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in one or name == "data":
                continue
            assert parameter.default == one[name].default, (function.__name__, name)
            assert parameter.kind is parameter.KEYWORD_ONLY
            if name not in differ:
                assert parameter.annotation == one[name].annotation, (function.__name__, name)
    assert len(one.keys() & inspect.signature(minwise.pairs).parameters.keys()) > 30


def test_other_libraries_read_compressed_outputs(command: Any, tmp_path: Path) -> None:
    """Several threads write one gzip member and one Zstandard frame, because some libraries read only the first."""
    import pyarrow.json

    # The output is larger than several blocks of gzip and several jobs of zstd.
    path = tmp_path / "in.jsonl"
    write_jsonl(path, [{"id": number, "text": f"{number} {'word ' * 40}{number * 7919}"} for number in range(25_000)])
    plain, packed, frame = tmp_path / "out.jsonl", tmp_path / "out.jsonl.gz", tmp_path / "out.jsonl.zst"
    for out in (plain, packed, frame):
        command("dedup", path, "-o", out, "--threads", "2", "--audit", "off", "--threshold", "1")
    expected = plain.read_bytes()
    assert len(expected) > 4 << 20
    assert gzip.decompress(packed.read_bytes()) == expected
    table = pyarrow.json.read_json(plain)
    for out in (packed, frame):
        assert pyarrow.json.read_json(out) == table
    zstandard = pytest.importorskip("zstandard")
    with frame.open("rb") as file:
        # By default, the reader ends after the first frame.
        assert zstandard.ZstdDecompressor().stream_reader(file).read() == expected
