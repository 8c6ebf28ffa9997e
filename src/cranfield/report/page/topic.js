// One topic: what each system scores on it, and the documents they put first.
function gradeKey(grade) {
  if (grade === null || grade < 0) return html("span", { class: "key unjudged", title: "nobody judged it" }, "?");
  const shade = Math.min(3, Math.ceil(Math.max(0, grade)));
  return html("span", { class: `key g${shade}`, title: `grade ${grade}` }, String(grade));
}

function boxed(label, table) {
  return html("div", { class: "box", role: "region", "aria-label": label, tabindex: 0 }, table);
}

function scoreTable(t, systems) {
  const head = html("tr", {}, html("th", { scope: "col" }, "system"),
    data.measures.map((of) => html("th", { scope: "col", class: "n" }, of.name)));
  const rows = systems.map((i) => html("tr", {}, html("th", { scope: "row" }, data.systems[i]),
    data.measures.map((of) => html("td", { class: "n" }, shown(of.scores[i][t], of)))));
  const table = html("table", {}, html("caption", {}, "Scores"), html("thead", {}, head), html("tbody", {}, rows));
  return boxed("Scores", table);
}

function documentTable(t, systems) {
  const { depth, documents, grades, places } = data.rankings;
  const longest = Math.max(...systems.map((i) => places[i][t].length), 0);
  const head = html("tr", {}, html("th", { scope: "col", class: "n" }, "rank"),
    systems.map((i) => html("th", { scope: "col" }, data.systems[i])));
  const cell = (i, r) => {
    const d = places[i][t][r];
    if (d === undefined) return html("td", {}, "–");
    return html("td", { "data-document": d }, gradeKey(grades[t][d]), " ", documents[t][d]);
  };
  const rows = Array.from({ length: longest }, (_, r) =>
    html("tr", {}, html("th", { scope: "row", class: "n" }, r + 1), systems.map((i) => cell(i, r))));
  const told = `The first ${depth} documents with their grades; ? was not judged. Point at one to find it elsewhere.`;
  const table = html("table", { class: "documents" }, html("caption", {}, told),
    html("thead", {}, head), html("tbody", {}, rows));
  table.addEventListener("pointerover", (event) => {
    const pointed = event.target.closest("td[data-document]");
    for (const one of table.querySelectorAll("td[data-document]")) {
      one.classList.toggle("same", pointed !== null && one.dataset.document === pointed.dataset.document);
    }
  });
  return boxed("Documents", table);
}

function openTopic(t) {
  const dialog = byId("topic");
  const order = sortedTopics();
  const place = order.indexOf(t);
  const step = (by, label) => {
    const other = order[place + by];
    return html("button", { type: "button", disabled: other === undefined, onclick: () => choose({ topic: other }) }, label);
  };
  const close = html("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const systems = pickedByMean();
  dialog.replaceChildren(
    html("div", { class: "row apart" },
      html("h2", { id: "topic-title", tabindex: -1 }, `Topic ${data.topics[t]}`),
      html("div", { class: "row" }, step(-1, "← Previous"), step(1, "Next →"), close)),
    scoreTable(t, systems),
    data.rankings.depth ? documentTable(t, systems) : "",
    ...explanationOf(t, systems));
  if (!dialog.open) dialog.showModal();
  byId("topic-title").focus();
}

// How the scores of a topic arise, for the systems and measures that the page carries it for; the command for others.
function explanationOf(t, systems) {
  const carried = data.explanations.filter((one) => one.measure === state.measure && systems.includes(one.system));
  const parts = carried.map((one, place) => {
    const entry = one.topics[t];
    const counts = entry.header.indexOf("counts");
    const number = (c) => (c > 1 ? "n" : null);
    const head = html("tr", {}, entry.header.map((name, c) => html("th", { scope: "col", class: number(c) }, name)));
    const rows = entry.rows.map((row) => html("tr", { class: row[counts] ? "counts" : null },
      row.map((text, c) => (c === 1 ? html("th", { scope: "row" }, text) : html("td", { class: number(c) }, text)))));
    const label = `${measure().name} of ${data.systems[one.system]}`;
    return html("details", { open: place === 0, class: "explanation" }, html("summary", {}, label),
      html("pre", {}, entry.board), boxed(label, html("table", {}, html("thead", {}, head), html("tbody", {}, rows))),
      html("p", { class: "reading" }, entry.said.join(" ")));
  });
  const others = systems.filter((i) => !carried.some((one) => one.system === i));
  if (data.explain && others.length) {
    const quoted = (text) => (/^[\w@.,:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
    const asked = `${data.explain[others[0]]} --topic ${quoted(data.topics[t])} -m ${quoted(measure().name)}`;
    parts.push(html("p", { class: "reading" }, `How ${measure().name} of ${data.systems[others[0]]} arises:`),
      html("pre", { class: "command" }, asked));
  }
  return parts.length ? [html("h3", {}, `How ${measure().name} arises`), ...parts] : [];
}
