// Enter asks; Shift and Enter begins a line. Without this the button does it.
const question = document.getElementById("question");

question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  question.form.requestSubmit();
});
