/** The scripts of every page: small behaviours bound by data attributes. */

import htmx from "htmx.org";
import { liveClient } from "../live/browser";
import { watchInbox } from "../live/inbox";
import { dialogs } from "./dialogs";
import { inbox } from "./inbox";
import { keyboard } from "./keyboard";
import { palette } from "./palette";
import { themes } from "./themes";

htmx.config.allowEval = false;
htmx.config.includeIndicatorStyles = false;

dialogs();
themes();
keyboard();
palette();
inbox();

/** Lists that show what is going on are fetched again when something has changed. */
function refresh(): void {
  for (const list of document.querySelectorAll<HTMLElement>("[data-refresh]")) {
    htmx.trigger(list, "refresh", {});
  }
}

const badge = document.querySelector<HTMLElement>("[data-inbox-count]");
if (badge) {
  let known = badge.textContent ?? "";
  watchInbox(liveClient(), ({ pending, event }) => {
    const text = String(pending);
    badge.textContent = text;
    badge.hidden = pending === 0;
    // One opened and one answered leave the number as it was.
    const news = event !== null || known !== text;
    if (news && location.pathname.startsWith("/approvals")) refresh();
    known = text;
  });
}

if (location.pathname === "/runs") {
  setInterval(() => {
    if (document.visibilityState === "visible" && !document.querySelector("dialog[open]")) refresh();
  }, 5000);
}

// A page of somebody who is not signed in any more is stale, and can't say why.
function signedOut(): void {
  const toasts = document.getElementById("toasts");
  if (!toasts || document.querySelector("[data-signed-out]")) return;
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.dataset.signedOut = "";
  const link = document.createElement("a");
  link.href = "/login";
  link.textContent = "Sign in";
  toast.append("You are signed out. ", link);
  toasts.append(toast);
}
liveClient().onConnection(() => {
  if (liveClient().connection().state === "signed_out") signedOut();
});

for (const toast of document.querySelectorAll("[data-toast]")) {
  setTimeout(() => toast.remove(), 6000);
}

// The old page's search field keeps the focus; what it found says how much there is.
document.addEventListener("htmx:responseError", (event) => {
  const detail = (event as CustomEvent<{ xhr: XMLHttpRequest }>).detail;
  const toasts = document.getElementById("toasts");
  if (!toasts || detail.xhr.getResponseHeader("HX-Retarget")) return;
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.textContent = "The server did not answer. Try again.";
  toasts.append(toast);
  setTimeout(() => toast.remove(), 6000);
});
