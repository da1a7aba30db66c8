/**
 * `npm run prices` keeps the prices of a test network's mock feeds fresh until it is stopped: it repeats the newest ones, because the
 * protocol sells nothing at a price older than an hour. Any wallet may do so; that of `PRICES_PRIVATE_KEY` pays the gas.
 */
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { createReadClient } from "../lib/chain/client.ts";
import { ConfigError } from "../lib/config-error.ts";
import { privateKey, url } from "../lib/config-values.ts";
import { requireDeployment } from "../lib/deployments.ts";
import { errorText } from "../lib/log.ts";
import { keepPricesFresh } from "./dev/price-refresher.ts";

/** Less than half of what the protocol allows, so that a round that fails leaves time for another. */
const EVERY_MS = 25 * 60_000;

const environment = z.object({
  RPC_URL: url("http:", "https:"),
  DEPLOYMENT_FILE: z.string(),
  PRICES_PRIVATE_KEY: privateKey,
});

/** @throws {ConfigError} that names every missing or bad variable */
function readEnvironment(): z.output<typeof environment> {
  // An empty variable counts as unset.
  const present = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ""));
  const { data, error } = environment.safeParse(present);
  if (data) return data;
  throw new ConfigError(
    error.issues.map(({ path, message }) => {
      const name = String(path[0]);
      return `${name} ${present[name] === undefined ? "is required" : message}`;
    }),
  );
}

async function main(): Promise<void> {
  const { RPC_URL, DEPLOYMENT_FILE, PRICES_PRIVATE_KEY } = readEnvironment();
  const deployment = requireDeployment(DEPLOYMENT_FILE);
  const actual = await createReadClient(deployment, RPC_URL).getChainId();
  if (actual !== deployment.chainId)
    throw new ConfigError([
      `RPC_URL serves chain ${actual}, but DEPLOYMENT_FILE describes ${deployment.chainId}`,
    ]);
  const account = privateKeyToAccount(PRICES_PRIVATE_KEY);
  const { feeds, stop } = await keepPricesFresh([{ deployment, url: RPC_URL }], {
    account,
    everyMs: EVERY_MS,
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
  if (feeds.length === 0) {
    await stop();
    throw new ConfigError(["DEPLOYMENT_FILE names no mock feed: nobody but their owners moves these prices"]);
  }
  console.log(`${account.address} refreshes ${feeds.join(", ")} every ${EVERY_MS / 60_000} minutes`);
}

main().catch((error: unknown) => {
  console.error(errorText(error));
  process.exitCode = 1;
});
