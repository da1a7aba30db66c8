// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Many calls in one transaction, where a call may fail without the others.
/// @notice The part of Multicall3 that the service uses, with the same ABI and behaviour. For local chains only: on a public
/// network the deployment file names the canonical contract, 0xcA11bde05977b3631167028862bE2a173976CA11. Each called contract
/// sees this contract as its caller.
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    /// @notice Makes the calls in their order, without ether.
    /// @return results one per call; the return data of a failed call is its revert data.
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory returnData) = calls[i].target.call(calls[i].callData);
            require(success || calls[i].allowFailure, "Multicall3: call failed");
            results[i] = Result(success, returnData);
        }
    }
}
