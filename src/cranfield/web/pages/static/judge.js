// One key grades and goes on. Judgements wait in a list until the server has them, so that a dropped connection loses none.
import { listen, one, tell, toDocument, turnFold } from "./keys.js";

const { base, who } = document.body.dataset;
const place = one("#document"), form = one("#judge"), undo = one("#undo"), lastOnes = one("#last");
const begun = JSON.parse(one("#sitting").textContent);
// In this tab alone, and gone with it: machines are shared. What one person said is never sent for another.
const UNSENT = `unsent ${base} ${who}`, SITTING = `sitting ${who}`;
const MINUTE = 60_000, IDLE = 30_000, STAY = 2 * MINUTE, LOOK = 2000;
const LONG = 50 * MINUTE, MANY = 100, BREAK = 5 * MINUTE; // when a break does good, and what is one
const RECENT = 10, BATCH = 20;

const queue = begun.cards; // documents that are here already
let said = begun.said; // judgements that can be undone, the newest first
let unsent = JSON.parse(sessionStorage.getItem(UNSENT) ?? "[]");
let current = begun.first && { ...begun.first, html: place.innerHTML };
let before = said[0] ?? null; // what was shown before
let waiting = begun.waiting;
let wanted = null; // a pair that was undone and is shown as soon as it comes
let sending = false, signedOut = false;
let pause = 1000, timer = 0;

// ---- time that was really spent: the page is seen, and something was done within the last half minute
let active = 0, away = 0, last = performance.now(), touched = last, seen = document.visibilityState === "visible";
const sitting = { active: 0, documents: 0, ...JSON.parse(sessionStorage.getItem(SITTING) ?? "{}") };
function tick() {
  const now = performance.now();
  const busy = seen ? Math.max(0, Math.min(now, touched + IDLE) - last) : 0;
  active += busy;
  away += now - last - busy;
  sitting.active += busy;
  if (now - touched > BREAK) sitting.active = sitting.documents = 0;
  last = now;
  seen = document.visibilityState === "visible";
  suggestRest();
}
for (const kind of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchstart"]) {
  addEventListener(kind, () => { tick(); touched = last; }, { passive: true, capture: true });
}
addEventListener("visibilitychange", tick);
setInterval(() => { tick(); sessionStorage.setItem(SITTING, JSON.stringify(sitting)); }, 5000);
function spent() {
  tick();
  const time = { active_ms: Math.round(active), away_ms: Math.round(away) };
  active = away = 0;
  return time;
}
function suggestRest() {
  const rest = one("#rest");
  rest.hidden = sitting.active < LONG && sitting.documents < MANY;
  const what = sitting.documents >= MANY ? `judged ${sitting.documents} documents` : `been judging for ${Math.floor(sitting.active / MINUTE)} minutes`;
  const text = rest.hidden ? "" : `You have ${what} in this sitting: a short break helps.`;
  if (rest.textContent !== text) rest.textContent = text;
}

// ---- what is shown
function complain(text) {
  const line = one("#refused");
  line.hidden = !text;
  line.textContent = text;
}

function showUnsent(reason) {
  const badge = one("#unsent");
  if (reason !== undefined) badge.dataset.reason = reason;
  badge.hidden = unsent.length === 0 || !badge.dataset.reason;
  badge.textContent = badge.hidden ? "" : `${unsent.length} unsent: ${badge.dataset.reason} ${unsent.length === 1 ? "It is" : "They are"} kept in this tab and sent again.`;
}

function show(card) {
  if (current) before = current;
  one("#undone")?.remove();
  current = card ?? null;
  form.hidden = one("#whole").hidden = !card;
  one("#onward").hidden = Boolean(card) || unsent.length > 0 || sending || waiting;
  if (card) {
    place.innerHTML = card.html; // made by the server's template, which escapes every text of others
    form.elements.pair.value = card.pair;
    whole(false);
    compare(card);
    scrollTo(0, 0);
  } else {
    const words = unsent.length > 0 || sending || waiting ? "The next document is on its way …" : "Nothing is left to judge in this topic for now.";
    if (one(".done", place)?.textContent !== words) {
      const line = document.createElement("p");
      line.className = "done";
      line.textContent = words;
      place.replaceChildren(line);
      if (!waiting && unsent.length === 0 && !sending) tell(words);
    }
  }
  form.elements.note.value = "";
  for (const fold of [one("#note"), one("#cannot")]) fold.open = false;
  noted();
}

function whole(wanted) {
  const all = one(".whole", place), best = one(".best", place);
  form.elements.whole.value = wanted && all ? 1 : 0;
  one("#whole span").textContent = wanted ? "best paragraph" : "whole document";
  if (!all) return;
  all.hidden = !wanted;
  best.hidden = wanted;
  if (wanted) one(".here", place)?.scrollIntoView({ block: "center" });
}

function turn() {
  const wanted = form.elements.whole.value !== "1";
  whole(wanted);
  tell(wanted ? "Whole document." : "Best paragraph.");
}

function noted() { one("#note").classList.toggle("filled", form.elements.note.value !== ""); }

// Says that a document is nearly the one before, and marks the words that the other has not.
function compare(card) {
  const near = card.near !== null && before && before.near === card.near && before.pair !== card.pair;
  one(".near", place).hidden = !near;
  if (!near || !before.html) return;
  const other = document.createElement("template");
  other.innerHTML = before.html;
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const known = new Set(words(`${one("h2", other.content).textContent} ${one(".whole", other.content)?.textContent}`));
  const texts = [];
  for (const part of place.querySelectorAll("h2, .best, .whole")) {
    const walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) texts.push(walk.currentNode);
  }
  for (const text of texts) {
    const pieces = text.data.split(/([\p{L}\p{M}\p{N}]+)/u);
    if (pieces.every((piece, at) => at % 2 === 0 || known.has(piece.toLowerCase()))) continue;
    text.replaceWith(...pieces.map((piece, at) => {
      if (at % 2 === 0 || known.has(piece.toLowerCase())) return piece;
      const mark = document.createElement("mark");
      mark.className = "differs";
      mark.textContent = piece;
      return mark;
    }));
  }
}

function showSaid() {
  undo.hidden = lastOnes.hidden = said.length === 0;
  one("ol", lastOnes).replaceChildren(...said.map((judgement) => {
    const line = document.createElement("li"), button = document.createElement("button"), name = document.createElement("bdi");
    button.className = "plain";
    button.type = "button";
    name.textContent = judgement.document;
    button.append("undo ", name, `: ${judgement.label}`);
    button.addEventListener("click", () => { lastOnes.open = false; takeBack(judgement); });
    line.append(button);
    return line;
  }));
}

// ---- what is said
function say(event) {
  const judgement = { key: crypto.randomUUID().replaceAll("-", ""), ...event };
  unsent.push(judgement);
  keep();
  send();
  return judgement;
}

function keep() {
  sessionStorage.setItem(UNSENT, JSON.stringify(unsent));
  showUnsent();
}

function judge(kind, label, details) {
  if (!current) return;
  const card = current;
  const view = form.elements.whole.value === "1" ? "whole" : "passage";
  complain("");
  sitting.documents += 1;
  const { key } = say({ pair: card.pair, kind, note: form.elements.note.value, view, ...spent(), ...details });
  said = [{ ...card, key, label }, ...said].slice(0, RECENT);
  showSaid();
  show(queue.shift());
  tell(current ? `${label}. Next document.` : `${label}.`);
  toDocument();
}

function takeBack(judgement) {
  if (!judgement) return;
  said = said.filter((other) => other !== judgement);
  showSaid();
  complain("");
  if (!judgement.html) wanted = judgement.pair;
  say({ pair: judgement.pair, kind: "undo", undoes: judgement.key, ...spent() });
  tell(`Undone: ${judgement.label}. The document comes back.`);
  if (judgement.html) returned(judgement);
  toDocument();
}

// A document that was undone is shown before what was to be judged.
function returned({ pair, document, near, html }) {
  const at = queue.findIndex((card) => card.pair === pair);
  if (at >= 0) queue.splice(at, 1);
  if (current?.pair === pair) return;
  if (current) queue.unshift(current);
  show({ pair, document, near, html });
}

// ---- sending: one request at a time, in order, again and again until the server has answered
async function send() {
  if (sending || signedOut) return;
  clearTimeout(timer);
  sending = true;
  const out = unsent.slice(0, BATCH);
  const have = [current, ...queue].filter(Boolean).map((card) => card.pair);
  const want = Math.min(5, Math.max(2, have.length));
  let answer;
  try {
    answer = await ask(`${base}/judgements`, { judgements: out, have: have.slice(0, 20), want });
    if (answer.status === 401) {
      signedOut = true; // what is unsent waits in this tab
      location.assign(`/login?next=${encodeURIComponent(location.pathname)}`);
      return;
    }
    if (!answer.ok) throw new Error(await fault(answer));
    answer = await answer.json();
  } catch (error) {
    sending = false;
    showUnsent(error instanceof TypeError ? "the server does not answer." : `the server says "${error.message}".`);
    if (unsent.length > 0) tell(one("#unsent").textContent);
    timer = setTimeout(send, pause);
    pause = Math.min(pause * 2, 15_000);
    return;
  }
  pause = 1000;
  sending = false;
  took(answer);
  if (unsent.length > 0) send();
  else if (!current && waiting) timer = setTimeout(send, LOOK);
}

function ask(address, body) {
  const headers = { "content-type": "application/json", accept: "application/json" };
  return fetch(address, { method: "POST", headers, body: JSON.stringify(body), credentials: "same-origin" });
}

async function fault(answer) {
  try {
    return (await answer.json()).error ?? String(answer.status);
  } catch {
    return String(answer.status);
  }
}

function took(answer) {
  const done = new Set([...answer.saved, ...answer.refused.map((refusal) => refusal.key)]);
  const late = Boolean(one("#unsent").dataset.reason) && unsent.length > 0;
  unsent = unsent.filter((judgement) => !done.has(judgement.key));
  if (unsent.length === 0) delete one("#unsent").dataset.reason;
  keep();
  if (late && unsent.length === 0) tell("Everything is sent.");
  one("#progress").textContent = answer.progress;
  waiting = answer.waiting;
  if (answer.refused.length > 0) {
    complain(`Not stored: ${answer.refused.map((refusal) => refusal.message).join("; ")}`);
    said = said.filter((judgement) => !answer.refused.some((refusal) => refusal.key === judgement.key));
    showSaid();
  }
  const here = new Set([current, ...queue].filter(Boolean).map((card) => card.pair));
  const left = new Set(unsent.map((judgement) => judgement.pair)); // judged while the answer was on its way
  for (const card of answer.cards) {
    if (here.has(card.pair) || left.has(card.pair)) continue;
    if (card.pair === wanted) { wanted = null; returned(card); } else queue.push(card);
  }
  if (!current) show(queue.shift());
}

// ---- long documents: their other parts come into the card when they are asked for
async function loadPart(link) {
  const card = link.closest(".card"), part = document.createElement("section");
  part.dataset.part = link.dataset.part;
  link.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(link.href, { headers: { accept: "application/json" }, credentials: "same-origin" });
    if (!answer.ok) throw new Error(await fault(answer));
    part.innerHTML = (await answer.json()).html; // made by the server's template, which escapes every text of others
  } catch (error) {
    link.removeAttribute("aria-busy");
    complain(`Part ${link.dataset.part} did not come: ${error instanceof TypeError ? "the server does not answer" : error.message}`);
    return;
  }
  if (!card.isConnected) return;
  whole(true);
  const all = one(".whole", card);
  const after = [...all.querySelectorAll("section[data-part]")].find((other) => Number(other.dataset.part) > Number(part.dataset.part));
  all.insertBefore(part, after ?? null);
  part.tabIndex = -1;
  part.focus();
  link.remove();
  if (!one(".parts a", card)) one(".parts", card).remove();
  tell(`Part ${part.dataset.part} is here.`);
}

// ---- keys and buttons
function press(button) {
  const [kind, value] = button.value.split(":");
  if (kind === "grade") judge(kind, one("span", button).textContent, { grade: Number(value) });
  else if (kind === "later") judge(kind, "later", {});
  else judge("cannot", "can't tell", { reason: value });
}

listen(press, {
  u: () => takeBack(said[0]),
  U: () => { if (!lastOnes.hidden) turnFold(lastOnes, "ol button"); },
  q: () => one("#leave").requestSubmit(),
  " ": () => { if (current) turn(); },
});
// The second click of a double one would grade a document that nobody has read.
form.addEventListener("click", (event) => { if (event.detail > 1 && event.target.closest("button")) event.preventDefault(); });
form.addEventListener("submit", (event) => { event.preventDefault(); if (event.submitter) press(event.submitter); });
undo.addEventListener("submit", (event) => { event.preventDefault(); takeBack(said[0]); });
form.elements.note.addEventListener("input", noted);
one("#whole").addEventListener("click", (event) => { event.preventDefault(); turn(); });
place.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-part]");
  if (link) { event.preventDefault(); loadPart(link); }
});
// The text ends above the form, however high that is.
new ResizeObserver(() => document.documentElement.style.setProperty("--foot", `${form.offsetHeight + 16}px`)).observe(form);

// ---- what is being read stays theirs; leaving with something unsent is asked about
setInterval(() => {
  if (current && performance.now() - touched < STAY) ask(`${base}/stay`, { pairs: [current, ...queue].map((card) => card.pair) }).catch(() => {});
}, STAY);
addEventListener("beforeunload", (event) => { if (unsent.length > 0 && !signedOut) event.preventDefault(); });
addEventListener("online", () => { pause = 1000; send(); });
if (matchMedia("(max-width: 40rem)").matches) one("#question").open = false; // a phone has no room for both
showSaid();
suggestRest();
if (unsent.length > 0) { // the tab was loaded again before the server had them
  const told = new Set(unsent.map((judgement) => judgement.pair));
  queue.splice(0, queue.length, ...queue.filter((card) => !told.has(card.pair)));
  if (current && told.has(current.pair)) show(queue.shift());
  send();
} else if (!current && waiting) timer = setTimeout(send, LOOK);
if (current) compare(current);
