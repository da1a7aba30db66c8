/** What a bare server sends. */
import { z } from "zod";

export const bareAnswer = z.object({ headers: z.record(z.string(), z.string()), body: z.string() });
export type BareAnswer = z.output<typeof bareAnswer>;

/** An answer of the body alone. */
export const withoutHeaders = (body: string): BareAnswer => ({
  headers: { "content-type": "application/json" },
  body,
});

/** Headers that each server writes by itself. */
const OWN = new Set(["connection", "content-length", "date", "keep-alive"]);

/** The answer that a server gives to a GET request. */
export async function answerOf(url: string): Promise<BareAnswer> {
  const answer = await fetch(url);
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !OWN.has(name)));
  return { headers, body: await answer.text() };
}
