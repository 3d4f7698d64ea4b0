// Show how an answer comes into being. Every message is HTML that the server wrote and escaped.
const run = document.getElementById("run");
const state = document.getElementById("state");
const MOST_STEPS = 12; // the latest ones
const source = new EventSource(run.dataset.events);

function append(list, html) {
  document.getElementById(list).insertAdjacentHTML("beforeend", html);
}

source.addEventListener("status", (message) => {
  append("steps", message.data);
  const steps = document.getElementById("steps");
  while (steps.childElementCount > MOST_STEPS) steps.firstElementChild.remove();
  state.textContent = steps.lastElementChild.textContent;
});
source.addEventListener("sentence", (message) => append("sentences", message.data));
source.addEventListener("done", (message) => {
  source.close();
  location.replace(message.data);
});
source.addEventListener("problem", (message) => {
  source.close();
  run.querySelectorAll(":scope > :not(h1)").forEach((part) => part.remove());
  run.insertAdjacentHTML("beforeend", message.data);
});
