/** An agent that is killed and started again, while packets flow through ten networks and everything is watched. */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FAMILIES, type Family, type Ip } from '../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait, readPod } from './cluster.ts';
import { layer2, layer3, namespace, pod } from './manifests.ts';
import { dumpDifference, dumpNode } from './node-dump.ts';
import { nodeAddress, outside, seenOverHttp } from './north-south.ts';
import { addressOfFamily } from './packets.ts';

const NODE = 'node-1';
const TENANTS = Array.from({ length: 10 }, (_, index) => `t${index}`);

const network = (tenant: string, index: number): ManifestObject =>
  index % 2 === 0
    ? layer3(tenant, 'net', ['10.78.0.0/16/24', 'fd00:78::/48/64'])
    : layer2(tenant, 'net', ['10.79.0.0/16', 'fd00:79::/64']);

const MANIFESTS = [
  ...TENANTS.map((tenant) => namespace(tenant)),
  ...TENANTS.map(network),
  ...TENANTS.flatMap((tenant) => [pod(tenant, `${tenant}-a`, NODE), pod(tenant, `${tenant}-b`, 'node-2')]),
];

const WATCH_SECONDS = 12;
const KILLS = 3;
const PING_SECONDS = 8;

/** Call it where tests are declared. */
export const steady = (cluster: () => Sandbox): void => {
  beforeAll(async () => {
    await applyAndWait(cluster(), MANIFESTS);
    // Every neighbour and every tunnel is known from here on.
    for (const tenant of TENANTS) {
      for (const family of FAMILIES) {
        const to = addressOfFamily(await readPod(cluster(), `${tenant}/${tenant}-b`), family);
        await eventually(() => cluster().exec(`${tenant}/${tenant}-a`, ['ping', '-c', '1', '-W', '1', to]));
        await eventually(async () =>
          expect(await seenOverHttp(cluster(), `${tenant}/${tenant}-a`, family)).toBe(nodeAddress(NODE, family)),
        );
      }
    }
  });

  describe('the agent killed again and again', () => {
    it('changes nothing that was right, and loses no packet', async () => {
      const before = await dumpNode(cluster(), NODE);
      const watched = watch(cluster());
      const traffic = Promise.all(
        TENANTS.flatMap((tenant) => FAMILIES.map((family) => send(cluster(), tenant, family))),
      );
      for (let kill = 0; kill < KILLS; kill++) {
        const restarts = await agentRestarts(cluster());
        await cluster().kill(NODE, 'agent', 'SIGKILL');
        await eventually(async () => expect(await agentRestarts(cluster())).toBe(restarts + 1));
      }
      await eventually(() => cluster().node(NODE, ['udnctl', 'networks']), 30_000);
      const lost = (await traffic).flat();
      expect(lost.filter(({ missing }) => missing > 0)).toEqual([]);
      expect(await watched).toEqual([]);
      expect(dumpDifference(before, await dumpNode(cluster(), NODE))).toEqual([]);
    });
  });
};

const agentRestarts = async (sandbox: Sandbox): Promise<number> => {
  const { nodes } = await sandbox.status();
  const services = nodes.find(({ name }) => name === NODE)?.services ?? [];
  return services.find(({ name }) => name === 'agent')?.restarts ?? 0;
};

interface Loss {
  readonly what: string;
  readonly missing: number;
}

/** To the pod on the other node five pings and a stream at once; to the outside a stream. */
const send = async (sandbox: Sandbox, tenant: string, family: Family): Promise<Loss[]> => {
  const from = `${tenant}/${tenant}-a`;
  const to = addressOfFamily(await readPod(sandbox, `${tenant}/${tenant}-b`), family);
  const pings = Array.from({ length: 5 }, () => ping(sandbox, from, to));
  return await Promise.all([...pings, stream(sandbox, from, to), stream(sandbox, from, outside(family))]);
};

const ping = async (sandbox: Sandbox, from: string, to: Ip): Promise<Loss> => {
  const count = PING_SECONDS * 10;
  const { stdout } = await sandbox
    .exec(from, ['ping', '-q', '-i', '0.1', '-c', String(count), '-W', '2', to])
    .catch((error: unknown) => z.object({ stdout: z.string() }).parse(error));
  return { what: `${from} ping ${to}`, missing: count - Number(/(\d+) received/.exec(stdout)?.[1] ?? 0) };
};

/** One connection to the TCP echo server; every piece has to come back within two seconds. */
const stream = async (sandbox: Sandbox, from: string, to: Ip): Promise<Loss> => {
  const { stdout } = await sandbox.exec(from, ['python3', '-c', STREAM, to, String(PING_SECONDS)]);
  return { what: `${from} tcp ${to}`, missing: Number(stdout.trim()) };
};

const STREAM = `
import socket, sys, time
sock = socket.create_connection((sys.argv[1], 8082), 5)
sock.settimeout(2)
end = time.monotonic() + float(sys.argv[2])
missing = 0
while time.monotonic() < end:
    sock.sendall(b'x' * 1000)
    left = 1000
    try:
        while left > 0:
            piece = sock.recv(left)
            if not piece:
                raise OSError('closed')
            left -= len(piece)
    except OSError:
        missing += 1
        break
    time.sleep(0.02)
print(missing)
`;

/** What the kernel, OVS and nft tell meanwhile about the kinds of objects that are ours. */
const watch = async (sandbox: Sandbox): Promise<string[]> => {
  const lines = async (what: string, command: string, isOurs: (line: string) => boolean): Promise<string[]> => {
    const { stdout } = await sandbox.node(NODE, ['sh', '-c', `timeout ${WATCH_SECONDS} ${command}; true`]);
    return stdout
      .split('\n')
      .filter((line) => line !== '' && isOurs(line))
      .map((line) => `${what}: ${line}`);
  };
  const seen = await Promise.all([
    lines('kernel', 'ip -o monitor link address route rule', (line) => !/ (proto kernel|expires)\b/.test(line)),
    lines('flows', 'ovs-ofctl monitor br-ex watch:!initial', (line) => /event=/.test(line)),
    lines('nft', 'nft monitor', (line) => line.includes('ovn-udn')),
  ]);
  return seen.flat();
};
