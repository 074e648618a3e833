// Sets the theme before anything is drawn. Runs as a classic script in the head.
const stored = localStorage.getItem("theme") ?? "system";
const dark = stored === "dark" || (stored === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.dataset.theme = dark ? "dark" : "light";
