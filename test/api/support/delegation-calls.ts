/** Buyers delegate premiums to the keys of other wallets. */
import type { Address, Hex, LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { delegationTypes } from "../../../api/delegations/store.ts";
import { connect } from "../../../lib/db/connect.ts";
import { atEnd } from "../../support/cleanup.ts";
import { compact } from "../../support/compact-signature.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { newBuyer } from "../../support/ledger.ts";
import { failure, invalidFields, issueKey, messageOf, type TestApi } from "./api.ts";
import { type ContractWallets, deployWalletFactory } from "./contract-wallet.ts";
import { bodyOf, type Terms, terms } from "./delegation-terms.ts";
import { now } from "./onboarding.ts";

const PATH = "/api/v1/agent/delegations";
const newAccount = () => privateKeyToAccount(generatePrivateKey());

type Domain = { chainId?: number; verifyingContract?: Address; name?: string };

export function delegationCalls(api: () => TestApi): void {
  let wallets: ContractWallets;
  beforeAll(async () => {
    wallets = await deployWalletFactory(api().chain);
  });

  function sign(signer: LocalAccount, message: Terms, domain: Domain = {}): Promise<Hex> {
    const { chainId, contracts } = api().chain.deployment;
    return signer.signTypedData({
      domain: { chainId, verifyingContract: contracts.coverRouter, ...domain },
      types: delegationTypes,
      primaryType: "Delegation",
      message,
    });
  }

  type Headers = Record<string, string>;
  const post = (headers: Headers, body: unknown) => api().request(PATH, { headers, body });
  const list = async (headers: Headers, query = "") =>
    z
      .looseObject({ total: z.number(), delegations: z.array(z.looseObject({ delegationId: z.number() })) })
      .parse((await api().request(`${PATH}${query}`, { headers })).json);
  const revoke = (id: number | string, headers: Headers) =>
    api().request(`${PATH}/${id}`, { method: "DELETE", headers });
  const idOf = (answer: HttpAnswer): number =>
    z.object({ delegationId: z.number() }).parse(answer.json).delegationId;

  /** A buyer and an agent, each with a key. */
  async function newParties() {
    const [buyer, agent] = [newAccount(), newAccount()];
    const { headers: buyerKey } = await issueKey(api().request, buyer.address);
    const { headers: agentKey } = await issueKey(api().request, agent.address);
    return { buyer, agent, buyerKey, agentKey };
  }

  /** A new buyer and agent with an active delegation. */
  async function delegated(more: Partial<Terms> = {}) {
    const parties = await newParties();
    const given = terms(parties.buyer.address, parties.agent.address, more);
    const body = bodyOf(given, await sign(parties.buyer, given));
    const answer = await post(parties.agentKey, body);
    expect(answer.status).toBe(201);
    return { ...parties, body, answer, id: idOf(answer) };
  }

  describe("POST /api/v1/agent/delegations", () => {
    test("accepts a key of the agent or of the buyer, and both can list the delegation", async () => {
      const { buyer, agent, buyerKey, agentKey, answer, id } = await delegated();
      const given = {
        ...{
          delegationId: id,
          buyer: buyer.address,
          agent: agent.address,
          status: "active",
          revokedAt: null,
        },
        ...{ totalPremiumCap: "10000000", premiumSpent: "0", premiumRemaining: "10000000", nonce: "1" },
      };
      expect(answer.json).toMatchObject({ ok: true, ...given });
      const second = terms(buyer.address, agent.address, { nonce: 2n });
      expect((await post(buyerKey, bodyOf(second, compact(await sign(buyer, second))))).status).toBe(201);
      for (const headers of [buyerKey, agentKey]) {
        expect(await list(headers)).toMatchObject({
          count: 2,
          total: 2,
          delegations: [{ nonce: "2" }, given],
        });
        expect(await list(headers, "?limit=1&offset=1")).toMatchObject({
          count: 1,
          total: 2,
          delegations: [given],
        });
      }
      const { headers: strangers } = await issueKey(api().request, newAccount().address);
      expect(await list(strangers)).toMatchObject({ total: 0, delegations: [] });
    });

    test("a key of a third wallet gets 403, even with a valid signature", async () => {
      const { buyer, agent } = await newParties();
      const { headers } = await issueKey(api().request, newAccount().address);
      const given = terms(buyer.address, agent.address);
      expect(failure(await post(headers, bodyOf(given, await sign(buyer, given))))).toEqual([
        403,
        "forbidden",
      ]);
      expect(failure(await post({}, {}))).toEqual([401, "unauthenticated"]);
    });

    const forgeries: [string, (buyer: LocalAccount, agent: LocalAccount, given: Terms) => Promise<Hex>][] = [
      ["by the agent", (_, agent, given) => sign(agent, given)],
      ["by a stranger", (_buyer, _agent, given) => sign(newAccount(), given)],
      ["for a smaller cap", (buyer, _, given) => sign(buyer, { ...given, totalPremiumCap: 1n })],
      ["for another expiry", (buyer, _, given) => sign(buyer, { ...given, expiry: given.expiry - 1n })],
      ["for another nonce", (buyer, _, given) => sign(buyer, { ...given, nonce: 9n })],
      ["for another agent", (buyer, _, given) => sign(buyer, { ...given, agent: newAccount().address })],
      ["for another chain", (buyer, _, given) => sign(buyer, given, { chainId: 1 })],
      [
        "for another contract",
        (buyer, _, given) => sign(buyer, given, { verifyingContract: api().chain.deployment.contracts.usdc }),
      ],
      ["with a domain name", (buyer, _, given) => sign(buyer, given, { name: "CoverRouter" })],
      ["without bytes", async () => "0x"],
    ];
    test.each(forgeries)("a signature %s gets 401 invalid_signature", async (_, forge) => {
      const { buyer, agent, agentKey } = await newParties();
      const given = terms(buyer.address, agent.address);
      const answer = await post(agentKey, bodyOf(given, await forge(buyer, agent, given)));
      expect(failure(answer)).toEqual([401, "invalid_signature"]);
      expect(await list(agentKey)).toMatchObject({ total: 0 });
    });

    test("the same signature gets 409, also concurrently, in another spelling, and after revocation", async () => {
      const { buyer, agent, agentKey, buyerKey } = await newParties();
      const given = terms(buyer.address, agent.address);
      const body = bodyOf(given, await sign(buyer, given));
      const answers = await Promise.all(Array.from({ length: 10 }, () => post(agentKey, body)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expect(failure(answer)).toEqual([409, "signature_used"]);
      }
      const respelled = { ...body, buyer: buyer.address.toLowerCase(), nonce: "01" };
      const again = await post(buyerKey, respelled);
      expect(failure(again)).toEqual([409, "signature_used"]);
      const [id] = (await list(buyerKey)).delegations.map(({ delegationId }) => delegationId);
      expect(messageOf(again)).toBe(`This delegation was recorded before, as number ${id}, and is active.`);
      await revoke(id ?? 0, buyerKey);
      const revoked = await post(agentKey, body);
      expect(failure(revoked)).toEqual([409, "signature_used"]);
      expect(messageOf(revoked)).toBe(
        `This delegation was recorded before, as number ${id}, and is revoked.`,
      );
      expect(await list(buyerKey)).toMatchObject({ total: 1, delegations: [{ status: "revoked" }] });
    });

    test("accepts contract wallets, deployed or counterfactual", async () => {
      for (const counterfactual of [false, true]) {
        const { buyer: owner, agent, agentKey } = await newParties();
        const wallet = counterfactual ? await wallets.addressOf(owner) : await wallets.create(owner);
        const given = terms(wallet, agent.address);
        const signature = await sign(owner, given);
        const answer = await post(
          agentKey,
          bodyOf(given, counterfactual ? wallets.counterfactual(owner, signature) : signature),
        );
        expect(answer.status).toBe(201);
        expect(answer.json).toMatchObject({ buyer: wallet });
      }
    });
  });

  describe("an invalid delegation", () => {
    const [buyer, agent] = [newAccount(), newAccount()];
    let key: Headers;
    beforeAll(async () => {
      key = (await issueKey(api().request, agent.address)).headers;
    });
    test.each([
      ["a past expiry", { expiry: String(now() - 1) }, "expiry"],
      ["the expiry zero", { expiry: "0" }, "expiry"],
      ["an expiry in milliseconds", { expiry: String(now() * 1000) }, "expiry"],
      ["an expiry that is not a string", { expiry: now() + 60 }, "expiry"],
      ["a zero cap", { totalPremiumCap: "0" }, "totalPremiumCap"],
      ["a negative cap", { totalPremiumCap: "-1" }, "totalPremiumCap"],
      ["a cap above uint256", { totalPremiumCap: String(2n ** 256n) }, "totalPremiumCap"],
      ["a cap with a fraction", { totalPremiumCap: "1.5" }, "totalPremiumCap"],
      ["a nonce that is not a number", { nonce: "x" }, "nonce"],
      ["no buyer", { buyer: undefined }, "buyer"],
      ["the buyer as agent", { buyer: agent.address }, "agent"],
      ["a signature that is not hex", { signature: "0xzz" }, "signature"],
    ])("with %s gets 400 with the field's name", async (_, faulty, field) => {
      const given = terms(buyer.address, agent.address);
      const answer = await post(key, { ...bodyOf(given, await sign(buyer, given)), ...faulty });
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(invalidFields(answer)).toEqual([field]);
    });
  });

  describe("DELETE /api/v1/agent/delegations/{id}", () => {
    test("only the buyer can revoke; a repeated call returns the same response", async () => {
      const { id, buyerKey, agentKey } = await delegated();
      const { headers: strangers } = await issueKey(api().request, newAccount().address);
      for (const headers of [agentKey, strangers]) {
        expect(failure(await revoke(id, headers))).toEqual([404, "delegation_not_found"]);
      }
      expect(await list(buyerKey)).toMatchObject({ delegations: [{ status: "active" }] });
      const first = await revoke(id, buyerKey);
      expect([first.status, first.json]).toEqual([
        200,
        expect.objectContaining({ ok: true, delegationId: id }),
      ]);
      expect((await revoke(id, buyerKey)).json).toEqual(first.json);
      expect(await list(agentKey)).toMatchObject({ delegations: [{ status: "revoked" }] });
    });

    test.each([
      ["0", 404, "delegation_not_found"],
      ["abc", 400, "validation_error"],
      ["9".repeat(16), 400, "validation_error"],
    ])("the id %s gets %i %s", async (id, status, code) => {
      const { headers } = await issueKey(api().request, newAccount().address);
      expect(failure(await revoke(id, headers))).toEqual([status, code]);
    });
  });

  test("the list shows the spent premium, and when the delegation is exhausted or expired", async () => {
    const buyer = await newBuyer(api().chain, { dollars: 1000 });
    const agent = newAccount();
    const { headers: agentKey } = await issueKey(api().request, agent.address);
    // A policy of 100 USDC costs 0.292 USDC.
    const given = terms(buyer.address, agent.address, { totalPremiumCap: 584_000n });
    await post(agentKey, bodyOf(given, await sign(buyer, given)));
    const buy = () => {
      const body = { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: buyer.address };
      return api().request("/api/v1/policies", { headers: agentKey, body });
    };
    expect((await buy()).status).toBe(201);
    expect(await list(agentKey)).toMatchObject({
      delegations: [{ status: "active", premiumSpent: "292000", premiumRemaining: "292000" }],
    });
    expect((await buy()).status).toBe(201);
    expect(await list(agentKey)).toMatchObject({
      delegations: [{ status: "exhausted", premiumSpent: "584000", premiumRemaining: "0" }],
    });
    expect(failure(await buy())).toEqual([403, "buyer_not_authorized"]);
    const { sql, close } = connect(api().stack.databaseUrl, { name: "test" });
    atEnd(close);
    // Moves the expiry into the past.
    await sql`update service.delegation set expires_at = now() - interval '1 s' where buyer = ${buyer.address.toLowerCase()}`;
    expect(await list(agentKey)).toMatchObject({
      delegations: [{ status: "expired", premiumSpent: "584000" }],
    });
  });
}
