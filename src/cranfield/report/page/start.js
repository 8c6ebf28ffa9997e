// Controls, and drawing anew when something is chosen.
function labelled(label, control) {
  control.id = `choose-${label.toLowerCase().replaceAll(" ", "-")}`;
  return html("span", { class: "choice" }, html("label", { for: control.id }, label), control);
}

// A list to choose from; `chosen()` says what is chosen now.
function select(label, options, chosen, press) {
  const control = html("select", { onchange: (event) => press(event.target.value) },
    options.map(([value, text]) => html("option", { value }, text)));
  listeners.push(() => { control.value = String(chosen()); });
  return labelled(label, control);
}

function toggled(system, on) {
  const systems = new Set(state.systems ?? everySystem);
  if (on) systems.add(system);
  else systems.delete(system);
  const changes = { systems: systems.size === data.systems.length ? null : [...systems] };
  return !on && system === asked.baseline ? { ...changes, baseline: null } : changes;
}

const FEW_LISTED = 12; // systems that are found without searching

// Leaves of a list what has the words that are typed.
function finder(boxes) {
  const typed = html("input", { type: "search", "aria-label": "Find system", placeholder: "Find system",
    oninput: () => {
      for (const box of boxes) box.hidden = !box.textContent.toLowerCase().includes(typed.value.toLowerCase());
    } });
  return typed;
}

function systemPicker() {
  const summary = html("summary", {}, "");
  const boxes = byMean().map((i) => {
    const box = html("input", { type: "checkbox", value: i, disabled: i === data.baseline,
      onchange: (event) => choose(toggled(i, event.target.checked)) });
    const line = svg("path", { d: "M0 5h26" });
    const swatch = svg("svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" }, line);
    listeners.push(() => {
      box.checked = isShown(i);
      const place = namedSystems().indexOf(i);
      const colours = darkPage.matches ? data.dark_colours : data.colours;
      line.style.stroke = place < 0 || !isShown(i) ? "var(--rule)" : colours[place % colours.length];
    });
    return html("label", {}, box, swatch, data.systems[i]);
  });
  listeners.push(() => { summary.textContent = `Systems: ${pickedByMean().length} of ${data.systems.length}`; });
  const only = (which) => () => {
    const systems = which();
    choose(systems === null || systems.includes(asked.baseline) ? { systems } : { systems, baseline: null });
  };
  const button = (label, systems) => html("button", { type: "button", onclick: only(systems) }, label);
  const picker = html("details", { class: "picker" }, summary, html("div", {},
    html("div", { class: "row" }, button("All", () => null), button("Best 5", () => byMean().slice(0, 5)), button("None", () => [])),
    data.systems.length > FEW_LISTED ? finder(boxes) : null, boxes));
  picker.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !picker.open) return;
    picker.open = false;
    summary.focus();
    event.stopPropagation();
  });
  return picker;
}

function drawControls() {
  const several = data.systems.length > 1;
  const names = byMean().map((i) => [i, data.systems[i]]);
  const parts = [select("Measure", data.measures.map((of, i) => [i, of.name]), () => state.measure,
    (value) => choose({ measure: Number(value) }))];
  if (several) parts.push(systemPicker());
  if (several && data.baseline === null) {
    parts.push(select("Baseline", [["", "the best shown"], ...names], () => state.baseline ?? "",
      (value) => choose({ baseline: value === "" ? null : Number(value) })));
  }
  parts.push(html("button", { type: "button", onclick: showKeys, "aria-keyshortcuts": "?" }, "Keys"));
  byId("controls").append(html("div", { class: "row" }, parts));
  const filter = html("input", { type: "search", size: 12,
    oninput: (event) => choose({ filter: event.target.value }, { replace: true }) });
  listeners.push(() => { if (filter.value !== state.filter) filter.value = state.filter; });
  const tools = html("div", { class: "row tools" }, labelled("Find topic", filter));
  if (several) {
    tools.append(select("Compare", names, () => state.first ?? "", (value) => choosePair(0, Number(value))));
    tools.append(select("with", names, () => state.second ?? "", (value) => choosePair(1, Number(value))));
  }
  const orders = [...ORDERS.map((order) => [order, ORDER_NAMES[order]]), ["other", "as the table is sorted"]];
  tools.append(select("Order", orders, () => (ORDERS.includes(state.order) ? state.order : "other"),
    (value) => value !== "other" && choose({ order: value })));
  document.querySelector("#topics h2").after(tools);
}

const KEYS = [
  ["?", "shows these keys"],
  ["Escape", "closes what is open"],
  ["← or k, → or j", "in an open topic: the previous topic, the next one"],
  ["arrows, Home, End", "in a picture that has the focus: from mark to mark"],
  ["Enter", "on a mark of a topic: opens the topic"],
];

function showKeys() {
  const dialog = byId("keys") ?? document.body.appendChild(html("dialog", { id: "keys", "aria-labelledby": "keys-title" },
    html("div", { class: "row apart" }, html("h2", { id: "keys-title" }, "Keys"),
      html("button", { type: "button", onclick: () => byId("keys").close() }, "Close")),
    html("dl", {}, KEYS.map(([key, does]) => [html("dt", {}, html("kbd", {}, key)), html("dd", {}, does)]))));
  if (!dialog.open) dialog.showModal();
}

// What a reader must know of what is chosen.
function drawTold() {
  const lines = [];
  if (unknownNames.length) lines.push(`The address asks for what is not in this report: ${unknownNames.join(", ")}.`);
  if (!allShown()) {
    const count = pickedByMean().length;
    lines.push(`${count} of ${data.systems.length} systems ${count === 1 ? "is" : "are"} shown. Corrections and tiers are ` +
      `those of all ${data.systems.length}. Letters name systems that are shown, and bold is the best of all, shown or not.`);
  }
  if (state.baseline !== null && data.baseline === null) {
    lines.push(`With ${data.systems[state.baseline]} as the baseline p is still adjusted for all ${data.comparisons} ` +
      "comparisons, of every pair by every measure: comparing with it alone (--baseline) adjusts for fewer.");
  }
  byId("told").textContent = lines.join(" ");
  byId("told").hidden = !lines.length;
}

function drawTopic() {
  const dialog = byId("topic");
  if (state.topic !== null) openTopic(state.topic);
  else if (dialog.open) dialog.close();
}

function draw(changed) {
  drawTold();
  const selection = ["measure", "systems", "baseline", "first", "second"].some((key) => changed.has(key));
  if (selection) {
    drawResult();
    drawPictures();
  }
  if (selection || changed.has("order") || changed.has("filter")) drawTopics();
  if (changed.has("topic") || (state.topic !== null && changed.size)) drawTopic();
}

// Links within the page would take what is chosen out of the address.
function keepAddress(event) {
  const link = event.target.closest("nav a, a.skip");
  if (!link || !location.hash.includes("=")) return;
  event.preventDefault();
  const section = document.querySelector(link.getAttribute("href"));
  section.scrollIntoView();
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
}

function start() {
  document.documentElement.classList.add("scripted");
  for (const row of document.querySelectorAll(".findings tbody tr")) {
    row.classList.toggle("doubtful", row.cells[0].textContent === "doubtful");
  }
  for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
  settle();
  startPictures();
  drawControls();
  listeners.push(draw);
  read();
  settle();
  for (const listener of listeners) listener(new Set(Object.keys(state)));
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) { width = window.innerWidth; drawNext(); }
  });
  window.addEventListener("popstate", follow);
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && !event.target.closest("select, input, textarea")) showKeys();
  });
  byId("topic").addEventListener("close", () => { if (state.topic !== null) choose({ topic: null }); });
  document.addEventListener("click", (event) => {
    keepAddress(event);
    for (const picker of document.querySelectorAll("details.picker[open]")) {
      if (!picker.contains(event.target)) picker.open = false;
    }
  });
}

start();
