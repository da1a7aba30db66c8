/** Burns, pauses, prices and time. */
import { type Address, erc20Abi, parseEther } from "viem";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import { type Action, amountUpTo, chosen, chosenPlayer, DAY, HOUR, type Scene, USDC, WEEK } from "./scene.ts";

const usdcOf = ({ client, deployment }: act.Protocol, address: Address) =>
  client.readContract({
    abi: erc20Abi,
    address: deployment.contracts.usdc,
    functionName: "balanceOf",
    args: [address],
  });

/** A burner spends at most 40 USDC of its income; one that has none gets some, as a gift. */
const burnWith =
  (kind: act.BurnerKind): Action =>
  ({ protocol, owner, draw }) =>
  async () => {
    const burner = protocol.deployment.contracts[kind];
    const amount = 1n + amountUpTo(40n * USDC, draw);
    if ((await usdcOf(protocol, burner)) < amount) await act.mintUsdc(protocol, owner, burner, amount);
    const { receipt } = await act.executeBurn(protocol, owner, kind, amount);
    return { block: receipt.blockNumber, changed: {} };
  };
export const twapBurn = burnWith("twapBurner");
export const buybackBurn = burnWith("buybackEngine");

/** Also one of nothing, which is a burn all the same. */
export const directBurn: Action = (scene) => async () => {
  const amount = amountUpTo(parseEther("3"), scene.draw) * 101n;
  const { blockNumber } = await act.burnTokens(scene.protocol, chosenPlayer(scene), amount);
  return { block: blockNumber, changed: {} };
};

export const reserveBurn: Action = ({ protocol, owner, draw }) => {
  return async () => {
    const { blockNumber } = await act.burnReserves(protocol, owner, amountUpTo(parseEther("9"), draw));
    return { block: blockNumber, changed: {} };
  };
};

export const pauseRouter: Action = ({ protocol, owner, world }) => {
  if (world.routerPaused) return undefined;
  return async () => {
    const { blockNumber } = await act.setRouterPaused(protocol, owner, true);
    return { block: blockNumber, changed: { routerPaused: true } };
  };
};

export const pauseEverything: Action = ({ protocol, owner, world }) => {
  if (world.everythingPaused) return undefined;
  return async () => {
    const { blockNumber } = await act.setGlobalPause(protocol, owner, true);
    return { block: blockNumber, changed: { everythingPaused: true } };
  };
};

export const pauseProduct: Action = ({ protocol, owner, world, draw }) => {
  const product = chosen(
    allTerms.filter(({ productId }) => !world.pausedProducts.includes(productId)),
    draw.which,
  );
  if (!product) return undefined;
  return async () => {
    const { blockNumber } = await act.setProductPaused(protocol, owner, product.productId, true);
    return { block: blockNumber, changed: { pausedProducts: [...world.pausedProducts, product.productId] } };
  };
};

export const endSale: Action = ({ protocol, owner, world, draw }) => {
  const product = chosen(
    allTerms.filter(({ productId }) => !world.endedSales.has(productId)),
    draw.which,
  );
  if (!product) return undefined;
  const { productId } = product;
  return async () => {
    const shield = await protocol.client.readContract({
      abi: policyManagerAbi,
      address: protocol.deployment.contracts.policyManager,
      functionName: "productShield",
      args: [productId],
    });
    const { blockNumber } = await act.deactivateProduct(protocol, owner, productId);
    return {
      block: blockNumber,
      changed: { endedSales: new Map([...world.endedSales, [productId, shield]]) },
    };
  };
};

/** Takes one of the pauses back; those that stop everything first. */
export const resume: Action = ({ protocol, owner, world }) => {
  const { pausedProducts, endedSales } = world;
  if (world.everythingPaused)
    return async () => {
      const { blockNumber } = await act.setGlobalPause(protocol, owner, false);
      return { block: blockNumber, changed: { everythingPaused: false } };
    };
  if (world.routerPaused)
    return async () => {
      const { blockNumber } = await act.setRouterPaused(protocol, owner, false);
      return { block: blockNumber, changed: { routerPaused: false } };
    };
  const [paused, ...stillPaused] = pausedProducts;
  if (paused)
    return async () => {
      const { blockNumber } = await act.setProductPaused(protocol, owner, paused, false);
      return { block: blockNumber, changed: { pausedProducts: stillPaused } };
    };
  const [ended, ...stillEnded] = endedSales;
  if (!ended) return undefined;
  return async () => {
    const { blockNumber } = await act.registerProduct(protocol, owner, ...ended);
    return { block: blockNumber, changed: { endedSales: new Map(stillEnded) } };
  };
};

/** The token between 0.07 and 0.15 USD; burns and redemptions take the price of the day. */
export const movePrice: Action = (scene) => async () => {
  const price = 7_000_000n + amountUpTo(8_000_000n, scene.draw);
  const { blockNumber } = await act.pushPrice(scene.protocol, chosenPlayer(scene), "token", price);
  return { block: blockNumber, changed: {} };
};

/** Moves the chain's time forward to `then`, where the feeds report anew. */
async function passTo({ protocol, owner }: Scene, then: bigint) {
  await act.mineAt(protocol, then);
  const block = await protocol.client.getBlockNumber();
  await act.refreshFeeds(protocol, owner);
  return { block, changed: {} };
}

export const passHours: Action = (scene) => () =>
  passTo(scene, scene.now + 600n + (BigInt(scene.draw.which) % (30n * HOUR)));
export const passDays: Action = (scene) => () =>
  passTo(scene, scene.now + DAY + (BigInt(scene.draw.which) % (20n * DAY)));
export const passWeek: Action = (scene) => () => passTo(scene, (scene.now / WEEK + 1n) * WEEK);

/** To the second in which the oldest bonds can be redeemed: more than two years, when they are new. */
export const passYears: Action = (scene) => {
  const { world, now } = scene;
  const coming = world.holdings.flatMap(({ epochId }) => world.maturities.get(epochId) ?? []);
  const [next] = coming.filter((date) => date > now).sort((a, b) => (a < b ? -1 : 1));
  return next === undefined ? undefined : () => passTo(scene, next);
};
