// Scales between values and pixels, ticks, and numbers as text.

// { of(value) -> px, invert(px) -> value, ticks: [value] } over domain [a, b] and range [p, q].
function linearScale([a, b], [p, q], count) {
  const factor = (q - p) / (b - a);
  return {
    of: (value) => p + (value - a) * factor,
    invert: (px) => a + (px - p) / factor,
    ticks: linearTicks(a, b, count),
  };
}
function logScale([a, b], [p, q]) {
  const [la, lb] = [Math.log10(a), Math.log10(b)];
  const factor = (q - p) / (lb - la);
  return {
    of: (value) => p + (Math.log10(value) - la) * factor,
    invert: (px) => 10 ** (la + (px - p) / factor),
    ticks: logTicks(a, b),
  };
}

// Multiples of 1, 2 or 5 times a power of ten, about `count` of them.
function stepFor(span, count) {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10);
}
function linearTicks(a, b, count) {
  const step = stepFor(b - a, count);
  const ticks = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b + step * 1e-9; i += 1) ticks.push(i * step + 0); // + 0: no negative zero
  return ticks;
}
function logTicks(a, b) {
  const ticks = [];
  const factors = Math.log10(b / a) > 2.5 ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(a)); 10 ** power <= b; power += 1) {
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value >= a * 0.999 && value <= b * 1.001) ticks.push(value);
    }
  }
  return ticks;
}

// The interval of values an axis covers: a little air above, and below where it need not begin at 0.
function domainOf(axis, low, high, logarithmic) {
  if (!(high >= low)) return logarithmic ? [1, 10] : [0, 1];
  if (logarithmic) return [low * 0.85, Math.max(high * 1.15, low * 1.5)];
  if (axis.unit === "%") return [0, 100];
  if (axis.from_zero) return [Math.min(0, low), high > 0 ? high * 1.06 : 1];
  const air = Math.max((high - low) * 0.08, Math.abs(high) * 0.002, 1e-6);
  return [low - air, high + air];
}

// Digits behind the point that tell neighbouring ticks apart.
function tickText(value, ticks) {
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(value) || 1;
  const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
  return format(value, Number.isInteger(value) ? 0 : digits);
}
function format(value, digits) {
  const text = value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return text.replace("-", "−");
}
// A value as read under the cursor. Packets are whole; other units show four digits or more.
function valueText(value, unit) {
  if (unit === "packets") return `${format(value, 0)} ${Math.round(value) === 1 ? "packet" : "packets"}`;
  if (unit === "%") return `${format(value, 1)} %`;
  const digits = Math.max(1, Math.min(3, 3 - Math.floor(Math.log10(Math.abs(value) || 1))));
  return `${format(value, digits)} ${unit}`;
}
