"""A program that differs, made small while it differs in the same way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from against_jax.programs import Program


def minimised(
    program: Program, differs: Callable[[Program], bool], most: int = 12
) -> Program:
    """The smallest program found, in a bounded number of tries, that still differs."""
    tries = 0
    progress = True
    while progress:
        progress = False
        for candidate in simpler(program):
            tries += 1
            if tries > most:
                return program
            if differs(candidate):
                program, progress = candidate, True
                break
    return program


def simpler(program: Program) -> Iterator[Program]:
    """Programs with one thing less each, those that drop most first."""
    if program.around:
        yield replace(program, around="")
    for count in range(1, len(program.lines)):
        yield replace(program, lines=program.lines[:count])
    if len(program.lines) > 1 and program.inputs:
        rest = program.lines[1:]
        if program.lines[0] != "x0":
            yield replace(program, lines=("x0", *rest))
    yield from _without_unused(program)
    for place, line in enumerate(program.lines):
        for shorter in _without_keywords(line):
            lines = (*program.lines[:place], shorter, *program.lines[place + 1 :])
            yield replace(program, lines=lines)
    if program.wide:
        yield replace(program, wide=False)
    for place, value in enumerate(program.inputs):
        for plain in value.simpler():
            inputs = (*program.inputs[:place], plain, *program.inputs[place + 1 :])
            yield replace(program, inputs=inputs)


def _without_unused(program: Program) -> Iterator[Program]:
    """The last inputs are dropped where nothing reads them."""
    if program.around or not program.inputs:
        return
    last = f"x{len(program.inputs) - 1}"
    names = {
        n.id
        for line in program.lines
        for n in ast.walk(ast.parse(line))
        if isinstance(n, ast.Name)
    }
    if last not in names:
        yield replace(program, inputs=program.inputs[:-1])


def _without_keywords(line: str) -> Iterator[str]:
    tree = ast.parse(line, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            keywords = node.keywords
            for place in range(len(keywords)):
                node.keywords = keywords[:place] + keywords[place + 1 :]
                yield ast.unparse(tree)
            node.keywords = keywords
