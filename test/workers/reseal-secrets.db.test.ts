/**
 * The rotation of SECRETS_KEY. What this proves: while it lasts, both keys' secrets sign deliveries; afterwards the new key alone
 * opens every secret, also those that were replaced meanwhile, and two writers that rotate at once lose none.
 */
import { expect, test } from "vitest";
import { DEV_SECRETS_KEY } from "../../lib/off-local.ts";
import { createSealer, newSecret } from "../../lib/webhooks/secrets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { resealSecrets } from "../../workers/webhooks/reseal-secrets.ts";
import { expectSigned, startReceivers } from "../support/receiver.ts";
import { all, type Deliveries, openDeliveries, WALLET } from "./support/deliveries.ts";

const NEW_KEY = "ab".repeat(32);
const rotation = { SECRETS_KEY: NEW_KEY, SECRETS_KEY_PREVIOUS: DEV_SECRETS_KEY };
const [oldOnly, newOnly, both] = [
  createSealer(DEV_SECRETS_KEY),
  createSealer(NEW_KEY),
  createSealer(NEW_KEY, DEV_SECRETS_KEY),
];

async function stored({ sql }: Deliveries, id: string): Promise<{ secret: string; previous: string | null }> {
  const [row] = await sql<{ secret: string; previous: string | null }[]>`
    select secret, previous_secret as previous from service.webhook where id = ${id}::bigint`;
  if (!row) throw new Error(`no webhook ${id}`);
  return row;
}

/** A rotation by the webhook's owner, as the api stores it. @returns the new secret */
async function replaceSecret({ sql }: Deliveries, id: string, sealer = oldOnly): Promise<string> {
  const secret = newSecret();
  await sql`
    update service.webhook set secret = ${sealer.seal(secret, WALLET)}, previous_secret = secret,
      previous_secret_until = now() + interval '1 day' where id = ${id}::bigint`;
  return secret;
}

const isOpenedBy = (sealed: string, sealer = newOnly): boolean => {
  try {
    sealer.open(sealed, WALLET);
    return true;
  } catch {
    return false;
  }
};

test("either key's secrets sign deliveries, a writer with both seals them with the new one, which then suffices", async () => {
  const world = await openDeliveries();
  const receivers = await startReceivers();
  const receiver = receivers.at("rotated");
  const { id, secret: first } = await world.subscribe(receiver.url);
  const secret = await replaceSecret(world, id);
  await world.publish([id]);
  const rotating = await world.start({ config: rotation });
  rotating.wake([id]);
  await world.until(id, "the delivery", all("delivered"));
  await waitFor({
    what: "the secret to be sealed with the new key",
    probe: async () => isOpenedBy((await stored(world, id)).secret) || undefined,
  });
  await rotating.stop();
  const row = await stored(world, id);
  expect(newOnly.open(row.secret, WALLET)).toBe(secret);
  expect(newOnly.open(row.previous ?? "", WALLET)).toBe(first);
  await world.publish([id]);
  const after = await world.start({ config: { SECRETS_KEY: NEW_KEY } });
  after.wake([id]);
  await world.until(id, "the second delivery", (rows) => rows.length === 2 && all("delivered")(rows));
  for (const request of receiver.requests) expectSigned(request, [secret, first]);
});

test("two writers seal more secrets than a page has, beside owners who replace theirs: none is lost", async () => {
  const world = await openDeliveries();
  const { sql } = world;
  const subscribed: { id: string; secret: string }[] = [];
  for (let n = 0; n < 1100; n += 1) subscribed.push(await world.subscribe(`https://receiver.example/${n}`));
  const secrets = new Map(subscribed.map(({ id, secret }) => [id, secret]));
  const replaced = subscribed.filter((_, n) => n % 50 === 0);
  const replacing = async () => {
    for (const [n, { id }] of replaced.entries())
      secrets.set(id, await replaceSecret(world, id, n % 2 === 0 ? oldOnly : newOnly));
  };
  const [one, other] = await Promise.all([resealSecrets(sql, both), resealSecrets(sql, both), replacing()]);
  expect(one.unopenable + other.unopenable).toBe(0);
  await resealSecrets(sql, both);
  expect(await resealSecrets(sql, both)).toEqual({ resealed: 0, unopenable: 0 });
  const rows = await sql<{ id: string; secret: string; previous: string | null }[]>`
    select id::text, secret, previous_secret as previous from service.webhook`;
  for (const { id, secret, previous } of rows) {
    expect(newOnly.open(secret, WALLET)).toBe(secrets.get(id));
    if (previous !== null) expect(isOpenedBy(previous)).toBe(true);
  }
});

test("a secret that neither key opens is counted and left as it is, and holds up no other", async () => {
  const world = await openDeliveries();
  const { id } = await world.subscribe("https://receiver.example/lost");
  const { id: good } = await world.subscribe("https://receiver.example/good");
  const lost = createSealer("cd".repeat(32)).seal("s", WALLET);
  await world.sql`update service.webhook set secret = ${lost} where id = ${id}::bigint`;
  expect(await resealSecrets(world.sql, both)).toEqual({ resealed: 1, unopenable: 1 });
  expect((await stored(world, id)).secret).toBe(lost);
  expect(isOpenedBy((await stored(world, good)).secret)).toBe(true);
});
