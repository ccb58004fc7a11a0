/** Tenants and pods of the default network, and what a hostile one of them knows of itself and of the others. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { FAMILIES, type Family, type Ip, ipFamily, isLinkLocal6, parseIp } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait, readPod } from '../cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from '../cluster/manifests.ts';
import { nodeAddress, outside } from '../networks/north-south.ts';
import { type CapturedFrame, capture, type FrameToSend, type Place, sendFrames } from '../packets/capture.ts';
import { addressesOf } from '../packets/packets.ts';

export const NODE = 'node-1';
export const OTHER_NODE = 'node-2';

export const HOSTILE_TENANTS = ['red', 'blue', 'green', 'gold', 'plain'] as const;
export type Tenant = (typeof HOSTILE_TENANTS)[number];

/** Subnets that do not overlap, so that an address says whose it is. Two pods on the first node, one on the second. */
const MANIFESTS = [
  ...['red', 'blue', 'green', 'gold'].map((name) => namespace(name)),
  plainNamespace('plain'),
  layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
  layer3('blue', 'net', ['10.81.0.0/16/24', 'fd00:81::/48/64']),
  layer2('green', 'net', ['10.82.0.0/16', 'fd00:82::/64']),
  layer2('gold', 'net', ['10.83.0.0/16', 'fd00:83::/64']),
  ...HOSTILE_TENANTS.flatMap((name) => [pod(name, 'a', NODE), pod(name, 'b', NODE), pod(name, 'c', OTHER_NODE)]),
];

/** A pod's interface on a network, and the gateway that is there. */
export interface Foothold {
  readonly pod: string;
  readonly device: string;
  readonly mac: string;
  readonly addresses: readonly Ip[];
  /** On the default network, which every pod has an interface of. */
  readonly defaultAddresses: readonly Ip[];
  readonly linkLocal: Ip;
  readonly gateways: readonly Ip[];
  readonly gatewayMac: string;
}

export interface HostileCluster {
  /** Of pod `TENANT/a`, `b` or `c`, on its primary network: two on the first node, one on the second. */
  foothold(pod: string): Foothold;
  /** As they are named in the cluster. */
  readonly pods: readonly string[];
  masquerade(family: Family): readonly Ip[];
}

/** Whose networks and pods: these ones' if nothing is said. */
export interface HostileCast {
  readonly manifests: readonly ManifestObject[];
  /** Of `TENANT/a`, `b` and `c`, as they are named in the cluster. */
  readonly keyOf: (pod: string) => string;
  readonly networks: number;
}

const OWN_CAST: HostileCast = { manifests: MANIFESTS, keyOf: (pod) => pod, networks: HOSTILE_TENANTS.length - 1 };

export const hostileCluster = async (sandbox: Sandbox, cast: HostileCast = OWN_CAST): Promise<HostileCluster> => {
  await applyAndWait(sandbox, cast.manifests);
  const names = HOSTILE_TENANTS.flatMap((tenant) => ['a', 'b', 'c'].map((name) => `${tenant}/${name}`));
  const found = new Map(
    await Promise.all(names.map(async (name) => [name, await readFoothold(sandbox, cast.keyOf(name))] as const)),
  );
  return {
    pods: names.map(cast.keyOf),
    masquerade: (family) => masqueradeAddresses(family, cast.networks),
    foothold: (name) => {
      const one = found.get(name);
      if (one === undefined) throw new Error(`there is no pod ${name}`);
      return one;
    },
  };
};

const readFoothold = async (sandbox: Sandbox, key: string): Promise<Foothold> => {
  const pod = await readPod(sandbox, key);
  const device = pod.attachments.length === 1 ? 'eth0' : 'ovn-udn1';
  const defaultAddresses = pod.attachments.find(({ network }) => network === 'default')?.addresses ?? [];
  const json = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await sandbox.exec(key, ['ip', '-j', ...args, 'dev', device])).stdout);
  const [link] = linkSchema.parse(await json('addr', 'show'));
  const linkLocal = link?.addr_info.map(({ local }) => parseIp(local)).find(isLinkLocal6);
  const gateways = await Promise.all(
    FAMILIES.map(async (family) => {
      const routes = routeSchema.parse(await json(`-${family}`, 'route', 'show'));
      return routes.flatMap(({ gateway }) => (gateway === undefined ? [] : [parseIp(gateway)]))[0];
    }),
  );
  const [gateway4, gateway6] = gateways;
  if (link === undefined || linkLocal === undefined || gateway4 === undefined || gateway6 === undefined) {
    throw new Error(`${device} of ${key} is not complete`);
  }
  const gatewayMac = await neighbourMac(sandbox, key, device, gateway4);
  const own = { pod: key, device, mac: link.address, addresses: addressesOf(pod), defaultAddresses, linkLocal };
  return { ...own, gateways: [gateway4, gateway6], gatewayMac };
};

const linkSchema = z.array(z.object({ address: z.string(), addr_info: z.array(z.object({ local: z.string() })) }));
const routeSchema = z.array(z.object({ gateway: z.string().optional() }));

/** Of many pods at the same time in a guest. */
const NEIGHBOUR_MS = 60_000;

/** As the pod knows it, which has to ask first. */
export const neighbourMac = async (sandbox: Sandbox, from: string, device: string, neighbour: Ip): Promise<string> => {
  const find = async (): Promise<string> => {
    await sandbox.exec(from, ['ping', '-c', '1', '-W', '1', '-I', device, neighbour]).catch(() => undefined);
    const { stdout } = await sandbox.exec(from, ['ip', '-j', 'neigh', 'show', neighbour, 'dev', device]);
    const [found] = z.array(z.object({ lladdr: z.string().optional() })).parse(JSON.parse(stdout));
    if (found?.lladdr === undefined) throw new Error(`${from} does not know the MAC address of ${neighbour}`);
    return found.lladdr;
  };
  return await eventually(find, NEIGHBOUR_MS);
};

/** @throws Error when there is none */
export const ofFamily = (addresses: readonly Ip[], family: Family): Ip => {
  const found = addresses.find((ip) => ipFamily(ip) === family);
  if (found === undefined) throw new Error(`none of ${addresses.join(', ')} is IPv${family}`);
  return found;
};

/** The fixed masquerade addresses, and both of each network, whose ids begin with 1. */
const masqueradeAddresses = (family: Family, networks: number): readonly Ip[] =>
  [1, 2, 3, 4, 5, ...Array.from({ length: 2 * networks }, (_, index) => 11 + index)].map((offset) =>
    parseIp(family === 4 ? `169.254.0.${offset}` : `fd69::${offset.toString(16)}`),
  );

export const MASQUERADE = 'masquerade';

/** With what they are. Some are also the pod's own, where networks have the same subnets: without those. */
export const addressesOfOthers = (
  cast: HostileCluster,
  attacker: Tenant,
  family: Family,
): readonly (readonly [string, Ip])[] => {
  const { addresses: own, gateways } = cast.foothold(`${attacker}/a`);
  const all: (readonly [string, Ip])[] = [
    ['gateway', ofFamily(gateways, family)],
    ...HOSTILE_TENANTS.flatMap((tenant) => {
      const { addresses, defaultAddresses } = cast.foothold(`${tenant}/b`);
      return [addresses, defaultAddresses].map((of) => [tenant, ofFamily(of, family)] as const);
    }),
    ['node', nodeAddress(NODE, family)],
    ['other node', nodeAddress(OTHER_NODE, family)],
    ['outside', outside(family)],
    ...cast.masquerade(family).map((ip) => [`${MASQUERADE} ${ip}`, ip] as const),
  ];
  return all.filter(([, ip]) => !own.includes(ip));
};

/** A frame with a name that it carries. */
export interface NamedFrame {
  readonly name: string;
  readonly device: string;
  readonly build: (payload: string) => Buffer;
}

/** A frame that has come somewhere. To a node: the host got it by `br-ex`, or it left by `eth0`. */
export interface Sighting {
  readonly name: string;
  readonly place: Place;
  readonly isOutgoing: boolean;
  readonly bytes: Buffer;
}

/**
 * Sends the frames, and the honest ones last.
 * @returns what came to any pod but the sender, to the outside, or left the first node; once every honest one has come
 */
export const sendAndWatch = async (
  sandbox: Sandbox,
  from: Place,
  frames: readonly NamedFrame[],
  honest: readonly NamedFrame[],
  pods: readonly string[],
): Promise<readonly Sighting[]> => {
  const run = randomBytes(6).toString('hex');
  const all = [...frames, ...honest];
  const built = all.map(({ device, build }, index): FrameToSend => ({ device, frame: build(marker(run, index)) }));
  const sightings = (captured: readonly CapturedFrame[]): Sighting[] =>
    captured.flatMap(({ place, device, isOutgoing, bytes }) => {
      const index = new RegExp(`<${run}:(\\d+)>`).exec(bytes.toString('latin1'))?.[1];
      const isThere = place === NODE ? device === (isOutgoing ? 'eth0' : 'br-ex') : !isOutgoing;
      return index === undefined || !isThere || isTunnelled(bytes)
        ? []
        : [{ name: all[Number(index)]?.name ?? '', place, isOutgoing, bytes }];
    });
  const places = ['outside', NODE, ...pods].filter((place) => place !== from);
  const isEnough = (captured: readonly CapturedFrame[]): boolean => {
    const names = new Set(sightings(captured).map(({ name }) => name));
    return honest.every(({ name }) => names.has(name));
  };
  const send = (some: readonly FrameToSend[]): Promise<void> => sendFrames(sandbox, from, some);
  const sendHonest = (): Promise<void> => send(built.slice(frames.length));
  return sightings(await capture(sandbox, places, () => send(built), isEnough, sendHonest));
};

/** From node to node inside Geneve (RFC 8926), which is where networks that span nodes are: with a frame inside. */
export const isTunnelled = (frame: Buffer): boolean => {
  const isIpv4 = frame.readUInt16BE(12) === 0x0800;
  if (frame[isIpv4 ? 23 : 20] !== 17 || frame.readUInt16BE(isIpv4 ? 36 : 56) !== 6081) return false;
  return frame.readUInt16BE(isIpv4 ? 44 : 64) === BRIDGED_ETHERNET;
};

const BRIDGED_ETHERNET = 0x6558;

const marker = (run: string, index: number): string => `<${run}:${index}>`;

/** Each once, sorted. */
export const namesOf = (sightings: readonly Sighting[]): readonly string[] =>
  [...new Set(sightings.map(({ name, place }) => `${name} @ ${place}`))].toSorted();
