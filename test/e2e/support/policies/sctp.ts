/**
 * SCTP under policies, packet by packet: raw sockets send what opens an association, as kernels without SCTP make none. Connection tracking
 * looks at ports and chunks alone, so it does not see the difference.
 */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { sctpInitAckBody, sctpInitBody } from '../../../oracles/hostile/frames/transport.ts';
import { capture } from '../packets/capture.ts';
import { networkPolicy } from './manifests.ts';
import type { Member } from './members.ts';
import { app, FRIENDS, withPolicies } from './with-policies.ts';

const ALLOWED = 5000;
const CLIENT_PORT = 4444;

/** Friends may associate with the server at one port; they themselves are isolated in both directions. */
const POLICIES = [
  networkPolicy('red', 'sctp', {
    podSelector: app('web'),
    ingress: [{ from: [FRIENDS], ports: [{ protocol: 'SCTP', port: ALLOWED }] }],
  }),
  networkPolicy('red', 'sctp-friends', {
    ...{ podSelector: FRIENDS.podSelector, policyTypes: ['Ingress', 'Egress'] },
    egress: [{ to: [{ podSelector: app('web') }], ports: [{ protocol: 'SCTP', port: ALLOWED }] }],
  }),
];

interface Shot {
  readonly name: string;
  readonly from: Member;
  readonly to: Member;
  readonly build: (src: Ip, dst: Ip, payload: Buffer) => Buffer;
}

const init = (name: string, from: Member, to: Member, port: number, srcPort = CLIENT_PORT): Shot => ({
  ...{ name, from, to },
  build: (src, dst, payload) => sctpInitBody({ src, dst, port, srcPort }, payload),
});

/** Call it where tests are declared. */
export const policySctp = (cluster: () => Sandbox, member: (name: string) => Member): void => {
  it('SCTP is let in and out by its port, with its answer and nothing else', async () => {
    const [client, friend, server] = ['client', 'friend', 'server'].map((name) => member(`red-${name}`)) as [
      Member,
      Member,
      Member,
    ];
    const denied = init('INIT to another port', friend, server, ALLOWED + 1);
    const allowed = init('INIT of a friend', friend, server, ALLOWED);
    const inits = [init('INIT of a stranger', client, server, ALLOWED), denied, allowed];
    const answer: Shot = {
      ...{ name: 'INIT ACK', from: server, to: friend },
      build: (src, dst, payload) => sctpInitAckBody({ src, dst, port: CLIENT_PORT, srcPort: ALLOWED }, payload),
    };
    const back = [init('INIT to a friend', server, friend, CLIENT_PORT + 1, ALLOWED), answer];
    expect(await heardOf(cluster(), inits)).toEqual(inits.flatMap(inBothFamilies));
    await withPolicies(cluster(), POLICIES, async () => {
      // What one end denies by now, both may: agents of two nodes are at it.
      const deadline = AbortSignal.timeout(30_000);
      while ((await heardOf(cluster(), inits)).length > FAMILIES.length) deadline.throwIfAborted();
      expect(await heardOf(cluster(), inits)).toEqual(inBothFamilies(allowed));
      expect(await heardOf(cluster(), back)).toEqual(inBothFamilies(answer));
    });
  });
};

const inBothFamilies = ({ name }: Shot): string[] => FAMILIES.map((family) => `${name}, IPv${family}`);

/** @returns names of those that arrived, once the last has, which is sent after all others */
const heardOf = async (sandbox: Sandbox, shots: readonly Shot[]): Promise<string[]> => {
  const of = ({ addresses }: Member, family: Family): Ip =>
    addresses.map(parseIp).find((ip) => ipFamily(ip) === family) as Ip;
  const marked = shots.flatMap((shot, index) =>
    inBothFamilies(shot).map((name, at) => {
      const family = FAMILIES[at] ?? 4;
      const [marker, to] = [randomBytes(8), of(shot.to, family)];
      const body = shot.build(of(shot.from, family), to, marker).toString('hex');
      return {
        ...{ name, marker, from: shot.from.key, at: shot.to.key },
        isLast: index === shots.length - 1,
        to,
        body,
      };
    }),
  );
  const shoot = async (): Promise<void> => {
    // One after the other: what is let through comes after what is not.
    for (const [from, own] of Map.groupBy(marked, (one) => one.from))
      await sandbox.exec(from, ['python3', '-c', SENDER], { input: JSON.stringify(own) });
  };
  const places = [...new Set(marked.map(({ at }) => at))];
  const hasCome = (frames: Awaited<ReturnType<typeof capture>>) => (one: (typeof marked)[number]) =>
    frames.some(({ place, isOutgoing, bytes }) => place === one.at && !isOutgoing && bytes.includes(one.marker));
  const isEnough: Parameters<typeof capture>[3] = (seen) => marked.filter(({ isLast }) => isLast).every(hasCome(seen));
  const frames = await capture(sandbox, places, shoot, isEnough, shoot);
  return marked.filter(hasCome(frames)).map(({ name }) => name);
};

/** raw(7): the kernel puts its header in front, and looks at its routes. */
const SENDER = `
import json, socket, sys
for one in json.load(sys.stdin):
    family = socket.AF_INET6 if ':' in one['to'] else socket.AF_INET
    socket.socket(family, socket.SOCK_RAW, 132).sendto(bytes.fromhex(one['body']), (one['to'], 0))
`;
