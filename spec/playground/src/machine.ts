/** The life of a trace in the cache: the machine of the rows, for one function and key (spec/cache.rst). */

import { Scope, truth, type Formula, type Value } from "./formula.js";
import { HELPERS } from "./helpers.js";
import { compiled, type Spec } from "./spec.js";

export type Variables = Record<string, Value>;

export interface Transition {
  id: string;
  sources: string[];
  event: string;
  when: Formula | null;
  does: string[];
  outcome: string;
  raises: string;
  says: string;
}

export class Machine {
  private readonly table: any;
  constructor(spec: Spec) {
    this.table = compiled(spec.document.rules.machine, HELPERS);
  }

  /** The variables as they begin. */
  start(): Variables {
    const all = Object.entries<any>(this.table.variables);
    return Object.fromEntries(all.map(([name, v]) => [name, v.start(new Scope({}))]));
  }

  /** The state that an event finds: the first whose formula holds. */
  state(known: Variables): { name: string; place: string; says: string } {
    const states = Object.values<any>(this.table.states);
    return states.find((s) => truth(s.holds(new Scope(known))));
  }

  /** The one transition of an event; undefined where it cannot happen. */
  step(event: string, known: Variables): Transition | undefined {
    const facts = Object.fromEntries(Object.entries<any>(this.table.facts).map(([name, f]) => [name, f.holds as Formula]));
    const scope = new Scope(known, facts);
    const { name } = this.state(known);
    const rows = Object.values<Transition>(this.table.transitions);
    return rows.find((t) => t.event === event && t.sources.includes(name) && (!t.when || truth(t.when(scope))));
  }

  /** The variables after a transition. */
  after(row: Transition, known: Variables): Variables {
    const found = { ...known };
    for (const name of row.does) {
      const { sets, to } = this.table.effects[name];
      found[sets] = to(new Scope(found));
    }
    return found;
  }

  /** The rule that refuses an outcome, if one does. */
  refused(outcome: string, known: Variables): string | undefined {
    return this.table.demands.find((d: any) => d.of === outcome && !truth(d.holds(new Scope(known))))?.raises;
  }
}
