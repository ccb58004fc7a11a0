/** A node with a pod of each kind and a host outside, in a kernel that has what networks need. */
import { readFileSync } from 'node:fs';
import { untilAborted } from '../../base/abort.ts';
import { messageOf } from '../../base/error-message.ts';
import { addressOf } from '../../net/cidr.ts';
import { FAMILIES, type Family } from '../../net/ip.ts';
import { type Sandbox, type SandboxOptionsInput, startSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { planNetwork } from '../../sandbox/plan/netplan.ts';
import { nativeProgram } from '../native.ts';
import { NODE } from '../node/bench-node.ts';
import { PLAIN_NAMESPACE, plainNamespace, pod, tenant, tenantName } from '../node/workload.ts';
import { type Measurement, parseMeasurement } from './measurement.ts';
import {
  DESTINATION_BATCH,
  DESTINATIONS,
  nextHopBatch,
  PLAIN_BRIDGE_ARGUMENTS,
  PLAIN_HOST,
  PLAIN_LINK_BATCH,
  plainHostBatch,
} from './paths.ts';

/** Through a tenant's network, through the default network, and through a bridge that OVN has nothing to do with. */
export const SENDERS = ['udn', 'default', 'normal'] as const;
export type Sender = (typeof SENDERS)[number];

export type GatewayMode = 'shared' | 'local';

export interface ForwardCluster extends AsyncDisposable {
  measure(sender: Sender, family: Family): Promise<Measurement>;
}

export interface ForwardClusterSpec {
  readonly gatewayMode: GatewayMode;
  /** Of one measurement. */
  readonly batches: number;
  readonly roundTrips: number;
}

/** Resolves when all senders reach the destination. @throws Error that says that there is no such kernel */
export const startForwardCluster = async (spec: ForwardClusterSpec, signal: AbortSignal): Promise<ForwardCluster> => {
  await using resources = new AsyncDisposableStack();
  const sandbox = await startUp(`bench-forward-${process.pid}`, spec.gatewayMode, signal);
  resources.defer(() => takeDown(sandbox));
  await startPods(sandbox);
  await connectHosts(sandbox);
  await install(sandbox);
  const stop = new AbortController();
  const servers = startServers(sandbox, AbortSignal.any([signal, stop.signal]));
  resources.defer(async () => {
    stop.abort();
    await servers.catch(() => undefined);
  });
  const measure = async (sender: Sender, family: Family): Promise<Measurement> => {
    const { batches, roundTrips } = spec;
    const argv = [PROGRAM, 'measure', DESTINATIONS[family], PORT, String(batches), String(roundTrips)];
    const { stdout } = await Promise.race([runAs(sandbox, sender, argv, { signal }), servers]);
    return parseMeasurement(stdout);
  };
  for (const family of FAMILIES) for (const sender of SENDERS) await measure(sender, family);
  const owner = resources.move();
  return { measure, [Symbol.asyncDispose]: () => owner.disposeAsync() };
};

const startUp = async (name: string, gatewayMode: GatewayMode, signal: AbortSignal): Promise<Sandbox> => {
  const needs: SandboxOptionsInput['needs'] = ['vrf', 'kernel-datapath'];
  const options = { name, nodes: 1, gatewayMode, needs, timeoutSeconds: UP_SECONDS };
  try {
    return await startSandbox(options, { stop: untilAborted(signal) });
  } catch (error) {
    const why = messageOf(error);
    throw new Error(`no cluster on a kernel with VRF and OVS's datapath, neither here nor in a guest: ${why}`, {
      cause: error,
    });
  }
};

/** On a machine that is busy with other things as well. */
const UP_SECONDS = 300;

/** @throws Error when something is left of it */
const takeDown = async (sandbox: Sandbox): Promise<void> => {
  const namespaces = await namespacesOf(sandbox.name);
  await sandbox.down();
  await untilNothingIsLeft(sandbox.name, namespaces);
};

const POD = 'sender';
const TENANT = tenantName(1);

const startPods = async (sandbox: Sandbox): Promise<void> => {
  const client = await sandbox.client();
  const made = [plainNamespace(), ...tenant(1), pod(PLAIN_NAMESPACE, POD), pod(TENANT, POD)];
  for (const { resource, object } of made) await client.create(resource, object);
  const objects = await sandbox.objects();
  for (const namespace of [PLAIN_NAMESPACE, TENANT]) await objects.wait('pod', `${namespace}/${POD}`, 'ready');
};

const connectHosts = async (sandbox: Sandbox): Promise<void> => {
  const outside = planNetwork('dual', 1).outside.addresses.map(addressOf);
  const onNode = (argv: readonly string[], input?: string) => sandbox.node(NODE, argv, { input });
  await sandbox.outside(['ip', '-batch', '-'], { input: DESTINATION_BATCH });
  await onNode(['ip', '-batch', '-'], nextHopBatch(outside));
  await onNode(['ip', '-batch', '-'], PLAIN_LINK_BATCH);
  await onNode(['ip', '-netns', PLAIN_HOST, '-batch', '-'], plainHostBatch(outside));
  await onNode(['ovs-vsctl', ...PLAIN_BRIDGE_ARGUMENTS]);
};

const PROGRAM = '/run/forward';
const PORT = '9123';

/** Each of them has a file system of its own. */
const install = async (sandbox: Sandbox): Promise<void> => {
  const input = readFileSync(nativeProgram('forward')).toString('base64');
  const argv = ['sh', '-c', `base64 -d > ${PROGRAM} && chmod 755 ${PROGRAM}`];
  await sandbox.outside(argv, { input });
  for (const sender of SENDERS) await runAs(sandbox, sender, argv, { input });
};

const runAs = (
  sandbox: Sandbox,
  sender: Sender,
  argv: readonly string[],
  options: Parameters<Sandbox['exec']>[2],
): ReturnType<Sandbox['exec']> => {
  switch (sender) {
    case 'udn':
      return sandbox.exec(`${TENANT}/${POD}`, argv, options);
    case 'default':
      return sandbox.exec(`${PLAIN_NAMESPACE}/${POD}`, argv, options);
    case 'normal':
      return sandbox.node(NODE, ['ip', 'netns', 'exec', PLAIN_HOST, ...argv], options);
  }
};

/** They answer until they are stopped. @returns what rejects when one ends */
const startServers = (sandbox: Sandbox, signal: AbortSignal): Promise<never> => {
  const servers = FAMILIES.map(async (family): Promise<never> => {
    const argv = [PROGRAM, 'serve', DESTINATIONS[family], PORT];
    await sandbox.outside(argv, { signal, timeoutMs: LONGEST_MS });
    throw new Error('the server outside has ended');
  });
  const ended = Promise.all(servers).then(([first]) => first as never);
  // Notifies whoever measures.
  ended.catch(() => undefined);
  return ended;
};

/** Of a whole run, with much to spare. */
const LONGEST_MS = 1_000_000;
