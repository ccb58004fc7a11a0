/**
 * NetworkPolicies and associations of SCTP (RFC 9260), new ones and those that are there, between pods of two nodes. Pods are those of
 * north-south.ts, which has to be called first; it needs a kernel with SCTP.
 */
import { isIPv6 } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { expectAnswers } from '../../../oracles/policies/expected.ts';
import { readPod } from '../cluster/cluster.ts';
import { podKey } from '../networks/north-south-tenants.ts';
import { inBackground } from '../packets/background.ts';
import { type HeldEnds, HeldMessages } from '../packets/held-messages.ts';
import { addressesOf } from '../packets/packets.ts';
import { SERVED } from '../services/services.ts';
import { networkPolicy } from './manifests.ts';
import { attempts, type Member, type Port } from './members.ts';
import { EVERY, withPolicies } from './with-policies.ts';

/** Layer 3, layer 2, the default network. */
const TENANTS = ['red', 'green', 'plain'] as const;
const ALLOWED = SERVED.SCTP;
const OTHER = SERVED.SCTP + 1;
/** What every pod serves, and the other port of SCTP. */
const TCP: Port = ['TCP', SERVED.TCP];
const TO_ALLOWED: Port = ['SCTP', ALLOWED];
const TO_OTHER: Port = ['SCTP', OTHER];

interface Pair {
  readonly client: Member;
  readonly server: Member;
}

/** Every pod of a tenant is isolated in these directions but for one port. */
const onlyPort = (ports: object, ...directions: readonly ('ingress' | 'egress')[]): ManifestObject[] =>
  TENANTS.map((tenant) =>
    networkPolicy(tenant, 'associations', {
      podSelector: EVERY,
      policyTypes: directions.map((one) => (one === 'ingress' ? 'Ingress' : 'Egress')),
      ...Object.fromEntries(directions.map((one) => [one, [{ ports: [ports] }]])),
    }),
  );

/** Call it where tests are declared. */
export const policyAssociations = (cluster: () => Sandbox): void => {
  let pairs: readonly Pair[];
  const tried = (isAllowed: boolean, ...ports: readonly Port[]) =>
    pairs.flatMap(({ client, server }) => attempts(client, server, isAllowed, ports));

  /** Of what comes while `work` goes on, heartbeats and what an open association repeats included. */
  const expectNothingArrives = async (work: () => Promise<void>): Promise<void> => {
    const before = await packetsOfSctp(cluster(), pairs);
    await work();
    expect(await packetsOfSctp(cluster(), pairs)).toEqual(before);
  };

  beforeAll(async () => {
    pairs = await Promise.all(
      TENANTS.map(async (tenant) => ({
        client: await memberOf(cluster(), podKey(tenant, 'node-1')),
        server: await memberOf(cluster(), podKey(tenant, 'node-2')),
      })),
    );
    await Promise.all(
      pairs.map(({ server }) => cluster().exec(server.key, ['python3', '-c', inBackground(SERVE_OTHER)])),
    );
  });

  describe('associations of SCTP under NetworkPolicies', () => {
    it('go to the port that a policy allows, also those that are there, and by no other policy anywhere', async () => {
      await expectAnswers(cluster(), tried(true, TO_ALLOWED, TO_OTHER));
      const held = await HeldMessages.open(cluster(), pairs.flatMap(endsOf));
      try {
        await withPolicies(cluster(), onlyPort({ protocol: 'SCTP', port: ALLOWED }, 'ingress', 'egress'), async () => {
          await expectAnswers(cluster(), [...tried(true, TO_ALLOWED), ...tried(false, TO_OTHER, TCP)]);
          await held.expectOnly(({ port }) => port === ALLOWED);
        });
        for (const direction of ['ingress', 'egress'] as const) {
          await withPolicies(cluster(), onlyPort({ protocol: 'TCP', port: TCP[1] }, direction), async () => {
            const forbidden = tried(false, TO_ALLOWED, TO_OTHER);
            await expectAnswers(cluster(), [...tried(true, TCP), ...forbidden]);
            await expectNothingArrives(() => expectAnswers(cluster(), forbidden));
          });
        }
      } finally {
        await held.close();
      }
      await expectAnswers(cluster(), tried(true, TO_ALLOWED, TO_OTHER));
    });
  });
};

const memberOf = async (sandbox: Sandbox, key: string): Promise<Member> => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name, key, addresses: addressesOf(await readPod(sandbox, key)) };
};

/** Of each family, to both ports. */
const endsOf = ({ client, server }: Pair): HeldEnds[] =>
  server.addresses.flatMap((to) => {
    const own = client.addresses.find((one) => isIPv6(one) === isIPv6(to));
    if (own === undefined) throw new Error(`${client.key} has no address of the family of ${to}`);
    return [ALLOWED, OTHER].map((port) => ({ from: client.key, own, to, port }));
  });

/** What the kernels of the servers have received, whatever they made of it. */
const packetsOfSctp = async (sandbox: Sandbox, pairs: readonly Pair[]): Promise<string[]> =>
  await Promise.all(
    pairs.map(async ({ server }) => {
      const { stdout } = await sandbox.exec(server.key, ['grep', '-w', 'SctpInSCTPPacks', '/proc/net/sctp/snmp']);
      return `${server.key} ${stdout.trim()}`;
    }),
  );

/** As the toolbox answers. A second toolbox would take what the first one is asked about probes. */
const SERVE_OTHER = `
def listener(family, address):
    sock = socket.socket(family, socket.SOCK_STREAM, 132)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind((address, ${OTHER}))
    sock.listen(64)
    return sock
listeners = [listener(socket.AF_INET, '0.0.0.0'), listener(socket.AF_INET6, '::')]
def answer(sock):
    while data := sock.recv(4096):
        sock.sendall(socket.gethostname().encode() if data.startswith(b'hostname') else data)
def accept(listener):
    while True:
        threading.Thread(target=answer, args=listener.accept()[:1]).start()
def serve():
    for one in listeners:
        threading.Thread(target=accept, args=(one,)).start()
`;
