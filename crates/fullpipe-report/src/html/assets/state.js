// What the reader chose. Whoever changes it calls `changed`; whoever shows it listens.
const COLOURS = 8;
const state = {
  colours: new Map(), // run drawn -> its colour
  hiddenFlows: new Set(foldedFlows), // names of flows not drawn
  logarithmic: new Set(), // names of figures
  zoom: null, // [from, to] in seconds, or the whole time
  cursor: null, // { figure, run, time } under the pointer or moved by keys
};
const listeners = [];
const onChange = (listener) => listeners.push(listener);
const changed = () => listeners.forEach((listener) => listener());

// Few runs have one axis, whichever are drawn; of many it is as long as those that are drawn.
const timeOfAll = timesOf(report.runs);
const wholeTime = () => (many ? timesOf(drawnRuns().map((run) => report.runs[run])) : timeOfAll);
const timeShown = () => state.zoom ?? wholeTime();
const isDrawn = (run) => state.colours.has(run);
const drawnRuns = () => [...state.colours.keys()].sort((a, b) => a - b);
const isVisible = (series) =>
  isDrawn(series.run) && !state.hiddenFlows.has(report.runs[series.run].flows[series.flow]?.name);
// Roles in the order in which their values are listed.
const ROLES = ["measure", "published", "bound", "ceiling", "band", "share", "count"];
const LINES = "lines"; // the layout of panels whose lines have colours of their own
const visibleSeries = (figure) => figure.series.filter(isVisible);
const colourOf = (run) => (isDrawn(run) ? `var(--run-${state.colours.get(run) % COLOURS})` : "");
// The colour of a series: its run's, or that of its line.
function colourOfSeries({ run, line }) {
  if (!line) return colourOf(run);
  return line.colour === null ? "var(--ink)" : `var(--run-${line.colour % COLOURS})`;
}

// A run keeps its colour while drawn; a new one takes the first colour that is free.
function showRun(run) {
  const taken = new Set(state.colours.values());
  let colour = 0;
  while (taken.has(colour)) colour += 1;
  state.colours.set(run, colour);
}
function toggleRun(run) {
  if (isDrawn(run)) state.colours.delete(run);
  else showRun(run);
  changed();
}
function showFirstRuns() {
  state.colours.clear();
  drawnAtFirst.filter((run) => report.runs[run]).forEach(showRun);
}
// Shows one run and no other, in its colour.
function choose(run) {
  state.colours = new Map([[run, state.colours.get(run) ?? 0]]);
  changed();
}
// Shows one run alone in its colour; done twice, shows the first ones again.
function solo(run) {
  if (drawnRuns().length === 1 && isDrawn(run)) showFirstRuns();
  else return choose(run);
  changed();
}
function zoomTo(from, to) {
  const [first, last] = wholeTime();
  const [a, b] = [Math.max(first, from), Math.min(last, to)];
  if (b - a < (last - first) / 5000) return;
  state.zoom = a <= first && b >= last ? null : [a, b];
  changed();
}
function showWholeTime() {
  state.zoom = null;
  changed();
}
showFirstRuns();
