/** What this proves: a secret is its own wallet's, and a key that does not fit costs neither attempts nor the writer's time. */
import { pino } from "pino";
import { expect, test } from "vitest";
import { DEV_SECRETS_KEY } from "../../lib/config.ts";
import { createSealer, newSecret } from "../../lib/webhooks/secrets.ts";
import { createSecrets } from "../../workers/webhooks/turn.ts";
import { startReceivers } from "../support/receiver.ts";
import { all, openDeliveries, WALLET } from "./support/deliveries.ts";

test("what was sealed for one wallet is not opened for another, though it was met before", () => {
  const sealer = createSealer(DEV_SECRETS_KEY);
  const secretsOf = createSecrets(sealer);
  const sealed = sealer.seal(newSecret(), WALLET);
  const turn = { wallet: WALLET, secret: sealed, previousSecret: null };
  expect(secretsOf(turn).secret).toBe(secretsOf(turn).secret);
  expect(() => secretsOf({ ...turn, wallet: `${WALLET.slice(0, -1)}b` })).toThrow();
});

test("a subscription whose secret cannot be opened rests until its lease lapses, however often it is woken", async () => {
  const world = await openDeliveries();
  const receivers = await startReceivers();
  const receiver = receivers.at("rests");
  const { id } = await world.subscribe(receiver.url);
  await world.publish([id]);
  const wrongKey = "ab".repeat(32);
  // The secret of this one the wrong key opens.
  const fitting = await world.subscribe(receivers.at("fits").url);
  await world.sql`
    update service.webhook set secret = ${createSealer(wrongKey).seal(fitting.secret, WALLET)} where id = ${fitting.id}`;
  const lines: string[] = [];
  const wrong = await world.start({
    config: {
      DATABASE_URL: world.databaseUrl,
      REDIS_URL: undefined,
      SECRETS_KEY: wrongKey,
      WEBHOOK_CONCURRENCY: 10,
    },
    log: pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }),
  });
  const failed = () => lines.filter((line) => line.includes("a turn of deliveries failed")).length;
  wrong.wake([id]);
  await expect.poll(failed).toBe(1);
  for (let n = 0; n < 20; n += 1) {
    await world.publish([fitting.id]);
    wrong.wake([id, fitting.id]);
    await world.until(fitting.id, "the other's turn", all("delivered"));
  }
  expect(failed()).toBe(1);
  expect(receiver.requests).toEqual([]);
  expect(await world.deliveries(id)).toMatchObject([{ state: "pending", failures: 0, takenAt: null }]);
  await wrong.stop();

  await world.sql`update service.webhook set lease_until = now() - interval '1 s' where id = ${id}`;
  const right = await world.start();
  right.wake([id]);
  await world.until(id, "it to be delivered", all("delivered"));
  await right.stop();
});
