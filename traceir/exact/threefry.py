"""The Threefry hash of random bits, on Python's integers.

John Salmon, Mark Moraes, Ron Dror, David Shaw, "Parallel random numbers: as easy as
1, 2, 3" (2011): Threefry of two words of 32 bits, in twenty rounds. Serves:
threefry2x32
"""

from __future__ import annotations

WORD = 1 << 32
# By how many bits a round rotates; after four rounds the words of the key are added.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
INJECTIONS = 5


def threefry(first: int, second: int, high: int, low: int) -> tuple[int, int]:
    """Two words made of a counter's, by the two words of a key.

    >>> threefry(0, 0, 0, 0)
    (1797259609, 2579123966)
    """
    key = (first, second, first ^ second ^ PARITY)
    x, y = (high + first) % WORD, (low + second) % WORD
    for number in range(1, INJECTIONS + 1):
        for by in ROTATIONS[(number - 1) % 2]:
            x = (x + y) % WORD
            y = x ^ ((y << by) % WORD | y >> (32 - by))
        x = (x + key[number % 3]) % WORD
        y = (y + key[(number + 1) % 3] + number) % WORD
    return x, y
