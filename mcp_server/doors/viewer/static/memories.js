"use strict";

// Choosing many: the buttons wait for the first tick, and a question comes before anything is done.
(() => {
  const ticks = () => [...document.querySelectorAll("#many-of input[name=id]")];

  const count = () => {
    const chosen = ticks().filter((each) => each.checked).length;
    const all = document.getElementById("all");
    if (!all) return;
    all.checked = chosen > 0 && chosen === ticks().length;
    all.indeterminate = chosen > 0 && chosen < ticks().length;
    document.getElementById("chosen").textContent = chosen ? `${chosen} chosen` : "";
    document.querySelectorAll("#many-of button[name=act]").forEach((each) => { each.disabled = !chosen; });
  };

  document.addEventListener("change", (event) => {
    if (event.target.id === "all") {
      ticks().forEach((each) => { each.checked = event.target.checked; });
    }
    if (event.target.closest("#many-of")) count();
  });

  const dialog = () => document.getElementById("many");
  // Once the question has settled: an earlier Enter would send its form without htmx.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "many" && !dialog().open) {
      dialog().showModal();
      (dialog().querySelector("input[name=word]") || dialog().querySelector("button")).focus();
    }
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "found") count();
  });
  // Done: the ticks go, so that the list may show what became of them, and undoing is one key away.
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.requestConfig.verb !== "post") return;
    if (dialog() && dialog().open) {
      dialog().close();
      if (event.detail.successful) ticks().forEach((each) => { each.checked = false; });
      count();
    }
    document.querySelector("#message .done button")?.focus();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("#many .cancel")) dialog().close();
  });

  // What "back" shows is what the server says now; a browser would restore old ticks and words.
  window.addEventListener("pageshow", count);

  // The filters follow the address: "Reset" and "back" load the page anew.
  document.addEventListener("htmx:configRequest", (event) => {
    if (!["ask", "follows"].includes(event.detail.elt.id)) return;
    for (const [name, value] of [...event.detail.formData.entries()]) {
      if (value === "") event.detail.formData.delete(name);
    }
  });
})();
