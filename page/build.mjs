// Builds the pages of the study server (../src/explorelab/study/static) and the stand-alone plugin (dist).
import { build } from "esbuild";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { licences } from "./licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const source = (...parts) => join(here, ...parts);
const pages = source("..", "src", "explorelab", "study", "static");
const plugin = source("dist");

const common = {
  absWorkingDir: here,
  bundle: true,
  target: ["es2020", "chrome100", "firefox100", "safari15.4"],
  logLevel: "warning",
  metafile: true,
  charset: "utf8",
};

/** One page: its script and style become NAME.js and NAME.css, its HTML is copied as it is. */
async function page(name, folder, script, style, html) {
  const result = await build({
    ...common,
    entryPoints: [script, style].map((file) => ({ in: source(folder, file), out: name })),
    outdir: pages,
    format: "iife",
    minify: true,
  });
  for (const file of html) copyFileSync(source(folder, file), join(pages, file));
  return result.metafile;
}

/** The plugin alone: for bundlers (grid-bandit.mjs, jsPsych imported) and for a script element (grid-bandit.js). */
async function standAlone() {
  const entry = source("plugin", "grid-bandit.ts");
  await build({ ...common, entryPoints: [entry], outfile: join(plugin, "grid-bandit.mjs"), format: "esm", external: ["jspsych"] });
  await build({
    ...common,
    entryPoints: [entry],
    outfile: join(plugin, "grid-bandit.js"),
    format: "iife",
    globalName: "jsPsychGridBandit",
    // A page that loads jsPsych by a script element has its exports as the global jsPsychModule.
    plugins: [globalModule("jspsych", "jsPsychModule")],
    footer: { js: "jsPsychGridBandit = jsPsychGridBandit.default;" },
  });
  await build({ ...common, entryPoints: [source("plugin", "styles", "grid-bandit.css")], outfile: join(plugin, "grid-bandit.css") });
}

/** An esbuild plugin: `import ... from NAME` reads the global variable instead. */
function globalModule(name, variable) {
  return {
    name: "global-module",
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: "global" }));
      builder.onLoad({ filter: /.*/, namespace: "global" }, () => ({ contents: `module.exports = ${variable};` }));
    },
  };
}

mkdirSync(pages, { recursive: true });
mkdirSync(plugin, { recursive: true });
const built = [
  await page("study", "participant", "main.ts", "study.css", ["index.html"]),
  await page("admin", "researcher", "admin.ts", "admin.css", ["admin.html", "login.html"]),
  await page("laboratory", "laboratory", "lab.ts", "laboratory.css", ["laboratory.html", "enter.html"]),
];
await standAlone();
writeFileSync(join(pages, "licences.txt"), licences(here, built));
