// Starts the page, and what others may call.
onChange(showState);
onChange(showTitles);
onChange(drawAll);
onChange(drawCursor);
wireTheme();
wireMatrix();
wireLegend();
wireFigures();
changed();
wireSize();

window.fullpipe = {
  // Names of the figures, and ids of the series drawn in one.
  figures: () => figures.map(({ name }) => name),
  series: (figure) => panels.get(figure).flatMap((panel) => panel.series.map(({ id }) => id)),
  // What is drawn of a series: pixels of its elements, through the axes' scales, back to values.
  points: (figure, series) => panels.get(figure).flatMap((panel) => readPoints(panel, series)),
  // Size of one pixel in the units of the axes at a series' panel, at the value given: the resolution of `points`.
  resolution: (figure, series, value) => {
    const panel = panels.get(figure).find((one) => one.series.some(({ id }) => id === series));
    const at = panel.y.of(value);
    return { x: Math.abs(panel.x.invert(1) - panel.x.invert(0)), y: Math.abs(panel.y.invert(at + 1) - panel.y.invert(at)) };
  },
  // Where a value lies in the window, in pixels: for pointing at it.
  locate: (figure, x, panel = 0) => {
    const one = panels.get(figure)[panel];
    const box = one.svg.getBoundingClientRect();
    const factor = box.width / one.svg.viewBox.baseVal.width;
    return { x: box.left + one.x.of(x) * factor, y: box.top + box.height / 2 };
  },
};
