// What was asked and what was found, as text: never as markup.
const WORD = /[\p{L}\p{N}_]+/gu;

// A text with the words of the question marked.
function marked(text, words) {
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(WORD)) {
    if (!words.has(match[0].toLowerCase())) continue;
    parts.push(text.slice(done, match.index), html("mark", {}, match[0]));
    done = match.index + match[0].length;
  }
  parts.push(text.slice(done));
  return parts.filter((part) => part !== "");
}

const wordsOf = (t) => new Set(data.words?.[t] ?? []);

const LEFT_OUT = "left out: no room within the budget of texts";

// A text is null where the collection has none, and 0 where the page had no room for it.
function questionOf(t) {
  if (!data.questions) return null;
  const fields = data.questions[t];
  if (!fields) return html("p", { class: "reading" }, fields === null ? data.no_question : `What was asked is ${LEFT_OUT}.`);
  const [[, first], ...others] = fields;
  return html("div", { class: "question" }, html("p", { class: "asked", dir: "auto" }, first),
    others.length ? html("dl", {}, others.map(([name, text]) => [html("dt", {}, name), html("dd", { dir: "auto" }, text)])) : null);
}

function gradeChip(grade) {
  if (grade === null || grade < 0) return html("span", { class: "chip unjudged" }, "unjudged");
  const shade = Math.min(3, Math.ceil(Math.max(0, grade)));
  return html("span", { class: `chip g${shade}` }, html("span", { class: "unseen" }, "grade "), String(grade));
}

// Title and passage where there are any, the id always; the whole text is written out when it is asked for.
function documentText(t, d) {
  const id = data.rankings.documents[t][d];
  const text = data.texts?.[t]?.[d];
  const name = html("span", { class: "id" }, id);
  if (!data.texts) return { name, rest: [] };
  if (!text) return { name, rest: [html("p", { class: "snippet reading" }, text === null ? `no text in ${data.collection}` : LEFT_OUT)] };
  const words = wordsOf(t);
  const rest = [];
  if (text.title) rest.push(html("p", { class: "title", dir: "auto" }, marked(text.title, words)));
  if (text.snippet) rest.push(html("p", { class: "snippet", dir: "auto" }, marked(text.snippet, words)));
  if (data.whole && Object.hasOwn(data.whole, id)) rest.push(wholeText(id, words));
  return { name, rest };
}

function wholeText(id, words) {
  const summary = html("summary", {}, "Whole text", html("span", { class: "unseen" }, ` of ${id}`));
  const details = html("details", { class: "whole" }, summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(html("p", { dir: "auto" }, marked(data.whole[id], words)));
  });
  return details;
}
