/** uPlot writes numbers in the browser's language as soon as it is loaded; WebKit on Linux may give an invalid one ("C"). */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en", configurable: true });
}

export {};
