-- Whether the fact is retired: a rescoring scores it too, and tells nobody (SPEC §7). Kept here, since a look at the fact
-- for each row is more than scoring it takes. The owner reads past row-level security here.
ALTER TABLE fact_salience ADD COLUMN retired boolean NOT NULL DEFAULT false;
ALTER TABLE fact NO FORCE ROW LEVEL SECURITY;
ALTER TABLE fact_salience NO FORCE ROW LEVEL SECURITY;
UPDATE fact_salience s SET retired = true FROM fact f
  WHERE f.tenant_id = s.tenant_id AND f.id = s.fact_id AND f.retired_at IS NOT NULL;
ALTER TABLE fact FORCE ROW LEVEL SECURITY;
ALTER TABLE fact_salience FORCE ROW LEVEL SECURITY;

-- By which formulas and which calibration facts with this model's vectors are scored. A server with newer ones makes
-- what was scored by the others stale as it starts. Null: not known yet, which is taken for the one that is there.
ALTER TABLE embedding_model ADD COLUMN algorithm_version integer NOT NULL DEFAULT 1;
ALTER TABLE embedding_model ADD COLUMN calibration text;
GRANT UPDATE (algorithm_version, calibration) ON embedding_model TO salient_platform;
