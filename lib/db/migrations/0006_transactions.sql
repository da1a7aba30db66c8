-- The relay ledger: wallets, their transactions (one per nonce), the signed forms of each, and the gas they use.

-- The wallets that send. Relayers send purchases; the sandbox's wallet pays its own premiums; the faucet's sends grants.
CREATE TABLE service.relayer_wallet (
  chain_id integer NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  role text NOT NULL DEFAULT 'relayer' CHECK (role IN ('relayer', 'sandbox', 'faucet')),
  -- The nonce of the next new transaction; null until it was first read from the chain.
  next_nonce bigint CHECK (next_nonce >= 0),
  -- The writer that may sign for this wallet, and until when.
  lease_owner text,
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  -- Rises with each change of the owner. A writer with an older token can store nothing.
  fencing_token bigint NOT NULL DEFAULT 0,
  heartbeat_at timestamptz,
  -- Why the owner cannot sign with it, in words; null when it can. The writer alone knows the gas caps: this column shows
  -- the api that the wallet cannot pay.
  fault text,
  PRIMARY KEY (chain_id, address)
);
--> statement-breakpoint
CREATE TABLE service.transaction (
  id bigserial PRIMARY KEY,
  chain_id integer NOT NULL,
  wallet text NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  -- A filler is an empty transfer to the wallet itself that closes a nonce gap.
  kind text NOT NULL,
  purchase_id uuid REFERENCES service.purchase (id),
  service_transaction_id uuid REFERENCES service.service_transaction (id),
  "to" text NOT NULL CHECK ("to" ~ '^0x[0-9a-f]{40}$'),
  data text NOT NULL CHECK (data ~ '^0x([0-9a-f]{2})*$'),
  -- The ether that it transfers, in wei.
  value numeric(78, 0) NOT NULL DEFAULT 0,
  gas_limit bigint NOT NULL CHECK (gas_limit > 0),
  -- open: may still be mined; mined: seen in a block; final: in a block that is deep enough; lost: such a block has another
  -- transaction, not one of ours, on this nonce.
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'mined', 'final', 'lost')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Since when it waits to be mined: since it was signed, or since a reorganisation dropped its block.
  opened_at timestamptz NOT NULL DEFAULT now(),
  -- The highest possible gas cost of its signed forms, in wei.
  gas_reserved numeric(78, 0) NOT NULL DEFAULT 0,
  -- The actual gas cost in wei, including the L1 fee; null until it is in a block.
  gas_cost numeric(78, 0),
  UNIQUE (chain_id, wallet, nonce),
  FOREIGN KEY (chain_id, wallet) REFERENCES service.relayer_wallet (chain_id, address),
  CONSTRAINT transaction_kind CHECK (CASE kind
    WHEN 'purchase' THEN purchase_id IS NOT NULL AND service_transaction_id IS NULL
    WHEN 'service_transaction' THEN service_transaction_id IS NOT NULL AND purchase_id IS NULL
    WHEN 'filler' THEN num_nonnulls(purchase_id, service_transaction_id) = 0
    ELSE false
  END)
);
--> statement-breakpoint
-- At most one transaction of a purchase can ever be mined.
CREATE UNIQUE INDEX transaction_purchase ON service.transaction (purchase_id) WHERE state <> 'lost';
--> statement-breakpoint
-- At most one transaction of a service transaction can ever be mined.
CREATE UNIQUE INDEX transaction_service_transaction ON service.transaction (service_transaction_id) WHERE service_transaction_id IS NOT NULL AND state <> 'lost';
--> statement-breakpoint
-- Answers whether anything was ever signed for a service transaction, lost transactions included, without a scan of the whole ledger.
CREATE INDEX transaction_of_service_transaction ON service.transaction (service_transaction_id) WHERE service_transaction_id IS NOT NULL;
--> statement-breakpoint
CREATE INDEX transaction_open ON service.transaction (chain_id, wallet, nonce) WHERE state = 'open';
--> statement-breakpoint
CREATE INDEX transaction_filler ON service.transaction (chain_id, wallet, nonce) WHERE kind = 'filler' AND state = 'mined';
--> statement-breakpoint
CREATE INDEX transaction_created ON service.transaction (chain_id, created_at);
--> statement-breakpoint
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
  last_broadcast_at timestamptz,
  -- A cancellation: an empty transfer to the wallet itself in place of the call.
  cancels boolean NOT NULL DEFAULT false,
  -- Whether a node ever accepted it.
  taken boolean NOT NULL DEFAULT false
);
--> statement-breakpoint
CREATE INDEX attempt_transaction ON service.attempt (transaction_id);
--> statement-breakpoint
-- The block up to which the ledger has settled the transactions in flight.
CREATE TABLE service.watched_block (
  chain_id integer PRIMARY KEY,
  number bigint NOT NULL,
  hash text NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now()
);
--> statement-breakpoint
-- Gas spent in a UTC day, in wei, by the wallet whose key asked for it, and in total (wallet ''). A transaction that is in no
-- block counts with its highest possible cost. Triggers update it in the transaction of each change, so that a budget check
-- needs no sum.
CREATE TABLE service.gas_day (
  chain_id integer NOT NULL,
  day date NOT NULL,
  wallet text NOT NULL,
  wei numeric(78, 0) NOT NULL,
  PRIMARY KEY (chain_id, day, wallet)
);
--> statement-breakpoint
-- The gas that counts for a transaction: its cost, its reservation while it has none, 0 when it is lost.
CREATE FUNCTION service.gas_of(t service.transaction) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN t.state = 'lost' THEN 0 ELSE coalesce(t.gas_cost, t.gas_reserved) END
$$;
--> statement-breakpoint
-- Adds gas to the days and wallets that it counts for. It locks the rows of gas_day in one order, after all other rows of
-- the statement, so that no two statements wait for each other.
CREATE FUNCTION service.add_gas(chains integer[], days date[], purchases uuid[], weis numeric[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO service.gas_day AS g (chain_id, day, wallet, wei)
  SELECT c.chain, c.day, w.wallet, sum(c.wei)
  FROM unnest(chains, days, purchases, weis) AS c (chain, day, purchase, wei),
    LATERAL (SELECT '' AS wallet UNION ALL SELECT p.wallet FROM service.purchase p WHERE p.id = c.purchase) w
  GROUP BY 1, 2, 3 HAVING sum(c.wei) <> 0 ORDER BY 1, 2, 3
  ON CONFLICT (chain_id, day, wallet) DO UPDATE SET wei = g.wei + excluded.wei
$$;
--> statement-breakpoint
-- Counts the gas of new transactions, once per statement.
CREATE FUNCTION service.note_gas_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM service.add_gas(array_agg(n.chain_id), array_agg((n.created_at AT TIME ZONE 'utc')::date),
    array_agg(n.purchase_id), array_agg(service.gas_of(n))) FROM after n;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Counts how the gas of changed transactions rose or fell, once per statement.
CREATE FUNCTION service.note_gas_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM service.add_gas(array_agg(n.chain_id), array_agg((n.created_at AT TIME ZONE 'utc')::date),
    array_agg(n.purchase_id), array_agg(service.gas_of(n) - service.gas_of(o)))
  FROM after n JOIN before o ON o.id = n.id WHERE service.gas_of(n) <> service.gas_of(o);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER transaction_gas_added AFTER INSERT ON service.transaction
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION service.note_gas_added();
--> statement-breakpoint
CREATE TRIGGER transaction_gas_changed AFTER UPDATE ON service.transaction
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION service.note_gas_changed();
