/** How a node's report names a firewall that it has applied: as one version of one object, so that neither an edit nor another object of its name is meant. */
import { createHash } from 'node:crypto';

/** Characters of base64url: of 2,000 on a node two are the same in one of 10^8 clusters. */
export const VERSION_LENGTH = 8;

export const firewallVersion = (uid: string, generation: number): string =>
  createHash('sha256').update(`${uid} ${generation}`).digest('base64url').slice(0, VERSION_LENGTH);
