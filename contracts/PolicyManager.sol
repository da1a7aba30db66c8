// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "./base/Upgradeable.sol";
import {IBondVault} from "./interfaces/IBondVault.sol";
import {IPolicyManager} from "./interfaces/IPolicyManager.sol";
import {IShieldAdapter} from "./interfaces/IShieldAdapter.sol";
import {ChainIds} from "./libraries/ChainIds.sol";

/// @title The register of products and policies; see IPolicyManager.
contract PolicyManager is IPolicyManager, Upgradeable {
    uint256 private constant PAYOUT_RATIO_BPS = 8000;
    uint256 private constant BPS = 10_000;
    /// @dev A dollar in USDC units, and in the vault's.
    uint256 private constant DOLLAR = 1e6;
    uint256 private constant VAULT_DOLLAR = 1e18;

    address public immutable router;
    IBondVault public immutable bondVault;

    bytes32[] public productIds;
    mapping(bytes32 productId => address adapter) public productShield;
    mapping(bytes32 productId => bool) public productActive;
    mapping(bytes32 productId => mapping(uint256 policyId => Policy)) public policies;
    mapping(bytes32 productId => mapping(uint256 policyId => uint256)) public policyReservedUSD;
    /// @dev The highest policy id of a product.
    mapping(bytes32 productId => uint256) private _highestId;

    constructor(address router_, IBondVault bondVault_) {
        (router, bondVault) = (router_, bondVault_);
    }

    modifier onlyRouter() {
        if (msg.sender != router) revert OnlyRouter();
        _;
    }

    /// @notice Adds a product, or gives it another adapter. Existing policies keep theirs.
    function registerProduct(bytes32 productId, address shield) external onlyOwner {
        require(shield != address(0), "Zero shield");
        productIds.push(productId);
        productShield[productId] = shield;
        productActive[productId] = true;
        emit ProductRegistered(productId, shield);
    }

    /// @notice Ends the sale of a product. Its open policies continue.
    function deactivateProduct(bytes32 productId) external onlyOwner {
        productActive[productId] = false;
        emit ProductDeactivated(productId);
    }

    /// @notice Takes a product off the list, and no more: it is still sold.
    function removeProduct(bytes32 productId) external onlyOwner {
        uint256 last = productIds.length - 1;
        for (uint256 i = 0; i <= last; i++) {
            if (productIds[i] != productId) continue;
            productIds[i] = productIds[last];
            productIds.pop();
            emit ProductRemoved(productId);
            return;
        }
        revert ProductNotFound(productId);
    }

    /// @inheritdoc IPolicyManager
    function recordPolicy(
        bytes32 productId,
        address buyer,
        uint256 coverageAmount,
        uint256 premiumPaid,
        uint32 durationSeconds,
        bytes32 asset
    ) external onlyRouter returns (uint256 policyId) {
        ChainIds.requireKnown();
        address adapter = productShield[productId];
        if (adapter == address(0)) revert ProductNotFound(productId);
        if (!productActive[productId]) revert ProductNotActive(productId);
        uint256 payout = coverageAmount * PAYOUT_RATIO_BPS / BPS;
        uint256 usd = payout / DOLLAR;
        require(usd > 0, "PM: payout truncates to zero");
        uint256 available = bondVault.availableCapacityUSD();
        if (usd > available) revert InsufficientCapacity(usd, available);
        bondVault.reserveCapacity(usd * VAULT_DOLLAR);

        IShieldAdapter.NewPolicy memory policy;
        (policy.buyer, policy.coverage, policy.premium) = (buyer, coverageAmount, premiumPaid);
        (policy.durationSeconds, policy.asset) = (durationSeconds, asset);
        policyId = IShieldAdapter(adapter).createPolicy(policy);
        policies[productId][policyId] = Policy({
            productId: productId,
            shield: adapter,
            buyer: buyer,
            coverageAmount: coverageAmount,
            payoutAmount: payout,
            premiumPaid: premiumPaid,
            createdAt: block.timestamp,
            expiresAt: block.timestamp + durationSeconds,
            triggered: false,
            expired: false
        });
        policyReservedUSD[productId][policyId] = usd * VAULT_DOLLAR;
        if (policyId > _highestId[productId]) _highestId[productId] = policyId;
        emit PolicyCreated(productId, policyId, buyer, coverageAmount, premiumPaid, payout);
    }

    /// @inheritdoc IPolicyManager
    function triggerPayout(bytes32 productId, uint256 policyId, bytes calldata oracleProof) external onlyRouter {
        ChainIds.requireKnown();
        Policy storage policy = _open(productId, policyId);
        _commit(policy, policyId);
        (bool triggered,, bytes32 reason) =
            IShieldAdapter(policy.shield).verifyAndCalculate(policyId, oracleProof);
        require(reason != "WINDOW_EXPIRED", "WINDOW_EXPIRED");
        require(triggered, "Trigger not met");
        _pay(policy, policyId, reason);
    }

    /// @inheritdoc IPolicyManager
    function settlePolicy(bytes32 productId, uint256 policyId, bool triggered) external {
        ChainIds.requireKnown();
        require(msg.sender == policies[productId][policyId].shield, "Only shield");
        Policy storage policy = _open(productId, policyId);
        if (!triggered) return _expire(policy, policyId);
        _commit(policy, policyId);
        _pay(policy, policyId, "SETTLED_BY_KEEPER");
    }

    /// @inheritdoc IPolicyManager
    function markExpired(bytes32 productId, uint256 policyId) external {
        Policy storage policy = _open(productId, policyId);
        require(block.timestamp > policy.expiresAt, "Not expired yet");
        try IShieldAdapter(policy.shield).verifyAndCalculate(policyId, "") returns (bool triggered, uint256, bytes32) {
            if (triggered) revert PolicyTriggerable(productId, policyId);
        } catch Error(string memory reason) {
            bytes32 hash = keccak256(bytes(reason));
            bool later = hash == keccak256("SEQUENCER_DOWN") || hash == keccak256("ORACLE_UNAVAILABLE");
            if (later) revert OracleUnavailableRetry(productId, policyId);
            revert(reason);
        } catch {
            revert OracleUnavailableRetry(productId, policyId);
        }
        _expire(policy, policyId);
    }

    /// @inheritdoc IPolicyManager
    function getPolicy(bytes32 productId, uint256 policyId) external view returns (Policy memory) {
        return policies[productId][policyId];
    }

    /// @inheritdoc IPolicyManager
    function getActivePolicyIds(bytes32 productId, uint256 maxResults) external view returns (uint256[] memory ids) {
        ids = new uint256[](maxResults);
        uint256 found = 0;
        for (uint256 id = 1; id <= _highestId[productId] && found < maxResults; id++) {
            Policy storage policy = policies[productId][id];
            if (!policy.triggered && !policy.expired) ids[found++] = id;
        }
        assembly {
            mstore(ids, found)
        }
    }

    /// @inheritdoc IPolicyManager
    function getProductCount() external view returns (uint256) {
        return productIds.length;
    }

    function _commit(Policy storage policy, uint256 policyId) private {
        policy.triggered = true;
        bondVault.commitReservation(_endReservation(policy, policyId));
    }

    function _pay(Policy storage policy, uint256 policyId, bytes32 reason) private {
        uint256 usd = policy.payoutAmount / DOLLAR;
        bondVault.issueBond(policy.buyer, usd);
        emit PolicyTriggered(policy.productId, policyId, policy.buyer, usd, reason);
    }

    function _expire(Policy storage policy, uint256 policyId) private {
        policy.expired = true;
        bondVault.releaseReservation(_endReservation(policy, policyId));
        emit PolicyExpired(policy.productId, policyId);
    }

    function _endReservation(Policy storage policy, uint256 policyId) private returns (uint256 usd) {
        usd = policyReservedUSD[policy.productId][policyId];
        policyReservedUSD[policy.productId][policyId] = 0;
    }

    function _open(bytes32 productId, uint256 policyId) private view returns (Policy storage policy) {
        policy = policies[productId][policyId];
        require(policy.buyer != address(0), "Policy not found");
        require(!policy.triggered, "Already triggered");
        require(!policy.expired, "Already expired");
    }
}
