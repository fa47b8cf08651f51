/** Programs as text, ordinary or full, by the rows about text and those of primitives (spec/text.rst). */

import { compiled, type ParamRow, type Row, type Spec } from "./spec.js";
import { Complex, Real } from "./exact.js";
import { equal, Scope, truth, type Formula } from "./formula.js";
import { HELPERS } from "./helpers.js";
import { between, Box, fill, joined, laidOut, type Piece } from "./layout.js";
import { complexText, floatText, numberText, payloadText } from "./numerals.js";
import { innerPrograms } from "./reader.js";
import { Aval, Dtype, HostFunction, Program, programsIn, Tree, Var, type Atom, type Equation, type Param, type Tensor } from "./values.js";

const NUMBERS = ["True", "False", "true", "false", "nan", "inf"];
const RECORDS: Record<string, [string, string]> = {
  convolution: ["ConvDimensionNumbers", "lhs_spec rhs_spec out_spec"],
  gather_numbers: ["GatherDimensionNumbers", "offset_dims collapsed_slice_dims start_index_map operand_batching_dims start_indices_batching_dims"],
  scatter_numbers: ["ScatterDimensionNumbers", "update_window_dims inserted_window_dims scatter_dims_to_operand_dims operand_batching_dims scatter_indices_batching_dims"],
};
const BRACKETED = ["dimension_numbers", "flags"];
const WORD = /^(?:[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*|<(?:[^<>\n]|<[^<>\n]*>)*>)$/u;

interface Form {
  when: Formula | null;
  mark: string;
  letters: string;
  width: number;
  indent: number;
}

/** The text of a program; the full one has all that equal programs share. */
export function print(spec: Spec, program: Program, full = false): string {
  return new Writer(spec, program, full).text();
}

/** The names of variables: letters as digits (text.names). */
export function* names(letters: string, taken: readonly string[]): Generator<string> {
  for (let length = 1, count = letters.length; ; length++, count *= letters.length) {
    for (let n = 0; n < count; n++) {
      let name = "";
      for (let k = 0, rest = n; k < length; k++, rest = Math.floor(rest / letters.length)) name = letters[rest % letters.length] + name;
      if ((length === 1 || name[0] !== letters[0]) && !taken.includes(name)) yield name;
    }
  }
}

class Writer {
  private readonly forms: Record<string, Form>;
  private readonly shared: Map<Program, string>;
  private readonly fresh: Generator<string>;
  /** The programs that stand for params which apply a primitive. */
  private readonly applied = new Map<string, Program>();

  constructor(
    private readonly spec: Spec,
    private readonly main: Program,
    private readonly full: boolean,
  ) {
    this.forms = compiled(spec.document.rules.text, HELPERS);
    this.shared = this.sharing();
    this.fresh = names(this.forms["text.names"].letters, [...this.shared.values(), ...NUMBERS]);
  }

  private get indent(): number {
    return this.forms["text.layout"].indent;
  }

  text(): string {
    const own = new Map<Var, string>();
    if (!this.full) {
      const read = new Set([...this.main.equations.flatMap((e) => e.inputs), ...this.main.results]);
      for (const v of this.main.equations.flatMap((e) => e.outputs)) if (!read.has(v)) own.set(v, this.forms["text.unused"].mark);
    }
    const before = [...this.shared].flatMap(([p, name]): Piece[] => [`let ${name} = `, this.program(p, new Map()), " in", { flat: " " }]);
    return laidOut(joined(...before, this.program(this.main, own)), this.forms["text.layout"].width);
  }

  // Programs that are written before the others

  /** Breadth-first (text.shared, text.shared-name). */
  private sharing(): Map<Program, string> {
    const uses = new Map<Program, number>();
    const wanted = new Map<Program, string>();
    const waiting: [Program, string][] = [[this.main, "jaxpr"]];
    for (const [program, name] of waiting) {
      if (!wanted.has(program)) wanted.set(program, name);
      uses.set(program, (uses.get(program) ?? 0) + 1);
      // What is in it has occurred twice by then.
      if (uses.get(program)! <= 2) for (const e of program.equations) waiting.push(...this.within(e));
    }
    const taken = new Set([...NUMBERS, "None", ...this.spec.dtypes.keys()]);
    const found = new Map<Program, string>();
    for (const [program, name] of wanted) {
      const known = { uses: BigInt(uses.get(program)!), equations: BigInt(program.equations.length), main: program === this.main };
      if (!truth(this.forms["text.shared"].when!(new Scope(known)))) continue;
      let free = name;
      for (let k = 1; taken.has(free); k++) free = `${name}${k}`;
      taken.add(free);
      found.set(program, free);
    }
    return found;
  }

  /** The programs of an equation, and the name that each would have. */
  private within(e: Equation): [Program, string][] {
    const row = this.spec.rows.get(e.primitive);
    const name = row?.names && typeof e.params.name === "string" ? e.params.name.replace(/^[<>]+|[<>]+$/g, "").replace(/[^\p{L}\p{N}_]/gu, "_") : "";
    const applied = Object.values(this.applications(e, row));
    return [...innerPrograms(e).map((p): [Program, string] => [p, name || "jaxpr"]), ...applied.map((p): [Program, string] => [p, "jaxpr"])];
  }

  private applications(e: Equation, row: Row | undefined): Record<string, Program> {
    const found: Record<string, Program> = {};
    for (const p of e.inputs.length ? (row?.params ?? []) : []) {
      if (!p.applies || (e.params[p.name] ?? null) !== null) continue;
      const dtype = e.inputs[0].aval.dtype;
      const key = `${p.applies} ${dtype.name}`;
      if (!this.applied.has(key)) {
        const [x, y, z] = [0, 1, 2].map(() => new Var(new Aval([], dtype)));
        this.applied.set(key, new Program([], [], [x, y], [{ primitive: p.applies, inputs: [x, y], outputs: [z], params: {}, effects: [] }], [z]));
      }
      found[p.name] = this.applied.get(key)!;
    }
    return found;
  }

  // Programs

  private program(p: Program, own: Map<Var, string>): Piece {
    const constants = p.constants.map((v, k) => this.binder(own, v) + this.elements(this.full ? p.values[k] : undefined));
    const inputs = p.inputs.map((v) => this.binder(own, v));
    const equations = p.equations.map((e) => this.equation(own, e));
    const results = p.results.map((a) => this.atom(own, a));
    const head = ["{ lambda ", fill(constants, this.indent), "; ", fill(inputs, this.indent), ". let"];
    const body = new Box([{ flat: " " }, ...between(equations, { flat: "; " })], this.indent, false);
    const tail = [{ flat: " " }, "in (", fill(results, this.indent, ","), results.length === 1 ? ",)" : ")"];
    return new Box([new Box([...head, body, ...tail], this.indent, false), " }"]);
  }

  private elements(x: Tensor | undefined): string {
    return x ? `={${x.data.map((v) => numberText(v, x.aval.dtype, true)).join(" ")}}` : "";
  }

  private name(own: Map<Var, string>, v: Var): string {
    if (!own.has(v)) own.set(v, this.fresh.next().value);
    return own.get(v)!;
  }

  private type(a: Aval): string {
    const names = a.vma.length > 1 ? `(${a.vma.join(",")})` : a.vma[0];
    return `${this.full && a.weak ? this.forms["text.weak"].mark : ""}${a}${a.vma.length ? `{V:${names}}` : ""}`;
  }

  private binder(own: Map<Var, string>, v: Var): string {
    return `${this.name(own, v)}:${this.type(v.aval)}`;
  }

  private atom(own: Map<Var, string>, a: Atom): string {
    return a instanceof Var ? this.name(own, a) : `${numberText(a.value, a.aval.dtype, this.full)}:${this.type(a.aval)}`;
  }

  // Equations

  private equation(own: Map<Var, string>, e: Equation): Piece {
    const row = this.spec.rows.get(e.primitive);
    const results = e.outputs.map((v) => this.binder(own, v));
    const named = row?.names ? e.params[row.names] : null;
    const inner = named instanceof Program && !this.shared.has(named) ? this.innerNames(own, e, named) : new Map<Var, string>();
    const usual = new Set([...(row?.effects ?? []), ...innerPrograms(e).flatMap((p) => p.equations.flatMap((q) => q.effects))]);
    const primitive = [e.primitive, ...e.effects.filter((x) => !usual.has(x)).sort()].join("!");
    const params = this.params(e, row, inner);
    const operands = e.inputs.map((a) => this.atom(own, a));
    return joined(fill(results, this.indent), results.length ? " = " : "", primitive, params, " ", fill(operands, this.indent));
  }

  /** The names of the caller's that an inner program uses (text.inner-names, text.unused). */
  private innerNames(own: Map<Var, string>, e: Equation, inner: Program): Map<Var, string> {
    const found = new Map<Var, string>();
    for (const [vars, outer] of [[inner.inputs, e.inputs], [inner.results, e.outputs]] as const) {
      const [used, blanks] = [new Set<Atom>(), new Map<Var, string>()];
      if (vars.length !== outer.length) continue;
      vars.forEach((v, k) => {
        const like = outer[k];
        if (!(v instanceof Var && like instanceof Var) || used.has(like) || found.has(v) || blanks.has(v)) return;
        used.add(like);
        const name = this.name(own, like);
        (name === this.forms["text.unused"].mark ? blanks : found).set(v, name);
      });
      if (blanks.size && areTold(inner, blanks)) for (const [v, name] of blanks) found.set(v, name);
    }
    return found;
  }

  private params(e: Equation, row: Row | undefined, inner: Map<Var, string>): Piece {
    const given: Record<string, Param> = { ...e.params, ...this.applications(e, row) };
    const rows = new Map(row?.params.map((p) => [p.name, p]));
    const first = (row?.order ?? []).filter((n) => n in given);
    const rest = Object.keys(given).filter((n) => !first.includes(n)).sort();
    const found = [...first, ...rest]
      .filter((n) => this.shows(given[n], rows.get(n)))
      .map((n) => joined(`${n}=`, this.param(e, n, given[n], rows.get(n), inner)));
    return found.length ? this.listed("[", found, "]") : "";
  }

  private listed(left: string, parts: readonly Piece[], right: string): Piece {
    return new Box([new Box([left, { flat: "" }, ...between(parts, { flat: " " })], this.indent, false), { flat: "" }, right]);
  }

  private shows(value: Param, param: ParamRow | undefined): boolean {
    if (!param) return true;
    const usual = param.optional && typeof value === typeof param.default && equal(value, param.default);
    return truth(this.forms["text.params"].when!(new Scope({ full: this.full, how: param.print, usual })));
  }

  private param(e: Equation, name: string, value: Param, param: ParamRow | undefined, inner: Map<Var, string>): Piece {
    const domain = param?.domain ?? (name === "name" ? "name" : "any");
    if (this.full && !hasText(value)) throw this.spec.error("text.opaque", `${name} of ${e.primitive}`);
    if (value instanceof Program) return this.shared.get(value) ?? this.program(value, new Map(inner));
    if (Array.isArray(value) && programsIn(value).length) {
      const comma = value.every((v) => v instanceof Program) ? "" : ",";
      const parts = value.map((v: Param, k: number) => joined(this.param(e, name, v, param, inner), k < value.length - 1 ? comma : ""));
      return this.listed("(", parts, ")");
    }
    if (typeof value === "string" && domain === "text") return this.full || /^['"]/.test(value) ? quoted(value) : value;
    if (domain in RECORDS) {
      const [title, fields] = RECORDS[domain];
      return `${title}(${fields.split(" ").map((f, k) => `${f}=${valueText((value as Param[])[k], false, true)}`).join(", ")})`;
    }
    if (domain in OF_MESHES) return OF_MESHES[domain](value);
    const plain = ["name", "tree", "avals"].includes(domain);
    const whole = ["options", "axis_names"].includes(domain);
    return valueText(value, BRACKETED.includes(domain), whole || (this.full && !plain));
  }
}

/** A value without programs; in full text a text is quoted. */
function valueText(value: Param, bracketed: boolean, full: boolean): string {
  if (value === null) return "None";
  if (typeof value === "string") return WORD.test(value) && !full ? value : quoted(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return String(value);
  if (value instanceof Real) return full && value.bits !== undefined ? payloadText(value.bits, 64) : floatText(value);
  if (value instanceof Complex) return complexText(value);
  if (value instanceof Dtype || value instanceof HostFunction) return value.name;
  if (value instanceof Tree) return value.text;
  if (value instanceof Aval) return `ShapedArray(${value.dtype.name}[${value.shape.join(",")}]${value.weak ? ", weak_type=True" : ""})`;
  const items = value as readonly Param[];
  const parts = items.map((v) => valueText(v, bracketed, full));
  if (bracketed && !items.some(Array.isArray)) return `[${parts.join(", ")}]`;
  return `(${parts.join(", ")}${parts.length === 1 ? "," : ""})`;
}

const tupled = (parts: readonly string[]): string => `(${parts.join(", ")}${parts.length === 1 ? "," : ""})`;

/** Meshes, specs and sets of names, as JAX writes them. */
const OF_MESHES: Record<string, (value: any) => string> = {
  mesh: (axes: [string, bigint, string][]) => {
    const kinds = axes.map(([, , kind]) => kind);
    const parts = [...axes.map(([name, size]) => `${quoted(name)}: ${size}`), ...(axes.length ? [`axis_types=${tupled(kinds)}`] : [])];
    if (!kinds.includes("Manual")) return `Mesh(${parts.join(", ")})`;
    return `AbstractMesh(${[...parts, "device_kind=cpu", "num_cores=None", "platform=cpu"].join(", ")})`;
  },
  specs: (specs: string[][][]) => {
    const entry = (axes: string[]): string => (axes.length > 1 ? tupled(axes.map(quoted)) : axes.length ? quoted(axes[0]) : "None");
    return tupled(specs.map((spec) => `P${tupled(spec.map(entry))}`));
  },
  name_set: (names: string[]) => (names.length ? `frozenset({${names.map(quoted).join(", ")}})` : "frozenset()"),
};

/** A text in quotes, as Python writes it. */
function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r");
  return mark + (mark === "'" ? inner.replace(/'/g, "\\'") : inner) + mark;
}

/** False of values that have no text (text.opaque). */
function hasText(value: Param): boolean {
  if (Array.isArray(value)) return value.every(hasText);
  return !(value instanceof HostFunction && value.call);
}

/** True if a reader knows which `_` each use of one is: as operands the only one so far, as results in their order. */
function areTold(program: Program, blanks: Map<Var, string>): boolean {
  const blank = (a: Atom): a is Var => a instanceof Var && blanks.has(a);
  const defined: Var[] = program.inputs.filter(blank);
  for (const e of program.equations) {
    if (e.inputs.filter(blank).some((v) => defined.length !== 1 || defined[0] !== v)) return false;
    defined.push(...e.outputs.filter(blank));
  }
  return program.results.filter(blank).every((v, k) => v === defined[k]);
}
