/** `npm run demo` as a newcomer types it, against a stack of its own. */
import { expect, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { devSettings, startDev } from "../support/dev-stack.ts";
import { http } from "../support/http.ts";

const typeDemo = (env: Readonly<Record<string, string>>) =>
  runCommand(["scripts/run.mjs", "scripts/demo.ts"], { ADMIN_TOKEN: "", ...env });

/** The prices that BTC fell and rose to. */
const pricesIn = (said: string) =>
  [...said.matchAll(/⛓ BTC (?:falls|rises) to ([\d.]+) USD/g)].map(([, price]) => price);

test("npm run demo buys, is paid by the keeper and sells, tries the testnet, and can be repeated", async () => {
  const settings = await devSettings();
  const local = (port: string | undefined) => `http://127.0.0.1:${port}`;
  const { PORT, ANVIL_PORT, TESTNET_ANVIL_PORT } = settings.env;
  // The limits of production: the dev stack's own are higher.
  const run = startDev(settings, [], { SANDBOX_RATE_LIMIT: "10", FAUCET_CLIENT_LIMIT: "1" });
  await run.ready();
  const env = {
    API_URL: local(PORT),
    RPC_URL: local(ANVIL_PORT),
    TESTNET_RPC_URL: local(TESTNET_ANVIL_PORT),
  };

  const prices: unknown[] = [];
  for (const time of ["first", "second"]) {
    const { code, said } = await typeDemo(env);
    expect(code, `${time}:\n${said}`).toBe(0);
    expect(said).toMatch(/✓ 0x[0-9a-fA-F]{40} is covered by policy \d+ of FLASHBTC24-001/);
    expect(said).toMatch(
      /⛓ block \d+, 0x[0-9a-f]{64}: the keeper 0x[0-9a-f]{40} observes policy \d+ for the third time/,
    );
    expect(said).toMatch(/⛓ 0x[0-9a-fA-F]{40} has 800 bonds of \d{6} \(0 before\)/);
    expect(said).toMatch(/✓ 800 bonds of \d{6} are sold: 0x[0-9a-fA-F]{40} has them now\./);
    // Three rounds of the fall, and the one that restores the price.
    expect(pricesIn(said)).toHaveLength(4);
    prices.push(pricesIn(said));
    expect(said).toMatch(/⛓ the testnet has policy \d+ of 0x/);
    expect(said).toMatch(
      /⛓ on the testnet the new wallet 0x[0-9a-fA-F]{40} owns 0\.05 ETH and 10000 mock USDC/,
    );
  }

  expect(prices[1], "the price is restored").toEqual(prices[0]);

  // Its testnet calls left this address what it may have.
  const allowed = await http(`${env.API_URL}/sandbox/try`, { method: "POST" });
  expect(allowed.headers.get("x-ratelimit-remaining")).toBe("9");
  const claim = { body: { wallet: `0x${"0d".repeat(20)}` } };
  expect((await http(`${env.API_URL}/api/v1/faucet/claim`, claim)).json).toMatchObject({ success: true });

  run.signal("SIGINT");
  expect((await run.exited).code).toBe(0);
}, 600_000);
