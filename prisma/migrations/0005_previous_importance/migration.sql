-- What was told of the importance before the latest rescoring, written with it: how one statement both scores facts where they
-- stand and tells what they had, without finding each row twice.
ALTER TABLE fact_salience ADD COLUMN previous double precision;
