// One topic: what was asked, what two systems put first and what each document adds, what all systems score on it.
function boxed(label, table) {
  return html("div", { class: "box", role: "region", "aria-label": label, tabindex: 0 }, table);
}

function scoreTable(t, systems) {
  const sides = pair();
  const head = html("tr", {}, html("th", { scope: "col" }, "system"),
    data.measures.map((of) => html("th", { scope: "col", class: "n" }, of.name)));
  const rows = systems.map((i) => html("tr", { class: sides.includes(i) ? "side-row" : null },
    html("th", { scope: "row" }, data.systems[i]),
    data.measures.map((of) => html("td", { class: "n" }, shown(of.scores[i][t], of)))));
  const table = html("table", {}, html("caption", {}, "Scores"), html("thead", {}, head), html("tbody", {}, rows));
  return boxed("Scores", table);
}

// What the documents of a ranking add to its score, rank by rank; null where the page does not carry it.
function addedBy(t, system) {
  const carried = data.contributions[state.measure];
  if (typeof carried === "string") return null;
  const word = carried.places[system].split(" ")[t];
  return data.rankings.places[system][t].map((_, rank) => {
    const place = rank < word.length ? word.charCodeAt(rank) - 48 : 0;
    return place ? carried.values[t][place - 1] : 0;
  });
}

function addedBar(value, total, longest) {
  const words = html("span", { class: "unseen" }, `adds ${shown(value)} to ${measure().name}, in all so far ${shown(total)}`);
  const seen = html("span", { "aria-hidden": "true" },
    html("span", { class: value ? "bar" : null },
      value ? html("span", { style: `width:${(100 * Math.abs(value)) / longest}%` }) : null),
    html("span", { class: "n" }, value ? signed(value) : ""), html("span", { class: "n sum" }, `Σ ${shown(total)}`));
  return html("div", { class: "adds" }, words, seen);
}

function rankingOf(t, system, side, view) {
  const { grades, places } = data.rankings;
  const other = data.systems[pair()[1 - side]];
  let total = 0;
  const items = places[system][t].map((d, rank) => {
    const change = view.changes?.get(d);
    const added = view.added[side];
    total += added ? added[rank] : 0;
    const { name, rest } = documentText(t, d);
    return html("li", { "data-document": d, "data-kind": change?.kind ?? null },
      html("div", { class: "head" }, html("span", { class: "rank" }, String(rank + 1)), gradeChip(grades[t][d]), name,
        change ? changeMark(change, side, other) : null),
      rest, added ? addedBar(added[rank], total, view.longest) : null);
  });
  const score = measure().scores[system][t];
  const below = view.added[side] && score !== null && Math.abs(score - total) > 1e-6 ? score - total : null;
  return html("section", { class: "side", "aria-labelledby": `side-${side}` },
    html("h3", { id: `side-${side}` }, pair().length ? `${"AB"[side]}: ` : "", data.systems[system],
      html("span", { class: "score" }, ` ${measure().name} ${shown(score)}`)),
    html("ol", { class: "ranking" }, items),
    items.length ? null : html("p", { class: "reading" }, `${data.systems[system]} has no answer to this topic.`),
    below === null ? null : html("p", { class: "reading below" }, `Further down: ${signed(below)}`),
    ...unjudgedOf(t, system));
}

function unjudgedOf(t, system) {
  const share = data.unjudged[system][t];
  const depth = data.rankings.places[system][t].length;
  return share ? [html("p", { class: "reading" }, `Unjudged: ${Math.round(share * depth)} of ${depth} documents`)] : [];
}

function sidesOf(t) {
  const sides = sidesShown();
  const added = sides.map((system) => addedBy(t, system));
  const view = { added, longest: most(added.flat().map((value) => Math.abs(value ?? 0))) || 1, changes: null };
  if (sides.length === 2) view.changes = changesOf(t, ...sides);
  const lists = sides.map((system, side) => rankingOf(t, system, side, view));
  const lines = sides.length === 2 ? svg("svg", { class: "lines", "aria-hidden": "true" }) : null;
  const box = html("div", { class: sides.length === 2 ? "sides" : "sides alone" }, lists[0], lines, lists[1]);
  for (const kind of ["pointerover", "focusin"]) box.addEventListener(kind, (event) => showSame(box, event));
  if (lines) new ResizeObserver(() => drawLines(box)).observe(box);
  return [view.changes ? countLine(view.changes, data.rankings.depth, ...sides) : null, addedNote(), box];
}

// What stands beside the documents, or why nothing does.
function addedNote() {
  const carried = data.contributions[state.measure];
  if (typeof carried === "string") return html("p", { class: "reading" }, carried);
  return html("p", { class: "reading" }, `Bars show what each document adds to ${measure().name}; Σ is the sum so far.`);
}

function differenceOf(t) {
  if (!pair().length) return null;
  const [a, b] = pair().map((system) => measure().scores[system][t]);
  if (a === null || b === null) return null;
  return html("p", { class: "apart-by" }, `${measure().name}: ${shown(a)} − ${shown(b)} = `, html("b", {}, signed(a - b)));
}

// Controls keep the focus when the view is drawn anew: they are known by their key.
function viewHead(t) {
  const order = sortedTopics();
  const place = order.indexOf(t);
  const step = (by, label, key, keys) => {
    const other = order[place + by];
    return html("button", { type: "button", "data-key": key, disabled: other === undefined, "aria-keyshortcuts": keys,
      title: by < 0 ? "Left arrow or k" : "Right arrow or j",
      onclick: () => showTopic(other) }, label);
  };
  const close = html("button", { type: "button", "data-key": "close", onclick: () => byId("topic").close() }, "Close");
  const told = place < 0 ? "" : `${place + 1} of ${order.length}`;
  const title = html("h2", { id: "topic-title", tabindex: -1 }, `Topic ${data.topics[t]}`,
    html("span", { class: "reading" }, ` ${told}`));
  return html("div", { class: "row apart view-head" }, title, html("div", { class: "row" },
    step(-1, "← Previous", "previous", "ArrowLeft k"), step(1, "Next →", "next", "ArrowRight j"), close));
}

function chooser(label, key, options, chosen, press) {
  const id = `topic-${key}`;
  return html("span", { class: "choice" }, html("label", { for: id }, label),
    html("select", { id, "data-key": key, onchange: (event) => press(event.target.value) },
      options.map(([value, text]) => html("option", { value, selected: value === chosen }, text))));
}

function choosers() {
  const systems = byMean().map((i) => [i, data.systems[i]]);
  const sides = pair().map((system, side) =>
    chooser("AB"[side], ["first", "second"][side], systems, system, (value) => choosePair(side, Number(value))));
  const orders = ORDERS.map((order) => [order, ORDER_NAMES[order]]);
  if (!ORDERS.includes(topicOrder())) orders.push([topicOrder(), "as the table is sorted"]);
  const measures = data.measures.map((of, i) => [i, of.name]);
  return html("div", { class: "row choosers" },
    measures.length < 2 ? null
      : chooser("Measure", "measure", measures, state.measure, (value) => choose({ measure: Number(value) })),
    sides,
    chooser("Topics", "order", orders, topicOrder(), (value) => chooseOrder(value)));
}

let opener = null;

function openTopic(t) {
  const dialog = byId("topic");
  const key = dialog.open && dialog.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const again = dialog.open && dialog.dataset.topic === String(t);
  const scrolled = again ? dialog.scrollTop : 0;
  dialog.dataset.topic = t;
  dialog.replaceChildren(
    viewHead(t),
    questionOf(t) ?? "", choosers(), differenceOf(t) ?? "",
    ...(data.rankings.depth ? sidesOf(t).filter((part) => part !== null) : []),
    scoreTable(t, pickedByMean()),
    ...explanationOf(t, sidesShown()));
  if (!dialog.open) {
    opener = document.activeElement;
    dialog.showModal();
  }
  dialog.scrollTop = scrolled;
  const same = key ? dialog.querySelector(`[data-key="${key}"]:enabled`) : null;
  (same ?? byId("topic-title")).focus({ preventScroll: true });
}

// Left and right, j and k: not where these keys mean something else.
function turnByKey(event) {
  const by = { ArrowLeft: "previous", k: "previous", ArrowRight: "next", j: "next" }[event.key];
  if (!by || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("select, input, textarea")) return;
  const box = event.target.closest(".box");
  if (event.key.startsWith("Arrow") && box && box.scrollWidth > box.clientWidth) return;
  event.preventDefault();
  byId("topic").querySelector(`[data-key="${by}"]:enabled`)?.click();
}
byId("topic").addEventListener("keydown", turnByKey);

// Where the browser gives the focus back to a picture, it stays; in the table of topics the one shown last has it.
byId("topic").addEventListener("close", () => {
  if (opener.isConnected && opener !== document.body && !opener.closest("table.topics")) return;
  const name = data.topics[byId("topic").dataset.topic];
  [...document.querySelectorAll("table.topics tbody button")].find((button) => button.textContent === name)?.focus();
});

// How the scores of a topic arise, for the systems and measures that the page carries it for; the command for others.
function explanationOf(t, systems) {
  const carried = data.explanations.filter((one) => one.measure === state.measure && systems.includes(one.system));
  const parts = systems.flatMap((i) => carried.filter((one) => one.system === i)).map((one) => {
    const entry = one.topics[t];
    const counts = entry.header.indexOf("counts");
    const number = (c) => (c > 1 ? "n" : null);
    const head = html("tr", {}, entry.header.map((name, c) => html("th", { scope: "col", class: number(c) }, name)));
    const rows = entry.rows.map((row) => html("tr", { class: row[counts] ? "counts" : null },
      row.map((text, c) => (c === 1 ? html("th", { scope: "row" }, text) : html("td", { class: number(c) }, text)))));
    const label = `${measure().name} of ${data.systems[one.system]}`;
    return html("details", { class: "explanation" }, html("summary", {}, label),
      html("pre", {}, entry.board), boxed(label, html("table", {}, html("thead", {}, head), html("tbody", {}, rows))),
      html("p", { class: "reading" }, entry.said.join(" ")));
  });
  const others = systems.filter((i) => !carried.some((one) => one.system === i));
  if (data.explain && others.length) {
    const quoted = (text) => (/^[\w@.,:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
    const asked = others.map((i) => `${data.explain[i]} --topic ${quoted(data.topics[t])} -m ${quoted(measure().name)}`);
    const names = others.map((i) => data.systems[i]).join(" and ");
    parts.push(html("p", { class: "reading" }, `Every step of ${measure().name} of ${names}:`),
      html("pre", { class: "command" }, asked.join("\n")));
  }
  return parts.length ? [html("h3", {}, `How ${measure().name} arises`), ...parts] : [];
}
