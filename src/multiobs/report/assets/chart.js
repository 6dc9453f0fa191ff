// Draws every chart of the page from the JSON beside it: hover, zoom, toggle. No library, no network.
// Texts of the data only ever become text nodes, never markup.
"use strict";
(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = 6;

  function make(tag, attributes, parent, text) {
    const element = document.createElementNS(SVG, tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }

  function html(tag, name, parent, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }

  function number(value) {
    if (value === null || !isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(2);
    return String(Number(value.toPrecision(4)));
  }

  // "Nice" steps 1, 2, 5 times a power of ten.
  function ticks(low, high, wanted) {
    const raw = (high - low) / Math.max(wanted, 1);
    if (!(raw > 0)) return [low];
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw * 0.999);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
      found.push(Number((i * step).toPrecision(12)));
    }
    return found;
  }

  function day(value, span) {
    const date = new Date(value * 86400000);
    if (isNaN(date)) return number(value);
    const text = date.toISOString();
    return span < 3 ? text.slice(0, 16).replace("T", " ") : text.slice(0, 10);
  }

  function dateTicks(low, high, wanted) {
    const span = high - low;
    const years = ticks(low / 365.2425, high / 365.2425, wanted);
    if (span < 3 * 365) return ticks(low, high, Math.min(wanted, 5));
    return years.map((y) => Date.UTC(1970 + Math.round(y), 0, 1) / 86400000)
      .filter((v, i, all) => v >= low && v <= high && all.indexOf(v) === i);
  }

  function Chart(figure) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const hidden = new Set(spec.layers.filter((l) => l.hidden).map((l) => l.name));
    const names = [];
    for (const layer of spec.layers) if (!names.includes(layer.name)) names.push(layer.name);
    const colour = (name) => "c" + ((spec.layers.find((l) => l.name === name).colour
      ?? names.indexOf(name)) % COLOURS);
    const whole = extent(0, true);
    let view = whole.slice();
    const bar = html("div", "bar", figure);
    const stage = html("div", "stage", figure);
    const tip = html("div", "tip", stage);
    tip.setAttribute("role", "status");
    tip.hidden = true;
    let svg = null, state = null, cursor = null, drag = null;

    function extent(axis, all) {
      let low = Infinity, high = -Infinity;
      for (const layer of spec.layers) {
        if (!all && hidden.has(layer.name)) continue;
        layer.x.forEach((x, i) => {
          if (axis === 1 && (x < view[0] || x > view[1])) return;
          // A band's reach is bounded by what the caller calls worth seeing (spec.y_range).
          const values = axis === 0 ? [x] : [layer.y && layer.y[i], layer.low && layer.low[i],
            layer.high && layer.high[i]];
          for (const v of values) {
            if (v === null || v === undefined || !isFinite(v)) continue;
            low = Math.min(low, v);
            high = Math.max(high, v);
          }
        });
      }
      if (axis === 1 && spec.y_range) {
        low = Math.max(low, spec.y_range[0]);
        high = Math.min(high, spec.y_range[1]);
      }
      if (!(high > low)) {
        const pad = Math.abs(low) * 0.05 || 0.5;
        return isFinite(low) ? [low - pad, low + pad] : [0, 1];
      }
      const pad = axis === 1 || spec.x_kind === "category" || spec.pad ? 0.04 * (high - low) : 0;
      return spec.x_kind === "category" && axis === 0 ? [low - 0.5, high + 0.5] : [low - pad, high + pad];
    }

    function said(value) {
      if (spec.x_kind === "category") return spec.categories[Math.round(value)] ?? "";
      return spec.x_kind === "date" ? day(value, 0) : number(value);
    }

    function button(text, title, act) {
      const element = html("button", "", bar, text);
      element.type = "button";
      element.title = title;
      element.addEventListener("click", act);
      return element;
    }

    const several = names.length > 1;
    for (const name of names) {
      const element = several ? button("", "show or hide", () => {
        hidden.has(name) ? hidden.delete(name) : hidden.add(name);
        element.setAttribute("aria-pressed", String(!hidden.has(name)));
        draw();
      }) : html("span", "", bar);
      element.classList.add("key", colour(name));
      html("i", "", element);
      element.appendChild(document.createTextNode(name));
      if (several) element.setAttribute("aria-pressed", String(!hidden.has(name)));
    }
    const zooms = html("span", "zooms", bar);
    for (const [text, title, act] of [["+", "zoom in", () => zoom(0.5)],
      ["−", "zoom out", () => zoom(2)], ["⤢", "show all", () => set(whole)]]) {
      zooms.appendChild(button(text, title, act));
    }

    function set(range) {
      const width = Math.min(range[1] - range[0], whole[1] - whole[0]);
      if (width < 1e-9 * (whole[1] - whole[0])) return;
      const left = Math.min(Math.max(range[0], whole[0]), whole[1] - width);
      view = [left, left + width];
      draw();
    }

    function zoom(factor, centre) {
      const middle = centre ?? cursor ?? (view[0] + view[1]) / 2;
      set([middle - (middle - view[0]) * factor, middle + (view[1] - middle) * factor]);
    }

    function draw() {
      const width = Math.max(stage.clientWidth || 640, 260);
      const height = Math.round(Math.min(Math.max(width * 0.5, 230), 380));
      const yr = extent(1, false);
      const yt = ticks(yr[0], yr[1], Math.round(height / 60));
      const left = 26 + 7 * Math.max(...yt.map((t) => number(t).length), 3);
      const longest = Math.max(...(spec.categories || []).map((c) => Math.min(c.length, 14)), 0);
      // Names that would overlap stand on two lines in turn, or are left out when that is not enough.
      const crowd = (longest * 7 * (spec.categories || []).length) / (width - 12 - left);
      const lines = crowd > 1 ? 2 : 1;
      const box = { l: left, r: width - 12, t: 10, b: height - 32 - 14 * lines };
      const sx = (v) => box.l + ((v - view[0]) / (view[1] - view[0])) * (box.r - box.l);
      const sy = (v) => box.b - ((v - yr[0]) / (yr[1] - yr[0])) * (box.b - box.t);
      state = { box, sx, sy };
      if (svg) svg.remove();
      svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0,
        role: "img", "aria-label": spec.title + ". Arrow keys read values." }, null);
      stage.insertBefore(svg, tip);
      const id = "clip" + figure.id;
      const clip = make("clipPath", { id }, make("defs", {}, svg));
      make("rect", { x: box.l, y: box.t, width: box.r - box.l, height: box.b - box.t }, clip);
      for (const t of yt) {
        make("line", { x1: box.l, x2: box.r, y1: sy(t), y2: sy(t), class: "grid" }, svg);
        make("text", { x: box.l - 6, y: sy(t) + 4, class: "tick end" }, svg, number(t));
      }
      const wanted = Math.max(2, Math.round((box.r - box.l) / 75));
      let xt;
      if (spec.x_kind === "category") {
        const step = Math.max(1, Math.ceil(crowd / 2));
        xt = spec.categories.map((_, i) => i).filter((i) => i % step === 0);
      } else xt = (spec.x_kind === "date" ? dateTicks : ticks)(view[0], view[1], wanted);
      for (const t of xt) {
        if (t < view[0] || t > view[1]) continue;
        make("line", { x1: sx(t), x2: sx(t), y1: box.b, y2: box.b + 4, class: "axis" }, svg);
        const text = spec.x_kind === "date" ? day(t, view[1] - view[0]) : said(t);
        const label = make("text", { x: sx(t), y: box.b + 18 + (lines === 2 ? 14 * (xt.indexOf(t) % 2) : 0),
          class: "tick mid" }, svg, text.length > 14 ? text.slice(0, 13) + "…" : text);
        const half = label.getComputedTextLength() / 2; // a name at either end moves inwards, whole
        label.setAttribute("x", Math.min(Math.max(sx(t), half), width - half));
      }
      make("line", { x1: box.l, x2: box.r, y1: box.b, y2: box.b, class: "axis" }, svg);
      make("text", { x: (box.l + box.r) / 2, y: height - 8, class: "label mid" }, svg, spec.x_label);
      make("text", { x: 12, y: (box.t + box.b) / 2, class: "label mid",
        transform: `rotate(-90 12 ${(box.t + box.b) / 2})` }, svg, spec.y_label);
      const marks = make("g", { "clip-path": `url(#${id})` }, svg);
      if (spec.diagonal) {
        const d = [Math.max(view[0], yr[0]), Math.min(view[1], yr[1])];
        make("line", { x1: sx(d[0]), y1: sy(d[0]), x2: sx(d[1]), y2: sy(d[1]), class: "guide" }, marks);
      }
      if (spec.zero) make("line", { x1: box.l, x2: box.r, y1: sy(0), y2: sy(0), class: "guide" }, marks);
      for (const layer of spec.layers) if (!hidden.has(layer.name)) paint(layer, marks);
      state.cursor = make("line", { class: "cursor", y1: box.t, y2: box.b, visibility: "hidden" }, svg);
      state.dots = make("g", {}, svg);
      state.select = make("rect", { class: "select", y: box.t, height: box.b - box.t, width: 0 }, svg);
      listen();
    }

    function paint(layer, parent) {
      const { sx, sy } = state;
      const name = colour(layer.name);
      const xy = (i, v) => `${sx(layer.x[i]).toFixed(1)},${sy(v[i]).toFixed(1)}`;
      const all = layer.x.map((_, i) => i);
      if (layer.kind === "line") {
        if (layer.low) {
          const ok = all.filter((i) => layer.low[i] !== null && layer.high[i] !== null);
          const path = ok.map((i) => xy(i, layer.high)).concat(ok.reverse().map((i) => xy(i, layer.low)));
          make("polygon", { points: path.join(" "), class: "band " + name }, parent);
        }
        make("polyline", { points: all.filter((i) => layer.y[i] !== null).map((i) => xy(i, layer.y)).join(" "),
          class: "line " + name + (layer.dashed ? " dashed" : "") }, parent);
        return;
      }
      for (const i of all) {
        if (layer.y[i] === null) continue;
        if (layer.low && layer.low[i] !== null) {
          make("line", { x1: sx(layer.x[i]), x2: sx(layer.x[i]), y1: sy(layer.low[i]), y2: sy(layer.high[i]),
            class: "line " + name }, parent);
        }
        make("circle", { cx: sx(layer.x[i]).toFixed(1), cy: sy(layer.y[i]).toFixed(1),
          r: layer.kind === "cloud" ? 2.2 : 4, class: layer.kind + " " + name }, parent);
      }
    }

    function show(value) {
      const { box, sx, sy, cursor: line, dots } = state;
      const lines = [];
      let at = null;
      dots.replaceChildren();
      for (const layer of spec.layers) {
        if (hidden.has(layer.name) || layer.kind === "cloud") continue;
        let best = -1;
        layer.x.forEach((x, i) => {
          if (layer.y[i] === null || x < view[0] || x > view[1]) return;
          if (best < 0 || Math.abs(x - value) < Math.abs(layer.x[best] - value)) best = i;
        });
        if (best < 0) continue;
        if (at === null || Math.abs(layer.x[best] - value) < Math.abs(at - value)) at = layer.x[best];
        lines.push([layer, best]);
      }
      if (at === null) return hide();
      cursor = at;
      tip.replaceChildren();
      html("b", "", tip, `${spec.x_label}: ${said(at)}`);
      for (const [layer, i] of lines) {
        const row = html("div", "key " + colour(layer.name), tip);
        html("i", "", row);
        const band = layer.low && layer.low[i] !== null
          ? ` (${number(layer.low[i])} to ${number(layer.high[i])})` : "";
        const where = layer.x[i] === at ? "" : ` at ${said(layer.x[i])}`;
        row.appendChild(document.createTextNode(`${layer.name}: ${number(layer.y[i])}${band}${where}`));
        const y = sy(layer.y[i]);
        if (y >= box.t && y <= box.b) make("circle", { cx: sx(layer.x[i]), cy: y, r: 4,
          class: "points " + colour(layer.name) }, dots);
      }
      for (const end of ["x1", "x2"]) line.setAttribute(end, sx(at));
      line.setAttribute("visibility", "visible");
      tip.hidden = false;
      const right = sx(at) + 14 + tip.offsetWidth > stage.clientWidth;
      tip.style.left = Math.max(0, right ? sx(at) - tip.offsetWidth - 14 : sx(at) + 14) + "px";
      tip.style.top = box.t + 6 + "px";
    }

    function hide() {
      cursor = null;
      tip.hidden = true;
      state.cursor.setAttribute("visibility", "hidden");
      state.dots.replaceChildren();
    }

    function listen() {
      const back = (event) => {
        const place = svg.getBoundingClientRect();
        const x = (event.clientX - place.left) * (svg.viewBox.baseVal.width / place.width);
        const { box } = state;
        return view[0] + ((Math.min(Math.max(x, box.l), box.r) - box.l) / (box.r - box.l)) * (view[1] - view[0]);
      };
      svg.addEventListener("pointermove", (event) => {
        const value = back(event);
        if (drag !== null) {
          const { sx, select } = state;
          select.setAttribute("x", Math.min(sx(drag), sx(value)));
          select.setAttribute("width", Math.abs(sx(value) - sx(drag)));
        }
        show(value);
      });
      svg.addEventListener("pointerleave", () => { if (drag === null) hide(); });
      svg.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "mouse") {
          drag = back(event);
          svg.setPointerCapture(event.pointerId);
        } else show(back(event));
      });
      svg.addEventListener("pointerup", (event) => {
        if (drag === null) return;
        const ends = [drag, back(event)].sort((a, b) => a - b);
        drag = null;
        state.select.setAttribute("width", 0);
        if (state.sx(ends[1]) - state.sx(ends[0]) > 8) set(ends);
      });
      svg.addEventListener("dblclick", () => set(whole));
      svg.addEventListener("keydown", (event) => {
        const step = (view[1] - view[0]) / 40;
        const keys = { ArrowLeft: -step, ArrowRight: step };
        if (event.key in keys) {
          show((cursor ?? (view[0] + view[1]) / 2) + keys[event.key]);
        } else if (event.key === "+" || event.key === "-") {
          zoom(event.key === "+" ? 0.5 : 2);
          svg.focus();
        } else if (event.key === "Escape") hide();
        else return;
        event.preventDefault();
      });
    }

    draw();
    let width = stage.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(stage.clientWidth - width) > 1) {
        width = stage.clientWidth;
        draw();
      }
    }).observe(stage);
  }

  document.querySelectorAll("figure.chart").forEach(Chart);
})();
