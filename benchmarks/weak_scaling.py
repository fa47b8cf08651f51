"""Weak scaling over many machines, by a model: `python -m benchmarks.weak_scaling`.

Nothing is measured here. Each process has as much to do however many there are, and
what they tell one another takes the time that a few numbers say: those of one machine
are measured (`collectives.json`, and what is cited below), those of networks assumed.

A message of b bytes takes a latency and b over a rate, of memory within a machine and
of the network between two; the processes of a machine share its network and its memory.
A collective takes, beyond its messages, what Python does around it. An exchange is a
message to each of the others. `psum` of a small array is one of all of it; of a large
one two, of the share that each process adds (`traceir.ranks.exchanges.folded`).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from traceir.transforms.batching.rank_collectives import GATHERED_BYTES

RECORD = Path(__file__).with_name("collectives.json")
COUNTS = (1, 2, 4, 8, 16, 32, 64)
# A step of the MLP of `docs/howto/cluster.py` takes 0.18 s for 40,000 rows, alone.
ROW = 0.18 / 40_000
# A copy of 80 MB by one thread, both ways together: `results.json`, "a * 2 + 1, 10^7".
MEMORY = 10.9e9
# The bytes of what that step sums: the loss, and the slopes of weights and biases.
LEAVES = (4, 64 * 256 * 4, 256 * 4, 256 * 256 * 4, 256 * 4, 256 * 4, 4)
BLOCK = 4 << 20


@dataclass(frozen=True)
class Link:
    """A way from process to process: seconds for a message, and bytes a second."""

    latency: float
    rate: float

    def seconds(self, size: float) -> float:
        """The time of a message."""
        return self.latency + size / self.rate


# Assumed: figures of the order that vendors give, of no network that was tried.
NETWORKS = {
    "A network of 10 Gb/s and 25 µs": Link(25e-6, 1.25e9),
    "A network of 100 Gb/s and 2 µs": Link(2e-6, 12.5e9),
}


@dataclass(frozen=True)
class Cluster:
    """Machines that are alike, with so many processes on each."""

    network: Link
    near: Link
    call: float  # the seconds that a collective takes beyond its messages
    memory: float = MEMORY
    each: int = 2

    def message(self, count: int, size: float) -> float:
        """All processes send to the next: as slow as the slowest way."""
        ways = [self.near] if count <= self.each else [self.near, self.network]
        return max(way.seconds(size) for way in ways)

    def exchange(self, count: int, size: float) -> float:
        """Each process sends so many bytes to each of the others."""
        near = min(count, self.each) - 1
        shared = replace(self.network, rate=self.network.rate / self.each)
        far = count - 1 - near
        return near * self.near.seconds(size) + far * shared.seconds(size)

    def moved(self, size: float) -> float:
        """The seconds in which a process reads and writes so many bytes."""
        return size * self.each / self.memory

    def psum(self, count: int, size: float) -> float:
        """A sum over all processes of an array of so many bytes in each."""
        if count == 1:
            return 0.0
        if size < GATHERED_BYTES:
            return self.call + self.exchange(count, size) + self.moved(count * size)
        share = size / count
        return self.call + 2 * self.exchange(count, share) + self.moved(size + share)

    def training(self, count: int, rows: int) -> float:
        """A step of data-parallel training, with so many rows in each process."""
        return rows * ROW + sum(self.psum(count, size) for size in LEAVES)

    def ring(self, count: int, size: float = BLOCK) -> float:
        """A sum that goes round a ring, block by block."""
        step = self.call + self.message(count, size) + self.moved(3 * size)
        return (count - 1) * step

    def two_rounds(self, count: int, size: float = BLOCK) -> float:
        """The same by shares: one round adds them up, another passes them on."""
        share = size / count
        passed = self.call + self.message(count, share)
        return (count - 1) * (2 * passed + self.moved(3 * share))


def recorded() -> dict[str, dict[str, list[float]]]:
    """Seconds of each collective by bytes in a process: ours, and a bare call."""
    found = json.loads(RECORD.read_text(encoding="utf-8"))
    seconds: dict[str, dict[str, list[float]]] = found["seconds"]
    return seconds


def cluster(network: Link, each: int = 2) -> Cluster:
    """A cluster of machines like the one that was measured."""
    rows = recorded()
    call = median(own - bare for own, bare in (row["4"] for row in rows.values()))
    latency = rows["ppermute"]["4"][1]
    near = Link(latency, BLOCK / (rows["ppermute"][str(BLOCK)][1] - latency))
    return Cluster(network, near, call, each=each)


def shown(seconds: float) -> str:
    """Seconds, in milliseconds of three digits."""
    return f"{seconds * 1e3:.3g} ms" if seconds else "–"


def figure(seconds: float) -> str:
    """A time that was measured, as the page has it.

    >>> figure(304e-6), figure(1.9e-3), figure(31e-3)
    ('304 µs', '1.9 ms', '31 ms')
    """
    return f"{seconds * 1e6:.0f} µs" if seconds < 5e-4 else f"{seconds * 1e3:.2g} ms"


def cells(count: int, one: Cluster) -> list[str]:
    """The figures of a number of processes, as the page shows them."""
    found = [str(count)]
    for rows in 1_000, 10_000:
        seconds = one.training(count, rows)
        found.append(f"{shown(seconds)}, {one.training(1, rows) / seconds:.0%}")
    sums = one.ring(count), one.two_rounds(count), one.psum(count, BLOCK)
    return [*found, *map(shown, sums)]


def table(name: str, one: Cluster) -> str:
    """The table of the page for a network: a row for each number of processes."""
    titles = ["processes", "1,000 rows", "10,000 rows", "ring", "two rounds", "psum"]
    lines = [f".. list-table:: {name}", "   :header-rows: 1", ""]
    for row in (titles, *[cells(count, one) for count in COUNTS]):
        lines += [f"   {'-' if k else '* -'} {cell}" for k, cell in enumerate(row)]
    return "\n".join(lines).replace("   - ", "     - ")


def tables(each: int = 2) -> str:
    """The tables of the page, for so many processes on a machine."""
    made = [table(name, cluster(link, each)) for name, link in NETWORKS.items()]
    return "\n\n".join(made)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=2, help="processes on a machine")
    print(tables(parser.parse_args().each))


if __name__ == "__main__":
    main()
