import { EmbeddingDimensionsError } from '../errors.js';
import type { Transaction } from '../index.js';

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
