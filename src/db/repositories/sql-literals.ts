import { Prisma } from '../generated/client.js';

/**
 * A number of double precision, written into the statement instead of passed as one of its parameters, of which
 * PostgreSQL takes 65,535. It is read back to the last bit: the shortest decimal that means the number.
 * @throws TypeError for what is no finite number, so that nothing else can become part of a statement
 */
export function float(value: number): Prisma.Sql {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new TypeError('not a finite number');
  return Prisma.raw(`'${number}'::float8`);
}

/**
 * A whole number, likewise.
 * @throws TypeError for what does not fit into four bytes
 */
export function integer(value: number): Prisma.Sql {
  const number = Number(value);
  if (!Number.isInteger(number) || Math.abs(number) > 0x7fff_ffff) throw new TypeError('not an integer');
  return Prisma.raw(`'${number}'::int`);
}
