"""Processes that fail at random moments: `make mpi-faults`.

First all programs are run in one, two and four processes, and their bits compared. Then
one of four processes is killed, so many times; then one is slow, runs another program,
finds no memory, raises, or leaves. Printed is a line for each kind: how often the run
ended with one error, the seconds from the fault to the end, and what was left.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import re
import signal
import tempfile
import time
from pathlib import Path

from processes.launched import MISSING, ended, left, start
from processes.programs import DEVICES

ENDS = 30.0  # seconds after which a run is one that hangs
# What each kind of fault is: its argument, the bound, the exit status, what is said.
KINDS = {
    "slow": ("2", "60", 0, "done"),
    "another": ("-", "60", 1, "process.programs"),
    "memory": ("-", "60", 1, "Unable to allocate"),
    "raises": ("-", "60", 1, "a fault of the user's own"),
    "leaves": ("-", "3", 1, "process.waited"),
}
TOLD = re.compile(r"^\S*(?:Error|Exception)\b.*:|exited on signal", re.MULTILINE)


def killed(seed: int) -> tuple[float, int, list[str]]:
    """Seconds from the kill to the end, how many errors were told, what was left."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        number = where / "number"
        run = start(
            4, "-m", "processes.faulty", "killed", str(number), "60", where=where
        )
        while not number.exists() or not number.read_text():
            time.sleep(0.02)
        time.sleep(random.Random(seed).uniform(0, 4))
        os.kill(int(number.read_text()), signal.SIGKILL)
        since = time.monotonic()
        status, _, err = ended(run, ENDS)
        seconds = time.monotonic() - since
        number.unlink()
        time.sleep(0.5)  # in which MPI's daemon takes its files away
        assert status != 0, err
        return seconds, len(TOLD.findall(err)), left(where)


def failed(kind: str) -> tuple[float, int, list[str]]:
    """The same of a fault of another kind; seconds are those of the whole run."""
    how, bound, wanted, said = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        where, since = Path(folder), time.monotonic()
        run = start(4, "-m", "processes.faulty", kind, how, bound, where=where)
        status, out, err = ended(run, 60 + ENDS)
        seconds = time.monotonic() - since
        time.sleep(0.5)
        assert bool(status) == bool(wanted) and said in out + err, (status, err)
        return seconds, len(TOLD.findall(err)), left(where)


def other_bits(names: tuple[str, ...], processes: int) -> str:
    """The results that have other bits in several processes than in one, counted."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for count in (1, processes):
            file = Path(folder) / str(count)
            each = str(DEVICES // count)
            command = "-m", "processes.run", str(file), each, *names
            run = start(count, *command, where=Path(folder))
            status, _, err = ended(run, 20 * ENDS)
            assert status == 0, err
            found.append(pickle.loads(file.read_bytes()))
    one, several = found
    differ = [
        f"{name}[{k}]"
        for name in one
        for k, (a, b) in enumerate(zip(one[name], several[name], strict=True))
        if a[:3] != b[:3]
    ]
    leaves = sum(map(len, one.values()))
    return f"{len(one)} programs, {leaves} results, other bits in {differ}"


def main() -> None:
    """Run all of it, and print what came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if MISSING:
        raise SystemExit(f"not here: {MISSING}")
    for processes in 2, 4:
        for names in (), ("layouts",):
            print(processes, "processes:", other_bits(names, processes))
    rows = [killed(given.seed + k) for k in range(given.kills)]
    print(
        f"killed: {len(rows)} runs, {sum(n == 1 for _, n, _ in rows)} with one error, "
        f"ended after {min(s for s, _, _ in rows):.2f} to "
        f"{max(s for s, _, _ in rows):.2f} s, left: {[x for *_, x in rows if x]}"
    )
    for kind in KINDS:
        seconds, told, found = failed(kind)
        print(f"{kind}: {told} errors, {seconds:.1f} s in all, left: {found}")


if __name__ == "__main__":
    main()
