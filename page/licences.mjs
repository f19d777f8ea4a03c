// The licences of the packages that went into a bundle, for the file that is served beside it.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** Name, version and licence text of every package in these esbuild metafiles, one after another. */
export function licences(root, metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const names = new Set(inputs.map((input) => PACKAGE.exec(input)?.[1]).filter(Boolean));
  return [...names].sort().map((name) => licence(join(root, "node_modules", name))).join("\n\n");
}

function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : "";
  return `${name} ${version} (${license})\n\n${text}\n`;
}
