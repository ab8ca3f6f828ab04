-- How recalls came about (SPEC §8): what was asked, what each arm found, what was returned and what was not, and why.
-- Facts and messages are named by their ids alone, so a receipt keeps nothing of one that is forgotten or redacted; what
-- was asked is content.
CREATE TABLE recall_receipt (
  tenant_id   uuid NOT NULL,
  id          uuid NOT NULL,
  -- whose memory was asked for
  agent_id    uuid,
  user_id     uuid,
  -- who asked
  actor_kind  text NOT NULL,
  actor_id    uuid,
  query       bytea,
  k           integer NOT NULL,
  char_budget integer,
  -- empty: all
  kinds       text[] NOT NULL,
  sources     text[] NOT NULL,
  valid_at    timestamptz(3),
  known_at    timestamptz(3),
  include_flagged boolean NOT NULL,
  -- by name, with what each found; reasons, with how many were left out for each
  arms        jsonb NOT NULL,
  left_out    jsonb NOT NULL,
  characters_used integer NOT NULL,
  -- the best, as arrays: see src/db/repositories/recall-receipts.ts
  candidates  jsonb NOT NULL,
  candidate_count integer NOT NULL,
  recalled_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenant (id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agent (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id) ON DELETE CASCADE
);
-- An agent's or user's own, newest first; those of a context; the oldest, which go first.
CREATE INDEX recall_receipt_actor_idx ON recall_receipt (tenant_id, actor_id, id);
CREATE INDEX recall_receipt_user_idx ON recall_receipt (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX recall_receipt_agent_idx ON recall_receipt (tenant_id, agent_id, id) WHERE agent_id IS NOT NULL;
CREATE INDEX recall_receipt_recalled_idx ON recall_receipt (tenant_id, recalled_at);
ALTER TABLE recall_receipt ENABLE ROW LEVEL SECURITY;
ALTER TABLE recall_receipt FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON recall_receipt FOR ALL TO salient_app
  USING (tenant_id = (SELECT nullif(current_setting('app.tenant', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('app.tenant', true), '')::uuid));
-- What a receipt says stays as it was.
GRANT SELECT, INSERT, DELETE ON recall_receipt TO salient_app;
