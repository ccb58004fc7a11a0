import type { NetworkStatus } from '../../api/agent-status.ts';
import { CliError } from '../errors.ts';

/**
 * @param wanted its name, the key of one of its NADs, or the name of its ClusterUserDefinedNetwork
 * @throws CliError when there is no such network
 */
export const findNetwork = (networks: readonly NetworkStatus[], wanted: string): NetworkStatus => {
  const found = networks.find(
    ({ name, nads }) => name === wanted || nads.includes(wanted) || name === `cluster_udn_${wanted}`,
  );
  if (found !== undefined) return found;
  const names = networks.map(({ name }) => name).join(', ');
  throw new CliError(`this node knows no network "${wanted}"; it knows ${names === '' ? 'none' : names}`);
};
