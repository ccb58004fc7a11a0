import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { ReportFacts } from '../facts/report-facts.ts';
import { createReportFreshness } from './report-freshness.ts';

const LEASE_MS = 40_000;

const setUp = () => {
  const clock = createFakeClock();
  const [changed, silent]: [string[], string[]] = [[], []];
  const stop = new AbortController();
  const outage: { since: number | undefined; endedAt: number | undefined } = { since: undefined, endedAt: undefined };
  const freshness = createReportFreshness(
    { clock, outage, onChange: (node) => changed.push(node), onSilent: (node) => silent.push(node) },
    stop.signal,
  );
  const reports = new Map<string, ReportFacts>();
  const put = (node: string, renewal: ReportFacts['renewal']): void => {
    const before = reports.get(node);
    const after: ReportFacts = {
      ...{ node, hasAll: true, observed: '', ready: [], pending: [], failed: [], leaving: [], retirement: 0 },
      ...{ failures: new Map(), renewal },
    };
    reports.set(node, after);
    freshness.follow(
      before === undefined ? { type: 'added', key: node, after } : { type: 'updated', key: node, before, after },
    );
  };
  const renew = (node: string, skewMs = 0): void => put(node, { at: clock.wall() + skewMs, leaseMs: LEASE_MS });
  return { clock, changed, silent, outage, stop, freshness, put, renew, reports };
};

it('a report counts for as long as it promises, and again once it is renewed', async () => {
  const { clock, changed, freshness, renew } = setUp();
  renew('n1');
  for (let round = 0; round < 10; round += 1) {
    await clock.advance(LEASE_MS - 1);
    expect(freshness.isStale('n1')).toBe(false);
    renew('n1');
  }
  await clock.advance(LEASE_MS + 1);
  expect([freshness.isStale('n1'), changed]).toEqual([true, ['n1']]);
  renew('n1');
  expect([freshness.isStale('n1'), changed]).toEqual([false, ['n1', 'n1']]);
});

it('clocks of nodes need not agree: a renewal is a change of what the report says', async () => {
  const { clock, freshness, renew } = setUp();
  renew('n1', 86_400_000);
  await clock.advance(LEASE_MS - 1);
  expect(freshness.isStale('n1')).toBe(false);
  await clock.advance(2);
  expect(freshness.isStale('n1')).toBe(true);
});

it('one that has run out before the start is stale from the start', () => {
  const { freshness, renew } = setUp();
  renew('n1', -LEASE_MS - 1);
  renew('n2', -LEASE_MS + 1_000);
  expect([freshness.isStale('n1'), freshness.isStale('n2')]).toEqual([true, false]);
});

it('one that is stale from the start is silent only after we have heard nothing for as long ourselves', async () => {
  const { clock, changed, silent, freshness, renew } = setUp();
  renew('n1', -LEASE_MS - 1);
  renew('n2', -LEASE_MS - 1);
  await clock.advance(LEASE_MS - 1);
  expect([freshness.isSilent('n1'), silent]).toEqual([false, []]);
  renew('n2', 1);
  await clock.advance(1);
  expect([freshness.isSilent('n1'), freshness.isSilent('n2'), silent]).toEqual([true, false, ['n1']]);
  expect(changed).toEqual(['n2']);
});

it('nobody is silent who could not reach the server', async () => {
  const { clock, silent, freshness, renew, outage } = setUp();
  renew('n1');
  outage.since = clock.wall();
  await clock.advance(10 * LEASE_MS);
  expect(freshness.isStale('n1')).toBe(false);
  outage.since = undefined;
  outage.endedAt = clock.wall();
  await clock.advance(LEASE_MS - 1);
  expect(freshness.isStale('n1')).toBe(false);
  await clock.advance(LEASE_MS);
  expect([freshness.isStale('n1'), silent]).toEqual([true, ['n1']]);
});

it('nor who is found out to have been kept from it by a server that hung: he is asked about again', async () => {
  const { clock, silent, freshness, renew, outage } = setUp();
  renew('n1');
  await clock.advance(LEASE_MS);
  expect([freshness.isSilent('n1'), silent]).toEqual([true, ['n1']]);
  outage.endedAt = clock.wall();
  expect(freshness.isSilent('n1')).toBe(false);
  await clock.advance(LEASE_MS - 1);
  expect([freshness.isSilent('n1'), freshness.isStale('n1'), silent]).toEqual([false, true, ['n1']]);
  await clock.advance(1);
  expect([freshness.isSilent('n1'), silent]).toEqual([true, ['n1', 'n1']]);
  renew('n1');
  expect([freshness.isSilent('n1'), freshness.isStale('n1')]).toEqual([false, false]);
});

it('one that is never renewed, as agents of before write it, counts until it changes', async () => {
  const { clock, freshness, put } = setUp();
  put('n1', undefined);
  await clock.advance(86_400_000);
  expect(freshness.isStale('n1')).toBe(false);
});

it('a report that is gone leaves nothing behind, and so does the end', async () => {
  const { clock, changed, freshness, renew, reports, stop } = setUp();
  renew('n1');
  const before = reports.get('n1');
  if (before === undefined) throw new Error('there is no report');
  freshness.follow({ type: 'deleted', key: 'n1', before, after: undefined });
  expect([freshness.isStale('n1'), clock.pending]).toEqual([false, 0]);
  renew('n2');
  stop.abort();
  await clock.advance(86_400_000);
  expect([changed, clock.pending]).toEqual([[], 0]);
});
