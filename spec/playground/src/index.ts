/**
 * The specification, interpreted: what pages and the server of the protocol are made of.
 *
 *     const spec = load(document);
 *     const program = check(spec, parse(spec, "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"));
 *     run(spec, program, arguments, (step) => ...);
 */

import "./parts.js";
import { Spec } from "./spec.js";

export { check } from "./check.js";
export { SpecError } from "./errors.js";
export { apply, run, type Step } from "./evaluate.js";
export { readArray, readProgram, writeArray, writeProgram } from "./json.js";
export { Machine, type Transition } from "./machine.js";
export { numberText, readNumber } from "./numerals.js";
export { print } from "./printer.js";
export { parse } from "./reader.js";
export { Session, type Outcome } from "./sessions.js";
export { Spec } from "./spec.js";
export { Tracing, type Trace, type Value } from "./tracing.js";
export { TRANSFORMS } from "./transforms.js";
export * from "./values.js";

/** The specification of a document, as `python -m traceir.spec export` writes it. */
export const load = (document: unknown): Spec => new Spec(document);
