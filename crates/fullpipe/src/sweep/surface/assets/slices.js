// Lines along one axis: means with their confidence intervals, and what rules say.

function drawSlices() {
  const parent = document.getElementById("slices");
  parent.replaceChildren();
  const y = state.y < 0 ? 0 : state.at[state.y];
  const columns = lengthOf(state.x);
  const [width, left, top, floor] = [900, 70, 8, 296];
  const w = (width - left) / columns;
  const room = acrossRoom(state.x, w);
  const height = floor + room.depth + 30;
  const svg = element(parent, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "slices" });
  const values = [];
  for (let panel = 0; panel < data.panels.length; panel += 1)
    for (let x = 0; x < columns; x += 1) {
      const found = pointAt(panel, x, y);
      const estimate = found && state.quantity.of(found);
      if (estimate) values.push(estimate.mean + (estimate.within ?? 0), estimate.mean);
    }
  const above = values.filter((value) => value > 0);
  const [low, high] = extent(above);
  const logarithmic = above.length > 0 && high / low > 10;
  const domain = above.length === 0 ? [0, 1] : logarithmic ? [low * 0.8, high * 1.2] : [0, high * 1.06];
  const range = [floor, top];
  const scale = logarithmic ? logScale(domain, range) : linearScale(domain, range, 6);
  // Panels stand beside each other at a name, between which there is nothing a line could go through.
  const [names, step] = [isNames(state.x), Math.min(12, (0.7 * w) / data.panels.length)];
  const across = (x, panel) => left + (x + 0.5) * w + (names ? (panel - (data.panels.length - 1) / 2) * step : 0);
  const up = (value) => Math.min(floor, Math.max(top, scale.of(Math.max(value, logarithmic ? domain[0] : 0))));
  for (const tick of scale.ticks) {
    element(svg, "line", { x1: left, x2: width, y1: scale.of(tick), y2: scale.of(tick), class: "grid" });
    element(svg, "text", { x: left - 6, y: scale.of(tick) + 4, "text-anchor": "end" }, short(tick));
  }
  element(svg, "line", { x1: left, x2: width, y1: floor, y2: floor, class: "axis" });
  acrossLabels(svg, state.x, room, { left, w, y: floor, height });
  element(svg, "text", { x: 12, y: floor / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${floor / 2})` }, `${state.quantity.name}, ${state.quantity.unit}`);
  data.panels.forEach((_, panel) => {
    const group = element(svg, "g", { style: `--run: var(--run-${panel % 8})` });
    const line = (of, name) => {
      let [path, pen] = ["", false];
      for (let x = 0; x < columns; x += 1) {
        const value = of(pointAt(panel, x, y));
        if (value === undefined) { pen = false; continue; }
        const [px, py] = [across(x, panel).toFixed(1), up(value).toFixed(1)];
        path += names ? `M${px - 8} ${py}h16` : `${pen ? "L" : "M"}${px} ${py}`;
        // A line needs two points: one alone is marked.
        const lone = of(pointAt(panel, x - 1, y)) === undefined && of(pointAt(panel, x + 1, y)) === undefined;
        if (lone && !names && name === "law") element(group, "path", { d: `M${px - 6} ${py}h12`, class: "law lone" });
        pen = true;
      }
      if (path) element(group, "path", { d: path, class: name });
    };
    if (!names) line((point) => point && state.quantity.of(point)?.mean, "line");
    if (state.quantity.name === "rate") line((point) => (point && point.law != null && point.holds ? point.law : undefined), "law");
    for (let x = 0; x < columns; x += 1) {
      const point = pointAt(panel, x, y);
      const estimate = point && state.quantity.of(point);
      if (!estimate) continue;
      const { mean, within } = estimate;
      if (within !== undefined) element(group, "line", { x1: across(x, panel), x2: across(x, panel), y1: up(mean - within), y2: up(mean + within), class: "error" });
      const dot = element(group, "circle", { cx: across(x, panel), cy: up(mean), r: 3.6, class: "mean" });
      hover(dot, () => told(panel, x, y));
    }
  });
}

function drawKey() {
  const key = document.getElementById("key");
  key.replaceChildren();
  data.panels.forEach((name, panel) => {
    const item = document.createElement("li");
    const mark = document.createElement("i");
    mark.style.setProperty("--run", `var(--run-${panel % 8})`);
    item.append(mark, name);
    key.append(item);
  });
  if (document.querySelector("#slices .law") === null) return;
  const [item, mark] = [document.createElement("li"), document.createElement("i")];
  mark.className = "dashed";
  item.append(mark, "dashed: what the congestion control's rule makes of random losses");
  key.append(item);
}
