/** Threefry, and the draws of the gamma distribution that are made of it (spec/notation.rst). */

import type { Value } from "./formula.js";
import { unsupported } from "./values.js";

const WORD = 0xffffffffn;
const ROTATIONS = [
  [13n, 15n, 26n, 6n],
  [17n, 29n, 16n, 24n],
];

/** Two words made of a counter's, by the two words of a key. */
export function threefry(first: bigint, second: bigint, high: bigint, low: bigint): [bigint, bigint] {
  const key = [first, second, first ^ second ^ 0x1bd11bdan];
  let [a, b] = [(high + first) & WORD, (low + second) & WORD];
  for (let k = 0; k < 5; k++) {
    for (const turn of ROTATIONS[k % 2]) {
      a = (a + b) & WORD;
      b = (((b << turn) | (b >> (32n - turn))) & WORD) ^ a;
    }
    a = (a + key[(k + 1) % 3]) & WORD;
    b = (b + key[(k + 2) % 3] + BigInt(k + 1)) & WORD;
  }
  return [a, b];
}

export function gamma(..._: Value[]): Value {
  throw unsupported("draws of the gamma distribution");
}
