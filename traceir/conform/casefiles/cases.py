"""The reader of case files, verb by verb.

A file holds blocks `case name`, each with indented verbs; a verb's text goes on in
lines that are indented deeper. Files of Python's have cases, too, which are plain
functions. Serves: every table; the form is in `spec/cases.rst`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from traceir.base.caches import cached_property
from traceir.conform.casefiles.plain_functions import PlainFunction, read_functions
from traceir.conform.casefiles.sessions import (
    Call,
    Function,
    Session,
    SessionReader,
    SessionTransform,
    Setting,
    Step,
    function_of,
)
from traceir.conform.casefiles.values import TypedValue, ValueReader
from traceir.conform.casefiles.weak import weaken
from traceir.conform.casefiles.width import is_wide
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import Rules, default, spec_path
from traceir.text.lexer import SourceText
from traceir.text.parser import resolve

VERBS = frozenset(
    {"cites", "given", "weak", "call", "value", "type", "prints", "reject"}
    | {"full"}
    | {"under", "session"}
)
_BLOCK = re.compile(r"^case[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_VERB = re.compile(r"^([ \t]+)(\w+)(?:[ \t]+|$)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_FUNCTION = re.compile(r"\s*\w+\s*=")
# How a function is run that is not transformed further.
STAGES = frozenset({"jit", "eager", "make_jaxpr", "eval_shape", "trace", "lower"})


@dataclass(frozen=True)
class Case:
    """One case: the text of each verb as a part of its file's text.

    The parts are read when asked for, so that a case about malformed text can exist.
    A case that is a plain function, `plain`, has no other verb than `cites`.
    """

    name: str
    file: str
    line: int
    verbs: Mapping[str, tuple[SourceText, ...]]
    plain: PlainFunction | None = None

    def __str__(self) -> str:
        return self.name

    def words(self, verb: str) -> tuple[str, ...]:
        """The words of a verb, none when the case does not have it."""
        return tuple(w for s in self.verbs.get(verb, ()) for w in _text(s).split())

    @cached_property
    def cites(self) -> tuple[str, ...]:
        """The ids of the rules that the case is about."""
        return tuple(word.rstrip(",") for word in self.words("cites"))

    @property
    def reject(self) -> str | None:
        """The id of the one rule that the case violates, or None."""
        return next(iter(self.words("reject")), None)

    @property
    def under(self) -> str | None:
        """The transform under which the function of a `call` runs."""
        return next(iter(self.words("under")), None)

    @property
    def rejected(self) -> frozenset[str]:
        """All rules that the case expects to be violated, in sessions too."""
        found = {self.reject} if self.reject else set()
        if self.session:
            calls = (s for s in self.session.steps if isinstance(s, Call))
            found |= {c.rule for c in calls if c.rule and c.rule != "host"}
        if self.plain:
            found |= {call.rule for call in self.plain.calls if call.rule}
        return frozenset(found)

    def program(
        self,
        rules: Rules | None = None,
        read: Callable[[str], ClosedJaxpr] | None = None,
    ) -> ClosedJaxpr:
        """The program of `given`, its `weak` inputs weakly typed; raises its errors.

        `read` reads the text in the place of this project's parser.
        """
        if self.plain:
            raise (rules or default()).error("text.case", got="no program")
        (source,) = self.verbs["given"]
        source = SourceText(source.text, source.start, source.stop, rules or default())
        module = None
        if read is None:
            module = ValueReader(source).module()
            closed = resolve(module, source)
        else:  # in its column, since lines tell which equation they belong to
            column = source.position(source.start)[1] - 1
            closed = read(" " * column + _text(source))
        if "weak" not in self.verbs:
            return closed
        module = module or ValueReader(source).module()
        weak = [b.name in self.words("weak") for b in module.main.inputs]
        return weaken(closed, weak, rules)

    def values(self, verb: str) -> tuple[TypedValue, ...]:
        """The arrays of `call` or `value`."""
        parts = self.verbs.get(verb, ())
        return tuple(v for s in parts for v in ValueReader(s).arrays())

    @cached_property
    def types(self) -> tuple[ShapedArray, ...] | None:
        """The result types of `type`, or those of `value`, or None."""
        if "type" in self.verbs:
            return ValueReader(self.verbs["type"][0]).avals()
        if "value" in self.verbs:
            return tuple(v.aval for v in self.values("value"))
        return None

    @property
    def prints(self) -> str | None:
        """The text that the program must print as, or None."""
        return self._written("prints")

    @property
    def full(self) -> str | None:
        """The program's full text, or None."""
        return self._written("full")

    def _written(self, verb: str) -> str | None:
        parts = self.verbs.get(verb)
        return _dedent(_text(parts[0])) if parts else None

    @cached_property
    def definitions(self) -> Mapping[str, Any]:
        """The definitions of `given`; a program without a name is the function `f`."""
        found: dict[str, Any] = {}
        for source in self.verbs.get("given", ()):
            if _FUNCTION.match(source.text, source.start, source.stop):
                name, made = SessionReader(source).given()
                found[name] = made
            else:
                module = ValueReader(source).module()
                found["f"] = function_of("f", module, {}, source)
        return found

    @property
    def functions(self) -> Mapping[str, Function]:
        """The host functions of `given`."""
        pairs = self.definitions.items()
        return {name: f for name, f in pairs if isinstance(f, Function)}

    @cached_property
    def session(self) -> Session | None:
        """The steps of `session`, or the one call that `under` asks for."""
        if "session" in self.verbs:
            given, functions = self.definitions, self.functions
            steps = SessionReader(self.verbs["session"][0]).steps(given)
            objects = {n: v for n, v in given.items() if n not in functions}
            return Session(functions, steps, objects)
        if self.under is None:
            return None
        return self._one_call(self.under)

    def _one_call(self, under: str) -> Session:
        """The session of a `call`: a function that is transformed is also jitted.

        One that is rejected is called once. There are 64-bit types if it has such.
        """
        functions = dict(self.functions)
        name = next(iter(functions))
        vias: tuple[str, ...] = (under,)
        if under not in STAGES or len(self.words("under")) > 1:
            transforms = SessionReader(self.verbs["under"][0]).chain()
            functions["_"] = _transformed(name, functions[name], transforms)
            name, vias = "_", ("eager",) if self.reject else ("eager", "jit")
        args = self.values("call")
        values = self.values("value") if "value" in self.verbs else None
        verdict = "raises" if self.reject else None
        steps: list[Step] = []
        if any(f.closed and is_wide(f.closed) for f in functions.values()):
            steps.append(Setting("enable_x64", (True,)))
        steps += [
            Call(name, args, {}, via, verdict, self.reject, values) for via in vias
        ]
        if "prints" in self.verbs:
            traced = SessionReader(self.verbs["prints"][0]).traced()
            steps.append(Call(name, args, {}, "make_jaxpr", program=traced))
        return Session(functions, tuple(steps))


def _transformed(
    name: str, function: Function, transforms: tuple[SessionTransform, ...]
) -> Function:
    return Function("_", None, name, {}, function.source, transforms=transforms)


def read_cases(text: str, file: str = "<cases>") -> list[Case]:
    """The cases of a file's text; raises JaxprSyntaxError at the line of a mistake."""
    text = _COMMENT.sub(lambda m: " " * len(m.group()), text)
    blocks = list(_BLOCK.finditer(text))
    head = text[: blocks[0].start()] if blocks else text
    if head.strip():
        at = len(head) - len(head.lstrip())
        raise SourceText(text).error("text.case", "text before the first `case`", at)
    ends = [b.start() for b in blocks[1:]] + [len(text)]
    cases = [_case(text, b, end, file) for b, end in zip(blocks, ends)]
    _distinct(text, cases, blocks)
    return cases


def load_cases(folder: Path | None = None) -> list[Case]:
    """The cases of all files below a folder, by default the specification's."""
    return _loaded(folder) if folder else list(_of_the_specification())


@cache
def _of_the_specification() -> tuple[Case, ...]:
    """They are read once: who has read a case's parts leaves them to others."""
    return tuple(_loaded(spec_path() / "cases"))


def _loaded(folder: Path) -> list[Case]:
    found = []
    for path in sorted(folder.rglob("*.tir")):
        name = path.relative_to(folder).as_posix()
        found += read_cases(path.read_text(encoding="utf-8"), name)
    for path in sorted(folder.glob("*.py")):
        found += _plain(path)
    return found


def _plain(path: Path) -> Iterator[Case]:
    """The cases of a file of plain functions."""
    for part in read_functions(path.read_text(encoding="utf-8"), path):
        name = f"{path.stem}/{part.function.name.replace('_', '-')}"
        verbs = {"cites": (part.cites,), "plain": (part.source,)}
        yield Case(name, path.name, part.line, verbs, part.function)


def _case(text: str, block: re.Match[str], end: int, file: str) -> Case:
    verbs: dict[str, tuple[SourceText, ...]] = {}
    for verb, source in _verbs(text, block.end(), end):
        if verb not in VERBS:
            raise source.error("text.case", f"the verb `{verb}`", source.start)
        if verb in verbs and verb != "given":
            raise source.error("text.case", f"`{verb}` twice", source.start)
        verbs[verb] = (*verbs.get(verb, ()), source)
    line = text.count("\n", 0, block.start()) + 1
    case = Case(block[1], file, line, verbs)
    problem = _problem(case)
    if problem:
        raise SourceText(text).error(
            "text.case", f"{case.name}: {problem}", block.start()
        )
    return case


def _problem(case: Case) -> str | None:
    if "given" not in case.verbs:
        return "no `given`"
    expected = {"value", "type", "prints", "full", "reject", "session"}
    if not case.verbs.keys() & expected:
        return "nothing is expected"
    if "session" in case.verbs and "under" in case.verbs:
        return "`session` and `under`"
    for verb in case.verbs.keys() & {"prints", "full"}:
        first, *rest = _text(case.verbs[verb][0]).rstrip().split("\n")
        if first and rest:
            return f"`{verb}` of several lines begins on a line of its own"
    return None


def _verbs(text: str, start: int, end: int) -> Iterator[tuple[str, SourceText]]:
    found = list(_VERB.finditer(text, start, end))
    if not found:
        return
    indent = found[0][1]
    heads = [m for m in found if len(m[1]) <= len(indent)]
    stops = [m.start() for m in heads[1:]] + [end]
    for head, stop in zip(heads, stops):
        yield head[2], SourceText(text, head.end(), stop)


def _distinct(text: str, cases: list[Case], blocks: list[re.Match[str]]) -> None:
    seen = set()
    for case, block in zip(cases, blocks):
        if case.name in seen:
            got = f"a second `{case.name}`"
            raise SourceText(text).error("text.case", got, block.start())
        seen.add(case.name)


def _text(source: SourceText) -> str:
    return source.text[source.start : source.stop]


def _dedent(text: str) -> str:
    lines = text.rstrip("\n ").removeprefix("\n").split("\n")
    indents = (len(line) - len(line.lstrip()) for line in lines if line.strip())
    indent = min(indents, default=0)
    return "\n".join(line[indent:] for line in lines)


def attempt(case: Case, rules: Rules | None = None) -> ClosedJaxpr | TraceirError:
    """The case's program, or the error that its text raises."""
    try:
        return case.program(rules)
    except TraceirError as error:
        return error
