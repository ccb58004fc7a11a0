/**
 * Frames with addresses of others, where they pass the node's own stack, too (local gateway mode). In full it is in
 * hostile.test.ts. Pods are those of north-south.ts, which has to be called first.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, parseIp } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { udp } from './frames.ts';
import {
  type Foothold,
  type NamedFrame,
  NODE,
  namesOf,
  OTHER_NODE,
  ofFamily,
  readFoothold,
  sendAndWatch,
} from './hostile.ts';
import { nodeAddress, outside } from './north-south.ts';
import { podKey, TENANTS, TENANTS_AND_PLAIN } from './north-south-tenants.ts';

const ATTACKERS = ['red', 'green'] as const;

/** The fixed ones, and both of each network, whose ids begin with 1. */
const masquerades = (family: Family): readonly Ip[] =>
  [1, 2, 3, 4, 5, ...Array.from({ length: 2 * TENANTS.length }, (_, index) => 11 + index)].map((offset) =>
    parseIp(family === 4 ? `169.254.0.${offset}` : `fd69::${offset.toString(16)}`),
  );

/**
 * A defect: what a pod sends there goes round between the node's stack and the default network's router, which translates the
 * source to the same address, until its hop limit is used up. It comes to no pod and not outside (docs/failure-model.md).
 */
const LOOPING = 'to fd69::1 by ';

/** Call it where tests are declared. */
export const spoofing = (cluster: () => Sandbox): void => {
  const footholds = new Map<string, Foothold>();
  const footholdOf = (tenant: string): Foothold => {
    const found = footholds.get(tenant);
    if (found === undefined) throw new Error(`there is no pod of ${tenant}`);
    return found;
  };
  let nodeMac = '';

  beforeAll(async () => {
    for (const tenant of TENANTS_AND_PLAIN) {
      footholds.set(tenant, await readFoothold(cluster(), podKey(tenant, NODE)));
    }
    nodeMac = (await cluster().node(NODE, ['cat', '/sys/class/net/br-ex/address'])).stdout.trim();
  });

  describe.each(ATTACKERS)('frames of a pod of %s', (tenant) => {
    it.each(FAMILIES)(
      'with an address of somebody else go nowhere, nor do those to masquerade ones, IPv%s',
      async (family) => {
        const from = footholdOf(tenant);
        const own = ofFamily(from.addresses, family);
        const frame = (name: string, ethernet: { from: string; to: string }, src: Ip, dst: Ip): NamedFrame => ({
          name,
          device: from.device,
          build: (payload) => udp(ethernet, { src, dst, payload }),
        });
        const straight = { from: from.mac, to: from.gatewayMac };
        const foreign = [
          ...masquerades(family),
          ...[NODE, OTHER_NODE].map((node) => nodeAddress(node, family)),
          outside(family),
          ofFamily(from.gateways, family),
          ...TENANTS_AND_PLAIN.map((other) => ofFamily(footholdOf(other).addresses, family)).filter((ip) => ip !== own),
          ...TENANTS_AND_PLAIN.map((other) => ofFamily(footholdOf(other).defaultAddresses, family)),
        ];
        const victim = footholdOf(tenant === 'red' ? 'green' : 'red');
        const frames = [
          ...foreign.map((src) => frame(`from ${src}`, straight, src, outside(family))),
          ...masquerades(family).flatMap((dst) =>
            [from.gatewayMac, nodeMac].map((to) => frame(`to ${dst} by ${to}`, { from: from.mac, to }, own, dst)),
          ),
          ...[from.gatewayMac, victim.mac, victim.gatewayMac, nodeMac].flatMap((to) =>
            [victim.addresses, victim.defaultAddresses].map((addresses) =>
              frame(`to the victim by ${to}`, { from: from.mac, to }, own, ofFamily(addresses, family)),
            ),
          ),
          ...[nodeMac, from.gatewayMac, '02:00:00:00:00:77'].map((mac) =>
            frame(`as ${mac}`, { from: mac, to: from.gatewayMac }, own, outside(family)),
          ),
        ];
        const pods = TENANTS_AND_PLAIN.map((other) => podKey(other, NODE)).filter((key) => key !== from.pod);
        const honest = frame('honest', straight, own, outside(family));
        const seen = await sendAndWatch(cluster(), from.pod, frames, [honest], pods);
        const isKnown = (name: string): boolean =>
          name.startsWith('to the victim') || (name.startsWith(LOOPING) && name.endsWith(` @ ${NODE}`));
        expect(namesOf(seen).filter((name) => !isKnown(name))).toEqual([`honest @ ${NODE}`, 'honest @ outside']);
        // The router knows no other way for them but out, where they are the node's.
        expect(namesOf(seen.filter(({ place }) => place.includes('/')))).toEqual([]);
      },
    );
  });
};
