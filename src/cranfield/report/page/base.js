"use strict";
// What the page knows, what the reader has chosen, and small helpers.
const data = JSON.parse(document.getElementById("data").textContent);
const everySystem = data.systems.map((_, i) => i);
const state = { measure: 0, picked: new Set(everySystem), pair: [0, 0], sort: ["topic", 1], filter: "" };

const measure = () => data.measures[state.measure];
// Best first: where less is better the sign turns the order; where neither is, systems stay as they were given.
const byMean = (of = measure()) => [...everySystem].sort((a, b) => of.sign * (of.means[b] - of.means[a]) || a - b);
const pickedByMean = () => byMean().filter((i) => state.picked.has(i));
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
const signed = (value) => (value < 0 ? "-" : "+") + fixed(Math.abs(value));
const shownP = (p) => (p < 0.0001 ? "<0.0001" : fixed(p));

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

// The same colour in every chart, lighter on a dark page.
const colour = (system) => `color-mix(in oklab, white var(--lift), ${data.colours[system % data.colours.length]})`;
const dash = (system) => data.dashes[Math.floor(system / data.colours.length) % data.dashes.length].join(" ");

// The shade of a score, 0 to 8, as the static heat map has it: strong is good.
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

// What pointing at a mark tells, as attributes of the mark.
const hover = (text) => ({ onpointermove: (event) => tip(event, text), onpointerleave: () => tip() });

function tip(event, text) {
  const box = byId("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
  const above = event.clientY - box.offsetHeight - 12;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${above > 4 ? above : event.clientY + 18}px`;
}
