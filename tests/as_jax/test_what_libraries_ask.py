"""Names that libraries import mean what these ask of them, without any library."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any, get_type_hints

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.as_jax.modules import core
from traceir.as_jax.modules.extend.source_info_util import include_frame
from traceir.as_jax.modules.interpreters import ad
from traceir.base import config
from traceir.experimental import checkify
from traceir.pytrees import flatten
from traceir.sharding import SingleDeviceSharding

STRUCT = traceir.ShapeDtypeStruct((2, 3), "float32")


class Tagged:
    """A node whose metadata has no hash."""

    def __init__(self, value: Any, tags: Any) -> None:
        self.value, self.tags = value, tags


flatten.register_pytree_node(
    Tagged, lambda node: ((node.value,), node.tags), lambda tags, v: Tagged(*v, tags)
)


def test_a_tree_with_unhashable_metadata_is_an_argument_and_a_result() -> None:
    traces = []

    @traceir.jit
    def f(node: Tagged) -> Tagged:
        traces.append(node.tags)
        return Tagged(node.value + len(node.tags["a"]), node.tags)

    for _ in range(2):
        found = f(Tagged(1.0, {"a": [1, 2], "b": np.arange(0)}))
        assert (float(found.value), found.tags["a"]) == (3.0, [1, 2])
    assert len(traces) == 1 and traceir.eval_shape(f, found).tags["a"] == [1, 2]


def test_metadata_that_has_changed_is_another() -> None:
    f, node = traceir.jit(lambda node: node.value * len(node.tags)), Tagged(2.0, [1])
    assert float(f(node)) == 2.0
    node.tags.append(2)
    assert float(f(node)) == 4.0
    node.tags[:] = [True]
    assert flatten.structure(node) != flatten.structure(Tagged(2.0, [1]))


def test_a_struct_is_a_result_where_types_are_asked_for() -> None:
    def f(x: Any) -> Any:
        return x, STRUCT

    assert traceir.eval_shape(f, 1.0)[1] == STRUCT
    assert traceir.eval_shape(lambda: STRUCT) == STRUCT
    inner = traceir.eval_shape(lambda: traceir.eval_shape(f, 1.0))
    assert inner[1] == STRUCT and inner[0].shape == ()
    for other in (traceir.jit(f), traceir.make_jaxpr(f)):
        with raises_rule("jit.output", TypeError):
            other(1.0)
        with raises_rule("jit.output", TypeError):
            other(np.ones(3))  # of which types have not been asked


def test_a_struct_has_a_part_in_promotion() -> None:
    assert jnp.result_type(STRUCT, "int8") == np.float32
    weak = traceir.ShapeDtypeStruct((), "float32", weak_type=True)
    assert jnp.result_type(weak, np.float16(1)) == np.float16


def test_a_struct_is_what_others_are_like() -> None:
    assert jnp.zeros_like(STRUCT).shape == (2, 3)
    np.testing.assert_array_equal(jnp.full_like(STRUCT, 2), np.full((2, 3), 2))
    assert jnp.ones_like(STRUCT, dtype="int8").dtype == np.int8
    assert traceir.jit(lambda: jnp.empty_like(STRUCT))().shape == (2, 3)


def test_the_layout_that_a_type_tells_is_that_of_a_whole_array() -> None:
    layout = traceir.typeof(jnp.ones(3)).sharding
    assert layout.is_fully_replicated and layout.mesh.empty
    assert jnp.zeros(3, out_sharding=layout).shape == (3,)
    with pytest.raises(ValueError, match=r"Dict key mismatch.*'b'"):
        traceir.tree.map(lambda x, y: x, {"a": 1}, {"a": 1, "b": 2})


def test_the_device_of_a_function() -> None:
    [cpu, *_] = traceir.devices("cpu")
    found = traceir.jit(lambda x: x + 1, device=cpu, compiler_options={})(1.0)
    assert float(found) == 2.0 and found.sharding == SingleDeviceSharding(cpu)
    with raises_rule("jit.compiler-options", ValueError):
        traceir.jit(lambda x: x, compiler_options={"xla_fast": True})
    with raises_rule("jit.device", ValueError):
        traceir.jit(lambda x: x, device=cpu, backend="reference")


def test_a_program_has_the_tracers_around_it_as_constants() -> None:
    def f(x: Any) -> Any:
        closed = traceir.make_jaxpr(lambda y: y * x + 1)(2.0)
        assert [v.aval.shape for v in closed.jaxpr.invars] == [()]
        assert closed.consts == (x,) if isinstance(x, float) else len(closed.consts)
        [found] = core.eval_jaxpr(closed.jaxpr, closed.consts, 3.0)
        [same] = core.jaxpr_as_fun(closed)(3.0)
        return found + same

    x = jnp.array([1.0, 2.0])
    np.testing.assert_array_equal(traceir.jit(f)(x), [8.0, 14.0])
    slope = traceir.grad(lambda x: f(x).sum())(x)
    np.testing.assert_array_equal(slope, [6.0, 6.0])


def test_the_trace_that_a_derivative_is_taken_in() -> None:
    seen = []

    def f(x: Any, y: Any) -> Any:
        top = core.find_top_trace([x])
        assert top is not None
        for value in (x, y, x * y, lax.sin(y)):
            own = isinstance(value, ad.JVPTracer) and value._trace.main is top.main
            seen.append(own)
        return x * y

    traceir.jvp(lambda x: f(x, 2.0), (1.0,), (1.0,))
    assert seen == [True, False, True, False]


def test_a_rule_is_given_arrays_where_its_function_was() -> None:
    kinds = []

    @traceir.custom_vjp
    def f(x: Any, n: Any) -> Any:
        return x * n

    def forward(x: Any, n: Any) -> Any:
        kinds.append(jnp.zeros(3) + jnp.zeros((2, *n.shape, 3)))
        return f(x, n), n

    f.defvjp(forward, lambda n, ct: (ct * n, None))
    traced = traceir.jit(lambda x: f(x, jnp.asarray(3)))
    assert float(traceir.grad(traced)(2.0)) == 3.0 and len(kinds) == 1


def test_types_of_tangents() -> None:
    assert STRUCT.aval.to_tangent_aval() is STRUCT.aval
    found = core.ShapedArray((2,), "int32").to_tangent_aval()
    assert found.dtype == traceir.dtypes.float0 and found.shape == (2,)


def test_frames_of_a_library_are_left_out() -> None:
    import sys

    frame = sys._getframe()
    assert include_frame(frame)
    package = traceir.numpy.sin.__code__.co_filename
    with pytest.MonkeyPatch.context() as patch:
        from traceir.base import source_info

        patch.setattr(source_info, "EXCLUDED", source_info._ExcludedFiles())
        patch.setattr(source_info, "_user_files", source_info._UserFiles())
        source_info.register_exclusion(__file__)
        source_info.register_exclusion(__file__)
        assert not include_frame(frame) and len(source_info.EXCLUDED) == 1
        source_info.EXCLUDED.remove(__file__)  # flax does, and appends it again
        assert include_frame(frame)
    assert not source_info.is_users_code(package)


def test_a_call_with_a_rule_is_transposed_as_its_function() -> None:
    @traceir.custom_jvp
    def triple(x: Any) -> Any:
        return 3 * x

    triple.defjvp(lambda primals, tangents: (triple(*primals), 3 * tangents[0]))
    for f in (triple, traceir.jit(triple)):
        assert [float(x) for x in traceir.linear_transpose(f, 1.0)(2.0)] == [6.0]
    scale = jnp.array([1.0, 2.0])
    found = traceir.linear_transpose(lambda x: triple(x * scale), scale)(scale)
    np.testing.assert_array_equal(found[0], [3.0, 12.0])

    @traceir.custom_jvp
    def f(x: Any) -> Any:
        return lax.sin(x)

    f.defjvp(lambda p, t: (f(*p), triple(lax.cos(p[0]) * t[0])))
    assert float(traceir.grad(f)(0.0)) == float(traceir.jit(traceir.grad(f))(0.0)) == 3
    assert float(traceir.vmap(traceir.grad(f))(jnp.zeros(2))[1]) == 3.0


def test_a_rule_is_given_an_array_and_the_program_keeps_the_literal() -> None:
    @traceir.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x * y

    given: list[Any] = []

    def rule(primals: Any, tangents: Any) -> Any:
        given.append(primals[1].dtype)
        return f(*primals), tangents[0] * primals[1] + tangents[1] * primals[0]

    f.defjvp(rule)
    for number in (0.5, np.float32(0.5)):
        slope = traceir.grad(traceir.jit(lambda x: f(x, number)))  # noqa: B023 # called in this turn
        assert float(slope(3.0)) == 0.5
        closed = traceir.make_jaxpr(slope)(3.0)
        assert not closed.consts and "a 0.5:f32[]" in str(closed)
    assert set(given) == {np.dtype("float32")}


class Unnamed:
    """A function whose names are no texts."""

    __name__ = 3
    __annotations__ = None  # type: ignore[assignment]  # that is what is tested

    def __call__(self, x: Any) -> Any:
        return x * 2.0


@pytest.mark.parametrize(
    "transform",
    [traceir.jit, traceir.vmap, traceir.checkpoint, traceir.custom_vjp, traceir.pmap],
)
def test_a_function_without_names_is_transformed(transform: Any) -> None:
    found = transform(Unnamed())
    x = jnp.ones(1)
    if transform is not traceir.custom_vjp:  # which has no rule
        np.testing.assert_array_equal(found(x), [2.0])


def test_the_registry_tells_a_leaf() -> None:
    registry = traceir.tree_util.default_registry
    assert registry.flatten_one_level(jnp.ones(2)) is None
    assert registry.flatten_one_level((1, 2)) == ((1, 2), None)


class Extents:
    """A shape of a library's own: a sequence by its methods."""

    def __init__(self, *extents: int) -> None:
        self.extents = extents

    def __len__(self) -> int:
        return len(self.extents)

    def __getitem__(self, place: int) -> int:
        return self.extents[place]


def test_a_shape_is_any_sequence_and_no_text() -> None:
    for made in (
        jnp.broadcast_to(1.0, Extents(2, 3)),
        jnp.ones(6).reshape(Extents(2, 3)),
        traceir.random.normal(traceir.random.key(0), Extents(2, 3)),
        traceir.jit(lambda: jnp.zeros(Extents(2, 3)))(),
    ):
        assert made.shape == (2, 3)
    for wrong in ("23", b"23", bytearray(b"23"), {2: 3}, {2}):
        with pytest.raises(TypeError, match="Shapes must be"):
            jnp.zeros(wrong)


def test_the_extents_of_any_array_are_told() -> None:
    words = np.array([["a", "bc"]])
    for _ in range(3):  # the second call is the one that a plan is made of
        assert (jnp.shape(words), jnp.ndim(words), jnp.size(words)) == ((1, 2), 2, 2)
        assert jnp.shape("abc") == () and jnp.shape(np.array([None])) == (1,)
        for odd, extents in ((None, ()), ([1, 2], (2,)), (([1], [2]), (2, 1))):
            with pytest.warns(DeprecationWarning, match="pass an array"):
                assert jnp.shape(odd) == extents


def test_keys_stay_what_they_are() -> None:
    keys = traceir.random.split(traceir.random.key(0), 2)
    data = traceir.random.key_data(keys)
    for same in (
        lambda k: k.astype(k.dtype),
        lambda k: jnp.astype(k, k.dtype),
        lambda k: jnp.asarray(k, dtype=k.dtype),
        lambda k: jnp.array(k, k.dtype),
        lambda k: traceir.lax.convert_element_type(k, k.dtype),
    ):
        for one in (same, traceir.jit(same)):
            assert (traceir.random.key_data(one(keys)) == data).all()
    for wrong in (lambda: keys.astype("float32"), lambda: data.astype(keys.dtype)):
        with pytest.raises(TypeError):
            wrong()


def test_a_name_of_this_library_in_promotion_warns_of_nothing() -> None:
    assert jnp.result_type(jnp.float64) == np.float32
    assert jnp.result_type(jnp.int64, jnp.float32(1)) == np.float32
    with pytest.warns(UserWarning, match="float64"):
        jnp.result_type(np.float64)


def test_a_compiled_function_tells_its_signature() -> None:
    def fun(x: Any, *, y: int = 1) -> Any:
        return x

    for one in (traceir.jit(fun), traceir.jit(fun, static_argnames="y")):
        for follow in (True, False):
            found = inspect.signature(one, follow_wrapped=follow)
            assert found == inspect.signature(fun)


def test_flags_are_read_by_name() -> None:
    assert traceir.config.read("jax_enable_x64") is traceir.config.x64_enabled is False
    with traceir.enable_x64(True):
        assert traceir.config.x64_enabled
    with pytest.raises(AttributeError, match="nothing"):
        traceir.config.read("nothing")


def test_errors_of_checks_have_one_class() -> None:
    checked = checkify.checkify(lambda x: 1.0 / x, errors=checkify.div_checks)
    with pytest.raises(checkify.JaxRuntimeError, match="division by zero"):
        checked(0.0)[0].throw()


def test_jit_is_left_on_by_the_keyword() -> None:
    with traceir.disable_jit():
        assert config.current().disable_jit
        with traceir.disable_jit(disable=False):
            assert not config.current().disable_jit


def test_the_processor_has_begun_once_its_devices_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from traceir.as_jax.private import found, listed

    begun: Any = found(listed()["jax._src.xla_bridge"]["_backends"]["is"])
    where = f"{type(begun).__module__}.LIMITS_SET"
    monkeypatch.setattr(where, set())
    assert not begun and begun.get("cpu") is None
    monkeypatch.setattr(where, {"num_cpu_devices"})
    assert begun["cpu"].device_count() == len(traceir.devices("cpu"))
    assert list(begun) == ["cpu"] and begun.get("gpu") is None


def test_names_of_pallas_are_not_here() -> None:
    from traceir.experimental import pallas

    for module in (pallas, pallas.triton):
        with pytest.raises(AttributeError, match="no load"):
            module.load()


def test_names_of_dtypes_are_classes() -> None:
    """Hints say `jnp.float32 | None`, and programs ask `isinstance(x, jnp.float32)`."""

    def f(x: jnp.float32 | None, y: jnp.bfloat16 | int = 0) -> None: ...

    assert get_type_hints(f)["x"] == jnp.float32 | None
    for name in ("bool", "int8", "uint64", "bfloat16", "float64", "complex64"):
        kind = getattr(jnp, name)
        assert isinstance(kind, type)
        assert isinstance(np.dtype(kind).type(1), kind)
        assert not isinstance(jnp.ones(()), kind)
        assert pickle.loads(pickle.dumps(kind)) is kind
        assert copy.deepcopy(kind) is kind
        with traceir.enable_x64(True):
            assert kind(1).dtype == np.dtype(kind)


def test_scan_takes_how_it_is_transposed() -> None:
    found = lax.scan(
        lambda c, x: (c + x, c), 0.0, jnp.arange(3.0), _split_transpose=True
    )
    assert found[0] == 3


def test_types_are_made_of_what_types_tell() -> None:
    """As flax makes the type of a row of an array that it scans."""
    aval = traceir.typeof(jnp.ones((2, 3)))
    sharding = aval.sharding
    assert tuple(sharding.spec) == (None, None)
    sharding = sharding.update(spec=traceir.sharding.PartitionSpec(*sharding.spec[1:]))
    more = {"manual_axis_type": None, "memory_space": None}
    made = core.ShapedArray((3,), aval.dtype, False, sharding=sharding, **more)
    assert made is aval.update(shape=(3,))
