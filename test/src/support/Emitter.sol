// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Emits any logs, so that a test can put any events in any order into one transaction. In place of a proxy's code it
/// answers all else as the contract behind the proxy.
contract Emitter {
    /// As ERC-1967 says.
    bytes32 private constant IMPLEMENTATION = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);

    struct Entry {
        Emitter at;
        bytes32[] topics;
        bytes data;
    }

    function emitAll(Entry[] calldata entries) external {
        for (uint256 i = 0; i < entries.length; i++) {
            entries[i].at.emitOne(entries[i].topics, entries[i].data);
        }
    }

    function emitOne(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory text = data;
        uint256 count = topics.length;
        bytes32[4] memory topic;
        for (uint256 i = 0; i < count; i++) topic[i] = topics[i];
        assembly {
            let start := add(text, 32)
            let size := mload(text)
            switch count
            case 1 { log1(start, size, mload(topic)) }
            case 2 { log2(start, size, mload(topic), mload(add(topic, 32))) }
            case 3 { log3(start, size, mload(topic), mload(add(topic, 32)), mload(add(topic, 64))) }
            default {
                log4(start, size, mload(topic), mload(add(topic, 32)), mload(add(topic, 64)), mload(add(topic, 96)))
            }
        }
    }

    fallback() external {
        bytes32 slot = IMPLEMENTATION;
        assembly {
            let implementation := sload(slot)
            if iszero(implementation) { revert(0, 0) }
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
