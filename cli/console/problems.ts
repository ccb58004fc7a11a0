/** What does not work in a cluster, by cause, as far as the API server has it: the worst first. Pure. */
import type { NetworkItem } from '../cluster/network-rows.ts';
import type { PodItem } from '../cluster/pod-rows.ts';
import type { ServiceItem } from '../cluster/service-rows.ts';
import { type NodeRow, rowMessage } from '../cluster/status-rows.ts';
import type { Scene } from '../why/allocations.ts';
import { awayText } from '../why/manager.ts';
import type { Problem } from './types.ts';

interface ProblemInput {
  readonly scene: Scene;
  readonly networks: readonly NetworkItem[];
  readonly pods: readonly PodItem[];
  readonly services: readonly ServiceItem[];
  readonly nodes: readonly NodeRow[];
}

interface Single {
  readonly severity: Problem['severity'];
  readonly cause: string;
  readonly message: string;
  readonly next?: string;
}

export const problemsOf = (input: ProblemInput): readonly Problem[] => {
  const all = [
    ...managerProblems(input.scene),
    ...input.nodes.flatMap(nodeProblems),
    ...failures(input.scene),
    ...input.networks.flatMap(networkProblems),
    ...input.pods.flatMap(podProblems),
    ...input.services.flatMap(serviceProblems),
  ];
  return [...Map.groupBy(all, ({ severity, cause }) => `${severity} ${cause}`).values()]
    .flatMap(problemOf)
    .sort((a, b) => Number(a.severity !== 'error') - Number(b.severity !== 'error'));
};

/** As `udnctl problems` shows them. */
const MAX_SHOWN = 4;

/** @param singles of one cause */
const problemOf = (singles: readonly Single[]): readonly Problem[] => {
  const [first] = singles;
  if (first === undefined) return [];
  const { message: _, ...common } = first;
  const messages = singles.slice(0, MAX_SHOWN).map(({ message }) => message);
  return [{ ...common, messages, count: singles.length }];
};

const managerProblems = (scene: Scene): readonly Single[] => {
  // One that was started without a Lease leaves no other trace.
  if (scene.leader === 'absent') {
    const message = 'no cluster manager holds a Lease: whether one runs is not known';
    return [{ severity: 'warning', cause: 'manager-unknown', message, next: 'udnctl check' }];
  }
  const away = awayText(scene);
  if (away === undefined) return [];
  return [{ severity: 'error', cause: 'manager-away', message: away, next: 'udnctl check' }];
};

const nodeProblems = (row: NodeRow): readonly Single[] => {
  const { node, agent, failed = [] } = row;
  if (agent === 'excluded') return [];
  if (agent !== 'reporting') {
    return [
      {
        severity: 'error',
        cause: `agent-${agent}`,
        message: `node ${node}: ${rowMessage(row) ?? agent}`,
        next: ASK_NODE,
      },
    ];
  }
  const components = failed.map(
    ({ component, message }): Single => ({
      severity: 'error',
      cause: component,
      message: `node ${node}: ${component}: ${message}`,
      next: `udnctl status --node ${node} --agent`,
    }),
  );
  if (row.failed !== undefined) return components;
  return [
    { severity: 'warning', cause: 'agent-outdated', message: `node ${node}: the agent does not report its health` },
  ];
};

const ASK_NODE = 'kubectl -n ovn-udn get pods -o wide';

/** What agents could not program. */
const failures = ({ reports }: Scene): readonly Single[] =>
  reports.flatMap(({ node, failures: failed }) =>
    [...failed].map(
      ([network, message]): Single => ({
        severity: 'error',
        cause: 'node-failing',
        message: `node ${node}, network ${network}: ${message}`,
        next: `udnctl problems --node ${node}`,
      }),
    ),
  );

const networkProblems = ({ name, object, state, cause, message }: NetworkItem): readonly Single[] =>
  // Nodes that are silent are problems of their own.
  state === 'ready' || state === 'unknown'
    ? []
    : [
        {
          severity: state === 'deleting' ? 'warning' : 'error',
          cause: cause ?? state,
          message: message ?? `${object} is ${state}`,
          next: `udnctl why network ${name}`,
        },
      ];

const podProblems = ({ namespace, name, state, cause, message }: PodItem): readonly Single[] =>
  state === 'waiting'
    ? [
        {
          severity: 'error',
          cause: cause ?? 'address-missing',
          message: message ?? `pod ${namespace}/${name} waits for its addresses`,
          next: `udnctl why ${namespace}/${name}`,
        },
      ]
    : [];

const serviceProblems = (item: ServiceItem): readonly Single[] => {
  const { namespace, name, state, notes, clusterIps } = item;
  const next = `udnctl why service ${namespace}/${name}`;
  if (state === 'waiting' || state === 'unreadable') {
    const message = `Service ${namespace}/${name} ${notes[0] ?? `is ${state}`}`;
    return [{ severity: 'warning', cause: `service-${state}`, message, next }];
  }
  const isEmpty =
    clusterIps.length > 0 && clusterIps.every(({ ready = 0, terminating = 0 }) => ready + terminating === 0);
  if (state !== 'served' || !isEmpty) return [];
  const message = `Service ${namespace}/${name} has no ready endpoint: connections are refused`;
  return [{ severity: 'warning', cause: 'endpoints-missing', message, next }];
};
