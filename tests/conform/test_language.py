"""The language of sessions: what a `given` defines, what steps are, foreign systems.

Rules: text.case, cache.key.static, cache.key.function
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from traceir.conform import (
    Case,
    Implementation,
    Outcome,
    Probe,
    Session,
    Setting,
    Unsupported,
    judge,
    read_cases,
)
from traceir.conform.casefiles.sessions import SessionObject, SessionReader
from traceir.conform.casefiles.values import HostName, TypedValue
from traceir.conform.systems.host import Host, host_function
from traceir.conform.systems.implementations import Oracle, Reference
from traceir.conform.systems.jitted import Jitted, System, Target
from traceir.conform.systems.objects import Equal, Identity, Valued, realise
from traceir.conform.systems.transforms import transformed
from traceir.errors import JaxprSyntaxError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.text.lexer import SourceText

SQUARE = "given f = { lambda ; x static n. let y = mul x x in (y,) }"


def only(text: str) -> Case:
    """The one case of a text."""
    (case,) = read_cases(f"case a/b\n{text}")
    return case


def session_of(text: str) -> Session:
    """The session of the one case of a text."""
    session = only(text).session
    assert session is not None
    return session


def given(text: str) -> Any:
    """The definition of one `given`."""
    return SessionReader(SourceText(text)).given()[1]


# Definitions --------------------------------------------------------------------------


def test_functions_of_other_kinds() -> None:
    made = given("g = equal(f, 2) with max_traces=1 static_argnames=('n', 'm')")
    assert (made.kind, made.same_as, made.number) == ("equal", "f", 2)
    assert made.options == {"max_traces": 1, "static_argnames": ("n", "m")}
    assert given("g = partial(f)").kind == "partial"
    assert given("g = f").kind is None and given("g = f").program is None


def test_objects_and_values() -> None:
    assert given("o = object(1)") == SessionObject("object", (1,))
    assert given("a = ndarray([[1, 2]])") == SessionObject("ndarray", ([[1, 2]],))
    assert given("n = 3") == 3 and given("t = (1, 'a', None)") == (1, "a", None)
    assert given("d = {'a': 1}") == {"a": 1}
    assert str(given("c = ~f32[]{2}")) == "~f32[]{2.0}"
    assert given("i = -inf") == -np.inf


@pytest.mark.parametrize(
    "text, expected",
    [
        ("g = equal(1, 2)", "the name of a function"),
        ("g = partial()", "the name of a function"),
        ("g = f with", None),
        ("g = f with 3", "an option"),
        ("g = object(1) with a=1", "the end of the function"),
        ("g = ", "an argument"),
        ("g = 3 4", "the end of the function"),
        ("= 3", "the name of a function"),
    ],
)
def test_a_malformed_definition_is_refused(text: str, expected: str | None) -> None:
    if expected is None:
        assert given(text).options == {}
        return
    with pytest.raises(JaxprSyntaxError) as caught:
        given(text)
    assert expected in caught.value.got


def test_objects_are_made_as_the_case_says() -> None:
    def array(value: TypedValue) -> Any:
        return "an array", value

    one, other = (realise(SessionObject("object", (1,)), array) for _ in range(2))
    assert one == other and hash(one) == hash(other) and one != Valued(2)
    assert realise(SessionObject("identity", (1,)), array) != Identity(1)
    two = TypedValue(ShapedArray((1,), "float32"), np.float32([2]))
    numpy = realise(two, array)
    assert type(numpy) is np.ndarray and not np.shares_memory(numpy, two.array)
    assert realise(SessionObject("array", (two,)), array) == ("an array", two)
    assert realise(SessionObject("masked", (two,)), array).mask.all()
    assert realise(SessionObject("ndarray", (["a"],)), array).dtype.kind == "U"
    with pytest.raises(TypeError, match="no object"):
        realise(SessionObject("object", ()), array)


def test_functions_of_all_kinds_have_the_functions_signature() -> None:
    session = session_of(
        f"  {SQUARE}\n  given p = partial(f)\n  given m = method(f)\n"
        "  given e = equal(f, 1)\n  given same = f\n  given u = unhashable(f)\n"
        "  session f(1, 2)\n"
    )
    host = Host(lambda primitive, a, b: a * b)
    found = host.define(session)
    for name in ("f", "p", "m", "e", "same", "u"):
        assert list(inspect.signature(found[name]).parameters) == ["x", "n"], name
        assert found[name](3, n=1) == 9
    assert host.runs == 6
    assert found["same"] is found["f"] and found["p"] != found["f"]
    assert found["e"] == Equal(found["f"], 1) != Equal(found["f"], 2)
    assert found["m"].__self__ is found["m"].__self__
    with pytest.raises(TypeError, match="unhashable"):
        hash(found["u"])


def test_free_names_are_globals_of_the_function() -> None:
    host = Host(lambda primitive, a, b: a + b, scope={"c": 1, "n": 0, "d": 2})
    text = (
        'f = { lambda ; x. let y = add c x ; z = host_getitem[index=":n"] t in (y,z) }'
    )
    host.scope["t"] = (5, 6)
    function = given(text)
    made = host_function(function, function.program, host)
    assert {"c", "n", "t"} <= {*made.__code__.co_names} and made.__globals__["c"] == 1
    assert "d" not in made.__code__.co_names
    assert made(1) == (2, ())
    host.change("set", ("c", 5))
    host.change("set", ("n", 1))
    assert made(1) == (6, (5,))


def test_changes_of_globals() -> None:
    host = Host(print, scope={"c": np.zeros(2), "o": Valued(1)})
    assert host.change("fill", ("c", 7)) and host.scope["c"].tolist() == [7, 7]
    assert host.change("mutate", ("o", 2)) and host.scope["o"] == Valued(2)
    assert not host.change("enable_x64", (True,))


# Steps --------------------------------------------------------------------------------


def test_steps_name_objects_and_ask() -> None:
    session = session_of(
        f"  {SQUARE}\n  given o = object(1)\n  given c = 2\n"
        "  session f(f32[]{2}, o) traces ; cache_size('f') = 1 ; set('c', f32[1]{3})\n"
        "        ; compiled f(f32[]{0}, (o, 1))(f32[]{2}) ; mutate(o, 2)\n"
    )
    call, probe, setting, ahead, mutation = session.steps
    assert call.args[1] == HostName("o")
    assert probe == Probe("cache_size", ("f",), 1)
    assert isinstance(setting, Setting) and str(setting.args[1]) == "f32[1]{3.0}"
    assert ahead.types[1] == (HostName("o"), 1)
    assert mutation == Setting("mutate", ("o", 2))
    assert session.objects == {"o": SessionObject("object", (1,)), "c": 2}


@pytest.mark.parametrize("implementation", [Oracle(), Reference()], ids=["o", "r"])
@pytest.mark.parametrize(
    "session, why",
    [
        ("cache_size('f') = 1", "cache_size('f',): 0, expected 1"),
        ("f(f32[]{2}, 1) hits", "f: traces, expected hits"),
        ("f(f32[]{2}, [1]) traces", "f: raises cache.static.hashable, expected traces"),
        ("f(f32[]{2}, [1])", "f: raises cache.static.hashable"),
        ("colour('f') = 1", None),
        ("colour('f')", None),
        ("elsewhere f(f32[]{2}, 1)", None),
    ],
)
def test_missed_steps(
    implementation: Implementation, session: str, why: str | None
) -> None:
    verdict = judge(implementation, only(f"  {SQUARE}\n  session {session}\n"))
    assert verdict.kind == ("unsupported" if why is None else "fail")
    assert why is None or verdict.why == why


TRACED = "make_jaxpr f(f32[]{2}, 1) traces gives { lambda ; a:f32[]. let "


@pytest.mark.parametrize("implementation", [Oracle(), Reference()], ids=["o", "r"])
def test_what_a_function_is_traced_to(implementation: Implementation) -> None:
    head = f"  {SQUARE}\n  session {TRACED}"
    assert judge(implementation, only(f"{head} b:f32[] = mul a a in (b,) }}\n"))
    verdict = judge(implementation, only(f"{head} b:f32[] = add a a in (b,) }}\n"))
    assert verdict.kind == "fail" and "mul a a" in verdict.why


def test_a_traced_program_may_name_others() -> None:
    program = "let g = { lambda ; a:f32[]. let in (a,) } in { lambda ; . let in () }"
    (call,) = session_of(
        f"  {SQUARE}\n  session make_jaxpr f() gives {program}\n"
    ).steps
    assert str(call.program) == "{ lambda ; . let  in () }"


# A system that is not traceir ---------------------------------------------------------


@dataclass
class Eager:
    """A system that runs every function at each call, and has errors of its own."""

    namespaces: Mapping[str, Any] = field(default_factory=lambda: {"numpy": np})
    settings: list[Any] = field(default_factory=list)

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        if primitive != "mul":
            raise Unsupported(f"the primitive {primitive}")
        return np.multiply(*values)

    def jit(
        self,
        fun: Callable[..., Any],
        static: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> Callable[..., Any]:
        if options:
            raise TypeError(f"no option {options}")
        return fun

    def via(self, transform: str, target: Target) -> Callable[..., Any]:
        raise Unsupported(f"calls through {transform}")

    def array(self, value: TypedValue) -> Any:
        return value.array

    def value(self, leaf: Any) -> TypedValue:
        array = np.asarray(leaf)
        return TypedValue(ShapedArray(array.shape, array.dtype), array)

    def program(self, staged: Any) -> ClosedJaxpr:
        raise Unsupported("no programs")

    def setting(
        self, name: str, args: tuple[Any, ...]
    ) -> AbstractContextManager[Any] | None:
        self.settings.append((name, args))
        return None

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        return 0

    def rule(self, error: Exception) -> str | None:
        return None


def outcomes(text: str, system: System | None = None) -> list[Outcome]:
    """The outcomes of a system in the session of a case."""
    return list(Jitted(session_of(text), system or Eager()).run())


def test_a_session_runs_on_another_system() -> None:
    first, second, size = outcomes(
        f"  {SQUARE}\n  session f(f32[]{{3}}, 1) ; f(f32[]{{3}}, 1)\n"
        "        ; cache_size('f') = 0\n"
    )
    assert (first.event, second.event) == ("traces", "traces")
    assert first.values is not None and str(first.values[0]) == "f32[]{9.0}"
    assert size.answer == 0


def test_an_error_without_a_rule_is_judged_by_its_class() -> None:
    text = (
        "  given f = { lambda ; x y. let z = numpy.add x y in (z,) }\n"
        "  given g = f with colour='red'\n"
        "  session f(f32[2]{1 2}, f32[3]{1 2 3}) raises index.slice\n"
        "        ; g(1, 2) raises jit.callable\n"
    )
    case = only(text)
    assert case.session is not None
    wrong, right = Jitted(case.session, Eager()).run()
    assert (wrong.event, wrong.rule, wrong.cls) == ("raises", None, "ValueError")
    first, second = case.session.steps
    assert not isinstance(first, Setting) and not isinstance(second, Setting)
    expected = "expected raises index.slice (IndexError)"
    assert wrong.meets(first) == f"f: raises ValueError, {expected}"
    assert right.meets(second) is None


def test_a_setting_gets_what_jit_made_of_a_function() -> None:
    system = Eager()
    outcomes(f"  {SQUARE}\n  session clear_cache('f') ; face(numpy)\n", system)
    (clear, (function,)), face = system.settings
    assert clear == "clear_cache" and function(3, 1) == 9
    assert face == ("face", ("numpy",))


def test_what_a_system_lacks_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="the primitive sin"):
        outcomes(
            "  given f = { lambda ; x. let y = sin x in (y,) }\n  session f(f32[]{1})\n"
        )
    with pytest.raises(Unsupported, match="calls through lower"):
        outcomes(f"  {SQUARE}\n  session lower f(f32[]{{1}}, 1)\n")


# Transforms ---------------------------------------------------------------------------


def test_a_chain_of_transforms_is_read() -> None:
    made = given("g = grad[argnums=(0, 1)] vmap f with keep_unused=true")
    assert [t.name for t in made.transforms] == ["grad", "vmap"]
    assert made.same_as == "f" and made.options == {"keep_unused": True}
    (param,) = made.transforms[0].params
    assert param.name == "argnums" and not made.transforms[1].params


@pytest.mark.parametrize("text", ["g = f h", "g = grad[argnums=0]", "g = vmap 3"])
def test_what_is_no_chain_is_refused(text: str) -> None:
    with pytest.raises(JaxprSyntaxError):
        given(text)


CHAIN = f"  {SQUARE.replace('static n', '')}\n  under jit jit\n  call f32[]{{3}}\n"


def test_a_transformed_function_is_called_as_it_is_and_jitted() -> None:
    case = only(f"{CHAIN}  value f32[]{{9}}\n")
    assert case.session is not None and case.session.is_higher
    assert [step.via for step in case.session.steps] == ["eager", "jit"]
    assert judge(Oracle(), case, exact=True) and judge(Reference(), case)
    assert judge(Reference(), only(f"{CHAIN}  value f32[]{{8}}\n")).kind == "fail"


def test_the_text_of_a_transformed_function_is_compared() -> None:
    inner = "{ lambda ; a:f32[]. let b:f32[] = mul a a in (b,) }"
    for _ in range(2):
        inner = f"""{{ lambda ; a:f32[]. let
          b:f32[] = jit[name=f jaxpr={inner}] a in (b,) }}"""
    text = f"{CHAIN}  prints {inner}\n".replace("\n          ", " ")
    assert judge(Reference(), only(text)) and judge(Oracle(), only(text))
    assert not judge(Reference(), only(text.replace("mul a", "add a")))


def test_a_program_with_types_is_a_function() -> None:
    text = "given { lambda ; a:f32[]. let b:f32[] = mul a a in (b, a) }\n"
    text = f"  {text}  under jit\n  call f32[]{{3}}\n  value f32[]{{9}} f32[]{{3}}\n"
    assert judge(Reference(), only(text)) and judge(Oracle(), only(text))


def test_functions_are_values_and_notes_are_kept() -> None:
    text = (
        "  given f = { lambda ; x. let h = host_close g x ; y = h x ;"
        " z = host_call g x y ; t = host_tuple y z ; a b = host_iter t ;"
        " host_note a b in (b,) }\n"
        "  given g = { lambda ; x y. let z = mul x y in (z,) }\n"
        "  session eager f(f32[]{2}) = f32[]{8} ; notes() = [4.0, 8.0]\n"
        "        ; f(f32[]{2}) raises level.concretize.array\n"
    )
    assert judge(Reference(), only(text)) and judge(Oracle(), only(text))
    assert not judge(Reference(), only(text.replace("[4.0, 8.0]", "[8.0, 4.0]")))


def test_a_transform_that_a_system_lacks_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="no vjp"):
        transformed(object(), "vjp", len, {})
