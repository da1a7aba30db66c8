/** A prepared purchase that the service sends: the wallet signs a permit, and nothing else. */
import { type Address, concat, type LocalAccount, toFunctionSelector } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { domainType, permitTypes } from "../../../lib/chain/permit.ts";
import { approveUsdc, refreshFeeds } from "../../../scripts/local/protocol/actions/index.ts";
import { newBuyer } from "../../support/ledger.ts";
import { invalidFields, type TestApi } from "./api.ts";
import { createKeyHolder } from "./buyer.ts";
import type { ContractWallets } from "./contract-wallet.ts";
import { preparePaths } from "./prepare.ts";

const PREMIUM = 292_000n;

const address = z.templateLiteral(["0x", z.string()]);
const integer = z.string().transform(BigInt);
const prepared = z.object({
  issues: z.array(z.looseObject({ code: z.string() })),
  steps: z.array(
    z.object({
      id: z.literal("permit"),
      kind: z.literal("signature"),
      status: z.enum(["complete", "incomplete"]),
      typedData: z.object({
        domain: z.object({
          name: z.string(),
          version: z.string(),
          chainId: z.number(),
          verifyingContract: address,
        }),
        types: z.unknown(),
        primaryType: z.literal("Permit"),
        message: z.object({
          owner: address,
          spender: address,
          value: integer,
          nonce: integer,
          deadline: integer,
        }),
      }),
      report: z.object({
        path: z.string(),
        body: z.looseObject({ permit: z.looseObject({}).optional() }),
      }),
    }),
  ),
  sendCalls: z.object({ calls: z.array(z.unknown()) }),
  asOf: z.object({ timestamp: integer }),
});

const withApproval = z.object({
  steps: z.tuple([
    z.looseObject({ id: z.literal("approve"), to: address, data: address }),
    z.looseObject({ id: z.literal("permit") }),
  ]),
});

/** Moves the chain by an hour. */
export function preparedPermits(api: () => TestApi, wallets: () => ContractWallets): void {
  const bodyOf = (from: Address, more: Record<string, unknown> = {}) => ({
    ...{ from, productName: "FLASHBTC1H-001", coverageAmount: "100000000", relayed: true },
    ...more,
  });

  async function prepare(from: Address) {
    const answer = await api().request(preparePaths.purchase, { body: bodyOf(from) });
    expect(answer.status, answer.text).toBe(200);
    return prepared.parse(answer.json);
  }

  /** Signs the step as it stands, and buys with its report. */
  async function signAndBuy(account: LocalAccount, { steps: [step] }: z.output<typeof prepared>) {
    if (!step) throw new Error("there is no step");
    const { typedData, report } = step;
    expect(typedData.types).toEqual({ EIP712Domain: domainType, ...permitTypes });
    const signature = await account.signTypedData({ ...typedData, types: permitTypes });
    const { headers } = await createKeyHolder(api(), account);
    const { permit } = report.body;
    const body = permit ? { ...report.body, permit: { ...permit, signature } } : report.body;
    return api().request(report.path, { headers, body });
  }

  test("a wallet without an allowance signs the permit as it stands, and buys without a transaction", async () => {
    const buyer = await newBuyer(api().chain, { approve: false });
    const answer = await prepare(buyer.address);
    expect(answer).toMatchObject({ issues: [], sendCalls: { calls: [] } });
    expect(answer.steps).toMatchObject([
      { status: "incomplete", typedData: { message: { owner: buyer.address, value: PREMIUM, nonce: 0n } } },
    ]);
    expect(answer.steps[0]?.typedData.message.deadline).toBe(answer.asOf.timestamp + 3600n);
    const bought = await signAndBuy(buyer, answer);
    expect(bought.status, bought.text).toBe(201);
    expect(await api().chain.client.getTransactionCount({ address: buyer.address })).toBe(0);
    const next = await prepare(buyer.address);
    expect(next.steps[0]?.typedData.message.nonce).toBe(1n);
  });

  test("a wallet whose code refuses its key's signature has the approval beside the permit, and buys with it", async () => {
    const { client, relayer } = api().chain;
    const buyer = await newBuyer(api().chain, { approve: false });
    // EIP-7702: it acts by the code of a contract wallet of somebody else.
    const delegate = await wallets().create(relayer);
    await client.setCode({ address: buyer.address, bytecode: concat(["0xef0100", delegate]) });
    const ask = () => api().request(preparePaths.purchase, { body: bodyOf(buyer.address) });
    const { json } = await ask();
    expect(json).toMatchObject({
      issues: [{ code: "wallet_code", blocking: false }],
      steps: [
        { id: "approve", kind: "transaction", status: "incomplete", optional: true },
        { id: "permit", kind: "signature", status: "incomplete", optional: false },
      ],
      sendCalls: { calls: [] },
    });
    const [approval, permit] = withApproval.parse(json).steps;
    const refused = await signAndBuy(buyer, prepared.parse({ ...Object(json), steps: [permit] }));
    expect([refused.status, invalidFields(refused)]).toEqual([422, ["permit.signature"]]);
    const hash = await client.sendTransaction({
      account: buyer,
      chain: null,
      to: approval.to,
      data: approval.data,
    });
    await client.waitForTransactionReceipt({ hash });
    const approved = await prepare(buyer.address);
    expect(approved).toMatchObject({ issues: [], steps: [{ id: "permit", status: "complete" }] });
    const bought = await signAndBuy(buyer, approved);
    expect(bought.status, bought.text).toBe(201);
  });

  test("a wallet whose allowance suffices signs nothing", async () => {
    const buyer = await newBuyer(api().chain, { approve: false });
    await approveUsdc(api().protocol, buyer, api().chain.deployment.contracts.coverRouter, PREMIUM);
    const answer = await prepare(buyer.address);
    expect(answer.steps).toMatchObject([{ status: "complete" }]);
    expect(answer.steps[0]?.report.body.permit).toBeUndefined();
    const bought = await signAndBuy(buyer, answer);
    expect(bought.status, bought.text).toBe(201);
  });

  test("a permit that is older than its prepared deadline is refused, and asking again helps", async () => {
    const { client } = api().chain;
    const buyer = await newBuyer(api().chain, { approve: false });
    const old = await prepare(buyer.address);
    await client.increaseTime({ seconds: 3601 });
    // The feeds' prices are an hour old as well now.
    await refreshFeeds(api().protocol, api().chain.owner);
    const refused = await signAndBuy(buyer, old);
    expect(refused.status, refused.text).toBe(422);
    expect(invalidFields(refused)).toEqual(["permit.deadline"]);
    const bought = await signAndBuy(buyer, await prepare(buyer.address));
    expect(bought.status, bought.text).toBe(201);
  });

  test("a token without permits is an issue, and there is nothing to sign", async () => {
    const { client, deployment } = api().chain;
    const { usdc } = deployment.contracts;
    const buyer = await newBuyer(api().chain, { approve: false });
    const code = (await client.getCode({ address: usdc })) ?? "0x";
    // The same token without the function `version`: 14 is the opcode that compares a call's selector with its own.
    const comparison = `${toFunctionSelector("version()").slice(2)}14`;
    expect(code).toContain(comparison);
    await client.setCode({ address: usdc, bytecode: `0x${code.slice(2).replace(comparison, "ffffffff14")}` });
    try {
      expect(await prepare(buyer.address)).toMatchObject({
        issues: [{ code: "permit_unsupported", token: usdc }],
        steps: [],
      });
    } finally {
      await client.setCode({ address: usdc, bytecode: code });
    }
  });

  test.each([{ relayed: "yes" }, { relayed: 1 }, { relayed: [] }])("relayed: %o is refused", async (more) => {
    const answer = await api().request(preparePaths.purchase, {
      body: bodyOf("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", more),
    });
    expect([answer.status, invalidFields(answer)]).toEqual([400, ["relayed"]]);
  });
}
