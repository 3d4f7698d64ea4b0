// Show how far the reading of a source is. Every message is HTML that the server wrote and escaped.
const reading = document.getElementById("reading");
const source = new EventSource(reading.dataset.events);

source.addEventListener("reading", (message) => {
  reading.innerHTML = message.data;
});
source.addEventListener("done", (message) => {
  source.close();
  location.replace(message.data);
});
