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
PROGRAMS = [program for module in MODULES for program in module.PROGRAMS]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_function_with_loops_does_what_numpy_does(program: Program) -> None:
    agrees(program.function, program.arguments(*program.small))
