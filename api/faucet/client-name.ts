import type { Address } from "viem";

/**
 * The name under which the faucet limits a client. The database grants one claim per name in 24 hours, so a limit of
 * `limit` claims gives the client as many names. A wallet always gets the same one: a repeated claim must find the first.
 * Two wallets can share a name, so a client may get fewer grants than `limit`, and never more.
 */
export const faucetClient = (client: string, wallet: Address, limit = 1): string =>
  limit === 1 ? client : `${client}#${BigInt(wallet) % BigInt(limit)}`;
