/** A wallet that has lost its keys replaces one by its signature. */
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { admin, failure, issueKey, messageOf, type TestApi } from "./api.ts";
import { keyOf, ONBOARD, onboardingBody, signInBody } from "./onboarding.ts";

const newAccount = () => privateKeyToAccount(generatePrivateKey());

export function lostKeys(api: () => TestApi): void {
  const post = (body: unknown) => api().request(ONBOARD, { body });

  test("replaces one of them by its signature, also at the cap, and the others stay", async () => {
    const account = newAccount();
    const keys = [];
    for (let i = 0; i < 3; i += 1) keys.push(await issueKey(api().request, account.address));
    const refused = await post(await onboardingBody(account));
    expect([failure(refused), messageOf(refused)]).toEqual([
      [409, "cap_reached"],
      `The wallet has 3 active keys already, with the ids ${keys.map(({ keyId }) => keyId).join(", ")}: revoke or replace one.`,
    ]);
    const [, lost] = keys;
    const signed = { resources: [`urn:parametric-cover:replaces:${lost?.keyId}`] };
    const replacing = { ...(await signInBody(account, api().stack.apiUrl, signed)), replaces: lost?.keyId };
    const answer = await post(replacing);
    expect(answer.status).toBe(201);
    const held = [...keys.map(({ headers }) => headers), keyOf(answer).headers];
    const statuses = await Promise.all(
      held.map(async (headers) => (await api().request("/api/v1/auth/me", { headers })).status),
    );
    expect(statuses).toEqual([200, 401, 200, 200]);
  });

  test("replaces no key of another wallet, and none that is revoked; the signature stays usable", async () => {
    const account = newAccount();
    const foreign = await issueKey(api().request, newAccount().address);
    const revoked = await issueKey(api().request, account.address);
    await api().request(`/api/v1/keys/${revoked.keyId}`, { method: "DELETE", headers: admin });
    const body = await onboardingBody(account);
    for (const replaces of [foreign.keyId, revoked.keyId, 999_999_999]) {
      const resources = [`urn:parametric-cover:replaces:${replaces}`];
      const signed = await signInBody(account, api().stack.apiUrl, { resources });
      expect(failure(await post({ ...signed, replaces }))).toEqual([404, "key_not_found"]);
    }
    expect((await api().request("/api/v1/auth/me", { headers: foreign.headers })).status).toBe(200);
    expect(failure(await post({ ...body, replaces: 0 }))).toEqual([400, "invalid_body"]);
    expect((await post(body)).status).toBe(201);
  });

  test("replaces none by a signature that does not name it, whoever sends that", async () => {
    const account = newAccount();
    const { keyId: replaces, headers } = await issueKey(api().request, account.address);
    const { apiUrl } = api().stack;
    const other = { resources: [`urn:parametric-cover:replaces:${replaces + 1}`] };
    for (const [body, rule] of [
      [
        await onboardingBody(account),
        `must be signed: send a message whose resources have urn:parametric-cover:replaces:${replaces}`,
      ],
      [await signInBody(account, apiUrl), "must be signed"],
      [
        await signInBody(account, apiUrl, other),
        `must be what the message's resources have: ${replaces + 1}`,
      ],
    ] as const) {
      const answer = await post({ ...body, replaces });
      expect(failure(answer)).toEqual([400, "invalid_body"]);
      expect(messageOf(answer)).toContain(`replaces: ${rule}`);
    }
    const unsaid = await signInBody(account, apiUrl, {
      resources: [`urn:parametric-cover:replaces:${replaces}`],
    });
    expect(failure(await post(unsaid))).toEqual([400, "invalid_body"]);
    expect((await api().request("/api/v1/auth/me", { headers })).status).toBe(200);
  });
}
