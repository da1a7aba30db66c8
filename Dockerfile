# One image for the three processes: `npm run start:api` and so on without npm, as in compose.yaml. docs/operating.md has the rest.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY patches patches
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json /app/ponder.config.ts /app/ponder.schema.ts ./
# The bundles contain their packages: the image has no node_modules.
COPY --from=build /app/dist dist
# What the processes read beside their bundles: the index is named after its projections, and the api serves the documents.
COPY --from=build /app/abis abis
COPY --from=build /app/src src
COPY --from=build /app/docs docs
COPY --from=build /app/lib/db lib/db
COPY --from=build /app/patches patches
COPY --from=build /app/scripts/start.mjs /app/scripts/node.mjs /app/scripts/patches.mjs /app/scripts/healthy.mjs scripts/
# All files belong to root, so the process can change none of them.
USER node
# The API. Metrics (9464, 9465) and Ponder (42069) are internal.
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "scripts/healthy.mjs"]
CMD ["node", "scripts/start.mjs", "api"]
