-- What a fact's conclusion rests on (SPEC §10): NONE: it is no decision or convention; REASONED: it says why; BARE: it does
-- not. Decided when a fact is written, for content may not be readable in SQL; null: written before this was kept, and
-- decided by the tenant's next consolidation.
ALTER TABLE fact ADD COLUMN conclusion text CHECK (conclusion IN ('NONE', 'REASONED', 'BARE'));
CREATE INDEX fact_bare_idx ON fact (tenant_id, recorded_at, id) WHERE conclusion = 'BARE' AND retired_at IS NULL;

-- How often a fact was stated again. The owner reads past row-level security here.
ALTER TABLE fact_salience ADD COLUMN reaffirmations integer NOT NULL DEFAULT 0;
ALTER TABLE fact_salience NO FORCE ROW LEVEL SECURITY;
UPDATE fact_salience SET reaffirmations = 1 WHERE reaffirmed;
ALTER TABLE fact_salience FORCE ROW LEVEL SECURITY;

-- Reports ask for the refusals, failures and quarantines of one agent or user.
CREATE INDEX refusal_scope_idx ON refusal (tenant_id, scope_id, category);
