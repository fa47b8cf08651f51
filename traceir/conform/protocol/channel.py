"""Lines to and from a command, whatever it does. Serves: every table

One request is on its way at a time. The command ends, and `CommandError` says why, when
it does not answer in time, writes what is no line, or more than a line.
"""

from __future__ import annotations

import os
import selectors
import shlex
import subprocess
import time
from contextlib import suppress

_CHUNK = 1 << 16
# The longest line; what is longer never ends.
LONGEST = 1 << 26
# Of what a command writes to its standard error only the end is kept, to tell why.
_KEPT = 2000
_PATIENCE = 2.0
_SHOWN = 80


class CommandError(Exception):
    """A command has broken the protocol: it ended, fell silent, or wrote no answer."""


class SilentCommand(CommandError):
    """A command has not answered in time."""


class Channel:
    """A command that is running, and its pipes.

    >>> channel = Channel("cat")
    >>> channel.ask(b'{"id": 1}', 10.0)
    b'{"id": 1}'
    >>> channel.end()
    """

    def __init__(self, command: str) -> None:
        try:
            self.process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except (OSError, ValueError, IndexError) as error:
            raise CommandError(f"cannot be started: {error}") from None
        pipes = (self.process.stdin, self.process.stdout, self.process.stderr)
        self.input, self.output, self.errors = (p.fileno() for p in pipes if p)
        for descriptor in (self.input, self.output, self.errors):
            os.set_blocking(descriptor, False)
        self.said = bytearray()
        self.printed = b""
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.output, selectors.EVENT_READ)
        self.selector.register(self.errors, selectors.EVENT_READ)

    def ask(self, line: bytes, limit: float) -> bytes:
        """The line that answers a line; CommandError if there is none in time."""
        if self.said:
            raise CommandError(f"wrote what nobody asked for: {_shown(self.said)}")
        deadline = time.monotonic() + limit
        left = memoryview(line + b"\n")
        self.selector.register(self.input, selectors.EVENT_WRITE)
        found: bytes | None = None
        while found is None:
            events = self.selector.select(max(0.0, deadline - time.monotonic()))
            ready = {key.fd for key, _ in events}
            if self.input in ready:
                left = self._write(left)
            if self.errors in ready:
                self._listen()
            if self.output in ready:
                found = self._read()
            if found is None and time.monotonic() >= deadline:
                raise SilentCommand(f"no answer within {limit:g} s")
        if left:
            raise CommandError(f"answered before it was asked: {_shown(found)}")
        return found

    def _write(self, left: memoryview) -> memoryview:
        """The rest of a line when the command has taken some of it."""
        try:
            left = left[os.write(self.input, left) :]
        except BlockingIOError:
            return left
        except BrokenPipeError:  # then reading tells that it is gone
            left = left[len(left) :]
        if not left:
            self.selector.unregister(self.input)
        return left

    def _read(self) -> bytes | None:
        """A line, None if it has not ended yet."""
        found = os.read(self.output, _CHUNK)
        if not found:
            raise CommandError(self._how())
        end = found.find(b"\n")
        if end < 0:
            self.said += found
            if len(self.said) > LONGEST:
                raise CommandError(f"a line of more than {LONGEST >> 20} MiB")
            return None
        line = bytes(self.said) + found[:end]
        self.said = bytearray(found[end + 1 :])
        return line

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            found = os.read(self.errors, _CHUNK)
            self.printed = (self.printed + found)[-_KEPT:]
            if not found:
                self.selector.unregister(self.errors)

    def _how(self) -> str:
        """The end of the command in words: how, in which line, what it last wrote."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_PATIENCE)
        if self.errors in self.selector.get_map():
            self._listen()
        status = self.process.returncode
        how = "closed its output" if status is None else f"ended with status {status}"
        if self.said:
            how = f"{how} within a line: {_shown(self.said)}"
        lines = self.printed.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{how}; it last wrote: {last[:300]}" if last else how

    def end(self, patience: float = 0.0) -> None:
        """End the command, which may take its time to do so itself."""
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        if patience:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
        self.process.kill()
        self.process.wait()
        self.selector.close()


def _shown(line: bytes | bytearray) -> str:
    text = line[:_SHOWN].decode(errors="backslashreplace")
    return f"{text}..." if len(line) > _SHOWN else text
