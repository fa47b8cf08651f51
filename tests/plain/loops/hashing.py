"""Hashes and generators by arithmetic of fixed width."""

import numpy as np

from plain.loops.program import Program, integers

FNV_PRIME = np.uint32(16777619)
FNV_START = np.uint32(2166136261)


def fnv_rows(table):
    """A hash of each row, all rows at a time."""
    h = np.full(len(table), FNV_START, dtype=np.uint32)
    for column in table.T:
        h ^= column
        h *= FNV_PRIME
    return h


def adler32(data):
    a = 1
    b = 0
    for byte in data:
        a = (a + int(byte)) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


def crc_table():
    table = np.empty(256, np.uint32)
    for n in range(256):
        c = np.uint32(n)
        for _ in range(8):
            if c & np.uint32(1):
                c = np.uint32(0xEDB88320) ^ (c >> np.uint32(1))
            else:
                c = c >> np.uint32(1)
        table[n] = c
    return table


def crc32(data):
    table = crc_table()
    crc = np.uint32(0xFFFFFFFF)
    for i in range(data.size):
        crc = table[(crc ^ data[i]) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    return crc ^ np.uint32(0xFFFFFFFF)


def splitmix(state, out):
    """Fill an array with a stream of 64-bit numbers; the state is an array of one."""
    for i in range(out.size):
        state[0] += np.uint64(0x9E3779B97F4A7C15)
        z = state[0]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] = z ^ (z >> np.uint64(31))


def hash_table(keys, size):
    """Insert keys by linear probing; the table, and the longest probe."""
    slots = np.full(size, -1, np.int64)
    longest = 0
    for key in keys:
        h = (key * 2654435761) % size
        probes = 0
        while slots[h] != -1 and slots[h] != key:
            h = (h + 1) % size
            probes += 1
        slots[h] = key
        if probes > longest:
            longest = probes
    return slots, longest


def bytes_of(n):
    return integers(n, below=256).astype(np.uint8)


PROGRAMS = [
    Program(
        "numpy",
        fnv_rows,
        lambda n, m: (integers(n, m, below=256).astype(np.uint32),),
        (6, 5),
        (20_000, 20),
    ),
    Program("numpy", adler32, lambda n: (bytes_of(n),), (20,), (100_000,)),
    Program("numba", crc32, lambda n: (bytes_of(n),), (20,), (500_000,)),
    Program(
        "numba",
        splitmix,
        lambda n: (np.array([42], np.uint64), np.zeros(n, np.uint64)),
        (10,),
        (500_000,),
    ),
    Program(
        "numba",
        hash_table,
        lambda n, m: (integers(n, below=9999), m),
        (10, 16),
        (40_000, 65_536),
    ),
]
