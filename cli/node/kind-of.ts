import type { WantedStatus } from '../../api/agent-status.ts';

/** What kind of thing it is, and where: `northbound Logical_Router`, `host route`. */
export const kindOf = ({ backend, key }: Pick<WantedStatus, 'backend' | 'key'>): string =>
  `${backend} ${key.split(/[/ ]/)[0] ?? ''}`;
