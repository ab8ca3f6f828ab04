import { NotFoundError } from '../errors.js';
import { isUuid } from '../ids.js';

/** The types that `node` finds. */
const NODE_TYPES = [
  'Tenant',
  'Agent',
  'User',
  'Session',
  'Message',
  'Fact',
  'SalienceProfile',
  'RescoreJob',
  'ApiKey',
  'Extraction',
  'ConsolidationReport',
  'KeptRecallReceipt',
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

/** Whether `node` finds things of this type. */
export function isNodeType(type: string): type is NodeType {
  return (NODE_TYPES as readonly string[]).includes(type);
}

/** Relay's global id: base64 of `Type:uuid`. */
export function toGlobalId(type: string, id: string): string {
  return Buffer.from(`${type}:${id}`).toString('base64');
}

/** The parts of a global id; null where the text is none. */
export function parseGlobalId(text: string): { type: string; id: string } | null {
  const decoded = Buffer.from(text, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 1) return null;
  const type = decoded.slice(0, colon);
  const id = decoded.slice(colon + 1);
  if (!/^[A-Za-z]+$/.test(type) || !isUuid(id)) return null;
  return { type, id: id.toLowerCase() };
}

/**
 * The UUID that a client means by a global id or a bare UUID.
 * @throws NotFoundError when it is neither, or an id of another type: exactly as for a row that does not exist
 */
export function idOf(type: NodeType, text: string | number, path: readonly (string | number)[] = []): string {
  const given = String(text).trim();
  if (isUuid(given)) return given.toLowerCase();
  const parsed = parseGlobalId(given);
  if (parsed?.type !== type) throw new NotFoundError(type, path);
  return parsed.id;
}

/** `idOf` for optional arguments. */
export function optionalIdOf(
  type: NodeType,
  text: string | number | null | undefined,
  path: readonly (string | number)[] = [],
): string | null {
  return text == null ? null : idOf(type, text, path);
}
