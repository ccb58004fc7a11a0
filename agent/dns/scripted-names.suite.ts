/** For tests: a resolver whose questions a test answers, by a clock of its own. */
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { DomainName } from '../../net/domain-name.ts';
import { type Family, type Ip, parseIp } from '../../net/ip.ts';
import type { DnsResult } from './client.ts';
import { DnsResolver } from './resolver.ts';

export const answer = (ttl: number, ...texts: string[]): DnsResult => ({
  kind: 'addresses',
  addresses: texts.map(parseIp),
  ttl,
});
export const FAILED: DnsResult = { kind: 'failed', why: '192.0.2.53: no answer within 2 s' };

export const scripted = (kept: readonly Ip[] = []) => {
  const clock = createFakeClock();
  const asked: { name: DomainName; family: Family; at: number; aborted: () => boolean }[] = [];
  const changes: (readonly Ip[])[] = [];
  const answers = new Map<Family, DnsResult>([
    [4, answer(300)],
    [6, answer(300)],
  ]);
  let gate: Promise<void> | undefined;
  const resolver = new DnsResolver({
    client: {
      resolve: async (name, family, signal) => {
        asked.push({ name, family, at: clock.monotonic(), aborted: () => signal.aborted });
        await gate;
        return answers.get(family) ?? FAILED;
      },
    },
    clock,
    random: () => 0,
    refusalOf: (ip) => (ip.startsWith('10.') ? 'is in the cluster subnet 10.0.0.0/8' : undefined),
    kept: () => kept,
  });
  resolver.onChange((_, addresses) => changes.push(addresses));
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return () => {
      gate = undefined;
      resolve();
    };
  };
  const times = (family: Family): number[] => asked.filter((one) => one.family === family).map(({ at }) => at / 1000);
  return { clock, asked, changes, answers, resolver, hold, times };
};
