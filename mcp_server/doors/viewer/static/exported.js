"use strict";

// The file of `daybook view --export`: its pages stand in templates, and the part of the address behind # names
// the one that is shown. A page that was shown keeps its elements, and its scripts run once.
(() => {
  const main = document.getElementById("main");
  const templates = new Map(
    [...document.querySelectorAll("template")].map((each) => [each.dataset.address, each]),
  );
  const shown = new Map(); // address → the elements of a page that is not shown now
  const ran = new Set();
  let here;

  function show(moved) {
    const wanted = location.hash.slice(1) || "/";
    if (!wanted.startsWith("/")) {
      return; // a place in this page
    }
    const address = templates.has(wanted) ? wanted : decodeURI(wanted);
    const template = templates.get(address);
    if (here) {
      shown.set(here, [...main.childNodes]);
    }
    here = template && address;
    if (!template) {
      main.textContent = "This page is not in the file.";
      return;
    }
    main.replaceChildren(...(shown.get(address) ?? [template.content.cloneNode(true)]));
    document.title = `${template.dataset.title} · Daybook`;
    for (const link of document.querySelectorAll("body > header nav a")) {
      const its = link.hash.slice(1);
      const current = its === address || (its !== "/" && address.startsWith(its));
      current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    }
    run(address);
    if (address === "/memories") {
      find();
    }
    if (moved) {
      main.focus();
      scrollTo(0, 0);
    }
  }

  function run(address) {
    for (const held of document.querySelectorAll("script[data-pages]")) {
      if (held.dataset.pages.split(" ").includes(address) && !ran.has(held)) {
        ran.add(held);
        const script = document.createElement("script");
        script.textContent = held.textContent;
        document.body.append(script);
      }
    }
  }

  // The list of memories gets a field that finds titles and words.
  function find() {
    if (document.getElementById("find")) {
      return;
    }
    const field = Object.assign(document.createElement("input"), { type: "search", id: "find" });
    const label = document.createElement("label");
    label.append("Find words in the memories", field);
    const list = main.appendChild(document.createElement("ul"));
    list.className = "listed";
    list.hidden = true;
    const others = [...main.children].filter((each) => each.tagName !== "H1" && each !== list);
    main.prepend(label);
    main.append(list);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      list.hidden = !words.length;
      others.forEach((each) => each.classList.toggle("gone", Boolean(words.length)));
      list.replaceChildren(...(words.length ? matches(words) : []));
    });
  }

  function matches(words) {
    const rows = [];
    for (const [address, template] of templates) {
      const text = /^\/memories\/[^/]+$/.test(address) && template.content.textContent.toLowerCase();
      if (text && words.every((word) => text.includes(word))) {
        const link = document.createElement("a");
        link.href = `#${address}`;
        link.textContent = template.dataset.title;
        const row = document.createElement("li");
        row.append(link);
        rows.push(row);
      }
    }
    return rows;
  }

  addEventListener("hashchange", () => show(true));
  show(false);
})();
