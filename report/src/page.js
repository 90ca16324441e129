"use strict";
// The figure below the pointer or the finger: what the mark says, and its line and its chart.
const tip = document.getElementById("tip");
const say = (mark, text) => {
  mark.dataset.tip = text;
  mark.setAttribute("aria-label", text);
};
for (const title of document.querySelectorAll("circle > title")) {
  say(title.parentNode, title.textContent);
  title.remove();
}
// A line's marks are the figures of its column in the chart's table.
for (const line of document.querySelectorAll("[data-column]")) {
  const { unit } = line.closest("svg").dataset;
  const [names, ...rows] = line.closest("figure").querySelectorAll("tr");
  const column = Number(line.dataset.column);
  const [over, name] = [names.cells[0].textContent, names.cells[column].textContent];
  const there = rows.filter((row) => row.cells[column].textContent);
  line.querySelectorAll("circle").forEach((mark, nth) => {
    const [at, figure] = [there[nth].cells[0].textContent, there[nth].cells[column].textContent];
    say(mark, `${name}, ${at} ${over}: ${figure} ${unit}`);
  });
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
