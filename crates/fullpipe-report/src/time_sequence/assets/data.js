// The chunks of the page: inflated and decoded when they are needed, and kept for a while.
const index = JSON.parse(document.getElementById("index").textContent);
const letters = document.getElementById("chunks").textContent;
const MARKS = ["data", "resent", "again", "dropped", "ack", "edge", "sack", "marked", "ackDropped"];
const SACKS = 4;
const MOST_KEPT = 400;
const kept = new Map(); // first letter of a chunk -> promise of what is in it

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  return bytes;
}
async function inflated(chunk) {
  const packed = new Blob([bytesOf(letters.slice(chunk.at, chunk.at + chunk.letters))]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers in groups of seven bits; differences are zigzag. Doubles hold them: none is as large as 2^53.
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  next() {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = this.bytes[this.at];
      this.at += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
  difference() {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
  differences(count) {
    const values = new Float64Array(count);
    for (let i = 0; i < count; i += 1) values[i] = this.difference();
    return values;
  }
}

// Differences from what each was expected to be, to values; `expected(i)` is told of the train before.
function summed(values, expected) {
  for (let i = 1; i < values.length; i += 1) values[i] += expected(i - 1);
  return values;
}
const PLAIN = ["count", "spacing", "segments", "len", "ackStep", "window", "flags", "ecn", "dropped", "sackStep"];
const COLUMNS = ["time", "count", "spacing", "segments", "seq", "len", "ack", "ackStep", "window", "flags", "ecn", "kind", "dropped", "sackStep"];

function trainsOf(bytes, chunk) {
  const numbers = new Numbers(bytes);
  const t = { size: chunk.count, sacks: [] };
  for (const name of COLUMNS) t[name] = numbers.differences(t.size);
  t.place = new Float64Array(t.size);
  for (let i = 0; i < t.size; i += 1) t.place[i] = numbers.next();
  for (let block = 0; block < SACKS; block += 1) t.sacks.push([numbers.differences(t.size), numbers.differences(t.size)]);
  for (const name of PLAIN) summed(t[name], (i) => t[name][i]);
  summed(t.time, (i) => t.time[i] + (t.count[i] - 1) * t.spacing[i]);
  summed(t.seq, (i) => t.seq[i] + t.count[i] * t.len[i]);
  summed(t.ack, (i) => t.ack[i] + (t.count[i] - 1) * t.ackStep[i]);
  t.sacks.forEach(([starts, ends], block) => {
    summed(starts, (i) => starts[i]);
    summed(ends, (i) => ends[i] + (block === 0 ? (t.count[i] - 1) * t.sackStep[i] : 0));
  });
  t.last = t.time.map((time, i) => time + (t.count[i] - 1) * t.spacing[i]);
  return t;
}

function binsOf(bytes, chunk) {
  const numbers = new Numbers(bytes);
  const bins = { size: chunk.count, number: numbers.differences(chunk.count), spans: [] };
  summed(bins.number, (i) => bins.number[i]);
  for (let mark = 0; mark < MARKS.length; mark += 1) {
    const [count, lo, hi] = [0, 1, 2].map(() => new Float64Array(bins.size));
    for (let i = 0; i < bins.size; i += 1) count[i] = numbers.next();
    let before = 0;
    const there = [...count.keys()].filter((i) => count[i] > 0);
    // The lowest is told as difference from the highest before, and that is only known with the sizes.
    const steps = there.map(() => numbers.difference());
    there.forEach((i, place) => {
      lo[i] = before + steps[place];
      hi[i] = lo[i] + numbers.next();
      before = hi[i];
    });
    bins.spans.push({ count, lo, hi });
  }
  return bins;
}

// What is in a chunk, by the reader of its kind.
function contents(chunk, read) {
  let found = kept.get(chunk.at);
  if (found) kept.delete(chunk.at);
  else found = inflated(chunk).then((bytes) => read(bytes, chunk));
  kept.set(chunk.at, found); // the newest stand last
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  return found;
}

// Chunks in order of time of which something lies between two times, and the one before, from which lines come.
function between(chunks, from, to) {
  let [low, high] = [0, chunks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunks[middle].to < from) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let i = Math.max(0, low - 1); i < chunks.length && chunks[i].from <= to; i += 1) found.push(chunks[i]);
  return found;
}
