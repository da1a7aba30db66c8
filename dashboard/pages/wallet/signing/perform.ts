/** Takes an action from its form to its end, and asks its owner before each signature. */
import {
  chainOf,
  execute,
  hasCode,
  keyResources,
  type Prepared,
  PurchaseInDoubt,
  type Step,
  signInMessage,
  switchChain,
  type Wallet,
  WalletError,
} from "../../../../client/index.ts";
import type { Action, Values } from "./actions.ts";
import { signer } from "./connection.ts";
import { explain, obstacleOf } from "./explain.ts";
import { keyClient, keyTerms, makeKey } from "./key.ts";
import { type Phase, resultOf } from "./phases.ts";

/** Where the owner sees what happens, and answers. */
export type Stage = {
  readonly show: (phase: Phase) => void;
  /** Shows a question, and waits until the owner confirms. @throws Left */
  readonly ask: (phase: Phase) => Promise<void>;
};

/** The owner closed the dialog before anything more was signed. */
export class Left extends Error {}

/** Offers the change to the chain for as long as the wallet is on another one. @throws Left, WalletError */
async function bringToChain({ show, ask }: Stage, { provider }: Wallet, chainId: number): Promise<void> {
  let fault: string | undefined;
  while ((await chainOf(provider)) !== chainId) {
    await ask({ name: "wrong_chain", chainId, fault });
    show({ name: "asking", what: "to change the chain" });
    try {
      await switchChain(provider, chainId);
    } catch (error) {
      fault = explain(error).reason;
    }
  }
}

/**
 * Lets the wallet sign in, unless it has a key. Where it has three keys already, its owner chooses one that the new key replaces.
 * @throws Left, WalletError, ApiError, ConnectionError
 */
async function signIn(stage: Stage, wallet: Wallet, prepared: Prepared, replaces?: number): Promise<void> {
  if (keyClient(wallet)) return;
  const { show, ask } = stage;
  const { from, chainId } = prepared;
  const terms = keyTerms(replaces);
  const statement = "Make an API key for this page. It costs nothing and sends no transaction.";
  const resources = keyResources(terms);
  const message = signInMessage({ address: from, chainId, site: location, statement, resources });
  await ask({ name: "sign_in", message });
  show({ name: "asking", what: "to sign the message" });
  try {
    await makeKey(wallet, message, terms);
  } catch (error) {
    if (!hasCode(error, "cap_reached", "key_not_found")) throw error;
    let chosen: number | undefined;
    const choose = (keyId: number) => {
      chosen = keyId;
    };
    await ask({ name: "replace_key", reason: error.message, choose });
    await signIn(stage, wallet, prepared, chosen);
  }
}

/** Lets the wallet sign each step once its owner has seen it. @throws Left, and what `execute` throws */
async function signSteps(stage: Stage, prepared: Prepared, wallet: Wallet): Promise<void> {
  const { show, ask } = stage;
  async function beforeStep(_: Step, position: number): Promise<void> {
    await bringToChain(stage, wallet, prepared.chainId);
    await ask({ name: "review", prepared, position });
    if (signer.value !== wallet)
      throw new WalletError("no_account", `This is for ${prepared.from}: choose this account in the wallet.`);
    show({ name: "asking", what: "to sign this step" });
  }
  const { outcomes } = await execute(prepared, wallet, {
    beforeStep,
    onSent: (step, txHash) =>
      show({ name: "pending", prepared, position: prepared.steps.indexOf(step), txHash }),
    onSigned: () => show({ name: "buying" }),
    reporter: keyClient(wallet),
  });
  show({ name: "done", results: outcomes.map(resultOf).filter((result) => result !== undefined) });
}

/** The failure as it is shown. */
function failed(error: unknown): Phase {
  if (!(error instanceof PurchaseInDoubt)) return { name: "stopped", ...explain(error) };
  const reason = error.cause === undefined ? error.message : explain(error.cause).reason;
  return { name: "in_doubt", reason, again: error.again };
}

/** Why a transaction reverted, as the chain sees the same action now; undefined where it cannot be told. */
async function reasonNow(prepare: () => Promise<Prepared>): Promise<string | undefined> {
  try {
    return obstacleOf(await prepare());
  } catch {
    return undefined;
  }
}

/** Prepares the action, and goes through its steps. It never rejects: the stage shows each end. */
export async function perform(stage: Stage, action: Action, values: Values): Promise<void> {
  const { show } = stage;
  const wallet = signer.value;
  if (!wallet) {
    show(failed(new WalletError("no_account", "Connect a wallet first.")));
    return;
  }
  const prepare = () => action.prepare(wallet.address, values);
  try {
    show({ name: "preparing" });
    const prepared = await prepare();
    const reason = obstacleOf(prepared);
    if (reason !== undefined) {
      show({ name: "blocked", summary: prepared.summary, reason });
      return;
    }
    if (prepared.steps.some(({ kind }) => kind === "signature")) await signIn(stage, wallet, prepared);
    await signSteps(stage, prepared, wallet);
  } catch (error) {
    if (error instanceof Left) return;
    const isReverted = error instanceof WalletError && error.code === "reverted";
    const reason = isReverted ? await reasonNow(prepare) : undefined;
    show({ ...failed(error), ...(reason === undefined ? {} : { reason }) });
  }
}

/** Asks once more what became of a purchase. */
export async function askAgain({ show }: Stage, again: PurchaseInDoubt["again"]): Promise<void> {
  show({ name: "buying" });
  try {
    show({ name: "done", results: [{ kind: "bought", receipt: await again() }] });
  } catch (error) {
    show(failed(error));
  }
}
