/* A button at each block of code that copies it: of a session, the lines one would type. */
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      const rows = block.querySelector("pre").textContent.trimEnd().split("\n");
      const typed = rows.filter((row) => /^(>>>|\.\.\.)( |$)/.test(row));
      const text = typed.length ? typed.map((row) => row.slice(4)) : rows;
      await navigator.clipboard.writeText(text.join("\n"));
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    block.append(button);
  }
});
