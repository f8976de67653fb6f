// What is drawn, chosen by its reader.

function choices(select, names, chosen, choose) {
  const option = (name, n) => {
    const made = document.createElement("option");
    [made.value, made.textContent, made.selected] = [n, name, n === chosen];
    return made;
  };
  select.replaceChildren(...names.map(option));
  select.onchange = () => {
    choose(Number(select.value));
    draw();
  };
}

// A choice of the place on an axis.
function placeOn(parent, axis) {
  const [label, select] = [document.createElement("label"), document.createElement("select")];
  label.append(`${nameOf(axis)} `, select);
  parent.append(label);
  choices(select, data.axes[axis].shown, state.at[axis], (n) => (state.at[axis] = n));
}

function drawControls() {
  const get = (id) => document.getElementById(id);
  const measured = QUANTITIES.filter((quantity) => data.points.some((point) => quantity.of(point)));
  choices(get("quantity"), measured.map((quantity) => `${quantity.name}, ${quantity.unit}`), measured.indexOf(state.quantity), (n) => (state.quantity = measured[n]));
  const names = data.axes.map((axis) => axis.name);
  const swap = (own, other) => (n) => {
    if (state[other] === n) state[other] = state[own];
    state[own] = n;
  };
  choices(get("x"), names, state.x, swap("x", "y"));
  choices(get("y"), names, state.y, swap("y", "x"));
  get("x").parentElement.hidden = data.axes.length < 2;
  get("y").parentElement.hidden = data.axes.length < 2;
  const others = get("others");
  others.replaceChildren();
  data.axes.forEach((_, axis) => axis !== state.x && axis !== state.y && placeOn(others, axis));
  choices(get("a"), data.panels, state.a, (n) => (state.a = n));
  choices(get("b"), data.panels, state.b, (n) => (state.b = n));
  const slice = get("slice");
  slice.replaceChildren();
  if (state.y >= 0) placeOn(slice, state.y);
}

function draw() {
  drawControls();
  drawPairs();
  drawSurfaces();
  drawDifference();
  drawSlices();
  drawKey();
}

wireTheme();
if (data.axes.length > 0) draw();
