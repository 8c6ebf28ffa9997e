// Adjudication is plain forms, whose buttons keys press. A verdict without a grade needs a reason: the key goes to the
// list of reasons first.
import { listen, one } from "./keys.js";

const form = one("#judge");
let sent = false;
listen((button) => button.click(), () => {}, {});
form?.addEventListener("submit", (event) => {
  if (event.submitter?.value === "cannot" && !form.reason.value) { event.preventDefault(); form.reason.focus(); return; }
  if (sent) event.preventDefault(); // a second key while the first is on its way
  sent = true;
});
form?.reason.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && form.reason.value) { event.preventDefault(); one('[value="cannot"]', form).click(); }
});
addEventListener("pageshow", () => { sent = false; });
