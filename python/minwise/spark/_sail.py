"""Runs a Sail server in a process of its own. Sail is an engine that Spark Connect clients can use instead of Spark.

Sail runs the functions of tasks in the process of its server. Client and server never share a process: when they did,
answers of the server were damaged now and then ("Wire format was corrupt").
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from types import TracebackType

#: Program of the server process. The program listens on a free port and prints the port. When its standard input ends,
#: the program ends, so that it never outlives the process that started it.
PROGRAM = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""
#: Seconds to wait for the server to end before it is killed.
PATIENCE = 10


class SailServer:
    """A Sail server. The constructor starts it; `stop`, or the end of a `with` block, ends it."""

    def __init__(self) -> None:
        # The log is a file, because a pipe that nobody reads would fill up and stop the server. The file is opened for
        # appending, because both processes share its position.
        self._log = tempfile.TemporaryFile("a+b")
        words = [sys.executable, "-c", PROGRAM]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
        assert self._process.stdout is not None
        # The server prints a line when it listens. If the server fails, the stream ends and the line is empty.
        port = self._process.stdout.readline().strip()
        if not port:
            self._process.wait()
            raise RuntimeError(f"Sail does not start; is `pysail` installed?\n{self.log()}")
        #: URL for `SparkSession.builder.remote`.
        self.url: str = f"sc://127.0.0.1:{int(port)}"

    def log(self) -> str:
        """Returns the last 20,000 bytes of the server's log."""
        self._log.seek(0, 2)
        self._log.seek(max(self._log.tell() - 20_000, 0))
        return self._log.read().decode("utf-8", "replace")

    def stop(self) -> None:
        """Ends the server."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def __enter__(self) -> SailServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
