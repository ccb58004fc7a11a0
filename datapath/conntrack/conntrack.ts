/**
 * Connections that the datapath and the kernel remember. Those of a network that is gone are forgotten: the next network
 * with its id has its marks and its masquerade addresses, and must not get answers meant for the one before. So are those of
 * Services that are elsewhere now.
 */
import type { Cidr } from '../../net/cidr.ts';
import { type Family, type Ip, isIp, parseIp } from '../../net/ip.ts';
import { byControlSockets } from '../exec/control-socket.ts';
import { CommandError } from '../exec/errors.ts';
import { openCommandRunner } from '../exec/spawn-runner.ts';
import type { CommandRunner } from '../exec/types.ts';
import { vswitchdControl } from '../exec/vswitchd-control.ts';
import { createTranslationReader, type Translation, type TranslationReader, tupleOf } from './translations.ts';

export interface Conntrack {
  /** How many connections OVS' datapath remembers in a zone, by mark; those without one are left out. @throws CommandError */
  marks(zone: number, signal?: AbortSignal): Promise<ReadonlyMap<number, number>>;
  /**
   * Forgets what OVS' datapath remembers in a zone with a mark (ovs-vswitchd(8), dpctl/flush-conntrack).
   * @throws CommandError
   */
  flushMark(zone: number, mark: number, signal?: AbortSignal): Promise<void>;
  /** Zones that may have only so many (ovs-vswitchd(8), dpctl/ct-get-limits). @throws CommandError */
  limits(signal?: AbortSignal): Promise<readonly ZoneLimit[]>;
  /**
   * Resolves when the datapath has no cached flow of before: what comes from now on meets the flows that the bridges have now
   * (revalidator/wait of ovs-vswitchd).
   * @throws CommandError
   */
  whenRevalidated(signal?: AbortSignal): Promise<void>;
  /** Forgets the connections of UDP of a client to a VIP that a backend answers, in any zone. @throws CommandError */
  flushTranslation(translation: Translation, signal?: AbortSignal): Promise<void>;
  /** The same, whatever the mark. @throws CommandError */
  flushZone(zone: number, signal?: AbortSignal): Promise<void>;
  /**
   * Forgets what the kernel remembers of connections from or to an address (conntrack(8)). A node without the program
   * keeps them until they time out.
   * @returns false when there is no such program
   * @throws CommandError
   */
  flushAddress(address: string, signal?: AbortSignal): Promise<boolean>;
  /**
   * Where the host's own connections of a protocol were opened to; those of the datapath are in zones.
   * @returns undefined when there is no such program
   * @throws CommandError
   */
  opened(protocol: TrackedProtocol, family: Family, signal?: AbortSignal): Promise<readonly Opened[] | undefined>;
  /** Forgets what the kernel remembers of connections that were opened to an address and port. */
  flushOpened(protocol: TrackedProtocol, to: Pick<Opened, 'ip' | 'port'>, signal?: AbortSignal): Promise<boolean>;
  /** The same of connections that were opened from or to any address of a subnet: conntrack(8) takes none for replies. */
  flushSubnet(subnet: Cidr, signal?: AbortSignal): Promise<boolean>;
}

export interface ZoneLimit {
  readonly zone: number;
  /** 0: any number. */
  readonly limit: number;
  readonly count: number;
}

/** Those without a beginning that conntrack would see: what a client goes on to send is the old connection. */
export const TRACKED_PROTOCOLS = ['udp', 'sctp'] as const;
export type TrackedProtocol = (typeof TRACKED_PROTOCOLS)[number];

export interface Opened {
  readonly ip: Ip;
  readonly port: number;
  /** Somebody else answers. */
  readonly isTranslated: boolean;
}

/** @param spawnAddon what `make build` makes of `datapath/exec/native`: for processes that may be large */
export const openConntrack = (spawnAddon?: string): Conntrack & TranslationReader => {
  const runner = openCommandRunner(spawnAddon);
  const asking = byControlSockets(runner);
  return { ...createConntrack(asking, vswitchdControl), ...createTranslationReader(runner, vswitchdControl) };
};

/** @param control arguments of ovs-appctl that say where ovs-vswitchd is */
export const createConntrack = (
  runner: Pick<CommandRunner, 'run'>,
  control: () => Promise<readonly string[]>,
): Conntrack => {
  /** @returns what it prints */
  const datapath = async (args: readonly string[], signal: AbortSignal | undefined): Promise<string> => {
    try {
      return (await runner.run({ file: 'ovs-appctl', args: [...(await control()), ...args] }, signal)).stdout;
    } catch (error) {
      // With the last bridge it is gone, and what it remembered.
      if (hasNoDatapath(error)) return '';
      throw error;
    }
  };
  const flushDatapath = async (filter: readonly string[], signal: AbortSignal | undefined): Promise<void> => {
    await datapath(['dpctl/flush-conntrack', ...filter], signal);
  };
  /** @returns what it prints; undefined when there is no such program */
  const kernel = async (args: readonly string[], signal: AbortSignal | undefined): Promise<string | undefined> => {
    try {
      return (await runner.run({ file: 'conntrack', args }, signal)).stdout;
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (foundNothing(error)) return '';
      throw error;
    }
  };
  const flushKernel = async (sides: readonly string[], value: string, signal: AbortSignal | undefined) => {
    for (const side of sides) {
      const done = await kernel(['--delete', '--family', familyOf(value), side, value], signal);
      if (done === undefined) return false;
    }
    return true;
  };
  return {
    marks: async (zone, signal) => marksIn(await datapath(['dpctl/dump-conntrack', `zone=${zone}`], signal)),
    limits: async (signal) => limitsIn(await datapath(['dpctl/ct-get-limits'], signal)),
    flushMark: (zone, mark, signal) => flushDatapath([`zone=${zone}`, `mark=0x${mark.toString(16)}`], signal),
    whenRevalidated: async (signal) => {
      // The first round may have begun before the flows were changed, the second before ovs-vswitchd had notified its
      // revalidators.
      for (let round = 0; round < 3; round++) await datapath(['revalidator/wait'], signal);
    },
    flushTranslation: ({ vip, backend }, signal) =>
      flushDatapath([tupleOf('dst', vip), tupleOf('src', backend)], signal),
    flushZone: (zone, signal) => flushDatapath([`zone=${zone}`], signal),
    flushAddress: (address, signal) => flushKernel([...OPENED, ...ANSWERED], address, signal),
    flushSubnet: (subnet, signal) => flushKernel(OPENED, subnet, signal),
    opened: async (protocol, family, signal) => {
      const dump = await kernel(['--dump', '--family', `ipv${family}`, '--proto', protocol], signal);
      return dump === undefined ? undefined : openedIn(dump);
    },
    flushOpened: async (protocol, { ip, port }, signal) => {
      // Of the host alone: zones are the datapath's, and another network may have the same address.
      const to = ['--orig-dst', ip, '--orig-port-dst', String(port), '--zone', '0'];
      return (await kernel(['--delete', '--family', familyOf(ip), '--proto', protocol, ...to], signal)) !== undefined;
    },
  };
};

/** A line for each connection (ovs-vswitchd(8), dpctl/dump-conntrack). */
const marksIn = (dump: string): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>();
  for (const [, text] of dump.matchAll(/,mark=([0-9]+)(?=[,\n]|$)/g)) {
    const mark = Number(text);
    counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return counts;
};

/** A line for each zone: `zone=34,limit=50,count=4`. */
const limitsIn = (text: string): readonly ZoneLimit[] =>
  [...text.matchAll(/^zone=(\d+),limit=(\d+),count=(\d+)$/gm)].map(([, zone, limit, count]) => ({
    ...{ zone: Number(zone), limit: Number(limit), count: Number(count) },
  }));

/** A line for each: as it was opened, then as it is answered (conntrack(8)). */
const openedIn = (dump: string): readonly Opened[] =>
  [...dump.matchAll(CONNECTION)].flatMap(([line, ip = '', port, answering]): Opened[] => {
    // Whoever sends decides what is here, an IPv4-mapped address for example: that is no Service's.
    if (/ zone=[1-9]/.test(line) || !isIp(ip)) return [];
    return [{ ip: parseIp(ip), port: Number(port), isTranslated: ip !== answering }];
  });

const CONNECTION = /^.*? dst=(\S+) sport=\d+ dport=(\d+) .*?src=(\S+) .*$/gm;

const familyOf = (address: string): string => (address.includes(':') ? 'ipv6' : 'ipv4');

const OPENED = ['--orig-src', '--orig-dst'];
const ANSWERED = ['--reply-src', '--reply-dst'];

const isMissing = (error: unknown): boolean => error instanceof CommandError && error.code === 'ERR_EXEC_NOT_FOUND';

const hasNoDatapath = (error: unknown): boolean =>
  error instanceof CommandError && error.stderr.includes('no datapaths exist');

/** It exits with 1 when there is nothing to delete. */
const foundNothing = (error: unknown): boolean =>
  error instanceof CommandError && /\b0 flow entries have been deleted/.test(error.stderr);
