// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "./base/Upgradeable.sol";
import {IFlashShield} from "./interfaces/IFlashShield.sol";
import {IPolicyManager} from "./interfaces/IPolicyManager.sol";
import {IShieldAdapter} from "./interfaces/IShieldAdapter.sol";

/// @title The adapter between the policy manager and one slim shield; see IShieldAdapter.
contract ShieldAdapter is IShieldAdapter, Upgradeable {
    uint256 private constant PAYOUT_RATIO_BPS = 8000;
    uint256 private constant BPS = 10_000;

    IPolicyManager public immutable policyManager;
    IFlashShield public immutable shield;
    bytes32 public immutable productId;

    /// @notice May settle policies, as the relayer may. Zero: nobody.
    address public keeper;
    address public relayer;
    uint256 private _policyCount;

    constructor(IPolicyManager policyManager_, IFlashShield shield_, bytes32 productId_) {
        (policyManager, shield, productId) = (policyManager_, shield_, productId_);
    }

    modifier onlyManager() {
        require(msg.sender == address(policyManager), "ONLY_PM");
        _;
    }

    function setKeeper(address keeper_) external onlyOwner {
        emit KeeperUpdated(keeper, keeper_);
        keeper = keeper_;
    }

    function setRelayer(address relayer_) external onlyOwner {
        emit RelayerUpdated(relayer, relayer_);
        relayer = relayer_;
    }

    /// @inheritdoc IShieldAdapter
    function createPolicy(NewPolicy calldata policy) external onlyManager returns (uint256 policyId) {
        policyId = ++_policyCount;
        uint64 start = uint64(block.timestamp);
        shield.openPolicy(
            policyId, policy.buyer, policy.coverage, policy.asset, start, start + policy.durationSeconds
        );
    }

    /// @inheritdoc IShieldAdapter
    function verifyAndCalculate(uint256 policyId, bytes calldata)
        external
        onlyManager
        returns (bool triggered, uint256 payout, bytes32 reason)
    {
        return shield.evaluate(policyId);
    }

    /// @inheritdoc IShieldAdapter
    function checkAndSettlePolicy(uint256 policyId) external {
        require(msg.sender == keeper || msg.sender == relayer, "ONLY_KEEPER_OR_RELAYER");
        try shield.evaluate(policyId) returns (bool triggered, uint256, bytes32 reason) {
            if (triggered || reason == "WINDOW_EXPIRED") policyManager.settlePolicy(productId, policyId, triggered);
            emit PolicySettled(policyId, triggered, reason);
        } catch Error(string memory reason) {
            revert(_settlementReason(reason));
        }
    }

    /// @notice `status` is 0 while the policy is open, 2 once it is finalised.
    function getPolicyInfo(uint256 policyId)
        external
        view
        returns (address buyer, uint256 coverage, uint256 zero, uint256 maxPayout, uint256 expiresAt, uint8 status)
    {
        bool finalized;
        (buyer, coverage,,, expiresAt, finalized) = shield.getPolicyInfo(policyId);
        return (buyer, coverage, 0, coverage * PAYOUT_RATIO_BPS / BPS, expiresAt, finalized ? 2 : 0);
    }

    function _settlementReason(string memory reason) private pure returns (string memory) {
        bytes32 hash = keccak256(bytes(reason));
        if (hash == keccak256("POLICY_NOT_FOUND") || hash == keccak256("ALREADY_FINALIZED")) return reason;
        bool early = hash == keccak256("DWELL_NOT_ELAPSED") || hash == keccak256("SAME_BLOCK_OBSERVATION")
            || hash == keccak256("STALE_ROUND_OBSERVATION") || hash == keccak256("CONFIRMATION_TOO_SOON");
        return early ? "NOT_SETTLEABLE_YET" : "ORACLE_UNAVAILABLE";
    }
}
