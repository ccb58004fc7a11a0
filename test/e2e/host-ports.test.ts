/**
 * Ports of a node that lead to pods (`hostPort`): who reaches them, as whom, and whose they are. Needs root and `make build`. Tenants'
 * ports are reached from their own node and in local gateway mode by VRFs, which the host's kernel may lack: service-kernel.test.ts and
 * service-kernel-local.test.ts.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, parseIp } from '../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { python } from '../oracles/python.ts';
import type { RunThere, Target } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { eventsOf } from './support/faults/events.ts';
import { nodeAddress, outside } from './support/networks/north-south.ts';
import { udp } from './support/packets/frames.ts';
import { answeredBy, fromHost, fromOutside, fromPod, whoAnswers } from './support/services/entry-points.ts';
import { podWithPorts, seesOutside } from './support/services/host-ports.ts';
import { SERVED, service } from './support/services/services.ts';

const NODE = 'node-1';
const NODE_4 = nodeAddress(NODE, 4);
const WEB = 80;
const OF_TENANT = 8088;
const SHARED = 54_323;

const withPorts = (namespace: string, name: string, ports: readonly string[]): ManifestObject =>
  podWithPorts({ namespace, name, node: NODE }, ports);

const tcp = (ip: string, port: number): Target => ({ ip, port, protocol: 'TCP' });
const udpTo = (ip: string, port: number): Target => ({ ip, port, protocol: 'UDP' });
const onNode = (port: number): Target[] =>
  FAMILIES.map((family) => nodeAddress(NODE, family)).flatMap((ip) => [tcp(ip, port), udpTo(ip, port)]);

/** Where the host sends what its processes send to ports of pods: at the node's addresses, and at loopback ones. */
const onHosts = (port: number): Target[] => ['169.254.0.6', '169.254.0.7', 'fd69::6'].map((ip) => tcp(ip, port));

const answer = (run: RunThere, targets: readonly Target[], name: string): Promise<void> =>
  eventually(async () => expect(await whoAnswers(run, targets)).toEqual(answeredBy(targets, [name])));

const PLAIN: readonly ManifestObject[] = [
  plainNamespace('plain'),
  withPorts('plain', 'web', [`TCP/${WEB}`, `UDP/${WEB}`]),
  withPorts('plain', 'one', [`TCP/${SHARED}@127.0.0.1`]),
  withPorts('plain', 'two', [`TCP/${SHARED}@${NODE_4}`]),
  withPorts('plain', 'three', [`UDP/${SHARED}@${NODE_4}`]),
  pod('plain', 'near', NODE),
  pod('plain', 'far', 'node-2'),
];
const RED: readonly ManifestObject[] = [
  namespace('red'),
  layer3('red', 'net', ['10.76.0.0/16/24', 'fd00:76::/48/64']),
  withPorts('red', 'web', [`TCP/${OF_TENANT}`, `UDP/${OF_TENANT}`]),
  pod('red', 'near', NODE),
  pod('red', 'far', 'node-2'),
];

const curl = async (sandbox: Sandbox, port: number): Promise<string> => {
  const argv = ['curl', '-s', '--connect-timeout', '5', '--interface', NODE_4, `http://127.0.0.1:${port}/hostname`];
  return (await sandbox.node(NODE, argv)).stdout;
};

/** Of the default network, in each gateway mode. */
const plainCases = (cluster: () => Sandbox): void => {
  it.each([
    ['a host outside', () => fromOutside(cluster())],
    ['another node', () => fromHost(cluster(), 'node-2')],
    ['a pod of another node', () => fromPod(cluster(), 'plain/far')],
    ['a pod of the same node', () => fromPod(cluster(), 'plain/near')],
    ['the pod itself', () => fromPod(cluster(), 'plain/web')],
    ['the node itself', () => fromHost(cluster(), NODE)],
  ] as const)('leads to the pod: from %s', (_, run) => answer(run(), onNode(WEB), 'web'));

  it('leads there from the node itself by a loopback address, from whichever address', async () => {
    await answer(fromHost(cluster(), NODE), [tcp('127.0.0.1', WEB), udpTo('127.0.0.1', WEB)], 'web');
    expect(await curl(cluster(), WEB)).toBe('web');
  });

  it('is shared by addresses and protocols, as Kubernetes’ test has it', async () => {
    const host = fromHost(cluster(), NODE);
    await answer(host, [tcp('127.0.0.1', SHARED)], 'one');
    await answer(host, [tcp(NODE_4, SHARED)], 'two');
    await answer(host, [udpTo(NODE_4, SHARED)], 'three');
    expect(await curl(cluster(), SHARED)).toBe('one');
    await answer(fromOutside(cluster()), [tcp(NODE_4, SHARED)], 'two');
  });

  it('shows the pod who has called', () => seesOutside(cluster(), onNode(WEB)));
};

describe('a port of the node in shared gateway mode', () => {
  const cluster = useCluster({ name: 'test-host-ports', ipFamily: 'dual' });
  beforeAll(() => applyAndWait(cluster(), [...PLAIN, ...RED]), 120_000);
  plainCases(cluster);

  it.each([
    ['a host outside', () => fromOutside(cluster())],
    ['another node', () => fromHost(cluster(), 'node-2')],
    ['a pod of another network, on another node', () => fromPod(cluster(), 'plain/far')],
    ['a pod of its network, on another node', () => fromPod(cluster(), 'red/far')],
  ] as const)('leads to a tenant’s pod on its primary network: from %s', (_, run) =>
    answer(run(), onNode(OF_TENANT), 'web'),
  );

  it('is not reached by pods where the host reaches it: network policies would see the gateway router', async () => {
    const [plain, red] = await Promise.all([
      whoAnswers(fromPod(cluster(), 'plain/near'), onHosts(WEB)),
      whoAnswers(fromPod(cluster(), 'red/near'), onHosts(OF_TENANT)),
    ]);
    expect(plain).toEqual(answeredBy(onHosts(WEB), ['(silent)']));
    expect(red).toEqual(answeredBy(onHosts(OF_TENANT), ['(silent)']));
  });

  it('shows a tenant’s pod who has called', () => seesOutside(cluster(), onNode(OF_TENANT)));

  it('lets nobody outside reach what listens at a loopback address', async () => {
    const { stdout } = await cluster().node(NODE, ['cat', '/proc/sys/net/ipv4/conf/br-ex/route_localnet']);
    expect(stdout.trim()).toBe('1');
    expect(await heardAfter(cluster(), '127.0.0.1', NODE_4)).toBe(`to ${NODE_4}`);
  });

  it('is the older pod’s, and the node port of a Service: the other pod is told', async () => {
    const made = service('plain', 'public', { app: 'nobody' });
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: SERVED.TCP, nodePort: 30_080 }];
    await applyAndWait(cluster(), [{ ...made, spec: { ...(made['spec'] as object), type: 'NodePort', ports } }]);
    await applyAndWait(cluster(), [withPorts('plain', 'late', [`TCP/${WEB}`, 'TCP/30080:8082', 'TCP/10250:8083'])]);
    await eventually(async () =>
      expect((await eventsOf(cluster(), 'plain', 'late')).flatMap(refusalOf).sort()).toEqual([
        `TCP port 10250 of node ${NODE} is not open: it is reserved`,
        `TCP port 30080 of node ${NODE} is not open: it is the node port of a Service`,
        `TCP port 80 of node ${NODE} is not open: the older pod plain/web has it`,
      ]),
    );
    await answer(fromOutside(cluster()), onNode(WEB), 'web');
    const taken = tcp(NODE_4, 30_080);
    expect(await whoAnswers(fromOutside(cluster()), [taken])).toEqual(answeredBy([taken], ['(refused)']));
    await deletePods(cluster(), 'plain/web');
    await answer(fromOutside(cluster()), [tcp(NODE_4, WEB)], 'late');
  });

  it('is closed when its pod is gone', async () => {
    await deletePods(cluster(), 'plain/late', 'red/web');
    const all = [...onNode(WEB), ...onNode(OF_TENANT)].filter(({ protocol }) => protocol === 'TCP');
    await answer(fromOutside(cluster()), all, '(refused)');
    await answer(fromHost(cluster(), NODE), [...all, tcp('127.0.0.1', WEB)], '(refused)');
  });
});

describe('a port of the node in local gateway mode', () => {
  const cluster = useCluster({ name: 'test-host-ports-local', ipFamily: 'dual', gatewayMode: 'local' });
  beforeAll(() => applyAndWait(cluster(), PLAIN), 120_000);
  plainCases(cluster);
});

const refusalOf = ({ reason, message }: { readonly reason: string; readonly message: string }): string[] =>
  reason === 'HostPortNotOpen' ? [message] : [];

/** What a process of the node that listens everywhere hears first, when somebody outside sends frames to these addresses. */
const heardAfter = async (sandbox: Sandbox, ...addresses: readonly string[]): Promise<string> => {
  const ethernet = { from: '02:00:00:00:99:01', to: await macOfNode(sandbox) };
  const frames = addresses.map((dst) =>
    udp(ethernet, {
      ...{ src: outside(4), srcPort: SENDING, dst: parseIp(dst), dstPort: LISTENING },
      payload: `to ${dst}`,
    }).toString('hex'),
  );
  const heard = sandbox.node(NODE, python(LISTEN));
  const sending = sandbox.outside(python(SEND), { input: frames.join('\n') });
  const [{ stdout }] = await Promise.all([heard, sending]);
  return stdout.trim();
};

const macOfNode = async (sandbox: Sandbox): Promise<string> =>
  (await sandbox.node(NODE, ['cat', '/sys/class/net/br-ex/address'])).stdout.trim();

const LISTENING = 9999;
const SENDING = 9998;
const LISTEN = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('0.0.0.0', ${LISTENING}))
s.settimeout(20)
heard, sender = s.recvfrom(100)
s.sendto(b'heard', sender)
print(heard.decode())
`;

/** All of them again and again, until the listener is there and answers its first. */
const SEND = `
import socket, sys
frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
answers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
answers.bind(('0.0.0.0', ${SENDING}))
answers.settimeout(0.1)
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
for _ in range(200):
    for frame in frames:
        link.send(frame)
    try:
        answers.recv(100)
        break
    except TimeoutError:
        pass
`;
