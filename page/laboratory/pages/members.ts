/** Who may do what: in the laboratory or in one study. */

import type { Me, Members, Role } from "../../api";
import { day, el } from "../../researcher/elements";
import { confirmed, field, form, headOf, input, select } from "../forms";
import { change, get, LAB } from "../laboratory-api";
import { action, said } from "../said";

export const ROLES: Record<Role, string> = {
  owner: "Owner", helper: "Helper", viewer: "Viewer",
};
const EXPLAINED: Record<Role, string> = {
  owner: "may do everything: also pay, delete people’s data, and invite others",
  helper: "edits, opens and closes studies, runs pilots and downloads data, but never sees platform IDs or payment files",
  viewer: "looks, and changes nothing",
};
const CHOICES = [["viewer", "Viewer"], ["helper", "Helper"], ["owner", "Owner"]] as const;

export async function membersPage(who: Me): Promise<{ title: string; content: Node[] }> {
  const heading = el("h1", "", "People");
  heading.tabIndex = -1;
  const about = el("p", "", "Everyone with an account. A role here counts in every study; roles in a single study are given on its own page.");
  return { title: "People", content: [heading, about, await members(who, "")] };
}

/** The lists of members and invitations, and the form to invite, of a study or ("") of the laboratory. */
export async function members(who: Me, study: string): Promise<HTMLElement> {
  const box = el("div", "stack");
  const show = async (): Promise<void> => {
    const found = study ? await get("/lab/api/studies/{study}/members", study) : await get("/lab/api/members");
    box.replaceChildren(table(found, who, study, show), invitations(found, study, show), inviting(study, show), explained());
  };
  await show();
  return box;
}

function table(found: Members, who: Me, study: string, show: () => Promise<void>): HTMLElement {
  const rows = found.members.map((each) => {
    const role = select([["", study ? "none here" : "none"], ...CHOICES] as const, each.role ?? "");
    role.setAttribute("aria-label", `Role of ${each.name}`);
    role.addEventListener("change", () => void give(role, each.number, each.name, study, show));
    const everywhere = study && each.in_laboratory ? el("span", "note", ` ${each.in_laboratory} in the laboratory`) : "";
    const remove = study || each.number === who.number ? [] : [action("Remove account", () => removed(each.number, each.name, show), "danger")];
    return el("tr", "", el("th", "", each.name, el("span", "note", ` ${each.login}`)), el("td", "", role, everywhere), el("td", "number", ...remove));
  });
  for (const row of rows) row.cells[0]?.setAttribute("scope", "row");
  return el("section", "card", el("h2", "", study ? "Who works on this study" : "Accounts"), el("table", "list", headOf(["Name", "Role", ""]), el("tbody", "", ...rows)));
}

async function give(role: HTMLSelectElement, number: number, name: string, study: string, show: () => Promise<void>): Promise<void> {
  const asked = { role: (role.value || null) as Role | null };
  try {
    if (study) await change("/lab/api/studies/{study}/members/{number}/role", asked, study, number);
    else await change("/lab/api/members/{number}/role", asked, number);
    said(`${name}: ${role.value || "no role"}.`);
  } catch (error) {
    said(error instanceof Error ? error.message : String(error));
  }
  await show();
}

async function removed(number: number, name: string, show: () => Promise<void>): Promise<string | void> {
  const sure = await confirmed(`Remove the account of ${name}?`, "Their sessions end at once and they can no longer log in. What they did stays in the history.", "Remove account");
  if (!sure) return;
  await change("/lab/api/members/{number}/remove", {}, number);
  await show();
  return `${name} can no longer log in.`;
}

function invitations(found: Members, study: string, show: () => Promise<void>): HTMLElement {
  if (!found.invitations.length) return el("div");
  const rows = found.invitations.map((each) => {
    const revoke = action("Take back", async () => {
      if (study) await change("/lab/api/studies/{study}/invitations/{number}/revoke", {}, study, each.number);
      else await change("/lab/api/invitations/{number}/revoke", {}, each.number);
      await show();
      return "The invitation no longer works.";
    });
    return el("tr", "", el("td", "", each.for_whom || "somebody"), el("td", "", ROLES[each.role]), el("td", "", `until ${day(each.ends_at)}`), el("td", "number", revoke));
  });
  return el("section", "card", el("h2", "", "Invitations that nobody has used"), el("table", "list", headOf(["For", "Role", "Works", ""]), el("tbody", "", ...rows)));
}

function inviting(study: string, show: () => Promise<void>): HTMLElement {
  const whom = input("text", { maxLength: 100 });
  const role = select(CHOICES, "helper");
  const link = el("div", "link-made");
  const send = async (): Promise<void> => {
    const asked = { role: role.value as Role, for_whom: whom.value };
    const made = study ? await change("/lab/api/studies/{study}/invitations", asked, study) : await change("/lab/api/invitations", asked);
    const address = new URL(`${LAB}/join#${made.invitation}`, location.href).href;
    const text = input("text", { value: address, readOnly: true });
    text.addEventListener("focus", () => text.select());
    const copy = action("Copy", async () => {
      await navigator.clipboard.writeText(address);
      return "The link is copied.";
    });
    await show();
    document.querySelector(".link-made")?.replaceChildren(
      field(`Send this link${whom.value ? ` to ${whom.value}` : ""}`, text, "It works once, for a week, and is not shown again."), copy,
    );
  };
  const made = form("Make an invitation link", send, field("For whom (your note)", whom), field("Role", role));
  made.classList.add("row");
  return el("section", "card", el("h2", "", "Invite somebody"), made, link);
}

function explained(): HTMLElement {
  const rows = (["viewer", "helper", "owner"] as const).flatMap((role) => [el("dt", "", ROLES[role]), el("dd", "", EXPLAINED[role])]);
  return el("section", "card", el("h2", "", "What the roles mean"), el("dl", "facts", ...rows));
}
