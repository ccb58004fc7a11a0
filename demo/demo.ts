/** The demo: a cluster, tenants with the same addresses, and proof with real packets that they do not meet. */
import { unlessAborted } from '../base/abort.ts';
import { messageOf } from '../base/error-message.ts';
import type { ManifestObject, Sandbox } from '../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../sandbox/leaks.ts';
import { requireRoot } from '../sandbox/machine/root.ts';
import { readManifests } from '../sandbox/objects/manifests.ts';
import { differences } from '../test/oracles/reachability/evaluate.ts';
import { intendedNetworks, unintended } from '../test/oracles/reachability/intended.ts';
import { describeDifferences, legend, renderMatrix, summary } from '../test/oracles/reachability/matrix.ts';
import { measureReachability, readPods } from '../test/oracles/reachability/measure.ts';
import { readNeighbourOverflows } from '../test/oracles/reachability/neighbour-tables.ts';
import type { Reachability, ReachabilityPod } from '../test/oracles/reachability/types.ts';
import {
  areAttachmentsRight,
  measureAttachments,
  planAttachments,
  type Reached,
  renderAttachments,
} from './attachments.ts';
import { startDemoCluster } from './cluster.ts';
import { DemoError, Interruption } from './errors.ts';
import {
  isNorthSouthRight,
  measureNorthSouth,
  type NorthSouth,
  northSouthSenders,
  renderNorthSouth,
  SOURCE_PORT,
} from './north-south.ts';
import { type DemoOptions, shownPath } from './options.ts';
import { measurePolicy, planPolicy, renderPolicy } from './policy.ts';
import { getsReady, waitUntilReady } from './readiness.ts';
import {
  clearResults,
  keepLogs,
  writeAttachments,
  writeNorthSouth,
  writePolicy,
  writeReachability,
  writeServices,
} from './results.ts';
import { areServicesRight, measureServices, renderServices, type ServiceAnswers } from './services.ts';
import type { Terminal } from './terminal.ts';
import { showNode } from './udnctl.ts';

/**
 * Takes the cluster down again, however it ends, unless it is to be kept.
 * @param signal ends it early; its reason is an Interruption
 * @returns whether everything was reached that should be, and nothing else
 * @throws DemoError, SandboxError, CommandError
 */
export const runDemo = async (options: DemoOptions, terminal: Terminal, signal: AbortSignal): Promise<boolean> => {
  requireRoot();
  const manifests = await readManifests(options.manifests);
  await clearResults(options.output);
  terminal.step(`1. A cluster of ${options.nodes} nodes, with OVS and OVN of their own`);
  const sandbox = await startDemoCluster(options, terminal.note, signal).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
  try {
    const seen = await unlessAborted(signal, useCluster({ sandbox, manifests, options, terminal, signal }));
    if (!isRight(seen)) await rescueLogs(sandbox, options, terminal);
    if (options.keep) terminal.block(goOn(options.name, seen.results));
    return isRight(seen);
  } catch (error) {
    if (!(error instanceof Interruption)) await rescueLogs(sandbox, options, terminal);
    throw error;
  } finally {
    if (!options.keep || signal.aborted) await cleanUp(sandbox, terminal);
  }
};

interface Run {
  readonly sandbox: Sandbox;
  readonly manifests: readonly ManifestObject[];
  readonly options: DemoOptions;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

interface Results {
  readonly results: readonly Reachability[];
  readonly northSouth: readonly NorthSouth[];
  readonly services: readonly ServiceAnswers[];
  /** With a policy. */
  readonly policy: readonly Reachability[];
  readonly attachments: readonly Reached[];
}

const isRight = ({ results, northSouth, services, policy, attachments }: Results): boolean =>
  differences([...results, ...policy]).length === 0 &&
  isNorthSouthRight(northSouth) &&
  areServicesRight(services) &&
  areAttachmentsRight(attachments);

const useCluster = async (run: Run): Promise<Results> => {
  const { sandbox, manifests, options, terminal, signal } = run;
  await createTenants(run);
  const pods = await readPods(await sandbox.objects());
  requireIntended(pods, manifests);
  const results = await measure(run, pods);
  const northSouth = await measureOutside(run, pods);
  const services = await measureAllServices(run, pods);
  const policy = await tryPolicy(run, pods, results);
  const attachments = await tryAttachments(run, pods);
  terminal.step('8. What a node says');
  await showNode(
    sandbox,
    { node: 'node-1', network: firstNetwork(manifests), folder: options.output },
    terminal,
    signal,
  );
  const seen = { results, northSouth, services, policy, attachments };
  conclude(seen, terminal);
  return seen;
};

/** Without this an empty cluster would be as it should be. */
const requireIntended = (pods: readonly ReachabilityPod[], manifests: readonly ManifestObject[]): void => {
  const wrong = unintended(pods, intendedNetworks(manifests), [4, 6]);
  if (wrong.length === 0) return;
  throw new DemoError('ERR_DEMO_UNINTENDED', 'pods are not on the networks of their manifests', wrong);
};

const createTenants = async ({ sandbox, manifests, options, terminal }: Run): Promise<void> => {
  const count = (noun: string, ...kinds: readonly string[]): string => {
    const { length } = manifests.filter(({ kind }) => kinds.includes(kind));
    return `${length} ${noun}${length === 1 ? '' : 's'}`;
  };
  const what = [
    count('namespace', 'Namespace'),
    count('network', 'UserDefinedNetwork', 'ClusterUserDefinedNetwork'),
    count('pod', 'Pod'),
  ];
  terminal.step(`2. ${what.join(', ')}: ${shownPath(options.manifests)}`);
  await (await sandbox.objects()).apply(manifests);
  terminal.note(`${manifests.length} objects applied`);
  const scopes = Map.groupBy(manifests.filter(getsReady), scopeOf);
  const missing = new Map([...scopes].map(([scope, objects]) => [scope, new Set(objects)]));
  await waitUntilReady(sandbox, manifests, options.timeoutSeconds, (object) => {
    const scope = scopeOf(object);
    const others = missing.get(scope);
    others?.delete(object);
    if (others?.size === 0) terminal.note(`${scope}: ready`);
  });
};

/** What is reported as one. */
const scopeOf = ({ kind, metadata: { namespace, name } }: ManifestObject): string =>
  namespace === undefined ? `${kind} ${name}` : `namespace ${namespace}`;

const measure = async (
  { sandbox, options, terminal, signal }: Run,
  pods: readonly ReachabilityPod[],
): Promise<Reachability[]> => {
  const pairs = pods.length * (pods.length - 1);
  terminal.step(`3. Who reaches whom: ${pods.length} pods, ${pairs} pairs, IPv4 and IPv6, ICMP, TCP and UDP`);
  const earlier = await readNeighbourOverflows();
  const results = await measureReachability(sandbox, pods, { signal });
  const path = await writeReachability(options.output, results);
  terminal.note(summary(results));
  warnOfOverflows((await readNeighbourOverflows()) - earlier, terminal);
  terminal.note(`all of it is in ${shownPath(path)}`);
  terminal.block(`\n${renderMatrix(pods, results, terminal.paint)}\n\n${legend(terminal.paint)}`);
  return results;
};

const measureOutside = async (
  { sandbox, options, terminal }: Run,
  pods: readonly ReachabilityPod[],
): Promise<NorthSouth[]> => {
  const senders = northSouthSenders(pods, 'node-1');
  const about = `${senders.length} pods to one server, all from source port ${SOURCE_PORT}`;
  terminal.step(`4. To the outside at the same time: ${about}`);
  const results = await measureNorthSouth(sandbox, senders, options.nodes, terminal);
  await writeNorthSouth(options.output, results);
  terminal.block(`\n${renderNorthSouth(results, terminal)}`);
  return results;
};

const measureAllServices = async (
  { sandbox, manifests, options, terminal }: Run,
  pods: readonly ReachabilityPod[],
): Promise<ServiceAnswers[]> => {
  const { length } = manifests.filter(({ kind }) => kind === 'Service');
  if (length === 0) return [];
  const clients = northSouthSenders(pods, 'node-1');
  terminal.step(`5. ${length} Services, asked by ${clients.length} pods of as many networks, and from outside`);
  const networks = intendedNetworks(manifests);
  const results = await measureServices(sandbox, { manifests, networks, clients, nodes: options.nodes });
  await writeServices(options.output, results);
  const sum = (of: (one: ServiceAnswers) => number): number => results.reduce((total, one) => total + of(one), 0);
  const connections = `${sum(({ attempts }) => attempts)} connections, ${sum(({ answered }) => answered)} answered`;
  terminal.note(`${connections}; ${results.filter(({ ok }) => !ok).length} differences`);
  terminal.block(`\n${renderServices(results, terminal)}`);
  return results;
};

const tryPolicy = async (
  { sandbox, manifests, options, terminal, signal }: Run,
  pods: readonly ReachabilityPod[],
  before: readonly Reachability[],
): Promise<Reachability[]> => {
  const plan = planPolicy(manifests, pods);
  if (plan === undefined) return [];
  const { namespace } = plan.policy.metadata;
  terminal.step(
    `6. A NetworkPolicy of ${namespace}: pods with the label app=web accept connections of each other only`,
  );
  const results = await measurePolicy(sandbox, plan, signal);
  await writePolicy(options.output, results);
  terminal.note(summary(results));
  terminal.block(`\n${renderPolicy(plan, before, results, terminal)}`);
  return results;
};

const tryAttachments = async (
  { sandbox, manifests, options, terminal }: Run,
  pods: readonly ReachabilityPod[],
): Promise<Reached[]> => {
  const plan = planAttachments(manifests, pods);
  if (plan === undefined) return [];
  const what = 'the primary network, a secondary one and a VLAN of the physical network';
  terminal.step(`7. ${plan.from} and ${plan.to} on three networks: ${what}`);
  const results = await measureAttachments(sandbox, plan, options.timeoutSeconds);
  await writeAttachments(options.output, results);
  terminal.block(`\n${renderAttachments(results, terminal)}`);
  return results;
};

const warnOfOverflows = (count: number, { note, paint }: Terminal): void => {
  if (count === 0) return;
  const remedy = 'end what else uses many addresses, or raise net.ipv4.neigh.default.gc_thresh3 and that of net.ipv6';
  note(paint('bad', `this machine's neighbour tables were full ${count} times, so it lost packets: ${remedy}`));
};

const firstNetwork = (manifests: readonly ManifestObject[]): string | undefined => {
  const { metadata } = manifests.find(({ kind }) => kind === 'UserDefinedNetwork') ?? {};
  return metadata === undefined ? undefined : `${metadata.namespace}/${metadata.name}`;
};

const conclude = (seen: Results, { step, block, paint }: Terminal): void => {
  const results = [...seen.results, ...seen.policy];
  const good = `every tenant reaches its own pods${seen.services.length > 0 ? ', its own Services' : ''} and the outside, and no other tenant`;
  step('Result');
  block(isRight(seen) ? paint('good', good) : paint('bad', 'NOT as expected'));
  block(summary(results));
  for (const line of describeDifferences(results)) block(`${paint('bad', '✗')} ${line}`);
};

const rescueLogs = async (sandbox: Sandbox, { keep, output }: DemoOptions, { note }: Terminal): Promise<void> => {
  try {
    const { folder } = await sandbox.status();
    note(`logs of all programs: ${keep ? `${folder}/log` : shownPath(await keepLogs(output, folder))}`);
  } catch (error) {
    note(`there are no logs: ${messageOf(error)}`);
  }
};

/** @throws Error with what is left */
const cleanUp = async (sandbox: Sandbox, { note }: Terminal): Promise<void> => {
  note('taking the cluster down');
  const namespaces = await namespacesOf(sandbox.name);
  await sandbox.down();
  await untilNothingIsLeft(sandbox.name, namespaces);
  note('no process, namespace, link, cgroup, mount or file of it is left');
};

const goOn = (name: string, results: readonly Reachability[]): string => {
  const example = results.find(({ expected, protocol, family }) => expected && protocol === 'tcp' && family === 4);
  return [
    '',
    'The cluster is still up. Go on with:',
    `  export UDN_SANDBOX=${name}`,
    '  bin/sandbox status',
    ...(example === undefined
      ? []
      : [`  bin/sandbox exec ${example.from} -- curl -s http://${example.address}:8080/hostname`]),
    '  bin/sandbox node node-1 -- udnctl networks',
    '  bin/sandbox node node-2 -- ovn-nbctl show',
    '  bin/sandbox apply -f FILE',
    '  bin/sandbox down',
  ].join('\n');
};
