"use strict";
for (const block of document.querySelectorAll("pre.command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const range = document.createRange();
    range.selectNodeContents(block.firstChild);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    let copied = true;
    try { await navigator.clipboard.writeText(block.firstChild.textContent); } catch { copied = document.execCommand("copy"); }
    button.textContent = copied ? "Copied" : "Selected";
  });
  block.before(button);
}
