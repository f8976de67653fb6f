// Buttons, keys, window: everything that changes the state or asks for a new drawing.
function toggleLogarithmic(figure) {
  const { logarithmic } = state;
  if (!logarithmic.delete(figure.name)) logarithmic.add(figure.name);
  changed();
}

// Buttons and chips show the state.
function showState() {
  for (const node of document.querySelectorAll("[data-run]")) {
    const run = Number(node.dataset.run);
    if (isDrawn(run)) node.style.setProperty("--run", colourOf(run));
    else node.style.removeProperty("--run");
    if (node.tagName === "BUTTON") node.setAttribute("aria-pressed", isDrawn(run));
    // Of many runs the page shows those that were chosen; all have a place in the matrix.
    if (many && !node.closest(".matrix")) node.hidden = !isDrawn(run);
  }
  for (const node of document.querySelectorAll("[data-flow]")) {
    node.setAttribute("aria-pressed", !state.hiddenFlows.has(node.dataset.flow));
  }
  for (const figure of figures) {
    figureNode(figure).querySelector(".log")?.setAttribute("aria-pressed", state.logarithmic.has(figure.name));
  }
  document.getElementById("reset").disabled = state.zoom === null;
}

// A figure's title is a finding about the runs that are shown; where none is known it says what is drawn.
function showTitles() {
  const shown = drawnRuns().join(",");
  for (const { name, y } of figures) {
    const neutral = y.label.charAt(0).toUpperCase() + y.label.slice(1);
    figureNode({ name }).querySelector("h3").textContent = titles[name]?.[shown] ?? neutral;
  }
}

// The matrix of many runs: a click shows a run, with Ctrl besides others; arrow keys move the focus.
function wireMatrix() {
  const table = document.querySelector(".matrix");
  table?.addEventListener("click", (event) => {
    const button = event.target.closest("[data-run]");
    if (!button) return;
    const run = Number(button.dataset.run);
    const alone = drawnRuns().length === 1 && isDrawn(run);
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) choose(run);
    else if (!alone) toggleRun(run);
  });
  table?.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const cell = event.target.closest("td");
    if (!steps || !cell) return;
    const row = table.tBodies[0].rows[cell.parentNode.rowIndex - (table.tHead?.rows.length ?? 0) + steps[0]];
    row?.cells[cell.cellIndex + steps[1]]?.querySelector("button")?.focus();
    event.preventDefault();
  });
}

function wireLegend() {
  for (const button of document.querySelectorAll("#legend [data-run]")) {
    const run = Number(button.dataset.run);
    // Of many runs one stays: an empty page would have nothing to choose from but the matrix far above.
    button.addEventListener("click", () => !(many && isDrawn(run) && drawnRuns().length === 1) && toggleRun(run));
    button.addEventListener("dblclick", () => solo(run));
    button.addEventListener("keydown", (event) => event.key.toLowerCase() === "s" && solo(run));
  }
  for (const button of document.querySelectorAll("[data-flow]")) {
    button.addEventListener("click", () => {
      const { flow } = button.dataset;
      if (!state.hiddenFlows.delete(flow)) state.hiddenFlows.add(flow);
      changed();
    });
  }
  document.getElementById("reset").addEventListener("click", showWholeTime);
}

function wireFigures() {
  for (const figure of figures) {
    const node = figureNode(figure);
    node.querySelector(".log")?.addEventListener("click", () => toggleLogarithmic(figure));
    node.querySelector(".panels").addEventListener("dblclick", showWholeTime);
  }
  document.addEventListener("pointermove", onPointerMove);
  document.addEventListener("pointerdown", onPointerDown);
  document.addEventListener("pointerup", onPointerUp);
  document.addEventListener("pointerleave", hideCursor);
  document.addEventListener("scroll", () => state.cursor && hideCursor(), { passive: true });
  document.addEventListener("keydown", onKey);
}

// Paper cannot be unfolded: tables about runs that are drawn open while printing.
function openTables(printing) {
  for (const table of document.querySelectorAll("details[data-run]")) {
    if (printing && !table.open && isDrawn(Number(table.dataset.run))) table.dataset.folded = "";
    if ("folded" in table.dataset) table.open = printing;
    if (!printing) delete table.dataset.folded;
  }
}

// Figures are drawn for the width they have: again when it changes, and for paper.
function wireSize() {
  const room = document.querySelector(".figures");
  let width = room.clientWidth;
  new ResizeObserver(() => {
    if (room.clientWidth === width) return;
    width = room.clientWidth;
    drawAll();
    drawCursor();
  }).observe(room);
  const forPaper = (printing) => () => {
    document.documentElement.classList.toggle("printing", printing);
    openTables(printing);
    state.cursor = null;
    width = room.clientWidth;
    drawAll();
    drawCursor();
  };
  addEventListener("beforeprint", forPaper(true));
  addEventListener("afterprint", forPaper(false));
}
