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
  }
  for (const node of document.querySelectorAll("[data-flow]")) {
    node.setAttribute("aria-pressed", !state.hiddenFlows.has(node.dataset.flow));
  }
  for (const figure of figures) {
    figureNode(figure).querySelector(".log")?.setAttribute("aria-pressed", state.logarithmic.has(figure.name));
  }
  document.getElementById("reset").disabled = state.zoom === null;
}

function wireLegend() {
  for (const button of document.querySelectorAll("#legend [data-run]")) {
    const run = Number(button.dataset.run);
    button.addEventListener("click", () => toggleRun(run));
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
