/** Contract wallets with one owner, deployed (ERC-1271) or counterfactual (ERC-6492). They can hold bonds. */
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  parseAbi,
  serializeErc6492Signature,
} from "viem";
import type { TestChain } from "../../support/chain.ts";
import { compile } from "../../support/solidity.ts";

const source = `
contract Wallet {
    address immutable owner;
    constructor(address o) { owner = o; }
    function isValidSignature(bytes32 hash, bytes calldata s) external view returns (bytes4) {
        if (s.length != 65) return 0xffffffff;
        address signer = ecrecover(hash, uint8(s[64]), bytes32(s[0:32]), bytes32(s[32:64]));
        return signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
    function execute(address[] calldata to, bytes[] calldata data) external {
        require(msg.sender == owner, "Not owner");
        for (uint256 i = 0; i < to.length; i++) {
            (bool succeeded,) = to[i].call(data[i]);
            require(succeeded, "A call failed");
        }
    }
    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC1155Received.selector;
    }
}
contract Factory {
    function create(address owner) external returns (address) { return address(new Wallet{salt: 0}(owner)); }
    function addressOf(address owner) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Wallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}`;

const factoryAbi = parseAbi([
  "function create(address owner) returns (address)",
  "function addressOf(address owner) view returns (address)",
]);

const walletAbi = parseAbi(["function execute(address[] to, bytes[] data)"]);

/** What the owner of a deployed wallet sends to it, so that it makes these calls in one transaction. */
export const walletCalls = (...calls: { readonly to: Address; readonly data: Hex }[]): Hex =>
  encodeFunctionData({
    abi: walletAbi,
    functionName: "execute",
    args: [calls.map(({ to }) => to), calls.map(({ data }) => data)],
  });

export type ContractWallets = {
  /** The address of an account's wallet, deployed or not. */
  readonly addressOf: (owner: LocalAccount) => Promise<Address>;
  /** Deploys the wallet. */
  readonly create: (owner: LocalAccount) => Promise<Address>;
  /** Wraps the owner's signature for a wallet that is not deployed yet. */
  readonly counterfactual: (owner: LocalAccount, signature: Hex) => Hex;
};

/** Deploys a factory of such wallets. */
export async function deployWalletFactory(chain: TestChain): Promise<ContractWallets> {
  const { client, owner: deployer } = chain;
  const send = async (call: { to?: Address; data: Hex }) => {
    const hash = await client.sendTransaction({ account: deployer, ...call });
    return client.waitForTransactionReceipt({ hash });
  };
  const noArguments: Abi = [];
  const { contractAddress: factory } = await send({
    data: encodeDeployData({ abi: noArguments, bytecode: compile(source, "Factory").creation }),
  });
  if (!factory) throw new Error("the factory was not deployed");
  const creation = (owner: LocalAccount) =>
    encodeFunctionData({ abi: factoryAbi, functionName: "create", args: [owner.address] });
  const addressOf = (owner: LocalAccount) =>
    client.readContract({
      address: factory,
      abi: factoryAbi,
      functionName: "addressOf",
      args: [owner.address],
    });
  return {
    addressOf,
    async create(owner) {
      await send({ to: factory, data: creation(owner) });
      return addressOf(owner);
    },
    counterfactual: (owner, signature) =>
      serializeErc6492Signature({ address: factory, data: creation(owner), signature }),
  };
}
