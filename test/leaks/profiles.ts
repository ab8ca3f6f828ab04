import type { TestApp } from '../support/app.js';
import { type Caller, credentialsOf } from './callers.js';
import type { Markers } from './markers.js';

/**
 * Gives the tenant, every agent and every user a salience profile with everything in it, and an earlier version of it.
 * Topics are near to the facts of `fillScope`, so that these tell what they matched; stored scores stay as they are.
 */
export async function fillProfiles(
  test: TestApp,
  markers: Markers,
  admin: Caller,
  globalIds: Readonly<Record<string, string>>,
): Promise<void> {
  for (const name of [null, ...Object.keys(globalIds)]) {
    const agent = name?.startsWith('agent') ? name : null;
    const user = name?.startsWith('user') ? name : null;
    const word = () => markers.word({ tenant: admin.tenant ?? '', kind: 'MEMORY', agent, user });
    const owner = agent
      ? { agentId: globalIds[agent] }
      : user
        ? { userId: globalIds[user] }
        : { tenant: true };
    for (let version = 2; version <= 3; version += 1) {
      await test.ask({
        ...credentialsOf(admin),
        query: `mutation ($input: SetSalienceProfileInput!) {
          setSalienceProfile(input: $input) { salienceProfile { id } errors { code message path } }
        }`,
        variables: {
          input: {
            owner,
            interests: [{ topic: `service runs ${word()}`, level: 'HIGH' }],
            disinterests: [{ topic: `prefer editor ${word()}`, level: 'LOW' }],
            alpha: version / 10,
            persona: { name: `Persona ${word()}`, identity: [`identity ${word()}`] },
            rescore: 'RECALL_ONLY',
          },
        },
      });
    }
  }
}
