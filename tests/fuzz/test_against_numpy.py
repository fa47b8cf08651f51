"""A few programs of `make against-numpy`, always the same. Rules: face.*, update.*"""

from __future__ import annotations

import pytest
from against_numpy.judge import REFUSED, WRONG, judged
from against_numpy.programs import Program, drawn, minimal
from soak import SOAK

# Programs that were wrong, or are hard: text of statements, of `x` and `y`.
KEPT = (
    ("v = x[:, ::2].ravel()", "v[0] = 9"),
    ("v = np.broadcast_to(x[0], (2, 4))", "x[0] = 7"),
    ("v = x.astype(x.dtype, copy=False)", "v[0] = 7"),
    ("x[1, 1] = np.nan", "v = np.nan_to_num(x, copy=False)", "v[0] = 1"),
    ("v, w = np.broadcast_arrays(x, y)", "x[0] = 3", "y[0] = 2"),
    ("v, w = np.meshgrid(y, y, copy=False)", "y[1] = 5"),
    ("v = np.diagonal(x)", "x[1] = 5"),
    ("v = np.einsum('ii->i', x)", "v[:] = 5"),
    ("v = np.diag(x)", "x[2, 2] = -1", "w = np.diag(y)", "y[0] = 9"),
    ("v = np.rot90(x)", "v[0, 1] = 8", "x[3] *= 2"),
    ("v, w = np.fliplr(x), np.flipud(x)", "v[0] = 1", "w[1:] += v[:-1]"),
    ("v = np.atleast_3d(y)", "v[0] = 4", "w = np.atleast_2d(x)", "w += 1"),
    ("v, w = np.unstack(x)[:2]", "v += w", "x[1] = 2"),
    ("v = np.permute_dims(x)", "v[0] = 3"),
    ("x[1:] += x[:-1]", "y += y[::-1]", "x.T[...] = x"),
    ("x.T.flat[1] = 5", "x[:, ::2].flat = [1, 2]", "np.fill_diagonal(x, 3)"),
    (
        "v = np.lib.stride_tricks.sliding_window_view(y, 2, writeable=True)",
        "v[1] = 5",
        "y[0] = 2",
    ),
    (
        "v = np.lib.stride_tricks.as_strided(y, (2, 2), (16, 8))",
        "v += 1",
        "w = v.ravel()",
        "w[0] = 9",
    ),
    ("for row in x:", "    row -= row[0]", "    row[1:] *= 2"),
    ("v = (x.T * 2).ravel()", "w = (x.T * 2).ravel('F')", "v[0] = w[0] = 1"),
    ("v = x[:, [0, 1]]", "w = v.ravel()", "w[0] = 99", "u = v.ravel('F')", "u[1] = 7"),
    ("z = x * (1 + 1j)", "z.imag[0] = 2", "v = z.real.ravel()", "v[0] = 7"),
    ("v = np.asfortranarray(x)", "v[0] = 3", "w = v.reshape(-1)", "w[0] = 4"),
)
SQUARE = "(np.arange(16) * 3 % 7).reshape((4, 4)).astype('float64')"
VECTOR = "(np.arange(4) * 3 % 7).astype('float64')"


def kept(lines: tuple[str, ...]) -> Program:
    """A program of these statements, which returns all that it names."""
    block = ("\n".join(lines),) if lines[0].endswith(":") else lines
    names = {
        name: None for line in lines for name in "vwuz" if f"{name}" in _left(line)
    }
    return Program((("x", SQUARE), ("y", VECTOR)), block, ("x", "y", *names))


def _left(line: str) -> list[str]:
    before, equals, _ = line.partition(" = ")
    return [name.strip() for name in before.split(",")] if equals else []


RUNS = [(lines, "reference") for lines in KEPT]
RUNS += [(lines, "numba") for lines in (KEPT if SOAK else KEPT[::3])]


@pytest.mark.parametrize("lines, backend", RUNS)
def test_views_are_numpys(lines: tuple[str, ...], backend: str) -> None:
    verdict = judged(kept(lines), backend)
    assert verdict.kind == "agree", verdict.what


def test_drawn_programs_are_numpys() -> None:
    count = 1500 if SOAK else 120
    verdicts = {seed: judged(drawn(seed)) for seed in range(count)}
    wrong = [
        f"# seed {s}: {v.what}\n{drawn(s)}"
        for s, v in verdicts.items()
        if v.kind == WRONG
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(v.kind == REFUSED for v in verdicts.values()) < 0.06 * count


def test_a_finding_is_made_small() -> None:
    program = kept(KEPT[0] + KEPT[1])
    small = minimal(program, lambda p: any("ravel" in s for s in p.statements))
    assert small.statements == ("v = x[:, ::2].ravel()",)
    assert small.results == ()
