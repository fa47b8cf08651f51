/** Text on lines of a width: a group stands on one line if it ends there, else each of its breaks is a newline (text.layout). */

/** A text, a place for a newline (`flat` where the line goes on), or a box. */
export type Piece = string | { flat: string } | Box;

/** Parts whose newlines are indented by so much more; the breaks of one that is no group are as those around it. */
export class Box {
  constructor(
    readonly parts: readonly Piece[],
    readonly indent = 0,
    readonly group = true,
  ) {}
}

export const joined = (...parts: Piece[]): Box => new Box(parts, 0, false);

export const between = (parts: readonly Piece[], gap: Piece): Piece[] => parts.flatMap((p, k) => (k ? [gap, p] : [p]));

/** Parts with as many on a line as it has room for. */
export const fill = (parts: readonly string[], indent: number, comma = ""): Piece =>
  new Box(between(parts, joined(comma, new Box([{ flat: " " }]))), indent, false);

function roomAfter(piece: Piece, room: number): number {
  if (typeof piece === "string") return room - piece.length;
  if (!(piece instanceof Box)) return room - piece.flat.length;
  for (const part of piece.parts) {
    room = roomAfter(part, room);
    if (room < 0) break;
  }
  return room;
}

export function laidOut(piece: Piece, width: number): string {
  const lines = [""];
  const put = (p: Piece, indent: number, flat: boolean): void => {
    if (typeof p === "string") lines[lines.length - 1] += p;
    else if (p instanceof Box) {
      const fits = flat || (p.group && roomAfter(p, width - lines.at(-1)!.length) >= 0);
      for (const part of p.parts) put(part, indent + p.indent, fits);
    } else if (flat) lines[lines.length - 1] += p.flat;
    else lines.push(" ".repeat(indent));
  };
  put(piece, 0, false);
  return lines.join("\n");
}
