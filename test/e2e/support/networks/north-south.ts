/** Packets between pods and a host outside of the cluster: the same scenarios in both gateway modes. */
import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { addressOf } from '../../../../net/cidr.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { addressOfFamily as hostAddress, planNetwork } from '../../../../sandbox/plan/netplan.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { holdConnections } from '../../../oracles/reachability/held-connections.ts';
import type { ReachabilityPod } from '../../../oracles/reachability/types.ts';
import { holdAssociations } from '../packets/held-associations.ts';
import { addressesOf } from '../packets/packets.ts';
import {
  applyTenants,
  NODES,
  type NodeName,
  podKey,
  TENANTS,
  TENANTS_AND_PLAIN,
  type Tenant,
} from './north-south-tenants.ts';

const PLAN = planNetwork('dual', NODES.length);

/** What only some kernels have. */
export interface Kernel {
  readonly hasSctp?: boolean;
  /** The userspace datapath's conntrack does not. */
  readonly translatesIcmp?: boolean;
}

/** Call it where tests are declared. */
export const northSouth = (cluster: () => Sandbox, { hasSctp = false, translatesIcmp = false }: Kernel = {}): void => {
  let pods: ReadonlyMap<string, ReachabilityPod>;
  const podOf = (tenant: Tenant | 'plain', node: NodeName): ReachabilityPod => {
    const found = pods.get(podKey(tenant, node));
    if (found === undefined) throw new Error(`there is no pod of ${tenant} on ${node}`);
    return found;
  };
  const senders = (): ReachabilityPod[] => TENANTS.map((tenant) => podOf(tenant, 'node-1'));

  beforeAll(async () => {
    pods = await applyTenants(cluster());
  });

  it('tenants of one kind have the same addresses', () => {
    const addresses = senders().map((one) => addressesOf(one));
    for (const [first, second, third] of [addresses.slice(0, 3), addresses.slice(3)]) {
      expect(second).toEqual(first);
      expect(third).toEqual(first);
    }
  });

  describe.each(FAMILIES)('IPv%s', (family) => {
    it.each(TENANTS_AND_PLAIN)('pods of %s reach the outside with the address of their node', async (tenant) => {
      const reached = NODES.map(async (node) => {
        const from = podOf(tenant, node).key;
        const desired = { http: nodeAddress(node, family), udp: nodeAddress(node, family), isPinged: true };
        await eventually(async () => expect(await seenOutside(cluster(), from, family)).toEqual(desired));
      });
      await Promise.all(reached);
    });

    it.each(['tcp', 'udp', ...(hasSctp ? (['sctp'] as const) : [])] as const)(
      'the same source address and port of six tenants to the same server at the same time: %s',
      async (protocol) => {
        const sourcePort = 41_000 + family;
        const where = { sourcePort, server: outside(family) };
        const connections =
          protocol === 'sctp'
            ? await holdAssociations(cluster(), { pods: senders(), family, ...where })
            : await holdConnections(cluster(), { pods: senders().map(({ key }) => key), protocol, ...where });
        expect(connections.map(({ second }) => second)).toEqual(connections.map(({ first }) => first));
        const sources = connections.map(({ first }) => first);
        expect(new Set(sources).size).toBe(TENANTS.length);
        for (const source of sources) expect(hostOf(source)).toBe(nodeAddress('node-1', family));
      },
    );

    it.runIf(translatesIcmp)('the same ICMP identifier of six tenants at the same time', async () => {
      const argv = ['ping', '-c', '3', '-i', '0.3', '-W', '5', '-e', String(4200 + family), outside(family)];
      const answers = await Promise.all(senders().map(({ key }) => cluster().exec(key, argv)));
      for (const { stdout } of answers) expect(stdout).toContain(' 3 received');
    });

    it('nobody outside reaches a pod by its address', async () => {
      const pods = TENANTS_AND_PLAIN.map((tenant) => podOf(tenant, 'node-1'));
      const all = pods.flatMap(({ attachments }) => attachments.flatMap(({ addresses }) => addresses));
      const addresses = [...new Set(all)].filter((ip) => ipFamily(ip) === family);
      // Two that tenants share, and one on the default network of each pod.
      expect(addresses).toHaveLength(2 + TENANTS_AND_PLAIN.length);
      const route = ['ip', `-${family}`, 'route'];
      const reached = addresses.map(async (address) => {
        await cluster().outside([...route, 'replace', address, 'via', nodeAddress('node-1', family)]);
        try {
          const attempts = [pingsFromOutside(cluster(), address), connectsFromOutside(cluster(), address)];
          return (await Promise.all(attempts)).includes(true) ? [address] : [];
        } finally {
          await cluster().outside([...route, 'del', address]);
        }
      });
      expect((await Promise.all(reached)).flat()).toEqual([]);
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

interface SeenOutside {
  /** The sender's address as the server sees it; empty when it is not reached. */
  readonly http: string;
  readonly udp: string;
  readonly isPinged: boolean;
}

/** In one program: each that is started costs a guest much of its time. */
const seenOutside = async (sandbox: Sandbox, from: string, family: Family): Promise<SeenOutside> => {
  const [host, identifier] = [outside(family), String(randomInt(1, 65_536))];
  const { stdout } = await sandbox.exec(from, ['bash', '-c', ASK_OUTSIDE, '-', host, urlHost(host), identifier]);
  const [http = '', udp = '', ping = ''] = stdout.split('\n');
  return { http: hostOf(http), udp: hostOf(udp), isPinged: ping === 'pinged' };
};

/** A datagram is read at once or not at all, which `read` does not. */
const ASK_OUTSIDE = `
http=$(curl -sg --max-time 3 "http://$2:8080/clientip")
exec 3<> "/dev/udp/$1/8081"
printf clientip >&3
udp=$(timeout 3 dd bs=4096 count=1 <&3 2> /dev/null)
ping -c 1 -W 2 -e "$3" "$1" > /dev/null && ping=pinged
printf '%s\\n' "$http" "$udp" "$ping"
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
