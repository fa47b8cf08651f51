/** Numbers of program text, read and written (spec/text.rst). */

import { Complex, FLOAT64, readReal, Real, rounded } from "./exact.js";
import { bitsOf, nanOf, numberOf } from "./formats.js";
import { limits } from "./helpers.js";
import { numberOfWords, wordsOfNumber, type Dtype, type Element } from "./values.js";

export type Kind = "boolean" | "integer" | "floating" | "complex";

const TRUTH: Record<string, boolean> = { True: true, true: true, "1": true, False: false, false: false, "0": false };
const PART = "(?:0x[0-9a-fA-F.]+(?:p[+-]?\\d+)?|\\d[\\d.]*(?:e[+-]?\\d+)?|inf|nan)";
const COMPLEX = new RegExp(`^\\(?(-?${PART}(?=[+-]))?([+-]?${PART})j\\)?$`);

/** The kind of a number that has no type. */
export function kindOf(text: string): Kind {
  if (/^(True|true|False|false)$/.test(text)) return "boolean";
  if (/j\)?$/.test(text)) return "complex";
  return /^-?\d+$/.test(text) ? "integer" : "floating";
}

const double = (text: string): Real | null => {
  const found = readReal(text);
  return found && rounded(found, FLOAT64);
};

/** A real number as a double; one that is infinite in the dtype is so already. */
function realOf(text: string, dtype: Dtype | null): Real | null {
  const kind = kindOf(text);
  const found = kind === "integer" || kind === "floating" ? double(text) : null;
  const near = found && dtype && rounded(found, dtype.format);
  return near?.special ? near : found;
}

function complexOf(text: string, dtype: Dtype | null): Complex | null {
  if (kindOf(text) !== "complex") {
    const re = realOf(text, dtype);
    return re && new Complex(re);
  }
  const found = COMPLEX.exec(text);
  const parts = found && [found[1], found[2]].map((p) => realOf(p ?? "0.0", dtype));
  return parts?.[0] && parts[1] ? new Complex(parts[0], parts[1]) : null;
}

/** The value of a text in a dtype, null where it has none (text.literal). */
export function readNumber(text: string, dtype: Dtype): Element | null {
  const payload = /^-?nan\(0x([0-9a-fA-F]+)\)$/.exec(text);
  switch (dtype.kind) {
    case "boolean":
      return TRUTH[text] ?? null;
    case "signed":
    case "unsigned":
    case "key": {
      if (kindOf(text) !== "integer") return null;
      const [whole, [least, most]] = [BigInt(text), limits(dtype)];
      if (whole < least || whole > most) return null;
      return dtype.kind === "key" ? wordsOfNumber(whole, dtype) : whole;
    }
    case "floating":
      return payload ? nanOf(BigInt(`0x${payload[1]}`), dtype.bits, dtype.format.fraction) : realOf(text, dtype);
    case "complex":
      return payload ? complexPayload(BigInt(`0x${payload[1]}`), dtype) : complexOf(text, dtype);
  }
}

/** The first part has the lower half of the bits. */
function complexPayload(bits: bigint, { bits: width, format }: Dtype): Complex | null {
  const [half, { fraction }] = [width / 2, format];
  const part = (b: bigint): Real => nanOf(b, half, fraction) ?? numberOf(b, half - 1 - fraction, fraction);
  const found = new Complex(part(BigInt.asUintN(half, bits)), part(bits >> BigInt(half)));
  return bits >> BigInt(width) || !found.nan ? null : found;
}

/** A number without a dtype, as params have it. */
export function readPlain(text: string): boolean | bigint | Real | Complex | null {
  const payload = /^-?nan\(0x([0-9a-fA-F]+)\)$/.exec(text);
  if (payload) return nanOf(BigInt(`0x${payload[1]}`), 64, 52);
  switch (kindOf(text)) {
    case "boolean":
      return TRUTH[text];
    case "integer":
      return text.length <= 100 ? BigInt(text) : null;
    case "complex":
      return complexOf(text, null);
    case "floating":
      return double(text);
  }
}

/** A double as Python writes it: the shortest text that is read as the same number. */
export function floatText(x: Real): string {
  if (x.special) return x.nan ? "nan" : x.negative ? "-inf" : "inf";
  if (x.zero) return x.negative ? "-0.0" : "0.0";
  const [, sign, first, rest = "", e] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(x.toNumber().toExponential())!;
  const [digits, exponent] = [first + rest, Number(e)];
  if (exponent >= 16 || exponent < -4) {
    return `${sign}${first}${rest && `.${rest}`}e${e[0]}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.slice(0, exponent + 1).padEnd(exponent + 1, "0")}.${digits.slice(exponent + 1) || "0"}`;
}

export function complexText(z: Complex): string {
  const short = (x: Real): string => floatText(x).replace(/\.0$/, "");
  if (z.re.zero && !z.re.negative) return `${short(z.im)}j`;
  return `(${short(z.re)}${z.im.negative ? "" : "+"}${short(z.im)}j)`;
}

/** A number as text has it; full text keeps the bits of a NaN that is not the usual one (text.nan). */
export function numberText(x: Element, dtype: Dtype, full: boolean): string {
  if (typeof x === "boolean") return x ? "True" : "False";
  if (typeof x === "bigint") return String(x);
  if (x instanceof Real) return full && x.bits !== undefined ? payloadText(x.bits, dtype.bits) : floatText(x);
  if (x instanceof Complex) return full && (x.re.bits ?? x.im.bits) !== undefined ? complexBits(x, dtype) : complexText(x);
  return String(numberOfWords(x));
}

function complexBits(z: Complex, { bits, format: { fraction } }: Dtype): string {
  const [re, im] = [z.re, z.im].map((x) => x.bits ?? bitsOf(x, bits / 2 - 1 - fraction, fraction));
  return payloadText((im << BigInt(bits / 2)) | re, bits);
}

export const payloadText = (bits: bigint, width: number): string => `nan(0x${bits.toString(16).padStart(width / 4, "0")})`;
