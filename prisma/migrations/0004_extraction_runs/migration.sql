-- What an extraction used and said, windows that fail and those put aside (SPEC §2.2, §2.3).

-- Tokens of a language model, in dollars what they cost where prices are configured; remarks of the extractor.
ALTER TABLE extraction_run ADD COLUMN input_tokens integer NOT NULL DEFAULT 0 CHECK (input_tokens >= 0);
ALTER TABLE extraction_run ADD COLUMN output_tokens integer NOT NULL DEFAULT 0 CHECK (output_tokens >= 0);
ALTER TABLE extraction_run ADD COLUMN cost double precision CHECK (cost >= 0);
ALTER TABLE extraction_run ADD COLUMN notes text[] NOT NULL DEFAULT '{}';
-- Lists of a tenant's runs are in the order of their ids; those that want a look are few.
CREATE INDEX extraction_run_session_id_idx ON extraction_run (tenant_id, session_id, id);
CREATE INDEX extraction_run_failed_idx ON extraction_run (tenant_id, id) WHERE status IN ('FAILED', 'QUARANTINED');
CREATE INDEX refusal_run_idx ON refusal (tenant_id, run_id) WHERE run_id IS NOT NULL;

-- The window after the cursor, where mining it failed: its newest message, how often, and when it is tried again. It
-- keeps its extent, so that messages that come later do not share its fate.
ALTER TABLE session ADD COLUMN window_to integer;
ALTER TABLE session ADD COLUMN window_failures integer NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN window_retry_at timestamptz(3);

-- Windows that the cursor has passed without their being mined. The row goes when its window is mined.
CREATE TABLE quarantined_window (
  tenant_id      uuid NOT NULL,
  session_id     uuid NOT NULL,
  from_seq       integer NOT NULL,
  to_seq         integer NOT NULL,
  error          text NOT NULL,
  failures       integer NOT NULL,
  quarantined_at timestamptz(3) NOT NULL,
  -- when it is tried again, because somebody asked for that; null: it is not
  retry_at       timestamptz(3),
  PRIMARY KEY (tenant_id, session_id, from_seq),
  CONSTRAINT quarantined_window_order CHECK (from_seq <= to_seq),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE quarantined_window ENABLE ROW LEVEL SECURITY;
ALTER TABLE quarantined_window FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON quarantined_window FOR ALL TO salient_app
  USING (tenant_id = (SELECT nullif(current_setting('app.tenant', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('app.tenant', true), '')::uuid));
GRANT SELECT, INSERT, UPDATE, DELETE ON quarantined_window TO salient_app;
