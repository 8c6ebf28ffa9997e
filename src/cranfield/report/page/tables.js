// Tables that sort, and the table of topics.
function sortKey(cell) {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/^[<[]+/, "").replace(/−/, "-").replace(/,(?=\d{3})/g, ""));
  return { text, number: text.startsWith("<") ? number / 2 : number };
}

function sortRows(table, column, direction) {
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, ...sortKey(row.cells[column]) }));
  const known = rows.filter((one) => one.text !== "–");
  const numeric = known.length > 0 && known.every((one) => !Number.isNaN(one.number));
  rows.sort((a, b) => {
    if (a.text === "–" || b.text === "–") return (a.text === "–") - (b.text === "–");
    return direction * (numeric ? a.number - b.number : collator.compare(a.text, b.text));
  });
  table.tBodies[0].append(...rows.map((one) => one.row));
}

function sortButton(head, label, current, choose) {
  head.setAttribute("aria-sort", current === 0 ? "none" : current > 0 ? "ascending" : "descending");
  head.replaceChildren(html("button", { type: "button", onclick: choose }, label));
}

// Numbers are wanted highest first, names from the start.
const firstDirection = (head) => (head.classList.contains("n") ? -1 : 1);

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const draw = (sorted, direction) =>
    heads.forEach((head, column) => {
      if (head.querySelector(".unseen")) return;
      if (!head.dataset.label) head.dataset.label = head.textContent;
      sortButton(head, head.dataset.label, column === sorted ? direction : 0, () => {
        const next = column === sorted ? -direction : firstDirection(head);
        sortRows(table, column, next);
        draw(column, next);
        table.classList.add("resorted");
        heads[column].firstChild.focus();
      });
    });
  draw(-1, 0);
}

function difference(topic, of = measure()) {
  const [a, b] = state.pair.map((system) => of.scores[system][topic]);
  return a === null || b === null ? null : a - b;
}

const ORDERS = ["topic", ...(data.systems.length > 1 ? ["difference"] : []), "difficulty", "unjudged"];

function meanOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

function topicValue(key, topic) {
  const of = measure();
  if (key === "difficulty") {
    const mean = meanOf(pickedByMean().map((i) => of.scores[i][topic]));
    return mean === null ? null : (of.sign || 1) * mean;
  }
  if (key === "unjudged") return meanOf(pickedByMean().map((i) => data.unjudged[i][topic]));
  return key === "topic" ? topic : key === "difference" ? difference(topic) : of.scores[key][topic];
}

function sortedTopics() {
  const [key, direction] = state.sort;
  const wanted = state.filter.toLowerCase();
  const found = data.topics.map((_, t) => t).filter((t) => data.topics[t].toLowerCase().includes(wanted));
  return found.sort((a, b) => {
    if (key === "topic") return direction * collator.compare(data.topics[a], data.topics[b]) || a - b;
    const [x, y] = [topicValue(key, a), topicValue(key, b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return direction * (x - y) || a - b;
  });
}

function drawTopics() {
  const table = document.querySelector("table.topics");
  const systems = pickedByMean();
  const keys = ["topic", ...(data.systems.length > 1 ? ["difference"] : []), ...systems];
  const label = (key) => {
    if (key === "difference") return state.pair.map((i) => data.systems[i]).join(" − ");
    return key === "topic" ? "topic" : data.systems[key];
  };
  const of = measure();
  const shade = shader(of);
  const topics = sortedTopics();
  const head = html("tr", {}, keys.map((key) => {
    const cell = html("th", { scope: "col", class: key === "topic" ? null : "n" });
    sortButton(cell, label(key), state.sort[0] === key ? state.sort[1] : 0, () => {
      state.sort = [key, state.sort[0] === key ? -state.sort[1] : firstDirection(cell)];
      drawTopics();
      table.querySelectorAll("thead button")[keys.indexOf(key)].focus();
    });
    return cell;
  }));
  const rows = topics.map((t) => html("tr", {}, keys.map((key) => {
    if (key === "topic") {
      const open = html("button", { type: "button", class: "link", onclick: () => showTopic(t) }, data.topics[t]);
      return html("th", { scope: "row" }, open);
    }
    const value = topicValue(key, t);
    if (key === "difference") return html("td", { class: "n" }, value === null ? "–" : signed(value));
    return html("td", { class: value === null ? "n" : `n s${shade(value)}` }, shown(value));
  })));
  const even = data.topics.length < data.all_topics ? ", evenly from the hardest to the easiest" : "";
  const counted = `${topics.length} of ${data.all_topics} topics${even}`;
  table.caption.textContent = `${of.label} of ${counted}; choose a topic to open it`;
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows);
}
