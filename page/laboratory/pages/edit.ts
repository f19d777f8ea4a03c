/** The editor of a study: its files, what is wrong in them as they are typed, and every screen as people will see it. */

import type { EditChecked, FilesShown, FindingShown, StudyShown } from "../../api";
import { counted, day, el, setText } from "../../researcher/elements";
import { confirmed, field, input } from "../forms";
import { change, get, inWords, Refused } from "../laboratory-api";
import { action, said } from "../said";
import { differenceLines } from "./history";
import { PreviewPanel } from "./preview-panel";

const AFTER_MS = 600;
const LEVELS = { "wrong": "Wrong", "to fill in": "To fill in", "doubtful": "Doubtful" } as const;

export async function editor(study: StudyShown): Promise<Node[]> {
  const files = await get("/lab/api/studies/{study}/files", study.name);
  return new Editor(study, files).content;
}

class Editor {
  readonly content: Node[];
  private edits: Record<string, string | null>;
  private base: number;
  private chosen: string;
  private timer = 0;
  private asked = 0;
  private readonly list = el("nav", "files");
  private readonly text = el("textarea", "source");
  private readonly place = el("p", "note place");
  private readonly findings = el("div", "findings");
  private readonly state = el("p", "note", "");
  private readonly why = input("text", { maxLength: 200, placeholder: "What you changed (optional)" });
  private readonly save = action("Save and use", () => this.saved(), "primary");
  private readonly drop = action("Discard my changes", () => this.discard());
  private readonly meanwhile = el("div");
  private readonly preview: PreviewPanel;

  constructor(private readonly study: StudyShown, private files: FilesShown) {
    this.base = files.draft?.base ?? files.version;
    this.edits = { ...files.draft?.files };
    this.chosen = this.names.includes("consent.md") ? "consent.md" : this.names[0] ?? "study.toml";
    this.preview = new PreviewPanel(study.name, files.languages, () => ({ base: this.base, files: this.edits }));
    const may = study.rights.includes("edit");
    this.text.readOnly = !may;
    this.text.spellcheck = true;
    this.text.addEventListener("input", () => this.typed());
    for (const name of ["keyup", "click", "focus"]) this.text.addEventListener(name, () => this.showPlace());
    this.list.setAttribute("aria-label", "Files of the study");
    this.findings.setAttribute("aria-live", "polite");
    this.why.setAttribute("aria-label", "What you changed");
    const bar = el("div", "bar", this.why, this.save, this.drop);
    const source = el("section", "card editing", this.list, el("div", "", this.text, this.place), el("div", "beside", this.state, this.findings));
    source.setAttribute("aria-label", "Texts and settings");
    this.content = [...(may ? [bar] : []), this.meanwhile, source, this.preview.element];
    this.showFiles();
    if (files.draft) said(`Your changes of ${day(files.draft.at)} are still here; they are not saved yet.`);
    if (may) void this.check();
    void this.preview.refresh();
  }

  private get names(): string[] {
    const kept = this.files.files.filter((each) => each.text !== null && this.edits[each.name] !== null).map((each) => each.name);
    const fresh = Object.keys(this.edits).filter((name) => this.edits[name] !== null);
    return [...new Set([...kept, ...fresh])].sort((a, b) => Number(a.includes("/")) - Number(b.includes("/")) || a.localeCompare(b));
  }

  private original(name: string): string | null {
    return this.files.files.find((each) => each.name === name)?.text ?? null;
  }

  private showFiles(): void {
    const buttons = this.names.map((name) => {
      const button = action(name, async () => this.choose(name), "file");
      button.setAttribute("aria-current", String(name === this.chosen));
      if (name in this.edits) button.append(el("span", "changed", " (changed)"));
      return button;
    });
    const pictures = this.files.files.filter((each) => each.picture).map((each) => {
      const picture = Object.assign(el("img"), { src: each.picture, alt: each.name });
      return el("figure", "", picture, el("figcaption", "note", each.name));
    });
    const upload = input("file", { accept: "image/png,image/jpeg,image/webp,image/gif" });
    upload.addEventListener("change", () => void this.uploaded(upload));
    const adding = this.study.rights.includes("edit") ? [field("Add a picture", upload, "PNG, JPEG, WebP or GIF, at most 5 MB.")] : [];
    this.list.replaceChildren(...buttons, el("div", "pictures", ...pictures), ...adding);
    this.text.setAttribute("aria-label", this.chosen);
    const shown = this.edits[this.chosen] ?? this.original(this.chosen) ?? "";
    if (this.text.value !== shown) this.text.value = shown;
    this.showState();
  }

  private choose(name: string): void {
    this.chosen = name;
    this.showFiles();
    this.text.scrollTop = 0;
    this.text.setSelectionRange(0, 0);
    this.showPlace();
    this.preview.follow(name);
  }

  private typed(): void {
    if (this.text.value === this.original(this.chosen)) delete this.edits[this.chosen];
    else this.edits[this.chosen] = this.text.value;
    const current = this.list.querySelector<HTMLElement>('[aria-current="true"]');
    if (current && !!current.querySelector(".changed") !== this.chosen in this.edits) this.showFiles();
    this.save.disabled = true;
    this.showState("Checking …");
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), AFTER_MS);
  }

  private showPlace(): void {
    const before = this.text.value.slice(0, this.text.selectionStart).split("\n");
    setText(this.place, `Line ${before.length} of ${this.text.value.split("\n").length}`);
  }

  private showState(now = ""): void {
    const n = Object.keys(this.edits).length;
    this.drop.hidden = n === 0;
    setText(this.state, now || (n ? `${counted(n, "file")} changed since version ${this.base}; kept as your draft.` : `Version ${this.base}, as it is served.`));
  }

  /** What the server finds in the files as they are typed; they are kept as a draft by that. */
  private async check(): Promise<void> {
    const number = (this.asked += 1);
    try {
      const checked = await change("/lab/api/studies/{study}/check", { base: this.base, files: this.edits }, this.study.name);
      if (number !== this.asked) return;
      this.showFindings(checked);
      this.save.disabled = !checked.may_save || !Object.keys(this.edits).length;
      this.showState();
      if (Object.keys(this.edits).length) void this.preview.refresh();
    } catch (error) {
      if (number === this.asked) this.showState(inWords(error));
    }
  }

  private showFindings({ findings, effects, n_begun }: EditChecked): void {
    const here = findings.filter((each) => each.file === this.chosen);
    const rows = [...here, ...findings.filter((each) => each.file !== this.chosen)].slice(0, 60).map((each) => this.finding(each));
    const begun = n_begun ? [el("p", "note", `${counted(n_begun, "person has", "people have")} begun this study.`)] : [];
    const means = effects.length ? [el("h2", "", "What your change means for them"), el("ul", "effects", ...effects.map((each) => el("li", "", each)))] : [];
    const heading = el("h2", "", findings.length ? counted(findings.length, "thing to look at", "things to look at") : "Nothing to complain about");
    this.findings.replaceChildren(...begun, ...means, heading, el("ul", "list-plain", ...rows));
  }

  private finding(each: FindingShown): HTMLElement {
    const where = each.line ? `${each.file}, line ${each.line}` : each.file;
    const go = action(where, async () => this.goTo(each), "where");
    return el("li", each.level.replaceAll(" ", "-"), el("b", "", LEVELS[each.level]), " ", go, el("span", "", ` ${each.sentence}`));
  }

  private goTo({ file, line }: FindingShown): void {
    if (this.names.includes(file) && file !== this.chosen) this.choose(file);
    const lines = this.text.value.split("\n");
    const start = lines.slice(0, (line ?? 1) - 1).join("\n").length + (line && line > 1 ? 1 : 0);
    this.text.focus();
    this.text.setSelectionRange(start, start + (lines[(line ?? 1) - 1]?.length ?? 0));
    this.text.scrollTop = ((line ?? 1) / lines.length) * this.text.scrollHeight - this.text.clientHeight / 2;
    this.showPlace();
  }

  private async saved(): Promise<string | void> {
    try {
      const { version } = await change("/lab/api/studies/{study}/save", { base: this.base, files: this.edits, why: this.why.value }, this.study.name);
      await this.renew(version);
      return `Saved as version ${version}, and served from now on.`;
    } catch (error) {
      if (!(error instanceof Refused) || error.word !== "changed-meanwhile") throw error;
      await this.showMeanwhile(error.message);
    } finally {
      this.showState();
    }
  }

  /** Somebody else has saved: what they changed, and going on from there with one's own changes. */
  private async showMeanwhile(sentence: string): Promise<void> {
    const fresh = await get("/lab/api/studies/{study}/files", this.study.name);
    const { files } = await get(`/lab/api/studies/{study}/versions/{number}?older=${this.base}` as "/lab/api/studies/{study}/versions/{number}", this.study.name, fresh.version);
    const both = files.map((each) => each.name).filter((name) => name in this.edits);
    const on = action("Go on from their version with my changes", async () => {
      this.files = fresh;
      this.base = fresh.version;
      this.meanwhile.replaceChildren();
      this.showFiles();
      await this.check();
      return "Look once more, and save.";
    }, "primary");
    const clash = both.length ? `You both changed ${both.join(", ")}: what you typed there would replace theirs.` : "You changed other files than they did.";
    this.meanwhile.replaceChildren(el("section", "card", el("h2", "", sentence), el("p", "", clash), ...files.map(differenceLines), el("div", "actions start", on)));
  }

  private async discard(): Promise<string | void> {
    const sure = await confirmed("Discard your changes?", "What you typed since the last version will be gone.", "Discard");
    if (!sure) return;
    await change("/lab/api/studies/{study}/forget", {}, this.study.name);
    await this.renew();
    return "Your changes are discarded.";
  }

  private async renew(version?: number): Promise<void> {
    this.files = await get("/lab/api/studies/{study}/files", this.study.name);
    this.base = version ?? this.files.version;
    this.edits = {};
    this.why.value = "";
    this.meanwhile.replaceChildren();
    this.showFiles();
    await this.check();
    await this.preview.refresh();
  }

  private async uploaded(upload: HTMLInputElement): Promise<void> {
    const file = upload.files?.[0];
    if (!file) return;
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let binary = "";
      for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
      const made = await change("/lab/api/studies/{study}/pictures", { base: this.base, name: file.name, data: btoa(binary) }, this.study.name);
      this.files = await get("/lab/api/studies/{study}/files", this.study.name);
      this.base = made.version;
      this.showFiles();
      said(`The picture is in the study as ${made.name}.`);
    } catch (error) {
      said(inWords(error));
    }
  }
}
