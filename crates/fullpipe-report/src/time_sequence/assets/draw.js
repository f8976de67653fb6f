// The picture: trains packet by packet, or bins of the pyramid.
let drawn = null; // what is on the canvas
let latest = 0;

// Packets i of a train in view, at most one per half a pixel: `each(from, to)` gets the first and one past the last of those
// that share it.
function packetsOf(t, i, each) {
  const { t0, t1 } = state.view;
  if (t.last[i] < t0 || t.time[i] > t1) return;
  const spacing = t.spacing[i];
  if (t.count[i] === 1 || spacing === 0) {
    each(0, t.count[i]);
    return;
  }
  const first = Math.max(0, Math.floor((t0 - t.time[i]) / spacing));
  const end = Math.min(t.count[i], Math.ceil((t1 - t.time[i]) / spacing) + 1);
  const step = Math.max(1, Math.floor((t1 - t0) / room().width / 2 / spacing));
  for (let from = first; from < end; from += step) each(from, Math.min(end, from + step));
}

function drawData(chunks) {
  const crosses = [];
  const pixel = (state.view.t1 - state.view.t0) / room().width;
  const segment = 1448 / ((state.view.y1 - state.view.y0) / room().height);
  const width = segment > 6 ? 2 : 1.6;
  for (const t of chunks) {
    for (let i = 0; i < t.size; i += 1) {
      const mark = t.kind[i] >= 2 ? "again" : t.kind[i] === 1 ? "resent" : "data";
      packetsOf(t, i, (from, to) => {
        const x = xOf(t.time[i] + from * t.spacing[i]);
        const [lo, hi] = [t.seq[i] + from * t.len[i], t.seq[i] + to * t.len[i]];
        if (shows(mark)) bar(mark, x, lo, hi, mark === "data" ? width : Math.max(2.5, width), t.spacing[i] > 5 * pixel || t.count[i] === 1);
        if (t.ecn[i] === 3 && shows("marked")) dot("marked", x, hi, 3);
        if (t.dropped[i] > 0) crosses.push([x, (lo + hi) / 2]);
      });
    }
  }
  if (shows("dropped")) drawCrosses(crosses);
}
// Not one on the other.
function drawCrosses(crosses) {
  let [px, py] = [-100, -100];
  for (const [x, seq] of crosses) {
    const y = yOf(seq);
    if (Math.abs(x - px) < 3 && Math.abs(y - py) < 3) continue;
    cross(x, seq);
    [px, py] = [x, y];
  }
}

// A line of steps through points that come in order of time.
function steps(mark, width) {
  let [begun, height] = [false, 0];
  context.strokeStyle = colours[mark];
  context.lineWidth = width;
  context.beginPath();
  return {
    to(x, seq) {
      const y = far(yOf(seq));
      if (begun) context.lineTo(far(x), height);
      else context.moveTo(far(x), y);
      context.lineTo(far(x), y);
      [begun, height] = [true, y];
    },
    end() {
      if (begun) context.lineTo(MARGIN.left + room().width, height);
      context.stroke();
    },
  };
}

function drawAckLine(chunks, mark, width, valueOf) {
  if (!shows(mark)) return;
  const line = steps(mark, width);
  const points = [];
  let before = null; // the last ACK to the left of what is seen
  for (const t of chunks) {
    for (let i = 0; i < t.size; i += 1) {
      if (t.ack[i] === 0) continue;
      if (t.last[i] < state.view.t0) {
        before = [t.last[i], valueOf(t, i, t.count[i] - 1)];
        continue;
      }
      if (before) line.to(xOf(before[0]), before[1]);
      before = null;
      packetsOf(t, i, (from, to) => {
        line.to(xOf(t.time[i] + from * t.spacing[i]), valueOf(t, i, to - 1));
        points.push([xOf(t.time[i] + (to - 1) * t.spacing[i]), valueOf(t, i, to - 1)]);
      });
    }
  }
  if (before) line.to(xOf(before[0]), before[1]);
  line.end();
  if (points.length < room().width / 12) points.forEach(([x, seq]) => dot(mark, x, seq, 2));
}
function drawSacks(chunks) {
  if (!shows("sack")) return;
  for (const t of chunks) {
    for (let i = 0; i < t.size; i += 1) {
      if (t.sacks[0][1][i] === 0) continue;
      packetsOf(t, i, (from, to) => {
        const x = xOf(t.time[i] + from * t.spacing[i]);
        t.sacks.forEach(([starts, ends], block) => {
          const end = ends[i] + (block === 0 ? (to - 1) * t.sackStep[i] : 0);
          if (end > 0) bar("sack", x, starts[i], end, block === 0 ? 1.6 : 0.6, false);
        });
      });
    }
  }
}
function drawDroppedAcks(chunks) {
  if (!shows("dropped")) return;
  const crosses = [];
  for (const t of chunks) {
    for (let i = 0; i < t.size; i += 1) {
      if (t.dropped[i] === 0) continue;
      packetsOf(t, i, (from) => crosses.push([xOf(t.time[i] + from * t.spacing[i]), ackOf(t, i, from)]));
    }
  }
  drawCrosses(crosses);
}
const ackOf = (t, i, packet) => t.ack[i] + packet * t.ackStep[i];
const edgeOf = (t, i, packet) => ackOf(t, i, packet) + t.window[i];

function drawTrains({ data, acks }) {
  drawSacks(acks);
  drawAckLine(acks, "edge", 1.3, edgeOf);
  drawAckLine(acks, "ack", 1.4, ackOf);
  drawData(data);
  drawDroppedAcks(acks);
}

// Bins: of lines a step from the last value, and the range that they run through; of all else the range.
function drawBins({ bins, width }) {
  const at = (number) => xOf(number * width);
  const wide = Math.max(1, at(1) - at(0));
  const each = (mark, draw) => {
    const place = MARKS.indexOf(mark);
    for (const chunk of bins) {
      const { count, lo, hi } = chunk.spans[place];
      for (let i = 0; i < chunk.size; i += 1) if (count[i] > 0) draw(at(chunk.number[i]), lo[i], hi[i]);
    }
  };
  for (const mark of ["sack", "edge", "ack", "data", "resent", "again", "marked"]) {
    if (!shows(mark)) continue;
    if (mark === "edge" || mark === "ack") {
      const line = steps(mark, 1.4);
      each(mark, (x, lo, hi) => (line.to(x, lo), line.to(x + wide / 2, hi)));
      line.end();
    } else {
      const rare = mark === "data" || mark === "sack" ? 0 : 2;
      context.globalAlpha = mark === "sack" ? 0.55 : 1;
      each(mark, (x, lo, hi) => bar(mark, x + wide / 2, lo, hi, Math.max(rare, wide), false));
      context.globalAlpha = 1;
    }
  }
  if (!shows("dropped")) return;
  const crosses = [];
  for (const mark of ["dropped", "ackDropped"]) each(mark, (x, lo, hi) => crosses.push([x + wide / 2, (lo + hi) / 2]));
  let last = -100;
  for (const [x, seq] of crosses) {
    if (Math.abs(x - last) < 5) continue;
    cross(x, seq);
    last = x;
  }
}

function paint(loaded) {
  const scale = devicePixelRatio || 1;
  const box = canvas.getBoundingClientRect();
  [canvas.width, canvas.height] = [Math.round(box.width * scale), Math.round(box.height * scale)];
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  drawAxes(state.view);
  context.save();
  context.beginPath();
  context.rect(MARGIN.left, MARGIN.top - 1, room().width, room().height + 1);
  context.clip();
  drawRounds(false);
  if (loaded.level) drawBins(loaded);
  else drawTrains(loaded);
  drawRounds(true);
  context.restore();
  drawn = loaded;
  document.getElementById("level").textContent = loaded.level
    ? `a pixel stands for ${spanText((state.view.t1 - state.view.t0) / room().width)}; zoom in to see single packets`
    : "single packets";
}
function spanText(ns) {
  const [factor, unit] = ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${format(ns / factor, ns / factor < 10 ? 1 : 0)} ${unit}`;
}

// What is there stays until what is to come has been inflated. Resolves when it is drawn, or something later is.
async function draw() {
  latest += 1;
  const mine = latest;
  const loaded = await load(planOf(state.view));
  if (mine !== latest) return;
  paint(loaded);
  hideValues();
}
