/** Results that are known by relations: some that satisfy them. */

import type { Scope } from "./formula.js";
import type { Row } from "./spec.js";
import { unsupported, type Aval, type Tensor } from "./values.js";

export function related(row: Row, _scope: Scope, _types: Aval[]): Tensor[] {
  throw unsupported(`${row.name}, whose results are known by relations`);
}
