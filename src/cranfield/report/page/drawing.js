// What every chart needs: axes, places for labels, a box to draw in.
const LETTER = 0.62; // width of a letter for each pixel of the font, on the wide side
const textWidth = (text, size = 12) => text.length * size * LETTER + 6;
const widest = (names) => Math.max(20, ...names.map((name) => textWidth(name) + 10));
const cut = (text, width, size = 12) => {
  const most = Math.max(3, Math.floor((width - 6) / (size * LETTER)));
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2); // names often differ in their ends alone
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
};
const linear = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) || 10);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    found.push(Number((i * step).toPrecision(10)));
  }
  return found;
}

// Places as near as can be to those wanted, at least `gap` apart and inside the limits: labels that would touch are
// pooled into a block centred on the mean of their places.
function spread(wanted, gap, low, high) {
  const room = Math.min(gap, (high - low) / Math.max(wanted.length - 1, 1));
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const blocks = [];
  order.forEach((i, place) => {
    blocks.push([wanted[i] - place * room, 1]);
    while (blocks.length > 1 && blocks[blocks.length - 2][0] >= blocks[blocks.length - 1][0]) {
      const [other, m] = blocks.pop();
      const [one, n] = blocks.pop();
      blocks.push([(one * n + other * m) / (n + m), n + m]);
    }
  });
  const starts = blocks.flatMap(([start, count]) => Array(count).fill(start));
  const places = Array(wanted.length);
  order.forEach((i, place) => {
    places[i] = Math.min(Math.max(starts[place], low), high - (wanted.length - 1) * room) + place * room;
  });
  return places;
}

function canvas(box, width, height, label) {
  const made = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  box.replaceChildren(made);
  return made;
}

function axisBelow(scale, values, bottom, top, title, middle) {
  return svg("g", { class: "axis" },
    values.map((value) => [
      svg("line", { class: "gridline", x1: scale(value), x2: scale(value), y1: top, y2: bottom }),
      svg("text", { x: scale(value), y: bottom + 16, "text-anchor": "middle" }, String(value)),
    ]),
    svg("text", { x: middle, y: bottom + 34, "text-anchor": "middle" }, title));
}

function axisLeft(scale, values, left, right, title, top) {
  return svg("g", { class: "axis" },
    values.map((value) => [
      svg("line", { class: "gridline", x1: left, x2: right, y1: scale(value), y2: scale(value) }),
      svg("text", { x: left - 6, y: scale(value) + 4, "text-anchor": "end" }, String(value)),
    ]),
    svg("text", { x: left - 34, y: top - 12 }, title));
}

const rowName = (name, width, y) => svg("text", { x: width - 8, y: y + 4, "text-anchor": "end" },
  cut(name, width - 8), svg("title", {}, name));

// Squares of a matrix, shaded; text in them where there is room.
function matrix(box, label, rows, columns, cell, heads) {
  const left = Math.min(widest(rows), box.clientWidth * 0.4);
  const side = Math.max(14, Math.min(46, (box.clientWidth - left - 2) / columns.length));
  const high = Math.max(16, Math.min(26, side));
  const top = 20;
  const made = canvas(box, left + side * columns.length + 2, top + high * rows.length + 2, label);
  const every = Math.ceil(Math.max(...heads.map((head) => head.length * 7 + 2)) / side); // heads that do not touch
  heads.forEach((head, c) => {
    if (c % every) return;
    made.append(svg("text", { class: "small", x: left + (c + 0.5) * side, y: top - 6, "text-anchor": "middle" }, head));
  });
  rows.forEach((name, r) => {
    made.append(rowName(name, left, top + (r + 0.5) * high));
    columns.forEach((_, c) => {
      const found = cell(r, c);
      if (!found) return;
      const [x, y] = [left + c * side, top + r * high];
      const attributes = { class: `s${found.shade}`, x, y, width: side - 1, height: high - 1 };
      made.append(svg("rect", { ...attributes, ...hover(found.tip) }));
      if (side >= 34 && found.text) made.append(svg("text", { class: found.shade > 5 ? "small flip" : "small",
        x: x + side / 2, y: y + high / 2 + 4, "text-anchor": "middle", "pointer-events": "none" }, found.text));
    });
  });
}
