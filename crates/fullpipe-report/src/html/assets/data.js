// The report's data: the document and its figures, as embedded in this page.
// A large report is deflated, in base64.
async function inflated(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}
const isPacked = (id) => "packed" in document.getElementById(id).dataset;
const textOf = (id) => document.getElementById(id).textContent;
const report = JSON.parse(isPacked("fullpipe-data") ? await inflated(textOf("fullpipe-data")) : textOf("fullpipe-data"));
const { figures, titles, limits, many, drawn_at_first: drawnAtFirst, folded_flows: foldedFlows } = JSON.parse(
  isPacked("fullpipe-figures") ? await inflated(textOf("fullpipe-figures")) : textOf("fullpipe-figures"),
);

// What a column of a figure stands for: the numbers themselves, or a pointer into the document
// (see Column in figure.rs).
function resolve(column) {
  if (Array.isArray(column)) return column;
  const split = column.from.indexOf("/*/");
  const pointer = split < 0 ? column.from : column.from.slice(0, split);
  const field = split < 0 ? null : column.from.slice(split + 3);
  let target = report;
  for (const key of pointer.split("/").slice(1)) {
    target = target?.[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  const number = (value) => (typeof value === "number" ? value * column.scale + column.offset : null);
  return (target ?? []).map((item) => number(field === null ? item : item[field]));
}

// A series' numbers, resolved when first drawn.
//   x: where a value is drawn: the middle of its interval, or the time of a gauge
//   from, to: the interval a value holds for (equal to x for a gauge)
//   y, high: values, and the upper ends of a band
const resolved = new Map();
function numbersOf(series) {
  let numbers = resolved.get(series);
  if (!numbers) {
    const columns = [series.x, series.x_start ?? series.x, series.y, series.y_high ?? series.y].map(resolve);
    const length = Math.min(...columns.map((column) => column.length));
    const [to, from, y, upper] = columns.map((column) => column.slice(0, length));
    const high = series.y_high ? upper : null;
    numbers = { from, to, x: to.map((end, i) => (from[i] + end) / 2), y, high };
    resolved.set(series, numbers);
  }
  return numbers;
}

// How a flow of a run is called; the flow's name only where runs have several.
const severalFlows = report.runs.some((run) => run.flows.length > 1);
function nameOf(run, flow) {
  const { variant, flows, partial } = report.runs[run];
  const name = severalFlows && flow !== null && flows[flow] ? `${variant} · ${flows[flow].name}` : variant;
  return partial ? `${name} (partial)` : name;
}

// How a series' line is called; in a panel of lines by the line alone.
const labelOf = ({ run, flow, line }) => line?.name ?? nameOf(run, flow);

// First and last second of the flows of some runs; of runs without any, of their bins.
function timesOf(runs) {
  let [first, last] = [0, 0];
  for (const { flows, bins } of runs) {
    const clock = Math.min(...flows.map((flow) => flow.clock_start_s));
    for (const flow of flows) {
      const [ends, later] = [flow.series.end_s, flow.clock_start_s - clock];
      for (const end of [flow.intervals.at(-1)?.end_s, ends.at(-1)]) last = Math.max(last, (end ?? 0) + later);
      first = Math.min(first, flow.intervals[0]?.start_s ?? 0, ends[0] ?? 0);
    }
    if (!flows.length) last = Math.max(last, bins?.end_s.at(-1) ?? 0);
  }
  return [first, last > first ? last : first + 1];
}
