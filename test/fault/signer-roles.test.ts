/**
 * All wallets' keys are with the signer. What this proves: grants of the faucet, purchases of the sandbox and the keeper's triggers
 * go on once a signer that was away is back, each once.
 */
import { beforeAll, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";
import { expectNoNonceGaps } from "./support/assertions.ts";
import { claimUntilPaid, expectPaidOnce } from "./support/faucet-calls.ts";
import { buyPolicies, crash, prepareBuyer, untilPaid } from "./support/keeper-policies.ts";
import {
  expectBoughtOnce,
  nextBlock,
  severalCalls,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { newClient, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

const keys = {
  relayer: privateKeyOf(anvilAccount(1)),
  keeper: privateKeyOf(serviceWallets.keeper),
  sandbox: privateKeyOf(serviceWallets.sandbox),
  faucet: privateKeyOf(serviceWallets.faucet),
};

let signer: TestSigner;
let setup: TestnetSetup;

/** The writer has no wallet's private key. */
beforeAll(async () => {
  signer = await startSigner(Object.values(keys));
  setup = await startTestnetSetup({
    parts: "both",
    keeper: true,
    env: {
      writer: {
        SIGNER_URL: signer.url,
        RELAYER_PRIVATE_KEYS: "",
        RELAYER_PUBLIC_KEYS: publicKeyOf(keys.relayer),
        KEEPER_PRIVATE_KEY: "",
        KEEPER_PUBLIC_KEY: publicKeyOf(keys.keeper),
        TESTNET_RELAYER_PRIVATE_KEYS: "",
        TESTNET_RELAYER_PUBLIC_KEYS: publicKeyOf(keys.relayer),
        SANDBOX_PRIVATE_KEY: "",
        SANDBOX_PUBLIC_KEY: publicKeyOf(keys.sandbox),
        FAUCET_PRIVATE_KEY: "",
        FAUCET_PUBLIC_KEY: publicKeyOf(keys.faucet),
      },
    },
  });
});

/** Waits until the writer has asked the signer in vain once more. */
async function missed(): Promise<void> {
  const giveUps = () =>
    setup.stack.output("writer").split("it gets no new nonces until the signer does").length;
  const before = giveUps();
  await waitFor({ what: "the writer to miss the signer", probe: () => giveUps() > before || undefined });
}

test("sandbox and faucet go on once the signer is back", async () => {
  await waitUntilSandboxReady(setup);
  const first = newClient();
  await claimUntilPaid(setup, first);
  const fromBlock = await nextBlock(setup);
  await signer.leave();
  const second = newClient();
  const calls = severalCalls(2);
  const missing = missed();
  const claimed = claimUntilPaid(setup, second);
  const bought = Promise.all(calls.map((call) => tryUntilBought(setup, call)));
  await missing;
  await signer.comeBack();
  await claimed;
  await expectBoughtOnce(setup, await bought, fromBlock);
  await expectPaidOnce(setup, [first.wallet, second.wallet]);
});

test("the keeper goes on once the signer is back", async () => {
  const { main: chain, connection } = setup;
  const protocol = openProtocol(chain.deployment, chain.url);
  await prepareBuyer({ protocol });
  const due = await buyPolicies({ protocol }, 3);
  signer.set({ kind: "holds" });
  const missing = missed();
  await crash({ protocol });
  await missing;
  signer.set({ kind: "signs" });
  await untilPaid({ protocol }, due);
  await expectNoNonceGaps({ chain, connection });
});
