import { expect, it } from 'vitest';
import { idsIn } from '../net/id-ranges.ts';
import { parseNodeNetworkReport } from './node-network-report.ts';

const report = (status: Readonly<Record<string, unknown>> = {}) => ({
  metadata: { name: 'node-1' },
  status: {
    rendering: 'Always',
    networks: { ready: 3, pending: 0, failed: 0 },
    ids: { ready: '0,7-8', pending: '', failed: '' },
    ...status,
  },
});

it('a report is read, with its ids', () => {
  const { status } = parseNodeNetworkReport(report());
  expect([...idsIn(status.ids.ready)]).toEqual([0, 7, 8]);
  expect(status.exceptions).toEqual([]);
});

it.each([
  [
    { ids: { ready: '5-3', pending: '', failed: '' } },
    'status.ids.ready: "5-3" is no ascending range of ids up to 4095',
  ],
  [{ ids: { ready: '0-4096', pending: '', failed: '' } }, 'status.ids.ready'],
  [{ rendering: 'Never' }, 'status.rendering'],
  [{ exceptions: [{ network: 'red_net', state: 'Lost', message: 'm', since: 's' }] }, 'status.exceptions[0].state'],
])('of %j it is said what is wrong', (status, message) => {
  expect(() => parseNodeNetworkReport(report(status))).toThrow(message);
});
