-- Points that a tenant, and each of its keys that has a rate of its own, may still spend. Unlogged: it is written often,
-- costs no flush that way, and a crash that empties it gives everybody a full bucket, which does no harm.
CREATE UNLOGGED TABLE rate_bucket (
  tenant_id uuid NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- The nil UUID: the tenant as a whole.
  key_id uuid NOT NULL,
  points double precision NOT NULL,
  -- What the last statement took out, for it to return.
  granted double precision NOT NULL,
  filled_at timestamptz(6) NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
);

ALTER TABLE rate_bucket ENABLE ROW LEVEL SECURITY;
ALTER TABLE rate_bucket FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON rate_bucket FOR ALL TO salient_app
  USING (tenant_id = (SELECT nullif(current_setting('app.tenant', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('app.tenant', true), '')::uuid));
GRANT SELECT, INSERT, UPDATE, DELETE ON rate_bucket TO salient_app;
