"""The summary of a job, with the field names of `minwise.Summary`, and its printed form, which follows that of the
command.
"""

from __future__ import annotations

from typing import Any

from .._minwise import SPARK_SHELF, interval, lower_bound, percent, probability
from .._results import Summary as PythonSummary

#: Width in columns of the labels of lines, as in the command.
NAMES = 12
#: Width of a confidence interval above which the summary suggests a larger audit, as in the command.
WIDE = 0.1
#: Suggestion of a larger audit.
MORE = " (`--audit N` compares more)"


class Summary(PythonSummary):
    """The settings and the counts of a job: those of :class:`minwise.Summary`, and some more.

    ``candidates`` counts the pairs that the job compared, by sketches, parity bits or texts. The job compares other
    pairs than :func:`minwise.dedup`, and a pair counts several times if its documents share several large shelves.
    ``bytes`` counts the bytes of all texts. Fields that the job does not count are None: ``expected_recall``,
    ``expected_recall_low``, ``filter_compared``, ``filter_registers`` and ``repaired``. If a band key has more
    documents than a shelf takes, ``full_shelves`` and ``left_out`` are None, too.

    :ivar rounds: the number of rounds.
    :ivar memberships: the number of documents on all shelves with two documents or more. A document counts once per
        shelf.
    :ivar largest_shelf: the number of documents on the largest shelf.
    :ivar found_at_threshold: the probability that a pair whose similarity is the threshold is found.
    :ivar shelved_bytes: bytes of the texts of documents that share a band key with another document.
    :ivar steps_computed: the number of steps that this run computed; 0 if the job was complete before.
    """

    __slots__ = ()

    rounds: int
    memberships: int
    largest_shelf: int
    found_at_threshold: float
    shelved_bytes: int
    steps_computed: int
    filter_compared: int | None  # type: ignore[assignment]
    filter_registers: int | None  # type: ignore[assignment]
    repaired: int | None  # type: ignore[assignment]
    full_shelves: int | None  # type: ignore[assignment]
    left_out: int | None  # type: ignore[assignment]


#: Fields of the summary that are copied from the entries with the same names in the counts of a job.
SAME = (
    "spec threshold bands rows filter_error looks error_per_look keep cluster max_cluster read kept removed rejected reference_rejected nulls "
    "without_shingles repeated_ids clusters large_clusters spared unranked rounds found_at_threshold steps_computed"
).split()


def summary_of(counts: dict[str, Any]) -> Summary:
    """Makes the summary of a job from its counts."""
    full = 0 if counts["largest"] <= SPARK_SHELF else None
    fields = {
        **{name: counts[name] for name in SAME},
        "fingerprint": f"{counts['fingerprint']:016x}",
        "measure": "jaccard",
        "order": None,
        "search": "banding",
        "bits": None,
        "reference": counts["references"],
        "removed_equal": counts["equal"],
        "annotated": False,
        "skipped_files": counts.get("skipped_files", 0),
        "skipped_records": 0,
        "repaired": None,
        "candidates": counts["asked"],
        "filtered": counts["asked"] - counts["screened"],
        "filter_compared": None,
        "filter_registers": None,
        "compared": counts["screened"],
        "verified": counts["similar"],
        "reordered": 0,
        "reordered_estimated": 0,
        "full_shelves": full,
        "left_out": full,
        "expected_recall": None,
        "expected_recall_low": None,
        "audit": counts.get("audit"),
        "bytes": counts["text_bytes"],
        "memberships": counts["members"],
        "largest_shelf": counts["largest"],
        "shelved_bytes": counts["bytes"],
    }
    return Summary(fields)


def counted(number: int, noun: str) -> str:
    """Returns a number and a noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def documents_of(documents: int, read: int) -> str:
    """Formats a number of documents with its share of all documents that were read."""
    return counted(documents, "document") + (f" ({percent(documents, read)})" if read else "")


def compared(of: Summary) -> str:
    """Formats how many candidate pairs were ruled out, compared exactly, and found similar."""
    if of.candidates == 0:
        return "0 candidate pairs"
    parts = []
    if of.filtered:
        parts.append(f"{of.filtered:,} ruled out by {'its' if of.filtered == 1 else 'their'} sketches")
    parts.append(f"{of.compared:,} compared exactly")
    parts.append(f"{of.verified:,} {'reaches' if of.verified == 1 else 'reach'} {of.threshold:g}")
    return f"{counted(of.candidates, 'candidate pair')}: {', '.join(parts)}"


def measured(audit: dict[str, Any] | None) -> str:
    """Formats the recall that an audit measured."""
    if audit is None:
        return "not measured (`--audit N` measures it)"
    kept, documents, missed = audit["kept"], audit["documents"], audit["missed"]
    of = f"the {counted(kept, 'kept document')}" if documents == kept else f"a sample of {documents:,} of {counted(kept, 'kept document')}"
    repeats = "repeat" if missed > 1 else "repeats"
    if audit["low"] is None or audit["low"] < audit["high"]:
        # "found to" is added, because an audit of a sample, whose interval is not empty, need not find all missed
        # duplicates.
        repeats = f"{'were' if missed > 1 else 'was'} found to repeat"
    repeat = f"{f'{missed:,}' if missed else 'none'} of {of} {repeats} another one"
    if kept == 0:
        repeat = "no kept document has a text"
    elif kept == 1:
        repeat = f"the only kept document {'repeats another one' if missed else 'is not a missed duplicate'}"
    if audit["recall"] is None:
        return f"not measured, because none was removed and {repeat}{'' if documents == kept else MORE}"
    ends = interval(audit["low"], audit["high"])
    more = MORE if audit["high"] - audit["low"] > WIDE and documents < kept else ""
    return f"{probability(audit['recall'])} measured{f' ({ends})' if ends else ''}: {repeat}{more}"


def recall(of: Summary) -> str:
    """Formats the measured recall.

    If no recall was measured, adds the probability of finding a pair at the threshold.
    """
    audit = of.audit
    if audit is not None and audit["recall"] is not None:
        return measured(audit)
    if audit is not None and 2 < audit["documents"] == audit["kept"]:
        # The audit can only raise the probability, so that of the job is a lower bound.
        found = lower_bound(of.found_at_threshold)
        none = f"no near-duplicate was found; an audit of all {counted(audit['kept'], 'document')} found none either"
        return f"{none}; a pair of similarity {of.threshold:g} is found with a probability of at least {found}"
    found = probability(of.found_at_threshold)
    return f"{measured(audit)}; a pair of similarity {of.threshold:g} is found with a probability of {found}"


def unit(spec: str) -> str:
    """Returns the noun for the unit of shingles: character, term or word."""
    return {"chars": "character", "terms": "term"}.get(spec.split(" / ")[1].split(":")[0], "word") if " / " in spec else "word"


def show(of: Summary, seconds: float, outputs: dict[str, str], is_annotated: bool = False) -> str:
    """Formats the summary as lines of text, with the details last.

    `outputs` are the paths that the job wrote, by name.
    """
    read = counted(of.read, "record" if of.rejected else "document")
    if of.nulls:
        read += f"; {of.nulls:,} with a null text"
    if of.without_shingles:
        read += f"; {of.without_shingles:,} without {unit(of.spec)}s"
    lines = [("read", read)]
    if of.reference:
        lines.append(("reference", counted(of.reference, "document")))
    kept, removed = (documents_of(number, of.read) for number in (of.kept, of.removed))
    if of.removed:
        removed += f" in {counted(of.clusters, 'cluster')}"
        if of.removed_equal:
            removed += f"; {of.removed_equal:,} of them equal after normalisation"
    lines += [("marked", removed), ("unmarked", kept)] if is_annotated else [("kept", kept), ("removed", removed)]
    if of.spared:
        large = counted(of.large_clusters, "cluster") + (" has" if of.large_clusters == 1 else " have")
        most = counted(of.max_cluster or 0, "document")
        lines.append(("spared", f"{counted(of.spared, 'document')}, because {large} more than {most} (`--max-cluster`)"))
    lines += [("rejected", counted(of.rejected, "record")), ("compared", compared(of)), ("recall", recall(of))]
    nouns = {"output": counted(of.kept, "kept document"), "removed": counted(of.removed, "removed document")}
    if is_annotated:
        nouns["output"] = counted(of.kept + of.removed, "annotated document")
    lines += [("wrote", f"{nouns.get(name, f'the {name}')} to `{path}`") for name, path in outputs.items()]
    rate = f" ({int(of.read / seconds):,} documents/s)" if of.read and seconds > 0 else ""
    lines.append(("time", f"{seconds:.2f} s{rate}"))
    details = [
        ("spec", of.spec),
        ("settings", f"keep {of.keep}, cluster {of.cluster}"),
        ("candidates", f"{counted(of.bands, 'band')} of {counted(of.rows, 'row')}"),
        ("rounds", f"{of.rounds:,}; the largest shelf has {counted(of.largest_shelf, 'document')}"),
    ]
    out, before = [], ""
    for name, text in lines:
        # A line with the same label as the line before gets no label.
        out.append(f"{'' if name == before else name:{NAMES}}{text}")
        before = name
    return "\n".join([*out, "", "Details", *(f"{name:{NAMES}}{text}" for name, text in details)])
