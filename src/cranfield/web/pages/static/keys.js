// Keys, where people judge and where they adjudicate: when a key is typing and when it is an act is known here alone.
export const one = (selector, within = document) => within.querySelector(selector);
const BACK = { preventScroll: true };

export function toDocument() { one("#document").focus(BACK); }

// Opens a fold and goes into it, or closes it and goes back to the document.
export function turnFold(fold, within) {
  fold.open = !fold.open;
  if (!fold.open) { toDocument(); return; }
  one(within, fold)?.focus(BACK);
  fold.scrollIntoView({ block: "nearest" });
}

function note() {
  const field = one("#judge [name=note]");
  if (!field || field.closest("[hidden]")) return;
  const fold = field.closest("details");
  if (fold) fold.open = true;
  field.focus();
}

export function tell(text) { one("#status").textContent = text; }

// Why there is no grade: x, and then a digit.
function reasons() {
  const fold = one("#cannot");
  if (!fold || fold.closest("[hidden]")) return;
  turnFold(fold, "button");
  tell(fold.open ? "Choose why: by its digit, or by arrows and Enter." : "");
}

// A key that a button shows (data-key) goes to `press` with the button; `acts` has the others, beside those of every page.
export function listen(press, acts) {
  const all = {
    n: note,
    x: reasons,
    h: () => tell(document.body.classList.toggle("unmarked") ? "Marks off." : "Marks on."),
    "?": () => turnFold(one("#keys"), "summary"),
    ...acts,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target;
    if (target.matches("[name=note]") && ["Enter", "Escape"].includes(event.key)) { event.preventDefault(); toDocument(); return; }
    if (target.closest("input, select, textarea")) return;
    if (target.closest("button, summary, a") && [" ", "Enter"].includes(event.key)) return;
    const fold = target.closest("#cannot, #last, #keys");
    if (fold && event.key === "Escape") { turnFold(fold); return; }
    if (fold && walk(fold, target, event.key)) { event.preventDefault(); return; }
    // Digits stand for reasons there, as at the prompt; one that stands for none must not grade.
    if (fold?.id === "cannot" && /^[0-9]$/.test(event.key)) {
      event.preventDefault();
      if (!event.repeat) fold.querySelectorAll("button")[event.key - 1]?.click();
      return;
    }
    const same = (button) => button.dataset.key.toLowerCase() === event.key.toLowerCase() && !button.closest("[hidden]");
    const button = [...document.querySelectorAll("[data-key]")].find(same);
    const act = button ? () => press(button) : all[event.key] ?? all[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act();
  });
}

// Arrows go round among the buttons of a fold; whether the key was one.
function walk(fold, target, key) {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key];
  const buttons = [...fold.querySelectorAll("button")], at = buttons.indexOf(target);
  if (!step || at < 0) return false;
  buttons[(at + step + buttons.length) % buttons.length].focus();
  return true;
}
