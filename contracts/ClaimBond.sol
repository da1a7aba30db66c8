// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Supply} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Supply.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IBondVault} from "./interfaces/IBondVault.sol";
import {IClaimBond} from "./interfaces/IClaimBond.sol";
import {Months} from "./libraries/Months.sol";

/// @title Claim bonds, one ERC-1155 id per maturity month; see IClaimBond.
contract ClaimBond is IClaimBond, ERC1155Supply, Upgradeable {
    IBondVault public immutable vault;
    mapping(uint256 epochId => uint256) public maturityDate;
    /// @notice Contracts that may send their own bonds and, with the holder's approval, those of other accounts.
    mapping(address => bool) public authorizedOperators;

    constructor(IBondVault vault_) ERC1155("") {
        vault = vault_;
    }

    modifier onlyVault() {
        require(msg.sender == address(vault), "Only BondVault");
        _;
    }

    function setAuthorizedOperator(address operator, bool authorized) external onlyOwner {
        authorizedOperators[operator] = authorized;
        emit OperatorAuthorized(operator, authorized);
    }

    /// @inheritdoc IClaimBond
    function mint(address to, uint256 usdAmount) external onlyVault returns (uint256 epochId) {
        epochId = Months.monthOf(block.timestamp + vault.bondMaturitySeconds());
        if (maturityDate[epochId] == 0) {
            maturityDate[epochId] = Months.lastSecondOf(epochId);
            emit EpochCreated(epochId, maturityDate[epochId]);
        }
        _mint(to, epochId, usdAmount, "");
        emit BondsMinted(epochId, to, usdAmount);
    }

    /// @inheritdoc IClaimBond
    function burn(address holder, uint256 epochId, uint256 usdAmount) external onlyVault {
        _burn(holder, epochId, usdAmount);
        emit BondsBurned(epochId, holder, usdAmount);
    }

    /// @inheritdoc IClaimBond
    function burnByHolder(address account, uint256 epochId, uint256 amount) external {
        if (account != msg.sender && !isApprovedForAll(account, msg.sender)) {
            revert ERC1155MissingApprovalForAll(msg.sender, account);
        }
        _burn(account, epochId, amount);
        emit BondsBurnedByHolder(account, epochId, amount);
        if (vault.authorizedCallers(address(this))) vault.decreaseObligations(amount * 1e18);
        else emit ObligationsSyncSkipped(account, epochId, amount);
    }

    /// @inheritdoc IClaimBond
    function isMatured(uint256 epochId) public view returns (bool) {
        return maturityDate[epochId] != 0 && block.timestamp >= maturityDate[epochId];
    }

    /// @inheritdoc IClaimBond
    function getEpochInfo(uint256 epochId)
        external
        view
        returns (bool exists, uint256 maturity, uint256 supply, bool matured)
    {
        maturity = maturityDate[epochId];
        return (maturity != 0, maturity, totalSupply(epochId), isMatured(epochId));
    }

    function _update(address from, address to, uint256[] memory ids, uint256[] memory values) internal override {
        bool moved = from != address(0) && to != address(0);
        require(
            !moved || authorizedOperators[msg.sender] || authorizedOperators[from],
            "ClaimBond: transfers only via authorized operators"
        );
        super._update(from, to, ids, values);
    }
}
