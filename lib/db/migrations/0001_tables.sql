-- The tables of the schema `service`, with their indexes and policies. Functions, their triggers and views are files of
-- `../functions` and `../views`.

-- The hash of the functions, triggers and views that were last applied. Unlogged: a backup and a standby are without it, and the next
-- start applies them anew.
CREATE UNLOGGED TABLE service.applied_functions (
  hash text NOT NULL
);

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
CREATE UNIQUE INDEX api_key_hash ON service.api_key (key_hash);
CREATE INDEX api_key_wallet ON service.api_key (wallet, id);

-- Signatures that were used to create a key: each is accepted once. A row may go once its timestamp is too old to be accepted.
CREATE TABLE service.onboarding_signature (
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  -- The signed timestamp, Unix seconds.
  signed_at bigint NOT NULL,
  PRIMARY KEY (wallet, signed_at)
);
CREATE INDEX onboarding_signature_age ON service.onboarding_signature (signed_at);

-- Request counts for the rate limits that all api processes share. The columns are those that rate-limiter-flexible
-- writes, in its order. Unlogged: a count costs no flush to disk, and a crash of the server loses only a minute of counts.
CREATE UNLOGGED TABLE service.rate_limit (
  key text PRIMARY KEY,
  points integer NOT NULL,
  -- Unix milliseconds.
  expire bigint NOT NULL
) WITH (fillfactor = 50);

-- The indexer deployments that were started. A first backfill has no views yet: its row shows that an indexer is at work.
CREATE TABLE service.indexer_deployment (
  -- The Postgres schema that the deployment writes to; it follows from the build.
  schema_name text PRIMARY KEY,
  views_schema text NOT NULL,
  chain_id integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  -- The launcher's latest heartbeat, by the database's clock. Without it, a dead indexer on a quiet chain looks caught up.
  heartbeat_at timestamptz,
  -- The aggregators of the deployment's feeds and the blocks from which their phases count, as the first start found them. A later
  -- start may reach a node that can tell less, or more, of the past; the schema's rows go on as they began.
  feeds jsonb,
  -- The first start of this build: of two builds the one with the later first start is the newer one.
  first_started_at timestamptz NOT NULL DEFAULT now(),
  -- True from a start until the build's rows are those of one block, not below the last that readers saw. Until then readers do not
  -- see them: the view of the head is empty, and the launcher publishes a snapshot of the rows before the start.
  catching_up boolean NOT NULL DEFAULT true,
  -- While it catches up: the newest block that readers may have seen of this build.
  last_block numeric,
  -- The snapshot of that block (pg_export_snapshot), while the launcher holds it.
  snapshot text
);

-- A buyer's permission for another wallet's keys to spend its premiums, up to a cap.
CREATE TABLE service.delegation (
  id bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  -- The cover router that the buyer's signature names; the permission is for this router only.
  router text NOT NULL CHECK (router ~ '^0x[0-9a-f]{40}$'),
  buyer text NOT NULL CHECK (buyer ~ '^0x[0-9a-f]{40}$'),
  agent text NOT NULL CHECK (agent ~ '^0x[0-9a-f]{40}$'),
  -- USDC base units (6 decimals).
  total_premium_cap numeric(78, 0) NOT NULL CHECK (total_premium_cap > 0),
  expires_at timestamptz NOT NULL,
  nonce numeric(78, 0) NOT NULL CHECK (nonce >= 0),
  -- The EIP-712 digest that the buyer signed: it is accepted only once, also after a revocation.
  digest text NOT NULL UNIQUE CHECK (digest ~ '^0x[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  -- Premiums that were spent under it, or may still be (6 decimals). The triggers of note_quoted_premium and note_outcome keep it up to date in
  -- the transaction of each change, so that no reader has to sum up a long history.
  premium_spent numeric(78, 0) NOT NULL DEFAULT 0,
  CHECK (buyer <> agent)
);
CREATE INDEX delegation_buyer ON service.delegation (buyer, agent);
CREATE INDEX delegation_agent ON service.delegation (agent);

-- A purchase: its request and, if it was refused before a transaction was signed, the reason. Once a transaction refers to it
-- (service.transaction.intent), that transaction has its state and outcome. The view service.purchase_progress joins both.
CREATE TABLE service.purchase (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Null for a purchase of the sandbox, which uses no key.
  key_id bigint REFERENCES service.api_key (id),
  idempotency_key text CHECK (length(idempotency_key) BETWEEN 1 AND 128),
  fingerprint text NOT NULL,
  product_id text NOT NULL CHECK (product_id ~ '^0x[0-9a-f]{64}$'),
  coverage_amount numeric(78, 0) NOT NULL CHECK (coverage_amount > 0),
  asset text NOT NULL CHECK (asset ~ '^0x[0-9a-f]{64}$'),
  buyer text NOT NULL CHECK (buyer ~ '^0x[0-9a-f]{40}$'),
  -- The premium that was quoted at acceptance (USDC, 6 decimals). While the purchase is open, it holds this much of the
  -- buyer's funds.
  quoted_premium numeric(78, 0) NOT NULL DEFAULT 0 CHECK (quoted_premium >= 0),
  -- The permission under which a key of another wallet spends the buyer's funds.
  delegation_id bigint REFERENCES service.delegation (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Whether a repeated call is answered with this purchase. With an idempotency key: until the key is free again, because
  -- nothing was bought and nothing can be. Without one: until a caller has received the outcome.
  answers_repeats boolean NOT NULL DEFAULT true,
  -- Why nothing was signed, and since when that is certain.
  failure_code text,
  failure_message text,
  refused_at timestamptz,
  CONSTRAINT purchase_refusal CHECK (num_nonnulls(failure_code, failure_message, refused_at) IN (0, 3)),
  CONSTRAINT purchase_refused_answers_nothing CHECK (refused_at IS NULL OR NOT answers_repeats)
);
-- One purchase per wallet and idempotency key.
CREATE UNIQUE INDEX purchase_idempotency ON service.purchase (wallet, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND answers_repeats;
-- Without a key: one purchase per wallet and content until a caller receives its outcome.
CREATE UNIQUE INDEX purchase_open_without_key ON service.purchase (wallet, chain_id, fingerprint)
  WHERE idempotency_key IS NULL AND answers_repeats;

-- The permit (EIP-2612) that a purchase came with: its buyer's signature that sets the allowance of the chain's cover router. It
-- is sent before the purchase where the allowance is lower.
CREATE TABLE service.permit (
  -- The intent of its transaction.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  purchase_id uuid NOT NULL UNIQUE REFERENCES service.purchase (id) ON DELETE CASCADE,
  -- USDC base units (6 decimals).
  value numeric(78, 0) NOT NULL CHECK (value > 0),
  -- Unix seconds.
  deadline numeric(78, 0) NOT NULL CHECK (deadline > 0),
  signature text NOT NULL CHECK (signature ~ '^0x([0-9a-f]{2})*$')
);

-- What the purchases of keys with a daily limit count against it.
CREATE TABLE service.key_premium (
  purchase_id uuid PRIMARY KEY REFERENCES service.purchase (id) ON DELETE CASCADE,
  key_id bigint NOT NULL REFERENCES service.api_key (id),
  -- The UTC day in which it was accepted.
  day date NOT NULL,
  -- The quoted premium (USDC, 6 decimals).
  premium numeric(78, 0) NOT NULL,
  -- Nothing was bought, and nothing can be any more: it does not count.
  failed boolean NOT NULL DEFAULT false
);
CREATE INDEX key_premium_day ON service.key_premium (key_id, day);
-- Refused purchases by the time of their refusal.
CREATE INDEX purchase_refused ON service.purchase (chain_id, refused_at) WHERE refused_at IS NOT NULL;

-- Purchases that have been final for a long time, each with its outcome: service.archive_purchases moves them here from
-- service.purchase, service.transaction and service.attempt. Rows stay for good and are found by id or key alone, so that
-- partitions by month would only add lookups, and could not keep keys unique.
CREATE TABLE service.archived_purchase (
  id uuid PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  key_id bigint,
  idempotency_key text,
  fingerprint text NOT NULL,
  product_id text NOT NULL,
  coverage_amount numeric(78, 0) NOT NULL,
  asset text NOT NULL,
  buyer text NOT NULL,
  quoted_premium numeric(78, 0) NOT NULL,
  delegation_id bigint,
  created_at timestamptz NOT NULL,
  answers_repeats boolean NOT NULL,
  state text NOT NULL CHECK (state IN ('confirmed', 'failed', 'replaced')),
  tx_hash text,
  block_number bigint,
  block_hash text,
  policy_id numeric(78, 0),
  premium_paid numeric(78, 0),
  failure_code text,
  failure_message text,
  settled_at timestamptz NOT NULL,
  final_at timestamptz NOT NULL,
  -- See service.transaction_history. The signed bytes are not kept: their nonces are used for good.
  transactions json NOT NULL
);
-- A key that an archived purchase holds answers with it, and buys nothing else.
CREATE UNIQUE INDEX archived_purchase_idempotency ON service.archived_purchase (wallet, idempotency_key)
  WHERE idempotency_key IS NOT NULL AND answers_repeats;

-- The trace (W3C `traceparent`) of the request that made a purchase, if it named one. A table of its own, so that purchases without
-- a trace cost nothing. It stays when its purchase is archived.
CREATE TABLE service.purchase_trace (
  purchase_id uuid PRIMARY KEY,
  traceparent text NOT NULL CHECK (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$')
);

-- Calls that the service makes for itself: the keeper's, and on the testnet the faucet's transfers and the upkeep of the sandbox's
-- wallet.

-- A claim to a grant of the faucet: both of its transfers, or none. Its client is an address, or the /64 of an IPv6 one.
CREATE TABLE service.faucet_claim (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  -- The wallet that pays, and the one that receives.
  faucet text NOT NULL CHECK (faucet ~ '^0x[0-9a-f]{40}$'),
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Null once the address limits nothing any more: an address is personal data.
  client text,
  -- Truncated to milliseconds, so that the API can state it exactly.
  claimed_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  -- Until then the call that made the claim waits for its outcome.
  awaited_until timestamptz NOT NULL,
  -- When a caller received the outcome.
  told_at timestamptz,
  -- When the claim's slots were given back, because nothing was sent and nothing can be.
  freed_at timestamptz
);
CREATE INDEX faucet_claim_time ON service.faucet_claim (chain_id, claimed_at);
-- Freed claims are deleted after a time.
CREATE INDEX faucet_claim_freed ON service.faucet_claim (freed_at) WHERE freed_at IS NOT NULL;
-- A client's freed claims.
CREATE INDEX faucet_claim_client_freed ON service.faucet_claim (chain_id, client, freed_at) WHERE freed_at IS NOT NULL;
CREATE TABLE service.service_transaction (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  -- The wallet that sends it.
  sender text NOT NULL CHECK (sender ~ '^0x[0-9a-f]{40}$'),
  purpose text NOT NULL CHECK (purpose IN ('faucet_ether', 'faucet_usdc', 'sandbox_ether', 'sandbox_usdc', 'sandbox_approval',
    'keeper_trigger', 'keeper_expire', 'keeper_queue')),
  claim_id uuid REFERENCES service.faucet_claim (id),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  -- In wei.
  value numeric(78, 0) NOT NULL CHECK (value >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- As for a purchase: why nothing was signed, and since when that is certain.
  failure_code text,
  failure_message text,
  refused_at timestamptz,
  CHECK ((purpose LIKE 'faucet%') = (claim_id IS NOT NULL)),
  UNIQUE (claim_id, purpose),
  CONSTRAINT service_transaction_refusal CHECK (num_nonnulls(failure_code, failure_message, refused_at) IN (0, 3))
);
CREATE INDEX service_transaction_upkeep_last ON service.service_transaction (chain_id, purpose, created_at) WHERE claim_id IS NULL;
-- Refused service transactions by the time of their refusal.
CREATE INDEX service_transaction_refused ON service.service_transaction (refused_at) WHERE refused_at IS NOT NULL;
-- For the operator's list.
CREATE INDEX service_transaction_created ON service.service_transaction (created_at);

-- The sandbox's wallet as a writer last checked it: USDC with 6 decimals, ether in wei, whether this is enough to buy, and
-- why the upkeep cannot keep it so, if it cannot.
CREATE TABLE service.sandbox_wallet (
  chain_id integer NOT NULL,
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  usdc numeric(78, 0) NOT NULL,
  allowance numeric(78, 0) NOT NULL,
  ether numeric(78, 0) NOT NULL,
  can_buy boolean NOT NULL,
  fault text,
  checked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, wallet),
  CHECK (can_buy OR fault IS NOT NULL)
);

-- The slots of a claim: its wallet and its client, each until the cooldown is over. The row is the slot.
CREATE TABLE service.faucet_slot (
  chain_id integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('wallet', 'client')),
  subject text NOT NULL,
  claim_id uuid NOT NULL REFERENCES service.faucet_claim (id),
  until timestamptz NOT NULL,
  PRIMARY KEY (chain_id, kind, subject)
);
CREATE INDEX faucet_slot_claim ON service.faucet_slot (claim_id);

-- The number of claims in a UTC day.
CREATE TABLE service.faucet_day (
  chain_id integer NOT NULL,
  day date NOT NULL,
  claims integer NOT NULL CHECK (claims >= 0),
  PRIMARY KEY (chain_id, day)
);

-- The relay ledger: wallets, what waits to be signed, transactions (one per nonce), the signed forms of each, and their gas.

-- The wallets that send. Relayers send purchases; the keeper's triggers and closes policies; the sandbox's wallet pays its own
-- premiums; the faucet's sends grants.
CREATE TABLE service.relayer_wallet (
  chain_id integer NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  role text NOT NULL DEFAULT 'relayer' CHECK (role IN ('relayer', 'keeper', 'sandbox', 'faucet')),
  -- The nonce of the next new transaction; null until it was first read from the chain.
  next_nonce bigint CHECK (next_nonce >= 0),
  -- No transaction with a lower nonce is open, so that open ones are found without an index of their own.
  open_from bigint NOT NULL DEFAULT 0,
  -- Each transaction with a lower nonce is lost, or final in a block too deep to be watched any more.
  final_below bigint NOT NULL DEFAULT 0,
  -- The writer that may sign for this wallet, and until when.
  lease_owner text,
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  -- Rises with each change of the owner. A writer with an older token can store nothing.
  fencing_token bigint NOT NULL DEFAULT 0,
  heartbeat_at timestamptz,
  -- Why the owner cannot sign with it, in words; null when it can. The writer alone knows the gas caps: this column shows
  -- the api that the wallet cannot pay.
  fault text,
  -- Nonces from unknown_from to below unknown_below that have no transaction here were used by transactions that the ledger
  -- does not know. A nonce is committed here before it is used: so commits were lost, or another program has the key.
  unknown_from bigint,
  unknown_below bigint,
  unknown_since timestamptz,
  -- For the operator: the most that the day's gas may cost, in wei, as the wallet's writer was configured when it took the lease, for
  -- all of the wallet's account (see service.gas_account), and for the purchases of one client's keys.
  gas_budget numeric(78, 0),
  client_gas_budget numeric(78, 0),
  PRIMARY KEY (chain_id, address),
  CONSTRAINT relayer_wallet_unknown CHECK (num_nonnulls(unknown_from, unknown_below, unknown_since) IN (0, 3))
);

-- Purchases and service transactions that wait to be signed. Who signs one, or refuses it, deletes its row: only one can.
CREATE TABLE service.waiting (
  -- The id of the purchase or of the service transaction.
  intent uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('purchase', 'service_transaction')),
  chain_id integer NOT NULL,
  -- Whose funds it holds: the buyer, or the wallet that sends the service transaction.
  payer text NOT NULL,
  -- Of a purchase: its quoted premium, because each acceptance adds up what its buyer's purchases hold.
  premium numeric(78, 0),
  -- The transfers of a claim are signed together or not at all: the claim's id; otherwise the intent's.
  group_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  -- When a writer may look at it again.
  wake_at timestamptz NOT NULL,
  CONSTRAINT waiting_premium CHECK ((premium IS NOT NULL) = (kind = 'purchase'))
);
CREATE INDEX waiting_payer ON service.waiting (payer);
CREATE INDEX waiting_group ON service.waiting (group_id);

-- Every transaction that the service sends, one row per nonce, with its call and its outcome. The writer stores the nonce and
-- the call, then the signed bytes (service.attempt), and then sends them. The recovery signs a nonce without bytes for its call.
CREATE TABLE service.transaction (
  id bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  -- A filler is an empty transfer to the wallet itself that closes a nonce gap.
  kind text NOT NULL CHECK (kind IN ('purchase', 'permit', 'service_transaction', 'filler')),
  -- The purchase, permit or service transaction that it carries out, and the wallet whose funds it spends.
  intent uuid,
  payer text,
  -- Of a purchase, copied from it: the wallet of its API key, its quoted premium, its delegation. Each acceptance adds up the
  -- premiums in flight, and each outcome adds to the client's gas. A permit has the client of its purchase.
  client text,
  quoted_premium numeric(78, 0),
  delegation_id bigint REFERENCES service.delegation (id),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  -- The ether that it transfers, in wei.
  value numeric(78, 0) NOT NULL DEFAULT 0,
  gas_limit bigint NOT NULL CHECK (gas_limit > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Since when it waits to be mined: since it got its nonce, or since a reorganisation dropped its block.
  opened_at timestamptz NOT NULL DEFAULT now(),
  -- The highest possible gas cost of its signed forms, in wei.
  gas_reserved numeric(78, 0) NOT NULL DEFAULT 0,
  -- What it reserved on later UTC days than that of created_at, in wei by day; all else counts for the day of created_at.
  gas_later jsonb,
  -- The form that was mined, where, and what it did. Replaced: an empty transfer was mined in place of the call.
  hash text CHECK (hash ~ '^0x[0-9a-f]{64}$'),
  block_number bigint,
  block_hash text CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  outcome text CHECK (outcome IN ('done', 'reverted', 'replaced')),
  -- In wei, with the L1 fee.
  gas_cost numeric(78, 0),
  settled_at timestamptz,
  -- What a purchase bought: the premium with 6 decimals.
  policy_id numeric(78, 0),
  premium_paid numeric(78, 0),
  failure_code text,
  failure_message text,
  -- Who caused a revert: the buyer (funds, allowance), or the protocol and its operators (pause, capacity, oracle).
  failed_by text CHECK (failed_by IN ('buyer', 'protocol')),
  -- When the outcome's block was deep enough.
  final_at timestamptz,
  -- The form that was mined in a block which fell out of the chain: it is to be mined again.
  dropped_hash text CHECK (dropped_hash ~ '^0x[0-9a-f]{64}$'),
  -- Another transaction, not one of ours, that has its nonce in a block deep enough.
  lost_to text CHECK (lost_to ~ '^0x[0-9a-f]{64}$'),
  -- open: may still be mined; mined: seen in a block; final: in a block that is deep enough; lost: can never be mined.
  state text NOT NULL GENERATED ALWAYS AS (CASE WHEN lost_to IS NOT NULL THEN 'lost' WHEN final_at IS NOT NULL THEN 'final'
    WHEN block_number IS NOT NULL THEN 'mined' ELSE 'open' END) STORED,
  UNIQUE (chain_id, wallet, nonce),
  FOREIGN KEY (chain_id, wallet) REFERENCES service.relayer_wallet (chain_id, address),
  CONSTRAINT transaction_kind CHECK ((kind = 'filler') = (intent IS NULL) AND (intent IS NULL) = (payer IS NULL)
    AND (client IS NOT NULL) = (kind IN ('purchase', 'permit')) AND (quoted_premium IS NOT NULL) = (kind = 'purchase')),
  -- No outcome without its evidence.
  CONSTRAINT transaction_evidence CHECK (CASE
    WHEN block_number IS NULL THEN
      num_nonnulls(hash, block_hash, outcome, gas_cost, settled_at, policy_id, premium_paid, failure_code, failure_message,
        failed_by, final_at) = 0
    ELSE num_nulls(hash, block_hash, outcome, gas_cost, settled_at) = 0 AND lost_to IS NULL AND CASE outcome
      WHEN 'done' THEN num_nonnulls(failure_code, failure_message, failed_by) = 0
        AND num_nonnulls(policy_id, premium_paid) = CASE kind WHEN 'purchase' THEN 2 ELSE 0 END
      ELSE num_nulls(failure_code, failure_message) = 0 AND num_nonnulls(policy_id, premium_paid) = 0
        AND (outcome = 'reverted') = (failed_by IS NOT NULL)
    END
  END)
) WITH (fillfactor = 70);
-- At most one transaction of an intent can ever be mined. No index names a column that an outcome changes: such updates
-- touch no index.
CREATE UNIQUE INDEX transaction_intent ON service.transaction (intent) WHERE lost_to IS NULL;
CREATE INDEX transaction_lost ON service.transaction (intent) WHERE lost_to IS NOT NULL;
-- See service.in_flight.
CREATE INDEX transaction_payer ON service.transaction (payer, chain_id, wallet, nonce);
CREATE INDEX transaction_created ON service.transaction (chain_id, created_at);

-- A signed form of a transaction; later forms pay a higher fee.
CREATE TABLE service.attempt (
  hash text PRIMARY KEY CHECK (hash ~ '^0x[0-9a-f]{64}$'),
  -- Gives the order in which the attempts were stored, whatever the clock says.
  id bigserial NOT NULL,
  transaction_id bigint NOT NULL REFERENCES service.transaction (id),
  signed text NOT NULL CHECK (signed ~ '^0x([0-9a-f]{2})+$'),
  max_fee numeric(78, 0) NOT NULL,
  priority_fee numeric(78, 0) NOT NULL,
  -- The lease under which it was signed.
  fencing_token bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- It is sent as soon as it is stored; null: it is due to be sent again.
  last_broadcast_at timestamptz DEFAULT now(),
  -- A cancellation: an empty transfer to the wallet itself in place of the call.
  cancels boolean NOT NULL DEFAULT false,
  -- Whether no node has said that it took it. A form counts as taken until a broadcast has another answer.
  untaken boolean NOT NULL DEFAULT false
);
CREATE INDEX attempt_transaction ON service.attempt (transaction_id);

-- The block up to which the ledger has settled the transactions in flight.
CREATE TABLE service.watched_block (
  chain_id integer PRIMARY KEY,
  number bigint NOT NULL,
  hash text NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now()
);

-- Purchases that reverted by their buyers' own making: each cost the operator gas.
CREATE TABLE service.buyer_revert (
  -- It stays when its transaction is archived.
  transaction_id bigint PRIMARY KEY,
  -- The wallet of the API key that made the purchase.
  wallet text NOT NULL,
  reverted_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX buyer_revert_wallet ON service.buyer_revert (wallet, reverted_at);
-- Finds the clients that may be paused.
CREATE INDEX buyer_revert_time ON service.buyer_revert (reverted_at);

-- Gas spent in a UTC day, in wei: per wallet whose API keys made purchases, of the keeper (wallet 'keeper'), and in total without
-- the keeper's (wallet ''), because the keeper has a budget of its own. A transaction that is in no block counts with its highest
-- possible cost. Triggers update it in the transaction of each change. Each sender has rows of its own: no two senders wait for
-- each other.
CREATE TABLE service.gas_day (
  chain_id integer NOT NULL,
  day date NOT NULL,
  wallet text NOT NULL,
  -- The wallet of the service that sent the transactions.
  sender text NOT NULL,
  wei numeric(78, 0) NOT NULL,
  PRIMARY KEY (chain_id, day, wallet, sender)
);

-- A row for each day's budget of gas: the keeper's ('keeper'), and that of all other wallets (''). Whoever reserves gas locks the row
-- first: rounds of several wallets follow each other, and each sees what those before it have reserved.
CREATE TABLE service.budget_lock (
  chain_id integer NOT NULL,
  account text NOT NULL CHECK (account IN ('', 'keeper')),
  PRIMARY KEY (chain_id, account)
);

-- Archived nonces of the wallets, the highest of each batch. They were final, and so were all below them: none of these is a
-- gap, whatever a node says. A row per batch, so that no two batches wait for each other.
CREATE TABLE service.archived_nonce (
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  nonce bigint NOT NULL,
  PRIMARY KEY (chain_id, wallet, nonce)
);

-- A row for each wallet that a writer has compared with the chain. A promoted standby, a restored backup and a crashed server may
-- have lost commits: the table is unlogged, so they have no rows, and no wallet gets a nonce before all are compared again.
CREATE UNLOGGED TABLE service.compared_wallet (
  chain_id integer NOT NULL,
  address text NOT NULL,
  PRIMARY KEY (chain_id, address)
);

-- Of service transactions the api may insert those of a claim: the transfers leave the faucet's own wallet, the tokens go to the
-- claim's wallet, with at most the ether of a grant: 0.05. Whatever else it inserted, the writer would sign. The owner is not bound
-- by this.
ALTER TABLE service.service_transaction ENABLE ROW LEVEL SECURITY;
CREATE POLICY api_reads ON service.service_transaction FOR SELECT TO cover_api USING (true);
CREATE POLICY api_deletes ON service.service_transaction FOR DELETE TO cover_api
  USING (claim_id IS NOT NULL AND refused_at IS NOT NULL);
CREATE POLICY api_claims ON service.service_transaction FOR INSERT TO cover_api WITH CHECK (EXISTS (
  SELECT FROM service.faucet_claim c JOIN service.relayer_wallet r ON r.chain_id = c.chain_id AND r.address = c.faucet
  WHERE c.id = claim_id AND c.chain_id = service_transaction.chain_id AND c.faucet = sender AND r.role = 'faucet' AND CASE purpose
    WHEN 'faucet_ether' THEN "to" = c.wallet AND data = '0x' AND value <= 50000000000000000
    -- mint(wallet, amount)
    WHEN 'faucet_usdc' THEN value = 0 AND data = '0x40c10f19' || lpad(substr(c.wallet, 3), 64, '0') || right(data, 64)
    ELSE false
  END));

-- The kill switch: nothing that a row covers is accepted, signed or sent. A wallet is one of the service's own, or one
-- whose keys buy.
CREATE TABLE service.stop (
  scope text NOT NULL CHECK (scope IN ('global', 'keeper', 'wallet', 'key')),
  subject text NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- How it was set: Postgres knows the api by its role.
  set_by text NOT NULL DEFAULT CASE current_user WHEN 'cover_api' THEN 'api' ELSE 'command line' END
    CHECK (set_by IN ('api', 'command line')),
  PRIMARY KEY (scope, subject),
  CHECK (CASE WHEN scope IN ('global', 'keeper') THEN subject = '' WHEN scope = 'wallet' THEN subject ~ '^0x[0-9a-f]{40}$' ELSE subject ~ '^[0-9]+$' END)
);

-- What the keeper does for a policy: it triggers one that is due, or marks an expired one. For the redemption queue it pays the
-- entry at its head. One row per purpose and policy, or entry, so that no two writers do it at once.
CREATE TABLE service.keeper_task (
  chain_id integer NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('trigger', 'expire', 'queue')),
  -- Empty for the redemption queue.
  product_id text NOT NULL CHECK (CASE purpose WHEN 'queue' THEN product_id = '' ELSE product_id ~ '^0x[0-9a-f]{64}$' END),
  -- Of the redemption queue: the entry's id.
  policy_id numeric(78, 0) NOT NULL,
  -- The newest service transaction that carries it out, perhaps with others; null since that one has failed at it.
  service_transaction_id uuid REFERENCES service.service_transaction (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- How often in a row it has failed, why, and when it may be tried again.
  failures integer NOT NULL DEFAULT 0,
  failure text,
  retry_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, purpose, product_id, policy_id),
  CONSTRAINT keeper_task_failure CHECK ((failures > 0) = (failure IS NOT NULL))
);
CREATE INDEX keeper_task_transaction ON service.keeper_task (service_transaction_id);
-- For the operator's list, the most failures first.
CREATE INDEX keeper_task_failed ON service.keeper_task (failures, retry_at) WHERE failures > 0 AND service_transaction_id IS NULL;

-- When a keeper of the chain was at work, in the time of the chain's blocks (Unix seconds). Between two rows none was: what was
-- missed then, the service's own downtime cost.
CREATE TABLE service.keeper_watch (
  chain_id integer NOT NULL,
  since numeric(78, 0) NOT NULL,
  until numeric(78, 0) NOT NULL CHECK (until >= since),
  -- When a keeper has last looked, by the clock. After a minute without a look the next one begins a new row.
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, since)
);

-- The running audit: policies that ended in blocks up to audited_to, and were missed, counted by the chain alone.
CREATE TABLE service.keeper_audit (
  chain_id integer PRIMARY KEY,
  audited_to bigint NOT NULL,
  missed bigint NOT NULL DEFAULT 0,
  missed_while_down bigint NOT NULL DEFAULT 0,
  -- Payable by the audit's reasoning, and refused by the contracts.
  refused bigint NOT NULL DEFAULT 0,
  -- Met the price, and no block could have paid them: how many by reason.
  never_payable jsonb NOT NULL DEFAULT '{}'
);

-- A subscription: a wallet's choice of events and the URL that receives them.
CREATE TABLE service.webhook (
  id bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL CHECK (wallet = lower(wallet)),
  url text NOT NULL,
  -- Names of events, or '*' alone.
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  -- Sealed with SECRETS_KEY. After a rotation the previous secret still signs until its time is over.
  secret text NOT NULL,
  previous_secret text,
  previous_secret_until timestamptz,
  -- The chain's newest block at the creation: the subscription receives the events of later blocks.
  from_block bigint NOT NULL,
  -- The outbox's position at the creation. A later event in a block that it had processed came by a reorganisation.
  processed_block bigint NOT NULL,
  processed_event bigint NOT NULL,
  -- Deleted: invisible to its owner; a chore removes its deliveries, and then the row.
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'undeliverable', 'deleted')),
  -- While undeliverable: it may have missed every event after this one.
  position bigint,
  undeliverable_at timestamptz,
  -- Until when a single writer makes its deliveries, and a token that names this writer.
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  lease_token uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhook_secrets CHECK (num_nonnulls(previous_secret, previous_secret_until) IN (0, 2)),
  CONSTRAINT webhook_state_evidence CHECK (
    num_nonnulls(position, undeliverable_at) = CASE state WHEN 'undeliverable' THEN 2 ELSE 0 END),
  CONSTRAINT webhook_forgotten_secrets CHECK (
    (state = 'deleted') = (secret = '') AND (state <> 'deleted' OR previous_secret IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX webhook_wallet ON service.webhook (wallet);
-- Subscriptions that name burns, in the order in which they receive them.
CREATE INDEX webhook_burns ON service.webhook (chain_id, id) WHERE 'token_burned' = ANY (events) AND state <> 'deleted';
-- For the operator's list.
CREATE INDEX webhook_undeliverable ON service.webhook (id) WHERE state = 'undeliverable';
CREATE INDEX webhook_deleted ON service.webhook (id) WHERE state = 'deleted';

-- Every event that was seen in a block deep enough, in the order in which it was seen.
CREATE TABLE service.event (
  seq bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  -- The id that subscribers see; it follows from the key and the occurrence.
  id text NOT NULL UNIQUE,
  -- Identifies the event: block hash and log index, product and policy of an expiry, or the id of the event that it reverts.
  key text NOT NULL,
  -- Counts how often the event happened: once more when its block returned after its reversal was sent.
  occurrence integer NOT NULL DEFAULT 1,
  type text NOT NULL,
  block_number bigint,
  block_hash text,
  tx_hash text,
  log_index integer,
  -- The wallets that it concerns, in lower case.
  parties text[] NOT NULL,
  -- The exact bytes that are sent.
  body text NOT NULL,
  -- The event that this one reverts.
  reverts bigint REFERENCES service.event (seq) ON DELETE CASCADE,
  -- When its block was proven to be off the chain.
  reverted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The trace of the purchase that caused the event: each attempt at one of its deliveries carries it.
  traceparent text,
  UNIQUE (chain_id, key, occurrence)
);
CREATE INDEX event_block ON service.event (chain_id, block_number);
CREATE INDEX event_parties ON service.event USING gin (parties);
-- Finds the first event of a replay since a given time.
CREATE INDEX event_created ON service.event (created_at, seq);
CREATE INDEX event_burns ON service.event (seq) WHERE type = 'token_burned';
CREATE INDEX event_reverts ON service.event (reverts) WHERE reverts IS NOT NULL;

-- One event on its way to one subscription.
CREATE TABLE service.delivery (
  id bigserial PRIMARY KEY,
  webhook_id bigint NOT NULL REFERENCES service.webhook (id) ON DELETE CASCADE,
  event_seq bigint NOT NULL REFERENCES service.event (seq),
  -- Cancelled: the event was reverted before it was delivered.
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'undeliverable', 'cancelled')),
  -- A sample that the subscriber asked for: it is tried once, apart from the others.
  test boolean NOT NULL DEFAULT false,
  -- Failed attempts of the current retry schedule.
  failures integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  -- When an attempt began whose outcome is not stored yet. After a crash it is unknown whether the attempt was made.
  taken_at timestamptz,
  -- Outcomes of the attempts, oldest first.
  attempts jsonb NOT NULL DEFAULT '[]',
  delivered_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (webhook_id, event_seq),
  CONSTRAINT delivery_evidence CHECK (state <> 'delivered' OR delivered_at IS NOT NULL)
) WITH (fillfactor = 45);
CREATE INDEX delivery_pending ON service.delivery (webhook_id, event_seq) WHERE state = 'pending';
CREATE INDEX delivery_given_up ON service.delivery (webhook_id, event_seq) WHERE state = 'undeliverable';
CREATE INDEX delivery_test ON service.delivery (id) WHERE test AND state = 'pending';
CREATE INDEX delivery_event ON service.delivery (event_seq);
-- For the prune only: old rows lie together, where they were inserted.
CREATE INDEX delivery_created ON service.delivery USING brin (created_at);

-- The outbox's position, one row per chain.
CREATE TABLE service.outbox (
  chain_id integer PRIMARY KEY,
  -- Events of blocks up to this one are recorded, and final.
  final_block bigint NOT NULL,
  -- Expiries up to this time (Unix seconds) are recorded, and final.
  final_time bigint NOT NULL,
  -- The newest block with recorded events.
  processed_block bigint NOT NULL,
  -- Rises with each write: of two concurrent writers, the second finds it changed and starts again.
  version bigint NOT NULL DEFAULT 0,
  -- The newest block up to which every event is recorded, and none that is off its chain: while the index's head descends from
  -- it, and the index is the same build, only later blocks are read. All null where that is unknown.
  taken_block bigint,
  taken_hash text,
  -- The block's time, Unix seconds.
  taken_time bigint,
  taken_build text,
  CONSTRAINT outbox_taken CHECK (num_nonnulls(taken_block, taken_hash, taken_time, taken_build) IN (0, 4))
);

-- Events that any wallet's subscription may receive, burns and their reversals, while their deliveries are created: in batches,
-- by the subscription's id. An event's row moves in the transaction of its batch and goes with the last one.
CREATE TABLE service.fan_out (
  event_seq bigint PRIMARY KEY REFERENCES service.event (seq) ON DELETE CASCADE,
  chain_id integer NOT NULL,
  -- Subscriptions up to this one have their deliveries.
  reached bigint NOT NULL DEFAULT 0
);

-- Redemptions, listings and purchases of bonds that a wallet has sent itself and reported. The same report is one row.
CREATE TABLE service.report (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('redeem', 'list', 'buy')),
  wallet text NOT NULL CHECK (wallet ~ '^0x[0-9a-f]{40}$'),
  tx_hash text NOT NULL CHECK (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- What the wallet reports of the event, as decimal strings.
  content jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The event, and the block that it was found in; null while there is none.
  record jsonb,
  block_number bigint,
  block_hash text CHECK (block_hash ~ '^0x[0-9a-f]{64}$'),
  -- True once the node calls the block final: it is not compared with the chain any more.
  final boolean NOT NULL DEFAULT false,
  CHECK (num_nulls(record, block_number, block_hash) IN (0, 3)),
  CHECK (record IS NOT NULL OR NOT final)
);
CREATE UNIQUE INDEX report_once ON service.report (chain_id, tx_hash, kind, wallet, content);
-- For the deletion of old ones.
CREATE INDEX report_pending ON service.report (created_at) WHERE record IS NULL;

-- A request for a signed price, with the writer's answer. The request is the asset alone: price and times are what the writer
-- itself read.
CREATE TABLE service.price_proof (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  chain_id integer NOT NULL,
  asset text NOT NULL CHECK (asset IN ('BTC', 'ETH')),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'signed', 'failed')),
  -- As the feed has it, with the feed's decimals.
  price numeric,
  decimals integer,
  -- Unix seconds: the writer's clock, and the feed's last update.
  verified_at bigint,
  feed_updated_at bigint,
  signer text CHECK (signer = lower(signer)),
  signature text,
  failure_code text CHECK (failure_code IN ('chain_not_found', 'oracle_stale', 'sequencer_down')),
  failure_message text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT price_proof_evidence CHECK (
    num_nonnulls(price, decimals, verified_at, feed_updated_at, signer, signature) = CASE state WHEN 'signed' THEN 6 ELSE 0 END
    AND num_nonnulls(failure_code, failure_message) = CASE state WHEN 'failed' THEN 2 ELSE 0 END)
);
CREATE INDEX price_proof_pending ON service.price_proof (chain_id) WHERE state = 'pending';
-- For the prune.
CREATE INDEX price_proof_created ON service.price_proof (created_at);

-- The keys that writers sign prices with. A writer renews its row while it lives.
CREATE TABLE service.oracle_signer (
  chain_id integer NOT NULL,
  address text NOT NULL CHECK (address = lower(address)),
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, address)
);
