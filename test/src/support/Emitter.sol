// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Emits any logs, so that a test can put any events in any order into one transaction.
contract Emitter {
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
}
