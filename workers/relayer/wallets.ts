import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { WalletRole } from "../../lib/ledger/tables.ts";
import type { Logger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { type Lease, raiseNextNonce, releaseLease, renewLease, takeLease } from "../ledger/leases.ts";
import type { Chain } from "./chain.ts";

/** A wallet that is out of money or was stopped is looked at again after this time, in ms. */
const REST_MS = 1000;

/** A wallet that this writer may send from now. */
export type Wallet = { address: Address; role: WalletRole; account: PrivateKeyAccount; lease: Lease };

export type WalletKey = { role: WalletRole; privateKey: Hex };

export type WalletOptions = {
  sql: Sql;
  chain: Pick<Chain, "nonce">;
  chainId: number;
  /** Names this process among the writers. */
  owner: string;
  keys: readonly WalletKey[];
  log: Logger;
  /** Whether the chain has answered of late: a writer that cannot reach it leaves the wallets to one that can. */
  chainAnswers: () => boolean;
  /** Called when the first wallet has become ours, and when the last one was lost. */
  onChange: (ready: boolean) => void;
};

/** Takes, keeps and gives back the leases on the wallets, and hands the relayers' out in turn. */
export function createWallets(options: WalletOptions) {
  const { sql, chain, chainId, owner, keys, log, chainAnswers, onChange } = options;
  const accounts = keys.map(({ role, privateKey }) => ({ role, account: privateKeyToAccount(privateKey) }));
  const owned = new Map<Address, Wallet>();
  /** Wallets that can sign nothing now, until when. */
  const resting = new Map<Address, number>();
  let turn = 0;
  let reported = false;

  const of = (role: WalletRole): Wallet[] => [...owned.values()].filter((wallet) => wallet.role === role);

  function report(): void {
    const ready = owned.size > 0;
    if (ready !== reported) onChange(ready);
    reported = ready;
  }

  function drop(address: Address): void {
    if (owned.delete(address)) log.warn({ wallet: address }, "lost the lease on a wallet");
    report();
  }

  const rests = (address: Address): boolean => (resting.get(address) ?? 0) > performance.now();

  /** Leases that were taken and whose nonce is not known yet, because the chain did not answer. */
  const pending = new Map<Address, Lease>();

  async function keep({ role, account }: { role: WalletRole; account: PrivateKeyAccount }): Promise<void> {
    const address = lower(account.address);
    const held = owned.get(address)?.lease ?? pending.get(address);
    if (!chainAnswers()) {
      pending.delete(address);
      drop(address);
      if (held) await releaseLease(sql, held);
      return;
    }
    if (held && !(await renewLease(sql, held))) {
      pending.delete(address);
      drop(address);
      return;
    }
    if (owned.has(address)) return;
    const lease = held ?? (await takeLease(sql, { chainId, address, owner, role }));
    if (!lease) return;
    pending.set(address, lease);
    const next = await raiseNextNonce(sql, lease, await chain.nonce(address, "pending"));
    pending.delete(address);
    owned.set(address, { address, role, account, lease });
    log.info({ wallet: address, role, nextNonce: next, fencingToken: lease.token }, "sending from a wallet");
    report();
  }

  return {
    /** Renews what is held and takes what is free. Rejects when the database or the chain is away. */
    async keepAll(): Promise<void> {
      const results = await Promise.allSettled(accounts.map(keep));
      for (const result of results) if (result.status === "rejected") throw result.reason;
    },
    /** The wallets that are ours now. */
    all: (): Wallet[] => [...owned.values()],
    /** Those of one role. */
    of,
    /** The relayers' wallets that are ours now and can sign, the next one in turn first. */
    inTurn(): Wallet[] {
      const wallets = of("relayer").filter(({ address }) => !rests(address));
      turn = (turn + 1) % Math.max(wallets.length, 1);
      return [...wallets.slice(turn), ...wallets.slice(0, turn)];
    },
    /** Leaves a wallet alone for a while, because it can sign nothing now. */
    rest({ address }: Pick<Wallet, "address">, reason: string): void {
      if (!rests(address)) log.warn({ wallet: address, reason }, "a wallet rests");
      resting.set(address, performance.now() + REST_MS);
    },
    /** A wallet has signed: it need not rest any more. */
    works({ address }: Pick<Wallet, "address">): void {
      resting.delete(address);
    },
    /** True when there are relayers' wallets of ours, and none of them could sign when it was last asked to. */
    allRest: (): boolean =>
      of("relayer").length > 0 && of("relayer").every(({ address }) => resting.has(address)),
    /** Forgets a wallet after a statement found its lease lost. */
    lost: (lease: Lease): void => {
      if (owned.get(lease.address)?.lease.token === lease.token) drop(lease.address);
    },
    /** Gives everything back. */
    async release(): Promise<void> {
      const leases = [...[...owned.values()].map((wallet) => wallet.lease), ...pending.values()];
      owned.clear();
      pending.clear();
      await Promise.all(leases.map((lease) => releaseLease(sql, lease)));
    },
  };
}

export type Wallets = ReturnType<typeof createWallets>;
