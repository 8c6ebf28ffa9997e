// What the reader has chosen: one object, kept in the address, so that a link shows the same and "back" goes back.
// `asked` is what was chosen, as numbers of measures, systems and topics; `state` is that with the rest filled in.
const NOTHING_ASKED = {
  measure: 0, systems: null, baseline: null, first: null, second: null, order: "topic", filter: "", topic: null,
};
const asked = { ...NOTHING_ASKED };
const state = { ...NOTHING_ASKED };
const listeners = [];
let unknownNames = [];

const measure = () => data.measures[state.measure];
// Best first: where less is better the sign turns the order; where neither is, systems stay as they were given.
const byMean = (of = measure()) => [...everySystem].sort((a, b) => of.sign * (of.means[b] - of.means[a]) || a - b);
const isShown = (system) => state.systems === null || state.systems.includes(system);
const pickedByMean = (of = measure()) => byMean(of).filter(isShown);
const allShown = () => state.systems === null;

// The system that others are set against by a measure: the baseline, or the best of those shown.
const reference = (of = measure()) => state.baseline ?? pickedByMean(of)[0] ?? null;

// What follows from what was asked: a baseline is always shown, and two systems are compared where two are shown.
function settle() {
  Object.assign(state, asked);
  if (data.baseline !== null) state.baseline = data.baseline;
  if (state.systems !== null) {
    const chosen = new Set(state.systems);
    if (state.baseline !== null) chosen.add(state.baseline);
    asked.systems = state.systems = chosen.size === data.systems.length ? null : [...chosen].sort((a, b) => a - b);
  }
  const pair = [state.first, state.second];
  if (pair.some((i) => i === null || !isShown(i)) || pair[0] === pair[1]) {
    const best = pickedByMean();
    const against = state.baseline ?? best[1] ?? null;
    const first = best.find((i) => i !== against) ?? null;
    [state.first, state.second] = against === null || first === null ? [null, null] : [first, against];
  }
}

// The only way to change what is shown.
function choose(changes, { replace = false } = {}) {
  const before = { ...state };
  Object.assign(asked, changes);
  unknownNames = [];
  settle();
  const address = written();
  const now = location.hash.includes("=") ? location.hash : "";
  if (address !== now) {
    history[replace ? "replaceState" : "pushState"](null, "", address || location.pathname + location.search);
  }
  tell(before);
}

function tell(before) {
  const changed = new Set(Object.keys(state).filter((key) => String(state[key]) !== String(before[key])));
  for (const listener of listeners) listener(changed);
}

const inAddress = (text) => encodeURIComponent(text).replaceAll("%40", "@");

function written() {
  const names = (systems) => systems.map((i) => inAddress(data.systems[i])).join(",");
  const parts = [];
  if (asked.measure !== 0) parts.push(["measure", inAddress(measure().name)]);
  if (asked.systems !== null) parts.push(["systems", names(asked.systems)]);
  if (asked.baseline !== null) parts.push(["baseline", names([asked.baseline])]);
  if (asked.first !== null && asked.second !== null) parts.push(["pair", names([asked.first, asked.second])]);
  if (asked.order !== NOTHING_ASKED.order) parts.push(["order", inAddress(asked.order)]);
  if (asked.filter) parts.push(["find", inAddress(asked.filter)]);
  if (asked.topic !== null) parts.push(["topic", inAddress(data.topics[asked.topic])]);
  return parts.length ? `#${parts.map((part) => part.join("=")).join("&")}` : "";
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % is taken for itself
  }
}

// What the address asks for; names that there are not are told and left out.
function read() {
  const parts = new Map(location.hash.slice(1).split("&").filter((part) => part.includes("="))
    .map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]));
  const missing = [];
  const among = (names, kind) => (text) => {
    const place = names.indexOf(decoded(text));
    if (place < 0) missing.push(`${kind} “${decoded(text)}”`);
    return place < 0 ? null : place;
  };
  const system = among(data.systems, "system");
  const each = (text) => (text === "" ? [] : text.split(",").map(system).filter((i) => i !== null));
  const take = (name, make) => (parts.has(name) ? make(parts.get(name)) : null);
  const order = (text) => {
    const by = decoded(text).replace(/^-/, "");
    if (ORDERS.includes(by) || data.systems.some((name) => by === `system:${name}`)) return decoded(text);
    missing.push(`order “${decoded(text)}”`);
    return null;
  };
  const pair = take("pair", each) ?? [];
  Object.assign(asked, NOTHING_ASKED, {
    measure: take("measure", among(data.measures.map((of) => of.name), "measure")) ?? 0,
    systems: take("systems", each),
    baseline: data.baseline === null ? take("baseline", system) : null,
    first: pair.length === 2 ? pair[0] : null,
    second: pair.length === 2 ? pair[1] : null,
    order: take("order", order) ?? NOTHING_ASKED.order,
    filter: take("find", decoded) ?? "",
    topic: take("topic", among(data.topics, "topic")),
  });
  unknownNames = missing;
}

// Shows what the address asks for: at the start, and whenever the reader goes back or on.
function follow() {
  const before = { ...state };
  read();
  settle();
  tell(before);
}
