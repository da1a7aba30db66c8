/** CPU of a program per call: with the client, and with bare `fetch`, against a bare server that answers from memory. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCoverClient } from "../client/index.ts";
import { projectRoot } from "../lib/project-root.ts";
import { freePort } from "../scripts/local/ports.ts";
import { startProcess } from "../scripts/local/processes.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { withoutHeaders } from "./bare-answer.ts";
import { median, report } from "./report.ts";

const ROUNDS = 9;
const CALLS = 400;
/** The client's CPU per call must not exceed this multiple of bare `fetch`. */
const OF_FETCH = 1.3;

const policy = {
  productId: `0x${"e8".repeat(32)}`,
  policyId: "1",
  shield: "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE",
  buyer: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  holder: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  coverageAmount: "1000000000",
  payoutAmount: "800000000",
  premiumPaid: "2920000",
  createdAt: "1767225600",
  expiresAt: "1767229200",
  status: "Active",
  triggered: false,
  expired: false,
  productName: "FLASHBTC1H-001",
  purchasedAt: "1767225600",
  waitingEndsAt: null,
  productActive: true,
  priceSnapshot: "100000000000000000",
  triggeredAt: null,
  bondId: null,
};
const key = { productId: policy.productId, policyId: 1n };

/** Microseconds of CPU per call. */
async function cpuOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < CALLS; count += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

async function withBareServer(use: (url: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-client-"));
  const body = join(folder, "body.json");
  writeFileSync(body, JSON.stringify(withoutHeaders(JSON.stringify(policy))));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await startProcess({
    name: "bare server",
    command: process.execPath,
    args: ["--import", "tsx", join("bench", "bare-server.ts"), String(port), body],
    cwd: projectRoot,
    env: { PATH: process.env.PATH },
    logFile: join(folder, "server.log"),
  });
  try {
    await waitFor({
      what: "the bare server",
      probe: () =>
        fetch(url).then(
          ({ ok }) => ok || undefined,
          () => undefined,
        ),
    });
    await use(url);
  } finally {
    await server.stop({ signal: "SIGKILL" });
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function benchClient(): Promise<void> {
  await withBareServer(async (url) => {
    const cover = createCoverClient({ baseUrl: url, apiKey: `lk_${"0".repeat(64)}` });
    const path = `/policies/${key.productId}/${key.policyId}`;
    const headers = { "x-api-key": `lk_${"0".repeat(64)}` };
    const ways = {
      fetch: async () => (await fetch(url + path, { headers })).json(),
      client: () => cover.policies.get(key),
    };
    const figures: Record<keyof typeof ways, number[]> = { fetch: [], client: [] };
    await cpuOf(ways.fetch);
    await cpuOf(ways.client);
    // In turn: the machine is not equally fast all the time.
    for (let round = 0; round < ROUNDS; round += 1) {
      figures.fetch.push(await cpuOf(ways.fetch));
      figures.client.push(await cpuOf(ways.client));
    }
    const bare = median(figures.fetch);
    report(`client: ${ROUNDS} rounds of ${CALLS} calls for a policy`, [
      { what: "CPU per call with bare fetch", value: bare, unit: "µs" },
      {
        what: "CPU per call with the client",
        value: median(figures.client),
        unit: "µs",
        compared: { with: bare, most: OF_FETCH },
      },
    ]);
  });
}
