/**
 * What links say to each other below IP, or about it: neighbours, multicast listeners, routers, ARP, and types that nobody
 * knows. OVN lets much of it pass before any ACL, so that it carries whatever a pod puts into it.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FILTER_TABLE, LOCKED_SET } from '../../../../datapath/netlink/frame-filter/types.ts';
import { parseIp } from '../../../../net/ip.ts';
import { linkLocalFromMac, macFromIp } from '../../../../net/mac.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { capture, sendFrames } from '../packets/capture.ts';
import {
  ALL_NODES,
  arp,
  BROADCAST,
  behind,
  type Ethernet,
  MLD_ROUTERS,
  multicastListener,
  multicastListener2,
  multicastMac,
  neighbourAdvertisement,
  neighbourSolicitation,
  ofType,
  routerAdvertisement,
  routerSolicitation,
  tagged,
  udp,
} from '../packets/frames.ts';
import {
  type Foothold,
  type HostileCluster,
  type NamedFrame,
  NODE,
  namesOf,
  ofFamily,
  sendAndWatch,
} from './attacks.ts';

/** Call it where tests are declared. @param cast what gives the pods, once tests run */
export const hostileLinks = (cluster: () => Sandbox, cast: () => HostileCluster): void => {
  const onDefault = (name: string): Foothold => defaultFoothold(cast().foothold(name));
  const others = (name: string): string[] => cast().pods.filter((key) => key !== cast().foothold(name).pod);

  it('the locked interface of a pod is heard by nobody, whatever it says', async () => {
    const from = onDefault('red/a');
    const frames = ['blue/a', 'red/b', 'gold/a', 'plain/a'].flatMap((name) => battery(from, onDefault(name), name));
    const honest = overheard(cast().foothold('red/a'));
    const seen = await sendAndWatch(cluster(), from.pod, frames, [honest], others('red/a'));
    expect(namesOf(seen)).toEqual([`honest @ ${cast().foothold('red/b').pod}`]);
  });

  it('a pod of the default network is not heard by locked interfaces, whatever it says', async () => {
    const from = onDefault('plain/a');
    const frames = ['blue/a', 'gold/a', 'plain/b'].flatMap((name) => battery(from, onDefault(name), name));
    // To its neighbours it may say what neighbours say.
    const ofNeighbours = frames.filter(({ name }) => name === 'neighbour advertisement to all, plain/b');
    const honest = [...ofNeighbours, overheard(from)];
    const seen = await sendAndWatch(cluster(), from.pod, frames, honest, others('plain/a'));
    const neighbour = cast().foothold('plain/b').pod;
    expect(namesOf(seen.filter(({ place }) => place !== neighbour))).toEqual([]);
    expect(namesOf(seen.filter(({ name }) => name.startsWith('router advertisement')))).toEqual([]);
  });

  describe.each([
    {
      what: 'a locked interface',
      of: () => [onDefault('red/a'), onDefault('blue/a')],
      names: /^(neighbour|router|multi)/,
    },
    {
      what: 'a pod that claims to be a router',
      of: () => [cast().foothold('gold/a'), cast().foothold('gold/b')],
      names: /^router advertisement/,
    },
  ])('$what', ({ of, names }) => {
    it('is not heard either while ovn-controller restarts and the agent is away', async () => {
      const [from, to] = of() as [Foothold, Foothold];
      const text = `<${randomBytes(6).toString('hex')}>`;
      const frames = battery(from, to, to.pod).filter(({ name }) => names.test(name));
      const built = frames.map(({ device, build }) => ({ device, frame: build(text) }));
      const burst = Array.from({ length: BURSTS }, () => built).flat();
      const flood = async (isEnough: () => boolean): Promise<void> => {
        while (!isEnough()) await sendFrames(cluster(), from.pod, burst);
      };
      let isOver = false;
      /** The agent, which could put back what ovn-controller deletes, does nothing meanwhile. */
      const restart = async (): Promise<void> => {
        await cluster().kill(NODE, 'agent', 'SIGSTOP');
        try {
          for (let round = 0; round < RESTARTS; round++) {
            await cluster().kill(NODE, 'ovn-controller');
            await eventually(async () => expect(await controllerState()).toBe('connected'));
            await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
          }
        } finally {
          isOver = true;
          await cluster().kill(NODE, 'agent', 'SIGCONT');
        }
      };
      const captured = await capture(
        cluster(),
        cast().pods.filter((key) => key !== from.pod),
        () => Promise.all([restart(), flood(() => isOver)]),
        () => true,
      );
      const heard = captured.filter(({ bytes, isOutgoing }) => !isOutgoing && bytes.toString('latin1').includes(text));
      expect([...new Set(heard.map(({ place, device }) => `${device} of ${place}`))]).toEqual([]);
    });
  });

  it('another program that deletes filters, or of them, finds them there again', async () => {
    const list = async (): Promise<string[]> => {
      const { stdout } = await cluster().node(NODE, ['nft', '-s', 'list', 'table', 'netdev', FILTER_TABLE]);
      return stdout.split('\n').toSorted();
    };
    const before = await list();
    const chain = (prefix: string): string =>
      before.find((line) => line.startsWith(`\tchain ${prefix}`))?.split(' ')[1] ?? `no ${prefix}`;
    for (const damage of [
      ['flush', 'chain', 'netdev', FILTER_TABLE, chain('shared-')],
      ['flush', 'chain', 'netdev', FILTER_TABLE, chain('to-')],
      ['flush', 'set', 'netdev', FILTER_TABLE, LOCKED_SET],
      ['delete', 'table', 'netdev', FILTER_TABLE],
    ]) {
      await cluster().node(NODE, ['nft', ...damage]);
      await eventually(async () => expect(await list()).toEqual(before));
    }
  });

  const controllerState = async (): Promise<string> => {
    const { stdout } = await cluster().node(NODE, ['ovn-appctl', '-t', 'ovn-controller', 'connection-status']);
    return stdout.trim();
  };
};

const RESTARTS = 3;
const BURSTS = 20;
/** All flows are installed again. */
const SETTLED_MS = 500;

/** The pod's interface on the default network, also where it is not its primary one. */
const defaultFoothold = ({ defaultAddresses, ...foothold }: Foothold): Foothold => {
  const mac = macFromIp(ofFamily(defaultAddresses, 4));
  const own = { device: 'eth0', mac, addresses: defaultAddresses, linkLocal: linkLocalFromMac(mac) };
  return { ...foothold, ...own, defaultAddresses };
};

const overheard = (from: Foothold): NamedFrame => ({
  name: 'honest',
  device: from.device,
  build: (payload) =>
    udp(
      { from: from.mac, to: multicastMac(ALL_NODES) },
      { src: from.linkLocal, dst: ALL_NODES, srcPort: 4444, dstPort: 4444, payload },
    ),
});

/** To one and to all, from the sender's own addresses, which is all that port security lets pass. */
const battery = (from: Foothold, to: Foothold, name: string): NamedFrame[] => {
  const [own4, own6] = [ofFamily(from.addresses, 4), ofFamily(from.addresses, 6)];
  const [theirs4, theirs6] = [ofFamily(to.addresses, 4), ofFamily(to.addresses, 6)];
  const prefix = parseIp('fd00:bad::');
  const frames = (how: string, ethernet: Ethernet): NamedFrame[] => {
    const named = (what: string, bytes: Buffer): NamedFrame => ({
      name: `${what} ${how}, ${name}`,
      device: from.device,
      build: (payload) => Buffer.concat([bytes, Buffer.from(payload)]),
    });
    const local = from.linkLocal;
    const advertisement = neighbourAdvertisement(ethernet, local, ALL_NODES, local);
    return [
      named('neighbour advertisement', advertisement),
      named('neighbour advertisement of an address', neighbourAdvertisement(ethernet, own6, to.linkLocal, own6)),
      named('neighbour advertisement in a fragment', behind(advertisement, 44)),
      named('neighbour advertisement behind options', behind(advertisement, 60)),
      named('neighbour solicitation', neighbourSolicitation(ethernet, local, to.linkLocal, to.linkLocal)),
      named('neighbour solicitation of an address', neighbourSolicitation(ethernet, own6, theirs6, theirs6)),
      named('neighbour solicitation of its own address', neighbourSolicitation(ethernet, local, ALL_NODES, local)),
      named('router solicitation', routerSolicitation(ethernet, local, ALL_NODES)),
      named('router advertisement', routerAdvertisement(ethernet, local, prefix)),
      named('router advertisement behind options', behind(routerAdvertisement(ethernet, local, prefix), 0)),
      ...([130, 131, 132] as const).map((type) =>
        named(`multicast listener ${type}`, multicastListener(ethernet, local, ALL_NODES, type)),
      ),
      named('multicast listener 2', multicastListener2(ethernet, local, ALL_NODES)),
      named('multicast listener 2 behind options', behind(multicastListener2(ethernet, local, ALL_NODES), 0)),
      named('ARP request', arp(ethernet, { op: 'request', tell: own4, about: theirs4 })),
      named('ARP request of its own', arp(ethernet, { op: 'request', tell: own4, about: own4 })),
      named('ARP reply', arp(ethernet, { op: 'reply', tell: own4, about: theirs4, aboutMac: to.mac })),
      named('LLDP', ofType(ethernet, 0x88cc)),
      named('no known type', ofType(ethernet, 0x1234)),
      named('in a VLAN', tagged(advertisement)),
    ];
  };
  return [
    ...frames('to one', { from: from.mac, to: to.mac }),
    ...frames('to all', { from: from.mac, to: multicastMac(ALL_NODES) }),
    ...frames('to listeners', { from: from.mac, to: multicastMac(MLD_ROUTERS) }),
    ...frames('to everybody', { from: from.mac, to: BROADCAST }),
  ];
};
