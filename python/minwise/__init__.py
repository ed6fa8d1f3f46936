"""Near-duplicate documents, found fast, verified exactly and explained.

>>> import minwise
>>> result = minwise.dedup(["To be or not to be", "To be, or not to be!", "That is the question"])
>>> result.kept
['To be or not to be', 'That is the question']
"""

from ._adapters import Stream
from ._errors import (
    Cancelled,
    IndexDamaged,
    InputError,
    MinwiseError,
    MinwiseWarning,
    RejectedRecords,
    SettingError,
    SpecMismatch,
)
from ._index import Added, Index, Match, SharedPassage
from ._minwise import VERSION as __version__
from ._minwise import Comparison, Estimate, Lsh, Passage, Sketches, Spec
from ._results import (
    Cluster,
    Decision,
    Decisions,
    Dedup,
    Estimates,
    Pair,
    Pairs,
    Plan,
    Reject,
    Summary,
)
from ._runs import compare, dedup, dedup_files, pairs, plan

__all__ = [
    "Added",
    "Cancelled",
    "Cluster",
    "Comparison",
    "Decision",
    "Decisions",
    "Dedup",
    "Estimate",
    "Estimates",
    "Index",
    "IndexDamaged",
    "InputError",
    "Lsh",
    "Match",
    "MinwiseError",
    "MinwiseWarning",
    "Pair",
    "Pairs",
    "Passage",
    "Plan",
    "Reject",
    "RejectedRecords",
    "SettingError",
    "SharedPassage",
    "Sketches",
    "Spec",
    "SpecMismatch",
    "Stream",
    "Summary",
    "__version__",
    "compare",
    "dedup",
    "dedup_files",
    "pairs",
    "plan",
]
