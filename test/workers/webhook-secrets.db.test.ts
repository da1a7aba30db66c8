/** What this proves: a secret opens for its own wallet alone, and a wrong key costs neither attempts nor repeated claims. */
import { pino } from "pino";
import { expect, test } from "vitest";
import { DEV_SECRETS_KEY } from "../../lib/off-local.ts";
import { createSealer, newSecret } from "../../lib/webhooks/secrets.ts";
import { createSecretCache } from "../../workers/webhooks/secret-cache.ts";
import { startReceivers } from "../support/receiver.ts";
import { all, openDeliveries, WALLET } from "./support/deliveries.ts";

test("a cached secret does not open for another wallet", () => {
  const sealer = createSealer(DEV_SECRETS_KEY);
  const openSecrets = createSecretCache(sealer);
  const sealed = sealer.seal(newSecret(), WALLET);
  const subscription = { wallet: WALLET, secret: sealed, previousSecret: null };
  expect(openSecrets(subscription).secret).toBe(openSecrets(subscription).secret);
  expect(() => openSecrets({ ...subscription, wallet: `${WALLET.slice(0, -1)}b` })).toThrow();
});

test("after the loss of the key a rotated secret signs alone, for the previous one cannot be opened", () => {
  const [lost, present] = [createSealer("ab".repeat(32)), createSealer(DEV_SECRETS_KEY)];
  const [before, rotated] = [lost.seal(newSecret(), WALLET), present.seal(newSecret(), WALLET)];
  const openSecrets = createSecretCache(present);
  const opened = openSecrets({ wallet: WALLET, secret: rotated, previousSecret: before });
  expect(opened).toEqual({ secret: expect.anything(), previousSecret: undefined });
  expect(() => openSecrets({ wallet: WALLET, secret: before, previousSecret: rotated })).toThrow();
});

test("a subscription with a secret that cannot be opened waits until its lease expires, also when woken", async () => {
  const world = await openDeliveries();
  const receivers = await startReceivers();
  const receiver = receivers.at("waits");
  const { id } = await world.subscribe(receiver.url);
  await world.publish([id]);
  const wrongKey = "ab".repeat(32);
  // The wrong key opens the secret of this subscription.
  const fitting = await world.subscribe(receivers.at("fits").url);
  await world.sql`
    update service.webhook set secret = ${createSealer(wrongKey).seal(fitting.secret, WALLET)} where id = ${fitting.id}`;
  const lines: string[] = [];
  const wrong = await world.start({
    config: { SECRETS_KEY: wrongKey },
    log: pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }),
  });
  const failed = () => lines.filter((line) => line.includes("a batch of deliveries failed")).length;
  wrong.wake([id]);
  await expect.poll(failed).toBe(1);
  for (let n = 0; n < 20; n += 1) {
    await world.publish([fitting.id]);
    wrong.wake([id, fitting.id]);
    await world.until(fitting.id, "the other subscription's delivery", all("delivered"));
  }
  expect(failed()).toBe(1);
  expect(receiver.requests).toEqual([]);
  expect(await world.deliveries(id)).toMatchObject([
    { state: "pending", failures: 0, takenAt: null, attempts: [] },
  ]);
  await wrong.stop();

  await world.sql`update service.webhook set lease_until = now() - interval '1 s' where id = ${id}`;
  const right = await world.start();
  right.wake([id]);
  await world.until(id, "the delivery", all("delivered"));
  await right.stop();
});
