import { EmbeddingDimensionsError } from '../errors.js';
import type { Transaction } from '../index.js';
import type { Unit } from './unit.js';

/**
 * The row of an embedding model, added at its first use. Run as the platform's role.
 * @throws EmbeddingDimensionsError when the name is known with other dimensions: its vectors cannot be compared
 */
export async function registerEmbeddingModel(
  tx: Transaction,
  name: string,
  dimensions: number,
): Promise<number> {
  await tx.$executeRaw`
    INSERT INTO embedding_model (name, dimensions) VALUES (${name}::text, ${dimensions}::int) ON CONFLICT (name) DO NOTHING`;
  const rows = await tx.$queryRaw<
    { id: number; dimensions: number }[]
  >`SELECT id, dimensions FROM embedding_model WHERE name = ${name}::text`;
  const [row] = rows;
  if (!row) throw new Error('an embedding model that is neither added nor there');
  if (row.dimensions !== dimensions) throw new EmbeddingDimensionsError(name, row.dimensions, dimensions);
  return row.id;
}

/** By what facts with a model's vectors are scored. */
export interface ScoringVersion {
  /** Version of the formulas. */
  readonly algorithm: number;
  /** Names the model's calibration; null where it is not known yet. */
  readonly calibration: string | null;
}

/** By what the facts of this database are scored. Run as the platform's role. */
export async function scoringVersion(tx: Transaction, modelId: number): Promise<ScoringVersion> {
  const rows = await tx.$queryRaw<ScoringVersion[]>`
    SELECT algorithm_version AS algorithm, calibration FROM embedding_model WHERE id = ${modelId}::int`;
  const [row] = rows;
  if (!row) throw new Error('an embedding model that is not there');
  return row;
}

/** Stores by what facts are scored from now on; a newer version that another stored meanwhile stays. */
export async function setScoringVersion(
  tx: Transaction,
  modelId: number,
  { algorithm, calibration }: ScoringVersion,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE embedding_model SET algorithm_version = ${algorithm}::int, calibration = ${calibration}::text
    WHERE id = ${modelId}::int AND algorithm_version <= ${algorithm}::int`;
}

/** Whether the tenant's facts are scored with this model: any has its vector, or none has one at all. One statement. */
export async function scoresWithModel(unit: Unit, modelId: number): Promise<boolean> {
  const rows = await unit.tx.$queryRaw<{ scores: boolean }[]>`
    SELECT EXISTS (SELECT FROM fact_embedding WHERE tenant_id = ${unit.tenantId}::uuid AND model_id = ${modelId}::int)
      OR NOT EXISTS (SELECT FROM fact_embedding WHERE tenant_id = ${unit.tenantId}::uuid) AS scores`;
  return rows[0]?.scores === true;
}
