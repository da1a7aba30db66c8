/**
 * Webhooks end to end: real processes index mined events, write them to the outbox and deliver them. Deliveries a second are compared
 * with a bare undici loop that posts the same bodies to the same receiver with the same concurrency, in turn. Every subscription
 * receives every burn: ten burns make ten thousand deliveries to a thousand subscriptions.
 */
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Address } from "viem";
import { z } from "zod";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { protocolTokenAbi } from "../abis/ProtocolToken.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { DEV_SECRETS_KEY } from "../lib/off-local.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import type { EventType } from "../lib/webhooks/events.ts";
import { createSealer, newSecret } from "../lib/webhooks/secrets.ts";
import { freePort } from "../scripts/local/ports.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { HOST_CONCURRENCY } from "../workers/webhooks/dispatcher.ts";
import { PRODUCT } from "./buyers.ts";
import { call, type Miner, takeOverMining } from "./miner.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { atEnd, type BenchStack, startProgram, withBenchStack } from "./stack.ts";

const ROUNDS = 3;
const SUBSCRIPTIONS = 1000;
/** Burns in each measured block. */
const BURNS = 10;
const PURCHASES = 100;
const OF_BARE = 0.3;
const DELIVERED_WITHIN_MS = 150;
/** Ponder counts the newest blocks as not final yet; events in older ones are read once. */
const UNFINALISED_BLOCKS = 32;

type Stack = BenchStack & { readonly miner: Miner };

/** Replaces all subscriptions by new ones of this wallet, one per URL. */
async function subscribe(
  { sql, miner, chain }: Stack,
  urls: readonly string[],
  address: Address,
  event: EventType,
): Promise<void> {
  const sealer = createSealer(DEV_SECRETS_KEY);
  const wallet = address.toLowerCase();
  const { chainId } = chain.deployment;
  const rows = urls.map((url) => ({ url, secret: sealer.seal(newSecret(), wallet) }));
  await sql`delete from service.webhook`;
  await sql`
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
    select ${chainId}, ${wallet}, r.url, array[${event}::text], r.secret, ${String(await miner.newest())}::bigint,
      coalesce((select processed_block from service.outbox where chain_id = ${chainId}), -1),
      (select coalesce(max(seq), 0) from service.event)
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r (url text, secret text)`;
}

/** Milliseconds from mining each purchase to the arrival of its event. */
async function measureLatency(stack: Stack): Promise<Finding[]> {
  const { miner, owner } = stack;
  const { contracts } = stack.chain.deployment;
  const product = entryByName(PRODUCT);
  if (!product) throw new Error(`the catalogue lacks ${PRODUCT}`);
  const buyer = anvilAccount(9);
  await miner.mine([
    call(owner, contracts.usdc, mockUsdcAbi, "mint", buyer.address, 10n ** 12n),
    call(buyer, contracts.usdc, mockUsdcAbi, "approve", contracts.coverRouter, 10n ** 12n),
  ]);
  let arrived: (at: number) => void = () => {};
  const server = createServer((incoming, response) => {
    const at = performance.now();
    incoming.resume().on("end", () => {
      response.end();
      arrived(at);
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await atEnd(() => server.closeAllConnections());
  await subscribe(stack, [`http://127.0.0.1:${port}/`], buyer.address, "policy_purchased");
  const args = [product.productId, MINIMUM_COVERAGE, product.asset] as const;
  const delays: number[] = [];
  for (let n = 0; n < PURCHASES; n += 1) {
    const arrival = new Promise<number>((resolve) => {
      arrived = resolve;
    });
    await miner.mine([call(buyer, contracts.coverRouter, coverRouterAbi, "purchasePolicy", ...args)]);
    const minedAt = performance.now();
    delays.push((await arrival) - minedAt);
    await sleep(Math.random() * 200); // no block keeps step with the indexer's polls
  }
  server.close();
  return [
    { what: "mined to delivered, median", value: median(delays), unit: "ms", atMost: DELIVERED_WITHIN_MS },
    { what: "  99th percentile", value: percentile(delays, 99), unit: "ms" },
  ];
}

/** As long as the headers of real deliveries. */
const headers = {
  "content-type": "application/json",
  "user-agent": "bare-loop/1.0",
  "webhook-id": `evt_${"0".repeat(32)}`,
  "webhook-timestamp": "1700000000",
  "webhook-signature": `v1,${"A".repeat(43)}=`,
  "x-service-signature": "0".repeat(64),
};

/** Posts every body to every URL, with as many requests at a time as the writer makes to a host, and reads each response. */
async function postBare(urls: readonly string[], bodies: readonly string[]): Promise<void> {
  const dispatcher = new Agent({ connections: HOST_CONCURRENCY.regular, pipelining: 1 });
  let next = 0;
  const client = async () => {
    for (;;) {
      const n = next;
      next += 1;
      const [url = "", body] = [urls[n % urls.length], bodies[Math.floor(n / urls.length)]];
      if (body === undefined) return;
      const answer = await request(url, { method: "POST", headers, body, dispatcher });
      await answer.body.text();
    }
  };
  await Promise.all(Array.from({ length: HOST_CONCURRENCY.regular }, client));
  await dispatcher.close();
}

const countsShape = z.object({ total: z.number(), first: z.number(), last: z.number() });

/** Deliveries a second, from the first arrival to the last. */
async function measureRate(stack: Stack): Promise<Finding[]> {
  const { miner, owner, sql } = stack;
  const { protocolToken } = stack.chain.deployment.contracts;
  const port = await freePort();
  await startProgram(stack, "webhook-receiver.ts", [String(port)]);
  const receiver = `http://127.0.0.1:${port}`;
  const urls = Array.from({ length: SUBSCRIPTIONS }, (_, n) => `${receiver}/${n}`);
  const ask = async (path: string) => (await fetch(`${receiver}${path}`)).text();
  const arrived = () =>
    waitFor({
      what: "all deliveries",
      probe: async () => {
        const counts = countsShape.parse(JSON.parse(await ask("/counts")));
        return counts.total >= BURNS * SUBSCRIPTIONS ? counts : undefined;
      },
      timeoutMs: 300_000,
    });
  const rateOf = ({ total, first, last }: z.output<typeof countsShape>) => (1000 * total) / (last - first);
  await subscribe(stack, urls, owner.address, "token_burned");
  const [bare, ours]: [number[], number[]] = [[], []];
  // The first round warms both up and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await waitFor({ what: "the receiver", probe: () => ask("/reset").then(() => true) });
    const burns = Array.from({ length: BURNS }, (_, n) =>
      call(owner, protocolToken, protocolTokenAbi, "burn", BigInt(n + 1)),
    );
    await miner.mine(burns);
    const delivered = rateOf(await arrived());
    await waitFor({
      what: "all deliveries to be recorded",
      probe: async () =>
        (await sql`select 1 from service.delivery where state = 'pending' limit 1`).length === 0 || undefined,
    });
    const rows = await sql<
      { body: string }[]
    >`select body from service.event order by seq desc limit ${BURNS}`;
    await ask("/reset");
    await postBare(
      urls,
      rows.map(({ body }) => body),
    );
    if (round > 0) {
      ours.push(delivered);
      bare.push(rateOf(await arrived()));
    }
  }
  return [
    { what: "deliveries, of a bare loop", value: median(ours) / median(bare), unit: "", atLeast: OF_BARE },
    { what: `  to ${SUBSCRIPTIONS} subscriptions, ${BURNS} events each`, value: median(ours), unit: "/s" },
    { what: "  a bare loop that posts the same bodies", value: median(bare), unit: "/s" },
  ];
}

export const benchWebhooks = (): Promise<void> =>
  withBenchStack({}, async (bench) => {
    const miner = await takeOverMining(bench.protocol);
    for (let block = 0; block < UNFINALISED_BLOCKS; block += 1) await miner.mine([]);
    await bench.startServices(["indexer", "writer"], { rpcWsUrl: bench.chain.wsUrl });
    const stack = { ...bench, miner };
    const findings = [...(await measureLatency(stack)), ...(await measureRate(stack))];
    report(`webhooks: ${PURCHASES} purchases, medians of ${ROUNDS} rounds of deliveries`, findings);
  });
