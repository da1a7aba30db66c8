// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "./base/Upgradeable.sol";
import {IPolicyManager} from "./interfaces/IPolicyManager.sol";
import {IShieldAdapter} from "./interfaces/IShieldAdapter.sol";

/// @title Through it anybody may observe, pay and expire policies.
contract ShieldKeeper is Upgradeable {
    uint256 public constant MAX_POLICIES_PER_UPKEEP = 10;

    IPolicyManager public immutable policyManager;
    bool public paused;

    /// @notice The call did not revert: also for an observation or a reset, which settle nothing.
    event PolicySettled(bytes32 indexed productId, uint256 indexed policyId, address shield);
    /// @param reason the revert's bytes; empty when the call ran out of gas.
    event SettlementFailed(bytes32 indexed productId, uint256 indexed policyId, bytes reason);
    event KeeperPaused(address indexed by);
    event KeeperUnpaused(address indexed by);

    error KeeperPausedError();

    constructor(IPolicyManager policyManager_) {
        policyManager = policyManager_;
    }

    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
        if (paused_) emit KeeperPaused(msg.sender);
        else emit KeeperUnpaused(msg.sender);
    }

    /// @param performData abi.encode(bytes32 productId, uint256[] policyIds); ids behind the tenth are ignored.
    function performUpkeep(bytes calldata performData) external {
        if (paused) revert KeeperPausedError();
        (bytes32 productId, uint256[] memory policyIds) = abi.decode(performData, (bytes32, uint256[]));
        address adapter = policyManager.productShield(productId);
        require(adapter != address(0), "Invalid product");
        for (uint256 i = 0; i < policyIds.length && i < MAX_POLICIES_PER_UPKEEP; i++) {
            try IShieldAdapter(adapter).checkAndSettlePolicy(policyIds[i]) {
                emit PolicySettled(productId, policyIds[i], adapter);
            } catch (bytes memory reason) {
                emit SettlementFailed(productId, policyIds[i], reason);
            }
        }
    }

    /// @param checkData abi.encode(bytes32 productId), or empty: the first product with open policies.
    /// @return upkeepNeeded @return performData the ten lowest open policies; no price is looked at.
    function checkUpkeep(bytes calldata checkData)
        external
        view
        returns (bool upkeepNeeded, bytes memory performData)
    {
        if (paused) return (false, "");
        if (checkData.length >= 32) return _upkeepOf(abi.decode(checkData, (bytes32)));
        for (uint256 i = 0; i < policyManager.getProductCount() && !upkeepNeeded; i++) {
            (upkeepNeeded, performData) = _upkeepOf(policyManager.productIds(i));
        }
    }

    function _upkeepOf(bytes32 productId) private view returns (bool, bytes memory) {
        uint256[] memory ids = policyManager.getActivePolicyIds(productId, MAX_POLICIES_PER_UPKEEP);
        return ids.length == 0 ? (false, bytes("")) : (true, abi.encode(productId, ids));
    }
}
