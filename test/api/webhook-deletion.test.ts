/** A webhook that is deleted: gone for everybody at once, whatever is under way for it. No writer runs here. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Connection } from "../../lib/db/connect.ts";
import { mayRest } from "../support/database.ts";
import { failure, type TestApi } from "./support/api.ts";
import { type Desk, newDesk, startWebhookApi, storeMany } from "./support/webhook-desk.ts";

let api: TestApi;
let connection: Connection;
beforeAll(async () => {
  ({ api, connection } = await startWebhookApi());
});

let desk: Desk;
beforeEach(async () => {
  desk = await newDesk(api, connection);
});

const remove = () => desk.owner.call("DELETE", `/${desk.id}`);

test("does not exist any more, whichever call asks for it, and its secrets are forgotten", async () => {
  const { sql } = connection;
  const delivery = await desk.deliver(await desk.event());
  await desk.owner.call("POST", `/${desk.id}/rotate-secret`);
  await desk.giveUp(0);
  expect((await remove()).status).toBe(200);
  const since = Math.floor(Date.now() / 1000) - 60;
  const calls: [method: string, path: string][] = [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/retry"],
    ["POST", "/test"],
    ["POST", "/rotate-secret"],
    ["GET", "/deliveries"],
    ["POST", `/deliveries/${delivery}/replay`],
    ["POST", `/replay?since=${since}`],
  ];
  for (const [method, path] of calls) {
    const answer = await desk.owner.call(method, `/${desk.id}${path}`);
    expect([path, failure(answer)]).toEqual([path, [404, "webhook_not_found"]]);
  }
  expect((await desk.owner.call("GET")).json).toMatchObject({ total: 0, webhooks: [] });
  const [row] = await sql`
    select state, secret, previous_secret, previous_secret_until, position, undeliverable_at
    from service.webhook where id = ${desk.id}`;
  expect(row).toEqual({
    ...{ state: "deleted", secret: "", previous_secret: null, previous_secret_until: null },
    ...{ position: null, undeliverable_at: null },
  });
  expect(await desk.states()).toEqual(["delivered"]);
});

test("waits for nobody who writes to its deliveries, however many there are", async () => {
  const { sql } = connection;
  await storeMany(connection, desk, "held-", 20_000);
  await sql`insert into service.delivery (webhook_id, event_seq) select ${desk.id}, seq from service.event`;
  await sql.begin(async (tx) => {
    await mayRest(tx);
    // As a pass and a writer hold them.
    await tx`select 1 from service.webhook where id = ${desk.id} for key share`;
    await tx`select 1 from service.delivery where webhook_id = ${desk.id} for update`;
    expect((await remove()).status).toBe(200);
    expect(failure(await desk.owner.call("GET", `/${desk.id}`))).toEqual([404, "webhook_not_found"]);
  });
  expect(await desk.states()).toHaveLength(20_000);
});

test("ends a test call that waits for its outcome", async () => {
  const began = performance.now();
  const answer = desk.owner.call("POST", `/${desk.id}/test`);
  await expect.poll(() => desk.rows().then((rows) => rows.length)).toBe(1);
  expect((await remove()).status).toBe(200);
  expect(failure(await answer)).toEqual([404, "webhook_not_found"]);
  expect(performance.now() - began).toBeLessThan(12_000);
});

test("is deleted once by ten calls at the same moment", async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, remove));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
});
