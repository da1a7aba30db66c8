-- Records a test of a wallet's subscription ('webhook_test') or the challenge at its creation ('webhook_challenge'), both with a new
-- challenge to echo; returns the delivery, or null when the wallet has no such subscription. With the owner's rights: the api
-- inserts no event, so that none of its own making is signed with a subscriber's secret.
CREATE OR REPLACE FUNCTION service.add_test(of_chain integer, of_wallet text, of_webhook bigint, of_type text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  event_key text := 'test:' || gen_random_uuid();
  event_id text := 'evt_' || left(encode(sha256(convert_to(of_chain || ':' || event_key || ':1', 'utf8')), 'hex'), 32);
  delivery_id bigint;
BEGIN
  IF of_type NOT IN ('webhook_test', 'webhook_challenge') THEN
    RAISE 'a test is no %', of_type;
  END IF;
  -- The lock keeps the chore from removing the subscription before the delivery is stored.
  PERFORM FROM service.webhook w
  WHERE w.id = of_webhook AND w.chain_id = of_chain AND w.wallet = of_wallet AND w.state <> 'deleted' FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  WITH added AS (
    INSERT INTO service.event (id, chain_id, key, type, parties, body)
    VALUES (event_id, of_chain, event_key, of_type, ARRAY[of_wallet], json_build_object(
      'id', event_id, 'type', of_type, 'version', 1,
      'createdAt', to_char(now() AT TIME ZONE 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'chainId', of_chain,
      'blockNumber', NULL, 'blockHash', NULL, 'txHash', NULL, 'data', json_build_object(
        'webhookId', of_webhook, 'message', CASE of_type WHEN 'webhook_test' THEN 'This is a test.'
          ELSE 'Answer with this challenge to verify the webhook.' END,
        'challenge', replace(gen_random_uuid()::text, '-', ''))))
    RETURNING seq)
  INSERT INTO service.delivery (webhook_id, event_seq, test) SELECT of_webhook, a.seq, true FROM added a
  RETURNING id INTO delivery_id;
  RETURN delivery_id;
END $$;
