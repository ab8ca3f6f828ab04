/** The word lists of stopword that are used; the package has no types of its own. */
declare module 'stopword' {
  export const deu: readonly string[];
  export const fra: readonly string[];
  export const ita: readonly string[];
  export const nld: readonly string[];
  export const por: readonly string[];
  export const rus: readonly string[];
  export const spa: readonly string[];
  export const swe: readonly string[];
}
