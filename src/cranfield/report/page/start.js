// Controls, and drawing anew when something is chosen.
function drawResult() {
  for (const part of document.querySelectorAll(".of-measure")) {
    part.hidden = Number(part.dataset.measure) !== state.measure;
  }
  for (const table of document.querySelectorAll("table.standings")) {
    let tier = null;
    for (const row of table.tBodies[0].rows) {
      const name = row.querySelector("th").textContent;
      row.classList.toggle("unpicked", !state.picked.has(data.systems.indexOf(name)));
      const own = row.cells.length > 2 ? row.cells[2].textContent : null;
      row.classList.toggle("tier-break", tier !== null && own !== tier && !table.classList.contains("resorted"));
      tier = own;
    }
  }
}

function drawAll() {
  drawResult();
  drawCharts();
  drawTopics();
}

function labelled(label, control) {
  control.id = `choose-${label.toLowerCase().replaceAll(" ", "-")}`;
  return html("span", { class: "choice" }, html("label", { for: control.id }, label), control);
}

function select(label, options, chosen, choose) {
  return labelled(label, html("select", { onchange: (event) => choose(Number(event.target.value)) },
    options.map(([value, text]) => html("option", { value, selected: value === chosen }, text))));
}

function systemPicker() {
  const summary = html("summary", {}, "");
  const count = () => { summary.textContent = `Systems: ${state.picked.size} of ${data.systems.length}`; };
  const toggle = (i) => () => pick(() => state.picked.delete(i) || state.picked.add(i));
  const boxes = byMean().map((i) => html("label", {},
    html("input", { type: "checkbox", value: i, checked: true, onchange: toggle(i) }),
    svg("svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" },
      svg("path", { d: "M0 5h26", "stroke-width": 3, style: `stroke:${colour(i)}`, "stroke-dasharray": dash(i) })),
    data.systems[i]));
  const pick = (change) => {
    change();
    for (const box of boxes) box.firstChild.checked = state.picked.has(Number(box.firstChild.value));
    count();
    drawAll();
  };
  const only = (systems) => () => pick(() => { state.picked = new Set(systems()); });
  count();
  return html("details", { class: "picker" }, summary, html("div", {},
    html("div", { class: "row" },
      html("button", { type: "button", onclick: only(() => everySystem) }, "All"),
      html("button", { type: "button", onclick: only(() => byMean().slice(0, 5)) }, "Best 5"),
      html("button", { type: "button", onclick: only(() => []) }, "None")),
    boxes));
}

function drawControls() {
  const measures = data.measures.map((of, i) => [i, of.name]);
  const chooseMeasure = (chosen) => { state.measure = chosen; drawAll(); };
  const parts = [select("Measure", measures, 0, chooseMeasure)];
  if (data.systems.length > 1) parts.push(systemPicker());
  byId("controls").append(html("div", { class: "row" }, parts));
  const find = (event) => { state.filter = event.target.value; drawTopics(); };
  const filter = html("input", { type: "search", size: 12, oninput: find });
  const tools = html("div", { class: "row tools" }, labelled("Find topic", filter));
  if (data.systems.length > 1) {
    const systems = byMean().map((i) => [i, data.systems[i]]);
    const choose = (side) => (chosen) => { state.pair[side] = chosen; drawCharts(); drawTopics(); };
    tools.append(select("Compare", systems, state.pair[0], choose(0)));
    tools.append(select("with", systems, state.pair[1], choose(1)));
  }
  document.querySelector("#topics h2").after(tools);
}

function start() {
  document.documentElement.classList.add("scripted");
  state.pair = [byMean()[0], byMean()[1] ?? 0];
  for (const row of document.querySelectorAll(".findings tbody tr")) {
    row.classList.toggle("doubtful", row.cells[0].textContent === "doubtful");
  }
  for (const figure of document.querySelectorAll('figure[data-chart="heatmap"]')) figure.classList.add("wide");
  if (data.topics.length < data.all_topics) { // the script draws the topics that the page carries
    const told = ` Here of ${data.topics.length} of ${data.all_topics} topics, evenly from the hardest to the easiest.`;
    for (const name of ["histogram", "heatmap"]) document.querySelector(`[data-chart="${name}"] p`)?.append(told);
  }
  for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
  drawControls();
  drawAll();
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) { width = window.innerWidth; drawCharts(); }
  });
  byId("topic").addEventListener("close", () => history.replaceState(null, "", "#topics"));
  document.addEventListener("click", (event) => {
    for (const picker of document.querySelectorAll("details.picker[open]")) {
      if (!picker.contains(event.target)) picker.open = false;
    }
  });
  openAddressed();
}

start();
