/** Wallets of viem, without viem: programs sign with a key of their own, pages with what the browser offers. */
import type { Provider, Wallet } from "./wallets.ts";

/** The part of viem's `WalletClient` that is used here. Its account may be local or the node's. */
export type ViemWallet = {
  readonly account: { readonly address: string; readonly type: string };
  // viem's own parameters are narrower: methods may take them where these stand.
  request(call: unknown): Promise<unknown>;
  signMessage(message: unknown): Promise<string>;
  signTypedData(typedData: unknown): Promise<string>;
  sendTransaction(transaction: unknown): Promise<string>;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Answers what a node cannot: it knows no local account. */
function signing(wallet: ViemWallet): Provider {
  const { account } = wallet;
  return {
    async request(call) {
      const [first, second] = call.params ?? [];
      switch (call.method) {
        case "personal_sign":
          return wallet.signMessage({ account, message: { raw: first } });
        case "eth_signTypedData_v4":
          return wallet.signTypedData({ account, ...JSON.parse(String(second)) });
        case "eth_sendTransaction": {
          const { to, data, value, gas } = isObject(first) ? first : {};
          return wallet.sendTransaction({
            account,
            chain: null,
            to,
            data,
            value: BigInt(String(value ?? 0)),
            ...(gas === undefined ? {} : { gas: BigInt(String(gas)) }),
          });
        }
        default:
          return wallet.request(call);
      }
    },
  };
}

/**
 * The wallet of a viem client with an account.
 * @example
 * const wallet = viemWallet(createWalletClient({ account: privateKeyToAccount(key), transport: http(rpc) }));
 */
export const viemWallet = (wallet: ViemWallet): Wallet => ({
  address: wallet.account.address,
  provider: wallet.account.type === "local" ? signing(wallet) : wallet,
});
