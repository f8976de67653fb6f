// Names on axes: as much of each as there is room for, the whole of it under the pointer.

const pen = document.createElement("canvas").getContext("2d");
function widthOf(text, size = 11) {
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

// The text, or its beginning with an ellipsis, in so much room.
function fitted(text, room, size) {
  if (widthOf(text, size) <= room) return text;
  let [fits, not] = [0, text.length];
  while (not - fits > 1) {
    const middle = (fits + not) >> 1;
    if (widthOf(`${text.slice(0, middle)}…`, size) <= room) fits = middle;
    else not = middle;
  }
  return `${text.slice(0, fits).trimEnd()}…`;
}

// Text in a figure; `whole` is what it stands for.
function label(svg, attributes, text, room, whole = text) {
  const shown = fitted(text, room, attributes["font-size"]);
  const made = element(svg, "text", attributes, shown);
  if (shown === whole) return;
  made.classList.add("cut");
  hover(made, () => whole);
}

const isNames = (axis) => axis >= 0 && data.axes[axis].names;
const labelAt = (axis, n) => (axis < 0 ? "" : data.axes[axis].labels[n]);
const titleOf = (axis) => (axis < 0 ? "" : data.axes[axis].title);
const widest = (axis) => (axis < 0 ? 0 : Math.max(...data.axes[axis].labels.map((text) => widthOf(text))));

const MOST = 120; // the longest label, in the figure's units
const SLOPE = 40; // degrees by which names lean where they are wider than their fields
// What labels of the x axis need below fields of width w: { depth, lean, every }. Numbers may be left out, names lean.
function acrossRoom(axis, w) {
  const needed = Math.min(MOST, widest(axis)) + 6;
  if (!isNames(axis)) return { depth: 14, lean: false, every: Math.ceil(Math.max(needed, 26) / w) };
  if (needed <= w) return { depth: 14, lean: false, every: 1 };
  return { depth: 14 + (needed - 6) * Math.sin((SLOPE * Math.PI) / 180), lean: true, every: Math.ceil(13 / w) };
}
function acrossLabels(svg, axis, { depth, lean, every }, { left, w, y, height }) {
  for (let n = 0; n < lengthOf(axis); n += every) {
    const x = left + (n + 0.5) * w;
    const room = lean ? Math.min(MOST, (x - 4) / Math.cos((SLOPE * Math.PI) / 180)) : Math.min(MOST, w * every - 6);
    const place = lean ? { x: x + 3, y: y + 12, "text-anchor": "end", transform: `rotate(-${SLOPE} ${x + 3} ${y + 12})` } : { x, y: y + 14, "text-anchor": "middle" };
    label(svg, place, labelAt(axis, n), room, shownAt(axis, n));
  }
  const right = left + w * lengthOf(axis);
  label(svg, { x: (left + right) / 2, y: height - 8, "text-anchor": "middle", class: "title" }, titleOf(axis), right - left, nameOf(axis));
  return depth;
}

// The room that labels of the y axis need, its title beside them.
const upRoom = (axis) => Math.max(62, 28 + Math.min(MOST, widest(axis)));
function upLabels(svg, axis, middle, { left, h, top, bottom }) {
  const skip = Math.ceil((isNames(axis) ? 12 : 16) / h);
  for (let n = 0; n < lengthOf(axis); n += skip)
    label(svg, { x: left - 5, y: middle(n) + 4, "text-anchor": "end" }, labelAt(axis, n), left - 24, shownAt(axis, n));
  const turn = (top + bottom) / 2;
  if (axis >= 0) label(svg, { x: 10, y: turn, "text-anchor": "middle", class: "title", transform: `rotate(-90 10 ${turn})` }, titleOf(axis), bottom - top, nameOf(axis));
}
