/**
 * The writer is killed (SIGKILL) at each step of a purchase with a permit and started again. What this proves, checked on the
 * chain: one policy is bought, one permit is taken, and both keep their nonces.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { policiesOnChain, signedForms } from "../support/ledger.ts";
import type { Interceptor, RpcCall } from "../support/rpc-proxy.ts";
import {
  buyWith,
  expectOnePolicy,
  kindOf,
  newPermit,
  type PermitPurchase,
  permitsTaken,
} from "./support/permit-purchases.ts";
import { isReceiptRead, isSending, restartWriter } from "./support/testnet-faults.ts";
import { whileStatementWaits } from "./support/while-statement-waits.ts";
import { startWriterSetup, type WriterSetup } from "./support/writer-setup.ts";

let setup: WriterSetup;

beforeAll(async () => {
  setup = await startWriterSetup();
});
afterEach(() => setup.proxy.intercept());

const nonces = ({ id, permitId }: PermitPurchase) =>
  setup.ledger.connection.sql<
    { kind: string; nonce: string }[]
  >`select kind, nonce from service.transaction where intent in (${id}, ${permitId}) order by nonce`;
const formsOf = ({ id, permitId }: PermitPurchase) => signedForms(setup.ledger.connection, id, permitId);

/** Buys, and kills the writer at a call of the node that is `last`. No call after it reaches the node. */
async function killedAt(
  last: (call: RpcCall, buyer: PermitPurchase["buyer"]) => Promise<boolean> | boolean,
  when: "before" | "after",
): Promise<PermitPurchase> {
  const signed = await newPermit(setup);
  let killing: Promise<void> | undefined;
  let onDead: () => void = () => {};
  const dead = new Promise<void>((resolve) => {
    onDead = resolve;
  });
  const intercept: Interceptor = async (call, forward) => {
    if (killing) return "lost";
    if (!(await last(call, signed.buyer))) return forward();
    if (when === "after") await forward();
    killing ??= setup.stack.kill9("writer").then(onDead);
    await killing;
    return "lost";
  };
  setup.proxy.intercept(intercept);
  const bought = await buyWith(setup, signed);
  await dead;
  return bought;
}

const restart = () => restartWriter({ ...setup, connection: setup.ledger.connection });

test("after their nonces are stored, before their bytes are: signed for the same calls", async () => {
  const signed = await newPermit(setup);
  const { sql } = setup.ledger.connection;
  const { acted } = await whileStatementWaits(sql, {
    lock: (tx) => tx`lock table service.attempt in share mode`,
    statement: "insert into service.attempt",
    act: () => setup.stack.kill9("writer"),
  });
  const bought = await buyWith(setup, signed);
  await acted;
  const before = await nonces(bought);
  expect(before).toMatchObject([{ kind: "permit" }, { kind: "purchase" }]);
  expect(await formsOf(bought)).toEqual([]);
  await restart();
  await expectOnePolicy(setup, bought);
  expect(await nonces(bought)).toEqual(before);
});

test("after their bytes are stored, before one is sent: the stored bytes are sent", async () => {
  const bought = await killedAt(isSending, "before");
  expect(await formsOf(bought)).toHaveLength(2);
  expect(await permitsTaken(setup.chain, bought.buyer)).toBe(0n);
  const before = await nonces(bought);
  await restart();
  await expectOnePolicy(setup, bought);
  expect(await nonces(bought)).toEqual(before);
});

test("after the permit is mined, before the purchase is sent: the purchase follows", async () => {
  const bought = await killedAt(async (call, buyer) => {
    if (!isSending(call) || kindOf(setup.chain, call.params[0]) !== "purchase") return false;
    await expect.poll(() => permitsTaken(setup.chain, buyer)).toBe(1n);
    return true;
  }, "before");
  expect(await policiesOnChain(setup.chain, bought.buyer.address)).toEqual([]);
  const before = await nonces(bought);
  await restart();
  await expectOnePolicy(setup, bought);
  expect(await nonces(bought)).toEqual(before);
});

test("after both are broadcast, before the node's answers: neither gets a second nonce", async () => {
  const sent = new Set<unknown>();
  const bought = await killedAt((call) => {
    if (!isSending(call)) return false;
    sent.add(call.params[0]);
    return sent.size === 2;
  }, "after");
  const before = await nonces(bought);
  await restart();
  await expectOnePolicy(setup, bought);
  expect(await nonces(bought)).toEqual(before);
});

test("after both are mined, before the ledger records it: the receipts settle them", async () => {
  const bought = await killedAt(
    async (call, { address }) =>
      isReceiptRead(call) && (await policiesOnChain(setup.chain, address)).length > 0,
    "before",
  );
  expect(await policiesOnChain(setup.chain, bought.buyer.address)).toHaveLength(1);
  await restart();
  await expectOnePolicy(setup, bought);
});
