/** API keys of the demo's wallets. */
import type { Address } from "viem";
import { z } from "zod";
import type { Api } from "./api-client.ts";

/** The header of a key. */
export type Auth = { readonly "x-api-key": string };

const issued = z.object({ keyId: z.int(), apiKey: z.string() });
const revoked = z.object({ ok: z.literal(true) });

/** Gives a wallet a key while `use` runs, and revokes it then: a wallet has at most three. */
export async function withKey<T>(
  { call }: Api,
  adminToken: string,
  wallet: Address,
  use: (auth: Auth) => Promise<T>,
): Promise<T> {
  const { keyId, apiKey } = await call("/api/v1/keys/generate", issued, {
    method: "POST",
    headers: { "x-admin-token": adminToken },
    body: { wallet, label: "demo" },
  });
  const auth = { "x-api-key": apiKey };
  try {
    return await use(auth);
  } finally {
    await call(`/api/v1/agent/keys/${keyId}`, revoked, { method: "DELETE", headers: auth });
  }
}
