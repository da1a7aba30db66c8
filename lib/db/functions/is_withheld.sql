-- Whether the operator's stops forbid sending a signed form of a transaction: a stop of everything, of the wallet that signed it, or of the
-- key or the buyer's wallet that its purchase is of; the last two let an empty transfer pass, which cancels. Volatile: it sees stops that
-- were committed while the statement that asks waited for a lock.
CREATE OR REPLACE FUNCTION service.is_withheld(of_transaction bigint, cancels boolean) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM service.stop) AND EXISTS (
    SELECT FROM service.transaction t LEFT JOIN service.permit m ON m.id = t.intent
    LEFT JOIN service.purchase p ON p.id = coalesce(m.purchase_id, t.intent)
    WHERE t.id = of_transaction AND (
      service.stopped_by(t.wallet, NULL) IS NOT NULL
      OR (p.id IS NOT NULL AND NOT cancels AND service.stopped_by(p.wallet, p.key_id) IS NOT NULL)));
END $$;
