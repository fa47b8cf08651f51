/** What the site loads: pages that are parts of others, by the specification's document. */

import { load, type Spec } from "../src/index.js";
import { cachePage, type Sessions } from "./cache.js";
import { readState, setPlaces, writeState, type Places } from "./dom.js";
import { FIRST as NESTED, levelsPage } from "./levels.js";
import { FIRST, programPage, withHosts, type State } from "./program.js";

/** What the site gives: the document as text, where rules stand, programs for rules, and sessions. */
interface Given {
  document: string;
  rules: Places["rules"];
  programs: Record<string, Partial<State>>;
  sessions: Sessions;
}

let spec: Spec | null = null;

/** Fill an element with the page that it names. */
function mount(place: HTMLElement, given: Given, root: string): void {
  spec ??= withHosts(load(JSON.parse(given.document)));
  setPlaces({ root, rules: given.rules });
  const { page = "", primitive = "" } = place.dataset;
  if (primitive) {
    const begun: State = { ...FIRST, ...given.programs[primitive] };
    const link = document.createElement("a");
    link.textContent = "a link to this";
    place.replaceChildren(programPage(spec, begun, (now) => (link.href = `${root}playground/index.html#${new URLSearchParams({ ...now })}`)), link);
    return;
  }
  const state = readState();
  const written = (now: object): void => writeState(now as Record<string, string>);
  const pages: Record<string, () => HTMLElement> = {
    program: () => programPage(spec!, { ...FIRST, ...(state.program && { arguments: "" }), ...state }, written),
    levels: () => levelsPage(spec!, { ...NESTED, ...state }, written),
    cache: () => cachePage(spec!, given.sessions, { session: Object.keys(given.sessions)[0], events: "", at: "0", ...state }, written),
  };
  place.replaceChildren(pages[page]());
}

Object.assign(globalThis, { traceirMount: mount });
