"use strict";
// The figure below the pointer or the finger: what the mark says, and its line and its chart.
const tip = document.getElementById("tip");
for (const mark of document.querySelectorAll("circle")) {
  const title = mark.querySelector("title");
  if (title) {
    mark.dataset.tip = title.textContent;
    title.remove();
  } else {
    const { over, unit } = mark.closest("svg").dataset;
    const [at, figure] = mark.dataset.tip.split(": ");
    mark.dataset.tip = `${mark.parentNode.dataset.line}, ${at} ${over}: ${figure} ${unit}`;
  }
  mark.setAttribute("aria-label", mark.dataset.tip);
}
document.addEventListener("pointermove", (event) => {
  const text = event.target.dataset && event.target.dataset.tip;
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 4);
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = event.clientY + 16 + "px";
});
