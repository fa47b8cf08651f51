"""Functions with every construct of generated source: text, operands, result."""

from __future__ import annotations

Form = tuple[str, tuple[str, ...], str]

FORMS: dict[str, Form] = {
    "integers": (
        "def integers(x, y):\n"
        "    q = x // y + x // 7 - x // -7 + x // -1\n"
        "    r = x % y + x % 5 - x % -5\n"
        "    s = (x << (y & 31)) ^ (x >> (y & 63)) | (x & y)\n"
        "    return q * 3 + r * 5 + s - ~x + abs(y) + (-x)\n",
        ("int64", "int64"),
        "int64",
    ),
    "unsigned": (
        "def unsigned(x, y):\n"
        "    q = x // y + x % y + (x >> u64(3)) + (x << u64(5))\n"
        "    return q + u64(x > y) + u64(x <= y) - ~x\n",
        ("uint64", "uint64"),
        "uint64",
    ),
    "narrow": (
        "def narrow(x, y):\n"
        "    z = x * y + x - y\n"
        "    return z if x < y else i32(u8(z) // u8(3))\n",
        ("int8", "uint8"),
        "int64",
    ),
    "casts": (
        "def casts(x, y):\n"
        "    z = f32(x) * f32(0.1) + i8(y) + u16(x)\n"
        "    return f64(z) + i32(y) + u32(x) + bool_(x) + (f32(7) / 2)\n",
        ("int64", "int32"),
        "float64",
    ),
    "truths": (
        "def truths(x, y):\n"
        "    a = x > y\n"
        "    b = (x == x) & (not a) | (y != y)\n"
        "    c = a or b and x < 0.5\n"
        "    return (a ^ c) if b else not x\n",
        ("float32", "float64"),
        "bool",
    ),
    "branches": (
        "def branches(x, y):\n"
        "    z = 0\n"
        "    if x > y:\n"
        "        z = x\n"
        "        if y == 0:\n"
        "            return 11\n"
        "    elif x == y:\n"
        "        z = z + 1\n"
        "    else:\n"
        "        z = y - 1\n"
        "    return z\n",
        ("int32", "int32"),
        "int64",
    ),
    "swaps": (
        "def swaps(x, y):\n"
        "    a, b = (x, y) if x < y else (y, x)\n"
        "    for k in range(5):\n"
        "        c = a\n"
        "        a = b + k\n"
        "        b = c\n"
        "    a, b = b, a\n"
        "    return a - b * 2\n",
        ("int64", "int64"),
        "int64",
    ),
    "rounds": (
        "def rounds(x, y):\n"
        "    total = i64(0)\n"
        "    for i in range(17, -5, -3):\n"
        "        if i == 2:\n"
        "            continue\n"
        "        if i * 1000 < x & 8191:\n"
        "            break\n"
        "        total += i\n"
        "        for j in range(i, 20, 4):\n"
        "            total = total * 3 + j\n"
        "    n = y & 15\n"
        "    while n > 0:\n"
        "        n = n - 1\n"
        "        if n == 9:\n"
        "            break\n"
        "        total = total + n\n"
        "    while True:\n"
        "        total = total - 5\n"
        "        if total < 100 or total % 7 == 0:\n"
        "            break\n"
        "        total = total // 2\n"
        "    return total + n\n",
        ("int64", "int64"),
        "int64",
    ),
    "places": (
        "def places(p, q, n):\n"
        "    out = row_of(q, n)\n"
        "    for i in range(n):\n"
        "        out[i] = p[i] * 2 + i\n"
        "        q[i] = out[i] - p[i + 1]\n"
        "    r = p\n"
        "    for i in range(n):\n"
        "        s = r\n"
        "        r = q\n"
        "        q = s\n"
        "    return r[0]\n",
        ("int32*", "int32*", "int64"),
        "int32",
    ),
    "reals": (
        "def reals(x, y):\n"
        "    z = math.copysign(np.floor(x), y) + np.rint(y) - np.trunc(x)\n"
        "    z = z + np.fmod(x, y) * np.ceil(x)\n"
        "    z = z / y if y > 2.0**-20 else inf\n"
        "    return math.sqrt(abs(z)) + (-x) * 1e-3 + (nan if x != x else 1 / x)\n",
        ("float32", "float32"),
        "float32",
    ),
}
