"""The models of many processes and threads: the page has their figures and inputs."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import cores, weak_scaling
from benchmarks.weak_scaling import (
    BLOCK,
    COUNTS,
    LEAVES,
    NETWORKS,
    ROW,
    cluster,
    figure,
    recorded,
    tables,
)

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "measurements.rst").read_text(encoding="utf-8")
FAST = cluster(NETWORKS["A network of 100 Gb/s and 2 µs"])


def test_the_tables_are_those_that_the_command_prints() -> None:
    assert tables() in PAGE
    assert tables(each=8) not in PAGE


def test_what_was_measured_is_what_was_recorded() -> None:
    seconds = recorded()
    for size in seconds["psum"]:
        cells = [", ".join(map(figure, row[size])) for row in seconds.values()]
        row = f"{int(size):,}  {'  '.join(cells)}"
        assert re.sub(r" +", " ", row) in re.sub(r" +", " ", PAGE)


def test_the_inputs_stand_where_they_were_measured() -> None:
    page = (DOCS / "howto" / "processes.rst").read_text(encoding="utf-8")
    assert re.search(r"no cluster +0\.18 s, 0\.19 s +0\.18 s", page)
    assert "40,000 rows" in page and ROW == 0.18 / 40_000
    assert f"{weak_scaling.MEMORY / 1e9:.1f} GB/s" in PAGE
    assert f"{round(FAST.call * 1e6)} µs beyond" in PAGE
    assert f"{sum(LEAVES) / 1e3:.0f} KB" in PAGE
    by_model = [FAST.psum(2, size) for size in (1 << 18, BLOCK)]
    assert [figure(t) in PAGE for t in by_model] == [True, True]


def test_a_sum_comes_near_twice_the_block_over_the_rate() -> None:
    assert FAST.training(1, 1_000) == 1_000 * ROW
    assert FAST.ring(1) == FAST.two_rounds(1) == FAST.psum(1, BLOCK) == 0
    for sums in FAST.ring, FAST.two_rounds, lambda n: FAST.psum(n, BLOCK):
        times = [sums(count) for count in COUNTS]
        assert times == sorted(times)
    slow = NETWORKS["A network of 10 Gb/s and 25 µs"]
    least = 2 * BLOCK * 2 / slow.rate  # the two processes of a machine share it
    assert least < cluster(slow).psum(64, BLOCK) < 1.5 * least


def test_the_table_of_threads_is_that_of_the_command() -> None:
    rows = [*cores.modelled()]
    assert cores.table(["a launch of", *map(str, cores.COUNTS)], iter(rows)) in PAGE
    before = [1e-4 / cores.launch(1e-4, n, cores.FED, limited=False) for n in (32, 64)]
    assert "0.7 times as fast as one thread with 32, 0.4 with 64" in PAGE
    assert [f"{speed:.1f}" for speed in before] == ["0.7", "0.4"]
