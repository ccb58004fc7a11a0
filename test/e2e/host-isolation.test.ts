/**
 * From the host only the kubelet reaches pods of primary networks on the default network, and what the pods open. Needs
 * root and `make build`.
 */
import { beforeAll, expect, it } from 'vitest';
import type { ManifestObject } from '../../sandbox/index.ts';
import { applyAndWait, useCluster } from './support/cluster.ts';
import { hostIsolation } from './support/host-isolation.ts';
import { layer3, namespace, plainNamespace, pod } from './support/manifests.ts';

const NODE = 'node-1';
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

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.74.0.0/16/24', 'fd00:74::/48/64']),
    plainNamespace('plain'),
    pod('red', 'a', NODE),
    pod('plain', 'a', NODE),
    pod('plain', 'b', 'node-2'),
    hostPod('red', 'host'),
    hostPod('plain', 'host'),
  ]);
});

hostIsolation(cluster, { victim: 'red/a', plain: ['plain/a', 'plain/b'], hostPods: ['red/host', 'plain/host'] });

it('startup, readiness and liveness probes work, over HTTP, TCP and gRPC, also when kubelet is started again', async () => {
  await applyAndWait(cluster(), [probed('red', 'probed'), probed('plain', 'probed')]);
  await cluster().kill(NODE, 'kubelet', 'SIGKILL');
  await applyAndWait(cluster(), [probed('red', 'later'), probed('plain', 'later')]);
  const { stdout } = await cluster().node(NODE, ['nft', 'list', 'chain', 'inet', 'ovn-udn', 'udn-isolation']);
  expect(stdout).toContain('kubelet.slice/kubelet.service');
});
