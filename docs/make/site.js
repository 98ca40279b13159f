// Search in a site that is opened as files. There no browser lets mkdocs' search read its index, so this
// one reads it as a script, which docs/make/navigation.py writes.
document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("mkdocs-search-results");
  if (location.protocol !== "file:" || !results) return;
  const query = new URLSearchParams(location.search).get("q") || "";
  const words = query.toLowerCase().split(/\s+/).filter(word => word);
  document.getElementById("mkdocs-search-query").value = query;

  // How often the words stand in a page, where all of them do. A title counts more.
  const score = page => {
    const counts = words.map(word => page.text.toLowerCase().split(word).length - 1 +
                                     50 * (page.title.toLowerCase().split(word).length - 1));
    return counts.every(count => count > 0) ? counts.reduce((a, b) => a + b, 0) : 0;
  };
  const entry = page => {
    const article = document.createElement("article"), link = document.createElement("a");
    link.href = page.location;
    link.textContent = page.title;
    const at = Math.max(0, page.text.toLowerCase().indexOf(words[0]) - 80);
    article.appendChild(document.createElement("h3")).appendChild(link);
    article.appendChild(document.createElement("p")).textContent = page.text.slice(at, at + 240);
    return article;
  };
  const script = document.createElement("script");
  script.src = "search/search_index.js";
  script.onload = () => {
    const found = searchIndex.docs.map(page => [words.length ? score(page) : 0, page])
        .filter(([points]) => points > 0).sort(([a], [b]) => b - a).slice(0, 50);
    results.replaceChildren(...found.map(([, page]) => entry(page)));
    if (found.length === 0) results.textContent = results.dataset.noResultsText;
  };
  document.body.appendChild(script);
});
