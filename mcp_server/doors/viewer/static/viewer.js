"use strict";

// "/" goes to the page's search field, as in most readers; Escape takes a message away.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const search = document.querySelector("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  }
  if (event.key === "Escape") {
    document.getElementById("message").replaceChildren();
  }
});

// A viewer that has ended says so, instead of staying silent.
document.addEventListener("htmx:sendError", () => {
  const ended = document.createElement("p");
  ended.className = "card problem";
  ended.textContent = "The viewer has ended. Run 'daybook view' to open it again.";
  document.getElementById("message").replaceChildren(ended);
});

// An answer that worked takes the message of one that did not away.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status < 400 && event.detail.requestConfig.verb !== "get") {
    document.getElementById("message").replaceChildren();
  }
});

// htmx takes a form over a moment after it came onto the page. What is sent sooner would leave the page, so htmx
// is given the form before the click or the key that sends it arrives there.
const giveToHtmx = (form) => form?.matches("[hx-get], [hx-post]") && htmx.process(form);
document.addEventListener("click", ({ target }) => giveToHtmx(target.closest("button")?.form), true);
document.addEventListener("submit", ({ target }) => giveToHtmx(target), true);

// What is pressed twice is done once. A second press comes before the person can have seen what the first one did,
// and would take it back, hide how to do so, or meet what stands in its place by then.
const once = (event, pressed) => {
  if (pressed?.closest("[hx-post]")) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
};
document.addEventListener("click", (event) => event.detail > 1 && once(event, event.target.closest("button")), true);
document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter") {
    once(event, event.target.closest("button, input"));
  }
}, true);
document.addEventListener("htmx:confirm", (event) => {
  const { verb, elt } = event.detail;
  if (verb !== "get" && elt.classList.contains("htmx-request") && !elt.hasAttribute("hx-sync")) {
    event.preventDefault();
  }
});
