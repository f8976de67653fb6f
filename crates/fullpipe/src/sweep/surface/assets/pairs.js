// Each congestion control beside each: a matrix per variant, its colours the first flow's share.

const [CELL, DEEP] = [128, 62]; // of a field, in the figure's units
const fields = new Map((data.pairs?.fields ?? []).map((found) => [keyOf(found.panel, found.at), found]));

// "0.62 ± 0.05"
const withIn = ({ mean, within }, text) => `${text(mean)}${within === undefined ? "" : ` ± ${text(within)}`}`;
const hundredth = (value) => format(value, 2);
const thousandth = (value) => format(value, 3);
// A share with as many digits as its interval needs to be seen.
const shareText = (share) => withIn(share, share.within < 0.005 ? thousandth : hundredth);

// Rates of all fields have one unit: { name, text(mbit) }.
function rateUnit() {
  const most = Math.max(...data.pairs.fields.map(({ first, second }) => Math.max(first.mean, second.mean)));
  return most >= 1000 ? { name: "Gb/s", text: (mbit) => hundredth(mbit / 1000) } : { name: "Mb/s", text: (mbit) => format(mbit, most >= 100 ? 0 : 1) };
}

function drawPairs() {
  if (!data.pairs) return;
  document.getElementById("pairs").hidden = false;
  const { rows, columns, panels, first, second } = data.pairs;
  const places = document.getElementById("places");
  places.replaceChildren();
  data.axes.forEach((_, axis) => axis !== rows && axis !== columns && placeOn(places, axis));
  const share = { of: (value) => value, ticks: [0, 0.25, 0.5, 0.75, 1] };
  const unit = rateUnit();
  drawRamp(document.getElementById("parts"), share, TWO, `share of ${fitted(first, 200)}`);
  const parent = document.getElementById("matrices");
  parent.replaceChildren();
  panels.forEach((_, panel) => matrix(parent, panel, unit));
  const note = document.createElement("p");
  note.className = "quiet";
  note.textContent = `A field: share of ${first} in what both get while both live, and its 95 % interval; settled rates of ${first} and ${second}, ${unit.name}; Jain's index of these, settled.`;
  parent.append(note);
}

function matrix(parent, panel, unit) {
  const { rows, columns, panels, first, second } = data.pairs;
  const title = `${panels.length > 1 ? `${panels[panel]}: ` : ""}share of ${first} (rows) beside ${second} (columns)`;
  const box = document.createElement("div");
  const heading = document.createElement("h3");
  heading.textContent = title;
  box.append(heading);
  box.className = "scroll";
  parent.append(box);
  const [across, down] = [lengthOf(columns), lengthOf(rows)];
  const [left, top] = [upRoom(rows), 44];
  const [width, height] = [left + across * CELL, top + down * DEEP + 4];
  const svg = element(box, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, class: "matrix", style: `min-width: ${0.8 * width}px; max-width: ${1.25 * width}px` });
  label(svg, { x: left + (across * CELL) / 2, y: 14, "text-anchor": "middle", class: "title" }, nameOf(columns), across * CELL);
  for (let n = 0; n < across; n += 1) label(svg, { x: left + (n + 0.5) * CELL, y: 36, "text-anchor": "middle" }, labelAt(columns, n), CELL - 6, shownAt(columns, n));
  upLabels(svg, rows, (n) => top + (n + 0.5) * DEEP, { left, h: DEEP, top, bottom: height });
  for (let row = 0; row < down; row += 1)
    for (let column = 0; column < across; column += 1) pairField(svg, { panel, row, column, left, top, unit });
}

function pairField(svg, { panel, row, column, left, top, unit }) {
  const { rows, columns } = data.pairs;
  const at = [...state.at];
  [at[rows], at[columns]] = [row, column];
  const found = fields.get(keyOf(panel, at));
  const [x, y] = [left + column * CELL, top + row * DEEP];
  const shade = found && colour(found.share.mean, TWO);
  const rect = element(svg, "rect", { x, y, width: CELL, height: DEEP, class: shade ? "field" : "field none", ...(shade && { fill: shade }) });
  rect.dataset.at = `${row},${column}`;
  hover(rect, () => toldOfPair(panel, at, found));
  if (!found) return;
  const ink = isDark(shade) ? "#fff" : "#000";
  const lines = [shareText(found.share), `${unit.text(found.first.mean)} and ${unit.text(found.second.mean)}`];
  if (found.jain) lines.push(`Jain ${hundredth(found.jain.mean)}`);
  lines.forEach((line, n) => element(svg, "text", { x: x + CELL / 2, y: y + 20 + n * 16, "text-anchor": "middle", class: n ? "number" : "number share", style: `fill: ${ink}` }, line));
}

// Whether white reads better than black on a colour (relative luminance, WCAG 2.1).
function isDark(rgb) {
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = rgb.match(/\d+/g).map(Number).map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.179;
}

// What the pointer shows of a pair.
function toldOfPair(panel, at, found) {
  const { rows, columns, panels, first, second } = data.pairs;
  const [one, other] = [shownAt(rows, at[rows]), shownAt(columns, at[columns])];
  const where = [`${panels[panel]}`, `${first}: ${one}`, `${second}: ${other}`];
  data.axes.forEach((_, axis) => axis !== rows && axis !== columns && where.push(`${nameOf(axis)} ${shownAt(axis, at[axis])}`));
  if (!found) return `${where.join("\n")}\nnothing was measured`;
  const lines = [`share of ${first} ${withIn(found.share, thousandth)} (${found.share.n} runs, ${hundredth(found.share.min)} to ${hundredth(found.share.max)})`];
  lines.push(`${first} ${withIn(found.first, short)} Mb/s`, `${second} ${withIn(found.second, short)} Mb/s`);
  if (found.jain) lines.push(`Jain's index, settled ${withIn(found.jain, thousandth)}`);
  if (found.failed) lines.push(`${found.failed} runs failed`);
  return [...where, ...lines].join("\n");
}
