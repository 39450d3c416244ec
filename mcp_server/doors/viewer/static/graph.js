"use strict";

/*
The picture of the graph: zoom and move, light up what is linked, find a title. The server has drawn it all
(core/graph); captions keep their size when the picture gets small, and those that have no room then go, those
of the least linked nodes first.
*/
(() => {
  const STEP = 1.3; // of one press of + or -
  const MOVE = 80; // pixels of one press of an arrow key
  const CLICK = 4; // pixels that a pointer may move and still click
  const PAUSE = 120; // milliseconds after the last letter until a title is looked for
  const form = document.getElementById("choose");
  let shown; // the picture on the page
  let kept; // where one looks, while the same picture is drawn anew
  let pause;

  function show() {
    const canvas = document.querySelector(".canvas");
    if (!canvas || canvas === shown?.canvas) {
      return;
    }
    const svg = canvas.querySelector("svg");
    const world = svg.querySelector(".world");
    const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const nodes = [...svg.querySelectorAll(".node")];
    const lines = [...svg.querySelectorAll(".line")].map((element) => ({
      element,
      ends: element.dataset.ends.split(" ").map(Number),
    }));
    const captions = [...svg.querySelectorAll(".caption")];
    const marks = nodes.map((node) => {
      const [x, y] = place(node);
      return { x, y, radius: node.querySelector(".mark").getBBox().width / 2 };
    });
    const order = captions
      .map((caption, number) => {
        const big = caption.classList.contains("big");
        const rank = Number(nodes[number].dataset.links) + (big ? 1000 : 0);
        return { caption, number, big, rank, box: caption.getBBox(), ...marks[number] };
      })
      .sort((one, other) => other.rank - one.rank);
    svg.removeAttribute("viewBox"); // from here on a unit is a pixel, times the zoom
    canvas.style.maxHeight = `${height * Math.min(canvas.clientWidth / width, 1)}px`; // no higher than it is
    const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
    const whole = () => Math.min(size().width / width, size().height / height, 1);
    const start = kept ?? middle({ left, top, width, height }, whole(), size());
    kept = undefined;
    const panzoom = Panzoom(world, {
      startX: start.x,
      startY: start.y,
      startScale: start.scale,
      canvas: true,
      cursor: "grab",
      maxScale: 4,
      minScale: whole() / 2,
      setTransform: (element, { scale, x, y }) => {
        element.setAttribute("transform", `scale(${scale}) translate(${x.toFixed(2)} ${y.toFixed(2)})`);
      },
    });
    shown = { canvas, svg, nodes, lines, captions, marks, order, panzoom, size, whole };
    shown.frame = { left, top, width, height };
    world.addEventListener("panzoomchange", crowd);
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey || event.metaKey) {
          event.preventDefault();
          panzoom.zoomWithWheel(event);
        }
      },
      { passive: false },
    );
    listen(canvas, svg);
    crowd();
    find();
  }

  // How to move so that the middle of a rectangle of the picture is in the middle of the canvas.
  function middle({ left, top, width, height }, scale, canvas) {
    const [x, y] = [left + width / 2, top + height / 2];
    return { scale, x: canvas.width / 2 / scale - x, y: canvas.height / 2 / scale - y };
  }

  function go({ scale, x, y }) {
    shown.panzoom.zoom(scale, { force: true });
    shown.panzoom.pan(x, y, { force: true });
  }

  function see(node, scale) {
    const [left, top] = place(node);
    go(middle({ left, top, width: 0, height: 0 }, scale, shown.size()));
  }

  function place(node) {
    return node.getAttribute("transform").match(/-?\d+/g).map(Number);
  }

  // Captions and marks shrink less than the picture. A caption goes that would lie on that of a more important
  // node, or on a mark; those of the most important nodes may lie on marks.
  function crowd() {
    const { svg, marks, order, panzoom } = shown;
    const scale = panzoom.getScale();
    if (scale === shown.scale) {
      return;
    }
    shown.scale = scale;
    const grown = Math.max(1, 1 / scale);
    const blown = Math.max(1, scale ** -0.5);
    svg.style.setProperty("--caption-scale", grown);
    svg.style.setProperty("--mark-scale", blown);
    svg.classList.toggle("small", scale < 0.8);
    const taken = [];
    for (const { caption, number, big, x, y, box } of order) {
      const left = x + box.x * grown;
      const top = y + box.y * grown;
      const right = left + box.width * grown;
      const bottom = top + box.height * grown;
      const covered = () =>
        taken.some((it) => left < it.right && it.left < right && top < it.bottom && it.top < bottom) ||
        (!big &&
          marks.some((it, other) => {
            const radius = it.radius * blown * 0.8;
            const across = left < it.x + radius && it.x - radius < right;
            return across && top < it.y + radius && it.y - radius < bottom && other !== number;
          }));
      const crowded = scale < 1 && covered();
      caption.classList.toggle("crowded", crowded);
      if (!crowded) {
        taken.push({ left, top, right, bottom });
      }
    }
  }

  function light(node) {
    const { svg, nodes, lines, captions } = shown;
    for (const element of svg.querySelectorAll(".lit")) {
      element.classList.remove("lit");
    }
    svg.classList.toggle("one", Boolean(node));
    if (!node) {
      return;
    }
    const number = Number(node.dataset.node);
    const near = new Set([number]);
    for (const { element, ends } of lines) {
      if (ends.includes(number)) {
        element.classList.add("lit");
        ends.forEach((end) => near.add(end));
      }
    }
    for (const each of near) {
      nodes[each].classList.add("lit");
      captions[each].classList.add("lit");
    }
  }

  function listen(canvas, svg) {
    let from;
    const node = (event) => event.target.closest?.(".node");
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY };
    }, true);
    canvas.addEventListener("click", (event) => {
      if (from && event.detail && Math.hypot(event.clientX - from.x, event.clientY - from.y) > CLICK) {
        event.preventDefault(); // the picture was moved
      }
    }, true);
    canvas.addEventListener("dragstart", (event) => event.preventDefault());
    svg.addEventListener("pointerover", (event) => light(node(event) ?? focused()));
    svg.addEventListener("pointerleave", () => light(focused()));
    svg.addEventListener("focusin", (event) => {
      const here = node(event);
      light(here);
      if (here?.matches(":focus-visible")) {
        bring(here);
      }
    });
    svg.addEventListener("focusout", () => light(undefined));
    canvas.addEventListener("keydown", press);
  }

  function focused() {
    return shown.svg.contains(document.activeElement) ? document.activeElement.closest(".node") : undefined;
  }

  // Move the picture when a node that was reached by the keyboard is not in sight.
  function bring(node) {
    const here = node.querySelector(".mark").getBoundingClientRect();
    const canvas = shown.canvas.getBoundingClientRect();
    const inside =
      here.left > canvas.left + 40 && here.right < canvas.right - 40 &&
      here.top > canvas.top + 20 && here.bottom < canvas.bottom - 40;
    if (!inside) {
      see(node, shown.panzoom.getScale());
    }
    shown.canvas.scrollTo(0, 0); // a browser scrolls to what gets the focus
  }

  function zoom(how) {
    if (how === "all") {
      go(middle(shown.frame, shown.whole(), shown.size()));
      return;
    }
    const { panzoom, canvas } = shown;
    const box = canvas.getBoundingClientRect();
    const to = panzoom.getScale() * (how === "in" ? STEP : 1 / STEP);
    panzoom.zoomToPoint(to, { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 });
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const zooms = { "+": "in", "=": "in", "-": "out", 0: "all" };
    const moves = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in zooms) {
      zoom(zooms[event.key]);
    } else if (event.key in moves) {
      const [x, y] = moves[event.key].map((way) => (way * MOVE) / shown.panzoom.getScale());
      shown.panzoom.pan(x, y, { relative: true, force: true });
    } else {
      return;
    }
    event.preventDefault();
  }

  // Mark the titles that have all the words that are typed; Enter goes to the next of them.
  function find() {
    const words = document.getElementById("title").value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    shown.nodes.forEach((node, number) => {
      const [title] = node.querySelector("title").textContent.toLowerCase().split(/ \([^(]*$/);
      const matches = words.length > 0 && words.every((word) => title.includes(word));
      node.classList.toggle("match", matches);
      shown.captions[number].classList.toggle("match", matches);
      count += matches;
    });
    shown.svg.classList.toggle("searched", count > 0);
    document.getElementById("matches").textContent = words.length
      ? `${count} ${count === 1 ? "match" : "matches"}${count ? "; Enter goes to it" : ""}`
      : "";
  }

  function next() {
    const matches = shown.nodes.filter((node) => node.classList.contains("match"));
    if (matches.length) {
      shown.at = ((shown.at ?? -1) + 1) % matches.length;
      see(matches[shown.at], Math.max(shown.panzoom.getScale(), 1));
      light(matches[shown.at]);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (button) {
      zoom(button.dataset.zoom);
    }
    if (event.target.closest('a[href="#table"]')) {
      document.getElementById("table").open = true;
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.id === "title") {
      clearTimeout(pause);
      pause = setTimeout(find, PAUSE);
      shown.at = undefined;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.id === "title" && event.key === "Enter") {
      event.preventDefault();
      clearTimeout(pause);
      find();
      next();
    }
  });
  form.addEventListener("change", () => {
    kept = undefined; // another picture is seen as a whole
  });
  document.addEventListener("htmx:afterSwap", show);
  document.addEventListener("htmx:historyRestore", show);

  // What is linked elsewhere meanwhile is drawn when the links are others than those on the page; first comes the
  // answer that the form waits for, which changes the address, too.
  function refresh() {
    if (form.classList.contains("htmx-request")) {
      form.addEventListener("htmx:afterRequest", later, { once: true });
    } else if (!shown?.canvas.contains(document.activeElement)) {
      const { known = "" } = document.querySelector(".drawing")?.dataset ?? {};
      kept = shown && { ...shown.panzoom.getPan(), scale: shown.panzoom.getScale() };
      // The form asks: a choice that is made meanwhile gives up this request, and its answer undoes nothing.
      htmx.ajax("GET", form.action, { source: form, target: "#graph", values: { known } }).catch(() => {});
    }
  }

  function later() {
    setTimeout(refresh);
  }

  document.body.addEventListener("changed", refresh);
  show();
})();
