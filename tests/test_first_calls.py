"""Things that are made when first asked for, by many threads at once.

Cites table.duplicate: no thread sees what another has half made.
"""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import first_calls
import numpy as np
import pytest
from forked import ends_well
from soak import SOAK

import traceir
import traceir.numpy as jnp
from traceir.base import config, lazy_exports, python_parser
from traceir.base.caches import once
from traceir.base.source_info import _user_files, is_users_code
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.jit import pickling
from traceir.reference.kernels.linalg.single_thread_blas import (
    _Inside,
    count_of,
    one_thread,
)
from traceir.rules.formulas.language import Formula
from traceir.rules.load import load

THREADS = 8


def at_once(call: Callable[[], Any]) -> list[Any]:
    """The results of a call in several threads that begin together."""
    together = threading.Barrier(THREADS)

    def work(_: int) -> Any:
        together.wait(60)
        return call()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(work, range(THREADS)))
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("number", range(24) if SOAK else (2, 9))
def test_first_calls_in_a_new_process(number: int) -> None:
    script = Path(first_calls.__file__)
    paths = [str(script.parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "TRACEIR_CACHE": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    child = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(script), str(number)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (child.returncode, child.stdout.strip(), child.stderr) == (0, "", "")


def test_no_first_call_brings_halves_of_what_is_done_at_forks() -> None:
    """A module with something to do before and after forks, such as `logging`, is there
    before the first call: where it comes during a fork, only its second half runs."""
    script = f"""
import os
import sys
import traceir
import traceir_numba
late = []
os.register_at_fork = lambda **hooks: "before" in hooks and late.append(hooks)
sys.path.insert(0, {str(Path(first_calls.__file__).parent)!r})
import first_calls
for call, _ in first_calls.CALLS:
    call()
print(late)
"""
    child = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TRACEIR_CACHE": "0"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (child.returncode, child.stdout.strip(), child.stderr) == (0, "[]", "")


def test_a_value_is_made_once() -> None:
    entered = []

    @once
    def make(_: int) -> object:
        entered.append(1)
        threading.Event().wait(0.01)
        return object()

    assert len({id(found) for found in at_once(lambda: make(1))}) == 1
    assert len(entered) == 1
    make.cache_clear()
    make(1)
    assert len(entered) == 2


def test_equal_contexts_are_one_object_in_all_threads() -> None:
    def entered() -> int:
        with traceir.enable_x64(), traceir.numpy_rank_promotion("raise"):
            return id(config.current())

    config._interned.cache_clear()
    assert len(set(at_once(entered))) == 1


def test_a_program_derives_a_thing_once_for_all_threads() -> None:
    closed: ClosedJaxpr = traceir.make_jaxpr(lambda x: x + 1)(1.0)
    assert len({id(p) for p in at_once(lambda: closed.memo("key", object))}) == 1


def test_rules_may_be_loaded_by_threads_at_once() -> None:
    clauses = {len(rules.clauses) for rules in at_once(load)[:3]}
    assert len(clauses) == 1


def test_formulas_of_one_text_are_equal() -> None:
    first, second = (ast.parse("a + b", mode="eval").body for _ in range(2))
    assert first is not second and Formula("a + b", first) == Formula("a + b", second)


def test_a_name_is_published_whole_and_once() -> None:
    """A thread that finds a function in the package finds its methods, too."""
    package: dict[str, object] = {"__name__": "traceir.numpy"}
    seen: list[object] = []

    def shown(value: object) -> object:
        seen.append(package.get("tau"))
        package["tau"] = "of another thread"
        return value

    assert lazy_exports.load(package, "math", "tau", shown) == "of another thread"
    assert seen == [None]
    assert jnp.add.reduce(jnp.ones(3)) == 3


def test_a_module_that_is_being_imported_has_no_names_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("numpy.ma", "numpy.random"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    assert lazy_exports.imported("numpy.ma", "MaskedArray") == ()

    @traceir.jit(backend="reference")
    def f(x: Any) -> Any:
        return x * 2

    assert f(np.float32(2)) == 4
    import traceir_numba

    assert traceir_numba.jit(lambda x: np.zeros_like(x) + 1)(np.ones(2)).sum() == 2


def test_python_is_parsed_again_where_another_thread_parses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, parse = [SystemError("AST constructor recursion depth mismatch")], ast.parse

    def sometimes(*args: Any, **kwargs: Any) -> Any:
        if left:
            raise left.pop()
        return parse(*args, **kwargs)

    monkeypatch.setattr(ast, "parse", sometimes)
    assert isinstance(python_parser.parse_expression("a"), ast.Name) and not left
    assert isinstance(python_parser.parse_module("a = 1").body[0], ast.Assign)
    left[:] = [SystemError("again")] * 1000
    with pytest.raises(SystemError, match="again"):
        python_parser.parse_module("a = 1")


def test_a_jitted_function_is_pickled_by_threads_at_once() -> None:
    data = at_once(lambda: pickle.dumps(first_calls.eager) + pickle.dumps(_doubled))
    assert len(set(data)) == 1


def test_the_body_to_pickle_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(fun: Any, name: str) -> Any:
        time.sleep(0.01)
        return body_of(fun, name)

    body_of = pickling.body_of
    monkeypatch.setattr(pickling, "body_of", slow)
    assert len(set(at_once(lambda: _halved._body))) == 1


@traceir.jit(backend="reference")
def _halved(x: Any) -> Any:
    return x / 2


@traceir.jit(backend="reference")
def _doubled(x: Any) -> Any:
    return x * 2


def test_a_child_does_not_wait_for_threads_of_small_matrices() -> None:
    def child() -> None:
        with one_thread():
            pass
        assert _Inside.calls == 0
        count = count_of()
        assert count is None or count[0]() == before

    count = count_of()
    before = count[0]() if count else 1
    with one_thread():
        assert ends_well(child)


def test_names_of_files_that_exec_made_are_not_kept_for_ever() -> None:
    for k in range(10_000):
        assert is_users_code(f"<made {k}>")
    assert len(_user_files) <= 4096


def test_plans_are_forgotten_while_other_threads_make_some() -> None:
    from traceir.base.caches import clear_all
    from traceir.eager.dispatch import EagerPlanCache

    made: list[EagerPlanCache] = []
    faults: list[BaseException] = []
    over = threading.Event()

    def make() -> None:
        while not over.is_set():
            made.append(EagerPlanCache(lambda x: x))
            del made[:-100]

    def forget() -> None:
        try:
            for _ in range(20):
                clear_all()
        except RuntimeError as error:
            faults.append(error)
        finally:
            over.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=make), threading.Thread(target=forget)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    assert not faults
