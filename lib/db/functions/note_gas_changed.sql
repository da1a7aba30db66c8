-- Counts how the gas of changed transactions rose or fell, once per statement.
CREATE OR REPLACE FUNCTION service.note_gas_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM service.add_gas(array_agg(n.chain_id), array_agg(g.day), array_agg(n.wallet), array_agg(n.client),
    array_agg(n.runs_code_of), array_agg(g.wei))
  FROM after n JOIN before o ON o.id = n.id, LATERAL (
    SELECT day, wei FROM service.gas_by_day(n) UNION ALL SELECT day, -wei FROM service.gas_by_day(o)) g
  WHERE service.gas_of(n) <> service.gas_of(o);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER transaction_gas_changed AFTER UPDATE ON service.transaction
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION service.note_gas_changed();
