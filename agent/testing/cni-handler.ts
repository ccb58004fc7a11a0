/** Calls of CNI over everything in memory. */
import { parseCniRequest } from '../../api/cni/request.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { FakeKernel } from '../../datapath/netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../../datapath/netlink/fake/fake-netlink.ts';
import { AttachmentRegistry } from '../cni/attachments/registry.ts';
import type { NetworkStatusKeeper } from '../cni/attachments/status-keeper.ts';
import { ForeignAttachments } from '../cni/foreign/foreign-attachments.ts';
import { podRoutes } from '../cni/foreign/pod-routes.ts';
import { CniHandler } from '../cni/handler.ts';
import { cniLimits } from '../cni/limits.ts';
import type { CniObservation } from '../cni/phases.ts';
import type { LocalSettings } from '../model/view.ts';
import { TestCluster } from './cluster.ts';
import { FakeIsolation } from './fake-isolation.ts';
import { FakePlugins, memoryDeviceInfo, memoryRecords } from './fake-plugins.ts';
import { FakePorts } from './fake-ports.ts';

type HandlerTestOptions = ConstructorParameters<typeof FakeKernel>[0] &
  Pick<LocalSettings, 'multiNetwork' | 'foreignPlugins'>;

export const NETNS = '/run/netns/cni-1';
export const SANDBOX = '0123456789abcdef0123456789abcdef';

const toldStatus = (told: string[]): Pick<NetworkStatusKeeper, 'attached' | 'detached'> => ({
  attached: ({ namespace, name }, sandbox, foreign) =>
    told.push([`${namespace}/${name} has ${sandbox}`, ...foreign.map((one) => one.interface)].join(' ')),
  detached: (sandbox) => told.push(`${sandbox} goes`),
});

/** @param options of the kernel, and of the agent */
export const setUp = ({ multiNetwork = 'native', foreignPlugins = [], ...options }: HandlerTestOptions = {}) => {
  const cluster = new TestCluster('node1', {}, { multiNetwork, foreignPlugins })
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
    .namespace('ns')
    .namespace('red', true)
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });
  const registry = new AttachmentRegistry();
  const kernel = new FakeKernel(options);
  kernel.addNetns(NETNS);
  const netlink = fakeNetlink(kernel);
  const ports = new FakePorts();
  const isolation = new FakeIsolation();
  const clock = createFakeClock();
  const failures: string[] = [];
  const observations: CniObservation[] = [];
  const garbage: string[] = [];
  /** How many ports there were when held policies were followed. */
  const releases: number[] = [];
  const notReady: string[] = [];
  const shortages = new Map<string, string>();
  const told: string[] = [];
  const plugins = new FakePlugins();
  const store = memoryRecords();
  const files = memoryDeviceInfo();
  const foreign = new ForeignAttachments({
    ...{ store, routes: podRoutes(netlink), deviceInfo: files },
    onUnreported: ({ namespace, name }, message) => failures.push(`${namespace}/${name}: ${message}`),
  });
  const handler = new CniHandler({
    registry,
    interfaces: netlink.pods,
    ports,
    isolation,
    releasePolicies: () => releases.push(ports.all().length),
    status: toldStatus(told),
    shortageOf: (pod) => shortages.get(pod),
    notReady: () => notReady,
    emitPodEvent: ({ namespace, name }, message) => failures.push(`${namespace}/${name}: ${message}`),
    onGarbage: (removed) => garbage.push(...removed),
    foreign,
    multiNetwork,
    clock,
    observe: (observation) => observations.push(observation),
    limits: cniLimits(50),
  });
  const known = new Set<string>();
  const flush = (): void => {
    cluster.engine.flush();
    for (const owner of known) if (!cluster.sinks.attachments.has(owner)) registry.delete(owner);
    for (const [owner, attachments] of cluster.sinks.attachments) registry.set(owner, attachments);
    for (const owner of cluster.sinks.attachments.keys()) known.add(owner);
  };
  const call = callsOf(handler, plugins);
  return {
    ...{ cluster, handler, flush, call, kernel, netlink, ports, isolation, clock },
    ...{ failures, observations, garbage, releases, notReady, shortages, plugins, store, files, foreign, told },
  };
};

interface CallInput {
  readonly pod?: string;
  readonly uid?: string;
  readonly sandbox?: string;
  readonly netns?: string;
  readonly config?: object;
  readonly ifName?: string;
  readonly signal?: AbortSignal;
}

/** Calls as a runtime makes them. */
const callsOf =
  (handler: CniHandler, plugins: FakePlugins) =>
  (command: string, given: CallInput = {}): Promise<string> => {
    const { pod = 'ns/a', uid = 'uid-a', sandbox = SANDBOX, netns = NETNS, config = {}, ifName = 'eth0' } = given;
    const { signal = new AbortController().signal } = given;
    const [namespace, name] = pod.split('/');
    const env = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: sandbox,
      CNI_NETNS: netns,
      CNI_IFNAME: ifName,
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_UID=${uid}`,
    };
    const stdin = JSON.stringify({ cniVersion: '1.1.0', name: 'ovn-kubernetes', ...config });
    return handler.handle(parseCniRequest(env, stdin), signal, plugins);
  };

export const withPod = (options?: Parameters<typeof setUp>[0]) => {
  const it = setUp(options);
  it.cluster.pod('ns/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'], role: 'primary' } } });
  it.flush();
  return it;
};

export const withTenant = () => {
  const it = setUp();
  it.cluster.pod('red/a', {
    node: 'node1',
    networks: {
      default: { ips: ['10.128.0.4/23'], role: 'infrastructure-locked' },
      'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
    },
  });
  it.flush();
  return it;
};
