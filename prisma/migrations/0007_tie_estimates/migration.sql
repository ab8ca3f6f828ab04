-- The planner takes a tenant that came after the latest ANALYZE for one without ties; an index on the tenant alone then
-- looks as good to it as one on the fact, and each look-up reads all ties of the tenant. Without statistics of the
-- column every tenant counts as an average one.
ALTER TABLE co_activation ALTER COLUMN tenant_id SET STATISTICS 0;
