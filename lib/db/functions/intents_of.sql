-- A purchase or service transaction, and the purchase's permit.
CREATE OR REPLACE FUNCTION service.intents_of(of_intent uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  SELECT array_append(ARRAY(SELECT m.id FROM service.permit m WHERE m.purchase_id = of_intent), of_intent)
$$;
