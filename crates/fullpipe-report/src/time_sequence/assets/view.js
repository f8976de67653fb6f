// What is looked at: a flow, a span of time in ns, a span of sequence numbers.
const canvas = document.getElementById("canvas");
const MARGIN = { left: 84, right: 28, top: 26, bottom: 46 };
// Trains that are drawn one by one; beyond, a level of the pyramid is.
const MOST_TRAINS = 24000;
const SHORTEST = 20; // ns
const state = { flow: 0, view: null, before: [], hidden: new Set() };
const flowShown = () => index.flows[state.flow];
const shows = (mark) => !state.hidden.has(mark);

// A little air around; the window line is in it unless it lies far above all data.
function wholeView(flow) {
  const of = (mark) => flow.all[MARKS.indexOf(mark)];
  const highest = Math.max(1, ...["data", "resent", "ack"].map((mark) => of(mark)[2]));
  const counted = ["data", "resent", "ack"].map(of).filter(([count]) => count > 0);
  const lowest = counted.length ? Math.min(...counted.map(([, lo]) => lo)) : 0;
  const edge = of("edge")[2];
  const top = edge <= lowest + (highest - lowest) * 1.6 ? Math.max(edge, highest) : highest;
  const span = Math.max(SHORTEST, flow.to - flow.from);
  const [t0, t1] = [flow.from - span * 0.01, flow.to + span * 0.01];
  return { t0, t1, y0: lowest - (top - lowest) * 0.02, y1: top + (top - lowest) * 0.04 };
}

const room = () => {
  const box = canvas.getBoundingClientRect();
  return { width: box.width - MARGIN.left - MARGIN.right, height: box.height - MARGIN.top - MARGIN.bottom };
};
const xOf = (time) => MARGIN.left + ((time - state.view.t0) / (state.view.t1 - state.view.t0)) * room().width;
const yOf = (seq) => MARGIN.top + ((state.view.y1 - seq) / (state.view.y1 - state.view.y0)) * room().height;
const timeOf = (x) => state.view.t0 + ((x - MARGIN.left) / room().width) * (state.view.t1 - state.view.t0);
const seqOf = (y) => state.view.y1 - ((y - MARGIN.top) / room().height) * (state.view.y1 - state.view.y0);

// What is drawn of a view: the trains themselves where they are few, else the coarsest level whose bins are no wider than
// a pixel.
function planOf(view) {
  const flow = flowShown();
  const ways = flow.trains.map((chunks) => between(chunks, view.t0, view.t1));
  const trains = ways.flat().reduce((sum, chunk) => sum + chunk.count, 0);
  const pixel = (view.t1 - view.t0) / room().width;
  const fine = flow.levels.filter((level) => 2 ** level.shift <= pixel);
  const level = fine.at(-1) ?? flow.levels.find(({ shift }) => 2 ** shift <= 2 * pixel);
  if (trains <= MOST_TRAINS || !level) return { level: 0, ways };
  const width = 2 ** level.shift;
  const chunks = between(level.chunks, Math.floor(view.t0 / width), Math.floor(view.t1 / width));
  return { level: 1 + flow.levels.indexOf(level), width, chunks };
}
async function load(plan) {
  if (plan.level) return { ...plan, bins: await Promise.all(plan.chunks.map((chunk) => contents(chunk, binsOf))) };
  const ways = plan.ways.map((chunks) => Promise.all(chunks.map((chunk) => contents(chunk, trainsOf))));
  const [data, acks] = await Promise.all(ways);
  return { ...plan, data, acks };
}

function setView(view, remember = true) {
  const span = view.t1 - view.t0;
  if (!(span >= SHORTEST && view.y1 - view.y0 >= 4)) return null;
  if (remember && state.view) state.before.push(state.view);
  state.view = view;
  return draw();
}
const showWhole = () => setView(wholeView(flowShown()));
// The first rounds of slow start, where segments are seen one by one; the whole flow where the index knows none. The way
// back leads from there to the whole flow.
async function showOpening() {
  const flow = flowShown();
  const whole = wholeView(flow);
  if (!flow.opening) return setView(whole);
  if (!state.view) state.view = whole;
  const air = (flow.opening - flow.from) * 0.02;
  return zoomTime(flow.from - air, flow.opening + air);
}
function goBack() {
  const view = state.before.pop();
  return view ? setView(view, false) : null;
}
function zoomAt(factor, time, seq) {
  const { t0, t1, y0, y1 } = state.view;
  return setView({
    t0: time - (time - t0) * factor, t1: time + (t1 - time) * factor, y0: seq - (seq - y0) * factor, y1: seq + (y1 - seq) * factor,
  }, false);
}
function moveBy(right, up) {
  const { t0, t1, y0, y1 } = state.view;
  const [dt, dy] = [(t1 - t0) * right, (y1 - y0) * up];
  return setView({ t0: t0 + dt, t1: t1 + dt, y0: y0 + dy, y1: y1 + dy }, false);
}
