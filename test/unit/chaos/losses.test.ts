import { expect, it } from 'vitest';
import { type DatagramStream, formatTable, NO_KILL, type Row, tally } from '../../e2e/support/chaos/losses.ts';

const stream = (lost: readonly number[]): DatagramStream => ({ name: 's', from: 0, to: 100_000, sent: 1000, lost });
const row = (kind: string, rest: Partial<Row>): Row => ({
  ...{ kind, kills: 1, sent: 0, lost: 0, longestMs: 0, slowestPodMs: undefined },
  ...rest,
});

it('an outage is that of the kill before its beginning, for twenty seconds', () => {
  const kills = [
    { kind: 'a', at: 10_000 },
    { kind: 'b', at: 15_000 },
  ];
  const rows = tally(['b', 'a', 'c'], kills, [stream([5_000, 14_400, 14_600, 15_100, 15_200, 34_999, 36_000])], []);
  expect(rows).toEqual([
    row('b', { sent: 205, lost: 3, longestMs: 100 }),
    row('a', { sent: 50, lost: 2, longestMs: 200 }),
    row(NO_KILL, { kills: 0, sent: 745, lost: 2 }),
  ]);
});

it('an outage is of one stream, and ends where something came back', () => {
  const kills = [{ kind: 'a', at: 0 }];
  const rows = tally(['a'], kills, [stream([100, 200, 300, 900, 1000]), stream([250, 350])], []);
  expect(rows[0]).toMatchObject({ lost: 7, longestMs: 200 });
});

it('a pod that waited while two were killed is in the rows of both', () => {
  const kills = [
    { kind: 'a', at: 1000 },
    { kind: 'b', at: 3000 },
  ];
  const pods = [
    { from: 2000, to: 3500 },
    { from: 4000, to: 4200 },
  ];
  expect(tally(['a', 'b'], kills, [], pods).map(({ slowestPodMs }) => slowestPodMs)).toEqual([1500, 1500, undefined]);
});

it('the table', () => {
  const rows = [
    row('ovs-vswitchd', { kills: 4, sent: 1200, lost: 90, longestMs: 612, slowestPodMs: 1500 }),
    row(NO_KILL, { kills: 0, sent: 9 }),
  ];
  expect(formatTable(rows)).toBe(
    [
      '| killed       | kills | datagrams | lost | per kill | longest outage | slowest pod |',
      '| ------------ | ----- | --------- | ---- | -------- | -------------- | ----------- |',
      '| ovs-vswitchd |     4 |      1200 |   90 |     22.5 |         0.61 s |      1.50 s |',
      '| none         |     0 |         9 |    0 |          |         0.00 s |             |',
    ].join('\n'),
  );
});
