"""Sessions: calls of jitted functions, and the outcome of each.

Serves: cache.*, level.*
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from traceir.conform.casefiles.values import HostName, TypedValue, ValueReader
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.text.lexer import SourceText, Token
from traceir.text.parser import resolve
from traceir.text.syntax import ModuleNode, NameNode, ParameterNode, ProgramNode

VERDICTS = ("traces", "hits", "raises")
# Functions that are made of another one, and objects that are made of values.
FUNCTIONS = frozenset({"partial", "method", "equal", "unhashable"})
OBJECTS = frozenset(
    {"object", "identity", "uncomparable", "array", "ndarray", "masked"}
)
# What makes a function of a function. `jvp` and its kind take tangents or cotangents
# after the arguments.
TRANSFORMS = frozenset(
    {"jit", "vmap", "pmap", "checkpoint", "custom_jvp", "custom_vjp"}
    | {"jvp", "linearize", "vjp", "linear_transpose", "grad", "value_and_grad"}
    | {"jacfwd", "jacrev", "jacobian", "hessian"}
)
# Settings and probes of what the case defines, which they name first.
OF_NAMES = frozenset({"cache_size", "clear_cache", "drop", "fill", "mutate", "set"})
_WORDS = ("None", "true", "false", "True", "False", "nan", "inf")


@dataclass(frozen=True)
class SessionTransform:
    """One transform of a function: `grad[argnums=0]`."""

    name: str
    params: tuple[ParameterNode, ...] = ()


@dataclass(frozen=True)
class Function:
    """A jitted host function: its program, or the other function that it is made of.

    Parameters without a type are traced, those marked `static` are not. Without a
    `kind` it is the other function itself, jitted again; `number` tells apart callable
    objects (`equal`) that wrap one function. `transforms` are applied to the other
    function, the last one first. `typed` is the program where its inputs have types.
    """

    name: str
    program: ProgramNode | None
    same_as: str | None
    options: Mapping[str, Any]
    source: SourceText = field(repr=False)
    kind: str | None = None
    number: int = 0
    transforms: tuple[SessionTransform, ...] = ()
    typed: ModuleNode | None = None

    @property
    def closed(self) -> ClosedJaxpr | None:
        """The program of a function whose inputs have types; raises its mistakes."""
        return resolve(self.typed, self.source) if self.typed else None


@dataclass(frozen=True)
class SessionObject:
    """An object that a case makes, such as `object(1)` or `ndarray([1, 2])`."""

    kind: str
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Call:
    """One call and its verdict: `traces`, `hits`, `raises` a rule, or nothing said.

    `via` is the transform that is called in place of the function itself. `types` are
    arguments like those that a function is compiled for before it is called. `program`
    is what the function is traced to; where a call is asked without it, `staged` says
    that it is wanted.
    """

    function: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    via: str = "jit"
    verdict: str | None = None
    rule: str | None = None
    values: tuple[TypedValue, ...] | None = None
    types: tuple[Any, ...] | None = None
    program: ClosedJaxpr | None = None
    staged: bool = False

    @property
    def gives(self) -> bool:
        """True if the program that a function is traced to is wanted."""
        return self.staged or self.program is not None


@dataclass(frozen=True)
class Setting:
    """A change of the context of calls, such as `enable_x64(true)`."""

    name: str
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Probe:
    """A question to the implementation and its answer: `cache_size('f') = 2`."""

    name: str
    args: tuple[Any, ...]
    answer: Any


Step = Call | Setting | Probe


@dataclass(frozen=True)
class Session:
    """Functions and objects by name, and the steps that use them."""

    functions: Mapping[str, Function]
    steps: tuple[Step, ...]
    objects: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_higher(self) -> bool:
        """True if functions are transformed, or passed to functions as values."""
        return any(map(self._passes_functions, self.functions.values()))

    @property
    def is_typed(self) -> bool:
        """True if the types of all inputs are written, and so those of results."""
        return all(f.typed or f.transforms for f in self.functions.values())

    def _passes_functions(self, function: Function) -> bool:
        if function.transforms or function.typed:
            return True
        equations = function.program.equations if function.program else ()
        names = {a.text for e in equations for a in e.inputs if isinstance(a, NameNode)}
        return not names.isdisjoint(self.functions)


def function_of(
    name: str, module: ModuleNode, options: Mapping[str, Any], source: SourceText
) -> Function:
    """The function that a program is: typed, or to be run line by line."""
    program = module.main
    typed = bool(program.inputs) and all(b.aval is not None for b in program.inputs)
    return Function(
        name, program, None, options, source, typed=module if typed else None
    )


class SessionReader(ValueReader):
    """Reads the functions and steps of sessions."""

    def given(self) -> tuple[str, Any]:
        """`f = program`, `g = f`, `g = partial(f)`, `o = object(1)` or `n = 3`.

        A function may be followed by the options of `jit` after `with`.
        """
        name = self.name("the name of a function").text
        self.expect("=")
        found: Any
        if self.has("{", "lambda"):
            found = self.written(name)
        elif self._is_name() and self.peek().text in FUNCTIONS and self.has_call():
            found = self.made_function(name)
        elif self._is_name() and self.peek().text in OBJECTS and self.has_call():
            found = SessionObject(self.take().text, self.arguments()[0])
        elif self._is_name():
            found = self.transformed(name)
        else:
            found = self.object()
        if self.peek().kind != "end":
            raise self.fail("the end of the function")
        return name, found

    def written(self, name: str) -> Function:
        """A function that is a program; one whose inputs have types is run as it is."""
        program = self.program()
        return function_of(name, ModuleNode((), program), self.options(), self.source)

    def transformed(self, name: str) -> Function:
        """`f`, or `grad[argnums=0] vmap f`: transforms, and the function's name."""
        chain = []
        while self.peek(1).text == "[" or self._goes_on():
            chain.append(self.transform())
        same_as = self.name("the name of a function").text
        options = self.options()
        return Function(
            name, None, same_as, options, self.source, transforms=tuple(chain)
        )

    def _goes_on(self) -> bool:
        return self.peek(1).kind == "name" and self.peek(1).text != "with"

    def chain(self) -> tuple[SessionTransform, ...]:
        """Transforms to the end of the source."""
        return self.to_end(self.transform)

    def transform(self) -> SessionTransform:
        """`grad`, or `grad[argnums=0]`."""
        token = self.name("a transform")
        if token.text not in TRANSFORMS:
            raise self.fail("a transform", token)
        return SessionTransform(token.text, self.params() if self.accept("[") else ())

    def made_function(self, name: str) -> Function:
        """`partial(f)`, `method(f)`, `equal(f, 1)` or `unhashable(f)`."""
        kind = self.take()
        match self.arguments():
            case (HostName(same_as),), {}:
                number = 0
            case (HostName(same_as), int() as number), {}:
                pass
            case _:
                raise self.fail("the name of a function", kind)
        options = self.options()
        return Function(name, None, same_as, options, self.source, kind.text, number)

    def options(self) -> dict[str, Any]:
        """`with key=value …` to the end of the source."""
        found: dict[str, Any] = {}
        if self.accept("with"):
            found.update(self.to_end(self.option))
        return found

    def option(self) -> tuple[str, Any]:
        """`key=value`."""
        key = self.name("an option").text
        self.expect("=")
        return key, self.object()

    def steps(self, functions: Mapping[str, Any]) -> tuple[Step, ...]:
        """Steps separated by `;` to the end of the source."""
        found = [self.step(functions)]
        while self.accept(";"):
            found.append(self.step(functions))
        if self.peek().kind != "end":
            raise self.fail("`;` or the end of the session")
        return tuple(found)

    def step(self, functions: Mapping[str, Any]) -> Step:
        """One call, one setting or one probe."""
        first = self.name("a call")
        via = None
        if self.peek().kind == "name":
            via, first = first.text, self.take()
        args, kwargs = self.arguments()
        if first.text not in functions:
            if via or kwargs:
                raise self.fail("a function of this case", first)
            return self._surroundings(first, args, functions)
        types = args if self.has("(") else None
        if types is not None:
            args, kwargs = self.arguments()
        verdict = self.take().text if self.peek().text in VERDICTS else None
        rule = self.rule() if verdict == "raises" else None
        values = self.values() if self.accept("=") else None
        program = self.traced() if self.accept("gives") else None
        via = via or "jit"
        name = first.text
        return Call(name, args, kwargs, via, verdict, rule, values, types, program)

    def traced(self) -> ClosedJaxpr:
        """The program that a function is traced to."""
        shared = []
        while self.accept("let"):
            shared.append(self.shared_program())
        return resolve(ModuleNode(tuple(shared), self.program()), self.source)

    def shared_program(self) -> tuple[str, ProgramNode]:
        """`name = program in`, a program to which others refer by name."""
        name = self.name("the name of a program").text
        self.expect("=")
        program = self.program()
        self.expect("in")
        return name, program

    def _surroundings(
        self, name: Token, args: tuple[Any, ...], defined: Mapping[str, Any]
    ) -> Setting | Probe:
        # The name of a function or of a face stands for itself.
        words = tuple(a.name if isinstance(a, HostName) else a for a in args)
        # What is misspelt would be dropped or cleared without a word.
        if name.text in OF_NAMES and words[:1] not in [(known,) for known in defined]:
            raise self.fail("the name of what this case defines", name)
        if self.accept("="):
            return Probe(name.text, words, self.object())
        return Setting(name.text, words)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`(1, n=2)`."""
        self.expect("(")
        args: list[Any] = []
        kwargs: dict[str, Any] = {}

        def argument() -> None:
            if self.peek().kind == "name" and self.peek(1).text == "=":
                kwargs.update([self.option()])
            else:
                args.append(self.object())

        self.separated(")", argument)
        return tuple(args), kwargs

    def object(self) -> Any:
        """As in `call`; a name stands for the definition of a `given`."""
        return HostName(self.take().text) if self._is_name() else super().object()

    def _is_name(self) -> bool:
        token = self.peek()
        return token.kind == "name" and token.text not in _WORDS and not self.is_aval()

    def has_call(self) -> bool:
        """True if the next token begins arguments."""
        return self.peek(1).text == "("

    def rule(self) -> str:
        """A rule's id, such as `cache.key.weak_type`."""
        text = self.name("the id of a rule").text
        while self.accept("-"):
            text += "-" + self.name("the id of a rule").text
        return text

    def values(self) -> tuple[TypedValue, ...]:
        """Arrays up to the next step."""
        found = []
        while self.is_aval():
            found.append(self.array())
        return tuple(found)
