// What becomes of documents on the way from one ranking to another, and lines between the same ones.

// Where a system has a document that is not among its first: its rank, null if it has it nowhere, undefined if the page
// does not carry that.
function rankBelow(system, t, d) {
  const ranks = data.rankings.below?.[system][t];
  if (!ranks) return undefined;
  const at = ranks.findIndex((document, place) => place % 2 === 0 && document === d);
  return at < 0 ? null : ranks[at + 1];
}

function changesOf(t, first, second) {
  const [ours, theirs] = [first, second].map((system) => data.rankings.places[system][t]);
  const changes = new Map();
  ours.forEach((d, rank) => {
    const before = theirs.indexOf(d);
    const kind = before < 0 ? "entered" : before > rank ? "up" : before < rank ? "down" : "stayed";
    changes.set(d, { kind, rank: rank + 1, before: before < 0 ? null : before + 1, below: rankBelow(second, t, d) });
  });
  theirs.forEach((d, rank) => {
    if (!changes.has(d)) changes.set(d, { kind: "left", rank: null, before: rank + 1, below: rankBelow(first, t, d) });
  });
  return changes;
}

const KINDS = [["up", "moved up"], ["down", "moved down"], ["stayed", "stayed"], ["entered", "entered"], ["left", "left"]];

function countLine(changes, depth, first, second) {
  const counts = (kind) => [...changes.values()].filter((change) => change.kind === kind).length;
  const parts = KINDS.map(([kind, words]) => [kind, words, counts(kind)]).filter(([, , count]) => count);
  return html("p", { class: "changes" },
    `In the first ${depth}, from ${data.systems[second]} to ${data.systems[first]}: `,
    parts.map(([kind, words, count], place) => [place ? ", " : "", html("b", { class: kind }, `${count} ${words}`)]),
    ".");
}

// What is written beside a document: in the first ranking how it got there, in the second where it goes.
function changeMark({ kind, rank, before, below }, side, other) {
  const unseen = (text) => html("span", { class: "unseen" }, text);
  const mark = (...parts) => html("span", { class: `move ${kind}` }, parts);
  if (kind === "stayed") return mark("=", unseen(` same rank as in ${other}`));
  if (kind === "entered" || kind === "left") {
    const { depth } = data.rankings;
    const [way, goes] = side ? ["to", "leaves"] : ["from", "enters"];
    if (below === undefined) return mark(`${goes} top ${depth}`, unseen(`: not in the first ${depth} of ${other}`));
    if (below === null) return mark("only here", unseen(`: nowhere in the list of ${other}`));
    return mark(`${way} ${below}`, unseen(` in ${other}: not in its first ${depth}`));
  }
  if (side === 1) return mark(`to ${rank}`, unseen(` in ${other}`));
  const from = unseen(`, from rank ${before} in ${other}`);
  return kind === "up" ? mark(`↑ ${before - rank}`, from) : mark(`↓ ${rank - before}`, from);
}

const ROW = 17; // pixels of a rank where lists stand one above the other, and ranks stand for documents

function drawLines(box) {
  const drawing = box.querySelector("svg.lines");
  if (!drawing) return;
  const lists = [...box.querySelectorAll("ol.ranking")];
  const narrow = getComputedStyle(box).gridTemplateColumns.split(" ").length === 1;
  const top = narrow ? 0 : drawing.getBoundingClientRect().top;
  const items = lists.map((list) => new Map([...list.children].map((item, rank) => {
    const { top: above } = item.getBoundingClientRect();
    return [item.dataset.document, { item, y: narrow ? (rank + 1.6) * ROW : above - top + 16 }];
  })));
  const longest = Math.max(...lists.map((list) => list.children.length));
  const width = narrow ? Math.min(300, box.clientWidth) : gutterOf(lists);
  const height = narrow ? (longest + 1.4) * ROW : box.clientHeight;
  const [left, right] = narrow ? [26, width - 26] : [0, width];
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawing.setAttribute("width", width);
  drawing.setAttribute("height", height);
  const label = (text, x, y) => svg("text", { x, y, "text-anchor": "middle" }, text);
  const ranks = !narrow ? [] : [label("A", 12, 0.8 * ROW), label("B", width - 12, 0.8 * ROW),
    ...lists.flatMap((list, side) => [...list.children].map((_, rank) =>
      label(String(rank + 1), side ? width - 12 : 12, (rank + 1.9) * ROW)))];
  drawing.replaceChildren(...ranks, ...linesBetween(items, left, right));
}

const gutterOf = ([ours, theirs]) => theirs.getBoundingClientRect().left - ours.getBoundingClientRect().right;

function linesBetween([ours, theirs], left, right) {
  const middle = (left + right) / 2;
  const lines = [];
  const line = (document, kind, d) => svg("path", { class: kind, d, "data-document": document });
  const end = (document, kind, cx, cy) => svg("circle", { class: kind, cx, cy, r: 4, "data-document": document });
  for (const [document, { item, y }] of ours) {
    const other = theirs.get(document);
    const { kind } = item.dataset;
    if (other) lines.push(line(document, kind, `M${left} ${y}C${middle} ${y} ${middle} ${other.y} ${right} ${other.y}`));
    else lines.push(line(document, kind, `M${left} ${y}h12`), end(document, kind, left + 16, y));
  }
  for (const [document, { y }] of theirs) {
    if (!ours.has(document)) lines.push(line(document, "left", `M${right} ${y}h-12`), end(document, "left", right - 16, y));
  }
  return lines;
}

// Pointing at a document, or reading on from it by keyboard, shows it in the other list too.
function showSame(box, event) {
  const chosen = event.target.closest("[data-document]");
  for (const part of box.querySelectorAll("[data-document]")) {
    part.classList.toggle("same", chosen !== null && part.dataset.document === chosen.dataset.document);
  }
}
