import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import {
  endlessBody,
  flapping,
  gzipBomb,
  hang,
  ok,
  type Receivers,
  reset,
  slowHeaders,
  startReceivers,
  status,
} from "./receiver.ts";

let receivers: Receivers;

beforeAll(async () => {
  receivers = await startReceivers();
});

const post = (url: string, signal?: AbortSignal) =>
  fetch(url, { method: "POST", body: "{}", ...(signal && { signal }) });

test("receivers of one server reply independently and record their requests", async () => {
  const [good, bad] = [receivers.at("good"), receivers.at("bad")];
  bad.behave(status(500));
  expect([(await post(good.url)).status, (await post(bad.url)).status]).toEqual([200, 500]);
  const flapper = receivers.at("flapper");
  flapper.behave(flapping(ok, status(503)));
  const answers = [await post(flapper.url), await post(flapper.url), await post(flapper.url)];
  expect(answers.map((answer) => answer.status)).toEqual([200, 503, 200]);
  expect(good.requests).toMatchObject([{ method: "POST", body: "{}", id: "" }]);
  expect((await post(`${receivers.url}/nobody`)).status).toBe(404);
});

test.each([
  { name: "hang", reply: hang },
  { name: "slow headers", reply: slowHeaders(20) },
  { name: "reset", reply: reset },
])("a receiver with $name sends no response until the client disconnects", async ({ reply, name }) => {
  const receiver = receivers.at(name.replace(" ", "-"));
  receiver.behave(reply);
  const abort = new AbortController();
  const disconnected = expect(post(receiver.url, abort.signal)).rejects.toThrow();
  await receiver.received(1);
  await sleep(300);
  abort.abort();
  await disconnected;
});

test.each([
  { name: "endless", reply: endlessBody() },
  { name: "bomb", reply: gzipBomb() },
])("the body of $name ends when the client disconnects", async ({ name, reply }) => {
  const receiver = receivers.at(name);
  receiver.behave(reply);
  const abort = new AbortController();
  const answer = await post(receiver.url, abort.signal);
  const reader = answer.body?.getReader();
  let bytes = 0;
  while (bytes < 10 ** 6) bytes += (await reader?.read())?.value?.length ?? Number.NaN;
  expect(receiver.underWay()).toBe(1);
  abort.abort();
  await expect.poll(receiver.underWay).toBe(0);
});

test("a closed server refuses connections, and reopens on the same port", async () => {
  const receiver = receivers.at("away");
  await receivers.close();
  await expect(post(receiver.url)).rejects.toThrow();
  await receivers.open();
  expect((await post(receiver.url)).status).toBe(200);
});
