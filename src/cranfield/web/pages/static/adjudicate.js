// A verdict without a grade needs a reason: the key goes to the list of reasons first. All else is plain forms (keys.js).
const form = document.querySelector("#judge");
let sent = false;
form?.addEventListener("submit", (event) => {
  if (event.submitter?.value === "cannot" && !form.reason.value) { event.preventDefault(); form.reason.focus(); return; }
  if (sent) event.preventDefault(); // a second key while the first is on its way
  sent = true;
});
form?.reason.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && form.reason.value) { event.preventDefault(); form.querySelector('[value="cannot"]').click(); }
});
form?.note.addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "Escape") { event.preventDefault(); document.querySelector("#document").focus(); }
});
addEventListener("pageshow", () => { sent = false; });
