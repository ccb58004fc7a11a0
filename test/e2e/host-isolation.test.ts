/**
 * From the host only the kubelet reaches pods of primary networks on the default network, and what the pods open. Needs
 * root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Ip, ipFamily } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import type { ReachabilityPod } from '../../sandbox/reachability/types.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster.ts';
import { layer3, namespace, plainNamespace, pod } from './support/manifests.ts';

const NODE = 'node-1';
const OPEN_PORTS = 'k8s.ovn.org/open-default-ports';
const cluster = useCluster({ name: 'test-host-isolation' });

/**
 * A server that says over gRPC that it serves, as `grpc.health.v1.Health` does: frames of HTTP/2 (RFC 9113) by hand, as
 * pods have no library for it.
 */
const GRPC_SERVER = `
import socketserver, struct

def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload

def header(name, value):
    return b'\\0' + bytes([len(name)]) + name + bytes([len(value)]) + value

DATA, HEADERS, SETTINGS, PING, END_STREAM, END_HEADERS, ACK = 0, 1, 4, 6, 1, 4, 1

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        if len(self.rfile.read(24)) < 24:
            return
        self.wfile.write(frame(SETTINGS, 0, 0))
        while True:
            head = self.rfile.read(9)
            if len(head) < 9:
                return
            length, kind, flags = int.from_bytes(head[:3], 'big'), head[3], head[4]
            stream = int.from_bytes(head[5:], 'big')
            payload = self.rfile.read(length)
            if kind == SETTINGS and not flags & ACK:
                self.wfile.write(frame(SETTINGS, ACK, 0))
            if kind == PING and not flags & ACK:
                self.wfile.write(frame(PING, ACK, 0, payload))
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                self.wfile.write(frame(HEADERS, END_HEADERS, stream, b'\\x88' + header(b'content-type', b'application/grpc')))
                self.wfile.write(frame(DATA, 0, stream, bytes([0, 0, 0, 0, 2, 8, 1])))
                self.wfile.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, header(b'grpc-status', b'0')))

class Server(socketserver.ThreadingTCPServer):
    address_family = 10
    allow_reuse_address = True

Server(('::', 9090), Handler).serve_forever()
`;

const probed = (inNamespace: string, name: string): ManifestObject => {
  const every = { periodSeconds: 1, failureThreshold: 3 };
  const base = pod(inNamespace, name, NODE);
  return {
    ...base,
    spec: {
      nodeName: NODE,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: 'toolbox',
          startupProbe: { tcpSocket: { port: 8082 }, ...every, failureThreshold: 30 },
          readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, ...every },
          livenessProbe: { tcpSocket: { port: 8080 }, ...every },
        },
        {
          name: 'grpc',
          image: 'toolbox',
          command: ['python3', '-c', GRPC_SERVER],
          readinessProbe: { grpc: { port: 9090, service: 'any' }, ...every },
        },
      ],
    },
  } as ManifestObject;
};

const hostPod = (inNamespace: string, name: string): ManifestObject => {
  const base = pod(inNamespace, name, NODE);
  return {
    ...base,
    spec: {
      nodeName: NODE,
      hostNetwork: true,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: 'toolbox', command: ['sleep', 'infinity'] }],
    },
  } as ManifestObject;
};

let red: ReachabilityPod;
let plain: ReachabilityPod;

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.74.0.0/16/24', 'fd00:74::/48/64']),
    plainNamespace('plain'),
    pod('red', 'a', NODE),
    pod('plain', 'a', NODE),
    hostPod('red', 'host'),
    hostPod('plain', 'host'),
  ]);
  red = await readPod(cluster(), 'red/a');
  plain = await readPod(cluster(), 'plain/a');
});

const defaultAddresses = ({ attachments }: ReachabilityPod): readonly Ip[] =>
  attachments.find(({ network }) => network === 'default')?.addresses ?? [];

type Caller = 'host process' | 'kubelet' | 'host-network pod of the namespace' | 'other host-network pod' | 'other pod';

const succeeds = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
};

/** Runs a program as the caller. */
const run = (caller: Caller, argv: readonly string[]): Promise<unknown> => {
  switch (caller) {
    case 'host process':
      return cluster().node(NODE, argv);
    case 'kubelet':
      return cluster().node(NODE, ['sh', '-c', `echo $$ > ${KUBELET_CGROUP}/cgroup.procs && exec "$@"`, '-', ...argv]);
    case 'host-network pod of the namespace':
      return cluster().exec('red/host', argv);
    case 'other host-network pod':
      return cluster().exec('plain/host', argv);
    case 'other pod':
      return cluster().exec('plain/a', argv);
  }
};

const KUBELET_CGROUP = '/sys/fs/cgroup/kubelet.slice/kubelet.service';

const connects = (caller: Caller, to: Ip, port: number): Promise<boolean> =>
  succeeds(run(caller, ['nc', '-z', '-w', '1', to, String(port)]));

const pings = (caller: Caller, to: Ip): Promise<boolean> => succeeds(run(caller, ['ping', '-c', '1', '-W', '1', to]));

const OTHERS = ['host process', 'host-network pod of the namespace', 'other host-network pod', 'other pod'] as const;

describe.each(FAMILIES)('IPv%s', (family) => {
  const addressOf = (of: ReachabilityPod): Ip => {
    const found = defaultAddresses(of).find((ip) => ipFamily(ip) === family);
    if (found === undefined) throw new Error(`${of.key} has no IPv${family} address on the default network`);
    return found;
  };

  it('kubelet reaches a pod of a primary network', async () => {
    await eventually(async () => {
      expect(await connects('kubelet', addressOf(red), 8080)).toBe(true);
      expect(await pings('kubelet', addressOf(red))).toBe(true);
    });
  });

  it.each(OTHERS)('%s does not', async (caller) => {
    expect(await connects(caller, addressOf(red), 8080)).toBe(false);
    expect(await pings(caller, addressOf(red))).toBe(false);
  });

  it.each(['host process', 'other host-network pod'] as const)(
    '%s reaches a pod of the default network',
    async (caller) => {
      expect(await connects(caller, addressOf(plain), 8080)).toBe(true);
      expect(await pings(caller, addressOf(plain))).toBe(true);
    },
  );

  it('what a pod opens is open, until it closes it', async () => {
    const annotate = async (value: string): Promise<void> => {
      await (await cluster().objects()).apply([pod('red', 'a', NODE, { [OPEN_PORTS]: value })]);
    };
    const reached = async (): Promise<string[]> => {
      const seen: string[] = [];
      for (const caller of ['host process', 'other pod'] as const) {
        if (await connects(caller, addressOf(red), 8080)) seen.push(`${caller} tcp 8080`);
        if (await connects(caller, addressOf(red), 8082)) seen.push(`${caller} tcp 8082`);
        if (await pings(caller, addressOf(red))) seen.push(`${caller} icmp`);
      }
      return seen;
    };
    const become = (expected: string[]): Promise<void> =>
      eventually(async () => expect(await reached()).toEqual(expected), 30_000);
    await annotate('- protocol: tcp\n  port: 8080\n');
    await become(['host process tcp 8080', 'other pod tcp 8080']);
    await annotate('- protocol: icmp\n- protocol: tcp\n  port: 8082\n');
    await become(['host process tcp 8082', 'host process icmp', 'other pod tcp 8082', 'other pod icmp']);
    await annotate('- protocol: tcp\n  port: 99999\n');
    await become([]);
    const events = await (await cluster().objects()).list('Event', 'red');
    expect(JSON.stringify(events)).toMatch(/open-default-ports/);
    await annotate('[]');
    await become([]);
  });
});

it('startup, readiness and liveness probes work, over HTTP, TCP and gRPC, also when kubelet is started again', async () => {
  await applyAndWait(cluster(), [probed('red', 'probed'), probed('plain', 'probed')]);
  await cluster().kill(NODE, 'kubelet', 'SIGKILL');
  await applyAndWait(cluster(), [probed('red', 'later'), probed('plain', 'later')]);
  const { stdout } = await cluster().node(NODE, ['nft', 'list', 'chain', 'inet', 'ovn-udn', 'udn-isolation']);
  expect(stdout).toContain('kubelet.slice/kubelet.service');
});
