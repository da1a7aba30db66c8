// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IBondVault} from "./interfaces/IBondVault.sol";
import {IPolicyManager} from "./interfaces/IPolicyManager.sol";

/// @title The register of products and policies; see IPolicyManager.
contract PolicyManager is IPolicyManager, Upgradeable {
    using SafeCast for uint256;
    using SafeERC20 for IERC20;

    /// @dev A dollar in USDC units, and in the vault's.
    uint256 private constant DOLLAR = 1e6;
    uint256 private constant VAULT_DOLLAR = 1e18;

    struct Product {
        address shield;
        bool active;
    }

    enum State {
        None,
        Open,
        Triggered,
        Expired,
        Cancelled
    }

    /// @dev Packed into five slots, because a purchase pays gas for each slot.
    struct Record {
        address buyer;
        uint48 createdAt;
        uint48 expiresAt;
        address shield;
        uint48 waitingEndsAt;
        uint48 triggeredAt;
        uint128 coverage;
        uint128 payout;
        uint128 premium;
        uint128 priceSnapshot;
        uint248 bondEpochId;
        State state;
    }

    address public immutable router;
    IBondVault public immutable vault;
    IERC20 public immutable usdc;
    mapping(bytes32 productId => Product) public products;
    mapping(bytes32 productId => uint256) public policyCount;
    mapping(bytes32 productId => mapping(uint256 policyId => Record)) private _records;

    constructor(address router_, IBondVault vault_, IERC20 usdc_) {
        (router, vault, usdc) = (router_, vault_, usdc_);
    }

    modifier onlyRouter() {
        if (msg.sender != router) revert NotRouter(msg.sender);
        _;
    }

    /// @notice Adds a product, or reactivates one. Existing policies keep their shield.
    function registerProduct(bytes32 productId, address shield) external onlyOwner {
        products[productId] = Product(shield, true);
        emit ProductRegistered(productId, shield);
    }

    /// @notice Ends the sale of a product. Its open policies continue.
    function deactivateProduct(bytes32 productId) external onlyOwner {
        products[productId].active = false;
        emit ProductDeactivated(productId);
    }

    /// @notice Removes a product. Its open policies continue.
    function removeProduct(bytes32 productId) external onlyOwner {
        delete products[productId];
        emit ProductRemoved(productId);
    }

    /// @inheritdoc IPolicyManager
    function createPolicy(NewPolicy calldata policy) external onlyRouter returns (uint256 policyId, uint256 price) {
        price = vault.priceOracle().getLuminaPrice();
        uint256 usd = policy.payout / DOLLAR;
        uint256 available = vault.availableCapacityUSD();
        if (usd > available) revert InsufficientCapacity(usd, available);
        vault.reserveCapacity(usd * VAULT_DOLLAR);
        policyId = ++policyCount[policy.productId];
        _records[policy.productId][policyId] = Record({
            buyer: policy.buyer,
            createdAt: block.timestamp.toUint48(),
            expiresAt: policy.expiresAt.toUint48(),
            shield: policy.shield,
            waitingEndsAt: policy.waitingEndsAt.toUint48(),
            triggeredAt: 0,
            coverage: policy.coverage.toUint128(),
            payout: policy.payout.toUint128(),
            premium: policy.premium.toUint128(),
            priceSnapshot: policy.legacy ? 0 : price.toUint128(),
            bondEpochId: 0,
            state: State.Open
        });
        emit PolicyCreated(
            policy.productId, policyId, policy.buyer, policy.coverage, policy.premium, policy.payout
        );
    }

    /// @inheritdoc IPolicyManager
    function triggerPolicy(bytes32 productId, uint256 policyId, bytes32 reason) external onlyRouter {
        Record storage record = _open(productId, policyId);
        record.state = State.Triggered;
        record.triggeredAt = block.timestamp.toUint48();
        uint256 usdAmount = record.payout / DOLLAR;
        vault.commitReservation(usdAmount * VAULT_DOLLAR);
        uint256 epochId = vault.issueBond(record.buyer, usdAmount);
        record.bondEpochId = uint248(epochId);
        emit PolicyTriggered(productId, policyId, record.buyer, usdAmount, reason);
    }

    /// @inheritdoc IPolicyManager
    function markExpired(bytes32 productId, uint256 policyId) external {
        Record storage record = _open(productId, policyId);
        if (block.timestamp <= record.expiresAt) revert PolicyNotExpired(productId, policyId, record.expiresAt);
        record.state = State.Expired;
        vault.releaseReservation(record.payout / DOLLAR * VAULT_DOLLAR);
        emit PolicyExpired(productId, policyId);
    }

    /// @inheritdoc IPolicyManager
    function cancelPolicy(bytes32 productId, uint256 policyId) external onlyOwner {
        Record storage record = _open(productId, policyId);
        require(block.timestamp <= record.expiresAt, "WINDOW_EXPIRED");
        record.state = State.Cancelled;
        vault.releaseReservation(record.payout / DOLLAR * VAULT_DOLLAR);
        emit PolicyCancelled(productId, policyId);
        usdc.safeTransferFrom(msg.sender, record.buyer, record.premium);
    }

    /// @inheritdoc IPolicyManager
    function getPolicy(bytes32 productId, uint256 policyId) external view returns (Policy memory) {
        Record storage record = _records[productId][policyId];
        return Policy({
            productId: record.state == State.None ? bytes32(0) : productId,
            shield: record.shield,
            buyer: record.buyer,
            coverage: record.coverage,
            payout: record.payout,
            premium: record.premium,
            createdAt: record.createdAt,
            expiresAt: record.expiresAt,
            triggered: record.state == State.Triggered,
            expired: record.state == State.Expired
        });
    }

    /// @inheritdoc IPolicyManager
    function policyDetails(bytes32 productId, uint256 policyId) external view returns (PolicyDetails memory) {
        Record storage record = _records[productId][policyId];
        return PolicyDetails({
            waitingEndsAt: record.waitingEndsAt,
            priceSnapshot: record.priceSnapshot,
            triggeredAt: record.triggeredAt,
            bondEpochId: record.bondEpochId,
            cancelled: record.state == State.Cancelled
        });
    }

    /// @inheritdoc IPolicyManager
    function policyShield(bytes32 productId, uint256 policyId) external view returns (address) {
        return _records[productId][policyId].shield;
    }

    function productShield(bytes32 productId) external view returns (address) {
        return products[productId].shield;
    }

    function productActive(bytes32 productId) external view returns (bool) {
        return products[productId].active;
    }

    function _open(bytes32 productId, uint256 policyId) private view returns (Record storage record) {
        record = _records[productId][policyId];
        require(record.state != State.None, "POLICY_NOT_FOUND");
        require(record.state == State.Open, "ALREADY_FINALIZED");
    }
}
