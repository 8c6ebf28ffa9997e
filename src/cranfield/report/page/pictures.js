// The pictures: each is an Altair chart, drawn by Vega. What is chosen changes its rows and its params, nothing else.
const pictures = JSON.parse(byId("pictures-data").textContent);
const darkPage = window.matchMedia("(prefers-color-scheme: dark)");
const drawings = new Map(); // of each figure: its picture, its view, what it was drawn for
const SMALLEST = 180; // pixels across that a plot can still be read at
const MANY_SYSTEMS = 20; // of a matrix that takes the whole width
const WRITTEN = 30; // pixels of a cell that has room for its number
const SHRUNK = 0.85; // to this, letters are still large enough

// --- The specification of a picture for what is chosen

// Vega looks names up in objects, and Python marks those that every object has.
const drawable = (name) => (name in {} ? `\u2060${name}` : name);
const undrawable = (name) => (typeof name === "string" ? name.replace(/^\u2060/, "") : name);

// A column as a list of values. Numbers that the page has anyway, of scores and of pairs, are not carried twice.
function columnOf(part, name) {
  const column = part.columns[name];
  const list = (number) => pictures.lists[number];
  const named = (field, numbers) => columnOf(part, field).map((text) => numbers.get(undrawable(text)));
  if ("all" in column) return Array(part.count).fill(column.all);
  if ("list" in column) return list(column.list);
  if ("at" in column) return list(column.at).map((place) => list(column.of)[place]);
  if ("joined" in column) {
    const others = columnOf(part, "other");
    return columnOf(part, "system").map((text, row) => text + column.joined + others[row]);
  }
  const systems = named("system", systemNumbers);
  if ("scores" in column) {
    const topics = named("topic", topicNumbers);
    return systems.map((system, row) => data.measures[column.scores].scores[system][topics[row]]);
  }
  const others = named("other", systemNumbers);
  return systems.map((system, row) => column.sign * ofPair(data.measures[column.pairs], column.figure, system, others[row]));
}

function ofPair(of, figure, system, other) {
  const [k, sign] = pairOf(system, other);
  if (sign > 0 || figure === "adjusted_p") return of[figure][k];
  return -of[{ difference: "difference", low: "high", high: "low" }[figure]][k];
}
const systemNumbers = new Map(data.systems.map((name, i) => [name, i]));
const topicNumbers = new Map(data.topics.map((name, t) => [name, t]));

// The rows of a table: those about a system that is not shown are left out, and those about another baseline.
function rowsOf(parts) {
  const shownName = (name) => name === undefined || name === null || !systemNumbers.has(undrawable(name)) || isShown(systemNumbers.get(undrawable(name)));
  const against = reference();
  const rows = [];
  for (const part of parts) {
    const names = Object.keys(part.columns);
    const columns = names.map((name) => columnOf(part, name));
    for (let r = 0; r < part.count; r++) {
      const row = {};
      names.forEach((name, c) => { row[name] = columns[c][r]; });
      if (!shownName(row.system) || !shownName(row.other)) continue;
      if (row.baseline !== undefined && row.baseline !== null && systemNumbers.get(undrawable(row.baseline)) !== against) continue;
      rows.push(row);
    }
  }
  return rows;
}

// The systems that have a colour and a name, in the order of the colours. Each of a few keeps its own, shown or not; of
// many the best, the baseline and the two compared have those of their parts. So it is in naming.py.
function namedSystems() {
  if (data.systems.length <= data.most_named) return everySystem;
  const shown = everySystem.filter(isShown);
  if (shown.length <= data.most_named) return shown;
  const parts = [pickedByMean()[0], state.baseline, state.first, state.second];
  return [...new Set(parts)].filter((i) => i !== null);
}

function paramOf(name) {
  if (name === "named") return namedSystems().map((i) => drawable(data.systems[i]));
  if (name === "first" || name === "second") return drawable(data.systems[state[name]]);
  return undefined;
}

const OF_NAMES = new Set(["sort", "domain", "values", "title", "text", "field"]); // what may be a name and no colour

// A copy of a specification with rows for tables, and with the colours of a dark page where it is for one.
function filled(part, dark, key) {
  if (Array.isArray(part)) return part.map((item) => filled(item, dark, key));
  if (typeof part === "string") {
    if (!dark || OF_NAMES.has(key)) return part;
    return part.replace(/#[0-9a-f]{6}\b/gi, (colour) => pictures.dark[colour.toLowerCase()] ?? colour);
  }
  if (part === null || typeof part !== "object") return part;
  if ("table" in part && key === "values") return rowsOf(pictures.tables[part.table]);
  const copy = {};
  for (const [name, item] of Object.entries(part)) copy[name] = filled(item, dark, name);
  return copy;
}

// Places that are given in pixels across move with the width, and what stands beside each other stands below.
function squeezed(part, share) {
  if (Array.isArray(part)) return part.forEach((item) => squeezed(item, share));
  if (part === null || typeof part !== "object") return;
  for (const [name, item] of Object.entries(part)) {
    if ((name === "x" || name === "x2") && typeof item?.value === "number") item.value *= share;
    else if (name === "legend" && item?.orient === "top") Object.assign(item, { columns: 1, direction: "vertical" });
    else if (name !== "values") squeezed(item, share);
  }
}

// A matrix whose cells are as wide as there is room for; numbers and names that have no room in it are left out.
function narrowed(spec, width) {
  const step = Math.min(spec.width.step, width / pickedByMean().length);
  spec.width = spec.height = { step };
  if (spec.layer && step < WRITTEN) spec.layer = spec.layer.filter(({ mark }) => mark.type !== "text");
  for (const { mark, encoding } of spec.layer ?? [spec]) {
    for (const channel of ["x", "y"]) encoding[channel].axis.labelOverlap = "parity";
    encoding.x.axis.labelAngle = -90; // names beside each other need their height alone
    if (mark.type === "text") mark.fontSize = Math.min(mark.fontSize, step * 0.3);
  }
}

function specificationOf(picture, width, dark) {
  const carried = pictures.specs[picture.specs[state.measure]];
  const spec = filled({ ...carried, config: pictures.configs[carried.config] }, dark);
  for (const param of spec.params ?? []) {
    const value = paramOf(param.name);
    if (value !== undefined) param.value = value;
  }
  delete spec.title; // it stands above the picture
  spec.padding = { left: 2, right: 2, top: 4, bottom: 4 };
  if (typeof spec.width === "number" && spec.width > width) {
    squeezed(spec, width / spec.width);
    spec.width = width;
  }
  if (spec.width?.step && width < Infinity) narrowed(spec, width);
  return spec;
}

// The picture in an element that is in no page yet. On the page it has no ground of its own.
async function embedded(picture, width, dark) {
  const place = html("div");
  const spec = specificationOf(picture, width, dark);
  const made = await vegaEmbed(place, { ...spec, background: null, config: { ...spec.config, background: null } }, {
    mode: "vega-lite", ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: pointedAt,
  });
  return { view: made.view, svg: place.querySelector("svg") };
}

// --- Drawing

const filledTitle = (text) => text
  .replace("{baseline}", () => data.systems[reference()] ?? "–")
  .replace("{first}", () => data.systems[state.first] ?? "–")
  .replace("{second}", () => data.systems[state.second] ?? "–");

// Why a picture cannot be drawn for what is chosen; nothing if it can.
function undrawn(picture) {
  const number = picture.specs[state.measure];
  if (number === null) return `No value of ${measure().name} is better than another: it puts systems in no order.`;
  const count = pickedByMean().length;
  if (!count) return "No system is shown.";
  return picture.systems > count ? `This picture needs ${picture.systems} systems, and ${count} is shown.` : "";
}

const selectionKey = () => JSON.stringify([state.measure, state.systems, reference(), state.first, state.second, namedSystems(), darkPage.matches]);
let untouched = ""; // the selection that the static pictures show

// Which systems are grey, and which in colour, depends on what is chosen.
function captionOf(picture) {
  const [count, named] = [pickedByMean().length, namedSystems()];
  const some = named.length < count;
  const grey = some ? ` Of ${count} systems those not named are grey.` : "";
  const coloured = (names) => ` In colour: ${names.join(", ")}.`;
  const carried = pictures.specs[picture.specs[state.measure]]?.params?.find(({ name }) => name === "named")?.value ?? [];
  return picture.captions[state.measure].replace(/ ?Of \d+ systems those not named are grey\./, () => grey)
    .replace(coloured(carried.map(undrawable)), () => (some ? coloured(named.map((i) => data.systems[i])) : ""));
}

// What is true of this view of a picture alone.
function viewOf(picture) {
  const but = namedSystems().length < pickedByMean().length ? ", but for which systems are named" : "";
  const same = data.measures.length > 1 && new Set(picture.specs).size === 1 ? ` The same for every measure chosen${but}.` : "";
  const fewer = allShown() ? "" : ` Shown here: ${pickedByMean().length} of ${data.systems.length} systems.`;
  return same + fewer;
}

function titled(figure, picture) {
  const title = filledTitle(picture.titles[state.measure]);
  figure.querySelector("h3").textContent = title;
  figure.querySelector(".drawing").setAttribute("aria-label", `${title}. Arrow keys go through what it shows.`);
  for (const button of figure.querySelectorAll(".downloads button")) {
    button.setAttribute("aria-label", `${button.textContent}: ${title}`);
  }
  figure.querySelector("figcaption p").textContent = captionOf(picture) + viewOf(picture);
}

const keyOf = (figure) => `${selectionKey()} ${figure.clientWidth}`;

async function drawPicture(figure) {
  const drawing = drawings.get(figure);
  const key = keyOf(figure);
  const box = figure.querySelector(".drawing");
  const why = undrawn(drawing.picture);
  figure.querySelector(".downloads").hidden = Boolean(why);
  const dark = darkPage.matches;
  let made = { view: null, svg: html("p", {}, why) };
  if (!why) made = await embeddedIn(box.clientWidth, drawing.picture, dark);
  if (keyOf(figure) !== key) return made.view?.finalize(); // something else was chosen meanwhile
  titled(figure, drawing.picture);
  drawing.view?.finalize();
  Object.assign(drawing, { view: made.view, marks: null, at: undefined });
  box.replaceChildren(made.svg);
  box.classList.remove("stale", "paper");
  box.classList.toggle("dark", dark);
  if (!why) {
    markAsPicture(made.svg, figure.querySelector("h3").textContent);
    made.view.addEventListener("click", (_, item) => openTopicOf(item));
  }
  if (figure.querySelector(".rows:not([hidden])")) showRows(figure);
}

// As wide as there is room for. What stands beside the plot is as wide as it is.
async function embeddedIn(room, picture, dark) {
  const made = await embedded(picture, Infinity, dark);
  const natural = Number(made.svg.getAttribute("width"));
  if (natural * SHRUNK <= room) return made;
  made.view.finalize();
  return embedded(picture, Math.max(SMALLEST, made.view.width() - (natural - room)), dark);
}

// One picture to a screen reader; what is in it is told by its table and by keys.
function markAsPicture(drawn, label) {
  for (const part of drawn.querySelectorAll("[aria-label], [role], [aria-roledescription]")) {
    for (const name of ["aria-label", "role", "aria-roledescription"]) part.removeAttribute(name);
  }
  drawn.removeAttribute("style");
  put(drawn, { role: "img", "aria-label": label }, []);
}

const seen = new Set(); // figures in sight, or near it
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) seen.add(entry.target);
    else seen.delete(entry.target);
  }
  drawNext();
}, { rootMargin: "300px" });

// A browser may put off for ever what has no limit.
const idle = () => new Promise((go) => (window.requestIdleCallback ? requestIdleCallback(go, { timeout: 100 }) : setTimeout(go)));

// Those in sight are drawn first, the others when there is nothing else to do.
let drawingNow = false;
async function drawNext() {
  if (drawingNow) return;
  drawingNow = true;
  const waiting = () => [...drawings.keys()].filter((figure) => drawings.get(figure).key !== keyOf(figure));
  for (let left = waiting(); left.length; left = waiting()) {
    const figure = left.find((one) => seen.has(one)) ?? left[0];
    if (!seen.has(figure)) await idle();
    const key = keyOf(figure);
    await drawPicture(figure).catch((error) => console.error(error));
    drawings.get(figure).key = key; // one that fails is not tried again until something else is chosen
  }
  drawingNow = false;
  document.documentElement.dataset.drawn = "all";
}

// What was drawn for something else is not seen until it is drawn anew.
function drawPictures() {
  const none = !pickedByMean().length;
  document.querySelector(".figures").hidden = none;
  byId("no-pictures").hidden = !none;
  const fresh = selectionKey() === untouched;
  delete document.documentElement.dataset.drawn;
  for (const [figure, { picture }] of drawings) {
    if (!fresh || drawings.get(figure).key) figure.querySelector(".drawing").classList.add("stale");
    titled(figure, picture);
  }
  drawNext();
}

// --- Marks: pointed at, walked through by keys, listed

// As tables have it: a p is never nothing, and nothing has no minus.
function toldValue(name, value) {
  if (/^adjusted[ _]p$/.test(name) && value === "0.0000") return "<0.0001";
  return typeof value === "string" ? undrawable(value).replace(/^−(0\.0+)$/, "+$1") : value;
}
const toldBy = (tooltip) => Object.entries(tooltip).map(([name, value]) => `${name}: ${toldValue(name, value)}`).join("\n");

function pointedAt(_, event, item, value) {
  if (value === null || value === undefined || value === "") return untip();
  tip(event.clientX, event.clientY, typeof value === "object" ? toldBy(value) : String(value));
}

// Every mark that tells something, once each, in the order of the picture.
function marksOf(figure) {
  const drawing = drawings.get(figure);
  if (drawing.marks || !drawing.view) return drawing.marks ?? [];
  const marks = new Map();
  const walk = (items, x, y) => {
    for (const item of items) {
      if (item.tooltip && typeof item.tooltip === "object") {
        const told = toldBy(item.tooltip);
        const { x1, x2, y1, y2 } = item.bounds;
        if (!marks.has(told)) marks.set(told, { item, told, x: x + (x1 + x2) / 2, y: y + (y1 + y2) / 2 });
      }
      for (const mark of item.items ?? []) if (mark.items) walk(mark.items, x + (item.x ?? 0), y + (item.y ?? 0));
    }
  };
  const [[left, top], padding] = [drawing.view.origin(), drawing.view.padding()];
  walk(drawing.view.scenegraph().root.items, left + padding.left, top + padding.top);
  drawing.marks = [...marks.values()];
  return drawing.marks;
}

function openTopicOf(item) {
  const topic = topicNumbers.get(undrawable(item?.datum?.topic));
  if (topic !== undefined) choose({ topic });
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

function walkMarks(figure, event) {
  const drawing = drawings.get(figure);
  const marks = marksOf(figure);
  if (event.key === "Enter" && marks[drawing.at]) return openTopicOf(marks[drawing.at].item);
  if (event.key === "Escape") return leaveMarks(figure);
  if (!(event.key in STEPS) || !marks.length) return;
  event.preventDefault();
  const last = marks.length - 1;
  drawing.at = Math.max(0, Math.min(last, (drawing.at ?? (STEPS[event.key] > 0 ? -1 : last + 1)) + STEPS[event.key]));
  const mark = marks[drawing.at];
  const box = figure.querySelector(".drawing");
  const drawn = box.querySelector("svg");
  const picture = drawn.getBoundingClientRect();
  const scale = picture.width / Number(drawn.getAttribute("width"));
  const [x, y] = [picture.left + mark.x * scale, picture.top + mark.y * scale];
  const ring = box.querySelector(".ring") ?? box.appendChild(html("span", { class: "ring", "aria-hidden": "true" }));
  const frame = box.getBoundingClientRect();
  ring.style.left = `${x - frame.left + box.scrollLeft}px`;
  ring.style.top = `${y - frame.top + box.scrollTop}px`;
  tip(x, y, mark.told);
}

function leaveMarks(figure) {
  drawings.get(figure).at = undefined;
  figure.querySelector(".ring")?.remove();
  untip();
}

// The columns of a picture's table: what its marks tell.
function tableOf(figure) {
  const marks = onceEach(marksOf(figure));
  const header = [...new Set(marks.flatMap(({ item }) => Object.keys(item.tooltip)))];
  const pair = systemsIn(drawings.get(figure).picture); // a difference is of two: of which, the table says itself
  const heads = header.map((name) => (name === "difference" && pair.length === 2 ? pair.join(" − ") : name));
  return { header, heads, rows: marks.map(({ item }) => header.map((name) => toldValue(name, item.tooltip[name] ?? "–"))), marks };
}

// Of a matrix of every two systems each two once: what holds of a and b is told of b and a too.
function onceEach(marks) {
  const known = new Set();
  return marks.filter(({ item }) => {
    const { system, other, ...rest } = item.tooltip;
    if (system === undefined || other === undefined) return true;
    known.add(JSON.stringify([system, other, rest]));
    return !known.has(JSON.stringify([other, system, rest]));
  });
}

function showRows(figure) {
  const place = figure.querySelector(".rows");
  const { heads, rows } = tableOf(figure);
  const isNumber = heads.map((_, c) => rows.length > 0 && rows.every((row) => /^[-+−<>]?[\d.,]+ ?%?$|^–$/.test(row[c])));
  const label = figure.querySelector("h3").textContent;
  const cell = (text, c) => (c === 0 ? html("th", { scope: "row" }, text) : html("td", { class: isNumber[c] ? "n" : null }, text));
  const table = html("table", { class: "sortable" }, html("caption", {}, label),
    html("thead", {}, html("tr", {}, heads.map((name, c) => html("th", { scope: "col", class: isNumber[c] ? "n" : null }, name)))),
    html("tbody", {}, rows.map((row) => html("tr", {}, row.map(cell)))));
  place.replaceChildren(html("div", { class: "box", role: "region", "aria-label": `Table: ${label}`, tabindex: 0 }, table));
  makeSortable(table);
}

function toggleRows(figure, button) {
  const place = figure.querySelector(".rows");
  place.hidden = !place.hidden;
  button.setAttribute("aria-expanded", String(!place.hidden));
  if (!place.hidden) showRows(figure);
}

// --- Files

function save(name, kind, text) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = html("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// The numbers of marks in full, where what they tell is a field of their row.
function csvOf(figure) {
  const { header, heads, rows, marks } = tableOf(figure);
  const { picture } = drawings.get(figure);
  const fields = pictures.specs[picture.specs[state.measure]].fields;
  const quoted = (value) => {
    let text = value === null || value === undefined ? "" : String(value);
    if (typeof value !== "number" && /^[=+@\t\r-]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text)) text = `'${text}`;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const full = (text, name, { item }) => {
    const value = item.datum?.[fields[name]];
    return typeof value === "number" ? value : text === "–" ? "" : text;
  };
  const lines = rows.map((row, r) => row.map((text, c) => quoted(full(text, header[c], marks[r]))).join(","));
  return `${[heads.map(quoted).join(","), ...lines].join("\n")}\n`;
}

// As it would be saved by the library: light, on white, in its own size.
async function svgOf(figure) {
  const place = html("div");
  const spec = specificationOf(drawings.get(figure).picture, Infinity, false);
  const { view } = await vegaEmbed(place, { ...spec, background: "#ffffff", title: figure.querySelector("h3").textContent }, {
    mode: "vega-lite", ast: true, actions: false, defaultStyle: false,
  });
  const text = await view.toSVG();
  view.finalize();
  return text;
}

// The systems that a picture is about, where it is about some.
function systemsIn(picture) {
  const title = picture.titles[state.measure];
  if (title.includes("{baseline}")) return [data.systems[reference()]];
  return title.includes("{first}") ? [state.first, state.second].map((i) => data.systems[i]) : [];
}

function downloads(figure, picture) {
  const name = () => [picture.name, measure().name, ...systemsIn(picture)]
    .map((part) => part.replace(/[^\w@.-]+/g, "_")).join("-");
  const button = (label, press) => html("button", { type: "button", onclick: press }, label);
  const rows = button("Table", (event) => toggleRows(figure, event.target));
  rows.setAttribute("aria-expanded", "false");
  const named = [rows, button("SVG", async () => save(`${name()}.svg`, "image/svg+xml", await svgOf(figure))),
    button("CSV", () => save(`${name()}.csv`, "text/csv", csvOf(figure)))];
  return html("div", { class: "row downloads" }, named);
}

function startPictures() {
  document.querySelector(".figures").before(html("p", { id: "no-pictures", hidden: true }, "No system is shown."));
  untouched = JSON.stringify([0, null, reference(data.measures[0]), state.first, state.second, namedSystems(), darkPage.matches]);
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const picture = pictures.pictures.find((one) => one.name === figure.dataset.chart);
    drawings.set(figure, { picture, view: null, key: "", marks: null });
    const box = figure.querySelector(".drawing");
    put(box, { tabindex: 0, role: "group",
      onkeydown: (event) => walkMarks(figure, event), onblur: () => leaveMarks(figure) }, []);
    if (picture.name === "p-values") figure.classList.toggle("wide", data.systems.length > MANY_SYSTEMS);
    figure.append(downloads(figure, picture), html("div", { class: "rows", hidden: true }));
    watcher.observe(figure);
  }
  darkPage.addEventListener("change", drawPictures);
}
