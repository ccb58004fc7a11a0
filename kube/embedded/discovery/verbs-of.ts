import type { ResourceDefinition } from '../definitions/types.ts';

/** Of every resource. */
export const VERBS: readonly string[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

export const SUBRESOURCE_VERBS: readonly string[] = ['get', 'patch', 'update'];

/** `status`, and `binding` of pods. */
export const subresourcesOf = ({
  kind,
  group,
  hasStatus,
}: ResourceDefinition): { name: string; verbs: readonly string[] }[] => [
  ...(hasStatus ? [{ name: 'status', verbs: SUBRESOURCE_VERBS }] : []),
  ...(kind === 'Pod' && group === '' ? [{ name: 'binding', verbs: ['create'] }] : []),
];
