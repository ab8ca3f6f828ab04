import type { GraphQLField } from 'graphql';
import { describe, expect, it } from 'vitest';
import { newId } from '../../src/ids.js';
import { ACTOR_KINDS, type ActorKind } from '../../src/tenancy/index.js';
import { post, sourceOf } from './ask.js';
import { type Caller, NOBODY, STRANGER, toGlobalId } from './callers.js';
import type { Kind } from './operations.js';
import type { World } from './owners.js';
import { firstAnswer } from './transports.js';

const KINDS: readonly Kind[] = ['query', 'mutation', 'subscription'];
const CALLERS: Readonly<Record<ActorKind, string>> = {
  PLATFORM_ADMIN: 'platform',
  TENANT_ADMIN: 'admin',
  TENANT_AUDITOR: 'auditor',
  AGENT: 'agent-1',
  USER: 'user-1',
};

/** The roles that a root field is declared for. @throws where it is declared for nobody */
function declaredRoles(field: GraphQLField<unknown, unknown>): readonly ActorKind[] {
  const options = field.extensions['pothosOptions'] as
    | { authScopes?: { roles?: readonly ActorKind[] } }
    | undefined;
  const roles = options?.authScopes?.roles;
  if (!Array.isArray(roles) || roles.length === 0)
    throw new Error(`${field.name} does not say who may call it: give it authScopes: { roles: … }`);
  return roles;
}

/** Tests that every root field says who may call it, and that it is so. */
export function testAccessTable(world: () => World): void {
  /** What a caller's first answer says of its right to a field. */
  async function observed(
    caller: Caller,
    kind: Kind,
    field: GraphQLField<unknown, unknown>,
  ): Promise<string> {
    const operation = world().generator.shortest(kind, field);
    const source = {
      ...sourceOf(world(), world().a, caller),
      id: (type: string) =>
        type === 'Agent' || type === 'User'
          ? sourceOf(world(), world().a, caller).id(type)
          : toGlobalId(type, newId()),
    };
    const sent = { document: operation.document, variables: operation.variables(source) };
    const { codes } =
      kind === 'subscription' ? await firstAnswer(world(), caller, sent) : await post(world(), caller, sent);
    return codes.includes('UNAUTHENTICATED')
      ? 'UNAUTHENTICATED'
      : codes.includes('FORBIDDEN')
        ? 'FORBIDDEN'
        : 'may';
  }

  describe('who may call what', () => {
    it('is declared by every root field, and is this', async () => {
      const lines = KINDS.flatMap((kind) =>
        world()
          .generator.rootFields(kind)
          .map((field) => {
            const roles = declaredRoles(field);
            return `${`${kind} ${field.name}`.padEnd(40)} ${ACTOR_KINDS.map((role) => (roles.includes(role) ? role : '–').padEnd(role.length)).join('  ')}`.trimEnd();
          }),
      );
      const table = `${lines.join('\n')}\n`;
      console.log(table);
      await expect(table).toMatchFileSnapshot('access-table.txt');
    });

    it.for(ACTOR_KINDS)('is what %s finds', async (role) => {
      const caller = world().a.callers[CALLERS[role]] as Caller;
      const wrong: string[] = [];
      for (const kind of KINDS) {
        for (const field of world().generator.rootFields(kind)) {
          const expected = declaredRoles(field).includes(role) ? 'may' : 'FORBIDDEN';
          const found = await observed(caller, kind, field);
          if (found !== expected) wrong.push(`${kind} ${field.name}: ${found} instead of ${expected}`);
        }
      }
      expect(wrong).toEqual([]);
    });

    it.for([NOBODY, STRANGER])('$name is asked for credentials everywhere', async (caller) => {
      for (const kind of KINDS) {
        for (const field of world().generator.rootFields(kind))
          expect(await observed(caller, kind, field), `${kind} ${field.name}`).toBe('UNAUTHENTICATED');
      }
    });
  });
}
