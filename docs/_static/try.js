/* Pages, and parts of pages, that run the specification: its scripts come when asked for. */
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement.dataset.content_root;
  const script = (name) => new Promise((done, failed) => {
    const tag = document.createElement("script");
    Object.assign(tag, { src: `${root}_static/playground/${name}`, onload: done, onerror: failed });
    document.head.append(tag);
  });
  let loaded;
  const fill = async (place) => {
    place.textContent = "Loading the specification.";
    loaded ??= Promise.all([script("page.js"), script("given.js")]);
    await loaded;
    traceirMount(place, traceirGiven, root);
    place.dataset.filled = "yes";
  };
  for (const place of document.querySelectorAll(".playground[data-page]")) {
    fill(place);
    window.addEventListener("hashchange", () => fill(place));
  }
  for (const part of document.querySelectorAll("details.try")) {
    const place = part.querySelector(".playground");
    part.addEventListener("toggle", () => part.open && !place.dataset.filled && fill(place));
  }
});
