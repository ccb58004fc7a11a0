/** What the kernel encrypts by IPsec, as ip-xfrm(8) lists it, without keys. */
import { type Ip, isIp, parseIp } from '../../net/ip.ts';
import { openCommandRunner } from '../exec/spawn-runner.ts';
import type { CommandRunner } from '../exec/types.ts';

/** UDP from this node to another address and port. */
export interface OutgoingUdp {
  readonly src: Ip;
  readonly dst: Ip;
  readonly port: number;
}

export interface Xfrm {
  /** What has to leave by ESP, or does not leave. @throws CommandError */
  policies(signal?: AbortSignal): Promise<readonly OutgoingUdp[]>;
  /** Addresses to which an association is asked for, and those to which there is one. @throws CommandError */
  associations(signal?: AbortSignal): Promise<Associations>;
}

export interface Associations {
  readonly asked: ReadonlySet<Ip>;
  readonly present: ReadonlySet<Ip>;
}

export const openXfrm = (spawnAddon?: string): Xfrm => createXfrm(openCommandRunner(spawnAddon));

export const createXfrm = (runner: Pick<CommandRunner, 'run'>): Xfrm => {
  const list = async (args: readonly string[], signal: AbortSignal | undefined): Promise<string> =>
    (await runner.run({ file: 'ip', args: ['xfrm', ...args] }, signal)).stdout;
  return {
    policies: async (signal) => parsePolicies(await list(['policy', 'list', 'dir', 'out'], signal)),
    associations: async (signal) => parseAssociations(await list(['state', 'list', 'nokeys'], signal)),
  };
};

/** Each begins with a line that is not indented. */
const blocksOf = (text: string): string[] => text.split(/\n(?=\S)/).filter((block) => block.trim() !== '');

const parsePolicies = (text: string): OutgoingUdp[] =>
  blocksOf(text).flatMap((block) => {
    const found = /^src (\S+)\/\d+ dst (\S+)\/\d+ proto udp dport (\d+) /.exec(`${block.split('\n')[0]} `);
    const [, src = '', dst = '', port = ''] = found ?? [];
    const isEncrypting = /\n\s*dir out /.test(block) && /\n\s*proto esp /.test(block) && !/ action block/.test(block);
    if (!isEncrypting || !isIp(src) || !isIp(dst)) return [];
    return [{ src: parseIp(src), dst: parseIp(dst), port: Number(port) }];
  });

/** One with the index 0 stands for an exchange that was asked for: until it has an end, or gives up. */
const parseAssociations = (text: string): Associations => {
  const [asked, present] = [new Set<Ip>(), new Set<Ip>()];
  for (const block of blocksOf(text)) {
    const [, dst = ''] = /^src \S+ dst (\S+)/.exec(block) ?? [];
    const [, spi = ''] = /\n\s*proto esp spi 0x([0-9a-f]+) /.exec(block) ?? [];
    if (!isIp(dst) || spi === '') continue;
    (Number.parseInt(spi, 16) === 0 ? asked : present).add(parseIp(dst));
  }
  return { asked, present };
};
