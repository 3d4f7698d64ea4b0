// Show a quote in its page beside the answer without loading the answer again. Without this the links do the same.
const beside = document.querySelector(".beside");
const panel = document.getElementById("page");

beside.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-quote]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  const response = await fetch(beside.dataset.quotes + link.dataset.quote);
  if (!response.ok) {
    location.assign(link.href);
    return;
  }
  panel.innerHTML = await response.text();
  beside.querySelectorAll("[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
  beside.querySelectorAll(`[data-quote="${link.dataset.quote}"]`).forEach((same) => same.setAttribute("aria-current", "true"));
  history.replaceState(null, "", link.href);
  show();
});

// On a wide screen only the page beside the answer moves; on a narrow one it stands below.
function show() {
  const mark = document.getElementById("quote");
  if (!mark) return;
  const isBeside = getComputedStyle(panel).position === "sticky";
  if (isBeside) {
    panel.scrollTop += mark.getBoundingClientRect().top - panel.getBoundingClientRect().top - panel.clientHeight / 3;
  } else if (location.hash) {
    mark.scrollIntoView({ block: "center" });
  }
}

show();
