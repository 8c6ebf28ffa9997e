// Headline, standings, pairs and measures for what is chosen. Every number, tier and decision is the library's: here
// they are put in their places.

// The pair of two systems among those compared: its number, and -1 if it is the other way round.
const pairNumbers = new Map(data.pairs.map(([i, j], k) => [`${i} ${j}`, k]));
function pairOf(a, b) {
  const straight = pairNumbers.get(`${a} ${b}`);
  if (straight !== undefined) return [straight, 1];
  const turned = pairNumbers.get(`${b} ${a}`);
  return turned === undefined ? null : [turned, -1];
}
const isSignificant = (of, a, b) => {
  const pair = pairOf(a, b);
  return pair !== null && of.adjusted_p[pair[0]] !== null && of.adjusted_p[pair[0]] < data.alpha;
};

const tiersOf = (of) => (state.baseline === null || data.baseline !== null ? of.tiers : of.tiers_against[state.baseline]);

// The outcome in words: Python's own sentence where all systems are shown, and the same of some where they are not.
function verdictOf(of, systems = pickedByMean(of)) {
  if (allShown()) return state.baseline === null || data.baseline !== null ? of.verdict : of.verdicts_against[state.baseline];
  if (!systems.length) return "No system is shown.";
  const rest = outcome(of, systems);
  return systems.length === 1 ? rest : `Of the ${systems.length} that are shown, ${rest}`;
}

function outcome(of, systems) {
  const name = (i) => data.systems[i];
  const means = systems.map((i) => of.means[i]);
  if (systems.length === 1) return `${name(systems[0])} reaches ${fixed(means[0])} by ${of.name} on ${of.on}.`;
  if (!of.sign) {
    return `${of.name} says nothing of which system is better: from ${fixed(least(means))} to ${fixed(most(means))} on ${of.on}.`;
  }
  const [best] = systems;
  const close = (a, b) => a === b || Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
  const level = systems.filter((i) => close(of.means[i], of.means[best]));
  const text = `${listed(level.map(name))} ${level.length === 1 ? "has" : "share"} the ${of.ranked}, ` +
    `${fixed(of.means[best])} on ${of.on}`;
  const others = systems.length - 1;
  if (state.baseline !== null) {
    const base = name(state.baseline);
    const tiers = tiersOf(of);
    const [better, worse] = ["above", "below"].map((tier) => systems.filter((i) => tiers[i] === tier));
    if (others > 1) {
      return `${text}. Against the baseline ${base}, ${better.length} of ${others} ${better.length === 1 ? "is" : "are"} ` +
        `significantly better and ${worse.length} significantly worse.`;
    }
    const other = name(systems.find((i) => i !== state.baseline));
    if (better.length + worse.length === 0) return `${text}. ${other} cannot be told from the baseline ${base} with confidence.`;
    return `${text}. ${other} is significantly ${better.length ? "better" : "worse"} than the baseline ${base}.`;
  }
  const equal = systems.slice(1).filter((i) => !isSignificant(of, i, best));
  if (!equal.length) {
    const all = { 1: "the other", 2: "both others" }[others] ?? `all ${others} others`;
    return `${text}, and is significantly better than ${all}.`;
  }
  if (level.length > 1) {
    const behind = equal.filter((i) => !level.includes(i)).map(name);
    return behind.length ? `${text}; ${listed(behind)} cannot be told from ${name(best)} with confidence.` : `${text}.`;
  }
  const beaten = of.beats[best].filter(isShown).length;
  const sure = beaten ? ` ${name(best)} is significantly better than ${beaten} of ${others}.` : "";
  return `${text}; ${listed(equal.map(name))} cannot be told from it with confidence.${sure}`;
}

// An end that is null is beyond every number.
function intervalText(low, high, turned) {
  if (low === 0 && high === 0) return "–"; // no topic differs
  const [from, to] = turned ? [high, low].map((end) => (end === null ? null : -end)) : [low, high];
  return `[${from === null ? "-∞" : signed(from)}, ${to === null ? "+∞" : signed(to)}]`;
}

function againstReference(of, i, against) {
  const pair = i === against ? null : pairOf(i, against);
  if (!pair) return ["–", "–", "–", "–"];
  const [k, sign] = pair;
  const counts = [of.wins[k], of.ties[k], of.losses[k]];
  return [
    of.difference[k] === null ? "–" : signed(sign * of.difference[k]),
    of.without_interval.includes(k) ? "–" : intervalText(of.low[k], of.high[k], sign < 0),
    shownP(of.adjusted_p[k]),
    of.sign ? (sign > 0 ? counts : counts.reverse()).join("/") : "–",
  ];
}

// As Python writes them: a letter for each system, and a count where there are more systems than letters.
function lettersOf(beaten) {
  const others = data.systems.length - 1;
  if (!data.letters.length) return beaten.length === others ? "all" : `${beaten.length} of ${others}`;
  return beaten.filter(isShown).map((i) => data.letters[i]).join("");
}

function drawStandings(part, of) {
  const table = part.querySelector("table.standings");
  part.querySelector(".verdict").textContent = verdictOf(of);
  if (data.systems.length < 2) return;
  const [systems, tiers, against] = [pickedByMean(of), tiersOf(of), reference(of)];
  const tierOrder = [...new Set(systems.map((i) => tiers[i]))];
  const rows = [...systems].sort((a, b) => tierOrder.indexOf(tiers[a]) - tierOrder.indexOf(tiers[b]));
  const best = of.sign ? byMean(of)[0] : null;
  const number = (text) => html("td", { class: "n" }, text);
  table.tBodies[0].replaceChildren(...rows.map((i, place) => {
    const mean = i === best ? html("strong", {}, fixed(of.means[i])) : fixed(of.means[i]);
    const letters = lettersOf(of.beats[i]);
    return html("tr", { class: place && tiers[i] !== tiers[rows[place - 1]] ? "tier-break" : null },
      data.letters.length ? html("td", {}, data.letters[i]) : null, html("th", { scope: "row" }, data.systems[i]), html("td", {}, tiers[i]),
      html("td", { class: "n" }, mean, letters ? [" ", html("sup", {}, letters)] : null),
      againstReference(of, i, against).map(number), of.unjudged ? number(of.unjudged[i]) : null);
  }));
  const head = table.tHead.rows[0].cells[data.letters.length ? 4 : 3];
  head.dataset.label = against === null ? "difference" : `− ${data.systems[against]}`;
  makeSortable(table);
}

// Pairs stay as Python lists them; those with a system that is not shown, or not with the baseline, are put away.
function drawPairs(part) {
  const table = part.querySelector("table.pairs");
  if (!table) return;
  [...table.tBodies[0].rows].forEach((row, place) => {
    row.dataset.pair ??= place;
    const [i, j] = data.pairs[row.dataset.pair];
    const wanted = state.baseline === null || i === state.baseline || j === state.baseline;
    row.hidden = !(wanted && isShown(i) && isShown(j));
  });
  table.closest("details").hidden = [...table.tBodies[0].rows].every((row) => row.hidden);
}

function drawMeasures() {
  const table = document.querySelector("table.measures");
  if (!table) return;
  for (const row of table.tBodies[0].rows) {
    row.dataset.system ??= data.systems.indexOf(row.querySelector("th").textContent);
    row.hidden = !isShown(Number(row.dataset.system));
    for (const above of row.querySelectorAll("sup")) {
      if (!data.letters.length) continue; // too many to be named
      above.dataset.letters ??= above.textContent;
      const letters = above.dataset.letters.match(/[a-z]\d*/g) ?? [];
      above.textContent = letters.filter((letter) => isShown(data.letters.indexOf(letter))).join("");
    }
  }
}

function drawResult() {
  for (const part of document.querySelectorAll(".of-measure")) {
    const number = Number(part.dataset.measure);
    part.hidden = number !== state.measure;
    drawStandings(part, data.measures[number]);
    drawPairs(part);
  }
  drawMeasures();
  const told = byId("read-against");
  if (told) {
    const chosen = state.baseline !== null && data.baseline === null;
    told.textContent = chosen ? data.reading_against.replace("{baseline}", () => data.systems[state.baseline]) : data.reading;
  }
}
