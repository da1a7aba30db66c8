// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "./base/Upgradeable.sol";
import {IFlashShield} from "./interfaces/IFlashShield.sol";

/// @title The adapter between the router and one shield. A product's `shield` field is the address of its adapter.
contract ShieldAdapter is IFlashShield, Upgradeable {
    address public immutable router;
    IFlashShield public immutable shield;

    constructor(address router_, IFlashShield shield_) {
        (router, shield) = (router_, shield_);
    }

    modifier onlyRouter() {
        require(msg.sender == router, "NOT_ROUTER");
        _;
    }

    /// @inheritdoc IFlashShield
    function openPolicy(uint256 policyId, bytes32 asset_, uint256 startsAt, uint256 coverFrom, uint256 endsAt)
        external
        onlyRouter
    {
        shield.openPolicy(policyId, asset_, startsAt, coverFrom, endsAt);
    }

    /// @inheritdoc IFlashShield
    function evaluateTrigger(uint256 policyId, bytes calldata oracleProof)
        external
        onlyRouter
        returns (bytes32 reason)
    {
        return shield.evaluateTrigger(policyId, oracleProof);
    }

    function triggerPrice(uint256 policyId) external view returns (uint256) {
        return shield.triggerPrice(policyId);
    }

    function productId() external view returns (bytes32) {
        return shield.productId();
    }

    function asset() external view returns (bytes32) {
        return shield.asset();
    }

    function durationSeconds() external view returns (uint32) {
        return shield.durationSeconds();
    }

    function triggerDropBps() external view returns (uint16) {
        return shield.triggerDropBps();
    }
}
