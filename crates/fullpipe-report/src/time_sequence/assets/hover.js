// What is under the pointer, in words.
const values = document.getElementById("values");
const [box, ring] = ["box", "ring"].map((id) => Object.assign(document.createElement("div"), { id }));
document.getElementById("plot").append(box, ring);
const NEAR = 14; // pixels

// The packet of a train nearest to a time, and those beside it.
function* nearest(t, i, time) {
  const at = t.spacing[i] ? Math.round((time - t.time[i]) / t.spacing[i]) : 0;
  const packet = Math.min(t.count[i] - 1, Math.max(0, at));
  for (let one = Math.max(0, packet - 1); one <= Math.min(t.count[i] - 1, packet + 1); one += 1) yield one;
}
// Pixels from a point to a bar.
function distance(px, py, x, lo, hi) {
  const [low, high] = [yOf(lo), yOf(hi)];
  return Math.hypot(px - x, py < high ? high - py : Math.max(0, py - low));
}

function dataParts(t, i, packet) {
  const seq = t.seq[i] + packet * t.len[i];
  return [{ mark: t.kind[i] >= 2 ? "again" : t.kind[i] === 1 ? "resent" : "data", lo: seq, hi: seq + t.len[i] }];
}
function ackParts(t, i, packet) {
  const ack = ackOf(t, i, packet);
  const sacks = sacksOf(t, i, packet).map(([lo, hi]) => ({ mark: "sack", lo, hi }));
  return [{ mark: "ack", lo: ack, hi: ack }, { mark: "edge", lo: ack + t.window[i], hi: ack + t.window[i] }, ...sacks];
}
const sacksOf = (t, i, packet) =>
  t.sacks.map(([starts, ends], block) => [starts[i], ends[i] + (block === 0 ? packet * t.sackStep[i] : 0)]).filter(([, end]) => end > 0);

// The nearest packet that is drawn.
function packetAt(px, py) {
  const time = timeOf(px);
  const reach = (NEAR / room().width) * (state.view.t1 - state.view.t0);
  let best = { distance: NEAR };
  const look = (chunks, acks, partsOf) => {
    for (const t of chunks) {
      for (let i = 0; i < t.size; i += 1) {
        if (t.last[i] < time - reach || t.time[i] > time + reach) continue;
        for (const packet of nearest(t, i, time)) {
          const x = xOf(t.time[i] + packet * t.spacing[i]);
          for (const part of partsOf(t, i, packet)) {
            if (!shows(part.mark)) continue;
            const away = distance(px, py, x, part.lo, part.hi);
            if (away < best.distance) best = { distance: away, t, i, packet, acks, part, x };
          }
        }
      }
    }
  };
  look(drawn.data, false, dataParts);
  look(drawn.acks, true, ackParts);
  return best.t ? best : null;
}

const TITLES = { data: "segment", resent: "retransmission", again: "hardware duplicate" };
const FLAGS = [[1, "SYN"], [2, "FIN"], [4, "ECE"], [8, "CWR"]];
const bytesText = (value) => `${format(value, 0)} ${value === 1 ? "byte" : "bytes"}`;
const placeText = (place) => index.places[place - 1];
const exactTime = (ns) => `${format(Math.floor(ns / 1e9), 0)}.${String(Math.round(ns % 1e9)).padStart(9, "0")} s`;

function packetText({ t, i, packet, acks, part }) {
  const lines = [["time", exactTime(t.time[i] + packet * t.spacing[i])]];
  const seq = t.seq[i] + packet * t.len[i];
  const flags = FLAGS.filter(([flag]) => Math.floor(t.flags[i] / flag) % 2).map(([, name]) => name);
  if (!acks) {
    lines.push(["sequence", t.len[i] ? `${format(seq, 0)} to ${format(seq + t.len[i] - 1, 0)}` : format(seq, 0)]);
    lines.push(["data", bytesText(t.len[i]) + (t.segments[i] > 1 ? ` in ${t.segments[i]} segments` : "")]);
  } else if (t.ack[i]) {
    const ack = ackOf(t, i, packet);
    lines.push(["ACK", format(ack, 0)], ["window", `${bytesText(t.window[i])}, up to ${format(ack + t.window[i], 0)}`]);
    for (const [start, end] of sacksOf(t, i, packet)) lines.push(["SACK", `${format(start, 0)} to ${format(end - 1, 0)}`]);
  }
  if (flags.length) lines.push(["flags", flags.join(" ")]);
  if (t.ecn[i] === 3) lines.push(["ECN", "marked (CE)"]);
  if (t.dropped[i]) {
    const some = t.segments[i] > 1 ? `${format(t.dropped[i], 0)} of ${t.segments[i]} segments, ` : "";
    lines.push(["dropped later", `${some}at ${placeText(t.place[i])}`]);
  }
  const title = acks ? (flags.includes("SYN") ? "SYN-ACK" : t.kind[i] >= 2 ? "ACK, hardware duplicate" : "ACK") : TITLES[part.mark];
  return [title, lines];
}

// A bin of the drawn level.
function binAt(px) {
  const number = Math.floor(timeOf(px) / drawn.width);
  for (const chunk of drawn.bins) {
    const i = chunk.number.findIndex((one) => one >= number - 1 && one <= number + 1);
    if (i >= 0) return { chunk, i };
  }
  return null;
}
const NOUNS = { data: "segments", resent: "retransmissions", again: "hardware duplicates", dropped: "dropped later", ack: "ACKs", marked: "CE marks", ackDropped: "ACKs dropped" };
function binText({ chunk, i }) {
  const from = chunk.number[i] * drawn.width;
  const lines = [["time", `${exactTime(from)}, ${spanText(drawn.width)}`]];
  for (const [mark, noun] of Object.entries(NOUNS)) {
    const { count, lo, hi } = chunk.spans[MARKS.indexOf(mark)];
    if (count[i] > 0) lines.push([noun, `${format(count[i], 0)}, ${format(lo[i], 0)} to ${format(hi[i], 0)}`]);
  }
  return ["what passed", lines];
}

function showValues([title, lines], clientX, clientY) {
  const list = document.createElement("dl");
  for (const [name, value] of lines) {
    list.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }));
  }
  values.replaceChildren(Object.assign(document.createElement("b"), { textContent: title }), list);
  const { width, height } = values.getBoundingClientRect();
  const right = clientX + 18 + width < innerWidth ? clientX + 18 : clientX - 18 - width;
  const below = clientY + 14 + height < innerHeight ? clientY + 14 : clientY - 14 - height;
  values.style.transform = `translate(${Math.max(4, right)}px, ${Math.max(4, below)}px)`;
  values.classList.add("shown");
}
function hideValues() {
  values.classList.remove("shown");
  ring.style.display = "none";
}
function hover(event) {
  const frame = canvas.getBoundingClientRect();
  const [px, py] = [event.clientX - frame.left, event.clientY - frame.top];
  const inside = px >= MARGIN.left && px <= MARGIN.left + room().width && py >= MARGIN.top && py <= MARGIN.top + room().height;
  const found = inside && drawn ? (drawn.level ? binAt(px) : packetAt(px, py)) : null;
  hideValues();
  if (!found) return;
  if (!drawn.level) {
    const { lo, hi } = found.part;
    const middle = Math.min(yOf(lo), Math.max(yOf(hi), py));
    Object.assign(ring.style, { display: "block", left: `${found.x}px`, top: `${middle}px` });
  }
  showValues(drawn.level ? binText(found) : packetText(found), event.clientX, event.clientY);
}
