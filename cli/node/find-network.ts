import type { NetworkStatus } from '../../api/agent-status.ts';
import { CliError } from '../errors.ts';

/**
 * @param requested its name, the key of one of its NADs, or the name of its ClusterUserDefinedNetwork
 * @throws CliError when there is no such network
 */
export const findNetwork = (networks: readonly NetworkStatus[], requested: string): NetworkStatus => {
  const found = networks.find(
    ({ name, nads }) => name === requested || nads.includes(requested) || name === `cluster_udn_${requested}`,
  );
  if (found !== undefined) return found;
  const names = networks.map(({ name }) => name).join(', ');
  throw new CliError(`this node does not know network "${requested}"; it knows ${names === '' ? 'none' : names}`);
};
