-- Whether a transaction was ever made for a service transaction of a group, lost ones included: the group is owed then. The
-- keeper's never are, because it asks anew what is due.
CREATE OR REPLACE FUNCTION service.is_partly_signed(of_group uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM service.service_transaction e
    WHERE (e.id = of_group OR e.claim_id = of_group) AND e.purpose NOT LIKE 'keeper%'
      AND (EXISTS (SELECT 1 FROM service.transaction t WHERE t.intent = e.id AND t.lost_to IS NULL)
        OR EXISTS (SELECT 1 FROM service.transaction t WHERE t.intent = e.id AND t.lost_to IS NOT NULL)))
$$;
