/** The laboratory's page: which screen the address asks for, and what all screens share. */

import type { Me } from "../api";
import { byId, el, setText } from "../researcher/elements";
import { inWords, logout, me } from "./laboratory-api";
import { accountPage } from "./pages/account";
import { showEntrance } from "./pages/enter";
import { homePage } from "./pages/home";
import { membersPage } from "./pages/members";
import { newStudyPage } from "./pages/new-study";
import { studyPage } from "./pages/study";

/** A screen, for the parts of the address behind its name. */
export type Screen = (who: Me, ...parts: string[]) => Promise<{ title: string; content: Node[]; leave?: () => void }>;

const SCREENS: Record<string, Screen> = {
  "": homePage, new: newStudyPage, people: membersPage, account: accountPage, study: studyPage,
};

class Lab {
  private who: Me | null = null;
  private asked = 0;
  private leave: () => void = () => undefined;

  async start(): Promise<void> {
    byId("logout").addEventListener("click", () => void logout().catch((error: unknown) => tell(inWords(error))));
    window.addEventListener("hashchange", () => void this.show());
    try {
      this.who = await me();
    } catch (error) {
      tell(inWords(error));
      return;
    }
    setText(byId("title"), this.who.laboratory);
    setText(byId("me"), this.who.name);
    byId("nav").replaceChildren(...this.links(this.who));
    await this.show();
  }

  private links(who: Me): Node[] {
    const link = (to: string, text: string): HTMLElement => Object.assign(el("a", "", text), { href: `#/${to}` });
    return [link("", "Studies"), ...(who.rights.includes("lead") ? [link("people", "People")] : [])];
  }

  /** Shows what the address asks for; an answer that comes after the next question is dropped. */
  private async show(): Promise<void> {
    if (!this.who) return;
    const [name = "", ...parts] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
    const number = (this.asked += 1);
    this.leave();
    this.leave = () => undefined;
    tell("");
    try {
      const shown = await (SCREENS[name] ?? homePage)(this.who, ...parts);
      if (number !== this.asked) {
        shown.leave?.();
        return;
      }
      this.leave = shown.leave ?? this.leave;
      document.title = `${shown.title} – ${this.who.laboratory}`;
      byId("page").replaceChildren(...shown.content);
      for (const each of byId("nav").querySelectorAll("a")) {
        if (each.getAttribute("href") === `#/${name}`) each.setAttribute("aria-current", "page");
        else each.removeAttribute("aria-current");
      }
      byId("page").querySelector<HTMLElement>("h1")?.focus();
    } catch (error) {
      tell(inWords(error));
    }
  }
}

/** A sentence at the top of the page; none hides the box. */
function tell(sentence: string): void {
  setText(byId("trouble"), sentence);
  byId("trouble").hidden = sentence === "";
}

const entrance = document.getElementById("enter");
if (entrance) void showEntrance(entrance);
else void new Lab().start();
