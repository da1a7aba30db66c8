/** Microseconds of CPU per signed purchase: with the writer's account, with viem's, and the parts that both share. */
import { encodeFunctionData, type Hex, keccak256, serializeTransaction } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import type { Account } from "../workers/relayer/account.ts";
import { nativeAccount } from "../workers/relayer/native-account.ts";
import { signCall } from "../workers/relayer/sign-call.ts";
import { PRODUCT } from "./purchase-load.ts";
import { median, report } from "./report.ts";

const ROUNDS = 9;
const CALLS = 500;
const FEES = { maxFee: 50_000_000_000n, priorityFee: 1_000_000n };

/** The median over the rounds: other processes of the machine disturb some of them. */
async function cpuOf(step: (nonce: number) => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let nonce = 0; nonce < CALLS; nonce += 1) await step(nonce);
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / CALLS);
  }
  return median(rounds);
}

export async function benchSigning(): Promise<void> {
  const product = entryByName(PRODUCT);
  if (!product) throw new Error(`the catalogue lacks ${PRODUCT}`);
  const privateKey = generatePrivateKey();
  const viem = privateKeyToAccount(privateKey);
  const native = nativeAccount(privateKey);
  const call = {
    to: viem.address,
    data: encodeFunctionData({
      abi: coverRouterAbi,
      functionName: "purchasePolicyFor",
      args: [product.productId, MINIMUM_COVERAGE, product.asset, viem.address],
    }),
    value: 0n,
    gasLimit: 600_000n,
  };
  const lease = { chainId: 8453, address: viem.address, owner: "bench", token: "1" };
  const signing = (account: Account) => cpuOf((nonce) => signCall({ account, lease }, nonce, call, FEES));
  const serialised = (nonce: number): Hex =>
    serializeTransaction({ type: "eip1559", chainId: 8453, nonce, ...call, maxFeePerGas: FEES.maxFee });
  const bytes = serialised(1);
  const inJavaScript = await signing(viem);
  const inNativeCode = native && (await signing(native));
  report(`signing: ${ROUNDS} rounds of ${CALLS} purchases`, [
    { what: "with viem's account", value: inJavaScript, unit: "µs" },
    ...(inNativeCode === undefined
      ? []
      : [
          {
            what: "with libsecp256k1",
            value: inNativeCode,
            unit: "µs",
            compared: { with: inJavaScript },
          },
        ]),
    { what: "  serialising, of two", value: await cpuOf(serialised), unit: "µs" },
    { what: "  Keccak-256, of two", value: await cpuOf(() => keccak256(bytes)), unit: "µs" },
  ]);
}
