/** One's own account: the password, and where one is logged in. */

import type { Me } from "../../api";
import { day, el } from "../../researcher/elements";
import { field, form, headOf, input } from "../forms";
import { change, get } from "../laboratory-api";
import { action, said } from "../said";

export async function accountPage(who: Me): Promise<{ title: string; content: Node[] }> {
  const heading = el("h1", "", who.name);
  heading.tabIndex = -1;
  const about = el("p", "note", `You log in as ${who.login}${who.role ? ` and are ${who.role} of the whole laboratory` : ""}.`);
  return { title: who.name, content: [heading, about, passwordForm(), await sessions()] };
}

function passwordForm(): HTMLElement {
  const [before, fresh, again] = [
    input("password", { autocomplete: "current-password", required: true }),
    input("password", { autocomplete: "new-password", required: true, minLength: 10 }),
    input("password", { autocomplete: "new-password", required: true }),
  ];
  const send = async (): Promise<void> => {
    if (fresh.value !== again.value) throw new Error("The two new passwords differ.");
    await change("/lab/api/password", { password: before.value, new: fresh.value });
    for (const each of [before, fresh, again]) each.value = "";
    said("The password is changed. You are logged out everywhere else.");
  };
  const made = form(
    "Change password", send, field("Password now", before), field("New password", fresh, "At least 10 characters."),
    field("New password, once more", again),
  );
  return el("section", "card", el("h2", "", "Password"), made);
}

async function sessions(): Promise<HTMLElement> {
  const body = el("tbody");
  const show = async (): Promise<void> => {
    const { sessions: found } = await get("/lab/api/sessions");
    body.replaceChildren(...found.map((each) => {
      const end = each.is_this ? el("span", "note", "this one") : action("Log out there", async () => {
        await change("/lab/api/sessions/{number}/end", {}, each.number);
        await show();
        return "That session has ended.";
      });
      return el("tr", "", el("td", "", browserName(each.browser)), el("td", "", day(each.seen_at)), el("td", "number", end));
    }));
  };
  await show();
  return el("section", "card", el("h2", "", "Where you are logged in"), el("table", "list", headOf(["Browser", "Last used", ""]), body));
}

/** The browser's name and system, out of what it says of itself. */
function browserName(told: string): string {
  const name = /(Firefox|Edg|Chrome|Safari)\/[\d]+/.exec(told)?.[1]?.replace("Edg", "Edge") ?? "Unknown browser";
  const system = /\((?:X11; )?(Windows|Macintosh|Linux|Android|iPhone|iPad)/.exec(told)?.[1];
  return system ? `${name} on ${system === "Macintosh" ? "Mac" : system}` : name;
}
