"""Tests that rounds on the cluster (`ClusterRounds`) compare and decide the same as rounds on the driver
(`DriverRounds`).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import minwise
import minwise.spark
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from corpora import CORPORA, Command, assert_same, decided_by, rows_of
from minwise._minwise import (
    SPARK_BUCKET_BYTES,
    SparkBlocks,
    SparkRounds,
    SparkTask,
    spark_ask,
    spark_group,
    spark_group_here,
    spark_name,
    spark_settle,
    spark_sort,
    spark_wait,
)
from minwise.spark import _settings
from minwise.spark._rounds import ClusterRounds
from minwise.spark._shelves import LARGEST, wrapped

#: A limit with which the driver takes no shelves, so that tasks choose the pairs.
CLUSTER = {"_driver": 0}


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("name", CORPORA)
def test_decisions_on_the_cluster(sail: Any, command: Command, tmp_path: Path, name: str, cluster: str) -> None:
    rows = rows_of(CORPORA[name]())
    expected, _ = command.dedup(rows, "--cluster", cluster)
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "cluster": cluster, "_asking": 4, "_pairs": 200}
    on_driver = minwise.spark.dedup(df, work=str(tmp_path / "driver"), **settings)
    result = minwise.spark.dedup(df, work=str(tmp_path / "cluster"), **settings, **CLUSTER)
    assert_same(decided_by(result), expected)
    assert_same(decided_by(on_driver), expected)
    for count in ("rounds", "candidates", "compared", "verified", "removed"):
        assert getattr(result.summary, count) == getattr(on_driver.summary, count), count
    assert minwise.spark.dedup(df, work=str(tmp_path / "cluster"), **settings, **CLUSTER).summary.steps_computed == 0


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_full_shelves_decide_alike_everywhere(sail: Any, tmp_path: Path, cluster: str) -> None:
    """Full shelves leave out the same documents on the driver and on the cluster, with listed pairs and with blocks."""
    rows = rows_of(CORPORA["family"]() + CORPORA["generated"]()[:100])
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "cluster": cluster, "audit": "off"}
    whole = decided_by(minwise.spark.dedup(df, work=str(tmp_path / "whole"), **settings))
    found = []
    for at, limits in enumerate([{}, {"_asking": 2, "_pairs": 20}, {"_driver": 0}, {"_driver": 0, "_asking": 2, "_pairs": 20}]):
        result = minwise.spark.dedup(df, work=str(tmp_path / str(at)), **settings, **limits, _shelf=2)
        found.append(decided_by(result))
    assert found[0] != whole
    for other in found[1:]:
        assert_same(other, found[0])


class Tables:
    """A stand-in for `Work` that writes tables to a folder and counts them."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.written = 0

    def save(self, frame: Any, name: str) -> Any:
        self.written += 1
        path = str(self.folder / f"{self.written}-{name}")
        frame.write.parquet(path)
        return self.spark.read.parquet(path)


def test_a_chain_in_random_order_takes_few_rounds(sail: Any, tmp_path: Path) -> None:
    """Each document of the chain is similar to the next one, and their rank keys are in random order."""
    source = random.Random(20)
    chain = [bytes([at]) for at in range(100)]
    source.shuffle(chain)
    links = [tuple(sorted(link)) for link in zip(chain, chain[1:])]
    tables = Tables(sail, tmp_path)
    rounds = SimpleNamespace(work=tables)
    labels = ClusterRounds._labels(rounds, sail.createDataFrame(links, "a binary, c binary"))  # type: ignore[arg-type]
    assert {(bytes(row["rank"]), bytes(row["label"])) for row in labels.collect()} == {(rank, bytes([0])) for rank in chain}
    # A label that moves one document per round would take 59 rounds.
    assert tables.written <= 10


def world(seed: int) -> tuple[pa.Table, pa.Table, dict[tuple[bytes, bytes], float], int]:
    """Returns random shelves, copies, similar pairs, and the number of documents that a shelf takes.

    Some documents are references.
    """
    source = random.Random(seed)
    ranks = sorted({bytes([int(source.random() > 0.1)]) + source.randbytes(3) for _ in range(source.randrange(2, 70))})
    shelves = []
    for band in range(source.randrange(1, 5)):
        for key in range(source.randrange(1, 9)):
            members = source.sample(ranks, source.randrange(2, min(len(ranks), source.choice([4, 30])) + 1)) if len(ranks) > 2 else ranks
            shelves += [(band, key, rank) for rank in members]
    documents = sorted({rank for _, _, rank in shelves})
    similar = {}
    often = source.choice([0.05, 0.3, 0.9])
    for at, a in enumerate(documents):
        for c in documents[at + 1 :]:
            if source.random() < often:
                similar[a, c] = source.choice([0.8, 0.9, 1.0])
    copies = []
    for rank in documents:
        while source.random() < 0.3:
            # A copy comes after the document that it equals. Some copies come at a position where the shelf is full
            # already.
            copy = max(rank, bytes([1]) + source.randbytes(3)) + b"x"
            copies.append((copy, rank))
    columns = [pa.array(column, kind) for column, kind in zip(zip(*shelves), (pa.int64(), pa.int64(), pa.binary()))]
    copied = [pa.array([pair[at] for pair in copies], pa.binary()) for at in range(2)]
    return pa.table(columns, ["band", "key", "rank"]), pa.table(copied, ["rank", "other"]), similar, source.choice([1, 2, 5, 1000])


@pytest.mark.parametrize("parts", [1, 9])
@pytest.mark.parametrize("batches", [1, 3])
def test_the_driver_groups_as_tasks_do(parts: int, batches: int) -> None:
    """The driver finds the same copies, shelves and counts as tasks, which get packed entries."""
    source = random.Random(47)
    rows: list[dict[str, Any]] = []
    for number in range(300):
        kind = source.choice([0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
        equality = source.randrange(1_000, 1_120).to_bytes(16, "big") if kind == 1 else source.randrange(60).to_bytes(16, "big")
        # Equal documents have the same band keys.
        keys = random.Random(equality)
        rows.append({
            "rank": source.randbytes(source.randrange(1, 4)) if number % 50 == 0 else number.to_bytes(3, "big"),
            "id": source.choice([None, f"d{number}", f"d{number % 40}"]),
            "given": source.random() < 0.1,
            "kind": kind,
            "equality": equality if kind <= 1 else None,
            "content": source.randrange(-(2**63), 2**63),
            "keys": b"".join(keys.randrange(9).to_bytes(8, "little") for _ in range(4)) if kind == 0 else None,
        })  # fmt: skip
    source.shuffle(rows)
    kinds = {"rank": pa.binary(), "id": pa.string(), "given": pa.bool_(), "kind": pa.int8(), "equality": pa.binary(), "content": pa.int64(), "keys": pa.binary()}
    whole = table(rows, **kinds)
    packed = pa.concat_tables(pa.table(pa.record_batch(spark_sort(whole.slice(at * 100, 100) if batches > 1 else whole, parts))) for at in range(batches))
    found: list[dict[str, Any]] = []
    for part in set(packed["part"].to_pylist()):
        own = packed.filter(pc.equal(packed["part"], part)).select(["rows"])
        found += pa.table(pa.record_batch(spark_group(part, parts, own))).to_pylist()

    def counts(rows: list[dict[str, Any]]) -> dict[int, int]:
        sums: dict[int, int] = {}
        for row in rows:
            if row["what"] == 0:
                key, before = row["key"], sums.get(row["key"], 0)
                sums[key] = max(before, row["number"]) if key == LARGEST else before + row["number"]
        return {key: wrapped(number) for key, number in sums.items()}

    here = pa.table(pa.record_batch(spark_group_here(whole))).to_pylist()
    assert counts(here) == counts(found)

    def others(rows: list[dict[str, Any]]) -> list[str]:
        return sorted(str(row) for row in rows if row["what"])

    assert others(here) == others(found) and len({row["what"] for row in here}) == 3


#: A task without a filter, so that sketches rule out no pair.
TASK = SparkTask(json.dumps(_settings.plan({"filter_error": "off"})), b"")


def asked(blocks: pa.Table) -> set[tuple[bytes, bytes]]:
    """Returns the pairs of blocks that tasks compare.

    The sketches of documents are random, so that no two of them share a band.
    """
    tasks: dict[int, list[dict[str, Any]]] = {}
    for row in blocks.to_pylist():
        row |= {"sketch": random.Random(row["rank"]).randbytes(512), "size": 0, "parity": None}
        for task in range(row["task"], row["end"] + 1, row["step"]):
            tasks.setdefault(task, []).append(row)
    pairs = set()
    for rows in tasks.values():
        table = pa.Table.from_pylist(rows)
        screening = SparkBlocks(TASK, table.set_column(table.schema.get_field_index("parity"), "parity", pa.nulls(len(table), pa.binary())))
        # The portions are small, so that a task has several of them.
        while (screened := screening.screen(10)) is not None:
            both = pa.table(pa.record_batch(screened[0]))
            portion = set(zip(both["a"].to_pylist(), both["c"].to_pylist()))
            # A pair that is in two blocks is screened in both, because random sketches share no band.
            assert len(portion) <= screened[1]
            pairs |= portion
    return pairs


#: Values of `asking`, `pairs` and `listed`, which limit listed pairs.
Limits = tuple[int, int, int | None]


def decide(shelves: pa.Table, copies: pa.Table, similar: Any, most: int, limits: Limits) -> set[tuple[Any, ...]]:
    """Returns the decisions about the documents of shelves, made with all shelves on the driver."""
    rounds = SparkRounds("star", [shelves], [copies], most, *limits)
    found: list[tuple[bytes, bytes]] = []
    known: set[tuple[bytes, bytes]] = set()
    while True:
        columns = [pa.array([pair[at] for pair in found], pa.binary()) for at in range(2)]
        values = pa.array([similar[pair] for pair in found], pa.float64())
        listed, _, blocks = rounds.next_round(pa.table([*columns, values], ["a", "c", "similarity"]))
        if not len(listed) and not len(blocks):
            break
        pairs = set(zip(*(pa.table(pa.record_batch(listed))[name].to_pylist() for name in ("a", "c"))))
        pairs |= asked(pa.table(pa.record_batch(blocks)))
        found = sorted(pair for pair in pairs - known if pair in similar)
        known |= pairs
    named = pa.table(pa.record_batch(rounds.named(copies, True)))
    return {tuple(row.values()) for row in named.to_pylist()}


def table(rows: list[dict[str, Any]], **kinds: pa.DataType) -> pa.Table:
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})


class Parts:
    """Runs rounds of stars in parts.

    Each part has random shelves or random components, and no other data, like a task.
    """

    def __init__(self, seed: int, shelves: pa.Table, copies: pa.Table, most: int, limits: Limits) -> None:
        self.source = random.Random(seed)
        self.members, self.copies = shelves.to_pylist(), copies.to_pylist()
        self.most, self.limits, self.round = most, limits, 0
        self.states: dict[bytes, dict[str, Any]] = {}
        for rank in {row["rank"] for row in self.members}:
            given = rank[0] == 0
            self.states[rank] = {"state": int(given), "front": 0, "decided": 0 if given else 65_535, "last": None}
        for copy in self.copies:
            state = self.states.get(copy["other"])
            if state is not None:
                state["last"] = max(state["last"] or b"", copy["rank"])
        self.asked: list[dict[str, Any]] = []
        self.edges: dict[tuple[bytes, bytes], float] = {}
        #: Number of documents of the largest component so far.
        self.largest = 0

    def split(self, rows: list[dict[str, Any]], key: Any) -> list[list[dict[str, Any]]]:
        """Splits rows into three parts at random. Rows with the same key are in one part."""
        parts: list[list[dict[str, Any]]] = [[], [], []]
        chosen: dict[Any, int] = {}
        for row in rows:
            parts[chosen.setdefault(key(row), self.source.randrange(3))].append(row)
        return [part for part in parts if part]

    def shelves(self) -> list[pa.Table]:
        rows = [{**row, **self.states[row["rank"]], "what": 0} for row in self.members]
        rows += [{**row, "what": 1} for row in self.asked]
        self.source.shuffle(rows)
        number, key = pa.int64(), pa.binary()
        kinds = {"band": number, "key": number, "rank": key, "last": key, "state": number, "front": number, "decided": number, "what": number}
        return [table(part, **kinds) for part in self.split(rows, lambda row: (row["band"], row["key"]))]

    def decide(self) -> tuple[dict[bytes, int], bool]:
        """Decides documents. Returns which documents are behind, and whether any document was decided."""
        unasked: dict[bytes, int] = {}
        behind: dict[bytes, int] = {}
        for part in self.shelves():
            for row in pa.table(pa.record_batch(spark_wait(part, self.round, self.most))).to_pylist():
                unasked[row["rank"]] = unasked.get(row["rank"], 0) + row["unasked"]
                behind[row["rank"]] = max(behind.get(row["rank"], 0), row["behind"])
        undecided = [rank for rank, state in self.states.items() if state["state"] == 0]
        label = {rank: rank for rank in undecided}

        def find(one: bytes) -> bytes:
            while label[one] != one:
                one = label[one]
            return one

        rows = [{"rank": rank, "unasked": unasked.get(rank, 0)} for rank in undecided]
        for (a, c), similarity in self.edges.items():
            if self.states[c]["state"] == 0 and self.states[a]["state"] != 2:
                rows.append({"rank": c, "other": a, "similarity": similarity})
                if self.states[a]["state"] == 0:
                    label[find(a)] = find(c)
        firsts = [find(rank) for rank in undecided]
        self.largest = max([self.largest, *(firsts.count(first) for first in set(firsts))])
        changed = False
        for part in self.split(rows, lambda row: find(row["rank"])):
            settled = spark_settle(table(part, rank=pa.binary(), other=pa.binary(), similarity=pa.float64(), unasked=pa.int64()))
            for row in pa.table(pa.record_batch(settled)).to_pylist():
                self.states[row["rank"]] |= {"state": row["state"], "decided": self.round}
                changed = True
        return behind, changed

    def next_round(self) -> set[tuple[bytes, bytes]]:
        while True:
            self.round += 1
            changed = True
            while changed:
                behind, changed = self.decide()
            for rank, state in self.states.items():
                if state["state"] == 0 and state["front"] == 0 and not behind.get(rank):
                    state["front"] = self.round
            pairs = set()
            for part in self.shelves():
                made = spark_ask("star", part, self.round, 0, self.most, *self.limits)
                listed, blocks, now = (pa.table(pa.record_batch(one)) for one in made)
                pairs |= set(zip(listed["a"].to_pylist(), listed["c"].to_pylist())) | asked(blocks)
                self.asked += now.to_pylist()
            if pairs or not any(state["state"] == 0 for state in self.states.values()):
                return pairs

    def named(self) -> set[tuple[Any, ...]]:
        removed = {rank for rank, state in self.states.items() if state["state"] == 2}
        rows = [{"rank": rank, "other": rank} for rank in removed] + [copy for copy in self.copies if copy["other"] in removed]
        for (a, c), similarity in self.edges.items():
            for one, other in ((a, c), (c, a)):
                if one in removed and self.states[other]["state"] == 1:
                    rows.append({"rank": one, "other": other, "similarity": similarity})
        found = {(copy["rank"], copy["other"], 1.0, True) for copy in self.copies if copy["other"] not in removed and copy["rank"][0] != 0}
        for part in self.split(rows, lambda row: row["rank"] if "similarity" in row else row["other"]):
            named = spark_name(table(part, rank=pa.binary(), other=pa.binary(), similarity=pa.float64()))
            found |= {tuple(row.values()) for row in pa.table(pa.record_batch(named)).to_pylist()}
        return found


@pytest.mark.parametrize("limits", [(1, 1, None), (1000, 1000, None), (1000, 1000, 30)], ids=["blocks", "listed", "few-listed"])
def test_parts_decide_as_the_whole(limits: Limits) -> None:
    """Parts with some shelves or components come to the decisions of the driver, with full shelves, references and late
    copies.

    The components of similar pairs are smaller than those of documents that shelves connect.
    """
    crowded = smaller = 0
    for seed in range(80):
        shelves, copies, similar, most = world(seed)
        whole = decide(shelves, copies, similar, most, limits)
        crowded += most < 1000 and whole != decide(shelves, copies, similar, 1000, limits)
        parts = Parts(seed, shelves, copies, most, limits)
        known: set[tuple[bytes, bytes]] = set()
        while pairs := parts.next_round():
            assert parts.round < 70
            parts.edges |= {pair: similar[pair] for pair in pairs if pair in similar}
            known |= pairs
        assert parts.named() == whole, seed
        smaller += parts.largest < len(parts.states) // 2
    assert crowded > 5 and smaller > 20


def test_rows_of_blocks_are_made_once() -> None:
    """The driver makes each row of a block twice, once for each side of the pairs, and each pair is in one task
    only."""
    ranks = [bytes([1]) + number.to_bytes(3, "big") for number in range(80_000)]
    shelf = pa.table({"band": [0] * len(ranks), "key": [7] * len(ranks), "rank": pa.array(ranks, pa.binary())})
    none = pa.table({"rank": pa.array([], pa.binary()), "other": pa.array([], pa.binary())})
    rounds = SparkRounds("pairs", [shelf.slice(0, 8_000), shelf.slice(8_000)], [none])
    _, _, blocks = rounds.next_round(pa.table({"a": none["rank"], "c": none["rank"], "similarity": pa.array([], pa.float64())}))
    rows = pa.table(pa.record_batch(blocks))
    assert len(rows) == 2 * len(ranks)
    tasks: dict[int, list[int]] = {}
    for row in rows.select(["task", "end", "step", "side"]).to_pylist():
        for task in range(row["task"], row["end"] + 1, row["step"]):
            tasks.setdefault(task, [0, 0])[row["side"]] += 1
    assert len(tasks) == 6 and sum(first * second for first, second in tasks.values()) == len(ranks) ** 2


def test_parity_bits_rule_out_no_similar_pair() -> None:
    """Parity bits rule out no similar pair.

    Sets have 60 to 400 shingles, so that parity bits of similar documents differ in width.
    """
    source, texts = random.Random(31), []
    for _ in range(12):
        base = [f"p{source.randrange(10**6)}" for _ in range(source.choice([70, 125, 135, 255, 265, 380]))]
        for _ in range(8):
            cut = base[: len(base) - source.randrange(20)]
            for _ in range(source.randrange(7)):
                cut[source.randrange(len(cut))] = f"q{source.randrange(10**6)}"
            texts.append(" ".join(cut))
    ranks = [bytes([1]) + at.to_bytes(3, "big") for at in range(len(texts))]
    read = {"rank": pa.array(ranks, pa.binary()), "text": texts, "size": [len(text) for text in texts], "content": pa.nulls(len(texts), pa.int64())}
    filled = pa.table(pa.record_batch(TASK.fill(pa.table(read), True)))
    assert len({len(parity) for parity in filled["parity"].to_pylist()}) == 3
    numbers = list(range(len(texts)))
    zeros = {name: [0] * len(texts) for name in ("block", "band", "front", "decided", "mask")}
    # All rows are of components, are new in this round, and have a place on their shelf.
    kinds = {**zeros, "document": numbers, "last": numbers, "joined": numbers, "kind": [128 | 16 | 32] * len(texts)}
    sides = [filled.append_column("side", pa.array([side] * len(texts))) for side in (0, 1)]
    table = pa.concat_tables(sides)
    for name, values in kinds.items():
        table = table.append_column(name, pa.array(values * 2, pa.int64()))
    found, count = SparkBlocks(TASK, table).screen(10**9)  # type: ignore[misc]
    open_pairs = {(row["a"], row["c"]) for row in pa.table(pa.record_batch(found)).to_pylist()}
    sets = [set(minwise.Spec().shingles(text).tolist()) for text in texts]
    similar = {(ranks[a], ranks[c]) for c in numbers for a in range(c) if 10 * len(sets[a] & sets[c]) >= 8 * len(sets[a] | sets[c])}
    assert count == len(texts) * (len(texts) - 1) // 2
    assert similar <= open_pairs and len(similar) > 100 and len(open_pairs) < 2 * len(similar)


@pytest.mark.parametrize("clustering", ["star", "pairs"])
def test_pairs_of_many_shelves_are_not_listed_without_bound(clustering: str) -> None:
    """Each shelf has too few pairs for a block, but all shelves together have too many to be listed.

    So small blocks share tasks.
    """
    shelves, members, most = 40, 100, 20_000
    ranks = [bytes([1]) + number.to_bytes(3, "big") for number in range(shelves * members)]
    keys = [number // members for number in range(len(ranks))]
    table = pa.table({"band": [0] * len(ranks), "key": keys, "rank": pa.array(ranks, pa.binary())})
    none = pa.table({"rank": pa.array([], pa.binary()), "other": pa.array([], pa.binary())})
    similar = pa.table({"a": none["rank"], "c": none["rank"], "similarity": pa.array([], pa.float64())})
    rounds = SparkRounds(clustering, [table], [none], listed=most)
    pairs: set[tuple[bytes, bytes]] = set()
    has_both = False
    for _ in range(20):
        listed, _, blocks = rounds.next_round(similar)
        if not len(listed) and not len(blocks):
            break
        assert len(listed) <= most
        has_both |= bool(len(listed)) and bool(len(blocks))
        if len(blocks):
            rows = pa.table(pa.record_batch(blocks))
            assert len(set(rows["task"].to_pylist())) < len(set(rows["block"].to_pylist())) <= shelves
            pairs |= asked(rows)
        pairs |= set(zip(*(pa.table(pa.record_batch(listed))[name].to_pylist() for name in ("a", "c"))))
    assert has_both and len(pairs) == shelves * members * (members - 1) // 2
    # A single task with all shelves must choose as many pairs as the tasks together.
    states = {"last": pa.nulls(len(ranks), pa.binary()), "state": [0] * len(ranks), "front": [1] * len(ranks), "decided": [65_535] * len(ranks)}
    rows = pa.table({**{name: table[name] for name in table.column_names}, **states, "what": [0] * len(ranks)})
    listed, blocks, _ = (pa.table(pa.record_batch(one)) for one in spark_ask(clustering, rows, 1, members, listed=most))
    assert 0 < len(listed) <= most
    assert len(asked(blocks)) + len(listed) == shelves * members * (members - 1) // 2


def test_buckets_are_cut_by_the_bytes_of_texts() -> None:
    """Pairs of large texts are divided among several buckets, even if they are few."""
    ranks = [bytes([1, number]) for number in range(20)]
    shelf = pa.table({"band": [0] * 20, "key": [7] * 20, "rank": pa.array(ranks, pa.binary())})
    none = pa.table({"rank": pa.array([], pa.binary()), "other": pa.array([], pa.binary())})
    rounds = SparkRounds("pairs", [shelf], [none])
    rounds.take_sizes(pa.table({"rank": pa.array(ranks, pa.binary()), "size": [10 << 20] * 20}))
    similar = pa.table({"a": none["rank"], "c": none["rank"], "similarity": pa.array([], pa.float64())})
    listed, wanted, _ = rounds.next_round(similar)
    pairs, texts = pa.table(pa.record_batch(listed)).to_pylist(), pa.table(pa.record_batch(wanted)).to_pylist()
    assert len(pairs) == 190 and len({(row["a"], row["c"]) for row in pairs}) == 190
    for bucket in {row["bucket"] for row in pairs}:
        here = [row["rank"] for row in texts if row["bucket"] == bucket]
        assert sum(row["size"] for row in texts if row["bucket"] == bucket) <= SPARK_BUCKET_BYTES == 64 << 20
        assert len(set(here)) == len(here)
        assert {row[end] for row in pairs if row["bucket"] == bucket for end in ("a", "c")} == set(here)


def test_a_text_without_shingles_is_left_out() -> None:
    """Texts are chosen by hashes of rank keys, so a text that stands on no shelf may be among them. It has no sketch if
    it has no shingles."""
    ranks = [bytes([1, number]) for number in range(3)]
    texts = ["one text of six words here", "", "one text of six words here"]
    filled = pa.table(pa.record_batch(TASK.fill(pa.table({"rank": pa.array(ranks, pa.binary()), "text": texts, "size": [0] * 3, "content": [0] * 3}), False)))
    assert filled["sketch"].null_count == 1
    pairs = pa.table({"a": pa.array(ranks[:1], pa.binary()), "c": pa.array(ranks[2:], pa.binary())})
    found, compared = TASK.similarities(filled, pairs, False, True)
    assert pa.table(pa.record_batch(found))["similarity"].to_pylist() == [1.0] and compared == 1
