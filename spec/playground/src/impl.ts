/**
 * The implementation behind the protocol: requests on standard input, answers on standard output, a line each.
 *
 *     node impl.js specification.json
 */

import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { check } from "./check.js";
import { SpecError } from "./errors.js";
import { run } from "./evaluate.js";
import { readArray, readProgram, writeArray, writeProgram, writeType, type Json } from "./json.js";
import "./parts.js";
import { print } from "./printer.js";
import { parse } from "./reader.js";
import { Session } from "./sessions.js";
import { Spec } from "./spec.js";

const PROTOCOL = "1.0";
const spec = new Spec(JSON.parse(readFileSync(process.argv[2] ?? new URL("specification.json", import.meta.url), "utf8")));

const REQUESTS: Record<string, (asked: Json) => Json> = {
  parse: ({ text }) => ({ program: writeProgram(parse(spec, text)) }),
  print: ({ program, full }) => ({ text: print(spec, readProgram(spec, program), full) }),
  infer: ({ program }) => ({ types: check(spec, readProgram(spec, program)).outs.map(writeType) }),
  check: ({ program }) => {
    check(spec, readProgram(spec, program));
    return {};
  },
  evaluate: ({ program, arguments: given }) => {
    const args = given.map((a: Json) => readArray(spec, a));
    return { results: run(spec, check(spec, readProgram(spec, program)), args).map(writeArray) };
  },
  session: (asked) => ({ outcomes: new Session(spec, asked).run().map(({ row, ...outcome }) => outcome) }),
};

function answer(asked: Json): Json {
  const { request } = asked;
  if (request === "shutdown") return { gives: {} };
  if (request === "hello") {
    const profiles = ["core", "text", "levels", "cache", "face", "transforms", "control"];
    return { gives: { protocol: PROTOCOL, name: "typescript", version: spec.document.suite.version, choices: {}, profiles, requests: Object.keys(REQUESTS) } };
  }
  if (!Object.hasOwn(REQUESTS, request)) return { unsupported: `the request ${request}` };
  try {
    return { gives: REQUESTS[request](asked) };
  } catch (error) {
    if (!(error instanceof SpecError)) return { error: String((error as Error).stack).split("\n").slice(0, 3).join(" ") };
    return error.rule ? { rejected: { rule: error.rule, text: error.message } } : { unsupported: error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const told = Buffer.from(`${JSON.stringify({ id: asked.id, ...answer(asked) })}\n`);
  for (let sent = 0; sent < told.length; ) {
    try {
      sent += writeSync(1, told, sent);
    } catch (error) {
      // The pipe is full until the judge has read of it.
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
    }
  }
  if (asked.request === "shutdown") break;
}
