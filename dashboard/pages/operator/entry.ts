/** A purchase, permit or transaction of the service in words, with the id that `npm run ledger -- show` takes. */
export const entryText = (id: string | null, purpose: string | null): string =>
  id === null ? "–" : `${(purpose ?? "purchase").replaceAll("_", " ")} ${id}`;
