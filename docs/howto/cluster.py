"""Gradient descent over the processes of a Dask cluster, and what that costs.

``python docs/howto/cluster.py`` measures what the table of "Send functions to other
processes" has, and prints it; it needs the extra `parallel`. Two steps compile, then
rounds of steps are timed, and the median of the rounds is shown.
"""

import argparse
import os
import time
from itertools import pairwise
from statistics import median

os.environ.setdefault("TRACEIR_NUM_THREADS", "1")  # workers begin with the same

import numpy as np

import traceir
import traceir.numpy as jnp


def loss(params, x, y):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return jnp.mean((x @ w + b - y) ** 2)


slope = traceir.jit(traceir.value_and_grad(loss))


def mean(*parts):
    return traceir.tree.map(lambda *leaves: sum(leaves) / len(leaves), *parts)


def scattered(client, x, y):
    workers = list(client.scheduler_info()["workers"])
    parts = zip(np.array_split(x, len(workers)), np.array_split(y, len(workers)))
    return [
        [client.scatter(part, workers=[worker]) for part in shard]
        for worker, shard in zip(workers, parts)
    ]


def train(client, params, shards, steps, rate=0.1):
    for _ in range(steps):
        parts = [client.submit(slope, params, *one, pure=False) for one in shards]
        value, found = client.submit(mean, *parts, pure=False).result()
        params = traceir.tree.map(lambda p, g: p - rate * g, params, found)
    return value, params


# What is measured ends here.


class Alone:
    """In place of a client, and of what it promises: tasks run here and now."""

    def __init__(self, value=None):
        self.value = value

    def submit(self, function, *args, pure):
        given = [one.value if isinstance(one, Alone) else one for one in args]
        return Alone(function(*given))

    def result(self):
        return self.value

    def run(self, function):
        return {}


def problem(rows, sizes=(64, 256, 256, 1)):
    """Weights to begin with, and rows with their targets."""
    random = np.random.default_rng(0)
    params = [
        (random.normal(0, n**-0.5, (n, m)).astype("float32"), np.zeros(m, "float32"))
        for n, m in pairwise(sizes)
    ]
    x = random.normal(size=(rows, sizes[0])).astype("float32")
    return params, x, np.sin(x[:, :1] * 2)


def used(client):
    """Processor seconds of this process, with the scheduler's, and of the workers'."""
    return time.process_time() + sum(client.run(time.process_time).values())


def timed(client, work):
    """Processor seconds and elapsed seconds, and what the work gives."""
    before, start = used(client), time.perf_counter()
    result = work()
    elapsed = time.perf_counter() - start
    return used(client) - before, elapsed, result


def measured(client, shards, params, steps, rounds):
    """Medians of the seconds of a step, the last loss, and of an idle second."""
    _, params = train(client, params, shards, 2)
    found = [
        timed(client, lambda: train(client, params, shards, steps))
        for _ in range(rounds)
    ]
    idle, _, _ = timed(client, lambda: time.sleep(1))
    busy, elapsed = (median(row[k] for row in found) / steps for k in (0, 1))
    return busy, elapsed, float(found[0][2][0]), idle


def main():
    """Measure, and print the table."""
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    params, x, y = problem(given.rows)
    how = params, given.steps, given.rounds
    rows = {"no cluster": measured(Alone(), [[x, y]], *how)}
    for count, name in (1, "a cluster of one worker"), (2, "a cluster of two"):
        settings = {"threads_per_worker": 1, "dashboard_address": None}
        with (
            LocalCluster(n_workers=count, **settings) as cluster,
            Client(cluster) as client,
        ):
            shards = scattered(client, x, y)
            rows[name] = measured(client, shards, *how)
    line = f"{'=' * 25}  {'=' * 14}  {'=' * 8}  {'=' * 10}  {'=' * 14}"
    print(line)
    head = "..", "processor time", "elapsed", "last loss", "an idle second"
    print("{:25}  {:14}  {:8}  {:10}  {:14}".format(*head))
    print(line)
    for name, (busy, elapsed, last, idle) in rows.items():
        cells = (
            name,
            f"{busy:.2f} s",
            f"{elapsed:.2f} s",
            f"{last:.7f}",
            f"{idle:.2f} s",
        )
        print("{:25}  {:14}  {:8}  {:10}  {:14}".format(*cells))
    print(line)


if __name__ == "__main__":
    main()
