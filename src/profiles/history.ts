import type { ProfileVersionRow } from '../db/index.js';
import { type ProfileChange, profileChanges } from './changes.js';
import { fromSnapshot } from './values.js';

/** What a version of a profile changed of the one before; nothing for the first. */
export function changesOfVersion({ snapshot, previous }: ProfileVersionRow): ProfileChange[] {
  return profileChanges(fromSnapshot(previous), fromSnapshot(snapshot));
}
