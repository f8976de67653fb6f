// Colours, axes, and the single marks.
const context = canvas.getContext("2d");
const FONT = '11.5px "Helvetica Neue", Helvetica, Arial, "Liberation Sans", system-ui, sans-serif';
let colours = {};

// Colours as the theme in force has them: canvases know no variables.
function readColours() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const resolved = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  colours = Object.fromEntries(["ink", "quiet", "grid", "paper", "rule"].map((name) => [name, resolved(name)]));
  for (const mark of MARKS.slice(0, 8)) colours[mark] = resolved(`mark-${mark}`);
  probe.remove();
}

// Sequence numbers in MB where ticks are coarse, else in bytes.
function seqTicks(view) {
  const ticks = linearTicks(view.y0, view.y1, Math.max(3, room().height / 70)).filter((tick) => tick >= 0);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  if (step < 1e4) return { unit: "bytes", ticks: ticks.map((tick) => [tick, format(tick, 0)]) };
  const digits = Math.max(0, -Math.floor(Math.log10(step / 1e6) + 1e-9));
  return { unit: "MB", ticks: ticks.map((tick) => [tick, format(tick / 1e6, digits)]) };
}
// Times in seconds, or as µs beyond a millisecond that is named with the axis.
function timeTicks(view) {
  const ticks = linearTicks(view.t0, view.t1, Math.max(3, room().width / 120)).filter((tick) => tick >= 0);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1e9;
  if (step >= 1e6) {
    const digits = Math.max(0, -Math.floor(Math.log10(step / 1e9) + 1e-9));
    return { title: "time, s", ticks: ticks.map((tick) => [tick, format(tick / 1e9, digits)]) };
  }
  const base = Math.max(0, Math.floor(view.t0 / 1e6) * 1e6);
  const digits = Math.max(0, -Math.floor(Math.log10(step / 1e3) + 1e-9));
  return { title: `time, µs after ${format(base / 1e9, 3)} s`, ticks: ticks.map((tick) => [tick, format((tick - base) / 1e3, digits)]) };
}

function drawAxes(view) {
  const { width, height } = room();
  const [left, top, right, bottom] = [MARGIN.left, MARGIN.top, MARGIN.left + width, MARGIN.top + height];
  const [seq, time] = [seqTicks(view), timeTicks(view)];
  context.font = FONT;
  context.lineWidth = 1;
  context.strokeStyle = colours.grid;
  context.fillStyle = colours.quiet;
  const line = (x1, y1, x2, y2) => {
    context.beginPath();
    context.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
    context.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
    context.stroke();
  };
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [value, label] of seq.ticks) {
    line(left, yOf(value), right, yOf(value));
    context.fillText(label, left - 7, yOf(value));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const [value, label] of time.ticks) {
    line(xOf(value), top, xOf(value), bottom);
    context.fillText(label, xOf(value), bottom + 6);
  }
  context.fillText(time.title, left + width / 2, bottom + 25);
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.fillText(`sequence number, ${seq.unit}`, 2, 12);
  context.strokeStyle = colours.quiet;
  line(left, top, left, bottom);
  line(left, bottom, right, bottom);
}

// Rounds of slow start: a line where each begins, with its number and what was sent in it; first the lines, last the words.
function drawRounds(words) {
  const { rounds, slow_start_end: end } = flowShown();
  const lines = rounds.map(({ begins, segments }, i) => {
    const many = `${format(segments, 0)} ${segments === 1 ? "segment" : "segments"}`;
    return [begins, [`round ${i + 1}: ${many}`, `round ${i + 1}`, `${i + 1}`]];
  });
  if (rounds.length && end) lines.push([end, ["slow start has ended", "end", ""]]);
  const { width, height } = room();
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  lines.forEach(([begins, labels], i) => {
    const x = xOf(begins);
    const next = i + 1 < lines.length ? xOf(lines[i + 1][0]) : x + 160;
    if (next < MARGIN.left || x > MARGIN.left + width || next - x < 5) return;
    if (!words) {
      context.strokeStyle = colours.quiet;
      context.setLineDash([2, 4]);
      context.beginPath();
      context.moveTo(Math.round(x) + 0.5, MARGIN.top);
      context.lineTo(Math.round(x) + 0.5, MARGIN.top + height);
      context.stroke();
      context.setLineDash([]);
      return;
    }
    const at = Math.max(x, MARGIN.left);
    const label = labels.find((text) => context.measureText(text).width + 10 < next - at);
    if (label) outlined(label, at + 4, MARGIN.top + 11);
  });
}

// Text that can be read on lines.
function outlined(text, x, y) {
  context.strokeStyle = colours.paper;
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeText(text, x, y);
  context.fillStyle = colours.quiet;
  context.fillText(text, x, y);
  context.lineWidth = 1;
}

const far = (pixels) => Math.min(20000, Math.max(-20000, pixels));
// A bar from one sequence number to another, at least so high that it is seen; with ends where there is room.
function bar(mark, x, lo, hi, width, ends) {
  const [low, high] = [far(yOf(lo)), far(yOf(hi))];
  const height = Math.max(mark === "resent" || mark === "again" ? 3 : 2, low - high);
  context.fillStyle = colours[mark];
  context.fillRect(x - width / 2, low - height, width, height);
  if (!ends || height < 8) return;
  context.fillRect(x - 3, low - 1.5, 6, 1.5);
  context.fillRect(x - 3, low - height, 6, 1.5);
}
function cross(x, seq) {
  const y = far(yOf(seq));
  for (const [colour, width] of [[colours.paper, 4], [colours.dropped, 1.8]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x - 4, y - 4);
    context.lineTo(x + 4, y + 4);
    context.moveTo(x - 4, y + 4);
    context.lineTo(x + 4, y - 4);
    context.stroke();
  }
}
function dot(mark, x, seq, radius) {
  context.fillStyle = colours[mark];
  context.beginPath();
  context.arc(x, far(yOf(seq)), radius, 0, 2 * Math.PI);
  context.fill();
}
