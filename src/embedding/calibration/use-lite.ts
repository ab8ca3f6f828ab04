import { calibration } from '../calibration.js';

/** The bundled model's calibration (SPEC §3). */
export const useLiteSimilarity = calibration([
  [0, 0],
  [0.45, 0.5],
  [0.85, 0.75],
  [1, 1],
]);
