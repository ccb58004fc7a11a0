/** Whether the nodes have their parts of a layer-3 network. */
import { z } from 'zod';
import { describeApiError } from '../../api/errors.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { networkStatusSchema } from '../../api/network-status.ts';
import { nodesCondition } from '../../cluster-manager/controllers/network-conditions.ts';
import { tallyNodes } from '../../cluster-manager/controllers/node-reports.ts';
import type { NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import { agentRow, mayReadReports } from '../cluster/agent-row.ts';
import type { NodeState } from '../cluster/node-state.ts';
import { isRenewed, type NodeRow, rowMessage } from '../cluster/status-rows.ts';
import type { Scene } from './allocations.ts';
import { blocked, type Finding, ok, unknown, unreadOf, unreadText, warning } from './finding.ts';
import { waitsForManager } from './manager.ts';

/** One line for all that are well, one for each of the first that are not. @param facts absent: nobody's status says more */
export const nodesFindings = (network: string, facts: NetworkFacts | undefined, scene: Scene): readonly Finding[] => {
  const hidden = unreadOf(scene, 'nodes');
  if (hidden !== undefined) return [statusFinding(facts) ?? unknown('nodes', unreadText(hidden))];
  const findings = [...scene.nodes.values()].flatMap((node) => nodeFinding(node, network, scene) ?? []);
  if (findings.length === 0) return [ok('nodes', `all ${scene.nodes.size} have a subnet`)];
  const more = findings.length - SHOWN;
  const rest = more > 0 ? [unknown('nodes', `${more} more nodes have problems`)] : [];
  return [...findings.slice(0, SHOWN), ...rest];
};

const SHOWN = 5;

const statusFinding = (facts: NetworkFacts | undefined): Finding | undefined => {
  const { nodes } = statusSchema.catch({}).parse(facts?.status ?? {});
  if (nodes?.failed === undefined) return undefined;
  if (nodes.failed === 0) return ok('nodes', `its status: ${nodes.allocated} of ${nodes.total} nodes have a subnet`);
  const [first] = nodes.failures ?? [];
  const found = `${nodes.failed} nodes have no subnet of it; ${first?.node}: ${first?.message}`;
  return blocked('nodes', 'subnets-exhausted', found, NEXT_SUBNETS);
};

const statusSchema = z.object({ nodes: networkStatusSchema.shape.nodes });

/** What the agents say of it, as the network's status has it: their reports are not everybody's to read. */
export const reportedFindings = (facts: NetworkFacts): readonly Finding[] => {
  const { nodes } = statusSchema.catch({}).parse(facts.status);
  if (nodes?.ready === undefined) return [];
  const { total, ready, pending = 0, failing = 0, silent = 0, problems = [] } = nodes;
  if (failing === 0 && silent > 0) {
    const found = silenceOf(facts) ?? `${silent} of ${total} nodes do not report the network`;
    return [{ ...unknown('agents', found), next: 'check that udn-agent runs there: udnctl status --cluster' }];
  }
  if (failing === 0) {
    const rest = pending === 0 ? '' : `, ${pending} have not programmed all of it yet`;
    return [ok('agents', `${ready} of ${total} nodes have programmed it${rest}`)];
  }
  const [first] = problems;
  const found = `${failing} of ${total} nodes cannot program it; ${first?.node}: ${first?.message}`;
  const next = `on node ${first?.node}: udnctl explain network ${facts.networkName}; all: kubectl get nodenetworkreports`;
  return [blocked('agents', 'node-failing', found, next)];
};

/** The same of a NAD without a status, where the reports may be read. */
export const readFindings = ({ keys, conf, metadata }: NadFacts, scene: Scene): readonly Finding[] => {
  const { nodes, reports, now } = scene;
  if (keys === undefined || conf === undefined || reports.length === 0 || unreadOf(scene, 'nodes') !== undefined)
    return [];
  const byNode = new Map(reports.map((report) => [report.node, report]));
  const tally = tallyNodes(
    {
      nodes: [...nodes.values()].filter(({ isExcluded }) => !isExcluded).map(({ name }) => name),
      report: (node) => byNode.get(node),
      isStale: (node) => {
        const report = byNode.get(node);
        return report !== undefined && !isRenewed(report, now);
      },
    },
    { name: conf.name, id: keys.id, createdAt: metadata.creationTimestamp ?? '' },
  );
  const { status, reason, message } = nodesCondition(tally);
  if (status === 'True') return [ok('agents', message)];
  if (status === 'Unknown') return [unknown('agents', message)];
  const next = `on such a node: udnctl explain network ${conf.name}; all: kubectl get nodenetworkreports`;
  return [blocked('agents', reason === 'NodesPending' ? 'nodes-pending' : 'node-failing', message, next)];
};

/** The message of the condition names the nodes. */
const silenceOf = ({ conditions }: NetworkFacts): string | undefined =>
  conditions.find(({ type, reason }) => type === 'NodesReady' && reason === 'NodesSilent')?.message;

const NEXT_SUBNETS = 'append a subnet to the network, or delete Nodes that no longer exist';

/** Undefined: it has its part, and all that pods of the network need. */
export const nodeFinding = (node: NodeState, network: string, scene: Scene): Finding | undefined => {
  const what = `node ${node.name}`;
  const { subnets, errors } = node.held;
  const [unreadable] = errors;
  if (unreadable !== undefined) {
    return waitsForManager(scene, what, 'annotation-unreadable', describeApiError(unreadable));
  }
  if (subnets.has(network)) return undefined;
  const name = network === DEFAULT_NETWORK_NAME ? 'the default network' : `network ${network}`;
  const failure =
    network === DEFAULT_NETWORK_NAME ? undefined : scene.allocations().nodeFailures(network).get(node.name);
  const found = `node ${node.name} has no subnet of ${name}`;
  return failure === undefined
    ? waitsForManager(scene, what, 'node-subnet-missing', found)
    : blocked(what, 'subnets-exhausted', `${found}: ${failure}`, NEXT_SUBNETS);
};

/** Whether pods of a node can be served at all. @param runs the pod has all that it needs: a failure of today does not stop it */
export const servedFinding = (name: string, scene: Scene, runs: boolean): Finding => {
  const what = `node ${name}`;
  const hidden = unreadOf(scene, 'nodes');
  if (hidden !== undefined) return unknown(what, unreadText(hidden));
  const node = scene.nodes.get(name);
  if (node === undefined) {
    return blocked(what, 'node-missing', `node ${name} no longer exists`, 'delete the pod: kubectl delete pod --force');
  }
  if (!node.hasAgent) {
    const next = `kubectl -n ovn-udn get pods -l app.kubernetes.io/name=udn-agent --field-selector spec.nodeName=${name}`;
    return blocked(what, 'node-without-agent', `no agent has reported node ${name} yet`, next);
  }
  if (node.isReady === false) {
    return blocked(what, 'node-not-ready', `node ${name} is not ready`, `kubectl describe node ${name}`);
  }
  const reports = unreadOf(scene, 'nodenetworkreports');
  if (reports?.isMissing) return unknown(what, `has an agent; its state is unknown: ${unreadText(reports)}`);
  if (!mayReadReports(scene)) return ok(what, 'has an agent; you may not read its report, so its state is unknown');
  const row = agentRow(node, scene);
  // Of one node among others it would be a failure; that of all may have another reason.
  if (row === undefined && scene.areReportsAsked && !node.isExcluded)
    return unknown(what, 'has an agent; its state is unknown: no udn-agent has reported from any node');
  return (row && agentFinding(row, runs)) ?? ok(what, 'is served by an agent');
};

/** Undefined: it works. */
const agentFinding = (row: NodeRow, runs: boolean): Finding | undefined => {
  const message = rowMessage(row);
  if (message === undefined) return undefined;
  const what = `node ${row.node}`;
  const found = `${what}: ${message}`;
  const isReporting = row.agent === 'reporting';
  const first = row.failed?.[0]?.component;
  const isOfNoNewPod = isReporting && first !== undefined && OF_NO_NEW_POD.has(first);
  if (runs || isOfNoNewPod) return warning(what, found);
  const next = `udnctl status --node ${row.node}`;
  return blocked(what, isReporting ? 'node-failing' : 'node-without-agent', found, next);
};

/** Nodes where later changes may not be in effect: what was before is so still, and what was changed cannot be told from here. @param silent absent: nodes that do not report are left out */
export const doubtfulNodes = (
  scene: Scene,
  silent?: (report: Scene['reports'][number]) => Finding,
): readonly Finding[] => {
  const findings = scene.reports
    .filter(({ node }) => isCounted(node, scene))
    .flatMap((report): Finding[] => {
      const failed = report.failedComponents?.find(({ component }) => !OF_NO_NEW_POD.has(component));
      if (!isRenewed(report, scene.now))
        return silent === undefined || report.renewal === undefined ? [] : [silent(report)];
      return failed === undefined ? [] : [warning(`node ${report.node}`, failed.message)];
    });
  const more = findings.length - SHOWN;
  return [...findings.slice(0, SHOWN), ...(more > 0 ? [warning('nodes', `${more} more nodes fail`)] : [])];
};

/** Not of a node that is gone or excluded, whose report is still there. Who asks about Services has not read the Nodes. */
const isCounted = (name: string, { nodes }: Scene): boolean =>
  nodes.size === 0 || nodes.get(name)?.isExcluded === false;

/** Whether the status counts silent nodes: it does 15 to 30 s later than the reports, and not while no cluster manager runs. */
export const countsSilent = ({ status }: NetworkFacts): boolean =>
  (statusSchema.catch({}).parse(status ?? {}).nodes?.silent ?? 0) > 0;

/** Of an agent that no condition of the object tells about. */
export const silentNode = ({ node }: Scene['reports'][number]): Finding =>
  warning(`node ${node}`, rowMessage({ node, agent: 'silent', networks: undefined, failed: undefined }) ?? '');

/** Components of a node that do not keep a new pod from its network: they concern other nodes, large packets, or probes. */
const OF_NO_NEW_POD: ReadonlySet<string> = new Set(['uplink', 'tunnels', 'mtu', 'kubelet-cgroup']);
