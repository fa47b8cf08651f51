/** Programs read from text: what the grammar's trees mean (spec/text.rst, "Reading"). */

import { effectsOf } from "./check.js";
import { SpecError } from "./errors.js";
import { Scope } from "./formula.js";
import { Grammar, ParseTree } from "./grammar.js";
import { kindOf, readNumber, readPlain, type Kind } from "./numerals.js";
import { sorted, type Row, type Spec } from "./spec.js";
import { Aval, HostFunction, Literal, Program, programsIn, sizeOf, Tensor, Tree, Var, type Atom, type Dtype, type Equation, type Param } from "./values.js";

const WORDS: Record<string, Param> = { None: null, True: true, true: true, False: false, false: false };
const NUMBERS = /^(True|False|true|false|nan|inf)$/;
const USUAL: Record<Kind, string> = { boolean: "bool", integer: "int32", floating: "float32", complex: "complex64" };

/** The program of a text; raises the error of a rule of `text`. */
export function parse(spec: Spec, text: string): Program {
  const tree = new Grammar(spec.document.grammar).parse("text", text);
  return new Reader(spec, tree).program(tree.all("program").at(-1)!, []);
}

/** The array of a tree, as cases write arrays. */
export function arrayOf(spec: Spec, tree: ParseTree): Tensor {
  const reader = new Reader(spec, new ParseTree("text", [], 0));
  return reader.elements(tree.one("elements")!, reader.type(tree.one("type")!));
}

/** The variables of a program: those with names, and those that are `_`. */
class Names {
  readonly named = new Map<string, Var>();
  readonly blanks: Var[] = [];
  define(name: string, aval: Aval): Var {
    if (name === "_") {
      this.blanks.push(new Var(aval));
      return this.blanks.at(-1)!;
    }
    // What is defined twice is one variable, for the rules of programs to reject.
    if (!this.named.has(name)) this.named.set(name, new Var(aval));
    return this.named.get(name)!;
  }
}

class Reader {
  /** The programs that `let` names: their trees, then, once read, the programs. */
  private readonly shared = new Map<string, ParseTree | Program | null>();

  constructor(
    private readonly spec: Spec,
    text: ParseTree,
  ) {
    text.all("name").forEach((name, k) => {
      if (this.shared.has(name.text)) throw this.error("text.syntax", name.text, name.at);
      this.shared.set(name.text, text.all("program")[k]);
    });
  }

  private error(rule: string, got: string, at: number): SpecError {
    return new SpecError(rule, `${this.spec.says.get(rule)} Got: ${got}`, false, at);
  }

  /** A program; its caller writes its results with the types `wanted`. */
  program(tree: ParseTree, wanted: readonly Aval[]): Program {
    const names = new Names();
    const binder = (b: ParseTree): Var => this.define(names, b);
    const constants = tree.all("constant").map(binder);
    const inputs = tree.all("binder").map(binder);
    const equations = tree.all("equation").map((e) => this.equation(names, e));
    const unread = [...names.blanks];
    const results = tree.all("atom").map((a, k) => this.result(names, unread, a, wanted[k]));
    const values = tree.all("constant").flatMap((c, k) => {
      const elements = c.one("elements");
      return elements ? [this.elements(elements, constants[k].aval)] : [];
    });
    return new Program(constants, values, inputs, equations, results);
  }

  /** The program that `let` gives a name; one that holds itself is none. */
  private named(name: string, at: number): Program {
    const found = this.shared.get(name);
    if (!found) throw this.error("text.syntax", name, at);
    if (found instanceof Program) return found;
    this.shared.set(name, null);
    const made = this.program(found, []);
    this.shared.set(name, made);
    return made;
  }

  // Variables and numbers

  private define(names: Names, tree: ParseTree): Var {
    const [name, type] = [tree.one("name")!, tree.one("type")];
    if (!type) throw this.error("text.syntax", `${name.text} without a type`, name.at);
    return names.define(name.text, this.type(type));
  }

  type(tree: ParseTree): Aval {
    const shape = tree.all("digits").map((n) => {
      if (n.text.length > 18) throw this.error("text.syntax", n.text, n.at);
      return Number(n.text);
    });
    const short = tree.one("dtype")!.parts.join("");
    const vma = tree.all("varying").flatMap((part) => part.all("name").map((n) => n.text));
    return new Aval(shape, this.spec.shorts.get(short)!, tree.parts.includes("~"), vma);
  }

  elements(tree: ParseTree, aval: Aval): Tensor {
    const scalars = tree.all("scalar");
    if (scalars.length !== sizeOf(aval.shape)) throw this.error("text.literal", `${scalars.length} elements for ${aval}`, tree.at);
    return new Tensor(aval, scalars.map((s) => new Literal(this.number(s, aval.dtype), aval.with({ shape: [] })).tensor.data[0]));
  }

  private word(tree: ParseTree): ParseTree {
    return tree.rule === "scalar" ? tree.one("number", "payload")! : tree;
  }

  private number(tree: ParseTree, dtype: Dtype): NonNullable<ReturnType<typeof readNumber>> {
    const { text } = this.word(tree);
    const found = readNumber(text, dtype);
    if (found === null) throw this.error("text.literal", text.slice(0, 40), tree.at);
    return found;
  }

  /** A variable, or a literal with its type; the word itself where it has none. */
  private atom(names: Names, tree: ParseTree): Atom | ParseTree {
    const [name, scalar, type] = [tree.one("name"), tree.one("scalar"), tree.one("type")];
    if (scalar) return type ? this.literal(scalar, this.type(type)) : scalar;
    const { text, at } = name!;
    if (text === "_" && names.blanks.length) {
      if (names.blanks.length > 1) throw this.error("text.syntax", "_", at);
      return names.blanks[0];
    }
    if (NUMBERS.test(text) && !names.named.has(text)) return name!;
    return names.define(text, new Aval([], this.spec.dtype("float32")));
  }

  private literal(tree: ParseTree, aval: Aval): Literal {
    return new Literal(this.number(tree, aval.dtype), aval);
  }

  /** A result; a `_` is the next one of the type that the caller writes (text.unused). */
  private result(names: Names, unread: Var[], tree: ParseTree, wanted: Aval | undefined): Atom {
    const k = tree.one("name")?.text === "_" ? unread.findIndex((v) => !wanted || v.aval.same(wanted)) : -1;
    if (k >= 0) return unread.splice(k, 1)[0];
    return this.typed(this.atom(names, tree), undefined, []);
  }

  /** An atom; a number without a type has one by text.untyped. */
  private typed(atom: Atom | ParseTree, wanted: Dtype | undefined, known: readonly Dtype[]): Atom {
    if (!(atom instanceof ParseTree)) return atom;
    const kind = kindOf(this.word(atom).text);
    const alike = known.find((d) => (kind === "integer" ? d.kind === "signed" || d.kind === "unsigned" : d.kind === kind));
    return this.literal(atom, new Aval([], wanted ?? alike ?? this.spec.dtype(USUAL[kind])));
  }

  // Equations

  private equation(names: Names, tree: ParseTree): Equation {
    const { text: word } = tree.one("dotted")!;
    const was = this.spec.spellings.get(word);
    const primitive = was?.means ?? word;
    const row = this.spec.rows.get(primitive);
    const binders = tree.all("binder");
    const outs = binders.flatMap((b) => b.one("type") ?? []).map((t) => this.type(t));
    const params: Record<string, Param> = {};
    for (const param of tree.all("param")) {
      const written = param.one("name")?.text ?? "fmt";
      if (was?.ignores.includes(written)) continue;
      const name = was?.params[written] ?? written;
      if (name in params) throw this.error("text.syntax", name, param.at);
      params[name] = this.param(row, name, param, outs);
    }
    const inputs = this.operands(names, tree, params, outs);
    const outputs = binders.map((b) => this.define(names, b));
    if (row) this.complete(row, params, inputs, outputs, tree);
    const effects = [...tree.all("name").map((n) => n.text), ...effectsOf(this.spec, primitive, params)];
    return { primitive, inputs, outputs, params: sorted(params), effects: [...new Set(effects)].sort() };
  }

  private operands(names: Names, tree: ParseTree, params: Record<string, Param>, outs: Aval[]): Atom[] {
    const found = tree.all("atom").map((a) => this.atom(names, a));
    const programs = Object.values(params).filter((p) => p instanceof Program);
    const inner = programs.length === 1 ? programs[0].ins : [];
    const known = [...found.flatMap((a) => (a instanceof ParseTree ? [] : [a.aval])), ...outs].map((a) => a.dtype);
    return found.map((a, k) => this.typed(a, inner[k]?.dtype, known));
  }

  /** The params that are not written (text.left-out). */
  private complete(row: Row, params: Record<string, Param>, inputs: Atom[], outputs: Var[], tree: ParseTree): void {
    for (const { name, parse: formula, optional, default: usual } of row.params) {
      if (name in params) continue;
      if (formula) {
        if (!outputs.length) throw this.error("text.hidden", name, tree.at);
        // Too few operands are for the rules of programs to reject.
        if (inputs.length < row.inputs.length - (row.variadic ? 1 : 0)) continue;
        const operands = Object.fromEntries(row.inputs.map((n, k) => [n, inputs[k]?.aval]));
        params[name] = formula(new Scope({ ...operands, out: outputs[0].aval }, {}, this.spec.names));
      } else if (optional) params[name] = usual;
    }
  }

  // Params

  private param(row: Row | undefined, name: string, tree: ParseTree, outs: Aval[]): Param {
    const verbatim = tree.one("verbatim")?.text;
    if (verbatim !== undefined) return /^(["']).*\1$/s.test(verbatim) && verbatim.length > 1 ? unquoted(verbatim) : verbatim;
    const known = row?.params.find((p) => p.name === name);
    const domain = known ? (known.applies ? "any" : known.domain) : name === "name" ? "name" : name.endsWith("jaxpr") ? "jaxpr" : "any";
    const found = this.value(tree.one("value")!, domain, outs);
    return known?.applies && isApplication(found, known.applies) ? null : found;
  }

  private value(tree: ParseTree, domain: string, outs: Aval[]): Param {
    const part = tree.parts[0] as ParseTree;
    switch (part.rule) {
      case "program":
        return this.program(part, outs);
      case "list":
      case "record":
        return this.items(part, domain, outs);
      case "string":
        return unquoted(part.text);
      case "wrapped":
      case "number":
      case "payload": {
        const { text } = part.one("number") ?? part;
        const found = readPlain(text);
        if (found === null) throw this.error("text.literal", text.slice(0, 40), part.at);
        return found;
      }
      case "tree":
        return new Tree(`PyTreeDef(${nodeText(part.one("node")!)})`);
      case "aval": {
        const dtype = this.spec.dtypes.get(part.one("name")!.text);
        if (!dtype) throw this.error("text.opaque", part.one("name")!.text, part.at);
        return new Aval(part.all("digits").map((n) => Number(n.text)), dtype, part.parts.includes("weak_type"));
      }
      case "names":
        return strings(part);
      case "spec":
        return part.all("value").map((v) => {
          const axes = this.value(v, domain, outs);
          return axes === null ? [] : Array.isArray(axes) ? axes : [axes];
        });
      case "mesh": {
        const kinds = part.all("list").flatMap((l) => this.items(l, "any", outs));
        const names = strings(part);
        if (kinds.length !== names.length) throw this.error("text.syntax", "a type for each axis", part.at);
        return names.map((name, k): Param[] => [name, readPlain(part.all("number")[k].text), kinds[k]]);
      }
      case "opaque":
        throw this.error("text.opaque", "an object", part.at);
    }
    return this.bare(part.text, domain, part.at);
  }

  private items(tree: ParseTree, domain: string, outs: Aval[]): Param[] {
    return tree.all("value", "program", "name", "list").map((part) => {
      if (part.rule === "value") return this.value(part, domain, outs);
      if (part.rule === "list") return this.items(part, domain, outs);
      return part.rule === "program" ? this.program(part, outs) : this.named(part.text, part.at);
    });
  }

  /** A word: a name, the name of a program, a constant, a dtype. */
  private bare(text: string, domain: string, at: number): Param {
    if (domain === "name" || domain === "text") return text;
    if (domain === "jaxpr" || domain === "jaxprs" || (domain === "any" && this.shared.has(text))) return this.named(text, at);
    if (domain === "function" && !text.includes(" ")) return new HostFunction(text);
    if (text.startsWith("<") || domain === "tree" || domain === "avals") {
      if (!this.spec.dtypes.has(text)) throw this.error("text.opaque", text.slice(0, 40), at);
    }
    if (text === "nan" || text === "inf") return readPlain(text);
    return text in WORDS ? WORDS[text] : (this.spec.dtypes.get(text) ?? text);
  }
}

/** True of a program that applies a primitive to its operands as they are. */
function isApplication(value: Param, primitive: string): boolean {
  if (!(value instanceof Program) || value.equations.length !== 1) return false;
  const [equation] = value.equations;
  const alike = (a: readonly Atom[], b: readonly Atom[]): boolean => a.length === b.length && a.every((x, k) => x === b[k]);
  return equation.primitive === primitive && alike(equation.inputs, value.inputs) && alike(equation.outputs, value.results);
}

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"', "0": "\0" };

/** The text that a quoted one stands for. */
function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gi, (all, x, u, v, plain) => {
    const code = x ?? u ?? v;
    return code ? String.fromCodePoint(parseInt(code, 16)) : (ESCAPES[plain] ?? all);
  });
}

const strings = (tree: ParseTree): string[] => tree.all("string").map((s) => unquoted(s.text));

/** A structure as it is printed. */
function nodeText(tree: ParseTree): string {
  const [first] = tree.parts;
  const nodes = tree.all("node").map(nodeText);
  if (first === "(") return `(${nodes.join(", ")}${nodes.length === 1 ? "," : ""})`;
  if (first === "[") return `[${nodes.join(", ")}]`;
  if (first === "{") return `{${nodes.flatMap((n, k) => (k % 2 ? [] : [`${n}: ${nodes[k + 1]}`])).join(", ")}}`;
  return typeof first === "string" ? first : first.text;
}

export const innerPrograms = (e: Equation): Program[] => Object.values(e.params).flatMap(programsIn);
