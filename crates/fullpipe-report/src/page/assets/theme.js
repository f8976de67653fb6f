// The button names the theme it leads to. A choice is kept where the browser allows files to keep any.
function wireTheme() {
  const [root, button] = [document.documentElement, document.getElementById("theme")];
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => (button.textContent = isDark() ? "light" : "dark");
  const kept = (action) => {
    try { return action(localStorage); } catch { return null; }
  };
  const theme = kept((storage) => storage.getItem("fullpipe-theme"));
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept((storage) => storage.setItem("fullpipe-theme", root.dataset.theme));
    show();
  });
  system.addEventListener("change", show);
  show();
}
