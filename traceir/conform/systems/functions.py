"""The functions of a session as `jit` sees them: bound and keyed.

Serves: cache.key.*, cache.function.hashable, cache.event.die
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from traceir.conform.casefiles.sessions import Session
from traceir.conform.systems.jitted import static_parameters
from traceir.conform.systems.traced import concrete
from traceir.jit.backends import resolve
from traceir.jit.cache.cache_key import Key, KeyTable
from traceir.jit.cache.signature import Bound, bind_arguments, form_of, resolve_static
from traceir.jit.staging import Prepared, prepare
from traceir.pytrees import flatten
from traceir.rules import Rules


class Functions:
    """The definitions of a session, by name.

    `hosts` has those that something still refers to, `jitted` those under `jit`;
    `owners` are the first of each group of equal functions.
    """

    def __init__(
        self, session: Session, rules: Rules, defined: Mapping[str, Any]
    ) -> None:
        self.session = session
        self.rules = rules
        self.table = KeyTable(rules)
        self.defined = dict(defined)
        self.hosts = dict(defined)
        self.jitted: dict[str, Any] = {}
        self.owners: list[Any] = []

    def define(self, name: str, function: Any) -> None:
        """One more function."""
        self.defined[name] = self.hosts[name] = function

    def check(self, name: str) -> None:
        """Raises the error of `jit` for the function (jit.callable, ...)."""
        fun = self.hosts[name]
        if not callable(fun):
            raise self.rules.error("jit.callable")
        if not isinstance(fun, Hashable):
            raise self.rules.error("cache.function.hashable")
        options = self.options(name)
        if options.get("control_flow") not in (None, "staged", "python"):
            raise self.rules.error("jit.control-flow")
        if options.get("compiler_options"):
            raise self.rules.error("jit.compiler-options")
        others = {"backend", "in_shardings", "out_shardings"}
        if "device" in options and not others.isdisjoint(options):
            raise self.rules.error("jit.device")
        if options.get("backend") is not None:
            resolve(options["backend"])
        if fun not in self.owners:
            self.owners.append(fun)
        self.jitted[name] = fun

    def dropped(self, name: str) -> list[Any]:
        """Let go of a function; returns the owners of traces that die with it."""
        self.hosts.pop(name)
        self.jitted.pop(name, None)
        dead = [owner for owner in self.owners if not self._is_held(owner)]
        self.owners = [owner for owner in self.owners if self._is_held(owner)]
        return dead

    def _is_held(self, owner: Any) -> bool:
        if any(fun == owner for fun in self.jitted.values()):
            return True
        return any(fun is owner for name in self.hosts for fun in self._within(name))

    def _within(self, name: str | None) -> Iterator[Any]:
        """A function, and those that it is made of."""
        while name is not None and name in self.session.functions:
            yield self.defined[name]
            name = self.session.functions[name].same_as

    def options(self, name: str) -> Mapping[str, Any]:
        """The options of the function's `jit`."""
        function = self.session.functions.get(name)
        return function.options if function else {}

    def bound(self, name: str, args: Any, kwargs: Any) -> Bound:
        """A call that has met the signature."""
        form, options = form_of(self.hosts[name]), self.options(name)
        names = options.get("static_argnames") or static_parameters(self.session, name)
        static = resolve_static(form.signature, options.get("static_argnums"), names)
        return bind_arguments(form, static, args, kwargs)

    def leaves(
        self, name: str, args: Any, kwargs: Any, known: Collection[str] = ()
    ) -> tuple[Bound, list[Any]]:
        """A bound call and the leaves of its traced arguments."""
        bound = self.bound(name, args, kwargs).knowing(known)
        return bound, flatten.leaves(tuple(value for _, value in bound.dynamic))

    def prepared(
        self,
        name: str,
        face: str | None,
        args: Any,
        kwargs: Any,
        known: Collection[str] = (),
    ) -> Prepared:
        """The parts of a call's key; without a face it is of no `jit`."""
        given, named = flatten.map_(concrete, (args, kwargs))
        bound = self.bound(name, given, named).knowing(known)
        if face is None:
            return prepare(bound, "jax")
        return prepare(bound, face, self.options(name).get("strict", False))

    def key(self, name: str, prepared: Prepared) -> Key:
        """The key of a call by the rows."""
        return self.table.key(replace(prepared.call, function=self.hosts[name]))
