import type { Transaction } from '../index.js';

/** The row of an embedding model, added at its first use. Run as the platform's role. */
export async function registerEmbeddingModel(
  tx: Transaction,
  name: string,
  dimensions: number,
): Promise<number> {
  await tx.$executeRaw`
    INSERT INTO embedding_model (name, dimensions) VALUES (${name}::text, ${dimensions}::int) ON CONFLICT (name) DO NOTHING`;
  const rows = await tx.$queryRaw<
    { id: number }[]
  >`SELECT id FROM embedding_model WHERE name = ${name}::text`;
  return rows[0]?.id as number;
}
