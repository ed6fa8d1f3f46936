"""Deduplication on a cluster: the decisions of `minwise dedup`, computed by Spark.

Install `minwise[spark]` on the driver and on every executor. The job uses only DataFrame calls that Spark Connect has, so it runs on
classic Spark, on Connect servers and on Sail.

    import minwise.spark

    result = minwise.spark.dedup(df, text="text", order_by=["path", "row"], work="s3://bucket/work")
    result.kept.write.parquet("s3://bucket/cleaned")
"""

from ._files import FilesResult, dedup_files
from ._job import dedup, pairs, sketch
from ._results import Result
from ._summary import Summary

__all__ = ["FilesResult", "Result", "Summary", "dedup", "dedup_files", "pairs", "sketch"]
