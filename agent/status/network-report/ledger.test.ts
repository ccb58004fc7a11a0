import { expect, it } from 'vitest';
import { MAX_EXCEPTIONS, MAX_MESSAGE, reportStatusSchema } from '../../../api/node-network-report.ts';
import { type NetworkOnNode, ReportLedger } from './ledger.ts';

const T1 = '2026-01-01T00:00:01Z';
const T2 = '2026-01-01T00:00:02Z';
const network = (id: number, changes: Partial<NetworkOnNode> = {}): NetworkOnNode => ({
  ...{ id, createdAt: T1, state: 'Ready' },
  ...changes,
});

it('reports ids of what is ready, and a message of what is not: what failed first, then what waits longest', () => {
  const ledger = new ReportLedger();
  for (const id of [0, 1, 2, 3, 7]) ledger.set(`n${id}`, network(id), T1);
  ledger.set('slow', network(4, { state: 'Pending', message: 'a link' }), T1);
  ledger.set('young', network(5, { state: 'Pending', createdAt: T2 }), T2);
  ledger.set('bad', network(6, { state: 'Failed', message: 'EINVAL' }), T2);
  const status = ledger.status('Always');
  expect(status).toEqual({
    rendering: 'Always',
    observed: T2,
    networks: { ready: 5, pending: 2, failed: 1 },
    ids: { ready: '0-3,7', pending: '4-5', failed: '6' },
    exceptions: [
      { network: 'bad', state: 'Failed', message: 'EINVAL', since: T2 },
      { network: 'slow', state: 'Pending', message: 'a link', since: T1 },
      { network: 'young', state: 'Pending', message: 'it is being written', since: T2 },
    ],
  });
  expect(reportStatusSchema.safeParse(status).success).toBe(true);
});

it('a network has been in its state since it came to it, whatever is said of it meanwhile, and over a restart', () => {
  const ledger = new ReportLedger();
  ledger.set('red', network(1, { state: 'Failed', message: 'one' }), T1);
  ledger.set('red', network(1, { state: 'Failed', message: 'two' }), T2);
  const { exceptions } = ledger.status('Always');
  expect(exceptions).toEqual([{ network: 'red', state: 'Failed', message: 'two', since: T1 }]);
  const next = new ReportLedger(exceptions);
  next.set('red', network(1, { state: 'Failed', message: 'two' }), '2026-01-02T00:00:00Z');
  expect(next.status('Always')).toEqual(ledger.status('Always'));
  next.set('red', network(1, { state: 'Pending' }), T2);
  expect(next.status('Always').exceptions).toMatchObject([{ state: 'Pending', since: T2 }]);
});

it('a network that the node is not to have is not reported', () => {
  const ledger = new ReportLedger();
  ledger.set('red', network(1, { state: 'Failed', createdAt: T2 }), T1);
  ledger.set('red', undefined, T1);
  expect([...ledger.unready]).toEqual([]);
  expect(ledger.status('OnDemand')).toEqual({
    rendering: 'OnDemand',
    networks: { ready: 0, pending: 0, failed: 0 },
    ids: { ready: '', pending: '', failed: '' },
  });
});

it('its size is bounded, whatever is wrong', () => {
  const ledger = new ReportLedger();
  for (let id = 1; id < 4096; id += 1) {
    ledger.set(
      `network-${id}`,
      network(id, { state: id % 2 === 0 ? 'Failed' : 'Ready', message: 'x'.repeat(9_999) }),
      T1,
    );
  }
  const status = ledger.status('Always');
  expect(status.exceptions).toHaveLength(MAX_EXCEPTIONS);
  expect(status.exceptions?.[0]?.message).toHaveLength(MAX_MESSAGE);
  expect(status.networks).toEqual({ ready: 2048, pending: 0, failed: 2047 });
  expect(reportStatusSchema.safeParse(status).success).toBe(true);
  expect(JSON.stringify(status).length).toBeLessThan(30_000);
});

it('no name and no set of ids makes it a report that the API server refuses', () => {
  const ledger = new ReportLedger();
  for (let id = 1; id < 4096; id += 1)
    ledger.set(`n${id}`, network(id, { state: id % 3 === 2 ? 'Failed' : 'Ready' }), T1);
  const [longest, tooLong] = [`${'n'.repeat(63)}_${'u'.repeat(253)}`, 'x'.repeat(5000)];
  ledger.set(longest, network(1, { state: 'Pending' }), '2025-01-01T00:00:00Z');
  ledger.set(tooLong, network(2, { state: 'Failed' }), '2025-01-01T00:00:00Z');
  for (let id = 3; id < 4096; id += 1)
    ledger.set(`n${id}`, network(id, { state: id % 3 === 2 ? 'Pending' : 'Ready' }), T1);
  const status = ledger.status('Always');
  expect(reportStatusSchema.safeParse(status).error).toBeUndefined();
  const named = status.exceptions?.map(({ network: name }) => name);
  expect(named).toContain(longest);
  expect(named).not.toContain(tooLong);
  expect(status.ids.failed.split(',')).toContain('2');
});
