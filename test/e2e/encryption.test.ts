/**
 * Tunnels between nodes by IPsec, on the kernel's datapath: what is on the underlay, what is believed of it, and that nothing goes in
 * clear while strongSwan is away. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Ip } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import type { ReachabilityPod } from '../oracles/reachability/types.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, pod } from './support/cluster/manifests.ts';
import { udnctl } from './support/cluster/udnctl.ts';
import {
  betweenNodes,
  FORGERS,
  forge,
  isClear,
  isClearSent,
  isEsp,
  NODE,
  ofFamily,
  PEER,
  type Victim,
} from './support/networks/encryption.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { capture, sendFrames } from './support/packets/capture.ts';
import { ipPacket, udp } from './support/packets/frames.ts';
import { type Packet, send } from './support/packets/packets.ts';
import { TCP_ECHO } from './support/packets/path-mtu.ts';

const cluster = useCluster({ name: 'test-encryption', needs: ['vrf'], encryption: 'ipsec' });

const TENANTS = ['red', 'green'] as const;
/** What fits into the network's MTU of 1400. */
const LARGEST = { 4: 1372, 6: 1352 } as const;

const pods = new Map<string, ReachabilityPod>();
const victims: Victim[] = [];
const podOf = (key: string): ReachabilityPod => {
  const found = pods.get(key);
  if (found === undefined) throw new Error(`there is no pod ${key}`);
  return found;
};

beforeAll(async () => {
  await applyAndWait(cluster(), [
    ...TENANTS.map((name) => namespace(name)),
    layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
    layer2('green', 'net', ['10.82.0.0/16', 'fd00:82::/64']),
    ...TENANTS.flatMap((tenant) => [pod(tenant, 'a', PEER), pod(tenant, 'c', NODE)]),
  ]);
  for (const key of TENANTS.flatMap((tenant) => [`${tenant}/a`, `${tenant}/c`])) {
    pods.set(key, await readPod(cluster(), key));
  }
  victims.push(...TENANTS.map((tenant) => ({ pod: podOf(`${tenant}/c`), friend: podOf(`${tenant}/a`) })));
});

const packets = (): Packet[] =>
  TENANTS.flatMap((tenant) =>
    FAMILIES.flatMap((family) =>
      (['icmp', 'tcp', 'udp'] as const).map((protocol) => {
        const [from, to] = [podOf(`${tenant}/a`), podOf(`${tenant}/c`)];
        return { from: from.key, to: to.key, address: ofFamily(to, family), protocol };
      }),
    ),
  );

const PING = 'ping -c 2 -i 0.2 -W 1 "$@" 2>&1 || true';

/** What ping(8) prints. */
const pings = async (from: string, to: Ip, ...more: readonly string[]): Promise<string> =>
  (await cluster().exec(from, ['sh', '-c', PING, '-', ...more, to])).stdout;

const allArrive = () =>
  eventually(async () => {
    const outcomes = await send(cluster(), packets());
    expect(outcomes.every(({ arrived, answered }) => arrived && answered)).toBe(true);
  }, 60_000);

const isOver = (): boolean => true;

it('pods reach each other on other nodes, by ESP and nothing else', async () => {
  await allArrive();
  const frames = await capture(
    cluster(),
    [NODE],
    async () => {
      await allArrive();
      for (const tenant of TENANTS) {
        for (const family of FAMILIES) {
          const to = ofFamily(podOf(`${tenant}/c`), family);
          const answer = await pings(`${tenant}/a`, to, '-M', 'do', '-s', String(LARGEST[family]));
          expect(answer).toContain('2 received');
          const { stdout } = await cluster().exec(`${tenant}/a`, ['python3', '-c', TCP_ECHO, to]);
          expect(stdout.trim()).toBe('same');
        }
      }
    },
    isOver,
  );
  const sent = betweenNodes(frames);
  expect(sent.filter((one) => isEsp(one) && one.isOutgoing).length).toBeGreaterThan(20);
  expect(sent.filter((one) => isEsp(one) && !one.isOutgoing).length).toBeGreaterThan(20);
  expect(sent.filter(isClear)).toEqual([]);
});

it('what comes in clear in the name of a node is not believed', async () => {
  expect(await forge(cluster(), victims)).toEqual([]);
});

it('a pod reaches neither IKE nor ESP of a node', async () => {
  const from = podOf('green/a');
  const { stdout } = await cluster().exec(from.key, ['sh', '-c', LOOK_UP_GATEWAY]);
  const [own = '', gateway = ''] = stdout.trim().split('\n');
  const ethernet = { from: own, to: gateway };
  const frames = FAMILIES.flatMap((family) => {
    const ends = { src: ofFamily(from, family), dst: nodeAddress(NODE, family) };
    const marker = (what: string) => `<${what} IPv${family}>`;
    const ports = [500, 4500, 501].map((dstPort) =>
      udp(ethernet, { ...ends, dstPort, payload: marker(`udp ${dstPort}`) }),
    );
    // In IPv6, AH (51) is a header in front of another one.
    const bodies = (family === 4 ? [50, 51] : [50]).map((protocol) =>
      ipPacket(ethernet, { ...ends, protocol, body: Buffer.from(`spi!seq!${marker(`protocol ${protocol}`)}`) }),
    );
    return [...ports, ...bodies].map((frame) => ({ device: 'ovn-udn1', frame }));
  });
  const shoot = () => sendFrames(cluster(), from.key, frames);
  const heard = (seen: Awaited<ReturnType<typeof capture>>): string[] => [
    ...new Set(seen.flatMap(({ bytes }) => /<[a-z]+ \d+ IPv\d>/.exec(bytes.toString('latin1'))?.[0] ?? [])),
  ];
  const honest = FAMILIES.map((family) => `<udp 501 IPv${family}>`);
  const isHeard = (seen: Awaited<ReturnType<typeof capture>>): boolean =>
    honest.every((one) => heard(seen).includes(one));
  const seen = await capture(cluster(), [NODE], shoot, isHeard, shoot);
  expect(heard(seen).toSorted()).toEqual(honest);
});

/** Its own MAC address, and the gateway's once it has been asked for. */
const LOOK_UP_GATEWAY = `
via=$(ip -4 route show default | sed -n 's/^default via \\([^ ]*\\).*/\\1/p'); ping -c 1 -W 1 "$via" > /dev/null
cat /sys/class/net/ovn-udn1/address; ip -4 neigh show "$via" | sed -n 's/.*lladdr \\([^ ]*\\).*/\\1/p'`;

describe('while strongSwan is stopped on a node', () => {
  const CHAINS = ['udn-tunnels-in', 'udn-tunnels-encrypted'] as const;
  const inNode = (...argv: readonly string[]) => cluster().node(NODE, argv);

  beforeAll(async () => {
    await inNode('ipsec', 'stop');
  });

  it('it sends nothing, and takes nothing in clear', async () => {
    const frames = await capture(
      cluster(),
      [NODE],
      async () => {
        for (const tenant of TENANTS) {
          for (const family of FAMILIES) {
            expect(await pings(`${tenant}/c`, ofFamily(podOf(`${tenant}/a`), family))).toContain('0 received');
          }
        }
      },
      isOver,
    );
    expect(betweenNodes(frames).filter(isClear)).toEqual([]);
    expect(await forge(cluster(), victims)).toEqual([]);
  });

  it('without the host’s filter it would do both', async () => {
    await cluster().kill(NODE, 'agent', 'SIGSTOP');
    try {
      for (const chain of CHAINS) await inNode('nft', 'flush', 'chain', 'inet', 'ovn-udn', chain);
      await eventually(async () => {
        const arrived = await forge(cluster(), victims);
        const all = FORGERS.flatMap(({ place }) =>
          victims.flatMap(({ pod: { key } }) => FAMILIES.map((family) => `${place} → ${key} IPv${family}`)),
        );
        expect(arrived).toEqual(all.sort());
      }, 60_000);
      const ask = () => pings('green/c', ofFamily(podOf('green/a'), 4));
      await capture(cluster(), [NODE], ask, (frames) => betweenNodes(frames).some(isClearSent), ask);
    } finally {
      await cluster().kill(NODE, 'agent', 'SIGCONT');
    }
  });

  it('the filter comes back by itself, and with strongSwan everything else', async () => {
    await eventually(async () => {
      const { stdout } = await inNode('nft', 'list', 'table', 'inet', 'ovn-udn');
      expect(stdout).toContain('meta ipsec missing drop');
      expect(stdout).toContain('rt ipsec missing drop');
    }, 30_000);
    await inNode('ipsec', 'start');
    await allArrive();
    expect(await forge(cluster(), victims)).toEqual([]);
  });
});

it('charon is killed: what it has set up goes on, and nothing goes in clear', async () => {
  const pidOf = async (): Promise<string> => (await cluster().node(NODE, ['cat', '/run/charon.pid'])).stdout.trim();
  const before = await pidOf();
  const frames = await capture(
    cluster(),
    [NODE],
    async () => {
      await cluster().node(NODE, ['kill', '-9', before]);
      await allArrive();
      await eventually(async () => expect(await pidOf()).not.toBe(before), 60_000);
      await allArrive();
    },
    isOver,
  );
  expect(betweenNodes(frames).filter(isClear)).toEqual([]);
  expect(betweenNodes(frames).some(isEsp)).toBe(true);
});

it('a node that has forgotten its associations, as after a power cut, begins new ones by itself', async () => {
  await cluster().node(NODE, ['sh', '-c', FORGET]);
  // Of its own it sends nothing: the other node has associations that this one does not know.
  const ask = () => pings('red/a', ofFamily(podOf('red/c'), 4));
  await eventually(async () => expect(await ask()).toContain('2 received'), 60_000);
});

const FORGET = `
kill -9 $(cat /run/starter.charon.pid /run/charon.pid)
rm -f /run/starter.charon.* /run/charon.*
ip xfrm state flush; ip xfrm policy flush; ipsec start`;

it('says why tunnels can’t be encrypted, and when they can', async () => {
  const certificate = '/etc/ipsec.d/certs/ovn-udn.pem';
  const problems = async (): Promise<string> => (await udnctl(cluster(), NODE, 'problems', '--all')).stdout;
  await cluster().node(NODE, ['mv', certificate, `${certificate}.away`]);
  expect(await problems()).toContain(`tunnels cannot be encrypted: ${certificate} cannot be read: ENOENT`);
  await cluster().node(NODE, ['mv', `${certificate}.away`, certificate]);
  await eventually(async () => expect(await problems()).toContain('no problems'), 60_000);
});
