// The charts, each a function of the box it is drawn in. They show the library's numbers; nothing is tested here.
function curveChart(box, curve, label) {
  const systems = pickedByMean();
  const names = systems.map((i) => data.systems[i]);
  const width = Math.max(300, Math.min(box.clientWidth, 760));
  const right = Math.min(widest(names) + 8, width * 0.36);
  const [left, top, height] = [44, 26, Math.max(300, systems.length * 15 + 70)];
  const [end, bottom] = [width - right, height - 42];
  const ys = systems.flatMap((i) => curve.ys[i]);
  const high = most(ys) > 0.5 && most(ys) <= 1 ? 1 : most(ys) * 1.05 || 1;
  const [first, last] = [curve.xs[0], curve.xs[curve.xs.length - 1]];
  const [x, y] = [linear(first, last, left, end), linear(0, high, bottom, top)];
  const made = canvas(box, width, height, label);
  made.append(axisBelow(x, ticks(first, last, width < 420 ? 5 : 10), bottom, top, curve.x, (left + end) / 2));
  made.append(axisLeft(y, ticks(0, high, 5), left, end, curve.y, top));
  const places = spread(systems.map((i) => y(curve.ys[i][curve.ys[i].length - 1])), 13.5, top, bottom);
  const point = (value, k) => `${k ? "L" : "M"}${x(curve.xs[k]).toFixed(1)} ${y(value).toFixed(1)}`;
  const groups = systems.map((i, place) => svg("g", {},
    svg("path", { fill: "none", style: `stroke:${colour(i)}`, "stroke-width": 2, "stroke-dasharray": dash(i),
      d: curve.ys[i].map(point).join("") }),
    svg("text", { x: end + 6, y: places[place] + 4, style: `fill:${colour(i)}` }, cut(names[place], right))));
  const dot = svg("circle", { r: 4, visibility: "hidden" });
  made.append(...groups, dot);
  const light = (chosen) => groups.forEach((group, g) => group.classList.toggle("faded", chosen >= 0 && g !== chosen));
  made.addEventListener("pointermove", (event) => {
    const at = made.getBoundingClientRect();
    const [px, py] = [event.clientX - at.left, event.clientY - at.top];
    const onLabel = px > end + 4;
    const k = onLabel ? curve.xs.length - 1
      : curve.xs.map((value) => Math.abs(x(value) - px)).reduce((best, gap, i, all) => (gap < all[best] ? i : best), 0);
    const gaps = systems.map((i, place) => Math.abs((onLabel ? places[place] : y(curve.ys[i][k])) - py));
    const nearest = gaps.indexOf(least(gaps));
    if (!systems.length || gaps[nearest] > 40) return leave();
    const i = systems[nearest];
    light(nearest);
    put(dot, { cx: x(curve.xs[k]), cy: y(curve.ys[i][k]), style: `fill:${colour(i)}`, visibility: "visible" }, []);
    tip(event, `${data.systems[i]}\n${curve.x} ${curve.xs[k]}: ${fixed(curve.ys[i][k])}`);
  });
  const leave = () => { light(-1); dot.setAttribute("visibility", "hidden"); tip(); };
  made.addEventListener("pointerleave", leave);
}

// The pair of two systems among those compared: its number, and -1 if it is the other way round.
function pairOf(a, b) {
  const k = data.pairs.findIndex(([i, j]) => (i === a && j === b) || (i === b && j === a));
  return k < 0 ? null : [k, data.pairs[k][0] === a ? 1 : -1];
}

const signedEnd = (end) => (Number.isFinite(end) ? signed(end) : end < 0 ? "−∞" : "+∞");

function forestChart(box, label) {
  const of = measure();
  const systems = pickedByMean().filter((i) => i !== of.reference);
  const rows = systems.map((i) => {
    const [k, sign] = pairOf(i, of.reference);
    // An end that is null is beyond every number.
    const ends = (low, high) => [of[low][k] ?? -Infinity, of[high][k] ?? Infinity];
    const turn = (low, high) => (sign > 0 ? ends(low, high) : ends(low, high).map((end) => -end).reverse());
    const all = turn("together_low", "together_high");
    return { i, mean: sign * of.difference[k], alone: turn("low", "high"), all, p: of.adjusted_p[k] };
  });
  const width = Math.max(300, Math.min(box.clientWidth, 760));
  const left = Math.min(widest(systems.map((i) => data.systems[i])), width * 0.4);
  const [top, step] = [8, 22];
  const bottom = top + Math.max(rows.length, 1) * step;
  const ends = rows.flatMap((row) => [...row.all, ...row.alone, row.mean]).filter(Number.isFinite);
  const [low, high] = [Math.min(0, least(ends)), Math.max(0, most(ends))];
  const within = (end) => Math.max(low, Math.min(high, end));
  const x = linear(low, high, left + 6, width - 10);
  const made = canvas(box, width, bottom + 44, label);
  const reference = data.systems[of.reference];
  const title = `difference from ${cut(reference, width - left - textWidth("difference from "))}`;
  made.append(axisBelow(x, ticks(low, high, width < 420 ? 4 : 7), bottom, top, title, (left + width) / 2));
  const zero = { x1: x(0), x2: x(0), y1: top, y2: bottom };
  made.append(svg("line", { ...zero, stroke: "var(--ink)", "stroke-dasharray": "3 3" }));
  rows.forEach((row, r) => {
    const y = top + (r + 0.5) * step;
    const stroke = row.p < data.alpha ? "var(--good)" : "var(--neutral)";
    const said = `${data.systems[row.i]} − ${reference}\n` +
      `${signed(row.mean)} [${row.alone.map(signedEnd).join(", ")}]\nadjusted p ${shownP(row.p)}`;
    made.append(rowName(data.systems[row.i], left, y), svg("g", hover(said),
      svg("rect", { x: left, y: y - step / 2, width: width - left, height: step, fill: "transparent" }),
      svg("line", { x1: x(within(row.all[0])), x2: x(within(row.all[1])), y1: y, y2: y, stroke }),
      svg("line", { x1: x(within(row.alone[0])), x2: x(within(row.alone[1])), y1: y, y2: y, stroke, "stroke-width": 4 }),
      svg("circle", { cx: x(row.mean), cy: y, r: 5, fill: stroke, stroke: "var(--page)" })));
  });
}

// In place of a chart that ranks systems, for a measure that ranks none.
function unordered(box) {
  box.replaceChildren(html("p", {}, `No value of ${measure().name} is better than another: it puts systems in no order.`));
}

const ranksOfAll = () => everySystem.map((i) => i + 1);

function rankChart(box, label) {
  const of = measure();
  if (!of.ranks) return unordered(box);
  const order = [...everySystem].sort((a, b) => of.ranks[a] - of.ranks[b]);
  const width = Math.max(300, Math.min(box.clientWidth, 760));
  const left = Math.min(widest(data.systems), width * 0.4);
  const [top, step] = [8, 20];
  const bottom = top + order.length * step;
  const room = of.groups.length * 9 + 10;
  const x = linear(1, data.systems.length, left + 12, width - room - 42);
  const made = canvas(box, width, bottom + 44, label);
  const many = data.systems.length > 12;
  const ranks = many ? [1, ...ticks(2, data.systems.length, 5).filter(Number.isInteger)] : ranksOfAll();
  made.append(axisBelow(x, ranks, bottom, top, "mean rank", (left + width - room) / 2));
  order.forEach((i, r) => {
    const y = top + (r + 0.5) * step;
    const said = `${data.systems[i]}\nmean rank ${of.ranks[i].toFixed(2)}`;
    const dot = { cx: x(of.ranks[i]), cy: y, r: 5, fill: "var(--good)", class: state.picked.has(i) ? null : "faded" };
    made.append(rowName(data.systems[i], left, y), svg("circle", { ...dot, ...hover(said) }),
      svg("text", { class: "small", x: x(of.ranks[i]) + 9, y: y + 4 }, of.ranks[i].toFixed(2)));
  });
  of.groups.forEach((group, k) => {
    const at = width - room + 6 + k * 9;
    const rows = group.map((i) => top + (order.indexOf(i) + 0.5) * step);
    const ends = { y1: least(rows), y2: most(rows) };
    const look = { stroke: "var(--bad)", "stroke-width": 3, "stroke-linecap": "round" };
    const names = group.map((i) => data.systems[i]).join(", ");
    made.append(svg("g", {}, svg("title", {}, `not significantly different: ${names}`),
      svg("line", { x1: at, x2: at, ...ends, ...look }),
      rows.map((y) => svg("circle", { cx: at, cy: y, r: 4, fill: "var(--bad)" }))));
  });
}

function heatChart(box, label) {
  const of = measure();
  const systems = pickedByMean();
  const mean = (t) => systems.reduce((sum, i) => sum + (of.scores[i][t] ?? 0), 0);
  const topics = data.topics.map((_, t) => t).sort((a, b) => (of.sign || 1) * (mean(a) - mean(b)) || a - b);
  const shade = shader(of);
  const left = Math.min(widest(systems.map((i) => data.systems[i])), box.clientWidth * 0.4);
  const step = 20;
  const across = Math.max(220, box.clientWidth - left - 4);
  const height = Math.max(1, systems.length) * step;
  const made = canvas(box, left + across, height + 22, label);
  const paths = Array.from({ length: 9 }, () => []);
  systems.forEach((i, r) => {
    made.append(rowName(data.systems[i], left, (r + 0.5) * step));
    topics.forEach((t, c) => {
      if (of.scores[i][t] !== null) paths[shade(of.scores[i][t])].push(`M${c} ${r}h1v1h-1z`);
    });
  });
  const cells = `0 0 ${topics.length} ${Math.max(1, systems.length)}`;
  const field = svg("svg", { x: left, width: across, height, viewBox: cells, preserveAspectRatio: "none",
    "shape-rendering": "crispEdges", style: "cursor:pointer" },
  paths.map((parts, s) => svg("path", { class: `s${s}`, d: parts.join("") })));
  const at = (event) => {
    const frame = made.getBoundingClientRect();
    const c = Math.floor(((event.clientX - frame.left - left) / across) * topics.length);
    return [topics[c], systems[Math.floor((event.clientY - frame.top) / step)]];
  };
  field.addEventListener("pointermove", (event) => {
    const [t, i] = at(event);
    if (t === undefined || i === undefined) return;
    tip(event, `${data.systems[i]}, topic ${data.topics[t]}\n${of.name} ${shown(of.scores[i][t])}`);
  });
  field.addEventListener("pointerleave", () => tip());
  field.addEventListener("click", (event) => { const [t] = at(event); if (t !== undefined) openTopic(t); });
  made.append(field, svg("text", { x: left, y: height + 16 }, of.sign ? "hardest topic" : "lowest"),
    svg("text", { x: left + across, y: height + 16, "text-anchor": "end" }, of.sign ? "easiest" : "highest"));
}

function histogramChart(box, label) {
  const [a, b] = state.pair.map((i) => data.systems[i]);
  const known = data.topics.map((_, t) => [t, difference(t)]).filter(([, d]) => d !== null);
  const sign = measure().sign;
  const bars = known.sort((p, q) => (sign || 1) * (q[1] - p[1]) || p[0] - q[0]);
  const width = Math.max(300, Math.min(box.clientWidth, 760));
  const [left, top, height] = [48, 26, 300];
  const values = bars.map(([, d]) => d);
  const [low, high] = [Math.min(0, least(values)), Math.max(0, most(values))];
  const y = linear(low, high, height - 24, top);
  const slot = (width - left - 8) / Math.max(bars.length, 1);
  const both = (said) => { // the two names, each in half of the room beside what is said of them
    const room = (width - left - textWidth(said("", ""))) / 2;
    return said(cut(a, room), cut(b, room));
  };
  const made = canvas(box, width, height, label);
  made.append(axisLeft(y, ticks(low, high, 6), left, width, both((one, other) => `${measure().label}: ${one} − ${other}`), top));
  bars.forEach(([t, d], k) => {
    const box = { x: left + 4 + k * slot, y: Math.min(y(0), y(d)), width: Math.max(slot * 0.85, 0.6),
      height: Math.max(Math.abs(y(d) - y(0)), 0.5) };
    const fill = sign * d > 0 ? "var(--good)" : sign * d < 0 ? "var(--bad)" : "var(--neutral)";
    const said = hover(`topic ${data.topics[t]}\n${signed(d)}`);
    made.append(svg("rect", { ...box, fill, style: "cursor:pointer", onclick: () => openTopic(t), ...said }));
  });
  const pair = pairOf(...state.pair);
  if (!pair || !sign) return;
  const [won, lost] = (pair[1] > 0 ? ["wins", "losses"] : ["losses", "wins"]).map((name) => measure()[name][pair[0]]);
  const same = measure().ties[pair[0]];
  const counted = both((one, other) => `${one} better on ${won}, ${other} on ${lost}, the same on ${same}`);
  made.append(svg("text", { x: left + 4, y: height - 6 }, counted));
}

function pChart(box, label) {
  const of = measure();
  const systems = pickedByMean();
  const names = systems.map((i) => data.systems[i]);
  matrix(box, label, systems.map((i) => `${data.systems[i]}  ${data.letters[i]}`), names, (r, c) => {
    if (r === c) return null;
    const p = of.adjusted_p[pairOf(systems[r], systems[c])[0]];
    const shade = p < 0.001 ? 8 : p < 0.01 ? 6 : p < data.alpha ? 4 : p < 0.2 ? 1 : 0;
    const said = `${names[r]} and ${names[c]}\nadjusted p ${shownP(p)}`;
    return { shade, text: p < 0.001 ? "<.001" : p.toFixed(3), tip: said };
  }, systems.map((i) => data.letters[i]));
}

function stabilityChart(box, label) {
  const of = measure();
  if (!of.shares) return unordered(box);
  const order = byMean();
  const ranks = ranksOfAll();
  matrix(box, label, order.map((i) => data.systems[i]), ranks, (r, c) => {
    const share = of.shares[order[r]][c];
    if (!share) return null;
    const said = `${data.systems[order[r]]}\nrank ${c + 1} in ${(share * 100).toFixed(1)}% of draws`;
    return { shade: Math.round(share * 8), text: `${Math.round(share * 100)}%`, tip: said };
  }, ranks.map(String));
}

// For each kind of figure: its title for what is chosen, and how it is drawn.
const charts = {
  interpolated: [null, (box, label) => curveChart(box, data.curves.interpolated, label)],
  cutoff: [null, (box, label) => curveChart(box, data.curves.cutoff, label)],
  forest: [() => `Differences from ${data.systems[measure().reference]} by ${measure().name}`, forestChart],
  histogram: [
    () => `${state.pair.map((i) => data.systems[i]).join(" and ")}, topic by topic, by ${measure().name}`,
    histogramChart,
  ],
  "critical-difference": [() => `Mean ranks by ${measure().name}`, rankChart],
  "p-values": [() => `Which systems differ by ${measure().name}`, pChart],
  stability: [() => `Is the order by ${measure().name} safe?`, stabilityChart],
  heatmap: [() => `Every score by ${measure().name}`, heatChart],
};

function drawCharts() {
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const [title, draw] = charts[figure.dataset.chart];
    const head = figure.querySelector("h3");
    if (title) head.textContent = title();
    const box = figure.querySelector(".drawing");
    box.className = "drawing own";
    draw(box, head.textContent);
  }
}
