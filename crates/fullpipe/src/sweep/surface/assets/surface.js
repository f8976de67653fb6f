// Heat maps with contours, on one scale.

const [WIDTH, DRAWN, TOP] = [380, 204, 6];

// A field for each point of two axes; `fill(x, y)` -> colour or none, `text(x, y)` -> what the pointer shows.
function field(parent, title, fill, text, dot) {
  const box = document.createElement("div");
  const heading = document.createElement("h3");
  heading.textContent = title;
  box.append(heading);
  parent.append(box);
  const [columns, rows, left] = [lengthOf(state.x), lengthOf(state.y), upRoom(state.y)];
  const [w, h] = [(WIDTH - left) / columns, DRAWN / rows];
  const room = acrossRoom(state.x, w);
  const [bottom, height] = [TOP + DRAWN, TOP + DRAWN + room.depth + 26];
  const svg = element(box, "svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": title });
  // Names are read from the top, numbers grow from the bottom.
  const place = (x, y) => [left + x * w, isNames(state.y) ? TOP + y * h : bottom - (y + 1) * h];
  for (let x = 0; x < columns; x += 1)
    for (let y = 0; y < rows; y += 1) {
      const [fromLeft, top] = place(x, y);
      const shade = fill(x, y);
      const attributes = { x: fromLeft, y: top, width: w, height: h, class: shade ? "field" : "field none" };
      if (shade) attributes.fill = shade;
      const rect = element(svg, "rect", attributes);
      rect.dataset.at = `${x},${y}`;
      hover(rect, () => text(x, y));
      if (dot(x, y)) element(svg, "circle", { cx: fromLeft + w / 2, cy: top + h / 2, r: Math.min(2.2, w / 6), class: "dot" });
    }
  acrossLabels(svg, state.x, room, { left, w, y: bottom, height });
  upLabels(svg, state.y, (y) => place(0, y)[1] + h / 2, { left, h, top: TOP, bottom });
  return { svg, w, h, place };
}

// What the pointer shows of a point.
function told(panel, x, y) {
  const point = pointAt(panel, x, y);
  const where = [`${data.panels[panel]}`, ...[[state.x, x], [state.y, y]].filter(([axis]) => axis >= 0).map(([axis, n]) => `${nameOf(axis)} ${shownAt(axis, n)}`)];
  if (!point) return `${where.join("\n")}\nnothing was measured`;
  const value = ({ mean, within, n }, unit) => `${short(mean)}${within === undefined ? "" : ` ± ${short(within)}`} ${unit} (${n} runs)`;
  const lines = QUANTITIES.filter((quantity) => quantity.of(point)).map((quantity) => `${quantity.name} ${value(quantity.of(point), quantity.unit)}`);
  if (point.law != null) lines.push(`by its rule ${short(point.law)} Mb/s${point.holds ? "" : " (its assumptions do not hold here)"}`);
  lines.push(`steady in ${point.steady} of ${point.rate.n}`, `held back by ${point.limit}`);
  return [...where, ...lines].join("\n");
}

function drawSurfaces() {
  const parent = document.getElementById("surfaces");
  parent.replaceChildren();
  const ramp = rampOf(allMeans());
  drawRamp(document.getElementById("ramp"), ramp, STOPS, state.quantity.unit);
  data.panels.forEach((title, panel) => {
    const fill = (x, y) => {
      const mean = meanAt(panel, x, y);
      return mean === undefined ? undefined : colour(ramp.of(mean), STOPS);
    };
    const unsteady = (x, y) => {
      const point = pointAt(panel, x, y);
      return point !== undefined && point.steady < point.rate.n;
    };
    const { svg, w, h, place } = field(parent, title, fill, (x, y) => told(panel, x, y), unsteady);
    const middle = (x, y) => [place(x, y)[0] + w / 2, place(x, y)[1] + h / 2];
    // Nothing lies between two names.
    if (state.y >= 0 && !isNames(state.x) && !isNames(state.y)) contours(svg, ramp, (x, y) => meanAt(panel, x, y), middle);
  });
}

function drawRamp(parent, ramp, stops, unit) {
  parent.replaceChildren();
  const svg = element(parent, "svg", { viewBox: "0 0 640 34", role: "img", "aria-label": "colour scale" });
  for (let n = 0; n < 100; n += 1)
    element(svg, "rect", { x: 28 + n * 4.4, y: 0, width: 4.5, height: 14, fill: colour(n / 99, stops), class: "shade" });
  for (const tick of ramp.ticks)
    element(svg, "text", { x: 28 + ramp.of(tick) * 440, y: 28, "text-anchor": "middle" }, short(tick));
  element(svg, "text", { x: 478, y: 12 }, unit);
}

// Lines of equal value between the middles of fields, at the scale's ticks: marching squares.
function contours(svg, ramp, mean, middle) {
  for (const level of ramp.ticks) {
    const value = (x, y) => {
      const found = mean(x, y);
      return found === undefined ? undefined : ramp.of(found) - ramp.of(level);
    };
    let path = "";
    let end;
    for (let x = 0; x + 1 < lengthOf(state.x); x += 1)
      for (let y = 0; y + 1 < lengthOf(state.y); y += 1) {
        const corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
        const values = corners.map(([cx, cy]) => value(cx, cy));
        if (values.includes(undefined)) continue;
        const cuts = [];
        for (let n = 0; n < 4; n += 1) {
          const [p, q] = [values[n], values[(n + 1) % 4]];
          if (p < 0 === q < 0) continue;
          const [from, to, part] = [middle(...corners[n]), middle(...corners[(n + 1) % 4]), p / (p - q)];
          cuts.push([from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part]);
        }
        for (let n = 0; n + 1 < cuts.length; n += 2) {
          path += `M${cuts[n].map((v) => v.toFixed(1)).join(" ")}L${cuts[n + 1].map((v) => v.toFixed(1)).join(" ")}`;
          end = cuts[n];
        }
      }
    if (path) element(svg, "path", { d: path, class: "contour" });
    if (end) element(svg, "text", { x: end[0] + 3, y: end[1] - 3, class: "contour-label" }, short(level));
  }
}

// Shows text beside the pointer while it is over an element.
function hover(target, text) {
  const shown = document.getElementById("values");
  target.addEventListener("pointermove", (event) => {
    shown.textContent = text();
    shown.classList.add("shown");
    const { offsetWidth: width, offsetHeight: height } = shown;
    const x = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
    const y = event.clientY + 14 + height > innerHeight ? event.clientY - 14 - height : event.clientY + 14;
    shown.style.transform = `translate(${Math.max(0, x)}px, ${Math.max(0, y)}px)`;
  });
  target.addEventListener("pointerleave", () => shown.classList.remove("shown"));
}
