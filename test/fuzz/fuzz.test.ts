/**
 * What this proves: thousands of requests are made from the served OpenAPI document, valid ones, ones with one invalid value
 * and odd ones, and each gets an answer that the document describes. FUZZ_SEED makes other requests, and
 * FUZZ_REQUESTS more of them.
 */
import pLimit from "p-limit";
import { beforeAll, expect, test } from "vitest";
import { atEnd } from "../support/cleanup.ts";
import { fetchOpenApi } from "../support/openapi.ts";
import { usualCredential } from "./support/generate.ts";
import { type Call, firstSecrets, playJourney } from "./support/journey.ts";
import { operationsOf } from "./support/operations.ts";
import { planRequests } from "./support/plan.ts";
import { forReport, type Judged, judged, report } from "./support/report.ts";
import { type Planned, planned } from "./support/requests.ts";
import { createSender, type Send } from "./support/send.ts";
import { startWorld } from "./support/world.ts";

const seed = Number(process.env.FUZZ_SEED || 20_261_122);
/** Requests of each operation. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS || 55);
const LEAST_REQUESTS = 3000;
const AT_ONCE = 16;

/** Longest answer of an operation that waits for nothing, in ms. */
const PROMPT_MS = 2000;
/** How long other operations may wait, in ms: for a block, a receiver, a scan of the chain, or until the node is sure. */
const WAITS_MS: Readonly<Record<string, number>> = {
  buyPolicy: 30_000,
  trySandbox: 30_000,
  claimFaucet: 30_000,
  testWebhook: 15_000,
  signPriceProof: 4_000,
  scanPolicies: 20_000,
  scanBonds: 20_000,
  reportRedemption: 4000,
  reportListing: 4000,
  reportListingPurchase: 4000,
};
/**
 * A busy machine may delay any answer. Slow requests are repeated after the run, one at a time, and only those that are slow
 * each time count.
 */
const REPEATS = 10;
/** For the run, and for the repeats, in ms. */
const TIMEOUT_MS = 600_000;

let apiUrl: string;
let send: Send;
let operationIds: string[];
/** Every answer, those of the journey first. */
const answers: Judged[] = [];

beforeAll(async () => {
  console.log(`FUZZ_SEED=${seed}`);
  const world = await startWorld();
  apiUrl = world.stack.apiUrl;
  const document = await fetchOpenApi(apiUrl);
  const operations = operationsOf(document);
  operationIds = operations.map(({ operationId }) => operationId);
  const secrets = firstSecrets();
  const sender = createSender(apiUrl, secrets);
  send = sender.send;
  atEnd(async () => sender.close());

  const record = async (request: Planned): Promise<Judged> => {
    const sent = judged(document, await send(request));
    answers.push(forReport(sent));
    return sent;
  };
  const call: Call = async (operationId, parts) => {
    const operation = operations.find((known) => known.operationId === operationId);
    if (!operation) throw new Error(`the document has no operation ${operationId}`);
    const usual = {
      path: {},
      query: [],
      headers: [],
      body: undefined,
      credential: usualCredential[operation.guard],
    };
    const sent = await record(planned(operation, { ...usual, ...parts }, "journey", { kind: "success" }));
    if (sent.faults.length > 0) throw new Error(report(apiUrl, [sent]));
    return sent.answer.json;
  };
  const known = await playJourney(world, call, secrets);
  const { schemas } = document.components;
  const plan = planRequests({ document, schemas, known, seed, requests: REQUESTS });
  const limit = pLimit(AT_ONCE);
  // The promises of all requests live until the last one, so they must not hold the answers.
  const sendPlanned = async (request: Planned): Promise<void> => {
    await record(request);
  };
  await Promise.all(plan.map((request) => limit(sendPlanned, request)));
}, TIMEOUT_MS);

test(`every answer is one that the document describes (FUZZ_SEED=${seed})`, () => {
  const faulty = report(apiUrl, answers);
  if (faulty !== "") expect.fail(faulty);
});

test("the run had enough requests, and each operation has succeeded", () => {
  expect(answers.length).toBeGreaterThanOrEqual(LEAST_REQUESTS);
  const successes = answers.filter(
    ({ answer, planned: { method } }) => answer.status < 300 && method !== "OPTIONS",
  );
  const succeeded = new Set(successes.map(({ planned: { operation } }) => operation.operationId));
  expect(operationIds.filter((id) => !succeeded.has(id))).toEqual([]);
});

test("no answer is slow, unless its operation waits for a block, a receiver or a scan", {
  timeout: TIMEOUT_MS,
}, async () => {
  const mostMs = ({ operation }: Planned) => PROMPT_MS + (WAITS_MS[operation.operationId] ?? 0);
  const slowAgain: string[] = [];
  for (const { planned: request } of answers.filter((sent) => sent.ms > mostMs(sent.planned))) {
    let again = 0;
    while (again < REPEATS && (await send(request)).ms > mostMs(request)) again += 1;
    if (again === REPEATS) slowAgain.push(`${request.operation.operationId}, ${request.about}`);
  }
  expect(slowAgain).toEqual([]);
});
