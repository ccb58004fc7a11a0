/** A node and a new pod namespace for each case of the conformance suite, and pods to put into it. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { FAMILIES, parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { sharedChain } from '../frame-filter/types.ts';
import type { Harness } from '../harness.suite.ts';
import type { KernelOp } from '../kernel/types.ts';
import type { Netlink, Snapshot } from '../netlink.ts';
import type { PodInterface, PodNetwork } from './types.ts';

export interface PodWorld {
  readonly harness: () => Harness;
  readonly netlink: () => Netlink;
  /** `eth0` of the default network and `ovn-udn1` of a primary one, both dual-stack; names on the node are its own. */
  readonly dualStackPod: () => PodNetwork;
  readonly newNetns: () => Promise<string>;
  /** Applied behind the back of whoever made the pod. @throws when one fails */
  readonly disturb: (netns: string | undefined, ...ops: KernelOp[]) => Promise<void>;
  readonly look: (pod: PodNetwork) => Promise<{ node: Snapshot; pod: Snapshot }>;
}

export const podWorld = (open: () => Promise<Harness>): PodWorld => {
  let harness: Harness;
  let netns: string;
  let pods = 0;
  beforeAll(async () => {
    harness = await open();
  });
  afterAll(async () => harness[Symbol.asyncDispose]());
  beforeEach(async () => {
    netns = await harness.newNetns();
    pods++;
  });
  return {
    harness: () => harness,
    netlink: () => harness.netlink,
    dualStackPod: () => ({
      netns,
      interfaces: [
        { ...eth0, hostName: `e${pods}`, alias: `ovn-udn:test/pod${pods}/eth0` },
        { ...udn1, hostName: `u${pods}`, alias: `ovn-udn:test/pod${pods}/ovn-udn1` },
      ],
    }),
    newNetns: () => harness.newNetns(),
    disturb: async (where, ...ops) => {
      const [failure] = await harness.netlink.apply({ ...(where === undefined ? {} : { netns: where }), ops });
      if (failure !== undefined) throw failure.error;
    },
    look: async (pod) => ({
      node: await harness.netlink.read({ links: true, addresses: true }),
      pod: await harness.netlink.read({
        netns: pod.netns,
        links: true,
        addresses: true,
        routes: FAMILIES.map((family) => ({ family, table: 254 })),
        sysctls: pod.interfaces.flatMap(({ name }) =>
          ['disable_ipv6', 'accept_ra', 'accept_dad'].map((key) => `ipv6/conf/${name}/${key}`),
        ),
      }),
    }),
  };
};

type Unnamed = Omit<PodInterface, 'hostName' | 'alias'>;

const eth0: Unnamed = {
  name: 'eth0',
  mac: parseMac('0a:58:0a:80:01:03'),
  mtu: 1400,
  addresses: ['10.128.1.3/24', 'fd00:10:128:1::3/64'].map(parseInterfaceAddress),
  routes: [
    { dst: parseCidr('10.128.0.0/14'), via: parseIp('10.128.1.1') },
    { dst: parseCidr('fd00:10:128::/48'), via: parseIp('fd00:10:128:1::1') },
    { dst: parseCidr('169.254.0.0/17') },
  ],
  defaultGateways: [],
  txChecksum: true,
  hears: { shared: sharedChain([]), rules: [{ tests: [], verdict: 'accept' }], isLocked: false },
};

const udn1: Unnamed = {
  name: 'ovn-udn1',
  mac: parseMac('0a:58:c0:a8:01:03'),
  mtu: 1300,
  addresses: ['192.168.1.3/24', 'fd00:20::3/64'].map(parseInterfaceAddress),
  routes: [
    { dst: parseCidr('172.16.1.0/24'), via: parseIp('192.168.1.1'), mtu: 1290 },
    { dst: parseCidr('fd02::/112'), via: parseIp('fd00:20::1') },
  ],
  defaultGateways: ['192.168.1.1', 'fe80::858:c0ff:fea8:101'].map(parseIp),
  defaultRouteMtu: 1280,
  txChecksum: false,
  hears: { shared: sharedChain([]), rules: [{ tests: [], verdict: 'accept' }], isLocked: false },
};
