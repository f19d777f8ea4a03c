/** The ways in: a name and a password, or an invitation. */

import type { Invited } from "../../api";
import { el } from "../../researcher/elements";
import { field, form, input } from "../forms";
import { change, enter, inWords, LAB, whoIsHere } from "../laboratory-api";

const OF = { viewer: "look at", helper: "help with", owner: "lead" } as const;

/** Shows the form for this address. */
export async function showEntrance(into: HTMLElement): Promise<void> {
  const invitation = location.hash.slice(1);
  if (!location.pathname.endsWith("/join")) {
    into.replaceChildren(loginForm());
    return;
  }
  try {
    const about = await enter("/lab/api/invitation", { invitation });
    const here = await whoIsHere();
    into.replaceChildren(here ? acceptForm(invitation, here.name) : joinForm(invitation, about));
  } catch (error) {
    into.replaceChildren(el("div", "card", el("h1", "", "This invitation does not work"), el("p", "", inWords(error))));
  }
}

function loginForm(): HTMLElement {
  const login = input("text", { autocomplete: "username", required: true, autofocus: true });
  const password = input("password", { autocomplete: "current-password", required: true });
  const send = async (): Promise<void> => {
    await enter("/lab/login", { login: login.value, password: password.value });
    location.assign(LAB);
  };
  const made = form("Log in", send, el("h1", "", "Log in to the laboratory"), field("Name", login), field("Password", password));
  made.classList.add("card");
  return made;
}

function joinForm(invitation: string, about: Invited): HTMLElement {
  const name = input("text", { autocomplete: "name", required: true, maxLength: 100 });
  const login = input("text", { autocomplete: "username", required: true, maxLength: 64 });
  const password = input("password", { autocomplete: "new-password", required: true, minLength: 10 });
  const again = input("password", { autocomplete: "new-password", required: true });
  const send = async (): Promise<void> => {
    if (password.value !== again.value) throw new Error("The two passwords differ.");
    await enter("/lab/join", { invitation, login: login.value, name: name.value, password: password.value });
    location.assign(LAB);
  };
  const what = about.study === null ? "the laboratory and all of its studies" : `the study “${about.study}”`;
  const made = form(
    "Make my account", send,
    el("h1", "", about.laboratory),
    el("p", "", `You are invited to ${OF[about.role]} ${what}. (Invited by ${about.made_by}.)`),
    field("Your name", name, "As colleagues see it."),
    field("Name to log in", login, "Lower-case letters and digits, for example your e-mail address."),
    field("Password", password, "At least 10 characters; a few words are easy to remember and hard to guess."),
    field("Password, once more", again),
  );
  const known = el("p", "note", "Do you already have an account here? ");
  const link = el("a", "", "Log in first");
  link.href = `${LAB}/login`;
  known.append(link, ", then open this link again.");
  made.append(known);
  made.classList.add("card");
  return made;
}

/** Whoever is logged in already keeps their account. */
function acceptForm(invitation: string, name: string): HTMLElement {
  const send = async (): Promise<void> => {
    await change("/lab/api/accept", { invitation });
    location.assign(LAB);
  };
  const made = form(`Accept as ${name}`, send, el("h1", "", "Accept the invitation"), el("p", "", `You are logged in as ${name}.`));
  made.classList.add("card");
  return made;
}
