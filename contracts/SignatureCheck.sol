// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title Checks a contract wallet's signature in one `eth_call` that deploys nothing: the constructor returns one word.
/// @notice The word is 1 when the wallet has signed one of the digests by ERC-1271, else 0. Only a wallet without code is
/// deployed first, by the factory call of its ERC-6492 signature. Wallet and factory are strangers' code: each call has at
/// most `callGas`, none of its return data is copied beyond one word, and its failure is an answer, not an error.
contract SignatureCheck {
    /// @param signature without its ERC-6492 wrapper
    /// @param factory of the wrapper; the zero address without one
    constructor(
        address wallet,
        bytes32[] memory digests,
        bytes memory signature,
        address factory,
        bytes memory factoryCall,
        uint256 callGas
    ) {
        if (wallet.code.length == 0 && factory != address(0)) {
            assembly ("memory-safe") {
                pop(call(callGas, factory, 0, add(factoryCall, 32), mload(factoryCall), 0, 0))
            }
        }
        bool signed = false;
        // Precompiles have no code, but answer calls.
        if (wallet.code.length > 0) {
            for (uint256 i = 0; i < digests.length && !signed; ++i) {
                signed = accepts(wallet, abi.encodeCall(IERC1271.isValidSignature, (digests[i], signature)), callGas);
            }
        }
        assembly ("memory-safe") {
            mstore(0, signed)
            return(0, 32)
        }
    }

    /// True when the wallet returns the selector of `isValidSignature`, padded: an echo of the question is not.
    function accepts(address wallet, bytes memory question, uint256 callGas) private view returns (bool yes) {
        bytes32 valid = bytes32(IERC1271.isValidSignature.selector);
        assembly ("memory-safe") {
            mstore(0, 0)
            yes := staticcall(callGas, wallet, add(question, 32), mload(question), 0, 32)
            yes := and(yes, and(gt(returndatasize(), 31), eq(mload(0), valid)))
        }
    }
}
