/** The NAD of a network as the rules of who may use it see it. Pure. */
import type { ScopedNad } from '../../api/attachment-scope.ts';
import type { NadRecord } from './network-records.ts';

export const scopedNad = ({ key, conf, metadata, isOwn }: NadRecord): ScopedNad => ({
  key,
  namespace: metadata.namespace,
  network: conf.name,
  role: conf.role,
  isRendered: isOwn,
});
