import { randomBytes } from 'node:crypto';
import { newId } from '../../src/ids.js';
import { onePerOwner, post, type Reply, rowsOf, sourceOf } from './ask.js';
import { type Caller, toGlobalId, uuidOf } from './callers.js';
import { maySee } from './markers.js';
import type { Kind, Position } from './operations.js';
import type { LeakTenant, World } from './owners.js';
import type { ValueSource } from './values.js';

/** The ways in which an id is written: a global id, a bare UUID, the beginning of a shortId. */
const FORMS = {
  global: (type: string, uuid: string) => toGlobalId(type, uuid),
  uuid: (_type: string, uuid: string) => uuid,
  short: (_type: string, uuid: string) => uuid.slice(-12, -4),
} as const;
export type Form = keyof typeof FORMS;

/** An id to try, and what is true of it. */
export interface TriedId {
  readonly value: string;
  readonly type: string;
  readonly form: Form;
  /** Such as `of b/agent-1/-`. */
  readonly of: string;
  /** Every text by which an answer may name it. */
  readonly names: readonly string[];
}

/** An id in all of its forms. */
function written(type: string, uuid: string, of: string, forms: readonly Form[]): TriedId[] {
  const names = [toGlobalId(type, uuid), uuid, uuid.slice(-12), uuid.slice(-12, -4)];
  return forms.map((form) => ({ value: FORMS[form](type, uuid), type, form, of, names }));
}

/** Forms that are worth trying: those of callers by the same rules as another are left to that one. */
function formsAt(caller: Caller, position: Position): readonly Form[] {
  if (caller.role === 'PLATFORM_ADMIN' || caller.role === 'TENANT_AUDITOR') return ['global'];
  // Where any type is taken, only a global id says which.
  return position.nodeType === null ? ['global', 'uuid'] : ['global', 'uuid', 'short'];
}

/** Ids of a type that find nothing for a caller: each must be answered like one that nobody ever had. */
export function unseenIds(world: World, caller: Caller, type: string, forms: readonly Form[]): TriedId[] {
  const tenant = world.a;
  // Those first that the caller could see if its tenant were the other one.
  const groups = [
    rowsOf(world, world.b, { ...caller, tenant: 'b' }, type),
    rowsOf(world, tenant, caller, type, true),
  ].map((rows) => onePerOwner(rows, 2).filter(({ owner }) => !maySee(caller, owner)));
  const foreign = groups.flatMap((rows) =>
    rows.flatMap(({ uuid, owner }, index) => {
      const of = `of ${owner.tenant}/${owner.agent ?? '-'}/${owner.user ?? '-'}`;
      return written(type, uuid, of, index === 0 ? forms : ['global']);
    }),
  );
  const gone = [tenant, world.b].flatMap(({ gone, local }) =>
    gone[type] ? written(type, uuidOf(gone[type]), `gone from ${local}`, ['global']) : [],
  );
  const other = rowsOf(world, tenant, caller, type === 'Session' ? 'User' : 'Session')[0];
  const ofOtherType = other?.nodeType
    ? written(other.nodeType, other.uuid, `of the type ${other.nodeType}`, ['global'])
    : [];
  return [...foreign, ...gone, ...ofOtherType];
}

/** An id that nobody ever had, in a form. */
export function missingId(type: string, form: Form): TriedId {
  return written(type, newId(), 'of nobody', [form])[0]!;
}

/** Texts that are no ids. */
export function malformedIds(type: string): string[] {
  return [
    '',
    ' ',
    '%',
    'x'.repeat(300),
    '0000000',
    Buffer.from(`${type}:`).toString('base64'),
    Buffer.from(`${type}:1 OR 1=1`).toString('base64'),
    Buffer.from(`:${newId()}`).toString('base64'),
    randomBytes(24).toString('base64'),
  ];
}

/** Ids that a caller may use, the newest of its own first. */
export function ownIds(
  world: World,
  tenant: LeakTenant,
  caller: Caller,
  type: string,
  most: number,
): TriedId[] {
  return rowsOf(world, tenant, caller, type)
    .slice(0, most)
    .flatMap(({ uuid }) => written(type, uuid, 'its own', ['global']));
}

/** An answer without the id that was asked for: what is left must not tell one id from another. */
export function withoutId({ status, text }: Reply, tried: TriedId): string {
  return tried.names.reduce((rest, name) => rest.replaceAll(name, 'ID'), `${status} ${text}`);
}

/** A position as it is asked by one caller: everything but the id stays the same from one request to the next. */
export function asker(world: World, caller: Caller, position: Position): (value: unknown) => Promise<Reply> {
  const words = sourceOf(world, world.a, caller);
  const word = words.word();
  const source: ValueSource = { ...words, word: () => word };
  return (value) =>
    post(world, caller, {
      document: position.operation.document,
      variables: position.operation.variables(source, { path: position.path, value }),
    });
}

/** Tries every sort of id that the caller may not see at a position. @returns what was wrong with the answers */
export async function tryForeign(world: World, caller: Caller, position: Position): Promise<string[]> {
  const forms = formsAt(caller, position);
  const wrong: string[] = [];
  const ask = asker(world, caller, position);
  const note = (what: string, reply: Reply) =>
    wrong.push(`${caller.name} ${position.name} ${what}: ${reply.text.slice(0, 300)}`);
  for (const type of position.nodeType ? [position.nodeType] : world.generator.nodeTypes) {
    // What is answered to an id that nobody ever had, by its type and form.
    const expected = new Map<string, string>();
    for (const tried of unseenIds(world, caller, type, forms)) {
      // Where any type is taken, none is the wrong one.
      if (position.nodeType === null && tried.type !== type) continue;
      const key = `${tried.type} ${tried.form}`;
      if (!expected.has(key)) {
        const missing = missingId(tried.type, tried.form);
        const reply = await ask(missing.value);
        if (reply.codes.includes('INTERNAL')) note(`a missing ${tried.form} id`, reply);
        expected.set(key, withoutId(reply, missing));
      }
      const reply = await ask(tried.value);
      if (withoutId(reply, tried) !== expected.get(key))
        note(`tells the ${tried.form} id ${tried.of} from ${expected.get(key)?.slice(0, 200)}`, reply);
      for (const leak of world.markers.foreignIn(reply.text, caller, tried.names.join(' ')))
        note(`shows ${leak}`, reply);
    }
  }
  return wrong;
}

/** Tries texts that are no ids: they find nothing, and break nothing. */
export async function tryMalformed(world: World, caller: Caller, position: Position): Promise<string[]> {
  const wrong: string[] = [];
  const ask = asker(world, caller, position);
  for (const value of malformedIds(position.nodeType ?? 'Fact')) {
    const reply = await ask(value);
    const leaks = world.markers.foreignIn(reply.text, caller);
    if (reply.codes.includes('INTERNAL') || leaks.length > 0)
      wrong.push(
        `${caller.name} ${position.name} "${value.slice(0, 40)}": ${leaks} ${reply.text.slice(0, 200)}`,
      );
  }
  return wrong;
}

/** Positions at which an id of one's own gets another answer than a missing one, so that the tries above can fail. */
async function isTold(world: World, position: Position): Promise<boolean> {
  // Some fields are the platform's alone.
  for (const name of ['admin', 'platform']) {
    if (await isToldTo(world, world.a.callers[name] as Caller, position)) return true;
  }
  return false;
}

async function isToldTo(world: World, admin: Caller, position: Position): Promise<boolean> {
  const types = position.nodeType ? [position.nodeType] : world.generator.nodeTypes;
  const ask = asker(world, admin, position);
  for (const type of types) {
    const missing = missingId(type, 'global');
    const expected = withoutId(await ask(missing.value), missing);
    for (const own of ownIds(world, world.a, admin, type, 5)) {
      if (withoutId(await ask(own.value), own) !== expected) return true;
    }
  }
  return false;
}

/** Positions that cannot tell an own id from a missing one, though there is an own one; the destructive ones last. */
export async function untold(world: World, kind: Kind): Promise<string[]> {
  const untold: string[] = [];
  const positions = world.generator.positions(kind, 'ID');
  const ends = (position: Position) => Number(/^(delete|erase|forget|revoke)/.test(position.operation.root));
  for (const position of positions.sort((one, other) => ends(one) - ends(other))) {
    const admin = world.a.callers['admin'] as Caller;
    const has = !position.nodeType || ownIds(world, world.a, admin, position.nodeType, 1).length > 0;
    if (has && !(await isTold(world, position))) untold.push(position.name);
  }
  return untold;
}
