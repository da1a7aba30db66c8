-- Keys of the API. Only the SHA-256 of a key is kept.
CREATE TABLE service.api_key (
  id bigserial PRIMARY KEY,
  key_hash text NOT NULL,
  wallet text NOT NULL CHECK (wallet = lower(wallet)),
  label text,
  tier text NOT NULL CHECK (tier IN ('free', 'paid')),
  -- What the key is for, and the products that it may buy, by their ids; null: everything.
  scopes text[] CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'buy', 'webhooks']),
  products text[] CHECK (cardinality(products) > 0),
  -- The most premium of one purchase, and of all purchases that are accepted in a UTC day (USDC, 6 decimals); null: no limit.
  max_premium_per_purchase numeric(78, 0) CHECK (max_premium_per_purchase >= 0),
  max_premium_per_day numeric(78, 0) CHECK (max_premium_per_day >= 0),
  -- Whether the key has limits of its own. They are set when it is issued, and never changed.
  limited boolean NOT NULL GENERATED ALWAYS AS (
    num_nonnulls(scopes, products, max_premium_per_purchase, max_premium_per_day) > 0) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
--> statement-breakpoint
CREATE UNIQUE INDEX api_key_hash ON service.api_key (key_hash);
--> statement-breakpoint
CREATE INDEX api_key_wallet ON service.api_key (wallet, id);
--> statement-breakpoint
-- Signatures that were used to create a key: each is accepted once. A row may go once its timestamp is too old to be accepted.
CREATE TABLE service.onboarding_signature (
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  -- The signed timestamp, Unix seconds.
  signed_at bigint NOT NULL,
  PRIMARY KEY (wallet, signed_at)
);
--> statement-breakpoint
CREATE INDEX onboarding_signature_age ON service.onboarding_signature (signed_at);
--> statement-breakpoint
-- Request counts for the rate limits that all api processes share. The columns are those that rate-limiter-flexible
-- writes, in its order. Unlogged: a count costs no flush to disk, and a crash of the server loses only a minute of counts.
CREATE UNLOGGED TABLE service.rate_limit (
  key text PRIMARY KEY,
  points integer NOT NULL,
  -- Unix milliseconds.
  expire bigint NOT NULL
) WITH (fillfactor = 50);
