import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_LABELS, fill } from "../../plugin/words/labels";
import { Texts } from "../../participant/texts";

const page = process.cwd();
const toml = readFileSync(join(page, "../src/explorelab/study/config/templates/en/texts.toml"), "utf8");
const labels = Object.fromEntries([...toml.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, text]) => [name!, text!]));

test("the plugin's own English is that of the study", () => {
  for (const [name, text] of Object.entries(DEFAULT_LABELS)) expect(labels[name]).toBe(text);
});

test("every label is used somewhere", () => {
  const files = readdirSync(join(page, "participant"), { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => name.endsWith(".ts"));
  const code = sources.map((name) => readFileSync(join(page, "participant", name), "utf8")).join("\n");
  const made = ["ready_standard", "ready_neighbour", "ready_travel"];
  const known = [...made, ...Object.keys(DEFAULT_LABELS), "language"];
  expect(Object.keys(labels).filter((name) => !code.includes(`"${name}"`) && !known.includes(name))).toEqual([]);
});

test("placeholders are filled in, numbers as the language writes them", () => {
  expect(fill("{a} of {b}, {c}", { a: 1, b: "two" })).toBe("1 of two, {c}");
  const texts = new Texts({ language: "de", direction: "ltr", title: "", languages: {}, labels: { ready_time: "{seconds} Sekunden" } });
  expect(texts.label("ready_time", { seconds: 1.5 })).toBe("1,5 Sekunden");
  expect(texts.money(5.5, "EUR")).toMatch(/5,50.€/);
  expect(texts.money(5.5, "not money")).toBe("5,5 not money");
});
