/** On which nodes the pods run, and which IP families the cluster has. Pure. */
import { z } from 'zod';
import { parseNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { DEFAULT_NETWORK_NAME, NODE_ANNOTATIONS, NODE_LABELS } from '../../api/names.ts';
import { parseWith } from '../../api/parse.ts';
import { cidrFamily } from '../../net/cidr.ts';
import type { Family } from '../../net/ip.ts';
import { CliError } from '../errors.ts';
import { HOSTNAME_LABEL, type Run, type RunNode } from './run.ts';

export interface ClusterNode extends RunNode {
  /** Why no pod of a test is placed there; undefined: it may be. */
  readonly unfit: string | undefined;
  readonly families: readonly Family[];
}

export const clusterNode = (object: unknown): ClusterNode => {
  const { metadata, spec, status } = parseWith(schema, object, 'Node');
  const { name, labels, annotations } = metadata;
  const isReady = status.conditions.some((one) => one.type === 'Ready' && one.status === 'True');
  const taint = spec.taints.find(({ effect }) => effect !== 'PreferNoSchedule');
  const subnets = parseNodeSubnets(annotations[NODE_ANNOTATIONS.subnets] ?? '{}', name).get(DEFAULT_NETWORK_NAME);
  const reasons = [
    ...(isReady ? [] : ['it is not Ready']),
    ...(spec.unschedulable ? ['it is cordoned'] : []),
    ...(taint === undefined ? [] : [`it has the taint ${taint.key}`]),
    ...(NODE_LABELS.excluded in labels ? [`it has the label ${NODE_LABELS.excluded}`] : []),
    ...(HOSTNAME_LABEL in labels ? [] : [`it has no label ${HOSTNAME_LABEL}`]),
    ...(subnets === undefined ? ['it has no subnet of the default network'] : []),
  ];
  return {
    ...{ name, hostname: labels[HOSTNAME_LABEL] ?? '', unfit: reasons[0] },
    families: [...new Set((subnets ?? []).map(cidrFamily))].sort(),
  };
};

/**
 * The first two that fit, by name, or those that are asked for.
 * @throws CliError when there is none, with the reason of each
 */
export const chooseNodes = (nodes: readonly ClusterNode[], asked: readonly string[] = []): Run['nodes'] => {
  if (asked.length > 2) throw new CliError('--node names one node or two', 2);
  const sorted = [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const name of asked) {
    const found = sorted.find((node) => node.name === name);
    if (found === undefined) throw new CliError(`there is no node ${name}`, 2);
    if (found.unfit !== undefined) throw new CliError(`no pods can be placed on node ${name}: ${found.unfit}`, 2);
  }
  const fit = sorted.filter(({ name, unfit }) => unfit === undefined && (asked.length === 0 || asked.includes(name)));
  const [first, second] = fit.map(({ name, hostname }) => ({ name, hostname }));
  if (first !== undefined) return second === undefined ? [first] : [first, second];
  const reasons = sorted.map(({ name, unfit }) => `${name}: ${unfit}`);
  throw new CliError(`no node can run the pods of the test${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`, 2);
};

/** Of one node as of the others: a cluster is single-stack or dual-stack as a whole. */
export const familiesOf = (nodes: readonly ClusterNode[], { nodes: [first] }: Pick<Run, 'nodes'>): readonly Family[] =>
  nodes.find(({ name }) => name === first.name)?.families ?? [];

const taintSchema = z.object({ key: z.string(), effect: z.string() });
const conditionSchema = z.object({ type: z.string(), status: z.string() });

const schema = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z
    .object({ unschedulable: z.boolean().default(false), taints: z.array(taintSchema).default([]) })
    .default({ unschedulable: false, taints: [] }),
  status: z.object({ conditions: z.array(conditionSchema).default([]) }).default({ conditions: [] }),
});
