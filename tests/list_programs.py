"""Functions with stacks, queues and other lists that change as values decide."""

from __future__ import annotations

import bisect
import heapq
from heapq import heapify, heappop
from typing import Any

import numpy as np


def factors(n: Any) -> Any:
    """Primes, as often as they divide."""
    found: list[Any] = []
    p = 2
    while p * p <= n:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    if n > 1:
        found.append(n)
    return found


def runs(a: Any) -> Any:
    """Values and lengths, by an element that is counted up."""
    values, counts = [a[0]], [1]
    for i in range(1, len(a)):
        if a[i] == values[-1]:
            counts[-1] += 1
        else:
            values.append(a[i])
            counts.append(1)
    return np.array(values), counts


def arrivals(gaps: Any, end: Any) -> Any:
    """Times until one is late, by a loop that is left."""
    t, k, times = 0.0, 0, []
    while True:
        t += gaps[k]
        k += 1
        if t > end:
            break
        times.append(t)
    return np.array(times), len(times)


def halves(y: Any, end: Any) -> Any:
    """Steps of a method that chooses their length; two lists with a beginning."""
    t, h = 0.0, 0.1
    ts, ys = [t], [y]
    while t < end:
        slope = -(y + h * -y)
        error = abs(h * (slope + y) / 2)
        if error < 1e-3:
            y = y + h * (slope - y) / 2
            t += h
            ts.append(t)
            ys.append(y)
        h = min(h * 0.9 * (1e-3 / (error + 1e-16)) ** 0.5, end - t + 1e-12, 1.0)
    return np.array(ts), np.array(ys)


def deep(edges: Any, start: Any) -> Any:
    """The order of a search by a stack."""
    seen = np.zeros(len(edges), np.bool_)
    order, stack = [], [start]
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for v in range(len(edges)):
            if edges[u, v] and not seen[v]:
                stack.append(v)
    return order


def broad(edges: Any, start: Any) -> Any:
    """Distances by a queue."""
    distance = np.full(len(edges), -1)
    queue = [start]
    distance[start] = 0
    while len(queue) > 0:
        u = queue.pop(0)
        for v in range(len(edges)):
            if edges[u, v] and distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


def regions(image: Any) -> Any:
    """Sizes of what hangs together, by a stack of pairs that is made in a loop."""
    labels, sizes = np.zeros(image.shape, np.int64), []
    for i in range(len(image)):
        for j in range(len(image[0])):
            if image[i, j] and labels[i, j] == 0:
                stack, size = [(i, j)], 0
                labels[i, j] = len(sizes) + 1
                while stack:
                    y, x = stack.pop()
                    size += 1
                    for step in (-1, 1):
                        is_inside = 0 <= y + step < len(image)
                        if is_inside and image[y + step, x] > labels[y + step, x]:
                            labels[y + step, x] = labels[y, x]
                            stack.append((y + step, x))
                sizes.append(size)
    return labels, sizes


def largest(heights: Any) -> Any:
    """The largest rectangle, by a stack that a test asks for."""
    stack: list[Any] = []
    best = 0
    for i in range(len(heights) + 1):
        height = heights[i] if i < len(heights) else 0
        while stack and heights[stack[-1]] >= height:
            top = stack.pop()
            width = i if not stack else i - stack[-1] - 1
            best = max(best, heights[top] * width)
        stack.append(i)
    return best


def matched(tokens: Any) -> Any:
    """An element that is taken out in a test."""
    stack: list[Any] = []
    fine = True
    for token in tokens:
        if token in (1, 2, 3):
            stack.append(token)
        elif len(stack) == 0 or stack.pop() != token - 3:
            fine = False
            break
    return fine and not stack


def postfix(tokens: Any, numbers: Any) -> Any:
    """A calculator."""
    stack: list[Any] = []
    for k in range(len(tokens)):
        if tokens[k] == 0:
            stack.append(numbers[k])
        else:
            b = stack.pop()
            a = stack.pop()
            if tokens[k] == 1:
                stack.append(a + b)
            else:
                stack.append(a * b)
    return stack[0]


def sorted_by_stack(a: Any) -> Any:
    """Quicksort, with the parts that are left."""
    a = a.copy()
    parts = [(0, len(a) - 1)]
    while parts:
        low, high = parts.pop()
        if low >= high:
            continue
        pivot, i = a[high], low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        parts.append((low, i - 1))
        parts.append((i + 1, high))
    return a


def merged(intervals: Any) -> Any:
    """Pairs, of which the last is set anew."""
    found = [(intervals[0, 0], intervals[0, 1])]
    for k in range(1, len(intervals)):
        low, high = intervals[k]
        first, last = found[-1]
        if low <= last:
            found[-1] = (first, max(last, high))
        else:
            found.append((low, high))
    return found


def cached(keys: Any, room: Any) -> Any:
    """Those used last: membership, and elements from the middle."""
    kept: list[Any] = []
    misses = 0
    for key in keys:
        if key in kept:
            i = 0
            while kept[i] != key:
                i += 1
            kept.pop(i)
        else:
            misses += 1
            if len(kept) == room:
                kept.pop(0)
        kept.append(key)
    return misses, kept


def circle(n: Any, step: Any) -> Any:
    """Elements of a list that is full at first."""
    left, out, i = [0] * 7, [], 0
    for k in range(7):
        left[k] = k * n
    while len(left) > 0:
        i = (i + step - 1) % len(left)
        out.append(left.pop(i))
    return out


def digits(n: Any, base: Any) -> Any:
    """Parts of a list, and its elements the other way round."""
    found: list[Any] = []
    while n > 0:
        found.append(n % base)
        n //= base
    part, last = found[1:], found[-2:]
    found.reverse()
    return found, part, last, found[::-1], len(part), sum(last), part[0]


def counted(a: Any) -> Any:
    """A list that is no longer than at first."""
    counts = [0] * 5
    for x in a:
        counts[x] += 1
    return counts


def several(a: Any) -> Any:
    """Several elements at once."""
    out: list[Any] = []
    for v in a:
        if v > 2:
            out.extend([v, 2 * v])
        elif v not in out:
            out += [v]
    return out


def nearest(lengths: Any) -> Any:
    """Distances by a heap of pairs, a float and an integer."""
    distance = np.full(len(lengths), np.inf)
    distance[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v in range(len(lengths)):
            if lengths[u, v] > 0 and d + lengths[u, v] < distance[v]:
                distance[v] = d + lengths[u, v]
                heapq.heappush(heap, (distance[v], v))
    return distance


def heaps(x: Any) -> Any:
    """The order of heaps, by each function."""
    heap: list[Any] = []
    for v in x:
        heap.append(v)
    heapify(heap)
    before = heap[:]
    first = heapq.heapreplace(heap, 0.5)
    second = heapq.heappushpop(heap, 2.5)
    third = heappop(heap)
    return before, first, second, third, heap


def in_order(x: Any) -> Any:
    """A list that is kept in order, and the places of numbers."""
    found: list[Any] = []
    places = []
    for v in x:
        if v > 0.2:
            bisect.insort(found, v)
        places.append(bisect.bisect_left(found, 0.5))
    found.insert(1, -1.0)
    found.insert(-1, -2.0)
    return found, places


def matches(pattern: Any, text: Any) -> Any:
    """A list of few places that a loop inside reads at a place that it finds."""
    back, k = [0] * len(pattern), 0
    for i in range(1, len(pattern)):
        while k > 0 and pattern[k] != pattern[i]:
            k = back[k - 1]
        k += pattern[k] == pattern[i]
        back[i] = k
    k, found = 0, []
    for i in range(len(text)):
        while k > 0 and pattern[k] != text[i]:
            k = back[k - 1]
        k += pattern[k] == text[i]
        if k == len(pattern):
            found.append(i - len(pattern) + 1)
            k = back[k - 1]
    return found


def filtered(x: Any) -> Any:
    """A pair in each turn, the second of which is an integer."""
    value, states = 0.0, []
    for k, v in enumerate(x):
        value += 0.25 * (v - value)
        states.append((value, k))
    states.clear() if len(states) == 0 else states.reverse()
    return states


def shrinking(x: Any) -> Any:
    """Arrays, of which each second one is kept, by a loop without a bound."""
    kept, k = [x.copy()], 0
    while np.abs(x).max() > 0.1:
        x = x - 0.1 * x
        k += 1
        if k % 2 == 0:
            kept.append(x.copy())
    total = 0.0
    for row in kept:
        total += row.sum()
    return kept, len(kept), kept[-1], kept[1][0], np.array(kept), kept[-2:], total


def stacked(x: Any) -> Any:
    """A stack of arrays, whose memory is used again."""
    stack, first, count = [x.copy()], 0.0, 0
    while stack:
        v = stack.pop()
        count += 1
        if v[0] < 8:
            stack.append(v * 2)
            stack.append(v * 3)
            v[0] = 1
            first += v[0]
    return count, first


def rows(x: Any) -> Any:
    """An array in each turn."""
    found, views = [], []
    for v in x:
        row = x * v
        found.append(row)
        views.append((x + v)[1:])
        row[0] = 7.0
    found[2][0] = 100.0
    return np.array(found), found, np.stack(views), np.vstack(found), len(found)


_RANDOM = np.random.default_rng(3)
_EDGES = _RANDOM.random((9, 9)) < 0.3
_IMAGE = _RANDOM.random((6, 5)) < 0.5
_INTERVALS = np.array([[0.0, 2], [1, 4], [5, 6], [6, 9], [12, 13]])
_KEYS = _RANDOM.integers(0, 6, 25)
LISTS: list[tuple[Any, tuple[Any, ...]]] = [
    (factors, (np.int64(360),)),
    (runs, (np.array([1, 1, 2, 2, 2, 3, 1]),)),
    (arrivals, (_RANDOM.random(100), 20.0)),
    (halves, (1.0, 5.0)),
    (deep, (_EDGES, 0)),
    (broad, (_EDGES, 0)),
    (regions, (_IMAGE,)),
    (largest, (np.array([2, 1, 5, 6, 2, 3]),)),
    (matched, (np.array([1, 2, 5, 4]),)),
    (matched, (np.array([1, 2, 4, 5]),)),
    (postfix, (np.array([0, 0, 1, 0, 2]), np.array([2.0, 3, 0, 4, 0]))),
    (sorted_by_stack, (_RANDOM.random(30),)),
    (merged, (_INTERVALS,)),
    (cached, (_KEYS, 3)),
    (circle, (np.int64(2), np.int64(3))),
    (digits, (np.int64(12345), 7)),
    (counted, (_RANDOM.integers(0, 5, 30),)),
    (nearest, (_RANDOM.random((8, 8)) * (_RANDOM.random((8, 8)) < 0.5),)),
    (heaps, (_RANDOM.random(9),)),
    (heaps, (_RANDOM.random(3),)),
    (in_order, (_RANDOM.random(9),)),
    (matches, (np.array([1, 2, 1]), np.array([1, 2, 1, 2, 1, 3]))),
    (filtered, (_RANDOM.random(9),)),
    (shrinking, (_RANDOM.random(9),)),
    (stacked, (np.ones(3),)),
    (rows, (_RANDOM.random(9),)),
    (several, (np.array([1, 3, 1, 4, 2]),)),
]
