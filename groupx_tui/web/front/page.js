// Opens the window: redeems the link, keeps the key for this tab, starts the terminal.
//
// The secret of the link is in the fragment, which is never sent; it is taken off the address at
// once. The key is kept in this tab's storage, which only pages of this host *and port* can read,
// and goes to the WebSocket as a subprotocol: never in an address, never in a cookie.
"use strict";
(async () => {
  const KEY = "groupx-key";
  const notice = document.getElementById("notice");
  const secret = window.location.hash.slice(1);
  if (secret) {
    window.history.replaceState(null, "", "/");
    const reply = await fetch("/open", { method: "POST", body: secret }).catch(() => null);
    if (reply && reply.ok) window.sessionStorage.setItem(KEY, await reply.text());
  }
  const key = window.sessionStorage.getItem(KEY);
  if (!key) {
    notice.textContent =
      "This link was used before, or is too old.\nPress enter where “groupx web” runs: it prints a new one.";
    return;
  }
  let hasOpened = false;
  window.WebSocket = class extends window.WebSocket {
    constructor(url) {
      super(url, ["groupx", "key." + key]);
      this.addEventListener("open", () => {
        hasOpened = true;
        document.querySelector(".xterm-helper-textarea")?.focus();
      });
      this.addEventListener("message", (event) => {
        if (typeof event.data !== "string") return;
        const [kind, value] = JSON.parse(event.data);
        if (kind === "title") document.title = value;
        if (kind === "notice") notice.textContent = value;
      });
      this.addEventListener("close", (event) => {
        if (!hasOpened) window.sessionStorage.removeItem(KEY);
        if (!event.reason && hasOpened) notice.textContent = "The window is closed. Reload the page to open it again.";
        else if (event.reason) notice.textContent = event.reason;
        else
          notice.textContent =
            "“groupx web” does not let this page in any more: it was started anew.\nOpen the link that it printed.";
        document.body.classList.add("-closed");
      });
    }
  };
  const terminal = document.getElementById("terminal");
  terminal.dataset.sessionWebsocketUrl = "ws://" + window.location.host + "/ws";
  await document.fonts.load("16px 'Roboto Mono'").catch(() => null);
  const script = document.createElement("script");
  script.src = "/static/js/textual.js";
  script.onload = () => window.onload(new Event("load"));
  document.body.append(script);
})();
