// Asks for what has changed and puts it into the page; what is open and what has the focus stays so.
"use strict";
let version = Number(document.body.dataset.version);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function put(id, html) {
  const old = document.getElementById(id);
  if (!old) return;
  const made = document.createElement("template");
  made.innerHTML = html;
  const fresh = made.content.firstElementChild;
  if (fresh.outerHTML === old.dataset.html) return;
  const text = fresh.outerHTML;
  const focus = old.contains(document.activeElement) ? document.activeElement.id : "";
  for (const each of [old, ...old.querySelectorAll("details[id]")]) {
    const same = each === old ? fresh : fresh.querySelector("#" + CSS.escape(each.id));
    if (same && each.open) same.open = true;
  }
  fresh.dataset.html = text;
  old.replaceWith(fresh);
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

async function follow() {
  for (;;) {
    try {
      const answer = await fetch("state?after=" + version, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const reply = await answer.json();
      version = reply.version;
      const status = document.getElementById("status");
      if (status.textContent !== reply.status) status.textContent = reply.status;
      for (const [id, html] of Object.entries(reply.parts)) put(id, html);
    } catch (error) {
      document.getElementById("status").textContent = "./grade --web has ended. Start it again, and open the address that it prints.";
      document.body.classList.add("ended");
      await sleep(3000);
    }
  }
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const body = new URLSearchParams({ task: event.submitter.value });
  fetch(event.target.action, { method: "POST", body, redirect: "manual" }).catch(() => {});
});
follow();
