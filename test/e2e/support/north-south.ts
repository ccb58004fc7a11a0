/** Packets between pods and a host outside of the cluster: the same scenarios in both gateway modes. */
import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { addressOf } from '../../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { addressOfFamily as hostAddress, planNetwork } from '../../../sandbox/plan/netplan.ts';
import { holdConnections } from '../../../sandbox/reachability/held-connections.ts';
import type { ReachabilityPod } from '../../../sandbox/reachability/types.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait, readPod } from './cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './manifests.ts';
import { addressesOf } from './packets.ts';

const NODES = ['node-1', 'node-2'] as const;
const PLAN = planNetwork('dual', NODES.length);

/** Layer 3 and layer 2 with the same subnets twice; the first pods of red and blue have the same addresses. */
const TENANTS = ['red', 'blue', 'green', 'gold', 'plain'] as const;
type Tenant = (typeof TENANTS)[number];

const MANIFESTS = [
  ...['red', 'blue', 'green', 'gold'].map((name) => namespace(name)),
  plainNamespace('plain'),
  ...['red', 'blue'].map((name) => layer3(name, 'net', ['10.70.0.0/16/24', 'fd00:70::/48/64'])),
  ...['green', 'gold'].map((name) => layer2(name, 'net', ['10.71.0.0/16', 'fd00:71::/64'])),
  ...TENANTS.flatMap((name) => NODES.map((node) => pod(name, `${name}-${node}`, node))),
];

/** Call it where tests are declared. */
export const northSouth = (cluster: () => Sandbox): void => {
  const pods = new Map<string, ReachabilityPod>();
  const podOf = (tenant: Tenant, node: string): ReachabilityPod => {
    const found = pods.get(`${tenant}/${tenant}-${node}`);
    if (found === undefined) throw new Error(`there is no pod of ${tenant} on ${node}`);
    return found;
  };

  beforeAll(async () => {
    await applyAndWait(cluster(), MANIFESTS);
    for (const tenant of TENANTS) {
      for (const node of NODES) {
        const found = await readPod(cluster(), `${tenant}/${tenant}-${node}`);
        pods.set(found.key, found);
      }
    }
  });

  describe.each(FAMILIES)('IPv%s', (family) => {
    it.each(TENANTS)('pods of %s reach the outside with the address of their node', async (tenant) => {
      for (const node of NODES) {
        const from = podOf(tenant, node).key;
        await eventually(async () => {
          expect(await seenOverHttp(cluster(), from, family)).toBe(nodeAddress(node, family));
          expect(await seenOverUdp(cluster(), from, family)).toBe(nodeAddress(node, family));
          expect(await pings(cluster(), from, outside(family))).toBe(true);
        });
      }
    });

    it.each(['tcp', 'udp'] as const)(
      'the same source address and port of four tenants to the same server at the same time: %s',
      async (protocol) => {
        const senders = (['red', 'blue', 'green', 'gold'] as const).map((tenant) => podOf(tenant, 'node-1'));
        expect(addressesOf(senders[0] as ReachabilityPod)).toEqual(addressesOf(senders[1] as ReachabilityPod));
        const keys = senders.map(({ key }) => key);
        const options = { pods: keys, protocol, sourcePort: 41_000 + family, server: outside(family) };
        const connections = await holdConnections(cluster(), options);
        expect(connections.map(({ second }) => second)).toEqual(connections.map(({ first }) => first));
        const sources = connections.map(({ first }) => first);
        expect(new Set(sources).size).toBe(keys.length);
        for (const source of sources) expect(hostOf(source)).toBe(nodeAddress('node-1', family));
      },
    );

    it.each(TENANTS)('nobody outside reaches a pod of %s by its address', async (tenant) => {
      const to = podOf(tenant, 'node-1');
      const addresses = to.attachments.flatMap((one) => one.addresses).filter((ip) => ipFamily(ip) === family);
      const route = ['ip', `-${family}`, 'route'];
      for (const address of addresses) {
        await cluster().outside([...route, 'replace', address, 'via', nodeAddress('node-1', family)]);
        try {
          const attempts = [pingsFromOutside(cluster(), address), connectsFromOutside(cluster(), address)];
          expect(await Promise.all(attempts)).toEqual([false, false]);
        } finally {
          await cluster().outside([...route, 'del', address]);
        }
      }
    });
  });
};

export const nodeAddress = (node: string, family: Family): Ip => {
  const host = PLAN.nodes.find(({ name }) => name === node);
  const found = host === undefined ? undefined : hostAddress(host.addresses, family);
  if (found === undefined) throw new Error(`${node} has no IPv${family} address`);
  return found;
};

export const outside = (family: Family): Ip => {
  const address = PLAN.outside.addresses.map(addressOf).find((ip) => ipFamily(ip) === family);
  if (address === undefined) throw new Error(`the outside has no IPv${family} address`);
  return address;
};

const urlHost = (ip: Ip): string => (ipFamily(ip) === 6 ? `[${ip}]` : ip);

/** `10.0.0.1:80` and `[fd00::1]:80` without the port. */
export const hostOf = (endpoint: string): string =>
  endpoint.slice(0, endpoint.lastIndexOf(':')).replaceAll(/[[\]]/g, '');

/** The sender's address as the server outside sees it. */
export const seenOverHttp = async (sandbox: Sandbox, from: string, family: Family): Promise<string> => {
  const url = `http://${urlHost(outside(family))}:8080/clientip`;
  const { stdout } = await sandbox.exec(from, ['curl', '-sg', '--max-time', '3', url]);
  return hostOf(stdout.trim());
};

const seenOverUdp = async (sandbox: Sandbox, from: string, family: Family): Promise<string> => {
  const { stdout } = await sandbox.exec(from, ['python3', '-c', ASK_OVER_UDP, outside(family)]);
  return hostOf(stdout.trim());
};

const ASK_OVER_UDP = `
import socket, sys
sock = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
sock.settimeout(3)
sock.connect((sys.argv[1], 8081))
sock.send(b'clientip')
print(sock.recv(4096).decode())
`;

const succeeds = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
};

/**
 * With an identifier of its own: the userspace datapath does not translate those of ICMP, so two pods with the same one
 * could not ping the same host at the same time.
 */
export const pings = (sandbox: Sandbox, from: string, to: Ip): Promise<boolean> =>
  succeeds(sandbox.exec(from, ['ping', '-c', '1', '-W', '2', '-e', String(randomInt(1, 65_536)), to]));

const pingsFromOutside = (sandbox: Sandbox, to: Ip): Promise<boolean> =>
  succeeds(sandbox.outside(['ping', '-c', '2', '-i', '0.2', '-W', '1', to]));

const connectsFromOutside = (sandbox: Sandbox, to: Ip): Promise<boolean> =>
  succeeds(sandbox.outside(['curl', '-sg', '--max-time', '1', `http://${urlHost(to)}:8080/hostname`]));
