"""Commands that speak the protocol, and such that break it: `commands.py HOW`.

It imports nothing of the project: it is written as anybody would write it.
"""

from __future__ import annotations

import json
import math
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any

GREETING = {
    "protocol": "1.0",
    "name": "tiny",
    "version": "2",
    "profiles": ["core", "text", "transforms"],
    "requests": ["infer", "evaluate"],
}


def answer(asked: Any) -> Any:
    """The answer of an implementation of `neg` and `add` on whole numbers of f32."""
    if asked["request"] == "hello":
        return {"gives": GREETING}
    if asked["request"] == "shutdown":
        if len(sys.argv) > 2:
            Path(sys.argv[2]).write_text("ended", encoding="utf-8")
        return {"gives": {}}
    program = asked["program"]
    names = {equation["primitive"] for equation in program["equations"]}
    if not names <= {"neg", "add"} or program["constants"]:
        return {"unsupported": "more than neg and add"}
    types = {binder["var"]: binder["type"] for binder in program["inputs"]}
    for equation in program["equations"]:
        kinds = [one.get("type") or types[one["var"]] for one in equation["inputs"]]
        if all(kind["dtype"] == "bool" for kind in kinds):
            rule = f"{equation['primitive']}.numeric"
            return {"rejected": {"rule": rule, "text": "of booleans"}}
        if any(kind["dtype"] != "float32" for kind in kinds):
            return {"unsupported": "other dtypes than float32"}
        shapes = {tuple(kind["shape"]) for kind in kinds}
        if len(shapes) > 1 and () in shapes:
            return {"unsupported": "scalars beside others"}
        if len(shapes) > 1:
            return {"rejected": {"class": "TypeError", "text": "shapes differ"}}
        weak = all(kind["weak"] for kind in kinds)
        (output,) = equation["outputs"]
        types[output["var"]] = {**kinds[0], "weak": weak}
    found = [types[one["var"]] for one in program["results"]]
    if asked["request"] == "infer":
        return {"gives": {"types": found}}
    values = results(program, asked["arguments"])
    pairs = zip(found, values)
    return {"gives": {"results": [{"type": t, "elements": e} for t, e in pairs]}}


def results(program: Any, arguments: Any) -> list[list[str]]:
    """The elements of the results, rounded once."""
    known = {}
    for binder, array in zip(program["inputs"], arguments):
        if array["type"]["dtype"] == "float32":
            known[binder["var"]] = [float.fromhex(text) for text in array["elements"]]
    for equation in program["equations"]:
        operands = [known[one["var"]] for one in equation["inputs"]]
        (output,) = equation["outputs"]
        if equation["primitive"] == "neg":
            known[output["var"]] = [-x for x in operands[0]]
        else:
            known[output["var"]] = [rounded(x + y) for x, y in zip(*operands)]
    return [[x.hex() for x in known[one["var"]]] for one in program["results"]]


def rounded(x: float) -> float:
    """The nearest number of 32 bits."""
    try:
        found: float = struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return found


def say(message: Any) -> None:
    """Write a line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def raw(data: bytes) -> None:
    """Write bytes."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def misbehave(how: str, number: int, asked: Any) -> bool:
    """Break the protocol in the place of an answer; false for an answer as well."""
    match how:
        case "dies":
            print("out of memory", file=sys.stderr)
            os._exit(3)
        case "is killed":
            os.kill(os.getpid(), 9)
        case "hangs":
            time.sleep(1000)
        case "closes":
            os.close(1)
            time.sleep(1000)
        case "half a line":
            raw(b'{"id": 1, "gi')
            os._exit(0)
        case "half a line, hangs":
            raw(b'{"id": 1, "gi')
            time.sleep(1000)
        case "floods":
            while True:
                raw(b"x" * (1 << 20))
        case "floods with errors":
            print("x" * (1 << 22), file=sys.stderr)
            return False
        case "floods with lines":
            while True:
                raw(b'{"id": 0}\n' * 1000)
        case "not UTF-8":
            raw(b'{"id": "\xff"}\n')
        case "no JSON":
            raw(b"Segmentation fault\n")
        case "NaN":
            raw(b'{"id": %d, "gives": {"results": [NaN]}}\n' % number)
        case "too deep":
            raw(b"[" * 100000 + b"\n")
        case "no object":
            raw(b"[1, 2]\n")
        case "out of order":
            say({"id": number + 1, "gives": {}})
        case "no id":
            say({"gives": {}})
        case "true id":
            say({"id": True, "gives": {}})
        case "nothing":
            say({"id": number})
        case "two":
            say({"id": number, "gives": {}, "unsupported": "nothing"})
        case "twice":
            line = json.dumps({"id": number, **answer(asked)}) + "\n"
            raw(line.encode() * 2)
        case "error":
            say({"id": number, "error": "division by zero"})
        case "no rule":
            say({"id": number, "rejected": {"text": "no"}})
        case "invents a rule" if asked["request"] == "infer":
            say({"id": number, "rejected": {"rule": "add.dtypes", "text": "no"}})
        case "weakens" if asked["request"] == "infer":
            lie = answer(asked)
            for one in lie["gives"]["types"]:
                one["weak"] = True
            say({"id": number, **lie})
        case "types":
            say({"id": number, "gives": {"types": [{"dtype": "float33"}]}})
        case "lies" if asked["request"] == "evaluate":
            lie = answer(asked)
            for array in lie["gives"]["results"]:
                array["elements"] = ["0x1.0p+20" for _ in array["elements"]]
            say({"id": number, **lie})
        case "few" if asked["request"] == "evaluate":
            lie = answer(asked)
            for array in lie["gives"]["results"]:
                array["elements"] = array["elements"][1:]
            say({"id": number, **lie})
        case "decimal" if asked["request"] == "evaluate":
            lie = answer(asked)
            for array in lie["gives"]["results"]:
                array["elements"] = ["1.5" for _ in array["elements"]]
            say({"id": number, **lie})
        case "double" if asked["request"] == "evaluate":
            lie = answer(asked)
            for array in lie["gives"]["results"]:
                array["elements"] = ["0x1.0000000000001p+0" for _ in array["elements"]]
            say({"id": number, **lie})
        case _:
            return False
    return True


def main(how: str) -> None:
    """Answer, or not."""
    match how:
        case "no greeting":
            time.sleep(1000)
        case "dies at once":
            print("no such device", file=sys.stderr)
            os._exit(4)
        case "other version":
            GREETING["protocol"] = "2.0"
        case "no version":
            del GREETING["protocol"]
        case "claims nonsense":
            GREETING["requests"] = ["infer", "dance"]
        case "claims a number":
            GREETING["requests"] = 5
        case "claims a choice":
            GREETING["choices"] = {"choice.sum-order": "mine"}
        case "talks first":
            print("Welcome!", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        greets = asked["request"] in ("hello", "shutdown")
        if greets or not misbehave(how, asked["id"], asked):
            say({"id": asked["id"], **answer(asked)})
        if asked["request"] == "shutdown":
            return


if __name__ == "__main__":
    main(sys.argv[1])
