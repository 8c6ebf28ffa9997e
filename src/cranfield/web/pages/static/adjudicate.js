// Adjudication is plain forms, whose buttons keys press.
import { listen, one } from "./keys.js";

let sent = false;
listen((button) => button.click(), {});
one("#judge")?.addEventListener("submit", (event) => {
  if (sent) event.preventDefault(); // a second key while the first is on its way
  sent = true;
});
addEventListener("pageshow", () => { sent = false; });
