/** A browser wallet (EIP-1193) whose owner is the test: it signs with an account of its own, and sends to a test chain. */
import { isHex, type LocalAccount, numberToHex } from "viem";
import { z } from "zod";
import type { Provider } from "../../client/index.ts";
import type { TestChain } from "./chain.ts";

/** A refused or failed request, as wallets reject it. */
export class ProviderError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const hex = z.custom<`0x${string}`>((value) => isHex(value));
const typedData = z.object({
  domain: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
const transaction = z.object({
  from: hex,
  to: hex,
  data: hex,
  value: hex.transform(BigInt),
  chainId: hex.transform(Number),
  gas: hex.transform(BigInt).optional(),
});
const answer = z.object({
  result: z.unknown(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

/** Gas of a transaction that names none: given, so that the node mines one that reverts instead of refusing it. */
const GAS = 4_000_000n;

export type ScriptedWallet = Provider & {
  readonly account: LocalAccount;
  /** What the owner refuses; nothing at first. */
  readonly refused: Set<string>;
  /** What the owner was asked for, in order: methods. */
  readonly asked: string[];
  /** The chain that the wallet is on. */
  chainId: number;
};

/** Creates a wallet that is on the chain. */
export function createScriptedWallet(chain: TestChain, account: LocalAccount): ScriptedWallet {
  const refused = new Set<string>();
  const asked: string[] = [];

  async function read(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(chain.url, { method: "POST", body, headers });
    const { result, error } = answer.parse(await response.json());
    if (error) throw new ProviderError(error.code, error.message);
    return result;
  }

  function sign(method: string, params: readonly unknown[]): Promise<unknown> {
    if (method === "personal_sign") return account.signMessage({ message: { raw: hex.parse(params[0]) } });
    if (method === "eth_signTypedData_v4")
      return account.signTypedData(typedData.parse(JSON.parse(z.string().parse(params[1]))));
    const { chainId, from: _, ...call } = transaction.parse(params[0]);
    if (chainId !== wallet.chainId) throw new ProviderError(-32602, `the wallet is not on chain ${chainId}`);
    return chain.client.sendTransaction({ ...call, account, chain: null, gas: call.gas ?? GAS });
  }

  const wallet: ScriptedWallet = {
    account,
    refused,
    asked,
    chainId: chain.deployment.chainId,
    async request({ method, params = [] }) {
      if (method === "eth_chainId") return numberToHex(wallet.chainId);
      if (method.startsWith("eth_get")) return read(method, params);
      asked.push(method);
      if (refused.has(method)) throw new ProviderError(4001, "User rejected the request.");
      if (method === "eth_requestAccounts") return [account.address.toLowerCase()];
      if (method !== "wallet_switchEthereumChain") return sign(method, params);
      const [{ chainId }] = z.tuple([z.object({ chainId: hex.transform(Number) })]).parse(params);
      if (chainId !== chain.deployment.chainId) throw new ProviderError(4902, "Unrecognized chain ID.");
      wallet.chainId = chainId;
      return null;
    },
  };
  return wallet;
}
