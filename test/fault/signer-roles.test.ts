/**
 * All wallets' keys are with the signer. What this proves: grants of the faucet, purchases of the sandbox and the keeper's triggers
 * go on once a signer that was away is back, each once.
 */
import { beforeAll, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";
import { expectNoNonceGaps } from "./support/assertions.ts";
import { claimUntilPaid, expectPaidOnce } from "./support/faucet-calls.ts";
import { buyPolicies, crash, prepareBuyer, untilAll } from "./support/keeper-policies.ts";
import { startKeeperSetup } from "./support/keeper-setup.ts";
import {
  expectBoughtOnce,
  nextBlock,
  severalCalls,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { newClient, startTestnetSetup } from "./support/testnet-setup.ts";

const keys = {
  relayer: privateKeyOf(anvilAccount(1)),
  keeper: privateKeyOf(serviceWallets.keeper),
  sandbox: privateKeyOf(serviceWallets.sandbox),
  faucet: privateKeyOf(serviceWallets.faucet),
};

let signer: TestSigner;
/** A writer without any wallet's private key. */
const environment = () => ({
  SIGNER_URL: signer.url,
  RELAYER_PRIVATE_KEYS: "",
  RELAYER_PUBLIC_KEYS: publicKeyOf(keys.relayer),
});

beforeAll(async () => {
  signer = await startSigner(Object.values(keys));
});

/** Lets the signer be away until it has been asked in vain. */
async function away(output: () => string): Promise<void> {
  const giveUps = () => output().split("it gets no new nonces until the signer does").length;
  const before = giveUps();
  await waitFor({ what: "the writer to miss the signer", probe: () => giveUps() > before || undefined });
}

test("sandbox and faucet go on once the signer is back", async () => {
  const setup = await startTestnetSetup({
    parts: "both",
    env: {
      writer: {
        ...environment(),
        TESTNET_RELAYER_PRIVATE_KEYS: "",
        TESTNET_RELAYER_PUBLIC_KEYS: publicKeyOf(keys.relayer),
        SANDBOX_PRIVATE_KEY: "",
        SANDBOX_PUBLIC_KEY: publicKeyOf(keys.sandbox),
        FAUCET_PRIVATE_KEY: "",
        FAUCET_PUBLIC_KEY: publicKeyOf(keys.faucet),
      },
    },
  });
  await waitUntilSandboxReady(setup);
  const first = newClient();
  await claimUntilPaid(setup, first);
  const fromBlock = await nextBlock(setup);
  await signer.leave();
  const second = newClient();
  const calls = severalCalls(2);
  const missed = away(() => setup.stack.output("writer"));
  const claimed = claimUntilPaid(setup, second);
  const bought = Promise.all(calls.map((call) => tryUntilBought(setup, call)));
  await missed;
  await signer.comeBack();
  await claimed;
  await expectBoughtOnce(setup, await bought, fromBlock);
  await expectPaidOnce(setup, [first.wallet, second.wallet]);
});

test("the keeper goes on once the signer is back", async () => {
  const setup = await startKeeperSetup({
    env: {
      writer: { ...environment(), KEEPER_PRIVATE_KEY: "", KEEPER_PUBLIC_KEY: publicKeyOf(keys.keeper) },
    },
  });
  await prepareBuyer(setup);
  const due = await buyPolicies(setup, 3);
  signer.set({ kind: "holds" });
  const missed = away(() => setup.stack.output("writer"));
  await crash(setup);
  await missed;
  signer.set({ kind: "signs" });
  await untilAll(setup, "triggered", due);
  await expectNoNonceGaps({ chain: setup.chain, connection: setup.connection });
});
