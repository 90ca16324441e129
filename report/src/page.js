"use strict";
// The figure below the pointer or the finger, from the title that each mark carries.
const tip = document.getElementById("tip");
const marks = document.querySelectorAll("circle");
for (const mark of marks) {
  const title = mark.querySelector("title");
  mark.dataset.tip = title.textContent;
  mark.setAttribute("aria-label", title.textContent);
  title.remove();
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
