/** The operator's session: the admin token is in this page's memory alone, and goes to no address but our API's. */
import { computed, signal } from "@preact/signals";
import { type Client, ConnectionError, createClient, hasCode } from "../../../client/index.ts";
import { reasonOf } from "../../parts/shown.tsx";

/** `admin` calls with the token. `reason` says why a session was refused or has ended. */
export type Session =
  | { readonly state: "closed"; readonly reason: string | undefined }
  | { readonly state: "open"; readonly admin: Client };

/** A call that takes longer than this has failed, in ms. */
const TIMEOUT_MS = 10_000;
/** What a header can carry: anything else would fail as if the network did. */
const TOKEN = /^[\x21-\x7e]+$/;

const current = signal<Session>({ state: "closed", reason: undefined });
export const session = computed(() => current.value);

/** Why the operator's calls are refused, for people. */
export function refusalOf(error: unknown): string {
  if (hasCode(error, "unauthenticated")) return "The admin token is wrong.";
  if (hasCode(error, "forbidden"))
    return "The admin API is off: the service has its default token, which is for local chains only. Set ADMIN_TOKEN on the server and start the API again.";
  if (hasCode(error, "rate_limit"))
    return `Too many wrong tokens: every token is refused for ${error.retryAfterSeconds ?? 60} seconds.`;
  // The API's own absence has a cause, another's answer has none.
  if (error instanceof ConnectionError && error.cause === undefined)
    return `A proxy answered in place of the API: it may let the operator’s calls come from inside only. ${error.message}`;
  if (error instanceof ConnectionError) return "The API does not answer. Try again in a moment.";
  return reasonOf(error);
}

/** Whether the token is not, or no longer, accepted. */
export const isShut = (error: unknown): boolean => hasCode(error, "unauthenticated", "forbidden");

/** Tries a token, and opens the session when the API accepts it; else `reason` says why not. */
export async function open(token: string): Promise<void> {
  if (!TOKEN.test(token)) {
    close("A token has letters, digits and signs, and no space.");
    return;
  }
  const admin = createClient({ baseUrl: "", timeoutMs: TIMEOUT_MS, headers: { "x-admin-token": token } });
  try {
    await admin.get("/api/v1/admin/stops", { query: { limit: 1 } });
    current.value = { state: "open", admin };
  } catch (error) {
    close(refusalOf(error));
  }
}

/** Ends the session and forgets the token. */
export function close(reason?: string): void {
  current.value = { state: "closed", reason };
}
