"use strict";

/*
What happens in a terminal or in a session appears on the page within a second. base.html says how a part of
a page asks for that. While the page is visible it asks for the mark of what can be seen; when that differs,
"changed" is triggered on the body.
*/
(() => {
  const EVERY = 500; // milliseconds between two looks
  const FIELDS = "input:not([type=hidden]), textarea, select";
  const { base } = document.body.dataset;
  let mark = document.body.dataset.mark;
  let looks; // the clock of these looks, while the page is there
  let looking = false;
  let missed = false; // the last look had no answer
  let postponed = false; // a part that was busy is still as it was
  let changes = 0; // that the page itself has made
  const askedAfter = new WeakMap(); // request of a part that refreshes by itself → how many there were then

  const byItself = (config) => config.triggeringEvent?.type === "changed";

  async function look() {
    if (looking || document.hidden) {
      return;
    }
    looking = true;
    try {
      const query = new URLSearchParams({ mark });
      const answer = await fetch(`${base}/live?${query}`, { headers: { "X-Polling": "1" } });
      if (answer.status === 403) {
        throw new Error(answer.statusText); // it is another viewer's port now
      }
      missed = false;
      if (answer.status === 200) {
        mark = await answer.text();
        refresh();
      }
    } catch {
      if (looks && missed) { // a single look fails when the machine wakes up, too
        end();
        htmx.trigger(document.body, "htmx:sendError");
      }
      missed = true;
    }
    looking = false;
  }

  function refresh() {
    postponed = false;
    htmx.trigger(document.body, "changed");
  }

  function begin() {
    looks ??= setInterval(look, EVERY);
  }

  function end() {
    clearInterval(looks);
    looks = undefined;
  }

  begin();
  addEventListener("pagehide", end); // the browser gives up what was asked for: that is no error
  addEventListener("pageshow", begin);
  document.addEventListener("visibilitychange", look);

  // What the page itself has changed shows at once.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.requestConfig.verb !== "get") {
      changes += 1;
      setTimeout(() => (postponed ? refresh() : look()));
    }
  });

  // Nobody looks when a part refreshes by itself: that keeps the viewer open no longer.
  document.addEventListener("htmx:configRequest", (event) => {
    if (byItself(event.detail)) {
      event.detail.headers["X-Polling"] = "1";
      askedAfter.set(event.detail, changes);
    }
  });

  function differs(field) {
    if (field.type === "checkbox" || field.type === "radio") {
      return field.checked !== field.defaultChecked;
    }
    if (field.options) {
      const chosen = [...field.options].some((option) => option.defaultSelected);
      return chosen && [...field.options].some((option) => option.selected !== option.defaultSelected);
    }
    return field.value !== field.defaultValue;
  }

  // Tell whether somebody writes in *part*, or waits for the answer to what was sent from there: not *asking*.
  function busy(part, asking) {
    if ([...part.querySelectorAll(".htmx-request")].some((each) => each !== asking)) {
      return true;
    }
    const fields = [...part.querySelectorAll(FIELDS)];
    return fields.some((field) => field === document.activeElement || differs(field));
  }

  const keeps = (part) => part.getAttribute("hx-swap")?.startsWith("keep");

  // A part that is not kept child by child stays, with the focus and the words marked in it, while the server
  // sends the same; where it sends something else, the focus goes on in what is the same there.
  const shown = new Map(); // id of a target → its HTML as the server sent it
  let focused; // the element that had the focus in a part that is being replaced

  function asRead(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    return holder.innerHTML.trim();
  }

  for (const part of document.querySelectorAll("[hx-trigger^='changed from:body']")) {
    const target = document.querySelector(part.getAttribute("hx-target")) ?? part;
    shown.set(target.id, asRead(target === part ? part.outerHTML : target.innerHTML));
  }

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, requestConfig, serverResponse } = event.detail;
    const html = asRead(serverResponse);
    const replaces = byItself(requestConfig) && !keeps(requestConfig.elt);
    focused = undefined;
    if (byItself(requestConfig) && askedAfter.get(requestConfig) !== changes) {
      event.detail.shouldSwap = false; // it may tell how things stood before the last change
      setTimeout(refresh);
    } else if (replaces && shown.get(target.id) === html) {
      event.detail.shouldSwap = false;
    } else if (replaces && busy(target, requestConfig.elt)) {
      event.detail.shouldSwap = false;
      postponed = true;
    } else {
      shown.set(target.id, html);
      focused = replaces && target.contains(document.activeElement) ? document.activeElement : undefined;
    }
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (focused && !focused.isConnected) {
      const again = [...document.querySelectorAll(focused.tagName)].find((each) => each.isEqualNode(focused));
      again?.focus({ preventScroll: true });
    }
  });
  document.addEventListener("focusout", () => setTimeout(() => postponed && refresh()));

  // hx-swap="keep": what the server sends as before stays as it is on the page, opened, focused, written in.
  const sent = new WeakMap(); // element with an id → its HTML as the server sent it

  function asSent(element) {
    const copy = element.cloneNode(true);
    copy.classList.remove("htmx-added", "htmx-settling", "htmx-swapping", "htmx-request");
    if (!copy.className) {
      copy.removeAttribute("class");
    }
    return copy.outerHTML;
  }

  function note(part) {
    part.querySelectorAll("[id]").forEach((element) => sent.set(element, asSent(element)));
  }

  function noteParts(within) {
    [within, ...within.querySelectorAll("[hx-swap^=keep]")].filter(keeps).forEach(note);
  }

  const hasOnlyNamed = (element) =>
    element.children.length > 0 &&
    [...element.childNodes].every((node) => (node.nodeType === 1 ? node.id : !node.data.trim()));

  function replaceOne(old, fresh, made) {
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    note(fresh);
    sent.set(fresh, asSent(fresh));
    old.replaceWith(fresh);
    made.push(fresh);
    if (focused) {
      const again = (focused.id && document.getElementById(focused.id)) || fresh;
      again.focus({ preventScroll: true });
    }
  }

  function update(old, fresh, made) {
    const html = asSent(fresh);
    if (sent.get(old) === html) {
      return;
    }
    if (old.tagName === fresh.tagName && !("stays" in old.dataset) && hasOnlyNamed(old) && hasOnlyNamed(fresh)) {
      sent.set(old, html);
      merge(old, fresh, made);
    } else if (busy(old)) {
      postponed = true;
    } else {
      replaceOne(old, fresh, made);
    }
  }

  function removeOne(old) {
    if (old.contains(document.activeElement)) {
      (old.nextElementSibling ?? old.previousElementSibling)?.focus({ preventScroll: true });
    }
    old.remove();
  }

  // Make the children of *old* those of *fresh*; those that are on the page already are not moved about.
  function merge(old, fresh, made) {
    const wanted = new Set([...fresh.children].map((child) => child.id));
    const there = new Map([...old.children].map((child) => [child.id, child]));
    let place = old.firstElementChild;
    for (const child of [...fresh.children]) {
      while (place && !wanted.has(place.id)) {
        place = place.nextElementSibling;
      }
      const known = child.id ? there.get(child.id) : undefined;
      if (!known) {
        note(child);
        sent.set(child, asSent(child));
        old.insertBefore(child, place);
        made.push(child);
        continue;
      }
      if (known === place) {
        place = place.nextElementSibling;
      } else {
        old.insertBefore(known, place);
      }
      update(known, child, made);
    }
    for (const child of there.values()) {
      if (wanted.has(child.id) || "stays" in child.dataset) {
        continue;
      }
      if (busy(child)) {
        postponed = true;
      } else {
        removeOne(child);
      }
    }
  }

  htmx.defineExtension("keep", {
    handleSwap(style, target, fragment) {
      if (style !== "keep") {
        return false;
      }
      const made = [];
      merge(target, fragment, made);
      return made;
    },
  });
  noteParts(document.body);
  document.addEventListener("htmx:load", (event) => noteParts(event.detail.elt));
})();
