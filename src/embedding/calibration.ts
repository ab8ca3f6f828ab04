/** A knot of a calibration: at this cosine the similarity is this. */
export type Knot = readonly [cosine: number, similarity: number];

/** A monotone map from a model's cosine to a similarity in [0, 1] (SPEC §3). */
export interface Calibration {
  (cosine: number): number;
  /** The same map as the corners of its line, from [0, 0] to [1, 1]: for what computes it elsewhere. */
  readonly knots: readonly Knot[];
}

/**
 * A calibration (SPEC §3) as a map that is linear between knots. The knots run from [0, 0] to [1, 1] and rise
 * strictly in both coordinates, so that the map is monotone and keeps every order among cosines above 0.
 * @throws RangeError for knots that do not.
 */
export function calibration(knots: readonly Knot[]): Calibration {
  const rising = knots.every(
    (knot, i) => i === 0 || (knot[0] > knots[i - 1]![0] && knot[1] > knots[i - 1]![1]),
  );
  const first = knots[0];
  const last = knots.at(-1);
  if (
    !rising ||
    !first ||
    !last ||
    knots.length < 2 ||
    first.some((c) => c !== 0) ||
    last.some((c) => c !== 1)
  ) {
    throw new RangeError('The knots of a calibration must rise from [0, 0] to [1, 1].');
  }
  const similarity = (cosine: number): number => {
    if (!(cosine > 0)) return 0;
    if (cosine >= 1) return 1;
    let i = 1;
    while (knots[i]![0] < cosine) i++;
    const [x0, y0] = knots[i - 1]!;
    const [x1, y1] = knots[i]!;
    return y0 + ((cosine - x0) / (x1 - x0)) * (y1 - y0);
  };
  return Object.assign(similarity, { knots });
}
