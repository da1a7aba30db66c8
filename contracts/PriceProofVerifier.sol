// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title Checks who signed a price: EIP-712 proofs of the service's oracle.
/// @notice It judges the signature alone. How old a proof may be is its caller's to decide, by `verifiedAt`.
contract PriceProofVerifier is EIP712 {
    bytes32 private constant PRICE_PROOF_TYPEHASH =
        keccak256("PriceProof(int256 price,bytes32 asset,uint256 verifiedAt)");

    /// @notice The accepted signer.
    address public immutable oracleKey;

    constructor(address oracleKey_) EIP712("PriceProofVerifier", "1") {
        oracleKey = oracleKey_;
    }

    /// @param price in the feed's decimals. @param asset the symbol in ASCII, padded with zeros on the right.
    /// @param verifiedAt Unix seconds. @param signature 65 bytes: r, s, v.
    /// @return signer the oracle's key, or the zero address where it did not sign this proof.
    function verifyPriceProofEIP712(int256 price, bytes32 asset, uint256 verifiedAt, bytes calldata signature)
        external
        view
        returns (address signer)
    {
        (signer,,) = ECDSA.tryRecoverCalldata(priceProofDigest(price, asset, verifiedAt), signature);
        if (signer != oracleKey) signer = address(0);
    }

    /// @notice The digest that the oracle signs.
    function priceProofDigest(int256 price, bytes32 asset, uint256 verifiedAt) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(PRICE_PROOF_TYPEHASH, price, asset, verifiedAt)));
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }
}
