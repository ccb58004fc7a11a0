import type { DesiredStatus } from '../../api/agent-status.ts';

/** What kind of thing it is, and where: `northbound Logical_Router`, `host route`. */
export const kindOf = ({ backend, key }: Pick<DesiredStatus, 'backend' | 'key'>): string =>
  `${backend} ${key.split(/[/ ]/)[0] ?? ''}`;
