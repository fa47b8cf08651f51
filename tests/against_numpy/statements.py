"""The statements of drawn programs: views, copies, writes, loops."""

from __future__ import annotations

from typing import Any

from against_numpy.programs import Draw


def _templates(text: str) -> tuple[str, ...]:
    """The templates of a text, several on a line; the likelier ones stand twice."""
    return tuple(
        part for line in text.split("\n") for part in line.split(" | ") if part
    )


# From an array `a` to a view, or to a copy where NumPy gives one.
VIEWS = _templates("""
{a}.T | {a}.T | {a}.view() | {a}[...] | {a}[None] | {a}.squeeze() | {a}.ravel()
{a}.ravel() | {a}.ravel('F') | {a}.ravel('K') | {a}.reshape(-1)
{a}.reshape({shape}) | {a}.reshape({shape}) | np.reshape({a}, {shape})
{a}.reshape({shape}, order='F') | np.reshape({a}, {shape}, order='A')
np.swapaxes({a}, 0, -1) | np.moveaxis({a}, 0, -1) | np.moveaxis({a}, -1, 0)
np.transpose({a}) | np.permute_dims({a}) | np.matrix_transpose({a})
np.rollaxis({a}, -1) | np.expand_dims({a}, {k}) | np.squeeze({a}) | np.flip({a})
np.flip({a}, 0) | np.fliplr({a}) | np.flipud({a}) | np.rot90({a})
np.rot90({a}, {k}) | np.split({a}, [{k}])[-1] | np.array_split({a}, 2, -1)[0]
np.hsplit({a}, 1)[0] | np.unstack({a})[0] | np.vsplit({a}, 1)[0]
np.broadcast_to({a}, (2, *{a}.shape)) | np.broadcast_arrays({a}, {b})[0]
np.atleast_1d({a}) | np.atleast_2d({a}) | np.atleast_3d({a}) | np.diagonal({a})
{a}.diagonal({k}) | np.diag({a}) | np.einsum('ii->i', {a})
np.einsum('ij->ji', {a}) | np.einsum('i...->...i', {a}) | {a}.real | {a}.imag
np.real({a}) | np.imag({a}) | np.asarray({a}) | np.asarray({a}, {dtype!r})
np.asarray({a}, order='F') | np.asanyarray({a}) | np.array({a}, copy=None)
np.array({a}, copy=None, ndmin=3) | {a}.astype({dtype!r}, copy=False)
{a}.astype({a}.dtype, copy=False) | {a}.astype({a}.dtype, order='F', copy=False)
np.ascontiguousarray({a}) | np.asfortranarray({a})
np.require({a}, requirements=['C']) | np.nan_to_num({a}, copy=False) | {a}.conj()
{a}.swapaxes(0, -1) | np.meshgrid({a}, {b}, copy=False)[0] | np.ix_({a})[0]
np.lib.stride_tricks.sliding_window_view({a}, {k}, 0)
np.lib.stride_tricks.sliding_window_view({a}, {k}, -1, writeable=True)
np.lib.stride_tricks.as_strided({a}, ({k},), ({a}.strides[-1],)) | list({a})[-1]
[row for row in {a}][0] | next(iter({a}))
""")
# What has memory of its own.
COPIES = _templates("""
{a}.copy() | {a}.copy('F') | {a}.copy('K') | np.copy({a}) | {a}.flatten()
{a} + {b} | {a} * 2 | {a} - {c} | -{a} | {a} + {a}.T | np.where({a} > 2, {a}, {c})
np.maximum({a}, {b}) | np.sort({a}, 0) | np.roll({a}, 1, 0) | np.cumsum({a}, 0)
np.concatenate([{a}, {a}]) | np.stack([{a}, {a}], -1) | {a}.sum(0) | {a}.max(-1)
np.zeros_like({a}) | np.ones_like({a}) | np.zeros({a}.shape) | np.arange({n}.0)
np.zeros({a}.shape, order='F') | np.tile({a}, 2) | np.repeat({a}, 2, 0)
np.arange({n}).reshape(-1, 2) | np.array([{c}, 2.0, 3.0]) | np.eye({k})
{a}.astype('float64') | np.array({a}) | np.clip({a}, 1, 4) | np.abs({a})
np.flatten({a}) | np.outer({a}, {a}) | np.pad({a}, 1) | np.tril({a}) | {a}.mean(0)
np.add.accumulate({a}, -1) | np.diff({a}) | {a}.take([0, -1], 0)
TABLE[p] * {a} | TABLE[{a}.astype(int) % 6] | GRID[p] + {c} | GRID[:, q] * 2
np.take(TABLE, [p, q]) | np.asarray(GRID)[{a}.astype(int) % 3, p] | GRID.copy()
""")
# What is written, to the whole of an array `a` or to a part.
WRITES = _templates("""
{a}[{i}] = {c} | {a}[{i}] = {c} | {a}[{i}] += {c} | {a}[{i}] *= {c} | {a}[{i}] = {b}
{a}[{i}] = {b}[{j}] | {a}[{i}] += {b}[{j}] | {a} += {b} | {a}[...] = {b}
{a}[:] = {b} | {a} += {c} | {a} *= {c} | {a} -= {b} | {a}[1:] += {a}[:-1]
{a}[:-1] -= {a}[1:] | {a}[:] = {a}[::-1] | {a} += {a}[::-1] | {a}[...] = {a}.T
{a} += {a}.T | {a}.T[...] = {a} | {a}.T[0] = {c} | {a}[{a} > {c}] = {c}
{a}[{a} > {c}] += 1 | {a}[{b} > 2] = {c} | {a}[{f}] = {c} | {a}[{f}] += 1
{a}[[0, -1]] = {a}[[-1, 0]] | {a}[:, [0, -1]] = {a}[:, [-1, 0]] | {a}.fill({c})
{a}.sort() | {a}.sort(0) | {a}.flat[{k}] = {c} | {a}.flat[::2] = {c}
{a}.flat = [1, 2] | np.fill_diagonal({a}, {c}) | np.put({a}, [0, -1], [{c}, 2])
np.putmask({a}, {a} > 2, {c}) | np.copyto({a}, {b})
np.copyto({a}, {c}, where={a} > 1) | np.add({a}, {b}, out={a})
np.add({a}, {c}, out={b}) | np.multiply({a}, 2, {b})
np.subtract({a}[1:], {a}[:-1], out={a}[1:]) | np.negative({a}, out={a}[::-1])
np.cumsum({a}, 0, out={a}) | np.clip({a}, 1, 3, out={a})
np.add.at({a}, [0, 0], {c}) | {a}.real[{i}] = {c} | {a}.imag = {c} | {a}.real += {c}
{a}[0], {a}[-1] = {a}[-1], {a}[0] | {a}.reshape(-1)[{k}] = {c}
{a}.ravel()[{k}] = {c} | {a}.T.ravel()[0] = {c}
np.maximum({a}, {c}, where={a} > 1, out={a}) | {a}[()] = {c} | {a}[None] += {c}
np.sum({a}, 0, out={s}) | {a} //= 2 | {a} @= {b} | np.place({a}, {a} > 9, {c})
np.put_along_axis({a}, np.zeros_like({a}[:1], int), {c}, 0) | {a}[{i}] = [{c}]
{a}[p] += {c} | {a}[q] = {a}[p] | {a}[p][{k}] = {c} | {a}[:, q] *= {c}
{a}[[p, q]] = {c} | {a}[p, q] = {c} | {a}[p].fill({c}) | {a}[p].sort()
np.nan_to_num({a}, copy=False) | {a} **= 2 | {a}[{i}] = {a}[{i}] * 2 + {c}
""")
# With these NumPy reads what is no element of a small array.
OUTSIDE = ("as_strided", "'ii->i'")
BLOCKS = (
    "for k in range({k}):\n    {w}",
    "for k in range(len({a})):\n    {a}[k] += k",
    "for k in range(1, len({a})):\n    {a}[k] = {a}[k - 1] + {a}[k]",
    "for row in {a}:\n    row += {c}",
    "for row in {a}.T:\n    row[{i}] = {c}",
    "for k, row in enumerate({a}):\n    row *= k\n    {w}",
    "for one, other in zip({a}, {b}):\n    one += other",
    "if {a}.ndim > 1:\n    {w}",
    "if {a}.shape == {b}.shape:\n    {w}\nelse:\n    {u}",
    "if {a}.flags.c_contiguous:\n    {w}",
    "if np.shares_memory({a}, {b}):\n    {w}",
    "def change(p):\n    p[{i}] = {c}\n    return p[1:]\n{n1} = change({a})",
    "k = 0\nwhile k < {k}:\n    {w}\n    k += 1",
    "with np.errstate(all='ignore'):\n    {w}",
    "{n1}, {n2} = {a}, {b}",
    "{a}, {b} = {b}, {a}",
    "{n1} = {n2} = {a}[{i}]",
)


def statement(draw: Draw) -> str:
    """One statement; NumPy may refuse it."""
    chance = draw.random.random()
    if chance < 0.4:
        return f"{draw.new()} = {view(draw)}"
    if chance < 0.5:
        return f"{draw.new()} = {filled(draw, draw.one(*COPIES))}"
    if chance < 0.9:
        return write(draw)
    return block(draw)


def view(draw: Draw) -> str:
    """A view by an index, or by a function."""
    if draw.random.random() < 0.4:
        return filled(draw, draw.one("{a}[{i}]", "{a}[{i}]", "{a}[{i}]", "{a}[{f}]"))
    return filled(draw, draw.one(*VIEWS))


def write(draw: Draw) -> str:
    """An update of an array."""
    return filled(draw, draw.one(*WRITES))


def block(draw: Draw) -> str:
    """Statements within others."""
    text = draw.one(*BLOCKS)
    text = text.replace("{w}", write(draw).replace("\n", "\n    "))
    return filled(draw, text.replace("{u}", write(draw)))


def filled(draw: Draw, text: str) -> str:
    """A statement with arrays, indices and numbers in the place of letters."""
    if "{" not in text:
        return text
    name = draw.array()
    value = draw.names[name]
    shape = value.shape
    if any(word in text for word in OUTSIDE) and min(shape, default=0) < 3:
        raise LookupError
    alike = draw.random.random() < 0.7
    other = draw.array(lambda v: not alike or v.shape == shape or v.size == 1)
    parts: dict[str, Any] = {
        "a": name,
        "b": other,
        "k": draw.number(1, 3),
        "n": draw.one(2, 4, 6),
        "c": draw.constant(value.dtype),
        "dtype": draw.one("float64", "int64", "float32"),
    }
    if "{s}" in text:
        parts["s"] = draw.array(lambda v: v.dtype == value.dtype)
    # NumPy 2.4 reads other elements where those of float32 are apart, in place.
    if "negative" in text and value.dtype.name == "float32":
        raise LookupError
    if "{i}" in text:
        parts["i"] = draw.index(value)
    if "{j}" in text:
        parts["j"] = draw.index(draw.names[other])
    if "{f}" in text:
        parts["f"] = draw.fancy(value) if value.ndim and value.size else "[]"
    if "{shape" in text:
        parts["shape"] = draw.shape(value)
    for fresh in ("n1", "n2"):
        if f"{{{fresh}}}" in text:
            parts[fresh] = draw.new()
    return text.format(**parts)
