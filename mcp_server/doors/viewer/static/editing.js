"use strict";

// What the form holds now, and what it held when it was saved last.
const unsaved = () => document.querySelector("form[data-unsaved]");
const held = (form) => {
  const said = new FormData(form);
  said.delete("version");
  return JSON.stringify([...said]);
};
let saved = unsaved() && held(unsaved());
let sent = saved;
const differs = () => unsaved() !== null && held(unsaved()) !== saved;

const tell = () => {
  const mark = document.getElementById("unsaved");
  if (mark) {
    mark.hidden = !differs();
  }
};
document.addEventListener("input", tell);

// Leaving with words that are not saved asks first.
window.addEventListener("beforeunload", (event) => {
  if (differs()) {
    event.preventDefault();
  }
});

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "s") {
    const form = unsaved();
    if (form) {
      event.preventDefault();
      form.requestSubmit();
    }
  }
  // From the field in which one types a title, the arrow goes into the list of those found.
  if (event.key === "ArrowDown" && event.target.matches("[data-chooses]")) {
    const first = document.querySelector(`#${event.target.dataset.chooses} input[type=radio]`);
    if (first) {
      event.preventDefault();
      first.focus();
      first.checked = true;
    }
  }
});

// What is typed while a save is under way is not saved with it.
document.addEventListener("htmx:beforeRequest", (event) => {
  const form = unsaved();
  if (form && event.detail.requestConfig.path === form.getAttribute("hx-post")) {
    sent = held(form);
  }
});
document.addEventListener("saved", () => {
  saved = sent;
  tell();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-discard]")) {
    saved = unsaved() && held(unsaved());
  }
  const focus = event.target.closest("[data-focus]");
  if (focus) {
    document.getElementById(focus.dataset.focus).focus();
  }
});

// Where a whole page was replaced, the keyboard goes on at its beginning.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "main") {
    event.detail.target.focus();
    window.scrollTo(0, 0);
  }
  if (event.detail.target.id === "outcome") {
    event.detail.target.scrollIntoView({ block: "nearest" });
  }
});
document.addEventListener("linked", () => {
  const form = document.getElementById("link");
  form.reset();
  document.getElementById("choices").replaceChildren();
  form.querySelector("input[name=said]").focus();
});
