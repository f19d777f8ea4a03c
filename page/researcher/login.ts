/** The login form, sent as JSON like everything else. */

import { ADMIN, login, Refused } from "./researcher-api";
import { byId, el } from "./elements";

export function prepareLogin(form: HTMLFormElement): void {
  const password = byId<HTMLInputElement>("password");
  const submit = form.querySelector("button");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (submit) submit.disabled = true;
    login(password.value)
      .then(() => location.assign(ADMIN))
      .catch((error: unknown) => {
        const said = el("p", "", error instanceof Refused ? error.message : "The server does not answer: try again.");
        said.setAttribute("role", "alert");
        byId("login-message").replaceChildren(said);
        password.select();
      })
      .finally(() => {
        if (submit) submit.disabled = false;
      });
  });
}
