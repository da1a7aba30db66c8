-- More gas counts for today, so no day has more than its budget allowed. Less gas is taken back where it was counted, the
-- newest day first: no day falls below zero, and the days add up to what the transactions cost.
CREATE OR REPLACE FUNCTION service.note_gas_day() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE TRIGGER transaction_gas_day BEFORE UPDATE ON service.transaction FOR EACH ROW
  WHEN ((NEW.created_at AT TIME ZONE 'utc')::date < (now() AT TIME ZONE 'utc')::date
    AND (NEW.gas_reserved, NEW.gas_cost, NEW.lost_to) IS DISTINCT FROM (OLD.gas_reserved, OLD.gas_cost, OLD.lost_to))
  EXECUTE FUNCTION service.note_gas_day();
