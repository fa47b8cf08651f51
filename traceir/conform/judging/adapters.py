"""Adapters: implementations loaded by name. Serves: every table"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from traceir.conform.casefiles.cases import Case
from traceir.conform.casefiles.profiles import PROFILES, check_profiles, profile_of
from traceir.conform.judging.answers import describe, located
from traceir.conform.judging.implementation import Implementation, told_messages
from traceir.conform.judging.messages import check_messages
from traceir.conform.judging.run import Verdict, check_choices, judge
from traceir.rules import default

# Short names of the implementations that come with the project.
SHIPPED: Mapping[str, str] = {
    "oracle": "traceir.conform.systems.implementations:Oracle",
    "reference": "traceir.conform.systems.implementations:Reference",
    "numba": "traceir.conform.systems.implementations:numba",
    "jax": "traceir.conform.jax.adapter:Jax",
}
# A command line is no name of Python's; before it stand the seconds that an answer may
# take: `command 30 node impl.js`.
COMMAND = "command "
CLIENT = "traceir.conform.protocol.client"
METHODS = ("type", "eval", "session")
# The text of a reason is cut here: the arrays of an adapter can be of any size.
LONGEST = 4000


class NotLoaded(Exception):
    """An implementation cannot be imported or made."""


@dataclass(frozen=True)
class Adapter:
    """An implementation and its description of itself, each read once."""

    implementation: Any
    name: str
    version: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    profiles: Collection[str] = tuple(PROFILES)
    problem: str = ""

    def verdict(self, case: Case) -> Verdict:
        """The verdict of one case, whatever the implementation does meanwhile."""
        try:
            found = self._verdict(case)
        except BaseException as error:  # leaving Python is a crash like any other
            found = Verdict("crashed", located(error))
        why = found.why
        if len(why) > LONGEST:
            why = f"{why[:LONGEST]}... ({len(why)} characters)"
        return Verdict(found.kind, why)

    def _verdict(self, case: Case) -> Verdict:
        if self.problem:
            return Verdict("fail", self.problem)
        if profile_of(case) not in self.profiles:
            return Verdict("unsupported", f"not claimed: {profile_of(case)}")
        for name in _methods(case):
            if not callable(getattr(self.implementation, name, None)):
                return Verdict("crashed", f"the adapter has no method `{name}`")
        known: Implementation = _Declared(self.implementation, self.choices)
        return judge(known, case)


def _methods(case: Case) -> tuple[str, ...]:
    """The methods that an adapter must have for a case."""
    if case.plain:
        return ()
    method = "session" if case.session else "type"
    return (method, "eval") if "value" in case.verbs else (method,)


class _Declared:
    """An implementation with its choices as they were when it was loaded."""

    def __init__(self, inner: Any, choices: Mapping[str, str]) -> None:
        self.inner = inner
        self.choices = choices

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def load(spec: str) -> Adapter:
    """The adapter of `package.module:attribute` or of a short name.

    The attribute is an adapter, or a class or function that makes one. Raises
    NotLoaded, whatever goes wrong.

    >>> load("oracle").name
    'oracle'
    >>> load("traceir:nothing")
    Traceback (most recent call last):
    traceir.conform.judging.adapters.NotLoaded: traceir has no attribute `nothing`
    """
    if spec.startswith(COMMAND):
        return _of_command(spec)
    path = SHIPPED.get(spec, spec)
    module, colon, attribute = path.partition(":")
    if not (module and colon and attribute):
        known = ", ".join(SHIPPED)
        raise NotLoaded(f"`{spec}` is neither `package.module:attribute` nor {known}")
    try:
        found: Any = import_module(module)
        for name in attribute.split("."):
            if not hasattr(found, name):
                raise NotLoaded(f"{module} has no attribute `{attribute}`")
            found = getattr(found, name)
        return _adapter(spec, _made(found))
    except NotLoaded:
        raise
    except BaseException as error:  # also what leaves Python
        raise NotLoaded(f"{path}: {describe(error)}") from None


def _of_command(spec: str) -> Adapter:
    """The adapter of a command line; NotLoaded if it does not greet as it should."""
    _, limit, command = spec.split(" ", 2)
    client: Any = import_module(CLIENT)
    try:
        return _adapter(command, client.CommandClient(command, float(limit)))
    except client.CommandError as error:
        raise NotLoaded(f"{command}: {error}") from None


def _made(found: Any) -> Any:
    complete = all(hasattr(found, method) for method in METHODS)
    if isinstance(found, type) or (callable(found) and not complete):
        found = found()
    if not any(hasattr(found, method) for method in METHODS):
        kind = type(found).__name__
        raise NotLoaded(f"{kind} has none of the methods {', '.join(METHODS)}")
    return found


def _adapter(spec: str, found: Any) -> Adapter:
    name = str(getattr(found, "name", None) or spec)
    version = str(getattr(found, "version", ""))
    choices = getattr(found, "choices", {})
    profiles = getattr(found, "profiles", tuple(PROFILES))
    problem = (
        check_choices(choices, default())
        or check_profiles(profiles)
        or check_messages(told_messages(found), default())
    )
    if problem:
        return Adapter(found, name, version, problem=problem)
    declared = {str(key): str(value) for key, value in choices.items()}
    return Adapter(found, name, version, declared, tuple(profiles))
