"use strict";
// What the page knows, and small helpers.
const data = JSON.parse(document.getElementById("data").textContent);
const everySystem = data.systems.map((_, i) => i);
const byId = (id) => document.getElementById(id);
const collator = new Intl.Collator("en", { numeric: true });

// Four decimals as the library prints them: it rounds halves to the even digit, toFixed rounds them up.
// A double lies half-way between two such numbers only if it is an odd number of thirty-seconds.
function fixed(value) {
  if (!Number.isInteger(value * 32) || (value * 32) % 2 === 0) return value.toFixed(4);
  const down = Math.floor(value * 1e4);
  return ((down + Math.abs(down % 2)) / 1e4).toFixed(4);
}
const shown = (value, of = measure()) =>
  value === null ? "–" : of.count && Number.isInteger(value) ? String(value) : fixed(value);
const signed = (value) => {
  const digits = fixed(Math.abs(value));
  return (value < 0 && Number(digits) ? "-" : "+") + digits;
};
const shownP = (p) => (p === null ? "–" : p < 0.0001 ? "<0.0001" : fixed(p));

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children.flat(2)) if (child !== null && child !== undefined) node.append(child);
  return node;
}
const html = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  put(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// The shade of a score, 0 to 8: strong is good.
function shader({ scores, sign }) {
  const known = scores.flat().filter((value) => value !== null);
  const low = Math.min(0, least(known));
  const high = most(known);
  const top = high > 0 && high <= 1 && low === 0 ? 1 : high;
  const share = (value) => (value - low) / (top - low || 1);
  return (value) => Math.floor((sign < 0 ? 1 - share(value) : share(value)) * 8 + 0.5);
}
const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

// Names as Python lists them in a sentence.
function listed(names) {
  if (names.length > 5) return `${names.slice(0, 3).join(", ")} and ${names.length - 3} others`;
  return names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

// What a mark tells, near a point of the window; nothing takes it away. It is spoken too.
function tip(x, y, text) {
  const box = byId("tip");
  box.hidden = !text;
  if (!text) return;
  if (box.textContent !== text) box.textContent = text;
  const left = Math.min(x + 14, window.innerWidth - box.offsetWidth - 8);
  const above = y - box.offsetHeight - 12;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${above > 4 ? above : y + 18}px`;
}
const untip = () => tip(0, 0, "");
