"""The cases without mutation: what judging them says, and which rows it reads.

No other row's mutant can be told by a case. A row of a primitive is read for its types
and values, and apart from these for its derivatives and for its batching: `sin`,
`sin.derivative`, `sin.batch`.
"""

from __future__ import annotations

import copy
import gc
import json
import pickle
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from mutation.edges import edges_of, probes_of
from mutation.faults import equations
from mutation.installed import Desk, forget, in_child, install
from mutation.record import ROOT, case_digest, digest_of
from mutation.tables import Tables
from mutation.verdicts import Judged

from traceir.conform import Case
from traceir.conform.casefiles.cases import _loaded, attempt
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import Prim, Rules, default, load, spec_path

APART = frozenset({"derivative", "batch"})
# The columns that are parts of what is read under one name.
COLUMNS = {
    **dict.fromkeys(("jvp", "transpose", "linear", "derivative"), "derivative"),
    "batch": "batch",
}

# The rows of other tables that are found by their ids.
BY_ID = ("clauses", "text", "decisions")


class Reads:
    """The names of what has been read since the last look."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def taken(self) -> frozenset[str]:
        """The names, which are dropped."""
        found = frozenset(self.names)
        self.names.clear()
        return found


class _Noted(Mapping[str, Any]):
    """A mapping that notes whose values are read."""

    def __init__(self, held: Mapping[str, Any], reads: Reads) -> None:
        self._held = held
        self._reads = reads

    def __getitem__(self, name: str) -> Any:
        found = self._held[name]
        self._reads.names.add(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def values(self) -> Any:
        """All values, of which none is noted."""
        return self._held.values()

    def items(self) -> Any:
        """All items, of which none is noted."""
        return self._held.items()


def noted(rules: Rules, reads: Reads) -> Rules:
    """The same rules, which note what is read of their rows."""

    class Row(Prim):
        """A row that notes which of its parts are read."""

        __slots__ = ()

        def __getattribute__(self, name: str) -> Any:
            if name in APART:
                reads.names.add(f"{object.__getattribute__(self, 'name')}.{name}")
            return object.__getattribute__(self, name)

    def watched(row: Prim) -> Prim:
        found = copy.copy(row)
        object.__setattr__(found, "__class__", Row)
        return found

    prims = {name: watched(row) for name, row in rules.prims.items()}
    found = copy.copy(rules)
    for name, value in (
        ("prims", _Noted(prims, reads)),
        *((name, _Noted(getattr(rules, name), reads)) for name in BY_ID),
    ):
        object.__setattr__(found, name, value)
    return found


def of_the_suite() -> list[Case]:
    """New copies of the cases, of which nothing has been read.

    Without the corpus: it holds whole programs, whose every part a smaller case is
    about.
    """
    cases = _loaded(spec_path() / "cases")
    return [case for case in cases if not case.name.startswith("jax/")]


def relevant(cases: Sequence[Case]) -> Mapping[str, list[Case]]:
    """The cases that cite a rule, or are about a primitive or a class, by its name."""
    found: dict[str, list[Case]] = defaultdict(list)
    prims = default().prims
    for case in cases:
        names = {*case.cites} | {c.partition(".")[0] for c in case.cites}
        for name in (names | set(used(case))) & prims.keys():
            names |= {name, *prims[name].classes}
        for name in names:
            found[name].append(case)
    return found


def used(case: Case) -> Iterator[str]:
    """The primitives of a case's program, or what may be such in its functions."""
    if case.session is None:
        program = attempt(case)
        if isinstance(program, ClosedJaxpr):
            yield from (eqn.primitive for eqn in equations(program))
        return
    for word in case.words("given"):
        yield word.partition("[")[0].rpartition(".")[2]


@dataclass(frozen=True)
class Look:
    """A look at a case: the rows that judging it reads, and the seconds it takes."""

    reads: frozenset[str]
    seconds: float
    exact: bool


@dataclass
class Known:
    """The tables, the cases, and what is found of each case without mutation."""

    tables: Tables
    cases: Sequence[Case]
    base: Rules
    desk: Desk = field(default_factory=Desk)
    looks: list[Look] = field(default_factory=list)
    judged: dict[int, Judged] = field(default_factory=dict)
    verdicts: dict[tuple[int, str], Any] = field(default_factory=dict)
    classes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, tables: Tables, kept: Path | None = None) -> Self:
        """One that has read the tables and the cases.

        `kept` is a file of what judging the cases reads, which is made if need be.
        """
        found = cls.ready(tables)
        found.prepare(kept)
        return found

    @classmethod
    def ready(cls, tables: Tables) -> Self:
        """One that knows nothing of the cases but their texts."""
        base = load(tables)
        found = cls(tables, of_the_suite(), base)
        found.judged = {n: Judged(case) for n, case in enumerate(found.cases)}
        for name, row in base.prims.items():
            for above in row.classes:
                found.classes[above].append(name)
        install(base)
        return found

    def prepare(self, kept: Path | None = None) -> None:
        """Look at every case without mutation that was not looked at before."""
        known = pickle.loads(kept.read_bytes()) if kept and kept.exists() else {}
        texts = [case_digest(case) for case in self.cases]
        fresh = [n for n, text in enumerate(texts) if text not in known]
        if fresh:
            found = in_child(lambda: self._looks(fresh), patient=True)
            if found is None:
                raise RuntimeError("the cases could not be judged by the tables")
            known |= {texts[n]: look for n, look in zip(fresh, found, strict=True)}
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(pickle.dumps(known))
        self.looks = [known[text] for text in texts]
        for n, look in enumerate(self.looks):
            self.judged[n] = Judged(self.cases[n], look.exact)
        self._warm()
        if kept is not None:
            self._verdicts(kept.with_name("verdicts.pickle"), texts)
        forget()  # children know by it what there is to forget, now that all is loaded

    def _verdicts(self, kept: Path, texts: Sequence[str]) -> None:
        """Have the verdicts of all cases by the usual judges, from a file if it has
        those of the code and the tables as they are."""
        files = (f.read_text("utf-8") for f in sorted(ROOT.glob("traceir/**/*.py")))
        now = digest_of([json.dumps(self.tables, sort_keys=True), *files])
        digest, found = pickle.loads(kept.read_bytes()) if kept.exists() else ("", {})
        if digest == now:
            for n, text in enumerate(texts):
                self.verdicts |= {(n, by): v for by, v in found.get(text, {}).items()}
        self.know(range(len(self.cases)), ())
        named: dict[str, dict[str, Any]] = defaultdict(dict)
        for (n, by), verdict in self.verdicts.items():
            named[texts[n]][by] = verdict
        kept.write_bytes(pickle.dumps((now, dict(named))))

    def _looks(self, numbers: Sequence[int]) -> list[Look]:
        reads, found = Reads(), []
        rules = noted(self.base, reads)
        install(rules)
        for n in numbers:
            forget()
            reads.taken()
            case = self.cases[n]
            judged, began = Judged(case), time.process_time()
            verdicts = {by: judged.verdict(by, rules) for by in judged.kinds()}
            seconds = time.process_time() - began
            exact = verdicts.get("oracle", ("pass",)) == ("pass",)
            names = reads.taken() | case.rejected | {*case.cites}
            found.append(Look(names, seconds, exact))
        return found

    def _warm(self) -> None:
        """Import and make what cases need, so that it is there in each child."""
        for n, case in enumerate(of_the_suite()):
            if not case.plain and n % 5 == 0:
                for by in self.judged[n].kinds():
                    replace(self.judged[n], case=case).verdict(by, self.base)
        gc.collect()
        gc.freeze()

    def know(
        self, numbers: Iterable[int], late: Sequence[str], apart: bool = False
    ) -> None:
        """Have the verdicts of some cases as they are, by all judges or late ones.

        Those `apart` are asked of the cases alone that they are for.
        """

        def judges(n: int) -> Sequence[str]:
            usual = self.judged[n].kinds()
            if apart and "class" not in late:
                return [by for by in usual if by in late]
            return late or usual

        def found() -> Any:
            install(self.base)
            edges: dict[int, dict[str, Any]] = {}
            verdicts = {}
            for n in numbers:
                judged = self.judged[n]
                if "edges" in late and (n, "edges") not in self.verdicts:
                    edges[n] = {"edges": edges_of(judged.case, self.base)}
                if "relations" in late and (n, "relations") not in self.verdicts:
                    edges[n] = {"asked": probes_of(judged.case, self.base)}
                judged = replace(judged, **edges.get(n, {}))
                for by in judges(n):
                    if (n, by) not in self.verdicts:
                        verdicts[n, by] = judged.verdict(by, self.base)
            return edges, verdicts

        numbers = [
            n for n in numbers if any((n, by) not in self.verdicts for by in judges(n))
        ]
        if not numbers:
            return
        edges, verdicts = in_child(found, patient=True)
        self.verdicts |= verdicts
        for n, some in edges.items():
            self.judged[n] = replace(self.judged[n], **some)
