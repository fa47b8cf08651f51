"""Our dataclasses are what those of the standard library are."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest

import traceir.conform  # noqa: F401  (so that its classes are there, too)
from traceir.base import fast_dataclass

OPTIONS: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"slots": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "slots": True, "repr": False},
    {"eq": False, "slots": True, "weakref_slot": True},
]


def example(decorate: Callable[..., Any], **options: bool) -> Any:
    class Example:
        """One with a default, a list of its own, and a field that is not compared."""

        x: int
        y: tuple[int, ...] = ()
        z: list[int] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)

        def total(self) -> int:
            return self.x + sum(self.y)

    return decorate(**options)(Example)


def outcome(work: Callable[[], Any]) -> Any:
    """The result of a piece of work, or the kind and words of its error."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


def behaviour(cls: Any) -> list[Any]:
    """All that there is to see of a class and its objects."""
    one, same = cls(1, (2,)), cls(1, (2,), note="other")
    other = cls(x=1, y=(3,), z=[4])

    def assign(name: str) -> Any:
        return outcome(lambda: setattr(cls(1), name, 5))

    plain = type(one).__repr__ is object.__repr__
    return [
        "" if plain else repr(other),
        one == same,
        one == other,
        one == 1,
        outcome(lambda: hash(one) == hash(same)),
        outcome(lambda: hash(cls(1, (), ())) == hash((1, (), ()))),
        assign("x"),
        assign("z"),
        outcome(lambda: delattr(cls(1), "x")),
        one.total(),
        one.z is not same.z,
        vars(cls).get("__slots__"),
        cls.__match_args__,
        cls.__doc__,
        str(inspect.signature(cls)),
        [f.name for f in dataclasses.fields(cls)],
        dataclasses.asdict(other),
        dataclasses.replace(one, y=(9,)).y,
        copy.copy(other).z is other.z,
        copy.deepcopy(other).z,
        outcome(lambda: cls()),
        repr(cls.__dataclass_params__),
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_do_the_same(options: dict[str, bool]) -> None:
    ours = example(fast_dataclass.dataclass, **options)
    theirs = example(dataclasses.dataclass, **options)
    assert behaviour(ours) == behaviour(theirs)


def test_what_contains_itself_has_a_text() -> None:
    cls = example(fast_dataclass.dataclass)
    one = cls(1)
    one.z.append(one)
    assert "..." in repr(one)


def test_methods_of_the_class_stay() -> None:
    @fast_dataclass.dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

        def __post_init__(self) -> None:
            object.__setattr__(self, "made", True)

    assert Own(1) == Own(2) and hash(Own(1)) == 7 and repr(Own(1)) == "own"
    assert Own(1).made  # set after the fields


def all_records() -> list[Any]:
    found = {
        value
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "traceir"
        for value in vars(module).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
        if value.__module__.partition(".")[0] == "traceir"
    }
    return sorted(found, key=lambda cls: (cls.__module__, cls.__qualname__))


def test_every_record_of_the_package_takes_its_fields_in_order() -> None:
    classes = all_records()
    assert len(classes) > 100
    for cls in classes:
        given = [f.name for f in dataclasses.fields(cls) if f.init]
        if cls.__init__.__qualname__.endswith("__init__"):
            names = list(inspect.signature(cls.__init__).parameters)[1:]
            assert names == given or "__init__" in inspect.getsource(cls)


def test_they_travel() -> None:
    from traceir.rules.formulas.language import parse
    from traceir.rules.rows import Form

    form = Form("id", "says", width=3)
    assert pickle.loads(pickle.dumps(form)) == form
    assert copy.copy(form) == form
    assert parse("1").text == "1"


def test_classes_of_one_shape_are_compiled_once() -> None:
    def made(names: str, module: str) -> Any:
        body = {"__annotations__": dict.fromkeys(names, "int"), "__module__": module}
        return fast_dataclass.dataclass(type("Made", (), body), frozen=True)

    made("ab", __name__)
    before = fast_dataclass._init_code.cache_info().misses
    assert made("ba", __name__)(b=1, a=2).a == 2
    assert fast_dataclass._init_code.cache_info().misses == before


@pytest.mark.parametrize("first", [1, dataclasses.field(default_factory=list)])
def test_a_default_comes_after_the_fields_without_one(first: Any) -> None:
    body = {"__annotations__": {"x": "int", "y": "int"}, "x": first}
    body["__module__"] = __name__
    for decorate in (dataclasses.dataclass, fast_dataclass.dataclass):
        with pytest.raises(TypeError, match="default"):
            decorate(type("Made", (), dict(body)))
