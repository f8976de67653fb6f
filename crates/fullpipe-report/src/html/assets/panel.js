// A panel: frame, axes, marks and labels of one plot. `panels` holds those on the page.
const panels = new Map(); // figure name -> [panel]
const figureNode = (figure) => document.getElementById(`figure-${figure.name}`);
const STRIP = "strip";
const TICK_FONT = "10px Arial, sans-serif";
const BOUND_ROOM = 3; // a bound may make the axis this many times higher than the measure needs

// Lowest and highest value an axis has to show in the time shown. A bound far above the measure does
// not squeeze it.
function extent(series, logarithmic) {
  const [a, b] = timeShown();
  let [low, high, bound] = [Infinity, -Infinity, -Infinity];
  const heaps = new Map(); // run -> height of its columns so far
  for (const one of series) {
    const { from, to, y, high: upper } = numbersOf(one);
    if (one.role === "count") {
      const heap = heaps.get(one.run) ?? y.map(() => 0);
      heaps.set(one.run, heap);
      y.forEach((value, i) => (heap[i] += value ?? 0));
      low = Math.min(low, 0);
      heap.forEach((value, i) => to[i] >= a && from[i] <= b && (high = Math.max(high, value)));
      continue;
    }
    const free = one.role === "bound" || one.role === "ceiling";
    for (let i = 0; i < y.length; i += 1) {
      if (y[i] === null || to[i] < a || from[i] > b || (logarithmic && y[i] <= 0)) continue;
      low = Math.min(low, y[i]);
      if (free) bound = Math.max(bound, y[i]);
      else high = Math.max(high, upper?.[i] ?? y[i]);
    }
  }
  if (high === -Infinity) return [low, bound];
  return [low, Math.max(high, Math.min(bound, high * BOUND_ROOM))];
}

function makePanel(node, figure, series, name) {
  const [outerWidth, outerHeight] = [Math.max(160, node.clientWidth), Math.max(40, node.clientHeight)];
  const strip = figure.layout === STRIP;
  // Above a plot with a name there is room for a second line: what lies above it.
  const margin = { left: 58, right: 10, top: strip ? 20 : name ? 36 : 22, bottom: strip ? 4 : 22 };
  const svg = element(null, "svg", { viewBox: `0 0 ${outerWidth} ${outerHeight}`, tabindex: "0", role: "img" });
  const panel = { svg, node, figure, series, name, run: series[0]?.run ?? null, base: [], left: margin.left, top: margin.top };
  panel.width = outerWidth - margin.left - margin.right;
  panel.height = outerHeight - margin.top - margin.bottom;
  panel.logarithmic = state.logarithmic.has(figure.name);
  panel.x = linearScale(timeShown(), [panel.left, panel.left + panel.width], panel.width / 75);
  return panel;
}

function setVertical(panel, [low, high]) {
  const { figure, logarithmic } = panel;
  const domain = domainOf(figure.y, low, high, logarithmic);
  const range = [panel.top + panel.height, panel.top];
  panel.y = logarithmic ? logScale(domain, range) : linearScale(domain, range, panel.height / 48);
  if (figure.layout === STRIP) panel.y.ticks = [0, 100];
  if (figure.y.unit === "packets") panel.y.ticks = panel.y.ticks.filter(Number.isInteger);
}

function drawFrame(panel, group, isLast) {
  const { left, top, width, height, figure, x, y } = panel;
  for (const tick of y.ticks) {
    const at = y.of(tick);
    element(group, "line", { class: "grid", x1: left, x2: left + width, y1: at, y2: at });
    element(group, "text", { x: left - 7, y: at + 4, "text-anchor": "end" }, tickText(tick, y.ticks));
  }
  const bottom = top + height;
  element(group, "line", { class: "axis", x1: left, x2: left + width, y1: bottom, y2: bottom });
  const unit = figure.layout === "overlay" ? `${figure.y.label}, ${figure.y.unit}` : figure.y.unit;
  element(group, "text", { x: 0, y: 11 }, panel.name ? figure.y.unit : unit);
  if (panel.name) {
    const name = shorten(panel.name, Math.max(12, Math.min(60, Math.floor(width / 7.5))));
    element(group, "text", { class: "name", x: left, y: 12, style: `--run:${colourOf(panel.run)}` }, name);
  }
  const drawTicks = figure.layout !== STRIP || isLast;
  if (!drawTicks) return;
  x.ticks.forEach((tick, i) => {
    const at = x.of(tick);
    element(group, "line", { class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 4 });
    const last = i === x.ticks.length - 1;
    const text = tickText(tick, x.ticks) + (last ? ` ${figure.x.unit}` : "");
    element(group, "text", { x: at, y: bottom + 16, "text-anchor": last && at > left + width - 12 ? "end" : "middle" }, text);
  });
}

let clips = 0;
function drawPanel(panel, isLast) {
  const { svg, figure, series, left, top, width, height } = panel;
  svg.setAttribute("aria-label", `${panel.name ? `${panel.name}: ` : ""}${figure.y.label} over ${figure.x.label}`);
  drawFrame(panel, element(svg, "g"), isLast);
  const clip = `clip-${(clips += 1)}`;
  const box = { x: left, y: top - 4, width, height: height + 5 };
  element(element(svg, "clipPath", { id: clip }), "rect", box);
  const marks = element(svg, "g", { "clip-path": `url(#${clip})` });
  const order = ["band", "share", "count", "ceiling", "measure", "bound", "published"]; // the last on top
  const ordered = [...series].sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role));
  ordered.forEach((one) => drawSeries(marks, one, panel));
  panel.cursorLayer = element(svg, "g", { class: "cursor-layer" });
  panel.node.replaceChildren(svg);
  const labels = element(svg, "g");
  drawAbsence(labels, panel);
  const taken = [];
  drawMoments(labels, panel, taken);
  drawTicks(labels, panel, taken);
  drawNotes(labels, panel, taken);
  if (figure.layout === "overlay" || figure.layout === LINES) labelSeries(labels, panel, series, taken);
  labelShares(labels, panel, series);
}

// Says so where a panel has nothing to show, or where a bound lies above it.
function drawAbsence(group, panel) {
  const { series, left, top, width, figure } = panel;
  const [, highest] = extent(series, panel.logarithmic);
  if (highest === -Infinity) {
    const text = series.length ? "no values here" : "nothing is drawn: no run shown has values here";
    element(group, "text", { class: "nothing", x: left + 12, y: top + 24 }, text);
    return;
  }
  const above = series.filter(({ role }) => role === "bound" || role === "ceiling").flatMap((one) => {
    const value = numbersOf(one).y.reduce((most, y) => Math.max(most, y ?? -Infinity), -Infinity);
    return panel.y.of(value) < top - 4 ? [`${one.name} up to ${valueText(value, figure.y.unit)} ↑`] : [];
  });
  const text = [...new Set(above)].slice(0, 2).join("; ");
  element(group, "text", { x: left + width, y: top - 9, "text-anchor": "end" }, text);
}

// Lines at single moments; the label stands at the top of the plot, on the side where there is room.
function drawMoments(group, panel, taken) {
  const { top, height, left, width } = panel;
  const [a, b] = timeShown();
  for (const { runs, x, label } of panel.figure.moments ?? []) {
    if (!runs.every(isDrawn) || x < a || x > b) continue;
    const at = panel.x.of(x);
    element(group, "line", { class: "moment", x1: at, x2: at, y1: top, y2: top + height });
    const anchor = at > left + width / 2 ? "end" : "start";
    const [room, from] = [textWidth(label), anchor === "end" ? at - 5 : at + 5];
    const start = anchor === "end" ? from - room : from;
    const box = stack({ left: start, right: start + room, top: top - 1, bottom: top + 13 }, taken);
    element(group, "text", { class: "moment-label", x: px(from), y: px(box.top + 11), "text-anchor": anchor }, label);
  }
}

// Strokes through flows' lines, with a label beside where there is room: the last one first, which tells how many there are.
const STROKES_APART = 16; // pixels: closer ones would be a smear
function drawTicks(group, panel, taken) {
  const [a, b] = timeShown();
  const ticks = (panel.figure.ticks ?? []).filter((tick) => isVisible(tick) && tick.x >= a && tick.x <= b);
  if (new Set(ticks.map(({ run, flow }) => `${run}.${flow}`)).size > MOST_LABELS) return;
  const before = new Map(); // run and flow -> where its last stroke stands
  for (const { run, flow, x, y, label } of ticks.reverse()) {
    if (panel.logarithmic && y <= 0) continue;
    const [cx, cy, key] = [panel.x.of(x), panel.y.of(y), `${run}.${flow}`];
    if (Math.hypot(cx - (before.get(key)?.cx ?? Infinity), cy - (before.get(key)?.cy ?? Infinity)) < STROKES_APART) continue;
    before.set(key, { cx, cy });
    const style = `--run:${colourOf(run)}`;
    // Across a line that rises as well as across one that rests.
    element(group, "line", { class: "tick", style, x1: px(cx - 4), x2: px(cx + 4), y1: px(cy - 4), y2: px(cy + 4) });
    const box = { left: cx - 7 - textWidth(label, TICK_FONT), right: cx - 5, top: cy - 11, bottom: cy };
    if (box.left < panel.left || taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    element(group, "text", { class: "tick-label", style, x: px(cx - 6), y: px(cy - 2), "text-anchor": "end" }, label);
  }
}

// Diamonds at single points, with a label below and to the right where lines rarely are; of many the diamonds alone.
function drawNotes(group, panel, taken) {
  const [a, b] = timeShown();
  const notes = panel.figure.annotations.filter((note) => isVisible(note) && note.x >= a && note.x <= b);
  for (const { run, x, y, label } of notes) {
    const [cx, cy] = [panel.x.of(x), panel.y.of(y)];
    const style = `--run:${colourOf(run)}`;
    element(group, "path", { class: "note", style, d: `M${cx},${cy - 6}l6,6l-6,6l-6,-6Z` });
    if (notes.length > MOST_LABELS) continue;
    const width = textWidth(label);
    const start = cx + 8 + width > panel.left + panel.width ? cx - 8 - width : cx + 8;
    const box = stack({ left: start, right: start + width, top: cy + 4, bottom: cy + 18 }, taken);
    element(group, "text", { class: "note-label", style, x: px(box.left), y: px(box.top + 11) }, label);
  }
}

// The panels a figure consists of now: [name, series] each.
function contents(figure) {
  const visible = visibleSeries(figure);
  if (figure.layout === "overlay") return [[null, visible]];
  const lines = figure.layout === LINES;
  if (lines && !figure.series.length) return []; // its words say all
  const flows = new Map();
  for (const series of visible) {
    const flow = lines ? null : series.flow;
    const key = `${series.run}.${flow}`;
    if (!flows.has(key)) flows.set(key, [nameOf(series.run, flow), []]);
    flows.get(key)[1].push(series);
  }
  return flows.size ? [...flows.values()] : [[null, []]];
}

function drawFigure(figure) {
  const container = figureNode(figure).querySelector(".panels");
  const wanted = contents(figure);
  while (container.children.length > wanted.length) container.lastChild.remove();
  while (container.children.length < wanted.length) {
    container.append(Object.assign(document.createElement("div"), { className: "panel" }));
  }
  const made = wanted.map(([name, series], i) => makePanel(container.children[i], figure, series, name));
  const range = extent(visibleSeries(figure), state.logarithmic.has(figure.name));
  panels.set(figure.name, made);
  made.forEach((panel, i) => {
    setVertical(panel, range);
    drawPanel(panel, i === made.length - 1);
  });
}
const drawAll = () => figures.forEach(drawFigure);
