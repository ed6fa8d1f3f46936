"""A Sail server in a process of its own.

Sail runs the functions of tasks in the process of its server. In one process with the client, answers of the server were damaged now
and then ("Wire format was corrupt"), so that client and server never share a process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from types import TracebackType

#: The server takes a free port, prints it, and ends with its standard input, so that it never outlives the process that started it.
PROGRAM = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""
#: Seconds that a server gets to end.
PATIENCE = 10


class SailServer:
    """Starts a server, and ends it with the block of `with`."""

    def __init__(self) -> None:
        # A pipe that nobody reads would fill up and stop the server. Both processes share the file, so that the server appends.
        self._log = tempfile.TemporaryFile("a+b")
        words = [sys.executable, "-c", PROGRAM]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
        assert self._process.stdout is not None
        # The line comes when the server listens, and the stream ends if the server ends.
        port = self._process.stdout.readline().strip()
        if not port:
            self._process.wait()
            raise RuntimeError(f"Sail does not start; is `pysail` installed?\n{self.log()}")
        #: The address for `SparkSession.builder.remote`.
        self.url: str = f"sc://127.0.0.1:{int(port)}"

    def log(self) -> str:
        """The last 20,000 bytes that the server has logged."""
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
