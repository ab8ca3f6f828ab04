/** How far a float32 unit vector's length may be from 1 after rounding. */
const UNIT_TOLERANCE = 1e-3;

/** Anything that holds a vector's components. */
export type VectorLike = ArrayLike<number>;

/**
 * Cosine of two vectors, in [-1, 1]; 0 when either has no length. Correct for vectors that are not unit-length,
 * too, e.g. after a half-precision round trip through the database.
 * @throws RangeError when the dimensions differ (vectors of two models).
 */
export function cosine(a: VectorLike, b: VectorLike): number {
  assertSameDimensions(a, b);
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i]!;
    const y = b[i]!;
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  if (squaresA === 0 || squaresB === 0) return 0;
  return Math.min(1, Math.max(-1, dot / Math.sqrt(squaresA * squaresB)));
}

/**
 * L2 distance of two unit vectors, in [0, 2]: the `d` of novelty (SPEC §4.1).
 * Summed over differences and not taken from the cosine, which loses all digits of small distances.
 * @throws RangeError when the dimensions differ (vectors of two models).
 */
export function l2Distance(a: VectorLike, b: VectorLike): number {
  assertSameDimensions(a, b);
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = a[i]! - b[i]!;
    sum += difference * difference;
  }
  return Math.min(2, Math.sqrt(sum));
}

/** The cosine of two unit vectors at L2 distance `d`: for databases that return distances. */
export function cosineOfDistance(d: number): number {
  return Math.min(1, Math.max(-1, 1 - (d * d) / 2));
}

/** True when the vector's length is 1 within float32 rounding, and every component is finite. */
export function isUnit(vector: VectorLike): boolean {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
  return Math.abs(Math.sqrt(squares) - 1) <= UNIT_TOLERANCE;
}

/** A new vector of length 1 in the same direction, or null when the vector has no direction or is not finite. */
export function normalise(vector: VectorLike): Float32Array | null {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
  if (!(squares > 0) || !Number.isFinite(squares)) return null;
  const scale = 1 / Math.sqrt(squares);
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < vector.length; i++) unit[i] = vector[i]! * scale;
  return unit;
}

/** The direction of several vectors together, as a unit vector; null for none, or when they cancel out. */
export function meanDirection(vectors: readonly Float32Array[]): Float32Array | null {
  const [first, ...others] = vectors;
  if (first === undefined) return null;
  if (others.length === 0) return first;
  const sum = Float64Array.from(first);
  for (const vector of others) {
    assertSameDimensions(first, vector);
    for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + vector[i]!;
  }
  return normalise(sum);
}

/**
 * pgvector's text form, e.g. `[0.1,-0.25]`, each component with the fewest digits that give the same float32
 * back: a third of the bytes of the double's own digits.
 * @throws RangeError for a component that is not finite, which the database would refuse.
 */
export function toVectorLiteral(vector: VectorLike): string {
  const parts = new Array<string>(vector.length);
  for (let i = 0; i < vector.length; i++) parts[i] = shortestFloat32(vector[i]!);
  return `[${parts.join(',')}]`;
}

/** Powers of ten up to 1e22, which doubles hold exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/** Seven significant digits usually identify a float32, nine always do. */
function shortestFloat32(value: number): string {
  const single = Math.fround(value);
  if (!Number.isFinite(single)) throw new RangeError('A vector has a component that is not finite.');
  const size = Math.abs(single);
  if (size < 1e-6 || size >= 10) return shortestByPrecision(single);
  let leadingZeros = 0;
  while (size * POWERS_OF_TEN[leadingZeros]! < 1) leadingZeros++;
  for (let digits = 6; digits <= 9; digits++) {
    // Both operands are exact, so the quotient is the double nearest to that decimal and prints as it.
    const power = POWERS_OF_TEN[leadingZeros + digits - 1]!;
    const rounded = Math.round(single * power) / power;
    if (Math.fround(rounded) === single) return String(rounded);
  }
  return shortestByPrecision(single);
}

/** The same for any size of number, five times slower. */
function shortestByPrecision(single: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(single.toPrecision(digits));
    if (Math.fround(rounded) === single) return String(rounded);
  }
  return String(Number(single.toPrecision(9)));
}

function assertSameDimensions(a: VectorLike, b: VectorLike): void {
  if (a.length !== b.length) {
    throw new RangeError(`Vectors of ${a.length} and ${b.length} dimensions cannot be compared.`);
  }
}
