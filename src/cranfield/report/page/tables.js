// Tables that sort, and the table of topics.
function sortKey(cell) {
  const text = (cell.dataset.plain ?? cell.textContent).trim();
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
  for (const row of table.tBodies[0].rows) row.classList.remove("tier-break");
}

function sortButton(head, label, current, press) {
  head.setAttribute("aria-sort", current === 0 ? "none" : current > 0 ? "ascending" : "descending");
  head.replaceChildren(html("button", { type: "button", onclick: press }, label));
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
        heads[column].firstChild.focus();
      });
    });
  draw(-1, 0);
}

function difference(topic, of = measure()) {
  if (state.first === null) return null;
  const [a, b] = [state.first, state.second].map((system) => of.scores[system][topic]);
  return a === null || b === null ? null : a - b;
}

// The order of topics: by their names, by the two systems' difference, by how hard they are for the systems shown, by
// the share of unjudged documents, or by one system's score; a minus before it turns it round.
const ORDERS = ["topic", ...(data.systems.length > 1 ? ["difference"] : []), "difficulty", "unjudged"];
const ORDER_NAMES = {
  topic: "by topic", difference: "by difference", difficulty: "hardest first", unjudged: "most unjudged first",
};

function meanOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

// What topics are sorted by, highest first: null stands at the end.
function topicKey(order) {
  const of = measure();
  const systems = pickedByMean();
  if (order === "difference") return (t) => difference(t);
  if (order === "difficulty") { // hardest first
    return (t) => {
      const mean = meanOf(systems.map((i) => of.scores[i][t]));
      return mean === null ? null : -(of.sign || 1) * mean;
    };
  }
  if (order === "unjudged") return (t) => meanOf(systems.map((i) => data.unjudged[i][t]));
  const system = order.startsWith("system:") ? data.systems.indexOf(order.slice(7)) : -1;
  return system < 0 || !isShown(system) ? null : (t) => of.scores[system][t];
}

// What was asked, in short: the first field of the question, where the page has it.
const askedOn = (t) => data.questions?.[t]?.[0]?.[1] ?? "";

function sortedTopics() {
  const turned = state.order.startsWith("-") ? -1 : 1;
  const key = topicKey(state.order.replace(/^-/, ""));
  const wanted = state.filter.toLowerCase();
  const isWanted = (t) => [data.topics[t], askedOn(t)].some((text) => text.toLowerCase().includes(wanted));
  const kept = data.topics.map((_, t) => t).filter(isWanted);
  if (key === null) return kept.sort((a, b) => turned * collator.compare(data.topics[a], data.topics[b]) || a - b);
  const keys = new Map(kept.map((t) => [t, key(t)]));
  return kept.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    return turned * (y - x) || a - b;
  });
}

const PAPER_COLUMNS = 8; // that print has, as style.css says

function topicsHead(table, columns) {
  const current = state.order.replace(/^-/, "");
  const turned = state.order.startsWith("-");
  return html("tr", {}, columns.map(([order, label], place) => {
    const cell = html("th", { scope: "col", class: order === "topic" ? null : "n" });
    const up = (order === "topic") !== turned;
    sortButton(cell, label, current !== order ? 0 : up ? 1 : -1, () => {
      choose({ order: state.order === order ? `-${order}` : order });
      table.querySelectorAll("thead button")[place].focus();
    });
    return cell;
  }));
}

function drawTopics() {
  const table = document.querySelector("table.topics");
  const of = measure();
  const shade = shader(of);
  const compared = [state.first, state.second].filter((i) => i !== null);
  const systems = [...compared, ...pickedByMean().filter((i) => !compared.includes(i))];
  const columns = [["topic", "topic"]];
  if (state.first !== null) {
    columns.push(["difference", [state.first, state.second].map((i) => data.systems[i]).join(" − ")]);
  }
  columns.push(...systems.map((i) => [`system:${data.systems[i]}`, data.systems[i]]));
  const topics = sortedTopics();
  const rows = topics.map((t) => {
    const open = html("button", { type: "button", class: "link", onclick: () => choose({ topic: t }) }, data.topics[t]);
    const apart = difference(t);
    const asked = askedOn(t) ? html("span", { class: "asked", dir: "auto" }, askedOn(t)) : null;
    return html("tr", {}, html("th", { scope: "row" }, open, asked),
      state.first === null ? null : html("td", { class: "n" }, apart === null ? "–" : signed(apart)),
      systems.map((i) => {
        const value = of.scores[i][t];
        return html("td", { class: value === null ? "n" : `n s${shade(value)}` }, shown(value));
      }));
  });
  const even = data.topics.length < data.all_topics ? ", evenly from the hardest to the easiest" : "";
  const counted = `${topics.length} of ${data.all_topics} topics${even}`;
  const inviting = topics.length ? html("span", { class: "on-screen" }, "; choose a topic to open it") : null;
  table.caption.replaceChildren(...[`${of.label} of ${counted}`, inviting].filter(Boolean));
  table.closest(".box").setAttribute("aria-label", `${of.label} of topics`);
  table.tHead.replaceChildren(topicsHead(table, columns));
  byId("paper-columns").hidden = columns.length <= PAPER_COLUMNS;
  const none = html("tr", {}, html("td", { colspan: columns.length },
    `No topic has “${state.filter}” in its id${data.questions ? " or its question" : ""}.`));
  table.tBodies[0].replaceChildren(...(rows.length ? rows : [none]));
}
