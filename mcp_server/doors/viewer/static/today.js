"use strict";

// What waits is settled by one key: j and k move, the letter of an answer gives it, u takes the last back.
(() => {
  let lastSettled = null;
  let next = null; // where the focus goes when the entry that is being settled is

  const entries = () => [...document.querySelectorAll(".entry:not(.settled)")];

  function move(from, by) {
    const all = entries();
    const at = all.indexOf(from);
    const to = at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[at + by];
    to?.focus();
    to?.scrollIntoView({ block: "nearest" });
  }

  function showMerged(entry, shown) {
    entry.querySelector(".merged").hidden = !shown;
    (shown ? entry.querySelector(".merged button") : entry).focus();
  }

  function answer(entry, key) {
    const button = entry.querySelector(`.answers [data-key="${CSS.escape(key)}"]`);
    const merged = entry.querySelector(".merged");
    if (key === "m" && merged && !merged.hidden) {
      merged.querySelector("button").click();
    } else {
      button?.click();
    }
    return Boolean(button);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) {
      return;
    }
    const entry = event.target.closest(".entry");
    const { key } = event;
    if (key === "j" || key === "k") {
      move(entry, key === "j" ? 1 : -1);
    } else if (key === "u") {
      lastSettled?.querySelector(".take-back")?.click();
    } else if (key === "Escape" && entry?.querySelector(".merged:not([hidden])")) {
      showMerged(entry, false);
    } else if (!entry || key.length !== 1 || event.repeat || !answer(entry, key)) {
      return;
    }
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".entry button");
    const entry = button?.closest(".entry");
    if (button?.matches(".show-merged")) {
      showMerged(entry, true);
    } else if (button?.matches(".cancel")) {
      showMerged(entry, false);
    } else if (button?.matches(".later")) {
      move(entry, 1);
    }
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    const entry = event.detail.target;
    if (entry.matches(".entry") && event.detail.xhr.status < 300) {
      const all = entries();
      const at = all.indexOf(entry);
      next = at < 0 ? null : (all[at + 1] ?? all[at - 1]);
    }
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    const { elt } = event.detail;
    if (!elt.matches(".entry")) {
      return;
    }
    const now = document.getElementById(event.detail.requestConfig.parameters.key);
    if (now?.matches(".settled")) {
      lastSettled = now;
      (next?.isConnected ? next : now).focus();
    } else {
      now?.focus();
    }
  });
})();
