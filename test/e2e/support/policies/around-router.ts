/** Frames of a pod of the default network to the MAC of its node's own port there: they go around the router, to the host. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { managementLinkName } from '../../../../agent/model/host-names.ts';
import { DEFAULT_NETWORK_ID } from '../../../../net/ids.ts';
import { type Ip, ipFamily, isLinkLocal6, parseIp } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { type CapturedFrame, capture, sendFrames } from '../packets/capture.ts';
import { udp } from '../packets/frames.ts';

interface Detour {
  /** `namespace/name` */
  readonly pod: string;
  readonly node: string;
  readonly destinations: readonly Ip[];
}

/** @returns destinations whose frames came to the host, once all have come that were sent to the host's addresses there */
export const arrivedAtHost = async (sandbox: Sandbox, { pod, node, destinations }: Detour): Promise<Ip[]> => {
  const device = managementLinkName(DEFAULT_NETWORK_ID);
  const own = linkOf((await sandbox.exec(pod, ['ip', '-j', 'addr', 'show', 'eth0'])).stdout);
  const host = linkOf((await sandbox.node(node, ['ip', '-j', 'addr', 'show', device])).stdout);
  const shots = [...destinations, ...host.ips].flatMap((dst) => {
    const src = own.ips.find((ip) => ipFamily(ip) === ipFamily(dst));
    const payload = randomBytes(8).toString('hex');
    if (src === undefined) return [];
    return { dst, payload, device: 'eth0', frame: udp({ from: own.mac, to: host.mac }, { src, dst, payload }) };
  });
  const hasCome = (frames: readonly CapturedFrame[]) => (dst: Ip) =>
    shots.some(
      (shot) =>
        shot.dst === dst &&
        frames.some((frame) => frame.device === device && !frame.isOutgoing && frame.bytes.includes(shot.payload)),
    );
  const shoot = () => sendFrames(sandbox, pod, shots);
  const frames = await capture(sandbox, [node], shoot, (seen) => host.ips.every(hasCome(seen)), shoot);
  return destinations.filter(hasCome(frames));
};

const linkOf = (text: string): { readonly mac: string; readonly ips: readonly Ip[] } => {
  const [link] = linkSchema.parse(JSON.parse(text));
  if (link === undefined) throw new Error(`no link in ${text}`);
  const ips = link.addr_info.map(({ local }) => parseIp(local)).filter((ip) => !isLinkLocal6(ip));
  return { mac: link.address, ips };
};

const linkSchema = z.array(z.object({ address: z.string(), addr_info: z.array(z.object({ local: z.string() })) }));
