/** A gas oracle as on the chains of the OP stack, whose fee follows from the size of the data alone. */
import { concatHex, toHex } from "viem";
import type { TestChain } from "./chain.ts";

/** Where the chains of the OP stack have their gas oracle. */
const GAS_ORACLE = "0x420000000000000000000000000000000000000F";

/** From now on `getL1Fee(bytes)` answers the size of its calldata × `weiPerByte`, and every other function 0. */
export const deployGasOracle = ({ client }: Pick<TestChain, "client">, weiPerByte: bigint): Promise<void> =>
  client.setCode({
    address: GAS_ORACLE,
    bytecode: concatHex([
      "0x5f3560e01c6349948e0e14", // PUSH0 CALLDATALOAD PUSH1 e0 SHR PUSH4 selector EQ
      "0x360267", // CALLDATASIZE MUL PUSH8
      toHex(weiPerByte, { size: 8 }),
      "0x025f5260205ff3", // MUL PUSH0 MSTORE PUSH1 20 PUSH0 RETURN
    ]),
  });
