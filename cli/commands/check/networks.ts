/** Networks that a node cannot have as they are: what agents report. */
import { parseNodeNetworkReport } from '../../../api/node-network-report.ts';
import { NODE_NETWORK_REPORTS } from '../../../api/resources.ts';
import { messageOf } from '../../../base/error-message.ts';
import { isNotFound } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { type Finding, failed } from './finding.ts';

export const checkNetworks = async (client: Pick<KubeClient, 'list'>): Promise<Finding[]> => {
  const what = 'networks on nodes';
  try {
    const faults: string[] = [];
    for (let next: string | undefined; ; ) {
      const page = await client.list(NODE_NETWORK_REPORTS, { limit: 500, continue: next });
      faults.push(...page.items.flatMap(faultsIn));
      next = page.continue;
      if (next === undefined || next === '') break;
    }
    if (faults.length === 0) return [];
    const more = faults.length > NAMED ? `; and ${faults.length - NAMED} more` : '';
    return [failed(what, `${faults.slice(0, NAMED).join('; ')}${more}`)];
  } catch (error) {
    // That the kind is missing is a finding of its own.
    return isNotFound(error) ? [] : [{ result: 'unknown', what, message: messageOf(error) }];
  }
};

const NAMED = 5;

const faultsIn = (object: unknown): string[] => {
  const { metadata, status } = parseNodeNetworkReport(object);
  return status.exceptions.flatMap(({ network, state, message }) =>
    state === 'Failed' ? [`node ${metadata.name}: ${named(network, message)}`] : [],
  );
};

/** That of the default network is an event of the Node, too, and names it. */
const named = (network: string, message: string): string => {
  const name = `network ${network}: `;
  return message.startsWith(name) ? message : `${name}${message}`;
};
