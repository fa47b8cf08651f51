"""One child process and its pipes. Serves: every table"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

_CHUNK = 1 << 16
# Of what an implementation prints, only the end is kept, to tell why it ended.
_KEPT = 2000
_PATIENCE = 2.0
_BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from traceir.conform.processes.worker import main
main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
"""


class Child:
    """A process that judges; it gets names of cases and answers with lines."""

    def __init__(self, spec: str, deadline: float) -> None:
        self.deadline = deadline
        self.ready = False
        self.case: str | None = None
        self.problem = ""
        self.said = b""
        self.printed = b""
        names, self.names = os.pipe()
        self.verdicts, verdicts = os.pipe()
        self.output, output = os.pipe()
        os.set_blocking(self.output, False)
        self.open = {self.names, self.verdicts, self.output}
        path = json.dumps(sys.path)  # what can be imported here can be there
        self.process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, path, spec, str(names), str(verdicts)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(names, verdicts),
            # Apart from the terminal: an interrupt is the runner's to handle. And a
            # group of its own, so that what it starts ends with it.
            start_new_session=True,
        )
        for descriptor in (names, verdicts, output):
            os.close(descriptor)

    def give(self, case: str, deadline: float) -> None:
        """Hand over the next case."""
        self.case, self.deadline = case, deadline
        with suppress(BrokenPipeError):  # then reading tells that it is gone
            os.write(self.names, case.encode() + b"\n")

    def read(self) -> list[bytes] | None:
        """The lines that it wrote, None at the end."""
        found = os.read(self.verdicts, _CHUNK)
        *lines, self.said = (self.said + found).split(b"\n")
        return lines if found else None

    def listen(self) -> bool:
        """Take the child's output; false at its end."""
        with suppress(BlockingIOError):
            found = os.read(self.output, _CHUNK)
            self.printed = (self.printed + found)[-_KEPT:]
            return bool(found)
        return True

    def end(self) -> str:
        """End the process; return how it ended, and the last line that it printed."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_PATIENCE)
        before = None
        while before != self.printed:
            before = self.printed
            self.listen()
        how = _how(self.process.returncode)
        lines = self.printed.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{how}; it last printed: {last[:300]}" if last else how

    def stop(self, patient: bool) -> None:
        """End it and the processes that it started."""
        for descriptor in (self.names, self.verdicts, self.output):
            if descriptor in self.open:
                self.open.remove(descriptor)
                os.close(descriptor)
        if patient:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_PATIENCE)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _how(status: int | None) -> str:
    if status is None:
        return "the process closed the pipe of the runner"
    if status >= 0:
        return f"the process ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process ended by {name}"
