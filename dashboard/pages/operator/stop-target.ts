/** What the operator can stop, and what that means in plain words. */
import type { Schema } from "../../../client/index.ts";
import { shortHex } from "../../format/names.ts";

export type StopTarget =
  | { readonly scope: "global" }
  | { readonly scope: "keeper" }
  | { readonly scope: "wallet"; readonly wallet: string }
  | { readonly scope: "key"; readonly keyId: number };
export type StopScope = StopTarget["scope"];

/** A stop as it is being written down: nothing of it is chosen or valid yet. */
export type StopDraft = {
  readonly scope: StopScope | undefined;
  readonly wallet: string;
  readonly keyId: string;
  readonly reason: string;
};
export type DraftField = "scope" | "wallet" | "keyId" | "reason";

export const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const KEY_ID = /^[1-9]\d{0,14}$/;
/** Longest reason, in characters, as the API has it. */
export const MAX_REASON = 200;

/** A target and reason that can be asked for, or the first field that is not right and its rule. */
export type CheckedDraft =
  | { readonly ok: true; readonly target: StopTarget; readonly reason: string }
  | { readonly ok: false; readonly field: DraftField; readonly rule: string };

type ScopeRule = StopTarget | { readonly field: DraftField; readonly rule: string };

function targetOf({ scope, wallet, keyId }: StopDraft): ScopeRule {
  switch (scope) {
    case undefined:
      return { field: "scope", rule: "Choose what to stop." };
    case "wallet":
      return ADDRESS.test(wallet.trim())
        ? { scope, wallet: wallet.trim() }
        : { field: "wallet", rule: "An address is 0x and 40 hex digits." };
    case "key":
      return KEY_ID.test(keyId.trim())
        ? { scope, keyId: Number(keyId.trim()) }
        : { field: "keyId", rule: "A key’s number is in the list of keys: 1, 2, 3 …" };
    default:
      return { scope };
  }
}

/** Checks what was written down, field by field. */
export function checkDraft(draft: StopDraft): CheckedDraft {
  const target = targetOf(draft);
  if ("rule" in target) return { ok: false, ...target };
  const reason = draft.reason.trim();
  if (reason === "") return { ok: false, field: "reason", rule: "Say why, for the next operator." };
  return { ok: true, target, reason };
}

/** A target in a sentence: “the keeper”. */
export function targetName(target: StopTarget): string {
  switch (target.scope) {
    case "global":
      return "everything";
    case "keeper":
      return "the keeper";
    case "wallet":
      return `wallet ${shortHex(target.wallet)}`;
    case "key":
      return `key ${target.keyId}`;
  }
}

type Wallet = Pick<Schema<"LedgerWallet">, "wallet" | "role">;

const roleEffects: Readonly<Record<Wallet["role"], string>> = {
  relayer: "This relayer sends no purchase. While all relayers are stopped, no purchase is accepted.",
  keeper: "The keeper sends nothing from it: it pays no due policy.",
  sandbox: "The sandbox buys nothing.",
  faucet: "The faucet gives nothing.",
};

/** A wallet of the service has roles, on one chain or more; any other is a client's. */
function walletEffects(address: string, wallets: readonly Wallet[]): string[] {
  const own = wallets.filter(({ wallet }) => wallet.toLowerCase() === address.toLowerCase());
  if (own.length > 0) return [...new Set(own.map(({ role }) => roleEffects[role]))];
  return [
    "This client’s wallet buys nothing, with none of its keys.",
    "A purchase of it that is signed, and in no block yet, is replaced by an empty transfer.",
    "Its policies and bonds stay as they are; it still reads, and gets its webhooks.",
  ];
}

/** What a stop does, one sentence each. */
function effectsOf(target: StopTarget, wallets: readonly Wallet[]): string[] {
  switch (target.scope) {
    case "global":
      return [
        "No purchase is accepted: buyers are told that purchases are stopped.",
        "No wallet of the service signs or sends anything. The keeper pays no due policy; sandbox and faucet stand still.",
        "Reading and webhooks go on, and holders can still claim, redeem and trade on the chain by themselves.",
      ];
    case "keeper":
      return [
        "The keeper sends nothing: it pays no due policy, closes no expired one and pays no queued redemption.",
        "Purchases go on, and holders can still claim due policies by themselves.",
      ];
    case "wallet":
      return walletEffects(target.wallet, wallets);
    case "key":
      return [
        "This key buys nothing. The other keys of its wallet still do: to stop them too, stop the wallet.",
        "A purchase of it that is signed, and in no block yet, is replaced by an empty transfer.",
        "The key is not revoked: it still reads.",
      ];
  }
}

/** All that the operator is told before a stop, one sentence each. */
export const consequencesOf = (target: StopTarget, wallets: readonly Wallet[]): string[] => [
  ...effectsOf(target, wallets),
  "It holds before the next transaction is signed or sent. What a node has already received may still be mined.",
];
