/** A version is replaced by another one under traffic, in whichever way: what may be lost, and what has to stay. */
import { expect } from 'vitest';
import { messageOf } from '../../../../base/error-message.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import type { Kubectl } from '../../../conformance/kube/kubectl.ts';
import { describeDifferences } from '../../../oracles/reachability/matrix.ts';
import { measureReachability, readPods } from '../../../oracles/reachability/measure.ts';
import { applyAndWait, deletePods } from '../cluster/cluster.ts';
import { pod } from '../cluster/manifests.ts';
import { TENANTS, tenantManifests } from '../cluster/one-of-each.ts';
import { note } from '../faults/survive.ts';
import { identities } from './identities.ts';
import { type Span, type Traffic, type TwoNodes, trafficManifests, trafficWhile } from './traffic.ts';

const PROGRAMS = 'ovn-udn';
const UDNCTL = '/opt/ovn-udn/bin/udnctl';

export interface UpgradeOptions {
  readonly sandbox: Sandbox;
  readonly kubectl: Kubectl;
  readonly nodes: TwoNodes;
}

export interface Replaced {
  readonly traffic: Traffic;
  readonly span: Span;
}

/** Networks of each kind with what sends in them, and everything ready. */
export const prepareTenants = async ({ sandbox, nodes }: UpgradeOptions): Promise<void> => {
  await applyAndWait(sandbox, [...tenantManifests(), ...trafficManifests(nodes)]);
  await eventually(() => expectReached(sandbox), 60_000);
};

/**
 * The work is done under traffic; then everything answers, nothing that was allocated has changed, and no problem is reported.
 * @param work resolves when the rollout has ended
 */
export const replaceVersion = async (
  options: UpgradeOptions,
  title: string,
  work: () => Promise<void>,
): Promise<Replaced> => {
  const { sandbox, nodes } = options;
  const known = { nodes, namespaces: TENANTS };
  const before = await identities(sandbox, known);
  const from = Date.now();
  const traffic = await trafficWhile(sandbox, work);
  const span = { from, to: Date.now() };
  report(title, traffic, span);
  await eventually(async () => expect(await identities(sandbox, known)).toEqual(before), 60_000);
  await eventually(() => expectReached(sandbox), 60_000);
  await expectNoProblems(options);
  return { traffic, span };
};

/** More packets or connections than may be. */
class LostTooMuch extends Error {}

/**
 * Tries what lost too much twice, and nothing else: a machine that does much else stalls for longer than a packet takes, and so does a datapath that is a
 * process. Each attempt begins with the version that is to be replaced. @throws what the last attempt throws
 */
export const countedTwice = async (attempt: () => Promise<void>, undo: () => Promise<void>): Promise<void> => {
  try {
    await attempt();
  } catch (error) {
    // Whatever else failed may be so only once, as when something is migrated.
    if (!(error instanceof LostTooMuch)) throw error;
    note(`once more: ${messageOf(error)}`);
    await undo();
    await attempt();
  }
};

/** New pods on both nodes get addresses and reach what they should, and go again. */
export const expectNewPods = async ({ sandbox, nodes }: UpgradeOptions): Promise<void> => {
  const added = TENANTS.flatMap((tenant) => nodes.map((node) => pod(tenant, `${tenant}-later-${node}`, node)));
  await applyAndWait(sandbox, added);
  await expectReached(sandbox);
  await deletePods(sandbox, ...added.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
};

/** Every stream lasts, and no flow loses more packets, and no Service more connections, than agents were restarted. */
export const expectOneLostForEach = ({ pings, streams, requests }: Traffic, restarts: number): void => {
  for (const { name, sent } of pings) expect(sent, name).toBeGreaterThan(100);
  expectLasting({ streams });
  const lost = [
    ...pings.filter((flow) => flow.lost.length > restarts).map((flow) => `${flow.name}: ${flow.lost.length}`),
    ...requests
      .filter(({ failed }) => failed.length > restarts)
      .map(({ name, failed }) => `${name}: ${failed.map(({ error }) => error)}`),
  ];
  if (lost.length > 0) throw new LostTooMuch(`more than ${restarts} lost: ${lost.join('; ')}`);
};

export const expectLasting = ({ streams }: Pick<Traffic, 'streams'>): void => {
  expect(streams.filter(({ error }) => error !== null).map(({ name, error }) => `${name}: ${error}`)).toEqual([]);
};

/** @throws Error with the pods, their events and the ends of their logs, which go with the cluster */
export const rolledOut = async ({ kubectl }: UpgradeOptions, workload: string, seconds = 150): Promise<void> => {
  const inNamespace = (...args: string[]) => kubectl.attempt('--namespace', PROGRAMS, ...args);
  const { code, stderr } = await inNamespace('rollout', 'status', `--timeout=${seconds}s`, workload);
  if (code === 0) return;
  const texts = [stderr];
  for (const look of [
    ['get', 'pods', '-o', 'wide'],
    ['get', 'events', '--sort-by=.lastTimestamp'],
    ['logs', '--tail=15', '--prefix', '--all-containers', '--all-pods', workload],
  ]) {
    texts.push((await inNamespace(...look)).stdout);
  }
  throw new Error(`${workload}: ${texts.join('\n')}`);
};

/** Where nodes find the API server without a network. */
export const serverOf = async ({ sandbox, nodes }: UpgradeOptions): Promise<{ host: string; port: string }> => {
  const { stdout } = await sandbox.node(nodes[0], ['cat', '/etc/kubernetes/kubelet.conf']);
  const { hostname, port } = new URL(/server: (\S+)/.exec(stdout)?.[1] ?? '');
  return { host: hostname.replaceAll(/[[\]]/g, ''), port };
};

/** The image of each container of the workload's pods. */
export const runningImages = async ({ kubectl }: UpgradeOptions, program: string): Promise<string[]> => {
  const path = '{range .items[*]}{range .spec.containers[*]}{.image}{"\\n"}{end}{end}';
  const selector = ['--selector', `app.kubernetes.io/name=${program}`];
  const text = await kubectl.run('--namespace', PROGRAMS, 'get', 'pods', ...selector, '-o', `jsonpath=${path}`);
  return [...new Set(text.trim().split('\n'))];
};

const expectReached = async (sandbox: Sandbox): Promise<void> => {
  const pods = (await readPods(await sandbox.objects())).filter(({ key }) =>
    TENANTS.some((tenant) => key.startsWith(`${tenant}/`)),
  );
  expect(describeDifferences(await measureReachability(sandbox, pods))).toEqual([]);
};

const expectNoProblems = async ({ kubectl, nodes }: UpgradeOptions): Promise<void> => {
  for (const node of nodes) {
    await eventually(async () => {
      const selector = ['--selector', 'app.kubernetes.io/name=udn-agent', '--field-selector', `spec.nodeName=${node}`];
      const agent = (await kubectl.run('--namespace', PROGRAMS, 'get', 'pods', ...selector, '-o', 'name')).trim();
      const found = await kubectl.run('--namespace', PROGRAMS, 'exec', agent, '--', UDNCTL, 'problems');
      expect(found).not.toMatch(/^(error|warning) /m);
    }, 60_000);
  }
};

const report = (title: string, { pings, streams, requests }: Traffic, { from, to }: Span): void => {
  const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
  const sent = total(pings.map((flow) => flow.sent));
  const most = Math.max(...pings.map(({ lost }) => lost.length));
  const asked = total(requests.map((one) => one.sent));
  const failed = total(requests.map((one) => one.failed.length));
  const longest = Math.max(...streams.map(({ longestMs }) => longestMs));
  note(
    `${title}, ${((to - from) / 1000).toFixed(1)} s: ${total(pings.map(({ lost }) => lost.length))} of ${sent} pings lost on ${pings.length} flows, ` +
      `at most ${most} of one; ${failed} of ${asked} connections failed; ${streams.length} streams paused for at most ${longest.toFixed(0)} ms`,
  );
  for (const { name, lost } of pings) {
    if (lost.length > 0)
      note(
        `  ${name}: ${lost.length}, ${lost
          .map((at) => `${((at - from) / 1000).toFixed(2)} s`)
          .slice(0, 10)
          .join(' ')}`,
      );
  }
  for (const { name, failed: some } of requests)
    for (const { at, error } of some) note(`  ${name}: ${((at - from) / 1000).toFixed(2)} s ${error}`);
};
