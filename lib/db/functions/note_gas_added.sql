-- Counts the gas of new transactions, once per statement.
CREATE OR REPLACE FUNCTION service.note_gas_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM service.add_gas(array_agg(n.chain_id), array_agg((n.created_at AT TIME ZONE 'utc')::date),
    array_agg(n.wallet), array_agg(n.client), array_agg(n.runs_code_of), array_agg(service.gas_of(n))) FROM after n;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER transaction_gas_added AFTER INSERT ON service.transaction
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION service.note_gas_added();
