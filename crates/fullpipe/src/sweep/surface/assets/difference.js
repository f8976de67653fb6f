// One panel over another: their ratio, on a scale that is even around 1, and whether the repetitions show that they differ.

// What is said of a difference, by the letter that the data has.
const SHOWN = {
  h: () => "the difference is shown (Welch's t test, 95 %)",
  l: () => "the difference is shown (Welch's t test, 95 %)",
  n: () => "no difference is shown: its 95 % interval (Welch's t test) has 0 in it",
  e: () => "all runs of both gave the same",
  u: (points) => `${points.some(single) ? "a single run" : "repetitions that are one run"}: whether they differ is not known`,
};
const single = (point) => state.quantity.of(point)?.n === 1;

// The letter of the two panels that are compared at a place.
function shownBetween(x, y) {
  const [a, b] = [Math.min(state.a, state.b), Math.max(state.a, state.b)];
  const found = data.differences.find((one) => one.a === a && one.b === b && one.quantity === state.quantity.key);
  const at = placeOf(x, y).reduce((sum, n, axis) => sum * lengthOf(axis) + n, 0);
  return found?.shown[at] ?? " ";
}

// Marks over fields whose difference is not shown: lines where the interval has 0 in it or all values are equal, dots where there is none.
const MARKS = {
  n: { name: "hatched", text: "no difference is shown: its 95 % interval (Welch's t test) has 0 in it; of many that are equal one in twenty is not hatched by chance" },
  e: { name: "hatched", text: "equal: all runs of both gave the same" },
  u: { name: "dotted", text: "a single run, or repetitions that are one run: whether they differ is not known" },
};
function patterns(svg) {
  const defs = element(svg, "defs", {});
  const pattern = (id, more) => element(defs, "pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", ...more });
  const hatch = pattern("hatched", { patternTransform: "rotate(45)" });
  element(hatch, "line", { x1: 1, x2: 1, y1: 0, y2: 6, class: "hatch light" });
  element(hatch, "line", { x1: 2, x2: 2, y1: 0, y2: 6, class: "hatch" });
  element(pattern("dotted", {}), "circle", { cx: 3, cy: 3, r: 1.1, class: "speck" });
}

function drawDifference() {
  const section = document.getElementById("difference");
  section.hidden = data.panels.length < 2;
  const parent = document.getElementById("differences");
  parent.replaceChildren();
  if (section.hidden) return;
  const ratio = (x, y) => {
    const [a, b] = [meanAt(state.a, x, y), meanAt(state.b, x, y)];
    return a > 0 && b > 0 ? a / b : undefined;
  };
  let most = 1.1;
  for (let x = 0; x < lengthOf(state.x); x += 1)
    for (let y = 0; y < lengthOf(state.y); y += 1) {
      const found = ratio(x, y);
      if (found) most = Math.max(most, found, 1 / found);
    }
  const of = (value) => 0.5 + Math.log(value) / Math.log(most) / 2;
  const ticks = [1 / most, 1 / Math.sqrt(most), 1, Math.sqrt(most), most];
  const fill = (x, y) => {
    const found = ratio(x, y);
    return found === undefined ? undefined : colour(of(found), TWO);
  };
  const title = `${data.panels[state.a]} over ${data.panels[state.b]}`;
  const points = (x, y) => [pointAt(state.a, x, y), pointAt(state.b, x, y)];
  const text = (x, y) => {
    const said = SHOWN[shownBetween(x, y)]?.(points(x, y));
    return `${title}: ${short(ratio(x, y) ?? NaN)} times${said ? `\n${said}` : ""}\n\n${told(state.a, x, y)}\n\n${told(state.b, x, y)}`;
  };
  const { svg, w, h, place } = field(parent, title, fill, text, () => false);
  markUnshown(svg, w, h, place);
  const scale = document.createElement("div");
  scale.className = "ramp";
  parent.append(scale);
  drawRamp(scale, { of, ticks }, TWO, "times");
}

function markUnshown(svg, w, h, place) {
  patterns(svg);
  const there = new Set();
  for (let x = 0; x < lengthOf(state.x); x += 1)
    for (let y = 0; y < lengthOf(state.y); y += 1) {
      const letter = shownBetween(x, y);
      if (!MARKS[letter]) continue;
      there.add(letter);
      const [left, top] = place(x, y);
      const mark = element(svg, "rect", { x: left, y: top, width: w, height: h, fill: `url(#${MARKS[letter].name})`, class: `mark ${MARKS[letter].name}` });
      mark.dataset.over = `${x},${y}`;
    }
  const key = document.getElementById("marks");
  key.replaceChildren();
  for (const letter of there) {
    const item = document.createElement("li");
    const swatch = document.createElement("i");
    swatch.className = `swatch ${MARKS[letter].name}`;
    item.append(swatch, `${MARKS[letter].name}: ${MARKS[letter].text}`);
    key.append(item);
  }
}
