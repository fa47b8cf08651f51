/**
 * Texts parsed by the grammar that the document has, rule by rule.
 *
 * Where a text does not go on, the next alternative is tried, or one repetition less.
 */

import { SpecError } from "./errors.js";

/** An expression of the grammar: `text`, `special` and `rule` have a text, others have parts. */
interface Expression {
  is: "text" | "special" | "rule" | "all" | "any" | "maybe" | "many" | "but";
  text: string;
  parts: Expression[];
}

/** The tree of a rule. A word has its text as its one part. */
export class ParseTree {
  constructor(
    readonly rule: string,
    readonly parts: readonly (ParseTree | string)[],
    readonly at: number,
  ) {}
  all(...rules: string[]): ParseTree[] {
    return this.parts.filter((p): p is ParseTree => p instanceof ParseTree && rules.includes(p.rule));
  }
  one(...rules: string[]): ParseTree | undefined {
    return this.all(...rules)[0];
  }
  get text(): string {
    const [first] = this.parts;
    return typeof first === "string" ? first : first.text;
  }
}

type Parts = readonly (ParseTree | string)[];
type Ends = Iterable<[number, Parts]>;
/** From a place, and that where the rule began: the places where an expression can end. */
type Reader = (at: number, start: number) => Ends;

const CHARACTERS: Record<string, string> = {
  "a letter of Unicode": "\\p{L}",
  "a digit from 0 to 9": "[0-9]",
  "any character but the end of a line": "[^\\n]",
  "all up to a space and `has_placeholders=`": "[^]*?(?=\\s+has_placeholders=)",
};

export class Grammar {
  private text = "";
  private furthest = 0;
  private readonly readers = new Map<string, Reader>();
  private known = new Map<string, Kept>();

  constructor(private readonly grammar: { rules: Record<string, Expression>; words: string[] }) {}

  /** The tree of a whole text; what is none is an error of `text.syntax`. */
  parse(rule: string, text: string): ParseTree {
    this.text = text;
    this.furthest = 0;
    this.known = new Map();
    for (const [end, [tree]] of this.rule(rule)(text.length - text.trimStart().length, 0)) {
      if (end === text.length) return tree as ParseTree;
    }
    const rest = text.slice(this.furthest).trim().slice(0, 20) || "the end";
    throw new SpecError("text.syntax", `The text of a program must follow the grammar. Got: ${rest}`, false, this.furthest);
  }

  private line(at: number): number {
    return this.text.lastIndexOf("\n", at - 1) + 1;
  }

  private beginsLine(at: number): boolean {
    const line = this.line(at);
    return line > 0 && !this.text.slice(line, at).trim();
  }

  private rule(name: string): Reader {
    if (!this.readers.has(name)) this.readers.set(name, this.made(name));
    return this.readers.get(name)!;
  }

  private made(name: string): Reader {
    const expression = this.grammar.rules[name];
    if (this.grammar.words.includes(name)) return this.word(this.pattern(expression), name);
    if (expression.text === "the next word begins a line") return (at) => (this.beginsLine(at) ? [[at, []]] : []);
    if (expression.is === "special") {
      return (at, start) => {
        const column = start - this.line(start);
        return at === start || !this.beginsLine(at) || at - this.line(at) > column ? [[at, []]] : [];
      };
    }
    let inner: Reader | undefined;
    return (at) => {
      const key = `${name} ${at}`;
      if (!this.known.has(key)) {
        inner ??= this.reader(expression);
        this.known.set(key, new Kept(inner(at, at), (parts) => [new ParseTree(name, parts, at)]));
      }
      return this.known.get(key)!;
    };
  }

  /** The regular expression of a word, or of a part of one. */
  private pattern(e: Expression): string {
    const inner = (e.parts ?? []).map((p) => this.pattern(p));
    switch (e.is) {
      case "text":
        return e.text.replace(/[^\p{L}\p{N}_\s"'<>=,:;%&~@!-]/gu, "\\$&");
      case "special":
        return CHARACTERS[e.text];
      case "rule":
        return this.pattern(this.grammar.rules[e.text]);
      case "but":
        return `(?!${inner[1]})${inner[0]}`;
      case "any":
        return `(?:${inner.join("|")})`;
    }
    return `(?:${inner.join("")})${{ maybe: "?", many: "*", all: "" }[e.is]}`;
  }

  /** A terminal and the space after it; no letter follows one that ends in a letter. */
  private word(pattern: string, name = ""): Reader {
    const matcher = new RegExp(`(${pattern})(?!(?<=[\\p{L}\\p{N}_])[\\p{L}\\p{N}_])\\s*`, "uy");
    return (at) => {
      matcher.lastIndex = at;
      const found = matcher.exec(this.text);
      this.furthest = Math.max(this.furthest, at);
      return found ? [[matcher.lastIndex, [name ? new ParseTree(name, [found[1]], at) : found[1]]]] : [];
    };
  }

  private reader(e: Expression): Reader {
    if (e.is === "text") return this.word(this.pattern(e));
    if (e.is === "rule") return this.rule(e.text);
    const readers = e.parts.map((p) => this.reader(p));
    if (e.is === "all") return (at, start) => sequence(readers, at, start);
    if (e.is === "many") return (at, start) => repeated(readers[0], at, start);
    return function* (at, start) {
      for (const reader of readers) yield* reader(at, start);
      if (e.is === "maybe") yield [at, []];
    };
  }
}

/** The ends of a rule at a place, found when they are first asked for. */
class Kept implements Iterable<[number, Parts]> {
  private readonly found: [number, Parts][] = [];
  private readonly rest: Iterator<[number, Parts]>;
  constructor(
    ends: Ends,
    private readonly made: (parts: Parts) => Parts,
  ) {
    this.rest = ends[Symbol.iterator]();
  }
  *[Symbol.iterator](): Iterator<[number, Parts]> {
    for (let k = 0; ; k++) {
      if (k === this.found.length) {
        const next = this.rest.next();
        if (next.done) return;
        this.found.push([next.value[0], this.made(next.value[1])]);
      }
      yield this.found[k];
    }
  }
}

/** One after the other; where one cannot go on, that before it is read otherwise. */
function* sequence(readers: Reader[], at: number, start: number): Ends {
  const open: [Iterator<[number, Parts]>, Parts][] = [[readers[0](at, start)[Symbol.iterator](), []]];
  while (open.length) {
    const [ends, before] = open.at(-1)!;
    const next = ends.next();
    if (next.done) {
      open.pop();
      continue;
    }
    const parts = [...before, ...next.value[1]];
    if (open.length === readers.length) yield [next.value[0], parts];
    else open.push([readers[open.length](next.value[0], start)[Symbol.iterator](), parts]);
  }
}

/** Repetitions, the most first; each is of some characters. */
function* repeated(reader: Reader, at: number, start: number): Ends {
  const open = [reader(at, start)[Symbol.iterator]()];
  const ends = [at];
  const parts: Parts[] = [];
  while (open.length) {
    const next = open.at(-1)!.next();
    if (next.done) {
      open.pop();
      yield [ends.pop()!, parts.flat()];
      parts.pop();
    } else if (next.value[0] > ends.at(-1)!) {
      ends.push(next.value[0]);
      parts.push(next.value[1]);
      open.push(reader(next.value[0], start)[Symbol.iterator]());
    }
  }
}
