"""The summary of a job in lines for people, in the words of the command: first what everybody asks for, then "Details"."""

from __future__ import annotations

from typing import Any

from .._minwise import interval, percent, probability

#: Columns of the names of lines, as in the command.
NAMES = 12
#: An interval that is wider than this says little about the recall, as in the command.
WIDE = 0.1
#: The way to a narrower one.
MORE = " (`--audit N` compares more)"


def counted(number: int, noun: str) -> str:
    """A number and a noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def documents_of(documents: int, read: int) -> str:
    """Documents with their share of all that were read."""
    return counted(documents, "document") + (f" ({percent(documents, read)})" if read else "")


def compared(counts: dict[str, Any]) -> str:
    """What became of the candidate pairs."""
    pairs, exactly, similar = counts["asked"], counts["screened"], counts["similar"]
    if pairs == 0:
        return "0 candidate pairs"
    parts = []
    if pairs > exactly:
        whose = "its" if pairs - exactly == 1 else "their"
        parts.append(f"{pairs - exactly:,} ruled out by {whose} sketches")
    parts.append(f"{exactly:,} compared exactly")
    parts.append(f"{similar:,} {'reaches' if similar == 1 else 'reach'} {counts['threshold']:g}")
    return f"{counted(pairs, 'candidate pair')}: {', '.join(parts)}"


def measured(audit: dict[str, Any] | None) -> str:
    """The recall that an audit measured."""
    if audit is None:
        return "not measured (`--audit N` measures it)"
    kept, documents, missed = audit["kept"], audit["documents"], audit["missed"]
    of = f"the {counted(kept, 'kept document')}" if documents == kept else f"a sample of {documents:,} of {counted(kept, 'kept document')}"
    repeats = "repeat" if missed > 1 else "repeats"
    if audit["low"] is None or audit["low"] < audit["high"]:
        # A search of a sample does not find everything.
        repeats = f"{'were' if missed > 1 else 'was'} found to repeat"
    repeat = f"{f'{missed:,}' if missed else 'none'} of {of} {repeats} another one"
    if kept == 1:
        repeat = f"the kept document repeats {'another' if missed else 'no other'} one"
    if audit["recall"] is None:
        return f"not measured, because none was removed and {repeat}{'' if documents == kept else MORE}"
    ends = interval(audit["low"], audit["high"])
    more = MORE if audit["high"] - audit["low"] > WIDE else ""
    return f"{probability(audit['recall'])} measured{f' ({ends})' if ends else ''}: {repeat}{more}"


def recall(counts: dict[str, Any]) -> str:
    """The recall that was measured. If none was, the line has the probability of finding a pair at the threshold."""
    audit = counts.get("audit")
    if audit is not None and audit["recall"] is not None:
        return measured(audit)
    found = probability(counts["found_at_threshold"])
    return f"{measured(audit)}; a pair of similarity {counts['threshold']:g} is found with a probability of {found}"


def unit(spec: str) -> str:
    """The noun for what shingles are made of."""
    return {"chars": "character", "terms": "term"}.get(spec.split(" / ")[1].split(":")[0], "word") if " / " in spec else "word"


def show(counts: dict[str, Any], seconds: float, outputs: dict[str, str], is_annotated: bool = False) -> str:
    """The lines. `outputs` are the paths that the job wrote, by name."""
    read = counted(counts["read"], "record" if counts["rejected"] else "document")
    if counts["nulls"]:
        read += f"; {counts['nulls']:,} with a null text"
    if counts["without_shingles"]:
        read += f"; {counts['without_shingles']:,} without {unit(counts['spec'])}s"
    lines = [("read", read)]
    if counts["references"]:
        lines.append(("reference", counted(counts["references"], "document")))
    kept, removed = (documents_of(counts[name], counts["read"]) for name in ("kept", "removed"))
    if counts["removed"]:
        removed += f" in {counted(counts['clusters'], 'cluster')}"
        if counts["equal"]:
            removed += f"; {counts['equal']:,} of them equal after normalisation"
    lines += [("marked", removed), ("unmarked", kept)] if is_annotated else [("kept", kept), ("removed", removed)]
    if counts["spared"]:
        large, most = counted(counts["large_clusters"], "cluster"), counted(counts["max_cluster"], "document")
        lines.append(("spared", f"{counted(counts['spared'], 'document')} in {large} of more than {most} (`--max-cluster`)"))
    lines += [("rejected", counted(counts["rejected"], "record")), ("compared", compared(counts)), ("recall", recall(counts))]
    nouns = {"output": counted(counts["kept"], "kept document"), "removed": counted(counts["removed"], "removed document")}
    if is_annotated:
        nouns["output"] = counted(counts["kept"] + counts["removed"], "annotated document")
    lines += [("wrote", f"{nouns.get(name, f'the {name}')} to `{path}`") for name, path in outputs.items()]
    rate = f" ({int(counts['read'] / seconds):,} documents/s)" if counts["read"] and seconds > 0 else ""
    lines.append(("time", f"{seconds:.2f} s{rate}"))
    details = [
        ("spec", counts["spec"]),
        ("settings", f"keep {counts['keep']}, cluster {counts['cluster']}"),
        ("candidates", f"{counted(counts['bands'], 'band')} of {counted(counts['rows'], 'row')}"),
        ("rounds", f"{counts['rounds']:,}; the largest shelf has {counted(counts['largest'], 'document')}"),
    ]
    out, before = [], ""
    for name, text in lines:
        # A second line of the same name continues the first.
        out.append(f"{'' if name == before else name:{NAMES}}{text}")
        before = name
    return "\n".join([*out, "", "Details", *(f"{name:{NAMES}}{text}" for name, text in details)])
