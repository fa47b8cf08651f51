"""Jitted functions as the tasks of processes, joblib, Dask and Ray.

Cites export.pickled. What runs the tasks are packages of the extras `parallel` and
`ray`; the standard library's pools are always tested.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import work

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.sharding import NamedSharding, P, SingleDeviceSharding

TESTS = Path(__file__).parents[1]
ROWS = np.arange(12.0, dtype="float32").reshape(4, 3)
NORMS = [float(np.sqrt((row * row).sum(dtype="float32"))) for row in ROWS]


@pytest.fixture(scope="module")
def pool() -> Any:
    """Two processes that began from nothing."""
    with ProcessPoolExecutor(2, get_context("spawn")) as made:
        yield made


@pytest.fixture
def eight() -> Iterator[None]:
    """Eight devices."""
    before = traceir.config.num_cpu_devices
    traceir.config.update("num_cpu_devices", 8)
    yield
    traceir.config.update("num_cpu_devices", before)


def test_processes_that_were_spawned(pool: Any) -> None:
    program = traceir.export(lambda x: x * 3, ROWS[0])
    assert list(map(float, pool.map(work.norm, ROWS))) == pytest.approx(NORMS)
    assert [x.tolist() for x in pool.map(work.plain, ROWS)] == (
        (ROWS[:, ::-1] * 2).tolist()
    )
    assert [x.tolist() for x in pool.map(program, ROWS)] == (ROWS * 3).tolist()
    powers = [pool.submit(work.power, x, n=n) for n, x in enumerate(ROWS)]
    assert [p.result().tolist() for p in powers] == [
        (row**n).tolist() for n, row in enumerate(ROWS)
    ]


def test_what_was_compiled_is_not_compiled_again(pool: Any) -> None:
    for name in ("nested", "line"):  # which no task has called before
        wanted, _ = work.compiled(name, ROWS[0])
        found, kernels = pool.submit(work.compiled, name, ROWS[0]).result()
        assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()
        assert kernels == 0, name


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_processes_that_were_forked(method: str) -> None:
    program = traceir.export(work.slope, ROWS[1])
    wanted = ROWS[1] / NORMS[1]
    assert np.allclose(work.slope(ROWS[1]), wanted)  # there are threads, and code
    with ProcessPoolExecutor(1, get_context(method)) as one:
        for f in (work.slope, program, work.nested):
            found = one.submit(f, ROWS[1]).result()
            np.testing.assert_allclose(found, f(ROWS[1]), rtol=1e-6)


def test_threads() -> None:
    slope = traceir.jit(traceir.grad(lambda x: jnp.sum(x * x)))
    with ThreadPoolExecutor(4) as threads:
        assert [x.tolist() for x in threads.map(slope, ROWS)] == (2 * ROWS).tolist()
    assert slope.cache_info().misses == 1


def test_a_list_of_functions_goes_as_one() -> None:
    large = np.arange(2e6, dtype="float32")  # goes once with each function
    functions = {
        "norm": work.norm,
        "program": traceir.export(lambda x: x + large, large),
    }
    read = pickle.loads(pickle.dumps(functions))
    assert read["norm"] is work.norm
    assert np.asarray(read["program"](large)).tolist() == (2 * large).tolist()


# Of a process in which neither Numba nor LLVM is installed.
ALONE = """
import pickle, sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
import traceir
program, data, x = pickle.load(sys.stdin.buffer)
again = traceir.deserialize(data)
assert "traceir_numba" not in sys.modules
found = program(x), again(x), traceir.grad(again)(x), traceir.jit(program)(x)
pickle.dump([float(traceir.numpy.sum(v)) for v in found], sys.stdout.buffer)
"""


def test_a_process_that_has_numpy_and_no_compiler() -> None:
    program = traceir.export(lambda x: jnp.sum(traceir.nn.relu(x - 1) ** 2), ROWS[0])
    given = pickle.dumps((program, program.serialize(vjp_order=1), ROWS[0]))
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        input=given,
        capture_output=True,
        cwd=TESTS.parent,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert pickle.loads(done.stdout) == [1.0, 1.0, 2.0, 1.0]


def test_arrays_and_keys_go_both_ways(pool: Any) -> None:
    keys = traceir.random.split(traceir.random.key(0), 2)
    drawn = list(pool.map(traceir.random.bits, keys))
    assert [int(d) for d in drawn] == [int(traceir.random.bits(k)) for k in keys]
    weak = pool.submit(work.norm, jnp.asarray(2.0)).result()
    assert type(weak) is traceir.Array and weak.aval.weak_type == (
        work.norm(jnp.asarray(2.0)).aval.weak_type
    )


def test_joblib() -> None:
    joblib = pytest.importorskip("joblib", reason="in the extra `parallel`")
    scale = np.float32(2)
    scaled = traceir.jit(lambda x: jnp.sum(x) * scale)
    program = traceir.export(scaled, ROWS[0])
    for f in (scaled, program):
        for backend in ("loky", "threading"):
            run = joblib.Parallel(n_jobs=2, backend=backend)
            found = run(joblib.delayed(f)(row) for row in ROWS)
            assert [float(x) for x in found] == (2 * ROWS.sum(axis=1)).tolist()


def smooth(x: Any) -> Any:
    """A plain function of a block, which may be empty."""
    return np.exp(-x) * (x.max() if x.size else 0)


CALLS: list[tuple[int, ...]] = []


@traceir.jit
def centred(x: Any) -> Any:
    """A block less its mean."""
    CALLS.append(x.shape)
    return x - jnp.mean(x, axis=1, keepdims=True)


def test_blocks_of_a_dask_array() -> None:
    da = pytest.importorskip("dask.array", reason="in the extra `parallel`")
    x = da.from_array(ROWS, chunks=(2, 3))
    CALLS.clear()
    found = x.map_blocks(centred)
    # Dask asks for the type of a result with no elements, and with one.
    assert CALLS == [(0, 0), (1, 1)]
    assert found.dtype == np.float32 and found.shape == (4, 3)
    wanted = ROWS - ROWS.mean(axis=1, keepdims=True)
    assert np.asarray(found.compute(scheduler="threads")).tolist() == wanted.tolist()
    total = found.sum(axis=1).compute(scheduler="sync")
    np.testing.assert_allclose(np.asarray(total), wanted.sum(axis=1), atol=1e-5)
    plain = traceir_numba.jit(smooth)
    blocks = x.map_blocks(plain).compute(scheduler="sync")
    assert type(blocks) is np.ndarray
    halves = [smooth(part) for part in (ROWS[:2], ROWS[2:])]
    np.testing.assert_allclose(blocks, np.concatenate(halves), rtol=1e-6)


def test_dask_tells_functions_apart() -> None:
    pytest.importorskip("dask.array", reason="in the extra `parallel`")
    from dask.base import tokenize

    def scaled(by: float) -> Any:
        return traceir.jit(lambda x: x * by)

    assert tokenize(work.norm) == tokenize(work.norm)
    assert tokenize(scaled(2.0)) == tokenize(scaled(2.0))
    several = [work.norm, work.doubled, scaled(2.0), scaled(3.0)]
    several += [traceir.jit(work.double, static_argnums=0), work.powered]
    several += [traceir.export(work.norm, row) for row in (ROWS[0], ROWS[0, :2])]
    assert len({tokenize(f) for f in several}) == len(several)
    assert tokenize(several[-1]) == tokenize(traceir.export(work.norm, ROWS[0, :2]))
    assert tokenize(jnp.ones(2)) == tokenize(jnp.ones(2)) != tokenize(jnp.zeros(2))


TOKENS = """
import sys
sys.path[:0] = sys.argv[1:]
from dask.base import tokenize
from exports import work
import numpy as np, traceir
x = np.ones(3, "float32")
named = [work.norm, work.slope, work.powered, work.line, work.donating, work.plain]
program = traceir.export(lambda x: 2 * x, x)
print(*map(tokenize, [*named, program, program.vjp(), traceir.numpy.ones(3)]))
"""


def test_other_processes_give_the_same_tokens() -> None:
    pytest.importorskip("dask.array", reason="in the extra `parallel`")

    def tokens() -> list[str]:
        command = [sys.executable, "-c", TOKENS, str(TESTS), str(TESTS.parent)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    found = tokens()
    assert found == tokens() and len({*found}) == 9


def test_tasks_of_dask() -> None:
    dask = pytest.importorskip("dask", reason="in the extra `parallel`")
    norms = [dask.delayed(work.norm)(row) for row in ROWS]
    total = dask.delayed(traceir.jit(lambda *parts: sum(parts)))(*norms)
    found = dask.compute(total, scheduler="threads")[0]
    assert float(found) == pytest.approx(sum(NORMS))
    found = dask.compute(*norms, scheduler="processes", num_workers=1)
    assert [float(x) for x in found] == pytest.approx(NORMS)


def test_chunks_of_dask_are_shards(eight: None) -> None:
    array = pytest.importorskip("dask.array", reason="in the extra `parallel`")
    mesh = traceir.make_mesh((4, 2), ("x", "y"))
    blocks = NamedSharding(mesh, P("x", "y"))
    whole = np.arange(48.0, dtype="float32").reshape(8, 6)
    chunked = array.from_array(whole, chunks=(2, 3))
    x = traceir.make_array_from_callback(
        whole.shape, blocks, lambda index: np.asarray(chunked[index])
    )
    assert np.array_equal(x, whole) and x.sharding == blocks
    shards = [
        array.from_array(np.asarray(shard.data)) for shard in x.addressable_shards
    ]
    back = array.block([shards[k : k + 2] for k in range(0, 8, 2)])
    assert back.chunks == chunked.chunks and np.array_equal(back.compute(), whole)
    doubled = chunked.map_blocks(traceir.jit(lambda block: block * 2), dtype="float32")
    assert np.array_equal(doubled.compute(), whole * 2)


def test_a_dask_cluster_of_processes() -> None:
    distributed = pytest.importorskip("distributed", reason="in the extra `parallel`")
    w = np.float32(3)
    slope = traceir.jit(traceir.grad(lambda x: jnp.sum(jnp.sin(w * x))))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        norms = client.gather(client.map(work.norm, list(ROWS)))
        slopes = client.gather(client.map(slope, list(ROWS)))
    assert list(map(float, norms)) == pytest.approx(NORMS)
    np.testing.assert_allclose(slopes, 3 * np.cos(3 * ROWS), rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray, with one process for tasks."""
    found = pytest.importorskip("ray", reason="the extra `ray`")
    found.init(
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": f"{TESTS}:{TESTS.parent}"}},
    )
    yield found
    found.shutdown()


def test_the_body_of_a_ray_task(ray: Any) -> None:
    task = ray.remote(lambda x: work.norm(x))
    program = ray.put(traceir.export(work.norm, ROWS[0]))
    found = ray.get([task.remote(row) for row in ROWS])
    apply = ray.remote(lambda f, x: f(x))
    again = ray.get(apply.remote(program, ROWS[1]))
    w = np.float32(3)
    slope = traceir.jit(traceir.grad(lambda x: jnp.sum(w * x * x)))
    slopes = ray.get([apply.remote(slope, row) for row in ROWS])
    assert list(map(float, found)) == pytest.approx(NORMS)
    assert float(again) == pytest.approx(NORMS[1])
    np.testing.assert_allclose(slopes, 6 * ROWS)


def test_shards_are_objects_of_ray(ray: Any, eight: None) -> None:
    rows = NamedSharding(traceir.make_mesh((4,), ("x",)), P("x"))
    x = traceir.device_put(ROWS, rows)
    apply = ray.remote(lambda f, x: f(x))
    shards = [(apply.remote(work.norm, s.data), s.device) for s in x.addressable_shards]
    parts = [traceir.device_put(ray.get(n)[None], d) for n, d in shards]
    norms = traceir.make_array_from_single_device_arrays((4,), rows, parts)
    assert norms.sharding == rows and norms.tolist() == pytest.approx(NORMS)
    # An object is memory that all processes read; an array of it is one, and whole.
    stored = ray.put(x)
    found = ray.get(stored)
    assert found.sharding == SingleDeviceSharding() and np.array_equal(found, ROWS)
    assert not np.asarray(found).flags.writeable
    assert traceir.jit(jnp.negative, donate_argnums=0)(found)[1, 0] == -ROWS[1, 0]
    assert np.array_equal(ray.get(stored), ROWS)
    with pytest.raises(TypeError, match="function or a class"):
        ray.remote(work.norm)
