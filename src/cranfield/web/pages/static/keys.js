// A key presses the button that has it, where people adjudicate; judge.js has keys of its own. Typing is left alone.
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, select, textarea, summary, a") || (event.target.closest("button") && [" ", "Enter"].includes(event.key))) return;
  if (event.key === "h") { document.body.classList.toggle("unmarked"); return; }
  const note = document.querySelector("#judge [name=note]");
  if (event.key === "n" && note) { event.preventDefault(); note.focus(); return; }
  if (event.key === "?") { const keys = document.querySelector("#keys"); keys.open = !keys.open; keys.querySelector("summary").focus(); return; }
  const button = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key.toLowerCase() === event.key.toLowerCase());
  if (!button) return;
  event.preventDefault();
  if (!event.repeat && !button.closest("[hidden]")) button.click();
});
