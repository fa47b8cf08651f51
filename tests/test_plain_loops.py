"""Functions with loops and branches run as they are. Rules: face.*, update.*"""

from __future__ import annotations

import pytest
from plain.compare import agrees
from plain.loops import (
    automata,
    bodies,
    chance,
    dynamic,
    fractals,
    graphs,
    hashing,
    images,
    number_theory,
    products,
    solvers,
    sorting,
    sparse,
    stencils,
    summaries,
)
from plain.loops.program import Program

MODULES = (
    *(automata, bodies, chance, dynamic, fractals, graphs, hashing, images),
    *(number_theory, products, solvers, sorting, sparse, stencils, summaries),
)
# Those that ask for what is still on its way.
WAITING = (
    "automata.elementary",
    "bodies.leapfrog",
    "chance.random_walk",
    "chance.integrate_rows",
    "chance.metropolis",
    "dynamic.knapsack",
    "fractals.julia",
    "fractals.newton_basins",
    "graphs.bellman_ford",
    "graphs.components",
    "hashing.hash_table",
    "images.resize",
    "number_theory.sieve",
    "number_theory.collatz_lengths",
    "number_theory.totients",
    "sparse.csr_times_vector",
    "sparse.coo_to_dense",
    "sparse.csr_transpose",
    "stencils.wave_string",
    "summaries.kmeans",
    "summaries.running_median",
    "summaries.histogram_2d",
)
PROGRAMS = [
    program
    for module in MODULES
    for program in module.PROGRAMS
    if str(program) not in WAITING
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_function_with_loops_does_what_numpy_does(program: Program) -> None:
    agrees(program.function, program.arguments(*program.small))
