/** Four tenants and pods of the default network, and what a hostile one of them knows of itself and of the others. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { FAMILIES, type Family, type Ip, ipFamily, isLinkLocal6, parseIp } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { type CapturedFrame, capture, type FrameToSend, type Place, sendFrames } from './capture.ts';
import { applyAndWait, readPod } from './cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './manifests.ts';
import { addressesOf } from './packets.ts';

export const NODE = 'node-1';
export const OTHER_NODE = 'node-2';

const TENANTS = ['red', 'blue', 'green', 'gold', 'plain'] as const;
export type Tenant = (typeof TENANTS)[number];

/** Subnets that do not overlap, so that an address says whose it is. Two pods on the first node, one on the second. */
const MANIFESTS = [
  ...['red', 'blue', 'green', 'gold'].map((name) => namespace(name)),
  plainNamespace('plain'),
  layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
  layer3('blue', 'net', ['10.81.0.0/16/24', 'fd00:81::/48/64']),
  layer2('green', 'net', ['10.82.0.0/16', 'fd00:82::/64']),
  layer2('gold', 'net', ['10.83.0.0/16', 'fd00:83::/64']),
  ...TENANTS.flatMap((name) => [pod(name, 'a', NODE), pod(name, 'b', NODE), pod(name, 'c', OTHER_NODE)]),
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
  /** Of pod `TENANT/NAME`, on its primary network. */
  foothold(pod: string): Foothold;
  readonly pods: readonly string[];
}

export const hostileCluster = async (sandbox: Sandbox): Promise<HostileCluster> => {
  await applyAndWait(sandbox, MANIFESTS);
  const pods = TENANTS.flatMap((tenant) => ['a', 'b', 'c'].map((name) => `${tenant}/${name}`));
  const found = new Map(await Promise.all(pods.map(async (key) => [key, await readFoothold(sandbox, key)] as const)));
  return {
    pods,
    foothold: (key) => {
      const one = found.get(key);
      if (one === undefined) throw new Error(`there is no pod ${key}`);
      return one;
    },
  };
};

export const readFoothold = async (sandbox: Sandbox, key: string): Promise<Foothold> => {
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

/** As the pod knows it, which has to ask first. */
export const neighbourMac = async (sandbox: Sandbox, from: string, device: string, neighbour: Ip): Promise<string> => {
  const find = async (): Promise<string> => {
    await sandbox.exec(from, ['ping', '-c', '1', '-W', '1', '-I', device, neighbour]).catch(() => undefined);
    const { stdout } = await sandbox.exec(from, ['ip', '-j', 'neigh', 'show', neighbour, 'dev', device]);
    const [found] = z.array(z.object({ lladdr: z.string().optional() })).parse(JSON.parse(stdout));
    if (found?.lladdr === undefined) throw new Error(`${from} does not know the MAC address of ${neighbour}`);
    return found.lladdr;
  };
  return await eventually(find);
};

/** @throws Error when there is none */
export const ofFamily = (addresses: readonly Ip[], family: Family): Ip => {
  const found = addresses.find((ip) => ipFamily(ip) === family);
  if (found === undefined) throw new Error(`none of ${addresses.join(', ')} is IPv${family}`);
  return found;
};

/** The fixed masquerade addresses, and both of each of the four networks, whichever ids those have. */
export const masqueradeAddresses = (family: Family): readonly Ip[] =>
  [1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 16, 17, 18].map((offset) =>
    parseIp(family === 4 ? `169.254.0.${offset}` : `fd69::${offset.toString(16)}`),
  );

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
        : [{ name: all[Number(index)]?.name ?? '', place, bytes }];
    });
  const places = ['outside', NODE, ...pods].filter((place) => place !== from);
  const isEnough = (captured: readonly CapturedFrame[]): boolean => {
    const names = new Set(sightings(captured).map(({ name }) => name));
    return honest.every(({ name }) => names.has(name));
  };
  return sightings(await capture(sandbox, places, () => sendFrames(sandbox, from, built), isEnough));
};

/** From node to node inside Geneve (RFC 8926), which is where networks that span nodes are. */
export const isTunnelled = (frame: Buffer): boolean => {
  const isIpv4 = frame.readUInt16BE(12) === 0x0800;
  return frame[isIpv4 ? 23 : 20] === 17 && frame.readUInt16BE(isIpv4 ? 36 : 56) === 6081;
};

const marker = (run: string, index: number): string => `<${run}:${index}>`;

/** Each once, sorted. */
export const namesOf = (sightings: readonly Sighting[]): readonly string[] =>
  [...new Set(sightings.map(({ name, place }) => `${name} @ ${place}`))].toSorted();
