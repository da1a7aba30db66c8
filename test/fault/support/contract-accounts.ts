/** Honest accounts with code that buy policies: a Safe, and an account to which EIP-7702 gives the Safe's code for receiving tokens. */
import { readFileSync } from "node:fs";
import {
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
  zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import type { ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { owner } from "./keeper-policies.ts";
import type { KeeperSetup } from "./keeper-setup.ts";

const hex = z.string().transform((text): Hex => `0x${text.slice(2)}`);
const code = z
  .object({ Safe: hex, SafeProxy: hex, CompatibilityFallbackHandler: hex })
  .parse(JSON.parse(readFileSync(new URL("safe-1.4.1.json", import.meta.url), "utf8")));

const safeAbi = parseAbi([
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)",
]);

async function deploy({ chain: { client } }: KeeperSetup, data: Hex): Promise<Address> {
  const hash = await client.sendTransaction({ account: owner, data });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("nothing was deployed");
  return contractAddress;
}

/** Deploys a Safe of one owner with its usual fallback handler. */
export async function deploySafe(setup: KeeperSetup): Promise<Address> {
  const singleton = await deploy(setup, code.Safe);
  const handler = await deploy(setup, code.CompatibilityFallbackHandler);
  const created = encodeAbiParameters([{ type: "address" }], [singleton]);
  const safe = await deploy(setup, `${code.SafeProxy}${created.slice(2)}`);
  const none = { to: zeroAddress, data: "0x" } as const;
  const args = [[owner.address], 1n, none.to, none.data, handler, zeroAddress, 0n, zeroAddress] as const;
  await act.send(
    setup.protocol,
    owner,
    safe,
    encodeFunctionData({ abi: safeAbi, functionName: "setup", args }),
  );
  return safe;
}

/** A new account that EIP-7702 gives the code of a contract which takes bonds. */
export async function delegatedAccount(setup: KeeperSetup): Promise<Address> {
  const { client } = setup.chain;
  const account = privateKeyToAccount(generatePrivateKey());
  const contractAddress = await deploy(
    setup,
    encodeDeployData({ abi: [], bytecode: code.CompatibilityFallbackHandler }),
  );
  const chainId = await client.getChainId();
  const authorization = await account.signAuthorization({ contractAddress, chainId, nonce: 0 });
  const hash = await client.sendTransaction({
    account: owner,
    to: owner.address,
    authorizationList: [authorization],
  });
  await client.waitForTransactionReceipt({ hash });
  const given = await client.getCode({ address: account.address });
  if (!given?.startsWith("0xef0100")) throw new Error("the chain has not given the account code");
  return account.address;
}

/** Buys a policy of 100 USDC for an account with code, as that account. @returns its id. */
export async function buyAs(
  { chain, protocol }: KeeperSetup,
  account: Address,
  { productId, asset }: ProductTerms,
): Promise<bigint> {
  const { client } = chain;
  const { coverRouter, usdc: token } = chain.deployment.contracts;
  await act.mintUsdc(protocol, owner, account, usdc(10));
  await client.setBalance({ address: account, value: 10n ** 18n });
  await client.impersonateAccount({ address: account });
  const send = async (to: Address, data: Hex) =>
    client.waitForTransactionReceipt({ hash: await client.sendTransaction({ account, to, data }) });
  await send(
    token,
    encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [coverRouter, usdc(10)] }),
  );
  const args = [productId, usdc(100), asset] as const;
  const bought = await send(
    coverRouter,
    encodeFunctionData({ abi: coverRouterAbi, functionName: "purchasePolicy", args }),
  );
  return act.purchased(bought).policyId;
}
