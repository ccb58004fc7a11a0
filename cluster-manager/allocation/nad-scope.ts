/** The NAD of a network as the rules of who may use it, and its name, see it. Pure. */
import type { ScopedNad } from '../../api/attachment-scope.ts';
import { isHandmade, type NamedNad } from '../../api/nad-owner.ts';
import type { NadRecord } from './network-records.ts';

export const scopedNad = (nad: NadRecord): ScopedNad & NamedNad => ({
  key: nad.key,
  namespace: nad.metadata.namespace,
  network: nad.conf.name,
  role: nad.conf.role,
  isRendered: nad.isOwn,
  isHandmade: !nad.isOwn && isHandmade(nad),
});
