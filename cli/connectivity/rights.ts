/** What a user needs for a run, asked before anything is created. */
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { isAllowed, type Wish } from '../commands/check/reviews.ts';
import { CliError } from '../errors.ts';

export interface RightsNeeded {
  /** Networks of its own are created. */
  readonly networks: boolean;
}

/** Of all namespaces where none is named, as those of a run do not exist yet. */
export const wishesOf = ({ networks }: RightsNeeded): readonly Wish[] => [
  ...wishes('namespaces', 'create', 'list', 'watch', 'delete'),
  ...wishes('nodes', 'list'),
  ...wishes('serviceaccounts', 'create'),
  ...wishes('services', 'create'),
  ...wishes('pods', 'create', 'list', 'watch'),
  // API servers ask for get of a WebSocket, and from 1.35 for create, too.
  ...wishes('pods/exec', 'get', 'create'),
  ...(networks ? wishes(`${USER_DEFINED_NETWORKS.plural}.${USER_DEFINED_NETWORKS.group}`, 'create') : []),
  { resource: 'services', verb: 'get', namespace: 'default', name: 'kubernetes' },
];

const wishes = (resource: string, ...verbs: readonly string[]): readonly Wish[] =>
  verbs.map((verb) => ({ resource, verb }));

/** @throws CliError that names each missing verb */
export const demandRights = async (client: KubeClient, needed: RightsNeeded): Promise<void> => {
  const asked = wishesOf(needed);
  const answers = await Promise.all(asked.map((wish) => isAllowed(client, wish)));
  const missing = asked.filter((_, index) => answers[index] !== true);
  if (missing.length === 0) return;
  throw new CliError(`nothing was created: you may not ${missing.map(wishText).join(', ')}`, 2);
};

const wishText = ({ verb, resource, namespace, name }: Wish): string =>
  name === undefined ? `${verb} ${resource}` : `${verb} ${resource} ${namespace}/${name}`;
