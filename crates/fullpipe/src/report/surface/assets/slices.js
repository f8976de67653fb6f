// Lines along one axis: means with their confidence intervals, and what rules say.

function drawSlices() {
  const parent = document.getElementById("slices");
  parent.replaceChildren();
  const y = state.y < 0 ? 0 : state.at[state.y];
  const [width, height, left, bottom, top] = [900, 340, 70, 44, 8];
  const svg = element(parent, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "slices" });
  const columns = lengthOf(state.x);
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
  const range = [height - bottom, top];
  const scale = logarithmic ? logScale(domain, range) : linearScale(domain, range, 6);
  const across = (x) => left + ((x + 0.5) * (width - left)) / columns;
  const up = (value) => Math.min(height - bottom, Math.max(top, scale.of(Math.max(value, logarithmic ? domain[0] : 0))));
  for (const tick of scale.ticks) {
    element(svg, "line", { x1: left, x2: width, y1: scale.of(tick), y2: scale.of(tick), class: "grid" });
    element(svg, "text", { x: left - 6, y: scale.of(tick) + 4, "text-anchor": "end" }, short(tick));
  }
  for (let x = 0; x < columns; x += Math.ceil(columns / 16))
    element(svg, "text", { x: across(x), y: height - bottom + 16, "text-anchor": "middle" }, shownAt(state.x, x));
  element(svg, "line", { x1: left, x2: width, y1: height - bottom, y2: height - bottom, class: "axis" });
  element(svg, "text", { x: (width + left) / 2, y: height - 8, "text-anchor": "middle" }, nameOf(state.x));
  element(svg, "text", { x: 12, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${height / 2})` }, `${state.quantity.name}, ${state.quantity.unit}`);
  data.panels.forEach((_, panel) => {
    const group = element(svg, "g", { style: `--run: var(--run-${panel % 8})` });
    const line = (of, name) => {
      let [path, pen] = ["", false];
      for (let x = 0; x < columns; x += 1) {
        const value = of(pointAt(panel, x, y));
        if (value === undefined) { pen = false; continue; }
        path += `${pen ? "L" : "M"}${across(x).toFixed(1)} ${up(value).toFixed(1)}`;
        pen = true;
      }
      if (path) element(group, "path", { d: path, class: name });
    };
    line((point) => point && state.quantity.of(point)?.mean, "line");
    if (state.quantity.name === "rate") line((point) => (point && point.law != null && point.holds ? point.law : undefined), "law");
    for (let x = 0; x < columns; x += 1) {
      const point = pointAt(panel, x, y);
      const estimate = point && state.quantity.of(point);
      if (!estimate) continue;
      const { mean, within } = estimate;
      if (within !== undefined) element(group, "line", { x1: across(x), x2: across(x), y1: up(mean - within), y2: up(mean + within), class: "error" });
      const dot = element(group, "circle", { cx: across(x), cy: up(mean), r: 3.6, class: "mean" });
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
}
