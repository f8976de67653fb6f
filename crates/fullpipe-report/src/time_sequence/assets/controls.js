// Pointer, keys, buttons; and what others may call.
let drag = null;
const place = (event) => {
  const frame = canvas.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
};
const FLAT = 6; // pixels: a box no higher than this chooses time alone

// Sequence numbers fitted to what is drawn between two times.
async function fitted(t0, t1) {
  const loaded = await load(planOf({ ...state.view, t0, t1 }));
  let [low, high] = [Infinity, -Infinity];
  const take = (lo, hi) => ([low, high] = [Math.min(low, lo), Math.max(high, hi)]);
  const trains = (chunks, range) => {
    for (const t of chunks) {
      for (let i = 0; i < t.size; i += 1) {
        if (t.last[i] < t0 || t.time[i] > t1) continue;
        const step = t.spacing[i] || 1;
        const first = Math.min(t.count[i] - 1, Math.max(0, Math.ceil((t0 - t.time[i]) / step)));
        const last = Math.max(first, Math.min(t.count[i] - 1, Math.floor((t1 - t.time[i]) / step)));
        range(t, i, first, last);
      }
    }
  };
  if (loaded.level) {
    for (const { size, number, spans } of loaded.bins) {
      for (let i = 0; i < size; i += 1) {
        const at = number[i] * loaded.width;
        if (at + loaded.width < t0 || at > t1) continue;
        for (const mark of [0, 1, 2, 4]) if (spans[mark].count[i]) take(spans[mark].lo[i], spans[mark].hi[i]);
      }
    }
  } else {
    trains(loaded.data, (t, i, first, last) => take(t.seq[i] + first * t.len[i], t.seq[i] + (last + 1) * t.len[i]));
    trains(loaded.acks, (t, i, first, last) => t.ack[i] && take(ackOf(t, i, first), ackOf(t, i, last)));
  }
  if (!(high > low)) return { y0: state.view.y0, y1: state.view.y1 };
  return { y0: low - (high - low) * 0.06, y1: high + (high - low) * 0.08 };
}
async function zoomTime(t0, t1) {
  if (t1 - t0 < SHORTEST) return null;
  return setView({ t0, t1, ...(await fitted(t0, t1)) });
}
const fit = () => zoomTime(state.view.t0, state.view.t1);

function wirePointer() {
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = place(event);
    drag = { x, y, view: state.view, moves: event.shiftKey };
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return hover(event);
    const [x, y] = place(event);
    if (drag.moves) return pan(x, y);
    const flat = Math.abs(y - drag.y) < FLAT;
    Object.assign(box.style, {
      display: "block", left: `${Math.min(x, drag.x)}px`, width: `${Math.abs(x - drag.x)}px`,
      top: `${flat ? MARGIN.top : Math.min(y, drag.y)}px`, height: `${flat ? room().height : Math.abs(y - drag.y)}px`,
    });
    return null;
  });
  canvas.addEventListener("pointerup", (event) => {
    const from = drag;
    [drag, box.style.display] = [null, "none"];
    const [x, y] = place(event);
    if (!from || from.moves || Math.abs(x - from.x) < 4) return;
    const [t0, t1] = [timeOf(Math.min(x, from.x)), timeOf(Math.max(x, from.x))];
    if (Math.abs(y - from.y) < FLAT) zoomTime(t0, t1);
    else setView({ t0, t1, y0: seqOf(Math.max(y, from.y)), y1: seqOf(Math.min(y, from.y)) });
  });
  canvas.addEventListener("pointerleave", hideValues);
  canvas.addEventListener("dblclick", showWhole);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = place(event);
    zoomAt(1.2 ** Math.sign(event.deltaY), timeOf(x), seqOf(y));
  }, { passive: false });
}
function pan(x, y) {
  const { t0, t1, y0, y1 } = drag.view;
  const [dt, dy] = [((drag.x - x) / room().width) * (t1 - t0), ((y - drag.y) / room().height) * (y1 - y0)];
  setView({ t0: t0 + dt, t1: t1 + dt, y0: y0 + dy, y1: y1 + dy }, false);
}

const centre = () => [(state.view.t0 + state.view.t1) / 2, (state.view.y0 + state.view.y1) / 2];
const actions = {
  "+": () => zoomAt(0.5, ...centre()),
  "=": () => zoomAt(0.5, ...centre()),
  "-": () => zoomAt(2, ...centre()),
  ArrowLeft: () => moveBy(-0.2, 0),
  ArrowRight: () => moveBy(0.2, 0),
  ArrowUp: () => moveBy(0, 0.2),
  ArrowDown: () => moveBy(0, -0.2),
  f: fit,
  s: showOpening,
  Backspace: goBack,
  Escape: showWhole,
};
function wireKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  const buttons = { in: actions["+"], out: actions["-"], fit, back: goBack, opening: showOpening, whole: showWhole };
  for (const [id, action] of Object.entries(buttons)) document.getElementById(id).addEventListener("click", action);
}
function wireKey() {
  for (const button of document.querySelectorAll("[data-mark]")) {
    const { mark } = button.dataset;
    const here = (flow) => flow.all[MARKS.indexOf(mark)][0] > 0 || (mark === "dropped" && flow.all[8][0] > 0);
    if (!index.flows.some(here)) button.parentElement.remove();
    button.addEventListener("click", () => {
      if (!state.hidden.delete(mark)) state.hidden.add(mark);
      button.setAttribute("aria-pressed", shows(mark));
      draw();
    });
  }
}
function wireFlows() {
  const select = document.getElementById("flow");
  index.flows.forEach(({ name }, i) => select.append(new Option(name, i)));
  document.getElementById("flows").hidden = index.flows.length < 2;
  select.addEventListener("change", () => {
    state.flow = Number(select.value);
    [state.view, state.before] = [null, []];
    showOpening();
  });
}
function repaint() {
  readColours();
  draw();
}

readColours();
wireTheme();
wirePointer();
wireKeys();
wireKey();
wireFlows();
state.flow = Math.max(0, index.flows.findIndex((flow) => flow.trains.some((chunks) => chunks.length)));
document.getElementById("flow").value = state.flow;
const first = showOpening();
first.then(() => new ResizeObserver(() => draw()).observe(canvas));
new MutationObserver(repaint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

window.fullpipe = {
  // Resolves when the first picture is there.
  first,
  view: () => state.view,
  // 0: single packets; else the level of the pyramid.
  level: () => drawn?.level,
  // Shows a span; resolves when it is drawn. Without sequence numbers these are fitted.
  show: (t0, t1, y0, y1) => (y0 === undefined ? zoomTime(t0, t1) : setView({ t0, t1, y0, y1 })),
  // Where a packet lies in the window, in pixels.
  locate: (time, seq) => {
    const frame = canvas.getBoundingClientRect();
    return { x: frame.left + xOf(time), y: frame.top + yOf(seq) };
  },
};
