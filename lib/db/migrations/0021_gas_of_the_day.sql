-- Gas is counted on the UTC day that reserves it. A transaction that is open over midnight used to raise the day of its
-- created_at, whatever day's budget had allowed the raise.

-- What it reserved on later UTC days than that of created_at, in wei by day; all else counts for the day of created_at.
ALTER TABLE service.transaction ADD COLUMN gas_later jsonb;
--> statement-breakpoint
-- More gas counts for today, so no day has more than its budget allowed. Less gas is taken back where it was counted, the
-- newest day first: no day falls below zero, and the days add up to what the transactions cost.
CREATE FUNCTION service.note_gas_day() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  today text := (now() AT TIME ZONE 'utc')::date;
  more numeric := service.gas_of(NEW) - service.gas_of(OLD);
  later record;
BEGIN
  IF more > 0 THEN
    NEW.gas_later := coalesce(OLD.gas_later, '{}')
      || jsonb_build_object(today, coalesce((OLD.gas_later ->> today)::numeric, 0) + more);
    RETURN NEW;
  END IF;
  FOR later IN SELECT key AS day, value::numeric AS wei FROM jsonb_each_text(OLD.gas_later) ORDER BY key DESC LOOP
    NEW.gas_later := NEW.gas_later || jsonb_build_object(later.day, greatest(later.wei + more, 0));
    more := least(later.wei + more, 0);
  END LOOP;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER transaction_gas_day BEFORE UPDATE ON service.transaction FOR EACH ROW
  WHEN ((NEW.created_at AT TIME ZONE 'utc')::date < (now() AT TIME ZONE 'utc')::date
    AND (NEW.gas_reserved, NEW.gas_cost, NEW.lost_to) IS DISTINCT FROM (OLD.gas_reserved, OLD.gas_cost, OLD.lost_to))
  EXECUTE FUNCTION service.note_gas_day();
--> statement-breakpoint
-- The gas that counts for a transaction, by the day that it counts for.
CREATE FUNCTION service.gas_by_day(t service.transaction) RETURNS TABLE (day date, wei numeric) LANGUAGE sql STABLE AS $$
  SELECT (t.created_at AT TIME ZONE 'utc')::date,
    service.gas_of(t) - coalesce((SELECT sum(value::numeric) FROM jsonb_each_text(t.gas_later)), 0)
  UNION ALL SELECT key::date, value::numeric FROM jsonb_each_text(t.gas_later)
$$;
--> statement-breakpoint
-- Counts how the gas of changed transactions rose or fell, once per statement.
CREATE OR REPLACE FUNCTION service.note_gas_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM service.add_gas(array_agg(n.chain_id), array_agg(g.day), array_agg(n.wallet), array_agg(n.client), array_agg(g.wei))
  FROM after n JOIN before o ON o.id = n.id, LATERAL (
    SELECT day, wei FROM service.gas_by_day(n) UNION ALL SELECT day, -wei FROM service.gas_by_day(o)) g
  WHERE service.gas_of(n) <> service.gas_of(o);
  RETURN NULL;
END $$;
