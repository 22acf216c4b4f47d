// What is wrong with the page that is shown, in words; `docs/look.py` runs it in each view of each page.
const wrong = [];
const say = (what, where) => wrong.push(where ? `${what}: ${where}` : what);
const width = document.documentElement.clientWidth;

function name(element) {
  const id = element.id ? `#${element.id}` : "";
  const kind = element.getAttribute("class");
  const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 60);
  return `<${element.tagName.toLowerCase()}${id}${kind ? `.${kind.trim().split(/\s+/)[0]}` : ""}> ${text}`;
}

// Formulas: none is left as TeX, none has an error.
const UNREAD = "script, style, pre, code, mjx-container, .sig, textarea, title";
const TEX = /\\\(|\\\)|\\\[|\$\$|\\(mathrm|mathbb|frac|log|exp|dot|ddot|begin|in|le|ge|sum|lambda|delta)\b|\$[^$\s][^$]*\$/;
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (texts.nextNode()) {
  const node = texts.currentNode, parent = node.parentElement;
  if (!node.textContent.trim() || parent.closest(UNREAD)) continue;
  if (TEX.test(node.textContent)) say("TeX that was not drawn", node.textContent.trim().slice(0, 80));
  seen.add(parent);
}
for (const error of document.querySelectorAll("mjx-merror, [data-mjx-error], [data-mml-node=merror]")) {
  say("a formula with an error", error.getAttribute("data-mjx-error") || error.textContent);
}

// Width: the page does not scroll sideways; what is wider than the page is in a box that scrolls, and nothing is cut off.
const sideways = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
const hides = (element) => /hidden|clip/.test(getComputedStyle(element).overflowX);
if (document.documentElement.scrollWidth > width) {
  say(`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${width}`);
}
const beyond = [];
for (const element of document.querySelectorAll("article *")) {
  if (element.closest("svg, .sd-hide, .headerlink") || element.closest("mjx-assistive-mml")) continue;
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.height === 0 || box.right <= width + 1) continue;
  let around = element;
  while (around && around.tagName !== "ARTICLE" && !sideways(around)) around = around.parentElement;
  if (around && around.tagName !== "ARTICLE") continue;
  if (beyond.some((other) => other.contains(element))) continue;
  beyond.push(element);
  say(`beyond the right edge, at ${Math.round(box.right)}`, name(element));
}
for (const element of document.querySelectorAll("article div, article p, article td, article section")) {
  if (hides(element) && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1) {
    say(`cut off: ${element.scrollWidth} pixels in ${element.clientWidth}`, name(element));
  }
}

// Pictures are there.
for (const image of document.images) {
  if (image.complete && image.naturalWidth === 0) say("a picture that is not there", image.getAttribute("src"));
}

// Words can be told from what is behind them, at 3 to 1 at least (WCAG for large text; small text aims at 4.5).
const numbers = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => {
  const part = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
function behind(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbers(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] > 0.5) return colour;
  }
  return [255, 255, 255];
}
const faint = new Set();
for (const element of seen) {
  if (!element.closest("article") || !element.getClientRects().length || element.closest(".headerlink")) continue;
  const colour = numbers(getComputedStyle(element).color);
  const [a, b] = [light(colour), light(behind(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 3 && !faint.has(element.className)) {
    faint.add(element.className);
    say(`words at a contrast of ${ratio.toFixed(1)}`, name(element));
  }
}
return wrong;
