/** Actions on burns, pauses, prices and time. */
import { formatEther, formatUnits, parseEther } from "viem";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../../abis/PriceOracle.ts";
import { twapBurnerAbi } from "../../../abis/TwapBurner.ts";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import * as act from "../../support/protocol-actions.ts";
import {
  type Action,
  type ActionContext,
  amountUpTo,
  DAY,
  HOUR,
  pick,
  pickUser,
  USDC,
  WEEK,
} from "./action.ts";

/** The burner spends its income, to which some USDC are added first, as soon as its cooldown allows. */
export const twapBurn: Action = (context) => async () => {
  const { protocol, owner, draw } = context;
  const { twapBurner: address } = protocol.deployment.contracts;
  await act.mintUsdc(protocol, owner, address, USDC + amountUpTo(40n * USDC, draw));
  const burner = { abi: twapBurnerAbi, address } as const;
  const [last, cooldown] = await Promise.all([
    protocol.client.readContract({ ...burner, functionName: "lastBurnTime" }),
    protocol.client.readContract({ ...burner, functionName: "burnCooldown" }),
  ]);
  if ((await act.chainTime(protocol)) < last + cooldown) await act.nextBlockAt(protocol, last + cooldown);
  const { receipt } = await act.executeBurn(protocol, pickUser(context));
  return { block: receipt.blockNumber, changed: {} };
};

/** The amount may be zero, which also emits the burn's event. */
export const directBurn: Action = (context) => async () => {
  const amount = amountUpTo(parseEther("3"), context.draw) * 101n;
  const { blockNumber } = await act.burnTokens(context.protocol, pickUser(context), amount);
  return { block: blockNumber, changed: {} };
};

export const reserveBurn: Action = ({ protocol, owner, draw }) => {
  return async () => {
    const { blockNumber } = await act.burnReserves(protocol, owner, amountUpTo(parseEther("9"), draw));
    return { block: blockNumber, changed: {} };
  };
};

export const pauseRouter: Action = ({ protocol, owner, model }) => {
  if (model.routerPaused) return undefined;
  return async () => {
    const { blockNumber } = await act.setRouterPaused(protocol, owner, true);
    return { block: blockNumber, changed: { routerPaused: true } };
  };
};

/** Tells the router a low or a high price of the token, which is as before afterwards: sales are open, whatever it has stored. */
async function tellPrice(context: ActionContext, { low }: { low: boolean }) {
  const { protocol, owner } = context;
  const before = await protocol.client.readContract({
    abi: priceOracleAbi,
    address: await act.priceOracleOf(protocol),
    functionName: "getLuminaPrice",
  });
  await act.setTokenPrice(protocol, owner, low ? "0.0049" : "0.008");
  const { blockNumber } = await act.syncCircuitBreaker(protocol, pickUser(context));
  await act.setTokenPrice(protocol, owner, formatEther(before));
  return { block: blockNumber, changed: { pausedByPrice: low } };
}

export const pauseByPrice: Action = (context) =>
  context.model.pausedByPrice ? undefined : () => tellPrice(context, { low: true });

export const pauseGlobally: Action = ({ protocol, owner, model }) => {
  if (model.globallyPaused) return undefined;
  return async () => {
    const { blockNumber } = await act.setGlobalPause(protocol, owner, true);
    return { block: blockNumber, changed: { globallyPaused: true } };
  };
};

/** Ends the sale of a product, at the manager or at the router. */
export const endSale: Action = ({ protocol, owner, model, draw }) => {
  const product = pick(
    catalogueTerms.filter(({ productId }) => !model.endedSales.has(productId)),
    draw.which,
  );
  if (!product) return undefined;
  const { productId } = product;
  return async () => {
    const isAtRouter = draw.who % 2 === 0;
    const shield = await protocol.client.readContract({
      abi: policyManagerAbi,
      address: protocol.deployment.contracts.policyManager,
      functionName: "productShield",
      args: [productId],
    });
    const { blockNumber } = isAtRouter
      ? await act.setProductActive(protocol, owner, productId, false)
      : await act.deactivateProduct(protocol, owner, productId);
    return {
      block: blockNumber,
      changed: { endedSales: new Map([...model.endedSales, [productId, isAtRouter ? null : shield]]) },
    };
  };
};

/** Ends one of the pauses, the global one first. */
export const resume: Action = (context) => {
  const { protocol, owner, model } = context;
  if (model.globallyPaused)
    return async () => {
      const { blockNumber } = await act.setGlobalPause(protocol, owner, false);
      return { block: blockNumber, changed: { globallyPaused: false } };
    };
  if (model.routerPaused)
    return async () => {
      const { blockNumber } = await act.setRouterPaused(protocol, owner, false);
      return { block: blockNumber, changed: { routerPaused: false } };
    };
  if (model.pausedByPrice) return () => tellPrice(context, { low: false });
  const [ended, ...stillEnded] = model.endedSales;
  if (!ended) return undefined;
  const [productId, shield] = ended;
  return async () => {
    const { blockNumber } =
      shield === null
        ? await act.setProductActive(protocol, owner, productId, true)
        : await act.registerProduct(protocol, owner, productId, shield);
    return { block: blockNumber, changed: { endedSales: new Map(stillEnded) } };
  };
};

/** Moves the token price between 0.07 and 0.15 USD, for burns and redemptions. */
export const movePrice: Action = (context) => async () => {
  const price = 7_000_000n + amountUpTo(8_000_000n, context.draw);
  const dollars = formatUnits(price, 8);
  const { blockNumber } = await act.setTokenPrice(context.protocol, pickUser(context), dollars);
  return { block: blockNumber, changed: {} };
};

/** Moves the chain's time to `then` and refreshes the feeds. */
async function passTo({ protocol, owner }: ActionContext, then: bigint) {
  await act.mineAt(protocol, then);
  const block = await protocol.client.getBlockNumber();
  await act.refreshFeeds(protocol, owner);
  return { block, changed: {} };
}

export const passHours: Action = (context) => () =>
  passTo(context, context.now + 600n + (BigInt(context.draw.which) % (30n * HOUR)));
export const passDays: Action = (context) => () =>
  passTo(context, context.now + DAY + (BigInt(context.draw.which) % (20n * DAY)));
export const passWeek: Action = (context) => () => passTo(context, (context.now / WEEK + 1n) * WEEK);

/** Moves time to the second in which the oldest bonds mature: over two years for new bonds. */
export const passYears: Action = (context) => {
  const { model, now } = context;
  const coming = model.holdings.flatMap(({ epochId }) => model.maturities.get(epochId) ?? []);
  const [next] = coming.filter((date) => date > now).sort((a, b) => (a < b ? -1 : 1));
  return next === undefined ? undefined : () => passTo(context, next);
};
