-- Counts up a tenant's stream and appends the events under the numbers that this gave (SPEC §11). Every writing
-- transaction ends with it, in one message with its COMMIT. As a function, for it is planned once a connection instead of
-- once a transaction, which takes longer than what it does. Row-level security applies: it acts as whoever calls it.
-- A tenant without a stream is none: nothing is appended and no row returned.
CREATE FUNCTION append_events(of_tenant uuid, events jsonb, by_kind text, by_id uuid, at timestamptz,
                              OUT stream_epoch integer, OUT stream_head bigint)
  RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tenant_stream SET head = head + jsonb_array_length(events) WHERE tenant_id = of_tenant
    RETURNING epoch, head INTO stream_epoch, stream_head;
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO event (tenant_id, seq, type, agent_id, user_id, subject_id, fact_id, cause, old_value, new_value,
                     actor_kind, actor_id, occurred_at)
  SELECT of_tenant, stream_head - jsonb_array_length(events) + e.place, e."type", e."agentId", e."userId",
         e."subjectId", e."factId", e."cause", e."oldValue", e."newValue", by_kind, by_id, at
  FROM ROWS FROM (jsonb_to_recordset(events) AS (
    "type" text, "agentId" uuid, "userId" uuid, "subjectId" uuid, "factId" uuid, "cause" text,
    "oldValue" double precision, "newValue" double precision)) WITH ORDINALITY
    AS e("type", "agentId", "userId", "subjectId", "factId", "cause", "oldValue", "newValue", place);
  RETURN NEXT;
END $$;
