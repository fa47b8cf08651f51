/* Results of a search: functions first, then pages, then rules; cases last. */
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    const query = (new URLSearchParams(location.search).get("q") || "").toLowerCase();
    const last = title.toLowerCase().split(".").pop();
    const first = docname.startsWith("api/numpy/") ? 10 : 0;
    if (/^api\/.+\//.test(docname)) return score + first + (last === query ? 200 : 60);
    if (/^(api|howto|tutorials|examples)\//.test(docname)) return score + 40;
    if (docname.startsWith("cases/")) return score - 40;
    if (/^(spec|chapters)\//.test(docname)) return score - 10;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
