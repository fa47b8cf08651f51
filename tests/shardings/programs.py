"""Functions of arrays that lie on a mesh of 4 by 2 devices, x and y.

Each has its module of JAX first; `SPECS` says of which shape its arguments are, and
along which axes they are divided ("x -": the first dimension along x; "": plain, put
nowhere; "r": replicated).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]
PROGRAMS: dict[str, tuple[Function, tuple[str, ...]]] = {}
# What a function captures.
ROWS: dict[str, Any] = {}


def program(*arguments: str) -> Callable[[Function], Function]:
    """Enter a function, with its arguments: "8,6 x -" is a shape and a spec."""

    def enter(function: Function) -> Function:
        PROGRAMS[function.__name__] = function, arguments
        return function

    return enter


def several(name: str, function: Function, *lists: tuple[str, ...]) -> None:
    """Enter a function with each of several lists of arguments."""
    for number, arguments in enumerate(lists):
        PROGRAMS[f"{name}_{number}"] = function, arguments


X, Y, XY, YX, R, PLAIN = "8,4 x -", "8,4 - y", "8,4 x y", "8,4 y x", "8,4 r", "8,4"
TWO = (X, X), (X, PLAIN), (PLAIN, XY), (X, R), (X, Y), (X, YX), (R, R), (XY, X)

several("sine", lambda jax, a: jax.numpy.sin(a) * 2, (X,), (XY,), (R,), ("8 xy",))
several("added", lambda jax, a, b: a + b, *TWO)
several(
    "row_added", lambda jax, a, b: a + b, (X, "4 r"), (X, "4"), (X, "4 y"), (X, "4 x")
)
several("chosen", lambda jax, a, b: jax.numpy.where(a > 0, a, b), (X, X), (X, PLAIN))
several("converted", lambda jax, a: a.astype("int32"), (XY,))
several("summed", lambda jax, a: a.sum(0), (X,), (XY,), (Y,))
several("summed_all", lambda jax, a: a.sum(), (XY,))
several("largest", lambda jax, a: a.max(1, keepdims=True), (XY,), (X,))
several("place_of_largest", lambda jax, a: a.argmax(0), (XY,), (X,))
several("transposed", lambda jax, a: a.T, (X,), (XY,))
several(
    "products",
    lambda jax, a, b: a @ b,
    ("8,4 x -", "4,8 - y"),
    ("8,4 x -", "4,8"),
    ("8,4 x -", "4,8 r"),
    ("8,4 x y", "4,8 y -"),
    ("8,4 - y", "4,8 y -"),
    ("8,4 x y", "4,8 x -"),
    ("8,4 x -", "4,8 - x"),
    ("8,4 x y", "4,8 x y"),
)
several(
    "batched_products",
    lambda jax, a, b: jax.numpy.einsum("bij,bjk->bik", a, b),
    ("8,4,2 x - -", "8,2,4 x - -"),
    ("8,4,2 x - -", "8,2,4 - - y"),
)
several("joined_dimensions", lambda jax, a: a.reshape(32), (X,), (Y,), (XY,))
several(
    "split_dimension",
    lambda jax, a: a.reshape(4, 2, 4),
    (X,),
    (Y,),
    ("8,4 xy -",),
    ("8,4 y -",),
)
several("one_more_dimension", lambda jax, a: a[:, None], (XY,), (X,))
several("squeezed", lambda jax, a: a[:, 0], ("8,1 x -",))
several("broadcast", lambda jax, a: jax.numpy.broadcast_to(a, (3, 8, 4)), (XY,))
several("first_columns", lambda jax, a: a[:, :2], (X,), (XY,), (Y,))
several("reversed_rows", lambda jax, a: a[::-1], (X,), (Y,))
several(
    "concatenated",
    lambda jax, a, b: jax.numpy.concatenate([a, b], 1),
    (X, X),
    (X, PLAIN),
    (Y, Y),
    (X, Y),
)
several("stacked", lambda jax, a, b: jax.numpy.stack([a, b]), (X, X), (XY, XY))
several("padded", lambda jax, a: jax.numpy.pad(a, ((0, 0), (1, 1))), (X,), (Y,), (XY,))
several("column", lambda jax, a: a[:, 1], (X,), (XY,), (Y,))
several(
    "columns_by_index",
    lambda jax, a: a[:, jax.numpy.array([0, 2])],
    (X,),
    (Y,),
)
several(
    "rows_by_index",
    lambda jax, a, k: a[k],
    (Y, "6 i"),
    (X, "6 i"),
    (PLAIN, "8 i x"),
    (Y, "8 i x"),
)
several("column_written", lambda jax, a: a.at[:, 1].set(0), (X,), (Y,))
several("slice_at", lambda jax, a: jax.lax.dynamic_slice(a, (0, 1), (8, 2)), (X,), (Y,))
several("accumulated", lambda jax, a: a.cumsum(1), (X,), (Y,))
several("sorted_rows", lambda jax, a: jax.numpy.sort(a, 1), (X,), (Y,))
several("softmax", lambda jax, a: jax.nn.softmax(a, -1), (X,), (Y,), (XY,))
several("ones", lambda jax, a: jax.numpy.ones((8, 4)), (X,))
several("constant", lambda jax, a: (a, 3.0), (X,))
several("unchanged", lambda jax, a: a, (X,), (YX,))


several("rows_cut", lambda jax, a: a[1:], (X,), ("9,4 - y",), ("8,4 y -",))
several("half_of_the_rows", lambda jax, a: a[:4], (X,), (XY,))
several("every_second_row", lambda jax, a: a[::2], (X,), (XY,))
several(
    "rows_joined",
    lambda jax, a, b: jax.numpy.concatenate([a, b]),
    (X, X),
    (X, "3,4"),
    (X, "4,4 x y"),
)
several("rows_padded", lambda jax, a: jax.numpy.pad(a, ((1, 0), (0, 0))), (X,), (XY,))
several("rolled", lambda jax, a: jax.numpy.roll(a, 1, 0), (X,), (Y,))
several("tiled", lambda jax, a: jax.numpy.tile(a, (2, 1)), (X,), (Y,))
several("repeated", lambda jax, a: jax.numpy.repeat(a, 2, 1), (X,), (Y,))
several("halves", lambda jax, a: jax.numpy.split(a, 2, 1), (X,), (Y,), (XY,))
several("of_rows", lambda jax, a: [*a[:2]], (X,), (Y,))
several("most", lambda jax, a: jax.lax.top_k(a, 2), (X,), (Y,))
several("order", lambda jax, a: jax.numpy.argsort(a, 1), (X,), (Y,))
several("factor", lambda jax, a: jax.numpy.linalg.cholesky(a), ("8,2,2 x",))
several("transform", lambda jax, a: jax.numpy.fft.fft(a).real, (X,), (Y,))
several("one_hot", lambda jax, k: jax.nn.one_hot(k, 4), ("8 i x",))
several(
    "place_in_rows",
    lambda jax, a, k: jax.numpy.take_along_axis(a, k[:, None], 1),
    (X, "8 i x"),
    (X, "8 i r"),
)
several(
    "rows_added_to",
    lambda jax, a, k, b: a.at[k].add(b),
    (Y, "6 i", "6,4 - y"),
    ("4,4 r", "8 i x", X),
    (X, "6 i", "6,4"),
)
several(
    "norm",
    lambda jax, a: (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True),
    (X,),
    (XY,),
)
several("sine_of_short_specs", lambda jax, a: jax.numpy.sin(a), ("8,4 x",))
several("of_equal_operands", lambda jax, a, b: a + b, ("8,4 x", X), (X, "8,4 x"))
several("outer", lambda jax, a, b: a[:, None] * b[None], ("8 x", "4 y"), ("8 x", "8 x"))
several("trace", lambda jax, a: jax.numpy.trace(a), ("8,8 x y",))
several("diagonal", lambda jax, a: jax.numpy.diag(a), ("8,8 x y",), ("8 x",))
several("heads", lambda jax, a: a.reshape(8, 2, 2).transpose(1, 0, 2), (X,), (XY,))
several(
    "windows",
    lambda jax, a, w: jax.lax.conv_general_dilated(a, w, (1,), "SAME"),
    ("8,2,6 x", "4,2,3 r"),
    ("8,2,6 r", "4,2,3 y"),
    ("8,2,6 x", "4,2,3 y"),
    ("8,2,6 - - y", "4,2,3 r"),
)
several("clipped", lambda jax, a: jax.numpy.clip(a, 0, 3), (XY,))
several("draws", lambda jax, a: a + jax.random.normal(jax.random.key(0), (8, 4)), (X,))


@program("8,4,6 x - -", "8,4,6 x - -", "8,4,6 x - -")
def attention(jax: Any, q: Any, k: Any, v: Any) -> Any:
    scores = jax.numpy.einsum("bqd,bkd->bqk", q, k)
    return jax.numpy.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), v)


@program("8,4,2,6 x - y", "8,4,2,6 x - y", "8,4,2,6 x - y")
def attention_of_heads(jax: Any, q: Any, k: Any, v: Any) -> Any:
    scores = jax.numpy.einsum("bqhd,bkhd->bhqk", q, k)
    return jax.numpy.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


@program("8,8 x -")
def carry_that_turns(jax: Any, a: Any) -> Any:
    return jax.lax.fori_loop(0, 2, lambda k, c: c.T, a)


@program(X)
def while_it_is_small(jax: Any, a: Any) -> Any:
    return jax.lax.while_loop(lambda c: c.sum() < 100, lambda c: c + 1, a)


@program("8,4 x -", "6,4,4 r")
def layers(jax: Any, x: Any, weights: Any) -> Any:
    def layer(x: Any, w: Any) -> Any:
        return jax.numpy.tanh(x @ w), None

    return jax.lax.scan(layer, x, weights)[0]


@program("8,4 x -", "6,4,4 - - y")
def layers_of_parts(jax: Any, x: Any, weights: Any) -> Any:
    def layer(x: Any, w: Any) -> Any:
        return jax.numpy.tanh(x @ w), x.sum()

    return jax.lax.scan(layer, x, weights)


@program(X)
def recomputed(jax: Any, a: Any) -> Any:
    return jax.grad(lambda a: jax.checkpoint(jax.numpy.sin)(a).sum())(a)


@program(X)
def constrained_in_part(jax: Any, a: Any) -> Any:
    free = jax.sharding.PartitionSpec.UNCONSTRAINED
    spec = jax.sharding.PartitionSpec(free, "y")
    return jax.lax.with_sharding_constraint(a * 2, place(jax, "r").update(spec=spec))


@program(X)
def put_within(jax: Any, a: Any) -> Any:
    return jax.device_put(a + 1, place(jax, "- y")) * 2


@program(X)
def mapped(jax: Any, a: Any) -> Any:
    spec = jax.sharding.PartitionSpec("x")
    mesh = place(jax, "r").mesh
    part = jax.shard_map(lambda p: p * 2, mesh=mesh, in_specs=spec, out_specs=spec)
    return part(a) + 1


@program(PLAIN)
def mapped_and_summed(jax: Any, a: Any) -> Any:
    spec = jax.sharding.PartitionSpec
    total = jax.shard_map(
        lambda p: jax.lax.psum(p, "x"),
        mesh=place(jax, "r").mesh,
        in_specs=spec("x", "y"),
        out_specs=spec(None, "y"),
    )
    return total(a) * 2


@program(X)
def captured(jax: Any, a: Any) -> Any:
    return jax.numpy.sin(a) + ROWS[jax.__name__]


@program(PLAIN)
def captured_alone(jax: Any, a: Any) -> Any:
    return jax.numpy.sin(a) + ROWS[jax.__name__]


@program("8,4 x -", "4,8 - y", "8 y", "8,4 y -", "4 r")
def training_step(jax: Any, x: Any, *weights: Any) -> Any:
    def loss(weights: Any) -> Any:
        w, b, v, c = weights
        return ((jax.nn.relu(x @ w + b) @ v + c) ** 2).mean()

    value, grads = jax.value_and_grad(loss)(weights)
    return value, [w - 0.1 * g for w, g in zip(weights, grads, strict=True)]


@program(X, X)
def called_within(jax: Any, a: Any, b: Any) -> Any:
    inner = jax.jit(lambda u, v: jax.numpy.exp(u) + v)
    return inner(a, b) * 2


@program(X)
def scanned(jax: Any, a: Any) -> Any:
    return jax.lax.scan(lambda c, _: (c * 2, c.sum(1)), a, None, length=3)


@program(X)
def scanned_over_rows(jax: Any, a: Any) -> Any:
    return jax.lax.scan(lambda c, row: (c + row, row * 2), jax.numpy.zeros(4), a)


@program(Y)
def scanned_over_whole_rows(jax: Any, a: Any) -> Any:
    return jax.lax.scan(lambda c, row: (c + row, row * 2), jax.numpy.zeros(4), a)


@program(X)
def looped(jax: Any, a: Any) -> Any:
    return jax.lax.fori_loop(0, 3, lambda k, c: c + 1, a)


@program(X, X)
def one_of_two(jax: Any, a: Any, b: Any) -> Any:
    return jax.lax.cond(a.sum() > 0, lambda: a * 2, lambda: b + 1)


@program(X, Y)
def one_of_two_that_disagree(jax: Any, a: Any, b: Any) -> Any:
    return jax.lax.cond(a.sum() > 0, lambda: a * 2, lambda: b + 1)


@program(X)
def constrained(jax: Any, a: Any) -> Any:
    from_rows = jax.lax.with_sharding_constraint(a * 2, place(jax, "- y"))
    return from_rows + 1


@program(X)
def constrained_to_all(jax: Any, a: Any) -> Any:
    return jax.lax.with_sharding_constraint(jax.numpy.sin(a), place(jax, "r")) * 2


@program(PLAIN)
def constrained_alone(jax: Any, a: Any) -> Any:
    return jax.lax.with_sharding_constraint(a * 2, place(jax, "x y")).sum(0)


@program("8,4 x -", "4,8", "8 ", "8,4 ", "4 ")
def perceptron(jax: Any, x: Any, w: Any, b: Any, v: Any, c: Any) -> Any:
    return jax.nn.relu(x @ w + b) @ v + c


@program("8,4 x -", "4,6 r")
def data_parallel_gradient(jax: Any, x: Any, w: Any) -> Any:
    return jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(w)


@program("8,4 x -", "4,8 - y")
def tensor_parallel_gradient(jax: Any, x: Any, w: Any) -> Any:
    return jax.grad(lambda w: ((x @ w) ** 2).sum())(w)


@program("8,4 x -", "4 r")
def examples(jax: Any, a: Any, w: Any) -> Any:
    return jax.vmap(lambda row: row @ w)(a)


@program("3,8,4")
def parts_of_examples(jax: Any, a: Any) -> Any:
    mesh, spec = place(jax, "x").mesh, jax.sharding.PartitionSpec("x")
    part = jax.shard_map(jax.numpy.sin, mesh=mesh, in_specs=spec, out_specs=spec)
    return jax.vmap(part)(a), jax.vmap(part, in_axes=1)(a[:, :3].swapaxes(0, 2))


@program("4,8,4 y -")
def examples_laid_out(jax: Any, a: Any) -> Any:
    constrained = jax.lax.with_sharding_constraint
    return jax.vmap(lambda v: constrained(v * 2, place(jax, "x")))(a)


def place(jax: Any, spec: str) -> Any:
    """The sharding over the mesh that a spec in words means."""
    kinds = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=kinds)
    axes = {"-": None, "xy": ("x", "y")}
    parts = [] if spec == "r" else [axes.get(word, word) for word in spec.split()]
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*parts))


def argument(jax: Any, text: str) -> Any:
    """An argument: its elements, put on the devices."""
    sizes, *words = text.split()
    shape = tuple(map(int, sizes.split(",")))
    count = jax.numpy.arange(float(_product(shape))).reshape(shape)
    if "i" in words:
        count = jax.numpy.arange(shape[0]) % 4
        words.remove("i")
    return jax.device_put(count, place(jax, " ".join(words))) if words else count


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total


def layouts(jax: Any, name: str) -> str:
    """The layouts of a program's results, each as a spec in words."""
    function, arguments = PROGRAMS[name]
    ROWS[jax.__name__] = argument(jax, XY)
    operands = [argument(jax, text) for text in arguments]
    results = jax.jit(lambda *a: function(jax, *a))(*operands)
    return "; ".join(words(leaf) for leaf in jax.tree.leaves(results))


def words(result: Any) -> str:
    """The layout of an array: the entries of its spec, or that it is on one device."""
    spec = getattr(result.sharding, "spec", None)
    if spec is None:
        return "one device"
    named = ["".join(e) if isinstance(e, tuple) else e or "-" for e in spec]
    return " ".join(named) or "replicated"
