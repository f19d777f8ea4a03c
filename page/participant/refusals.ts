/** What went wrong, in the study's language: the server's own sentences are in English and for whoever looks into it. */

import { ServerError } from "./participant-api";
import type { PageLabel, Texts } from "./texts";

/** The sentences for the server's words; a request that came before the study was open has a link that is wrong. */
const SENTENCES: Record<string, PageLabel> = {
  "no-token": "refused_unknown", "not-now": "refused_step", "out-of-order": "refused_step", "not-a-pilot": "refused_link",
};

/** Before the study's own texts have come, in the languages of its templates. */
const BEFORE_TEXTS = {
  en: { not_loaded: "The study could not be loaded. Please load the page again.", offline: "No connection. Trying again…" },
  de: { not_loaded: "Die Studie konnte nicht geladen werden. Bitte laden Sie die Seite neu.", offline: "Keine Verbindung. Wir versuchen es weiter …" },
  es: { not_loaded: "No se ha podido cargar el estudio. Vuelva a cargar la página, por favor.", offline: "Sin conexión. Lo intentamos de nuevo…" },
  fr: { not_loaded: "L’étude n’a pas pu être chargée. Veuillez recharger la page.", offline: "Pas de connexion. Nous réessayons…" },
} as const;

/** A sentence for the person, and the server's word for it; `arriving` says that the page has not been let in yet. */
export function whatHappened(texts: Texts, error: unknown, arriving = false): string {
  if (!(error instanceof ServerError)) return error instanceof Error ? error.message : String(error);
  const label = SENTENCES[error.word] ?? (arriving && error.word === "invalid" ? "refused_link" : "refused_other");
  return `${texts.label(label)} (${error.status} ${error.word})`;
}

/** A sentence in the first of the browser's languages that we know. */
export function beforeTexts(name: "not_loaded" | "offline", languages: readonly string[] = navigator.languages): string {
  const known = languages.map((language) => language.slice(0, 2).toLowerCase()).find((language) => language in BEFORE_TEXTS);
  return BEFORE_TEXTS[(known ?? "en") as keyof typeof BEFORE_TEXTS][name];
}

/** Whether the server answered that there are too many people just now, rather than not at all. */
export function isBusy(error: unknown): boolean {
  return error instanceof ServerError && (error.status === 429 || error.word === "busy");
}
